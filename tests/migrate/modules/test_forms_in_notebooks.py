"""Classes of notebooks are tried in other forms as those of files are, cell by cell, and run as what they were."""

from __future__ import annotations

import ast
import json
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.core import meta
from nnx_migrate import compat
from nnx_migrate.migrate.files.documents import read_document
from nnx_migrate.migrate.inlining.callees import NotInlined
from nnx_migrate.migrate.inlining.rewritten import reparsed
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

HERE = Path(__file__).parent
STEMS = ["forms_functions_of_setup", "forms_lists_in_calls", "forms_inlined_helpers", "forms_names_of_branches"]


def cells_of(text: str) -> list[str]:
    """The statements of a program, each a cell, with a magic in between."""
    lines = text.splitlines(keepends=True)
    starts = [min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", []))]) - 1 for s in ast.parse(text).body]
    cells = ["".join(lines[a:b]).strip("\n") for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return [cells[0], "%matplotlib inline", *cells[1:]]


def migrated(cells: list[str]) -> tuple[list[str], RunResult]:
    """The cells of a notebook afterwards."""
    book = {
        "cells": [{"cell_type": "code", "source": c.splitlines(keepends=True), "outputs": []} for c in cells],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    document = read_document(Path("book.ipynb"), json.dumps(book).encode())
    result = migrate_project([SourceFile.parse(document.path, "book", document.text)])
    after = result.files[0].after
    assert after is not None
    done = json.loads(document.encode(after))
    for path, content in result.created.items():
        module(path.stem, content)
    return ["".join(c["source"]) for c in done["cells"]], result


def run(name: str, cells: list[str]) -> types.ModuleType:
    return module(name, "\n\n".join(c for c in cells if not c.startswith("%")))


def same(linen: types.ModuleType, native: types.ModuleType, result: RunResult, case: Any) -> None:
    name, arguments, shapes, keywords = case
    plan = {c.qualname.rpartition(".")[2]: c for c in result.classes}[name]
    assert plan.outcome == "native", plan.reason
    random = np.random.RandomState(0)
    inputs = [jnp.asarray(random.randn(*s), jnp.float32) if isinstance(s, tuple) else jnp.asarray(s) for s in shapes]
    variables = meta.unbox(getattr(linen, name)(**arguments).init(jax.random.key(0), *inputs, **keywords))
    call = {**dict(zip(plan.call_arguments, inputs)), **keywords}
    added = {a.name: eval(a.origin, {}, call) for a in plan.added_arguments}
    model = getattr(native, name)(**arguments, **added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    expected = getattr(linen, name)(**arguments).apply(variables, *inputs, **keywords)
    for wanted, got in zip(jax.tree.leaves(expected), jax.tree.leaves(model(*inputs, **keywords)), strict=True):
        np.testing.assert_array_equal(np.asarray(wanted), np.asarray(got))


@pytest.mark.parametrize("stem", STEMS)
def test_forms_become_native_in_cells(stem: str) -> None:
    text = (HERE / f"{stem}.py").read_text()
    linen = module(f"{stem}_book_linen", text)
    cells = cells_of(text)
    after, result = migrated(cells)
    assert len(after) == len(cells) and after.count("%matplotlib inline") == 1
    native = run(f"{stem}_book", after)
    for case in linen.CASES:
        if not any(isinstance(value, type) for value in case[1].values()):
            same(linen, native, result, case)


BASE = """class Base(nn.Module):
    n: int

    def setup(self):
        self.a = nn.Dense(self.n * WIDE)
        self.out = nn.Dense(max(self.n, 2))

    def end(self, h):
        return self.out(h)"""
DERIVED = """class Near(Base):
    def __call__(self, x):
        return self.end(self.a(x))"""


def test_the_setup_of_a_base_goes_to_another_cell() -> None:
    cells = ["from flax import linen as nn\nWIDE = 3", BASE, "%time\n" + DERIVED, "model = Near(2)"]
    linen = run("bases_book_linen", ["from flax import linen as nn\nWIDE = 3", BASE, DERIVED])
    after, result = migrated(cells)
    assert "nn.Dense" not in after[1] and after[2].startswith("%time\nclass Near(Base):")
    native = run("bases_book", [after[0], after[1], after[2].removeprefix("%time\n")])
    same(linen, native, result, ("Near", {"n": 2}, [(2, 5)], {}))


FACTORY = """class Block(nn.Module):
    width: int
    mlp: nn.Module = dataclasses.field(default_factory=MLP)

    @nn.compact
    def __call__(self, x):
        return self.mlp(nn.Dense(self.width)(x))"""
MLP = """class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(3)(x))"""
NET = """class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Block(width=4)(x)"""


def test_factories_are_given_by_the_calls_of_cells() -> None:
    cells = ["import dataclasses\nfrom flax import linen as nn", MLP, FACTORY, NET]
    after, result = migrated(cells)
    same(run("factories_book_linen", cells), run("factories_book", after), result, ("Net", {}, [(2, 5)], {}))


def test_a_magic_is_not_said_twice() -> None:
    """No trial may move what stands for a magic, or for the beginning of a cell."""
    text = "# nnx-migrate-cell-1-\nx = 1\npass  # nnx-migrate-magic-0-\n# nnx-migrate-cell-2-\ny = x\n"
    source = SourceFile.parse(Path("book.ipynb"), "book", text)
    assert reparsed(source, text.replace("x = 1", "x = 2")).text != text
    for other in (text.replace("y = x", "pass  # nnx-migrate-magic-0-"), text.replace("# nnx-migrate-cell-2-\n", "")):
        with pytest.raises(NotInlined, match="magic"):
            reparsed(source, other)
