"""The known traps of a migration, each walked into on purpose: caught, with a message that names the cause."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from jax.sharding import PartitionSpec as P
from nnx_migrate.compat.equivalence import causes
from nnx_migrate.compat.equivalence.api import compare_migrated
from nnx_migrate.compat.equivalence.report import EquivalenceReport, Verdict

X = jax.ShapeDtypeStruct((4, 8), jnp.float32)
S = jax.ShapeDtypeStruct((2, 4, 8), jnp.float32)


def mesh(kind: Any = jax.sharding.AxisType.Auto) -> Any:
    return jax.sharding.AbstractMesh((2, 4), ("data", "model"), axis_types=(kind,) * 2)


def compact(function: Any) -> Any:
    """A Linen module whose __call__ is `function`."""

    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return function(x)

    return Linen()


class Wrap(nnx.Module):
    """One layer under the name that Linen would give it."""

    def __init__(self, name: str, layer: Any, **kwargs: Any) -> None:
        setattr(self, name, layer)
        self.which, self.kwargs = name, kwargs

    def __call__(self, x: Any) -> Any:
        return getattr(self, self.which)(x, **self.kwargs)


def rngs() -> nnx.Rngs:
    return nnx.Rngs(0)


def said(report: EquivalenceReport, cause: str) -> bool:
    return any(cause in f"{c.detail} {c.reason_not_proved}" for c in report.checks)


def test_1_norm_in_mixed_precision() -> None:
    linen = compact(lambda x: nn.LayerNorm(dtype=jnp.bfloat16)(x))
    report = compare_migrated(
        linen, lambda: Wrap("LayerNorm_0", nnx.LayerNorm(8, dtype=jnp.bfloat16, rngs=rngs())), X, gradient=False
    )
    assert not report.proved and said(report, causes.NORM), report


def test_2_attention_takes_another_kernel() -> None:
    linen = compact(lambda x: nn.MultiHeadDotProductAttention(2)(x))
    make = lambda: Wrap("MultiHeadDotProductAttention_0", nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs()))
    report = compare_migrated(linen, make, S, gradient=False)
    assert not report.proved and said(report, causes.ATTENTION), report


def test_3_gru_lacks_a_bias() -> None:
    linen = compact(lambda x: nn.GRUCell(8)(x, x)[1])
    report = compare_migrated(linen, lambda: Wrap("GRUCell_0", nnx.GRUCell(8, 8, rngs=rngs())), X, gradient=False)
    assert report.verdict is Verdict.DIFFERENT and said(report, causes.GRU)


def test_4_weight_norm_never_trains() -> None:
    linen = compact(lambda x: nn.WeightNorm(nn.Dense(4, name="d"), name="wn")(x))
    make = lambda: Wrap("d", nnx.WeightNorm(nnx.Linear(8, 4, rngs=rngs()), rngs=rngs()))
    report = compare_migrated(linen, make, X)
    assert report.verdict is Verdict.DIFFERENT and said(report, causes.WEIGHT_NORM), report


def test_5_unset_flags_train() -> None:
    norm = compact(lambda x: nn.BatchNorm(use_running_average=True)(x))
    report = compare_migrated(norm, lambda: Wrap("BatchNorm_0", nnx.BatchNorm(8, rngs=rngs())), X)
    assert report.verdict is Verdict.DIFFERENT and said(report, causes.TRAINS), report
    drop = compact(lambda x: nn.Dropout(0.5, deterministic=True)(nn.Dense(8)(x)))

    class Drops(nnx.Module):
        def __init__(self) -> None:
            self.Dense_0, self.d = nnx.Linear(8, 8, rngs=rngs()), nnx.Dropout(0.5, rngs=rngs())

        def __call__(self, x: Any) -> Any:
            return self.d(self.Dense_0(x))

    report = compare_migrated(drop, Drops, X)
    assert report.verdict is not Verdict.PROVED and said(report, causes.DROPOUT), report


def constrained(x: Any) -> Any:
    return nn.with_logical_constraint(nn.Dense(8)(x), ("batch", "mlp"))


class Constrained(nnx.Module):
    def __init__(self, spec: Any) -> None:
        self.Dense_0, self.spec = nnx.Linear(8, 8, rngs=rngs()), spec

    def __call__(self, x: Any) -> Any:
        y = self.Dense_0(x)
        return y if self.spec is None else jax.lax.with_sharding_constraint(y, self.spec)


RULES = (("batch", "data"), ("mlp", "model"), ("batch", "model"))


def test_6_constraints_lost_without_a_mesh() -> None:
    report = compare_migrated(compact(constrained), lambda: Constrained(None), X, mesh=mesh(), rules=RULES)
    assert said(report, "sharding constraints differ") and said(report, causes.CONSTRAINT), report
    assert report["forward"].verdict is Verdict.PROVED and not report.equal
    same = compare_migrated(compact(constrained), lambda: Constrained(P("data", "model")), X, mesh=mesh(), rules=RULES)
    assert same.proved, same


def test_7_explicit_meshes_are_not_auto_meshes() -> None:
    make = lambda: Constrained(P("data", "model"))
    explicit = mesh(jax.sharding.AxisType.Explicit)
    report = compare_migrated(compact(constrained), make, X, mesh=explicit, rules=RULES)
    assert not report.equal and said(report, "Explicit"), report


def test_8_rules_resolve_differently() -> None:
    init = nn.with_logical_partitioning(nn.initializers.ones, ("batch", "batch2"))
    rules = (("batch", "data"), ("batch2", "data"), ("batch", "model"))
    linen = compact(lambda x: nn.Dense(8, kernel_init=init)(x))

    def native(spec: tuple[Any, ...]) -> Any:
        return lambda: Wrap("Dense_0", nnx.Linear(8, 8, kernel_metadata={"out_sharding": spec}, rngs=rngs()))

    assert compare_migrated(linen, native(("data", None)), X, mesh=mesh(), rules=rules)["specs"].verdict == "proved"
    wrong = compare_migrated(linen, native(("model", "data")), X, mesh=mesh(), rules=rules)
    assert wrong["specs"].verdict is Verdict.DIFFERENT and "in Linen" in wrong["specs"].detail


def test_9_the_model_given_is_not_changed_by_the_check() -> None:
    model = Wrap("BatchNorm_0", nnx.BatchNorm(8, rngs=rngs()), use_running_average=False)
    before = model.BatchNorm_0.mean[...] + 0
    linen = compact(lambda x: nn.BatchNorm(use_running_average=False)(x))
    assert compare_migrated(linen, lambda: model, X, mutable=["batch_stats"]).proved
    from nnx_migrate.compat.equivalence.api import check_equivalence, init_shapes

    variables = init_shapes(linen, {"params": jax.random.key(0)}, (X,), {})
    assert check_equivalence(linen, variables, model, X, mutable=["batch_stats"]).proved
    assert (model.BatchNorm_0.mean[...] == before).all()


def test_10_wrong_shapes_that_update_let_in() -> None:
    model = Wrap("Dense_0", nnx.Linear(8, 4, rngs=rngs()))
    nnx.update(model, {"Dense_0": {"kernel": jnp.ones((4, 8))}})
    from nnx_migrate.compat.equivalence.api import check_equivalence, init_shapes

    linen = compact(lambda x: nn.Dense(4)(x))
    variables = init_shapes(linen, {"params": jax.random.key(0)}, (X,), {})
    report = check_equivalence(linen, variables, model, X)
    assert "float32[8, 4] in Linen, float32[4, 8] in NNX" in report["shapes"].detail


def test_11_a_bare_scan_drops_updates() -> None:
    class Cell(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            return nn.BatchNorm(use_running_average=False)(x), None

    scanned = nn.scan(Cell, variable_axes={"params": 0, "batch_stats": 0}, split_rngs={"params": True}, length=3)
    linen = compact(lambda x: scanned(name="s")(x, None)[0])

    class Native(nnx.Module):
        def __init__(self, bare: bool) -> None:
            @nnx.vmap(in_axes=0, out_axes=0)
            def make(key: Any) -> Any:
                return Wrap("BatchNorm_0", nnx.BatchNorm(8, rngs=nnx.Rngs(key)), use_running_average=False)

            self.s, self.bare = make(jax.random.split(jax.random.key(0), 3)), bare

        def __call__(self, x: Any) -> Any:
            if self.bare:
                return jax.lax.scan(lambda x, m: (m(x), None), x, self.s)[0]
            return nnx.scan(lambda x, m: m(x), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.s)

    assert compare_migrated(linen, lambda: Native(False), X, mutable=["batch_stats"]).proved
    report = compare_migrated(linen, lambda: Native(True), X, mutable=["batch_stats"])
    assert report.verdict is Verdict.DIFFERENT and said(report, causes.LOST), report


def test_12_plain_containers_say_so() -> None:
    class Native(nnx.Module):
        def __init__(self) -> None:
            self.layers = [nnx.Linear(8, 8, rngs=rngs())]

    with pytest.raises(ValueError, match="static attribute"):
        compare_migrated(compact(lambda x: nn.Dense(8)(x)), Native, X)


def test_13_the_stacked_axis_has_its_place_in_the_spec() -> None:
    init = nn.with_partitioning(nn.initializers.ones, (None, "model"))

    class Cell(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            return nn.Dense(8, use_bias=False, kernel_init=init)(x), None

    scanned = nn.scan(
        Cell, variable_axes={"params": 0}, split_rngs={"params": True}, length=2, metadata_params={nn.PARTITION_NAME: "data"}
    )
    linen = compact(lambda x: scanned(name="s")(x, None)[0])

    def native(metadata: dict[Any, Any]) -> Any:
        class Native(nnx.Module):
            def __init__(self) -> None:
                @nnx.vmap(in_axes=0, out_axes=0, transform_metadata=metadata)
                def make(key: Any) -> Any:
                    sharded = {"out_sharding": (None, "model")}
                    layer = nnx.Linear(8, 8, use_bias=False, kernel_metadata=sharded, rngs=nnx.Rngs(key))
                    return Wrap("Dense_0", layer)

                self.s = make(jax.random.split(jax.random.key(0), 2))

            def __call__(self, x: Any) -> Any:
                return jax.lax.scan(lambda x, m: (m(x), None), x, self.s)[0]

        return Native

    right = compare_migrated(linen, native({nnx.PARTITION_NAME: "data"}), X)
    assert right.proved, right
    wrong = compare_migrated(linen, native({}), X)
    assert wrong["specs"].verdict is Verdict.DIFFERENT
    assert "P('data', None, 'model') in Linen, P(None, 'model')" in wrong["specs"].detail


def test_14_statistics_of_a_device_are_not_those_of_the_batch() -> None:
    from nnx_migrate.compat.equivalence.proof import prove, trace

    def normalised(x: Any) -> Any:
        return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)

    def local(x: Any) -> Any:
        return jax.shard_map(normalised, mesh=mesh(), in_specs=P("data"), out_specs=P("data"), check_vma=False)(x)

    assert prove(trace(local, X), trace(local, X)).proved
    proof = prove(trace(local, X), trace(normalised, X))
    assert not proof.values_proved and "shard_map" in str(proof)


def test_15_sow_without_pop_grows() -> None:
    class Sows(nnx.Module):
        def __init__(self) -> None:
            self.Dense_0 = nnx.Linear(8, 8, rngs=rngs())

        def __call__(self, x: Any) -> Any:
            y = self.Dense_0(x)
            self.sow(nnx.Intermediate, "h", y)
            return y

    report = compare_migrated(compact(lambda x: nn.Dense(8)(x)), Sows, X)
    assert report.verdict is Verdict.DIFFERENT and said(report, causes.GROWS), report
