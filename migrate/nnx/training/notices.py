"""What the training writer leaves, said: classes that go where no call can be followed, layers used as whole models."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...context import FileContext
from ...diagnostics import Severity
from ...edits import Span
from ...linen.flow import flow_classes, local_classes
from ...linen.flow.flow import Flow
from ...linen.flow.flow_makers import maker_of
from ...linen.flow.flow_values import ANY, ClassValue, Function, Model, Table
from ...linen.flow.function_calls import FunctionCalls
from ...linen.outside import model_makers, whole_layers
from ...plan import ClassPlan, Outcome
from ...source import SourceFile
from ...trees import subtree
from . import adapter, sequences, stand_ins

_NO_CALL = (
    *(ast.Attribute, ast.ClassDef, ast.AnnAssign, ast.arg, ast.FunctionDef, ast.Subscript, ast.Compare, ast.MatchClass),
    ast.FormattedValue,
)
_CHECKS = {
    *("isinstance", "issubclass", "type", "super", "getattr", "hasattr", "setattr", "delattr", "print", "repr", "str", "id"),
    *("hash", "callable", "dir", "vars"),
}  # which construct nothing
_OF_DATACLASSES = {"__annotations__", "__dataclass_fields__", "__signature__"}
_NAMESPACES = {"globals", "locals"}
# What to do where Linen is given a native module: of its class and what it is given to.
_AGAIN = "Write {} in the call itself and run again, so that {} is given a Linen copy of it."
_TOGETHER = "Write a module class of your own, in which {} is what {} is given."


def report(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """NNX604 and NNX605, once for each place."""
    native = any(plan.outcome is Outcome.NATIVE for plan in flow.plan.classes.values())
    compared = stand_ins.by_identity(flow) if native else frozenset()
    for node, source in flow.source_of.items() if native else ():
        context = contexts[source.module]
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            value = flow.value(node)
            if isinstance(value, ClassValue) and _escapes(flow, node):
                _escaped(context, flow, node, value, compared)
        elif isinstance(node, ast.Call):
            _dynamic(context, flow, node)
            _by_attribute(context, flow, node)
            _given_to_linen(context, flow, node)
        elif isinstance(node, ast.Lambda):
            _made_when_called(context, flow, node)
        elif isinstance(node, ast.ClassDef):
            _derived_here(context, flow, node)
        elif isinstance(node, ast.Subscript):
            _of_this_file(context, flow, node)
    _layers(flow, contexts)
    _layers_of_objects(flow, contexts)
    for qualname, info in flow.project.linen_classes.items():
        plan = flow.plan.module_class(qualname)
        if plan is not None and plan.outcome is Outcome.NATIVE:
            context = contexts[info.source.module]
            for function, call in _made_by_class_methods(info.node):
                if function not in model_makers.find(flow.project):
                    _unsized(context, plan, call)
                else:
                    _write_model(context, call, (plan, *_derived(flow, qualname)))
            for call in _made_by_model_makers(flow, info):
                made = flow.plan.module_class(flow.project.qualname(info.source, call.func) or "")
                if made is not None and made.outcome is Outcome.NATIVE:
                    _write_model(context, call, (made,))
            if isinstance(info.node, ast.ClassDef) and flow.registries.unseen(info.source, info.node):
                _unsized(contexts[info.source.module], plan, info.node)


def _layers_of_objects(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """`return nn.Fp8DotGeneralOp` in a method of a plain class, by whose name a native class asks an object for a layer."""
    asked: dict[str, str] = {}
    for qualname, info in flow.project.linen_classes.items():
        plan = flow.plan.module_class(qualname)
        for node in info.nodes if plan is not None and plan.outcome is Outcome.NATIVE else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = node.func.value
                if isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name) and held.value.id == "self":
                    asked.setdefault(node.func.attr, qualname.rpartition(".")[2])
    if not asked:
        return
    for node, source in flow.source_of.items():
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        name = flow.name(node) or ""
        if not name.startswith("flax.linen.") or not name.rpartition(".")[2][:1].isupper():
            continue
        function = source.function_of(node)
        owner = source.parents.get(function) if function is not None else None
        if function is None or function.name not in asked or not isinstance(owner, ast.ClassDef):
            continue
        if any(isinstance(a, ast.Return) for a in source.ancestors(node)):
            layer, user = name.replace("flax.linen", "nn"), asked[function.name]
            contexts[source.module].report(
                node,
                "NNX604",
                f"{layer} stays a Linen layer, and {user}, which calls `{function.name}` of an object, is an nnx.Module now",
                severity=Severity.WARNING,
                help=f"Without such an object {user} runs; with one it fails where the layer is called. "
                "Make the layer in the constructor of the module.",
            )


def _made_by_class_methods(owner: ast.ClassDef) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    """`cls(config.width)`, in a class method of a module class."""
    for function in owner.body:
        if isinstance(function, ast.FunctionDef) and "classmethod" in map(flow_classes.kind_of, function.decorator_list):
            first = next((a.arg for a in [*function.args.posonlyargs, *function.args.args]), None)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == first:
                    yield function, node


def _made_by_model_makers(flow: Flow, info: Any) -> Iterator[ast.Call]:
    """`Encoder(8)`, in a class method or static method that makes models."""
    for function in info.node.body:
        for node in subtree(function) if function in model_makers.find(flow.project) else ():
            if not isinstance(node, ast.Call) or node in flow.plan.templates:  # which is a factory now
                continue
            if flow.project.qualname(info.source, node.func) in flow.project.linen_classes:
                yield node


def _write_model(context: FileContext, call: ast.Call, plans: tuple[ClassPlan, ...]) -> None:
    """Such a call makes a model, unless something else was made of it before."""
    start = context.span(call.func).start
    if not context.edits.has(Span(start, start)):
        adapter.write_site(context, call, plans)


def _derived(flow: Flow, qualname: str) -> list[ClassPlan]:
    """The native classes that derive from one, however far."""
    known = {qualname}
    while more := {n for n, info in flow.project.linen_classes.items() if known & {*info.bases}} - known:
        known |= more
    plans = [flow.plan.module_class(name) for name in sorted(known - {qualname})]
    return [plan for plan in plans if plan is not None and plan.outcome is Outcome.NATIVE]


def _escapes(flow: Flow, node: ast.expr) -> bool:
    """Does the class go where its constructor may be called unseen?"""
    parents = flow.source_of[node].parents
    parent = parents[node]
    if isinstance(parent, ast.Attribute) and _reads_field(flow, node, parent):
        return True
    if isinstance(parent, _NO_CALL) or not flow.plan.handed_over.isdisjoint((node, parent)) or _is_type(flow, node):
        return False
    if isinstance(parent, ast.Tuple | ast.List) and isinstance(flow.value(node), ClassValue) and _unpacked(flow, parent):
        return False
    if isinstance(parent, ast.arguments):
        return not _held_by_parameter(flow, parent, node)
    if _in_registry(flow, parents, parent):
        return False
    if isinstance(parent, ast.Dict):
        return not _looked_up(flow, parent)
    if isinstance(parent, ast.IfExp) and isinstance(flow.value(parent), ClassValue):
        return _escapes(flow, parent)
    if isinstance(parent, ast.Assign):
        return not all(isinstance(flow.value(target), ClassValue) for target in parent.targets)
    if isinstance(parent, ast.Return):
        return not _called_where_returned(flow, parent)
    call = parents[parent] if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        if call.func is node or call in flow.plan.lifted_aliases:
            return False
        if isinstance(call.func, ast.Name) and call.func.id in _CHECKS:
            return False
        if flow.name(call.func) == "functools.partial" and call.args and call.args[0] is node:
            holder = parents[call]
            if isinstance(holder, ast.Call) and holder.func is call:
                return False
            # `Ensemble(functools.partial(Critic, 8))`, `{"small": functools.partial(Encoder, 8)}`
            return not isinstance(flow.value(call), ClassValue) or _escapes(flow, call)
        bound = flow.name(call.func) == "functools.partial" and bool(call.args)
        taken = flow.value(call.args[0] if bound else call.func)
        if isinstance(taken, ClassValue):
            return False  # a field of another module: its writer's
        function = taken if isinstance(taken, Function) else flow_classes.constructor(flow, call)
        return function is None or not _received(flow, function, [*call.args[bound:], *call.keywords], parent, node)
    return True


def _reads_field(flow: Flow, node: ast.expr, read: ast.Attribute) -> bool:
    """`Encoder.width`, of a field, and `Encoder.__dataclass_fields__`, which the NNX class has not"""
    value = flow.value(node)
    plans = [flow.plan.classes[name] for name in value.qualnames] if isinstance(value, ClassValue) else []
    return isinstance(read.ctx, ast.Load) and (
        read.attr in _OF_DATACLASSES or any(read.attr in plan.fields for plan in plans)
    )


def _is_type(flow: Flow, node: ast.expr) -> bool:
    """`Tuple[Small, Wide]`, `Small | None`, `typing.cast(Small, x)`"""
    source = flow.source_of[node]
    around = source.parents[node]
    if isinstance(around, ast.BinOp):
        return True
    while isinstance(around, ast.Tuple | ast.List | ast.BinOp):
        around = source.parents[around]
    if isinstance(around, ast.Call):
        return (flow.name(around.func) or "").startswith("typing.")
    return isinstance(around, ast.Subscript | ast.arg)


def _called_where_returned(flow: Flow, statement: ast.Return) -> bool:
    """Is what a function returns called by all that call the function, or does it get a name: `make(MLP)(3)`?"""
    calls = flow.callers.get(flow.function_of(flow.source_of[statement], statement) or statement, {})
    for call, source in calls.items():
        holder = source.parents[call]
        if isinstance(holder, ast.Assign) and all(isinstance(flow.value(target), ClassValue) for target in holder.targets):
            continue
        if not (isinstance(holder, ast.Call) and holder.func is call):
            return False
    return bool(calls)


def _in_registry(flow: Flow, parents: Mapping[ast.AST, ast.AST], display: ast.AST) -> bool:
    """Is it a dictionary of classes, or a keyword, that a table is made of or updated with? `MODELS.update(small=Small)`"""
    if not isinstance(display, ast.Dict | ast.DictComp | ast.keyword):
        return False
    holder = parents[display]
    while isinstance(holder, ast.Dict):  # {**{...}}
        holder = parents[holder]
    if isinstance(display, ast.keyword) and isinstance(holder, ast.Call) and flow.name(holder.func) == "builtins.dict":
        holder = parents[holder]
    tables: list[ast.expr] = []
    if isinstance(holder, ast.Assign | ast.AnnAssign):
        tables = holder.targets if isinstance(holder, ast.Assign) else [holder.target]
    elif isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute) and holder.func.attr == "update":
        tables = [holder.func.value]
    return any(flow.value(table) in flow.registries.tables.values() and flow.value(table) is not ANY for table in tables)


def _received(
    flow: Flow, function: Function, given: list[ast.expr | ast.keyword], parent: ast.AST, node: ast.expr
) -> bool:
    """Is an argument of a call that of a parameter that holds module classes alone, where the flow has it?"""
    return all(_holds_class(flow, definition, name) for definition, name in _parameters(function, given, parent, node))


def _holds_class(flow: Flow, function: ast.AST, name: str) -> bool:
    return isinstance(flow.env.get((flow.source_of[function].module, function, name)), ClassValue)


def _parameters(
    function: Function, given: list[ast.expr | ast.keyword], parent: ast.AST, node: ast.expr
) -> Iterator[tuple[ast.AST, str]]:
    """The functions that a call may mean, with the parameter that an argument is for; "" where that is not known."""
    for definition in function.nodes:
        arguments = definition.args  # type: ignore[attr-defined]
        names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        if isinstance(parent, ast.keyword):
            known = parent.arg in [*names, *(a.arg for a in arguments.kwonlyargs)]
            yield definition, str(parent.arg) if known else ""
        else:
            before = given[: given.index(node)]
            known = not any(isinstance(a, ast.Starred) for a in before) and len(before) + function.bound < len(names)
            yield definition, names[len(before) + function.bound] if known else ""


def _unpacked(flow: Flow, display: ast.Tuple | ast.List) -> bool:
    """Is a tuple of classes an argument that a function takes apart: `Actor, Critic = models`?"""
    source = flow.source_of[display]
    parent = source.parents[display]
    call = source.parents[parent] if isinstance(parent, ast.keyword) else parent
    function = flow.value(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or call.func is display or not isinstance(function, Function):
        return False
    for definition, name in _parameters(function, [*call.args, *call.keywords], parent, display):
        home = flow.source_of[definition]
        read = [n for n in flow.occurrences((home.module, definition, name)) if isinstance(n.ctx, ast.Load)]
        if not name or not read or not all(_taken_apart(flow, home, node) for node in read):
            return False
    return True


def _taken_apart(flow: Flow, source: SourceFile, node: ast.Name) -> bool:
    """`Actor, Critic = models`, `models[0](3)`."""
    around = source.parents[node]
    if isinstance(around, ast.Subscript):
        call = source.parents[around]
        return isinstance(call, ast.Call) and call.func is around and isinstance(flow.value(around), ClassValue)
    targets = around.targets if isinstance(around, ast.Assign) and around.value is node else []
    return bool(targets) and all(
        isinstance(target, ast.Tuple | ast.List) and all(isinstance(flow.value(item), ClassValue) for item in target.elts)
        for target in targets
    )


def _held_by_parameter(flow: Flow, arguments: ast.arguments, node: ast.expr) -> bool:
    """Is it the default of a parameter that holds module classes alone, where the flow has it?"""
    source = flow.source_of[node]
    function = source.parents[arguments]
    if not isinstance(function, ast.FunctionDef):
        return False
    name = next(name for name, default in flow_classes.defaults(function) if default is node)
    return _holds_class(flow, function, name)


def _looked_up(flow: Flow, table: ast.Dict) -> bool:
    """Is a dictionary of classes asked for a class by its name, and nothing else done with it?"""
    if not isinstance(flow.value(table), Table):
        return False
    source = flow.source_of[table]
    parent = source.parents[table]
    if isinstance(parent, ast.Subscript):
        return True
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, ast.Name):
        return False
    symbol = flow.symbol(source, target)
    found = False
    for node, where in flow.source_of.items():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and flow.value(node) == flow.value(table):
            if flow.symbol(where, node) != symbol:
                return False
            around = where.parents[node]
            asked = isinstance(around, ast.Attribute) and around.attr in ("get", "keys")
            if not (asked or isinstance(around, ast.Subscript | ast.Compare | ast.FormattedValue)):
                return False
            found |= isinstance(around, ast.Subscript) or (isinstance(around, ast.Attribute) and around.attr == "get")
    return found


def _escaped(context: FileContext, flow: Flow, node: ast.expr, value: ClassValue, compared: frozenset[str]) -> None:
    if len(value.qualnames) != 1:
        return
    (qualname,) = value.qualnames
    plan = flow.plan.module_class(qualname)
    if plan is None or plan.outcome is not Outcome.NATIVE:
        return
    if not stand_ins.write(context, node, plan, compared):
        _unsized(context, plan, node)


def _derived_here(context: FileContext, flow: Flow, node: ast.ClassDef) -> None:
    """A function derives a class from those that it is given, and the derived one may need more than their sizes."""
    base = local_classes.given_base(context.source, node)
    value = flow.value(base)
    if base is None or not isinstance(value, ClassValue):
        return
    if local_classes.adds_methods_alone(flow, context.source, node, value):
        return
    for qualname in sorted(value.qualnames):
        plan = flow.plan.module_class(qualname)
        if plan is not None and plan.outcome is Outcome.NATIVE:
            _unsized(context, plan, base)


def _unsized(context: FileContext, plan: ClassPlan, node: ast.AST) -> None:
    sizes = ", ".join([*(a.name for a in plan.added_arguments), "rngs"])
    context.report(
        node,
        "NNX604",
        f"{plan.qualname.rpartition('.')[2]} is an nnx.Module now: whatever constructs it here must give {sizes}",
        severity=Severity.WARNING,
        help="A container, an unknown function or a class method constructs it, which could not be rewritten.",
    )


def _dynamic(context: FileContext, flow: Flow, call: ast.Call) -> None:
    """`getattr(models, name)` over a module of the project with migrated classes."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "getattr" and call.args):
        return
    module = flow.name(call.args[0])
    value = flow.value(call)
    made_by = flow.source_of[call].parents[call]
    if maker_of(flow, call.args[0]) == "importlib.import_module" and isinstance(made_by, ast.Call) and made_by.func is call:
        plans = [plan for plan in flow.plan.classes.values() if plan.outcome is Outcome.NATIVE]
        if plans and not isinstance(value, ClassValue):
            _of_any_module(context, call)
        return
    names = [q for q, plan in flow.plan.classes.items() if plan.outcome is Outcome.NATIVE and q.rpartition(".")[0] == module]
    text = call.args[1] if len(call.args) > 1 else None
    names = [name for name in names if flow_classes.may_say(text, name.rpartition(".")[2])]
    followed = isinstance(value, ClassValue) and all(flow.plan.classes[q].outcome is Outcome.NATIVE for q in value.qualnames)
    if module and names and not followed:
        context.report(
            call,
            "NNX604",
            f"the classes of {module} are nnx.Modules now: whatever constructs one here must give its sizes and rngs",
            severity=Severity.WARNING,
            help="Construct it as `linen_parity.Functional(cls, ..., sizes=...)`, or give in_features and rngs.",
        )


def _of_this_file(context: FileContext, flow: Flow, node: ast.Subscript) -> None:
    """`globals()[kind]`, in a file that has migrated classes under names of its own."""
    made = node.value.func if isinstance(node.value, ast.Call) else None
    if not isinstance(made, ast.Name) or made.id not in _NAMESPACES or context.source.names.is_hidden(made.id, made):
        return
    if isinstance(node.slice, ast.Constant) or not isinstance(node.ctx, ast.Load):
        return
    said = {flow.project.canonical(name) for name in context.source.names.imports.values()}
    said |= {f"{context.source.module}.{name}" for name in context.source.names.definitions}
    plans = [plan for name in sorted(said) if (plan := flow.plan.module_class(name)) and plan.outcome is Outcome.NATIVE]
    if plans:
        names = ", ".join(sorted({plan.qualname.rpartition(".")[2] for plan in plans}))
        context.report(
            node,
            "NNX604",
            f"{names} of this file may be meant, nnx.Modules now: whatever constructs one here must give its sizes and rngs",
            severity=Severity.WARNING,
            help="Construct it as `linen_parity.Functional(cls, ..., sizes=...)`, or give its sizes and rngs.",
        )


def _of_any_module(context: FileContext, call: ast.Call) -> None:
    """`getattr(importlib.import_module(name), kind)(...)`, beside classes that are migrated."""
    context.report(
        call,
        "NNX604",
        "module classes of this project are nnx.Modules now: what constructs one of them here must give its sizes and rngs",
        severity=Severity.WARNING,
        help="Construct it as `linen_parity.Functional(cls, ..., sizes=...)`, or give in_features and rngs.",
    )


def _by_attribute(context: FileContext, flow: Flow, call: ast.Call) -> None:
    """`module.Encoder(8)`, where nothing tells what `module` is: it may be a module of the project."""
    made = call.func
    if not isinstance(made, ast.Attribute) or not made.attr[:1].isupper() or flow.name(made):
        return
    if isinstance(flow.value(made), ClassValue | Function):
        return
    if isinstance(made.value, ast.Name) and made.value.id in ("self", "cls"):
        return
    plans = [plan for name, plan in flow.plan.classes.items() if name.rpartition(".")[2] == made.attr]
    if plans and all(plan.outcome is Outcome.NATIVE for plan in plans):
        _unsized(context, plans[0], call)


def _given_to_linen(context: FileContext, flow: Flow, call: ast.Call) -> None:
    """`Wrapper(encoder)`: a class that stays Linen, or a layer of flax.linen, is given a module that is native now."""
    partial = flow.name(call.func) == "functools.partial" and bool(call.args)
    made = call.args[0] if partial else call.func
    taken, layer = flow.value(made), flow.name(made) or ""
    if isinstance(taken, ClassValue):
        holders = [q for q in taken.qualnames if flow.plan.classes[q].outcome is not Outcome.NATIVE]
        if not holders:
            return
        outer, then = holders[0].rpartition(".")[2], _AGAIN
    elif layer.startswith("flax.linen.") and layer.rpartition(".")[2][:1].isupper() and not sequences.is_written(flow, call):
        outer, then = layer.replace("flax.linen", "nn"), _TOGETHER
    else:
        return
    for argument in [*call.args[partial:], *(k.value for k in call.keywords)]:
        value = flow.value(argument)
        names: set[str] = set()
        if isinstance(value, ClassValue):
            names = set(value.qualnames)
        elif isinstance(value, Model):
            names = {q for site in value.sites for q in flow.site_classes[site]}
        for name in sorted(n for n in names if flow.plan.classes[n].outcome is Outcome.NATIVE):
            inner = name.rpartition(".")[2]
            context.report(
                argument,
                "NNX604",
                f"{inner} is an nnx.Module now, and {outer}, to which it is given here, stays Linen",
                severity=Severity.WARNING,
                help=then.format(inner, outer),
            )


def _made_when_called(context: FileContext, flow: Flow, function: ast.Lambda) -> None:
    """`activation=lambda x: nn.relu(nn.LayerNorm()(x))`: a layer of the Linen module that calls the function."""
    for call in subtree(function.body):
        name = flow.name(call.func.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Call) else None
        layer = (name or "").rpartition(".")[2]
        if not (name or "").startswith("flax.linen.") or not layer[:1].isupper():
            continue
        if any(plan.outcome is Outcome.NATIVE for plan in flow.plan.classes.values()):
            context.report(
                call,
                "NNX604",
                f"the function makes Linen's {layer} when it is called, which no nnx.Module can do",
                severity=Severity.WARNING,
                help="A Linen module may call it as before. For a migrated class, make the layer in its constructor.",
            )


def _layers(flow: Flow, contexts: dict[str, FileContext]) -> None:
    """`nn.Dense(3).init(key, x)`: a Linen layer that is a whole model."""
    for source, call, name in whole_layers.layers(FunctionCalls(flow.project)):
        contexts[source.module].report(
            call,
            "NNX605",
            f"{name.replace('flax.linen', 'nn')} is used as a whole model and stays a Linen layer",
            severity=Severity.WARNING,
            help="Wrap it in a module class of its own to have it migrated.",
        )
