"""Flags of modules for whose call the method has no text of its own:
`nn.Sequential([nn.Dense(4), nn.Dropout(0.5, deterministic=det)])(x)`.

NNX takes such a flag at the call, which is the container's. Where the container is called as it is made, the module
stands in it as a function that gives the flag. One call of several modules must have the same flags for all.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Parts
from ...linen.values.merging import Either
from ...linen.values.sites import Site, Unmigratable
from ...trees import subtree
from . import merged_flags

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_INPUT = "inputs"


def written(writer: ClassWriter, site: Site, said: Parts) -> Parts:
    """The reference to a module, `said`, with its flags where no call of the method could be given them."""
    if site.kind not in ("layer", "class") or (site.calls and not _is_held(writer, site)):
        return said
    flags = _flags(writer, site)
    if not flags:
        return said
    if site.calls:
        reason = f"a module that takes `{flags[0][0]}` when called is called both by an nn.Sequential and by itself"
        raise Unmigratable("NNX172", reason, site.node)
    values = [value for _, value in flags if value is not None]
    names = {n.id for value in values for n in subtree(value) if isinstance(n, ast.Name)}
    if any(v in writer.run.in_words or v not in site.source.parents for v in values):
        reason = f"`{flags[0][0]}` of a module is set by a function, and no call is written for it"
        raise Unmigratable("NNX172", reason, site.node)
    kept = _appended(site)
    if len(values) < len(flags) or _INPUT in names or not (kept or _called_in_place(writer, site)):
        reason = f"`{flags[0][0]}` of a module is known only when called, and no call is written for it"
        raise Unmigratable("NNX172", reason, site.node)
    parts: list[Parts] = [(f", {name}=", site.source.span(value)) for name, value in flags if value is not None]
    if kept:
        return (f"{writer.namer.name('functools.partial')}(", *said, *[p for part in parts for p in part], ")")
    return (f"lambda {_INPUT}: ", *said, f"({_INPUT}", *[p for part in parts for p in part], ")")


def _is_held(writer: ClassWriter, site: Site) -> bool:
    """Does an nn.Sequential of the method call the module?"""
    held = [s for s in writer.run.sites if s.target == "flax.linen.Sequential" and not s.in_setup]
    return not site.in_setup and any(site in writer.run.modules_in(b.abs.value) for s in held for b in s.bound.values())


def _flags(writer: ClassWriter, site: Site) -> list[tuple[str, ast.expr | None]]:
    """Keyword of the NNX call → its value; None where it stands elsewhere."""
    if site.kind == "class":
        called = writer.text.plans.get(site.target)
        keywords = called.details.call_keywords if called is not None and called.details is not None else {}
        found: list[tuple[str, ast.expr | None]] = [(name, None) for name in keywords]
        found += [(name, site.bound[name].node) for name in merged_flags.moved(writer.text, site)]
        return [*found, *_held(site).items()]
    layer = layers.lookup(site.target)
    assert layer is not None
    given: dict[str, ast.expr | None] = {n: site.bound[n].node for n in writer.text.moved_fields(site, layer)}
    given |= _held(site)
    return [(layer.call_time_fields.get(name, name), value) for name, value in given.items()]


def _held(site: Site) -> dict[str, ast.expr | None]:
    """Flags that the partial holds which made a module."""
    in_field = site.factory is not None and site.factory.field
    return {
        name: value if where is site.source and not in_field else None for name, (value, where, _) in site.calltime.items()
    }


def are_shared(writer: ClassWriter, site: Site, others: list[Site], call: ast.Call) -> bool:
    """Does a call reach other modules that have no such flags (`for layer in [...]: x = layer(x)`), or a function? Refuses a
    call of modules that take the same flags with different values.
    """
    if site.choice:
        return False  # each of them has a call of its own
    if takes_some(writer, site) and _reaches_function(writer, call):
        return True
    if not others:
        return False
    own = _said(writer, site)
    found = False
    for other in others:
        if other.choice or other in site.alternatives:
            continue
        theirs = _said(writer, other)
        for name in sorted({name for name, _ in own ^ theirs}):
            mine, there = _takes(writer, site, name), _takes(writer, other, name)
            if (mine and there) or not isinstance(call.func, ast.Name):
                reason = f"`{ast.unparse(call)}` calls several modules with different values of `{name}`"
                raise Unmigratable("NNX172", reason, call)
            found |= mine
    return found


def _reaches_function(writer: ClassWriter, call: ast.Call) -> bool:
    """`norm = nn.BatchNorm(use_running_average=not train) if self.normed else (lambda x: x)`"""
    held = writer.run.evaluated.get(call.func)
    either = held.value if held is not None and isinstance(held.value, Either) else None
    functions = either is not None and (either.functions or either.may_be_none_of_them())
    if not functions and call not in writer.run.of_functions:
        return False
    if not isinstance(call.func, ast.Name | ast.Attribute):
        raise Unmigratable("NNX172", f"`{ast.unparse(call)}` calls a module that takes flags, or a function", call)
    return True


def takes_some(writer: ClassWriter, site: Site) -> bool:
    """Is a module given flags when it is called?"""
    return site.kind in ("layer", "class") and bool(_flags(writer, site))


def _said(writer: ClassWriter, site: Site) -> set[tuple[str, str]]:
    return {(name, ast.unparse(value) if value is not None else "") for name, value in _flags(writer, site)}


def _takes(writer: ClassWriter, site: Site, keyword: str) -> bool:
    """Has the call of a module a parameter of this name?"""
    if site.kind == "layer":
        layer = layers.lookup(site.target)
        return layer is not None and keyword in {layer.call_time_fields.get(p.name, p.name) for p in layer.call_parameters}
    model = writer.run.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if method is None or method.node.args.kwarg is not None:
        return True
    return keyword in {p.arg for p in method.parameters}


def _appended(site: Site) -> bool:
    """Is it put in a list, `layers.append(nn.Dropout(0.5, deterministic=det))`, which only an `nn.Sequential` calls?"""
    parents = site.source.parents
    around = parents.get(site.node)
    if isinstance(around, ast.List):
        added = parents.get(around)
        appended = isinstance(added, ast.AugAssign) and added.value is around and isinstance(added.target, ast.Name)
    else:
        func = around.func if isinstance(around, ast.Call) else None
        appended = isinstance(func, ast.Attribute) and func.attr == "append" and isinstance(func.value, ast.Name)
    return appended and not (site.in_setup or site.passed or site.lifted or site.choice)


def _called_in_place(writer: ClassWriter, site: Site) -> bool:
    """Is it an item of the list that an `nn.Sequential`, called at once, is written with?"""
    parents = site.source.parents
    listed = parents.get(site.node)
    made = parents.get(listed) if isinstance(listed, ast.List | ast.Tuple) else None
    if not isinstance(made, ast.Call) or listed not in made.args:
        return False
    container = next((s for s in writer.run.sites if s.node is made), None)
    call = parents.get(made)
    return (
        container is not None
        and container.target == "flax.linen.Sequential"
        and not container.lifted
        and not site.lifted
        and isinstance(call, ast.Call)
        and call.func is made
    )


__all__ = ["are_shared", "takes_some", "written"]
