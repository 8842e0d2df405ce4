"""Is `init` reached wherever the structure that it gives is used: `if params is None: params = model.init(key, x)`?

And is it called for what it gives? Linen's runs the whole call, whose errors a program may wait for.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import Function, Method, Model
from ...linen.flow.function_calls import parameters
from ...trees import subtree
from .awaited_errors import for_errors
from .components import Component
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

_LONGEST = 48


def check_wanted(form: Rewrite, call: ast.Call) -> None:
    """Unsupported where a program calls init to see whether it raises: a constructor does not run the call."""
    why = for_errors(form.flow.project, form.source(call), call)
    if why:
        raise Unsupported(call, why)


def nowhere(form: Rewrite, component: Component | None = None) -> Unsupported:
    """What is said of models of which no call of init is seen: where they go, if they go anywhere."""
    models = component or form.component
    for node, value in form.tracked():
        holder = form.over_keyword(form.parent(node)) if isinstance(value, Model) and models.holds(value) else None
        if not isinstance(holder, ast.Call) or holder.func is node or isinstance(form.flow.value(holder.func), Function):
            continue
        said = form.text(holder.func)
        if holder in form.flow.site_classes:
            return Unsupported(node, f"init is not called here: it is a part of {said}")
        if _initializes(form, holder, node):
            return Unsupported(node, f"init is called by `{said}`, of a class of states of the project's own")
        if not isinstance(form.flow.value(holder.func), Method) and len(said) < _LONGEST and "\n" not in said:
            return Unsupported(node, f"init is not called here: the model goes to `{said}`, which is not followed")
    return Unsupported(models.sites[0], "init is not called here")


def _initializes(form: Rewrite, call: ast.Call, model: ast.AST) -> bool:
    """Does a class of the project call init of the model that its method is given: `Model.create(model_def, inputs, tx)`?"""
    func, project = call.func, form.flow.project
    name = project.qualname(form.source(call), func.value) if isinstance(func, ast.Attribute) else None
    asked, seen = [name] if name else [], set[str]()
    while asked:
        found = project.definition(name := asked.pop())
        home, owner = found if found is not None else (form.source(call), None)
        if name in seen or not isinstance(owner, ast.ClassDef):
            continue
        seen.add(name)
        asked += filter(None, (project.qualname(home, base) for base in owner.bases))
        for method in owner.body:
            if not isinstance(method, ast.FunctionDef) or method.name != func.attr:  # type: ignore[attr-defined]
                continue
            static = any(getattr(d, "id", "") == "staticmethod" for d in method.decorator_list)
            keywords = [k.arg for k in call.keywords if k.value is model]
            given = keywords or parameters(method)[call.args.index(model) + (not static) :][:1]  # type: ignore[arg-type]
            calls = (node.func for node in subtree(method) if isinstance(node, ast.Call))
            asks = [c.value for c in calls if isinstance(c, ast.Attribute) and c.attr == "init"]
            if any(isinstance(value, ast.Name) and value.id in given for value in asks):
                return True
    return False


def check(form: _Functional, home: ast.AST, node: ast.AST, scope: ast.AST | None) -> None:
    """Unsupported where init, and with it the structure's name, stands under a condition that a use does not."""
    source = form.source(home)
    around = set(source.ancestors(node))
    inner = home
    for outer in source.ancestors(home):
        if outer is scope:
            return
        if isinstance(outer, ast.If) and inner is not outer.test and "__name__" not in ast.dump(outer.test):
            here, other = (outer.body, outer.orelse) if inner in outer.body else (outer.orelse, outer.body)
            in_both = any(call in subtree(statement) for call in form.init_calls for statement in other)
            if not in_both and not around.intersection(here) and node not in here:
                raise Unsupported(node, "init under a condition")
        inner = outer


__all__ = ["check", "check_wanted", "nowhere"]
