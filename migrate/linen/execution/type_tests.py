"""`isinstance` and `hasattr` on values of which the kind is certain."""

from __future__ import annotations

import ast
import functools
from typing import Any

from ...catalog.functions import class_name, classes_named
from ...catalog.shape_table import ARRAY_ATTRIBUTES, ARRAY_METHODS
from ...source import SourceFile
from ...trees import subtree
from ..project.index import Project
from ..values.merging import Either
from ..values.presence import Known, Step
from ..values.sites import Module, Site, Unmigratable
from ..values.values import Array, Const, Int, ShapeOf, Tup, Value

_COLLECTION = frozenset({"object", "Iterable", "Sequence", "Collection", "Container", "Sized", "Reversible"})
_NUMBER = frozenset({"object", "Number", "Complex", "Real", "Hashable"})
_INTEGER = _NUMBER | {"int", "Integral", "Rational"}
_KNOWN = _COLLECTION | _INTEGER | {"float", "str", "bytes", "bool", "tuple", "list", "dict", "set", "MutableSequence",
                                  "Mapping", "Callable"}  # fmt: skip
_NO_ARRAYS = frozenset(
    {"dict", "list", "tuple", "str", "bytes", "int", "float", "bool", "set", "Mapping", "MutableMapping", "Sequence",
     "MutableSequence", "FrozenDict"}
)  # fmt: skip
_BASES = {
    "MultiHeadAttention": ("MultiHeadDotProductAttention",),
    "SelfAttention": ("MultiHeadDotProductAttention",),
    **dict.fromkeys(("ConvLSTMCell", "GRUCell", "LSTMCell", "MGUCell", "OptimizedLSTMCell", "SimpleCell"), ("RNNCellBase",)),
}
_ATTRIBUTES = frozenset(f"{ARRAY_METHODS} {ARRAY_ATTRIBUTES}".split())
_MODULES = ("", "typing", "collections.abc", "collections", "numbers", "builtins")


def instance_test(run: Any, value: Value, types: ast.expr, env: Any) -> bool | None:
    """Whether `isinstance(value, types)` holds; None where that is not certain."""
    if type(value) is Array:
        answers = [False if _no_array(run, node, env) else None for node in _listed(types, env)]
    elif type(value) is Module:
        refuse_shared(run, types, env, known=True)
        answers = [_checked_kind(run, value.site, node, env) for node in _listed(types, env)]
    else:
        refuse_shared(run, types, env)
        kinds = _kinds(run, value)
        if kinds is None:
            return None
        answers = [_one(run, kinds, node, env) for node in _listed(types, env)]
    if True in answers:
        return True
    return None if None in answers else False


def side_test(run: Any, value: Value, types: ast.expr, env: Any) -> Known | None:
    """`isinstance(self.first, nn.Dense)` of either of two modules: the condition that says which it is."""
    if not isinstance(value, Either) or value.test is None or value.sides is None or value.test[1]:
        return None
    sides = [side.site for side in value.sides if type(side) is Module]
    answers = [{_is_kind(run, site, node, env) for node in _listed(types, env)} for site in sides]
    if len(answers) < 2 or any(None in found for found in answers) or (True in answers[0]) == (True in answers[1]):
        return None
    return Known("", Step(*value.test, True), True in answers[0])


def attribute_test(value: Value, name: ast.expr) -> bool | None:
    """Whether an array has the attribute, which tells it from a dict of arrays; None for anything else."""
    if type(value) is not Array or not isinstance(name, ast.Constant):
        return None
    return name.value in _ATTRIBUTES


def check_asked(run: Any, value: Value, node: ast.Call) -> None:
    """`getattr(module, "name")`, `hasattr(module, "name")`: refused where Linen and NNX give different answers.

    Layers have other attributes in NNX, and modules have their parameters and submodules as attributes. Fields and
    methods of the project's own classes are there on both sides.
    """
    if not isinstance(value, Module):
        return
    site, asked = value.site, node.args[1]
    model = run.analyser.classes.get(site.target) if site.kind == "class" else None
    name = asked.value if isinstance(asked, ast.Constant) and isinstance(asked.value, str) else None
    if model is not None and name is not None:
        own = {f.name for f in model.fields()} | set(model.methods()) | {a for m in model.mro() for a in m.class_attributes}
        if name in own or name.startswith("__"):
            return
    what = f"`{ast.unparse(node)}` asks a module for what it has under other names in NNX"
    raise Unmigratable("NNX133", what, node)


def check_kind_named(value: Value, node: ast.Call, env: Any) -> None:
    """`type(dense).__name__`, `type(norm) is nn.LayerNorm`: the layers of NNX have other names, and some other classes."""
    around = env.source.parents.get(node)
    if isinstance(value, Module) and value.site.kind == "layer":
        if isinstance(around, ast.Attribute):
            raise Unmigratable("NNX133", f"`{ast.unparse(around)}` is another name in NNX", node)
        if isinstance(around, ast.Compare | ast.Subscript):
            raise Unmigratable("NNX133", f"`{ast.unparse(around)}` asks for a class that may be another in NNX", node)


@functools.lru_cache(maxsize=2)
def asked_classes(project: Project) -> dict[str, list[tuple[SourceFile, ast.expr]]]:
    """The classes that any code asks values for, by isinstance, issubclass or match, with the places."""
    found: dict[str, list[tuple[SourceFile, ast.expr]]] = {}
    for source in project.files.values():
        if not source.words & {"isinstance", "issubclass", "match"}:
            continue
        for node in (*source.by_kind.get(ast.Call, ()), *source.by_kind.get(ast.MatchClass, ())):
            asked = node.cls if isinstance(node, ast.MatchClass) else None
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
                asked = node.args[1] if node.func.id in ("isinstance", "issubclass") else None
            for kind in subtree(asked) if asked is not None else ():
                if asked is not None and isinstance(kind, ast.Name | ast.Attribute):
                    found.setdefault(project.qualname(source, kind) or "", []).append((source, asked))
    return found


def _listed(types: ast.expr, env: Any) -> list[ast.expr]:
    if isinstance(types, ast.Tuple):
        return [inner for element in types.elts for inner in _listed(element, env)]
    if isinstance(types, ast.BinOp) and isinstance(types.op, ast.BitOr):
        return [*_listed(types.left, env), *_listed(types.right, env)]
    held = env.source.names.single_assignments.get(types.id) if isinstance(types, ast.Name) else None
    if isinstance(held, ast.Tuple) and env.get(types.id) is None:  # type: ignore[attr-defined]
        return _listed(held, env)
    return [types]


def _no_array(run: Any, node: ast.expr, env: Any) -> bool:
    """Does a type certainly have no arrays among its instances: containers, text, numbers, the project's own classes?"""
    if isinstance(node, ast.Name) and env.get(node.id) is not None:
        return False
    name = run.project.qualname(env.source, node) or (node.id if isinstance(node, ast.Name) else "?")
    module, _, short = name.rpartition(".")
    defined = run.project.definition(name)
    if defined is not None and isinstance(defined[1], ast.ClassDef):
        return not defined[1].bases or name in run.project.linen_classes
    return short in _NO_ARRAYS and (module in _MODULES or name.startswith("flax.core."))


def _is_kind(run: Any, site: Site, node: ast.expr, env: Any, *, new: bool = False) -> bool | None:
    """Is a module of the class that a name means? `new`: after migration. Certain where its class is."""
    given = site.factory is not None and (site.factory.field or site.factory.variant)
    if site.alternatives or site.held or given or (isinstance(node, ast.Name) and env.get(node.id) is not None):
        return None
    classes = run.analyser.classes
    asked = _asked(run, node, env)
    model, own = classes.get(site.target), classes.get(asked)
    if own is None and class_name(asked) is None:
        return None
    kinds = {site.target}
    if model is not None:
        kinds = {base for m in model.mro() for base in (m.qualname, *m.foreign_bases)}
    kinds |= {base for kind in kinds for base in _bases(kind)}
    if not all(classes.get(kind) is not None or class_name(kind) for kind in kinds):
        return None
    if own is not None or not new:
        return asked in kinds
    return class_name(asked) in {class_name(kind) for kind in kinds}


def _asked(run: Any, node: ast.expr, env: Any) -> str:
    """The class that a name means; refused where it is a name of the project's own for one of Linen's, which it stays."""
    names, asked = env.source.names, run.project.qualname(env.source, node) or ""
    own = names.qualname(node) != asked or (isinstance(node, ast.Name) and node.id in names.single_assignments)
    if own and asked.startswith("flax.linen."):
        raise Unmigratable("NNX133", f"`{ast.unparse(node)}` is asked for, another name of Linen's `{asked}`", node)
    return asked


def _bases(layer: str) -> tuple[str, ...]:
    """The classes of Linen's own that one of its layers derives from."""
    _, linen, name = layer.rpartition("flax.linen.")
    return tuple(f"flax.linen.{base}" for base in (*_BASES.get(name, ()), "Module")) if linen else ()


def _checked_kind(run: Any, site: Site, node: ast.expr, env: Any) -> bool | None:
    """Refused where NNX has one class for several of Linen, and so another answer."""
    answer = _is_kind(run, site, node, env)
    if answer is not None and answer is not _is_kind(run, site, node, env, new=True):
        what = f"`{ast.unparse(node)}` is a class that NNX has not apart from `{site.target.rpartition('.')[2]}`"
        raise Unmigratable("NNX133", what, node)
    return answer


def refuse_shared(run: Any, types: ast.expr, env: Any, *, known: bool = False) -> None:
    """Refuse classes whose name in NNX is that of others, too, where it is not known which of them a value is of."""
    for node in _listed(types, env):
        asked = _asked(run, node, env)
        name = class_name(asked)
        listed = not env.source.is_class_asked(node)  # a tuple with a name, whose attention layers are no classes
        alike = [n for n in classes_named(name) if n != asked] if name and (listed or not known) else []
        others = [n for n in alike if listed or asked not in _bases(n)]
        if others:
            what = f"`{ast.unparse(node)}` is a class that NNX has not apart from `{others[0].rpartition('.')[2]}`"
            raise Unmigratable("NNX133", what, node)


def _one(run: Any, kinds: frozenset[str], node: ast.expr, env: Any) -> bool | None:
    if isinstance(node, ast.Name) and env.get(node.id) is not None:
        return None
    name = run.project.qualname(env.source, node) or (node.id if isinstance(node, ast.Name) else "?")
    module, _, short = name.rpartition(".")
    if module not in _MODULES or short not in _KNOWN:
        return None
    return short in kinds


def _kinds(run: Any, value: Value) -> frozenset[str] | None:
    """The names of the types that a value is an instance of."""
    if isinstance(value, Tup | ShapeOf):
        own = {"tuple", "Hashable"} if value.kind == "tuple" else {"list", "MutableSequence"}
        return _COLLECTION | own
    if isinstance(value, Int):
        atom = value.dim.single_atom()
        # A field that is annotated as an int and asked whether it is one may well be given something else.
        if atom is not None and atom.kind == "field" and atom.args[0] not in run.given:
            return None
        if any(a.kind in ("opaque", "local") for a in value.dim.atoms()) and atom is not None:
            return None
        return _INTEGER
    if isinstance(value, Const):
        if value.value is None:
            return frozenset({"object", "Hashable"})
        if isinstance(value.value, bool):
            return _INTEGER | {"bool"}
        if isinstance(value.value, float):
            return _NUMBER | {"float"}
        if isinstance(value.value, str):
            return _COLLECTION | {"str", "Hashable"}
    return None


__all__ = [
    "asked_classes",
    "attribute_test",
    "check_asked",
    "check_kind_named",
    "instance_test",
    "refuse_shared",
    "side_test",
]
