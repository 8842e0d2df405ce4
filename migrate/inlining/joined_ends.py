"""A list of layers and one more of the same kind as one comprehension: the same Linen program, with the same names.

    self.layers = [nn.Dense(w) for w in self.widths] + [nn.Dense(1)]
    self.layers = [nn.Dense(w) for w in (*self.widths, 1)]

So it is where a loop appends to a list, and a last one is appended behind it. What goes through such a list sees items
that differ in one size alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..edits import EditSet
from ..linen.project.index import Project
from ..shared_lines import beside, removals
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name, names_in

_NOT_MOVED = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.Starred)
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


def with_joined_ends(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """The file with one such list of `setup` as a comprehension; None where there is none."""
    for statement in setup.body:
        if isinstance(statement, ast.Assign):
            for node in subtree(statement.value):
                said = _of_sum(source, setup, node)
                if said is not None:
                    edits = EditSet(source.text)
                    edits.replace(source.span(node), said)
                    return edits.render()
    for parts in _appended(setup):
        text = _of_appends(source, setup, *parts)
        if text is not None:
            return text
    return None


def _of_sum(source: SourceFile, setup: ast.FunctionDef, node: ast.AST) -> str | None:
    """`[nn.Dense(w) for w in ws] + [nn.Dense(1)]`, or the single one first."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or "#" in source.text_of(node):
        return None
    for made, other, first in ((node.left, node.right, False), (node.right, node.left, True)):
        one = isinstance(made, ast.ListComp) and len(made.generators) == 1 and not made.generators[0].is_async
        if one and isinstance(other, ast.List) and len(other.elts) == 1:
            assert isinstance(made, ast.ListComp)
            return _joined(source, setup, made.elt, made.generators[0], other.elts[0], first)
    return None


def _appended(setup: ast.FunctionDef) -> Iterator[tuple[ast.Assign, ast.For, ast.Expr, ast.Assign]]:
    """`xs = []`, a loop that appends, `xs.append(...)` and `self.xs = xs`, the last three one after the other."""
    for loop, last, held in zip(setup.body, setup.body[1:], setup.body[2:]):
        if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1 or not isinstance(held, ast.Assign):
            continue
        name = held.value.id if isinstance(held.value, ast.Name) else ""
        begun = [s for s in setup.body if isinstance(s, ast.Assign) and _is_name(s.targets[0], name) and len(s.targets) == 1]
        both = _added(loop.body[0], name) is not None and _added(last, name) is not None
        if name and both and len(begun) == 1 and _is_empty(begun[0].value) and begun[0].lineno < loop.lineno:
            assert isinstance(last, ast.Expr)
            said = [n for n in subtree(setup) if isinstance(n, ast.Name) and n.id == name]
            if len(said) == 4:
                yield begun[0], loop, last, held


def _of_appends(
    source: SourceFile, setup: ast.FunctionDef, begun: ast.Assign, loop: ast.For, last: ast.Expr, held: ast.Assign
) -> str | None:
    names = {n.id for n in subtree(loop.target) if isinstance(n, ast.Name)}
    statements = (begun, loop, last, held)
    if any(len(beside(source, s)) > 1 or "#" in source.text_of(s) for s in statements):
        return None
    if _leaves(source, setup, loop, names):
        return None
    name = held.value.id  # type: ignore[attr-defined]
    each, end = _added(loop.body[0], name), _added(last, name)
    assert each is not None and end is not None
    said = _joined(source, setup, each, ast.comprehension(loop.target, loop.iter, [], 0), end, False)
    if said is None:
        return None
    edits = EditSet(source.text)
    for span in removals(source, [begun, loop, last]):
        edits.replace(span)
    edits.replace(source.span(held.value), said)
    return edits.render()


def _leaves(source: SourceFile, setup: ast.FunctionDef, loop: ast.For, names: set[str]) -> bool:
    """Is a name of a loop read by something else, that does not bind it itself?"""
    inside = {id(n) for n in subtree(loop)}
    for node in subtree(setup):
        if isinstance(node, ast.Name) and node.id in names and id(node) not in inside:
            around = [g for a in source.ancestors(node) for g in (a, *getattr(a, "generators", ()))]
            targets = [g.target for g in around if isinstance(g, ast.For | ast.comprehension)]
            if not any(isinstance(n, ast.Name) and n.id == node.id for target in targets for n in subtree(target)):
                return True
    return False


def _joined(
    source: SourceFile,
    setup: ast.FunctionDef,
    each: ast.expr,
    generator: ast.comprehension,
    end: ast.expr,
    first: bool,
) -> str | None:
    """The comprehension that makes what `each` says of every pass, and `end`; None where they differ in more than one
    argument.
    """
    bound = {n.id for n in subtree(generator.target) if isinstance(n, ast.Name)}
    if not isinstance(each, ast.Call) or not isinstance(end, ast.Call) or ast.dump(each.func) != ast.dump(end.func):
        return None
    if [k.arg for k in each.keywords] != [k.arg for k in end.keywords] or len(each.args) != len(end.args):
        return None
    mine, other = ([*call.args, *[k.value for k in call.keywords]] for call in (each, end))
    unlike = [(a, b) for a, b in zip(mine, other, strict=True) if ast.dump(a) != ast.dump(b)]
    if len(unlike) != 1 or any(isinstance(n, _SCOPES) for n in (*subtree(each), *subtree(end))):
        return None
    (size, last), rest = unlike[0], [a for a in mine if a is not unlike[0][0]]
    if any(_names(part) & bound for part in (each.func, last, *rest)):
        return None
    if any(isinstance(n, _NOT_MOVED) for part in (size, last) for n in subtree(part)):
        return None
    plain = isinstance(size, ast.Name) and isinstance(generator.target, ast.Name) and size.id == generator.target.id
    over = source.text_of(generator.iter)
    if plain and not generator.ifs:
        name, sizes = ast.unparse(size), f"*{over}" if _is_operand(generator.iter) else f"*({over})"
    else:
        name = free_name("size", names_in(setup))
        tests = "".join(f" if {source.text_of(test)}" for test in generator.ifs)
        sizes = f"*[{source.text_of(size)} for {source.text_of(generator.target)} in {over}{tests}]"
    parts = (source.text_of(last), sizes) if first else (sizes, source.text_of(last))
    edits = EditSet(source.text)
    edits.replace(source.span(size), name)
    return f"[{edits.render(source.span(each))} for {name} in ({', '.join(parts)})]"


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in subtree(node) if isinstance(n, ast.Name)}


def _is_operand(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.List | ast.ListComp)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_empty(node: ast.expr) -> bool:
    made = isinstance(node, ast.Call) and _is_name(node.func, "list") and not node.args and not node.keywords
    return made or (isinstance(node, ast.List) and not node.elts)


def _added(statement: ast.stmt, name: str) -> ast.expr | None:
    """`x` of `xs.append(x)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords else None
    adds = isinstance(func, ast.Attribute) and func.attr == "append" and _is_name(func.value, name)
    return call.args[0] if adds and isinstance(call, ast.Call) else None


__all__ = ["with_joined_ends"]
