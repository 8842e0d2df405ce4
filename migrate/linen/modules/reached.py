"""What is read off a submodule: fields of its class, and the modules that it made for itself (`self.model.shared`)."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from ..values import kept_by_modules
from ..values.replacing import replace_dims
from ..values.sites import Abs, BoundArg, Factory, Module, Repeated, Site, Unmigratable
from ..values.substitution import Substitution, argument_value
from ..values.values import Const, Int, Tup, Unknown, Value
from . import call_fields


def module_attribute(run: Any, node: ast.Attribute, base: Abs, env: Any) -> Abs:
    """An attribute of a submodule: a field of its class, or something of its own."""
    value = base.value
    if isinstance(value, Module) and node.attr in ("variables", "scope"):
        raise Unmigratable("NNX164", f"`{ast.unparse(node)}` is used", node)
    of_linen = isinstance(value, Module) and (
        node.attr == "name" or (node.attr in ("path", "parent") and value.site.kind == "layer")
    )
    if of_linen and not any(isinstance(n, ast.Raise | ast.Assert) for n in env.source.ancestors(node)):
        raise Unmigratable("NNX164", f"`{ast.unparse(node)}` is used, which modules of NNX do not have", node)
    if isinstance(value, Module):
        kept_by_modules.mark(run, value.site, node.attr)
        call_fields.read_off(run, value.site, node.attr)
    if isinstance(value, Module) and not value.element:
        site = value.site
        if node.attr in site.bound:
            found = site.bound[node.attr].abs
            here = found.static and base.static and bool(site.held)
            return Abs(found.value, here or _in_constructor(run, found.value), base.flags)
        inner = _own(run, site, node.attr, ast.unparse(node).removeprefix("self."))
        if isinstance(inner, Factory) and site.kind == "class" and not run.in_setup:
            # `conv = block.conv`: what makes the block's layers makes more of them, as the constructor can say.
            run.analyser.read_attributes.add(node.attr)
            return Abs(dataclasses.replace(inner, text=ast.unparse(node), node=None, chosen_by=""), True, base.flags)
        if inner is not None:
            return Abs(inner, _in_constructor(run, inner), base.flags)
    return Abs(Unknown(f"`{ast.unparse(node)}`"), False, base.flags)


def _in_constructor(run: Any, value: Value) -> bool:
    """In setup a submodule exists already, so what is read off it can be said as it stands."""
    if not run.in_setup:
        return False
    if isinstance(value, Int):
        return not any(atom.kind in ("input", "rank", "byrank", "lead", "local") for atom in value.dim.atoms())
    if isinstance(value, Tup):
        return all(_in_constructor(run, item) for item in value.items)
    return not isinstance(value, Unknown | Module | Repeated)


def _own(run: Any, site: Site, name: str, text: str) -> Value | None:
    """A default of the submodule's class, or what its `setup` assigned, in the caller's terms."""
    if run.analyser.classes.get(site.target) is None or site.lifted:
        return None
    try:
        called = run.analyser.execution(site.target)
    except Unmigratable:
        return None
    if name in called.fields:
        value = argument_value(run, site, name)
        return None if isinstance(value, Unknown) else value
    held = called.attributes.get(name)
    if held is None:
        return None
    return _carried_over(run, held.value, run.analyser.substitution(run, site, called, {}), text)


def _carried_over(run: Any, value: Value, substitution: Substitution, text: str) -> Value | None:
    if isinstance(value, Module):
        if value.element or value.site.lifted or text.split(".")[0] not in run.attributes:
            return None
        known: Site | None = run.reached.get(text)
        if known is None:
            inner = value.site
            bound = {
                k: BoundArg(None, dataclasses.replace(b.abs, value=replace_dims(b.abs.value, substitution)), None)
                for k, b in inner.bound.items()
            }
            known = Site(inner.kind, inner.node, inner.source, inner.target, bound, held=text)
            run.reached[text] = known
        return Module(known)
    numbers = value.items if isinstance(value, Tup) else (value,)
    return replace_dims(value, substitution) if all(isinstance(item, Int | Const) for item in numbers) else None
