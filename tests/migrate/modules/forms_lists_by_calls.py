"""Lists of setup whose items are made for what each is called with; `CASES` as in forms_basic."""

from typing import Callable, Sequence

import flax.linen as nn
import jax.numpy as jnp


class FewerNorms(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]
        self.norms = [nn.LayerNorm() for _ in self.widths[:-1]]

    def __call__(self, x):
        for layer, norm in zip(self.layers[:-1], self.norms):
            x = nn.relu(norm(layer(x)))
        return self.layers[-1](x)


class UnderACondition(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]
        self.norms = [nn.LayerNorm() for _ in range(len(self.widths) - 1)]

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < len(self.layers) - 1:
                x = nn.relu(self.norms[i](x))
        return x


class FirstAndRest(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        first, *rest = self.layers
        x = first(x)
        for layer in rest:
            x = layer(nn.relu(x))
        return x


class AllButLast(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = nn.relu(layer(x))
        return last(x)


class FirstByNumber(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        x = self.layers[0](x)
        for i in range(1, len(self.layers)):
            x = self.layers[i](nn.relu(x))
        return x


class Backwards(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]

    def __call__(self, x):
        for layer in reversed(self.layers):
            x = nn.relu(layer(x))
        return x


class OneMoreLayer(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths] + [nn.Dense(1)]
        self.norms = [nn.LayerNorm() for _ in self.widths]

    def __call__(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = nn.relu(norm(layer(x)))
        return self.layers[-1](x)


class Popped(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.down = [nn.Dense(w) for w in self.widths]
        self.up = [nn.Dense(w) for w in list(self.widths)[::-1]]

    def __call__(self, x):
        kept = []
        for layer in self.down:
            x = nn.relu(layer(x))
            kept.append(x)
        for layer in self.up:
            x = layer(jnp.concatenate([x, kept.pop()], -1))
        return x


class Gates(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(w) for w in self.widths]
        self.gates = [nn.Dense(w) for w in self.widths[1:]]

    def __call__(self, x):
        x = self.layers[0](x)
        for layer, gate in zip(self.layers[1:], self.gates):
            x = layer(x) * nn.sigmoid(gate(x))
        return x


class Stages(nn.Module):
    widths: Sequence[int]
    depth: int = 2

    def setup(self):
        self.stages = [[nn.Dense(w) for _ in range(self.depth)] for w in self.widths]
        self.downs = [nn.Dense(w * 2) for w in self.widths[:-1]]

    def __call__(self, x):
        for i, stage in enumerate(self.stages):
            for block in stage:
                x = nn.relu(block(x))
            if i < len(self.downs):
                x = self.downs[i](x)
        return x


class CompactPopped(nn.Module):
    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        down = [nn.Dense(w) for w in self.widths]
        up = [nn.Dense(w) for w in self.widths[::-1]]
        kept = []
        for layer in down:
            x = nn.relu(layer(x))
            kept.append(x)
        for layer in up:
            x = layer(jnp.concatenate([x, kept.pop()], -1))
        return x


class Positive(nn.Module):
    width: int
    use_bias: bool = True
    kernel_init: Callable = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, inputs):
        kernel = self.param("kernel", self.kernel_init, (inputs.shape[-1], self.width))
        y = inputs @ nn.softplus(kernel)
        return y + self.param("bias", nn.initializers.ones, (self.width,)) if self.use_bias else y


class Convex(nn.Module):
    """Both lists have one more layer, which is appended behind a loop."""

    widths: Sequence[int]
    std: float = 0.1
    positive: bool = True
    act: Callable = nn.leaky_relu

    def setup(self):
        n = len(self.widths)
        w_zs = list()
        if self.positive:
            kind = Positive
        else:
            kind = nn.Dense
        for i in range(1, n):
            w_zs.append(kind(self.widths[i], kernel_init=nn.initializers.normal(self.std), use_bias=False))
        w_zs.append(kind(1, kernel_init=nn.initializers.normal(self.std), use_bias=False))
        self.w_zs = w_zs
        w_xs = []
        for i in range(n):
            w_xs.append(nn.Dense(self.widths[i], kernel_init=nn.initializers.normal(self.std)))
        w_xs.append(nn.Dense(1, kernel_init=nn.initializers.normal(self.std)))
        self.w_xs = w_xs

    @nn.compact
    def __call__(self, x):
        z = jnp.square(self.act(self.w_xs[0](x)))
        for w_z, w_x in zip(self.w_zs[:-1], self.w_xs[1:-1]):
            z = self.act(jnp.add(w_z(z), w_x(x)))
        return jnp.squeeze(self.w_zs[-1](z) + self.w_xs[-1](x))


class ConvexOfSums(nn.Module):
    widths: Sequence[int]

    def setup(self):
        self.w_zs = [Positive(w, use_bias=False) for w in self.widths[1:]] + [Positive(1, use_bias=False)]
        self.w_xs = [nn.Dense(w) for w in self.widths] + [nn.Dense(1)]

    def __call__(self, x):
        first, *rest = self.w_xs
        z = nn.relu(first(x))
        for w_z, w_x in zip(self.w_zs[:-1], rest):
            z = nn.relu(w_z(z) + w_x(x))
        return self.w_zs[-1](z) + self.w_xs[-1](x)


CASES = [
    (name, {"widths": widths}, [(3, 4)], {})
    for name in (
        "FewerNorms",
        "UnderACondition",
        "FirstAndRest",
        "AllButLast",
        "FirstByNumber",
        "Backwards",
        "OneMoreLayer",
        "Popped",
        "Gates",
        "Stages",
        "CompactPopped",
        "Convex",
        "ConvexOfSums",
    )
    for widths in ((5, 6, 7), (4, 4), (3,))
] + [("Convex", {"widths": (5, 6), "positive": False}, [(3, 4)], {})]
