"""Norms of one's own among other norms, in partials that hold a flag of the call or of setup; `CASES` as in forms_basic."""

import functools
from typing import Any, Optional

import flax.linen as nn
import jax.numpy as jnp
from flax.linen.module import merge_param


class Renorm(nn.Module):
    use_running_average: Optional[bool] = None
    momentum: float = 0.9

    @nn.compact
    def __call__(self, x, use_running_average: Optional[bool] = None):
        use_running_average = merge_param("use_running_average", self.use_running_average, use_running_average)
        mean = self.variable("batch_stats", "mean", lambda: jnp.zeros(x.shape[-1]))
        bias = self.param("bias", nn.initializers.normal(), (x.shape[-1],))
        found = mean.value if use_running_average else x.mean(0)
        if not use_running_average and not self.is_initializing():
            mean.value = self.momentum * mean.value + (1 - self.momentum) * found
        return x - found + bias


class Block(nn.Module):
    width: int
    norm: Any

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(self.norm()(x))


class Mixed(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = Block(3, functools.partial(nn.BatchNorm, use_running_average=not train))(x)
        return Block(4, functools.partial(Renorm, use_running_average=not train))(x)


class Block2(nn.Module):
    width: int
    norm: Any = nn.LayerNorm

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(self.norm()(x))


class Mixed2(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        x = Block2(3)(x)
        return Block2(4, functools.partial(Renorm, use_running_average=not train))(x)


class Chosen(nn.Module):
    kind: str = "own"

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = (
            functools.partial(Renorm, use_running_average=not train)
            if self.kind == "own"
            else functools.partial(nn.BatchNorm, use_running_average=not train)
        )
        return Block(4, norm)(norm()(x))


class InSetup(nn.Module):
    train: bool

    def setup(self):
        self.norm = functools.partial(Renorm, use_running_average=not self.train)
        self.block = Block(4, self.norm)

    def __call__(self, x):
        return self.block(x)


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, use_running_average=not train)

        def body(block, carry, _):
            return block(carry), None

        x, _ = nn.scan(body, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, length=2)(
            Block(4, norm), x, None
        )
        return x


class InALoop(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, use_running_average=not train)
        for layer in [norm(), nn.Dense(4), norm()]:
            x = layer(x)
        return x


class FlagInALoop(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        for layer in [Renorm(use_running_average=not train), nn.Dense(4)]:
            x = layer(x)
        return x


class OneOfTwo(nn.Module):
    own: bool = True

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = functools.partial(Renorm, use_running_average=not train)
        layer = norm() if self.own else nn.Dense(x.shape[-1])
        return layer(x)


CASES = [
    (name, {}, [(3, 4)], {"train": train})
    for name in ("Mixed", "Mixed2", "Chosen", "Scanned", "InALoop", "FlagInALoop", "OneOfTwo")
    for train in (True, False)
]
CASES += [("Chosen", {"kind": "layer"}, [(3, 4)], {"train": train}) for train in (True, False)]
CASES += [("InSetup", {"train": train}, [(3, 4)], {}) for train in (True, False)]
CASES += [("OneOfTwo", {"own": False}, [(3, 4)], {"train": train}) for train in (True, False)]
