"""Flags that the call of a submodule of the project's own takes in NNX, and that its caller has to hand it.

Those of factories in its fields (`Block(norm=partial(nn.BatchNorm, use_running_average=not train))`), and those of its own
that are known only at the call (`Block(decode=decode)`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part
from ...linen.modules.choices import FactoryChoice
from ...linen.modules.lost_factories import factories_in
from ...linen.values.environment import Env
from ...linen.values.sites import Factory, Site, Unmigratable
from ...linen.values.values import Value
from ..factories import field_kinds
from . import flag_names, merged_flags

if TYPE_CHECKING:
    from ..classes.class_text import ClassText

Flags = list[tuple[str, Part]]


def of_call(text: ClassText, site: Site, node: ast.Call, env: Env) -> Flags:
    """The flags that a call is given besides its own arguments, each with its text there."""
    source, run = env.source, text.run
    called = text.plans.get(site.target)
    keywords = called.details.call_keywords if called is not None and called.details is not None else {}
    flags: Flags = []
    for name in merged_flags.moved(text, site):
        value = site.bound[name].node
        assert value is not None
        if any(k.arg == name for k in node.keywords):
            continue  # the call says it already
        flag_names.check(run, source, value, node, env)
        flags.append((name, flag_names.words(run, source, value)))
    flags += _of_partial(text, site, node, env)
    for keyword, (field, key) in keywords.items():
        bound = site.bound.get(field)
        factory = bound.abs.value if bound is not None else _default(text, site, field)
        if not isinstance(factory, Factory | FactoryChoice):
            raise Unmigratable("NNX172", f"`{key}` of the modules in `{field}` is not known here", node)
        all_taking = [kind for one in factories_in(factory) for kind in one.kinds() if key in kind.calltime]
        if not all_taking:
            continue  # a kind of module that has no such flag
        taking = all_taking[0]
        if isinstance(factory, FactoryChoice):
            said_by = {(ast.unparse(kind.calltime[key][0]), kind.calltime[key][1].path) for kind in all_taking}
            if len(said_by) > 1:
                raise Unmigratable("NNX172", f"`{key}` of the modules in `{field}` depends on which of them it is", node)
        value, where, _ = taking.calltime[key]
        if taking.field:
            own = [name for name, held in text.call_keywords.items() if held == (taking.field, key)]
            flags.append((keyword, own[0] if own else keyword))
        elif where is source and bound is not None:
            flag_names.check(run, source, value, node, env)
            flags.append((keyword, flag_names.words(run, source, value)))
        elif isinstance(value, ast.Constant):
            flags.append((keyword, repr(value.value)))
        else:
            raise Unmigratable("NNX172", f"`{key}` of the modules in `{field}` is set in another file", node)
    return flags


def _of_partial(text: ClassText, site: Site, node: ast.Call, env: Env) -> Flags:
    """Flags of a class that the partial holds which made the module."""
    flags: Flags = []
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    given = {k.arg for k in node.keywords}
    given |= {p.arg for p in method.positional[: len(node.args)]} if method is not None else set()
    starred = None in given or any(isinstance(a, ast.Starred) for a in node.args)
    some = field_kinds.flags(site)
    for key in some or site.calltime:
        if starred or key in given or any(called != "__call__" for _, called, _ in site.calls):
            raise Unmigratable("NNX172", f"`{key}` of a module is given to its constructor and to its call", node)
    for key, (value, where, _) in site.calltime.items() if not some else ():  # not all of the kinds take these
        if site.factory is not None and site.factory.field:
            flags.append((key, text._calltime_name(site, key)))
            continue
        value = flag_names.nearest(text.run, env.source, value, node)
        if where is not env.source and value not in env.source.parents:
            raise Unmigratable("NNX172", f"`{key}` of a module is set in another file", node)
        flag_names.check(text.run, env.source, value, node, env)
        flags.append((key, flag_names.words(text.run, env.source, value)))
    return flags


def _default(text: ClassText, site: Site, field: str) -> Value | None:
    """The factory that the field of a class holds which is constructed without it."""
    model = text.analyser.classes.get(site.target)
    held = next((f for f in model.fields() if f.name == field), None) if model is not None else None
    if held is None or held.default is None:
        return None
    return text.analyser.execution(site.target).constant(held.default, held.source).value


__all__ = ["Flags", "of_call"]
