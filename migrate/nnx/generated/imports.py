"""The last pass over an edited file: imports that the new code needs go in, those that nothing uses any more go out.

Statements are found with `ast`; only an import statement that changes is parsed with libcst, so comments, brackets and
line breaks inside it stay, and a file whose imports stand never costs a libcst parse.
"""

from __future__ import annotations

import ast
import bisect
import dataclasses
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...names import Names
from ...source import SourceFile, line_starts
from ...trees import FlatTree, parse_text

if TYPE_CHECKING:
    import libcst as cst

# Written `import jax.numpy as jnp`, not `from jax import numpy as jnp`.
_IMPORTED_WHOLE = {"jax.numpy": "jnp", "orbax.checkpoint": "ocp", "numpy": "np", "tensorstore": "ts"}

# Imports of these have no effect that a program could miss; any other import stays, used or not.
_REMOVABLE = {"flax", "jax", "jaxlib", "numpy", "optax", "orbax", "chex", "clu"} | sys.stdlib_module_names
_RELATED = ("chex", "clu", "einops", "flax", "jax", "numpy", "optax", "orbax", "tensorflow", "tensorstore")


@dataclasses.dataclass
class Parsed:
    """A text, and a tree that tells where things stand in it: that of `before`, which `changes` (start, end, what is there
    now, in their order) have made the text. They are statements of imports and lines between; no tree where that is not
    certain.
    """

    text: str
    tree: ast.Module | None
    before: str | None = None
    changes: tuple[tuple[int, int, str], ...] = ()

    def lines_before(self, numbers: Collection[int]) -> dict[int, int]:
        """Which lines of `before` these lines are (all from 0); those that are of a change are left out."""
        if self.before is None:
            return {number: number for number in numbers}
        starts = line_starts(self.text)
        olds = line_starts(self.before)
        found: dict[int, int] = {}
        for number in numbers:
            at = starts[number]
            for start, end, new in self.changes:
                if at < start:
                    break
                if at < start + len(new):
                    at = -1
                    break
                at += end - start - len(new)
            if at >= 0:
                found[number] = bisect.bisect_right(olds, at) - 1
        return found


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """One import to add: `from module import name as local`, or `import module as local` where `name` is empty."""

    local: str
    module: str
    name: str = ""

    def statement(self) -> str:
        if self.name:
            return f"from {self.module} import {self.alias()}"
        suffix = f" as {self.local}" if self.local != self.module.partition(".")[0] else ""
        return f"import {self.module}{suffix}"

    def alias(self) -> str:
        return self.name if self.name == self.local else f"{self.name} as {self.local}"


def finish_imports(
    source: SourceFile, text: str, new_imports: Mapping[str, str], *, keep: Collection[str] = frozenset()
) -> str:
    """`text` (the rewritten `source`) with its imports put right.

    `new_imports`: local name → dotted name; those that `text` does not use, or already has, are left out. `keep`: names
    that other files import from this one. Raises SyntaxError where `text` does not parse.
    """
    return with_imports(source, text, new_imports, keep=keep).text


def with_imports(
    source: SourceFile,
    text: str,
    new_imports: Mapping[str, str],
    *,
    keep: Collection[str] = frozenset(),
    gone: Collection[str] = frozenset(),
) -> Parsed:
    """As `finish_imports`, with the tree that it was made from. `gone`: dotted names that there are no more."""
    tree = parse_text(text)
    flat = FlatTree(tree)
    used = _used_names(flat.by_kind)
    now = Names(tree, source.module, is_package=source.is_package, resolve=source.resolve, flat=flat)
    wanted = [
        spell(source, local, dotted)
        for local, dotted in sorted(new_imports.items())
        if local.partition(".")[0] in used and not _is_bound(now, local, dotted, source.prefix)
    ]
    unused = _fresh_unused(source, tree, used, frozenset(keep), frozenset(gone))
    if not wanted and not unused:
        return Parsed(text, tree)
    return _Editor(source, text, tree, flat).apply(wanted, unused)


def _is_bound(now: Names, local: str, dotted: str, prefix: str) -> bool:
    if "." in local:  # `import jax.experimental.shard_map` binds only `jax`, so look for the statement
        return local in now.imported_modules
    bound = now.module_imports.get(local)
    if dotted.startswith("."):
        return bound is not None and f".{bound}".endswith(f".{dotted.lstrip('.')}")
    return bound in (dotted, dotted.removeprefix(f"{prefix}.") if prefix else dotted)


def spell(source: SourceFile, local: str, dotted: str) -> _Wanted:
    """How `source` imports `dotted` under the name `local`: relatively where it does so otherwise."""
    if source.prefix and dotted.startswith(f"{source.prefix}."):
        dotted = dotted[len(source.prefix) + 1 :]
    parent, dot, name = dotted.rpartition(".")
    if dotted.startswith("."):  # `..blocks` is `from .. import blocks`: the dots are not parted
        return _Wanted(local, parent if parent.strip(".") else parent + dot, name)
    if not parent or local == dotted or local == dotted.partition(".")[0]:
        return _Wanted(local, dotted)
    if _IMPORTED_WHOLE.get(dotted) == local:
        return _Wanted(local, dotted)
    package = source.module if source.is_package else source.module.rpartition(".")[0]
    package = package.removeprefix(f"{source.prefix}.") if source.prefix else package
    if package and _uses_relative_imports(source.tree) and (parent == package or parent.startswith(f"{package}.")):
        return _Wanted(local, f".{parent[len(package) + 1 :]}", name)
    return _Wanted(local, parent, name)


def _uses_relative_imports(tree: ast.Module) -> bool:
    return any(isinstance(stmt, ast.ImportFrom) and stmt.level for stmt in tree.body)


def _used_names(by_kind: Mapping[type[ast.AST], Sequence[ast.AST]]) -> set[str]:
    """Names that the code refers to, in quoted annotations and `__all__` too."""
    used: set[str] = {node.id for node in by_kind.get(ast.Name, ())}  # type: ignore[attr-defined]
    docstrings = {node.value for node in by_kind.get(ast.Expr, ())}  # type: ignore[attr-defined]
    for node in by_kind.get(ast.Constant, ()):
        assert isinstance(node, ast.Constant)
        if isinstance(node.value, str) and len(node.value) < 400 and node not in docstrings:
            if _LIKE_CODE.fullmatch(node.value):
                used.update(_WORD.findall(node.value))
    for kind in (ast.Global, ast.Nonlocal):
        for node in by_kind.get(kind, ()):
            used.update(node.names)  # type: ignore[attr-defined]
    return used


_LIKE_CODE = re.compile(r"[\w\s.,|\[\]()'\"]+")
_WORD = re.compile(r"[^\W\d]\w*")


def _fresh_unused(
    source: SourceFile, tree: ast.Module, used: set[str], keep: frozenset[str], gone: frozenset[str]
) -> frozenset[str]:
    """Names imported at module level that the old text used and the new one does not."""
    if source.path.name == "__init__.py":
        return frozenset()
    candidates: dict[str, int] = {}
    for stmt in tree.body:
        if isinstance(stmt, ast.Import | ast.ImportFrom):
            for local, dotted in source.names.bindings(stmt):
                known = dotted.partition(".")[0] in _REMOVABLE and not dotted.startswith("__future__")
                if known or dotted in gone or f"{source.prefix}.{dotted}" in gone:
                    candidates[local] = candidates.get(local, 0) + 1
    candidates = {name: count for name, count in candidates.items() if name not in used and name not in keep}
    if not candidates:
        return frozenset()
    before = _used_names(source.by_kind)
    return frozenset(name for name in candidates if name in before)


class _Editor:
    """Splices changed import statements into the text."""

    def __init__(self, source: SourceFile, text: str, tree: ast.Module, flat: FlatTree) -> None:
        self.view = SourceFile(source.path, source.module, text, tree, source.is_package, source.resolve, source.prefix)
        self.text = text
        self.tree = tree
        self.by_kind = flat.by_kind
        self.newline = self.view.newline
        self.statements = [stmt for stmt in tree.body if isinstance(stmt, ast.Import | ast.ImportFrom)]
        self.removed: dict[ast.stmt, set[str]] = {}
        self.added: dict[ast.stmt, list[_Wanted]] = {}
        self.inserted: dict[int, list[_Wanted]] = {}  # offset → statements

    def apply(self, wanted: list[_Wanted], unused: frozenset[str]) -> Parsed:
        for stmt in self.statements:
            if "noqa" in self._line(stmt) or not self._alone(stmt):
                continue
            gone = {alias.asname or alias.name.partition(".")[0] for alias in stmt.names} & unused
            if gone:
                self.removed[stmt] = gone
        for want in sorted(wanted, key=lambda w: (w.module, w.name)):
            self._place(want)
        changes: list[tuple[int, int, str]] = []
        changes += [self._rewrite(stmt) for stmt in {*self.removed, *self.added}]
        for offset, wants in self.inserted.items():
            lines = "".join(f"{want.statement()}{self.newline}" for want in wants)
            if offset == len(self.text) and self.text and not self.text.endswith(("\n", "\r")):
                lines = self.newline + lines
            changes.append((offset, offset, lines))
        out, at = [], 0
        changes.sort()
        for start, end, new in changes:
            out += [self.text[at:start], new]
            at = end
        known = self.tree if self._stand_apart(self.inserted) else None
        return Parsed("".join([*out, self.text[at:]]), known, self.text, tuple(changes))

    def _stand_apart(self, offsets: Collection[int]) -> bool:
        """Are these places between statements for sure: beside one that has its lines to itself, or above the first one?"""
        heads = self._heads()
        alone = [stmt for stmt in (*self.statements, *heads) if self._alone(stmt)]
        beside = {at for stmt in alone for at in (self._line_start(stmt), self._line_end(stmt))}
        return all(at in beside or (not heads and at == self._top_offset()) for at in offsets)

    # placing ---------------------------------------------------------------------------------------------------
    def _place(self, want: _Wanted) -> None:
        limit = self._first_use(want.local.partition(".")[0])
        early = [stmt for stmt in self.statements if stmt.lineno < limit]
        if want.name:
            for stmt in early:
                if isinstance(stmt, ast.ImportFrom) and self._from(stmt) == want.module and self._alone(stmt):
                    if stmt.names[0].name != "*":
                        self.added.setdefault(stmt, []).append(want)
                        return
        self.inserted.setdefault(self._offset_for(want, early), []).append(want)

    def _offset_for(self, want: _Wanted, early: list[ast.Import | ast.ImportFrom]) -> int:
        """Where a new statement goes: among the imports of its package, else of its kin, in alphabetical order."""
        head = [stmt for stmt in early if not (isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__")]
        for group in (
            [s for s in head if _top(self._from(s)) == _top(want.module)],
            [s for s in head if _top(self._from(s)) in _RELATED and _top(want.module) in _RELATED],
        ):
            if group:
                before = [s for s in group if self._sort_key(s) <= (want.module, want.name)]
                return self._line_end(before[-1]) if before else self._line_start(group[0])
        if _top(want.module) in sys.stdlib_module_names:
            standard = [s for s in head if _top(self._from(s)) in sys.stdlib_module_names]
            if standard:
                return self._line_end(standard[-1])
            if head:
                return self._line_start(head[0])
        outside = [s for s in head if not self._from(s).startswith(".")]
        if want.module.startswith("."):
            outside = head
        if outside:
            return self._line_end(outside[-1])
        if head:
            return self._line_start(head[0])
        return self._top_offset()

    def _heads(self) -> list[ast.stmt]:
        """The docstring and the `__future__` imports."""
        found: list[ast.stmt] = []
        for stmt in self.tree.body:
            docstring = not found and isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
            if not docstring and not (isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"):
                break
            found.append(stmt)
        return found

    def _top_offset(self) -> int:
        """After the docstring and `__future__` imports; before the first statement, comments above it included."""
        heads = self._heads()
        if heads:
            return self._line_end(heads[-1])
        offset = 0
        for line in self.view.lines:  # a file without docstring: below #!, coding cookie, licence and cell marker
            if not line.startswith("#"):
                break
            offset += len(line)
        return offset

    def _sort_key(self, stmt: ast.Import | ast.ImportFrom) -> tuple[str, str]:
        return self._from(stmt), min(alias.name for alias in stmt.names) if isinstance(stmt, ast.ImportFrom) else ""

    @staticmethod
    def _from(stmt: ast.Import | ast.ImportFrom) -> str:
        if isinstance(stmt, ast.ImportFrom):
            return "." * stmt.level + (stmt.module or "")
        return stmt.names[0].name

    def _first_use(self, name: str) -> int:
        """Line of the first top-level statement that needs `name` while the module is being imported."""
        lines = [n.lineno for n in self.by_kind.get(ast.Name, ()) if n.id == name]  # type: ignore[attr-defined]
        for stmt in self.tree.body if lines else ():
            if not isinstance(stmt, ast.Import | ast.ImportFrom) and (stmt.end_lineno or stmt.lineno) >= min(lines):
                return stmt.lineno
        return len(self.view.lines) + 1

    def _line(self, stmt: ast.stmt) -> str:
        return self.text[self._line_start(stmt) : self._line_end(stmt)]

    def _line_start(self, stmt: ast.stmt) -> int:
        return self.view.line_start(self.view.span(stmt).start)

    def _line_end(self, stmt: ast.stmt) -> int:
        return self.view.line_end(self.view.span(stmt).end)

    def _alone(self, stmt: ast.stmt) -> bool:
        """Is the statement by itself on its lines (but for a comment)?"""
        span = self.view.span(stmt)
        rest = self.text[span.end : self._line_end(stmt)].strip()
        return self._line_start(stmt) == span.start and (not rest or rest.startswith("#"))

    # rewriting -------------------------------------------------------------------------------------------------
    def _rewrite(self, stmt: ast.stmt) -> tuple[int, int, str]:
        assert isinstance(stmt, ast.Import | ast.ImportFrom)
        start, end = self._line_start(stmt), self._line_end(stmt)
        gone, new = self.removed.get(stmt, set()), self.added.get(stmt, [])
        if not new and all((a.asname or a.name.partition(".")[0]) in gone for a in stmt.names):
            return start, self._swallow_blank(start, end), ""
        span = self.view.span(stmt)
        return span.start, span.end, _edit_statement(self.text[span.start : span.end], gone, new, self.newline)

    def _swallow_blank(self, start: int, end: int) -> int:
        """Where a removed line stood alone between blank lines (or at the top), one of them goes with it."""
        if start in self.inserted or end in self.inserted:
            return end
        above = self.text[:start].rstrip(" \t")
        blank_above = not above or above.endswith(("\n\n", "\n\r\n"))
        after = self.view.line_end(end) if end < len(self.text) else end
        if blank_above and after > end and not self.text[end:after].strip():
            return after
        return end


def _top(module: str) -> str:
    return module.partition(".")[0] or "."


def _edit_statement(text: str, gone: set[str], new: list[_Wanted], newline: str) -> str:
    """One import statement without the names `gone` and with the aliases `new`."""
    import libcst as cst

    config = cst.PartialParserConfig(default_newline=newline)
    module = cst.parse_module(text + newline, config)
    line = cst.ensure_type(module.body[0], cst.SimpleStatementLine)
    node = line.body[0]
    assert isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar)
    names = list(node.names)
    kept = [alias for alias in names if _bound(alias) not in gone]
    added = [
        cst.ImportAlias(cst.Name(want.name), cst.AsName(cst.Name(want.local)) if want.local != want.name else None)
        for want in new
    ]
    result = _joined(names, kept, added)
    changed = node.with_changes(names=result)
    done: str = module.with_changes(body=[line.with_changes(body=[changed])]).code
    return done.rstrip("\r\n")


def _bound(alias: cst.ImportAlias) -> str:
    if alias.asname is not None:
        return str(alias.evaluated_alias)
    return str(alias.evaluated_name).partition(".")[0]


def _joined(
    names: list[cst.ImportAlias], kept: list[cst.ImportAlias], added: list[cst.ImportAlias]
) -> list[cst.ImportAlias]:
    """`kept` and `added` with commas like those of `names`: one between two, a trailing one where there was one."""
    import libcst as cst

    between = _plain(names[0].comma) if len(names) > 1 else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    last = names[-1].comma
    order = [alias.evaluated_name for alias in kept]
    result = list(kept)
    for alias in added:
        at = len(result)
        if order == sorted(order):
            at = sum(1 for existing in result if existing.evaluated_name <= alias.evaluated_name)
        result.insert(at, alias)
    out = []
    for index, alias in enumerate(result):
        final = index == len(result) - 1
        if final:
            comma = last
        elif isinstance(alias.comma, cst.Comma) and alias is not names[-1]:
            comma = alias.comma
        else:
            comma = between
        out.append(alias.with_changes(comma=comma))
    return out


def _plain(comma: cst.Comma | cst.MaybeSentinel) -> cst.Comma | cst.MaybeSentinel:
    """The comma with its line break but without the comment after it, which is about the name before it."""
    import libcst as cst

    if isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace):
        first = cst.TrailingWhitespace(newline=comma.whitespace_after.first_line.newline)
        return comma.with_changes(whitespace_after=comma.whitespace_after.with_changes(first_line=first))
    return comma
