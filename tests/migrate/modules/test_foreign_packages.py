"""Classes of packages that are not migrated: modules of theirs are wrapped where they are made, and keep their keys."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.core import meta
from flax.linen import logical_axis_rules
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

LIBRARY = """
from flax import linen as nn, nnx
from flax.linen import partitioning
import jax, jax.numpy as jnp

class Block(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(nn.Dense(self.width)(x))

class Table(nn.Module):
  n: int
  width: int
  @nn.compact
  def __call__(self, ids):
    return nn.Embed(self.n, self.width)(ids)

class Normed(nn.Module):
  @nn.compact
  def __call__(self, x, train=False):
    x = nn.BatchNorm(use_running_average=not train)(x)
    return nn.Dropout(0.5, deterministic=not train)(x)

def Act():
  return jax.nn.gelu

class Placed(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    init = nn.with_logical_partitioning(nn.initializers.lecun_normal(), ("embed", "mlp"))
    bias = nn.with_partitioning(nn.initializers.zeros, ("model",))
    return nn.Dense(self.width, kernel_init=init, bias_init=bias)(x)

class Apart(nn.Module):
  width: int
  @nn.compact
  def __call__(self, x):
    init = nn.initializers.lecun_normal()
    return x @ partitioning.param_with_axes("kernel", init, (x.shape[-1], self.width), axes=("embed", "mlp"))

class Sown(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    self.sow("intermediates", "hidden", x)
    return x

class Cached(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.MultiHeadDotProductAttention(2, decode=True)(x)

class Native(nnx.Module):
  pass
"""

PROGRAM = """
from flax import linen as nn
import jax.numpy as jnp
from otherlib import Apart, Block, Act, Normed, Placed, Sown, Table


class Model(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, ids, train: bool = False):
    x = Table(7, 5)(ids)
    x = Block(self.width)(x)
    x = Act()(x)
    x = Normed()(x, train=train)
    return nn.Dense(3)(x)


class Held(nn.Module):
  def setup(self):
    self.block = Block(6)
    self.head = nn.Dense(2)

  def __call__(self, x):
    return self.head(self.block(x))


class Looped(nn.Module):
  @nn.compact
  def __call__(self, x):
    for i in range(2):
      x = Block(6, name=f"block_{i}")(x)
    for i in range(2):
      x = Block(5 + i)(x)
    return nn.Dense(2)(x)


class Twice(nn.Module):
  flag: bool = False

  @nn.compact
  def __call__(self, x):
    block = Block(x.shape[-1])
    x = block(block(x))
    m = Block(4) if self.flag else nn.Dense(4)
    return nn.Dense(2)(m(x))


class Layout(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Placed(8)(x))


class Named(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Apart(8)(x))


class Telling(nn.Module):
  @nn.compact
  def __call__(self, x):
    sown = Sown()
    x = sown(x)
    self.sow("intermediates", "between", x)
    return nn.Dense(4)(sown(x))


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Held()(x))
"""


RULES = (("embed", None), ("mlp", "model"))


@pytest.fixture(scope="module")
def sides() -> tuple[Any, Any]:
    module("otherlib", LIBRARY)
    return both_sides("foreign", PROGRAM)


@pytest.mark.parametrize("name", ["Model", "Held", "Looped", "Twice", "Layout", "Outer"])
def test_modules_of_other_packages_keep_their_keys_and_are_proved(sides: tuple[Any, Any], name: str) -> None:
    before, after = sides
    x: jax.Array = jnp.asarray(np.random.RandomState(0).randn(2, 3), jnp.float32)
    if name == "Model":
        x = jnp.array([[1, 2], [3, 4]])
    linen, native = getattr(before, name)(), getattr(after, name)
    variables = linen.init(jax.random.key(0), x)
    sizes = {p: x.shape for p in inspect.signature(native.__init__).parameters if p.endswith("_shape")}
    model = native(**sizes, rngs=nnx.Rngs(params=0, dropout=1))
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(linen.apply(variables, x), model(x))
    back = compat.to_linen(model)
    assert jax.tree.structure(back) == jax.tree.structure(meta.unbox(variables))
    jax.tree.map(np.testing.assert_array_equal, back, meta.unbox(variables))
    assert str(compat.check_equivalence(linen, variables, model, x).verdict) == "proved"


@pytest.mark.parametrize(("name", "part"), [("Layout", ("Placed_0", "Dense_0")), ("Named", ("Apart_0",))])
def test_their_parameters_are_laid_out_by_their_names(sides: tuple[Any, Any], name: str, part: tuple[str, ...]) -> None:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x: jax.Array = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    with jax.set_mesh(mesh), logical_axis_rules(RULES):
        model = getattr(sides[1], name)(in_shape=x.shape, rngs=nnx.Rngs(0))
        linen = getattr(sides[0], name)()
        variables = linen.init(jax.random.key(0), x)
        compat.from_linen(variables, model)
        np.testing.assert_allclose(linen.apply(variables, x), model(x), rtol=1e-6)
    held: Any = model
    for key in part:
        held = held[key] if isinstance(held, dict) else getattr(held, key)
    kernel = held["kernel"] if isinstance(held, dict) else held.kernel
    assert kernel.get_metadata()["out_sharding"] == ("embed", "mlp")
    assert kernel[...].sharding.spec == jax.sharding.PartitionSpec(None, "model")
    if name == "Layout":
        assert held["bias"][...].sharding.spec == jax.sharding.PartitionSpec("model")
    else:
        assert kernel.get_metadata()["names_apart"].names == ("embed", "mlp")


@pytest.mark.parametrize("outputs", [False, True])
def test_what_they_sow_is_captured(sides: tuple[Any, Any], outputs: bool) -> None:
    x: jax.Array = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    linen = sides[0].Telling()
    variables = {"params": linen.init(jax.random.key(0), x)["params"]}
    model = sides[1].Telling(in_shape=x.shape, in_example=x, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    capture = nnx.capture(model, nnx.Intermediate, method_outputs=nnx.Intermediate if outputs else None)
    result, state = capture(x)
    expected, sown = linen.apply(variables, x, mutable=["intermediates"], capture_intermediates=outputs)
    np.testing.assert_array_equal(result, expected)
    found = nnx.to_pure_dict(state)
    assert jax.tree.structure(found) == jax.tree.structure(sown["intermediates"])
    jax.tree.map(np.testing.assert_array_equal, found, sown["intermediates"])


RAISED = [
    ("Native", lambda lib: lib.Native(), "Native", "Native is no Linen module or function: construct it as what it is"),
    ("a record", lambda lib: {}, "Record", "dict is no Linen module or function"),
    ("a cache", lambda lib: lib.Cached(), "Cached", r"Cached has variables in \['cache'\], for which it cannot be wrapped"),
    ("another class", lambda lib: lib.Block(4), "Make", r"Make\(...\) makes a Block, by which Linen would name it"),
]


@pytest.mark.parametrize(("made", "kind", "message"), [r[1:] for r in RAISED], ids=[r[0] for r in RAISED])
def test_what_cannot_be_wrapped_says_so(sides: tuple[Any, Any], made: Any, kind: str, message: str) -> None:
    parity, lib = sides[1].linen_parity, sys.modules["otherlib"]
    with pytest.raises(TypeError, match=message):
        parity.foreign(made(lib), kind, jax.ShapeDtypeStruct((2, 3, 4), jnp.float32), rngs=nnx.Rngs(0))


def test_parameters_of_other_dtypes_are_refused_when_called(sides: tuple[Any, Any]) -> None:
    from flax import linen as nn

    class Typed(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            return x * self.param("scale", nn.initializers.ones, (x.shape[-1],), x.dtype)

    made = sides[1].linen_parity.foreign(Typed(), "Typed", jax.ShapeDtypeStruct((2, 3), jnp.float32), rngs=nnx.Rngs(0))
    assert made(jnp.ones((2, 3))).dtype == jnp.float32
    with pytest.raises(TypeError, match="Typed makes its parameters by the dtypes of its inputs"):
        made(jnp.ones((2, 3), jnp.bfloat16))


STAYS = {
    "with a cache": ("return Block(4, decode=self.decode)(x)", "it may have a cache"),
    "with a cache told at the call": ("return Block(4)(x, cache=None)", "it may have a cache"),
    "given a module": ("return Block(nn.Dense(3))(x)", "is given `nn.Dense\\(3\\)`"),
    "a method": ("block = Block(4)\n    return block.encode(x)", "a method of what it makes, `encode`, is called"),
    "in a comprehension": ("return [m(x) for m in [Block(4), Block(5)]]", "is called"),
    "lifted": ("return nn.remat(Block)(4)(x)", "what `nn.remat` lifts is not known"),
}


@pytest.mark.parametrize(("body", "why"), STAYS.values(), ids=STAYS)
def test_classes_that_stay_linen_for_them(body: str, why: str) -> None:
    text = (
        "from flax import linen as nn\nfrom otherlib import Block\n\nclass Model(nn.Module):\n  decode: bool = False\n"
        f"  @nn.compact\n  def __call__(self, x):\n    {body}\n"
    )
    (model,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(model.outcome) == "bridged" and model.code == "NNX138"
    assert re.search(why, model.reason), model.reason


def test_parts_of_the_same_program_are_not_wrapped(tmp_path: Path) -> None:
    """They are migrated in the next run, and are no Linen modules then."""
    text = (
        "from flax import linen as nn\nfrom otherblocks import Block\n\nclass Model(nn.Module):\n  @nn.compact\n"
        "  def __call__(self, x):\n    return nn.Dense(3)(Block(4)(x))\n"
    )
    path = tmp_path / "models" / "m.py"
    path.parent.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    assert [str(c.outcome) for c in migrate_project([SourceFile.parse(path, "m", text)]).classes] == ["native"]
    (tmp_path / "siblings.py").write_text("")
    sibling = SourceFile.parse(path, "m", text.replace("otherblocks", "siblings"))
    assert [str(c.outcome) for c in migrate_project([sibling]).classes] == ["bridged"]
    of_package = SourceFile.parse(tmp_path / "otherblocks" / "m.py", "otherblocks.m", text)
    assert [str(c.outcome) for c in migrate_project([of_package]).classes] == ["bridged"]


def test_what_a_file_imports_from_a_package_of_its_own_name_is_no_class_of_the_project() -> None:
    program = """
from flax import linen as nn
from net.parts import Block

class M(nn.Module):
  def setup(self):
    self.block = Block(3)
  def __call__(self, x):
    return self.block(x)
"""
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", program)])
    (plan,) = result.classes
    assert (str(plan.outcome), plan.code) == ("bridged", "NNX138"), plan.reason


UNSEEN = """
from flax import linen as nn
from lib import Base

class Part(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(4)(x)

class Compact(Base):
  @nn.compact
  def __call__(self, x):
    return Part()(x)

class OfSetup(Base):
  def setup(self):
    self.part = Part()
  def __call__(self, x):
    return self.part(x)

class Derived(OfSetup):
  def __call__(self, x):
    return self.part(x) * 2

class Trainer(Base):
  def __init__(self):
    self.part = Part()
  def __call__(self, variables, x):
    return self.part.apply(variables, x)
"""


def test_classes_that_derive_from_unseen_ones_stay_linen() -> None:
    """They were taken for code outside of modules: what they make was no module of theirs any more, without a word."""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", UNSEEN)])
    found = {c.qualname: (str(c.outcome), c.code) for c in result.classes}
    stay = ("bridged", "NNX176")
    assert found == {"m.Part": ("native", ""), "m.Compact": stay, "m.OfSetup": stay, "m.Derived": stay}
    after = result.files[0].after
    assert after is not None
    assert "self.part = m_linen.Part()\n  def __call__(self, x):" in after and "return m_linen.Part()(x)" in after
    assert "linen_parity.Functional(" in after.partition("class Trainer")[2]
    files = [SourceFile.parse(Path("m.py"), "m", after)]
    files += [SourceFile.parse(path, path.stem, content) for path, content in result.created.items()]
    again = migrate_project(files)
    assert all(f.after in (None, f.before) for f in again.files) and not again.created
