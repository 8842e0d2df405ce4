"""Lifted functions and methods of a module: `nn.scan(body, ...)(self, carry, xs)` → `nnx.scan(body, ...)(self, carry, xs)`.

The function stays as it is; the transform is told what becomes of the module that it is given first. What the function
makes is made by the constructor, stacked where the transform maps the variables (`lifted.constructor`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...edits import Part, Parts, Span
from ...linen.lifted.lifting import NOT_ALONE, WHOLE
from ...linen.values.arguments import parameters_of
from ...linen.values.mapped_axes import in_axes_of, is_broadcast
from ...linen.values.merging import Either
from ...linen.values.sites import Abs, Lifted, LiftedCall, Module, SelfModule, Table, Unmigratable
from ...linen.values.values import Array, Const, Text, Value
from ...source import SourceFile
from ...trees import subtree
from ..calls import sown
from ..text.made_where import home_of
from . import lifted as lifted_modules
from . import lifted_calls, open_fields, whole_transforms

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

Edits = Iterator[tuple[SourceFile, Span, Parts]]


def edits(writer: ClassText) -> Edits:
    """The edits of all transforms of functions in a class, and of `nn.cond` and its like."""
    for call in writer.run.lifted_calls:
        count = call.count
        for one in call.function.lifted:
            yield from _transform(writer, call, one, count)
    for node, (name, module, options) in writer.run.controls.items():
        yield from _control(writer, node, name, module, options)
    for node, (name, source) in writer.run.derivatives.items():
        yield source, source.span(node.func), (writer.namer.parity(name),)


def _state(writer: ClassText, module: Value, function: ast.AST | None = None) -> lifted_modules.Used:
    """What the module that a lifted function is given holds and does."""
    if isinstance(module, Module):
        return lifted_modules.used_by(writer, module.site)
    collections: set[str] = set()
    streams: set[str] = set()
    sows: set[str] = set()
    unnamed = calls_open = False
    if isinstance(module, Either):  # a field's module, of one of several classes
        sites = [member.site for member in module.modules]
    else:
        sites = writer.run.sites
        streams |= writer.run.used_streams
        sows |= sown.collections_of(_sows_in(writer, function))
        calls_open = function is not None and bool(open_fields.called(writer.run, subtree(function)))
    for site in sites:
        if site.kind == "param":
            collections.add("params")
        elif site.kind == "variable":
            collections.add(site.target)
        elif site.kind in ("layer", "class"):
            used = lifted_modules.used_by(writer, site)
            collections |= used.collections
            streams |= used.streams
            sows |= used.sown
            unnamed |= used.unnamed
            calls_open |= used.calls_open
    return lifted_modules.Used(frozenset(collections), frozenset(streams), frozenset(sows), unnamed, calls_open)


def _sows_in(writer: ClassText, function: ast.AST | None) -> list[ast.Call]:
    """The values that a function sows, or methods that it may call: not those of the method around it."""
    inside = set(subtree(function)) if function is not None else set()
    methods = [set(m.nodes) for m in writer.model.methods().values() if m.node is not function]
    around = set().union(*[nodes for nodes in methods if function in nodes])
    return [call for call in writer.run.sows if call in inside or call not in around]


def _transform(writer: ClassText, call: LiftedCall, one: Lifted, count: int) -> Edits:
    """The edit of one `nn.scan(...)`, or of a decorator."""
    source = call.function.function.source if _decorates(call, one) else call.source
    node = one.node
    first: Parts = ()
    if isinstance(node, ast.Call) and not _decorates(call, one):
        target = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg in ("target", "fn")), None)
        if target is None:
            raise Unmigratable("NNX130", f"nn.{one.kind} has no target", node)
        first = (source.span(target),)
    name, options = _said(writer, call, one, count, source)
    if not isinstance(node, ast.Call):
        yield source, source.span(node), (name,)
        return
    inner: list[Part] = [*first, *((", ",) if first and options else ()), *options]
    if not first:  # a decorator: functools.partial(nn.scan, ...)
        inner = [name, *((", ",) if options else ()), *options]
    callee: Part = name if first else source.span(node.func)
    yield source, source.span(node), (callee, "(", *inner, ")")


def _decorates(call: LiftedCall, one: Lifted) -> bool:
    node = call.function.function.node
    return isinstance(node, ast.FunctionDef) and any(d is one.node for d in node.decorator_list)


def _said(writer: ClassText, call: LiftedCall, one: Lifted, count: int, source: SourceFile) -> tuple[str, Parts]:
    if one.kind == "remat":
        options: list[Part] = []
        for option in ("prevent_cse", "static_argnums", "policy"):
            if option in one.options:
                options += [", " if options else "", f"{option}=", source.span(one.options[option])]
        return writer.namer.name("flax.nnx.remat"), tuple(options)
    if one.kind == "jit":
        options = []
        for option in ("static_argnums", "static_argnames", "donate_argnums"):
            if option in one.options:
                options += [", " if options else "", f"{option}=", source.span(one.options[option])]
        return writer.namer.name("flax.nnx.jit"), tuple(options)
    if one.kind in WHOLE:
        used = _state(writer, call.module, call.function.function.node)
        return writer.namer.parity(one.kind), whole_transforms.of_function(writer, one, call.module, used, source)
    how, _ = lifted_modules.treatment(one, _state(writer, call.module, call.function.function.node))
    if how == "stacked" and isinstance(call.module, SelfModule):
        _only_its_own(writer, call, one)
    if how == "stacked" and isinstance(call.module, Module | Either):
        _made_in_a_stack(call, one)
    scan = one.kind == "scan"
    if how == "shared" and one.node in writer.analyser.carried_scans:
        how = "carried"
    axes = [*([Const("carry")] if scan else []), *in_axes_of(one, count - scan)]
    if scan and any(is_broadcast(a) and not _may_be_traced(writer, call, i) for i, a in enumerate(axes)):
        raise Unmigratable("NNX141", "a scanned function has an argument that is broadcast", one.node)
    return lifted_calls.transform_options(writer, one, how, axes, source, one.node)


def _may_be_traced(writer: ClassText, call: LiftedCall, place: int) -> bool:
    """Is an argument that is broadcast an array, None, or what the function never reads?

    nnx.scan traces what Linen leaves alone; arrays are the same either way. What the call is given itself may be a flag,
    where the function does not use it as an array.
    """
    function, value = call.function.function, call.outer[place] if place < len(call.outer) else None
    if isinstance(value, Const):
        return value.value is None
    name = parameters_of(function.node)[place + 1 : place + 2]
    reads = [n for n in subtree(function.node) if isinstance(n, ast.Name) and n.id in name]
    if isinstance(value, Array) and not value.shape.of_argument(writer.run.ranks):
        return True
    return bool(name) and not isinstance(value, Text) and all(_is_array_there(writer, function.source, n) for n in reads)


def _is_array_there(writer: ClassText, source: SourceFile, node: ast.Name) -> bool:
    """Is a name used as what is no flag: in arithmetic, an index, or by a function of jax?"""
    parent = source.parents[node]
    if isinstance(parent, ast.BinOp) or (isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is node):
        return True
    called = isinstance(parent, ast.Call) and node in parent.args
    return called and (writer.run.project.qualname(source, parent.func) or "").startswith("jax.")  # type: ignore[attr-defined]


def note_carried(writer: ClassText) -> None:
    """Remember the scans of helpers to which the class hands a module with more than parameters.

    Other classes may hand them modules without: the helper's text is then that for both.
    """
    for call in writer.run.lifted_calls:
        for one in call.function.lifted:
            if one.kind != "scan" or not _of_a_helper(call.source, one):
                continue
            try:
                how, _ = lifted_modules.treatment(one, _state(writer, call.module, call.function.function.node))
            except Unmigratable:
                continue  # said where the class is written
            if how == "carried":
                writer.analyser.carried_scans.add(one.node)


def _of_a_helper(source: SourceFile, one: Lifted) -> bool:
    """Does the transform stand in a function outside of classes, which several classes may call?"""
    outermost = [n for n in source.ancestors(one.node) if n in source.tree.body]
    return bool(outermost) and isinstance(outermost[-1], ast.FunctionDef)


def _only_its_own(writer: ClassText, call: LiftedCall, one: Lifted) -> None:
    """A function whose variables are stacked is given the module whole: all that it holds must be stacked."""
    for site in writer.run.sites:
        if site.kind != "rng" and one not in site.scopes:
            raise Unmigratable("NNX130", "a lifted function stacks some variables of its module and not others", one.node)
    if writer.run.used_streams:
        raise Unmigratable("NNX168", "a function whose variables are stacked draws random numbers itself", one.node)


def _made_in_a_stack(call: LiftedCall, one: Lifted) -> None:
    """A module whose variables are stacked is made as a stack, which every call of it goes through."""
    sites = [call.module.site] if isinstance(call.module, Module) else []
    inside = set(subtree(call.function.function.node))
    if not all(one in site.scopes and {node for node, _, _ in site.calls} <= inside for site in sites) or not sites:
        raise Unmigratable("NNX130", NOT_ALONE, one.node)


def _control(writer: ClassText, node: ast.Call, name: str, module: Value, options: Mapping[str, Abs]) -> Edits:
    source = home_of(writer.run, node)
    span = source.span
    given = dict(zip(("cond_fn", "body_fn", "mdl", "init"), node.args)) | {k.arg: k.value for k in node.keywords}
    if name in ("cond", "switch"):
        yield source, span(node.func), (writer.namer.name(f"flax.nnx.{name}"),)
        if node.keywords:  # nnx.cond and nnx.switch take positional arguments only
            kept = [k.value for k in node.keywords if k.arg not in ("variables", "rngs")]
            parts: list[Part] = ["("]
            for position, argument in enumerate([*node.args, *kept]):
                parts += [", " if position else "", span(argument)]
            yield source, Span(span(node.func).end, span(node).end), (*parts, ")")
        return
    used = _state(writer, module)
    streams = used.streams - {"params"}
    if used.sown or used.unnamed:
        raise Unmigratable("NNX130", "nn.while_loop over a module that sows or draws from streams without a name", node)
    if not streams and not used.collections - {"params"}:
        partial, loop = writer.namer.name("functools.partial"), writer.namer.name("jax.lax.while_loop")
        test, body, held, carry = (span(given[key]) for key in ("cond_fn", "body_fn", "mdl", "init"))
        parts = [f"{loop}({partial}(", test, ", ", held, f"), {partial}(", body, ", ", held, "), ", carry, ")"]
        yield source, span(node), tuple(parts)
        return
    split = options["split_rngs"].value if "split_rngs" in options else None
    table = split.items if isinstance(split, Table) else {}
    if not all(table.get(stream, table.get(True)) == Const(True) for stream in streams):
        raise Unmigratable("NNX168", "the steps of nn.while_loop draw the same numbers", node)
    parts = [f"{writer.namer.parity('while_loop')}("]
    for key in ("cond_fn", "body_fn", "mdl", "init"):
        parts += ["" if key == "cond_fn" else ", ", span(given[key])]
    yield source, span(node), (*parts, ")")


__all__ = ["edits", "note_carried"]
