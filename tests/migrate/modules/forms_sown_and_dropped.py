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


class Scaled(nn.Module):
    @nn.compact
    def __call__(self, x, gain):
        y = nn.Dense(4)(x) * gain
        self.sow("intermediates", "y", y)
        return y, None


class ClosesOverResult(nn.Module):
    """What a step is given whole has the names that the function of a scan uses itself."""

    @nn.compact
    def __call__(self, x, result):
        steps = nn.scan(
            Scaled, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=2
        )
        return steps()(x, result)[0]


class ClosesOverModule(nn.Module):
    @nn.compact
    def __call__(self, x, module):
        steps = nn.scan(
            Scaled, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=2
        )
        return steps()(x, module)[0]


class Attends(nn.Module):
    sow: bool = True

    @nn.compact
    def __call__(self, x, _):
        y = nn.MultiHeadDotProductAttention(2, name="attn")(x, x, sow_weights=self.sow)
        return x + y, None


class AttendsInSetup(nn.Module):
    def setup(self):
        self.attn = nn.MultiHeadDotProductAttention(2)

    def __call__(self, x, _):
        return x + self.attn(x, sow_weights=True), None


class AttentionDropped(nn.Module):
    sow: bool = True

    @nn.compact
    def __call__(self, x):
        steps = nn.scan(Attends, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)
        return steps(self.sow, name="layers")(x, None)[0]


class AttentionKept(nn.Module):
    @nn.compact
    def __call__(self, x):
        axes = {"params": 0, "intermediates": 0}
        x, _ = nn.scan(AttendsInSetup, variable_axes=axes, split_rngs={"params": True}, length=2)()(x, None)
        return x


class AttentionOfMembers(nn.Module):
    @nn.compact
    def __call__(self, x):
        y, _ = nn.vmap(
            nn.remat(AttendsInSetup), variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=2
        )()(x, None)
        return nn.MultiHeadDotProductAttention(1, name="last")(y.sum(0), sow_weights=True)


class NeverSown(nn.Module):
    @nn.compact
    def __call__(self, x):
        def step(mdl, x, _):
            y = nn.MultiHeadDotProductAttention(1, name="attn")(x, sow_weights=False)
            return y, None

        return nn.scan(step, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)(self, x, None)[0]


CASES: list[tuple[Any, ...]] = [
    *[(name, {}, [(2, 4)], {}) for name in ("Drops", "Keeps", "Setup", "Twice", "RematScan")],
    *[(name, {}, [(2, 3, 4)], {}) for name in ("Vm", "Nested")],
    *[(f"Attention{how}", {}, [(2, 3, 4)], {}) for how in ("Dropped", "Kept", "OfMembers")],
    ("AttentionDropped", {"sow": False}, [(2, 3, 4)], {}),
    ("NeverSown", {}, [(2, 3, 4)], {}),
    *[(name, {}, [(2, 4), (2, 4)], {}) for name in ("ClosesOverResult", "ClosesOverModule")],
]
