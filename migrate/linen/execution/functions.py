"""Functions of the project: global, nested, inherited; executed where they are called."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...catalog import layers, shape_table
from ...names import value_given
from ...source import SourceFile
from ...trees import said
from ..lifted.higher_order import DERIVATIVES, TRANSPARENT, refuse_making
from ..lifted.lifting import LIFTED, OTHER_LIFTED, decorator_lift, lift_method, run_method
from ..modules import compact_calls, layer_calls, maker_functions, own_methods, registered, setup_helpers
from ..modules.choices import FactoryChoice
from ..modules.given_functions import ChosenFunction, PartialFunction
from ..modules.layer_classes import layer_class
from ..modules.local_classes import bound_twice
from ..modules.lost_factories import factories_in
from ..modules.module_calls import Transformed
from ..outside.held_classes import held_class, held_kinds
from ..outside.made_outside import made_for_setup
from ..project import own_name
from ..shapes.rotations import rotated
from ..values import caller_words, mutation, rest_arguments
from ..values.arguments import Arguments, arguments_of, defaults_of, function_env, parameters_of, stored_names
from ..values.dims import Dim
from ..values.environment import Env
from ..values.graph_networks import CONCATENATED, Concatenated
from ..values.merging import Choice, Several, dependencies_of
from ..values.sites import (
    Abs,
    BoundArg,
    Factory,
    Function,
    Lifted,
    LiftedFunction,
    Localized,
    Module,
    PartialLift,
    Static,
    Table,
    Unmigratable,
)
from ..values.values import Const, Global, Int, Tup, Unknown, Value
from . import aliases, default_values, helpers, module_names, plain_objects


def global_value(run: Any, qualname: str, node: ast.expr, env: Any) -> Abs | None:
    """What a global name means: a layer or class as a factory, a function, a constant."""
    if not module_names.is_one_import(run, env.source, node):
        return None
    text = said(node)
    variant = layer_class(run.analyser.classes, qualname)
    if variant is not None:
        held = {
            f.name: BoundArg(f.default, run.constant(f.default, f.source), None, given=False, of_class=True)
            for f in variant.defaults
        }
        made = Factory(variant.layer, text, held, node=node, source=env.source, variant=qualname)
        return Abs(made, static=True)
    if run.analyser.classes.get(qualname) is not None or (
        qualname.startswith("flax.linen.") and layers.lookup(qualname) is not None
    ):
        return Abs(Factory(qualname, text, node=node, source=env.source), static=True)
    if qualname in run.analyser.classes.project.linen_classes:
        return Abs(Factory(qualname, text, node=node, source=env.source), static=True)
    found = run.project.definition(qualname)
    if qualname in ("jax.numpy.newaxis", "numpy.newaxis"):
        return Abs(Const(None), static=True)
    module, _, name = qualname.rpartition(".")
    if module in ("jax.numpy", "numpy", "math") and name in shape_table.NUMBERS:
        return Abs(Const(shape_table.NUMBERS[name]), static=True)
    if found is None:
        inside = held_class(run, qualname)
        if inside is not None:
            return Abs(Factory(inside, text, node=node, source=env.source), static=True)
        kinds = held_kinds(run, qualname)
        known = _constant(run, kinds[1], kinds[0], ast.Name) if kinds is not None else None
        if known is not None and next(factories_in(known.value), None) is not None:
            return known
        static = plain_objects.static_method(run, qualname)
        if static is not None:
            return Abs(static, static=True)
        return Abs(Global(qualname), static=True)
    source, statement = found
    if isinstance(statement, ast.FunctionDef):
        if not module_names.is_one_function(run, source, statement, node):
            return None
        return Abs(Function(statement, Env({}, source), source), static=True)
    value = value_given(statement, name)
    if isinstance(value, ast.Lambda) and isinstance(value.body, ast.Lambda):  # which gives an initializer
        return Abs(Function(value, Env({}, source), source), static=True)
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    if mutation.is_fixed(run.project, qualname):
        return _constant(run, value, source)
    filled = registered.table(run, qualname)
    if filled is not None:
        return filled
    given = [_constant(run, other, source, ast.Name) for other in module_names.values(source, name)]
    makers = any(one is not None and not isinstance(one.value, Int | Const | Tup | Table) for one in given)
    if makers or module_names.is_maker(run, source.names.imports.get(name, "")):
        raise module_names.depends(name, node)  # a dict of makers was not followed before: it is changed
    return None


def _constant(run: Any, value: ast.expr | None, source: SourceFile, *kinds: type[ast.expr]) -> Abs | None:
    """What an expression at module level is, where that is of use; `kinds`: of expressions that are followed, too."""
    if value is None or value in run.looked_up:  # `x = f(x)`: what it was before is not known
        return None
    if not _is_simple(value) and not isinstance(value, kinds):
        return None
    run.looked_up.add(value)
    try:
        constant = run.constant(value, source).value
    finally:
        run.looked_up.discard(value)
    if isinstance(constant, Int | Const | Factory | Tup | PartialLift | Transformed) or _may_make(constant):
        return Abs(constant, static=True)
    if isinstance(constant, Table) and any(isinstance(v, Factory) for v in constant.items.values()):
        models = [run.analyser.classes.get(made.target) for made in factories_in(constant)]
        if not any(model is not None and bound_twice(run.project, model) for model in models):  # it may hold the former
            return Abs(constant, static=True)
    return None


def _may_make(value: Value) -> bool:
    """Is it a partial of a function of the project, which may make modules?"""
    while isinstance(value, PartialFunction):
        value = value.function
    return isinstance(value, Function)


def _is_simple(node: ast.expr) -> bool:
    shown = ast.Constant | ast.Tuple | ast.List | ast.Dict | ast.BinOp | ast.UnaryOp | ast.Call | ast.Attribute
    return isinstance(node, shown)


def follow(run: Any, function: Function, node: ast.Call, env: Any, arguments: Arguments | None = None) -> Abs:
    """Execute a local function, a method or a project function where it is called."""
    if arguments is None:
        arguments = rest_arguments.expanded(arguments_of(run, node, env), env, run.evaluated)
    if not _worth_following(run, function, arguments):
        return Abs(Unknown(f"the result of `{run.project.said(node.func)}`"), arguments.static, arguments.flags)
    target = function.node
    spec = target.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    if function.method is not None and "staticmethod" not in function.method.decorators:
        names = names[1:]
    bound: dict[str, Abs] = {}
    nodes: dict[str, ast.expr] = {}
    defaults: dict[str, Localized] = {}
    free = list(names)
    for arg, value in arguments.positional:
        if isinstance(arg, ast.Starred):
            if not isinstance(value.value, Tup):
                break
            items = value.value.items
            bound.update({name: Abs(item, value.static, value.flags) for name, item in zip(free, items)})
            free = free[len(items) :]
        elif free:
            name = free.pop(0)
            bound[name], nodes[name] = value, arg
    complete = True  # is every argument seen, so that what is left out has its default?
    for key, arg, value in arguments.keywords:
        if key is not None:
            bound[key], nodes[key] = value, arg
        elif isinstance(value.value, Table) and all(isinstance(k, str) for k in value.value.items) and not value.value.maybe:
            bound |= {str(k): Abs(item, False, value.flags) for k, item in value.value.items.items()}
        else:
            complete = False
    complete &= not any(isinstance(a, ast.Starred) and not isinstance(v.value, Tup) for a, v in arguments.positional)
    shared = {n: d for n, d in defaults_of(target).items() if n not in bound and function.env is not None}
    for name, default in defaults_of(target).items() if complete else ():
        if name not in bound:
            place = default_values.place_of(function, default)
            made = len(run.sites)
            kept = place is not None and name not in aliases.changed_parameters(target)  # else each call leaves it changed
            bound[name] = run.evaluate(default, place) if kept else Abs(Unknown(f"the default of {name}"))
            if len(run.sites) > made:  # once, where the function is defined, whichever calls share it
                raise Unmigratable("NNX135", f"the default of `{name}` makes a module: `{ast.unparse(default)}`", default)
            said = run.localize(default, place) if bound[name].static else None
            if said is not None and isinstance(bound[name].value, Global | Static):
                defaults[name] = said
    if complete and spec.vararg is not None and arguments.count() <= len(names):
        bound[spec.vararg.arg] = Abs(Tup((), "tuple"), static=True)
    if complete and spec.kwarg is not None and set(bound) <= set(parameters_of(target)):
        bound[spec.kwarg.arg] = Abs(Table({}), static=True)
    method = function.method is not None and "staticmethod" not in function.method.decorators
    for name in parameters_of(target)[1 if method else 0 :]:  # `self` stays what it is
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    inner = function_env(run, function, bound)
    inner.caller, inner.call, inner.conditions = env, node, run.open_conditions
    inner.rest = rest_arguments.split(target, names, arguments)
    caller_words.note(inner, nodes, env)
    inner.substituted.update(defaults)
    for name, arg in nodes.items():
        opaque = type(bound[name].value) is Unknown and not bound[name].flags  # the constructor may compute it all the same
        if bound[name].static or opaque or isinstance(bound[name].value, Int | Module):
            said = run.localize(arg, rest_arguments.place_of(arg, env))
            if said is not None:
                inner.substituted[name] = said
    alone = complete and function.method is None
    chosen = maker_functions.made(run, function, node, env, inner, arguments) if alone else None
    if chosen is not None:
        return chosen
    if function.method is not None:
        run.inlined.add(function.method)
        lifted = lift_method(run, function.method)
        if lifted:
            with compact_calls.counted_anew(run, function.method):
                return _lifted_method(run, function, lifted, names, bound, node, env)
    before = len(run.sites)
    first = dict(bound)  # the body may bind its parameters anew, or delete them
    given = [first[name].value for name in nodes]
    helper = helpers.started(run, function, bound) if not run.apart else None
    with compact_calls.counted_anew(run, function.method):
        result: Abs = run.run_function(target, inner)
    if function.method is not None:
        own_methods.note(run, function.method, first, [*nodes], result.value)
    aliases.forget_given(run, target, nodes, env)
    if function.method is None and function.env is not None:
        aliases.forget_around(run, target, function.env)
    if shared:
        aliases.forget_given(run, target, shared, function.env)
    if helper is not None and run.in_setup and arguments.static:
        empty = made_for_setup(run, node, env, result.value, before)
        if empty is not None:
            return empty
    if helper is not None:
        helpers.finished(run, helper, function, node, nodes, env, result.value)
        if node in run.setup_helpers:
            return Abs(setup_helpers.given(result.value), False, result.flags)
    result = dataclasses.replace(result, value=rotated(ast.unparse(node.func), given, result.value))
    pure = arguments.static and len(run.sites) == before
    static_arguments = pure and function.env is not None
    static = pure and result.static
    if pure and function.method is None and isinstance(result.value, Static | Int) and env.source is run.model.source:
        if dependencies_of(result.value) & stored_names(target) and run.localize(node, env) is not None:
            return _said_again(run, node, arguments.flags, env, result)  # `round_up(8 * n)`: called there, too
    if isinstance(result.value, Static | Int | Const) and static and function.env is not None:
        # A pure helper of static arguments can be called in the constructor too; its own names mean nothing there.
        again = not isinstance(result.value, Int | Const)
        return _said_again(run, node, arguments.flags, env, result) if again else result
    one_of = isinstance(result.value, Choice | FactoryChoice | Several) or _from_outside(result.value)
    if pure and one_of and function.method is None and run.localize(node, env) is not None:
        return Abs(result.value, True, result.flags)  # `get_dtype(self.precision)`: one of several things from outside
    if isinstance(result.value, Function) and static_arguments and function.method is None:
        return Abs(result.value, True, result.flags)  # an initializer that a helper of the project makes
    return Abs(result.value, False, result.flags)


def _said_again(run: Any, node: ast.Call, flags: frozenset[str], env: Any, result: Abs) -> Abs:
    """The text of a call as what it gives; of a choice between functions it is known which they are."""
    said: Abs = run._static_text(node, True, flags, env)
    if isinstance(result.value, ChosenFunction) and type(said.value) is Static:
        return dataclasses.replace(said, value=ChosenFunction(said.value.text, said.value.deps, choice=result.value.choice))
    return said


def _from_outside(value: Value) -> bool:
    """Several things from outside at once: `return ACTIVATIONS[name], INITIALIZERS[name]`."""
    return isinstance(value, Tup) and bool(value.items) and all(isinstance(i, Static | Global | Choice) for i in value.items)


def _lifted_method(
    run: Any,
    function: Function,
    lifted: tuple[Lifted, ...],
    names: list[str],
    bound: dict[str, Abs],
    node: ast.Call,
    env: Any,
) -> Abs:
    """A call of a method that is lifted by its decorators."""
    mapped = any(l.kind in ("scan", "vmap") for l in lifted)
    if mapped and node.keywords:
        raise Unmigratable("NNX141", "a scanned or vmapped method is called with keywords, which Linen ignores", node)
    return run_method(run, function.method, lifted, [(n, bound[n]) for n in names], env, function)


def _worth_following(run: Any, function: Function, arguments: Arguments) -> bool:
    return bool(run.depth < 20)


def decorated_function(run: Any, node: ast.FunctionDef, env: Any) -> Value:
    """A nested `def`; decorators that keep the signature are looked through."""
    function = Function(node, env, env.source)
    lifted: list[Lifted] = []
    for decorator in node.decorator_list:
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        qualname = run.project.qualname(env.source, head) or ""
        if qualname == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args:
            qualname = run.project.qualname(env.source, decorator.args[0]) or ""
        if qualname in LIFTED or qualname in OTHER_LIFTED:
            one = decorator_lift(run, decorator, env.source)
            if one is None or len(node.decorator_list) != len(lifted) + 1:
                raise Unmigratable("NNX130", f"`{ast.unparse(head)}` lifts a function of the module", node)
            lifted.append(one)
            continue
        if qualname == CONCATENATED and node.decorator_list == [decorator]:
            return Concatenated((function,))
        if qualname not in TRANSPARENT and not qualname.startswith("jax."):
            refuse_making(run, function, decorator, node)
            return Unknown(f"decorated by {ast.unparse(head)}")
        if qualname == "jax.vmap" and not isinstance(decorator, ast.Call):
            return Transformed(function, (Int(Dim.of(0)), Int(Dim.of(0))))
        if qualname not in TRANSPARENT:
            return Transformed(function, whole=qualname in DERIVATIVES)
    return LiftedFunction(function, tuple(lifted)) if lifted else function


def _does_nothing(run: Any, node: ast.Call, env: Any) -> bool:
    """`super().__init__()` in `setup`, of a class of nn.Module alone: it forgets a name that nothing reads."""
    model = run.model
    alone = not model.bases and set(model.foreign_bases) == {"flax.linen.Module"} and not own_name.is_asked(model)
    return run.in_setup and alone and not node.args and not node.keywords and env.method is model.own_methods.get("setup")


def super_call(run: Any, node: ast.Call, name: str, env: Any) -> Abs:
    """`super().method(...)`: the method of the next class in the inheritance, followed."""
    if name == "__call__" and run.layer_calls:
        given = layer_calls.layer_itself(run, node, arguments_of(run, node, env).values(run)[0], env)
        if given is not None:
            return Abs(given)
    method = run.model.method(name, after=env.method.owner if env.method is not None else None)
    if method is None:
        if name in ("setup", "__post_init__") or (name == "__init__" and _does_nothing(run, node, env)):
            return Abs(Const(None), static=True)
        raise Unmigratable("NNX136", f"`super().{name}` leads outside the project", node)
    run.super_calls.append((node, method))
    return follow(run, Function(method.node, None, method.source, method), node, env)
