"""The functional form of models that have statistics and draw random numbers: what `init` returns, and calls of apply.

    variables = model.init(key, x)      →   graphdef, params, batch_stats = nnx.split(..., nnx.Param, nnx.BatchStat)
                                            variables = {'params': params, 'batch_stats': batch_stats}
    y, updates = model.apply(variables, x, rngs={'dropout': key}, mutable=['batch_stats'])
                                        →   merged = keyed(nnx.merge(graphdef, ..., copy=True), dropout=key)
                                            y, updates = merged(x), {'batch_stats': nnx.state(merged, nnx.BatchStat)}

What a call updates is a copy, so that old statistics stay what they were. Models are split without the keys of their random
streams (`keyless`), which every call is given (`keyed`): their state is what it was in Linen, and so is its structure.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow.flow_values import ClassValue, Collection, Method, Model, Symbol, Variables
from ...trees import subtree
from . import collections, functional_arrays, functional_fields, functional_jitted, updated_by_choice
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional

KINDS = {"params": "flax.nnx.Param", "batch_stats": "flax.nnx.BatchStat"}
# What the transforms of NNX that stand in a call trace anew, in Linen's words.
_LIFTED = tuple(
    f"{linen}.{name}"
    for linen in ("nn", "linen")
    for name in ("scan", "vmap", "remat", "checkpoint", "RNN", "jit", "cond", "switch", "while_loop", "grad", "vjp", "jvp")
)
_WITHIN = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
_PLAIN_TESTS = (
    *(ast.Name, ast.Attribute, ast.UnaryOp, ast.Not, ast.BoolOp, ast.And, ast.Or, ast.Constant, ast.expr_context),
    *(ast.Compare, ast.cmpop),
)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)


def check_state(form: _Functional) -> None:
    """Finds the collections and streams of the models; Unsupported where one has others, or some have unlike ones."""
    site = form.component.sites[0]
    plans = [plan for (plan,) in form.component.plans]
    found = {(frozenset(plan.collections & KINDS.keys()), plan.rng_streams) for plan in plans}
    if any(plan.unnamed_streams for plan in plans):
        raise Unsupported(site, "random streams whose names the code does not show")
    if any(plan.own_streams for plan in plans):
        raise Unsupported(site, "an nnx.RNN in an attribute, which holds a random stream")
    if any(plan.sown for plan in plans):
        raise Unsupported(site, "values that the model sows")
    if len(found) != 1:
        raise Unsupported(site, "models with unlike state")
    if any(plan.wraps for plan in plans):
        raise Unsupported(site, "a Linen module in the model, which keeps keys of its own")
    for plan in plans:
        collections.check(form, plan)
    ((kept, streams),) = found
    form.parts = [part for part in KINDS if part in kept | {"params"}]
    form.streams = tuple(sorted(streams))
    if len(form.parts) > 1 and collections.whole(form):
        raise Unsupported(site, "a state that trains all collections")
    if any(plan.shared_streams for plan in plans):  # `keyed` would give every member of the stack a key of its own
        raise Unsupported(site, "random streams that the members of a stack share")


# what init returns -------------------------------------------------------------------------------------------------
def dictionary(form: _Functional, call: ast.Call, graphdef: str, made: tuple[str | ast.AST, ...]) -> None:
    """`variables = model.init(key, x)` → the split, and the dictionary of its states."""
    statement = form.statement(call)
    plain = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not plain or not isinstance(target, ast.Name):
        raise Unsupported(call, "variables that are not assigned to one name")
    source = form.source(call)
    names = source.names
    bound = names.bound_in(scope) if (scope := form.function(call)) is not None else set(names.definitions)
    line = f"{source.newline}{source.indent_of(statement)}{target.id} = "
    free = bound.isdisjoint(form.parts) and form.made_names.keep(form, call, form.parts)
    if free and _only_items(form, target):
        form.replace(statement, f"{graphdef}, {', '.join(form.parts)} = ", *made)
    elif free:
        items = ", ".join(f"'{part}': {part}" for part in form.parts)
        form.replace(statement, f"{graphdef}, {', '.join(form.parts)} = ", *made, f"{line}{{{items}}}")
    else:
        said = ", ".join(f"'{part}'" for part in form.parts)
        form.replace(statement, f"{graphdef}, *{target.id} = ", *made, f"{line}dict(zip(({said}), {target.id}))")


def _only_items(form: _Functional, name: ast.Name) -> bool:
    """Is the dictionary only asked for its items by the function that makes it? These are named as they are, then."""
    symbol, source = form.bound_once(name), form.source(name)
    if form.function(name) is None and any(reader is not source for reader in form.readers(source.module)):
        return False
    items = []
    for read in form.flow.occurrences(symbol) if symbol is not None else ():
        item = form.parent(read)
        key = item.slice.value if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Constant) else None
        if read is name:
            continue
        if not (isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Load) and key in form.parts):
            return False
        holder = form.parent(item)
        given = isinstance(holder, ast.keyword) and form.flow.creates_state(form.parent(holder))  # type: ignore[arg-type]
        if not (given or isinstance(holder, ast.Dict | ast.Assign)) or form.function(read) is not form.function(name):
            return False
        items.append((item, str(key)))
    for item, key in items:
        form.replace(item, key)
    return bool(items)


def check_dictionary(form: _Functional, node: ast.Dict) -> None:
    """Unsupported where variables that the program puts together lack a collection: Linen may make one anew."""
    keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
    if keys != set(form.parts):
        raise Unsupported(node, "variables of which a collection is missing")


def takes_item(form: _Functional, node: ast.Attribute) -> bool:
    """Is it the `pop` or `get` of a dictionary of collections, by the name of one?"""
    call = form.parent(node)
    if len(form.parts) == 1 or node.attr not in ("pop", "get") or not isinstance(call, ast.Call) or call.func is not node:
        return False
    name = call.args[0] if len(call.args) == 1 and not call.keywords else None
    return isinstance(name, ast.Constant) and name.value in form.parts


# apply -------------------------------------------------------------------------------------------------------------
def apply(form: _Functional, call: ast.Call, function: ast.AST) -> None:
    """`state.apply_fn({'params': params}, x)` → `nnx.merge(state.graphdef, params)(x)`."""
    first = function.args[:1] if isinstance(function, ast.Call) else []
    mapped = any(functional_jitted.mapped(form, function, node) for node in first)
    plain = isinstance(function, ast.Attribute | ast.Name) or mapped
    if not plain or not call.args or isinstance(call.args[0], ast.Starred):
        raise Unsupported(call, "apply under a name of its own")
    states = _states(form, call)
    if form.jitted is not None and form.jitted.call(call, states):
        return
    if mapped:
        if len(form.parts) == 1 and states[0] is not call.args[0]:
            form.replace(call.args[0], states[0])
        return
    assert isinstance(function, ast.Attribute | ast.Name)
    method, keys, mutable = "", "", False
    choice, alone = "", False
    rest: list[ast.expr | ast.keyword] = list(call.args[1:])
    for keyword in call.keywords:
        if keyword.arg == "mutable":
            choice, alone = _choice(form, call, keyword.value)
            mutable = bool(choice) or _mutable(form, call, keyword.value)
        elif keyword.arg == "rngs":
            keys = _keys(form, call, keyword.value)
        elif keyword.arg == "method":
            method = f".{_method_name(form, function, keyword.value)}"
        elif keyword.arg in (None, "capture_intermediates"):
            raise Unsupported(call, f"apply with {keyword.arg}")
        else:
            rest.append(keyword)
    context = form.context(call)
    copied = ", copy=True" if mutable or _crosses_a_trace(form, call, states) else ""
    opening, closing = (f"{context.parity('keyed')}(", f", {keys})") if keys else ("", "")
    model = [opening, *_merged(form, call, function, states, copied), closing]
    inputs: list[str | ast.AST] = []
    for given in rest:
        inputs += [", ", given] if inputs else [given]
    if not mutable:
        form.replace(call, *model, f"{method}(", *inputs, ")")
        return
    name = _before(form, call, model)
    state = f"{context.name('flax.nnx.state')}({name}, {context.name(KINDS['batch_stats'])})"
    if choice and alone:
        updated_by_choice.write(form, call, choice, f"{{'batch_stats': {state}}}")
        form.replace(call, f"{name}{method}(", *inputs, ")")
        return
    if choice:
        updates = f"{{'batch_stats': {state}}} if {choice} else {{}}"
        form.replace(call, f"({name}{method}(", *inputs, f"), {updates})")
        return
    if _apart(form, call, f"{{'batch_stats': {state}}}"):
        form.replace(call, f"{name}{method}(", *inputs, ")")
        return
    bare = isinstance(form.parent(call), ast.Assign | ast.Return)
    form.replace(
        call, f"{'' if bare else '('}{name}{method}(", *inputs, f"), {{'batch_stats': {state}}}{'' if bare else ')'}"
    )


def bind(form: _Functional, call: ast.Call) -> None:
    """`model.bind({'params': params})` → `nnx.merge(graphdef, params)`"""
    function = call.func
    assert isinstance(function, ast.Attribute)
    states = _states(form, call)
    copied = ", copy=True" if _crosses_a_trace(form, call, states) else ""
    form.replace(call, *_merged(form, call, function, states, copied))


def _merged(
    form: _Functional, call: ast.Call, function: ast.Attribute | ast.Name, states: list[ast.expr | str], copied: str
) -> list[str | ast.AST]:
    """`nnx.merge(graphdef, params)`; `copied`: a further argument."""
    context = form.context(call)
    logical = form.is_logical(context)
    opening, end = functional_arrays.merged(form, context)
    model: list[str | ast.AST] = [f"{opening}{context.name('flax.nnx.merge')}({form.holder(call, function)}"]
    for state in states:
        if isinstance(state, str):
            whole = state.removeprefix("*")
            model.append(f", *map({context.parity('laid_out')}, {whole})" if logical else f", {state}")
        else:
            model += [f", {context.parity('laid_out')}(", state, ")"] if logical else [", ", state]
    return [*model, f"{copied}){end}"]


def _states(form: _Functional, call: ast.Call) -> list[ast.expr | str]:
    """The states that the variables of a call are."""
    variables = call.args[0]
    if isinstance(variables, ast.Dict):
        keys = [k.value if isinstance(k, ast.Constant) else None for k in variables.keys]
        if set(keys) != set(form.parts) or len(keys) != len(form.parts):
            raise Unsupported(call, "variables that are not spelled out")
        given = variables.values
        for key, value in zip(keys, given):
            held = form.flow.value(value)
            same = len(form.parts) == 1 or functional_fields.like(form, held, str(key))
            if not (same and isinstance(held, Variables | Collection) and form.component.holds(held)):
                raise Unsupported(call, "variables from elsewhere")
        return list(given)
    held = form.flow.value(variables)
    if not (isinstance(held, Variables | Collection) and form.component.holds(held)):
        raise Unsupported(call, "variables from elsewhere")
    if len(form.parts) == 1:
        return [variables]
    if not isinstance(held, Variables) or not isinstance(variables, ast.Name | ast.Attribute):
        raise Unsupported(call, "variables from elsewhere")
    return [f"*{form.text(variables)}.values()"]


def _crosses_a_trace(form: _Functional, call: ast.Call, states: list[ast.expr | str]) -> bool:
    """May the model be merged of variables from around the function that merges it, and hand them to a transform?

    `nnx.merge` takes the Variables of a state as they are, and the transforms of NNX refuse those of another trace: a loss
    of the actor that applies `critic.params` of the update around it.
    """
    function = form.function(call)
    if function is None or not form.linen_says(*_LIFTED):
        return False
    own = form.source(call).names.bound_in(function)
    named = [ast.parse(s.removeprefix("*"), mode="eval") if isinstance(s, str) else s for s in states]
    read = {n.id for state in named for n in subtree(state) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return not read <= own


def _mutable(form: _Functional, call: ast.Call, mutable: ast.expr) -> bool:
    if isinstance(mutable, ast.Constant) and mutable.value is False:
        return False
    names = mutable.elts if isinstance(mutable, ast.List | ast.Tuple) else [mutable]
    if [n.value if isinstance(n, ast.Constant) else None for n in names] != ["batch_stats"] or len(form.parts) == 1:
        raise Unsupported(call, "mutable collections")
    return True


def _choice(form: _Functional, call: ast.Call, mutable: ast.expr) -> tuple[str, bool]:
    """`train` of `mutable=['batch_stats'] if train else []`: when there are updates; and is there no pair else (`False`)?"""
    if not isinstance(mutable, ast.IfExp):
        return "", False
    test, sides, said = mutable.test, (mutable.body, mutable.orelse), form.text(mutable.test)
    if _is_empty(sides[0]) or _is_false(sides[0]):
        sides, said = sides[::-1], f"not {said}" if isinstance(test, ast.Name | ast.Attribute) else f"not ({said})"
    plain = all(isinstance(node, _PLAIN_TESTS) for node in subtree(test))
    nothing = _is_empty(sides[1]) or _is_false(sides[1])
    if not plain or not nothing or not _mutable(form, call, sides[0]):
        raise Unsupported(call, "mutable collections")
    return said, _is_false(sides[1])


def _is_empty(mutable: ast.expr) -> bool:
    return isinstance(mutable, ast.List | ast.Tuple) and not mutable.elts


def _is_false(mutable: ast.expr) -> bool:
    return isinstance(mutable, ast.Constant) and mutable.value is False


def _apart(form: _Functional, call: ast.Call, updates: str) -> bool:
    """Gives `updates` of `y, updates = model.apply(...)` a statement of its own behind the call's, if anybody reads them."""
    statement, source = form.statement(call), form.source(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or form.parent(call) is not statement:
        return False
    output, name = target.elts
    span, line = source.span(target), source.line_span(statement)
    behind = source.text[source.full_span(statement).end : line.end].strip()
    if not isinstance(name, ast.Name) or isinstance(output, ast.Starred) or source.text[span.start] == "(":
        return False
    if (behind and not behind.startswith("#")) or not source.text[: line.end].endswith("\n"):
        return False
    form.replace_span(statement, Span(source.span(output).end, span.end), "")
    read = [n for n in form.flow.occurrences(form.flow.symbol(source, name)) if not isinstance(n.ctx, ast.Store)]
    if read or form.function(call) is None:
        said = f"{source.indent_of(statement)}{name.id} = {updates}{source.newline}"
        form.replace_span(statement, Span(line.end, line.end), said)
    return True


def _before(form: _Functional, call: ast.Call, model: list[str | ast.AST]) -> str:
    """Merge the model before the statement of its call, which asks it for what it has updated; the model's name."""
    statement = form.statement(call)
    source = form.source(call)
    if not isinstance(statement, _SIMPLE) or is_within(form, call, statement):
        raise Unsupported(call, "updates within an expression")
    if sum(_updates(form, node) for node in subtree(statement)) > 1:
        raise Unsupported(call, "several calls in a statement that update statistics")
    taken = {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}
    taken |= {n.arg for n in source.by_kind.get(ast.arg, ()) if isinstance(n, ast.arg)}
    name = next((name for name in ("merged", "merged_model") if name not in taken), "")
    if not name:
        raise Unsupported(call, "the name merged is taken")
    form.insert_before(statement, f"{name} = ", *model)
    return name


def is_within(form: _Functional, node: ast.AST, statement: ast.stmt) -> bool:
    """Is an expression one that its statement does not always come to, once?"""
    parent = form.parent(node)
    while parent is not statement:
        if isinstance(parent, _WITHIN):
            return True
        parent = form.parent(parent)
    return False


def _updates(form: _Functional, node: ast.AST) -> bool:
    """Is it a call of apply that says what is mutable?"""
    if not isinstance(node, ast.Call) or not any(k.arg == "mutable" for k in node.keywords):
        return False
    method = form.flow.value(node.func)
    return isinstance(method, Method) and method.name == "apply"


def _keys(form: _Functional, call: ast.Call, rngs: ast.expr) -> str:
    """`dropout=key` of `rngs={'dropout': key}`, and of `rngs=keys` where all that `keys` holds are such, or None."""
    if isinstance(rngs, ast.Constant) and rngs.value is None:
        return ""
    given = _keys_of_dictionary(rngs)
    if given is not None and isinstance(rngs, ast.Dict):
        if not form.streams and any(isinstance(n, ast.Call | ast.NamedExpr) for n in subtree(rngs)):
            raise Unsupported(call, "keys that nobody draws from")
        if "params" in given or not set(form.streams) <= given.keys():
            raise Unsupported(call, "keys of other streams than the model draws from")
        return ", ".join(f"{stream}={form.text(given[stream])}" for stream in form.streams)
    if isinstance(rngs, ast.Name | ast.IfExp) and form.streams:
        held = [rngs] if isinstance(rngs, ast.IfExp) else _assigned(form, rngs)
        sides = [side for node in held for side in _sides(node)]
        known = [side for side in sides if not _is_nothing(side)]
        tables = list(map(_keys_of_dictionary, known))
        if tables and all(table is not None and table.keys() == set(form.streams) for table in tables):
            alone = isinstance(rngs, ast.Name) and known == sides
            said = form.text(rngs) if isinstance(rngs, ast.Name) else f"({form.text(rngs)})"
            return f"**{said}" if alone else f"**({said} or {{}})"
    raise Unsupported(call, "keys that are not spelled out")


def _sides(node: ast.expr) -> list[ast.expr]:
    return [*_sides(node.body), *_sides(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def _is_nothing(node: ast.expr) -> bool:
    """None, or a dictionary of no keys?"""
    return (isinstance(node, ast.Constant) and node.value is None) or (isinstance(node, ast.Dict) and not node.keys)


def _keys_of_dictionary(node: ast.expr) -> dict[str, ast.expr] | None:
    if not isinstance(node, ast.Dict) or not all(isinstance(k, ast.Constant) for k in node.keys):
        return None
    return {str(k.value): v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)}


def _assigned(form: _Functional, name: ast.Name) -> list[ast.expr]:
    """All that a name is given; nothing where some of it is not a plain assignment."""
    source = form.source(name)
    symbol: Symbol = form.flow.symbol(source, name)
    found: list[ast.expr] = []
    for node in source.by_kind.get(ast.Name, ()):
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load) or node.id != name.id:
            continue
        if form.flow.symbol(source, node) != symbol:
            continue
        statement = source.parents[node]
        if not isinstance(statement, ast.Assign):
            return []
        found.append(statement.value)
    return found


def applies(form: _Functional, call: ast.AST) -> bool:
    """Is it a call of `apply` of one of the models?"""
    method = form.flow.value(call.func) if isinstance(call, ast.Call) else None
    return isinstance(method, Method) and method.name == "apply" and form.component.holds(method)


def _method_name(form: _Functional, function: ast.Attribute | ast.Name, node: ast.expr) -> str:
    name = ""
    plans = [kind.plan for kind in form.kinds if kind.has(form.flow.value(function))]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value
    elif isinstance(node, ast.Attribute):
        owner = form.flow.value(node.value)
        names: frozenset[str] = frozenset()
        if isinstance(owner, ClassValue):
            names = owner.qualnames
        elif isinstance(owner, Model):
            names = frozenset().union(*(form.flow.site_classes[site] for site in owner.sites))
        if names == {plan.qualname for plan in plans} and len(plans) == 1:
            name = node.attr
    if not plans or not all(name in (*plan.methods, "__call__") for plan in plans):
        raise Unsupported(node, "a method that is computed or another class's")
    return name
