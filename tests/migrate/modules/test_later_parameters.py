"""NNX185: parameters whose shapes only the call knows: their boxes, what stays Linen, and what raises."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

from .test_later_sizes import after, both, migrate

HEAD = "class M(nn.Module):\n  @nn.compact\n  def __call__(self, x, train: bool = False):\n    h = leaves(x)[0]\n"


def of(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


BOXED = of(
    "g = jnp.arange(h.shape[-1]) * 1.0\n"
    "c = self.param('c', nn.with_partitioning(lambda key: g, ('data',)))\n"
    "w = self.param('w', nn.with_partitioning(nn.initializers.lecun_normal(), ('data', 'model')), (h.shape[-1], 4))\n"
    "b = self.param('b', nn.with_logical_partitioning(nn.initializers.ones, ('embed',)), (jnp.shape(h)[-1],))\n"
    "return (h * c + b) @ w"
)


def test_boxes_lay_out_what_the_call_has_shown() -> None:
    old, new, _ = both(BOXED)
    x = jnp.ones((4, 8))
    specs = linen.get_partition_spec(old.M().init(jax.random.key(0), x))["params"]
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
    with jax.set_mesh(mesh):
        model = new.M(in_example=x, rngs=nnx.Rngs(0))
        assert model.w.get_value().sharding.spec == specs["w"]
    for name in ("b", "c", "w"):
        assert getattr(model, name).get_metadata()["out_sharding"] == tuple(specs[name])
    params = {"w": model.w[...], "b": model.b[...], "c": model.c[...]}
    assert jnp.array_equal(old.M().apply({"params": params}, x), model(x))


def test_another_shape_raises_as_in_linen() -> None:
    old, new, _ = both(of("w = self.param('w', nn.initializers.zeros, (1, h.shape[1], 1))\nreturn h + w"))
    variables = old.M().init(jax.random.key(0), jnp.ones((2, 5, 3)))
    with pytest.raises(Exception, match="shape"):
        old.M().apply(variables, jnp.ones((2, 1, 3)))  # it would broadcast
    model = new.M(in_example=jnp.ones((2, 5, 3)), rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match=r"the shape \[\(1, 5, 1\)\], and this call needs \[\(1, 1, 1\)\]"):
        model(jnp.ones((2, 1, 3)))


def test_what_a_guard_refuses_raises_as_in_linen() -> None:
    body = (
        "if h.shape[0] == 3 or h.ndim != 2:\n  raise ArithmeticError(h.shape)\n"
        "return h * self.param('w', nn.initializers.ones, h.shape[1:])"
    )
    old, new, _ = both(of(body))
    for shape in ((3, 2), (2, 2, 2)):
        with pytest.raises(ArithmeticError):
            old.M().init(jax.random.key(0), jnp.ones(shape))
        with pytest.raises(ArithmeticError):
            new.M(in_example=jnp.ones(shape), rngs=nnx.Rngs(0))
    model = new.M(in_example=jnp.ones((2, 2)), rngs=nnx.Rngs(0))
    with pytest.raises(ArithmeticError):
        model(jnp.ones((3, 2)))


NOT_CAUGHT: dict[str, str] = {
    "a flag in it": (
        "if h.shape[0] == 3 and not train:\n  raise ValueError\n"
        "return h * self.param('w', nn.initializers.ones, h.shape[1:])"
    ),
    "with": (
        "with contextlib.suppress(ValueError):\n  if h.shape[0] == 3:\n    raise ValueError\n  h = nn.Dense(4)(h)\nreturn h"
    ),
    "try": "try:\n  if h.shape[0] == 3:\n    raise ValueError\n  h = nn.Dense(4)(h)\nexcept ValueError:\n  pass\nreturn h",
    "both ways": "if h.shape[0] == 3:\n  h = nn.Dense(4)(h)\n  raise ValueError\nreturn h",
}


@pytest.mark.parametrize("what", NOT_CAUGHT)
def test_what_may_go_on_after_a_guard_stays_linen(what: str) -> None:
    result = migrate("import contextlib\n\n\n" + of(NOT_CAUGHT[what]))
    assert {report.outcome.value for report in result.classes} == {"bridged"}


def test_a_guard_that_asks_a_flag_hides_nothing_behind_it() -> None:
    """Every call that ends has made the layer, whose width the constructor is given."""
    old, new, result = both(of("if h.shape[0] == 3 and not train:\n  raise ValueError\nh = nn.Dense(4)(h)\nreturn h"))
    assert {report.outcome.value for report in result.classes} == {"native"}
    x = jnp.ones((3, 2))
    params = old.M().init(jax.random.key(0), x, True)["params"]["Dense_0"]
    model = new.M(h_features=2, rngs=nnx.Rngs(0))
    model.Dense_0.kernel[...], model.Dense_0.bias[...] = params["kernel"], params["bias"]
    assert jnp.array_equal(old.M().apply({"params": {"Dense_0": params}}, x, True), model(x, True))
    with pytest.raises(ValueError):
        model(x)


REFUSED: dict[str, str] = {
    "names of axes by a flag": (
        "axes = ('a',) if train else ('b',)\n"
        "return h + nn.partitioning.param_with_axes('w', nn.initializers.zeros, h.shape[1:], axes=axes)"
    ),
    "another module": (
        "return h + nn.partitioning.param_with_axes('w', nn.initializers.zeros, h.shape[1:], axes=('b',), module=self)"
    ),
    "read elsewhere": (
        "w = self.param('w', nn.initializers.ones, (h.shape[-1],))\nreturn h * self.get_variable('params', 'w')"
    ),
    "what arrays hold": "m = h.mean(0)\nw = self.param('w', lambda key: -m)\nreturn h + w",
    "an array": "w = self.param('w', lambda key, m: -m, h.mean(0))\nreturn h + w",
    "a flag in what is computed": "m = jnp.arange(h.shape[-1]) + train\nreturn h + self.param('w', lambda key: m * 1.0)",
    "what Python makes of an array": (
        "n = int(jnp.ones(h.shape[-1]).sum())\nreturn h + self.param('w', lambda key: n * jnp.ones(h.shape[-1]))"
    ),
    "a branch by an array": (
        "n = 2.0 if jnp.ones(h.shape[-1]).sum() > 3 else 1.0\n"
        "return h + self.param('w', lambda key: n * jnp.ones(h.shape[-1]))"
    ),
    "a branch by an array, in the initializer": (
        "n = jnp.ones(h.shape[-1]).sum()\n"
        "return h + self.param('w', lambda key: (2.0 if n > 3 else 1.0) * jnp.ones(h.shape[-1]))"
    ),
    "what numpy makes of an array": (
        "import numpy\nn = numpy.asarray(jnp.ones(h.shape[-1])) + 1\nreturn h + self.param('w', lambda key: jnp.asarray(n))"
    ),
    "what numpy makes of an array in a function": (
        "n = host(h.shape[-1])\nreturn h + self.param('w', lambda key: jnp.asarray(n))"
    ),
    "a branch by an array in a function": "n = branchy(h.shape[-1])\nreturn h + self.param('w', lambda key: n)",
    "what a function computes, under names of the call": (
        "g = whole(h.shape[-1])\nfor i in range(h.ndim):\n  h = h * self.param(f'w{i}', lambda key: g)\nreturn h"
    ),
    "a number that a scan carries": (
        "def step(mdl, carry, _):\n"
        "  h, c = carry\n"
        "  return (h + mdl.param('w', lambda key: c * 1.0 + jnp.ones(3)), c + 1), None\n"
        "return nn.scan(step, variable_axes={'params': 0}, split_rngs={'params': True}, length=4)(self, (h, 0), None)[0][0]"
    ),
    "what a module has made": "m = nn.Dense(4)(h)\nreturn m * self.param('w', lambda key: m.mean(0))",
    "a flag": "if train:\n  h = h * self.param('w', nn.initializers.ones, (h.shape[-1],))\nreturn h",
    "a shape by a flag": (
        "n = 1\nif train:\n  n = 2\nreturn h + self.param('w', nn.initializers.ones, (n, h.shape[-1])).sum(0)"
    ),
    "a shape that is a flag": "return h + self.param('w', nn.initializers.ones, (1 + train, h.shape[-1])).sum(0)",
    "a list by a flag": (
        "n = [h.shape[-1]]\nm = n\nif train:\n  m[0] = 1\nreturn h + self.param('w', nn.initializers.ones, tuple(n))"
    ),
    "a return before": "if train:\n  return h\nreturn h * self.param('w', nn.initializers.ones, (h.shape[-1],))",
}


FUNCTIONS = """def host(n):
  a = jnp.arange(n) + 1
  return np.asarray(a) * 2.0


def branchy(n):
  a = jnp.arange(n) + 1
  return whole(n) if a.sum() > 3 else a


def whole(n):
  return jnp.arange(n) * 1.0


"""


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_call_on_shapes_does_not_show_stays_linen(what: str) -> None:
    result = migrate("import numpy as np\n\n\n" + FUNCTIONS + of(REFUSED[what]))
    assert {report.outcome.value for report in result.classes} == {"bridged"}
    assert "LaterVariable" not in after(result)


def test_dtypes_of_numpy_are_no_arrays() -> None:
    body = "w = self.param('w', nn.initializers.ones, (h.shape[-1],), np.float32)\nreturn h * w"
    _, new, _ = both("import numpy as np\n\n\n" + of(body))
    model: Any = new.M(in_example=jnp.ones((2, 3)), rngs=nnx.Rngs(0))
    assert model.w[...].dtype == jnp.float32


def test_a_function_of_a_field_that_asks_for_more_than_fields_stays_linen() -> None:
    for asked, outcome in (
        ("self.times * n", "native"),
        ("self.param('n', lambda key: n)", "bridged"),
        ("other(self, n)", "bridged"),
    ):
        text = (
            f"def other(module, n):\n  return n\n\n\ndef wide(self, n):\n  return {asked}\n\n\n"
            "class M(nn.Module):\n  times: int = 2\n  size: Any = wide\n  @nn.compact\n  def __call__(self, x):\n"
            "    h = leaves(x)[0]\n    n = self.size(self, h.shape[-1])\n"
            "    return h.sum() * self.param('w', nn.initializers.ones, (n,))\n"
        )
        assert [report.outcome.value for report in migrate(text).classes] == [outcome]
