"""The conditions under which a module that is made has variables: Linen makes them when it is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.values.presence import GIVEN, Step, asked
from ...linen.values.sites import (
    DimPart,
    DtypePart,
    Localized,
    LocalizedPart,
    ShapePart,
    Site,
    SitePart,
    Unmigratable,
)
from ...source import SourceFile
from ...trees import subtree
from ..text import elsewhere
from ..text.text_parts import bare, whole

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def made_when(text: ClassText, site: Site) -> Parts | None:
    """The condition under which setup's layer has variables: Linen makes them when it is called.

    None: always. (): never, as it is only ever applied with weights from elsewhere.
    """
    paths: tuple[tuple[Step, ...], ...] = site.renders.get("paths", ())
    alone = _is_assigned(site)
    applied = [a.node.func for a in text.run.applied.values() if a.site is site]
    one = bool(site.container) if site.loops else alone  # an item of a list is asked for as a module alone is
    if not (one and site.in_setup and (paths or applied)):
        return None
    asked_of, sizes = asked_of_calls(text, site), sizes_asked(text, site)
    if paths and not asked_of and not sizes:
        return None
    calls = {node.func for one in (site, *_beside(text, site)) for node, _, _ in one.calls}
    reads = [n for a in applied if isinstance(a, ast.Attribute) for n in [a.value]]
    reads += [shared.module for shared in text.run.shared_scopes]
    for method in text.model.methods().values():
        for node in method.nodes:
            if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"):
                continue
            if node.attr == site.container and isinstance(node.ctx, ast.Load) and method.name != "setup":
                held = method.source.parents.get(node)
                if _is_handed_on(text, method.source, held):
                    continue  # to what calls it under its own conditions
                known = node in calls or node in reads or held in calls or _goes_through(method.source, node, site)
                if not known and not _is_picked(text, method.source, node, calls):
                    return None  # it is read for something else
    return together(text, site, asked_of, sizes)


def _is_assigned(site: Site) -> bool:
    """Is the layer all that an attribute is given, or what a condition gives it, or an item of a dict or list that it is?"""
    parents = site.source.parents
    node: ast.AST = site.node
    held = parents.get(node)
    while isinstance(held, ast.IfExp) and held.test is not node:
        node, held = held, parents.get(held)
    if isinstance(held, ast.List | ast.Tuple | ast.Dict):
        node, held = held, parents.get(held)
    return isinstance(held, ast.Assign) and len(held.targets) == 1 and held.value is node


def _beside(text: ClassText, site: Site) -> list[Site]:
    """The other modules that the same attribute holds."""
    return [s for s in text.run.sites if s is not site and s.in_setup and s.container and s.container == site.container]


def check_told(text: ClassText) -> None:
    """Refuse a module that is made or called under several conditions together that the constructor cannot ask."""
    for site in text.run.sites:
        paths = site.renders.get("paths", ()) if site.in_setup else (site.renders.get("made_under", ()),)
        if site.kind not in ("layer", "class") or site.target.rpartition(".")[2] == "Dropout" or not paths:
            continue
        if site.in_setup and site.conditions:
            continue  # made as setup says: by its own conditions
        for step in paths[0]:
            if GIVEN in step.deps and step.holds and all(step in path for path in paths):
                reason = f"whether a module is there is decided by an optional array and more: `{step.text}`"
                raise Unmigratable("NNX110", reason, site.node)


def _is_handed_on(text: ClassText, source: SourceFile, held: ast.AST | None) -> bool:
    """Is it given to an nn.Sequential, or to a class that calls it, which is made where it is called?"""
    while isinstance(held, ast.List | ast.Tuple | ast.keyword):
        held = source.parents.get(held)
    return any(other.node is held and other.calls and not other.in_setup for other in text.run.sites)


def _goes_through(source: SourceFile, read: ast.AST, site: Site) -> bool:
    """Is a list read for its length, or for a loop that calls the items?"""
    held = source.parents.get(read)
    if isinstance(held, ast.Call) and isinstance(held.func, ast.Name) and held.func.id == "len":
        return True
    around = {part for node, _, _ in site.calls for part in source.ancestors(node)}
    for parent in source.ancestors(read):
        if isinstance(parent, ast.comprehension):
            return source.parents.get(parent) in around and not _within(source, read, parent.target)
        if isinstance(parent, ast.For):
            return parent in around and _within(source, read, parent.iter)
    return False


def _is_picked(text: ClassText, source: SourceFile, read: ast.AST, calls: set[ast.expr]) -> bool:
    """`f = self.a if self.flag else self.b`, where `f` is only called, or what a method returns that is"""
    part, held = read, source.parents.get(read)
    while isinstance(held, ast.IfExp) and part is not held.test:
        part, held = held, source.parents.get(held)
    if part in calls:  # `(self.a if self.flag else self.b)(x)`
        return True
    function = source.function_of(read)
    if isinstance(held, ast.Return) and function is not None:
        asked = [m.source.parents.get(n) for m in text.model.methods().values() for n in m.nodes if _names(n, function.name)]
        return bool(asked) and all(isinstance(call, ast.Call) and call in calls for call in asked)
    target = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 and held.value is part else None
    if not isinstance(target, ast.Name) or function is None:
        return False
    names = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == target.id]
    return all(isinstance(n.ctx, ast.Store) or n in calls for n in names)


def _names(node: ast.AST, method: str) -> bool:
    """`self.pick`"""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return own and node.attr == method  # type: ignore[attr-defined]


def _within(source: SourceFile, node: ast.AST, whole: ast.AST) -> bool:
    return node is whole or whole in source.ancestors(node)


def asked_of_calls(text: ClassText, site: Site) -> list[Step]:
    """What the constructor can ask of the conditions that all calls of a module are under, and its making is not."""
    paths: tuple[tuple[Step, ...], ...] = site.renders.get("paths", ())
    common = [step for step in (paths[0] if paths else ()) if all(step in path for path in paths)]
    already = site.renders.get("made_under", ())
    chosen = {(ast.unparse(test), holds) for test, holds in site.choice}  # the factory is picked under them
    said = [s for s in common if not s.deps and s not in already and (s.text, s.holds) not in chosen]
    return [s for s in said if asks_fields(text, s)]


def sizes_asked(text: ClassText, site: Site) -> list[tuple[Localized, bool]]:
    """The conditions on sizes, `if x.shape[-1] != self.width`, that all calls of a module are under, and not its making."""
    ways: tuple[tuple[tuple[Localized, bool], ...], ...] = site.renders.get("sized", ())
    if site.loops or site.lazy or not ways:
        return []
    already = site.renders.get("made_sized", ())
    common = [way for way in ways[0] if all(way in other for other in ways) and way not in already]
    own = [way for way in dict.fromkeys(common) if elsewhere.is_own(way[0], text.source)]
    return [way for way in own if _asks_widths(way[0])]


def _asks_widths(test: Localized) -> bool:
    """Does a condition ask for widths and fields alone? What else it asks would be one more argument of the constructor."""
    for part in [part for _, parts in test.replaced for part in parts]:
        if isinstance(part, LocalizedPart):
            if not _asks_widths(part.localized):
                return False
        elif isinstance(part, DimPart):
            if any(a.kind in ("rank", "lead", "local") or (a.kind == "input" and a.args[1] != -1) for a in part.dim.atoms()):
                return False
        elif isinstance(part, SitePart | ShapePart | DtypePart):
            return False
    return True


def together(text: ClassText, site: Site, steps: Sequence[Step], sizes: Sequence[tuple[Localized, bool]]) -> Parts:
    """Several conditions as the constructor asks them."""
    said: list[Parts] = [(part,) for part in dict.fromkeys(step_text(text, step, site) for step in steps)]
    for test, holds in sizes:
        parts = whole(text.said(test), text.source.text)
        if not holds:
            parts = ("not (", *parts, ")")
        elif len(said) + len(sizes) > 1:
            parts = ("(", *parts, ")")
        said.append(parts)
    return tuple(part for n, parts in enumerate(said) for part in ((" and ",) * bool(n) + parts))


def asks_fields(text: ClassText, step: Step) -> bool:
    """Can the constructor ask it: about fields and optional arguments only?"""
    if asked(step.text) is not None:
        return True
    return all(name in text.run.fields for name in re.findall(r"\bself\.(\w+)", step.text))


def step_text(text: ClassText, step: Step | None, site: Site) -> str:
    """A condition as the constructor asks it."""
    if step is None or step.deps:
        raise Unmigratable("NNX110", "whether an optional array is given is known only when called", site.node)
    question = asked(step.text)
    if question is None:
        said = text.own_text(step.text)
        simple = re.fullmatch(r"[\w.]+", said) is not None or bare((said,)) != (said,)
        return said if step.holds else f"not {said}" if simple else f"not ({said})"
    argument, present = question
    return is_given(text, argument, present == step.holds)


def is_given(text: ClassText, argument: str, present: bool = True) -> str:
    """Whether an optional array is given (or not), as the constructor asks it."""
    text.optional.add(argument)
    text.used.setdefault(argument, {-1})
    return f"{text.size_name(argument)} is {'not ' if present else ''}None"


def asking_sizes(text: ClassText, condition: str) -> str:
    """A condition of several parts, where `__given__.memory` becomes whether the size of `memory` is given."""
    return re.sub(rf"\b(not )?{GIVEN}\.(\w+)", lambda m: is_given(text, m[2], m[1] is None), condition)
