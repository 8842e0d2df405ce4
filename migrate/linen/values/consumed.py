"""Names of lists and iterators of which expressions take items: `nn.Dense(widths.pop())`, `next(names)`, `for w in pairs`.

A statement that only changes a list (`widths.append(8)`, `last = widths.pop()`) is copied to the constructor, once and in
its place. What an expression takes is gone for whoever says it a second time, and the constructor says sizes wherever it
needs them: what such a name holds is for the call alone to say.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from ...trees import of_kind, subtree
from .mutation import changed_anywhere

_OF_OBJECTS = frozenset(
    {"pop", "popleft", "popitem", "append", "appendleft", "extend", "extendleft", "insert", "remove", "discard", "clear"}
    | {"setdefault", "reverse", "rotate", "move_to_end", "__next__", "send"}
)
_OF_FIRST = frozenset(  # functions that change what they are given first
    {
        "next",
        "heappush",
        "heappop",
        "heapify",
        "heapreplace",
        "heappushpop",
        "shuffle",
        "insort",
        "insort_left",
        "insort_right",
    }
)
_OF_LIBRARIES = frozenset(
    {"jnp", "np", "jax", "lax", "nn", "numpy", "torch", "tf", "onp"}
)  # `jnp.append(x, y)` changes nothing
_ITERATORS = frozenset({"iter", "enumerate", "filter", "map", "reversed", "zip"})
_WHOLE = frozenset({"list", "tuple", "sorted", "dict", "set", "sum", "max", "min"})
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)


def taken_from(node: ast.AST) -> str:
    """The name of the object that a call changes or takes something from, nothing where it does neither."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr in _OF_OBJECTS and isinstance(func.value, ast.NamedExpr):
        return func.value.target.id
    if isinstance(func, ast.Attribute) and func.attr in _OF_OBJECTS and isinstance(func.value, ast.Name):
        return "" if func.value.id in _OF_LIBRARIES or func.value.id == "self" else func.value.id
    called = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    if called in _OF_FIRST and node.args and isinstance(node.args[0], ast.Name):
        return node.args[0].id
    return ""


@functools.lru_cache(maxsize=4096)
def names(function: ast.FunctionDef) -> frozenset[str]:
    """The names of a function whose objects an expression changes, by whatever name."""
    alone = {call for call in statements_calls(function) if isinstance(call, ast.Call) and not _is_named_there(call)}
    found = {taken_from(node) for node in subtree(function) if node not in alone} - {""}
    found |= set(_iterators(function)) | set(_around_inner(function))
    pairs = [p for a in of_kind(function, ast.Assign) for p in _one_object(a)]
    pairs += [
        frozenset({n.target.id, n.value.id}) for n in of_kind(function, ast.NamedExpr) if isinstance(n.value, ast.Name)
    ]
    while more := {a for pair in pairs if found & pair for a in pair} - found:
        found |= more
    return frozenset(found)


def _is_named_there(call: ast.Call) -> bool:
    """`(sizes := list(given)).append(3)`"""
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.NamedExpr)


def statements_calls(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The calls that are statements, or all that a statement assigns, of the function itself."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            yield from (
                v for v in values if isinstance(v, ast.Call) and not (isinstance(v.func, ast.Name) and v.func.id == "next")
            )
        if isinstance(node, ast.If) and _is_key_taken(node.test):
            yield node.test
        if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.ExceptHandler):
            todo += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt | ast.ExceptHandler)]


def _around_inner(function: ast.FunctionDef) -> Iterator[str]:
    """Names whose objects a function within this one changes: `counts["n"] += 1`."""
    for inner in of_kind(function, ast.FunctionDef):
        if inner is not function:
            own = {a.arg for a in subtree(inner) if isinstance(a, ast.arg)}
            own |= {n.id for n in subtree(inner) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            yield from changed_anywhere(inner) - own


def _is_key_taken(test: ast.expr) -> bool:
    """`if options.pop("learned"):` takes it from a dict; said again it raises."""
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute) or test.func.attr != "pop":
        return False
    key = test.args[0] if len(test.args) == 1 else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _iterators(function: ast.FunctionDef) -> Iterator[str]:
    """Names of iterators that are gone through, or asked, more than once, or in the middle of an expression."""
    own = {
        n.name
        for n in of_kind(function, ast.FunctionDef)
        if any(isinstance(y, ast.Yield | ast.YieldFrom) for y in subtree(n))
    }
    made: dict[str, ast.AST] = {
        target.id: statement
        for statement in of_kind(function, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and _is_iterator(statement.value, own)
    }
    made |= {name: loop for loop in of_kind(function, ast.For) for name in _groups(loop)}
    if not made:
        return
    read = [n for n in of_kind(function, ast.Name) if n.id in made and isinstance(n.ctx, ast.Load)]
    repeated = {n for loop in subtree(function) if isinstance(loop, _LOOPS) and loop is not function for n in _again(loop)}
    whole = set(_asked_whole(function))
    for name, statement in made.items():
        places = [n for n in read if n.id == name]
        again = any(n in repeated and not _makes(function, n, statement) for n in places)
        if len(places) > 1 or again or not whole.issuperset(places):
            yield name


def _groups(loop: ast.For) -> Iterator[str]:
    """`for key, group in itertools.groupby(names)`"""
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    named = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if named == "groupby" and isinstance(loop.target, ast.Tuple):
        yield from (e.id for e in loop.target.elts[1:] if isinstance(e, ast.Name))


def _asked_whole(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What loops go through, and what all of which a statement assigns: `pairs = list(both)`."""
    for node in subtree(function):
        if isinstance(node, ast.For | ast.comprehension):
            yield from subtree(node.iter)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            if node.value.func.id in _WHOLE:
                yield from node.value.args


def _again(loop: ast.AST) -> Iterator[ast.AST]:
    """What a loop runs in every pass, or a function whenever it is called; what a loop goes through is asked once."""
    once: set[ast.AST] = set()
    if isinstance(loop, ast.For):
        once = set(subtree(loop.iter))
    elif isinstance(loop, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        once = set(subtree(loop.generators[0].iter))
    yield from (n for n in subtree(loop) if n not in once)


def _makes(function: ast.FunctionDef, read: ast.AST, statement: ast.AST) -> bool:
    """Does the loop around a reading make the iterator anew in every pass?"""
    around = [loop for loop in subtree(function) if isinstance(loop, _LOOPS) and loop is not function]
    return all(statement in subtree(loop) for loop in around if read in set(_again(loop)))


def _is_iterator(value: ast.expr, generators: set[str]) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Name):
        return value.func.id in _ITERATORS or value.func.id in generators
    return isinstance(value.func, ast.Attribute) and ast.unparse(value.func.value) == "itertools"


def _one_object(statement: ast.Assign) -> Iterator[frozenset[str]]:
    """`taken = widths`: two names of one object."""
    if isinstance(statement.value, ast.Name):
        own = statement.value.id
        yield from (frozenset({t.id, own}) for t in statement.targets if isinstance(t, ast.Name))


__all__ = ["names", "statements_calls"]
