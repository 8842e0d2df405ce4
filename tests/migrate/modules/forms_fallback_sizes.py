"""Sizes that a field gives, or the input where it is None, of modules whose results others go on with."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.linear import _canonicalize_tuple, _normalize_axes
from jax.ad_checkpoint import checkpoint_name


class DG(nn.Module):
    features: Any
    axis: Any = -1

    @nn.compact
    def __call__(self, inputs):
        def compute_dot_general(inputs, kernel, axis, contract_ind):
            return jax.lax.dot_general(inputs, kernel, ((axis, contract_ind), ((), ())), precision=None)

        features = _canonicalize_tuple(self.features)
        axis = _canonicalize_tuple(self.axis)
        inputs = jnp.asarray(inputs, jnp.float32)
        axis = _normalize_axes(axis, inputs.ndim)
        kernel_shape = tuple(inputs.shape[ax] for ax in axis) + features
        kernel = self.param("kernel", nn.initializers.ones, kernel_shape, jnp.float32)
        contract_ind = tuple(range(0, len(axis)))
        output = compute_dot_general(inputs, kernel, axis, contract_ind)
        return output


class V1(nn.Module):
    out_features: int | None = None

    @nn.compact
    def __call__(self, x):
        features = self.out_features or x.shape[-1]
        y = DG((2, 3))(x)
        y = DG(features=features, axis=(-2, -1))(y)
        return y


class V2(nn.Module):
    out_features: int | None = None

    @nn.compact
    def __call__(self, x):
        features = self.out_features or x.shape[-1]
        y = nn.Dense(features)(x)
        return y


class V3(nn.Module):
    @nn.compact
    def __call__(self, x):
        features = x.shape[-1]
        y = DG((2, 3))(x)
        y = DG(features=features, axis=(-2, -1))(y)
        return y


class W1(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(V1()(x))


class W2(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(V2()(x))


class W3(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(V3()(x))


class W4(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(V1(5)(x))


class A(nn.Module):
    attention_fn: Callable = nn.dot_product_attention
    out_features: int | None = None
    num_heads: int = 2

    @nn.compact
    def __call__(self, xq, xk, mask=None):
        features = self.out_features or xq.shape[-1]
        qf = xq.shape[-1]
        hd = qf // self.num_heads
        with jax.profiler.TraceAnnotation("Attention_Block"):
            dense = functools.partial(DG, axis=-1, features=(self.num_heads, hd))
            q, k, v = dense(name="query")(xq), dense(name="key")(xk), dense(name="value")(xk)
            q = checkpoint_name(q, "q")
            k = checkpoint_name(k, "q")
            v = checkpoint_name(v, "q")
            x = self.attention_fn(q, k, v, mask=mask)
            out = DG(features=features, axis=(-2, -1), name="out")(x)
            return out


class T1(nn.Module):
    q: int = 2
    heads: int = 2

    @nn.compact
    def __call__(self, x):
        batch, length, d = x.shape
        probe = self.param("probe", nn.initializers.ones, (1, self.q, d))
        probe = jnp.tile(probe, [batch, self.q, 1])
        y = A(num_heads=self.heads)(xq=probe, xk=x)
        return nn.Dense(3)(y)


class U(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = A()(x, x)
        return nn.Dense(3)(y)


class Mixed(nn.Module):
    mlp_dim: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(self.mlp_dim)(x)))


class MixedHead(nn.Module):
    mlp_dim: int | None = None

    @nn.compact
    def __call__(self, x):
        d = x.shape[-1]
        width = nn.merge_param("mlp_dim", self.mlp_dim, 4 * d)
        return x + Mixed(width)(x)


class MixedOuter(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(MixedHead()(x))


class MixedDirect(nn.Module):
    mlp_dim: int | None = None

    @nn.compact
    def __call__(self, x):
        return Mixed(mlp_dim=nn.merge_param("mlp_dim", self.mlp_dim, 4 * x.shape[-1]))(x)


def table(rng, width, length):
    return jnp.ones((1, length, width))


class Squared(nn.Module):
    """Powers of sizes of the input, as shapes of parameters."""

    width: int = 6
    patch: int = 2

    @nn.compact
    def __call__(self, x):
        places = (x.shape[1] // self.patch) ** 2
        rest = (2 * x.shape[1]) ** 2 + (x.shape[-1] - 1) ** self.patch
        found = self.param("table", table, self.width**2 - 30, places)
        return found.sum() + self.param("rest", table, 1, rest).sum() + nn.Dense(self.width**self.patch)(x)


class AfterFlags(nn.Module):
    """A layer where shapes differ, of what a flag of the call had a part in."""

    features: int
    rate: float | None = None

    @nn.compact
    def __call__(self, x, train: bool = False):
        residual = x
        if self.rate is not None and self.rate > 0:
            x = nn.Dropout(rate=self.rate)(x, deterministic=not train)
        x = nn.Dense(self.features)(x)
        if residual.shape != x.shape:
            residual = nn.Dense(self.features)(residual)
        return residual + x


CASES = [(n, {}, [(2, 4, 6)], {}) for n in ("W1", "W2", "W3", "W4", "T1", "U", "MixedHead", "MixedOuter", "MixedDirect")]
CASES += [("Squared", {}, [(2, 4, 4, 3)], {})]
CASES += [("AfterFlags", {"features": n, "rate": r}, [(2, 6)], {}) for n in (6, 5) for r in (None, 0.5)]
