"""Functions that hand out factories, chosen by what the caller's fields say: the caller makes the modules."""

import functools

import jax.numpy as jnp
from flax import linen as nn


def norm(use_rms):
    """One of two."""
    if use_rms:
        return lambda use_bias, bias_init, *args, **kwargs: nn.RMSNorm(*args, **kwargs)
    else:
        return nn.LayerNorm


class Named(nn.Module):
    rms: bool = True
    bias: bool = True

    @nn.compact
    def __call__(self, x):
        x = norm(self.rms)(dtype=jnp.float32, use_bias=self.bias, bias_init=nn.initializers.ones, name="pre")(x)
        x = nn.Dense(5)(x)
        return norm(use_rms=True)(use_bias=False, bias_init=nn.initializers.zeros, epsilon=1e-3, name="post")(x)


class Numbered(nn.Module):
    rms: bool = True

    @nn.compact
    def __call__(self, x):
        x = norm(self.rms)(use_bias=True, bias_init=nn.initializers.ones)(x)
        x = nn.Dense(5)(x)
        x = norm(self.rms)(use_bias=True, bias_init=nn.initializers.ones)(x)
        return norm(not self.rms)(use_bias=True, bias_init=nn.initializers.ones)(x)


def get_norm(kind, eps=1e-5):
    if kind == "layer":
        return functools.partial(nn.LayerNorm, epsilon=eps)
    elif kind == "group":
        return functools.partial(nn.GroupNorm, num_groups=2, epsilon=eps)
    elif kind == "rms":
        return nn.RMSNorm
    raise ValueError(kind)


class Kinds(nn.Module):
    kind: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)
        x = get_norm(self.kind)()(x)
        x = nn.Dense(4)(x)
        Norm = get_norm(self.kind, 1e-3)
        return Norm(name="last")(x)


class OwnMethod(nn.Module):
    kind: str = "layer"
    feats: int = 6

    def get_norm_layer(self):
        if self.kind in ("layer", "default"):
            return functools.partial(nn.LayerNorm, epsilon=1e-3)
        elif self.kind == "group":
            return functools.partial(nn.GroupNorm, num_groups=2, use_bias=False)
        else:
            raise ValueError(self.kind)

    @nn.compact
    def __call__(self, x):
        x = self.get_norm_layer()(name="mlp_norm", use_scale=True)(x)
        return nn.Dense(self.feats)(x)


class OfSetup(nn.Module):
    kind: str = "layer"

    def setup(self):
        self.norm = get_norm(self.kind)(name=None)
        self.other = norm(self.kind == "rms")(use_bias=True, bias_init=nn.initializers.ones)
        self.out = nn.Dense(4)

    def __call__(self, x):
        return self.other(self.out(self.norm(x)))


class Looped(nn.Module):
    kind: str = "layer"
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            x = nn.Dense(6)(x)
            x = get_norm(self.kind)(name=f"norm_{i}")(x)
        return x


class LoopedAuto(nn.Module):
    kind: str = "layer"
    n: int = 3

    @nn.compact
    def __call__(self, x):
        for i in range(self.n):
            x = nn.Dense(6)(x)
            x = get_norm(self.kind)()(x)
        return x


def act_norm(kind):
    return nn.LayerNorm if kind == "ln" else lambda **kw: nn.RMSNorm(epsilon=1e-2, **kw)


class Ternary(nn.Module):
    kind: str = "ln"

    @nn.compact
    def __call__(self, x):
        return act_norm(self.kind)(use_scale=True)(x)


CASES = [("Named", {"rms": a, "bias": b}, [(2, 6)], {}) for a in (True, False) for b in (True, False)]
CASES += [("Numbered", {"rms": a}, [(2, 6)], {}) for a in (True, False)]
KINDS = ("layer", "group", "rms")
CASES += [(n, {"kind": a}, [(2, 6)], {}) for a in KINDS for n in ("Kinds", "Looped", "LoopedAuto", "OfSetup")]
CASES += [("OwnMethod", {"kind": a}, [(2, 6)], {}) for a in ("layer", "default", "group")]
CASES += [("Ternary", {"kind": a}, [(2, 6)], {}) for a in ("ln", "rms")]
