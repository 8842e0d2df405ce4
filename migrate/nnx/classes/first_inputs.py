"""What a module that is made later is called with first, as what makes it says that."""

from __future__ import annotations

import ast
import dataclasses
import itertools
from typing import TYPE_CHECKING

from ...catalog import layers
from ...linen.values.sites import CallRecord, Site
from ...linen.values.values import Array, NeedsRank, Shape, Tup, Unknown, Value

if TYPE_CHECKING:
    from .class_text import ClassText


_ARRAYS = frozenset({"inputs", "x", "inputs_q", "inputs_k", "inputs_v"})  # what layers call the arrays that they are given


def parameters(text: ClassText, site: Site) -> list[str]:
    """What a module calls what it is given."""
    if site.kind == "layer" and layers.lookup(site.target) is not None:
        return _parameters_of_layer(site.target)
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    return [p.arg for p in method.positional] if method is not None else []


def _parameters_of_layer(target: str) -> list[str]:
    layer = layers.lookup(target)
    return [p.name for p in layer.call_parameters] if layer is not None else []


def in_order(site: Site, names: list[str]) -> Site:
    """The site, as if its first call gave by place what it gives by the first of these names."""
    assert site.call is not None
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    said = layer.call_aliases if layer is not None else {}
    given = {said.get(name, name): value for name, value in site.call.keywords.items()}
    args = list(site.call.args)
    args += [given.pop(name) for name in itertools.takewhile((given.keys() & _ARRAYS).__contains__, names[len(args) :])]
    others = tuple(in_order(other, names) for other in site.alternatives)
    return dataclasses.replace(site, call=CallRecord(tuple(args), given), alternatives=others)


def called_with(site: Site, names: list[str]) -> Site:
    """The site, with its first call in terms of that; so are the other kinds."""
    assert site.call is not None
    arrays = site.kind == "layer" and _parameters_of_layer(site.target)[:1] in (["inputs"], ["x"])  # of no carries
    values = [Unknown("an array") if arrays and isinstance(value, Tup) else value for value in site.call.args]
    args = tuple(_of_first_call(value, name) for value, name in zip(values, names))
    others = tuple(called_with(other, names) for other in site.alternatives)
    call, renders = CallRecord(args, site.call.keywords), {**site.renders, _NAMES: tuple(names)}
    return dataclasses.replace(site, call=call, alternatives=others, renders=renders)


_NAMES = "what it is given first"


def whole(text: ClassText, site: Site, argument: str) -> str | None:
    """An argument of the first call as it is, which a module asks for; None where that is not seen."""
    names, known = site.renders.get(_NAMES), parameters(text, site)
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if names is None or argument not in known or site.call is None or argument in site.call.keywords or method is None:
        return None
    place = known.index(argument)
    if place < len(names):
        return str(names[place])
    default = method.default(argument)
    return "None" if isinstance(default, ast.Constant) and default.value is None else None


def _of_first_call(value: Value, said: str) -> Value:
    """What an argument of the first call is, in terms of that."""
    if isinstance(value, Tup) and value.items:
        return Tup(tuple(_of_first_call(item, f"{said}[{i}]") for i, item in enumerate(value.items)), value.kind)
    if isinstance(value, Array | NeedsRank) or type(value) is Unknown:
        return Array(Shape.argument(f"={said}.shape"))
    return value


__all__ = ["called_with", "in_order", "parameters", "whole"]
