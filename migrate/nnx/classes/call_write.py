"""The edits to calls of submodules: flags that NNX takes at the call, methods with other names, lifted calls."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...edits import Part, Parts, Span
from ...linen.modules.module_calls import NAMED_TODAY
from ...linen.project.classes import Method
from ...linen.values.environment import Env
from ...linen.values.sites import BoundArg, Module, Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..calls import cells, flag_names, handed_flags, uncalled_flags
from ..factories import field_kinds
from ..lifted import lifted_calls
from ..text import layer_variants
from ..text.text_parts import added_arguments, joined, length
from . import stack_axes

if TYPE_CHECKING:
    from .class_write import ClassWriter

_NORMS = frozenset({"BatchNorm", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm"})
_LINE = 80  # characters of a line that arguments are moved up to


def write(writer: ClassWriter, site: Site) -> None:
    """The edits to all calls of what a site makes."""
    seen: set[ast.Call] = set()
    writer.asked |= stack_axes.fields_read(site.lifted) & writer.run.fields.keys()
    tests = [lifted.condition[0] for lifted in site.lifted if lifted.condition is not None]
    said = [test for test in tests if test not in site.source.parents]  # a condition of setup's names, in other words
    writer.asked |= {n.attr for test in said for n in subtree(test) if isinstance(n, ast.Attribute)}
    for node, method, env in site.calls:
        if node in seen or env.source.path != site.source.path:
            continue
        seen.add(node)
        others = [s for s in writer.run.sites if s is not site and any(call is node for call, _, _ in s.calls)]
        if others and not site.choice and any(s.lifted for s in [site, *others]):
            lines, parts = lifted_calls.alternative_call(writer.text, [site, *others], node, method, env)
            told = " ".join(part for part in parts if isinstance(part, str))
            writer.asked |= set(re.findall(r"\bself\.(\w+)", told)) & writer.run.fields.keys()
            if writer.run.sites.index(site) < min(map(writer.run.sites.index, others)):  # once for all of them
                writer.put_before(env.source, env.source.statement_of(node), lines)
            writer.put(node, *parts, source=env.source)
        elif layer_variants.takes_calls_as_they_are(writer.run, site, node, method):
            continue
        elif site.kind == "layer" and not lifted_calls.levels_of(writer.text, site, node, method):
            _layer_call(writer, site, node, method, env, others)
        elif lifted_calls.levels_of(writer.text, site, node, method):
            _lifted_call(writer, site, node, method, env)
        elif site.kind == "class" and cells.is_carry_call(writer, site, method):
            writer.put(node, *cells.carry_call(env.source, node), source=env.source)
        elif site.kind == "class":
            _class_call(writer, site, node, method, env, others)


def _calltime(writer: ClassWriter, site: Site, env: Env, call: ast.Call) -> list[tuple[str, Parts]]:
    """Flags that Linen gave to the constructor and NNX takes at the call."""
    source, layer = env.source, layers.lookup(site.target)
    assert layer is not None
    found: list[tuple[str, Parts]] = []
    for name in writer.text.moved_fields(site, layer):
        node = site.bound[name].node
        if node is not None:
            flag_names.check(writer.run, source, node, call, env)
            found.append((name, (flag_names.words(writer.run, source, node),)))
    for key, (node, where, _) in site.calltime.items():
        if site.factory is not None and site.factory.field:
            found.append((key, (writer.text._calltime_name(site, key),)))
            continue
        node = flag_names.nearest(writer.run, source, node, call)
        if where is source or node in source.parents:
            flag_names.check(writer.run, source, node, call, env)
            found.append((key, (flag_names.words(writer.run, source, node),)))
        else:
            raise Unmigratable("NNX172", f"`{key}` of a module is set in another file", call)
    return found


def _layer_call(writer: ClassWriter, site: Site, node: ast.Call, method: str, env: Env, others: list[Site]) -> None:
    source = env.source
    layer = layers.lookup(site.target)
    assert layer is not None
    args = {k: layers.Arg(_argument_text(writer, b), b.abs.value) for k, b in site.bound.items()}
    positional: list[Parts] = [(source.span(a),) for a in node.args]
    keywords: list[tuple[str | None, Parts]] = [
        (k.arg, (source.span(k.value),) if k.arg else ("**", source.span(k.value))) for k in node.keywords
    ]
    differing = field_kinds.flags(site)
    moved: list[tuple[str | None, Parts]] = [] if differing else list(_calltime(writer, site, env, node))
    before = (list(positional), list(keywords), None if method == "__call__" else method)
    today = site.renders.get(NAMED_TODAY, {}).get(node, {}) if method == "__call__" else {}
    keywords += [(name, positional[i]) for i, name in today.items()]
    positional = [words for i, words in enumerate(positional) if i not in today]
    if uncalled_flags.are_shared(writer, site, others, node):
        taken: list[Part] = [writer.namer.parity("taken"), "(", source.span(node.func)]
        for name, value in moved:
            taken += [f", {layer.call_time_fields.get(name or '', name)}=", *value]
        moved = [(None, ("**", *taken, ")"))]
    given = [*keywords, *moved]
    if method == "__call__" and any(isinstance(a, ast.Starred) for a in node.args):
        after = _with_rest(layer, args, node, positional, given)
    elif method == "__call__":
        after = layer.call(args, positional, given)
    else:
        after = layer.call_method(method, args, positional, given)
    unlike = any(other.target != site.target for other in others) or any(k == "layer_instance" for k, _ in after[1])
    if others and unlike and len(after[1]) > len(given):
        what = f"one call of {site.target.rpartition('.')[2]} and of other modules, which take other arguments in NNX"
        raise Unmigratable("NNX203", what, node)
    for part in layer.parity_of_call(args, [k for k, _ in after[1]]):
        writer.namer.parity(part)
    if site.alternatives:
        _same_call(writer, site, method, positional, keywords, after if not moved else None, node)
    if (list(after[0]), list(after[1]), after[2]) == before and not moved and not differing:
        _close_up(writer, site, node, source)
        return
    func: Parts = (source.span(node.func),)
    if method != "__call__" and isinstance(node.func, ast.Attribute):
        func = (source.span(node.func.value),)
    if after[2] is not None:
        func = (*func, f".{after[2]}")
    arguments = list(after[0]) + [(f"{k}=", *p) if k else p for k, p in after[1]]
    if differing:
        arguments.append(_taken(writer, site, differing, env, node))
    named = [writer.text.named(a) for a in arguments]
    writer.put(node, *joined(func, named), source=source)


def _with_rest(
    layer: layers.Layer, args: dict[str, layers.Arg], node: ast.Call, positional: list[Parts], given: list
) -> layers.CallText:
    """`self.norm(x, *args)`: a norm takes no more than one array by its place, so that the rest stays where it is."""
    if type(layer).call is layers.Layer.call:
        return layer.call(args, positional, given)
    kept = [said for said, a in zip(positional, node.args) if not isinstance(a, ast.Starred)]
    after = layer.call(args, kept, given)
    if list(after[0]) != kept or len(kept) != 1 or layer.linen.rpartition(".")[2] not in _NORMS:
        raise Unmigratable("NNX203", f"`{ast.unparse(node)}` takes other arguments in NNX, and it is not seen which", node)
    return positional, after[1], after[2]


def _same_call(
    writer: ClassWriter, site: Site, method: str, positional: list[Parts], keywords: list, after: object, node: ast.Call
) -> None:
    """Every kind of module must be called with the same arguments, flags apart."""
    as_it_is = (positional, keywords, None if method == "__call__" else method)
    for kind in (site, *site.alternatives) if after is None else site.alternatives:
        layer = layers.lookup(kind.target) if kind.kind == "layer" else None
        if layer is None:  # a class of the project, which is called as it was
            after = as_it_is if after is None else after
            if after != as_it_is:
                raise Unmigratable("NNX163", "modules of several kinds are called in different ways in NNX", node)
            continue
        args = {k: layers.Arg(_argument_text(writer, b), b.abs.value) for k, b in kind.bound.items()}
        if method == "__call__":
            made = layer.call(args, positional, keywords)
        else:
            made = layer.call_method(method, args, positional, keywords)
        after = made if after is None else after
        if made != after or layer.parity_of_call(args, [k for k, _ in made[1]]):
            raise Unmigratable("NNX163", "modules of several kinds are called in different ways in NNX", node)


def _taken(writer: ClassWriter, site: Site, flags: dict[str, tuple[Site, Any]], env: Env, call: ast.Call) -> Parts:
    """`**linen_parity.taken(self.norm, use_running_average=...)`: flags for those modules that have them."""
    if writer.text.names.places[site].iterator:
        raise Unmigratable("NNX163", "modules of several kinds with different flags are made in nested loops", site.node)
    source = env.source
    parts: list[Part] = ["**", writer.namer.parity("taken"), "(", *writer.text.reference(site)]
    for key, (kind, (node, where, _)) in flags.items():
        layer = layers.lookup(kind.target)
        keyword = layer.call_time_fields.get(key, key) if layer is not None else key
        if kind.factory is not None and kind.factory.field:
            parts += [f", {keyword}={writer.text._calltime_name(kind, key)}"]
            continue
        node = flag_names.nearest(writer.run, source, node, call)
        if where is source or node in source.parents:
            flag_names.check(writer.run, source, node, call, env)
            parts += [f", {keyword}=", flag_names.words(writer.run, source, node)]
        else:
            raise Unmigratable("NNX172", f"`{key}` of a module is set in another file", site.node)
    return (*parts, ")")


def _argument_text(writer: ClassWriter, bound: BoundArg) -> Parts:
    """A constructor argument as the method says it, for the few calls that repeat one."""
    if isinstance(bound.abs.value, Module):
        place = writer.text.names.places.get(bound.abs.value.site)
        if place is not None and place.kind == "attribute":
            return writer.text.reference(bound.abs.value.site)
    if bound.node is None or bound.localized is None or bound.localized.source is not writer.source:
        return ("",)
    return (writer.source.span(bound.node),)


def _class_call(writer: ClassWriter, site: Site, node: ast.Call, method: str, env: Env, others: list[Site]) -> None:
    """A factory's flags, which a submodule's call now takes, are handed to it."""
    source = env.source
    if site.alternatives:
        positional: list[Parts] = [(source.span(a),) for a in node.args]
        keywords = [(k.arg, (source.span(k.value),) if k.arg else ("**", source.span(k.value))) for k in node.keywords]
        _same_call(writer, site, method, positional, keywords, None, node)
    flags = handed_flags.of_call(writer.text, site, node, env)
    differing = field_kinds.flags(site)
    if not flags and not differing:
        _close_up(writer, site, node, source)
        return
    if source.text[source.span(node).end - 1] != ")":
        raise Unmigratable("NNX172", "a call that does not end in a bracket", node)
    arguments: list[Parts] = [(f"{name}=", value) for name, value in flags]
    if flags and uncalled_flags.are_shared(writer, site, others, node):
        given = [part for argument in arguments for part in (", ", *argument)]
        arguments = [("**", writer.namer.parity("taken"), "(", source.span(node.func), *given, ")")]
    if differing:
        arguments.append(_taken(writer, site, differing, env, node))
    if any(uncalled_flags.takes_some(writer, other) for other in others):  # as these write it, too
        own: list[Parts] = [(source.span(a),) for a in node.args]
        own += [((f"{k.arg}=" if k.arg else "**"), source.span(k.value)) for k in node.keywords]
        said = [writer.text.named(a) for a in [*own, *arguments]]
        writer.put(node, *joined((source.span(node.func),), said), source=source)
        return
    for at, more in added_arguments(source, node, arguments):
        writer.insert(at, *more, source=source)


def _close_up(writer: ClassWriter, site: Site, node: ast.Call, source: SourceFile) -> None:
    """`self.Dense_0(⏎    x⏎)`: what stood on a line of its own behind a long constructor joins the short name."""
    given = [source.span(n.value if isinstance(n, ast.keyword) else n) for n in [*node.args, *node.keywords]]
    text, opened = source.text, source.span(node.func).end
    if node.func is not site.node or not given or text[opened] != "(" or text[source.span(node).end - 1] != ")":
        return
    start = opened + 1 + len(text[opened + 1 : given[0].start]) - len(text[opened + 1 : given[0].start].lstrip())
    last, end = max(span.end for span in given), source.span(node).end - 1
    between = [text[opened + 1 : start], text[last:end]]
    if "\n" in text[start:last] or not any("\n" in space for space in between) or between[1].strip() not in ("", ","):
        return
    line = text.rfind("\n", 0, source.span(node).start) + 1
    said = length(writer.text.reference(site)) + last - start + len(text[end : text.find("\n", end)])
    if source.span(node).start - line + said > _LINE:
        return
    for space in (Span(opened + 1, start), Span(last, end)):
        if space.start < space.end:
            writer.put(space, source=source)


def _lifted_call(writer: ClassWriter, site: Site, node: ast.Call, method: str, env: Env) -> None:
    lines, expression = lifted_calls.call_edit(writer.text, site, node, method, env)
    statement = site.source.statement_of(node)
    writer.put_before(site.source, statement, lines)
    writer.put(node, *expression, source=site.source)


def parameters(writer: ClassWriter) -> None:
    """Flags that factories in fields used to hold become keyword-only parameters of the methods that use them."""
    if not writer.text.call_keywords:
        return
    method = writer.model.own_methods.get("__call__")
    if method is None or any(s.method != "__call__" for s in writer.run.sites if s.factory and s.factory.field):
        raise Unmigratable("NNX172", "modules made by a field's factory are used outside of __call__")
    arguments = method.node.args
    if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        raise Unmigratable("NNX172", "__call__ already has keyword-only arguments")
    taken = writer.text.call_keywords.keys() & {p.arg for p in method.parameters}
    if taken:
        raise Unmigratable("NNX172", f"__call__ has an argument `{min(taken)}` of its own")
    end = max(writer.source.span(n).end for n in [*arguments.args, *arguments.defaults])
    kinds = {name: "bool | None = None" if name in writer.text.perhaps else "bool" for name in writer.text.call_keywords}
    writer.insert(end, ", *, " + ", ".join(f"{name}: {kind}" for name, kind in kinds.items()))
    _hand_to_bases(writer, method)


def _hand_to_bases(writer: ClassWriter, method: Method) -> None:
    """`super().__call__(x)` gives the call of the base what that takes for the modules that a field makes there."""
    own = {held: name for name, held in writer.text.call_keywords.items()}
    for node, base in writer.run.super_calls:
        if base.name != "__call__" or node not in method.nodes:
            continue
        plan = writer.text.plans.get(base.owner.qualname)
        if plan is None or plan.details is None or not own.keys() >= set(plan.details.call_keywords.values()):
            reason = f"what the call of {base.owner.name}, a base, takes for the modules of a field is not known"
            raise Unmigratable("NNX172", reason, node)
        flags = [f"{name}={own[held]}" for name, held in plan.details.call_keywords.items()]
        if flags:
            given = [*node.args, *node.keywords]
            at = writer.source.span(given[-1]).end if given else writer.source.span(node).end - 1
            writer.insert(at, f"{', ' if given else ''}{', '.join(flags)}")
