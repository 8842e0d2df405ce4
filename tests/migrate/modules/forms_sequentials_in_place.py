"""Lists of layers, and nn.Sequentials, that have a name of their own in the call."""

from flax import linen as nn


class Listed(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu, nn.Dense(3)]
        return nn.Sequential(layers)(x)


class WithFlags(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        h = nn.Dense(5)(x)
        layers = [
            nn.Dense(4),
            nn.BatchNorm(use_running_average=not train),  # of the batch
            nn.Dropout(0.5, deterministic=not train),
            nn.Dense(3),
        ]
        h = nn.Sequential(layers)(h)
        return nn.Dense(2)(h)


class Called(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        layers = (nn.Dense(4), nn.Dropout(0.5, deterministic=not train), nn.Dense(3))
        net = nn.Sequential(layers)
        return net(nn.Dense(5)(x))


class Twice(nn.Module):
    """It is called twice: one module."""

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu]
        net = nn.Sequential(layers)
        return net(net(x))


class Between(nn.Module):
    """Another layer is made between the list and what takes it."""

    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu]
        x = nn.Dense(6)(x)
        return nn.Sequential(layers)(x)


CASES = [(name, {}, [(2, 4)], {}) for name in ("Listed", "WithFlags", "Called", "Twice")]
