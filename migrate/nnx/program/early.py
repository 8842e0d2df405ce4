"""What an expression of an early NNX program is: a module, a variable, a state or an optimizer. Nothing is run.

Only what follows from constructors, annotations, assignments and a few nnx functions is known; the rest is None.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref
from collections.abc import Iterator

from ...catalog.early_nnx import ANSWERS, LAYER_VARIABLES, RENAMED, SHARDING_KEYWORDS, VARIABLE_TYPES
from ...catalog.tree_functions import TREE_MAPS
from ...context import FileContext
from ...source import SourceFile
from ...trees import subtree

_MODULE_BASES = frozenset({"flax.nnx.Module", "flax.nnx.Object", "flax.nnx.Pytree", "flax.nnx.GraphNode"})
_DEPTH = 10
_LAYER_NAMES = (
    "Linear LinearGeneral Conv ConvTranspose Embed Einsum LayerNorm RMSNorm GroupNorm BatchNorm InstanceNorm Dropout "
    "MultiHeadAttention LSTMCell OptimizedLSTMCell GRUCell SimpleCell RNN Bidirectional Sequential LoRA LoRALinear "
    "PReLU WeightNorm SpectralNorm"
)
_LAYERS = frozenset(f"flax.nnx.{name}" for name in _LAYER_NAMES.split())


@dataclasses.dataclass(frozen=True)
class Kind:
    """`what`: model, variable, state, leaf (somewhere inside a state) or optimizer; `cls`: a project class' node, and
    `owner` what is known of its file."""

    what: str
    cls: ast.ClassDef | None = None
    owner: Types | None = dataclasses.field(default=None, compare=False, repr=False)


class Types:
    """Kinds of expressions in one file."""

    def __init__(self, ctx: FileContext) -> None:
        self.ctx = ctx
        self.classes: dict[str, ast.ClassDef] = {}
        self.variable_types = set(VARIABLE_TYPES)
        self._kinds: dict[tuple[ast.AST, int], Kind | None] = {}  # answers of `kind`
        self._assigned: dict[ast.AST, dict[str, list[tuple[ast.expr, int | None]]]] = {}  # of scopes, by name

    @classmethod
    def of(cls, ctx: FileContext) -> Types:
        found = _types.get(ctx)
        if found is None:
            found = _types[ctx] = cls(ctx)
            found._collect()
        return found

    def file(self, source: SourceFile) -> Types:
        """What is known of another file of the project."""
        if source is self.ctx.source:
            return self
        found = _of_files.get(source)
        if found is None:  # kept before it is filled: files import each other
            found = _of_files[source] = Types(FileContext(source, self.ctx.plan, self.ctx.options, self.ctx.project))
            found._collect()
        return found

    def _class(self, name: str) -> Kind | None:
        """The module class of this name, here or in another file."""
        if name in self.classes:
            return Kind("model", self.classes[name], self)
        definition = self.ctx.project.definition(name) if self.ctx.project is not None and "." in name else None
        if definition is None or definition[0] is self.ctx.source or "nnx" not in definition[0].words:
            return None
        other = self.file(definition[0])
        return next((Kind("model", cls, other) for cls in other.classes.values() if cls is definition[1]), None)

    def _collect(self) -> None:
        if self.ctx.project is not None:
            for target in {self.ctx.plan.canonical(target) for target in self.ctx.source.names.imports.values()}:
                definition = self.ctx.project.definition(target)
                if definition is not None and definition[0] is not self.ctx.source and "nnx" in definition[0].words:
                    self.variable_types |= {target} & self.file(definition[0]).variable_types
        nodes = [n for n in self.ctx.source.by_kind.get(ast.ClassDef, ()) if isinstance(n, ast.ClassDef)]
        for _ in range(4):  # a class may inherit from one that stands further down
            for node in nodes:
                bases = [self.ctx.qualname(base) or "" for base in node.bases]
                name = f"{self.ctx.source.module}.{node.name}" if self.ctx.source.module else node.name
                if any(b in _MODULE_BASES or b in _LAYERS or self._class(b) is not None for b in bases):
                    self.classes[name] = node
                elif any(b in self.variable_types for b in bases):
                    self.variable_types.add(name)

    # expressions -----------------------------------------------------------------------------------------------
    def kind(self, node: ast.AST | None, depth: int = 0) -> Kind | None:
        if node is None or depth > _DEPTH:
            return None
        asked = node, depth  # names lead to calls of functions that lead to names: many ways come by the same places
        if asked not in self._kinds:
            self._kinds[asked] = self._kind(node, depth)
        return self._kinds[asked]

    def _kind(self, node: ast.AST, depth: int) -> Kind | None:
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Subscript):
            base = self.kind(node.value, depth + 1)
            return Kind("leaf") if base is not None and base.what in ("state", "leaf") else None
        return None

    def _call(self, node: ast.Call, depth: int) -> Kind | None:
        name = self.ctx.qualname(node.func)
        if name is None:
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("restore", "map"):
                for keyword in node.keywords:
                    if keyword.arg in ("target", "item"):
                        return self.kind(keyword.value, depth + 1)
                return self.kind(node.func.value, depth + 1) if node.func.attr == "map" else None
            return None
        if name in self.variable_types:  # one that holds a Python number has no `[...]`
            return Kind("number" if node.args and isinstance(node.args[0], ast.Constant) else "variable")
        made = self._class(name)
        if made is not None:
            return made
        if name in ANSWERS:
            return Kind(ANSWERS[name])
        if name in TREE_MAPS and len(node.args) > 1:
            return self.kind(node.args[1], depth + 1)
        if name in ("flax.nnx.data", "jax.device_put", "jax.lax.with_sharding_constraint") and node.args:
            return self.kind(node.args[0], depth + 1)
        if name in ("flax.nnx.eval_shape", "jax.eval_shape") and node.args and isinstance(node.args[0], ast.Lambda):
            return self.kind(node.args[0].body, depth + 1)
        if name in _LAYERS:
            return Kind("model")
        return self._function_result(name, None, depth)

    def _function_result(self, name: str, index: int | None, depth: int) -> Kind | None:
        """What a function of the file answers, at `index` of the tuple where it answers one."""
        definition = self.ctx.source.names.definitions.get(name.rpartition(".")[2])
        if not isinstance(definition, ast.FunctionDef) or name.rpartition(".")[0] != self.ctx.source.module:
            return None
        for node in subtree(definition):
            if isinstance(node, ast.Return) and node.value is not None:
                value: ast.expr = node.value
                if index is not None:
                    if not isinstance(value, ast.Tuple) or index >= len(value.elts):
                        return None
                    value = value.elts[index]
                return self.kind(value, depth + 1)
        return None

    def _name(self, node: ast.Name, depth: int) -> Kind | None:
        for scope in self._scopes(node):
            if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
                found = self._parameter(scope, node.id)
                if found is not None:
                    return found
                position = next((i for i, a in enumerate(_parameters(scope)) if a.arg == node.id), None)
                if position is not None:
                    return None if self._annotated(scope, node.id) else self._passed(scope, position, depth)
            if scope not in self._assigned:
                self._assigned[scope] = _assignments(scope)
            for value, index in self._assigned[scope].get(node.id, ()):
                found = self._bound(value, index, depth)
                if found is not None:
                    return found
        return None

    def _bound(self, value: ast.expr, index: int | None, depth: int) -> Kind | None:
        if index is None:
            return self.kind(value, depth + 1)
        if isinstance(value, ast.Tuple) and index < len(value.elts):
            return self.kind(value.elts[index], depth + 1)
        if isinstance(value, ast.Call):
            return self._function_result(self.ctx.qualname(value.func) or "", index, depth)
        return None

    def _scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        for parent in self.ctx.source.ancestors(node):
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                yield parent

    def _passed(self, function: ast.FunctionDef | ast.AsyncFunctionDef, position: int, depth: int) -> Kind | None:
        """The kind of what the file's calls of a function pass at a position, by name or place."""
        name, called = _parameters(function)[position].arg, function.name
        holder = self.ctx.source.parents.get(function)
        if called == "__init__" and isinstance(holder, ast.ClassDef):
            called, position = holder.name, position - 1
            if position < 0:
                return None
        for node in self.ctx.source.calls_by_name.get(called, ()):
            given = [k.value for k in node.keywords if k.arg == name]
            given += node.args[position : position + 1] if not any(isinstance(a, ast.Starred) for a in node.args) else []
            for value in given:
                found = self.kind(value, depth + 2)
                if found is not None:
                    return found
        return None

    @staticmethod
    def _annotated(scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
        return any(a.arg == name and a.annotation is not None for a in _parameters(scope))

    def _parameter(self, scope: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Kind | None:
        parameters = _parameters(scope)
        for index, argument in enumerate(parameters):
            if argument.arg != name:
                continue
            if argument.annotation is not None:
                return self._annotation(argument.annotation)
            holder = self.ctx.source.parents.get(scope)
            if index == 0 and isinstance(holder, ast.ClassDef) and holder in self.classes.values():
                return Kind("model", holder, self)
        return None

    def _annotation(self, node: ast.expr) -> Kind | None:
        target: ast.expr = node
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return None
        if isinstance(node, ast.Subscript):
            target = node.value
        name = self.ctx.qualname(target) or ""
        if name in self.variable_types:
            return Kind("variable")
        made = self._class(name)
        if made is not None:
            return made
        if name in ("flax.nnx.State", "flax.nnx.GraphState"):
            return Kind("state")
        if name in ("flax.nnx.Optimizer", "flax.nnx.ModelAndOptimizer"):
            return Kind("optimizer")
        return None

    def _attribute(self, node: ast.Attribute, depth: int) -> Kind | None:
        base = self.kind(node.value, depth + 1)
        if base is None:
            holder = next((p for p in self.ctx.source.ancestors(node) if isinstance(p, ast.ClassDef)), None)
            if holder is None or not is_self_attribute(node):
                return None
            base = Kind("model", holder, self)
        if base.what in ("state", "leaf"):
            return None if node.attr == "value" else Kind("leaf")
        if base.what != "model":
            return None
        if base.cls is None:
            return Kind("variable") if node.attr in LAYER_VARIABLES else None
        owner = base.owner or self
        for value in owner.attribute_values(base.cls, node.attr):
            found = owner.kind(value, depth + 1)
            if found is not None:
                return found
        return None

    def attribute_values(self, cls: ast.ClassDef, attribute: str) -> Iterator[ast.expr]:
        """What the class' methods assign to `self.<attribute>`."""
        for node in subtree(cls):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if is_self_attribute(target, attribute):
                        yield node.value
            elif isinstance(node, ast.AnnAssign) and is_self_attribute(node.target, attribute) and node.value is not None:
                yield node.value

    def values_from_outside(self, cls: ast.ClassDef, attribute: str) -> Iterator[tuple[ast.expr, Types]]:
        """What code anywhere in the project assigns to the attribute of a model of the class, `model.mask = ...`."""
        project = self.ctx.project
        for source in project.files.values() if project is not None else [self.ctx.source]:
            if attribute not in source.words or "nnx" not in source.words:
                continue
            types = self.file(source)
            for node in source.by_kind.get(ast.Assign, ()):
                for target in node.targets if isinstance(node, ast.Assign) else ():
                    if isinstance(target, ast.Attribute) and target.attr == attribute and not is_self_attribute(target):
                        held = types.kind(target.value)
                        if held is not None and held.cls is cls and isinstance(node, ast.Assign):
                            yield node.value, types


_types: weakref.WeakKeyDictionary[FileContext, Types] = weakref.WeakKeyDictionary()
_of_files: weakref.WeakKeyDictionary[SourceFile, Types] = weakref.WeakKeyDictionary()


def is_self_attribute(node: ast.AST, attribute: str | None = None) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and attribute in (None, node.attr)
    )


def _parameters(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]


def _assignments(scope: ast.AST) -> dict[str, list[tuple[ast.expr, int | None]]]:
    """Values bound to names in a scope, with their index where a tuple is unpacked. Inner functions are left out."""
    found: dict[str, list[tuple[ast.expr, int | None]]] = {}
    statements: list[ast.AST] = list(getattr(scope, "body", []))
    for node in statements:  # grows while it is walked
        kind = node.__class__
        if kind in _INNER:
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append((node.value, None))
                elif isinstance(target, ast.Tuple):
                    for index, item in enumerate(target.elts):
                        if isinstance(item, ast.Name):
                            found.setdefault(item.id, []).append((node.value, index))
        for block in ("body", "handlers", "cases", "orelse", "finalbody"):  # assignments are statements
            statements.extend(getattr(node, block, ()))
    return found


_INNER = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})


def is_early(ctx: FileContext) -> bool:
    """Was the project written for flax.nnx before 0.12? Told by names and forms that 0.12 changed."""
    if ctx.project is None:
        return _early_signs(ctx, ctx.source)
    if ctx.project not in _early:
        _early[ctx.project] = any(_early_signs(ctx, source) for source in ctx.project.files.values())
    return _early[ctx.project]


_early: weakref.WeakKeyDictionary[object, bool] = weakref.WeakKeyDictionary()  # projects
_signs: weakref.WeakKeyDictionary[object, bool] = weakref.WeakKeyDictionary()


def _early_signs(ctx: FileContext, source: SourceFile) -> bool:
    if source not in _signs:
        _signs[source] = _find_signs(ctx, source)
    return _signs[source]


def _find_signs(ctx: FileContext, source: SourceFile) -> bool:
    if "nnx" not in source.text:
        return False
    other = ctx if source is ctx.source else FileContext(source, ctx.plan, ctx.options, ctx.project)
    types = Types.of(other)
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and other.qualname(node) in RENAMED:
            return True
        if not isinstance(node, ast.Call):
            continue
        name = other.qualname(node.func)
        keywords = {k.arg for k in node.keywords}
        if name == "flax.nnx.Optimizer" and "wrt" not in keywords and None not in keywords:
            return True
        if (name in types.variable_types or name == "flax.nnx.with_metadata") and keywords & set(SHARDING_KEYWORDS):
            return True
    return False
