"""Linen copies of what stands in the `__init__.py` of a package: a module beside the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project

from .linen_copy_programs import assert_same, fresh, load, migrate, outcomes, sources, write

__all__ = ["fresh"]

PACKAGE = """from flax import linen as nn
from ..util import half
from .cells import Cell
from . import common

LIMIT = 3


class Block(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return Cell(self.width)(x) + half(common.scale(x.sum())) * LIMIT
"""
STAYS = """

class Stays(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    y = Block(self.width)(x)
    while y.ndim < LIMIT:
      y = nn.Dense(3)(y)[None]
    return y
"""
RUN = """

def run():
  import jax
  import jax.numpy as jnp
  x = jnp.linspace(-1, 1, 6).reshape(2, 3)
  variables = Stays(4).init(jax.random.key(0), x)
  return jax.tree.map(jnp.shape, variables), Stays(4).apply(variables, x)
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/util.py": "def half(x):\n  return x / 2\n",
    "pkg/blocks/common.py": "def scale(x):\n  return x + 1\n",
    "pkg/blocks/cells.py": """from flax import linen as nn
from .common import scale


class Cell(nn.Module):
  width: int

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width)(x) * scale(2)
""",
    "pkg/blocks/__init__.py": PACKAGE,
}
OUTSIDE = f"from flax import linen as nn\nIMPORT\n{STAYS}{RUN}"


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("pkg/model.py", "from pkg.blocks import Block, LIMIT"),
        ("pkg/model.py", "from .blocks import Block, LIMIT"),
        ("pkg/model.py", "from pkg import blocks\nfrom pkg.blocks import LIMIT\nBlock = blocks.Block"),
        ("pkg/blocks/model.py", "from . import Block, LIMIT"),
        ("pkg/other/model.py", "from ..blocks import Block, LIMIT"),
    ],
)
def test_a_class_of_a_package_has_its_copy_beside_it(tmp_path: Path, where: str, line: str) -> None:
    before = write(tmp_path / "before", {**FILES, where: OUTSIDE.replace("IMPORT", line)})
    migrate(before, tmp_path / "after")
    made = (tmp_path / "after/pkg/blocks_linen.py").read_text()
    assert "from .blocks import" in made and "from .util import half" in made
    assert "class Block(nnx.Module)" in (tmp_path / "after/pkg/blocks/__init__.py").read_text()
    module = where.removesuffix(".py").replace("/", ".")
    assert_same(load(before, module).run(), load(tmp_path / "after", module).run())
    again = migrate_project(sources(tmp_path / "after"))
    assert [file.path.name for file in again.files if file.after != file.before] == [] and again.created == {}


@pytest.mark.usefixtures("fresh")
def test_what_stays_in_the_package_itself_uses_it(tmp_path: Path) -> None:
    files = {**FILES, "pkg/blocks/__init__.py": f"{PACKAGE}{STAYS}{RUN}"}
    before = write(tmp_path / "before", files)
    migrate(before, tmp_path / "after")
    assert "class Block(nn.Module)" in (tmp_path / "after/pkg/blocks_linen.py").read_text()
    assert_same(load(before, "pkg.blocks").run(), load(tmp_path / "after", "pkg.blocks").run())


def test_beside_a_package_that_no_other_holds_there_is_no_place(tmp_path: Path) -> None:
    files = {name.removeprefix("pkg/"): text for name, text in FILES.items() if name != "pkg/__init__.py"}
    files["blocks/__init__.py"] = PACKAGE.replace("from ..util", "from util")
    files["model.py"] = OUTSIDE.replace("IMPORT", "from blocks import Block, LIMIT")
    found = migrate_project(sources(write(tmp_path / "before", files)))
    (block,) = [c for c in found.classes if c.qualname.endswith("Block")]
    assert block.code == "NNX177" and "a package that no other holds" in block.reason


def test_imports_of_a_definition_itself_are_by_its_place(tmp_path: Path) -> None:
    inner = PACKAGE.replace("    return Cell", "    from .common import scale\n    return scale(0) + Cell")
    model = OUTSIDE.replace("IMPORT", "from .blocks import Block, LIMIT")
    files = {**FILES, "pkg/blocks/__init__.py": inner, "pkg/model.py": model}
    found = migrate_project(sources(write(tmp_path / "before", files)))
    assert outcomes(found)["Block"] == "bridged"


@pytest.mark.usefixtures("fresh")
def test_a_program_of_another_folder_imports_copies_by_their_whole_name(tmp_path: Path) -> None:
    """What neighbours say of a module by a dot (`from .parts import Block`) is said by its package's name from elsewhere."""
    files = {
        "pkg/__init__.py": "",
        "pkg/blocks/__init__.py": "from .parts import LIMIT, Block\n",
        "pkg/blocks/parts.py": PACKAGE.replace("from .cells import Cell\nfrom . import common\n", "").replace(
            "Cell(self.width)(x) + half(common.scale(x.sum()))", "nn.Dense(self.width)(x) + half(x.sum())"
        ),
        "pkg/util.py": FILES["pkg/util.py"],
        "tools/__init__.py": "",
        "tools/bench/__init__.py": "",
        "tools/bench/model.py": OUTSIDE.replace("IMPORT", "from pkg.blocks import Block, LIMIT")
        + '\n\nif __name__ == "__main__":\n  run()\n',
    }
    before = write(tmp_path / "before", files)
    migrate(before, tmp_path / "after")
    assert "from . import" not in (tmp_path / "after/tools/bench/model.py").read_text()
    names = ("pkg", "tools.bench.model")
    assert_same(load(before, *names).run(), load(tmp_path / "after", *names).run())
