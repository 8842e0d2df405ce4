"""How a module under lifted transforms is called: the functions before the statement, and the call in its place."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Part, Parts
from ...linen.lifted.lifting import WHOLE, Axis, transforms_of, variable_axis
from ...linen.values.environment import Env
from ...linen.values.mapped_axes import in_axes_of, is_broadcast
from ...linen.values.sites import Lifted, Site, Table, Unmigratable
from ...linen.values.values import Array, Const, Int, NeedsRank, Tup, Value
from ...source import SourceFile
from ...trees import subtree
from ..calls import handed_flags
from ..calls.sown import left_out
from ..text.text_parts import old_text, own_words
from . import lifted_options, whole_transforms
from .lifted import (
    Lines,
    axes_said,
    label_of,
    method_of,
    not_in_comprehension,
    outside_setup,
    remat_call,
    remat_options,
    said_outside_setup,
    snake,
    stack_metadata,
    treatment,
    used_by,
)

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def alternative_call(
    writer: ClassText, sites: list[Site], node: ast.Call, method: str, env: Env
) -> tuple[list[Parts], Parts]:
    """The call of one of two modules of a class, made under a condition of setup, of which one is under a transform:
    lines to put before its statement, and the expression."""
    first, second = sites[0], sites[-1]
    condition = first.conditions[-1] if first.conditions else None
    same = condition is not None and second.conditions and second.conditions[-1][0] is condition[0]
    test = condition[0].test if same and condition is not None and isinstance(condition[0], ast.If | ast.IfExp) else None
    plain = all(lifted.kind in ("remat", "jit") for site in sites for lifted in site.lifted)
    stacks = [site for site in sites if any(lifted.kind in ("scan", "vmap") for lifted in site.lifted)]
    mixed = not plain and (len(stacks) != 1 or any(site.lifted for site in sites if site not in stacks))
    if len(sites) != 2 or test is None or mixed or first.target != second.target or first.kind != "class":
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` is one of several modules under transforms", node)
    assert condition is not None
    asked = None if condition[1] or not first.in_setup else said_outside_setup(writer, first, test)
    if asked is None:
        raise Unmigratable("NNX130", "whether a module is under nn.remat is known only when it is called", node)
    body = condition[0].body
    inside = {n for statement in (body if isinstance(body, list) else [body]) for n in subtree(statement)}
    then, other = (first, second) if first.node in inside else (second, first)
    if not plain:
        called = writer.plans.get(first.target)
        if called is not None and called.details is not None and called.details.call_keywords:
            raise Unmigratable("NNX130", "one of several modules, of which one is a stack, takes flags at its call", node)
        lines, stack = call_edit(writer, stacks[0], node, method, env)
        one: Parts = (first.source.span(node),)
        yes, no = (stack, one) if then is stacks[0] else (one, stack)
        return lines, ("(", *yes, " if ", own_words(first.source, asked), " else ", *no, ")")
    call = _call_of(writer, first, node, method, env, node.keywords)
    if call.flags and call.flags != _call_of(writer, second, node, method, env, []).flags:
        raise Unmigratable("NNX130", f"`{ast.unparse(node.func)}` is one of two modules with flags of their own", node)
    module = called_module(writer, first, node, method)
    sides: list[Parts] = []
    for site in (then, other):
        remats = [l for l in transforms_of(site.lifted, method) if l.kind == "remat"]
        sides.append(_function(call, site, remats, module))
    given = _given(call, [(first.source.span(a),) for a in node.args])
    return [], ("(", *sides[0], " if ", own_words(first.source, asked), " else ", *sides[1], ")(", *module, *given, ")")


def called_module(writer: ClassText, site: Site, node: ast.Call, method: str) -> Parts:
    """The module of a call as the method says it: its attribute where it was made at the call, else its own words."""
    func = node.func
    if method != "__call__" and isinstance(func, ast.Attribute):
        func = func.value
    return writer.reference(site) if func is site.node else (site.source.span(func),)


@dataclasses.dataclass
class _Call:
    """The call of a lifted module while its transforms are written, from the outermost in."""

    writer: ClassText
    site: Site
    method: str
    labels: list[str]
    computed: list[bool]  # arguments that are arrays computed in the call's own words: a module may be called there
    keywords: list[ast.keyword]  # only under remat: Linen's scan and vmap ignore keywords
    node: ast.Call
    flags: handed_flags.Flags  # that the module takes at its call besides
    own: str = "module"  # what the functions call the module
    number: int = 1  # among the functions of one name that the statement needs

    def tell_apart(self, closed: Collection[int], others: Iterable[ast.expr] = ()) -> None:
        """Give parameters that would hide what a function closes over other names: the arguments at the places `closed`,
        the flags, and `others`.
        """
        texts = [old_text((said,), self.site.source.text) for _, said in self.flags]
        outer = [*others, *[ast.parse(f"({text})", mode="eval").body for text in texts]]
        while self.own in _names([*outer, *[self.node.args[place] for place in closed]]):
            self.own += "_"
        for place, label in enumerate(self.labels):
            hidden = _names([*outer, *[self.node.args[other] for other in closed if other != place]])
            taken = {self.own, *hidden, *self.labels[:place], *self.labels[place + 1 :]}
            while self.labels[place] in hidden | {self.own} or (self.labels[place] != label and self.labels[place] in taken):
                self.labels[place] += "_"


def _names(nodes: Iterable[ast.expr]) -> set[str]:
    return {n.id for node in nodes for n in subtree(node) if isinstance(n, ast.Name)}


def _call_of(writer: ClassText, site: Site, node: ast.Call, method: str, env: Env, keywords: Sequence[ast.keyword]) -> _Call:
    names = _argument_names(writer, site, method, len(node.args))
    flags = handed_flags.of_call(writer, site, node, env) if site.kind == "class" else []
    computed = [_is_computed(writer, a) for a in node.args]
    return _Call(writer, site, method, names, computed, list(keywords), node, flags)


def levels_of(writer: ClassText, site: Site, node: ast.Call, method: str) -> list[Lifted]:
    """The transforms that a call of one of the module's methods goes through, from the outermost in."""
    applied = transforms_of(site.lifted, method)
    for one in site.lifted:
        if one not in applied and one.kind in ("scan", "vmap") and _treated(writer, site, one)[0] == "stacked":
            raise Unmigratable("NNX130", f"`{method}` of a stack of modules is called and not lifted by nn.{one.kind}", node)
        if one not in applied and one.kind in WHOLE:
            raise Unmigratable("NNX130", f"`{method}` of a module is called and not lifted by nn.{one.kind}", node)
    return [l for l in applied if l.kind in ("scan", "vmap", "remat", *WHOLE)]


def _treated(writer: ClassText, site: Site, lifted: Lifted) -> tuple[str, Axis]:
    return treatment(lifted, used_by(writer, site), not site.scopes)


def call_edit(writer: ClassText, site: Site, node: ast.Call, method: str, env: Env) -> tuple[list[Parts], Parts]:
    """The call of a lifted module: lines to put before its statement, and the expression."""
    source = site.source
    if any(other.target != site.target for other in site.alternatives):  # of one class they are treated alike
        raise Unmigratable("NNX163", "modules of several kinds are called under a lifted transform", node)
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    if layer is not None and (site.calltime or writer.moved_fields(site, layer)):
        label = site.target.rpartition(".")[2]
        raise Unmigratable("NNX130", f"{label} is called under a lifted transform, and NNX gives it a flag there", node)
    levels = levels_of(writer, site, node, method)
    mapped = any(l.kind in ("scan", "vmap") for l in levels)
    if mapped:
        not_in_comprehension(site, node)
        whole_input = all(l.kind not in ("scan", "vmap") or _takes_all_whole(l) for l in levels)
        if not whole_input and any(isinstance(a, ast.Starred) for a in node.args):
            raise Unmigratable("NNX141", "a scanned or vmapped module is called with *args", node)
    keywords = [] if mapped else node.keywords
    module = called_module(writer, site, node, method)
    whole = whole_transforms.one_of(levels)
    if whole is not None:
        called = whole_transforms.called(writer, site, whole, levels[1:], method, node)
        arguments = [part for argument in node.args for part in (", ", source.span(argument))]
        return [], (*called, "(", *module, *arguments, *_said_keywords(source, keywords), ")")
    inputs: list[Parts] = [(source.span(a),) for a in node.args]
    call = _call_of(writer, site, node, method, env, keywords)
    lines, expression = _level(call, levels, module, inputs, list(range(len(inputs))), 0)
    before = _functions_before(writer, site, node) if lines else []
    if lines in before:
        call.number = before.index(lines) + 1
        return [], _level(call, levels, module, inputs, list(range(len(inputs))), 0)[1]
    if before:  # one of its own for each call: they are all made before the statement
        call.number = len(before) + 1
        lines, expression = _level(call, levels, module, inputs, list(range(len(inputs))), 0)
    unit = source.indent_unit
    return [(unit * depth, *parts) for depth, parts in lines], expression


def _takes_all_whole(lifted: Lifted) -> bool:
    """Does a transform map nothing of what the module is called with: `nn.vmap(..., in_axes=None)`?"""
    axes = lifted.abs.get("in_axes")
    return lifted.kind == "vmap" and axes is not None and axes.value == Const(None)


def _functions_before(writer: ClassText, site: Site, node: ast.Call) -> list[Lines]:
    """What the functions of earlier calls in the statement do, under the name that this call's would have."""
    statement, label = site.source.statement_of(node), label_of(writer, site)
    calls = {
        (call.lineno, call.col_offset, number): (other, call, method, env)
        for number, other in enumerate(writer.run.sites)
        if other.lifted and other.source is site.source and label_of(writer, other) == label
        for call, method, env in other.calls
        if env.source is site.source and site.source.statement_of(call) is statement
    }
    own = (node.lineno, node.col_offset, writer.run.sites.index(site))  # several kinds may be called in one place
    found: list[Lines] = []
    for place in sorted(p for p in calls if p < own):
        lines = _plain_function(writer, *calls[place])
        if lines and lines not in found:
            found.append(lines)
    return found


def _plain_function(writer: ClassText, site: Site, node: ast.Call, method: str, env: Env) -> Lines:
    """The function that a call goes through, as it is where the statement has no other."""
    call = _call_of(writer, site, node, method, env, [])
    inputs: list[Parts] = [(site.source.span(a),) for a in node.args]
    levels = levels_of(writer, site, node, method)
    return _level(call, levels, called_module(writer, site, node, method), inputs, list(range(len(inputs))), 0)[0]


def _level(
    call: _Call, levels: Sequence[Lifted], module: Parts, arguments: list[Parts], places: list[int], depth: int
) -> tuple[Lines, Parts]:
    """What one transform and those within it become: lines, and the expression that calls them."""
    if not any(l.kind in ("scan", "vmap") for l in levels):
        return [], _innermost(call, levels, module, arguments)
    lifted, inner = levels[0], levels[1:]
    writer, site = call.writer, call.site
    how, _ = _treated(writer, site, lifted) if lifted.kind != "remat" else ("stacked", 0)
    scan = lifted.kind == "scan"
    if scan and not arguments:
        raise Unmigratable("NNX141", "a scanned module is called without a carry", lifted.node)
    if lifted.kind == "remat":
        if lifted.condition is not None:
            raise Unmigratable("NNX130", "nn.remat around a scan or vmap has a condition", lifted.node)
        if "static_argnums" in lifted.options:
            raise Unmigratable("NNX130", "nn.remat around a scan or vmap has static arguments", lifted.node)
        axes: list[Value] = [Const(0)] * len(arguments)
    else:
        axes = [*([Const("carry")] if scan else []), *in_axes_of(lifted, len(arguments) - scan)]
    # broadcast ones are closed over, as Linen does, so that Python values stay Python values
    closed = {p for axis, p in zip(axes, places) if is_broadcast(axis) and not (depth == 0 and call.computed[p])}
    if depth == 0:
        call.tell_apart(closed, [node for one in inner for node in one.options.values()])
    parameters, passed, seen, given = [call.own], [module], [], []
    for argument, axis, place in zip(arguments, axes, places):
        if place in closed:
            seen.append(argument)
            continue
        parameters.append(call.labels[place])
        passed.append(argument)
        seen.append((call.labels[place],))
        given.append(axis)
    body, expression = _level(call, inner, (call.own,), seen, places, depth + 1)
    own = f"apply_{snake(label_of(writer, site))}" + (f"_{call.number}" if call.number > 1 else "")
    name = own if depth == 0 else f"apply_{('member', 'part')[min(depth, 2) - 1]}"
    lines: Lines = [
        (0, _decorator(call, lifted, how, given)),
        (0, (f"def {name}({', '.join(parameters)}):",)),
        *((d + 1, parts) for d, parts in body),
        *_returned(call, lifted, how, parameters, expression),
    ]
    out: list[Part] = [f"{name}("]
    for position, parts in enumerate(passed):
        out += [", " if position else "", *parts]
    return lines, (*out, ")")


def _returned(call: _Call, lifted: Lifted, how: str, parameters: list[str], expression: Parts) -> Lines:
    """`return module(x)`; what is sown into collections that Linen leaves out is dropped on the way."""
    writer, site = call.writer, call.site
    sows = used_by(writer, site).sown if how == "stacked" and lifted.kind in ("scan", "vmap") else frozenset()
    dropped = left_out(lifted, sows)
    if not dropped:
        return [(1, ("return ", *expression))]
    kinds = [part for collection in dropped for part in (", ", writer.variable_type(collection))]
    said = ", ".join([*parameters, old_text(expression, site.source.text)])
    result = "result"
    while re.search(rf"\b{result}\b", said):
        result += "_"
    return [
        (1, (f"{result} = ", *expression)),
        (1, (f"{writer.namer.name('flax.nnx.pop')}({call.own}", *kinds, ")")),
        (1, (f"return {result}",)),
    ]


def _is_computed(writer: ClassText, node: ast.expr) -> bool:
    """Is an argument an array that a call makes? It is computed outside of the mapped function, as a module called in there
    would be called from another level."""
    found = writer.run.evaluated.get(node)
    called = any(isinstance(n, ast.Call) for n in subtree(node))
    return called and found is not None and isinstance(found.value, Array | NeedsRank)


def _innermost(call: _Call, remats: Sequence[Lifted], module: Parts, arguments: list[Parts]) -> Parts:
    """The module itself is called, perhaps under nnx.remat."""
    if not remats:
        inner = [*_given(call, arguments), *[part for name, said in call.flags for part in (f", {name}=", said)]]
        return (*module, "(" if call.method == "__call__" else f".{call.method}(", *inner[1:], ")")
    function = _function(call, call.site, remats, module)
    if remats[0].condition is not None:
        test, holds = remats[0].condition
        if call.site.in_setup and not outside_setup(call.writer, call.site, test):
            raise Unmigratable("NNX130", "whether a module is under nn.remat is known to setup only", test)
        plain = _function(call, call.site, (), module)
        yes, no = (function, plain) if holds else (plain, function)
        function = ("(", *yes, " if ", own_words(call.site.source, test), " else ", *no, ")")
    return (*function, "(", *module, *_given(call, arguments), ")")


def _function(call: _Call, site: Site, remats: Sequence[Lifted], module: Parts) -> Parts:
    """What is called with the module first: its class's method, perhaps under nnx.remat.

    nnx.remat takes no arguments by name, and traces what it is given by position: flags are closed over.
    """
    if not call.flags and not _takes_names(call):
        remat = remat_call(call.writer, site, remats, call.method, call.node, module)
        return remat or method_of(call.writer, site, call.method, call.node, module)
    by_name = [str(k.arg) for k in call.keywords]
    if "None" in by_name or (by_name and any("static_argnums" in one.options for one in remats)):
        what = f"`{ast.unparse(call.node.func)}` is called with keywords under nn.remat, and NNX gives it flags there"
        raise Unmigratable("NNX130", what, call.node)
    if not any(l.kind in ("scan", "vmap") for l in transforms_of(site.lifted, call.method)):
        call.tell_apart(())
    flags = [part for name, said in call.flags for part in (f", {name}=", said)]
    parameters = [call.own, *call.labels, *[f"given_{name}" for name in by_name]]
    given = [*call.labels, *[f"{name}=given_{name}" for name in by_name]]
    head = f"lambda {', '.join(parameters)}: {call.own}" + (f".{call.method}" if call.method != "__call__" else "")
    said: Parts = (f"{head}({', '.join(given)}", *(flags if given else flags and [str(flags[0])[2:], *flags[1:]]), ")")
    if not remats:
        return ("(", *said, ")")
    options = remat_options(call.writer, site, remats[0], call.node)
    return (f"{call.writer.namer.name('flax.nnx.remat')}(", *said, *options, ")")


def _takes_names(call: _Call) -> bool:
    """Does the class's method take arguments by name alone in NNX: its own ones, or flags?"""
    called = call.writer.analyser.classes.get(call.site.target)
    found = called.method(call.method) if called is not None else None
    plan = call.writer.plans.get(call.site.target)
    flags = plan is not None and plan.details is not None and plan.details.call_keywords
    moved = call.method == "__call__" and call.writer.analyser.call_fields.get(call.site.target)
    return bool(flags or moved or (found is not None and found.node.args.kwonlyargs))


def _given(call: _Call, arguments: Sequence[Parts]) -> list[Part]:
    """The arguments of a call behind the module, as its function takes them."""
    given = [part for argument in arguments for part in (", ", *argument)]
    if not call.flags and not _takes_names(call):
        return [*given, *_said_keywords(call.site.source, call.keywords)]
    for keyword in call.keywords:
        given += [", ", call.site.source.span(keyword.value)]
    return given


def _said_keywords(source: SourceFile, keywords: Sequence[ast.keyword]) -> list[Part]:
    said: list[Part] = []
    for keyword in keywords:
        said += [", ", f"{keyword.arg}=" if keyword.arg else "**", source.span(keyword.value)]
    return said


def _decorator(call: _Call, lifted: Lifted, how: str, axes: list[Value]) -> Parts:
    """`@nnx.scan(in_axes=..., out_axes=..., ...)`."""
    writer, source = call.writer, call.site.source
    if lifted.kind == "remat":
        options = remat_options(writer, call.site, lifted, call.node)
        remat = writer.namer.name("flax.nnx.remat")
        return (f"@{remat}",) if not options else (f"@{remat}(", *_without_comma(options), ")")
    stack = ""
    if how == "stacked":
        used = used_by(writer, call.site)
        stack = axes_said(writer, lifted, used, _treated(writer, call.site, lifted)[1], method=True)
    name, said = transform_options(writer, lifted, how, axes, source, call.node, stack)
    return (f"@{name}(", *said, ")")


def transform_options(
    writer: ClassText, lifted: Lifted, how: str, axes: Sequence[Value], source: SourceFile, place: ast.AST, stack: str = ""
) -> tuple[str, Parts]:
    """The function that maps (`nnx.scan`, or its counterpart in linen_parity where the module changes), and its options
    as they are said at `place`. `axes` are those of the arguments behind the module, the carry included; `stack` is that of
    the module's variables, where that is no number of `variable_axes`."""
    carry = writer.namer.name("flax.nnx.Carry")
    scan = lifted.kind == "scan"
    helper = how in ("carried", "streams")
    texts = [carry if a == Const("carry") else axis_text(a, lifted) for a in axes]
    if helper:
        texts = texts[1:] if scan else texts
        name = writer.namer.parity("scan_with_state" if scan else "vmap_with_streams")
    else:
        texts = [(stack or str(variable_axis(lifted, ())[1])) if how == "stacked" else "None", *texts]
        name = writer.namer.name(f"flax.nnx.{lifted.kind}")
    options: list[Part] = [f"in_axes=({', '.join(texts)}{',' if len(texts) == 1 else ''})"]
    out = lifted.abs.get("out_axes")
    out_text = axis_text(out.value, lifted) if out is not None else "0"
    options.append(f", out_axes=({carry}, {out_text})" if scan and not helper else f", out_axes={out_text}")
    for option in ("length", "reverse", "unroll") if scan else ("axis_size", "axis_name"):
        if option in lifted.options:
            said = lifted_options.said(source, lifted, option, place, stacked=how == "stacked")
            options += [f", {option}=", said] if said is not None else []
    if "spmd_axis_name" in lifted.options:
        raise Unmigratable("NNX130", f"nn.{lifted.kind} has the option spmd_axis_name", lifted.node)
    return name, (*options, *(stack_metadata(writer, lifted) if how == "stacked" else ()))


def axis_text(value: Value, lifted: Lifted) -> str:
    """An axis, or a tree of axes, as NNX is given it."""
    if is_broadcast(value):
        return "None"
    if isinstance(value, Int) and value.dim.value is not None:
        return str(value.dim.value)
    if isinstance(value, Tup):
        items = [axis_text(i, lifted) for i in value.items]
        if value.kind == "list":
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, Table):
        return "{" + ", ".join(f"{k!r}: {axis_text(v, lifted)}" for k, v in value.items.items()) + "}"
    raise Unmigratable("NNX141", "an axis of a lifted transform is not a constant", lifted.node)


def _without_comma(options: Parts) -> Parts:
    head = options[0]
    assert isinstance(head, str)
    return (head.removeprefix(", "), *options[1:])


def _argument_names(writer: ClassText, site: Site, method: str, count: int) -> list[str]:
    called = writer.analyser.classes.get(site.target)
    names: list[str] = []
    if called is not None:
        found = called.method(method)
        names = [p.arg for p in found.positional] if found is not None else []
    names = names[:count] + [f"x{i}" for i in range(len(names), count)]
    return [n if n != "module" else "module_" for n in names]


__all__ = ["alternative_call", "axis_text", "call_edit", "levels_of", "transform_options"]
