"""Attributes of `self` stand as names in the trees for a while: whoever goes through a function then meets these."""

from __future__ import annotations

import ast
from pathlib import Path

from nnx_migrate.migrate.linen.flow.self_names import SelfName, in_trees
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.source import SourceFile
from nnx_migrate.migrate.trees import of_kind, subtree

TEXT = """
class Trainer:
  def fit(self, x):
    self.state, loss = self.step(self.state, x)
    return loss
"""


def test_what_is_below_a_function_is_found_anew() -> None:
    source = SourceFile.parse(Path("m.py"), "m", TEXT)
    project = Project([source])
    (owner,) = source.by_kind[ast.ClassDef]
    (function,) = source.by_kind[ast.FunctionDef]
    assert isinstance(owner, ast.ClassDef) and isinstance(function, ast.FunctionDef)

    def attributes() -> list[str]:
        assert [n for n in subtree(function) if isinstance(n, ast.Attribute)] == of_kind(function, ast.Attribute)
        return [n.attr for n in of_kind(function, ast.Attribute)]

    before = attributes()
    assert sorted(before) == ["state", "state", "step"]
    with in_trees(project, {("m", owner, "self.state")}):
        assert attributes() == ["step"]
        names = [n for n in subtree(owner) if isinstance(n, SelfName)]
        assert len(names) == 2 and all(source.parents[name] in source.nodes for name in names)
    assert attributes() == before
    assert not [n for n in subtree(owner) if isinstance(n, SelfName)]
