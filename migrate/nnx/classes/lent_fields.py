"""Fields of a module that its owner's call computes and that decide none of its variables: what arrays hold, sizes, numbers.

    x = SpatialSoftmax(height, width, pos_x, pos_y)(x)

Linen makes the module anew in each call. In NNX it is made once, without them, and each call lends it its own:

    self.SpatialSoftmax_0 = SpatialSoftmax(None, None, None, None, rngs=rngs)
    ...
    x = linen_parity.with_fields(self.SpatialSoftmax_0, height=height, width=width, pos_x=pos_x, pos_y=pos_y)(x)

Only where the constructor of the module's class does nothing with such a field but keep it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...edits import Overlay, Parts
from ...linen.execution.needed_sizes import refuse_of_one_call
from ...linen.modules import made_later
from ...linen.project.classes import PLAIN_DECORATORS, ClassModel
from ...linen.values.sites import BoundArg, Factory, ModuleField, Site, Unmigratable
from ..calls import flag_names
from ..fields import kept_fields
from ..text.text_parts import joined, old_text

if TYPE_CHECKING:
    from .class_text import ClassText
    from .class_write import ClassWriter

LENT = "lent fields"  # of a site: field → what the call says
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)


def argument(text: ClassText, site: Site, name: str, bound: BoundArg) -> Parts | None:
    """What the constructor gives for such a field; None where the field is another."""
    lent: dict[str, ast.expr] = site.renders.setdefault(LENT, {})
    lent.pop(name, None)
    if not _is_of_call(text, site, name, bound) or not _is_made_here(text, site, bound):
        return None
    if not _is_computed_with(text, site, name):
        return None
    assert bound.node is not None
    lent[name] = bound.node
    return ("None",)


def _is_of_call(text: ClassText, site: Site, name: str, bound: BoundArg) -> bool:
    """Does the constructor not know it, or know only what it is in one call?"""
    value = bound.abs.value
    if bound.text is not None or isinstance(value, Factory | ModuleField) or text.run.holds_module(value):
        return False
    if bound.localized is None:
        return True
    try:
        refuse_of_one_call(text.run, site, name, bound)
    except Unmigratable:
        return True
    return False


def _is_made_here(text: ClassText, site: Site, bound: BoundArg) -> bool:
    """Does a method of the class make the module in its own words, and only call it?"""
    if site.in_setup or site.held or site.passed or site.adopted or site.choice or site.alternatives or site.through:
        return False
    if site.lifted or site.scopes or site.holder != "self" or site.foreign or not site.calls:
        return False
    if any(method != "__call__" or env.source is not site.source for _, method, env in site.calls):
        return False
    if _is_made_twice(text, site):
        return False  # another place of the code, which may lend it nothing, has the same module
    own = made_later.method_of(text.run, site.source, site.node) is not None
    here = bound.given and bound.node is not None and site.node in site.source.ancestors(bound.node)
    return own and here and (site.factory is None or site.factory.node is site.node.func) and _is_only_called(text, site)


def _is_made_twice(text: ClassText, site: Site) -> bool:
    if site in text.again or site in text.again.values():
        return True
    places = text.names.places
    place = places.get(site)
    return any(other is not site and places.get(other) == place for other in text.run.sites) and (
        place is None or place.kind != "list"
    )


def _is_only_called(text: ClassText, site: Site) -> bool:
    """Is what is made called where it stands, or by a name that is read for nothing else?"""
    source = site.source
    above = source.parents.get(site.node)
    if isinstance(above, ast.Call) and above.func is site.node:
        return True
    if not isinstance(above, ast.Assign) or len(above.targets) != 1 or not isinstance(above.targets[0], ast.Name):
        return False
    method = made_later.method_of(text.run, source, site.node)
    names = [n for n in method.nodes if isinstance(n, ast.Name) and n.id == above.targets[0].id]
    reads = [n for n in names if isinstance(n.ctx, ast.Load)]
    called = {node.func for node, _, _ in site.calls}
    return len(names) - len(reads) == 1 and all(read in called for read in reads)


def _is_kept(text: ClassText, site: Site, name: str) -> bool:
    """Does the constructor of the module's class keep the field and do nothing else with it?"""
    model, called = text.analyser.classes.get(site.target), text.plans.get(site.target)
    if site.kind != "class" or model is None or called is None or not isinstance(called.writer, type(text)):
        return False
    if len(text.analyser.classes.lineage(site.target)) > 1 or model.foreign_bases != ("flax.linen.Module",):
        return False
    if {"setup", "__post_init__"} & model.methods().keys() or kept_fields.handed_on(model):
        return False
    run = called.writer.run
    if called.writer.later or site.target in text.analyser.given_outside.handed:
        return False  # its constructor calls it
    if name not in run.fields or name in run.call_fields or name in run.held or any(s.lifted or s.scopes for s in run.sites):
        return False
    word = re.compile(rf"\b{re.escape(name)}\b")
    lines = [parts for entry in called.writer.lines for _, parts in entry]
    return not any(word.search(said) for parts in lines for said in _said(parts, called.writer.source.text))


def _said(parts: Parts, old: str) -> Iterator[str]:
    """What parts say, before and after what is changed in them."""
    yield old_text(parts, old)
    for part in parts:
        for edit in part.edits if isinstance(part, Overlay) else ():
            yield from _said(edit.parts, old)


def _is_computed_with(text: ClassText, site: Site, name: str) -> bool:
    model = text.analyser.classes.get(site.target)
    return model is not None and not _is_read_otherwise(model, name) and _is_kept(text, site, name)


def _is_read_otherwise(model: ClassModel, name: str) -> bool:
    """Is it written, asked for by its name, or read where the call may be over?"""
    if any(isinstance(n, ast.Constant) and n.value == name for n in model.nodes):
        return True
    methods = model.methods()
    for method in methods.values():
        if not set(method.decorators) <= PLAIN_DECORATORS:
            return True
        above = method.source.parents
        for asked, nodes in method.asked.items():
            called = [isinstance(c := above.get(n), ast.Call) and c.func is n for n in nodes]
            if asked in methods and not all(called):
                return True  # `return self.helper`
        for node in method.asked.get(name, ()):
            around = list(method.source.ancestors(node))
            inner = around[: around.index(method.node)] if method.node in around else around
            if not isinstance(node.ctx, ast.Load) or any(isinstance(a, _FUNCTIONS) for a in inner):
                return True
    return False


def written(writer: ClassWriter, site: Site, said: Parts) -> Parts:
    """The reference to a module, `said`, with the fields that the call lends it."""
    lent = site.renders.get(LENT)
    if not lent:
        return said
    values: list[Parts] = [(f"{n}=", flag_names.words(writer.run, site.source, node)) for n, node in lent.items()]
    return joined((writer.namer.parity("with_fields"),), [said, *values])


def names(site: Site) -> frozenset[str]:
    return frozenset(site.renders.get(LENT, ()))


__all__ = ["argument", "names", "written"]
