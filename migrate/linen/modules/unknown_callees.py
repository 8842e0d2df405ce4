"""Calls of what an unknown class or factory made: `lib.Block(8)(x)`, `REGISTRY[kind](8)(x)`.

Such an object may be a Linen module, which would keep its parameters in a class that is no Linen module any more.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...source import SourceFile
from ...trees import sides, subtree
from ..lists.loop_names import loops_binding
from ..shapes.shape_keeping import names_activation
from ..values.sites import Abs, Function, Static, Unmigratable
from ..values.values import Const, Global, Int, Unknown, Value
from . import changed_tables, config_factories

#: Packages whose functions make functions, but no Linen modules.
LIBRARIES = frozenset({
    "jax", "numpy", "functools", "math", "operator", "einops", "optax", "typing", "itertools", "scipy", "builtins",
    "distrax", "tensorflow_probability", "chex",
})  # fmt: skip


def refusal(run: Any, func: ast.expr, value: Value, node: ast.Call, env: Any) -> Unmigratable:
    """Why a class stays Linen that calls `func`, of which nothing says what made it."""
    maker = _maker(value)
    of_object = maker is not None and config_factories.asked(run.project, _held(maker, env))
    field = "" if of_object else _root_field(run, maker) or _field_in_setup(run, func)
    known = run.project.qualname(env.source, maker) if maker is not None else None
    what = f"what `{ast.unparse(func)}` makes is not known, and it is called"
    if field and (run.fields[field].default is not None or is_used(run.project, run.model.qualname)):
        what = f"what its field `{field}` is given is not known, and it calls what that makes"
    elif field:
        what = f"no code here constructs it, so that nothing shows what its field `{field}` makes"
    elif known is not None and (said := of_package(run.project, known)):
        what = f"{said}, and what it makes is called"
    elif of_object and maker is not None:
        what = f"`{ast.unparse(maker)}` makes modules, and what an object holds is not followed"
    found = Unmigratable("NNX138", what, node)
    found.field = field
    if not field and known is not None and run.project.definition(known) is None and not _of_files(run.project, known):
        found.foreign = (env.source, known)
    return found


def of_package(project: Any, known: str) -> str:
    """That a class or factory is, or derives from one, of a package that is not migrated; "" where it is none such."""
    if project.definition(known) is None:
        return "" if _of_files(project, known) else f"`{known}` is of a package that is not migrated with it"
    base = unknown_base(project, known)
    return f"`{known}` derives from `{base}`, of a package that is not migrated with it" if base is not None else ""


def _root_field(run: Any, maker: ast.expr | None) -> str:
    """The field that `self.norm()`, or `self.blocks[0]()`, asks for a module; "" for anything else."""
    root = maker
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(root, ast.Attribute) and isinstance(root.value, ast.Name) and root.value.id == "self":
            return root.attr if root.attr in run.fields and root.attr not in run.attributes else ""
        root = root.func if isinstance(root, ast.Call) else root.value
    return ""


def _field_in_setup(run: Any, func: ast.expr) -> str:
    """The field that setup calls for an attribute: `self.norm = self.norm_layer() if self.norm_layer else None`."""
    setup = run.model.method("setup")
    if not _is_of_self(func) or setup is None:
        return ""
    attribute = func.attr  # type: ignore[attr-defined]
    values = [n.value for n in setup.nodes if isinstance(n, ast.Assign) and any(_is_named(t, attribute) for t in n.targets)]
    fields = {_root_field(run, side) for value in values for side in sides(value) if isinstance(side, ast.Call)}
    return fields.pop() if len(fields) == 1 else ""


def _is_named(node: ast.expr, attribute: str) -> bool:
    return _is_of_self(node) and node.attr == attribute  # type: ignore[attr-defined]


def is_used(project: Any, qualname: str) -> bool:
    """Does code name a class of modules outside of its own definition?"""
    name = qualname.rpartition(".")[2]
    own = project.linen_classes[qualname].node
    others = (d for source in project.files.values() for n, d in source.names.imports.items() if n != name)
    if any(dotted.rpartition(".")[2] == name for dotted in others):
        return True  # under another name
    return any(
        project.qualname(source, node) == qualname and own not in source.ancestors(node)
        for source in project.files.values()
        if name in source.words
        for kind in (ast.Name, ast.Attribute)
        for node in source.by_kind.get(kind, ())
        if getattr(node, "id", getattr(node, "attr", "")) == name
    )


def is_said(project: Any, name: str) -> bool:
    """Says a text the name of a class, other than among what a file exports?"""
    return any(
        isinstance(node, ast.Constant) and node.value == name and not _is_export(source.statement_of(node))
        for source in project.files.values()
        if name in source.words
        for node in source.by_kind.get(ast.Constant, ())
    )


def _is_export(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def made_by_unknown(run: Any, value: Value, env: Any, func: ast.expr | None = None) -> str | None:
    """The expression that made `value`, where nothing says what it makes; else None. `func` is what calls it."""
    maker = _maker(value)
    if func is not None and isinstance(maker, ast.Name) and _is_held_by_field(run, func, maker.id, env):
        return maker.id
    if maker is None:
        return _made_of_items(run, func, env) if func is not None and isinstance(value, Static) else None
    known = run.project.qualname(env.source, maker)
    if isinstance(value, Static | Unknown) and changed_tables.gives_item(run, env.source, maker):
        return ast.unparse(maker)
    if known is not None:
        package, _, name = known.partition(".")
        if package == "flax":
            return None if not name.startswith("linen.") or known.rpartition(".")[2][:1].islower() else ast.unparse(maker)
        if package in LIBRARIES or (of_the_project(run, known) and unknown_base(run.project, known) is None):
            return None
        return None if _gives_activation(known) else ast.unparse(maker)
    if isinstance(maker, ast.Subscript) or (isinstance(maker, ast.Call) and ast.unparse(maker.func) == "getattr"):
        return ast.unparse(maker)
    if config_factories.asked(run.project, _held(maker, env)):
        return ast.unparse(maker)
    if isinstance(maker, ast.Name):
        of_setup = _named_in_setup(run, maker.id)
        if any(_is_looked_up(run, held, env) or _is_item(run, held, env) for held in of_setup):
            return maker.id
        if _is_item(run, _held(maker, env), env):
            return maker.id
    if isinstance(maker, ast.Name):
        return maker.id if isinstance(value, Unknown) else None  # a local name for one of several factories, or none known
    if isinstance(maker, ast.Attribute) and _is_looked_up(run, maker, env):
        return ast.unparse(maker)
    last = maker.attr if isinstance(maker, ast.Attribute) else ""
    return ast.unparse(maker) if last[:1].isupper() else None


def makes_layer(run: Any, value: Value, given: Iterable[Value]) -> bool:
    """Is it `getattr(nn, self.kind)(8)`, of what no text tells, given numbers alone: a layer, and no function of arrays?"""
    asked = _parsed(value.text) if type(value) is Static else None
    if not isinstance(asked, ast.Call) or not all(isinstance(one, Const | Int | Static | Global) for one in given):
        return False
    if _looks_up_linen(run.project, run.model.source, asked):
        return True
    name = run.project.qualname(run.model.source, asked.func)
    found = run.project.definition(name) if name is not None else None
    return found is not None and any(_looks_up_linen(run.project, found[0], node) for node in subtree(found[1]))


def _looks_up_linen(project: Any, source: SourceFile, node: ast.AST) -> bool:
    """`getattr(nn, name)`"""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "getattr" or not node.args:
        return False
    return bool(project.qualname(source, node.args[0]) == "flax.linen")


def _is_item(run: Any, held: ast.expr, env: Any) -> bool:
    """Is it an item of something, or what a function gives that may look anything up: `TABLE.get(self.kind)`?"""
    if not isinstance(held, ast.Call):
        return isinstance(held, ast.Subscript)
    if isinstance(held.func, ast.Attribute) and held.func.attr in ("get", "pop", "setdefault"):
        return True
    known = run.project.qualname(env.source, held.func) or ""
    return known.partition(".")[0] not in LIBRARIES and not (known and of_the_project(run, known))


def _gives_activation(known: str) -> bool:
    """Is it a function that looks up an activation, by its name? A Linen module that it gave would raise when called: it
    is none of another, and has no variables.
    """
    return not any(part.lstrip("_")[:1].isupper() for part in known.split(".")) and names_activation(known)


def gives_activation(run: Any, name: str, depth: int = 0) -> bool:
    """Is it a method that only looks up an activation: `return get_activation(self.activation)`, or another such one?"""
    method = run.model.method(name)
    if method is None or depth > MAX_METHODS:
        return False
    source = method.source
    returned = [n for n in method.nodes if isinstance(n, ast.Return) and source.function_of(n) is method.node]
    for value in [n.value for n in returned]:
        func = value.func if isinstance(value, ast.Call) else None
        own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
        if own and isinstance(func, ast.Attribute):
            if not gives_activation(run, func.attr, depth + 1):
                return False
            continue
        known = run.project.qualname(source, func) if func is not None else None
        if known is None or not _gives_activation(known):
            return False
    return bool(returned)


MAX_METHODS = 8  # of a class, each of which calls the next one


def as_looked_up(run: Any, function: Function, node: ast.Call, found: Abs) -> Abs:
    """What `get_activation(name)` of the project gives, whose table decorators fill: `cls = TABLE[name]; return cls(**kw)`.

    It is an activation where neither the function nor what its file does when it is imported says a Linen module, and no
    such class is decorated by one of that file.
    """
    target, source = function.node, function.source
    if not isinstance(target, ast.FunctionDef) or function.method is not None or not names_activation(target.name):
        return found
    made = re.fullmatch(r"the result of `(\w+)`", found.value.why) if isinstance(found.value, Unknown) else None
    if made is None or not any(_is_stored(n, made[1]) for n in subtree(target)):
        return found  # it is no local name for what the table has
    for model in run.project.linen_classes.values():
        calls = [d.func if isinstance(d, ast.Call) else d for d in model.node.decorator_list]
        known = [run.project.definition(run.project.qualname(model.source, c) or "") for c in calls]
        if any(k is not None and k[0] is source for k in known):
            return found
    definitions = ast.ClassDef | ast.FunctionDef | ast.Import | ast.ImportFrom
    plain = [s for s in source.tree.body if not isinstance(s, definitions)]
    if any(_names_module(run.project, source, part) for s in [target, *plain] for part in subtree(s)):
        return found
    return dataclasses.replace(found, value=Unknown(f"the result of `{run.project.said(node.func)}`"))


def _names_module(project: Any, source: SourceFile, node: ast.AST) -> bool:
    """Is it the name of a Linen module, or one of what may look up any name of the file?"""
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    known = project.qualname(source, node) or ""
    layer = known.startswith("flax.linen.") and known.rpartition(".")[2][:1].isupper()
    return layer or known in project.linen_classes or (isinstance(node, ast.Name) and node.id in _LOOK_UP)


_LOOK_UP = frozenset({"globals", "getattr", "eval", "vars", "locals"})


def _named_in_setup(run: Any, name: str) -> list[ast.expr]:
    """What setup gives a local name: `kind = MODELS[self.config.kind]`."""
    setup = run.model.method("setup")
    assigned = [node for node in setup.nodes if isinstance(node, ast.Assign)] if setup is not None else []
    return [node.value for node in assigned if any(isinstance(t, ast.Name) and t.id == name for t in node.targets)]


def _is_looked_up(run: Any, maker: ast.expr, env: Any) -> bool:
    """Is it an attribute of what a table or a function of the program's has: `MODELS[kind].module_class(config)`?"""
    root: ast.expr = maker
    looks_up = False
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        looks_up = looks_up or isinstance(root, ast.Subscript | ast.Call)
        root = root.func if isinstance(root, ast.Call) else root.value
    name = run.project.qualname(env.source, root) if isinstance(root, ast.Name) else None
    package = (name or "").partition(".")[0]
    return looks_up and bool(name) and package not in LIBRARIES | {"flax"}


def _held(maker: ast.expr, env: Any) -> ast.expr:
    """What a local name holds, where that is an expression in fields."""
    held = env.get(maker.id) if isinstance(maker, ast.Name) else None
    return (_parsed(held.value.text) if held is not None and isinstance(held.value, Static) else None) or maker


def _is_held_by_field(run: Any, func: ast.expr, name: str, env: Any) -> bool:
    """Does a name hold an item of a field: `for make in self.layers`, `first, last = self.layers`?"""
    bound = env.get(name)
    if bound is None or not isinstance(bound.value, Static):
        return False
    return _is_of_field(run, bound.value.text) or any(_goes_through_field(run, i, env) for i in _iterables(func, name, env))


def _made_of_items(run: Any, func: ast.expr, env: Any) -> str | None:
    """What calls the items of a field, where the results are called in turn: `[make() for make in self.layers]`."""
    for iterable in _iterables(func, func.id, env) if isinstance(func, ast.Name) else ():
        held = run.evaluated.get(iterable)
        made = _parsed(held.value.text) if held is not None and isinstance(held.value, Static) else None
        if isinstance(made, ast.ListComp | ast.GeneratorExp) and isinstance(made.elt, ast.Call):
            called, targets = made.elt.func, [n for g in made.generators for n in subtree(g.target)]
            of_fields = any(_goes_through_field(run, g.iter, env) for g in made.generators)
            if of_fields and isinstance(called, ast.Name) and any(getattr(n, "id", "") == called.id for n in targets):
                return ast.unparse(made.elt)
    return None


def _iterables(node: ast.expr, name: str, env: Any) -> Iterator[ast.expr]:
    """What the loops around an expression go through that bind a name."""
    return (loop.iter for loop in loops_binding(env.source, node, name))


def _goes_through_field(run: Any, iterable: ast.expr, env: Any) -> bool:
    """Are the items of a loop those of a field, by itself or with others: `zip(self.layers, sizes)`?"""
    for node in subtree(iterable):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            if node.attr in run.fields:
                return True
        bound = env.get(node.id) if isinstance(node, ast.Name) else None
        if bound is not None and isinstance(bound.value, Static) and _is_of_field(run, bound.value.text):
            return True
    return False


def _is_of_field(run: Any, text: str) -> bool:
    root = re.match(r"self\.(\w+)", text)
    return root is not None and root[1] in run.fields


def is_copy(qualname: str) -> bool:
    """Is it a class of a module of Linen copies that an earlier run made (`blocks_linen.Block`), also one out of sight?"""
    module, _, name = qualname.rpartition(".")
    return module.endswith("_linen") and name[:1].isupper()


def _maker(value: Value) -> ast.expr | None:
    """The expression whose call gave a value."""
    if isinstance(value, Static):
        return _callee(value.text)
    found = re.fullmatch(r"the result of `(.*)`", value.why, re.S) if isinstance(value, Unknown) else None
    return _parsed(found[1]) if found else None


def by_one_of_fields(value: Value) -> bool:
    """Did one of several fields make it: `(self.wide if i else self.narrow)(4)`?"""
    maker = _maker(value)
    return isinstance(maker, ast.IfExp | ast.BoolOp) and any(map(_is_of_self, sides(maker)))


def _is_of_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _callee(text: str) -> ast.expr | None:
    parsed = _parsed(text)
    return parsed.func if isinstance(parsed, ast.Call) else None


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def of_the_project(run: Any, qualname: str) -> bool:
    """Functions and classes of the project's own files have been looked at: they make Linen modules only as followed.

    Modules of its packages that the command line has left out say nothing of Flax, apart from those that could not be
    read, and names that a file nowhere says (`from lib import *`), which are those of another package.
    """
    return _of_files(run.project, qualname)


def _of_files(project: Any, qualname: str) -> bool:
    name = ""
    while qualname:
        if qualname in project.unread:
            return False
        if qualname in project.files:
            source = project.files[qualname]
            said = name in source.words and not _is_only_imported_from_itself(source, name)
            return not name or said or (source.is_package and is_there(source.path.parent, name))
        qualname, _, name = qualname.rpartition(".")
    return False


def _is_stored(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _is_only_imported_from_itself(source: SourceFile, name: str) -> bool:
    """Says a file a name only where it imports from a package of its own name: `from net.parts import Block` in `net.py`?"""
    own = f"{source.module}."
    for node in source.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = [(local, dotted) for local, dotted in source.names.bindings(node) if local == name]
            if any(not dotted.startswith(own) for _, dotted in bound) or any(alias.name == "*" for alias in node.names):
                return False
        elif name in (getattr(node, "name", None), getattr(node, "value", None)) or _is_stored(node, name):
            return False
    return any(dotted.startswith(own) for dotted in source.names.imports.values())


def unknown_base(project: Any, qualname: str, seen: frozenset[str] = frozenset()) -> str | None:
    """The class of another package that a class of the project derives from, which may be a Linen module; else None."""
    found = project.definition(qualname)
    if found is None or not isinstance(found[1], ast.ClassDef) or qualname in seen:
        return None
    source, node = found
    for base in node.bases:
        known = project.qualname(source, base.value if isinstance(base, ast.Subscript) else base)
        package = (known or "").partition(".")[0]
        if known is None or package in LIBRARIES | {"flax", "typing_extensions"} or package in sys.stdlib_module_names:
            continue
        if not _of_files(project, known):
            return str(known)
        if (further := unknown_base(project, known, seen | {qualname})) is not None:
            return further
    return None


@functools.lru_cache(maxsize=4096)
def is_there(package: Path, name: str) -> bool:
    """Has a package on disk a module of this name?"""
    return (package / f"{name}.py").is_file() or (package / name).is_dir()


__all__ = [
    "LIBRARIES",
    "as_looked_up",
    "by_one_of_fields",
    "gives_activation",
    "is_copy",
    "is_said",
    "is_there",
    "is_used",
    "made_by_unknown",
    "makes_layer",
    "of_package",
    "of_the_project",
    "refusal",
    "unknown_base",
]
