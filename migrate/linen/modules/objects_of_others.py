"""Objects of other packages that a class makes and calls: `block = lib.Block(x.shape[-1])`, then `block(x)`.

Such an object may be a Linen module, which would not run in a class that is no Linen module any more. What is followed may
be lost on the way (a branch, a loop through a list of several), so the code around is read as well: what binds the name, in
this function or, for an attribute, anywhere in the class.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Iterator
from typing import Any, TypeGuard

from ...source import SourceFile
from ...trees import of_kind, subtree
from ..project.classes import ClassModel
from ..values.arguments import Arguments
from ..values.merging import Either
from ..values.sites import Module, Static, Unmigratable
from ..values.values import Array, Int, Tup, Unknown, Value
from .unknown_callees import LIBRARIES, of_package, of_the_project, unknown_base

_MAX_DEPTH = 5
#: Packages whose classes are no Linen modules, though they are called or have methods that are given arrays.
_PLAIN = frozenset({
    "ml_collections", "jraph", "e3nn_jax", "tensorflow", "torch", "PIL", "absl", "pandas", "jaxtyping", "clu", "numpyro",
    "oryx", "blackjax", "jaxopt", "dm_pix", "diffrax", "rlax", "tensorflow_datasets", "sklearn", "h5py",
})  # fmt: skip
#: Distributions, which many packages make under the same names; none of them has parameters of its own.
_DISTRIBUTIONS = re.compile(
    r"(Multivariate|Masked|Tanh|Truncated|Squashed|Transformed|Log|Matrix|Relaxed|OneHot)*"
    r"(Normal|Gaussian|Categorical|Bernoulli|Beta|Gamma|Laplace|Uniform|Dirichlet|Independent|Mixture|Logistic|Poisson)\w*"
)
# Functions of jax.numpy that call what they are given.
_CALLING = frozenset({"vectorize", "apply_along_axis", "apply_over_axes", "piecewise", "fromfunction", "frompyfunc"})
# Methods of records and containers.
_OF_RECORDS = frozenset({"replace", "append", "extend", "insert", "update", "get", "items", "keys", "values", "pop", "copy"})
_GROWING = frozenset({"append", "extend", "insert", "add"})
# What gives back what it is given first, or what is made of it.
_AROUND = frozenset({
    "functools.partial", "jax.jit", "jax.vmap", "jax.checkpoint", "jax.remat", "flax.linen.remat", "flax.linen.checkpoint",
    "flax.linen.jit", "flax.linen.vmap", "flax.linen.scan",
})  # fmt: skip


# What holds the items of what it is given.
_ITEMS = frozenset({"tuple", "list", "reversed", "zip", "enumerate", "sorted", "iter", "next", "set"})


@dataclasses.dataclass
class Memo:
    """What the code of a project was found to say, once."""

    names_some: bool | None = None  # does it import a class of another package?
    bound: dict[ast.FunctionDef, dict[str, list[ast.expr]]] = dataclasses.field(default_factory=dict)  # by names


def check(run: Any, node: ast.Call, value: Value, env: Any) -> None:
    """Refuse a call of what may be another package's module, as the code around says; `value`: what is called."""
    func = node.func
    followed = isinstance(value, Module | Either)
    wrapped = run.analyser.foreign.get(run.model.qualname, ()) if followed else ()
    if _is_method(func) or not isinstance(func, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.IfExp):
        return
    for known in _made_by(run, func, env.source):
        if known not in wrapped:
            raise _refusal(run, env.source, known, "what it makes is called", node)


def check_value(run: Any, node: ast.Call, value: Value, arguments: Arguments, env: Any) -> None:
    """Refuse a call of what may be another package's module (`value`), or of a method of it with arrays."""
    func = node.func
    if not isinstance(value, Unknown | Static | Int):
        return
    if not _is_method(func):
        lost = re.fullmatch(r"`([\w.]+\.[A-Z]\w*)` is not known", value.why) if isinstance(value, Unknown) else None
        if lost is not None and _is_class_of_others(run, lost[1]):
            raise _refusal(run, env.source, lost[1], "what it makes is called", node)
        return
    owner = run.evaluated.get(func.value)
    if owner is None or not isinstance(owner.value, Unknown | Static | Int):
        return
    given = [*(a for _, a in arguments.positional), *(a for _, _, a in arguments.keywords)]
    if func.attr.startswith("_") or func.attr in _OF_RECORDS or not any(_holds_array(a.value) for a in given):
        return
    for known in _made_by(run, func.value, env.source):
        raise _refusal(run, env.source, known, f"a method of what it makes, `{func.attr}`, is called", node)


def check_handed(run: Any, called: str | None, node: ast.Call, env: Any) -> None:
    """Refuse what may be another package's module where it is given to a function of jax, which calls it."""
    module, _, name = (called or "").rpartition(".")
    computes = module.startswith("jax.numpy") and name not in _CALLING  # with arrays, or what has the items of one
    if (called or "").partition(".")[0] in ("jax", "map") and node.args and not computes:
        for known in _made_by(run, node.args[0], env.source):
            raise _refusal(run, env.source, known, f"what it makes is given to `{ast.unparse(node.func)}`", node)


def _refusal(run: Any, source: SourceFile, known: str, how: str, node: ast.Call) -> Unmigratable:
    found = Unmigratable("NNX138", f"{of_package(run.project, known)}, and {how}", node)
    if run.project.definition(known) is None:
        found.foreign = (source, known)
    return found


def _is_method(func: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(func, ast.Attribute) and not _is_self(func.value)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _holds_array(value: Value) -> bool:
    return isinstance(value, Array) or (isinstance(value, Tup) and any(_holds_array(item) for item in value.items))


def _made_by(run: Any, node: ast.expr, source: SourceFile) -> Iterator[str]:
    """The classes of other packages that may have made an object, or the items of what it is taken from."""
    memo: Memo = run.analyser.of_others
    if memo.names_some is None:
        memo.names_some = any(_names_some(run, file) for file in run.project.files.values())
    if memo.names_some:
        yield from (known for known in _Makers(run, memo).of(node, source) if _is_class_of_others(run, known))


def _names_some(run: Any, source: SourceFile) -> bool:
    """Does a file import a class of another package? In many projects none does."""
    libraries = LIBRARIES | _PLAIN | {"flax"} | sys.stdlib_module_names
    named = [d for d in source.names.imports.values() if d.partition(".")[0] not in libraries]
    return any(d not in run.project.files and not of_the_project(run, d) for d in named)


def _is_class_of_others(run: Any, known: str) -> bool:
    """Is it named as a class of another package is, or does it derive from one?"""
    package, _, name = known.partition(".")
    if package in LIBRARIES | _PLAIN | {"flax"} or package in sys.stdlib_module_names:
        return False
    name = name.rpartition(".")[2]
    if not name[:1].isupper() or name.isupper() or _DISTRIBUTIONS.fullmatch(name):
        return False
    return not of_the_project(run, known) or unknown_base(run.project, known) is not None


class _Makers:
    """The names of what is called to make an object, or the items of what it is taken from."""

    def __init__(self, run: Any, memo: Memo) -> None:
        self.run, self.memo = run, memo
        self.seen: set[ast.AST] = set()

    def of(self, node: ast.expr, source: SourceFile, depth: int = 0) -> Iterator[str]:
        """Each such name; what names an expression has is followed where the code around binds these."""
        if depth > _MAX_DEPTH or node in self.seen:
            return
        self.seen.add(node)
        if isinstance(node, ast.Call):
            known = self.run.project.qualname(source, node.func) or getattr(node.func, "id", "")
            yield from self.classes(node.func, source, depth + 1)
            if known in ("map", "filter"):
                yield from self.classes(node.args[0], source, depth + 1) if node.args else ()
            for given in node.args if known in _ITEMS else node.args[:1] if known in _AROUND else ():
                yield from self.of(given, source, depth + 1)
        elif isinstance(node, ast.Name | ast.Attribute):
            for given in self.given(node, source):
                yield from self.of(given, source, depth + 1)
        else:
            for part in _parts(node):
                yield from self.of(part, source, depth + 1)

    def classes(self, node: ast.expr, source: SourceFile, depth: int) -> Iterator[str]:
        """What a callee may be: `Block`, `partial(Block, 8)`, `KINDS[kind]`, a name for these, a function that makes one."""
        if depth > _MAX_DEPTH:
            return
        if isinstance(node, ast.Call):
            if self.run.project.qualname(source, node.func) in _AROUND and node.args:
                yield from self.classes(node.args[0], source, depth + 1)
        elif isinstance(node, ast.Name | ast.Attribute):
            known = self.run.project.qualname(source, node)
            if known is not None:
                yield known
                yield from self.defined(known, depth)
            for given in self.given(node, source):
                yield from self.classes(given, source, depth + 1)
        else:
            for part in _parts(node):
                yield from self.classes(part, source, depth + 1)

    def defined(self, known: str, depth: int) -> Iterator[str]:
        """What a name of the project's stands for: `Small = partial(Block, 4)`, `def make(width): return Block(width)`."""
        found = self.run.project.definition(known)
        if found is None or found[1] in self.seen:
            return
        self.seen.add(found[1])
        home, statement = found
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            yield from self.classes(statement.value, home, depth + 1)
        elif isinstance(statement, ast.FunctionDef):
            for node in of_kind(statement, ast.Return):
                yield from self.of(node.value, home, depth + 1) if node.value is not None else ()

    def given(self, node: ast.Name | ast.Attribute, source: SourceFile) -> list[ast.expr]:
        """What a local name, or an attribute of self, is given."""
        if isinstance(node, ast.Name):
            function = source.function_of(node)
            return self.bound(function).get(node.id, []) if function is not None else []
        if not _is_self(node.value):
            return []
        model: ClassModel = self.run.model
        nodes = [method.node for method in model.methods().values() if method.source is source]
        return [value for function in nodes for value in self.bound(function).get(f"self.{node.attr}", [])]

    def bound(self, function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
        """What a function gives to names and attributes of self; for loops, what they go through."""
        known = self.memo.bound
        if function not in known:
            known[function] = {}
            for name, value in _bound(function):
                known[function].setdefault(name, []).append(value)
        return known[function]


def _parts(node: ast.expr) -> list[ast.expr]:
    """What an expression may be or holds."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Subscript | ast.Starred | ast.NamedExpr | ast.DictComp):
        return [node.value]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    return [node.elt] if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp) else []


def _bound(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in subtree(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from _matching(target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            for value in _iterated(node.iter):
                yield from ((name, value) for name in _names(node.target))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
            yield from ((name, value) for name in _names(node.func.value) for value in node.args)


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from _names(item)
    elif isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute) and _is_self(target.value):
        yield f"self.{target.attr}"
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _names(target.value)


def _matching(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    pairs = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
    if pairs and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]
        for inner, item in zip(target.elts, value.elts):  # type: ignore[attr-defined]
            yield from _matching(inner, item)
    elif not (isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Call)):  # `x, aux = Block(8)(x)`
        yield from ((name, value) for name in _names(target))


def _iterated(node: ast.expr) -> Iterator[ast.expr]:
    """What a loop goes through, `blocks` of `blocks.items()`."""
    yield node
    for part in subtree(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            yield part.func.value


__all__ = ["Memo", "check", "check_handed", "check_value"]
