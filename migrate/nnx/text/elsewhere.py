"""Expressions of another file, as a constructor says them: its imports decide what the names are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from ...catalog.functions import function
from ...edits import Overlay, Part, Parts, Span
from ...linen.project.imports import importable
from ...linen.values.other_files import LIBRARIES, OF, SAID, is_builtin, name_in
from ...linen.values.sites import Localized, LocalizedPart, Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.project.index import Project
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter


def is_own(localized: Localized, source: SourceFile) -> bool:
    """Does all of it stand in one file?"""
    if localized.source is not source:
        return False
    inner = [p.localized for _, parts in localized.replaced for p in parts if isinstance(p, LocalizedPart)]
    return all(is_own(one, source) for one in inner)


def said(writer: ClassText, localized: Localized) -> Parts:
    """The expression as parts of the class's own file: text from elsewhere under the names that mean the same here."""
    source, own = localized.source, localized.source is writer.source
    edits: list[tuple[Span, Parts]] = []
    for span, parts in localized.replaced:
        out: list[Part] = []
        for part in parts:
            if isinstance(part, LocalizedPart):
                out += said(writer, part.localized)
            elif isinstance(part, str):
                out.append(part)
            elif isinstance(part, Span):
                out.append(Overlay(part, ()) if own else _text(writer, source, part))
            elif isinstance(part, Overlay):
                reason = f"a text of {source.path.name} is needed in the constructor, changed"
                raise Unmigratable("NNX135", reason, writer.model.node)
            else:
                out.append(writer.resolve(part))
        edits.append((span, tuple(out)))
    if not own:
        covered = [span for span, _ in edits]
        writer.of_other_files.append((source, localized.span, covered))
        for span, text in _names(writer, source, localized.span):
            if not any(c.contains(span) for c in covered):
                edits.append((span, (text,)))
    edits.sort(key=lambda edit: (edit[0].start, -edit[0].end))
    found: list[Part] = []
    at = localized.span.start
    for span, parts in edits:
        if span.start < at:
            continue  # inside of what has been replaced as a whole
        if span.start > at:
            found.append(Overlay(Span(at, span.start), ()) if own else source.text[at : span.start])
        found += parts
        at = span.end
    if at < localized.span.end:
        found.append(Overlay(Span(at, localized.span.end), ()) if own else source.text[at : localized.span.end])
    return tuple(found)


def _refuse_rewritten(writer: ClassWriter) -> None:
    """Refuse text of another file that is rewritten where it stands: a partial without `name=`, a lambda as a partial."""
    for source, span, covered in writer.text.of_other_files:
        makers = [source.span(node) for node in _makers(writer.run.project, source) if span.contains(source.span(node))]
        for edit in writer.edits if makers else ():
            within = edit.source is source and not edit.insert and any(maker.contains(edit.span) for maker in makers)
            if within and not any(one.contains(edit.span) for one in covered):
                text = " ".join(source.text[edit.span.start : edit.span.end].split())
                reason = f"`{text}` of {source.path.name} is needed in the constructor of another file"
                raise Unmigratable("NNX135", reason, writer.model.node)


def _makers(project: Project, source: SourceFile) -> Iterator[ast.AST]:
    yield from source.by_kind.get(ast.Lambda, ())
    for node in source.by_kind.get(ast.Call, ()):
        assert isinstance(node, ast.Call)
        if project.qualname(source, node.func) == "functools.partial":
            yield node


_SAID = {"nnx": "flax.nnx", "functools": "functools", "jnp": "jax.numpy", "jax": "jax"}


def named_in(own: SourceFile, where: SourceFile, parts: Parts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What new text in a file other than the class's names: parts of linen_parity, and modules to import there."""
    if where is own:
        return (), ()
    text = "".join(part for part in parts if isinstance(part, str))
    modules: list[str] = []
    for name in dict.fromkeys(re.findall(r"(?<![.\w])(nnx|functools|jnp|jax)\.", text)):
        known = where.names.imports.get(name)
        if known not in (None, _SAID[name]) or name in where.names.definitions or _bound_inside(where, name):
            raise Unmigratable("NNX135", f"{where.path.name} would have to import {name}, which is something else there")
        if known is None:
            modules.append(_SAID[name])
    return tuple(dict.fromkeys(re.findall(r"\blinen_parity\.(\w+)", text))), tuple(modules)


def _bound_inside(source: SourceFile, name: str) -> bool:
    """Is the name an argument or a variable somewhere in the file?"""
    stored = any(n.id == name and not isinstance(n.ctx, ast.Load) for n in source.by_kind.get(ast.Name, ()))  # type: ignore[attr-defined]
    return stored or any(n.arg == name for n in source.by_kind.get(ast.arg, ()))  # type: ignore[attr-defined]


def _text(writer: ClassText, source: SourceFile, span: Span) -> str:
    """A text of another file as the class's file says it."""
    out, at = "", span.start
    for name, text in sorted(_names(writer, source, span), key=lambda found: found[0].start):
        out += source.text[at : name.start] + text
        at = name.end
    return out + source.text[at : span.end]


def _names(writer: ClassText, source: SourceFile, expression: Span) -> Iterator[tuple[Span, str]]:
    """The module-level names in the expression that are called something else in the class's file."""
    for node in source.by_kind.get(ast.Name, ()):
        assert isinstance(node, ast.Name)
        span = source.span(node)
        if not expression.contains(span) or not isinstance(node.ctx, ast.Load) or source.names.is_hidden(node.id, node):
            continue
        chain: ast.expr = node
        while isinstance(outer := source.parents.get(chain), ast.Attribute) and outer.value is chain:
            chain = outer
        dotted = writer.run.project.qualname(source, chain) or writer.run.project.qualname(source, node)
        if dotted is None and is_builtin(writer.run.project, writer.source, node.id):
            continue
        where = chain if dotted == writer.run.project.qualname(source, chain) else node
        text = here(writer, dotted) if dotted is not None else None
        if text is None and (imported := _imported(writer, source, node)) is not None:
            yield span, imported
            continue
        if text is None:
            what = f"`{ast.unparse(where)}` of {source.path.name}"
            reason = f"{what} is needed in the constructor, whose file does not have it"
            raise Unmigratable("NNX135", reason, node)
        yield source.span(where), text


def here(writer: ClassText, dotted: str) -> str | None:
    """What means `dotted` in the class's file; None where nothing does that is sure to be there."""
    today = function(dotted)
    if today is not None and today.startswith("linen_parity."):
        return writer.namer.parity(today.removeprefix("linen_parity."))
    if today is not None or (dotted.partition(".")[0] in LIBRARIES) or dotted.startswith("flax.nnx."):
        return writer.namer.name(today or dotted)
    if dotted.startswith("flax.linen"):
        return None
    known = name_in(writer.run.project, writer.source, dotted)
    if known is not None and known.partition(".")[0] in writer.run.fields.keys() | writer.bound:
        known = None  # the constructor has something else by that name
    found = importable(writer.run.project, writer.source, dotted) if known is None else None
    return known if found is None else writer.namer.imported(found[0]) + found[1]


def in_own_words(writer: ClassText, text: str) -> str:
    """The text of a size, with what names of other files are called in the class's file."""

    def called(match: re.Match[str]) -> str:
        found = here(writer, match[1][1:])
        if found is None:
            name = re.sub(r"^\.(__method__\.|builtins\.|__function__\.\w+\.)?", "", match[1])
            where = "the function around another class" if "__function__" in match[1] else "another file"
            reason = f"`{name}` of {where} is needed in the constructor, whose file does not have it"
            raise Unmigratable("NNX135", reason, writer.model.node)
        return found

    return SAID.sub(called, text)


def check(writer: ClassWriter) -> None:
    """Refuse text of other files that would not be what is needed here."""
    _refuse_rewritten(writer)
    _refuse_unsaid(writer)


def _refuse_unsaid(writer: ClassWriter) -> None:
    """Refuse text that holds a name of another file for which nothing has asked what it is called here."""
    todo: list[Part] = [part for edit in writer.edits for part in edit.parts]
    while todo:
        part = todo.pop()
        if isinstance(part, Overlay):
            todo += [inner for edit in part.edits for inner in edit.parts]
        found = SAID.search(part) if isinstance(part, str) and OF in part else None
        if found is not None:
            reason = f"`{found[1][1:]}` of another file is needed in the constructor"
            raise Unmigratable("NNX135", reason, writer.model.node)


def _imported(writer: ClassText, source: SourceFile, name: ast.Name) -> str | None:
    """What a method of a base calls something that its file has from before the class, imported from there.

    The class's own file imports the base, so that what is bound before it is there, also where files import each other.
    """
    around = [node for node in source.ancestors(name) if isinstance(node, ast.ClassDef)]
    if not around or around[-1] not in [model.node for model in writer.model.mro()]:
        return None
    binders = [s for s in source.tree.body if name.id in _bound_by(s)]
    first = source.tree.body.index(around[-1]) if around[-1] in source.tree.body else -1
    before = bool(binders) and all(source.tree.body.index(s) < first for s in binders)
    before = before and not any(name.id in g.names for g in source.by_kind.get(ast.Global, ()))  # type: ignore[attr-defined]
    linen = (writer.run.project.qualname(source, name) or "flax.linen").startswith("flax.linen")
    return writer.namer.imported(f"{source.module}.{name.id}") if before and source.module and not linen else None


def _bound_by(statement: ast.stmt) -> Set[str]:
    """The names that a statement of a file binds, if it is a plain one."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return {statement.name}
    return {n.id for n in subtree(statement) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def class_here(writer: ClassText, site: Site, node: ast.expr) -> str:
    """The class of a construction that stands in another file, as the class's own file calls it."""
    project, text = writer.run.project, ast.unparse(node)
    if project.qualname(writer.source, ast.parse(text, mode="eval").body) == site.target:
        return text
    found = here(writer, site.target)
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if found is None and isinstance(root, ast.Name):
        name = _imported(writer, site.source, root)
        found = text.replace(root.id, name, 1) if name is not None else None
    if found is None:
        reason = f"`{text}` of {site.source.path.name} is needed in the constructor, whose file does not have it"
        raise Unmigratable("NNX135", reason, node)
    return found


__all__ = ["check", "class_here", "here", "in_own_words", "is_own", "named_in", "said"]
