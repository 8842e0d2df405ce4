"""How flax 0.3 to 0.5, flax.optim and t5x spelt the state of an optimizer; written by hand in their formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import layouts_by_hand as by_hand
import numpy as np
import optax
import pytest
from flax import nnx
from nnx_migrate import compat

PARAMS = {"w": np.arange(24, dtype=np.float32).reshape(4, 6), "b": np.linspace(0, 1, 6, dtype=np.float32)}
STEP = np.array(3, np.int32)


class Model(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones((4, 6)))
        self.b = nnx.Param(jnp.ones(6))


def create(tx: Any) -> Callable[[], tuple[Model, nnx.Optimizer]]:
    def make() -> tuple[Model, nnx.Optimizer]:
        model = Model()
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    return make


def scaled(factor: float) -> dict[str, np.ndarray]:
    return {name: value * np.float32(factor) for name, value in PARAMS.items()}


def named(name: str, **fields: Any) -> dict[str, Any]:
    """A namedtuple as flax wrote it before 0.3.5."""
    return {
        "name": name,
        "fields": {str(i): field for i, field in enumerate(fields)},
        "values": {str(i): value for i, value in enumerate(fields.values())},
    }


def assert_slots(found: Any, factor: float) -> None:
    for name, value in scaled(factor).items():
        np.testing.assert_array_equal(found[name][...], value)


def test_namedtuples_of_flax_before_0_3_5(tmp_path: Path) -> None:
    adam = named("ScaleByAdamState", count=STEP, mu=scaled(2), nu=scaled(3))
    tree = {"step": 3, "params": PARAMS, "opt_state": {"0": adam, "1": named("EmptyState")}}
    model, optimizer = compat.restore(by_hand.write_l1(tree, tmp_path / "ck"), create(optax.adam(1e-3)))
    assert_slots({"w": model.w, "b": model.b}, 1)
    assert_slots(optimizer.opt_state[0].mu, 2)
    assert_slots(optimizer.opt_state[0].nu, 3)
    assert optimizer.step[...] == optimizer.opt_state[0].count[...] == 3
    # A dict of arrays that happens to have these names stays what it is.
    plain = {"params": {"name": PARAMS["b"], "fields": PARAMS["b"], "values": PARAMS["b"]}}
    assert set(compat.open_checkpoint(by_hand.write_l1(plain, tmp_path / "p")).leaves) == {
        ("params", n) for n in ("name", "fields", "values")
    }


def test_adafactor_before_0_1(tmp_path: Path) -> None:
    """Its statistics stood below each parameter, with placeholders for what is not in use."""
    none = np.zeros(1, np.float32)
    stats = {
        "w": {"v_row": PARAMS["w"].mean(1), "v_col": PARAMS["w"].mean(0), "v": none},
        "b": {"v_row": none, "v_col": none, "v": PARAMS["b"] * 2},
    }
    tree = {"step": 3, "params": PARAMS, "opt_state": {"0": {"count": STEP, "stats": stats}}}
    tx = optax.adafactor(1e-2, min_dim_size_to_factor=4)
    _, optimizer = compat.restore(by_hand.write_l1(tree, tmp_path / "ck"), create(tx))
    slots = optimizer.opt_state[0]
    np.testing.assert_array_equal(slots.v["b"][...], PARAMS["b"] * 2)
    for name in ("v_row", "v_col"):
        np.testing.assert_array_equal(getattr(slots, name)["w"][...], stats["w"][name])


def test_masked_before_0_1(tmp_path: Path) -> None:
    """The slots of a masked transformation were a list in jax's order of the parameters: `b` before `w`."""
    inner = {
        "0": {"count": STEP, "mu": {"0": PARAMS["b"] * 2, "1": PARAMS["w"] * 2}, "nu": {"0": PARAMS["b"], "1": PARAMS["w"]}}
    }
    tree = {"step": 3, "params": PARAMS, "opt_state": {"0": {"inner_state": inner}}}
    tx = optax.chain(optax.masked(optax.adam(1e-2), lambda params: jax.tree.map(lambda p: True, params)))
    _, optimizer = compat.restore(by_hand.write_l1(tree, tmp_path / "ck"), create(tx))
    assert_slots(optimizer.opt_state[0].inner_state[0].mu, 2)
    # One entry more or less is not that list.
    inner["0"]["mu"]["2"] = inner["0"]["nu"]["2"] = PARAMS["b"]
    with pytest.raises(compat.MismatchError, match="missing: 1/opt_state/0/inner_state/0/mu/b"):
        compat.restore(by_hand.write_l1(tree, tmp_path / "more"), create(tx))


def optim(slots: Callable[[np.ndarray], dict[str, np.ndarray]]) -> dict[str, Any]:
    """The state dict of a `flax.optim.Optimizer`."""
    return {"target": PARAMS, "state": {"step": STEP, "param_states": {k: slots(v) for k, v in PARAMS.items()}}}


OPTIM: dict[str, tuple[dict[str, Any], Any, Callable[[Any], Any]]] = {
    "momentum": (optim(lambda v: {"momentum": v * 2}), optax.sgd(1e-2, momentum=0.9), lambda s: s[0].trace),
    "rmsprop": (optim(lambda v: {"v": v * 2}), optax.rmsprop(1e-2), lambda s: s[0].nu),
    "adagrad": (optim(lambda v: {"G": v * 2}), optax.adagrad(1e-2), lambda s: s[0].sum_of_squares),
    "adam": (optim(lambda v: {"grad_ema": v * 2, "grad_sq_ema": v}), optax.adam(1e-2), lambda s: s[0].mu),
}


@pytest.mark.parametrize("name", OPTIM)
@pytest.mark.parametrize("under", [None, "optimizer"])
def test_flax_optim(name: str, under: str | None, tmp_path: Path) -> None:
    tree, tx, slots = OPTIM[name]
    path = by_hand.write_l1({under: tree} if under else tree, tmp_path / "ck")
    model, optimizer = compat.restore(path, create(tx))
    assert_slots({"w": model.w, "b": model.b}, 1)
    assert_slots(slots(optimizer.opt_state), 2)
    assert optimizer.step[...] == 3


def test_t5x_around_optax(tmp_path: Path) -> None:
    """t5x's OptaxWrapper keeps optax's own states, by number."""
    states = {"0": {"count": STEP, "mu": scaled(2), "nu": scaled(3)}, "1": {}}
    tree = {"target": PARAMS, "state": {"step": STEP, "param_states": states}}
    _, optimizer = compat.restore(by_hand.write_t5x(tree, tmp_path / "ck"), create(optax.adam(1e-3)))
    assert_slots(optimizer.opt_state[0].mu, 2)
    assert_slots(optimizer.opt_state[0].nu, 3)
    assert optimizer.step[...] == optimizer.opt_state[0].count[...] == 3


def test_the_means_of_adafactor_are_not_those_of_adam(tmp_path: Path) -> None:
    slots = optim(lambda v: {"m": v, "v": v, "v_row": np.zeros(1, np.float32), "v_col": np.zeros(1, np.float32)})
    path = by_hand.write_t5x(slots, tmp_path / "ck")
    for tx in (optax.adam(1e-3), optax.rmsprop(1e-3)):
        with pytest.raises(compat.MismatchError, match="missing: 1/opt_state/0/nu/w"):
            compat.restore(path, create(tx))


def test_trees_of_arrays_beside_the_model(tmp_path: Path) -> None:
    """Fields of a TrainState, however deep: never taken from `create()` without a word, never from another field."""

    def make() -> dict[str, Any]:
        slow = {"w": jnp.full((4, 6), 7.0), "deep": [{"b": jnp.full(6, 7.0)}, jnp.zeros(())]}
        return {"model": Model(), "slow": slow, "key": jnp.zeros(2, jnp.uint32)}

    slow = {"w": PARAMS["w"] * 2, "deep": {"0": {"b": PARAMS["b"] * 3}, "1": np.float32(5)}}
    whole = {"params": PARAMS, "slow": slow, "key": np.array([1, 2], np.uint32)}
    found = compat.restore(by_hand.write_l1(whole, tmp_path / "whole"), make)
    np.testing.assert_array_equal(found["slow"]["w"], PARAMS["w"] * 2)
    np.testing.assert_array_equal(found["slow"]["deep"][0]["b"], PARAMS["b"] * 3)
    assert found["slow"]["deep"][1] == 5 and list(found["key"]) == [1, 2]
    back = compat.to_linen(found)
    np.testing.assert_array_equal(back["slow"]["deep"]["0"]["b"], PARAMS["b"] * 3)
    without = by_hand.write_l1({"params": PARAMS, "key": whole["key"]}, tmp_path / "without")
    with pytest.raises(compat.MismatchError) as caught:
        compat.restore(without, make)
    assert sorted(caught.value.missing) == ["slow/deep/0/b", "slow/deep/1", "slow/w"]
    with pytest.warns(compat.RestoreWarning, match="kept from create.*slow/w"):
        assert compat.restore(without, make, strict=False)["slow"]["w"][0, 0] == 7


def test_arrays_in_the_byte_order_of_another_machine(tmp_path: Path) -> None:
    np.savez(tmp_path / "big.npz", **{f"params/{k}": v.astype(v.dtype.newbyteorder(">")) for k, v in PARAMS.items()})
    (tmp_path / "l3").mkdir()
    for name, value in PARAMS.items():
        by_hand.write_zarr(tmp_path / "l3" / f"params.{name}", value.astype(value.dtype.newbyteorder(">")))
    placeholders = {"params": {name: f"PLACEHOLDER://params.{name}" for name in PARAMS}}
    (tmp_path / "l3" / "checkpoint").write_bytes(by_hand.pack(placeholders))
    for path in ("big.npz", "l3"):
        model = compat.restore(tmp_path / path, Model)
        assert_slots({"w": model.w, "b": model.b}, 1)
