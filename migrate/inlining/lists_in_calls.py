"""Lists of modules of a compact method, said so that a loop goes through all of a list that has a name.

    for i, layer in enumerate([nn.Dense(f) for f in sizes]):    layers = [nn.Dense(f) for f in sizes]
                                                                for i, layer in enumerate(layers):

    layers = [nn.Dense(f) for f in self.features]               layers = [nn.Dense(f) for f in self.features[:-1]]
    for layer in layers[:-1]: ...                               last_of_layers = nn.Dense(self.features[-1])
    x = layers[-1](x)                                           for layer in layers: ...
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name
from .callees import is_class

_SEQUENCES = ("Sequence", "Tuple", "tuple", "List", "list")


def with_named_lists(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such list of a class less; None where there is none."""
    for method in [s for s in model.body if isinstance(s, ast.FunctionDef) and s.name != "setup"]:
        text = _named(project, source, method) or _parted(project, source, model, method)
        if text is not None:
            return text
    return None


def _named(project: Project, source: SourceFile, method: ast.FunctionDef) -> str | None:
    for loop in [n for n in subtree(method) if isinstance(n, ast.For)]:
        made = _display(project, source, loop.iter)
        if made is None or source.function_of(loop) is not method or source.shares_line(loop):
            continue
        name = free_name("layers", _names(method))
        edits = EditSet(source.text)
        said = f"{source.indent_of(loop)}{name} = {source.text_of(made)}{source.newline}"
        edits.insert(source.line_span(loop).start, said)
        edits.replace(source.span(made), name)
        return edits.render()
    return None


def _names(method: ast.FunctionDef) -> set[str]:
    """What a method says a name of."""
    nodes = subtree(method)
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}


def _display(project: Project, source: SourceFile, over: ast.expr) -> ast.ListComp | None:
    """The list of modules that the header of a loop makes, and what it makes first."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("enumerate", "zip") and over.args:
        if source.names.is_hidden(over.func.id, over):
            return None
        over = over.args[0]
    return over if isinstance(over, ast.ListComp) and _makes(project, source, over) else None


def _makes(project: Project, source: SourceFile, made: ast.ListComp) -> bool:
    """Is each item a layer that is made there, for each item of one sequence?"""
    generators = made.generators
    plain = len(generators) == 1 and not generators[0].ifs and not generators[0].is_async
    if not plain or not isinstance(made.elt, ast.Call) or not is_class(project, source, made.elt.func):
        return False
    return not any(isinstance(n, ast.Lambda | ast.ListComp | ast.GeneratorExp) for n in subtree(made.elt))


# parts of lists ----------------------------------------------------------------------------------------------------
def _parted(project: Project, source: SourceFile, model: ast.ClassDef, method: ast.FunctionDef) -> str | None:
    for statement in method.body:
        made = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(made, ast.ListComp) or source.shares_line(statement):
            continue
        target, items = statement.targets[0], _items(source, model, made)
        if items is None or not _makes(project, source, made):
            continue
        named = {n.id for n in subtree(target) if isinstance(n, ast.Name)}
        uses = [n for n in subtree(method) if isinstance(n, ast.Name) and n.id in named and n not in subtree(target)]
        if any(source.function_of(n) is not method for n in uses):
            continue
        for end in (0, -1):
            if isinstance(target, ast.Name):
                text = _without_end(source, method, statement, made, items, uses, end)
                if text is not None:
                    return text
            elif (names := _unpacked(statement, end)) is not None:
                edits = EditSet(source.text)
                lines = _apart(source, made, items, *names, end)
                edits.replace(source.span(statement), f"{source.newline}{source.indent_of(statement)}".join(lines))
                return edits.render()
    return None


def _items(source: SourceFile, model: ast.ClassDef, made: ast.ListComp) -> tuple[str, str] | None:
    """(`self.features`, "") or ("", `n` of `range(n)`): what a list is made over."""
    over, target = made.generators[0].iter, made.generators[0].target
    if not isinstance(target, ast.Name):
        return None
    if isinstance(over, ast.Attribute) and isinstance(over.value, ast.Name) and over.value.id == "self":
        for field in [s for s in model.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]:
            assert isinstance(field.target, ast.Name)
            if field.target.id == over.attr and ast.unparse(field.annotation).rpartition(".")[2].startswith(_SEQUENCES):
                return source.text_of(over), ""
        return None
    ranged = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"
    if ranged and isinstance(over, ast.Call) and len(over.args) == 1 and not over.keywords:
        number = over.args[0]
        if isinstance(number, ast.Attribute | ast.Constant) and "\n" not in source.text_of(number):
            return "", source.text_of(number)
    return None


def _without_end(
    source: SourceFile,
    method: ast.FunctionDef,
    statement: ast.stmt,
    made: ast.ListComp,
    items: tuple[str, str],
    uses: list[ast.Name],
    end: int,
) -> str | None:
    """The first item, or the last one, made apart from the others; None where the list is used otherwise."""
    name = uses[0].id if uses else ""
    apart = free_name(f"{'last' if end else 'first'}_of_{name}", _names(method))
    if not uses:
        return None
    edits = EditSet(source.text)
    kinds = set()
    for use in uses:
        parent = source.parents[use]
        if isinstance(parent, ast.Subscript) and parent.value is use and isinstance(use.ctx, ast.Load):
            kind = "one" if ast.unparse(parent.slice) == str(end) else "others"
            if kind == "others" and ast.unparse(parent.slice) != (":-1" if end else "1:"):
                return None
            edits.replace(source.span(parent), apart if kind == "one" else name)
            kinds.add(kind)
        elif isinstance(parent, ast.Assign) and len(uses) == 1 and parent in method.body:
            names = _unpacked(parent, end)
            if names is None or source.shares_line(parent):
                return None
            one, others = names
            line = f"{one} = {apart}{source.newline}{source.indent_of(parent)}{others} = {name}"
            edits.replace(source.span(parent), line)
            kinds |= {"one", "others"}
        else:
            return None
    if kinds != {"one", "others"}:
        return None
    lines = _apart(source, made, items, apart, name, end)
    edits.replace(source.span(statement), f"{source.newline}{source.indent_of(statement)}".join(lines))
    return edits.render()


def _apart(
    source: SourceFile, made: ast.ListComp, items: tuple[str, str], one: str, others: str, end: int
) -> tuple[str, str]:
    """The statements that make one item and the others, in the order of the list."""
    sequence, number = items
    target = made.generators[0].target
    assert isinstance(target, ast.Name)
    place = f"{sequence}[{end}]" if sequence else f"{number} - 1" if end else "0"
    over = f"{sequence}[{':-1' if end else '1:'}]" if sequence else f"range({number} - 1)" if end else f"range(1, {number})"
    own = f"{one} = {''.join(_with(source, made.elt, target.id, place))}"
    rest = f"{others} = [{source.text_of(made.elt)} for {target.id} in {over}]"
    return (rest, own) if end else (own, rest)


def _unpacked(statement: ast.Assign, end: int) -> tuple[str, str] | None:
    """The names of `first, *others = layers`, or of `*others, last = layers`."""
    target = statement.targets[0]
    parts = list(target.elts) if isinstance(target, ast.Tuple | ast.List) and len(statement.targets) == 1 else []
    if len(parts) != 2:
        return None
    one, others = (parts[1], parts[0]) if end else (parts[0], parts[1])
    if isinstance(one, ast.Name) and isinstance(others, ast.Starred) and isinstance(others.value, ast.Name):
        return one.id, others.value.id
    return None


def _with(source: SourceFile, node: ast.expr, name: str, value: str) -> Iterator[str]:
    """The text of an expression in which a name stands for another one."""
    whole = source.span(node)
    at = whole.start
    named = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id == name]
    for read in sorted(named, key=lambda n: source.span(n).start):
        span = source.span(read)
        yield source.text[at : span.start]
        bare = isinstance(source.parents[read], ast.keyword) or value.isdigit() or "[" in value
        bare |= isinstance(call := source.parents[read], ast.Call) and read in call.args
        yield value if bare else f"({value})"
        at = span.end
    yield source.text[at : whole.end]


__all__ = ["with_named_lists"]
