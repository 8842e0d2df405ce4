"""What stays Linen gets Linen copies of the native classes it uses: same outputs, same keys, same random numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .linen_copy_programs import LAYERS, PACKAGE, assert_same, fresh, load, migrate, outcomes, sources, write

__all__ = ["fresh"]


@pytest.mark.usefixtures("fresh")
def test_a_package_with_classes_that_stay_linen(tmp_path: Path) -> None:
    before = write(tmp_path / "before", PACKAGE)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {
        "Block": "native", "Stack": "native", "Head": "native", "Odd": "bridged", "Model": "bridged", "Given": "bridged",
        "Wrapper": "bridged",
    }  # fmt: skip
    expected = load(before, "pkg.model").run()
    for first in ("pkg.model", "pkg.layers", "pkg.layers_linen", "pkg.model_linen"):  # whatever is imported first
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())
    made = (tmp_path / "after/pkg/layers_linen.py").read_text()
    assert LAYERS[LAYERS.index("# What Block") : LAYERS.index("class Stack")].strip() in made  # verbatim
    assert made.startswith("# Copyright of the example.") and "from pkg import layers" in made
    codes = [d.code for file in result.files for d in file.diagnostics]
    assert codes.count("NNX178") == 3


def test_a_second_run_leaves_the_copies_alone(tmp_path: Path) -> None:
    migrate(write(tmp_path / "before", PACKAGE), tmp_path / "once")
    again = migrate_project(sources(tmp_path / "once"))
    assert [file.path.name for file in again.files if file.after != file.before] == [] and again.created == {}
    assert sorted(outcomes(again)) == ["Given", "Model", "Odd", "Wrapper"]  # the copies are no classes of the user's


@pytest.mark.usefixtures("sizes_by_reading")
def test_a_second_run_does_not_wrap_what_the_first_kept_copies_for(tmp_path: Path) -> None:
    blocks = """import flax.linen as nn
from elsewhere import mixed


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x):
        return mixed(nn.Dense(3)(x))
"""
    model = """import flax.linen as nn
import jax
import jax.numpy as jnp
from blocks import Inner


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(Inner()(x))


def f(key):
    return Outer().init(key, jnp.ones((2, 5)))
"""
    first = migrate(write(tmp_path / "before", {"blocks.py": blocks, "model.py": model}), tmp_path / "once")
    assert outcomes(first) == {"Inner": "native", "Outer": "bridged"}  # the width of what `mixed` returns is not known
    again = migrate_project(sources(tmp_path / "once"))
    assert [file.path.name for file in again.files if file.after != file.before] == [] and again.created == {}
    assert {c.qualname: c.code for c in again.classes} == {"model.Outer": "NNX178"}
    left = """

# TODO(nnx-migrate): NNX110 Around stays a Linen module: something of Outer is read.
class Around(nn.Module):
    def setup(self):
        self.outer = Outer()

    def __call__(self, x):
        return self.outer(x)
"""
    with (tmp_path / "once/model.py").open("a") as stream:
        stream.write(left)
    again = migrate_project(sources(tmp_path / "once"))
    assert [file.path.name for file in again.files if file.after != file.before] == [] and again.created == {}
    assert {c.qualname: c.code for c in again.classes} == {"model.Outer": "NNX178", "model.Around": "NNX178"}


def test_without_bridging_nothing_is_copied(tmp_path: Path) -> None:
    result = migrate(write(tmp_path / "before", PACKAGE), tmp_path / "after", Options(bridge=False))
    assert result.created == {} and set(outcomes(result).values()) == {"manual"}
    assert {c.code for c in result.classes if c.qualname.endswith(("Block", "Stack", "Head"))} == {"NNX176", "NNX177"}


SCRIPT = """from flax import linen as nn
import jax


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


class Model(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block()(x) * len(self.scope.path)


def main():
  x = jax.numpy.ones((2, 3))
  variables = Model().init(jax.random.key(0), x)
  print(jax.tree.map(jax.numpy.sum, variables), Model().apply(variables, x))


if __name__ == "__main__":
  main()
"""


def test_the_command_line_writes_checks_and_undoes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    runner = CliRunner()
    checked = runner.invoke(program, ["--check", "train.py"])
    assert checked.exit_code == 1 and not (tmp_path / "train_linen.py").exists()
    diff = runner.invoke(program, ["--diff", "train.py"])
    assert "+++ b/train_linen.py" in diff.output
    done = runner.invoke(program, ["train.py"])
    assert "NNX178" in done.output and "1 native, 1 bridged" in done.output
    made = (tmp_path / "train_linen.py").read_text()
    assert "class Block(nn.Module)" in made and "train_linen.Block()" in script.read_text()
    text = script.read_text()
    again = runner.invoke(program, ["."])
    assert "0 files migrated" in again.output and "1 module: 1 bridged" in again.output, again.output
    assert script.read_text() == text and (tmp_path / "train_linen.py").read_text() == made
    assert runner.invoke(program, ["undo"]).exit_code == 0
    assert script.read_text() == SCRIPT and not (tmp_path / "train_linen.py").exists()


UNCOPYABLE = {
    "registered by a decorator": """def register(cls):
  KNOWN.append(cls)
  return cls


KNOWN = []


@register
class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)
""",
    "changed from outside": """class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


Block.calls = 0
""",
    "a default that must exist once, in a script": """class Width:
  size = 3


class Block(nn.Module):
  width: type = Width

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width.size)(x)
""",
    "in need of a file that trains when it is imported": """class Scale:
  factor = 2.0


def main():
  print("trained")


main()


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x) * Scale().factor
""",
    "bound twice": """class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


Plain = Block
Block = nn.jit(Block)
""",
}


@pytest.mark.parametrize("name", UNCOPYABLE)
def test_what_cannot_be_copied_stays_linen(name: str) -> None:
    user = """

class Model(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block()(x) * len(self.scope.path)
"""
    text = "from flax import linen as nn\n\n\n" + UNCOPYABLE[name] + user
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert set(outcomes(result).values()) == {"bridged"} and result.created == {}
    plans = {c.qualname: c for c in result.classes}
    assert plans["m.Block"].code in ("NNX177", "NNX130")
    stripped = "\n".join(line for line in (result.files[0].after or "").split("\n") if "TODO(nnx-migrate)" not in line)
    assert stripped == text


ABSTRACT = """import abc

import jax
from flax import linen as nn


class Base(nn.Module, metaclass=abc.ABCMeta):
  n: int = 3

  @abc.abstractmethod
  def change(self, x):
    ...

  @nn.compact
  def __call__(self, x):
    return self.change(nn.Dense(self.n)(x))


class Good(Base):
  def change(self, x):
    return nn.relu(x)


class Odd(Base):
  def change(self, x):
    return x * (1 + len(self.scope.path))


class Top(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Good(4)(x) + Odd(4)(x)


def run():
  x = jax.numpy.ones((2, 3))
  variables = Top().init(jax.random.key(0), x)
  return variables, Top().apply(variables, x)
"""


def test_abstract_classes_are_copied(tmp_path: Path) -> None:
    """`metaclass=abc.ABCMeta` registers nothing: the copy is as abstract as the original."""
    before = write(tmp_path / "before", {"abstract_models.py": ABSTRACT})
    expected = load(before, "abstract_models").run()
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Base": "native", "Good": "native", "Odd": "bridged", "Top": "bridged"}
    found = load(tmp_path / "after", "abstract_models_linen", "abstract_models")
    assert_same(expected, found.run())


SIZED_SCRIPT = """import jax
from flax import linen as nn


class Config:
  made = []

  def __init__(self, width=8):
    Config.made.append(self)
    self.width = width


class Block(nn.Module):
  config: Config

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.config.width)(x)


class Odd(nn.Module):
  config: Config

  @nn.compact
  def __call__(self, x):
    return Block(self.config)(x) * (1 + len(self.scope.path))


def run():
  x = jax.numpy.ones((2, 3))
  module = Odd(Config(4))
  variables = module.init(jax.random.key(0), x)
  return variables, module.apply(variables, x), len(Config.made)


if __name__ == "__main__":
  run()
"""


def test_what_annotations_alone_say_of_a_script_is_not_imported(tmp_path: Path) -> None:
    """A file that may be run would exist twice where its copies imported it: nobody evaluates an annotation."""
    before = write(tmp_path / "before", {"sized_script.py": SIZED_SCRIPT})
    expected = load(before, "sized_script").run()
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Block": "native", "Odd": "bridged"}
    (text,) = result.created.values()
    assert "if TYPE_CHECKING:\n    from sized_script import Config" in text
    assert_same(expected, load(tmp_path / "after", "sized_script_linen", "sized_script").run())


def test_imports_in_a_with_block_run_no_program() -> None:
    text = """from flax import linen as nn
import contextlib

with contextlib.suppress(ImportError):
  from fast import softcap

with contextlib.suppress(KeyError):
  import jax


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return softcap(nn.Dense(3)(x))


class Model(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block()(x) * len(self.scope.path)
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert outcomes(result) == {"Block": "native", "Model": "bridged"} and len(result.created) == 1


def test_a_native_module_given_to_a_linen_one_where_it_cannot_be_redirected_is_named() -> None:
    text = """from flax import linen as nn


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(x)


class Wrapper(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x) * len(self.scope.path)


def wrap(inner):
  return Wrapper(inner)


def make():
  wrapped = wrap
  return wrapped(Block())
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    assert outcomes(result) == {"Block": "native", "Wrapper": "bridged"}
    said = [d.message for d in result.files[0].diagnostics if d.code == "NNX604"]
    assert said == ["Block is an nnx.Module now, and Wrapper, to which it is given here, stays Linen"]


# plain classes that name module classes ------------------------------------------------------------------------------
NETS = """from flax import linen as nn


class Net(nn.Module):
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Base:
  module_class = None
  size = 3


class Model(Base):
  module_class = Net
"""

USER = """import jax
from flax import linen as nn

from pkg.nets import Model

TABLE = {}


def table():
  return TABLE


class Dual(nn.Module):
  kind: str = "x"

  def setup(self):
    BODY
    self.out = nn.Dense(Model.size)

  def __call__(self, x):
    return self.out(self.inner(x))


def run():
  x = jax.numpy.ones((2, 5))
  variables = Dual().init(jax.random.key(0), x)
  return [variables, Dual().apply(variables, x)]
"""

READ = {
  "a default": "self.inner = table().get(self.kind, Model).module_class(6)",
  "by itself": "self.inner = getattr(Model.module_class, '__call__') and Model.module_class(6)",
}  # fmt: skip
NOT_DERIVED = {
    "compared": "self.inner = Model.module_class(6)\n    assert table().get(self.kind) is not Model or self.has_rng('a')",
    "an instance": "self.inner = Model().module_class(6)",
    "a key": "self.inner = Model.module_class(6)\n    assert Model not in table() or self.has_rng('a')",
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", READ)
@pytest.mark.usefixtures("sizes_by_reading")
def test_a_class_that_is_only_read_is_derived_from(name: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/nets.py": NETS, "pkg/user.py": USER.replace("BODY", READ[name])}
    before = write(tmp_path / "a", files)
    expected = load(before, "pkg.nets", "pkg.user").run()
    result = migrate(before, tmp_path / "b")
    assert outcomes(result) == {"Net": "native", "Dual": "bridged"}
    assert_same(load(tmp_path / "b", "pkg.nets", "pkg.user").run(), expected)


@pytest.mark.parametrize("name", NOT_DERIVED)
@pytest.mark.usefixtures("sizes_by_reading")
def test_a_class_whose_identity_may_matter_keeps_its_modules_linen(name: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/nets.py": NETS, "pkg/user.py": USER.replace("BODY", NOT_DERIVED[name])}
    result = migrate(write(tmp_path / "a", files), tmp_path / "b")
    plans = {c.qualname: c for c in result.classes}
    assert (plans["pkg.nets.Net"].outcome, plans["pkg.nets.Net"].code) == ("bridged", "NNX177")


GIVEN_TO_COPIES = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class Critic(nn.Module):
  net: nn.Module
  head: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.head(jnp.tanh(self.net(x)))


class ModuleDict(nn.Module):
  modules: dict[str, nn.Module]

  @nn.compact
  def __call__(self, x):
    return {name: module(x) * len(self.scope.rngs) for name, module in self.modules.items()}


def run():
  x = jnp.ones((2, 3))
  model = ModuleDict({"actor": Net(2), "critic": MADE})
  variables = model.init(jax.random.key(0), x)
  return variables, model.apply(variables, x, rngs={"dropout": jax.random.key(1)})
"""


@pytest.mark.parametrize("made", ["Critic(Net(4), nn.Dense(1))", "Critic(net=Net(width=4), head=Net(1))"])
@pytest.mark.usefixtures("fresh")
def test_modules_given_to_a_copy_stay_modules(made: str, tmp_path: Path) -> None:
    """A native Critic would take what makes them."""
    before = write(tmp_path / "before", {"given.py": GIVEN_TO_COPIES.replace("MADE", made)})
    result = migrate(before, tmp_path / "after")
    assert outcomes(result)["ModuleDict"] == "bridged"
    assert_same(load(before, "given").run(), load(tmp_path / "after", "given").run())


TWICE = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(x)


class Block(nn.Module):
  width: int = 3

  @nn.compact
  def __call__(self, x):
    return nn.tanh(nn.Dense(self.width)(x))


class Odd(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block(5)(x) * len(self.path)


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Odd()(x) + Block(5)(x)


def run():
  x = jnp.ones((2, 4))
  return Outer().init_with_output(jax.random.key(0), x)
"""


def test_the_last_of_several_classes_of_one_name_is_copied() -> None:
    result = migrate_project([SourceFile.parse(Path("twice.py"), "twice", TWICE)])
    assert {c.qualname: str(c.outcome) for c in result.classes}["twice.Block"] == "native"
    texts = {path.stem: text for path, text in result.created.items()} | {"twice": result.files[0].after or ""}
    assert texts["twice_linen"].count("class Block(nn.Module):") == 1 and "width: int = 3" in texts["twice_linen"]
    before = sys.modules["twice_before"] = ModuleType("twice_before")
    exec(TWICE, before.__dict__)
    for name, text in texts.items():
        sys.modules[name] = ModuleType(name)
        exec(text, sys.modules[name].__dict__)
    for left, right in zip(jax.tree.leaves(before.run()), jax.tree.leaves(sys.modules["twice"].run()), strict=True):
        np.testing.assert_array_equal(left, right)
