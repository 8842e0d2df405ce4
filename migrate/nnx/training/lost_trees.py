"""Trees that a library makes of others, or under names that hold more: the flow of values does not know them any more.

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    half = optax.tree_utils.tree_scale(0.5, grads)
    grads = jax.tree_util.tree_map_with_path(lambda path, g: g * 0 if path[-1].key == 'bias' else g, half)

In the NNX idiom gradients are an `nnx.State`, on split state params and what an optimizer keeps as well. Its paths are
others than those of Linen's dictionaries: leaf by leaf is the same, by path is not, and nothing would say so.
"""

from __future__ import annotations

import ast

from ...linen.flow.flow_values import (
    Collection,
    Deltas,
    Gradients,
    Items,
    OptState,
    State,
    Symbol,
    Tracked,
    Value,
    Variables,
)
from ...linen.flow.flow_versions import bare
from ...linen.flow.spec_makers import makes_specs
from . import leaf_order, loaded, masks, optimizer_slots
from .rewrite import Rewrite, Unsupported

_LEAF_BY_LEAF = ("jax.tree", "optax.", "jax.lax.p", "copy.", "chex.", "flax.jax_utils.")
NUMBERS = {"optax.global_norm", "jax.tree.reduce", "jax.tree_util.tree_reduce", "jax.tree.all", "jax.tree_util.tree_all"}
NUMBERS |= {f"optax.tree.{name}" for name in ("norm", "sum", "vdot", "max", "min", "size")}
NUMBERS |= {f"optax.tree_utils.tree_{name}" for name in ("l1_norm", "l2_norm", "norm", "sum", "vdot", "max", "min", "size")}
_GET = {"optax.tree.get", "optax.tree_utils.tree_get"}
_SCALARS = {"count", "learning_rate", "step_size", "notfinite_count", "last_finite", "total_notfinite", "mini_step"}


def check(form: Rewrite, *, split: bool = False) -> Lost:
    """Unsupported where such trees go where more than their leaves may count. `split`: params are trees as well."""
    lost = Lost(form, split)
    for node in (*lost.loads(), *lost.nested()):
        check_use(form, node, split=split)
    for value in lost.returned():
        what = "a tree that a function returns, and that is" if split else "gradients that a function returns, and that are"
        raise Unsupported(value, f"{what} not followed")
    return lost


def check_use(form: Rewrite, node: ast.AST, *, split: bool = False) -> None:
    """Unsupported where gradients, or another such tree, go where more than their leaves may count."""
    if isinstance(node, ast.Subscript):  # a State has the items of lists under other names
        raise Unsupported(node, "a part of a tree" if split else "a part of the gradients")
    takes = ("apply_gradients", "update", "replace") if split else ("apply_gradients",)
    holder = form.parent(node)
    while isinstance(holder, ast.keyword | ast.Tuple | ast.List):  # `jax.lax.pmean((loss, grads), 'batch')`
        holder = form.parent(holder)
    if isinstance(holder, ast.Expr):
        return
    if isinstance(holder, ast.Call) and node is not holder.func:
        name = form.flow.name(holder.func) or ""
        if name.startswith(_LEAF_BY_LEAF) and not name.endswith("with_path"):
            return
        if isinstance(holder.func, ast.Attribute) and holder.func.attr in takes:
            return
    raise Unsupported(node, "a tree that is taken apart" if split else "gradients that are taken apart")


class Lost:
    """The names that are given such trees of the component, of which the flow says something else."""

    def __init__(self, form: Rewrite, split: bool) -> None:
        self.form = form
        self._trees = (Gradients, Deltas, OptState, Variables, Collection, State) if split else (Gradients,)
        self.split = split
        self.names: set[Symbol] = set()
        modules = {form.source(node).module for node, _ in form.tracked()}
        self.sources = [form.flow.project.files[module] for module in sorted(modules)]
        kinds = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
        assigned = [n for source in self.sources for kind in kinds for n in source.by_kind.get(kind, ())]
        before = -1
        while before < len(self.names):  # until what is made of them is known, too
            before = len(self.names)
            for node in assigned:
                if isinstance(node, kinds) and node.value is not None and node in form.flow.source_of:
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        self._bind(target, node.value, form.flow.value(node.value))

    def loads(self) -> list[ast.Name]:
        found: list[ast.Name] = []
        wanted = set(map(bare, self.names))
        for source in self.sources:
            for node in source.by_kind.get(ast.Name, ()):
                if isinstance(node, ast.Name) and node.id in wanted and isinstance(node.ctx, ast.Load):
                    if self._is_lost(node):
                        found.append(node)
        return found

    def nested(self) -> list[ast.Call]:
        """Such trees where they have no name: `jax.tree.map_with_path(f, optax.tree_utils.tree_scale(2.0, grads))`."""
        calls = [n for source in self.sources for n in source.by_kind.get(ast.Call, ()) if isinstance(n, ast.Call)]
        within = (ast.Call, ast.keyword)
        return [
            call
            for call in calls
            if call in self.form.flow.source_of
            and isinstance(self.form.parent(call), within)
            and not self._is_followed(self.form.flow.value(call))
            and self.holds(call)
        ]

    def returned(self) -> list[ast.expr]:
        """What functions return of such gradients."""
        found = [n.value for source in self.sources for n in source.by_kind.get(ast.Return, ()) if isinstance(n, ast.Return)]
        parts = [part for value in found if value for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
        return [p for p in parts if self.holds(p) and not self._is_followed(self.form.flow.value(p))]

    def _is_lost(self, node: ast.Name) -> bool:
        return node in self.form.flow.source_of and self.form.flow.symbol(self.form.source(node), node) in self.names

    def _bind(self, target: ast.expr, given: ast.expr | None, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            items = value.items if isinstance(value, Items) else ()
            several = _elements(given, len(target.elts))
            whole = not items and not several and given is not None and self.holds(given)
            for index, element in enumerate(target.elts):
                item = items[index] if index < len(items) else value
                said = several[index] if index < len(several) else given if whole else None
                self._bind(element, said, item)
        elif isinstance(target, ast.Name) and not self._is_followed(self.form.flow.value(target)):
            if self._is_tree(value) or (given is not None and self.holds(given)):
                self.names.add(self.form.flow.symbol(self.form.source(target), target))

    def _is_followed(self, value: Value) -> bool:
        if isinstance(value, Items):
            return self.split
        return isinstance(value, Tracked if self.split else Gradients) and self.form.component.holds(value)

    def _is_tree(self, value: Value) -> bool:
        return isinstance(value, self._trees) and self.form.component.holds(value)

    def holds(self, node: ast.expr) -> bool:
        """Is it such a tree, or one that is made of it leaf by leaf?"""
        if self._is_tree(self.form.flow.value(node)) or (isinstance(node, ast.Name) and self._is_lost(node)):
            return True
        if isinstance(node, ast.Tuple | ast.List):
            return any(map(self.holds, node.elts))
        if self.split and (loaded.is_slots(self.form, node) or optimizer_slots.is_tree(self.form, node)):
            return True
        if not isinstance(node, ast.Call) or makes_specs(self.form.flow, node):
            return False  # see `spec_trees`
        name = self.form.flow.name(node.func) or ""
        if not name.startswith(_LEAF_BY_LEAF) or name in NUMBERS | leaf_order.LEAVES:
            return False
        if name in _GET and any(isinstance(key, ast.Constant) and key.value in _SCALARS for key in node.args):
            return False
        if masks.takes_masks(name):
            return False  # an optimizer keeps which params there are, and none of them
        return any(map(self.holds, [*node.args, *(k.value for k in node.keywords)]))


def _elements(given: ast.expr | None, count: int) -> list[ast.expr]:
    """`(loss, grads)`, also where `jax.lax.pmean((loss, grads), 'batch')` makes a pair of a pair."""
    shown = [given, *given.args] if isinstance(given, ast.Call) else [given]
    return next((node.elts for node in shown if isinstance(node, ast.Tuple) and len(node.elts) == count), [])
