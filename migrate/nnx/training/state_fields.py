"""Fields that a subclass of TrainState adds: they become attributes of a subclass of `nnx.Optimizer`.

    class TrainState(train_state.TrainState):        class TrainState(nnx.Optimizer):
        metrics: Metrics                      →          def __init__(self, model, tx, *, metrics: Metrics):
                                                             super().__init__(model, tx, wrt=nnx.Param)
                                                             self.metrics = nnx.data(jax.tree.map(jnp.asarray, metrics))

What a field holds is never changed in place, so that a name for an old value keeps it, as in Linen. Trees of parameters
(averages, targets) are kept as pure states, which share nothing with the model.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow.flow_values import TRAIN_STATES, Collection, State, Value
from ...trees import subtree
from .rewrite import Unsupported

if TYPE_CHECKING:
    from ...linen.flow.flow import Flow
    from .components import Component
    from .native import _Native

_LINE = 100  # characters, as many as constructors of modules may have in one
# What nnx.Optimizer has itself, and what a TrainState has.
_TAKEN = {"step", "tx", "opt_state", "params", "apply_fn", "wrt", "graph", "model", "update", "replace", "create"}


@dataclasses.dataclass(frozen=True)
class Field:
    """One field besides batch_stats: as it is declared."""

    statement: ast.AnnAssign
    name: str
    default: ast.expr | None
    static: bool  # struct.field(pytree_node=False)


@dataclasses.dataclass
class StateClass:
    """The class of a component's states, where the project has its own."""

    qualname: str
    node: ast.ClassDef
    fields: tuple[Field, ...]


def find(form: _Native) -> StateClass | None:
    """The project's class of the component's states. Unsupported where it does more than add fields."""
    names = {value.cls for _, value in form.uses if isinstance(value, State)}
    own = sorted(names - TRAIN_STATES)
    if not own:
        return None
    if len(names) > 1:
        raise Unsupported(form.site, "states of several classes")
    node = form.flow.state_classes.own[own[0]]
    bases = {form.flow.state_classes.base_name(form.source(node), node, base) for base in node.bases}
    if node.keywords or len(node.bases) != 1 or not bases <= TRAIN_STATES:
        raise Unsupported(node, "a class of states with other bases")
    found = StateClass(own[0], node, tuple(_fields(form, node)))
    if found.fields:
        _only_here(form, found)
    return found


def _fields(form: _Native, node: ast.ClassDef) -> list[Field]:
    found = []
    for statement in node.body:
        documents = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if documents or isinstance(statement, ast.Pass):
            continue
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            raise Unsupported(statement, "a class of states with code of its own")
        name = statement.target.id
        if name == "batch_stats":
            continue
        if name in _TAKEN or name.startswith("__"):
            raise Unsupported(statement, f"a state with a field {name}")
        default, static = _declared(form, statement)
        found.append(Field(statement, name, default, static))
    return found


def _declared(form: _Native, statement: ast.AnnAssign) -> tuple[ast.expr | None, bool]:
    """The default, and whether jax does not look into the field."""
    value = statement.value
    if isinstance(value, ast.Call) and (form.flow.name(value.func) or "").startswith(("flax.struct.", "dataclasses.")):
        given = {k.arg: k.value for k in value.keywords}
        node = given.get("pytree_node")
        if value.args or not given.keys() <= {"pytree_node", "default"}:
            raise Unsupported(statement, "a field of a state with other options")
        return given.get("default"), isinstance(node, ast.Constant) and node.value is False
    return value, False


def _only_here(form: _Native, found: StateClass) -> None:
    """The class becomes another one: nobody else may use it, and every function that says it takes one is followed."""
    flow = form.flow
    for node, source in flow.source_of.items():
        if not (isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)):
            continue
        if flow.name(node) != found.qualname or node in found.node.bases:
            continue
        parent = source.parents[node]
        call = source.parents.get(parent)
        if isinstance(parent, ast.Attribute) and parent.attr == "create" and isinstance(call, ast.Call):
            made = flow.value(call)
            if call.func is parent and isinstance(made, State) and made.cls == found.qualname:
                continue  # of this model or of another: see `together`
        if isinstance(parent, ast.arg):
            owner = flow.function_of(source, node)
            held = flow.env.get((source.module, owner, parent.arg)) if owner is not None else None
            if isinstance(held, State) and held.cls == found.qualname:
                continue
        if any(
            isinstance(p, ast.FunctionDef) and p.returns is not None and _inside(node, p.returns)
            for p in source.ancestors(node)
        ):
            continue
        raise Unsupported(node, f"the class {found.qualname.rpartition('.')[2]} is used by itself")


def together(forms: list[_Native], components: list[Component]) -> list[list[_Native]]:
    """The forms, by the class of their states where that becomes another one: all of its models change, or none."""
    found: dict[str, list[_Native]] = {}
    for index, form in enumerate(forms):
        own = form.state_class
        found.setdefault(own.qualname if own is not None and own.fields else f"{index}", []).append(form)
    for name, group in list(found.items()):
        if name not in group[0].flow.state_classes.own:
            continue
        done = [form.component for form in group]
        others = [c for c in components if c not in done and _has_states(group[0].flow, c, name)]
        if others:
            for component in done:
                component.obstacle = f"{name.rpartition('.')[2]} also has states that cannot change: {others[0].obstacle}"
            del found[name]
    return list(found.values())


def _has_states(flow: Flow, component: Component, name: str) -> bool:
    return any(isinstance(value, State) and value.cls == name for _, value in flow.uses.tracked(component.sites))


def _inside(node: ast.AST, outer: ast.AST) -> bool:
    return any(found is node for found in subtree(outer))


# what is written ---------------------------------------------------------------------------------------------------
def write_class(form: _Native, found: StateClass) -> None:
    """The class as a subclass of nnx.Optimizer."""
    node, context = found.node, form.context(found.node)
    form.replace(node.bases[0], context.name("flax.nnx.Optimizer"))
    first = found.fields[0].statement
    indent = form.source(first).indent_of(first)
    unit = indent[len(form.source(node).indent_of(node)) :] or "    "
    module, transformation = context.name("flax.nnx.Module"), context.name("optax.GradientTransformation")
    body = [f"super().__init__(model, tx, wrt={context.name('flax.nnx.Param')})"]
    for field in found.fields:
        arrays = f"{context.name('jax.tree.map')}({context.name('jax.numpy.asarray')}, {field.name})"
        value = field.name if field.static else f"{context.name('flax.nnx.data')}({arrays})"
        body.append(f"self.{field.name} = {value}")
    own = ["self", f"model: {module}", f"tx: {transformation}", "*"]
    said = [form.text(field.statement) for field in found.fields]
    long = len(f"{indent}def __init__({', '.join([*own, *said])}):") > _LINE
    newline = form.source(node).newline
    inner = f"{newline}{indent}{unit}{unit if len(unit) < 4 else ''}"
    between = f",{inner}" if long else ", "
    parts: list[Part | ast.AST] = [f"def __init__({inner if long else ''}", between.join(own)]
    for field in found.fields:
        parts += [between, f"{field.name}: ", field.statement.annotation]
        if field.default is not None:
            bare = form.source(node).is_bare_tuple(field.default)
            parts += [" = (" if bare else " = ", field.default, ")" if bare else ""]
    lines = "".join(f"{newline}{indent}{unit}{line}" for line in body)
    form.replace(first, *parts, f",{newline}{indent}" if long else "", f"):{lines}")
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and statement is not first:
            form.delete(statement)


def of(form: _Native, value: Value) -> bool:
    """Is a value what a field of the state holds?"""
    return isinstance(value, Collection) and value.name in form.fields


def read(form: _Native, node: ast.AST) -> None:
    """`state.metrics` → `optimizer.metrics`."""
    if not isinstance(node, ast.Attribute):
        return  # a name for what a field held: it keeps it
    if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
        raise Unsupported(node, "a field of a state that is not under a name")
    form.replace(node, attribute(form, node.value, node.attr))


def attribute(form: _Native, state: ast.Name, name: str) -> str:
    """`optimizer.metrics` for the field of a state."""
    symbol = form.flow.symbol(form.source(state), state)
    optimizer = form.optimizers[symbol]
    form.visible(state, symbol, optimizer)
    return f"{optimizer}.{name}"
