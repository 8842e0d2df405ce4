"""Initializers that make several arrays: what is read off one of them has its sizes, not those of a row of the first."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_forms import sides
from .test_later_sizes import after


@pytest.mark.parametrize("name,size", [("Several", 5), ("SeveralOfSetup", 3)])
def test_several_arrays_of_one_initializer(name: str, size: int) -> None:
    linen, native, result = sides("forms_shapes_of_own_initializers")
    plan = next(c for c in result.classes if c.qualname.endswith(f".{name}"))
    assert plan.outcome == "native", plan.reason
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    module = getattr(linen, name)(size)
    variables = module.init(jax.random.key(0), x)
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    made = getattr(native, name)(size, **added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    jax.tree.map(np.testing.assert_array_equal, module.apply(variables, x), made(x))


def test_what_is_known_needs_no_call_on_shapes() -> None:
    text = after(sides("forms_shapes_of_own_initializers")[2])
    for name in ("Numbered", "OfLibrary", "Several", "Ends"):
        assert "Later" not in text.partition(f"class {name}(")[2].partition("\nclass ")[0], name
    ends = text.partition("class Ends(")[2].partition("\nclass ")[0]
    assert "self.b = nnx.Param(zeros(rngs.params(), (in_shape[-1],)))" in ends.replace("nnx.initializers.", "")


@pytest.mark.parametrize("count", [1, 2])
def test_the_devices_along_an_axis_are_counted(count: int) -> None:
    linen, native, _ = sides("forms_late_of_asking")
    x = jnp.asarray(np.random.RandomState(0).randn(count, 2, 3), jnp.float32)

    def wanted(x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        result, variables = linen.Sized().init_with_output(jax.random.key(0), x)
        return result, variables["params"]["Dense_0"]

    def found(x: jax.Array, values: dict[str, jax.Array]) -> jax.Array:
        made = native.Sized(in_features=3, rngs=nnx.Rngs(0))
        assert made.Dense_0.kernel.shape == values["kernel"].shape
        made.Dense_0.kernel[...], made.Dense_0.bias[...] = values["kernel"], values["bias"]
        result: jax.Array = made(x)
        return result

    result, values = jax.vmap(wanted, axis_name="many")(x)
    assert values["kernel"].shape[-1] == (4 if count == 1 else 6)
    np.testing.assert_array_equal(jax.vmap(found, axis_name="many")(x, values), result)
