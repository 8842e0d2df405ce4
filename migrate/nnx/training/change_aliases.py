"""Other names for the dictionaries that a program changes: Linen changes what all of them hold, a module has values alone.

    params["body"] = pretrained["body"]     # from here on the same dictionary
    pretrained["body"]["scale"] *= 2        # changes both
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...linen.flow import flow_changes
from ...linen.flow.flow_changes import Change
from ...linen.flow.flow_values import ClassValue, Function, Symbol, Tracked, is_params
from ...trees import subtree
from .places import loops_around
from .rewrite import Rewrite, Unsupported

_COPIES = ("jax.", "numpy.", "optax.", "copy.deepcopy", "flax.traverse_util.", "flax.core.freeze", "flax.core.unfreeze")
_SHALLOW = {"dict", "builtins.dict", "flax.core.copy", "copy.copy"}
_IN_PLACE = {"update", "pop", "popitem", "setdefault", "clear", "append", "fill", "sort"}
_ANY_DEPTH = 99
_DISPLAYS = ast.Dict | ast.DictComp | ast.List | ast.ListComp | ast.Tuple | ast.IfExp


def check(form: Rewrite, changes: list[Change]) -> None:
    """Unsupported where something else may hold, or may be given, what a change puts into params."""
    every = flow_changes.every(form.flow)[0]
    for change in every:
        group = _named_alike(form, _held(form, change.value, own=False))
        if change in changes:
            _check_functions(form, change)
            if not change.named and any(_follows(form, name, change) for name in _reads(form, _holders(form, change))):
                raise Unsupported(change.statement, "params that are changed in place where something else holds them")
            if any(_follows(form, place, change) for place in _changed_in_place(form, group)):
                raise Unsupported(change.statement, "params that are given what is changed in place later on")
        tied = _held(form, change.value, own=True)
        for other in every:
            if (change in changes or other in changes) and _follows(form, other.statement, change):
                read = any(_follows(form, name, other) for name in _reads(form, group)) and _meets(form, change, other)
                if read or (_base(form, other.tree) in tied and _deep(form, other)):
                    raise Unsupported(other.statement, "params that are changed in place where others hold the same")


def _check_functions(form: Rewrite, change: Change) -> None:
    """Is what makes the new params given dictionaries? Else it takes the model."""
    for call in (node for node in subtree(change.value) if isinstance(node, ast.Call)):
        function = form.flow.value(call.func)
        given = [*call.args, *[keyword.value for keyword in call.keywords]]
        if isinstance(function, Function) and any(is_params(form.flow.value(argument)) for argument in given):
            others = function.nodes if function.transform else function.nodes - flow_changes.plain(form.flow)
            if any(_takes_trees(form, other) for other in others):
                raise Unsupported(call, "params that are changed by a function which is called otherwise, too")


def _takes_trees(form: Rewrite, function: ast.AST) -> bool:
    """Has a function trees of variables, as far as that can be told?"""
    return any(isinstance(node, ast.Name) and isinstance(form.flow.value(node), Tracked) for node in subtree(function))


def check_trees(form: Rewrite, change: Change) -> None:
    """Unsupported where a function changes the dictionaries it is given, which the program may have under another name.

    For the functional form, which makes new ones; where the module is updated nobody reads another name.
    """
    if not _changes_given(form, change.value):
        return
    own = _base(form, change.tree)
    for root in flow_changes.roots(form.flow, change.value):
        if _base(form, root) != own or not isinstance(root, ast.Name):
            raise Unsupported(change.statement, "params that a function changes in place")
    for store in form.flow.occurrences(own) if own is not None else ():
        given = getattr(form.statement(store), "value", None)
        while isinstance(given, ast.Subscript):
            given = given.value
        if isinstance(store.ctx, ast.Store) and not isinstance(given, ast.Call):
            raise Unsupported(store, "params that a function changes in place")
    for name in form.flow.occurrences(own) if own is not None else ():
        if isinstance(name.ctx, ast.Load) and isinstance(form.parent(name), ast.Assign):
            raise Unsupported(name, "params that a function changes in place")


# what is held ------------------------------------------------------------------------------------------------------
def _holders(form: Rewrite, change: Change) -> set[Symbol]:
    """The names of dictionaries and lists in which the program puts params that are changed: `kept = {"old": params}`."""
    base, found = _base(form, change.tree), set()
    for node in form.source(change.statement).by_kind.get(ast.Assign, ()):
        assert isinstance(node, ast.Assign)
        if node not in form.flow.source_of:
            continue  # a class of modules knows nothing of what a program names
        if isinstance(node.value, _DISPLAYS) and base in _held(form, node.value, own=True, whole=True):
            names = [name for target in node.targets for name in subtree(target) if isinstance(name, ast.Name)]
            if not any(isinstance(form.flow.value(name), Tracked) for name in names):
                found |= {form.flow.symbol(form.source(name), name) for name in names}
    return found


def _held(form: Rewrite, value: ast.expr, *, own: bool, whole: bool = False) -> set[Symbol]:
    """The names whose dictionaries an expression holds parts of: those of params, or those of anything else.

    The params as a whole are left out where they only go on in what is made of them.
    """
    found: set[Symbol] = set()
    todo: list[ast.expr] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute):
            symbol, tracked = _base(form, node), is_params(form.flow.value(node))
            if symbol is not None and tracked == own and (whole or not tracked or isinstance(node, ast.Subscript)):
                found.add(symbol)
        elif isinstance(node, ast.Call):
            name = str(form.flow.name(node.func) or getattr(node.func, "id", ""))
            if not name.startswith(_COPIES):
                todo += [*node.args, *[keyword.value for keyword in node.keywords]]
                if isinstance(node.func, ast.Attribute) and not isinstance(form.flow.value(node.func), Function):
                    todo.append(node.func.value)
        elif isinstance(node, ast.Dict):
            own_items = [v for k, v in zip(node.keys, node.values, strict=True) if k is None]
            todo += [v for v in node.values if whole or v not in own_items or not is_params(form.flow.value(v))]
        elif isinstance(node, ast.DictComp | ast.ListComp):
            todo += [generator.iter for generator in node.generators]
            todo.append(node.value if isinstance(node, ast.DictComp) else node.elt)
        elif isinstance(node, ast.IfExp):
            todo += [node.body, node.orelse]
        elif isinstance(node, ast.BinOp):
            todo += [node.left, node.right]
        elif isinstance(node, ast.Tuple | ast.List):
            todo += node.elts
    return found


def _base(form: Rewrite, node: ast.AST) -> Symbol | None:
    """The name below items and attributes."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name) or isinstance(form.flow.value(node), Function | ClassValue):
        return None
    return form.flow.symbol(form.source(node), node)


def _named_alike(form: Rewrite, symbols: set[Symbol]) -> set[Symbol]:
    """With the names that hold parts of the same: `body = pretrained["body"]`."""
    pairs: list[tuple[set[Symbol], set[Symbol]]] = []
    for source in {form.source(name) for symbol in symbols for name in form.flow.occurrences(symbol)}:
        for node in (*source.by_kind.get(ast.Assign, ()), *source.by_kind.get(ast.For, ())):
            if node not in form.flow.source_of:
                continue
            value = node.value if isinstance(node, ast.Assign) else node.iter  # type: ignore[attr-defined]
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
            if isinstance(value, ast.Name | ast.Subscript | ast.Attribute) or isinstance(node, ast.For):
                names = [n for target in targets for n in subtree(target) if isinstance(n, ast.Name)]
                stored = {form.flow.symbol(source, n) for n in names if isinstance(n.ctx, ast.Store)}
                called = {n.func for n in subtree(value) if isinstance(n, ast.Call)}
                held = (n for n in subtree(value) if isinstance(n, ast.Name) and n not in called)
                bases = {s for n in held if (s := _base(form, n)) is not None}
                if not any(isinstance(form.flow.value(n), Tracked) for n in names):
                    pairs.append((stored, bases))
    found = set(symbols)
    while True:
        more = {s for pair in pairs if not found.isdisjoint(pair[0] | pair[1]) for s in pair[0] | pair[1]}
        if more <= found:
            return found
        found |= more


# what is changed ---------------------------------------------------------------------------------------------------
def _changed_in_place(form: Rewrite, symbols: set[Symbol]) -> Iterator[ast.AST]:
    for symbol in symbols:
        for name in form.flow.occurrences(symbol):
            if not is_params(form.flow.value(name)) and _in_place(form, name):
                yield name


def _in_place(form: Rewrite, name: ast.AST) -> int:
    """Below how many items what a name holds is changed; 0 where it is not."""
    node, depth, parents = name, 0, form.source(name).parents
    while True:
        parent = parents.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            node, depth = parent, depth + 1
            if not isinstance(parent.ctx, ast.Load):
                return depth
        elif isinstance(parent, ast.Attribute) and isinstance(call := parents.get(parent), ast.Call):
            return depth + 1 if parent.attr in _IN_PLACE and call.func is parent else 0
        else:
            return 0


def _deep(form: Rewrite, change: Change) -> bool:
    """Is a dictionary changed that stands in the params, and not only these?"""
    return _changes_given(form, change.value) if change.named else bool(change.keys if change.adds else change.keys[1:])


def _meets(form: Rewrite, change: Change, other: Change) -> bool:
    """May a later change be of what an earlier one has put in?"""
    if _base(form, change.tree) != _base(form, other.tree):
        return False
    if other.named:
        return other is not change and _deep(form, other)
    into = other.keys if other.adds else other.keys[:-1]
    if change.named:
        return bool(into) or _returned(form, change.value)
    if len(change.keys) + change.adds > len(into):
        return False
    pairs = zip(change.keys, into, strict=False)
    return all(not (isinstance(a, ast.Constant) and isinstance(b, ast.Constant)) or a.value == b.value for a, b in pairs)


def _returned(form: Rewrite, value: ast.expr) -> bool:
    """Is it what a function of the program gives back?"""
    return isinstance(value, ast.Call) and isinstance(form.flow.value(value.func), Function)


def _changes_given(form: Rewrite, value: ast.expr) -> bool:
    """Does a function that is called for new params change what it is given, in place?"""
    calls = (node for node in subtree(value) if isinstance(node, ast.Call))
    functions = {f for call in calls if isinstance(v := form.flow.value(call.func), Function) for f in v.nodes}
    for function in functions:
        for name in subtree(function):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                depth = _in_place(form, name)
                if depth and depth > _own_depth(form, name, function):
                    return True
    return False


def _own_depth(form: Rewrite, name: ast.Name, function: ast.AST) -> int:
    """How deep what a name holds is the function's own."""
    symbol = form.flow.symbol(form.source(name), name)
    stores = [node for node in form.flow.occurrences(symbol) if isinstance(node.ctx, ast.Store)]
    depths = []
    for store in stores:
        statement = form.statement(store)
        if not isinstance(statement, ast.Assign) or statement not in getattr(function, "body", ()):
            return 0
        depths.append(_depth(form, statement.value))
    return min(depths, default=0)


def _depth(form: Rewrite, value: ast.expr) -> int:
    if isinstance(value, ast.Dict | ast.DictComp):
        return _ANY_DEPTH if isinstance(value, ast.Dict) and not value.keys else 1
    if not isinstance(value, ast.Call):
        return 0
    name = str(form.flow.name(value.func) or getattr(value.func, "id", ""))
    if name.startswith(_COPIES):
        return _ANY_DEPTH
    copied = isinstance(value.func, ast.Attribute) and value.func.attr == "copy"
    return 1 if name in _SHALLOW or copied else 0


# when --------------------------------------------------------------------------------------------------------------
def _reads(form: Rewrite, symbols: set[Symbol]) -> Iterator[ast.AST]:
    for symbol in symbols:
        yield from (name for name in form.flow.occurrences(symbol) if isinstance(name.ctx, ast.Load))


def _follows(form: Rewrite, node: ast.AST, change: Change) -> bool:
    """May an expression be evaluated after a change?"""
    scope = form.function(change.statement)
    if node is change.statement or any(parent is change.statement for parent in form.source(node).ancestors(node)):
        return bool(loops_around(form, node, scope)) and not isinstance(node, ast.Name)
    if form.function(node) is not scope or form.source(node) is not form.source(change.statement):
        return True
    if loops_around(form, node, scope) & loops_around(form, change.statement, scope):
        return True
    line: int = node.lineno  # type: ignore[attr-defined]
    return line > (change.statement.end_lineno or 0)
