"""Params that the program makes of those that it has and of something else: a part of them out of a file, say.

    params = {**params, "backbone": pretrained["backbone"]}
    params = merge(variables["params"], pretrained)

What is made so is the model's params under the same names, with other values. That is told by what is done with it: it
trains, or is applied.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...source import SourceFile
from ...trees import subtree
from .flow_dictionaries import is_tree
from .flow_values import ANY, NOTHING, SAME_TREE, Function, Nothing, State, Tracked, Value, Variables, is_params

if TYPE_CHECKING:
    from .flow import Flow

_REMAKES = {
    "flax.traverse_util.unflatten_dict",
    "flax.core.freeze",
    "flax.core.unfreeze",
    "flax.core.FrozenDict",
    "flax.core.copy",
    "dict",
    "builtins.dict",
}
_FLAT = {"flax.traverse_util.flatten_dict"}
_NAMED = {"flax.traverse_util.flatten_dict", "flax.traverse_util.unflatten_dict", "flax.core.freeze", "flax.core.unfreeze"}
_PLAIN = {"flax.core.freeze", "flax.core.unfreeze", "flax.core.FrozenDict"}
_ASKS = {"items", "keys", "update", "copy", "unfreeze", "pop"}


def named(flow: Flow, source: SourceFile, statement: ast.Assign, value: Value) -> Value | None:
    """The params that an assignment gives its name, where nothing else tells what these are."""
    target = statement.targets[0] if len(statement.targets) == 1 else None
    if value != ANY or not isinstance(target, ast.Name):
        return None
    trees = roots(flow, statement.value) if merges(flow, statement.value) else []
    if not trees and isinstance(statement.value, ast.Call) and merges(flow, statement.value):
        made_of = flat(flow, statement.value)
        trees = [made_of] if made_of is not None else []
    if not trees and _awaited(flow, source, target, statement.value):
        return NOTHING
    values = [flow.value(tree) for tree in trees]
    if not values or any(other != values[0] for other in values) or not is_params(values[0]):
        return None
    symbol = flow.symbol(source, target)
    held = flow.env.held(symbol)
    if held is not None and held != ANY and held != values[0]:
        return None
    if held == values[0]:
        return held
    return values[0] if any(_for_a_model(flow, source, name) for name in flow.occurrences(symbol)) else None


def _awaited(flow: Flow, source: SourceFile, target: ast.Name, node: ast.expr) -> bool:
    """`params = {**params, ...}` of a parameter for which no call has been seen yet."""
    if not isinstance(node, ast.Dict):
        return False
    symbol = flow.symbol(source, target)
    held = (v for k, v in zip(node.keys, node.values, strict=True) if k is None and isinstance(v, ast.Name))
    return any(flow.symbol(source, v) == symbol and isinstance(flow.value(v), Nothing) for v in held)


def merges(flow: Flow, node: ast.AST) -> bool:
    """Is an expression a tree that is made of params, by their names?"""
    if isinstance(node, ast.Dict):
        return any(key is None and _is_tree(flow, value) for key, value in zip(node.keys, node.values, strict=True))
    if isinstance(node, ast.DictComp):
        asked = node.generators[0].iter
        if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr == "items":
            asked = asked.func.value
        return _is_tree(flow, asked)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _is_tree(flow, node.left) or _is_tree(flow, node.right)
    if not isinstance(node, ast.Call):
        return False
    name = flow.name(node.func) or getattr(node.func, "id", "")
    given = [*node.args, *[k.value for k in node.keywords]]
    if name in _REMAKES:
        return any(_is_tree(flow, argument) for argument in given) or (
            name == "flax.traverse_util.unflatten_dict" and flat(flow, node) is not None
        )
    function = flow.value(node.func)
    if isinstance(function, Function):
        return not function.transform and any(is_params(flow.value(argument)) for argument in given)
    return False


def remakes(flow: Flow, call: ast.Call) -> bool:
    """Does a call give what it is given in other dictionaries: `unfreeze(params)`, `params.copy()`, a mapped tree?"""
    name = flow.name(call.func) or getattr(call.func, "id", "")
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in _REMAKES | _NAMED or name in SAME_TREE or method in _ASKS


def _is_tree(flow: Flow, node: ast.expr) -> bool:
    if is_params(flow.value(node)) or merges(flow, node):
        return True
    if isinstance(node, ast.Call) and (flow.name(node.func) or "") in _FLAT and node.args:
        return is_params(flow.value(node.args[0]))
    return False


def roots(flow: Flow, node: ast.AST) -> list[ast.expr]:
    """The trees of params that an expression reads, each as a whole: `state.params` of `state.params["head"]`."""
    found: list[ast.expr] = []
    todo = [node]
    while todo:
        other = todo.pop()
        if isinstance(other, ast.Name | ast.Attribute | ast.Subscript) and is_params(flow.value(other)):
            found.append(whole(flow, other))
        else:
            todo += ast.iter_child_nodes(other)
    return found


def flat(flow: Flow, node: ast.Call) -> ast.expr | None:
    """The params of which `flat` of `unflatten_dict(flat)` was made: `flat = flatten_dict(params)`."""
    for name in subtree(node.args[0]) if node.args else ():
        if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
            continue
        symbol = flow.symbol(flow.source_of[name], name)
        stores = flow.occurrences(symbol) if isinstance(symbol[1], ast.FunctionDef | None) else []
        for store in (s for s in stores if isinstance(s.ctx, ast.Store)):
            given = getattr(flow.source_of[store].parents[store], "value", None)
            if isinstance(given, ast.Call) and (flow.name(given.func) or "") in _FLAT and given.args:
                if is_params(flow.value(given.args[0])):
                    return whole(flow, inmost(flow, given.args[0]))
    return None


def inmost(flow: Flow, node: ast.expr) -> ast.expr:
    """`params` of `unfreeze(params)`."""
    while (below := inner(flow, node)) is not None:
        node = below
    return node


def whole(flow: Flow, node: ast.expr) -> ast.expr:
    """`variables["params"]` of `variables["params"]["head"]["kernel"]`."""
    while isinstance(node, ast.Subscript) and not isinstance(flow.value(node.value), Variables):
        node = node.value
    return node


def _for_a_model(flow: Flow, source: SourceFile, name: ast.Name) -> bool:
    """Are params wanted where a name is read: does a state train them, or a model take them?"""
    node: ast.AST = name
    parent = source.parents.get(node)
    while isinstance(parent, ast.Call) and (flow.name(parent.func) or "") in _REMAKES:
        node, parent = parent, source.parents.get(parent)
    if not isinstance(name.ctx, ast.Load):
        return False
    if isinstance(parent, ast.keyword):
        call = source.parents.get(parent)
        return parent.arg == "params" and isinstance(call, ast.Call) and flow.creates_state(call)
    if isinstance(parent, ast.Dict):
        keys = [k for k, v in zip(parent.keys, parent.values, strict=True) if v is node]
        return any(isinstance(key, ast.Constant) and key.value == "params" for key in keys)
    return (
        isinstance(parent, ast.Call)
        and node in parent.args
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in ("init", "apply")
    )


def copied(flow: Flow, call: ast.Call) -> bool:
    """`dict(params)`; of a state's params it is a tree beside these, which `replace` takes."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "dict" and flow.name(call.func) is None):
        return False
    if len(call.args) != 1 or call.keywords or not is_params(flow.value(call.args[0])):
        return False
    tree = whole(flow, call.args[0])
    return not (isinstance(tree, ast.Attribute) and isinstance(flow.value(tree.value), State))


def deeply(flow: Flow, call: ast.Call) -> bool:
    """`copy.deepcopy(params)`: a target network's. (What it makes of a state or an object is no tree of its own.)"""
    if flow.name(call.func) != "copy.deepcopy" or len(call.args) != 1 or call.keywords:
        return False
    value = flow.value(call.args[0])
    return isinstance(value, Nothing) or is_tree(value)


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """A statement that changes params."""

    statement: ast.stmt
    tree: ast.expr  # what is changed in place, or given a name
    keys: tuple[ast.expr, ...]  # of the item that is assigned
    value: ast.expr  # what the params are now, or the item; what `update` is given
    adds: bool = False  # is it `params.update(...)`?
    named: bool = False  # is the value given a name?

    @property
    def place(self) -> ast.expr:
        """What stands for the change: the item, the name or the call of `update`."""
        if self.named:
            return self.tree
        if self.adds:
            assert isinstance(self.statement, ast.Expr)
            return self.statement.value
        assert isinstance(self.statement, ast.Assign)
        return self.statement.targets[0]


@functools.lru_cache(maxsize=1)
def every(flow: Flow) -> tuple[tuple[Change, ...], frozenset[ast.AST]]:
    """The changes of a program, and the functions that are given dictionaries, as in Linen, and return them changed."""
    found = [change for node in flow.source_of if (change := _change(flow, node)) is not None]
    by_value = {change.value: change for change in found if change.named}
    plain: set[ast.AST] = set()
    candidates = {f for value in by_value for call in _calls(value) for f in _callees(flow, call)}
    candidates = {f for f in candidates if _by_names(flow, f)}
    while True:
        kept = {f for f in candidates if _keeps_to_itself(flow, f, by_value, candidates)}
        if kept == candidates:
            break
        candidates = kept
    plain = candidates
    inside = {node for function in plain for node in subtree(function)}
    outside = (change for change in found if change.statement not in inside)
    seen = (c for c in outside if c.tree in flow.loaded or not c.named or _callees_plain(flow, c, plain))
    return tuple(seen), frozenset(plain)


@functools.lru_cache(maxsize=1)
def by_value(flow: Flow) -> dict[ast.expr, Change]:
    return {change.value: change for change in every(flow)[0]}


# what changes ------------------------------------------------------------------------------------------------------
def _change(flow: Flow, node: ast.AST) -> Change | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name):
            given = is_params(flow.value(target)) and merges(flow, node.value)
            return Change(node, target, (), node.value, named=True) if given and not _same(flow, node.value) else None
        if isinstance(target, ast.Subscript):
            tree, keys = _item(flow, target)
            return Change(node, tree, keys, node.value) if keys else None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        method = call.func
        if isinstance(method, ast.Attribute) and method.attr == "update" and len(call.args) == 1 and not call.keywords:
            if is_params(flow.value(method.value)):
                tree, keys = _item(flow, method.value)
                return Change(node, tree, keys, call.args[0], adds=True)
    return None


def _same(flow: Flow, node: ast.expr) -> bool:
    """Is it params as they are, in another dictionary?"""
    return isinstance(inmost(flow, node), ast.Name | ast.Attribute | ast.Subscript)


def inner(flow: Flow, node: ast.expr) -> ast.expr | None:
    """What a call that changes nothing but what params are held in is given."""
    if not isinstance(node, ast.Call) or node.keywords or not is_params(flow.value(node)):
        return None
    name = flow.name(node.func) or ""
    if len(node.args) == 1 and (name in _PLAIN or copied(flow, node)):
        return node.args[0] if is_params(flow.value(node.args[0])) else None
    method = node.func
    if isinstance(method, ast.Attribute) and not node.args and method.attr in ("unfreeze", "copy"):
        return method.value if is_params(flow.value(method.value)) else None
    return None


def _item(flow: Flow, node: ast.expr) -> tuple[ast.expr, tuple[ast.expr, ...]]:
    keys: list[ast.expr] = []
    while isinstance(node, ast.Subscript) and is_params(flow.value(node.value)):
        keys.insert(0, node.slice)
        node = node.value
    return node, tuple(keys)


def plain(flow: Flow) -> frozenset[ast.AST]:
    """The functions that go on working on dictionaries."""
    return every(flow)[1]


def is_plain(flow: Flow, node: ast.AST) -> bool:
    """Does an expression stand in one?"""
    functions = plain(flow)
    return bool(functions) and any(parent in functions for parent in flow.source_of[node].ancestors(node))


# functions ---------------------------------------------------------------------------------------------------------
def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (n for n in subtree(node) if isinstance(n, ast.Call))


def _callees(flow: Flow, call: ast.Call) -> frozenset[ast.AST]:
    value = flow.value(call.func)
    return value.nodes if isinstance(value, Function) and not value.transform else frozenset()


def _callees_plain(flow: Flow, change: Change, plain: set[ast.AST]) -> bool:
    return all(_callees(flow, call) <= plain for call in _calls(change.value))


def _by_names(flow: Flow, function: ast.AST) -> bool:
    """Does a function look at params by their names?"""
    for node in subtree(function):
        if isinstance(node, ast.Call) and (flow.name(node.func) or "") in _NAMED:
            return True
        base = node.value if isinstance(node, ast.Attribute | ast.Subscript) else None
        if base is not None and is_params(flow.value(base)):
            if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _ASKS):
                return True
        if isinstance(node, ast.Dict) and merges(flow, node):
            return True
        if isinstance(node, ast.For | ast.comprehension) and is_params(flow.value(node.iter)):
            return True
    return False


def _keeps_to_itself(
    flow: Flow, function: ast.AST, by_value: dict[ast.expr, Change], candidates: set[ast.AST]
) -> bool:
    """Is a function only called for such changes, and has it nothing but params, which it gives to no other function?"""
    if not isinstance(function, ast.FunctionDef) or function in flow.partials:
        return False
    if any(getattr(decorator, "id", "") != "staticmethod" for decorator in function.decorator_list):
        return False
    for node in subtree(function):
        value = flow.value(node) if isinstance(node, ast.expr) else None
        if isinstance(value, Tracked) and not is_params(value):
            return False
        if isinstance(node, ast.Name) and isinstance(value, Tracked):
            scope = flow.symbol(flow.source_of[node], node)[1]
            if scope is not function and scope not in subtree(function):
                return False
        if isinstance(node, ast.Call) and isinstance(flow.value(node.func), Function):
            given = [*node.args, *[k.value for k in node.keywords]]
            if any(isinstance(flow.value(g), Tracked) for g in given) and not _callees(flow, node) <= candidates:
                return False
    for name, _ in flow.uses.references(function):
        parent = flow.source_of[name].parents[name]
        if not (isinstance(parent, ast.Call) and parent.func is name):
            return False
    for call, source in flow.callers.get(function, {}).items():
        above = [call, *source.ancestors(call)]
        if any(parent in by_value or parent in candidates for parent in above):
            continue
        if any(isinstance(flow.value(g), Tracked) for g in [*call.args, *[k.value for k in call.keywords]]):
            return False
    return True
