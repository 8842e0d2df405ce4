"""Lifted transforms around a submodule: how it is made, and how it is called.

`nn.remat(Block)(...)` makes a plain Block and calls it through `nnx.remat(Block.__call__, ...)`. `nn.scan` and `nn.vmap`
with mapped parameters make a stack of modules under `nnx.vmap`, and run it with `nnx.scan` or `nnx.vmap`; the stacked
parameters have Linen's layout and keep their keys.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..catalog import layers
from ..edits import Part, Parts
from ..linen.axis_rules import stacked_axis
from ..linen.sites import Abs, Lifted, Site, Static, Table, Unmigratable
from ..linen.values import Const, Global, Int, Tup, Value

if TYPE_CHECKING:
    from .class_text import ClassText, InitLines


def base_text(writer: ClassText, site: Site) -> Parts:
    """The text of the class under the transforms."""
    node: ast.expr = site.node.func
    factory = site.factory
    if factory is not None and isinstance(factory.node, ast.expr) and factory.source is site.source:
        node = factory.node
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    found = writer.run.evaluated.get(node)
    target = getattr(found.value, "target", None) if found is not None else None
    if target == site.target and isinstance(node, ast.Name | ast.Attribute) and not _local(writer, site, node):
        if site.kind == "layer":
            return (writer.namer.name(_layer_target(site)),)
        if site.source is writer.source:
            return (site.source.span(node),)
        return (ast.unparse(node),)
    if site.kind == "layer":
        return (writer.namer.name(_layer_target(site)),)
    module, _, name = site.target.rpartition(".")
    if module == writer.source.module:
        return (name,)
    return (writer.namer.name(site.target),)


def _local(writer: ClassText, site: Site, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (site.source.names.is_hidden(node.id, node) or node.id == "self")


def _layer_target(site: Site) -> str:
    layer = layers.lookup(site.target)
    assert layer is not None
    args = {k: layers.Arg(("",)) for k in site.bound}
    return layer.partial(args).target


def mapped(lifted: Lifted) -> tuple[bool, int]:
    """Is the module stacked (one per step), and along which axis of its variables?"""
    axes = _collections(lifted.abs.get("variable_axes"))
    if axes is None:
        raise Unmigratable("NNX168", "variable_axes of a lifted transform is not a literal", lifted.node)
    carry = lifted.abs.get("variable_carry")
    if carry is not None and not (isinstance(carry.value, Const) and carry.value.value in (None, False)):
        raise Unmigratable("NNX168", "a scan carries variables from step to step (variable_carry)", lifted.node)
    found = {k: v for k, v in axes.items() if k != "intermediates"}
    if not found or "params" not in found:
        others = {v for v in found.values() if v is not None}
        if others:
            raise Unmigratable("NNX168", "some collections are mapped and the parameters are not", lifted.node)
        return False, 0
    numbers = set(found.values())
    if numbers == {None}:
        return False, 0
    if len(numbers) > 1 or None in numbers:
        raise Unmigratable("NNX168", "collections are mapped along different axes", lifted.node)
    return True, next(n for n in numbers if n is not None)


def _collections(found: Abs | None) -> Mapping[str, int | None] | None:
    """`{'params': 0, 'batch_stats': 0}` as axes by collection; None if it is not a literal."""
    if found is None:
        return {}
    value = found.value
    if not isinstance(value, Table):
        return None
    out: dict[str, int | None] = {}
    for key, axis in value.items.items():
        if isinstance(axis, Int) and axis.dim.value is not None:
            out[str(key)] = axis.dim.value
        elif isinstance(axis, Const) and axis.value is None:
            out[str(key)] = None
        else:
            return None
    return out


def _option(lifted: Lifted, name: str) -> Value | None:
    found = lifted.abs.get(name)
    return found.value if found is not None else None


def constructor(writer: ClassText, site: Site, inner: Parts) -> InitLines:
    """How the site's module is made under its transforms."""
    from .class_text import InitLines

    before: list[tuple[int, Parts]] = []
    expression = inner
    for position, lifted in enumerate(reversed(site.lifted)):
        if lifted.kind in ("remat", "jit"):
            _check_remat(lifted)
            continue
        if lifted.kind not in ("scan", "vmap"):
            raise Unmigratable("NNX130", f"nn.{lifted.kind} is used", lifted.node)
        if position and before:
            raise Unmigratable("NNX130", "scan and vmap are nested around one module", lifted.node)
        stacked, axis = mapped(lifted)
        if not stacked:
            continue
        if site.in_setup:
            raise Unmigratable("NNX130", f"nn.{lifted.kind} is used in setup", lifted.node)
        place = writer.names.places.get(site)
        if place is None or place.kind != "attribute":
            raise Unmigratable("NNX130", f"nn.{lifted.kind} is used in a loop", lifted.node)
        count = _count(writer, site, lifted)
        split = _split(lifted)
        name = f"create_{_snake(place.attribute)}"
        metadata = _metadata(writer, lifted)
        nnx_vmap = writer.namer.name("flax.nnx.vmap")
        if split:
            before.append((0, (f"@{writer.namer.name('flax.nnx.split_rngs')}(splits=", *count, ")")))
            before.append((0, (f"@{nnx_vmap}(in_axes=0, out_axes={axis}", *metadata, ")")))
        else:
            before.append((0, (f"@{nnx_vmap}(in_axes=None, out_axes={axis}, axis_size=", *count, *metadata, ")")))
        before.append((0, (f"def {name}(rngs: {writer.namer.name('flax.nnx.Rngs')}):",)))
        before.append((1, ("return ", *inner)))
        expression = (f"{name}(rngs)",)
    return InitLines(tuple(before), expression)


def _check_remat(lifted: Lifted) -> None:
    allowed = {"prevent_cse", "static_argnums", "policy", "concrete", "variables", "rngs", "donate_argnums"}
    for name in lifted.options:
        if name not in allowed:
            raise Unmigratable("NNX130", f"nn.{lifted.kind} has the option {name}", lifted.node)


def _split(lifted: Lifted) -> bool:
    """Does every step draw parameters of its own?"""
    found = lifted.abs.get("split_rngs")
    if found is None:
        return False
    value = found.value
    if not isinstance(value, Table):
        raise Unmigratable("NNX168", "split_rngs of a lifted transform is not a literal", lifted.node)
    params = value.items.get("params")
    return isinstance(params, Const) and params.value is True


def _count(writer: ClassText, site: Site, lifted: Lifted) -> Parts:
    """Number of steps or members."""
    name = "length" if lifted.kind == "scan" else "axis_size"
    found = lifted.abs.get(name)
    if found is None or (isinstance(found.value, Const) and found.value.value is None):
        raise Unmigratable(
            "NNX169", f"nn.{lifted.kind} has no `{name}`: how many modules it stacks is not written", lifted.node
        )
    value = found.value
    if isinstance(value, Int):
        return (writer.dim(value.dim),)
    if isinstance(value, Static):
        return (writer.dim(writer.run.dim_of(value)),)
    raise Unmigratable("NNX169", f"`{name}` of nn.{lifted.kind} is not known to the constructor", lifted.node)


def _metadata(writer: ClassText, lifted: Lifted) -> Parts:
    """`metadata_params={nn.PARTITION_NAME: 'layers'}` → the name of the stacked axis."""
    node = lifted.options.get("metadata_params")
    if node is None:
        return ()
    if not isinstance(node, ast.Dict) or len(node.keys) != 1:
        raise Unmigratable("NNX168", "metadata_params of a lifted transform is not a literal", lifted.node)
    value = lifted.abs["metadata_params"].value
    name = next(iter(value.items.values())) if isinstance(value, Table) and value.items else None
    if isinstance(name, Const):
        said: Parts = (stacked_axis(writer.run.project, name.value),)
    else:
        # The key is nn.PARTITION_NAME, which evaluates to a constant that no table holds; take the value's text.
        if not isinstance(node.values[0], ast.Constant):
            raise Unmigratable("NNX168", "the partition name of a lifted transform is not a literal", lifted.node)
        said = (stacked_axis(writer.run.project, node.values[0].value),)
    return (", transform_metadata={", writer.namer.name("flax.nnx.PARTITION_NAME"), ": ", *said, "}")


def _snake(name: str) -> str:
    out = ""
    for position, char in enumerate(name):
        if char.isupper() and position and (not name[position - 1].isupper()):
            out += "_"
        out += char.lower()
    return out.replace("__", "_")


# calls -----------------------------------------------------------------------------------------------------------
def remat_call(writer: ClassText, site: Site, method: str) -> Parts:
    """`nnx.remat(Block.__call__, ...)`: to be called with the module first."""
    remats = [l for l in site.lifted if l.kind == "remat"]
    if not remats:
        return ()
    options: list[Part] = []
    for name in ("prevent_cse", "static_argnums", "policy"):
        node = remats[0].options.get(name)
        if node is not None:
            options += [f", {name}=", site.source.span(node)]
    return (f"{writer.namer.name('flax.nnx.remat')}(", *base_text(writer, site), f".{method}", *options, ")")


def call_edit(writer: ClassText, site: Site, node: ast.Call, method: str, env: Any) -> tuple[list[Parts], Parts]:
    """The call of a lifted module: lines to put before its statement, and the expression."""
    source = site.source
    place = writer.names.places[site]
    module = writer.reference(site)
    outer = next((l for l in site.lifted if l.kind in ("scan", "vmap")), None)
    remat = remat_call(writer, site, method)
    arguments: list[tuple[str | None, ast.expr]] = [(None, a) for a in node.args]
    arguments += [(k.arg, k.value) for k in node.keywords]
    if outer is None:
        rest: list[Part] = []
        for name, value in arguments:
            rest += [", ", f"{name}=" if name else "", source.span(value)]
        if remat:
            return [], (*remat, "(", *module, *rest, ")")
        return [], (*module, "(" if method == "__call__" else f".{method}(", *rest[1:], ")")
    stacked, _ = mapped(outer)
    extra = [name for name, _ in arguments if name is not None]
    if outer.kind == "vmap" and extra:
        raise Unmigratable("NNX141", "a vmapped module is called with keywords", node)
    axes = _in_axes(writer, outer, len(node.args) - (outer.kind == "scan"))
    function = f"apply_{_snake(place.attribute)}"
    label = _argument_names(writer, site, method, len(node.args))
    parameters: list[str] = ["module"]
    in_axes: list[str] = ["0" if stacked else "None"]
    passed: list[Parts] = [module]
    inner: list[Part] = []
    carry = writer.namer.name("flax.nnx.Carry")
    for position, value in enumerate(node.args):
        if outer.kind == "scan" and position == 0:
            axis: str | None = carry
        else:
            axis = axes[position - (outer.kind == "scan")]
        separator = ", " if position else ""
        if axis is None:  # broadcast: closed over, as Linen does, so that Python values stay Python values
            inner += [separator, source.span(value)]
            continue
        parameters.append(label[position])
        in_axes.append(axis)
        passed.append((source.span(value),))
        inner += [separator, label[position]]
    for name, value in arguments[len(node.args) :]:
        inner += [", " if inner else "", f"{name}=", source.span(value)]
    invoked: Parts = (*remat, "(module", ", " if inner else "", *inner, ")") if remat else (
        "module" if method == "__call__" else f"module.{method}", "(", *inner, ")"
    )  # fmt: skip
    metadata = _metadata(writer, outer)
    transform = writer.namer.name(f"flax.nnx.{outer.kind}")
    header: list[Part] = [f"@{transform}(in_axes=({', '.join(in_axes)}{',' if len(in_axes) == 1 else ''})"]
    if outer.kind == "scan":
        header.append(f", out_axes=({carry}, {_out_axes(outer)})")
        for name in ("length", "reverse", "unroll"):
            if name in outer.options:
                header += [f", {name}=", source.span(outer.options[name])]
    else:
        header.append(f", out_axes={_out_axes(outer)}")
        for name in ("axis_size", "axis_name"):
            if name in outer.options:
                header += [f", {name}=", source.span(outer.options[name])]
    header += [*metadata, ")"]
    lines: list[Parts] = [
        tuple(header),
        (f"def {function}({', '.join(parameters)}):",),
        (source.indent_unit, "return ", *invoked),
    ]
    call: list[Part] = [f"{function}("]
    for position, parts in enumerate(passed):
        call += [", " if position else "", *parts]
    return lines, (*call, ")")


def _argument_names(writer: ClassText, site: Site, method: str, count: int) -> list[str]:
    called = writer.analyser.classes.get(site.target)
    names: list[str] = []
    if called is not None:
        found = called.method(method)
        names = [p.arg for p in found.positional] if found is not None else []
    names = names[:count] + [f"x{i}" for i in range(len(names), count)]
    return [n if n != "module" else "module_" for n in names]


def _in_axes(writer: ClassText, lifted: Lifted, count: int) -> list[str | None]:
    found = lifted.abs.get("in_axes")
    if found is None:
        return ["0"] * count

    def one(value: Value) -> str | None:
        if isinstance(value, Int) and value.dim.value is not None:
            return str(value.dim.value)
        if isinstance(value, Const) and value.value is None:
            return None
        if isinstance(value, Global) and value.name == "flax.linen.broadcast":
            return None
        raise Unmigratable("NNX141", "in_axes of a lifted transform is not a constant", lifted.node)

    if isinstance(found.value, Tup):
        axes = [one(i) for i in found.value.items]
        if len(axes) < count:
            raise Unmigratable("NNX141", "in_axes of a lifted transform is shorter than the arguments", lifted.node)
        return axes[:count]
    return [one(found.value)] * count


def _out_axes(lifted: Lifted) -> str:
    node = lifted.options.get("out_axes")
    if node is None:
        return "0"
    try:
        return repr(ast.literal_eval(node))
    except ValueError as error:
        raise Unmigratable("NNX141", "out_axes of a lifted transform is not a constant", lifted.node) from error
