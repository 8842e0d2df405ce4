"""How modules of Linen copies import what they need, and how they are imported, where modules import each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project

from .linen_copy_programs import LAYERS, MODEL, assert_same, fresh, load, migrate, outcomes, sources, write

__all__ = ["fresh"]

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


LIKE_NAMED = """import flax.linen as nn


class Mul(nn.Module):
  width: int = WIDTH

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x)


class OnlyWIDTH(Mul):
  width: int = WIDTH + 1
"""


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", ["layers", "_layers"])
def test_copies_of_files_of_one_name(tmp_path: Path, name: str) -> None:
    model = f"""import flax.linen as nn
import jax
import jax.numpy as jnp
from pkg.a import {name}
from pkg.b import {name} as b_layers

KINDS = ({name}.Mul, b_layers.Mul, {name}.Only3, b_layers.Only5)


class Stays(nn.Module):
  def __post_init__(self):
    assert self.scope is None or self.scope
    super().__post_init__()

  @nn.compact
  def __call__(self, x):
    return [kind()(x) for kind in KINDS]


class Uses(nn.Module):
  @nn.compact
  def __call__(self, x):
    assert not isinstance(self, KINDS)
    return Stays()(nn.Dense(3)(x))


def run():
  x = jnp.ones((2, 3))
  return Uses().init_with_output(jax.random.key(0), x)
"""
    files = {"pkg/__init__.py": "", "pkg/a/__init__.py": "", "pkg/b/__init__.py": "", "pkg/model.py": model}
    files |= {f"pkg/{d}/{name}.py": LIKE_NAMED.replace("WIDTH", w) for d, w in (("a", "3"), ("b", "5"))}
    before = write(tmp_path / "before", files)
    migrate(before, tmp_path / "after")
    assert_same(load(before, "pkg.model").run(), load(tmp_path / "after", "pkg.model").run())


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
