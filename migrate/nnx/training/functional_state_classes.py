"""The project's own class of states in the functional form: `class State(TrainState)` → `class State(nnx.TrainState)`.

It may add fields, and methods that are called on states: they are functions of the state like others, of which every use
is seen to.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import State
from ...source import SourceFile
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .components import Component
    from .functional import _Functional

# What a TrainState has by itself.
STATE_FIELDS = {"params", "opt_state", "step", "tx", "apply_gradients", "replace", "apply_fn"}
_BASE = "flax.training.train_state.TrainState"


def write(form: _Functional, name: str) -> None:
    """The class has another base. Unsupported where it has more than fields, and methods that are followed."""
    node = form.flow.state_classes.own[name]
    module = next(m for m, s in form.flow.project.files.items() if node in s.by_kind.get(ast.ClassDef, ()))
    source = form.flow.project.files[module]
    fields = [s for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    methods = [s for s in node.body if isinstance(s, ast.FunctionDef) and _follows(form, name, s)]
    said = [s.value for s in node.body if isinstance(s, ast.Expr)]
    text = [s for s in [*node.body, *said] if isinstance(s, ast.Pass | ast.Constant)]
    base = node.bases[0] if len(node.bases) == 1 else None
    derived = [
        c for c in form.flow.project.files.values() for n in c.by_kind.get(ast.ClassDef, ()) if _derives(form, c, n, name)
    ]
    if derived:
        raise Unsupported(form.component.sites[0], "a class of states from which others derive")
    direct = base is not None and form.flow.state_classes.base_name(source, node, base) == _BASE
    understood = len(fields) + len(methods) + len(text) == len(node.body)
    if not direct or not understood or node.decorator_list or node.keywords:
        raise Unsupported(form.component.sites[0], "a class of states with code of its own")
    assert base is not None
    if {f.target.id for f in fields if isinstance(f.target, ast.Name)} & {"graphdef", "apply_fn", *STATE_FIELDS}:
        raise Unsupported(form.component.sites[0], "a class of states with fields of TrainState")
    form.edits.append((form.contexts[module], source.span(base), (form.contexts[module].name("flax.nnx.TrainState"),)))


def is_kept(form: _Functional, forms: list[_Functional], components: list[Component]) -> bool:
    """Has a class of its states others, of models that do not take the form? Which, is said of its component."""
    held = [other.component for other in forms]
    for name in sorted(form.state_classes):
        for node in form.flow.source_of:
            if not isinstance(node, ast.Call) or not form.flow.creates_state(node):
                continue
            if (form.flow.name(node.func) or "").removesuffix(".create") != name:
                continue
            value = form.flow.value(node)
            if any(component.holds(value) for component in held):
                continue
            why = next(
                (c.split_obstacle for c in components if c.holds(value) and c.split_obstacle), "they are not followed"
            )
            form.component.split_obstacle = f"{name.rpartition('.')[2]} also has states that cannot change: {why}"
            return True
    return False


def _follows(form: _Functional, name: str, method: ast.FunctionDef) -> bool:
    """Is a method called on states of the component, and is nothing else done with it?"""
    plain = form.flow.state_classes.method(name, method.name) is method
    if not plain or method.name in STATE_FIELDS or method.name.startswith("__"):
        return False
    first = [*method.args.posonlyargs, *method.args.args][:1]
    held = form.flow.env.get((form.source(method).module, method, first[0].arg)) if first else None
    references = [node for node, _ in form.flow.uses.references(method)]
    calls = [form.parent(node) for node in references]
    called = all(isinstance(call, ast.Call) and call.func is node for call, node in zip(calls, references, strict=True))
    return isinstance(held, State) and form.component.holds(held) and bool(references) and called


def _derives(form: _Functional, source: SourceFile, node: ast.AST, name: str) -> bool:
    named = form.flow.state_classes.base_name
    return isinstance(node, ast.ClassDef) and any(named(source, node, base) == name for base in node.bases)


__all__ = ["STATE_FIELDS", "is_kept", "write"]
