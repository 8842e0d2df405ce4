"""Module instances that one class hands to another: what the receiver knows of them, and what it tells the giver.

`self.encoder = Encoder(embed=self.shared)`: the field `embed` of `Encoder` holds, at every construction of the
project, an `nn.Embed`. Inside of `Encoder` it is a module like any other (a `Site` whose `held` names the field), only
made elsewhere. Its sizes are read off the instance (`embed.features`), so that they hold whoever passes it. In the
other direction the giver learns from the receiver how the instance is called: a `nn.Dense` that is made here and
called there takes its input size from there.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ...catalog import layers
from ..lifted.lifting import variable_axis
from ..values.dims import Dim
from ..values.merging import Either, members
from ..values.presence import through_another
from ..values.replacing import replace_dims
from ..values.sites import Abs, BoundArg, CallRecord, Factory, Function, Module, Repeated, Site, Static, Unmigratable
from ..values.values import Array, Const, Global, Int, Tup, Unknown, Value
from . import handed_keywords
from .handed_keywords import Caller

if TYPE_CHECKING:
    from ..execution.execute import Execution
    from ..project.classes import Field


@dataclasses.dataclass(frozen=True)
class Kind:
    """Modules of one class, as far as all that are passed agree.

    `arguments` holds every constructor argument that any of them was given: the constant that all were given, or None
    where they differ or it is computed.
    """

    target: str
    layer: bool
    arguments: Mapping[str, Value | None]


@dataclasses.dataclass(frozen=True)
class Passed:
    """What a field is given: one module of one of these kinds, or a list of such."""

    kinds: tuple[Kind, ...]
    many: str = ""  # "" for one module, else "list" or "tuple"


@dataclasses.dataclass(frozen=True)
class Apart:
    """The modules of a list, one by one, as a single construction passes them."""

    kinds: tuple[Kind, ...]
    many: str


@dataclasses.dataclass(frozen=True)
class Plain:
    """Something that is no module at all (a function): where another site passes a module, the two cannot be told apart."""


Given = Factory | Passed | Plain


def passed_value(run: Any, value: Value) -> Passed | Plain | None:
    """What an argument of a constructor hands over; None where it says nothing (None, a size, a field passed on)."""
    if isinstance(value, Module | Either):
        found: Passed | None = None
        for module in members(value):
            found = _joined(found, Passed((_kind(module.site),)))
        return found
    if isinstance(value, Repeated) and isinstance(value.element, Module) and value.kind in ("list", "tuple"):
        return Passed((_kind(value.element.site),), value.kind)
    if isinstance(value, Tup) and value.items and run.holds_module(value):
        kinds: Passed | None = None
        for item in value.items:
            if not isinstance(item, Module):
                raise Unmigratable("NNX127", "a list of modules and other things is passed to another module's constructor")
            kinds = _joined(kinds, Passed((_kind(item.site),)))
        assert kinds is not None
        return dataclasses.replace(kinds, many=value.kind)
    if isinstance(value, Global | Function):
        return Plain()
    return None


def _kind(site: Site) -> Kind:
    return Kind(site.target, site.kind == "layer", {k: constant_of(b.abs) for k, b in site.bound.items()})


def constant_of(found: Abs) -> Value | None:
    """The value, if it is the same wherever it is said."""
    value = found.value
    if found.flags:
        return None
    if isinstance(value, Const | Global) or (isinstance(value, Int) and value.dim.value is not None):
        return value
    if isinstance(value, Tup) and all(constant_of(Abs(item)) is not None for item in value.items):
        return value
    return None


def joined(known: Given | None, new: Given) -> Given | None:
    """What a field is given, after one more construction; None where one text cannot serve both."""
    if known is None or known == new:
        return new
    if isinstance(known, Factory) and isinstance(new, Plain):
        return known
    if isinstance(known, Plain) and isinstance(new, Factory):
        return new
    if isinstance(known, Passed) and isinstance(new, Passed) and bool(known.many) == bool(new.many):
        return _joined(known, new)
    return None


def _joined(known: Passed | None, new: Passed) -> Passed:
    if known is None:
        return new
    kinds = {k.target: k for k in known.kinds}
    for kind in new.kinds:
        other = kinds.get(kind.target)
        kinds[kind.target] = kind if other is None else _agreed(other, kind)
    return Passed(tuple(kinds.values()), known.many)


def _agreed(a: Kind, b: Kind) -> Kind:
    names = [*a.arguments, *[n for n in b.arguments if n not in a.arguments]]
    same = {n: a.arguments.get(n) if a.arguments.get(n) == b.arguments.get(n) else None for n in names}
    return Kind(a.target, a.layer, same)


def taken_apart(value: Value) -> Apart | None:
    """A list that a construction passes, each of its modules by itself; of a list made in a loop, two of them."""
    if isinstance(value, Repeated) and isinstance(value.element, Module) and value.kind in ("list", "tuple"):
        return Apart((_kind(value.element.site),) * 2, value.kind)
    if isinstance(value, Tup) and value.items and all(isinstance(item, Module) for item in value.items):
        return Apart(tuple(_kind(item.site) for item in value.items if isinstance(item, Module)), value.kind)
    return None


def held_value(run: Execution, field: Field, passed: Passed | Apart) -> Value:
    """The field as the receiving class sees it; the same object every time."""
    known: Value | None = run.held.get(field.name)
    if known is None and isinstance(passed, Apart):
        items = enumerate(passed.kinds)
        known = Tup(tuple(Module(_held_site(run, field, kind, passed, i)) for i, kind in items), passed.many)
        run.held[field.name] = known
    elif known is None:
        assert isinstance(passed, Passed)
        modules = tuple(Module(_held_site(run, field, kind, passed), bool(passed.many)) for kind in passed.kinds)
        known = modules[0] if len(modules) == 1 else Either(modules)
        if passed.many:
            known = Repeated(known, None, passed.many)
        run.held[field.name] = known
    return known


def _held_site(run: Execution, field: Field, kind: Kind, passed: Passed | Apart, index: int = 0) -> Site:
    where = cast(ast.Call, field.node)  # it is constructed nowhere in this class: messages point to the field
    site = Site("layer" if kind.layer else "class", where, field.source, kind.target, held=field.name)
    for name, constant in kind.arguments.items():
        found = _attribute(run, field, kind, name, constant, bool(passed.many))
        if isinstance(passed, Apart) and constant is None and (not kind.layer or name in _SIZES):
            found = Abs(Int(Dim.atom("item", field.name, index, name)), static=True)  # see Substitution
        site.bound[name] = BoundArg(None, found, None)
    return site


def _attribute(run: Execution, field: Field, kind: Kind, name: str, constant: Value | None, many: bool) -> Abs:
    """A constructor argument of a passed module, read off the instance where it keeps it."""
    if constant is not None and not isinstance(constant, Int):
        return Abs(constant)
    readable = attribute_name(kind, name) is not None and not many
    if readable and (constant is not None or not kind.layer or name in _SIZES):
        return Abs(Static(f"self.{field.name}.{name}"), static=True)
    return Abs(constant if constant is not None else Unknown(f"`{name}` of what is passed as `{field.name}`"))


# Arguments that layers of NNX keep as they were given, as one integer, under the name that the catalog tells.
_SIZES = frozenset({"num_embeddings", "features", "num_heads"})
_KEPT = {
    "flax.linen.Embed": frozenset({"num_embeddings", "features"}),
    "flax.linen.Dense": frozenset({"features"}),
    "flax.linen.Conv": frozenset({"features"}),
    "flax.linen.ConvTranspose": frozenset({"features"}),
    "flax.linen.MultiHeadDotProductAttention": frozenset({"num_heads"}),
}


def attribute_name(kind: Kind | Site, name: str) -> str | None:
    """Under which name an instance of NNX keeps a constructor argument of Linen's; None if it does not."""
    is_layer = kind.layer if isinstance(kind, Kind) else kind.kind == "layer"
    if not is_layer:
        return name
    layer = layers.lookup(kind.target)
    if layer is None or name not in _KEPT.get(kind.target, ()):
        return None
    return layer.attributes.get(name, name)


def held_modules(run: Execution) -> Iterator[tuple[str, Module]]:
    """Every module that a class is handed through a field, with the field."""
    for name, value in run.held.items():
        inner = value.element if isinstance(value, Repeated) else value
        for item in inner.items if isinstance(inner, Tup) else (inner,):
            for module in members(item):
                yield name, module


def tell_giver(run: Any, site: Site, called: Execution, substitution: Any, caller: Caller) -> None:
    """After a call of `site`: the modules that were passed to it are called there, and so get their first call."""
    for field, held in held_modules(called):
        bound = site.bound.get(field)
        if held.site.call is None or bound is None or taken_apart(bound.abs.value) is not None:
            continue
        for module in members(bound.abs.value):
            if module.site.target != held.site.target:
                continue
            first = module.site.call is None
            if not first and handed_keywords.FROM_CALLER in held.site.renders:
                again = caller.given_on(run, module.site, held.site, _replaced(held.site, substitution))
                handed_keywords.check_again(module.site, again)
                continue
            through_another(run, module.site, _replaced(held.site, substitution))
            if first:
                _told(run, module.site, held.site, substitution, caller)


def passes_lists(site: Site) -> bool:
    """Is a class handed lists of modules here?"""
    return any(taken_apart(bound.abs.value) is not None for bound in site.bound.values())


def tell_giver_of_items(run: Any, site: Site, called: Execution, substitution: Any, caller: Caller) -> None:
    """As `tell_giver` for the modules of lists, each of which may be called with something else: what one returns
    is what the next is given. `called` has them one by one.

    Raises Unmigratable where the sizes change along a list whose modules have one text.
    """
    for field, held in called.held.items():
        bound = site.bound.get(field)
        if bound is None or not isinstance(held, Tup):
            continue
        given = bound.abs.value
        sites = [item.site for item in held.items if isinstance(item, Module)]
        if isinstance(given, Repeated) and isinstance(given.element, Module):
            if any(s.call is None for s in sites) or given.element.site.call is not None:
                continue
            first, second = (_replaced(s, substitution) for s in sites)
            if not _same_call(first, second):
                reason = f"the input sizes change along the list that is passed as `{field}`"
                raise Unmigratable("NNX114", reason, site.node)
            _told(run, given.element.site, sites[0], substitution, caller)
        elif isinstance(given, Tup):
            for item, inner in zip(given.items, sites, strict=True):
                if isinstance(item, Module) and inner.call is not None:
                    told = item.site.call is not None
                    through_another(run, item.site, _replaced(inner, substitution))
                    if not told:
                        _told(run, item.site, inner, substitution, caller)


def _same_call(a: CallRecord, b: CallRecord) -> bool:
    pairs = [*zip(a.args, b.args), *((v, b.keywords.get(k, v)) for k, v in a.keywords.items())]
    return all(x.shape.same(y.shape) if isinstance(x, Array) and isinstance(y, Array) else x == y for x, y in pairs)


def _told(run: Any, given: Site, held: Site, substitution: Any, caller: Caller) -> None:
    given.call = caller.given_on(run, given, held, _replaced(held, substitution))
    given.renders["method"] = method = held.renders.get("method", "__call__")
    if given.kind == "class":  # and so what it is handed in turn: `Residual(PreNorm(nn.Dense(4)))`
        run.analyser.output(run, given, method, given.call)


def _replaced(held: Site, substitution: Any) -> CallRecord:
    assert held.call is not None
    args = tuple(replace_dims(v, substitution) for v in held.call.args)
    return CallRecord(args, {k: replace_dims(v, substitution) for k, v in held.call.keywords.items()})


def check_passing(run: Any, site: Site) -> None:
    """Refuse what Linen would store elsewhere than NNX, or treat as several copies."""
    for argument in site.bound.values():
        modules = list(run.modules_in(argument.abs.value))
        if modules and any(l.kind in ("scan", "vmap") for l in site.lifted):
            raise Unmigratable("NNX127", "a module is passed to a class under nn.scan or nn.vmap", site.node)
        for inner in modules:
            inner.passed = True
            if not _is_loose(run, inner):
                continue
            # Not an attribute yet: Linen names it after the field of the first module that it is passed to.
            if inner.adopted:
                raise Unmigratable("NNX127", "a module that is no attribute is passed to two modules", site.node)
            inner.adopted = True
    check_wrapping(run, site)


def check_wrapping(run: Any, site: Site) -> None:
    """Refuse modules with names of their own that only another module holds: Linen keeps them outside of it."""
    for argument in site.bound.values():
        if any(inner.name is not None and _is_loose(run, inner) for inner in run.modules_in(argument.abs.value)):
            raise Unmigratable("NNX127", "a module with a name of its own is passed on and is no attribute", site.node)


def check_stacked(run: Any, site: Site) -> None:
    """Refuse a layer that `nn.vmap` or `nn.scan` stacks and that is handed modules of the method: these are made apart."""
    held = any(any(run.modules_in(argument.abs.value)) for argument in site.bound.values())
    for lifted in site.lifted if held and not site.in_setup else ():
        if lifted.kind in ("scan", "vmap") and variable_axis(lifted, {"params"}, apart=True)[0] == "stacked":
            said = f"a module is passed to nn.{site.target.rpartition('.')[2]} under nn.{lifted.kind}, which stacks it"
            raise Unmigratable("NNX127", said, site.node)


def _is_loose(run: Any, site: Site) -> bool:
    return bool(site.in_setup and not site.container and run.in_setup)
