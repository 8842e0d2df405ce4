"""Chain classes of the project's own, made in modules of what is no plain list of modules.

    class Sequential(nn.Module):
        layers: Sequence[Callable]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

`Sequential([nn.Dense(4), nn.relu])` and lists that loops fill are then followed as those of nn.Sequential, and become
`nnx.Sequential`, which does the same, names its items the same, and passes on what is no tuple or dict as it is.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ...catalog.layers import Call
from ..outside.outside_chains import chain_of
from ..values import rest_arguments
from ..values.arguments import Arguments, arguments_of
from ..values.sites import CallRecord, Factory, Module, Site, Unmigratable
from ..values.values import Array, Tup, Value
from ..values.wrappers import is_wrapper

_SEQUENTIAL = "flax.linen.Sequential"


def made_by(run: Any, factory: Factory, node: ast.Call, env: Any) -> tuple[Factory, Arguments | None]:
    """What a call makes, as nn.Sequential where it is such a chain, and its arguments where they were evaluated for that."""
    if factory.field or factory.lifted or factory.alternatives or factory.args or factory.positional:
        return factory, None
    if not run.analyser.is_own_chain(factory.target):
        return factory, None
    arguments = rest_arguments.expanded(arguments_of(run, node, env), env, run.evaluated)
    given = [a.value for _, a in arguments.positional] or [a.value for key, _, a in arguments.keywords if key == "layers"]
    if len(given) != 1 or not run.holds_module(given[0]) or _of_modules(given[0]):
        return factory, arguments
    run.analyser.chain_calls.add(node)
    return dataclasses.replace(factory, target=_SEQUENTIAL), arguments


def _of_modules(value: Value) -> bool:
    """A display of modules alone, none of them a chain in turn, which the class itself can be given."""
    return isinstance(value, Tup) and all(isinstance(i, Module) and not is_wrapper(i.site) for i in value.items)


def is_chain(project: Any, classes: Any, target: str) -> bool:
    """Does a class only call its `layers` in turn, and is its name used for nothing but to make it?"""
    model = classes.get(target)
    if model is None or (chain_of(model) or ("", ""))[0] != "layers":
        return False
    name = target.rpartition(".")[2]
    for source in project.files.values():
        if name not in source.words:
            continue
        for node in source.nodes:
            named = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
            if named and project.qualname(source, node) == target:
                parent = source.parents.get(node)
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    return False
    return True


def check_passed_on(run: Any, site: Site, record: CallRecord, first: CallRecord | Call) -> None:
    """Refuse what nnx.Sequential would take apart: a tuple or dict that one item of an own chain gives to the next."""
    if site.node not in run.analyser.chain_calls:
        return
    if first.keywords:
        raise Unmigratable("NNX127", "a chain is called with keywords", site.node)
    if record.args != first.args and not isinstance(record.args[0], Array):
        raise Unmigratable("NNX127", "what one item of a chain gives to the next may be a tuple", site.node)


__all__ = ["check_passed_on", "is_chain", "made_by"]
