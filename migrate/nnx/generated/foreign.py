"""Modules of packages that are not migrated with the project: `linen_parity.foreign(lib.Block(8), "Block", ...)`.

The package may have become NNX, or make a plain function: `foreign`, a part of the parity module, looks at what was made.
A Linen module is wrapped as a class of the project's that stays Linen is, see `bridging`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Part, Parts
from ...linen.modules.foreign import may_decode
from ...linen.project.index import Project
from ...linen.values.presence import whole_argument
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Array, Value
from ..text.text_parts import joined
from . import bridging, late_fields

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


@dataclasses.dataclass(frozen=True)
class Traits:
    """What a module may hold and do of which no code is seen."""

    sows: bool
    lookups: bool = False
    collections: frozenset[str] = frozenset({"params", "batch_stats"})
    streams: frozenset[str] = frozenset({"dropout"})


def traits(project: Project) -> Traits:
    """Of any such module; it matters what it sows where the project asks for that."""
    return Traits(any({"intermediates", "capture_intermediates"} & source.words for source in project.files.values()))


def bridged(text: ClassText, site: Site, *, later: bool = False) -> Parts:
    """The expression that makes the module of `site`; raises Unmigratable where there is none."""
    try:
        return _wrapped(text, site, later)
    except bridging.Unbridgeable as error:
        name = site.target.rpartition(".")[2]
        found = Unmigratable("NNX150", f"{name}, of another package, cannot be wrapped: {error}", site.node)
        found.lacks = (site, "") if isinstance(error, bridging.UnknownInput) else None
        raise found from error


def _wrapped(text: ClassText, site: Site, later: bool) -> Parts:
    site.traits = traits(text.run.project)
    if site.lifted or site.scopes or site.through or site.choice or site.alternatives or site.passed or site.adopted:
        raise bridging.Unbridgeable("it is lifted, chosen, made by a helper or handed on")
    bridging.check_methods(site)
    if may_decode(site.node) or any(may_decode(node) for node, _, _ in site.calls):
        raise bridging.Unbridgeable("it may have a cache, which Linen makes in the first call that may change it")
    if site.call is None:
        raise bridging.Unbridgeable("it is never called where its inputs could be seen")
    if len({_flags(node) for node, method, _ in site.calls if method == "__call__"}) > 1:
        raise bridging.Unbridgeable("it is called with other inputs the second time, for which it may make other variables")
    named = site.in_setup or site.name is not None
    label = "None" if named else repr(site.target.rpartition(".")[2]).replace("'", '"')
    if late_fields.by_call(site):
        return joined((text.namer.parity("LaterRemade"),), [(label,)])
    arguments: list[Parts] = []
    for field, bound in site.bound.items():
        if bound.node is not None and bridging.mentions_partitioning(bound.node):
            raise bridging.Unbridgeable(f"`{field}` has axes")
        parts = late_fields.said(text, site, field, bound)
        arguments.append(parts if field.startswith("argument ") else (f"{field}=", *parts))
    arguments += late_fields.handed_on(text, site)
    module: list[Part] = [*text.callee(site, site.target), "("]
    for position, argument in enumerate(arguments):
        module += [", " if position else "", *argument]
    given: list[Parts] = [("*args",), ("rngs=rngs",), ("**kwargs",)]
    if not later:
        given = [*_examples(text, site), ("rngs=rngs",)]
    return joined((text.namer.parity("foreign"),), [(*module, ")"), (label,), *given])


def _flags(call: ast.Call) -> frozenset[tuple[str, str]]:
    """How many inputs a call gives, which by name, and the constants among them."""
    given = [*((str(i), value) for i, value in enumerate(call.args)), *((k.arg or "**", k.value) for k in call.keywords)]
    return frozenset((name, ast.unparse(v) if isinstance(v, ast.Constant) else "") for name, v in given)


def _examples(text: ClassText, site: Site) -> Iterator[Parts]:
    """The arguments of the first call; those without a name are called as the caller calls them."""
    assert site.call is not None
    node = site.calls[0][0]
    for position, value in enumerate(site.call.args):
        said = node.args[position] if position < len(node.args) else None
        yield (bridging.example(text, site, _name(said, value, position), value),)
    for keyword, value in site.call.keywords.items():
        yield (f"{keyword}=", bridging.example(text, site, keyword, value))


def _name(node: ast.expr | None, value: Value, position: int) -> str:
    if isinstance(node, ast.Name | ast.Attribute):
        return node.id if isinstance(node, ast.Name) else node.attr
    return (whole_argument(value) if isinstance(value, Array) else "") or f"argument {position + 1}"


def although(first: Unmigratable, failure: Unmigratable | None) -> Unmigratable:
    """Why a class stays Linen that uses another package, where what that makes could be wrapped."""
    if failure is None or failure.reason in first.reason:
        return first
    found = Unmigratable(first.code, f"{first.reason}; and although it can be wrapped: {failure.reason}", first.node)
    found.field = first.field
    return found


__all__ = ["Traits", "although", "bridged", "traits"]
