"""How long does a proof of a large decoder take? Shapes only: nothing is allocated, so a laptop does for 70B parameters.

    python benchmarks/bench_proof.py scan     # layers scanned
    python benchmarks/bench_proof.py loop     # layers unrolled

Forward, gradient, specs and a whole adamw step, on a 16x16 and an 8x8x64 abstract mesh.
"""

from __future__ import annotations

import dataclasses
import math
import resource
import sys
import time
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training import train_state
from nnx_migrate.compat.equivalence.api import compare_migrated
from nnx_migrate.compat.equivalence.report import EquivalenceReport
from nnx_migrate.compat.equivalence.steps import check_steps

RULES = (("batch", "data"), ("embed", None), ("mlp", "model"), ("heads", "model"), ("vocab", "model"), ("layers", None))


@dataclasses.dataclass(frozen=True)
class Size:
    """Sizes of a decoder; the defaults make 70B parameters."""

    layers: int = 80
    width: int = 8192
    heads: int = 64
    hidden: int = 28672
    vocabulary: int = 128256
    batch: int = 16
    length: int = 2048


def _attend(q: Any, k: Any, v: Any, heads: int) -> Any:
    """Causal attention, the same on both sides."""
    shape = (*q.shape[:-1], heads, q.shape[-1] // heads)
    q, k, v = (t.reshape(shape) for t in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(shape[-1])
    mask = jnp.tril(jnp.ones((q.shape[1], q.shape[1]), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*q.shape[:2], -1)


class LinenBlock(nn.Module):
    size: Size

    @nn.compact
    def __call__(self, x: Any, _: Any = None) -> Any:
        def dense(features: int, axes: tuple[str, str], name: str) -> Any:
            init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), axes)
            return nn.Dense(features, use_bias=False, kernel_init=init, name=name)

        scale = nn.with_logical_partitioning(nn.initializers.ones, ("embed",))
        width, hidden = self.size.width, self.size.hidden
        h = nn.RMSNorm(scale_init=scale)(x)
        q, k, v = jnp.split(dense(3 * width, ("embed", "heads"), "qkv")(h), 3, -1)
        x = x + dense(width, ("heads", "embed"), "out")(_attend(q, k, v, self.size.heads))
        h = nn.RMSNorm(scale_init=scale)(x)
        h = nn.silu(dense(hidden, ("embed", "mlp"), "gate")(h)) * dense(hidden, ("embed", "mlp"), "up")(h)
        h = nn.with_logical_constraint(h, ("batch", None, "mlp"))
        return x + dense(width, ("mlp", "embed"), "down")(h), None


class LinenDecoder(nn.Module):
    size: Size
    scan: bool = True

    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        def init(*axes: str) -> Any:
            return nn.with_logical_partitioning(nn.initializers.lecun_normal(), axes)

        size = self.size
        x = nn.Embed(size.vocabulary, size.width, embedding_init=init("vocab", "embed"), name="embed")(tokens)
        block = nn.remat(LinenBlock, prevent_cse=not self.scan)
        if self.scan:
            stack = nn.scan(
                block,
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=size.layers,
                metadata_params={nn.PARTITION_NAME: "layers"},
            )
            x, _ = stack(size, name="blocks")(x, None)
        else:
            for i in range(size.layers):
                x, _ = block(size, name=f"blocks_{i}")(x)
        return nn.Dense(size.vocabulary, use_bias=False, kernel_init=init("embed", "vocab"), name="head")(x)


class Block(nnx.Module):
    def __init__(self, size: Size, *, constrained: bool = True, rngs: nnx.Rngs) -> None:
        def linear(i: int, o: int, *axes: str) -> nnx.Linear:
            return nnx.Linear(i, o, use_bias=False, kernel_metadata={"out_sharding": axes}, rngs=rngs)

        scale = {"out_sharding": ("embed",)}
        width, hidden = size.width, size.hidden
        self.RMSNorm_0 = nnx.RMSNorm(width, scale_metadata=scale, rngs=rngs)
        self.qkv = linear(width, 3 * width, "embed", "heads")
        self.out = linear(width, width, "heads", "embed")
        self.RMSNorm_1 = nnx.RMSNorm(width, scale_metadata=scale, rngs=rngs)
        self.gate = linear(width, hidden, "embed", "mlp")
        self.up = linear(width, hidden, "embed", "mlp")
        self.down = linear(hidden, width, "mlp", "embed")
        self.heads, self.constrained = size.heads, constrained

    def __call__(self, x: Any) -> Any:
        q, k, v = jnp.split(self.qkv(self.RMSNorm_0(x)), 3, -1)
        x = x + self.out(_attend(q, k, v, self.heads))
        h = self.RMSNorm_1(x)
        h = nnx.silu(self.gate(h)) * self.up(h)
        if self.constrained:
            h = jax.lax.with_sharding_constraint(h, jax.sharding.PartitionSpec("data", None, "model"))
        return x + self.down(h)


class Decoder(nnx.Module):
    """The migration of LinenDecoder; `constrained` and `head_axes` are there to make it wrong on purpose."""

    def __init__(
        self,
        size: Size,
        scan: bool = True,
        *,
        constrained: bool = True,
        head_axes: tuple[str, str] = ("embed", "vocab"),
        rngs: nnx.Rngs,
    ) -> None:
        table = {"out_sharding": ("vocab", "embed")}
        self.embed = nnx.Embed(size.vocabulary, size.width, embedding_metadata=table, rngs=rngs)
        self.scan = scan
        if scan:

            @nnx.split_rngs(splits=size.layers)
            @nnx.vmap(in_axes=0, out_axes=0, transform_metadata={nnx.PARTITION_NAME: "layers"})
            def make(rngs: nnx.Rngs) -> Block:
                return Block(size, constrained=constrained, rngs=rngs)

            self.blocks = make(rngs)
        else:
            self.blocks = nnx.List([Block(size, constrained=constrained, rngs=rngs) for _ in range(size.layers)])
        head = {"out_sharding": head_axes}
        self.head = nnx.Linear(size.width, size.vocabulary, use_bias=False, kernel_metadata=head, rngs=rngs)

    def __call__(self, tokens: Any) -> Any:
        x = self.embed(tokens)
        run = nnx.remat(lambda block, x: block(x), prevent_cse=not self.scan)
        if self.scan:
            x = nnx.scan(
                lambda x, block: run(block, x),
                in_axes=(nnx.Carry, 0),
                out_axes=nnx.Carry,
                transform_metadata={nnx.PARTITION_NAME: "layers"},
            )(x, self.blocks)
        else:
            for block in self.blocks:
                x = run(block, x)
        return self.head(x)


def mesh(**axes: int) -> jax.sharding.AbstractMesh:
    """An abstract mesh of Auto axes."""
    kinds = (jax.sharding.AxisType.Auto,) * len(axes)
    return jax.sharding.AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=kinds)


def prove_forward(size: Size, over: Any, scan: bool = True, **wrong: Any) -> EquivalenceReport:
    """Keys, shapes, specs, forward and gradient."""
    tokens = jax.ShapeDtypeStruct((size.batch, size.length), jnp.int32)
    return compare_migrated(
        LinenDecoder(size, scan),
        lambda: Decoder(size, scan, rngs=nnx.Rngs(0), **wrong),
        tokens,
        mesh=over,
        rules=RULES,
        numbers_if_not_proved=False,
    )


def prove_step(size: Size, over: Any, scan: bool = True) -> EquivalenceReport:
    """A whole step of adamw."""
    tokens = jax.ShapeDtypeStruct((size.batch, size.length), jnp.int32)
    linen, tx = LinenDecoder(size, scan), optax.adamw(1e-3)

    def loss_of(logits: Any, tokens: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:]).mean()

    def linen_step(state: Any, tokens: Any) -> Any:
        loss, grads = jax.value_and_grad(lambda p: loss_of(state.apply_fn({"params": p}, tokens), tokens))(state.params)
        return state.apply_gradients(grads=grads), loss

    def native_step(model: Any, optimizer: Any, tokens: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda m: loss_of(m(tokens), tokens))(model)
        optimizer.update(model, grads)
        return loss

    def make_state() -> Any:
        params = linen.init(jax.random.key(0), jnp.ones((1, 8), jnp.int32))["params"]
        return train_state.TrainState.create(apply_fn=linen.apply, params=params, tx=tx)

    def make_native() -> Any:
        model = Decoder(size, scan, rngs=nnx.Rngs(0))
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    state = jax.eval_shape(make_state)
    return check_steps(linen_step, state, native_step, make_native, tokens, mesh=over, rules=RULES, run=False)


def main() -> int:
    """Print both reports for each mesh, with time and memory; the exit status is 1 where something is not proved."""
    scan = sys.argv[1:2] != ["loop"]
    proved = True
    for over in (mesh(data=16, model=16), mesh(data=8, fsdp=8, model=64)):
        print(f"{'scanned' if scan else 'unrolled'}, mesh {dict(over.shape)}")
        for prove in (prove_forward, prove_step):
            started = time.perf_counter()
            report = prove(Size(), over, scan)
            proved &= report.proved
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"{report}\n{time.perf_counter() - started:.1f} s, {memory:.2f} GiB at most so far\n", flush=True)
    return 0 if proved else 1


if __name__ == "__main__":
    sys.exit(main())
