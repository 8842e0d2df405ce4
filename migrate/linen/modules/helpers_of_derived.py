"""Methods of a base that make layers or variables for the classes that derive from it, and that it never calls itself.

    class Frontend(nn.Module):
        features: int

        def _scaled(self, x):
            return x * self.param("scale", nn.initializers.ones, (self.features,))

Alone the base makes none of them, so that its constructor does not either: each derived class makes what its own calls
need. The method is followed for its text, in which a field that all these classes have, and the base has not, is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..project.classes import ClassModel, Field, Method
from ..values.sites import Site, Unmigratable


def found(run: Any) -> Iterator[tuple[Method, dict[str, Field]]]:
    """Such methods, after all others were followed, with the fields that only the derived classes have."""
    model = run.model
    derived = run.analyser.classes.derived(model)
    for name, method in model.own_methods.items():
        if not name.startswith("_") or name.startswith("__") or method in run.inlined or method.node in run.executed:
            continue
        if method.compact or method.node.decorator_list or says(model.mro(), name):
            continue
        callers = [other for other in derived if says([o for o in other.mro() if o not in model.mro()], name)]
        if callers and all(other.method(name) is method for other in callers):
            yield method, _borrowed(run, method, callers)


def says(models: list[ClassModel], name: str) -> bool:
    """Does a method of one of the classes say the name, another than the one of that name?"""
    methods = (m for model in models for m in model.own_methods.values() if m.name != name)
    return any(
        (isinstance(node, ast.Attribute) and node.attr == name) or (isinstance(node, ast.Constant) and node.value == name)
        for method in methods
        for node in method.nodes
    )


def _borrowed(run: Any, method: Method, callers: list[ClassModel]) -> dict[str, Field]:
    asked = {n.attr for n in method.nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"}
    tables = [{f.name: f for f in other.fields()} for other in callers]
    return {n: tables[0][n] for n in sorted(asked - run.fields.keys()) if all(n in table for table in tables)}


def refuse(run: Any, method: Method) -> None:
    """After the method was followed: what cannot be said without the constructor that makes it."""
    made: list[Site] = run.sites_of(method.name)
    for site in made:
        given = site.held or site.passed or (site.factory is not None and site.factory.field)
        if given or site.loops or site.choice or site.alternatives or site.lifted:
            reason = f"`{method.name}` makes submodules in a loop or of several kinds for classes that derive from it"
            raise Unmigratable("NNX157", reason, site.node)


__all__ = ["found", "refuse", "says"]
