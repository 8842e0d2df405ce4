"""Names that stars bring: of two files the last one's, and only what a file's `__all__` has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

PARTS = """from flax import linen as nn
{said}
WIDTH = {width}


class Part(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(WIDTH)(x)
"""
NET = """from flax import linen as nn
{stars}


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(WIDTH)(Part()(x))
"""
TWO = "from star_first import *\nfrom star_second import *"


@pytest.mark.parametrize("said", ["", '__all__ = ["Part"]\n'])
def test_the_last_star_counts(said: str) -> None:
    files = {
        "star_first": PARTS.format(said="", width=7),
        "star_second": PARTS.format(said=said, width=2),
        "star_net": NET.format(stars=TWO),
    }
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])
    assert {str(plan.outcome) for plan in result.classes} == {"native"}
    after = _net({Path(file.path).stem: str(file.after) for file in result.files})
    before = _net(files)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before().init(jax.random.key(1), x)
    assert compat.check_equivalence(before(), variables, after(in_features=4, rngs=nnx.Rngs(0)), x)


def _net(texts: dict[str, str]) -> Any:
    """The class of the last file; the others are there for it to import."""
    for name in sorted(texts, key=lambda name: name == "star_net"):
        made = module(name, texts[name])
    return made.Net
