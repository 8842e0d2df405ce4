"""Module classes that are defined in a function: which can become native where they stand.

Such a class may read variables of the function. Its constructor stands in the same function and reads the same ones, but
earlier than Linen's `__call__` did, and under names of its own; and what a variable holds is not followed. So each must
have got its value before the class is defined, and none may be what makes modules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ...source import SourceFile
from ...trees import subtree
from ..project.classes import Classes, ClassModel
from ..project.index import Project
from ..shapes.shape_keeping import names_activation
from ..values.sites import Unmigratable

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
# What a generated constructor may call its own arguments.
_TAKEN = re.compile(r"rngs|\w+_(features|shape|dtype)")


def refusal(project: Project, model: ClassModel) -> str:
    """Why a class that is defined in a function or another class stays Linen; "" where it need not."""
    names, source = model.source.names, model.source
    scope = names.scope_of(model.node)
    around = scope
    while around is not None:
        if not isinstance(around, _FUNCTIONS) and around is scope:
            return "it is defined inside another class"
        around = names.scope_of(around)
    assert isinstance(scope, _FUNCTIONS)
    if len([binder for binder in names.binders(model.name) if names.bound_by(binder) is scope]) > 1:
        return "its function binds its name to something else too"
    for use in _uses(source, model, scope):
        parent = source.parents.get(use)
        inside = any(node in project.linen_names for node in source.ancestors(use))
        called = isinstance(parent, ast.Call) and parent.func is use
        if not called and not inside and not (isinstance(parent, ast.ClassDef) and use in parent.bases):
            return f"it is handed on by the function that defines it (line {use.lineno})"
    return _closure(project, model)


def unfit(project: Project, model: ClassModel) -> str:
    """Why a class stays Linen for where it is defined or what its name is; "" where it need not."""
    if "." in model.qualname.removeprefix(f"{model.source.module}."):
        return refusal(project, model)
    return "its file binds its name more than once" if bound_twice(project, model) else ""


def bound_twice(project: Project, model: ClassModel) -> bool:
    """Is the name of a class of the module's own bound to something else in the same file, perhaps another class?

    Not so where the class is the last of several that the file defines one below the other: nobody has seen the others.
    """
    names = model.source.names
    binders = [binder for binder in names.binders(model.name) if names.bound_by(binder) is None]
    if model.name in names.module_imports:
        return True
    return len(binders) > 1 and not _replaces_unseen(project, model, binders)


# What tells others of a class as soon as it is defined.
_TELLS = frozenset({"__init_subclass__", "__subclasses__", "metaclass"})
_ALL_NAMES = frozenset({"globals", "vars", "locals", "eval", "exec"})


def _replaces_unseen(project: Project, model: ClassModel, binders: Sequence[ast.AST]) -> bool:
    """Is this the last of several classes of one name, and does nothing that runs before it see the others?"""
    source = model.source
    body = source.tree.body
    places = [body.index(b) for b in binders if isinstance(b, ast.ClassDef) and b in body and not b.decorator_list]
    if len(places) < len(binders) or body[max(places)] is not model.node:
        return False
    if any(not other.words.isdisjoint(_TELLS) for other in project.files.values()):
        return False
    for statement in body[min(places) : max(places) + 1]:
        for node in _run_at_once(statement):
            if isinstance(node, ast.Name) and (node.id in {model.name, *_ALL_NAMES} or _is_called(source, node)):
                return False
    return True


def replaced(source: SourceFile, node: ast.ClassDef) -> Iterator[ast.ClassDef]:
    """The definitions of a class's name above it in its file."""
    if node in source.tree.body:
        above = source.tree.body[: source.tree.body.index(node)]
        yield from (other for other in above if isinstance(other, ast.ClassDef) and other.name == node.name)


def _is_called(source: SourceFile, node: ast.Name) -> bool:
    """Is it a function or class of the file that runs here, with whatever it names?"""
    parent = source.parents.get(node)
    run = (isinstance(parent, ast.Call) and parent.func is node) or node in getattr(parent, "decorator_list", ())
    return run and isinstance(source.names.definitions.get(node.id), _FUNCTIONS | ast.ClassDef)


def _run_at_once(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement of a file that run with it: not the bodies of functions."""
    later: list[ast.AST] = [*statement.body] if isinstance(statement, _FUNCTIONS) else []
    if isinstance(statement, ast.Lambda):
        later.append(statement.body)
    yield statement
    for child in ast.iter_child_nodes(statement):
        if child not in later:
            yield from _run_at_once(child)


def _uses(source: SourceFile, model: ClassModel, scope: ast.AST) -> Iterator[ast.Name]:
    for node in source.by_kind.get(ast.Name, ()):
        if isinstance(node, ast.Name) and node.id == model.name and isinstance(node.ctx, ast.Load):
            if source.names.binding_scope(node.id, node) is scope:
                yield node


def _closure(project: Project, model: ClassModel) -> str:
    """What is wrong with the variables of functions that the class reads."""
    source, names = model.source, model.source.names
    own = set(model.nodes)
    for node in model.nodes:
        if isinstance(node, ast.Nonlocal | ast.Global):
            return f"`{ast.unparse(node)}` binds a name outside of it"
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        scope = names.binding_scope(node.id, node)
        if scope is None or scope in own or project.qualname(source, node) in project.linen_classes:
            continue
        variable = f"`{node.id}` of the function around it"
        if _TAKEN.fullmatch(node.id):
            return f"{variable} has a name that its constructor needs"
        binders = [b for b in names.binders(node.id) if names.bound_by(b) is scope]
        if not binders or any(isinstance(n, ast.Nonlocal) and node.id in n.names for n in subtree(scope)):
            return f"{variable} is bound elsewhere, too"
        if not all(isinstance(b, ast.arg) or _before(source, b, model.node) for b in binders):
            return f"{variable} is bound after it"
        if any(_makes_modules(project, source, binder) for binder in binders):
            return f"{variable} may make modules"
        parent = source.parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        if called and not all(isinstance(b, _FUNCTIONS) for b in binders) and not names_activation(node.id):
            return f"it calls {variable}, of which nothing is known"
    return ""


def _before(source: SourceFile, binder: ast.AST, definition: ast.ClassDef) -> bool:
    """Is the variable bound before the class is, in the same turn of every loop around either?"""
    if source.span(binder).start > source.span(definition).start:
        return False
    loops = [a for a in source.ancestors(binder) if isinstance(a, ast.For | ast.AsyncFor | ast.While)]
    around = set(source.ancestors(definition))
    return all(loop in around for loop in loops)


def _makes_modules(project: Project, source: SourceFile, binder: ast.AST) -> bool:
    """Does what binds the variable say anything of Linen, or of the project's modules?"""
    statement: ast.AST = binder
    if isinstance(binder, ast.arg):
        if binder.annotation is None:
            return False
        statement = binder.annotation
    elif not isinstance(binder, ast.stmt):
        statement = source.statement_of(binder)
        if isinstance(statement, ast.For | ast.With | ast.AsyncFor | ast.AsyncWith):
            heads = [statement.iter] if isinstance(statement, ast.For | ast.AsyncFor) else statement.items
            return any(_says_modules(project, source, head) for head in heads)
    return _says_modules(project, source, statement)


def _says_modules(project: Project, source: SourceFile, root: ast.AST) -> bool:
    for node in subtree(root):
        if isinstance(node, ast.Name | ast.Attribute):
            dotted = project.qualname(source, node) or ""
            linen = dotted.startswith("flax.linen.") and not dotted.startswith("flax.linen.initializers.")
            if dotted in project.linen_classes or (linen and dotted.rpartition(".")[2][:1].isupper()):
                return True
    return False


def below_linen(classes: Classes, reasons: Mapping[str, Unmigratable]) -> Iterator[tuple[ClassModel, str]]:
    """Local classes that cannot be native where others stay Linen, with a class that does: no copy is kept of them.

    They go by the function: it must hold no class that stays Linen, and hand nothing to one.
    """
    project = classes.project
    homes: dict[ast.AST, list[ClassModel]] = {}
    for model in classes:
        home = _home(model)
        if home is not None:
            homes.setdefault(home, []).append(model)
    for home, models in homes.items():
        source = models[0].source
        linen = next((model.name for model in models if model.qualname in reasons), "")
        for node in subtree(home):
            if isinstance(node, ast.Call) and (node.args or node.keywords):
                called = project.qualname(source, node.func)
                if called is not None and called in reasons and not linen:
                    linen = called.rpartition(".")[2]
        if linen:
            yield from ((model, linen) for model in models if model.qualname not in reasons)


def _home(model: ClassModel) -> ast.AST | None:
    """The outermost function around a class."""
    names, home = model.source.names, None
    scope = names.scope_of(model.node)
    while scope is not None:
        home = scope if isinstance(scope, _FUNCTIONS) else home
        scope = names.scope_of(scope)
    return home


__all__ = ["below_linen", "bound_twice", "refusal", "replaced"]
