"""Arrays whose sizes no code of the project shows: what a module that is handed in gives, or a function of another package.

`y = self.network(x)` of a module that nothing here makes: `nn.Dense(4)(y)` needs the width of `y`. The constructor asks for
it as for the width of an argument, `y_features`. A wrong width fails: the weights do not fit, nor does the input.
Only a class that nothing outside of modules constructs may ask: such code could not say what it is asked for.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import re
from typing import TYPE_CHECKING, Any

from ...source import SourceFile
from ...trees import subtree
from ..values.dims import Dim
from ..values.sites import Abs, Site
from ..values.values import OPAQUE, Array, Shape, Unknown, Value

if TYPE_CHECKING:
    from ..project.index import Project
    from .execute import Execution

_REPEATING = (
    ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Lambda, ast.FunctionDef, ast.Try,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a value comes to be whose size is not known, and what it is called."""

    node: ast.expr  # an expression, or the name that is bound
    name: str


def asked(run: Any, node: ast.expr, found: Abs) -> Abs:
    """The value at a place that is asked about: an array of which the constructor knows what it is told."""
    name, value = run.asked[node], found.value
    if isinstance(value, Unknown):
        rank = run.ranks.get(name)
        shape = Shape.argument(name) if rank is None else Shape.ranked(name, rank)
        return dataclasses.replace(found, value=Array(shape), static=False)
    if isinstance(value, Array) and lacks_width(value):
        dims = list(value.shape.dims or (None,))
        dims = [Dim.input(name, place - len(dims)) if d is None else d for place, d in enumerate(dims)]
        return dataclasses.replace(found, value=Array(Shape(tuple(dims), value.shape.lead)))
    return found


def lacks_width(value: Value) -> bool:
    """Is it something of which the last dimension is not known?"""
    if isinstance(value, Array):
        return value.shape.dim(-1) is None
    return isinstance(value, Unknown)


def place_of(run: Execution, site: Site, argument: str) -> Place | None:
    """Where the input of a module comes from; `argument`: what its method calls it, "" for those of a layer."""
    if not site.calls or site.scopes:
        return None
    node, method, env = site.calls[0]
    given = _given(run, site, node, method, argument)
    if given is not None and site.kind != "layer":
        given = _item(given, argument, env.source)
    if given is None or env.source is not run.model.source or not _is_own(run, node, env):
        return None
    if given not in run.evaluated:
        return None
    value = run.evaluated[given].value
    if not lacks_width(value):
        return None
    place = _origin(run, given, value, env.source)
    if place is None or not _happens_once(run, place, env.source) or _is_list(place, env.source):
        return None
    around = env.source.parents[place]
    if _joins(around.value if isinstance(around, ast.Assign) and place in around.targets else place):
        return None
    name = _name(run, place, site, env.source)
    return Place(place, name) if name else None


def _is_list(place: ast.expr, source: SourceFile) -> bool:
    """Is it certainly no array, but a list or tuple of some: `outs = (x, *outs)`?"""
    while isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Slice):
        place = place.value
    around = source.parents.get(place)
    if isinstance(around, ast.Assign) and place in around.targets:
        return _lists(around.value)
    function = source.function_of(place) if isinstance(place, ast.Name) else None
    if function is None or not isinstance(place, ast.Name):
        return _lists(place)
    if function.args.vararg is not None and function.args.vararg.arg == place.id:
        return True
    bound = [(n.targets, n.value) for n in subtree(function) if isinstance(n, ast.Assign)]
    bound += [([n.target], n.value) for n in subtree(function) if isinstance(n, ast.AugAssign)]
    return any(_lists(value) for targets, value in bound if any(getattr(t, "id", "") == place.id for t in targets))


def _lists(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _lists(node.left) or _lists(node.right)
    return isinstance(node, ast.Tuple | ast.List | ast.ListComp | ast.GeneratorExp | ast.Dict | ast.Set)


def _given(run: Execution, site: Site, node: ast.Call, method: str, argument: str) -> ast.expr | None:
    """The expression that a call gives for an argument; of a layer the first whose width is not known."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return None
    if site.kind == "layer":
        given = [*node.args, *(k.value for k in node.keywords)]
        return next((a for a in given if a in run.evaluated and lacks_width(run.evaluated[a].value)), None)
    model = run.analyser.classes.get(site.target)
    called = model.method(method) if model is not None else None
    names = [p.arg for p in called.positional] if called is not None else []
    argument = argument.partition("[")[0].partition(".")[0]
    if argument in names and names.index(argument) < len(node.args):
        return node.args[names.index(argument)]
    return next((k.value for k in node.keywords if k.arg == argument), None)


def _item(given: ast.expr, argument: str, source: SourceFile) -> ast.expr | None:
    """What stands for `x[0]` in a tuple that is given as `x`, where it is written there or under a name just before."""
    for index in re.findall(r"\[(\d+)\]", argument):
        if isinstance(given, ast.Name):
            _, assigned, looped = _assigned(given, source)
            given = assigned if assigned is not None and not looped else given
        if not isinstance(given, ast.Tuple | ast.List) or int(index) >= len(given.elts):
            return None
        if any(isinstance(item, ast.Starred) for item in given.elts):
            return None
        given = given.elts[int(index)]
    return given


def _is_own(run: Execution, node: ast.AST, env: object) -> bool:
    """Does it stand in a method of the class itself?"""
    return any(node in method.nodes for method in run.model.methods().values())


def _origin(run: Execution, node: ast.expr, value: Value, source: SourceFile) -> ast.expr | None:
    """Where the very value first came to be: through names that it was assigned to, and what only handed it on.

    None where a loop changes it that began with something known.
    """
    for _ in range(8):
        if isinstance(node, ast.Name):
            target, assigned, looped = _assigned(node, source)
            if target is None:
                return None if looped else node
            before = run.evaluated[assigned].value if assigned in run.evaluated else OPAQUE
            if looped and (assigned is None or not lacks_width(before)):
                return None
            if assigned is None or (before is not value and not looped):
                return target
            value = before
            inner = _within(run, assigned, value)
            if inner is assigned:
                return target  # by the name it has
            node = inner
            continue
        inner = _within(run, node, value)
        if inner is node:
            return node
        node = inner
    return node


def _within(run: Execution, node: ast.expr, value: Value) -> ast.expr:
    """The innermost expression with this very value: `jnp.mean(y)` of an unknown `y` is as unknown."""
    if not isinstance(value, Unknown) or value is OPAQUE or _is_item(node) or _joins(node):
        return node
    for child in ast.iter_child_nodes(node):
        for expression in [child.value] if isinstance(child, ast.keyword) else [child]:
            if isinstance(expression, ast.expr):
                inner = _within(run, expression, value)
                if inner is not expression or (inner in run.evaluated and run.evaluated[inner].value is value):
                    return inner
    return node


_JOINING = frozenset({"concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "block", "list", "tuple", "sum"})


def _joins(node: ast.expr | None) -> bool:
    """Does it take several arrays together, of which none is the value: `jnp.concatenate(inputs, -1)`?

    A call on shapes finds what that gives.
    """
    func = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.List | ast.Tuple):
        return False
    return (func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else "") in _JOINING


def _is_item(node: ast.expr) -> bool:
    """Is it an item, `outputs[0]`: of a container perhaps, which has no width of its own?"""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple)


def _assigned(name: ast.Name, source: SourceFile) -> tuple[ast.Name | None, ast.expr | None, bool]:
    """The target of the last assignment to a name before it is read, where that is certain, and what is assigned; and
    whether it is what a loop begins with that assigns to the name."""
    node: ast.AST = name
    looped = False
    for parent in source.ancestors(name):
        if isinstance(parent, ast.For | ast.While):
            looped = looped or any(_binds(n, name.id) for n in subtree(parent))
        for block in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody")):
            if not isinstance(block, list) or node not in block:
                continue
            for statement in reversed(block[: block.index(node)]):
                bound = [n for n in subtree(statement) if _binds(n, name.id)]
                if not bound or (isinstance(parent, ast.For | ast.While) and looped):
                    continue
                if isinstance(statement, ast.Assign) and len(bound) == 1 and len(statement.targets) == 1:
                    (target,) = statement.targets
                    return bound[0], statement.value if target is bound[0] else None, looped  # type: ignore[return-value]
                return None, None, looped
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        node = parent
    return None, None, looped


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _happens_once(run: Execution, node: ast.expr, source: SourceFile) -> bool:
    """Is it in no loop, and in a method that is called at one place at most?"""
    for parent in source.ancestors(node):
        if isinstance(parent, ast.FunctionDef) and parent in {m.node for m in run.model.methods().values()}:
            reads = [n for n in run.model.nodes if isinstance(n, ast.Attribute) and n.attr == parent.name]
            return sum(_is_self(n.value) for n in reads) < 2
        if isinstance(parent, _REPEATING):
            return False
    return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _name(run: Execution, node: ast.expr, site: Site, source: SourceFile) -> str:
    """What the value is called: as the variable, else as what gives it; "" where all these names are taken."""
    names = [node.id] if isinstance(node, ast.Name) else []
    made = node if not isinstance(node, ast.Name) else None
    parent = source.parents[node]
    if isinstance(parent, ast.Assign):
        made = parent.value
    names += _makers(run, made)
    names += [f"{site.container or site.target.rpartition('.')[2].lower()}_input"]
    own = {*run.arguments, *run.fields, *run.asked.values()}
    for name in names:
        if name.isidentifier() and not {name, f"{name}_features", f"{name}_shape"} & own:
            return name
    return ""


def _makers(run: Execution, node: ast.expr | None) -> list[str]:
    """The name of what is called, read or looked up in, if it is the project's own."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if node is None or (run.project.qualname(run.model.source, node) or "").startswith(("jax.", "numpy.", "flax.")):
        return []
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return [node.id] if isinstance(node, ast.Name) and not hasattr(builtins, node.id) else []


def named_outside(project: Project) -> frozenset[str]:
    """The classes that code outside of modules names: it may construct them."""
    found: set[str] = set()
    for source in project.files.values():
        for node in source.saying(*(project.class_words & source.words)):
            if not isinstance(node.ctx, ast.Load) or node in project.inside_modules:
                continue
            known = project.qualname(source, node)
            if known in project.linen_classes and not _is_annotation(source, node):
                found.add(known)
    return frozenset(found)


def _is_annotation(source: SourceFile, node: ast.expr) -> bool:
    """Does the name only say a type?"""
    below: ast.AST = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.arg | ast.AnnAssign):
            return parent.annotation is below
        if isinstance(parent, ast.FunctionDef):
            return parent.returns is below
        if isinstance(parent, ast.stmt):
            return False
        below = parent
    return False


__all__ = ["Place", "asked", "lacks_width", "named_outside", "place_of"]
