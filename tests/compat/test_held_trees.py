"""Variables that hold more than one array, or a number: carries, counters, the accumulators of optax.sm3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest
from flax import nnx, serialization
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten

X = jnp.arange(6.0).reshape(2, 3)


class LinenCounting(nn.Module):
    """Keeps a carry of two arrays and a dict, beside a parameter."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.Dense(3, name="out")(x)
        carry = self.variable("memory", "carry", lambda: (jnp.zeros((2, 3)), jnp.ones((2,))))
        seen = self.variable("memory", "seen", lambda: {"sum": jnp.zeros(3), "count": jnp.zeros((), jnp.int32)})
        if not self.is_initializing():
            carry.value = (carry.value[0] + y, carry.value[1] * 2)
            seen.value = {"sum": seen.value["sum"] + y.sum(0), "count": seen.value["count"] + 1}
        return y + carry.value[0] * carry.value[1][:, None]


@nnx.register_variable_name("memory", overwrite=True)
class Memory(nnx.Variable):
    pass


class Counting(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.out = nnx.Linear(3, 3, rngs=rngs)
        self.carry = Memory((jnp.zeros((2, 3)), jnp.ones((2,))))
        self.seen = Memory({"sum": jnp.zeros(3), "count": jnp.zeros((), jnp.int32)})

    def __call__(self, x: jax.Array) -> jax.Array:
        y = self.out(x)
        first, second = self.carry.get_value()
        self.carry.set_value((first + y, second * 2))
        seen = self.seen.get_value()
        self.seen.set_value({"sum": seen["sum"] + y.sum(0), "count": seen["count"] + 1})
        first, second = self.carry.get_value()
        return y + first * second[:, None]


def linen_variables(steps: int) -> Any:
    model = LinenCounting()
    variables = model.init(jax.random.key(0), X)
    for _ in range(steps):
        _, new = model.apply(variables, X, mutable=["memory"])
        variables = {**variables, **new}
    return variables


def flat(tree: Any) -> dict[str, np.ndarray]:
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(serialization.to_state_dict(tree)).items()}


def assert_same(have: dict[str, np.ndarray], want: dict[str, np.ndarray]) -> None:
    assert have.keys() == want.keys()
    for key in want:
        np.testing.assert_array_equal(have[key], want[key], err_msg=key)


def test_in_memory_and_on() -> None:
    variables = linen_variables(2)
    model = compat.from_linen(variables, Counting(nnx.Rngs(1)))
    assert_same(flat(compat.to_linen(model)), flat(variables))
    want, new = LinenCounting().apply(variables, X, mutable=["memory"])
    np.testing.assert_array_equal(model(X), want)
    assert_same(flat(compat.to_linen(model)), flat({**variables, **new}))


def test_from_disk_and_converted_there_and_back(tmp_path: Path) -> None:
    variables = linen_variables(2)
    file = tmp_path / "variables.msgpack"
    file.write_bytes(serialization.to_bytes(variables))

    def create() -> Counting:
        return Counting(nnx.Rngs(1))

    restored = compat.restore(file, create)
    assert_same(flat(compat.to_linen(restored)), flat(variables))
    # What plain Orbax restores into nnx.state of the model.
    compat.convert_checkpoint(file, tmp_path / "nnx", create=create)
    state = nnx.state(create())
    with ocp.StandardCheckpointer() as checkpointer:
        found = checkpointer.restore(tmp_path / "nnx", jax.tree.map(ocp.utils.to_shape_dtype_struct, state))
    model = create()
    nnx.update(model, found)
    assert_same(flat(compat.to_linen(model)), flat(variables))
    compat.convert_checkpoint(tmp_path / "nnx", tmp_path / "linen", create=create, to="linen")
    with ocp.StandardCheckpointer() as checkpointer:
        assert_same(flat(checkpointer.restore(tmp_path / "linen")), flat(variables))


def test_one_of_them_missing_is_named() -> None:
    variables = linen_variables(1)
    del variables["memory"]["seen"]["sum"]
    with pytest.raises(compat.MismatchError, match="missing: seen/sum"):
        compat.from_linen(variables, Counting(nnx.Rngs(1)))
    variables = linen_variables(1)
    variables["memory"]["carry"] = (*variables["memory"]["carry"], jnp.ones(4))
    with pytest.raises(compat.MismatchError, match="memory/carry/2"):
        compat.from_linen(variables, Counting(nnx.Rngs(1)))


def test_a_number_is_no_less_than_an_array() -> None:
    class Counter(nnx.Module):
        def __init__(self) -> None:
            self.count = Memory(0)

    model = compat.from_linen({"memory": {"count": jnp.asarray(7)}}, Counter())
    assert int(model.count.get_value()) == 7
    assert int(compat.to_linen(model)["memory"]["count"]) == 7
    assert int(compat.to_linen(Counter())["memory"]["count"]) == 0
