"""Functions that make layers for classes whose variables are called as what the functions use."""

from flax import linen as nn

scale_init = nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
bias_init = nn.initializers.ones


def residual(x, width, normalize, activation):
    y = nn.Dense(width, kernel_init=scale_init, bias_init=bias_init)(x)
    y = activation(normalize(y))
    return x + nn.Dense(width, kernel_init=scale_init, bias_init=bias_init)(y)


class Encoder(nn.Module):
    norm = "layer"
    width: int = 6
    depth: int = 4
    use_relu: int = 0

    @nn.compact
    def __call__(self, s, a):
        scale_init = nn.initializers.variance_scaling(2.0, "fan_in", "normal")
        bias_init = nn.initializers.constant(0.5)
        if self.norm == "layer":
            normalize = lambda x: nn.LayerNorm()(x)
        else:
            normalize = lambda x: x
        if self.use_relu:
            activation = nn.relu
        else:
            activation = nn.swish
        x = s * a.sum()
        x = nn.Dense(self.width, kernel_init=scale_init, bias_init=bias_init)(x)
        x = activation(normalize(x))
        for i in range(self.depth // 2):
            x = residual(x, self.width, normalize, activation)
        return nn.Dense(3, kernel_init=scale_init, bias_init=bias_init)(x)


class InLoops(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x):
        shift = [0.25 * scale_init for scale_init in (1, 2)]
        for bias_init in (nn.initializers.zeros, nn.initializers.ones):
            x = nn.Dense(self.width, bias_init=bias_init)(x)
            x = residual(x, self.width, lambda y: nn.RMSNorm()(y), nn.tanh)
        return x + sum(shift)


CASES = [
    ("Encoder", {}, [(2, 3), (2, 2)], {}),
    ("Encoder", {"use_relu": 1, "depth": 2}, [(2, 3), (2, 2)], {}),
    ("InLoops", {}, [(2, 3)], {}),
]
