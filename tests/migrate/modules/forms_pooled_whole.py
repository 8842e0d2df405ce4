"""Pooling over a window that is the image itself, whose height and width nothing says."""

from flax import linen as nn


class Pooled(nn.Module):
    step: int = 2

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3), strides=self.step, padding=[(self.step, 1), (0, self.step)])(x)
        x = nn.relu(nn.ConvTranspose(5, (3, 3))(x))
        x = nn.avg_pool(x, x.shape[1:3])
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(3)(x)


class ByName(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.max_pool(x, window_shape=x.shape[1:-1], strides=(1, 1), padding="VALID")
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


CASES = [
    ("Pooled", {}, [(2, 8, 6, 3)], {}),
    ("ByName", {}, [(2, 8, 6, 3)], {}),
    ("Pooled", {"step": 1}, [(2, 8, 6, 3)], {}),
]
