"""Do constructions get the same arguments in each run of the program, whichever calls lead to them?

    def make(latents):                          return VAE(latents=latents)
    def train_step(state, batch, latents):      ... make(latents).apply(...)
    def main(config):                           ... make(config.latents).init(...), train_step(state, batch, config.latents)

Arguments are followed up to the function within which a model is made, trained and forgotten (`main`), and compared there:
another call of that function may have another model.
"""

from __future__ import annotations

import ast
import copy
import dataclasses

from ...linen.flow.flow_values import ClassValue, Function, Items, Model, Symbol, Value
from ...trees import subtree
from .places import loops_around
from .rewrite import Rewrite

_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.keyword)
_GRAMMAR = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)
_CHANGES = {"update", "pop", "clear", "setdefault", "update_from_flattened_dict", "append", "extend", "insert"}
_PURE = ("jax.numpy.", "jax.nn.", "flax.", "functools.partial", "numpy.dtype", "optax.")
_MOST = 200  # ways that lead to a construction


class _Unknown(Exception):
    """An argument that cannot be followed."""


@dataclasses.dataclass(frozen=True)
class _Way:
    """Arguments as a function around a construction says them, and the calls that lead there."""

    said: tuple[ast.AST, ...]
    function: ast.AST | None
    places: tuple[ast.AST, ...]  # the construction, and the calls on the way, the outermost last
    names: frozenset[str] = frozenset()  # that the arguments have had on the way


def alike(form: Rewrite, sites: list[ast.Call]) -> bool:
    """Has every run of the functions that the models live in the same arguments for all of `sites`?"""
    try:
        return _alike(form, sites)
    except _Unknown:
        return False


def _alike(form: Rewrite, sites: list[ast.Call]) -> bool:
    held = [symbol for symbol, value in form.flow.uses.symbols(form.component.sites) if not isinstance(value, Model)]
    kept = [symbol for symbol in held if not _forgotten(form, symbol)]
    if any(isinstance(scope, ast.ClassDef) for _, scope, _ in kept):
        return False
    ends: list[_Way] = []
    todo = [_Way((call.func, *call.args, *call.keywords), form.function(call), (call,)) for call in sites]
    while todo:
        way = todo.pop()
        if len(way.places) > 20 or len(todo) + len(ends) > _MOST:
            return False
        way = _resolved(form, way)
        if way.function is None or _lives_in(form, way.function):
            ends.append(way)
        else:
            todo += _outer(form, way)
    if any(scope is None for _, scope, _ in kept) and any(way.function is not None for way in ends):
        return False
    said: dict[ast.AST | None, set[tuple[str, ...]]] = {}
    for way in ends:
        _unchanged(form, way)
        said.setdefault(way.function, set()).add(tuple(map(ast.dump, way.said)))
    return bool(ends) and all(len(found) == 1 for found in said.values())


def _lives_in(form: Rewrite, function: ast.AST) -> bool:
    """Does a function neither take nor hand out what is made from the model?"""
    flow = form.flow
    module = form.source(function).module
    for argument in _arguments(function):
        if _holds(form, flow.env.get((module, function, argument))):
            return False
    inside = set(subtree(function))
    for node, value in form.tracked():
        if node in inside and isinstance(node, ast.Name) and not isinstance(value, Model):
            scope = flow.symbol(form.source(node), node)[1]
            if scope is not function and scope not in inside:
                return False
    if not _holds(form, flow.returns.get(function)):
        return True
    return not any(_used(form, call) for call in flow.callers.get(function, {})) and not flow.partials.get(function)


def _holds(form: Rewrite, value: Value | None) -> bool:
    if isinstance(value, Items):
        return any(_holds(form, item) for item in value.items)
    return isinstance(value, Function) or (value is not None and form.component.holds(value))


def _forgotten(form: Rewrite, symbol: Symbol) -> bool:
    """Is it a global name of a notebook, which nothing can import, that the notebook never reads?"""
    found = form.flow.occurrences(symbol)
    if symbol[1] is not None or not found or form.source(found[0]).path.suffix != ".ipynb":
        return False
    return not any(isinstance(name.ctx, ast.Load) for name in found)


def _used(form: Rewrite, call: ast.Call) -> bool:
    """May somebody look at what a call returns?"""
    parent = form.parent(call)
    if isinstance(parent, ast.Expr):
        return False
    if isinstance(parent, ast.Assign) and all(isinstance(target, ast.Name) for target in parent.targets):
        source = form.source(call)
        names = {form.flow.symbol(source, target) for target in parent.targets if isinstance(target, ast.Name)}
        if any(scope is None for _, scope, _ in names) and source.path.suffix != ".ipynb":
            return True  # another file may; nothing imports a notebook
        loads = [n for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return any(form.flow.symbol(source, node) in names for node in loads)
    return True


def _arguments(function: ast.AST) -> list[str]:
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]]


# within a function -------------------------------------------------------------------------------------------------
def _resolved(form: Rewrite, way: _Way) -> _Way:
    """With the names of the function that are given once in the place of which their values stand."""
    said = tuple(_said(form, node, way.function, 0) for node in way.said)
    names = {n.id.rpartition(":")[2].rpartition(".")[2] for node in said for n in ast.walk(node) if isinstance(n, ast.Name)}
    return dataclasses.replace(way, said=said, names=way.names | names)


def _said(form: Rewrite, node: ast.AST, function: ast.AST | None, depth: int) -> ast.AST:
    if depth > 10:
        raise _Unknown
    if isinstance(node, _Marked):
        return node
    if isinstance(node, ast.Name):
        return _name(form, node, function, depth)
    if isinstance(node, ast.Attribute):
        seen = any(isinstance(inner, _Marked) for inner in ast.walk(node))
        name = "" if seen or _is_local(form, node) else form.flow.name(node)
        return _Marked(name) if name else _rebuilt(form, node, function, depth)
    if isinstance(node, ast.Call):
        name = form.flow.name(node.func) or ""
        if not name.startswith(_PURE) or any(_is_local(form, inner) for inner in subtree(node)):
            raise _Unknown
        return _Marked(ast.dump(node))
    if isinstance(node, ast.Subscript):
        if not isinstance(node.slice, ast.Constant):
            raise _Unknown
        return _rebuilt(form, node, function, depth)
    if isinstance(node, _PLAIN):
        if isinstance(node, ast.keyword) and node.arg is None:
            raise _Unknown
        return _rebuilt(form, node, function, depth)
    if isinstance(node, _GRAMMAR):
        return node
    raise _Unknown


class _Marked(ast.Name):
    """A name that was followed: `id` says what it is."""

    def __init__(self, said: str, *, parameter: str = "", of: ast.AST | None = None) -> None:
        super().__init__(said, ast.Load())
        self.parameter = parameter
        self.of = of


def _rebuilt(form: Rewrite, node: ast.AST, function: ast.AST | None, depth: int) -> ast.AST:
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(made, field, _said(form, value, function, depth))
        elif isinstance(value, list):
            setattr(made, field, [_said(form, item, function, depth) for item in value])
    return made


def _is_local(form: Rewrite, node: ast.AST) -> bool:
    names = [n for n in subtree(node) if isinstance(n, ast.Name)]
    return any(form.source(n).names.binding_scope(n.id, n) is not None for n in names)


def _name(form: Rewrite, node: ast.Name, function: ast.AST | None, depth: int) -> ast.AST:
    symbol = form.flow.symbol(form.source(node), node)
    module, scope, name = symbol
    if isinstance(form.flow.value(node), ClassValue) and scope is None:
        return _Marked(form.flow.name(node) or name)
    stores = [other for other in form.flow.occurrences(symbol) if not isinstance(other.ctx, ast.Load)]
    if scope is None and stores and _set_from_outside(form, name):
        raise _Unknown
    argument = scope is not None and name in _arguments(scope)
    if isinstance(scope, ast.ClassDef) or len(stores) > (0 if argument else 1):
        raise _Unknown
    if argument:
        assert scope is not None
        return _Marked(f"{module}:{id(scope)}:{name}", parameter=name, of=scope)
    if stores:
        statement = form.statement(stores[0])
        if loops_around(form, stores[0], scope) or form.function(stores[0]) is not scope:
            raise _Unknown
        if isinstance(statement, ast.Assign) and statement.targets == stores and depth < 8:
            try:
                return _said(form, statement.value, function, depth + 1)
            except _Unknown:
                pass
        return _Marked(f"{module}:{id(scope)}:{name}", of=scope)
    if scope is not None:
        raise _Unknown  # a function, class or import of its own
    return _Marked(form.flow.name(node) or f"{module}.{name}")


def _set_from_outside(form: Rewrite, name: str) -> bool:
    """`train.RATE = 0.5` in another file."""
    nodes = (n for source in form.flow.project.files.values() for n in source.by_kind.get(ast.Attribute, ()))
    return any(isinstance(n, ast.Attribute) and n.attr == name and not isinstance(n.ctx, ast.Load) for n in nodes)


# to the callers ----------------------------------------------------------------------------------------------------
def _outer(form: Rewrite, way: _Way) -> list[_Way]:
    """The same as all who call the function say it, or the function around it where its own names have no part."""
    function = way.function
    assert function is not None
    marked = [n for node in way.said for n in ast.walk(node) if isinstance(n, _Marked) and n.of is not None]
    own = [node for node in marked if node.of is function]
    if any(not node.parameter for node in own):
        raise _Unknown
    if marked and not own:  # of a function around it
        around = form.function(function)
        if any(around not in [*form.source(call).ancestors(call)] for call in form.flow.callers.get(function, {})):
            raise _Unknown  # it is handed out
        return [dataclasses.replace(way, function=around, places=(*way.places, function))]
    if len(own) < len(marked):
        raise _Unknown
    partials = form.flow.partials.get(function, {})
    calls = form.flow.callers.get(function, {})
    if not calls or (partials and own):
        raise _Unknown
    found = []
    for call in [*calls, *partials]:
        given = {node.parameter: _given(form, call, function, node.parameter) for node in own}
        said = tuple(_substituted(node, given) for node in way.said)
        found.append(_Way(said, form.function(call), (*way.places, call), way.names))
    return found


def _given(form: Rewrite, call: ast.Call, function: ast.AST, parameter: str) -> ast.AST:
    """What a call gives a parameter."""
    value = form.flow.value(call.func)
    arguments = function.args  # type: ignore[attr-defined]
    if not isinstance(value, Function) or value.bound or isinstance(form.parent(function), ast.ClassDef):
        raise _Unknown
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise _Unknown
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    if parameter in names and names.index(parameter) < len(call.args):
        return call.args[names.index(parameter)]
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    defaults = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    defaults |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}
    default = defaults.get(parameter)
    if not isinstance(default, ast.Constant):
        raise _Unknown
    return default


def _substituted(node: ast.AST, given: dict[str, ast.AST]) -> ast.AST:
    if isinstance(node, _Marked):
        return given[node.parameter] if node.parameter in given and node.of is not None else node
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(made, field, _substituted(value, given))
        elif isinstance(value, list):
            setattr(made, field, [_substituted(item, given) for item in value])
    return made


# what may change in between ----------------------------------------------------------------------------------------
def _unchanged(form: Rewrite, way: _Way) -> None:
    """Unknown where code may change what the arguments hold, once a construction was reached."""
    words = {n.attr for node in way.said for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    marked = {n.id for node in way.said for n in ast.walk(node) if isinstance(n, _Marked) and n.of is None}
    words |= {name.rpartition(".")[2] for name in marked if name.replace(".", "").isidentifier()}
    for node, _ in form.program_nodes():
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            changes = node.attr in words and not _at_birth(form, node)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changes = _is_of(node, way)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes = node.func.attr in _CHANGES and _is_of(node.func.value, way)
        else:
            setting = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and bool(words)
            changes = setting and node.func.id in ("setattr", "delattr")  # type: ignore[attr-defined]
        if changes and not _before(form, node, way):
            raise _Unknown


def _is_of(node: ast.expr, way: _Way) -> bool:
    """Does an object go by a name that the arguments have had?"""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id in way.names


def _at_birth(form: Rewrite, node: ast.Attribute) -> bool:
    """`self.size = size` in `__init__`."""
    function = form.function(node)
    return isinstance(function, ast.FunctionDef) and function.name in ("__init__", "__post_init__")


def _before(form: Rewrite, node: ast.AST, way: _Way) -> bool:
    """Is it changed before anything leads to a construction: in the function, or by the main function before that?"""
    scope = form.function(node)
    if loops_around(form, node, scope):
        return False
    if scope is not way.function:
        runs = form.flow.callers.get(way.function, {}) if way.function is not None else {}
        alone = scope is None or not form.flow.callers.get(scope)
        return alone and any(form.function(run) is scope and (node.end_lineno or 0) < run.lineno for run in runs)  # type: ignore[attr-defined]
    places = [place for place in way.places if form.function(place) is way.function]
    first = min((place.lineno for place in places), default=0)  # type: ignore[attr-defined]
    same = bool(places) and form.source(places[0]) is form.source(node)
    return same and (node.end_lineno or 0) < first  # type: ignore[attr-defined]
