"""Classes that are a Linen layer with something changed: `class StdConv(nn.Conv)` with a `param` of its own.

Such a class is constructed and called as its layer is, so it is treated as that layer under another name.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from typing import Any

from ...catalog import layers
from ...source import SourceFile
from ...trees import subtree
from ..project.classes import Classes, ClassModel, Field
from ..values.values import Unknown
from . import local_classes

# Layers whose NNX counterparts are called with the same arguments and keep nothing but parameters.
_PLAIN = frozenset(
    f"flax.linen.{name}"
    for name in ("Dense", "DenseGeneral", "Conv", "ConvTranspose", "Embed", "LayerNorm", "RMSNorm", "GroupNorm")
)
# Of these the ones whose sizes are told by the last dimension of what they are called with.
_ONE_WIDTH = _PLAIN - {"flax.linen.DenseGeneral"}
# Those whose counterparts have other first arguments: `nnx.GroupNorm(8)` has eight features, and not groups.
_OTHER_ARGUMENTS = _PLAIN - {"flax.linen.Embed"}
_COMPACT = {"flax.linen.compact"}
_JOINING = frozenset({"concatenate", "concat", "hstack", "append"})


@dataclasses.dataclass(frozen=True)
class LayerClass:
    """A class as a layer: `defaults` are the layer's parameters whose defaults it changes."""

    model: ClassModel
    layer: str
    defaults: tuple[Field, ...]


def layer_class(classes: Classes, qualname: str) -> LayerClass | None:
    """The layer that a class is a variant of; None for classes that need more than another name for it."""
    model = classes.get(qualname)
    if model is None or model.bases or len(model.foreign_bases) != 1 or model.node.decorator_list or model.node.keywords:
        return None
    name = model.foreign_bases[0]
    layer = layers.lookup(name) if name in _PLAIN else None
    if layer is None or not set(model.own_methods) <= {"param", "__call__"} or len(model.own_methods) > 1:
        return None
    if model.class_attributes:
        return None
    parameters = {p.name for p in layer.parameters}
    if any(f.name not in parameters or f.default is None or f.kw_only for f in model.own_fields):
        return None
    method = model.own_methods.get("param")
    if method is not None and not _reads_only(method.node):
        return None
    call = model.own_methods.get("__call__")
    if call is not None and not (name in _ONE_WIDTH and set(call.decorators) <= _COMPACT and _calls_only(call.node)):
        return None
    if call is not None and _joins(call.node):
        return None
    if not _has_defaults(layer, model.own_fields) or local_classes.unfit(classes.project, model):
        return None
    if name in _OTHER_ARGUMENTS and is_made_outside(classes.project, model.qualname):
        return None
    return LayerClass(model, name, model.own_fields)


_made_outside: weakref.WeakKeyDictionary[Any, dict[str, bool]] = weakref.WeakKeyDictionary()


def is_made_outside(project: Any, qualname: str) -> bool:
    """Does code outside of modules make one for itself, with Linen's arguments? What it hands to modules or returns, they
    make."""
    known = _made_outside.setdefault(project, {})
    if qualname not in known:
        sources = [source for source in project.files.values() if qualname.rpartition(".")[2] in source.words]
        calls = ((s, n) for s in sources for n in s.by_kind.get(ast.Call, ()) if n not in project.inside_modules)
        known[qualname] = any(
            project.qualname(source, call.func) == qualname and not _is_handed(project, source, call)
            for source, call in calls
        )
    return known[qualname]


def _is_handed(project: Any, source: SourceFile, call: ast.Call) -> bool:
    around = source.parents.get(call)
    if isinstance(around, ast.keyword):
        around = source.parents.get(around)
    if isinstance(around, ast.Call):
        return call is not around.func and project.qualname(source, around.func) in project.linen_classes
    return isinstance(around, ast.Return | ast.Lambda)


def _has_defaults(layer: Any, fields: tuple[Field, ...]) -> bool:
    """Has the layer's counterpart in NNX the parameters of which a class changes the defaults, under the same names?"""
    try:
        built = layer.partial({f.name: layers.Arg((f.name,), Unknown()) for f in fields})
    except layers.Unsupported:
        return False
    return list(built.keywords) == [(f.name, (f.name,)) for f in fields]


def super_param(node: ast.AST) -> bool:
    """Is it `super().param(...)`?"""
    return _super_method(node, "param")


def _super_method(node: ast.AST, method: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id == "super"
    )


def _reads_only(node: ast.FunctionDef) -> bool:
    """Does `param` ask the layer for the value of the parameter and change it, looking at nothing else but its name?"""
    arguments = node.args
    if node.decorator_list or arguments.posonlyargs or arguments.kwonlyargs or len(arguments.args) < 2:
        return False
    calls = [n for n in subtree(node) if isinstance(n, ast.Call) and super_param(n)]
    inside = {id(n) for call in calls for n in subtree(call)}
    others = {a.arg for a in arguments.args[2:]} | {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    loose = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id in others and id(n) not in inside]
    name = arguments.args[1].arg
    plain = all(c.args and isinstance(c.args[0], ast.Name) and c.args[0].id == name for c in calls)
    bare = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id in ("super", "self") and id(n) not in inside]
    return len(calls) == 1 and plain and not loose and all(n.id == "self" for n in bare)


def _joins(node: ast.FunctionDef) -> bool:
    """Does `__call__` join arrays, as one does to give the layer more features? It is a module that has the layer then."""
    called = (getattr(n.func, "attr", getattr(n.func, "id", "")) for n in subtree(node) if isinstance(n, ast.Call))
    return not _JOINING.isdisjoint(called)


def _calls_only(node: ast.FunctionDef) -> bool:
    """Does `__call__` use the module for nothing but `super().__call__(x)`, with one array?"""
    calls = [n for n in subtree(node) if isinstance(n, ast.Call) and _super_method(n, "__call__")]
    supers = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id == "super"]
    plain = all(len(c.args) == 1 and not c.keywords and not isinstance(c.args[0], ast.Starred) for c in calls)
    bare = all(isinstance(c.func, ast.Attribute) and not c.func.value.args for c in calls)  # type: ignore[attr-defined]
    loose = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id in ("self", "__class__")]
    arguments = node.args
    fixed = len(arguments.args) > 1 and arguments.args[0].arg == "self" and not (arguments.vararg or arguments.kwarg)
    nested = any(isinstance(n, ast.FunctionDef | ast.Lambda) for n in subtree(node) if n is not node)
    return bool(calls) and len(calls) == len(supers) and plain and bare and fixed and not loose and not nested
