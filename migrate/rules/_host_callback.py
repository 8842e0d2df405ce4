"""Which files' uses of jax.experimental.host_callback can be rewritten: all uses of a file, or none."""

from __future__ import annotations

import ast
import weakref

from ..context import FileContext

CODE = "NNX814"
MODULE = "jax.experimental.host_callback"
# Member → its arguments by position, and those by name alone.
_SIGNATURES: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "call": (("callback_func", "arg"), frozenset({"result_shape"})),
    "id_tap": (("tap_func", "arg"), frozenset({"result"})),
    "id_print": (("arg",), frozenset({"result", "what"})),
    "barrier_wait": (("logging_name",), frozenset()),
}
# Callbacks in order run on one device; under vmap the host sees item by item what it saw at once.
_SEVERAL_DEVICES = frozenset({"pmap", "shard_map", "xmap", "pjit", "Mesh", "make_mesh", "NamedSharding"})
_found: weakref.WeakKeyDictionary[FileContext, dict[ast.Call, str] | None] = weakref.WeakKeyDictionary()


def calls(ctx: FileContext) -> dict[ast.Call, str]:
    """The calls that are rewritten, with the member that each is of; none where something is left for a person."""
    if ctx not in _found:
        _found[ctx] = _calls(ctx) if ctx.options.selects(CODE) else None
    return _found[ctx] or {}


def _calls(ctx: FileContext) -> dict[ast.Call, str] | None:
    source = ctx.source
    found: dict[ast.Call, str] = {}
    for node in [*source.by_kind.get(ast.Name, ()), *source.by_kind.get(ast.Attribute, ())]:
        path = source.names.raw_qualname(node) or ""
        if not path.startswith(MODULE):
            continue
        parent = source.parents.get(node)
        if isinstance(parent, ast.Attribute) and (source.names.raw_qualname(parent) or "").startswith(MODULE):
            continue  # the longer path says which member it is
        member = path.removeprefix(f"{MODULE}.")
        if not (isinstance(parent, ast.Call) and parent.func is node and _fits(parent, member)):
            return None
        if ctx.suppressions.covers(parent, CODE):
            return None
        found[parent] = member
    project = ctx.project
    files = project.files.values() if project is not None else [source]
    ordered = {member for call, member in found.items() if not is_print(ctx, call, member)} - {"barrier_wait"}
    if (ordered and several_devices(ctx)) or ("id_tap" in ordered and any("vmap" in file.words for file in files)):
        return None
    exported = project.exported.get(source.module, frozenset()) if project is not None else frozenset()
    if any(target.startswith(MODULE) and name in exported for name, target in source.names.imports.items()):
        return None
    return found


def several_devices(ctx: FileContext) -> bool:
    """Does the project say anything of several devices?"""
    files = ctx.project.files.values() if ctx.project is not None else [ctx.source]
    return any(file.words & _SEVERAL_DEVICES for file in files)


def is_print(ctx: FileContext, call: ast.Call, member: str) -> bool:
    """`hcb.id_print(x)` as a statement, of which the result is dropped."""
    return member == "id_print" and isinstance(ctx.source.parents.get(call), ast.Expr)


def _fits(call: ast.Call, member: str) -> bool:
    """Does a call say what is understood of its member, and no more?"""
    if member not in _SIGNATURES:
        return False
    positional, named = _SIGNATURES[member]
    if len(call.args) > len(positional) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return False
    given = [*positional[: len(call.args)], *[k.arg or "" for k in call.keywords]]
    if len(set(given)) != len(given) or not set(given) <= {*positional, *named}:
        return False
    what = next((k.value for k in call.keywords if k.arg == "what"), None)
    if what is not None and not (isinstance(what, ast.Constant) and isinstance(what.value, str) and "{" not in what.value):
        return False
    return member == "barrier_wait" or set(positional) <= set(given)


__all__ = ["CODE", "MODULE", "calls", "is_print", "several_devices"]
