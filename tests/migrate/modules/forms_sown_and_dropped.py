"""Values that are sown under a scan or vmap whose `variable_axes` leaves their collection out: Linen drops them."""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp


class Step(nn.Module):
    features: int = 4

    @nn.compact
    def __call__(self, x, _):
        y = nn.Dense(self.features)(x)
        self.sow("intermediates", "y", y)
        return y, None


class Drops(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(4)(x, None)[0]


class Keeps(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.scan(Step, variable_axes={"params": 0, "intermediates": 0}, split_rngs={"params": True}, length=3)(4)(
            x, None
        )[0]


class Setup(nn.Module):
    def setup(self):
        self.steps = nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(4)

    def __call__(self, x):
        result, _ = self.steps(x, None)
        result, _ = self.steps(result, None)
        return result


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x):
        stack = nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(4)
        x, _ = stack(x, None)
        x, _ = stack(x, None)
        return x


class Member(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Dense(3)(x)
        self.sow("intermediates", "y", y)
        self.sow("losses", "l", jnp.sum(y), init_fn=lambda: 0.0, reduce_fn=lambda a, b: a + b)
        return y


class Vm(nn.Module):
    @nn.compact
    def __call__(self, result):
        return nn.vmap(Member, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=0)()(result)


class Mixed(nn.Module):
    @nn.compact
    def __call__(self, result):
        return nn.vmap(Member, variable_axes={"params": 0, "losses": 0}, split_rngs={"params": True}, in_axes=0)()(result)


class RematScan(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.scan(nn.remat(Step), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)(4)(x, None)[0]


class Deep(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y, _ = Step(4)(x, None)
        return y, nn.vmap(Member, variable_axes={"params": 0, "intermediates": 0}, split_rngs={"params": True}, in_axes=0)()(
            y
        )


class Nested(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.scan(Deep, variable_axes={"params": 1}, split_rngs={"params": True}, length=2)()(x, None)


CASES: list[tuple[Any, ...]] = [
    *[(name, {}, [(2, 4)], {}) for name in ("Drops", "Keeps", "Setup", "Twice", "RematScan")],
    *[(name, {}, [(2, 3, 4)], {}) for name in ("Vm", "Nested")],
]
