"""NNX185: parameters whose names only the call knows: what raises, what stays Linen, and copies of such modules."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_parameters import of
from .test_later_sizes import after, both, migrate, same

EACH = "return sum(h * self.param(f'w_{i}', nn.initializers.normal(1.0), h.shape[1:]) for i, h in enumerate(leaves(x)))"
LOOP = of(
    "for i, h in enumerate(leaves(x)):\n  x = x * self.param(f'w_{i}', nn.initializers.normal(1.0), h.shape[1:])\nreturn x"
)


def test_names_of_a_generator() -> None:
    old, new, result = both(of(EACH))
    assert "named_parameter" in after(result)
    x = jnp.arange(6.0).reshape(2, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    assert jax.tree.structure(compat.to_linen(model)) == jax.tree.structure(dict(variables))
    assert not hasattr(model, "later_parameters")
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))


def test_copies_and_gradients() -> None:
    old, new, _ = both(LOOP)
    x = jnp.arange(6.0).reshape(2, 3) + 1
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=jax.ShapeDtypeStruct((2, 3), jnp.float32), rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted = jax.grad(lambda v: (old.M().apply(v, x) ** 2).sum())(variables)["params"]
    for one in (model, nnx.clone(model), nnx.merge(*nnx.split(model))):
        found = nnx.jit(nnx.grad(lambda m: (m(x) ** 2).sum()))(one)
        same({name: leaf[...] for name, leaf in found.items()}, wanted)
    for dtype in (jnp.bfloat16, jnp.float32):
        new.M(in_example=jnp.ones((2, 3), dtype), rngs=nnx.Rngs(0))


def test_what_was_not_made_raises_as_in_linen() -> None:
    body = of(
        "for i in range(len(leaves(x)) + x.ndim):\n  x = x + self.param(f'w_{i}', nn.initializers.ones, x.shape)\nreturn x"
    )
    old, new, _ = both(body)
    x = jnp.ones((2, 3))
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    same(model(x), old.M().apply(variables, x))
    with pytest.raises(Exception, match=r"w_4|shape"):
        old.M().apply(variables, x[None])
    with pytest.raises(ValueError, match=r"shape|without a parameter"):
        model(x[None])
    same(model(x), old.M().apply(variables, x))


def test_two_of_one_name_raise_as_in_linen() -> None:
    body = "for i, h in enumerate(leaves(x)):\n  x = x * self.param(f'w_{i // 2}', nn.initializers.ones, h.shape)\nreturn x"
    old, new, _ = both(of(body))
    with pytest.raises(Exception, match="in use"):
        old.M().init(jax.random.key(0), jnp.ones((2, 3)))
    with pytest.raises(ValueError, match="two parameters are called 'w_0'"):
        new.M(in_example=jnp.ones((2, 3)), rngs=nnx.Rngs(0))


def test_a_shape_that_the_call_changes_later_is_what_it_was() -> None:
    body = (
        "h = leaves(x)[0]\ns = list(h.shape)\ny = 0\nfor i in range(h.ndim):\n"
        "  y = y + self.param(f'w_{i}', nn.initializers.ones, s).sum()\n  s.append(2 + h.ndim)\nreturn y"
    )
    old, new, _ = both(of(body))
    x = jnp.ones((2, 3))
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    same(compat.to_linen(model), dict(old.M().init(jax.random.key(0), x)))


def test_the_name_of_something_else_raises() -> None:
    body = "for i, h in enumerate(leaves(x)):\n  x = x * self.param('eval'[i:], nn.initializers.ones, h.shape)\nreturn x"
    _, new, _ = both(of(body))
    with pytest.raises(ValueError, match="a parameter is called 'eval', and so is something else of M"):
        new.M(in_example=jnp.ones((2, 3)), rngs=nnx.Rngs(0))


EACH_LEAF = "for i, h in enumerate(leaves(x)):\n  "
REFUSED: dict[str, str] = {
    "a name of what arrays hold": EACH_LEAF + "x = x * self.param(f'w_{h}', nn.initializers.ones, h.shape)\nreturn x",
    "a name of a number that arrays hold": EACH_LEAF
    + "n = int(h.sum())\n  x = x * self.param(f'w{n}', nn.initializers.ones, h.shape)\n"
    "return x",
    "an initializer of what arrays hold": EACH_LEAF
    + "x = x * self.param(f'w_{i}', nn.initializers.constant(h.mean()), h.shape)\nreturn x",
    "an initializer of arrays": EACH_LEAF
    + "x = x * self.param(f'w_{i}', lambda key, n: n * jnp.ones(3), jnp.sqrt(h.shape[-1]))\nreturn x",
    "an array itself": EACH_LEAF + "x = x * self.param(f'w_{i}', lambda key, a: a, h)\nreturn x",
    "an initializer that reads what the loop changes": EACH_LEAF
    + "x = x * self.param(f'w_{i}', lambda key, n: jnp.full(n, i + 1.0), h.shape)\nreturn x",
    "an initializer that reads what a pass computes": EACH_LEAF
    + "n = h.ndim + i\n  x = x * self.param(f'w_{i}', lambda key, s: jnp.full(s, n), h.shape)\nreturn x",
    "an initializer that reads what a comprehension changes": (
        "ps = [self.param(f'w_{i}', lambda key, n: jnp.full(n, i), h.shape) for i, h in enumerate(leaves(x))]\n"
        "return sum(ps)"
    ),
    "a flag": EACH_LEAF + "if train:\n    x = x * self.param(f'w_{i}', nn.initializers.ones, h.shape)\nreturn x",
    "a name by a flag": "n = 'b' if train else 'a'\n"
    + EACH_LEAF
    + "x = x * self.param(f'{n}_{i}', nn.initializers.ones, h.shape)\nreturn x",
    "a return before": "if train:\n  return x\n"
    + EACH_LEAF
    + "x = x * self.param(f'w_{i}', nn.initializers.ones, h.shape)\nreturn x",
    "a variable": EACH_LEAF + "x = x * self.variable('stats', f'v{i}', jnp.ones, h.shape).value\nreturn x",
    "read elsewhere": EACH_LEAF
    + "self.param(f'w_{i}', nn.initializers.ones, h.shape)\n  x = x * self.get_variable('params', f'w_{i}')\nreturn x",
    "a function that a flag calls": "def get(name, shape):\n  return self.param(name, nn.initializers.ones, shape)\n"
    "if train:\n  x = x * get('w', leaves(x)[0].shape)\nreturn x",
    "a function that is kept": "get = lambda name, shape: self.param(name, nn.initializers.ones, shape)\n"
    "return x * get('w', leaves(x)[0].shape)",
    "a mapped function": "def get(path, h):\n  return h * self.param(str(path), nn.initializers.ones, h.mean())\n"
    "return sum(jax.tree.leaves(jax.tree_util.tree_map_with_path(get, leaves(x))))",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_call_on_shapes_does_not_show_stays_linen(what: str) -> None:
    result = migrate(of(REFUSED[what]))
    assert {report.outcome.value for report in result.classes} == {"bridged"}
    assert "named_parameter" not in after(result)


def test_a_dtype_of_the_call_is_that_of_the_example() -> None:
    body = of("h = leaves(x)[0]\nreturn h * self.param('w', nn.initializers.normal(1.0), h.shape[1:], h.dtype)")
    old, new, _ = both(body)
    x: Any
    for x in (jnp.ones((2, 3), jnp.bfloat16), jnp.ones((2, 3))):
        variables = old.M().init(jax.random.key(0), x)
        model = new.M(in_example=x, rngs=nnx.Rngs(0))
        assert model.w[...].dtype == variables["params"]["w"].dtype == x.dtype
        compat.from_linen(variables, model)
        same(model(x), old.M().apply(variables, x))
