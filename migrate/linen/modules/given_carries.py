"""The width of a carry that a class is given for a cell of its own, where a call shows another than the cell's `features`.

`state, last = carry; nn.LSTMCell(self.features)(state, x)`: Linen's layers are as wide as the carry is. What an argument
holds is taken to be `features` wide (NNX208) until a module gives it another width, as a decoder is handed the encoder's
state: then the class asks for it, `carry_0_1_features`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...catalog.layers_recurrent import Cell
from ..values.dims import Dim
from ..values.replacing import replace_dims
from ..values.sites import Site, Static
from ..values.values import Array, Int, Shape, Tup, Value

if TYPE_CHECKING:
    from ..execution.execute import Execution

_RANK = 2  # (batch, width); only the width is asked for


def of_argument(run: Any, name: str, value: Value) -> Value:
    """What is known of an argument, or of an item of one: that it is the carry of a cell whose width is asked for."""
    pairs: dict[str, bool] = run.analyser.carries.get(run.model.qualname, {})
    if isinstance(value, Tup):
        return Tup(tuple(of_argument(run, f"{name}[{i}]", item) for i, item in enumerate(value.items)), value.kind)
    if name not in pairs or not isinstance(value, Array):
        return value
    if not pairs[name]:
        return Array(Shape.ranked(name, _RANK))
    return Tup((Array(Shape.ranked(f"{name}[1]", _RANK)),) * 2)  # as wide as each other


def learn(run: Execution, site: Site, called: Execution, substitution: Any) -> None:
    """Remember the carries of other widths that one call of a class gives to the cells of the class."""
    analyser = run.analyser
    if site.target in analyser.named_outside:
        return  # such code could not say the width
    known = analyser.carries.setdefault(site.target, {})
    for cell, name, pair in _taken(called):
        given = substitution._input(name)
        if isinstance(given, Tup) and given.items and pair:
            given = given.items[-1]
        width = given.shape.dim(-1) if isinstance(given, Array) else None
        if name not in known and width is not None and width != _features(called, cell, substitution):
            known[name] = pair
            analyser.revised = True
            analyser.again(site.target)


def learnt(run: Execution) -> bool:
    """Is an argument found to be (c, h), as the class reads the width of a cell off one of the two?"""
    known = run.analyser.carries.setdefault(run.model.qualname, {})
    found = {name for cell, name, pair in _taken(run) if pair and name not in known and _reads(run, cell, name)}
    known.update(dict.fromkeys(found, True))
    return bool(found)


def _reads(run: Execution, cell: Site, name: str) -> bool:
    """`nn.LSTMCell(carry[0].shape[-1])(carry, x)`: the carry is no array, as `carry.shape` is not asked for."""
    value = cell.bound["features"].abs.value if "features" in cell.bound else None
    if not isinstance(value, Int) or not any(a.kind == "input" and a.args[0] == name for a in value.dim.atoms()):
        return False
    for node, held in run.evaluated.items():
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            base = run.evaluated.get(node.value, held).value
            if isinstance(base, Array) and base.shape.of_argument(run.ranks) == name:
                return False
    return True


def _taken(called: Execution) -> Iterator[tuple[Site, str, bool]]:
    """The cells of a class that it gives an argument, or an item of one, as their carry: and is that (c, h)?"""
    for cell in called.sites:
        layer = layers.lookup(cell.target) if cell.kind == "layer" else None
        if not isinstance(layer, Cell) or not layer.by_carry or cell.call is None:
            continue
        carry = cell.call.args[0] if cell.call.args else cell.call.keywords.get("carry")
        pair = layer.pair
        if pair and isinstance(carry, Tup) and carry.items:  # `c, h = carry; cell((c, h), x)`
            carry, pair = carry.items[-1], False
        name = carry.shape.of_argument(called.ranks) if isinstance(carry, Array) else ""
        if name:
            yield cell, name, pair


def _features(called: Execution, cell: Site, substitution: Any) -> Dim | None:
    """A cell's `features`, in the terms of who calls its class."""
    bound = cell.bound.get("features")
    value = bound.abs.value if bound is not None else None
    if isinstance(value, Static):
        value = Int(called.dim_of(value))
    found = replace_dims(value, substitution) if isinstance(value, Int) else None
    return found.dim if isinstance(found, Int) else None


__all__ = ["learn", "of_argument"]
