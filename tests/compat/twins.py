"""NNX twins, written by hand, of the Linen models that wrote the legacy checkpoints of the tests."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

LAYERS, EMBED, DEPTH = 3, 16, 32
RULES = (("batch", "data"), ("hidden", "model"), ("embed", None), ("layer", None))


class _Stacked(nnx.Module):
    """W1 and W2 of all layers in one array each, as `nn.scan` keeps them."""

    def __init__(self, names: tuple[tuple[Any, ...], tuple[Any, ...]], rngs: nnx.Rngs) -> None:
        init = nnx.initializers.normal()
        self.W1 = nnx.Param(init(rngs.params(), (LAYERS, EMBED, DEPTH)), out_sharding=names[0])
        self.W2 = nnx.Param(init(rngs.params(), (LAYERS, DEPTH, EMBED)), out_sharding=names[1])

    def __call__(self, x: jax.Array) -> jax.Array:
        def layer(x: jax.Array, weights: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
            return jnp.dot(jax.nn.relu(jnp.dot(x, weights[0])), weights[1]), None

        return jax.lax.scan(layer, x, (self.W1[...], self.W2[...]))[0]


class Part(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.ScanDotReluDot_0 = _Stacked(((None, None, "model"), (None, "model", None)), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.ScanDotReluDot_0(x)


class Logical(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.ScanLogicalDotReluDot_0 = _Stacked((("layer", "embed", "hidden"), ("layer", "hidden", "embed")), rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.ScanLogicalDotReluDot_0(x)


class DotReluDot(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        init = nnx.initializers.normal()
        self.W1 = nnx.Param(init(rngs.params(), (EMBED, DEPTH)), out_sharding=(None, "model"))
        self.W2 = nnx.Param(init(rngs.params(), (DEPTH, EMBED)), out_sharding=("model", None))

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.dot(jax.nn.relu(jnp.dot(x, self.W1[...])), self.W2[...])


class Unrolled(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.DotReluDot = nnx.List([DotReluDot(rngs) for _ in range(LAYERS)])

    def __call__(self, x: jax.Array) -> jax.Array:
        for layer in self.DotReluDot:
            x = layer(x)
        return x


class BN(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.Dense_0 = nnx.Linear(EMBED, DEPTH, rngs=rngs)
        self.BatchNorm_0 = nnx.BatchNorm(DEPTH, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(0.1, rngs=rngs)
        self.Dense_1 = nnx.Linear(DEPTH, EMBED, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16, rngs=rngs)

    def __call__(self, x: jax.Array, train: bool = True) -> jax.Array:
        x = self.BatchNorm_0(self.Dense_0(x), use_running_average=not train)
        return self.Dense_1(self.Dropout_0(jax.nn.relu(x), deterministic=not train))


def chain() -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 100)))


def create_part() -> tuple[Part, nnx.Optimizer]:
    model = Part(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


def create_logical() -> tuple[Logical, nnx.Optimizer]:
    model = Logical(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


def create_unrolled() -> tuple[Unrolled, nnx.Optimizer]:
    model = Unrolled(nnx.Rngs(0))
    return model, nnx.Optimizer(model, chain(), wrt=nnx.Param)


def create_bn() -> dict[str, Any]:
    model = BN(nnx.Rngs(0))
    return {
        "model": model,
        "optimizer": nnx.Optimizer(model, chain(), wrt=nnx.Param),
        "dropout_key": jax.random.PRNGKey(0),
    }


CREATE = {
    "part": create_part,
    "logical": create_logical,
    "part_unrolled_chain": create_unrolled,
    "bn": create_bn,
}
