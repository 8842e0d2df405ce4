"""Where trees of params go in a program that passes them around: names, tuples, results, scans and functions of trees."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from collections.abc import Iterator

from ...catalog.tree_functions import TREE_MAPS
from ...context import FileContext
from ...linen.flow import flow_changes, flow_classes, flow_control, flow_gradients, flow_records
from ...linen.flow.flow import Flow
from ...linen.flow.flow_dictionaries import is_tree
from ...linen.flow.flow_optimizers import is_deltas
from ...linen.flow.flow_values import (
    COND,
    LOOPS,
    SAME_TREE,
    SCAN,
    SWITCH,
    Collection,
    Deltas,
    Entries,
    Function,
    Half,
    Items,
    Method,
    Model,
    OptState,
    Record,
    State,
    Symbol,
    Tracked,
    Value,
    Variables,
    is_sequence,
)
from ...source import SourceFile
from . import leaf_order
from .components import Component
from .rewrite import Rewrite, Unsupported

_PREFIXES = ("jax.", "optax.", "chex.", "copy.", "flax.jax_utils.", "flax.linen.get_", "flax.linen.unbox")
_BUILTINS = {"print", "type", "id"}
_TREE_MAPS = TREE_MAPS | {"jax.tree.reduce", "jax.tree_util.tree_reduce"}
_AVERAGES = {"optax.incremental_update", "optax.periodic_update", "optax.apply_updates"}
# Functions that go by paths, or by the order of leaves.
_BY_STRUCTURE = ("with_path", "structure", "unflatten", "transpose", "keystr")
# Functions that call others, which may be out of sight (`branches` that something has made).
_CALLING = (
    "jax.lax.map",
    "jax.lax.associative_scan",
    "jax.pure_callback",
    "jax.debug.callback",
    "jax.experimental.io_callback",
)
# What gives a function, its first argument, the others.
_PASSING_ON = {"functools.partial", "jax.eval_shape"}
_WHOLE = {"jax.block_until_ready", "jax.device_get", "jax.device_put", "optax.global_norm"}


class PassedTrees(Rewrite):
    """Follows the trees of a component: each is to stay a tree, and to be known wherever it goes."""

    def __init__(self, component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
        super().__init__(component, flow, contexts)
        self.fields: set[str] = set()  # of the project's own states, with trees of the component
        self.parts = ["params"]  # the collections that the models have

    def goes_on(self, node: ast.AST) -> bool:
        """Does a tree go where it stays one, and where the flow of values still knows it?"""
        parent = self.parent(node)
        if isinstance(parent, ast.Expr):
            return True
        if isinstance(parent, ast.Starred) and isinstance(self.flow.value(node), Items):
            parent = self.parent(parent)
            if not isinstance(parent, ast.Tuple | ast.List):
                return False
        if isinstance(parent, ast.Tuple | ast.List):
            if isinstance(self.flow.value(parent), Items):
                self.bundle(parent, self.flow.value(parent))
                return True
            return False
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            return self.goes_on(parent) and self._kept(self.flow.value(node), self.flow.value(parent))
        if isinstance(parent, ast.Assign) and parent.value is node:
            return all(self._target(target, self.flow.value(node)) for target in parent.targets)
        if isinstance(parent, ast.AnnAssign) and parent.value is node:
            return self._target(parent.target, self.flow.value(node))
        if isinstance(parent, ast.Return | ast.Lambda):
            owner = parent if isinstance(parent, ast.Lambda) else self.function(node)
            returned = self.flow.returns.get(owner) if owner is not None else None
            return returned is not None and self._kept(self.flow.value(node), returned)
        if isinstance(parent, ast.Dict):
            known = self.flow.value(parent)
            if not isinstance(known, Entries):
                return self._in_dictionary(parent, node)
            self.bundle(parent, known)
            return self._asked_in_sight(parent, node)
        call = self.over_keyword(parent)
        return isinstance(call, ast.Call) and call.func is not node and self._given(call, node, parent)

    def _target(self, target: ast.expr, value: Value) -> bool:
        if isinstance(target, ast.Name):
            return self._kept(value, self.flow.value(target)) or not self._is_read(target)
        if isinstance(target, ast.Tuple) and isinstance(value, Items) and is_sequence(value, len(target.elts)):
            plain = not any(isinstance(e, ast.Starred) for e in target.elts)
            return plain and all(self._target(e, v) for e, v in zip(target.elts, value.items, strict=True) if self.has(v))
        return False

    def _is_read(self, target: ast.Name) -> bool:
        same = self.flow.occurrences(self.flow.symbol(self.source(target), target))
        return any(not isinstance(name.ctx, ast.Store) for name in same)

    def _kept(self, value: Value, where: Value) -> bool:
        """Does `where` know all that `value` has of the models?"""
        if isinstance(value, Items):
            if not self.has(value):
                return True
            same = type(value) is type(where) and len(where.items) == len(value.items)  # type: ignore[attr-defined]
            return same and all(map(self._kept, value.items, where.items))  # type: ignore[attr-defined]
        return not self.has(value) or (isinstance(where, Tracked) and self.component.holds(where))

    def has(self, value: Value) -> bool:
        if isinstance(value, Items):
            return any(map(self.has, value.items))
        return isinstance(value, Tracked) and self.component.holds(value) and not self.is_counter(value)

    def is_counter(self, value: Value) -> bool:
        """Has it come from a field of the project's own states that never holds a tree of the model?"""
        return isinstance(value, Collection) and {"params", *self.fields}.isdisjoint(value.names)

    def _in_dictionary(self, parent: ast.Dict, node: ast.AST) -> bool:
        """`{'params': params}` of apply; a dictionary with the tree under a key for which nobody asks."""
        call = self.parent(parent)
        if isinstance(call, ast.Call) and call.args[:1] == [parent]:
            method = self.flow.value(call.func)
            if isinstance(method, Method) and method.name in ("apply", "bind"):
                return True
        if isinstance(self.flow.value(parent), Variables):
            if len(parent.keys) > 1:
                return True  # params and statistics as `init` returns them
            if self.parts == ["params"] and isinstance(call, ast.Assign | ast.Return) and self.goes_on(parent):
                self.replace(parent, node)  # params alone are the same tree as what `init` returns
                return True
        key = next((k for k, v in zip(parent.keys, parent.values) if v is node), None)
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(call, ast.Return)):
            return False
        return self._asked_in_sight(parent, node)

    def _asked_in_sight(self, dictionary: ast.Dict, node: ast.AST) -> bool:
        """Does nobody ask for the key of a tree but of dictionaries that the flow of values knows?"""
        key = next(k for k, v in zip(dictionary.keys, dictionary.values) if v is node)
        if key is None:
            return True  # `**params`: of a dictionary that is known, and was asked about where it was made
        assert isinstance(key, ast.Constant)
        for source in self.readers(self.source(node).module):
            for other in source.by_kind.get(ast.Constant, ()):
                if not isinstance(other, ast.Constant) or other.value != key.value:
                    continue
                asked = source.parents[other]
                known = isinstance(asked, ast.Subscript) and isinstance(self.flow.value(asked.value), Entries)
                if not known and not isinstance(asked, ast.Dict):
                    return False
        return True

    def readers(self, module: str) -> Iterator[SourceFile]:
        """The file of a module, and those that import something of it."""
        for name, source in self.flow.project.files.items():
            imported = map(self.flow.project.canonical, [*source.names.imports.values(), *source.names.star_imports])
            if name == module or any(target == module or target.startswith(f"{module}.") for target in imported):
                yield source

    def _given(self, call: ast.Call, node: ast.AST, parent: ast.AST) -> bool:
        """Is the tree an argument of something that works on trees, or follows it?"""
        name = self.flow.name(call.func) or (call.func.id if isinstance(call.func, ast.Name) else "")
        value, function = self.flow.value(node), self.flow.value(call.func)
        if isinstance(function, Method) and self.component.holds(function):
            return function.name in ("apply", "bind") and call.args[:1] == [node] and not isinstance(value, Items)
        if name in _PASSING_ON and call.args and node is not call.args[0]:
            function = self._called(call)
            if not isinstance(function, Function):
                return False
        function = flow_classes.constructor(self.flow, call) or function
        if isinstance(function, Function):
            if flow_gradients.is_derived(function, call, node) or function.nodes & flow_changes.plain(self.flow):
                return False  # (one that goes on working on dictionaries is given these: see `changes`)
            return all(self._parameter(call, function, target, node, value) for target in function.nodes)
        if name == SCAN:
            return flow_control.start(call) is node and self._scanned(call, value)
        if name in LOOPS:
            return len(call.args) == LOOPS[name] + 1 and node is call.args[-1] and self._looped(call, value)
        if name in (COND, SWITCH):
            known = flow_control.branches(self.flow, call) is not None
            return known and (isinstance(parent, ast.keyword) or node in call.args[2 + (name == COND) :])
        made = self.flow.value(call)
        if isinstance(function, Half) and isinstance(made, OptState | Items | Deltas):
            return True
        if isinstance(made, Record) and flow_records.made_by(self.flow, call):
            held = made.field(flow_records.field_given(made, call, node))
            return held is not None and self._kept(value, held)
        if isinstance(call.func, ast.Attribute):
            base = self.flow.value(call.func.value)
            if isinstance(base, State) and call.func.attr in ("apply_gradients", "replace"):
                return isinstance(parent, ast.keyword) and parent.arg != "apply_fn"
            if self.flow.creates_state(call) and isinstance(parent, ast.keyword):
                return True
            if call.func.attr in ("init", "update") and isinstance(self.flow.value(call), OptState | Items | Deltas):
                return True
        if name in _BUILTINS:
            return not isinstance(value, Model)  # which is a class from now on
        if isinstance(value, Items) and not (is_tree(value) or is_deltas(value)):
            through = SAME_TREE.get(name) == 0 and call.args[:1] == [node] and self._kept(value, self.flow.value(call))
            mapped = name in TREE_MAPS and node in call.args[1:] and not call.keywords and self._alike(call.args[1:])
            return through or mapped or name in _WHOLE | leaf_order.LEAVES  # the order of leaves is seen to there
        functions = any(self._is_called(self.flow.value(argument)) for argument in call.args)
        if name.endswith(_BY_STRUCTURE) or name.startswith(_CALLING) or any(k.arg == "is_leaf" for k in call.keywords):
            return False
        return name.startswith(_PREFIXES) and (not functions or name in _TREE_MAPS) and self._beside(name, call)

    def _alike(self, trees: list[ast.expr]) -> bool:
        """Have tuples that are mapped over together trees of the models at the same places?"""
        values = [self.flow.value(tree) for tree in trees]
        return all(self._kept(a, b) and self._kept(b, a) for a, b in itertools.pairwise(values))

    def _is_called(self, value: Value) -> bool:
        return isinstance(value, Function) or (isinstance(value, Items) and any(map(self._is_called, value.items)))

    def _beside(self, name: str, call: ast.Call) -> bool:
        """Are all the trees that a call maps over together of one kind? An nnx.State is none with a dictionary."""
        last = 2 if name.endswith("reduce") else None  # then a number to begin with
        trees = call.args[1:last] if name in _TREE_MAPS else call.args[:2] if name in _AVERAGES else []
        return all(self.has(self.flow.value(tree)) for tree in trees)

    def _parameter(self, call: ast.Call, function: Function, target: ast.AST, node: ast.AST, value: Value) -> bool:
        symbol = self._received_by(call, function, target, node)
        held = self.flow.env.get(symbol) if symbol is not None else None
        return held is not None and self._kept(value, held)

    def _received_by(self, call: ast.Call, function: Function, target: ast.AST, node: ast.AST) -> Symbol | None:
        """The parameter of a function that gets an argument."""
        arguments = target.args  # type: ignore[attr-defined]
        names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        if node in call.args:
            position = call.args.index(node) + function.bound  # type: ignore[arg-type]
            before = call.args[: call.args.index(node)]  # type: ignore[arg-type]
            if position >= len(names) or any(isinstance(a, ast.Starred) for a in before):
                return None
            return self.source(target).module, target, names[position]
        return self.source(target).module, target, next((str(k.arg) for k in call.keywords if k.value is node), "")

    def receivers(self, node: ast.AST) -> list[Symbol]:
        """The parameters of the project's functions that `node` is given to, as an argument of a call or a partial."""
        parent = self.parent(node)
        call = self.over_keyword(parent)
        if not isinstance(call, ast.Call) or call.func is node:
            return []
        function = self._called(call)
        if not isinstance(function, Function):
            return []
        found = [self._received_by(call, function, target, node) for target in function.nodes]
        return [symbol for symbol in found if symbol is not None]

    def bound_once(self, name: ast.Name) -> Symbol | None:
        """What a name means, where it is a parameter or assigned in one place, and never anything else."""
        symbol = self.flow.symbol(self.source(name), name)
        stores = [n for n in self.flow.occurrences(symbol) if not isinstance(n.ctx, ast.Load)]
        return symbol if len(stores) + self.is_parameter(symbol) == 1 else None

    def is_parameter(self, symbol: Symbol) -> bool:
        scope = symbol[1]
        if not isinstance(scope, ast.FunctionDef | ast.Lambda):
            return False
        return symbol[2] in [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]

    def _called(self, call: ast.Call) -> Value:
        """What a call gives its arguments to: of `functools.partial(f, x)`, the function before it has the first of them."""
        if self.flow.name(call.func) not in _PASSING_ON or not call.args:
            return flow_classes.constructor(self.flow, call) or self.flow.value(call.func)
        function = self.flow.value(call.args[0])
        return dataclasses.replace(function, bound=function.bound - 1) if isinstance(function, Function) else function

    def _scanned(self, call: ast.Call, value: Value) -> bool:
        """A scan whose steps give on what they are given, and keep no state of each step."""
        body = self.flow.value(call.args[0])
        if not isinstance(body, Function) or not self._takes(body, 0, value):
            return False
        results = [self.flow.returns.get(target) for target in body.nodes]
        return all(
            isinstance(r, Items) and is_sequence(r, 2) and self._kept(value, r.items[0]) and not self.has(r.items[1])
            for r in results
        )

    def _looped(self, call: ast.Call, value: Value) -> bool:
        """A `fori_loop` or `while_loop` whose turns give on what they are given."""
        *before, body = (self.flow.value(function) for function in call.args[:-1])
        if not isinstance(body, Function) or not self._takes(body, len(before) - 1, value):
            return False
        if len(before) == 1 and not (isinstance(before[0], Function) and self._takes(before[0], 0, value)):
            return False  # what asks whether there is another turn
        results = [self.flow.returns.get(target) for target in body.nodes]
        return all(result is not None and self._kept(value, result) for result in results)

    def _takes(self, function: Function, position: int, value: Value) -> bool:
        """Has a function all that it is given there as its parameter?"""
        for target in function.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]][position : position + 1]
            held = self.flow.env.get((self.source(target).module, target, names[0])) if names else None
            if held is None or not self._kept(value, held):
                return False
        return not function.transform and not function.bound

    # tuples ----------------------------------------------------------------------------------------------------
    def bundles(self) -> Iterator[tuple[ast.AST, Value]]:
        """The names, calls and items that are tuples with trees of the component."""
        for node, value in self.flow.uses.items:
            if self.has(value):
                yield node, value

    def saved(self, node: ast.AST, value: Value) -> bool:
        """Is a tuple with trees one that a library saves or reads back? It is written as that takes it."""
        raise NotImplementedError

    def bundle(self, node: ast.AST, value: Value) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            return
        parent = self.parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
            if self.has(self.flow.value(parent)) or isinstance(parent.slice, ast.Constant | ast.UnaryOp):
                return
        if isinstance(node, ast.Tuple) and not isinstance(node.ctx, ast.Load):
            return
        if isinstance(value, Record) and isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
            call = self.parent(parent)
            copied = isinstance(call, ast.Call) and call.func is parent and flow_records.made_by(self.flow, call)
            if value.field(parent.attr) is not None or copied:
                return
        if not self.saved(node, value) and not self.goes_on(node):
            raise Unsupported(node, "a tuple with a state that goes where it is not followed")
