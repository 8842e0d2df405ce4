"""Parameters that `setup` keeps in lists and dicts, made by the method that reads them instead.

Likewise layers whose names are no list's in NNX, `[nn.Dense(8, name=f"hidden{i}") for i in range(2)]`, or are computed:
`self.head = nn.Dense(8, name=self.out)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import removals
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name, names_in
from .callees import NotInlined, is_class, read_elsewhere


def at_the_call(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`self.ws = [self.param(...) for ...]` as the first lines of the one method that reads `self.ws`."""
    text = _all_at_the_call(project, source, model, setup, _is_moved)
    return text if text is not None else _all_at_the_call(project, source, model, setup, _has_odd_name)


def _all_at_the_call(
    project: Project,
    source: SourceFile,
    model: ast.ClassDef,
    setup: ast.FunctionDef,
    is_wanted: Callable[[ast.AST], bool],
) -> str | None:
    """The same of all that is wanted there, or None."""
    found = _moved(project, source, setup, is_wanted)
    if found is None:
        return None
    moved, gone = found
    attributes = {a for s in moved for a in _set_attributes(s)}
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef) and s is not setup]
    readers = [m for m in methods if attributes & {n.attr for n in subtree(m) if isinstance(n, ast.Attribute)}]
    if len(readers) != 1 or not attributes:
        return None
    (reader,) = readers
    transforms = ("jax", "flax", "functools")
    decorated = [d for d in reader.decorator_list if not _is_compact(d)]
    odd = [d for d in decorated if (project.qualname(source, d) or "functools").partition(".")[0] in transforms]
    others = [m for m in methods if m is not reader and any(_is_compact(d) for d in m.decorator_list)]
    if odd or others or read_elsewhere(project, source, model, attributes):
        return None
    called = any(isinstance(n, ast.Attribute) and n.attr == reader.name for m in methods for n in subtree(m))
    if called or reader.name != "__call__":  # a method that runs twice would make its parameters twice
        return None
    return _written(source, setup, reader, moved, gone, attributes)


def _is_compact(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] == "compact"


def _set_attributes(statement: ast.AST) -> set[str]:
    """The attributes of self that a statement sets."""
    nodes = [n for n in subtree(statement) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    return {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == "self"}


def _all_set(source: SourceFile, setup: ast.FunctionDef, statement: ast.AST) -> set[str]:
    """The same with those that the methods set which it calls: `self.build()`."""
    model = source.parents.get(setup)
    asked = _own_reads(statement)
    called = [m for m in (model.body if isinstance(model, ast.ClassDef) else ()) if getattr(m, "name", "") in asked]
    return _set_attributes(statement).union(*[_set_attributes(m) for m in called])


def _own_reads(statement: ast.AST) -> set[str]:
    """The attributes of self that a statement reads."""
    nodes = [n for n in subtree(statement) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    return {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == "self"}


def _names(statement: ast.AST, store: bool) -> set[str]:
    nodes = (n for n in subtree(statement) if isinstance(n, ast.Name))
    return {n.id for n in nodes if isinstance(n.ctx, ast.Store) == store}


def _is_moved(statement: ast.AST) -> bool:
    """Does it make parameters, or layers under computed names that no list of NNX has?"""
    calls = (n for n in subtree(statement) if isinstance(n, ast.Call))
    return any(ast.unparse(c.func) == "self.param" for c in calls) or _has_odd_name(statement)


def _has_odd_name(statement: ast.AST) -> bool:
    """Does it make layers under computed names that no list of NNX has?"""
    return any(_is_odd_name(k) for n in subtree(statement) if isinstance(n, ast.Call) for k in n.keywords)


def _is_odd_name(keyword: ast.keyword) -> bool:
    """`name=f"hidden{i}"`, where `f"hidden_{i}"` is the item of a list."""
    said = keyword.value
    if keyword.arg == "name" and isinstance(said, ast.Attribute | ast.IfExp):
        return all(_is_constant(side) or _of_self(side) for side in _sides(said))
    if keyword.arg != "name" or not isinstance(said, ast.JoinedStr):
        return False
    stem = said.values[0].value if isinstance(said.values[0], ast.Constant) else ""
    return len(said.values) > 2 or not (str(stem).endswith("_") and str(stem)[:-1].isidentifier())


def _sides(node: ast.expr) -> Iterable[ast.expr]:
    """What a choice may give."""
    if isinstance(node, ast.IfExp):
        yield from _sides(node.body)
        yield from _sides(node.orelse)
    else:
        yield node


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _of_self(node: ast.expr) -> str:
    """`out` of `self.out`; "" for anything else."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if isinstance(node, ast.Attribute) and own else ""


def _may_be_nothing(source: SourceFile, setup: ast.FunctionDef, statement: ast.AST) -> bool:
    """Is a layer called by a field that may be None, where `setup` calls it as its attribute, and a compact method not?"""
    model = source.parents[setup]
    fields = [s for s in getattr(model, "body", ()) if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    texts = {
        s.target.id for s in fields if isinstance(s.target, ast.Name) and ast.unparse(s.annotation).strip("'\"") == "str"
    }
    texts -= {s.target.id for s in fields if isinstance(s.target, ast.Name) and ast.unparse(s.value or s) == "None"}
    names = [k.value for n in subtree(statement) if isinstance(n, ast.Call) for k in n.keywords if _is_odd_name(k)]
    return any(_of_self(side) not in {*texts, ""} for name in names for side in _sides(name))


def _is_unnamed(project: Project, source: SourceFile, setup: ast.FunctionDef, call: ast.Call) -> bool:
    """May it make a module that is called as its attribute: a class, a partial of one, what a field holds?"""
    if any(k.arg in ("name", None) for k in call.keywords):
        return any(k.arg is None for k in call.keywords)
    local = isinstance(call.func, ast.Name) and source.names.binding_scope(call.func.id, call.func) is setup
    return local or bool(_of_self(call.func)) or is_class(project, source, call.func)


_OF_SCOPE = ("self.param", "self.variable", "self.make_rng")
_CHANGES = ("append", "extend", "insert", "update", "setdefault", "pop", "reverse", "sort")


def _bound(statement: ast.AST) -> set[str]:
    """The names that a statement binds, and those of lists and dicts that it changes."""
    found = _names(statement, store=True)
    for node in subtree(statement):
        held = node.value if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            held = node.func.value
        if isinstance(held, ast.Name):
            found.add(held.id)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "next":
            found |= {n.id for n in node.args if isinstance(n, ast.Name)}
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):  # `fill(sizes)`
        found |= {n.id for n in statement.value.args if isinstance(n, ast.Name)}
    return found


def _moved(
    project: Project, source: SourceFile, setup: ast.FunctionDef, is_wanted: Callable[[ast.AST], bool]
) -> tuple[list[ast.stmt], set[ast.stmt]] | None:
    """The statements that the method says, and those of them that setup says no longer.

    What makes parameters moves with what needs them; what these need in turn is said in both places where setup needs it.
    """
    body = setup.body
    core = {s for s in body if is_wanted(s)}
    if not core or any(isinstance(n, ast.Return | ast.FunctionDef | ast.Lambda) for s in body for n in subtree(s)):
        return None
    count = 0
    while count != len(core):
        count = len(core)
        names, held = {n for s in core for n in _bound(s)}, {a for s in core for a in _set_attributes(s)}
        loops = {n for s in core if isinstance(s, ast.For) for n in _names(s.target, store=True)}
        core |= {s for s in body if (_names(s, store=False) - _own_loops(s)) & (names - loops)}
        core |= {s for s in body if (_own_reads(s) | _set_attributes(s)) & held}  # also `self.w = None`, before
    needed: set[ast.stmt] = set()
    count = -1
    while count != len(needed):
        count = len(needed)
        wanted = {n for s in core | needed for n in _names(s, store=False)}
        needed |= {s for s in body if s not in core and _bound(s) & wanted}
    made = {s: [n for n in subtree(s) if isinstance(n, ast.Call) and is_class(project, source, n.func)] for s in body}
    if any(made[s] and not is_wanted(s) for s in core | needed) or any(_set_attributes(s) for s in needed):
        return None
    odd = [s for s in core if _has_odd_name(s)]
    calls = [n for s in odd for n in subtree(s) if isinstance(n, ast.Call) and ast.unparse(n.func) not in _OF_SCOPE]
    unnamed = any(_is_unnamed(project, source, setup, call) for call in calls)
    if unnamed or any(all(k.arg != "name" for k in call.keywords) for s in core for call in made[s]):
        return None  # it has the attribute's name in setup, and a number in a compact method
    if any(_may_be_nothing(source, setup, s) for s in odd):
        return None
    left = [s for s in body if s not in core and s not in needed]
    moved = core | needed
    if any(_own_reads(s) & _all_set(source, setup, other) for s in moved for other in left if other.lineno > s.lineno):
        return None  # the method would read what setup leaves there in the end
    count = -1
    kept: set[ast.stmt] = set(left)
    while count != len(kept):
        count = len(kept)
        asked = {n for s in kept for n in _names(s, store=False)}
        kept |= {s for s in needed if _bound(s) & asked}
    return [s for s in body if s in core or s in needed], (core | needed) - kept


def _own_loops(statement: ast.AST) -> set[str]:
    """The names that loops and comprehensions of a statement bind for themselves."""
    loops = [n for n in subtree(statement) if isinstance(n, ast.For | ast.comprehension)]
    return {n for loop in loops for n in _names(loop.target, store=True)}


def _of_comprehensions(statement: ast.AST) -> set[str]:
    """The names that only comprehensions of a statement bind."""
    kept = {id(n) for c in subtree(statement) if isinstance(c, ast.comprehension) for n in subtree(c.target)}
    stored = [n for n in subtree(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {n.id for n in stored} - {n.id for n in stored if id(n) not in kept}


def _written(
    source: SourceFile,
    setup: ast.FunctionDef,
    reader: ast.FunctionDef,
    moved: list[ast.stmt],
    gone: set[ast.stmt],
    attributes: set[str],
) -> str | None:
    if any(source.indent_of(s) != source.indent_of(setup.body[0]) or source.shares_line(s) for s in moved):
        return None
    if any(isinstance(n, ast.Constant) and isinstance(n.value, str) and "\n" in n.value for s in moved for n in subtree(s)):
        return None
    taken = names_in(reader)
    own = {n for s in moved for n in _names(s, store=True) - _of_comprehensions(s)}
    said = dict.fromkeys(own, "")
    for name in sorted(own):
        said[name] = free_name(name, taken)
        taken.add(said[name])
    for attribute in sorted(attributes):
        assigned = [s for s in moved if attribute in _set_attributes(s)]
        last = assigned[0] if len(assigned) == 1 else None
        plain = isinstance(last, ast.Assign) and isinstance(last.value, ast.Name) and len(last.targets) == 1
        if plain and isinstance(last, ast.Assign) and isinstance(last.value, ast.Name) and last.value.id in own:
            said[f"self.{attribute}"] = said[last.value.id]  # `self.ws = ws`
            moved = [s for s in moved if s is not last]
            continue
        said[f"self.{attribute}"] = free_name(attribute, taken)
        taken.add(said[f"self.{attribute}"])
    if any(isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and n.attr in attributes for n in subtree(reader)):
        return None
    old, new = source.indent_of(setup.body[0]), source.indent_of(reader.body[0])
    lines = []
    for statement in moved:
        text = _renamed(source, statement, said)
        lines.append("\n".join(new + line.removeprefix(old) if line.strip() else line for line in text.split("\n")))
    edits = EditSet(source.text)
    first = reader.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    if documented and len(reader.body) == 1:
        return None
    at = source.line_span(reader.body[1] if documented else first).start
    edits.insert(at, "".join(line.lstrip("\n") + "\n" for line in lines))
    for node in subtree(reader):
        word = f"self.{node.attr}" if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""
        if word in said and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            edits.replace(source.span(node), said[word])
    if not any(_is_compact(d) for d in reader.decorator_list):
        compact = _compact_of(source)
        if not compact:
            return None
        edits.insert(source.line_span(reader).start, f"{source.indent_of(reader)}@{compact}\n", order=-1)
    first = setup.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if len(gone) == len(setup.body) - documented:
        edits.replace(source.line_span(setup))
    else:
        for span in removals(source, gone):
            edits.replace(span)
    return edits.render()


def _renamed(source: SourceFile, statement: ast.stmt, said: dict[str, str]) -> str:
    """The text of a statement under the names that its parts have in the method."""
    edits = EditSet(source.text)
    for node in _outermost(statement, said):
        word = node.id if isinstance(node, ast.Name) else f"self.{node.attr}"  # type: ignore[attr-defined]
        if source.text_of(node) != word:
            raise NotInlined("a name of its stands where it cannot be said anew")
        if said[word] != word:
            edits.replace(source.span(node), said[word])
    return source.indent_of(statement) + edits.render(source.span(statement))


def _outermost(statement: ast.stmt, said: dict[str, str]) -> Iterable[ast.expr]:
    for node in subtree(statement):
        if isinstance(node, ast.Name) and node.id in said:
            yield node
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            if f"self.{node.attr}" in said:
                yield node


def _compact_of(source: SourceFile) -> str:
    """How the file says `nn.compact`."""
    for local, dotted in source.names.module_imports.items():
        if dotted in ("flax.linen", "flax.linen.compact"):
            return f"{local}.compact" if dotted == "flax.linen" else local
    return "flax.linen.compact" if "flax.linen" in source.names.imported_modules else ""


__all__ = ["at_the_call"]
