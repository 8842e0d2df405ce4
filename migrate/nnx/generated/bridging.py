"""A class that stays Linen inside of one that becomes native: `linen_parity.Bridged(Odd(3), ...)`.

`nnx.bridge.ToNNX` initializes a Linen module at the first call; `Bridged`, a part of the parity module, does so in the
constructor, on zeros of the very shapes of the first call. Where these cannot be said, or the class could tell that it is a
module of its own, the class that contains it stays Linen too.
"""

from __future__ import annotations

import ast
import itertools
import re
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Part, Parts
from ...linen.execution.type_tests import asked_classes
from ...linen.modules.bridged_results import told
from ...linen.modules.lost_factories import factories_in
from ...linen.project import own_name
from ...linen.project.classes import ClassModel
from ...linen.values.kept_by_modules import READ
from ...linen.values.presence import OptionalArray, whole_argument
from ...linen.values.replacing import sayable
from ...linen.values.sites import BoundArg, ModuleField, Site, Static, Unmigratable
from ...linen.values.values import Array, Const, Int, Tup, Value
from ...trees import subtree
from ..classes import array_arguments
from ..linen_copies import References
from ..refused import default_modules
from ..setup import setup_conditions
from ..text.text_parts import joined
from . import example_flags, late_fields

if TYPE_CHECKING:
    from ...source import SourceFile
    from ..classes.class_text import ClassText

INTEGER = re.compile(r"(^|_)(ids?|tokens?|indices|index|idx|labels?|segments?|positions?|targets?)$")
# What reads the place of a module in its tree, or that somebody else's variables are there.
_PLACE = {"path", "name", "scope", "parent", "variables", "sow", "perturb", "put_variable", "is_mutable_collection", "bind",
          "unbind", "clone", "copy", "share_scope", "get_variable", "has_variable", "has_rng"}  # fmt: skip
_ARRAY = re.compile(r"\b(\w*Array|ndarray|Tensor)\b")
_REPEATING = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)
_LOOKUPS = {"flax.linen.Embed", "jax.numpy.take", "jax.numpy.take_along_axis", "jax.nn.one_hot"}
_NAMES = re.compile(r"logical(?!_(and|or|not|xor)\b)|param_with_axes")  # of axes, which no mesh has
_PARTITIONING = re.compile(r"variable_with_axes|scan_with_axes")
# Questions about a module's own variables: the answer is the same for a module of its own and for a part of another.
_OWN = {("is_mutable_collection", "params"), ("has_variable", "params"), ("has_variable", "batch_stats")}


_known: weakref.WeakKeyDictionary[References, dict[str, Traits]] = weakref.WeakKeyDictionary()


class Traits:
    """What the code of a class that stays Linen, and of all that it reaches, says of it."""

    def __init__(self, references: References, model: ClassModel) -> None:
        self.model = model
        self.collections: set[str] = {"params"}
        self.streams: set[str] = set()
        self.lookups = False
        self.asks_for_own = False
        self.has_names = False
        self.why_not = ""
        self.reached = tuple(_reached(references, model.qualname))
        for key in self.reached:
            found = references.project.definition(key)
            if found is not None:
                source, node = found
                for inner in subtree(node):
                    self._read(references, source, inner, key in references.project.linen_classes)
                if any(_PARTITIONING.search(word) for word in _words(node)):
                    self.why_not = self.why_not or "its variables have logical axes"
                self.has_names |= any(_NAMES.search(word) for word in _words(node))
        asked = asked_classes(references.project)
        if any(base.qualname in asked for base in model.mro()):
            self.why_not = self.why_not or "code asks for its class, which what wraps it is not of"
        unknown = self.collections - {"params", "batch_stats"}
        if unknown:
            self.why_not = self.why_not or f"it has variables in {', '.join(map(repr, sorted(unknown)))}"

    def _read(self, references: References, source: SourceFile, node: ast.AST, in_class: bool) -> None:
        project = references.project
        if isinstance(node, ast.Attribute) and in_class:
            of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            fields = {f.name for f in self.model.fields()} - {own_name.NAME}
            asks = of_self and node.attr in _PLACE and node.attr not in fields
            self.asks_for_own |= asks and node.attr == "has_variable"
            if asks and not _asks_for_own(source, node):
                self.why_not = self.why_not or f"`self.{node.attr}` means something else there"
        if isinstance(node, ast.Name | ast.Attribute):
            name = project.qualname(source, node) or ""
            layer = layers.lookup(name)
            if layer is not None:
                self.collections |= layer.collections - (frozenset() if _may_decode(source, node) else {"cache"})
                self.streams |= layer.streams
            self.lookups |= name in _LOOKUPS
            if name.startswith("flax.linen.") and name.rpartition(".")[2] in _PLACE:
                self.why_not = self.why_not or f"`{name}` is used"
        if isinstance(node, ast.keyword) and node.arg == "rng_collection" and isinstance(node.value, ast.Constant):
            self.streams.add(str(node.value.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and in_class:
            method = node.func.attr
            first = node.args[0] if node.args else None
            if method == "variable":
                self.collections.add(str(first.value) if isinstance(first, ast.Constant) else "?")
            elif method == "make_rng":
                self.streams.add(str(first.value) if isinstance(first, ast.Constant) else "params")
            if method in ("param", "variable") and _reads_dtype(node):
                self.why_not = self.why_not or "the type of a parameter follows the input's"


def traits_of(references: References, model: ClassModel) -> Traits:
    """What the code of a class says, read once."""
    traits = _known.setdefault(references, {}).get(model.qualname)
    if traits is None:
        traits = _known[references][model.qualname] = Traits(references, model)
    return traits


def _words(node: ast.AST) -> Iterator[str]:
    """The names in a definition: what is written in its strings and comments does nothing."""
    for inner in subtree(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.keyword | ast.arg) and inner.arg is not None:
            yield inner.arg


def _asks_for_own(source: SourceFile, node: ast.Attribute) -> bool:
    """`self.is_mutable_collection('params')`, `self.has_variable('batch_stats', 'mean')`"""
    call = source.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or not call.args:
        return False
    return isinstance(call.args[0], ast.Constant) and (node.attr, call.args[0].value) in _OWN


def _may_decode(source: SourceFile, node: ast.expr) -> bool:
    """May a layer with a cache be told to keep one? Attention constructed here without `decode`, or with False, is not."""
    call = source.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return True
    told = [k.value for k in call.keywords if k.arg in ("decode", None)]
    return bool(call.args[2:]) or any(not (isinstance(value, ast.Constant) and value.value is False) for value in told)


def _reads_dtype(node: ast.Call) -> bool:
    """Is there an `x.dtype` in it, of anything but self?"""
    for inner in subtree(node):
        if isinstance(inner, ast.Attribute) and inner.attr == "dtype":
            if not (isinstance(inner.value, ast.Name) and inner.value.id == "self"):
                return True
    return False


def _reached(references: References, start: str) -> Iterator[str]:
    """The definitions that the code of a class uses; of classes, the Linen ones."""
    seen, stack = {start}, [start]
    linen = references.project.linen_classes
    while stack:
        key = stack.pop()
        yield key
        for reference in references.of(key):
            found = references.project.definition(reference.key) if reference.key not in seen else None
            plain = found is not None and isinstance(found[1], ast.ClassDef) and reference.key not in linen
            if found is not None and not plain:
                seen.add(reference.key)
                stack.append(reference.key)


def bridged(text: ClassText, site: Site, references: References, reason: str, *, later: bool = False) -> Parts:
    """The expression that makes the module of `site`; raises Unmigratable where there is none.

    `later`: what it is given first is there then, as `args` and `kwargs`.
    """
    name = site.target.rpartition(".")[2]
    try:
        return _bridged(text, site, references, later)
    except Unbridgeable as error:
        said = f"it contains {name}, which is not native{': ' if reason else ''}{reason}; and cannot be wrapped: {error}"
        found = Unmigratable("NNX150", said, site.node)
        found.lacks = (site, "") if isinstance(error, UnknownInput) else None
        raise found from error


class Unbridgeable(Exception):
    """A Linen module that cannot be wrapped where it stands."""


class UnknownInput(Unbridgeable):
    """It could be, if it were known what it is given first."""


def _bridged(text: ClassText, site: Site, references: References, later: bool) -> Parts:
    model = text.analyser.classes.get(site.target)
    if model is None or site.lifted or (site.factory is not None and site.factory.field):
        raise Unbridgeable("it is lifted, or made by what a field holds")
    traits = traits_of(references, model)
    if traits.why_not:
        raise Unbridgeable(traits.why_not)
    site.traits = traits
    check_methods(site)
    why_not = default_modules.why_not_wrapped(text, site, model, traits.reached)
    if why_not:
        raise Unbridgeable(why_not)
    if READ in site.renders:
        raise Unbridgeable(f"`{site.renders[READ]}` of it is read, which is no field")
    if site.call is None:
        raise Unbridgeable("it is never called where its inputs could be seen")
    inner = next((m for _, m, _ in site.calls if m != "__call__" and model.method(m) is None), None)
    if inner is not None and inner not in {f.name for f in model.fields()}:
        raise Unbridgeable(f"`{inner}` of it is called, which is no method")
    if traits.asks_for_own and (len(site.calls) > 1 or (not site.loops and _is_repeated(site))):
        raise Unbridgeable("it asks whether it has variables, and is called twice: the second time it has them")
    if len({_inputs(model, node) for node, method, _ in site.calls if method == "__call__"}) > 1:
        raise Unbridgeable("it is called with other inputs the second time, for which it may make other variables")
    arguments: list[Parts] = []
    order = [f.name for f in model.fields()]
    positional = len(site.node.args)
    for position, (field, bound) in enumerate((n, b) for n, b in site.bound.items() if b.given):
        if field == "parent" or _of_modules(text, bound):
            raise Unbridgeable(f"it is given a module, `{field}`")
        if mentions_partitioning(bound.node):
            raise Unbridgeable(f"`{field}` has axes")
        parts = late_fields.said(text, site, field, bound)
        in_place = position < positional and position < len(order) and order[position] == field
        arguments.append(parts if in_place else (f"{field}=", *parts))
    arguments += text.handed_on(site)
    module: list[Part] = [*text.callee(site, site.target), "("]
    for position, argument in enumerate(arguments):
        module += [", " if position else "", *argument]
    made: Parts = (*module, ")")
    given: list[Parts] = [("*args",), ("rngs=rngs",), ("**kwargs",)]
    if not later:
        given = [*_examples(text, site, model), ("rngs=rngs",)]
    return joined((text.namer.parity("BridgedByNames" if traits.has_names else "Bridged"),), [made, *given])


def check_methods(site: Site) -> None:
    """Refuse a module of which another method is called before `__call__`, which makes its variables."""
    if site.renders.get("method", "__call__") != "__call__" or not any(m == "__call__" for _, m, _ in site.calls):
        raise Unbridgeable("another method than __call__ is called first")


def _examples(text: ClassText, site: Site, model: ClassModel) -> Iterator[Parts]:
    """The arguments of the first call."""
    assert site.call is not None
    method = model.method("__call__")
    parameters = [p.arg for p in method.positional] if method is not None else []
    for position, value in enumerate(site.call.args):
        if position >= len(parameters):
            raise UnknownInput("it is called with more arguments than it names")
        yield (example(text, site, parameters[position], value),)
    for keyword, value in site.call.keywords.items():
        yield (f"{keyword}=", example(text, site, keyword, value))


def _is_repeated(site: Site) -> bool:
    """Does a loop call the module?"""
    node, _, env = site.calls[0]
    method = env.method.node if env.method is not None else None
    around = itertools.takewhile(lambda p: p is not method, env.source.ancestors(node))
    return any(isinstance(p, _REPEATING) for p in around)


def _inputs(model: ClassModel, call: ast.Call) -> frozenset[tuple[str, str]]:
    """Which inputs a call gives a module, and flags among them: what says which variables it makes."""
    method = model.method("__call__")
    names = [p.arg for p in method.positional] if method is not None else []
    given = [*zip(names, call.args), *[(k.arg or "**", k.value) for k in call.keywords]]
    left = {p: method.default(p) for p in names} if method is not None else {}
    said = {name: _said(value) for name, value in [*[(n, d) for n, d in left.items() if d is not None], *given]}
    return frozenset((name, value) for name, value in said.items() if name not in example_flags.FLAGS)


def _said(value: ast.expr) -> str:
    flag = isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool | str))
    return ast.unparse(value) if flag else ""


def mentions_partitioning(node: ast.expr | None) -> bool:
    return node is not None and bool(re.search(r"partitioning|logical|axes", ast.unparse(node)))


def _arguments(value: Array) -> set[str]:
    """The call's arguments from which the shape of a value follows."""
    atoms = [atom for dim in value.shape.dims if dim is not None for atom in dim.atoms()]
    found = {str(atom.args[0]) for atom in atoms if atom.kind in ("input", "rank", "byrank", "lead")}
    if value.shape.lead is not None:
        found.add(value.shape.lead.argument)
    return {re.split(r"[.\[]", name)[0] for name in found if not told(name)}


def _first_argument(text: ClassText) -> set[str]:
    """The argument of the class's own call that is taken for an array whatever is done with it."""
    method = text.model.method("__call__")
    return {p.arg for p in method.parameters[:1]} if method is not None else set()


def _of_modules(text: ClassText, bound: BoundArg) -> bool:
    """Is an argument a module or a factory, or made of some, which become NNX?"""
    run, said = text.run, subtree(bound.node) if bound.node is not None else ()
    values = [bound.abs.value, *[run.evaluated[n].value for n in said if n in run.evaluated]]
    if any(isinstance(v, ModuleField) for v in values):
        return True
    return any(run.holds_module(v) or next(factories_in(v), None) is not None for v in values)


def _may_be_none(text: ClassText, argument: str) -> bool:
    default = example_flags.default_of_call(text, argument)
    return default is not None and default.value is None


def _is_said_an_array(text: ClassText, site: Site, argument: str, name: str) -> bool:
    """Does an annotation, here or in the wrapped class, or the name say that an argument handed on is an array?"""
    if "mask" in name or INTEGER.search(name):
        return True
    model = text.analyser.classes.get(site.target)
    here, there = text.model.method("__call__"), model.method("__call__") if model is not None else None
    parameters = [p for m, word in ((here, argument), (there, name)) if m is not None for p in m.parameters if p.arg == word]
    return any(p.annotation is not None and _ARRAY.search(ast.unparse(p.annotation)) for p in parameters)


def example(text: ClassText, site: Site, name: str, value: Value) -> str:
    """An argument of the first call as the constructor can give it: arrays by shape and type."""
    if isinstance(value, Array):
        return _array(text, site, name, value)
    if isinstance(value, Tup) and type(value) is Tup and value.items:
        items = [example(text, site, f"{name}[{i}]", item) for i, item in enumerate(value.items)]
        return f"[{', '.join(items)}]" if value.kind == "list" else f"({', '.join(items)}{',' * (len(items) == 1)})"
    if isinstance(value, Const) and (value.value is None or isinstance(value.value, bool | str | float)):
        return repr(value.value)
    if isinstance(value, Int):
        return text.dim(value.dim)
    if name in example_flags.FLAGS:
        return example_flags.FLAGS[name]
    if isinstance(value, Static) and not value.deps:
        return text.own_text(value.text)
    handed_on = example_flags.handed_on(text, value)
    if handed_on:
        return handed_on
    raise UnknownInput(f"its input `{name}` is not known")


def _array(text: ClassText, site: Site, name: str, value: Array) -> str:
    """`jax.ShapeDtypeStruct(in_shape, jnp.float32)`, or None where an optional input is not given."""
    if not sayable(value.shape):
        raise UnknownInput(f"the shape of its input `{name}` is not known")
    arguments, whole = _arguments(value), whole_argument(value)
    model = text.analyser.classes.get(site.target)
    uses = [(m.method("__call__"), word) for m, word in ((model, name), (text.model, whole)) if m is not None]
    if not value.shape.dims and any(m is not None and array_arguments.is_taken_apart(m, word) for m, word in uses):
        raise UnknownInput(f"its input `{name}` is not one array")
    given = value.shape.lead is not None and bool(told(value.shape.lead.argument))
    shown = given or arguments == _first_argument(text) or isinstance(value, OptionalArray)
    shown = shown or ("[" in name and "[" in whole)  # of a tuple that is handed on in one
    if not value.shape.dims and not shown and not _is_said_an_array(text, site, whole, name):
        raise UnknownInput(f"nothing shows that its input `{name}` is an array")
    optional = {argument for argument in arguments if _may_be_none(text, argument)}
    step = value.step if isinstance(value, OptionalArray) else None
    if optional and step is None and optional != {whole}:
        raise UnknownInput(f"its input `{name}` may be None")
    numpy = text.namer.name("jax.numpy")
    if "mask" in name:
        dtype = "bool"
    elif INTEGER.search(name):
        dtype = f"{numpy}.int32"
    elif site.traits.lookups:
        raise UnknownInput(f"`{name}` may be of integers")
    else:
        dtype = f"{numpy}.float32"
    said = f"{text.namer.name('jax.ShapeDtypeStruct')}({text.shape(value.shape)}, {dtype})"
    if step is not None:
        return f"{said} if {setup_conditions.step_text(text, step, site)} else None"
    return f"{said} if {setup_conditions.is_given(text, whole)} else None" if optional else said


__all__ = [
    "INTEGER",
    "Traits",
    "Unbridgeable",
    "UnknownInput",
    "bridged",
    "check_methods",
    "example",
    "mentions_partitioning",
    "traits_of",
]
