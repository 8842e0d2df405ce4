"""How the written classes read: what a reviewer would ask to have changed. That they mean the same is for the forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from typing import Any, Callable
import flax.linen as nn
import jax.numpy as jnp


"""
READS = {
    "arguments close up behind a short name": (
        """class A(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(
            features=8,
            use_bias=False,
        )(
            x
        )
        return nn.LayerNorm()(
            x)  # the last one
""",
        ["        x = self.Dense_0(x)\n", "        return self.LayerNorm_0(x)  # the last one\n"],
        [],
    ),
    "a comment between arguments stays where it is": (
        """class A(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(
            x,  # as it comes
        )
""",
        ["            x,  # as it comes\n"],
        [],
    ),
    "comments of a construction go with it": (
        """class A(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(
        features=8,  # as in the paper
        kernel_init=nn.initializers.normal(0.02),  # pylint: disable=all
        name='first #1')(x)
    return x
""",
        ["    # as in the paper\n", "first #1"],
        ["pylint"],
    ),
    "what only fed a constructor goes": (
        """class A(nn.Module):
  width: int = 4
  @nn.compact
  def __call__(self, x):
    shape = (1, x.shape[1], x.shape[2])
    unused = x.shape[0]
    drawn = jnp.sum(x)
    out = x.shape[-1] if self.width is None else self.width
    return nn.Dense(out)(x + self.param('p', nn.initializers.ones, shape))
""",
        ["unused = x.shape[0]", "drawn = jnp.sum(x)"],
        ["    shape = (1, x.shape[1], x.shape[2])\n", "self.width else", "    out = x.shape[-1]"],
    ),
    "types of several lines keep their form": (
        """class A(nn.Module):
    features: int
    kernel: Callable[
        [Any, Any], Any
    ] = nn.initializers.normal(
        stddev=1e-6
    )
    a_field_with_a_long_name: int = 3
    another_field_with_a_long_name: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features, kernel_init=self.kernel)(x)
""",
        [
            "        kernel: Callable[\n            [Any, Any], Any\n",
            "        ] = nnx.initializers.normal(\n            stddev=1e-6\n        ),\n",
        ],
        [],
    ),
    "no blank lines double where fields were": (
        '''class A(nn.Module):
    """Doc."""

    features: int

    def setup(self):
        self.d = nn.Dense(self.features)

    def __call__(self, x):
        return self.d(x)
''',
        ['    """Doc."""\n\n    def __init__('],
        [],
    ),
    "no brackets around all of a condition or an argument": (
        """class A(nn.Module):
    features: int
    strides: tuple[int, int] = (1, 1)
    @nn.compact
    def __call__(self, x):
        r = x
        x = nn.Conv(self.features, (3, 3), self.strides)(x)
        if r.shape != x.shape:
            r = nn.Conv(self.features, (1, 1), self.strides)(r)
        return x + r
""",
        ["if strides[0] != 1 or strides[1] != 1 or "],
        ["if (strides"],
    ),
    "sizes are called by their axes": (
        """class A(nn.Module):
    pool: bool = True
    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        if self.pool:
            x = nn.Conv(8, (3, 3), strides=2)(x)
        x = x.reshape((b, -1))
        return nn.Dense(3)(x)
""",
        ["height = ", "width = ", "features = "],
        ["features_2"],
    ),
}


@pytest.mark.parametrize("name", READS)
def test_how_it_reads(name: str) -> None:
    text, there, gone = READS[name]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + text)])
    after = result.files[0].after
    assert after is not None and result.classes[0].outcome == "native", result.classes
    for piece in there:
        assert piece in after, after
    for piece in gone:
        assert piece not in after, after


def test_no_name_is_left_unread(tmp_path: Path) -> None:
    """ruff finds no assignment that nobody reads in what is written (F841), but for those that were there before."""
    text, _, _ = READS["what only fed a constructor goes"]
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + text)]).files[0].after
    assert after is not None
    (tmp_path / "m.py").write_text(after)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F841", "--output-format", "concise"]
    said = subprocess.run([*command, "m.py"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert {line.split("`")[1] for line in said.splitlines() if "F841" in line} == {"unused", "drawn"}


def test_the_comment_of_a_class_stands_right_above_it() -> None:
    """Also where what is written at the end of the class before has no blank line behind it."""
    odd = "class Odd{n}(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return x + self.has_rng('a')\n"
    text = HEAD + (
        "class M(nn.Module):\n  size: int = 3\n  @nn.compact\n  def __call__(self, x):\n    return nn.Dense(self.size)(x)\n"
        + "class Derived(M):\n  size: int = 4\n"
        + odd.format(n=1)
        + "class Made(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return nn.Dense(2)(self.a(x))\n"
        + "  def setup(self):\n    self.a = nn.Dense(3)\n"
        + odd.format(n=2)
    )
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].after
    assert after is not None
    lines = after.splitlines()
    marked = [lines[i + 1] for i, line in enumerate(lines) if line.startswith("# TODO(nnx-migrate): NNX148")]
    assert marked == ["class Odd1(nn.Module):", "class Odd2(nn.Module):"]
    assert migrate_project([SourceFile.parse(Path("m.py"), "m", after)]).files[0].after == after
