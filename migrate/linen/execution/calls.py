"""Dispatch of calls, by what is called: a module, a factory, a function, a library."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..lifted.differentiation import DERIVATIVES, CustomDerivative, Pullback, call_custom, differentiate, pull_back
from ..lifted.higher_order import run_functions
from ..lifted.lifting import CONTROL, LIFTED, OTHER_LIFTED, call_lifted, control
from ..lifted.transform_choices import TransformChoice, lift_by_choice
from ..lists import own_chains
from ..lists.chains import Chain, Cycle
from ..modules import detached_cells, foreign, objects_of_others, unknown_callees
from ..modules.choices import FactoryChoice, construct_choice
from ..modules.construction import construct, lifted_factory, partial_factory
from ..modules.factory_functions import construct_by, maker
from ..modules.given_functions import ChosenFunction, PartialFunction, call_any, call_field, call_function
from ..modules.lost_factories import check_handed
from ..modules.module_calls import Transformed, call_either, call_module, call_transformed, given_back_as_it_is
from ..modules.self_calls import SELF_CALLS, self_param
from ..modules.shared_scopes import share_scope
from ..modules.unknown_callees import is_copy, made_by_unknown
from ..outside.made_outside import call_outside
from ..shapes.shape_keeping import keeps_shape, names_activation
from ..values import rest_arguments
from ..values.arguments import arguments_of, is_self
from ..values.bundles import record
from ..values.graph_networks import Concatenated, GraphNetwork
from ..values.merging import Choice, Either, Several
from ..values.nothing_made import GivesBack
from ..values.sites import (
    Abs,
    Factory,
    Function,
    LiftedFunction,
    Module,
    ModuleField,
    PartialLift,
    Repeated,
    Static,
    Unmigratable,
)
from ..values.values import Array, Global, Tup, Unknown, Value
from . import class_methods, constant_methods, graph_networks, module_names
from .function_choices import FunctionChoice, call_choice
from .functions import follow, super_call
from .package_calls import builtin_call, library_call
from .plain_objects import call_plain, made_object
from .value_methods import method_of_value


def call(run: Any, node: ast.Call, env: Any) -> Abs:
    """The value of a call; makes sites, follows functions, asks the shape functions."""
    func = node.func
    if isinstance(func, ast.Attribute) and is_self(func.value, env):
        special = SELF_CALLS.get(func.attr)
        if special is not None and run.model.method(func.attr) is None:
            return special(run, node, env)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Call) and _is_super(func.value):
        return super_call(run, node, func.attr, env)
    if _is_super(node):
        return Abs(Unknown("super"))
    started = detached_cells.carry(run, node, env)
    if started is not None:
        return started
    if isinstance(func, ast.Attribute):
        made = method_of_value(run, node, func, env)
        if made is not None:
            return made
    if isinstance(func, ast.Attribute) and func.attr in ("clone", "bind", "unbind"):
        base = run.evaluated.get(func.value)
        if base is not None and isinstance(base.value, Static | Module | ModuleField):
            raise Unmigratable("NNX149", f"`{ast.unparse(func)}` is used", node)
    qualname = None
    if not (isinstance(func, ast.Attribute | ast.Name) and run._rooted_local(func, env)):
        qualname = run.project.qualname(env.source, func)
    if qualname is None and isinstance(func, ast.Name) and env.get(func.id) is None:
        module_names.refuse_unbound(env.source, func)
    if qualname == "functools.partial":
        return partial_factory(run, node, env)
    if qualname is not None and qualname.endswith(".setup") and run.analyser.classes.get(qualname[: -len(".setup")]):
        raise Unmigratable("NNX161", f"`{ast.unparse(node)}` runs the setup of a class by its name, not by super()", node)
    if qualname in LIFTED:
        return lifted_factory(run, qualname, node, env)
    if qualname in CONTROL:
        return control(run, CONTROL[qualname], node, env)
    if qualname in DERIVATIVES:
        return differentiate(run, DERIVATIVES[qualname], node, env)
    if qualname in OTHER_LIFTED:
        raise Unmigratable("NNX130", f"`{ast.unparse(func)}` is used in a module", node)
    if qualname == "flax.linen.partitioning.param_with_axes":
        return self_param(run, node, env)
    if qualname == "flax.linen.partitioning.variable_with_axes":
        raise Unmigratable("NNX130", f"`{ast.unparse(func)}` makes a variable whose names are in another collection", node)
    if qualname in ("flax.linen.intercept_methods", "flax.linen.override_named_call"):
        raise Unmigratable("NNX130", f"`{ast.unparse(func)}` is used", node)
    if qualname == "flax.linen.share_scope":
        return share_scope(run, node, env)
    of_package = foreign.factory(run, qualname, node, env)
    if of_package is not None:
        arguments = rest_arguments.expanded(arguments_of(run, node, env), env, run.evaluated)
        foreign.check_arguments(run, of_package.target, arguments, env)
        return construct(run, of_package, node, env, arguments=arguments)
    target = run.evaluate(func, env)
    value = target.value
    objects_of_others.check(run, node, value, env)
    if (said := qualname or (value.name if isinstance(value, Global) else None)) is not None:
        class_methods.check(run, said, node)
    if isinstance(value, Transformed):
        return call_transformed(run, value, node, env)
    if isinstance(value, GraphNetwork | Concatenated):
        return graph_networks.call(run, value, node, env)
    if isinstance(value, Function | FunctionChoice | Global | Static | GivesBack):
        run.of_functions.add(node)
    if isinstance(value, FactoryChoice):
        return construct_choice(run, value, node, env)
    if isinstance(value, Several):
        raise Unmigratable("NNX132", f"`{ast.unparse(func)}` makes one of several kinds of modules", node)
    if isinstance(value, LiftedFunction):
        return call_lifted(run, value, node, env)
    if isinstance(value, CustomDerivative):
        return call_custom(run, value, node, env)
    if isinstance(value, Pullback):
        return pull_back(run, value, node, env)
    if isinstance(value, TransformChoice):
        return lift_by_choice(run, value, node, env)
    if isinstance(value, PartialLift):
        return lifted_factory(run, value.name, node, env, value)
    if isinstance(value, Factory):
        only_asked = detached_cells.made(run, value, node, env)
        if only_asked is not None:
            return only_asked
        factory, given_to = own_chains.made_by(run, value, node, env)
        return construct(run, factory, node, env, arguments=given_to)
    if isinstance(value, Module | ModuleField):
        return call_module(run, value, "__call__", node, env)
    if isinstance(value, Either):
        return call_either(run, value, "__call__", node, env)
    if isinstance(value, GivesBack):
        return given_back_as_it_is(arguments_of(run, node, env), node)
    if isinstance(value, Repeated | Tup | Chain | Cycle) and run.holds_module(value):
        raise Unmigratable("NNX132", f"`{ast.unparse(func)}` is called, and may be one of several modules", node)
    if isinstance(value, FunctionChoice):
        return call_choice(run, value, node, env)
    if isinstance(value, Function):
        made_by = maker(run, value)
        if made_by is not None:
            return construct_by(run, made_by, node, env)
        before = len(run.sites)
        answer = unknown_callees.as_looked_up(run, value, node, follow(run, value, node, env))
        return constant_methods.answer(run, value, node, env, answer) if len(run.sites) == before else answer
    if qualname is not None and is_copy(qualname):
        raise Unmigratable("NNX150", f"it contains {qualname.rpartition('.')[2]}, which is a Linen copy", node)
    if _from_field_call(run, value) or made_by_unknown(run, value, env, func) is not None:
        raise unknown_callees.refusal(run, func, value, node, env)
    arguments = arguments_of(run, node, env)
    if unknown_callees.makes_layer(run, value, [a.value for _, a in arguments.positional]):
        raise unknown_callees.refusal(run, node, value, node, env)
    objects_of_others.check_value(run, node, value, arguments, env)
    objects_of_others.check_handed(run, qualname, node, env)
    followed = call_outside(run, value, arguments) or call_plain(run, value, arguments, env)
    if followed is not None:
        return followed
    if qualname is not None:
        held = record(run, qualname, arguments, env)
        if held is not None:
            return held
    builtin = func.id if isinstance(func, ast.Name) and env.get(func.id) is None else None
    check_handed(run, qualname or builtin, arguments)
    if isinstance(value, PartialFunction):
        result = call_function(run, value, arguments)  # also where it can be said as it is: it may make modules
        if not (target.static and arguments.static):
            return Abs(result, False, arguments.flags | target.flags)
    elif isinstance(value, Global) or qualname is not None:
        known = qualname or value.name  # type: ignore[union-attr]
        network = graph_networks.made(run, known, arguments)
        if network is not None:
            return Abs(network, False, arguments.flags)
        return made_object(run, known, arguments, library_call(run, known, arguments, env))
    if isinstance(func, ast.Name) and env.get(func.id) is None:
        return builtin_call(run, func.id, arguments, env)
    if isinstance(value, ChosenFunction) and not arguments.static:
        given = call_any(run, value.choice, arguments, env)
        if given is not None:
            return Abs(given, False, arguments.flags)
    if isinstance(value, Static) and not arguments.static:
        given = call_field(run, value.text, arguments, env)
        if given is not None:
            return Abs(given, False, arguments.flags)
    if isinstance(value, Static) and target.static and arguments.static:
        found: Abs = run._static_text(node, True, arguments.flags, env)
        return found
    if isinstance(value, Choice) and value.options:
        given = call_any(run, value, arguments, env)
        if given is not None:
            return Abs(given, False, arguments.flags | target.flags)
    run_functions(run, arguments)
    arrays = [a.value for _, a in arguments.positional if isinstance(a.value, Array)]
    # `get_activation(name)(x)`, and `self.activation = get_activation(name)` in setup
    looked_up = (
        names_activation(run.project.said(func.func))
        if isinstance(func, ast.Call)
        else (_nothing_known(value) and names_activation(run.project.said(func)))
    )
    if len(arrays) == 1 and (looked_up or keeps_shape(run, value, arrays[0], env)):
        return Abs(arrays[0], False, arguments.flags)
    return Abs(Unknown(f"the result of `{run.project.said(func)}`"), False, arguments.flags | target.flags)


def _nothing_known(value: Value) -> bool:
    """Of what is called: also an argument of the call itself, as nothing but a function is called."""
    return isinstance(value, Static | Unknown | Array) and not isinstance(value, Choice)


def _from_field_call(run: Any, value: Value) -> bool:
    """Is this what calling a field gave? That it is called in turn says that the field makes modules."""
    said = value.text if isinstance(value, Static) else value.why if isinstance(value, Unknown) else ""
    field = re.match(r"self\.(\w+)\(" if isinstance(value, Static) else r"the result of `self\.(\w*)", said)
    made = field is not None and not unknown_callees.gives_activation(run, field[1])
    return made or unknown_callees.by_one_of_fields(value)


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
