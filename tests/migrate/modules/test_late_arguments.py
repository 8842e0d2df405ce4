"""NNX185: arguments of modules that only the call knows: what raises, what stays Linen, and copies of such modules."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_parameters import of
from .test_later_sizes import after, both, migrate, same

CLASSES = (
    "class Scale(nn.Module):\n  factor: int = 2\n  @nn.compact\n  def __call__(self, x):\n"
    "    return nn.Dense(3)(x) * self.factor\n\n\n"
    "class Table(nn.Module):\n  rows: int\n  @nn.compact\n  def __call__(self, x):\n"
    "    return x + self.param('table', nn.initializers.normal(1.0), (self.rows, 1))\n\n\n"
)


def of_classes(body: str) -> str:
    return CLASSES + of(body)


TABLE = of_classes("rows = h.shape[1]\nreturn nn.Dense(h.shape[-1])(Table(rows=rows)(h))")


def test_another_size_raises_as_in_linen() -> None:
    old, new, result = both(TABLE)
    assert "linen_parity.given(self.Table_0, rows=rows)" in after(result)
    x = jnp.arange(24.0).reshape(2, 4, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))
    same(model(x[:1]), old.M().apply(variables, x[:1]))
    with pytest.raises(Exception, match="shape"):
        old.M().apply(variables, x[:, :1])  # it would broadcast
    with pytest.raises(ValueError, match=r"Table was made with {'rows': 4}, and this call gives it {'rows': 1}"):
        model(x[:, :1])


OTHERS = (
    "class Base(nn.Module):\n  pass\n\n\n"
    "class Plain(Base):\n  factor: float = 2.0\n  how: str = 'sum'\n  twice: Optional[bool] = None\n"
    "  of: Tuple[int, ...] = ()\n  f: Callable = nn.relu\n  dtype: Any = None\n  @nn.compact\n  def __call__(self, x):\n"
    "    y = self.f(nn.Dense(3, dtype=self.dtype)(x)) * self.factor\n    y = y + y.sum() if self.how == 'sum' else y\n"
    "    return 2 * y + len(self.of) if self.twice else y\n\n\n"
)
HEAD = "class M(nn.Module):\n  size: int = 2\n  @nn.compact\n  def __call__(self, x, how: str):\n"
HEAD += "    h = leaves(x)[0]\n    return "
SAID = {
    "a number": ("Plain(factor=1.0 / h.shape[-1])(h)", "{'factor': "),
    "true or false": ("Plain(twice=h.shape[-1] > self.size)(h)", "{'twice': True}"),
    "a text": ("Plain(how=how)(h)", "{'how': 'sum'}"),
    "both": ("Plain(how=how + '', twice=h.shape[-1] == 3)(h)", "'how': 'sum'"),
}


@pytest.mark.parametrize("what", SAID)
def test_what_else_the_call_gives_a_module(what: str) -> None:
    body, said = SAID[what]
    old, new, result = both(OTHERS + HEAD + body + "\n")
    assert "linen_parity.given(self.Plain_0" in after(result)
    x = jnp.arange(24.0).reshape(2, 4, 3)
    variables = old.M().init(jax.random.key(0), x, "sum")
    model = new.M(in_example=x, how_example="sum", rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    for one in (model, nnx.clone(model)):
        same(one(x, "sum"), old.M().apply(variables, x, "sum"))
        same(one(x[:, :2], "sum"), old.M().apply(variables, x[:, :2], "sum"))
    if "how" in said:
        with pytest.raises(ValueError, match="Plain was made with .*" + re.escape(said)):
            model(x, "mean")


CHANGING = {
    "of a height": of("return Plain(factor=1.0 / h.shape[1])(h)"),
    "a function": of("return Plain(f=lambda y: y / h.shape[-1])(h)"),
    "a partial": of("return Plain(f=functools.partial(jnp.sum, axis=h.shape[-1] - 4, keepdims=True))(h)"),
    "a text that is another": HEAD.replace("return ", "how = how if h.shape[1] > 2 else 'sum'\n    return ")
    + "Plain(how=how)(h)\n",
}


@pytest.mark.parametrize("what", CHANGING)
def test_what_may_be_another_at_the_next_call_stays_linen(what: str) -> None:
    result = migrate(OTHERS + CHANGING[what])
    assert {c.qualname: str(c.outcome) for c in result.classes}["m.M"] == "bridged"


def test_copies_and_gradients() -> None:
    old, new, _ = both(TABLE)
    x = jnp.arange(24.0).reshape(2, 4, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    assert jax.tree.structure(compat.to_linen(model)) == jax.tree.structure(dict(variables))
    wanted = jax.grad(lambda v: (old.M().apply(v, x) ** 2).mean())(variables)["params"]
    for one in (model, nnx.clone(model), nnx.merge(*nnx.split(model))):
        found = nnx.jit(nnx.grad(lambda m: (m(x) ** 2).mean()))(one)
        same(
            jax.tree.leaves(nnx.to_pure_dict(found)),
            [wanted["Dense_0"]["bias"], wanted["Dense_0"]["kernel"], wanted["Table_0"]["table"]],
        )


def test_another_module_of_the_same_name_of_another_size_raises() -> None:
    old, new, _ = both(of_classes("table = Table(h.shape[1])\nreturn table(table(h))"))
    x = jnp.arange(24.0).reshape(2, 4, 3)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_example=x, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))


REFUSED: dict[str, str] = {
    "a flag": "return nn.Dense(4 if train else 8)(h)",
    "a number by a flag": "n = h.shape[-1]\nif train:\n  n = 2\nreturn nn.Dense(n)(h)",
    "what arrays hold": "return nn.Dense(int(h.max()))(h)",
    "a dtype": "return nn.Dense(4, param_dtype=h.dtype)(h)",
    "groups of a height": "return nn.GroupNorm(num_groups=h.shape[1])(h)",
    "groups of another width": "y = leaves(h)[1]\nreturn nn.GroupNorm(num_groups=y.shape[-1])(h)",
    "groups without a scale": "return nn.GroupNorm(num_groups=h.shape[-1] // 2, use_scale=False, use_bias=False)(h)",
    "an option that no variable shows": "return nn.Conv(4, (3,), padding=h.shape[1] % 2)(h)",
    "an array": "return nn.Dense(4, bias_init=lambda *a: h[0, 0, :1] * jnp.ones(4))(h)",
    "under a flag": "if train:\n  h = nn.Dense(h.shape[-1] + 1)(h)\nreturn h",
    "a lifted transform": "return nn.remat(Table)(h.shape[1])(h)",
    "in a function": "def f(h, n):\n  return nn.Dense(n)(h)\nreturn f(h, h.shape[-1] + len(leaves(x)))",
    "in a lambda": "f = lambda h: nn.Dense(h.shape[-1])(h)\nreturn f(h)",
    "a name of a lambda": "return jax.tree.map(lambda p: nn.Dense(p.shape[-1])(p), h)",
    "other methods": "table = Table(h.shape[1])\nreturn table.__call__(h) + table.rows",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_call_on_shapes_does_not_show_stays_linen(what: str) -> None:
    result = migrate(of_classes(REFUSED[what]))
    assert {r.outcome.value for r in result.classes if r.qualname == "m.M"} == {"bridged"}
    assert "linen_parity.given" not in after(result)


LEFT_OUT = of_classes("h = Sized()(h)\nreturn h") + (
    "\n\nclass Sized(nn.Module):\n  wide: int | None = None\n  @nn.compact\n  def __call__(self, x, count=None):\n"
    "    if count is None:\n      if self.wide is None:\n        count = x.shape[-1]\n"
    "      else:\n        count = self.wide\n"
    "    return nn.Dense(count)(nn.relu(x))\n"
)


def test_an_argument_that_nothing_gives_is_its_default() -> None:
    old, new, result = both(LEFT_OUT)
    assert {r.outcome.value for r in result.classes} == {"native"}
    assert "linen_parity.given(self.Dense_0, features=count)" in after(result)
    x = jnp.arange(24.0).reshape(2, 4, 3)
    for wide in (None, 5):
        variables = old.Sized(wide).init(jax.random.key(0), x)
        model = new.Sized(wide, in_shape=x.shape, rngs=nnx.Rngs(0))
        compat.from_linen(variables, model)
        same(model(x), old.Sized(wide).apply(variables, x))
        with pytest.raises(Exception, match="shape"):
            old.Sized(wide).apply(variables, x, 7)
        with pytest.raises(ValueError, match=r"Linear was made with .*, and this call gives it {'features': 7}"):
            model(x, 7)


@pytest.mark.parametrize(
    "more",
    [
        "def run(model, v, x):\n  return model.apply(v, x, count=3)\n",
        "def run(model, v, x):\n  return model.apply(v, x, 3)\n",
        "OPTIONS = {'count': 3}\n",
        "class N(nn.Module):\n  inner: nn.Module\n  @nn.compact\n  def __call__(self, x):\n    return self.inner(x, 3)\n",
        "class N(nn.Module):\n  @nn.compact\n  def __call__(self, x, n):\n    return Sized()(x, *n)\n",
    ],
)
def test_an_argument_that_something_may_give_stays_linen(more: str) -> None:
    result = migrate(LEFT_OUT + "\n\n" + more)
    assert {r.outcome.value for r in result.classes if r.qualname == "m.Sized"} == {"bridged"}
