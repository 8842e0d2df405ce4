"""Params as a tree in the NNX idiom: `nnx.state(model, nnx.Param)` where something is made of them, leaf by leaf.

A name for such a result holds new arrays, which no update changes: it is left alone.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog.tree_functions import TREE_MAPS
from ...linen.flow.flow_values import (
    RESTORES,
    SAVES,
    ClassValue,
    Function,
    Gradients,
    Items,
    Method,
    Model,
    State,
    Symbol,
    Tracked,
    Updated,
    Variables,
    is_params,
)
from ...trees import subtree
from . import drawn_inputs, leaf_order, state_fields
from .rewrite import Rewrite, Unsupported

if TYPE_CHECKING:
    from .native import _Native

# Functions of trees that make a new one, of the same structure.
_MAPS = TREE_MAPS | {"jax.tree_util.tree_multimap", "jax.tree_multimap"}
# Reductions of a tree: their results hold nothing that the optimizer changes later.
REDUCTIONS = {
    "jax.tree.leaves",
    "jax.tree_leaves",
    "jax.tree_util.tree_leaves",
    "jax.tree.reduce",
    "jax.tree_util.tree_reduce",
    "optax.global_norm",
    "optax.tree.norm",
    "optax.tree_utils.tree_l2_norm",
}
# Functions that look at trees by name, and change nothing.
_READERS = {
    "jax.tree_util.tree_map_with_path",
    "jax.tree.map_with_path",
    "jax.tree_util.tree_flatten_with_path",
    "jax.tree.flatten_with_path",
    "jax.tree_util.tree_leaves_with_path",
    "jax.tree.leaves_with_path",
    "flax.serialization.to_bytes",
    "flax.serialization.msgpack_serialize",
    "print",
    "builtins.print",
    "len",
    "builtins.len",
}
_READING = ("flax.traverse_util.", "clu.parameter_overview.")
_OF_NAMES = ("items", "keys", "startswith", "endswith", "split", "lower")
_MIXES = {"optax.incremental_update", "optax.periodic_update"}


# The same dictionaries, frozen or not, or with arrays of numpy.
_PLAIN = {"flax.core.freeze", "flax.core.unfreeze", "flax.core.copy", "jax.device_get"}


def plain(form: Rewrite, node: ast.AST) -> bool:
    """Is `node` a call that changes nothing of params but what they are held in?"""
    return isinstance(node, ast.Call) and (form.flow.name(node.func) or "") in _PLAIN and len(node.args) == 1


def made(form: _Native, node: ast.AST) -> bool:
    """Is `node` a call that makes a new tree, leaf by leaf?"""
    return isinstance(node, ast.Call) and (form.flow.name(node.func) or "") in _MAPS | _MIXES


def makes(form: _Native, call: ast.Call) -> bool:
    """Is a call one of either kind?"""
    return made(form, call) or plain(form, call)


def find(form: _Native) -> set[Symbol]:
    """Names that hold nothing but trees made of params or gradients."""
    stores: dict[Symbol, list[ast.Name]] = {}
    for node, value in form.uses:
        tree = is_params(value)
        if tree and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores.setdefault(form.flow.symbol(form.source(node), node), []).append(node)
    return {symbol for symbol, names in stores.items() if all(_given_new(form, name) for name in names)}


def _given_new(form: _Native, name: ast.Name) -> bool:
    """Is a name given a new tree? `loss, grads = 0.0, jax.tree.map(jnp.zeros_like, params)`."""
    statement = form.statement(name)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return False
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = [(t, v) for t, v in zip(target.elts, value.elts, strict=True) if t is name]
        return len(pairs) == 1 and made(form, pairs[0][1])
    return target is name and made(form, value)


def of_name(form: _Native, node: ast.AST, parent: ast.AST) -> bool:
    """A name for a tree made of params: new arrays, which go where gradients may go."""
    if not isinstance(node, ast.Name):
        return False
    symbol = form.flow.symbol(form.source(node), node)
    if symbol not in form.trees:
        return False
    if isinstance(node.ctx, ast.Store) or symbol in (form.masks or ()):
        return True
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Call):
        if made(form, holder) or form.flow.name(holder.func) in REDUCTIONS:
            return True
        if isinstance(holder.func, ast.Attribute) and holder.func.attr == "apply_gradients":
            return True
    raise Unsupported(node, "a tree of params that is taken apart")


def by_keys(form: _Native, node: ast.AST, parent: ast.AST) -> bool:
    """Params asked for their keys: `"head" in params`, `sorted(params)`, `{k: k == "head" for k in params}`.

    In which order they come is told by nobody, so that only what has none is followed.
    """
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False
    if not is_params(form.flow.value(node)):
        return False
    asked: ast.AST = node
    if isinstance(parent, ast.Attribute) and parent.attr in ("keys", "items"):
        asked, parent = parent, form.parent(parent)
        if not isinstance(parent, ast.Call) or parent.func is not asked or parent.args:
            return False
        asked, parent = parent, form.parent(parent)
    if isinstance(parent, ast.Compare):
        found = asked in parent.comparators and all(isinstance(op, ast.In | ast.NotIn) for op in parent.ops)
    elif isinstance(parent, ast.Call):
        name = parent.func.id if isinstance(parent.func, ast.Name) else ""
        found = asked in parent.args and name in ("sorted", "len", "set") and form.flow.name(parent.func) is None
    else:
        above = form.parent(parent) if isinstance(parent, ast.comprehension) and parent.iter is asked else None
        known = isinstance(above, ast.DictComp | ast.SetComp) and len(above.generators) == 1
        found = known and all(_draws_nothing(form, n) for n in subtree(above) if isinstance(n, ast.Call))  # type: ignore[arg-type]
    if not found:
        return False
    whole = _whole(form, node)
    form.replace(whole, as_in_linen(form, whole))
    return True


def _draws_nothing(form: _Native, call: ast.Call) -> bool:
    """Is a call the same whenever it is made?"""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_NAMES:
        return True
    name = form.flow.name(call.func) or ""
    plain = isinstance(call.func, ast.Name) and not name and call.func.id in ("len", "any", "all", "str", "isinstance")
    return plain or (name.startswith(("jax.numpy.", "jax.tree", "numpy.")) and not name.startswith("numpy.random"))


def is_part(form: _Native, node: ast.AST) -> bool:
    """Is it the params of some layers of a model, `state.params["head"]`? The flow of values has them for all of them."""
    return _whole(form, node) is not node


def _whole(form: _Native, node: ast.AST) -> ast.AST:
    """`state.params` of `state.params["head"]["kernel"]`."""
    while isinstance(node, ast.Subscript) and not isinstance(form.flow.value(node.value), Variables | Updated):
        node = node.value
    return node


def part(form: _Native, node: ast.AST, parent: ast.AST) -> bool:
    """Such params where they are only looked at: an item of dictionaries as Linen has them."""
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Call) and node in holder.args:
        name = form.flow.name(holder.func) or ""
        mapped = name in _MAPS and len(holder.args) == 2 and not _meets_field(form, holder)
        if name in REDUCTIONS or mapped or looks(form, holder):
            whole = _whole(form, node)
            form.replace(whole, as_in_linen(form, whole))
            return True
    return kept(form, node, parent)


def use(form: _Native, call: ast.Call, node: ast.AST) -> bool:
    """Params or gradients among the arguments of such a call."""
    if not made(form, call) or node not in call.args:
        return False
    context = form.context(node)
    pure = _meets_field(form, call)
    name = form.flow.name(call.func) or ""
    if name in _MIXES and not pure:
        return False
    beside = [tree for tree in (call.args[:2] if name in _MIXES else call.args[1:]) if tree is not node]
    if not all(_is_tree(form, tree) for tree in beside):
        raise Unsupported(call, "params or gradients beside a tree of another kind")
    value = form.flow.value(node)
    holder = form.over_keyword(form.parent(call))
    taken = isinstance(holder, ast.Call) and call is not holder.func and isinstance(form.flow.value(holder.func), Function)
    if taken and not (pure or isinstance(value, Gradients)):
        raise Unsupported(call, "a new tree for a function that takes the params of the model")
    if _read_by_name(form, call):
        if pure or beside or isinstance(value, Gradients):
            raise Unsupported(call, "a tree that is handed on")
        form.replace(node, as_in_linen(form, node))
        return True
    if isinstance(value, Gradients):
        if pure:
            form.replace(node, f"{context.name('flax.nnx.as_pure')}(", node, ")")
        return True
    form.replace(node, pure_params(form, node) if pure else params(form, node))
    return True


def _is_tree(form: _Native, node: ast.expr) -> bool:
    """Is what is mapped over beside params a tree of the same kind? A dictionary has another structure."""
    value = form.flow.value(node)
    held = isinstance(value, Tracked) and form.component.holds(value)
    return held or state_fields.of(form, value) or (form.lost is not None and form.lost.holds(node))


def _read_by_name(form: _Native, call: ast.Call) -> bool:
    """Is a new tree handed to what may look at it by name? `pickle.dump(jax.tree.map(np.asarray, params), file)`.

    Unsupported where nobody can tell.
    """
    if call in form.mask_calls:
        return True
    parent = form.parent(call)
    while isinstance(parent, ast.Tuple):
        parent = form.parent(parent)
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Dict | ast.List | ast.FormattedValue | ast.BinOp) or _is_mask(form, parent):
        return True
    if isinstance(holder, ast.Attribute):
        raise Unsupported(call, "a tree of params that is taken apart")
    if not isinstance(holder, ast.Call) or call is holder.func:
        return False
    if made(form, holder):
        return _read_by_name(form, holder)
    if looks(form, holder) or of_library(form, holder):
        return True
    known = isinstance(form.flow.value(holder.func), Function | Method) or isinstance(form.flow.value(holder), State)
    if not known and not (form.flow.name(holder.func) or "").startswith(("jax.", "optax.")):
        raise Unsupported(call, "a tree of params that is handed to something unknown")
    return False


def _is_mask(form: _Native, statement: ast.AST) -> bool:
    """Does an assignment make a tree by which an optimizer goes? Nothing else reads it."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or form.flow.symbol(form.source(target), target) not in (form.masks or ()):
        return False
    for name in form.flow.occurrences(form.flow.symbol(form.source(target), target)):
        holder = form.over_keyword(form.parent(name))
        known = isinstance(holder, ast.Call) and (form.flow.name(holder.func) or "").startswith("optax.")
        if not known and made(form, holder) and len(holder.args) == 2:  # type: ignore[attr-defined]
            known = _is_mask(form, form.parent(holder))  # `jax.tree.map(lambda trained: not trained, mask)`
        if isinstance(name.ctx, ast.Load) and not known:
            raise Unsupported(name, "a tree of masks that is used otherwise than by an optimizer")
    return True


def _meets_field(form: _Native, call: ast.Call) -> bool:
    """Are there fields of the state among the arguments, or is the result for one?"""
    if any(state_fields.of(form, form.flow.value(argument)) for argument in call.args):
        return True
    parent = form.parent(call)
    return isinstance(parent, ast.keyword) and parent.arg in form.fields


def read(form: _Native, call: ast.Call, node: ast.AST) -> bool:
    """Params that a library only looks at, by their names: dictionaries as Linen has them, as they are now."""
    if plain(form, call) and node in call.args:
        above = form.parent(call)
        holder = form.over_keyword(above)
        found = isinstance(holder, ast.Call) and read(form, holder, call)
        return found or kept(form, call, above)
    if not looks(form, call) or node not in call.args:
        return False
    _read_as_in_linen(form, node)
    return True


def _read_as_in_linen(form: _Native, node: ast.AST) -> None:
    """The same below what changes how params are held: `flatten_dict(unfreeze(params))`."""
    while plain(form, node):
        node = node.args[0]  # type: ignore[attr-defined]
    base = _whole(form, node)
    form.replace(base, as_in_linen(form, base))


def looks(form: Rewrite, call: ast.Call) -> bool:
    """Does a function of a library look at trees by name, and change nothing?"""
    name = form.flow.name(call.func) or ""
    return name in _READERS or name.startswith(_READING)


def as_in_linen(form: _Native, node: ast.AST) -> str:
    """Params as they are now, in the dictionaries that Linen has, which no update changes."""
    found = f"{form.context(node).parity('linen_params')}({form.model_of(node)})"
    if not isinstance(form.flow.value(node), Variables):
        return found
    _check_whole(form, node)
    return f"{{'params': {found}}}"


def _check_whole(form: _Native, node: ast.AST) -> None:
    """Unsupported where a tree has more than params, which are all that stands for it here."""
    if isinstance(form.flow.value(node), Variables) and form.plan.collections - {"params"}:
        raise Unsupported(node, "all collections as a tree")


def kept(form: _Native, node: ast.AST, parent: ast.AST) -> bool:
    """Params that go where no model is made of them again: into a dictionary or list, or to a function of a library.

    `log({"weights": state.params})`, `to_bytes([actor_state.params])`, `jnp.linalg.norm(state.params["Dense_0"]["kernel"])`.
    """
    if not plain(form, node) and not isinstance(getattr(node, "ctx", None), ast.Load):
        return False
    holder = form.over_keyword(parent)
    if isinstance(holder, ast.Dict):
        if node in holder.keys or (_of_apply(form, holder) and not _is_saved(form, holder)):
            return False
    elif isinstance(holder, ast.List):
        if isinstance(form.parent(holder), ast.For | ast.comprehension | ast.Assign | ast.AnnAssign):
            return False
    elif isinstance(holder, ast.FormattedValue):
        pass  # printed as Linen has it
    elif not (isinstance(holder, ast.Call) and node is not holder.func and of_library(form, holder)):
        return False
    _read_as_in_linen(form, node)
    return True


def _of_apply(form: _Native, variables: ast.Dict) -> bool:
    """May a dictionary be the variables of a call of apply?"""
    return any(isinstance(key, ast.Constant) and key.value == "params" for key in variables.keys)


def saves(form: Rewrite, call: ast.Call) -> bool:
    """Is it a function of a library, or a method that is called after what keeps no tree for the program?"""
    name = form.flow.name(call.func) or ""
    if name and not any(name.startswith(f"{module}.") for module in form.flow.project.files if module):
        return True
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return method.startswith(("save", "log", "write", "dump"))


def _is_saved(form: _Native, dictionary: ast.Dict) -> bool:
    """Is a dictionary made for what saves it? `pickle.dump({"params": state.params, "step": step}, file)`"""
    parent = form.parent(dictionary)
    call = form.over_keyword(parent)
    if not isinstance(call, ast.Call) or call.func is dictionary:
        return False
    return looks(form, call) or (of_library(form, call) and saves(form, call))


def of_library(form: Rewrite, call: ast.Call) -> bool:
    """A call of something that is not the project's and takes no functions, as `jax.jit` and `jax.lax.scan` do."""
    name = form.flow.name(call.func) or ""
    value = form.flow.value(call.func)
    made = form.flow.value(call)
    if isinstance(value, Function | Method | ClassValue | State) or isinstance(made, Tracked | Function | Items):
        return False
    given = [form.flow.value(argument) for argument in [*call.args, *[k.value for k in call.keywords]]]
    if any(isinstance(argument, Function | Method | ClassValue | Model) for argument in given):
        return False
    if name in SAVES or name in RESTORES:
        return True
    if name.startswith(("jax.numpy.", "numpy.", "flax.serialization.", "pickle.", "orbax.")) or name in leaf_order.LEAVES:
        return True
    return isinstance(call.func, ast.Name | ast.Attribute) and not name.startswith(("jax.", "flax.", "optax."))


def params(form: _Native, node: ast.AST) -> str:
    """The params of the model for which `node` stands, as they are now."""
    _check_whole(form, node)
    context = form.context(node)
    return f"{context.name('flax.nnx.state')}({form.model_of(node)}, {context.name('flax.nnx.Param')})"


def pure_params(form: _Native, node: ast.AST) -> str:
    """The same as arrays without variables, which no update changes."""
    return f"{form.context(node).name('flax.nnx.as_pure')}({params(form, node)})"


def for_field(form: _Native, node: ast.AST, parent: ast.AST) -> bool:
    """`create(..., ema_params=params)` and `state.replace(ema_params=state.params)`."""
    if not (isinstance(parent, ast.keyword) and parent.arg in form.fields):
        return False
    call = form.parent(parent)
    if not isinstance(call, ast.Call) or not isinstance(form.flow.value(call), State):
        return False
    form.replace(node, pure_params(form, node))
    return True


def twins(form: _Native, inits: list[ast.Call]) -> dict[ast.AST, ast.keyword]:
    """`create(params=model.init(key, x), target_params=model.init(key, x))`: the second gives what the first gives.

    Calls of `init`, with the fields that they are for. Buffers are shared then, which `donate_argnums` would give away.
    """
    found: dict[ast.AST, ast.keyword] = {}
    for init in inits:
        keyword = form.parent(init)
        while isinstance(keyword, ast.Subscript):
            keyword = form.parent(keyword)
        call = form.parent(keyword) if isinstance(keyword, ast.keyword) else None
        if not (isinstance(keyword, ast.keyword) and keyword.arg in form.fields and isinstance(call, ast.Call)):
            continue
        params = next((k.value for k in call.keywords if k.arg == "params"), None)
        if not isinstance(form.flow.value(call), State) or params is None:
            continue
        if ast.dump(params) == ast.dump(keyword.value) and not _draws(form, init):
            if any(word.startswith("donate_arg") for source in form.flow.project.files.values() for word in source.words):
                raise Unsupported(init, "a second init beside buffers that are donated")
            found[init] = keyword
    return found


def _draws(form: _Native, init: ast.Call) -> bool:
    """May the keys of a call be others the second time, as in `model.init(next(keys), x)`, or are its inputs drawn?

    Of inputs the shapes count, and that what they are drawn from goes on.
    """
    if not init.args or isinstance(init.args[0], ast.Starred):
        return True
    if any(drawn_inputs.taken(form, node) for node in [*init.args[1:], *[k.value for k in init.keywords]]):
        return True
    return any(
        isinstance(node, ast.NamedExpr)
        or (isinstance(node, ast.Call) and not (form.flow.name(node.func) or "").startswith("jax.random."))
        for node in subtree(init.args[0])
    )


def write_twin(form: _Native, keyword: ast.keyword) -> None:
    """The params of the module as it is made."""
    context = form.context(keyword.value)
    params = f"{context.name('flax.nnx.state')}({form.home_name}, {context.name('flax.nnx.Param')})"
    form.replace(keyword.value, f"{context.name('flax.nnx.as_pure')}({params})")
    form.dropped.update(subtree(keyword.value))


def module_of(form: _Native, node: ast.Attribute) -> str:
    """The model with the params that a field of its state holds."""
    if not isinstance(node.value, ast.Name):
        raise Unsupported(node, "a field of a state that is not under a name")
    name, context = form.model_of(node.value), form.context(node)
    nnx = {word: context.name(f"flax.nnx.{word}") for word in ("merge", "graphdef", "as_pure", "state", "Not", "Param")}
    # Not without the rest where the model has params alone: fields may hold arrays, which are state, too.
    rest = f"{nnx['as_pure']}({nnx['state']}({name}, {nnx['Not']}({nnx['Param']})))"
    held = state_fields.attribute(form, node.value, node.attr)
    return f"{nnx['merge']}({nnx['graphdef']}({name}), {held}, {rest})"
