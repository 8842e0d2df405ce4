"""Methods of Linen's modules that a class calls on one of its submodules: `self.dense.get_variable("params", "kernel")`.

NNX's modules have none of them. A variable that is read is an attribute there; what else is asked of a submodule's scope
has no counterpart.
"""

from __future__ import annotations

import ast
from typing import Any

from ..values.arguments import arguments_of
from ..values.merging import Either
from ..values.sites import Abs, Module, ModuleField, Unmigratable
from ..values.values import Const, Value
from .variable_reads import VariableRead, leads_to

_READS = "get_variable"
_CODES = {
    "put_variable": "NNX147",
    "param": "NNX147",
    "variable": "NNX147",
    "has_variable": "NNX146",
    "is_mutable_collection": "NNX146",
    "has_rng": "NNX148",
    "make_rng": "NNX148",
    "perturb": "NNX145",
}


def of_scope(run: Any, value: Value, method: str) -> bool:
    """Is this such a method of a submodule, which its class has not written itself?"""
    if method not in (_READS, "is_initializing", *_CODES) or not isinstance(value, Module | ModuleField | Either):
        return False
    called = run.analyser.classes.get(value.site.target) if isinstance(value, Module) else None
    return called is None or called.method(method) is None


def of_submodule(run: Any, value: Value, node: ast.Call, func: ast.Attribute, env: Any) -> Abs:
    """The value of the call of such a method."""
    if func.attr == "is_initializing":
        run.constants[node] = "False"
        return Abs(Const(False), static=True)
    if func.attr != _READS:
        raise Unmigratable(_CODES[func.attr], f"`{ast.unparse(func)}` is used", node)
    arguments = arguments_of(run, node, env)
    said = [given.value for _, given in arguments.positional]
    keywords = {keyword: given.value for keyword, _, given in arguments.keywords}
    said += [keywords.pop(name) for name in ("col", "name") if name in keywords]
    names = [v.value for v in said if isinstance(v, Const) and isinstance(v.value, str)]
    plain = len(names) == len(said) == 2 and not keywords and isinstance(value, Module) and not value.element
    found = leads_to(run, value.site, (names[1],)) if plain and isinstance(value, Module) else None
    if found is None:
        raise Unmigratable("NNX147", f"`{ast.unparse(node)}` is used", node)
    assert isinstance(value, Module)
    run.variable_reads[node] = VariableRead(node, env.source, func.value, value.site, names[0], (names[1],))
    return Abs(found, False)


__all__ = ["of_scope", "of_submodule"]
