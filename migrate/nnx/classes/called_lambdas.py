"""What a lambda gives that is called where it stands: `(lambda key: jnp.ones(3))(rngs.params())` is `jnp.ones(3)`."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...edits import Part, Parts, Span
from ...linen.values.sites import Localized, LocalizedPart, Site
from ...trees import subtree

if TYPE_CHECKING:
    from .class_text import ClassText

# Where a name may mean something else than around them, or be asked more often than it is written.
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
Argument = Localized | str


def lambda_of(said: Localized, site: Site) -> ast.Lambda | None:
    """The lambda that an argument of a call is, written there."""
    for node in subtree(site.node):
        if isinstance(node, ast.Lambda) and said.source.span(node) == said.span:
            return node
    return None


def result(text: ClassText, site: Site, function: Localized, arguments: Sequence[Argument]) -> Parts | None:
    """The body of a lambda with what it is given by position in place of its parameters, in their own text or, as rngs are,
    in words of the constructor; None for what is no lambda, or where that could mean something else: an argument that the
    body asks more than once, names that are bound within the body.
    """
    node = lambda_of(function, site)
    if node is None or any(isinstance(inner, _SCOPES) for inner in subtree(node.body)):
        return None
    bound = _bound(node, function, arguments)
    if bound is None:
        return None
    used = [inner for inner in subtree(node.body) if isinstance(inner, ast.Name) and inner.id in bound]
    counts = Counter(inner.id for inner in used)
    rest = node.args.vararg.arg if node.args.vararg else None
    if rest and any(isinstance(inner, ast.Name) and inner.id == rest for inner in subtree(node.body)):
        return None
    if any(count > 1 and not _is_short(bound[name]) for name, count in counts.items()):
        return None
    if any(isinstance(bound[inner.id], Localized) and not _is_given(inner, node, function) for inner in used):
        return None
    body = function.source.span(node.body)
    if site.in_own_words(text.source):
        return _in_own_words(text, site, body, [(function.source.span(inner), bound[inner.id]) for inner in used])
    put = tuple((function.source.span(i), (_part(bound[i.id]),)) for i in used)
    said = _within(function, node.body)
    needs = said.needs.union(*(one.needs for i in used if isinstance(one := bound[i.id], Localized)))
    return text.said(dataclasses.replace(said, replaced=(*said.replaced, *put), needs=needs))


def _within(said: Localized, node: ast.expr) -> Localized:
    """A part of what is said."""
    span = said.source.span(node)
    replaced = tuple((at, parts) for at, parts in said.replaced if span.contains(at))
    return dataclasses.replace(said, span=span, replaced=replaced)


def _bound(node: ast.Lambda, function: Localized, arguments: Sequence[Argument]) -> dict[str, Argument] | None:
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    if node.args.kwonlyargs or (len(arguments) > len(names) and node.args.vararg is None):
        return None
    bound = dict(zip(names, arguments, strict=False))
    defaults = dict(zip(reversed(names), reversed(node.args.defaults), strict=False))
    for name in names[len(arguments) :]:
        if name not in defaults:
            return None
        bound[name] = _within(function, defaults[name])
    return bound


def _is_given(name: ast.Name, node: ast.Lambda, function: Localized) -> bool:
    """Is it an argument of a call or an item, where any expression may stand without brackets?"""
    above = function.source.parents[name]
    return (
        name is node.body
        or isinstance(above, ast.keyword | ast.Tuple | ast.List)
        or (isinstance(above, ast.Call) and above.func is not name)
    )


def _is_short(said: Argument) -> bool:
    """A name, an attribute or a constant, which may be said again."""
    if isinstance(said, str):
        return False
    text = said.source.text[said.span.start : said.span.end]
    return text.replace(".", "").replace("_", "").isalnum()


def _part(said: Argument) -> LocalizedPart | str:
    return said if isinstance(said, str) else LocalizedPart(said)


def _in_own_words(text: ClassText, site: Site, body: Span, put: list[tuple[Span, Argument]]) -> Parts:
    parts: list[Part] = []
    at = body.start
    for span, said in sorted(put, key=lambda item: item[0].start):
        parts.append(Span(at, span.start))
        parts += [said] if isinstance(said, str) else text.expression(said, site)
        at = span.end
    return (*parts, Span(at, body.end))
