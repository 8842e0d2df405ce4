"""Arguments that are made eagerly under a mesh, of jitted functions that ask for shardings: where they are, and those.

A function may be called behind the `with mesh:` block, too, with what was made in it.

Reads only; a name counts as made eagerly where any of its bindings is. To put a value where jit would have put it changes
nothing, so that a doubt is decided for it.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator, Mapping

from ...catalog.tree_functions import TREE_MAPS
from ...context import FileContext
from ...source import SourceFile
from ...trees import subtree
from .sharding import JITS, PARTIALS, PJIT, mesh_items, mixes_none, today

_MAKERS = ("jax.numpy.", "jax.random.", "jax.nn.")
_DEPTH = 4  # functions that are followed for what they return
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def sharded_arguments(ctx: FileContext, call: ast.Call) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Arguments of a call of a jitted function that are made under a mesh, each with the sharding it is asked for there, in
    words that mean the same at the call.
    """
    jitted, given = _jit_of(ctx, call.func), dict[str, ast.expr]()
    if jitted is None:
        jitted, given = _returned_jit(ctx, call.func)
    if jitted is None or any(isinstance(a, ast.Starred) for a in call.args):
        return
    under = is_under_mesh(ctx, call)
    for index, value in enumerate(call.args):
        spec = _spec(ctx, jitted, index, given)
        if spec is None or not _may_shard(ctx, spec) or not _means_the_same(ctx, spec, call):
            continue
        if (under or isinstance(value, ast.Name)) and _is_made(ctx, value, _DEPTH):
            yield value, spec


# jitted functions ------------------------------------------------------------------------------------------------
def _jit_of(ctx: FileContext, function: ast.expr) -> ast.Call | None:
    """The call of jit that made a function: written there, assigned once to its name or attribute, or its decorator."""
    if isinstance(function, ast.Call):
        return function if today(ctx, function.func) in JITS else None
    if isinstance(function, ast.Attribute):
        bound: list[ast.AST] = [*_held(ctx.source, function)]
    elif isinstance(function, ast.Name):
        bound = _bound(ctx.source, function)
    else:
        return None
    if len(bound) != 1:
        return None
    if isinstance(bound[0], _FUNCTIONS):
        for decorator in bound[0].decorator_list:
            if isinstance(decorator, ast.Call):
                partial = decorator.args and today(ctx, decorator.func) in PARTIALS
                if today(ctx, decorator.args[0] if partial else decorator.func) in JITS:
                    return decorator
        return None
    made = bound[0]
    return made if isinstance(made, ast.Call) and today(ctx, made.func) in JITS else None


def _returned_jit(ctx: FileContext, function: ast.expr) -> tuple[ast.Call | None, dict[str, ast.expr]]:
    """What `make_step(mesh, shardings)` returns, of a function of the file, with what its parameters are given there."""
    bound = _bound(ctx.source, function) if isinstance(function, ast.Name) else []
    made = bound[0] if len(bound) == 1 else None
    makers = [f for home, f in _functions(ctx, made.func) if home is ctx.source] if isinstance(made, ast.Call) else []
    if len(makers) != 1 or not isinstance(made, ast.Call):
        return None, {}
    results = [n.value for n in subtree(makers[0]) if isinstance(n, ast.Return) and ctx.source.function_of(n) is makers[0]]
    jitted = _jit_of(ctx, results[0]) if len(results) == 1 and results[0] is not None else None
    names = [a.arg for a in (*makers[0].args.posonlyargs, *makers[0].args.args)]
    if any(isinstance(a, ast.Starred) for a in made.args) or any(len(_stores(ctx, makers[0], n)) > 1 for n in names):
        return None, {}
    given = dict(zip(names, made.args, strict=False)) | {k.arg: k.value for k in made.keywords if k.arg in names}
    return jitted, {name: value for name, value in given.items() if name is not None}


def _stores(ctx: FileContext, function: ast.FunctionDef, name: str) -> list[ast.AST]:
    names = ctx.source.names
    return [b for b in names.binders(name) if names.bound_by(b) is function]


def _spec(ctx: FileContext, jitted: ast.Call, index: int, given: Mapping[str, ast.expr]) -> ast.expr | None:
    """What the argument at a position is asked to be sharded as. `given`: what names of the function that made it are."""
    keywords = {k.arg: k.value for k in jitted.keywords}
    if None in keywords or {"static_argnames", "static_argnums"} <= keywords.keys():
        return None
    named = keywords.get("static_argnames")
    static = _static(keywords.get("static_argnums")) if named is None else _static_by_name(ctx, jitted, named)
    if static is None or index in static:
        return None
    tree = keywords.get("in_axis_resources", keywords.get("in_shardings"))
    if tree is None and today(ctx, jitted.func) in JITS and ctx.qualname(jitted.func) in PJIT and len(jitted.args) > 1:
        tree = jitted.args[1]
    if isinstance(tree, ast.Tuple | ast.List):
        position = index - sum(s < index for s in static)
        if position >= len(tree.elts) or any(isinstance(e, ast.Starred) for e in tree.elts):
            return None
        one = tree.elts[position]
        return given.get(one.id, one) if isinstance(one, ast.Name) else one
    tree = given.get(tree.id, tree) if isinstance(tree, ast.Name) else tree
    return tree if tree is not None and _is_one(ctx, tree) else None


def _static(node: ast.expr | None) -> frozenset[int] | None:
    """Positions of static arguments; None where they are not written out."""
    if node is None:
        return frozenset()
    items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    numbers = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    return frozenset(numbers) if len(numbers) == len(items) and min(numbers, default=0) >= 0 else None


def _static_by_name(ctx: FileContext, jitted: ast.Call, names: ast.expr) -> frozenset[int] | None:
    """The same for names of parameters, of a function that is in sight."""
    function: ast.AST | None = jitted.args[0] if jitted.args else None
    if function is None or today(ctx, function) in JITS:
        function = ctx.source.parents.get(jitted)  # a decorator
    elif isinstance(function, ast.Name):
        bound = _bound(ctx.source, function)
        function = bound[0] if len(bound) == 1 else None
    items = names.elts if isinstance(names, ast.Tuple | ast.List) else [names]
    said = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if not isinstance(function, _FUNCTIONS | ast.Lambda) or len(said) != len(items):
        return None
    places = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return frozenset(places.index(name) for name in said) if set(said) <= set(places) else None


def _is_one(ctx: FileContext, tree: ast.expr) -> bool:
    """Is it one sharding, which counts for every argument, and no tree of them?"""
    made = _made(ctx, tree)
    return isinstance(made, ast.Call) and today(ctx, made.func) in _ONE


_ONE = ("jax.sharding.PartitionSpec", "jax.sharding.NamedSharding")


def _made(ctx: FileContext, node: ast.expr) -> ast.AST:
    """What a name or attribute is assigned, where that is one thing."""
    made: ast.AST = node
    for _ in range(_DEPTH):
        bound = _bound(ctx.source, made) if isinstance(made, ast.Name) else []
        if isinstance(made, ast.Attribute):
            bound = [*_held(ctx.source, made)]
        if len(bound) != 1:
            break
        made = bound[0]
    return made


def _may_shard(ctx: FileContext, spec: ast.expr) -> bool:
    """May it ask for more than copies on all devices, and has no None that `jax.device_put` would not take?"""
    made = _made(ctx, spec)
    if isinstance(made, ast.Dict | ast.Tuple | ast.List):
        children = made.values if isinstance(made, ast.Dict) else made.elts
        return all(isinstance(_made(ctx, c), _TREES) for c in children) and any(_may_shard(ctx, c) for c in children)
    if not isinstance(made, ast.Call):
        return False
    name = today(ctx, made.func)
    if name == "jax.sharding.NamedSharding":
        given = [*made.args[1:2], *(k.value for k in made.keywords if k.arg == "spec")]
        return not given or not isinstance(_made(ctx, given[0]), ast.Call) or _may_shard(ctx, given[0])
    if name == "jax.sharding.PartitionSpec":
        return any(not (isinstance(a, ast.Constant) and a.value is None) for a in made.args)
    return not mixes_none(ctx)  # a tree that is made elsewhere


_TREES = (ast.Call, ast.Dict, ast.Tuple, ast.List)


def _means_the_same(ctx: FileContext, spec: ast.expr, at: ast.AST) -> bool:
    """Do the names of an expression mean at another place what they mean where it stands?"""
    names = ctx.source.names
    for node in subtree(spec):
        if isinstance(node, ast.Name):
            there, here = names.binding_scope(node.id, node), names.binding_scope(node.id, at)
            own = isinstance(ctx.source.parents.get(node), ast.Attribute) and node.id == "self"
            if there is not here and not (own and _class_of(ctx.source, node) is _class_of(ctx.source, at)):
                return False
            if not own and len(names.binders(node.id)) > 1 and len(_bound(ctx.source, node)) > 1:
                return False
    return True


def _class_of(source: SourceFile, node: ast.AST) -> ast.AST | None:
    return next((a for a in source.ancestors(node) if isinstance(a, ast.ClassDef)), None)


# values ----------------------------------------------------------------------------------------------------------
def _is_made(ctx: FileContext, value: ast.AST, depth: int) -> bool:
    """Is it, or does it hold, an array that jax makes there, under the mesh?"""
    if depth < 0:
        return False
    if isinstance(value, ast.Name):
        return isinstance(value.ctx, ast.Load) and any(
            is_under_mesh(ctx, bound) and not isinstance(bound, _FUNCTIONS) and _is_made(ctx, bound, depth - 1)
            for bound in _bound(ctx.source, value)
        )
    if isinstance(value, ast.Call):
        name = today(ctx, value.func) or ""
        method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        if name.startswith(_MAKERS) or (method in _INITIAL and _jit_of(ctx, value.func) is None):
            return True
        if name in TREE_MAPS and value.args:
            return (today(ctx, value.args[0]) or "").startswith(_MAKERS) or any(
                _is_made(ctx, a, depth - 1) for a in value.args[1:]
            )
        if isinstance(value.func, ast.Attribute) and method in _METHODS:
            return _is_made(ctx, value.func.value, depth)
        if _jit_of(ctx, value.func) is not None:
            return False  # laid out by jit, as before
        return any(_is_made_inside(ctx, source, function, depth - 1) for source, function in _functions(ctx, value.func))
    if isinstance(value, ast.Dict):
        return any(_is_made(ctx, v, depth) for v in value.values)
    if isinstance(value, ast.Tuple | ast.List):
        return any(_is_made(ctx, v, depth) for v in value.elts)
    if isinstance(value, ast.DictComp):
        return _is_made(ctx, value.value, depth)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return _is_made(ctx, value.elt, depth)
    if isinstance(value, ast.arg):
        return any(_is_made(ctx, given, depth - 1) for given in _given(ctx, value))
    if isinstance(value, ast.BinOp):
        return _is_made(ctx, value.left, depth) or _is_made(ctx, value.right, depth)
    if isinstance(value, ast.IfExp):
        return _is_made(ctx, value.body, depth) or _is_made(ctx, value.orelse, depth)
    return isinstance(value, ast.Subscript) and _is_made(ctx, value.value, depth)


def _given(ctx: FileContext, parameter: ast.arg) -> Iterator[ast.expr]:
    """What the calls under a mesh, in the same file, give a parameter of a function."""
    function = next((a for a in ctx.source.ancestors(parameter) if isinstance(a, _FUNCTIONS | ast.Lambda)), None)
    if not isinstance(function, _FUNCTIONS):
        return
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    for call in ctx.source.by_kind.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called != function.name or not is_under_mesh(ctx, call):
            continue
        if not any(other is function for _, other in _functions(ctx, call.func)):
            continue
        yield from (keyword.value for keyword in call.keywords if keyword.arg == parameter.arg)
        place = names.index(parameter.arg) - isinstance(call.func, ast.Attribute) if parameter.arg in names else len(names)
        if 0 <= place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args):
            yield call.args[place]


_METHODS = ("reshape", "astype", "transpose")
_INITIAL = ("init", "create")  # variables, a state of an optimizer, a TrainState


def _is_made_inside(ctx: FileContext, source: SourceFile, function: ast.FunctionDef, depth: int) -> bool:
    """Does a function return, or yield, what it makes with jax? It is called under the mesh."""
    other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
    for node in subtree(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None and source.function_of(node) is function:
            if _is_made_there(other, function, node.value, depth):
                return True
    return False


def _is_made_there(ctx: FileContext, function: ast.FunctionDef, value: ast.AST, depth: int) -> bool:
    if isinstance(value, ast.Name):
        bound = [b for b in _bound(ctx.source, value) if any(a is function for a in ctx.source.ancestors(b))]
        return depth >= 0 and any(
            _is_made_there(ctx, function, b, depth - 1) for b in bound if not isinstance(b, _FUNCTIONS)
        )
    return _is_made(ctx, value, depth)


def _functions(ctx: FileContext, called: ast.expr) -> Iterator[tuple[SourceFile, ast.FunctionDef]]:
    """The functions of the project that a name, or a method of `self`, may call."""
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self":
        owner = _class_of(ctx.source, called)
        for node in owner.body if isinstance(owner, ast.ClassDef) else ():
            if isinstance(node, ast.FunctionDef) and node.name == called.attr:
                yield ctx.source, node
        return
    if isinstance(called, ast.Name):
        for bound in _bound(ctx.source, called):
            if isinstance(bound, ast.FunctionDef):
                yield ctx.source, bound
    name = ctx.qualname(called)
    if name is not None and ctx.project is not None:
        module, _, last = name.rpartition(".")
        source = ctx.project.files.get(module)
        if source is not None and source is not ctx.source:
            for node in source.tree.body:
                if isinstance(node, ast.FunctionDef) and node.name == last:
                    yield source, node


# names -----------------------------------------------------------------------------------------------------------
def _bound(source: SourceFile, name: ast.Name) -> list[ast.AST]:
    """The values that a name is bound to in its scope, or the functions; what is bound otherwise stands for itself."""
    scope = source.names.binding_scope(name.id, name)
    found: list[ast.AST] = []
    for binder in source.names.binders(name.id):
        if source.names.bound_by(binder) is scope:
            found.append(_value_of(source, binder))
    return found


def _value_of(source: SourceFile, binder: ast.AST) -> ast.AST:
    parent = source.parents.get(binder)
    if isinstance(parent, ast.Tuple) and binder in parent.elts:
        value = _value_of(source, parent)
        index, around = [*parent.elts].index(binder), source.parents.get(parent)  # type: ignore[arg-type]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(parent.elts):
            return value.elts[index]
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and isinstance(around, ast.For | ast.comprehension)
        ):
            if value.func.id == "enumerate" and index == 1 and value.args:
                return value.args[0]
            if value.func.id == "zip" and index < len(value.args):
                return value.args[index]
        return binder if value is parent else value
    if isinstance(parent, ast.Assign) or (isinstance(parent, ast.AnnAssign | ast.NamedExpr) and parent.value is not None):
        return parent.value or binder
    if isinstance(parent, ast.For | ast.comprehension) and parent.target is binder:
        return parent.iter
    return binder


def _held(source: SourceFile, attribute: ast.Attribute) -> Iterator[ast.AST]:
    """The values that an attribute of `self` is assigned in its class, or in the class's own body."""
    owner = _class_of(source, attribute)
    if not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self" and owner is not None):
        return
    for node in subtree(owner):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                own = isinstance(target, ast.Name) and target.id == attribute.attr and source.parents[node] is owner
                if own or (isinstance(target, ast.Attribute) and target.attr == attribute.attr):
                    yield node.value


# meshes ----------------------------------------------------------------------------------------------------------
def is_under_mesh(ctx: FileContext, node: ast.AST) -> bool:
    """Does it stand in a `with mesh:` block, or in a function that is called in one?"""
    return any(isinstance(a, ast.With | ast.AsyncWith) and mesh_items(ctx, a) for a in ctx.source.ancestors(node)) or any(
        isinstance(a, _FUNCTIONS) and a.name in _called_under_mesh(ctx) for a in ctx.source.ancestors(node)
    )


_called: weakref.WeakKeyDictionary[object, frozenset[str]] = weakref.WeakKeyDictionary()


def _called_under_mesh(ctx: FileContext) -> frozenset[str]:
    """Names of the project's functions and methods that `with mesh:` blocks call, and of those that these call."""
    key = ctx.project if ctx.project is not None else ctx
    if key not in _called:
        sources = list(ctx.project.files.values()) if ctx.project is not None else [ctx.source]
        defined: dict[str, list[ast.AST]] = {}
        todo: list[str] = []
        for source in sources:
            for node in source.by_kind.get(ast.FunctionDef, ()):
                assert isinstance(node, ast.FunctionDef)
                defined.setdefault(node.name, []).append(node)
            if "mesh" in source.text.lower():
                other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
                for block in source.by_kind.get(ast.With, ()):
                    if isinstance(block, ast.With) and mesh_items(other, block):
                        todo += _calls(block)
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name in defined and name not in found:
                found.add(name)
                todo += [called for node in defined[name] for called in _calls(node)]
        _called[key] = frozenset(found)
    return _called[key]


def _calls(node: ast.AST) -> list[str]:
    return [
        n.func.id if isinstance(n.func, ast.Name) else n.func.attr
        for n in subtree(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name | ast.Attribute)
    ]
