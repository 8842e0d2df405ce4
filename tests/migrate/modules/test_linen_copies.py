"""What stays Linen gets Linen copies of the native classes it uses: same outputs, same keys, same random numbers."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

LAYERS = '''# Copyright of the example.
"""Layers."""
import dataclasses

import jax.numpy as jnp
from flax import linen as nn

SCALES = {"small": 0.5, "large": 2.0}


@dataclasses.dataclass
class Config:
  width: int = 8


def activate(x, scale):
  return nn.gelu(x) * SCALES[scale]


# What Block is for.
class Block(nn.Module):
  width: int
  scale: str = "large"

  @nn.compact
  def __call__(self, x):
    x = activate(nn.Dense(self.width)(x), self.scale)
    return nn.Dropout(0.5, deterministic=False)(x)


class Stack(nn.Module):
  depth: int
  config: Config

  @nn.compact
  def __call__(self, x):
    assert isinstance(self.config, Config)
    for _ in range(self.depth):
      x = Block(self.config.width)(x)
    return x


BLOCKS = {"block": Block}


class Odd(nn.Module):
  """Reads its own path."""

  @nn.compact
  def __call__(self, x):
    x = Stack(2, Config(4))(x)
    x = BLOCKS["block"](3)(x)
    return Block(2)(x) * len(self.path)
'''

MODEL = """import functools

import jax
from flax import linen as nn

from . import layers
from .layers import Block, Config, Odd
from .layers import Stack as Tower


class Head(nn.Module):
  features: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features)(Block(7)(x))


class Model(Head):
  block: type = Block

  @nn.compact
  def __call__(self, x):
    x = Head(6)(x)
    x = Tower(2, Config(4))(x)
    x = layers.Block(3)(self.block(5)(x))
    if self.path:
      x = -x
    assert isinstance(self, Head)
    return nn.Dense(self.features)(Odd()(x))


class Given(nn.Module):
  block: type

  @nn.compact
  def __call__(self, x):
    return self.block(5)(x) + len(self.path)


given = functools.partial(Given, block=Block)


class Wrapper(nn.Module):
  inner: nn.Module

  @nn.compact
  def __call__(self, x):
    return self.inner(x) + len(self.path)


def wrapped():
  inner = Block(4)
  return Wrapper(inner)


def run():
  x = jax.numpy.ones((2, 3))
  keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
  out = []
  for module in (Model(), given(), Given(Head), wrapped(), Wrapper(Head(2))):
    variables = module.init(keys, x)
    out += [variables, module.apply(variables, x, rngs={"dropout": jax.random.key(2)})]
  return out
"""

PACKAGE = {"pkg/__init__.py": "", "pkg/layers.py": LAYERS, "pkg/model.py": MODEL}


@pytest.fixture
def fresh() -> Iterator[None]:
    """No module of one side is left for the other."""
    yield
    for name in [n for n in sys.modules if n.partition(".")[0] == "pkg"]:
        del sys.modules[name]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def load(folder: Path, *names: str) -> ModuleType:
    """Import modules from a folder, in order; the last one."""
    for name in [n for n in sys.modules if n.partition(".")[0] in {x.partition(".")[0] for x in names}]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return [importlib.import_module(name) for name in names][-1]
    finally:
        sys.path.remove(str(folder))


def sources(folder: Path) -> list[SourceFile]:
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found.append(SourceFile.parse(path, name, path.read_text(), is_package=package))
    return found


def migrate(folder: Path, target: Path, options: Options | None = None) -> RunResult:
    result = migrate_project(sources(folder), options)
    for file in result.files:
        assert file.after is not None, file.diagnostics
        write(target, {str(file.path.relative_to(folder)): file.after})
    for path, text in result.created.items():
        write(target, {str(path.relative_to(folder)): text})
    return result


def assert_same(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))


def outcomes(result: RunResult) -> dict[str, str]:
    return {c.qualname.rpartition(".")[2]: str(c.outcome) for c in result.classes}


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


def test_modules_in_a_namespace_folder_are_imported_as_their_neighbours_are(tmp_path: Path) -> None:
    files = {
        "nspkg/__init__.py": "",
        "nspkg/models/layers.py": LAYERS,
        "nspkg/models/model.py": MODEL,
    }
    before = write(tmp_path / "before", files)
    migrate(before, tmp_path / "after")
    made = (tmp_path / "after/nspkg/models/model.py").read_text()
    assert "from . import layers, layers_linen, model_linen" in made
    assert "from . import layers  # noqa: E402" in (tmp_path / "after/nspkg/models/layers_linen.py").read_text()


@pytest.mark.usefixtures("fresh")
def test_copies_of_the_folder_above(tmp_path: Path) -> None:
    model = MODEL.replace("from . import layers", "from .. import layers").replace("from .layers", "from ..layers")
    assert model != MODEL
    files = {"pkg/__init__.py": "", "pkg/layers.py": LAYERS, "pkg/deep/__init__.py": "", "pkg/deep/model.py": model}
    before = write(tmp_path / "before", files)
    migrate(before, tmp_path / "after")
    assert (tmp_path / "after/pkg/layers_linen.py").exists()
    expected = load(before, "pkg.deep.model").run()
    assert_same(expected, load(tmp_path / "after", "pkg.deep.model").run())
    again = migrate_project(sources(tmp_path / "after"))
    assert [file.path.name for file in again.files if file.after != file.before] == [] and again.created == {}


# Two modules that import each other, one of them in a function.
CYCLE = {
    "pkg/__init__.py": "",
    "pkg/blocks.py": """from flax import linen as nn

from . import model

Stays = model.Stays


class Norm(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.LayerNorm(name="own")(x)
""",
    "pkg/model.py": """import jax
import jax.numpy as jnp
from flax import linen as nn


class Stays(nn.Module):
  kind: str = "a"

  def make(self):
    if self.kind == "a":
      from . import blocks
      return blocks.Norm()
    from . import blocks  # again
    return nn.Sequential([blocks.Norm(), blocks.Norm()])

  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(self.make()(x)) + len(self.path)


def run():
  x = jnp.arange(8.0).reshape(2, 4)
  return [Stays(kind).init_with_output(jax.random.key(0), x) for kind in "ab"]
""",
}


@pytest.mark.usefixtures("fresh")
def test_what_is_imported_within_a_function_has_its_copies_imported_there(tmp_path: Path) -> None:
    before = write(tmp_path / "before", CYCLE)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Norm": "native", "Stays": "bridged"}
    text = (tmp_path / "after/pkg/model.py").read_text()
    assert text.count("    from . import blocks_linen") == 2 and "\nfrom . import blocks_linen" not in text
    expected = load(before, "pkg.blocks", "pkg.model").run()
    for first in ("pkg.model", "pkg.blocks", "pkg.blocks_linen"):
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())


# As `CYCLE`, where a copy is what imports within a function, and the file that it imports needs the copy's at once.
CYCLE_OF_COPIES = {
    "pkg/__init__.py": "",
    "pkg/linears.py": """from flax import linen as nn


class Wide(nn.Module):
  features: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features, name="own")(x)


class Mlp(nn.Module):
  @nn.compact
  def __call__(self, x):
    from . import decoder
    return Wide(3)(decoder.Norm()(x))
""",
    "pkg/decoder.py": """from flax import linen as nn

from . import linears

Wide = linears.Wide


class Norm(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.LayerNorm(name="norm")(x)


class Layer(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Wide(4)(x)
""",
    "pkg/model.py": """import jax
import jax.numpy as jnp
from flax import linen as nn

from . import decoder, linears


class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    return linears.Mlp()(decoder.Layer()(x)) + len(self.path)


def run():
  x = jnp.arange(8.0).reshape(2, 4)
  return Stays().init_with_output(jax.random.key(0), x)
""",
}


@pytest.mark.usefixtures("fresh")
def test_copies_import_copies_where_the_originals_import_each_other(tmp_path: Path) -> None:
    before = write(tmp_path / "before", CYCLE_OF_COPIES)
    result = migrate(before, tmp_path / "after")
    assert {k: v for k, v in outcomes(result).items() if v != "native"} == {"Stays": "bridged"}
    text = (tmp_path / "after/pkg/linears_linen.py").read_text()
    assert "    from . import decoder_linen\n" in text and "\nfrom . import decoder_linen" not in text
    expected = load(before, "pkg.linears", "pkg.model").run()
    for first in ("pkg.model", "pkg.linears", "pkg.linears_linen", "pkg.decoder_linen"):
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())


# As `CYCLE`, of a class that needs the other module while it is imported.
DEFAULTS = {
    "pkg/__init__.py": "",
    "pkg/blocks.py": """from flax import linen as nn

from . import model


class Norm(nn.Module):
  epsilon: float = model.EPSILON

  @nn.compact
  def __call__(self, x):
    return nn.LayerNorm(epsilon=self.epsilon, name="own")(model.scaled(x))
""",
    "pkg/model.py": """import jax
import jax.numpy as jnp
from flax import linen as nn

EPSILON = 0.1


def scaled(x):
  return 2 * x


class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    from . import blocks
    return blocks.Norm()(x) + len(self.path)


def run():
  x = jnp.arange(8.0).reshape(2, 4)
  return Stays().init_with_output(jax.random.key(0), x)
""",
}


@pytest.mark.usefixtures("fresh")
def test_what_is_imported_within_a_function_may_import_what_uses_it(tmp_path: Path) -> None:
    before = write(tmp_path / "before", DEFAULTS)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Norm": "native", "Stays": "bridged"}
    expected = load(before, "pkg.blocks", "pkg.model").run()
    for first in ("pkg.model", "pkg.blocks", "pkg.blocks_linen"):
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())


def test_what_is_imported_at_the_top_may_not(tmp_path: Path) -> None:
    at_the_top = DEFAULTS["pkg/model.py"].replace("    from . import blocks\n", "")
    files = {**DEFAULTS, "pkg/model.py": at_the_top.replace("\n\ndef scaled", "\nfrom . import blocks\n\n\ndef scaled")}
    result = migrate(write(tmp_path / "before", files), tmp_path / "after")
    assert outcomes(result) == {"Norm": "bridged", "Stays": "bridged"}


CONDITIONAL = {
    "pkg/__init__.py": "",
    "pkg/blocks.py": """from flax import linen as nn

try:
  from jax.nn import relu as act
except ImportError:
  pass

if nn.__name__ == "nothing":
  from numpy import sin as other
else:
  from numpy import cos as other
  from numpy import tan as last


class Block(nn.Module):
  @nn.compact
  def __call__(self, x):
    return act(nn.Dense(3)(x)) + other(3.0) + last(2.0)
""",
    "pkg/model.py": """import jax
import jax.numpy as jnp
from flax import linen as nn

from .blocks import Block


class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    return Block()(x) + len(self.path)


def run():
  x = jnp.arange(8.0).reshape(2, 4)
  return Stays().init_with_output(jax.random.key(0), x)
""",
}


@pytest.mark.usefixtures("fresh")
def test_what_is_imported_conditionally_is_read_off_the_original(tmp_path: Path) -> None:
    before = write(tmp_path / "before", CONDITIONAL)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Block": "native", "Stays": "bridged"}
    expected = load(before, "pkg.blocks", "pkg.model").run()
    for first in ("pkg.model", "pkg.blocks", "pkg.blocks_linen"):
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())


def test_what_is_imported_conditionally_may_not_be_needed_at_once(tmp_path: Path) -> None:
    block = CONDITIONAL["pkg/blocks.py"].replace("  @nn.compact", "  by: object = last\n\n  @nn.compact")
    result = migrate(write(tmp_path / "before", {**CONDITIONAL, "pkg/blocks.py": block}), tmp_path / "after")
    assert outcomes(result) == {"Block": "bridged", "Stays": "bridged"}


WAYS = {
    "several at once": ("from . import blocks, other", "blocks.Norm(), other.Scale()"),
    "by name": ("from .blocks import Norm; from .other import Scale as S", "Norm(), S()"),
    "import": ("import pkg.blocks, pkg.other", "pkg.blocks.Norm(), pkg.other.Scale()"),
    "import as": ("import pkg.blocks as b, pkg.other as o", "b.Norm(), o.Scale()"),
    "its name is taken": ("blocks_linen = 3; from . import blocks, other", "blocks.Norm(), other.Scale(blocks_linen)"),
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_import_within_a_function(way: str, tmp_path: Path) -> None:
    statement, made = WAYS[way]
    lines = statement.replace("; ", "\n    ")
    model = f"""import jax
import jax.numpy as jnp
from flax import linen as nn


class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    {lines}
    return nn.Sequential([{made}])(x) + len(self.path)


def run():
  x = jnp.arange(8.0).reshape(2, 4)
  return Stays().init_with_output(jax.random.key(0), x)
"""
    other = """from flax import linen as nn

from . import model

Stays = model.Stays


class Scale(nn.Module):
  by: int = 2

  @nn.compact
  def __call__(self, x):
    return x * self.by * self.param("scale", nn.initializers.ones, (x.shape[-1],))
"""
    files = CYCLE | {"pkg/model.py": model, "pkg/other.py": other}
    before = write(tmp_path / "before", files)
    result = migrate(before, tmp_path / "after")
    assert outcomes(result) == {"Norm": "native", "Scale": "native", "Stays": "bridged"}
    expected = load(before, "pkg.blocks", "pkg.model").run()
    for first in ("pkg.model", "pkg.other", "pkg.blocks_linen"):
        assert_same(expected, load(tmp_path / "after", first, "pkg.model").run())


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
def test_a_class_that_is_only_read_is_derived_from(name: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/nets.py": NETS, "pkg/user.py": USER.replace("BODY", READ[name])}
    before = write(tmp_path / "a", files)
    expected = load(before, "pkg.nets", "pkg.user").run()
    result = migrate(before, tmp_path / "b")
    assert outcomes(result) == {"Net": "native", "Dual": "bridged"}
    assert_same(load(tmp_path / "b", "pkg.nets", "pkg.user").run(), expected)


@pytest.mark.parametrize("name", NOT_DERIVED)
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
    return {name: module(x) for name, module in self.modules.items()}


def run():
  x = jnp.ones((2, 3))
  model = ModuleDict({"actor": Net(2), "critic": MADE})
  variables = model.init(jax.random.key(0), x)
  return variables, model.apply(variables, x)
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
