"""Layouts that cannot be: the message names the variable, the layout, the mesh, and what to change."""

from __future__ import annotations

import sys
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.sharding import Mesh, PartitionSpec
from nnx_migrate.migrate.nnx.generated import parity


@pytest.fixture(scope="module")
def helpers() -> dict[str, Any]:
    module = types.ModuleType("linen_parity")
    sys.modules["linen_parity"] = module
    parts = ("Functional", "with_partitioning", "with_logical_partitioning", "logical_to_mesh_sharding", "get_sharding")
    exec(parity.render(parts), module.__dict__)
    return module.__dict__


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


BAD = {
    "an axis that the mesh lacks": ((None, "modl"), (8, 8), "no axis 'modl'"),
    "a dimension that does not divide": (
        ("data", "model"),
        (8, 6),
        "dimension 1 does not divide into the 4 parts of 'model'",
    ),
    "more names than dimensions": (
        ("data", "model", None),
        (8, 8),
        "it has 2 dimensions, 3 are named: give each dimension one name or None",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_variable(case: str, helpers: dict[str, Any], mesh: Mesh) -> None:
    names, shape, problem = BAD[case]
    init = helpers["with_partitioning"](nnx.initializers.ones, names)
    with jax.set_mesh(mesh), pytest.raises(ValueError) as raised:
        nnx.Param(init(jax.random.key(0), shape))
    said = str(raised.value)
    assert problem in said and str(names) in said and str(shape) in said and "{'data': 2, 'model': 4}" in said
    assert "change" in said or "give" in said
    # A state on its own shardings is only noted down at first: Linen refused it then already, but for uneven parts, which
    # a compiled function's values may have.
    if "divide" in problem:
        with jax.set_mesh(mesh):
            made = jax.eval_shape(lambda: nnx.state(nnx.Linear(*shape, kernel_init=init, rngs=nnx.Rngs(0))))
        assert made["kernel"].shape == shape
        return
    with jax.set_mesh(mesh), nnx.use_eager_sharding(False), pytest.raises(ValueError, match=problem.replace("(", r"\(")):
        jax.eval_shape(lambda: nnx.state(nnx.Linear(*shape, kernel_init=init, rngs=nnx.Rngs(0))))


def test_a_kernel_that_is_made_flat(helpers: dict[str, Any], mesh: Mesh) -> None:
    init = helpers["with_partitioning"](nnx.initializers.ones, (None, "data", "model"))
    with jax.set_mesh(mesh):
        layer = nnx.LinearGeneral(6, (2, 4), kernel_init=init, rngs=nnx.Rngs(0))
        assert layer.kernel[...].sharding.spec == PartitionSpec(None, "data", "model")
        with pytest.raises(ValueError, match=r"of shape \(6, 8\).*it has 2 dimensions, 3 are named"):
            nnx.LinearGeneral(6, 8, kernel_init=init, rngs=nnx.Rngs(0))


def test_a_rule_for_an_axis_that_the_mesh_lacks(helpers: dict[str, Any], mesh: Mesh) -> None:
    init = helpers["with_logical_partitioning"](nnx.initializers.ones, ("embed", "mlp"))
    raises = pytest.raises(ValueError, match=r"\('embed', 'mlp'\).*no axis 'tensor': change the rule")
    with jax.set_mesh(mesh), nnx.logical_axis_rules((("mlp", "tensor"),)), raises:
        nnx.Param(init(jax.random.key(0), (8, 8)))
    tree = {"layer": {"kernel": PartitionSpec("embed", "mlp")}}
    with pytest.raises(ValueError, match=r"\['layer'\]\['kernel'\] cannot be .*tensor.* on the mesh .*change the rule"):
        helpers["logical_to_mesh_sharding"](tree, mesh, (("mlp", "tensor"),))
    with nnx.use_eager_sharding(False):
        variable = nnx.Param(init(jax.random.key(0), (8, 6)))
    uneven = pytest.raises(ValueError, match=r"\['layer'\]\['w'\] annotated with .*does not divide into the 4 parts")
    with nnx.logical_axis_rules((("mlp", "model"),)), uneven:
        helpers["get_sharding"]({"layer": {"w": variable}}, mesh)


class Block(nnx.Module):
    """Its layer has a kernel that an initializer lays out."""

    def __init__(self, init: Any, *, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(
            8,
            6,
            kernel_init=init,
            rngs=rngs,
        )


class Blocks(nnx.Module):
    """Several of them."""

    def __init__(self, init: Any, *, rngs: nnx.Rngs) -> None:
        self.scale = nnx.Param(jnp.ones(3))
        self.blocks = nnx.List([Block(init, rngs=rngs) for _ in range(2)])


@pytest.mark.parametrize("case", BAD)
def test_the_variable_that_is_being_made_is_named(case: str, helpers: dict[str, Any], mesh: Mesh) -> None:
    names, _, problem = BAD[case]
    init = helpers["with_partitioning"](nnx.initializers.ones, names)
    with jax.set_mesh(mesh), pytest.raises(ValueError) as raised:
        Blocks(init, rngs=nnx.Rngs(0))
    said = str(raised.value)
    assert said.startswith("blocks/dense/kernel: a variable annotated with") and problem in said
    if "divide" not in problem:
        with jax.set_mesh(mesh), pytest.raises(ValueError, match=r"^blocks/dense/kernel: "):
            nnx.jit(lambda: Blocks(init, rngs=nnx.Rngs(0)))()


class Layer(nnx.Module):
    """A layer whose one parameter is laid out by mesh axes."""

    names: tuple[Any, ...] = ("data", "model")

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.w = nnx.Param(jnp.ones((8, 6)), out_sharding=self.names)

    def __call__(self, x: Any) -> Any:
        return x @ self.w[...]


def test_a_parameter_of_a_functional(helpers: dict[str, Any], mesh: Mesh) -> None:
    model = helpers["Functional"](Layer)
    variables = model.init(jax.random.key(0), jnp.ones((2, 8)))
    with jax.set_mesh(mesh), pytest.raises(ValueError, match=r"params/w of shape \(8, 6\).*dimension 1 does not divide"):
        model.apply(variables, jnp.ones((2, 8)))


def test_uneven_parts_in_a_compiled_function(helpers: dict[str, Any], mesh: Mesh) -> None:
    model = helpers["Functional"](Layer)
    variables = model.init(jax.random.key(0), jnp.ones((2, 8)))
    with jax.set_mesh(mesh):
        assert float(jax.jit(lambda x: model.apply(variables, x).sum())(jnp.ones((2, 8)))) == 96.0


def test_more_names_than_dimensions(helpers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it has 1 dimensions, 2 are named: give each dimension one name or None"):
        helpers["check_layout"]("bias", (8,), ("data", None), {"data": 2})
