"""Recurrent cells that NNX packs, beside Linen's, which keep every gate apart."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.equivalence.api import check_equivalence, compare_migrated
from nnx_migrate.compat.equivalence.report import Verdict

X = jax.ShapeDtypeStruct((3, 8), jnp.float32)


class Linen(nn.Module):
    kind: Any

    @nn.compact
    def __call__(self, x: Any) -> Any:
        cell = self.kind(8, name="cell")
        carry = (x, x) if self.kind is not nn.SimpleCell else x
        return nn.Dense(2)(cell(carry, x)[1])


class Native(nnx.Module):
    def __init__(self, kind: Any, gates: Any = lambda cell: None) -> None:
        self.cell = kind(8, 8, rngs=nnx.Rngs(0))
        gates(self.cell)
        self.Dense_0 = nnx.Linear(8, 2, rngs=nnx.Rngs(0))
        self.kind = kind

    def __call__(self, x: Any) -> Any:
        carry = (x, x) if self.kind is not nnx.SimpleCell else x
        return self.Dense_0(self.cell(carry, x)[1])


PAIRS = [(nn.OptimizedLSTMCell, nnx.OptimizedLSTMCell), (nn.SimpleCell, nnx.SimpleCell)]


@pytest.mark.parametrize(("linen", "native"), PAIRS)
def test_keys_are_matched_gate_by_gate(linen: Any, native: Any) -> None:
    report = compare_migrated(Linen(linen), lambda: Native(native), X)
    assert report["keys"].verdict is Verdict.PROVED and report["shapes"].verdict is Verdict.PROVED, report
    if native is nnx.SimpleCell:
        assert report.proved, report
    else:  # Linen adds gate by gate, NNX all gates at once
        assert report["forward"].verdict is Verdict.BITWISE and report.equal, report
    rows = {row["linen"]: row["nnx"] for row in report.variables}
    if native is nnx.OptimizedLSTMCell:
        assert {"params/cell/ii/kernel", "params/cell/hf/bias", "params/cell/ho/kernel"} <= rows.keys()
    # A model that has its weights already, as well.
    variables = Linen(linen).init(jax.random.key(0), jnp.ones(X.shape))
    model = compat.from_linen(variables, Native(native))
    assert check_equivalence(Linen(linen), variables, model, jnp.ones(X.shape)).verdict is report.verdict


def test_training_with_optimizer_slots_gate_by_gate() -> None:
    from nnx_migrate.compat.equivalence.api import init_shapes
    from nnx_migrate.compat.equivalence.training import check_training

    linen, x = Linen(nn.OptimizedLSTMCell), jnp.ones(X.shape)
    variables = init_shapes(linen, {"params": jax.random.key(0)}, (x,), {})
    checks = check_training(linen, variables, lambda: Native(nnx.OptimizedLSTMCell), [x], {}, steps=2)
    assert [str(c.verdict) for c in checks] in (["close"], ["bitwise"]), checks


def test_gates_in_another_order_are_not() -> None:
    class Turned(nnx.OptimizedLSTMCell):
        def __call__(self, carry: Any, x: Any) -> Any:
            c, h = carry
            f, i, g, o = jnp.split(self.dense_i(x) + self.dense_h(h), 4, axis=-1)
            c = self.gate_fn(f) * c + self.gate_fn(i) * self.activation_fn(g)
            h = self.gate_fn(o) * self.activation_fn(c)
            return (c, h), h

    report = compare_migrated(Linen(nn.OptimizedLSTMCell), lambda: Native(Turned), X)
    assert report["keys"].verdict is Verdict.PROVED and report["forward"].verdict is Verdict.DIFFERENT, report


def test_a_layer_that_is_only_called_like_one_is_not_cut() -> None:
    class Plain(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Dense(4, name="dense_i")(x)

    class Twin(nnx.Module):
        def __init__(self) -> None:
            self.dense_i = nnx.Linear(8, 4, rngs=nnx.Rngs(0))

        def __call__(self, x: Any) -> Any:
            return self.dense_i(x)

    assert compare_migrated(Plain(), Twin, X).proved


def test_the_bias_that_nnx_does_not_have_is_all_that_is_missing() -> None:
    class Gru(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.GRUCell(8, name="cell")(x, x)[1]

    class Twin(nnx.Module):
        def __init__(self) -> None:
            self.cell = nnx.GRUCell(8, 8, rngs=nnx.Rngs(0))

        def __call__(self, x: Any) -> Any:
            return self.cell(x, x)[1]

    report = compare_migrated(Gru(), Twin, X, gradient=False)
    assert report["keys"].verdict is Verdict.DIFFERENT
    assert report["keys"].detail == "missing in NNX: params/cell/hn/bias"
    variables = Gru().init(jax.random.key(0), jnp.ones(X.shape))
    with pytest.raises(compat.MismatchError) as caught:
        compat.from_linen(variables, Twin())
    assert caught.value.extra == ["params/cell/hn/bias"] and not caught.value.missing
    model = compat.from_linen(variables, Twin(), ignore=["hn/bias"])  # it is zero until it has been trained
    expected = Gru().apply(variables, jnp.ones(X.shape))
    assert jnp.allclose(model(jnp.ones(X.shape)), expected, rtol=0, atol=1e-6)
    back = compat.to_linen(model)["params"]["cell"]
    assert jnp.array_equal(back["hz"]["kernel"], variables["params"]["cell"]["hz"]["kernel"])
