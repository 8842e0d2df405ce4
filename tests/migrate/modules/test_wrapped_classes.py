"""Classes that stay Linen inside of native ones: trained, saved, proved; and where they cannot be wrapped."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

FORMS = Path(__file__).with_name("forms_wrapped_classes.py")
HEAD = "import functools\nfrom flax import linen as nn\nimport jax.numpy as jnp\nimport jax\n\n\n"
# A class that stays Linen, for a reason that no other class can tell.
STAYS = "y = y + nn.vjp(lambda m, z: z * 2, self, y, vjp_variables=True)[1](y)[1]"


def migrate(text: str, options: Options | None = None) -> RunResult:
    return migrate_project([SourceFile.parse(Path("m.py"), "m", text)], options)


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    text = FORMS.read_text()
    result = migrate(text)
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    return module("wrapped_before", text), module("wrapped_after", result.files[0].after)


@pytest.fixture
def outer(sides: tuple[Any, Any]) -> tuple[Any, Any, Any, jax.Array]:
    linen, native = sides
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    variables = linen.Outer().init(jax.random.key(0), x)
    model = native.Outer(in_shape=x.shape, rngs=nnx.Rngs(params=0, dropout=1))
    compat.from_linen(variables, model)
    return linen.Outer(), variables, model, x


@pytest.mark.parametrize("dtype", [None, jnp.bfloat16])
def test_fields_that_the_call_alone_knows(sides: tuple[Any, Any], dtype: Any) -> None:
    linen, x = sides[0].Configuring(dtype=dtype), jnp.asarray(np.random.RandomState(0).randn(4, 3), jnp.float32)
    variables = linen.init(jax.random.key(0), x)
    model = sides[1].Configuring(dtype=dtype, in_shape=x.shape, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    for train in (False, True, True, False):
        expected, new = linen.apply(variables, x, train=train, mutable=["batch_stats"])
        np.testing.assert_array_equal(expected, model(x, train=train))
        variables = {**variables, **new}
        jax.tree.map(np.testing.assert_array_equal, compat.to_linen(model), variables)


@pytest.mark.parametrize("copied", [copy.deepcopy, nnx.clone])
def test_copies_are_alike(sides: tuple[Any, Any], copied: Any) -> None:
    model = sides[1].Configuring(in_shape=(4, 3), rngs=nnx.Rngs(0))
    target = copied(model)
    assert nnx.graphdef(target) == nnx.graphdef(model)
    nnx.update(model, jax.tree.map(lambda a, b: (a + b) / 2, nnx.state(model, nnx.Param), nnx.state(target, nnx.Param)))
    x = jnp.ones((4, 3))
    np.testing.assert_array_equal(model(x), target(x))


def test_a_field_of_the_call_that_parameters_follow_is_refused_there(sides: tuple[Any, Any]) -> None:
    model = sides[1].Typing(in_shape=(2, 3), rngs=nnx.Rngs(0))
    model(jnp.ones((2, 3)))
    with pytest.raises(TypeError, match="Configured makes its parameters by a field that the call gives it"):
        model(jnp.ones((2, 3), jnp.bfloat16))


def test_keys_go_both_ways_and_the_proof_reaches_through(outer: tuple[Any, Any, Any, jax.Array]) -> None:
    linen, variables, model, x = outer
    back = compat.to_linen(model)
    assert jax.tree.structure(back) == jax.tree.structure(variables)
    jax.tree.map(np.testing.assert_array_equal, back, variables)
    report = compat.check_equivalence(linen, variables, model, x)
    assert str(report.verdict) == "proved", report


def test_statistics_change_as_linen_changes_them(outer: tuple[Any, Any, Any, jax.Array]) -> None:
    linen, variables, model, x = outer
    before = [path for path, _ in nnx.to_flat_state(nnx.state(model))]
    for _ in range(3):
        updates = linen.apply(variables, x, train=True, mutable=["batch_stats"], rngs={"dropout": jax.random.key(3)})[1]
        variables = {**variables, **updates}
        model(x, train=True)
    jax.tree.map(np.testing.assert_array_equal, compat.to_linen(model)["batch_stats"], variables["batch_stats"])
    mean = model.Normed_0.BatchNorm_0["mean"]
    nnx.jit(lambda model, x: model(x, train=True))(model, x)  # and compiled, in the same variables
    assert mean is model.Normed_0.BatchNorm_0["mean"]
    assert (mean[...] != variables["batch_stats"]["Normed_0"]["BatchNorm_0"]["mean"]).any()
    assert before == [path for path, _ in nnx.to_flat_state(nnx.state(model))]
    gradients = nnx.grad(lambda model, x: (model(x, train=True)[1] ** 2).mean())(model, x)
    assert gradients["Normed_0"]["Dense_0"]["kernel"].shape == (5, 4)


def test_inputs_of_another_shape_fail_where_parameters_follow_from_them(sides: tuple[Any, Any]) -> None:
    _, native = sides
    model = native.Setup(4, in_shape=(2, 3, 4), rngs=nnx.Rngs(0))
    with pytest.raises(Exception, match="expected to generate shape"):
        model(jnp.ones((2, 5, 4)))


INNER = {
    "it asks for its place": "    y = x * len(self.path)\n    STAYS\n    return y\n",
    "it sows": "    y = x\n    STAYS\n    self.sow('intermediates', 'y', y)\n    return y\n",
    "its inputs may be integers": "    y = nn.Embed(5, 4)(x)\n    STAYS\n    return y\n",
    "its parameters have the type of the input":
        "    y = x * self.param('s', nn.initializers.ones, (3,), x.dtype)\n    STAYS\n    return y\n",
    "it has a cache": "    y = x + self.variable('cache', 'c', jnp.zeros, (3,)).value\n    STAYS\n    return y\n",
    "its variables have logical axes":
        "    y = nn_partitioning.variable_with_axes('stats', 'w', jnp.ones, (3,), axes=('a',)).value * x\n"
        "    STAYS\n    return y\n",
    "its attention keeps a cache": "    y = nn.SelfAttention(1, decode=True)(x)\n    STAYS\n    return y\n",
    "its attention may keep a cache":
        "    y = functools.partial(nn.SelfAttention, 1)(decode=x.ndim > 1)(x)\n    STAYS\n    return y\n",
    "it asks whether statistics may change":
        "    y = x * self.is_mutable_collection('batch_stats')\n    STAYS\n    return y\n",
    "it asks for a cache": "    y = x * self.has_variable('cache', 'c')\n    STAYS\n    return y\n",
    "it asks for variables by a name": "    y = x * self.has_variable(x.dtype.name, 'c')\n    STAYS\n    return y\n",
    "it asks for random streams": "    y = x if self.has_rng('dropout') else x * 2\n    STAYS\n    return y\n",
}  # fmt: skip


@pytest.mark.parametrize("what", INNER)
def test_a_class_that_could_tell_is_not_wrapped(what: str) -> None:
    body = INNER[what].replace("STAYS", STAYS)
    text = (
        f"{HEAD}class Inner(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n{body}\n\n"
        "class Model(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return Inner()(x)\n"
    )
    plans = {c.qualname: c for c in migrate(text).classes}
    assert plans["m.Model"].code == "NNX150" and "cannot be wrapped" in plans["m.Model"].reason


@pytest.mark.parametrize(
    "call",
    [
        "Inner()(jnp.asarray(x.tolist()))",
        "nn.remat(Inner)()(x)",
        "Inner(**kw)(x)",
        "Inner()(z)",
        "Inner()((z, n))",
        "Inner()(n if x.ndim > 2 else x)",
        "Inner()(n)",
        "Inner().other(x)",
    ],
)
def test_where_the_call_cannot_be_said_the_parent_stays_linen(call: str) -> None:
    inner = f"class Inner(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    y = x\n    {STAYS}\n    return y\n"
    inner += "\n  @nn.compact\n  def other(self, x):\n    return x\n"
    model = f"class Model(nn.Module):\n  @nn.compact\n  def __call__(self, x, n, z=None, **kw):\n    return {call}\n"
    text = f"{HEAD}{inner}\n\n{model}"
    result = migrate(text)
    assert {str(c.outcome) for c in result.classes} == {"bridged"} and result.created == {}


@pytest.mark.parametrize("second", ["inner(y, x)", "inner(y, mask=x)", "inner(y, doubled=True)"])
def test_what_is_called_with_other_inputs_the_second_time_is_not_wrapped(second: str) -> None:
    inner = f"""class Inner(nn.Module):
  @nn.compact
  def __call__(self, x, mask=None, doubled=False):
    y = nn.Dense(4)(x)
    {STAYS}
    if mask is not None:
      y = y * nn.Dense(4)(mask)
    return nn.Dense(4)(y) if doubled else y


"""
    model = "class Model(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    inner = Inner()\n    y = inner(x)\n"
    result = migrate(f"{HEAD}{inner}{model}    return y + {second}\n")
    plans = {c.qualname: c for c in result.classes}
    assert "with other inputs" in plans["m.Model"].reason
    alike = migrate(f"{HEAD}{inner}{model}    return y + inner(y)\n")
    assert {str(c.outcome) for c in alike.classes if c.qualname == "m.Model"} == {"native"}


@pytest.mark.parametrize(
    ("gives", "use"),
    [
        ("y, x", "y, z = Inner()(x)\n    return nn.Dense(2)(y)"),
        ("y", "y, z = Inner()(x)\n    return nn.Dense(2)(y) + z"),
        ("y", "y = Inner()(x)[0]\n    return nn.Dense(2)(y['a'])"),
        ("{'y': y}", "return nn.Dense(2)(Inner()(x)['y'])"),
        ("y", "for _ in range(2):\n      x = nn.Dense(3)(Inner()(x))\n    return nn.Dense(2)(x)"),
        ("y", "inner = Inner()\n    return nn.Dense(2)(inner(inner(x)))"),
        ("pair", "y, z = Inner()(x)\n    return nn.Dense(2)(y)"),
    ],
)
def test_where_it_is_not_clear_what_a_wrapped_class_gives_its_owner_stays_linen(gives: str, use: str) -> None:
    body = f"    y = x\n    pair = y, x\n    {STAYS}\n    return {gives}\n"
    inner = f"class Inner(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n{body}\n\n"
    model = f"class Model(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    {use}\n"
    plans = {c.qualname: c for c in migrate(HEAD + inner + model).classes}
    assert str(plans["m.Model"].outcome) == "bridged" and plans["m.Model"].code in ("NNX150", "NNX110")


def test_what_asks_for_its_own_variables_is_wrapped_where_it_is_called_once() -> None:
    body = f"    y = x * self.has_variable('batch_stats', 'm')\n    {STAYS}\n    return y\n"
    inner = f"class Inner(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n{body}\n\n"
    uses = {"inner(x)": "native", "inner(x) + inner(2 * x)": "bridged", "sum([inner(x) for _ in range(2)])": "bridged"}
    for use, outcome in uses.items():
        model = f"class Model(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    inner = Inner()\n    return {use}\n"
        plans = {c.qualname: c for c in migrate(HEAD + inner + model).classes}
        assert str(plans["m.Model"].outcome) == outcome, plans["m.Model"].reason


def test_without_bridging_nothing_is_wrapped() -> None:
    result = migrate(FORMS.read_text(), Options(bridge=False))
    assert {str(c.outcome) for c in result.classes} == {"manual"}
    assert not any("Bridged" in text for text in result.created.values())


def test_a_second_run_changes_nothing() -> None:
    once = migrate(FORMS.read_text()).files[0].after
    assert once is not None and "linen_parity.Bridged(" in once
    assert migrate(once).files[0].after == once


MAPPED = f"""class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    y = nn.Dense(4)(x)
    {STAYS}
    return y


class Inner(nn.Module):
  @nn.compact
  def __call__(self, x):
    return jnp.tanh(Stays()(x))


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
    inner = Inner()
    return jax.vmap(inner)(x) * jax.lax.map(lambda row: inner(row), x)
"""


def test_within_a_trace_of_its_own_it_counts_no_keys() -> None:
    """It draws nothing, and NNX would not let it."""
    result = migrate(HEAD + MAPPED)
    assert {c.qualname: str(c.outcome) for c in result.classes}["m.M"] == "native"
    for path, content in result.created.items():
        module(path.stem, content)
    assert result.files[0].after is not None
    linen, native = module("mapped_before", HEAD + MAPPED), module("mapped_after", result.files[0].after)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 3, 4), jnp.float32)
    variables = linen.M().init(jax.random.key(0), x)
    model = native.M(in_shape=x.shape, rngs=nnx.Rngs(params=0, dropout=1))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(linen.M().apply(variables, x), model(x))
