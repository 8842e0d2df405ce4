"""The pieces of the NNX idiom: calls of apply, create and apply_gradients."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.flow.flow_values import ClassValue, Collection, Method, Model, Symbol, Variables
from ...trees import subtree
from . import changes, makers, state_fields, trees
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_JIT = {"jax.jit", "flax.nnx.jit"}
_POSITIONS = ("static_argnums", "donate_argnums")
# Options of tables that Linen and NNX share; other keywords are inputs of the model.
_TABLE = {"depth", "table_kwargs", "column_kwargs", "console_kwargs", "compute_flops", "compute_vjp_flops"}


# calls -------------------------------------------------------------------------------------------------------------
def apply(form: _Native, call: ast.Call) -> None:
    """`state.apply_fn({'params': params}, x, rngs={'dropout': key})` → `model(x)`, after `nnx.reseed(model, ...)`."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        raise Unsupported(call, "apply without variables")
    name = module_of(form, call.args[0])
    named = name.removeprefix("self.").isidentifier()
    if not named and any(k.arg in ("rngs", "mutable") and not _is_false(k.value) for k in call.keywords):
        raise Unsupported(call, "a call with params of a field that draws or updates")
    method = ""
    kept: list[ast.AST] = list(call.args[1:])
    rngs: ast.expr | None = None
    for keyword in call.keywords:
        if keyword.arg == "rngs":
            rngs = None if isinstance(keyword.value, ast.Constant) else keyword.value
        elif keyword.arg == "mutable":
            _mutable(form, call, keyword.value)
        elif keyword.arg == "method":
            method = _method_name(form, keyword.value)
        elif keyword.arg in (None, "capture_intermediates", "variables"):
            raise Unsupported(call, f"apply with {keyword.arg}")
        else:
            kept.append(keyword)
    if rngs is not None:
        _reseed(form, call, rngs, name)
    separated: list[Part | ast.AST] = []
    for node in kept:
        separated += [", ", node] if separated else [node]
    called = f"{name}{'.' + method if method else ''}"
    jitted = form.jitted.name(call)
    inputs_alone = len(kept) == len(call.args) - 1 + len(call.keywords) and not form.plan.sown
    if jitted and isinstance(call.func, ast.Name) and not inputs_alone:
        raise Unsupported(call, "a jitted call of apply that says more than inputs")
    if jitted and inputs_alone:
        form.jitted.called = True
        form.replace(call, f"{jitted}({', '.join([name, *[''] * bool(kept)])}", *separated, ")")
        return
    if form.plan.sown:  # Linen drops what is sown where nobody asks for it
        context = form.context(call)
        called = f"{context.name('flax.nnx.capture')}({called}, {context.name('flax.nnx.Intermediate')})"
    form.replace(call, f"{called}(", *separated, ")[0]" if form.plan.sown else ")")


def module_of(form: _Native, variables: ast.expr) -> str:
    if not isinstance(variables, ast.Dict):
        if isinstance(form.flow.value(variables), Variables):
            return form.model_of(variables)
        if isinstance(variables, ast.Attribute) and state_fields.of(form, form.flow.value(variables)):
            return trees.module_of(form, variables)  # a field with all that init returned
        raise Unsupported(variables, "variables that are not spelled out")
    name = ""
    for key, value in zip(variables.keys, variables.values):
        held = form.flow.value(value)
        if isinstance(key, ast.Constant) and key.value == "params" and state_fields.of(form, held):
            if not isinstance(value, ast.Attribute):
                raise Unsupported(variables, "variables from elsewhere")
            name = trees.module_of(form, value)
            continue
        if not (isinstance(key, ast.Constant) and isinstance(held, Collection) and held.name == key.value):
            raise Unsupported(variables, "variables from elsewhere")
        if key.value == "params":
            name = form.model_of(value)
    if not name:
        raise Unsupported(variables, "variables without params")
    return name


def _method_name(form: _Native, node: ast.expr) -> str:
    """`encode` of `method='encode'`, `method=Model.encode` and `method=model.encode`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = form.flow.value(node.value)
        of_class = isinstance(owner, ClassValue) and owner.qualnames == {form.plan.qualname}
        if of_class or (isinstance(owner, Model) and form.component.holds(owner)):
            return node.attr
    raise Unsupported(node, "a method that is computed or another class's")


def _reseed(form: _Native, call: ast.Call, rngs: ast.expr, name: str) -> None:
    """Linen draws from the keys of this call: so do the module's streams. `rngs=keys` gives them by name: `**keys`."""
    if not form.plan.rng_streams:
        return
    statement = form.statement(call)
    inside = [p for p in form.source(call).ancestors(call) if isinstance(p, ast.Lambda | ast.IfExp | ast.comprehension)]
    simple = isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AnnAssign)
    spelled = isinstance(rngs, ast.Dict) and all(isinstance(k, ast.Constant) for k in rngs.keys)
    if inside or not simple or (isinstance(rngs, ast.Dict) and not spelled and None in rngs.keys):
        raise Unsupported(call, "keys within an expression")
    if sum(_applies(form, node) for node in subtree(statement)) > 1:
        raise Unsupported(call, "several calls in a statement, each with its keys")
    if any(isinstance(n, ast.NamedExpr) for n in subtree(rngs)):
        raise Unsupported(call, "keys that are assigned on the way")
    if form.plan.shared_streams:  # nnx.reseed would give every member of the stack a key of its own
        raise Unsupported(call, "random streams that the members of a stack share")
    stacked = form.flow.project.linen_says("nn.scan", "nn.vmap")
    if isinstance(rngs, ast.Dict) and spelled:
        given = {str(k.value): v for k, v in zip(rngs.keys, rngs.values) if isinstance(k, ast.Constant)}
        keys = ", ".join(f"{stream}={form.text(key)}" for stream, key in given.items())
    elif isinstance(rngs, ast.IfExp):  # `rngs={'dropout': key} if train else None`
        keys = f"**({form.text(rngs)} or {{}})"
    elif _is_dictionary(form, rngs):
        keys = f"**{form.text(rngs)}"
    else:  # Linen takes None for no keys
        keys = f"**({form.text(rngs)} or {{}})"
    policy = "policy='match_shape', " if stacked else ""
    form.insert_before(statement, f"{form.context(call).name('flax.nnx.reseed')}({name}, {policy}{keys})")


def _is_dictionary(form: _Native, node: ast.expr) -> bool:
    """Is a name given a dictionary, and nothing else, before a function reads it?"""
    if isinstance(node, ast.Dict):
        return True
    if not isinstance(node, ast.Name):
        return False
    source = form.source(node)
    symbol = form.flow.symbol(source, node)
    stores = [other for other in form.flow.occurrences(symbol) if isinstance(other.ctx, ast.Store)]
    given = [(form.statement(store), getattr(form.parent(store), "value", None)) for store in stores]
    block = getattr(symbol[1] if symbol[1] is not None else source.tree, "body", [])
    first = any(statement in block and statement.lineno < node.lineno for statement, _ in given)
    return first and all(isinstance(value, ast.Dict | ast.DictComp) for _, value in given)


def _applies(form: _Native, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    method = form.flow.value(node.func)
    return isinstance(method, Method) and method.name == "apply"


def _mutable(form: _Native, call: ast.Call, mutable: ast.expr) -> None:
    """`logits, updates = apply(..., mutable=['batch_stats'])` → `logits = model(...)`."""
    if isinstance(mutable, ast.Constant) and mutable.value is False:
        return
    names = mutable.elts if isinstance(mutable, ast.List | ast.Tuple) else [mutable]
    if [n.value if isinstance(n, ast.Constant) else None for n in names] != ["batch_stats"]:
        raise Unsupported(call, "mutable collections")
    statement = form.statement(call)
    if isinstance(form.parent(call), ast.Return | ast.Lambda):
        return  # a function of which the result has the updates: `aux_results` sees to its calls
    if not (isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1):
        raise Unsupported(call, "updates within an expression")
    target = statement.targets[0]
    if not (isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Name)):
        raise Unsupported(call, "updates under no name")
    if not _loads(form, target.elts[1]):
        raise Unsupported(call, "updates that are thrown away")
    form.replace(target, target.elts[0])


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _loads(form: _Native, name: ast.Name) -> list[ast.Name]:
    symbol = form.flow.symbol(form.source(name), name)
    return [
        n
        for n, _ in form.uses
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and form.flow.symbol(form.source(n), n) == symbol
    ]


def tabulate(form: _Native, call: ast.Call) -> None:
    """`cnn.tabulate(key, x, depth=1)` → `nnx.tabulate(cnn(in_features=..., rngs=nnx.Rngs(key)), x, depth=1)`."""
    assert isinstance(call.func, ast.Attribute)
    base = call.func.value
    if form.direct or not isinstance(base, ast.Name) or not call.args:
        raise Unsupported(call, "a table of a model that is not made yet")
    if any(k.arg in (None, "mutable", "show_repeated") for k in call.keywords):
        raise Unsupported(call, "a table with other options")
    inputs = [k for k in call.keywords if k.arg not in _TABLE]
    context = form.context(call)
    made = [*form.sizes(call, call.args[1:], inputs, again=True), f"rngs={form.rngs(call.args[0], form.streams)}"]
    parts: list[Part | ast.AST] = [f"{context.name('flax.nnx.tabulate')}({form.text(base)}({', '.join(made)})"]
    for given in [*call.args[1:], *call.keywords]:
        parts += [", ", given]
    form.replace(call, *parts, ")")


def create(form: _Native, call: ast.Call) -> None:
    """`TrainState.create(apply_fn=..., params=..., tx=tx)` → `nnx.Optimizer(model, tx, wrt=nnx.Param)`."""
    keywords = {k.arg: k.value for k in call.keywords}
    known = {"params", "tx", "apply_fn", "batch_stats", *form.fields}
    if call.args or not {"params", "tx"} <= keywords.keys() <= known:
        raise Unsupported(call, "other fields of the TrainState")
    model = form.home_name
    received = makers.made_at(form, call)
    function = form.function(call)
    given = form.state_makers.get(function) if function is not None else None
    if given is not None:
        model = form.new_names[given.params]
    elif received is not None:
        model = received.name
    elif form.function(call) is not form.home or form.source(call) is not form.source(form.init):
        raise Unsupported(call, "a TrainState made in another function than its variables")
    elif call.lineno < form.init.lineno and form.init not in subtree(call):
        raise Unsupported(call, "params from elsewhere")
    if not isinstance(form.flow.value(keywords["params"]), Collection | Variables):
        raise Unsupported(call, "params from elsewhere")
    context = form.context(call)
    tx: list[Part | ast.AST] = [keywords["tx"]]
    if form.by_name:
        tx = [f"{context.parity('by_linen_names')}({model}, ", *tx, ")"]
    parts: list[Part | ast.AST] = [f"{context.name('flax.nnx.Optimizer')}({model}, ", *tx]
    if form.fields:
        assert isinstance(call.func, ast.Attribute)
        parts[:1] = [call.func.value, f"({model}, "]
        for keyword in call.keywords:
            parts += [", ", keyword] if keyword.arg in form.fields else []
        parts.append(")")
    else:
        parts.append(f", wrt={context.name('flax.nnx.Param')})")
    parent = form.parent(call)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        symbol = form.flow.symbol(form.source(call), parent.targets[0])
        if form.new_names[symbol] == model:
            form.replace(parent.targets[0], form.optimizers[symbol])
            form.replace(call, *parts)
        else:  # an attribute of which the module was made under a name
            form.replace(parent.targets[0], f"{form.new_names[symbol]}, {form.optimizers[symbol]}")
            form.replace(call, f"{model}, ", *parts)
    elif isinstance(parent, ast.Return) or (isinstance(parent, ast.Tuple) and isinstance(form.parent(parent), ast.Return)):
        form.replace(call, *([f"{model}, "] if given is None else []), *parts)
    else:
        raise Unsupported(call, "a TrainState that is not assigned")


def is_last(form: _Native, statement: ast.stmt) -> bool:
    function = form.function(statement)
    return isinstance(function, ast.FunctionDef) and function.body[-1] is statement


def same_state(form: _Native, target: ast.Name, symbol: Symbol) -> None:
    """Does the new state keep the names of the old one? That nobody looks at the old one is seen to by `old_values`."""
    new = form.flow.symbol(form.source(target), target)
    if new == symbol:
        return
    if new[:2] != symbol[:2] or form.new_names.get(new) != form.new_names.get(symbol):
        raise Unsupported(target, "old and new state under unlike names")
    if form.optimizers.get(new) != form.optimizers.get(symbol):
        raise Unsupported(target, "old and new state under unlike names")


def drop_assignment(form: _Native, name: ast.Name) -> bool:
    """`params = variables['params']` beside the model goes: the module holds them."""
    statement = form.statement(name)
    if statement in form.dropped:
        return True
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    if changes.same_names(form, statement):
        form.delete(statement)
        return True
    at_home = form.function(statement) is form.home and form.source(statement) is form.source(form.init)
    if not at_home and not form.makers.in_function(form.function(statement), form):
        return False
    target, value = statement.targets[0], statement.value
    names = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    values = [changes.opened(form, v) for v in values]
    plain = all(
        isinstance(v, ast.Subscript)
        and isinstance(v.value, ast.Name)
        and isinstance(form.flow.value(v.value), Variables)
        and isinstance(form.flow.value(v), Collection)
        for v in values
    )
    if name not in names or len(names) != len(values) or not plain:
        return False
    form.delete(statement)
    return True
