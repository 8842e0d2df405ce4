"""Shapes from patterns: einsum and einops."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..values.dims import Dim
from ..values.values import Lead, Shape
from .shape_ops import broadcast, imply, needs_rank, stop

Sizes = dict[str, "Dim | None"]


def einsum(spec: str, shapes: Sequence[Shape]) -> Shape:
    """The shape of `jnp.einsum(spec, ...)`; an operand without `...` tells its rank."""
    left, arrow, right = spec.replace(" ", "").partition("->")
    operands = left.split(",")
    if len(operands) != len(shapes):
        raise stop(f"einsum {spec!r} with {len(shapes)} operands")
    if not arrow:
        letters = [c for c in left if c.isalpha()]
        right = ("..." if "..." in left else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return _contract([_letters(o) for o in operands], _letters(right), shapes, spec)


def named_einsum(pattern: str, shapes: Sequence[Shape]) -> Shape:
    """The shape of `einops.einsum(..., pattern)`: axis names are words."""
    left, _, right = pattern.partition("->")
    operands = [part.split() for part in left.split(",")]
    if len(operands) != len(shapes):
        raise stop(f"einsum {pattern!r} with {len(shapes)} operands")
    return _contract(operands, right.split(), shapes, pattern)


def _letters(text: str) -> list[str]:
    return re.findall(r"\.\.\.|.", text)


def _contract(operands: list[list[str]], result: list[str], shapes: Sequence[Shape], spec: str) -> Shape:
    sizes: Sizes = {}
    batches: list[Shape] = []
    for labels, shape in zip(operands, shapes):
        batch = _match(labels, shape, sizes, spec)
        if batch is not None:
            batches.append(batch)
    unknown = [label for label in result if label != "..." and label not in sizes]
    if unknown:
        raise stop(f"einsum {spec!r}: {unknown[0]!r} is not among the operands")
    return _assemble(result, sizes, broadcast(*batches), spec)


def _match(labels: list[str], shape: Shape, sizes: Sizes, spec: str) -> Shape | None:
    """Note the size of every label; the dimensions that `...` covers are returned."""
    if "..." not in labels:
        for label, dim in zip(labels, imply(shape, len(labels)).dims):
            _note(sizes, label, dim)
        return None
    at = labels.index("...")
    before, after = labels[:at], labels[at + 1 :]
    shape = shape.expand(len(after))
    if before and shape.rank is None:
        raise needs_rank(f"einsum {spec!r}", shape)
    if len(shape.dims) < len(before) + len(after):
        raise stop(f"einsum {spec!r}: too few dimensions")
    for label, dim in zip(before, shape.dims):
        _note(sizes, label, dim)
    cut = len(shape.dims) - len(after)
    for label, dim in zip(after, shape.dims[cut:]):
        _note(sizes, label, dim)
    return Shape(shape.dims[len(before) : cut], shape.lead)


def _note(sizes: Sizes, label: str, dim: Dim | None) -> None:
    """One label has one size (1 gives way): a number is the best way to say it."""
    known = sizes.get(label)
    if known is None or known.value == 1 or (dim is not None and dim.value not in (None, 1)):
        sizes[label] = dim if dim is not None else known


def _assemble(result: list[str], sizes: Sizes, batch: Shape, spec: str) -> Shape:
    if "..." not in result:
        return Shape(tuple(sizes[label] for label in result))
    at = result.index("...")
    before = tuple(sizes[label] for label in result[:at])
    after = tuple(sizes[label] for label in result[at + 1 :])
    if batch.lead is None:
        return Shape((*before, *batch.dims, *after))
    lead = batch.lead
    if not before:
        return Shape((*batch.dims, *after), lead)
    if batch.dims or not lead.known:
        raise needs_rank(f"einsum {spec!r}", batch)
    return Shape(after, Lead(lead.argument, lead.dropped, lead.skipped, (*before, *lead.head)))


# einops --------------------------------------------------------------------------------------------------------


def _groups(text: str, pattern: str) -> list[list[str]]:
    """`b (h w) 1 ...` → [[b], [h, w], [1], [...]]; an ellipsis inside of brackets becomes `(...)`."""
    groups: list[list[str]] = []
    inside = False
    for token in re.findall(r"\.\.\.|…|[()]|[^\s()]+", text):
        if token == "(":
            inside = True
            groups.append([])
        elif token == ")":
            inside = False
        elif inside:
            groups[-1].append("(...)" if token in ("...", "…") else token)
        else:
            groups.append([token])
    return groups


def rearrange(shape: Shape, pattern: str, given: Mapping[str, Dim | None]) -> Shape:
    """The shape of einops.rearrange, reduce and repeat, which differ only in which axes may come or go."""
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise stop(f"einops pattern {pattern!r}")
    sizes, batch = _parse(shape, _groups(left, pattern), dict(given), pattern)
    before: list[Dim | None] = []
    after: list[Dim | None] = []
    seen = False
    for group in _groups(right, pattern):
        if group == ["..."]:
            seen = True
        else:
            sizes["(...)"] = batch.size()
            (after if seen else before).append(_group_size(group, sizes, pattern))
    if not seen:
        return Shape(tuple(before))
    if batch.lead is None:
        return Shape((*before, *batch.dims, *after))
    if before and (batch.dims or not batch.lead.known):
        raise needs_rank(f"einops pattern {pattern!r}", batch)
    lead = batch.lead
    if before:
        lead = Lead(lead.argument, lead.dropped, lead.skipped, (*before, *lead.head))
    return Shape((*batch.dims, *after), lead)


def parse_shape(shape: Shape, pattern: str) -> dict[str, Dim | None]:
    """einops.parse_shape: the sizes by name."""
    sizes, _ = _parse(shape, _groups(pattern, pattern), {}, pattern)
    return {name: size for name, size in sizes.items() if name != "_"}


def _parse(shape: Shape, groups: list[list[str]], sizes: Sizes, pattern: str) -> tuple[Sizes, Shape]:
    """The size of every axis on the left, and the dimensions that `...` covers."""
    if any("(...)" in group for group in groups):
        raise stop(f"einops pattern {pattern!r}: an ellipsis in brackets on the left")
    if ["..."] not in groups:
        dims: tuple[Dim | None, ...] = imply(shape, len(groups)).dims
        batch = Shape(())
        named = groups
    else:
        at = groups.index(["..."])
        tail = groups[at + 1 :]
        shape = shape.expand(len(tail))
        if at and shape.rank is None:
            raise needs_rank(f"einops pattern {pattern!r}", shape)
        if len(shape.dims) < at + len(tail):
            raise stop(f"einops pattern {pattern!r}: too few dimensions")
        cut = len(shape.dims) - len(tail)
        batch = Shape(shape.dims[at:cut], shape.lead)
        dims = (*shape.dims[:at], *shape.dims[cut:])
        named = [*groups[:at], *tail]
    for group, dim in zip(named, dims):
        _solve(group, dim, sizes)
    return sizes, batch


def _solve(group: list[str], dim: Dim | None, sizes: Sizes) -> None:
    """Give every name of a group its size: at most one is not known yet."""
    product: Dim | None = Dim.of(1)
    missing: list[str] = []
    for name in group:
        if name.isdigit():
            product = None if product is None else product * int(name)
        elif name in sizes:
            known = sizes[name]
            product = None if product is None or known is None else product * known
        else:
            missing.append(name)
    for name in missing:
        only = len(missing) == 1 and dim is not None and product is not None
        sizes[name] = dim // product if only and dim is not None and product is not None else None


def _group_size(group: list[str], sizes: Sizes, pattern: str) -> Dim | None:
    total: Dim | None = Dim.of(1)
    for name in group:
        if name.isdigit():
            size: Dim | None = Dim.of(int(name))
        elif name in sizes:
            size = sizes[name]
        else:
            raise stop(f"einops pattern {pattern!r}: the size of {name!r} is not given")
        total = None if total is None or size is None else total * size
    return total
