"""Deep copies of params in the functional form: of an `nnx.State`, `copy.deepcopy` gives one without its variables.

target_params = copy.deepcopy(params)   →   target_params = jax.tree.map(jnp.copy, params)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_values import sites_of
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .functional import _Functional


def write(form: _Functional) -> None:
    """Unsupported where one call copies trees of several models that are migrated apart."""
    for call in form.flow.uses.calls({"copy.deepcopy"}):
        value = form.flow.value(call)
        if not form.has(value):
            continue
        if not sites_of(value) <= set(form.component.sites) or isinstance(call.args[0], ast.Starred):
            raise Unsupported(call, "a deep copy of trees of several models")
        context = form.context(call)
        form.replace(call, f"{context.name('jax.tree.map')}({context.name('jax.numpy.copy')}, ", call.args[0], ")")
