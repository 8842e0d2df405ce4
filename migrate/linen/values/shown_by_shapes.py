"""Does an expression of a method's call follow from shapes, fields and constants alone, and not from what arrays hold?

A parameter whose shape only the call knows can be made by a call on shapes (`linen_parity.settle`) where all that its
initializer is given is the same in such a call: `(1, x.shape[1], self.width)`, but not `x.mean()`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping
from typing import Any

from ...trees import subtree
from ..project import given_names
from ..project.classes import Field, Method
from . import detached, traced_code
from .closures import is_called_here
from .sites import Function
from .values import Const

_OF_SHAPES = frozenset({"shape", "ndim", "size"})
_OF_ALL = frozenset({"len", "isinstance", "type"})
_LIKE = frozenset(f"jax.numpy.{name}_like" for name in ("zeros", "ones", "empty", "full"))  # an array that is given
_SIZES = frozenset(f"{library}.{name}" for library in ("jax.numpy", "numpy") for name in ("shape", "ndim", "size"))
_SCOPES = frozenset(f"jax.{name}" for name in ("ensure_compile_time_eval", "named_scope", "profiler.TraceAnnotation"))
_NUMBERS = frozenset({"int", "str", "Tuple[int, ...]", "tuple[int, ...]"})
_CHANGING = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "sort", "reverse"})
_OF_MODULES = frozenset({"param", "variable", "make_rng", "sow", "perturb", "get_variable", "put_variable", "variables"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.withitem)


_OF_ARRAYS = frozenset(  # what arrays have
    {
        *("addressable_data", "addressable_shards", "all", "any", "argmax", "argmin", "argpartition", "argsort"),
        *("astype", "at", "aval", "block_until_ready", "byteswap", "choose", "clip", "clone", "compress", "conj"),
        *("conjugate", "copy", "copy_to_host_async", "cumprod", "cumsum", "device", "devices", "diagonal", "dot"),
        *("dtype", "flat", "flatten", "format", "global_shards", "imag", "item", "itemsize", "max", "mean", "min"),
        *("mT", "nbytes", "nonzero", "prod", "ptp", "ravel", "real", "repeat", "reshape", "round", "searchsorted"),
        *("sharding", "sort", "squeeze", "std", "sum", "swapaxes", "T", "take", "to_device", "tobytes", "tolist"),
        *("trace", "transpose", "var", "view", "weak_type"),
    }
)


def shown(run: Any, method: Method, node: ast.expr, typed: bool = False, computed: bool = False) -> bool:
    """Is an expression in a method the same in a call on shapes, whatever the method is called with?

    The dtype of an array is not: the dtypes of a call on shapes are guessed. Nor are flags and what else has a default:
    the call on shapes is made with the defaults. `typed`: the call is made on an example, so that dtypes are known, and
    what its arguments are beside arrays: `graph.irreps`. That no array is among what is read is seen when it is made.
    `computed`: the call is traced, so that arrays may be computed from all that: `jnp.arange(x.shape[1])`.
    """
    reading = _Shown(run, method, typed, computed)
    return reading.is_shown(node, reading.names_around(node) if typed else frozenset())


def first_value_shown(run: Any, method: Method, init: ast.expr, given: Mapping[int | str, ast.expr], typed: bool) -> bool:
    """Is what a variable starts from the same in a call on shapes that is traced, whatever the method is called with?

    `given`: what the initializer is given, by place or name; of an array it may ask the shape, and where `typed` the dtype.
    """
    reading = _Shown(run, method, typed, computed=True)
    own = reading.names_around(init) if typed else frozenset()
    return reading.is_shown(init, own) and all(
        reading.is_shown(node, own) or reading.asks_shape(init, key) for key, node in given.items()
    )


class _Shown:
    def __init__(self, run: Any, method: Method, typed: bool = False, computed: bool = False) -> None:
        self.run, self.method, self.typed, self.computed = run, method, typed, computed
        self.decided: _Shown = _Shown(run, method, typed) if computed else self  # what Python must know while JAX traces
        self.parameters = {p.arg: p for p in method.parameters}
        self.bound: dict[str, list[ast.AST]] = {}
        self.within: set[str] = set()  # what comprehensions bind for themselves
        self.changed: dict[str, list[ast.AST]] = {}  # in place: `sizes.append(n)`
        self.passing: set[str] = set()  # names that a pass of a loop or comprehension gives another meaning
        self.same: dict[str, set[str]] = {}  # names that may hold one object: `other = sizes`
        for part in method.nodes:
            for name in _bound_by(part):
                if typed and isinstance(part, ast.comprehension):
                    self.within.add(name)
                else:
                    self.bound.setdefault(name, []).append(part)
                if self._is_of_a_pass(part):
                    self.passing.add(name)
            for name in _changed_by(part):
                self.changed.setdefault(name, []).append(part)
            together = _one_object(part)
            for name in together:
                self.same.setdefault(name, set()).update(together)
        self.asked: dict[tuple[str, frozenset[ast.AST]], bool] = {}

    def _is_of_a_pass(self, part: ast.AST) -> bool:
        around = itertools.takewhile(lambda a: a is not self.method.node, [part, *self.method.source.ancestors(part)])
        return any(isinstance(a, ast.For | ast.AsyncFor | ast.While | ast.comprehension) for a in around)

    def names_around(self, node: ast.expr) -> frozenset[str]:
        """What the functions and comprehensions around an expression call what they are given, but for arrays."""
        around = list(self.method.source.ancestors(node))
        inner = around[: around.index(self.method.node)] if self.method.node in around else []
        own: frozenset[str] = frozenset()
        for place in reversed(inner):
            if isinstance(place, _FUNCTIONS):
                given = place.args
                own |= {p.arg for p in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            own = self._within(place, own)
        return own

    def _within(self, place: ast.AST, own: frozenset[str]) -> frozenset[str]:
        """The same within a comprehension."""
        for loop in getattr(place, "generators", ()):
            names = {n.id for n in subtree(loop.target) if isinstance(n, ast.Name)}
            own = own - names | {name for name in names if self._of_loop(loop, name, own)}
        return own

    def _of_loop(self, loop: ast.For | ast.comprehension, name: str, own: frozenset[str]) -> bool:
        """Is a loop's variable what it would be for other arrays: also a counter, or a key, beside an array?"""
        if self.is_shown(loop.iter, own):
            return True
        items, target = _in_order(loop.iter), loop.target
        if not self.typed or not isinstance(items, ast.Call) or not isinstance(target, ast.Tuple):
            return False
        first = isinstance(target.elts[0], ast.Name) and target.elts[0].id == name
        counts = isinstance(items.func, ast.Name) and items.func.id == "enumerate" and len(items.args) == 1
        keys = isinstance(items.func, ast.Attribute) and items.func.attr == "items" and not items.args
        return first and (counts or keys)

    def is_shown(self, node: ast.AST, own: frozenset[str]) -> bool:
        if isinstance(node, ast.Name):
            return node.id in own or self._name(node)
        if isinstance(node, ast.Attribute):
            if node.attr in _OF_SHAPES:
                return True
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                flag = node.attr in self.run.call_fields  # which the call takes in NNX
                return node.attr not in _OF_MODULES and not flag and not self._is_module(node)
            if self.typed and (node.attr == "dtype" or self._is_beside_arrays(node)):
                return True
            return node.attr != "dtype" and self.is_shown(node.value, own)
        if isinstance(node, ast.Call):
            return self._call(node, own)
        asked = _asked_structure(node) if isinstance(node, ast.Compare) else None
        if asked is not None and self._is_there(asked, own):
            return True
        if isinstance(node, _FUNCTIONS):
            return self._function(node, own)
        if isinstance(node, ast.comprehension) and self.typed:
            return all(self.is_shown(test, own) for test in node.ifs)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) and self.typed:
            own = self._within(node, own)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            own |= {n.id for g in node.generators for n in subtree(g.target) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if not self._is_decided(node, own):
            return False
        return all(self.is_shown(child, own) for child in ast.iter_child_nodes(node) if isinstance(child, _PARTS))

    def _is_decided(self, node: ast.AST, own: frozenset[str]) -> bool:
        """Does Python know, while JAX traces the call, which way an expression goes?"""
        return not self.computed or all(self.decided.is_shown(test, own) for test in traced_code.deciding(node))

    def _is_beside_arrays(self, node: ast.Attribute) -> bool:
        """`x.irreps` of an argument that is given whatever else is called: arrays have no such attribute."""
        if not isinstance(node.value, ast.Name) or node.value.id not in self.parameters:
            return False
        return node.attr not in _OF_ARRAYS and self.method.default(node.value.id) is None

    def _is_there(self, node: ast.AST, own: frozenset[str]) -> bool:
        """Is an array, or what holds some, there or None in all calls alike that are given what the constructor is told of?

        `graph.globals` of an argument without a default, also when functions and modules have changed it.
        """
        parts = list(subtree(node))
        own |= {a.arg for a in parts if isinstance(a, ast.arg)}
        if isinstance(node, ast.FunctionDef):
            own |= {name for part in parts for name in _bound_by(part)}
        for part in parts:
            if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.comprehension | ast.Nonlocal):
                return False
            if isinstance(part, ast.IfExp | ast.If | ast.While) and not self.is_shown(part.test, own):
                return False
            found = self.run.evaluated.get(part)
            if found is not None and found.flags:
                return False
            if isinstance(part, ast.Attribute) and detached.is_self(part.value):
                if part.attr in self.run.call_fields or part.attr in _OF_MODULES:
                    return False
            elif isinstance(part, ast.Name) and part.id not in own and part.id != "self":
                if not self._is_name_there(part):
                    return False
        return True

    def _is_name_there(self, node: ast.Name) -> bool:
        name = node.id
        makers = [maker for maker in self.bound.get(name, []) if self._may_reach(maker, node)]
        optional = name in self.parameters and self.method.default(name) is not None
        if name in self.within or optional or not self.changed.keys().isdisjoint({name} | self.same.get(name, set())):
            return False
        asked = (f"{name} is there", frozenset(makers))
        if asked not in self.asked:
            before = set(self.asked)
            self.asked[asked] = True  # asked about within itself: what it depends on else decides
            values = [m if isinstance(m, ast.FunctionDef) else getattr(m, "value", None) for m in makers]
            plain = all(isinstance(m, ast.Assign | ast.AnnAssign | ast.FunctionDef) for m in makers) and None not in values
            there = plain and all(self._is_there(v, frozenset()) for v in values if v is not None)
            there = there and all(map(self._when, makers))
            if not there:  # what was found while this was taken for granted is forgotten
                self.asked = {known: said for known, said in self.asked.items() if known in before}
            self.asked[asked] = there
        return self.asked[asked]

    def _name(self, node: ast.Name) -> bool:
        name = node.id
        if name in self.within and name not in self.bound:
            return False
        if name == "self":
            return False
        makers = [maker for maker in self.bound.get(name, []) if self._may_reach(maker, node)]
        asked = (name, frozenset(makers))
        if asked not in self.asked:
            before = set(self.asked)
            self.asked[asked] = True  # asked about within itself: what it depends on else decides
            if not self._is_name_shown(name, makers):
                self.asked = {known: said for known, said in self.asked.items() if known in before}
                self.asked[asked] = False  # and what was found of others while this was taken for granted is forgotten
        return self.asked[asked]

    def _may_reach(self, maker: ast.AST, node: ast.Name) -> bool:
        """May a name hold, where it is read, what a statement gives it? Not what one further down does, in no loop of both.

        Functions read names when they are called. Changes in place are not asked about here: what has been given a list
        sees them, too.
        """
        if not isinstance(maker, ast.Assign | ast.AnnAssign | ast.For):
            return True
        project, source = self.run.project, self.method.source
        ancestors = source.ancestors
        around = list(itertools.takewhile(lambda a: a is not self.method.node, ancestors(node)))
        own = not isinstance(maker, ast.For) and maker in around  # `w = self.param("w", lambda key: jnp.asarray(w))`
        if maker.lineno <= (node.end_lineno or 0) and not own:
            return True
        loops = {a for a in around if isinstance(a, ast.For | ast.AsyncFor | ast.While)}
        later = any(isinstance(a, _FUNCTIONS) and not is_called_here(project, source, a) for a in around)
        return later or not loops.isdisjoint(ancestors(maker))

    def _is_name_shown(self, name: str, makers: list[ast.AST]) -> bool:
        left_out = name in self.bound and name in self.parameters and self._is_left_out(name)
        if name in self.parameters and not left_out:
            return self._parameter(name) and not makers
        names, more = {name}, self.same.get(name, set())
        while more - names:
            names |= more
            more = set().union(*(self.same.get(n, set()) for n in names))
        if any(n in self.parameters for n in names - ({name} if left_out else set())):
            return False
        changes = [change for n in names for change in self.changed.get(n, [])]
        bound = all(self._binding(maker, name) for maker in makers)
        return bound and all(map(self._change, changes)) and all(map(self._when, makers + changes))

    def _when(self, part: ast.AST) -> bool:
        """Does the same decide whether a statement runs, and how often?"""
        for parent in self.method.source.ancestors(part):
            if parent is self.method.node:
                break
            if isinstance(parent, ast.If | ast.While | ast.IfExp) and not self.decided.is_shown(parent.test, frozenset()):
                return False
            if isinstance(parent, ast.For) and not self.is_shown(parent.iter, frozenset()):
                return False
            if isinstance(parent, ast.With) and all(self._is_same_within(item.context_expr) for item in parent.items):
                continue
            if isinstance(parent, ast.Try | ast.Match | ast.With | ast.BoolOp):
                return False
        return True

    def _is_same_within(self, context: ast.expr) -> bool:
        """Does a `with` change nothing of what its statements compute, and leave out none of them?"""
        called = context.func if isinstance(context, ast.Call) else context
        return self.run.project.qualname(self.method.source, called) in _SCOPES

    def _change(self, part: ast.AST) -> bool:
        if isinstance(part, ast.Call):
            return all(self.is_shown(a, frozenset()) for a in (*part.args, *(k.value for k in part.keywords)))
        if isinstance(part, ast.Delete):
            return all(self.is_shown(t.slice, frozenset()) for t in part.targets if isinstance(t, ast.Subscript))
        slices = [t.slice for t in subtree(part) if isinstance(t, ast.Subscript) and not isinstance(t.ctx, ast.Load)]
        value = getattr(part, "value", None)
        return value is not None and all(self.is_shown(child, frozenset()) for child in (value, *slices))

    def _binding(self, maker: ast.AST, name: str) -> bool:
        if isinstance(maker, ast.For | ast.comprehension):
            return self._of_loop(maker, name, frozenset())
        if isinstance(maker, _FUNCTIONS):
            return self._function(maker, frozenset())
        if isinstance(maker, ast.Import | ast.ImportFrom):
            return True
        value = getattr(maker, "value", None)
        return value is not None and self.is_shown(value, frozenset())

    def _parameter(self, name: str) -> bool:
        """Is an argument of the call a number or a text, by what it is said to be, that the constructor is given, too?"""
        said = self.parameters[name].annotation
        return self.method.default(name) is None and said is not None and ast.unparse(said) in _NUMBERS

    def _is_left_out(self, name: str) -> bool:
        """Is an argument that the method assigns None by default, and does nothing in the project give the call another?

        Code outside of it that does raises: what such an argument decides is compared with what it was.
        """
        default = self.method.default(name)
        positional = [p.arg for p in self.method.positional]
        place = positional.index(name) if name in positional else None
        none = isinstance(default, ast.Constant) and default.value is None
        family = [model.qualname for model in self.run.analyser.classes.lineage(self.run.model.qualname)]
        return none and not given_names.gives(self.run.project, name, place, family)

    def _call(self, node: ast.Call, own: frozenset[str]) -> bool:
        known = self.run.project.qualname(self.method.source, node.func) or ""
        if known in _SIZES:
            return True
        if not self.computed and (traced_code.is_of_jax(known) or traced_code.computes(self.run.project, known)):
            return False
        if self.computed and traced_code.asks_values(node, known):
            return self.decided.is_shown(node, own)
        if self.computed and traced_code.is_read(self.run.project, known):
            return False
        if isinstance(node.func, ast.Name) and node.func.id in _OF_ALL:
            return True
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            helper = self.run.model.method(node.func.attr)
            if helper is not None and _asks_module(helper):
                return False
        given = [*node.args, *[k.value for k in node.keywords]]
        if self._is_like(node):
            given = given[1:]
        if isinstance(node.func, ast.Attribute) and detached.is_self(node.func.value) and node.func.attr in self.run.fields:
            if self._reads_fields(self.run.fields[node.func.attr]):
                given = [a for a in given if not detached.is_self(a)]  # `self.get_size(self, n)`
        return all(self.is_shown(part, own) for part in [node.func, *given])

    def _is_like(self, node: ast.Call) -> bool:
        """Does a call make an array like the first that it is given, whatever that holds? It has the dtype of that, too."""
        told = self.computed and self.typed
        return told and self.run.project.qualname(self.method.source, node.func) in _LIKE

    def _reads_fields(self, field: Field) -> bool:
        """Does the function that a field holds by default ask a module that it is given for no more than its fields?"""
        found = self.run.constant(field.default, field.source).value if field.default is not None else None
        if not isinstance(found, Function):
            return isinstance(found, Const) and found.value is None
        node = found.node
        given = {a.arg for a in (*node.args.posonlyargs, *node.args.args)[:1]}
        names = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id in given]
        reads = [p for p in map(found.source.parents.get, names) if isinstance(p, ast.Attribute)]
        return len(reads) == len(names) and all(read.attr in self.run.fields for read in reads)

    def _function(self, node: ast.AST, own: frozenset[str]) -> bool:
        """A function that is called later: what it reads of its surroundings must still be what it is now."""
        assert isinstance(node, _FUNCTIONS)
        arguments = node.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        mine = {a.arg for a in (*given, arguments.vararg, arguments.kwarg) if a is not None}
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        parts = [part for statement in body for part in subtree(statement)]
        mine |= {name for part in parts for name in _bound_by(part)}
        own |= mine
        shaped = self._shaped(parts)
        for part in parts:
            if not self._is_decided(part, own):
                return False
            if isinstance(part, ast.Name) and part.id in self.passing - mine and not self.computed:
                return False  # `lambda key: jnp.full((3,), i)` is called when the loop is over
            if isinstance(part, ast.Name) and part.id not in own and isinstance(part.ctx, ast.Load):
                if part in shaped and (self.computed or self._is_last(part.id, node)):
                    continue  # `lambda: jnp.zeros(h.shape)`
                if not self.computed and self._is_bound_behind(part.id, node):
                    return False  # the initializer is called once more when the call on shapes is over
                later = not self.computed and not is_called_here(self.run.project, self.method.source, node)
                if (later and len(self.bound.get(part.id, ())) > 1) or part.id in self.parameters:
                    return False
                if not self._name(part):
                    return False
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self":
                if part.attr in _OF_MODULES or (self._is_module(part) and not self._is_detached(part)):
                    return False
        return True

    def _shaped(self, parts: list[ast.AST]) -> set[ast.AST]:
        """Names of which shapes and known dtypes alone are asked: `x.shape`, `jnp.ones_like(x)`, `dense.init(key, x)`."""
        told = _OF_SHAPES | {"dtype"} if self.typed else _OF_SHAPES
        shaped: set[ast.AST] = {p.value for p in parts if isinstance(p, ast.Attribute) and p.attr in told}
        calls = [p for p in parts if isinstance(p, ast.Call)] if self.computed else []
        for call in calls:
            asked = call.args[:1] if self._is_like(call) else []
            asked += detached.given(self.run, self.method.source, call, self.typed)
            shaped |= {a.value if isinstance(a, ast.Subscript) and isinstance(a.slice, ast.Constant) else a for a in asked}
        return shaped

    def _is_detached(self, node: ast.AST) -> bool:
        return self.computed and detached.site_of(self.run, self.method.source, node) is not None

    def asks_shape(self, init: ast.expr, place: int | str) -> bool:
        """Does an initializer of this method ask no more than that of one of its arguments?"""
        function: ast.AST | None = init
        if isinstance(init, ast.Name):
            makers = self.bound.get(init.id, []) if init.id not in self.parameters else []
            function = makers[0] if len(makers) == 1 else None
            function = function.value if isinstance(function, ast.Assign) else function
        if not isinstance(function, ast.Lambda | ast.FunctionDef):
            return False
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        named = [*names, *(a.arg for a in function.args.kwonlyargs)]
        name = place if isinstance(place, str) else names[place] if place < len(names) else ""
        if name not in named or name in _stored(function):
            return False
        parts = list(subtree(function))
        shaped = self._shaped(parts)
        return all(n in shaped for n in parts if isinstance(n, ast.Name) and n.id == name)

    def _is_bound_behind(self, name: str, function: ast.AST) -> bool:
        """Is a name given another value where a function stands, or further down? `w = self.param("w", lambda key: f(w))`"""
        return any(
            (getattr(maker, "end_lineno", None) or 0) >= getattr(function, "lineno", 0) for maker in self.bound.get(name, ())
        )

    def _is_last(self, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
        """Does a name hold, wherever a function is called, what it holds where the function stands?"""
        around = list(self.method.source.ancestors(function))
        inner = around[: around.index(self.method.node)] if self.method.node in around else around
        if any(isinstance(a, (ast.For, ast.While, ast.AsyncFor, ast.comprehension, *_FUNCTIONS)) for a in inner):
            return False
        return all(
            isinstance(maker, ast.Assign | ast.AnnAssign | ast.AugAssign) and (maker.end_lineno or 0) < function.lineno
            for maker in self.bound.get(name, [])
        )

    def _is_module(self, node: ast.Attribute) -> bool:
        """Does an attribute of self hold anything that setup makes, or that calls modules?"""
        if node.attr in self.run.fields:
            return False
        helper = self.run.model.method(node.attr)
        return helper is None or _asks_module(helper)


def _stored(function: ast.AST) -> set[str]:
    """The names that a function binds beside its arguments."""
    return {n.id for n in subtree(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _in_order(node: ast.expr) -> ast.expr:
    """`data.items()` of `sorted(data.items())`: no order of what it gives is one of arrays, as no two keys are the same."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not isinstance(node.func, ast.Name):
        return node
    return node.args[0] if node.func.id in ("sorted", "list", "tuple") else node


def _asked_structure(node: ast.Compare) -> ast.expr | None:
    """`x` of `x is None`, `x is not None` and `"key" in x`: what is asked for its structure, whatever its arrays hold."""
    op, right = node.ops[0], node.comparators[0]
    if len(node.ops) > 1:
        return None
    if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
        return node.left
    key = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    return right if key and isinstance(op, ast.In | ast.NotIn) else None


_PARTS = (ast.expr, ast.keyword, ast.comprehension, ast.Slice, ast.FormattedValue)


def _asks_module(method: Method) -> bool:
    return method.name == "setup" or any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and node.attr in _OF_MODULES
        for node in method.nodes
    )


def _bound_by(part: ast.AST) -> list[str]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return [part.name]
    if isinstance(part, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in part.names]
    if not isinstance(part, _BINDING):
        return []
    if isinstance(part, ast.withitem):
        targets = [part.optional_vars] if part.optional_vars is not None else []
    else:
        targets = list(part.targets) if isinstance(part, ast.Assign) else [part.target]
    return [n.id for target in targets for n in subtree(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _changed_by(part: ast.AST) -> list[str]:
    """The names whose objects a node changes: `sizes.append(n)`, `sizes[0] = n`, `del sizes[0]`."""
    if isinstance(part, ast.Call):
        func = part.func
        if isinstance(func, ast.Attribute) and func.attr in _CHANGING and isinstance(func.value, ast.Name):
            return [func.value.id]
        return []
    if isinstance(part, ast.Assign | ast.Delete):
        targets = part.targets
    elif isinstance(part, ast.AugAssign | ast.AnnAssign):
        targets = [part.target]
    else:
        return []
    items = [n for target in targets for n in subtree(target) if isinstance(n, ast.Subscript)]
    return [n.value.id for n in items if isinstance(n.value, ast.Name) and not isinstance(n.ctx, ast.Load)]


def _one_object(part: ast.AST) -> set[str]:
    """`a = b` and `a = b = []`: names that hold one object."""
    if not isinstance(part, ast.Assign):
        return set()
    names = {t.id for t in part.targets if isinstance(t, ast.Name)}
    if isinstance(part.value, ast.Name):
        names.add(part.value.id)
    return names if len(names) > 1 else set()


__all__ = ["first_value_shown", "shown"]
