"""Lists and dicts of modules that setup makes: NNX refuses plain containers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.lists.chains import Chain
from ...linen.project.classes import ClassModel
from ...linen.values.merging import Either
from ...linen.values.sites import Module, Repeated, Table, Unmigratable, Variable, items_of
from ...linen.values.values import Array, Tup, Unknown, Value
from ...source import SourceFile
from ...trees import subtree
from ..text.branches import exclusive
from .frozen_lists import grows_later, is_asked_for

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter


def write(writer: ClassWriter, node: ast.Assign, source: SourceFile) -> None:
    """`self.layers = [...]` of modules needs nnx.List: NNX refuses plain containers."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        if len(target.elts) == len(value.elts):  # `self.downs, self.ups = [...], [...]`
            for one, held in zip(target.elts, value.elts):
                _write_one(writer, node, one, held, source)
        return
    _write_one(writer, node, target, value, source)


def _write_one(writer: ClassWriter, node: ast.Assign, target: ast.expr, value: ast.expr, source: SourceFile) -> None:
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"):
        return
    if isinstance(value, ast.Constant) and value.value is None and _holds_module(writer, target.attr, node):
        writer.put(value, f"{writer.namer.name('flax.nnx.data')}(None)", source=source)
        return
    found = writer.run.evaluated.get(value)
    if found is None:
        return
    if isinstance(found.value, Module | Either):
        if _held_function(writer, target.attr, node):
            _write_data(writer, value, source)
        return
    if _is_array(writer, value, found.value, source):
        if _held_no_array(writer, target.attr, node):
            _write_data(writer, value, source)
        return
    if next(writer.run.modules_in(found.value), None) is None:
        asked = is_asked_for(writer, target.attr, found.value, value)
        if grows_later(node, value, source):
            asked = "frozen"
        if asked:
            _write_frozen(writer, value, asked, source, any(_is_whole(item) for item in _leaves(found.value)))
            return
        write_arrays(writer, node, value, found.value, source)
        return
    if _is_loop(writer, value):
        return
    for operand in [o for b in subtree(value) if isinstance(b, ast.BinOp) for o in (b.left, b.right)]:
        held = writer.run.evaluated.get(operand)
        if (
            isinstance(operand, ast.Attribute)
            and held is not None
            and next(writer.run.modules_in(held.value), None) is not None
        ):
            writer.put(operand, "tuple(", source.span(operand), ")", source=source)
    containers = [value, *_inner_containers(writer, value), *_appended(writer, value, source)]
    for container in [c for c in containers if not _is_loop(writer, c)]:
        made = writer.namer.name("flax.nnx.Dict" if _is_dict(writer, container) else "flax.nnx.List")
        span, said = source.span(container), source.enclosed(container)
        if container is value and _held_function(writer, target.attr, node):
            writer.put(span, f"{writer.namer.name('flax.nnx.data')}({made}(", *said, "))", source=source)
        else:
            writer.put(span, f"{made}(", *said, ")", source=source)


def _write_data(writer: ClassWriter, value: ast.expr, source: SourceFile) -> None:
    span = source.span(value)
    writer.put(Span(span.start, span.start), f"{writer.namer.name('flax.nnx.data')}(", source=source)
    writer.put(Span(span.end, span.end), ")", source=source)


def _write_frozen(writer: ClassWriter, value: ast.expr, asked: str, source: SourceFile, arrays: bool) -> None:
    span, said = source.span(value), source.enclosed(value)
    if arrays:
        kept = f"{writer.namer.parity('frozen')}(" if asked == "frozen" else "tuple("
        writer.put(span, f"{writer.namer.name('flax.nnx.data')}({kept}", *said, "))", source=source)
    elif asked == "frozen":
        writer.put(span, f"{writer.namer.parity('frozen')}(", *said, ")", source=source)
    elif isinstance(value, ast.List) and len(value.elts) > 1:
        writer.put(span, "(", Span(span.start + 1, span.end - 1), ")", source=source)
    else:
        writer.put(span, "tuple(", *said, ")", source=source)


def write_arrays(writer: ClassWriter, node: ast.stmt, value: ast.expr, held: Value, source: SourceFile) -> None:
    """`self.masks = [...]` of arrays needs nnx.data: NNX takes plain containers for static and refuses arrays in them."""
    items = list(_leaves(held))
    arrays = [item for item in items if _is_whole(item)]
    if not arrays:
        return
    computed = writer.text.computed  # anew at every call, in a namespace of its own
    targets = node.targets if isinstance(node, ast.Assign) else []
    own = {target.attr for target in targets if isinstance(target, ast.Attribute)}
    anew = computed is not None and not own.isdisjoint(computed.attributes)
    if len(arrays) < len(items) and not anew:
        raise Unmigratable("NNX180", "setup keeps arrays and other things in one container", value)
    if len(targets) < 2 and not anew:
        opening, span, said = f"{writer.namer.name('flax.nnx.data')}(", source.span(value), source.enclosed(value)
        if value in writer.run.initial_carries:  # said anew in its place
            writer.put(Span(span.start, span.start), opening, source=source)
            writer.put(Span(span.end, span.end), ")", source=source)
        else:
            writer.put(value, opening, *said, ")", source=source)


def _is_whole(held: Value) -> bool:
    return isinstance(held, Array) and bool(held.shape.rank)


def _leaves(held: Value) -> Iterator[Value]:
    """What a container holds, and the containers in it; nothing of what is no container."""
    for item in items_of(held):
        if isinstance(item, Tup | Table | Repeated):
            yield from _leaves(item)
        else:
            yield item


def _is_dict(writer: ClassWriter, container: ast.expr) -> bool:
    found = writer.run.evaluated.get(container)
    value = found.value if found is not None else None
    by_name = isinstance(value, Table) or (isinstance(value, Repeated) and value.kind == "dict")
    return by_name or isinstance(container, ast.Dict | ast.DictComp)


def _is_loop(writer: ClassWriter, value: ast.expr) -> bool:
    """Has a comprehension become a loop that keeps sizes, which makes the nnx.List?"""
    found = writer.run.evaluated.get(value)
    sites = writer.run.modules_in(found.value) if isinstance(value, ast.ListComp) and found is not None else ()
    return any(writer.run.carried.get(site) for site in sites)


def _appended(writer: ClassWriter, name: ast.expr, source: SourceFile) -> Iterator[ast.expr]:
    """Lists and tuples of modules that are appended to a list of this name."""
    if not isinstance(name, ast.Name):
        return
    for call in source.by_kind.get(ast.Call, ()):
        found = writer.run.evaluated.get(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None
        if found is None or not isinstance(found.value, Tup | Table | Repeated | Chain) or not isinstance(call, ast.Call):
            continue
        grows = isinstance(call.func, ast.Attribute) and call.func.attr == "append"
        if grows and ast.unparse(call.func.value) == name.id and any(writer.run.modules_in(found.value)):  # type: ignore[attr-defined]
            yield call.args[0]


def _inner_containers(writer: ClassWriter, outer: ast.expr) -> Iterator[ast.expr]:
    """Lists and dicts of modules within another, which NNX refuses as well; not those given to a layer."""
    made = [*outer.args, *(k.value for k in outer.keywords)] if isinstance(outer, ast.Call) else ast.iter_child_nodes(outer)
    for child in made:
        if not isinstance(child, ast.expr) or isinstance(child, ast.Lambda):
            continue
        if isinstance(child, ast.Call) and not _is_container(child):
            continue
        found = writer.run.evaluated.get(child)
        operand = isinstance(outer, ast.BinOp)  # lists that are added are plain lists: their sum is the nnx.List
        if (
            isinstance(child, ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp | ast.Call)
            and found is not None
            and not operand
        ):
            if next(writer.run.modules_in(found.value), None) is not None:
                yield child
        yield from _inner_containers(writer, child)


def _is_container(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("dict", "list", "tuple")


def _holds_module(writer: ClassWriter, attribute: str, none: ast.Assign) -> bool:
    """Is a module assigned to the attribute in setup besides None? NNX must be told, where it is None first."""
    setup = writer.model.method("setup")
    for node in subtree(setup.node) if setup is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets):
            found = writer.run.evaluated.get(node.value)
            if found is not None and next(writer.run.modules_in(found.value), None) is not None:
                assert setup is not None
                if not exclusive(none, node, setup.node):
                    return True
    return any(_fills(writer, derived, attribute) for derived in writer.run.analyser.classes.derived(writer.model))


def _held_function(writer: ClassWriter, attribute: str, made: ast.Assign) -> bool:
    """Does setup assign something else before the module (`self.project = identity`), for which NNX takes it for static?"""
    for model in writer.model.mro():
        setup = model.own_methods.get("setup")
        for node in subtree(setup.node) if setup is not None else ():
            targets = node.targets if isinstance(node, ast.Assign) else []
            if not any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets):
                continue
            assert isinstance(node, ast.Assign) and setup is not None
            found = writer.run.evaluated.get(node.value)
            none = isinstance(node.value, ast.Constant) and node.value.value is None  # that is nnx.data(None)
            if none or found is None or next(writer.run.modules_in(found.value), None) is not None:
                continue
            if model is not writer.model or (node.lineno < made.lineno and not exclusive(node, made, setup.node)):
                return True
    return False


def _is_array(writer: ClassWriter, node: ast.expr, held: Value, source: SourceFile) -> bool:
    """Is it an array, or a variable of one?"""
    if isinstance(held, Array | Variable):
        return isinstance(held, Variable) or held.shape.rank != 0
    name = writer.run.project.qualname(source, node.func) if isinstance(node, ast.Call) else None
    return type(held) is Unknown and (name or "").startswith(("jax.numpy.", "numpy."))


def _held_no_array(writer: ClassWriter, attribute: str, made: ast.Assign) -> bool:
    """Does setup assign numbers, a list of them or None before the array, for which NNX takes the attribute for static?"""
    setup = writer.model.method("setup")
    computed = writer.text.computed
    if setup is None or (computed is not None and attribute in computed.attributes):
        return False
    for node in subtree(setup.node):
        if not isinstance(node, ast.Assign) or node.lineno >= made.lineno or exclusive(node, made, setup.node):
            continue
        for value in _assigned_to(node, attribute):
            found = writer.run.evaluated.get(value)
            if found is None or not _is_array(writer, value, found.value, setup.source):
                if found is None or next(writer.run.modules_in(found.value), None) is None:
                    return True
    return False


def _assigned_to(node: ast.Assign, attribute: str) -> Iterator[ast.expr]:
    """What a statement gives an attribute, also `self.a, self.b = 1, None`."""
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple | ast.List):
            inner = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else []
            whole = len(inner) == len(target.elts)
            pairs = list(zip(target.elts, inner)) if whole else [(one, node.value) for one in target.elts]
        yield from (value for one, value in pairs if isinstance(one, ast.Attribute) and one.attr == attribute)


def _fills(writer: ClassWriter, derived: ClassModel, attribute: str) -> bool:
    """Does the `setup` of a class that inherits from this one leave a module in the attribute?"""
    if derived.own_methods.get("setup") is None:
        return False
    try:
        held = writer.run.analyser.execution(derived.qualname).attributes.get(attribute)
    except Unmigratable:
        return False  # it stays Linen
    return held is not None and next(writer.run.modules_in(held.value), None) is not None
