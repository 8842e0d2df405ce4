"""What a factory in a field makes that nothing gives and nothing stands in for: what its name and its call say.

    class Block(nn.Module):
        features: int
        conv: Callable
        norm: Callable | None = None

        @nn.compact
        def __call__(self, x):
            x = self.conv(self.features, (3, 3))(x)
            return x if self.norm is None else self.norm()(x)

The constructor calls it as layers of that kind are called in NNX, `norm(features, rngs=rngs)`, which the report says.
Anything else that the class is given fails when it is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from ...catalog import layers
from ...trees import said, subtree
from ..project.classes import ClassModel
from ..values.sites import Abs, BoundArg, Factory, Unmigratable
from . import unknown_callees

CODE = "NNX188"
_NORM = re.compile(r"norm|(^|_)[bgl]n\d*$", re.IGNORECASE)
_CONV = re.compile(r"conv", re.IGNORECASE)
_DENSE = re.compile(r"dense|linear|(^|_)fc\d*$", re.IGNORECASE)
_OTHER_CONV = re.compile(r"transpose|deconv|upconv|local", re.IGNORECASE)
_CALLABLE = re.compile(r"\b(Callable|Any|ModuleDef|Module|Type|type)\b")


def learn(analyser: Any) -> bool:
    """Take such fields for what their names say; True where that is news."""
    before = analyser.kinds.version
    for model, field in analyser.kinds.unknown(analyser.done):
        qualname = model.qualname
        if qualname in analyser.kinds.never_named:
            continue
        kind = _kind(model, field) if _is_free(analyser, model, field) else None
        if kind is not None:
            analyser.kinds.named[qualname, field] = kind
            analyser.learns(qualname, {field: BoundArg(None, Abs(Factory(kind, field)), None)})
    return bool(analyser.kinds.version != before)


def taken(analyser: Any, qualname: str) -> list[tuple[str, str]]:
    """The fields of a class that are taken for what their names say, each with the layer."""
    named = analyser.kinds.named.items()
    return [(field, kind.rpartition(".")[2]) for (name, field), kind in named if name == qualname]


def _kind(model: ClassModel, field: str) -> str | None:
    """The layer that the class makes of what the field holds, by how it calls that."""
    calls = [n for n in model.nodes if isinstance(n, ast.Call) and _is_field(n.func, field)]
    if not calls or any(isinstance(a, ast.Starred) for c in calls for a in c.args):
        return None
    given = {k.arg for call in calls for k in call.keywords}
    places = {len(call.args) for call in calls}
    if _NORM.search(field) and places == {0}:
        name = "BatchNorm" if "use_running_average" in given | _given_to_made(model, calls) else "LayerNorm"
    elif _CONV.search(field) and not _OTHER_CONV.search(field) and all(_is_conv(call) for call in calls):
        name = "Conv"
    elif _DENSE.search(field) and places == {1}:
        name = "Dense"
    else:
        return None
    layer = layers.lookup(f"flax.linen.{name}")
    assert layer is not None
    known = {p.name for p in layer.parameters} | {"name"}
    return layer.linen if given <= known else None


def _given_to_made(model: ClassModel, calls: list[ast.Call]) -> set[str | None]:
    """The keywords that what these calls make is called with: where it is made, or by the name that it is given."""
    held: set[str] = set()
    for node in model.nodes:
        if isinstance(node, ast.Assign) and any(inner in calls for inner in subtree(node.value)):
            held |= {ast.unparse(target) for target in node.targets}
    found = [n for n in model.nodes if isinstance(n, ast.Call) and (n.func in calls or ast.unparse(n.func) in held)]
    return {k.arg for call in found for k in call.keywords}


def _is_conv(call: ast.Call) -> bool:
    """Is it given a number of features and the size of a kernel?"""
    kernel = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "kernel_size"), None)
    features = bool(call.args) or any(k.arg == "features" for k in call.keywords)
    return features and kernel is not None and len(call.args) < 4


def _is_field(node: ast.expr, field: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == field and getattr(node.value, "id", "") == "self"


def _is_free(analyser: Any, model: ClassModel, name: str) -> bool:
    """May the field hold any factory, and does no code of the project give it one?"""
    project = analyser.classes.project
    field = next((f for f in model.own_fields if f.name == name), None)
    if field is None or field.factory is not None or len(analyser.classes.lineage(model.qualname)) > 1:
        return False
    if field.annotation is not None and not _CALLABLE.search(said(field.annotation)):
        return False
    none = isinstance(field.default, ast.Constant) and field.default.value is None
    if (field.default is not None and not none) or model.qualname in project.made_by_configurations:
        return False
    if not unknown_callees.is_used(project, model.qualname):
        return not unknown_callees.is_said(project, model.name)
    if not none or unknown_callees.is_said(project, model.name):
        return False
    uses = list(_uses(project, model))
    return all(_leaves_out(call, model, name) or _is_left_out(analyser, use, model, name) for use, call in uses)


def _is_left_out(analyser: Any, use: ast.expr, model: ClassModel, name: str) -> bool:
    """Is the class the default of another class's field, and gives none of what makes it from there the field anything?

    embed_layer: Callable = PatchEmbed
    """
    holders = [m for m in analyser.classes if any(f.default is use for f in m.own_fields)]
    runs = [analyser.done.get(m.qualname) for m in analyser.classes]
    if not holders or any(isinstance(analyser.done.get(h.qualname), Unmigratable | None) for h in holders):
        return False
    made = [s for run in runs for site in getattr(run, "sites", ()) for s in (site, *site.alternatives)]
    made = [site for site in made if site.target == model.qualname]
    return all(name not in site.bound and "**" not in site.renders for site in made)


def _uses(project: Any, model: ClassModel) -> Iterator[tuple[ast.expr, ast.Call | None]]:
    """Where the class is named, with the call that constructs it; None where it may be given anything from there."""
    for source in project.files.values():
        if model.name not in source.words:
            continue
        for kind in (ast.Name, ast.Attribute):
            for node in source.by_kind.get(kind, ()):
                if getattr(node, "id", getattr(node, "attr", "")) != model.name:
                    continue
                if project.qualname(source, node) != model.qualname or model.node in source.ancestors(node):
                    continue
                call = source.parents.get(node)
                yield node, call if isinstance(call, ast.Call) and call.func is node else None


def _leaves_out(call: ast.Call | None, model: ClassModel, name: str) -> bool:
    """Does a construction not give the field, neither by name nor by place?"""
    if call is None or any(k.arg in (None, name) for k in call.keywords):
        return False
    names = [f.name for f in model.fields() if not f.kw_only]
    place = names.index(name) if name in names else len(names)
    return len(call.args) <= place and not any(isinstance(a, ast.Starred) for a in call.args)


__all__ = ["CODE", "learn", "taken"]
