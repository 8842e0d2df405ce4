"""A subclass of a layer with the layer within is the same Linen program: copies that stay Linen have that text."""

from __future__ import annotations

import functools
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.inlining.callees import NotInlined
from nnx_migrate.migrate.inlining.forms import other_form
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

TEXT = (Path(__file__).parent / "forms_layers_within.py").read_text()
CLASSES = (
    *("PaddedConv", "CoordConv", "Doubled", "Gained", "MaybeNorm", "Grouped", "Rms", "Up", "ScaledEmbed", "TiedEmbed"),
    *("Activated", "Scaled", "Attention"),
)
LINEN = module("layers_within_before", TEXT)
DRAWN = [
    ("Scaled", {"rate": 0.4}, [(4, 8)], {"train": True}),
    ("Attention", {"num_heads": 2, "dropout_rate": 0.4}, [(2, 5, 8)], {"train": True}),
]


@functools.cache
def with_layers() -> types.ModuleType:
    source = SourceFile.parse(Path("m.py"), "m", TEXT)
    for name in CLASSES:
        source = other_form(Project([source]), source, name)
    assert source.text.count(".share_scope(self, ") == len(CLASSES)
    return module("layers_within_after", source.text)


@pytest.mark.parametrize("case", [*LINEN.CASES, *DRAWN], ids=lambda case: case[0])
def test_it_is_the_same_program(case: Any) -> None:
    name, arguments, shapes, keywords = case
    random = np.random.RandomState(0)
    inputs = [jnp.asarray(random.randn(*s), jnp.float32) if isinstance(s, tuple) else jnp.asarray(s) for s in shapes]
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}

    def run(side: types.ModuleType) -> Any:
        model = getattr(side, name)(**arguments)
        variables = model.init(keys, *inputs, **keywords)
        return variables, model.apply(variables, *inputs, **keywords, rngs=keys, mutable=["batch_stats"])

    jax.tree.map(np.testing.assert_array_equal, run(LINEN), run(with_layers()))


HEAD = "import flax.linen as nn\nclass Mixin:\n  pass\nclass N:\n  pass\n"
CALL = "  def __call__(self, x):\n    return super().__call__(x)\n"


@pytest.mark.parametrize(
    "program",
    [
        f"class M(nn.Dense, Mixin):\n{CALL}",
        f"class M(nn.Dense):\n  def setup(self):\n    pass\n{CALL}",
        f"class M(nn.Dense):\n{CALL.replace('super()', 'super(N, self)')}",
        f"class M(nn.Dense):\n{CALL.replace('super().__call__(x)', 'map(super().__call__, x)')}",
        f"class M(nn.Dense):\n{CALL.replace('self', 'this')}",
        f"class M(nn.Dense):\n{CALL.replace('__call__(self', 'other(self')}",
        f"class M(nn.Dense):\n{CALL}  def features(self):\n    return 3\n",
    ],
)
def test_no_other_class_has_such_a_form(program: str) -> None:
    """Where the layer is asked for more, or it is not known what of it is asked, the text stays as it is."""
    source = SourceFile.parse(Path("m.py"), "m", HEAD + program)
    with pytest.raises(NotInlined, match="no other form"):
        other_form(Project([source]), source, "M")
