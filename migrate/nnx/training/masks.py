"""Optimizers that tell parameters apart by their names: they are given dictionaries, as `linen_parity.by_linen_names` has.

To optax the params of an `nnx.Optimizer` are an `nnx.State`. Functions of shapes work on it as on a dictionary, functions
of paths do not: `flatten_dict` refuses it, and a path ends in the attribute `value` of the variable.
"""

from __future__ import annotations

import ast
import functools

from ...catalog.tree_functions import TREE_MAPS
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Collection, Function, OptState, State, Variables, is_params
from ...trees import subtree
from . import leaf_functions, leaf_order
from .rewrite import Rewrite, Unsupported

_BY_PATH = frozenset(
    {
        *("flatten_dict", "unflatten_dict", "path_aware_map", "ModelParamTraversal", "get_path_str", "named_tree_map"),
        *("tree_map_with_path", "tree_flatten_with_path", "tree_leaves_with_path", "keystr"),
        *("map_with_path", "flatten_with_path", "leaves_with_path"),
        *("items", "keys", "freeze", "unfreeze", "FrozenDict"),
    }
)
_AXES = ("with_partitioning", "with_logical_partitioning", "with_axes", "Partitioned(")
# Where optax takes a tree of masks or labels, or a function that makes one: positions.
_PLACES = {
    **dict.fromkeys(("masked", "multi_transform", "partition", "selective_transform"), frozenset({1})),
    "add_decayed_weights": frozenset({1}),
    **dict.fromkeys(("adamw", "nadamw", "adan", "simplified_ademamix"), frozenset({7})),
    **dict.fromkeys(("adamaxw", "lion", "sophia"), frozenset({5})),
    **dict.fromkeys(("lamb", "acprop", "galore", "muon"), frozenset({6})),
    **dict.fromkeys(("adadelta", "cocob", "dog", "dowg"), frozenset({4})),
    **{"lars": frozenset({2, 5}), "adafactor": frozenset({11}), "ademamix": frozenset({9}), "freeze": frozenset({0})},
}
_KEYWORDS = frozenset({"mask", "weight_decay_mask", "trust_ratio_mask", "freeze_mask", "param_labels"})
_OF_OPTIMIZERS = frozenset({"weight_decay", "learning_rate", "b1", "b2", "momentum", "decay"})


def check(form: Rewrite) -> None:
    """Unsupported where an optimizer has masks or labels that go by name: for forms whose params are no dictionaries."""
    if by_name(form):
        raise Unsupported(form.component.sites[0], "an optimizer that goes by the names of parameters")


def by_name(form: Rewrite) -> bool:
    """Has an optimizer of the program masks or labels that go by name, or that cannot be seen?

    Unsupported where params have axes: the optimizer's slots would lose theirs. A mask may be a tree made of params: see
    `trees`, which makes it of dictionaries.
    """
    if not any(isinstance(value, State | OptState) for _, value in form.tracked()):
        return False  # no optimizer has params of these models
    found = False
    files = form.program_files()
    for node, name in _optimizers(form.flow):
        if form.source(node).module not in files:
            continue
        places = _PLACES.get(name.rpartition(".")[2], frozenset())
        if name == "optax.stateless_with_tree_map" and node.args:
            found |= leaf_functions.goes_by_calls(form, node.args[0])
        for index, given in enumerate(node.args):
            found |= _argument(form, given, is_mask=index in places)
        for item in node.keywords:
            found |= _argument(form, item.value, is_mask=item.arg in _KEYWORDS)
            found |= item.arg is None and bool(places) and _knows_paths(form)  # `**options` may have a mask
    if found and has_axes(form):
        raise Unsupported(form.component.sites[0], "an optimizer that goes by the names of parameters with axes")
    return found


def takes_masks(name: str) -> bool:
    """Does a function of optax make an optimizer of masks or labels?"""
    return name.startswith("optax.") and name.rpartition(".")[2] in _PLACES


def has_axes(form: Rewrite) -> bool:
    """May variables of the program's models be boxed, with names for their axes?"""
    return form.linen_says(*_AXES)


@functools.lru_cache(maxsize=1)
def _optimizers(flow: Flow) -> tuple[tuple[ast.Call, str], ...]:
    """The calls that make optimizers, each with the name of optax's function, "" where it is called in another way:
    `inject_hyperparams(optax.adamw)(...)`, `partial(optax.adamw, ...)`, `getattr(optax, name)(weight_decay=..., mask=...)`.
    """
    found = [(node, flow.name(node.func) or "") for node in flow.uses.calls_within("optax.")]
    for node in flow.uses.calls(["functools.partial"]):
        if node.args and (flow.name(node.args[0]) or "").startswith("optax."):
            found.append((node, ""))
    for node in flow.uses.calls([""]):
        made = node.func
        given = {str(item.arg) for item in node.keywords}
        if isinstance(made, ast.Call) and (flow.name(made.func) or "").startswith("optax."):
            found.append((node, (flow.name(made.args[0]) or "") if made.args else ""))
        elif given & (_KEYWORDS - {"mask"}) or ("mask" in given and given & _OF_OPTIMIZERS):
            found.append((node, ""))
    return tuple(found)


def _knows_paths(form: Rewrite) -> bool:
    """Does a file of the project look at trees by paths?"""
    common = {"items", "keys", "freeze", "unfreeze"}
    return any(not (_BY_PATH - common).isdisjoint(source.words) for source in form.flow.project.files.values())


def _argument(form: Rewrite, given: ast.expr, *, is_mask: bool) -> bool:
    if isinstance(given, ast.Constant):
        return False
    functions = _functions(form.flow, given)
    if is_mask and isinstance(form.flow.value(given), Collection | Variables):
        if form.masks is not None and isinstance(given, ast.Name):
            form.masks.add(form.flow.symbol(form.source(given), given))
        elif form.masks is not None and _of_params(form, given):
            form.mask_calls.add(given)
        else:
            raise Unsupported(given, "an optimizer with a tree of masks")
        return True
    if not functions and is_mask:
        form.other_masks.append(given)
        return True
    return any(_goes_by_path(form, function, set()) for function in functions)


def _of_params(form: Rewrite, given: ast.expr) -> bool:
    """Is a tree of masks made where the optimizer is, of params alone: `jax.tree.map(lambda p: p.ndim > 1, params)`?"""
    if not isinstance(given, ast.Call) or form.flow.name(given.func) not in TREE_MAPS or len(given.args) != 2:
        return False
    return not given.keywords and is_params(form.flow.value(given.args[1]))


def _functions(flow: Flow, node: ast.expr) -> set[ast.AST]:
    value = flow.value(node)
    return set(value.nodes) if isinstance(value, Function) else set()


def _goes_by_path(form: Rewrite, function: ast.AST, seen: set[ast.AST]) -> bool:
    if function in seen:
        return False
    seen.add(function)
    for node in subtree(function):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in _BY_PATH or _asks_keys(node, function):
            return True
        if isinstance(node, ast.Call) and _goes_by_order(form, node):
            return True
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if any(_goes_by_path(form, other, seen) for other in _functions(form.flow, node)):
                return True
    return False


def _goes_by_order(form: Rewrite, call: ast.Call) -> bool:
    """Does a call give each leaf something by its place? `jax.random.split(key, len(leaves))`, a noise for each leaf."""
    name = form.flow.name(call.func)
    if name in leaf_order.LEAVES:
        return not leaf_order.orderless(form, call)
    return name in leaf_functions.MAPS | leaf_functions.REDUCTIONS and leaf_functions.by_order(form, call)


def _asks_keys(node: ast.AST, function: ast.AST) -> bool:
    """`params['Dense_0']`, and `for name in params`. What a function has from outside is no tree that it is given."""
    if isinstance(node, ast.Subscript):
        if isinstance(node.value, ast.Name) and not _bound(node.value.id, function):
            return False
        return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
        arguments = function.args  # type: ignore[attr-defined]
        return node.iter.id in [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    return False


def _bound(name: str, function: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        for node in subtree(function)
    )
