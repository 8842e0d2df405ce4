"""Arguments of modules that the call computes from shapes, and that decide the sizes of their variables, or never change.

    self.Grid_0 = linen_parity.LaterGiven(lambda rngs, x, *, height, width: Grid(height, width, rngs=rngs))
    ...
    x = linen_parity.given(self.Grid_0, height=height, width=width)(x)

Another value at another call raises, as it does in Linen, whose variables do not fit it then.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import TYPE_CHECKING

from ...edits import Parts
from ...linen.execution.needed_sizes import is_seen
from ...linen.modules import made_later
from ...linen.modules.by_passes import IN_TURN
from ...linen.modules.made_later import TYPED
from ...linen.project.classes import Method
from ...linen.values import given_shapes, shown_by_shapes
from ...linen.values.sites import Site
from ...linen.values.values import Array
from ...trees import subtree
from ..text.text_parts import joined
from . import constructor_names, lent_fields

if TYPE_CHECKING:
    from .class_text import ClassText

OF_INPUT = "of its input"  # of a site: initializer → what the call says
GIVEN = "given later"  # of a site: argument → (the name of the parameter, what the call says)
# Arguments of layers that decide the shapes of their parameters.
_OF_WIDTHS = frozenset({("flax.linen.GroupNorm", "num_groups"), ("flax.linen.GroupNorm", "group_size")})
_PLAIN_FUNCTIONS = frozenset({"min", "max", "int"})
_WIDTH = re.compile(r"\w+\.shape\[-1\]")
_SIZES = frozenset({"features", "num_embeddings", "kernel_size", "num_heads", "qkv_features", "out_features"})


def find(text: ClassText, site: Site) -> bool:
    """Note the arguments that the call gives a module when it is first called; False where one cannot be given so."""
    lent = lent_fields.names(site)
    late = {n: b for n, b in site.bound.items() if b.localized is None and b.text is None and b.node is not None}
    late = {n: b for n, b in late.items() if n not in lent}
    if not late or site.in_setup or site.alternatives or site.choice or site.kind not in ("layer", "class"):
        return False
    given: dict[str, tuple[str, ast.expr]] = {}
    asked = {name: bound.node for name, bound in late.items() if bound.node is not None}
    site.renders[OF_INPUT] = {name: node for name, node in asked.items() if _is_of_input(text, site, node)}
    for name, bound in late.items():
        node, value = bound.node, bound.abs.value
        assert node is not None
        if name in site.renders[OF_INPUT]:
            continue
        method = made_later.method_of(text.run, site.source, node)
        stands_here = bound.given and site.node in site.source.ancestors(node)
        if method is None or not stands_here or isinstance(value, Array) or text.run.holds_module(value):
            return False
        sizes = name in _SIZES if site.kind == "layer" else is_seen(text.analyser, site.target, name)
        if not (sizes or _is_kept(text, site, method, node) or _is_of_width(text, site, name, node)):
            return False
        if _in_function(site, node, method.node):
            return False
        if not shown_by_shapes.shown(text.run, method, node):
            if not shown_by_shapes.shown(text.run, method, node, typed=True):
                return False
            site.renders[TYPED] = True
        given[name] = (_free(text, site, name, [p for p, _ in given.values()]), node)
    site.renders[GIVEN] = given
    return True


def _is_of_input(text: ClassText, site: Site, node: ast.expr) -> bool:
    """Is it an initializer that a function makes from the sizes of what the layer is called with?

    nn.Dense(4, kernel_init=uniform_of(x))(x)
    """
    call = site.source.parents.get(site.node)
    if site.kind != "layer" or not isinstance(node, ast.Call) or site.source is not text.source:  # it is said as it stands
        return False
    if not isinstance(call, ast.Call) or call.func is not site.node:
        return False
    read, first = given_shapes.arrays(text.run, node), call.args[0] if call.args else None
    others = [n for n in subtree(node) if isinstance(n, ast.Name) and n not in read]
    if not read or any(not axes for axes in read.values()) or not isinstance(first, ast.Name):
        return False
    inputs = all(isinstance(n, ast.Name) and n.id == first.id for n in read)
    return inputs and others == [n for n in subtree(node.func) if isinstance(n, ast.Name)]


def _is_kept(text: ClassText, site: Site, method: Method, node: ast.expr) -> bool:
    """Is an argument of a class of the project one that no call of a model changes, as it follows from widths and fields?

    Or it is a text that the class itself is given: `Einsum(eqn=eqn)(x)`.
    """
    if site.kind != "class":
        return False
    widths = {n for n in subtree(node) if isinstance(n, ast.Subscript) and _WIDTH.fullmatch(ast.unparse(n))}
    inside = {part for width in widths for part in subtree(width)}
    names = [n for n in subtree(node) if isinstance(n, ast.Name) and n not in inside]
    return all(n.id in _PLAIN_FUNCTIONS or _is_field(text, site, n) or _is_text(method, n) for n in names)


def _is_text(method: Method, node: ast.Name) -> bool:
    """Is it an argument of the method that is said to be a text?"""
    found = next((p for p in method.parameters if p.arg == node.id), None)
    bound = any(isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store) for n in method.nodes)
    return found is not None and not bound and found.annotation is not None and ast.unparse(found.annotation) == "str"


def _is_of_width(text: ClassText, site: Site, name: str, node: ast.expr) -> bool:
    """Does an argument of a norm follow from the width of what it is called with, which its scale has to fit?

    nn.GroupNorm(num_groups=min(h.shape[-1] // 4, 32))(h)
    """
    call = site.source.parents.get(site.node)
    if site.kind != "layer" or (site.target, name) not in _OF_WIDTHS:
        return False
    if not isinstance(call, ast.Call) or call.func is not site.node:
        return False
    given = call.args[0] if call.args else None
    if not isinstance(given, ast.Name) or {"use_scale", "use_bias"} & site.bound.keys():
        return False
    widths = {n for n in subtree(node) if isinstance(n, ast.Subscript) and ast.unparse(n) == f"{given.id}.shape[-1]"}
    inside = {part for width in widths for part in subtree(width)}
    others = [n for n in subtree(node) if isinstance(n, ast.Name) and n not in inside]
    return bool(widths) and all(n.id in _PLAIN_FUNCTIONS or _is_field(text, site, n) for n in others)


def _is_field(text: ClassText, site: Site, node: ast.Name) -> bool:
    above = site.source.parents.get(node)
    return node.id == "self" and isinstance(above, ast.Attribute) and above.attr in text.run.fields


def _in_function(site: Site, node: ast.expr, method: ast.AST) -> bool:
    """Is it in a function or a comprehension within the method, of which not each pass makes a module of its own?"""
    for above in site.source.ancestors(node):
        if above is method:
            return False
        if isinstance(above, ast.FunctionDef | ast.Lambda):
            return True
        if (isinstance(above, ast.comprehension) or hasattr(above, "generators")) and IN_TURN not in site.renders:
            return True
    return True


def _free(text: ClassText, site: Site, name: str, others: list[str]) -> str:
    """A name for what is given that is none of the constructor's, nor of what the module is called with."""
    call = site.call
    taken = {"rngs", "self", "held", *others, *text.run.fields, *constructor_names.bound_names(text.run)}
    taken |= set(call.keywords) if call is not None else set()
    model = text.analyser.classes.get(site.target) if site.kind == "class" else None
    method = model.method("__call__") if model is not None else None
    taken |= {p.arg for p in method.parameters} if method is not None else {"inputs", "x"}
    while name in taken:
        name += "_"
    return name


def in_terms(site: Site, inputs: str) -> Site:
    """The site, with these arguments as parameters of the function that makes it; `inputs`: what that is given."""
    said = {name: parameter for name, (parameter, _) in site.renders.get(GIVEN, {}).items()}
    for name, node in site.renders.get(OF_INPUT, {}).items():
        given = [*node.args, *[k.value for k in node.keywords]]
        start, text = site.source.span(node).start, site.source.text_of(node)
        for span in sorted((site.source.span(n) for n in given if isinstance(n, ast.Name)), reverse=True):
            text = text[: span.start - start] + inputs + text[span.end - start :]
        said[name] = text
    bound = {n: dataclasses.replace(b, text=said[n]) if n in said else b for n, b in site.bound.items()}
    return dataclasses.replace(site, bound=bound) if said else site


def parameters(site: Site) -> list[str]:
    return [parameter for parameter, _ in site.renders.get(GIVEN, {}).values()]


def said(text: ClassText, site: Site, held: Parts) -> Parts:
    """How the call says such a module: with what it gives it."""
    given = site.renders.get(GIVEN, {})
    if not given or site not in text.later:
        return held
    values: list[Parts] = [(f"{parameter}=", site.source.span(node)) for parameter, node in given.values()]
    return joined((text.namer.parity("given"),), [held, *values])


__all__ = ["GIVEN", "find", "in_terms", "parameters", "said"]
