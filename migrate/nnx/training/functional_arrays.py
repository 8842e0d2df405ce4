"""Arrays that are no variables, in the functional form: a part of the model's structure, as Linen's are of the module.

params = model.init(key, x)         →   graphdef, params = nnx.split(fixed(model(..., rngs=rngs)), nnx.Param)
model.apply(params, x)              →   unfixed(nnx.merge(graphdef, params))(x)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import given_arrays
from .rewrite import Unsupported

if TYPE_CHECKING:
    from ...context import FileContext
    from .functional import _Functional


def fixed(form: _Functional) -> bool:
    """Do the models hold such arrays?"""
    return given_arrays.holds_arrays(form)


def check_init(form: _Functional, call: ast.Call) -> None:
    """Unsupported where what a module computes for itself might be traced, and would outlive that trace."""
    if not form.fixed:
        return
    if call in form.functions:
        raise Unsupported(call, "an array that the model is constructed with")
    if given_arrays.keeps_arrays(form) and (call in form.wrapped or given_arrays.outlive_their_trace(form, call)):
        raise Unsupported(call, "arrays that a module keeps beside its variables")


def stateless(form: _Functional, context: FileContext) -> tuple[str, str]:
    """What stands around a model that is made, whose state are its variables alone."""
    parts = [part for part, there in (("fixed", form.fixed), ("keyless", form.streams)) if there]
    return "".join(f"{context.parity(part)}(" for part in parts), ")" * len(parts)


def merged(form: _Functional, context: FileContext) -> tuple[str, str]:
    """What stands around a model that is merged."""
    return (f"{context.parity('unfixed')}(", ")") if form.fixed else ("", "")
