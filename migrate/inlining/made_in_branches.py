"""One module that every branch makes for itself, made before them.

    if weights:                                             attend = Attention(self.width, name="attend")
        y, w = Attention(self.width, name="attend")(x, True)    if weights:
    else:                                                       y, w = attend(x, True)
        y = Attention(self.width, name="attend")(x)         else:
                                                                y = attend(x)

Linen calls both `attend`, as no call makes both; an NNX constructor makes one. The branches may also be those of a flag with
which a method returns early. Without `name=` the module is the first that each branch makes, so that it has the same number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name
from .callees import is_class
from .pure import is_pure

_INITIALIZERS = ("flax.linen.initializers.", "jax.nn.initializers.", "flax.linen.with_logical_partitioning")
_ARRAYS = ("jax.", "einops.", "numpy.")
_BUILTINS = frozenset(
    {"bool", "enumerate", "float", "int", "isinstance", "len", "max", "min", "range", "str", "tuple", "zip"}
)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def with_one_before_branches(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with one such module of a class less in branches; None where there is none."""
    for method in [s for s in model.body if isinstance(s, ast.FunctionDef) and s.name != "setup"]:
        for block in _blocks(method):
            for position, statement in enumerate(block):
                if not isinstance(statement, ast.If) or source.shares_line(statement):
                    continue
                if source.function_of(statement) is not method:
                    continue
                text = _before(project, source, model, method, statement, block[position + 1 :])
                if text is not None:
                    return text
    return None


def _blocks(method: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """The blocks of a method, each as far as an `elif` is part of the `if` that it follows."""
    for node in subtree(method):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                continue
            if field == "orelse" and isinstance(node, ast.If) and len(block) == 1 and isinstance(block[0], ast.If):
                continue
            yield block


def _before(
    project: Project,
    source: SourceFile,
    model: ast.ClassDef,
    method: ast.FunctionDef,
    first: ast.If,
    rest: Sequence[ast.stmt],
) -> str | None:
    reach = [first, *(rest if _ends(first.body) and not first.orelse else [])]
    for made in _made(project, source, [first]):
        calls = _in_every_way(ast.dump(made), reach)
        if not calls or len(calls) < 2 or not _may_move(project, source, model, made, reach):
            continue
        if not any(_asks_the_call(source, test) for test in _tests(source, calls, first)):
            continue  # the constructor knows what fields say
        if _name_of(made) is None and not all(_is_first(project, source, call, reach) for call in calls):
            continue
        said = _name_of(made)
        stem = said.value if isinstance(said, ast.Constant) and str(said.value).isidentifier() else ""
        if not stem:
            stem = ast.unparse(made.func).rpartition(".")[2].lower()
        name = free_name(str(stem), _names(method))
        edits = EditSet(source.text)
        line = f"{source.indent_of(first)}{name} = {source.text_of(made)}{source.newline}"
        edits.insert(source.line_span(first).start, line)
        for call in calls:
            edits.replace(source.span(call), name)
        return edits.render()
    return None


def _tests(source: SourceFile, calls: Sequence[ast.Call], first: ast.If) -> Iterator[ast.expr]:
    """The conditions by which one of the calls is come by."""
    yield first.test
    for call in calls:
        yield from (a.test for a in source.ancestors(call) if isinstance(a, ast.If) and _within(a, [first]))


def _asks_the_call(source: SourceFile, test: ast.expr) -> bool:
    """Does a condition read an argument or a local variable?"""
    names = [n for n in subtree(test) if isinstance(n, ast.Name) and n.id != "self"]
    return any(source.names.is_hidden(n.id, n) for n in names)


def _made(project: Project, source: SourceFile, block: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """The modules that a block or a branch of it surely makes."""
    for statement in block:
        if isinstance(statement, ast.If):
            yield from _made(project, source, [*statement.body, *statement.orelse])
        elif isinstance(statement, _SIMPLE):
            for call in [n for n in _surely(statement) if isinstance(n, ast.Call)]:
                if is_class(project, source, call.func):
                    yield call


def _in_every_way(key: str, block: Sequence[ast.stmt]) -> list[ast.Call] | None:
    """The first construction in each way through a block; None where a way has none that is sure to be come by."""
    for position, statement in enumerate(block):
        if isinstance(statement, ast.Raise):
            return []
        if isinstance(statement, _SIMPLE):
            found = [n for n in _surely(statement) if isinstance(n, ast.Call) and ast.dump(n) == key]
            if found:
                return found[:1]
            if isinstance(statement, ast.Return):
                return None
        elif isinstance(statement, ast.If) and any(
            isinstance(n, ast.Call) and ast.dump(n) == key for n in subtree(statement)
        ):
            others = statement.orelse or (list(block[position + 1 :]) if _ends(statement.body) else [])
            ways = [_in_every_way(key, way) for way in (statement.body, others)]
            return None if None in ways else [call for way in ways for call in way or []]
        elif any(isinstance(n, ast.Return | ast.Break | ast.Continue) for n in subtree(statement)):
            return None
    return None


def _surely(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates, whatever its conditions hold."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, ast.IfExp):
            waiting.append(node.test)
        elif isinstance(node, ast.BoolOp):
            waiting.append(node.values[0])
        elif isinstance(node, ast.Compare):
            waiting += [node.left, node.comparators[0]]
        elif not isinstance(node, _LATER):
            waiting += ast.iter_child_nodes(node)


def _may_move(project: Project, source: SourceFile, model: ast.ClassDef, made: ast.Call, reach: Sequence[ast.stmt]) -> bool:
    """Is what a module is made with the same before the branches?"""
    given = [*made.args, *[k.value for k in made.keywords]]
    if any(k.arg is None for k in made.keywords) or not all(_is_plain(project, source, value) for value in given):
        return False
    names = {n.id for value in [made.func, *given] for n in subtree(value) if isinstance(n, ast.Name)}
    held = {n.attr for value in given for n in subtree(value) if isinstance(n, ast.Attribute)}
    for node in (n for statement in reach for n in subtree(statement)):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Delete):
            return False
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in names:
            return False
        if isinstance(node, ast.Call | ast.Subscript) and _may_change(project, source, node, names):
            return False
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef) and s.name not in ("setup", "__post_init__")]
    stored = [n for m in methods for n in subtree(m) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)]
    return not any(n.attr in held for n in stored)


def _may_change(project: Project, source: SourceFile, node: ast.Call | ast.Subscript, names: set[str]) -> bool:
    """Does it change what one of the names holds: `options.update(width=4)`, `options["width"] = 4`?"""
    held = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return False
    while isinstance(held, ast.Attribute | ast.Subscript):
        held = held.value
    if held is (node.func if isinstance(node, ast.Call) else None) or not isinstance(held, ast.Name):
        return False
    return held.id in names - {"self"} and project.qualname(source, held) is None


def _is_plain(project: Project, source: SourceFile, value: ast.expr) -> bool:
    """Does it give the same wherever it stands: names, attributes, numbers, initializers made of these?"""
    if isinstance(value, ast.Call):
        inner = [*value.args, *[k.value for k in value.keywords]]
        made = (project.qualname(source, value.func) or "").startswith(_INITIALIZERS)
        return made and all(_is_plain(project, source, part) for part in inner)
    return is_pure(value)


def _is_first(project: Project, source: SourceFile, call: ast.Call, reach: Sequence[ast.stmt]) -> bool:
    """Is nothing called on the way to it that may make a module of its kind?"""
    at, kind = (call.lineno, call.col_offset), _kind(project, source, call.func)
    for other in (n for statement in reach for n in subtree(statement) if isinstance(n, ast.Call)):
        around = any(n is call for n in subtree(other))
        if (other.lineno, other.col_offset) >= at or (around and not _called_by(other, call)):
            continue
        if not around and _apart(source, other, call):
            continue
        if not _makes_none_of(kind, project, source, other.func):
            return False
    return True


def _called_by(other: ast.Call, call: ast.Call) -> bool:
    """Is what `other` calls itself what a call gives, that of another module: `Block(4)(Attention(4)(x))`?"""
    return any(isinstance(n, ast.Call) and n is not call for n in subtree(other.func)) and not _within(call, [other.func])


def _apart(source: SourceFile, other: ast.Call, call: ast.Call) -> bool:
    """Does a call that comes by one never come by the other?"""
    for branch in [a for a in source.ancestors(other) if isinstance(a, ast.If)]:
        if _within(other, branch.body) and (
            _within(call, branch.orelse) or (_ends(branch.body) and not _within(call, [branch]))
        ):
            return True
    return False


def _makes_none_of(kind: str, project: Project, source: SourceFile, func: ast.expr) -> bool:
    """Does a call of `func` make no module in this scope that Linen would call `kind`?"""
    if isinstance(func, ast.Name) and func.id in _BUILTINS and not source.names.is_hidden(func.id, func):
        return True
    if is_class(project, source, func):
        return _kind(project, source, func) != kind
    if isinstance(func, ast.Call):  # of the module that this makes, in its own scope
        return is_class(project, source, func.func)
    return (project.qualname(source, func) or "").startswith(_ARRAYS) or _is_module(project, source, func)


def _is_module(project: Project, source: SourceFile, func: ast.expr) -> bool:
    """Is it a local name of nothing but modules?"""
    scope = source.names.binding_scope(func.id, func) if isinstance(func, ast.Name) else None
    if scope is None or not isinstance(func, ast.Name):
        return False
    bound = [source.parents.get(n) for n in source.names.binders(func.id) if source.names.bound_by(n) is scope]
    values = [b.value for b in bound if isinstance(b, ast.Assign) and len(b.targets) == 1]
    made = [v for v in values if isinstance(v, ast.Call) and is_class(project, source, v.func)]
    return bool(bound) and len(made) == len(bound)


def _kind(project: Project, source: SourceFile, func: ast.expr) -> str:
    return (project.qualname(source, func) or "").rpartition(".")[2]


def _within(node: ast.AST, block: Sequence[ast.AST]) -> bool:
    return any(n is node for statement in block for n in subtree(statement))


def _ends(block: Sequence[ast.stmt]) -> bool:
    """Does nothing behind the block run after it?"""
    last = block[-1]
    if isinstance(last, ast.If) and last.orelse:
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _name_of(made: ast.Call) -> ast.expr | None:
    return next((k.value for k in made.keywords if k.arg == "name"), None)


def _names(method: ast.FunctionDef) -> set[str]:
    """What a method says a name of."""
    nodes = subtree(method)
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}


__all__ = ["with_one_before_branches"]
