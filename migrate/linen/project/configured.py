"""Classes that configurations construct by name: hydra's `_target_: package.networks.MLPTorso`.

`hydra.utils.instantiate` calls such a class with the fields that the configuration says. Where all its calls are seen, and
stand outside of modules, they can make a `Functional` of a native class; see `nnx.training.configured`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...source import SourceFile

if TYPE_CHECKING:
    from .index import Project

MAKERS = frozenset({"hydra.utils.instantiate", "hydra.utils.call"})
WRAPPER = "configured"  # the part of the parity module that calls one of them


class Configured(NamedTuple):
    """Where a configuration says a class, and which `_target_`s are given it under which name."""

    place: str
    within: frozenset[tuple[str, str]] = frozenset()


def find(project: Project) -> dict[str, Configured]:
    """The Linen classes that configuration files (`project.configured`) and dicts of the code construct."""
    named = {project.canonical(name): made for name, made in project.configured.items()}
    for source in project.files.values() if project.says("hydra") else ():
        for node in source.by_kind.get(ast.Dict, ()) if "_target_" in source.text else ():
            assert isinstance(node, ast.Dict)
            target = _item(node, "_target_")
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                name = project.canonical(target.value)
                known = named.get(name, Configured(f"{source.path.name}:{target.lineno}"))
                named[name] = known._replace(within=known.within | {*_outer(source, node)})
    found = {name: made for name, made in named.items() if name in project.linen_classes}
    return {
        name: made._replace(within=frozenset((project.canonical(outer), field) for outer, field in made.within))
        for name, made in found.items()
    }


def _item(node: ast.Dict, word: str) -> ast.expr | None:
    items = zip(node.keys, node.values, strict=True)
    return next((value for key, value in items if isinstance(key, ast.Constant) and key.value == word), None)


def _outer(source: SourceFile, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The dict around a dict that says what is given it, if hydra makes its parts first."""
    while not isinstance(parent := source.parents.get(node), ast.stmt | None):
        target = _item(parent, "_target_") if isinstance(parent, ast.Dict) else None
        if isinstance(parent, ast.Dict) and target is not None:
            recursive = _item(parent, "_recursive_")
            if not (isinstance(recursive, ast.Constant) and recursive.value is False):
                key = next((k for k, v in zip(parent.keys, parent.values, strict=True) if v is node), None)
                yield ast.literal_eval(target) if isinstance(target, ast.Constant) else "", str(getattr(key, "value", ""))
            return
        node = parent


def calls(project: Project) -> Iterator[tuple[SourceFile, ast.Call]]:
    """The calls of code outside of modules that make what a configuration says, but for those of an earlier run."""
    for source, node in _said(project):
        call = source.parents[node]
        if isinstance(call, ast.Call) and call.func is node and call not in project.inside_modules:
            yield source, call


def find_obstacle(project: Project) -> str:
    """Why what configurations construct cannot be given sizes and rngs where they are read; "" where it can."""
    found = False
    for source, node in _said(project):
        found = True
        parent = source.parents[node]
        place = f"{source.path.name}:{node.lineno}"  # type: ignore[attr-defined]
        if isinstance(parent, ast.Call) and parent.func is node:
            if parent in project.inside_modules:
                return f"a module calls `{ast.unparse(node)}` ({place})"
            if not parent.args and not any(keyword.arg == "config" for keyword in parent.keywords):
                return f"`{ast.unparse(parent)}` ({place}) does not say the configuration"
            if parent.args and isinstance(parent.args[0], ast.Starred):
                return f"`{ast.unparse(parent)}` ({place}) does not give the configuration first"
        elif not (isinstance(parent, ast.Call) and parent.args[:1] == [node] and ast.unparse(parent.func).endswith(WRAPPER)):
            return f"`{ast.unparse(node)}` is handed on ({place})"
    return "" if found else "no call of `hydra.utils.instantiate` is seen"


def _said(project: Project) -> Iterator[tuple[SourceFile, ast.AST]]:
    for source in project.files.values():
        if "hydra" in source.text:
            for kind in (ast.Name, ast.Attribute):
                for node in source.by_kind.get(kind, ()):
                    assert isinstance(node, ast.Name | ast.Attribute)
                    if isinstance(node.ctx, ast.Load) and project.qualname(source, node) in MAKERS:
                        yield source, node


__all__ = ["MAKERS", "WRAPPER", "Configured", "calls", "find", "find_obstacle"]
