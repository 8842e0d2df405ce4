"""Evaluation of names, attributes, calls and functions; the expression half of an `Execution` is put together here."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import subtree
from ..lists import left_over
from ..modules import lambda_factories
from ..modules.reached import module_attribute
from ..modules.self_calls import setup_side
from ..shapes import shapes
from ..values import mutation
from ..values.apart import run_apart
from ..values.arguments import child_env, is_self, parameters_of
from ..values.bundles import Bundle
from ..values.dims import Dim
from ..values.environment import Env
from ..values.localization import Localization
from ..values.mapped_axes import part_of_argument
from ..values.merging import on_this_side
from ..values.sites import (
    Abs,
    Block,
    Factory,
    Function,
    Module,
    ModuleField,
    SelfModule,
    Static,
    Unmigratable,
    Variable,
)
from ..values.values import Array, Const, DtypeOf, Int, NeedsRank, Shape, ShapeOf, Tup, Unknown, Value
from . import calls, changed_arguments, plain_objects
from .containers import Containers
from .functions import decorated_function, global_value
from .operators import Operators
from .plain_objects import CallObject, PlainObject

LIMITS = frozenset({"jax.numpy.finfo", "jax.numpy.iinfo", "numpy.finfo", "numpy.iinfo", "jax.dtypes.finfo"})
ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "T", "at", "mT", "real", "imag", "value", "aval"})


class Expressions(Containers, Operators, Localization):
    """The expression half of an `Execution`; see there for the attributes' meaning."""

    def _eval_Constant(self, node: ast.Constant, env: Any) -> Abs:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return Abs(Int(Dim.of(node.value)), static=True)
        return Abs(Const(node.value), static=True)

    def _eval_Name(self, node: ast.Name, env: Any) -> Abs:
        bound: Abs | None = env.get(node.id)
        if bound is not None:
            left_over.check(node, bound)
            return on_this_side(bound, self.path)
        if node.id == "self":
            return Abs(SelfModule("self"), static=True)
        return self._global(node, env)

    def _global(self, node: ast.expr, env: Any) -> Abs:
        qualname = self.project.qualname(env.source, node)
        if qualname is None:
            return Abs(Static(self.said_globals(node, env)), static=True)
        known = global_value(self, qualname, node, env)
        return known if known is not None else Abs(Static(self.said_globals(node, env)), static=True)

    def _eval_Attribute(self, node: ast.Attribute, env: Any) -> Abs:
        if is_self(node.value, env):
            return self._self_attribute(node, env)
        if self.project.qualname(env.source, node) is not None and not self._rooted_local(node, env):
            return self._global(node, env)
        base = self.evaluate(node.value, env)
        value = base.value
        if isinstance(value, PlainObject | CallObject):
            return plain_objects.attribute(self, value, node, base.static)
        if isinstance(value, Static):
            return Abs(Static(f"{value.stem}.{node.attr}", value.deps), base.static, base.flags)
        if isinstance(value, Variable) and node.attr == "value":
            return Abs(value.site.shape or Unknown("variable"), False, base.flags)
        if isinstance(value, Bundle):
            held = value.attribute(node.attr) if changed_arguments.is_part_known(self, value) else Unknown(node.attr)
            if base.static and isinstance(held, Unknown) and not value.items:  # what the constructor has made, too
                return self._static_text(node, True, base.flags, env)
            return Abs(held, False, base.flags)
        if isinstance(value, Module | ModuleField):
            return module_attribute(self, node, base, env)
        if (isinstance(value, Array) or type(value) is Unknown) and node.attr == "dtype" and not base.static:
            return Abs(DtypeOf(self.project.said(node)), False, base.flags)
        if isinstance(value, Array | Tup | Int) or type(value).__name__ not in ("Unknown",):
            found = shapes.attribute(value, node.attr)
            if not isinstance(found, Unknown):
                return Abs(found, base.static, base.flags)
        if isinstance(value, Array) and node.attr not in ARRAY_ATTRIBUTES:
            # An argument that is a struct of arrays: batch.inputs
            part = part_of_argument(value, f".{node.attr}")
            if part is not None and changed_arguments.is_part_known(self, part):
                return Abs(part, False, base.flags)
        if isinstance(value, NeedsRank):
            return Abs(value, base.static, base.flags)
        if node.attr == "shape" and type(value) is Unknown and not base.static:
            return Abs(ShapeOf(Shape.unknown()), False, base.flags)  # `y.reshape(y.shape[:2] + (width,))` has that width
        if isinstance(node.value, ast.Call) and self.project.qualname(env.source, node.value.func) in LIMITS:
            return Abs(Array(Shape(())), base.static, base.flags)  # `jnp.finfo(x.dtype).min` is a number
        return Abs(Unknown(self.project.said(node)), base.static, base.flags)

    def _rooted_local(self, node: ast.expr, env: Any) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and env.get(node.id) is not None

    def _self_attribute(self, node: ast.Attribute, env: Any) -> Abs:
        name = node.attr
        if name in self.attributes:
            return setup_side(self.attributes[name], self.path, node)
        if name in self.fields:
            return self.field_value(name)
        attribute = self.model.class_attribute(name)
        if attribute is not None:
            owner, expression = attribute
            found = self.constant(expression, owner.source)
            said = isinstance(found.value, Const) or (isinstance(found.value, Int) and not found.value.dim.atoms())
            said = (said and not self.varies(name, env)) or isinstance(found.value, Factory)
            return Abs(found.value if said else Static(f"self.{name}"), True)  # names of the class mean nothing elsewhere
        method = self.model.method(name)
        if method is not None:
            if "property" in method.decorators or any(d.endswith("cached_property") for d in method.decorators):
                result = run_apart(self, method.node, Env({}, method.source, method=method))
                static = isinstance(result.value, Int | Static | Const) and result.static
                if isinstance(result.value, Int | Const) and not (static and self.varies(name, env)):
                    return Abs(result.value, static, result.flags)
                return Abs(Static(f"self.{name}") if static else result.value, static, result.flags)
            return Abs(Function(method.node, None, method.source, method), static=True)
        return Abs(Unknown(f"self.{name}"), static=False)

    def varies(self, name: str, env: Any) -> bool:
        """Does a class that shares the method which asks for this attribute have it otherwise?"""
        while env.method is None and env.parent is not None:  # in a function or lambda within it
            env = env.parent
        return bool(self.analyser.classes.varies(env.method.owner if env.method is not None else self.model, name))

    def _eval_Starred(self, node: ast.Starred, env: Any) -> Abs:
        return self.evaluate(node.value, env)

    def _eval_Lambda(self, node: ast.Lambda, env: Any) -> Abs:
        factory = lambda_factories.factory_of(self, node, env)
        if factory is not None:
            return factory
        static = self._closed(node, env)
        if not static:
            self.look_inside(node, env)
        return Abs(Function(node, env, env.source), static)

    def look_inside(self, node: ast.Lambda | ast.FunctionDef, env: Any) -> bool:
        """Run a function's body once, so that what it reads can be said elsewhere; nothing of it is kept.

        True where it makes nothing.
        """
        inner = child_env(env)
        for name in parameters_of(node):
            inner.names[name] = Abs(Unknown("argument"))
        snapshot = self._snapshot()
        before = len(self.sites)
        self.block = Block()
        self.trial += 1
        try:
            self.run_function(node, inner)
            return len(self.sites) == before
        except Unmigratable:
            return False
        finally:
            self.trial -= 1
            self._rollback(snapshot)

    def local_function(self, node: ast.FunctionDef, env: Any) -> Value:
        return decorated_function(self, node, env)

    def _closed(self, node: ast.Lambda | ast.FunctionDef, env: Any) -> bool:
        """Does the function read only what the constructor has too?"""
        own = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        for child in subtree(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in own:
                bound = env.get(child.id)
                if bound is not None and not bound.static:
                    return False
        return True

    def _eval_NamedExpr(self, node: ast.NamedExpr, env: Any) -> Abs:
        value = self.evaluate(node.value, env)
        if _in_comprehension(node, env):
            return mutation.forget_name(node.target.id, value, env)
        if _may_be_left_out(node, env):
            env.names[node.target.id] = Abs(Unknown(node.target.id), False, value.flags)
            env.local.discard(node.target.id)
            return Abs(value.value, False, value.flags)
        env.names[node.target.id] = Abs(value.value, False, value.flags)
        env.local.discard(node.target.id)
        return Abs(value.value, False, value.flags)

    def _eval_JoinedStr(self, node: ast.JoinedStr, env: Any) -> Abs:
        static, flags = True, frozenset[str]()
        for child in node.values:
            if isinstance(child, ast.FormattedValue):
                found = self.evaluate(child.value, env)
                static, flags = static and found.static, flags | found.flags
        text = self._constant_text(node) if static and not flags else None
        return Abs(Const(text), True) if text is not None else self._static_text(node, static, flags, env)

    def _constant_text(self, node: ast.JoinedStr) -> str | None:
        """An f-string of constants alone."""
        out = ""
        for child in node.values:
            if isinstance(child, ast.Constant):
                out += str(child.value)
                continue
            assert isinstance(child, ast.FormattedValue)
            value = self.evaluated[child.value].value
            if isinstance(value, Int) and value.dim.value is not None:
                value = Const(value.dim.value)
            if child.conversion != -1 or child.format_spec is not None or not isinstance(value, Const):
                return None
            out += str(value.value)
        return out

    def _eval_Call(self, node: ast.Call, env: Any) -> Abs:
        return calls.call(self, node, env)

    def _eval_Await(self, node: ast.Await, env: Any) -> Abs:
        raise Unmigratable("NNX128", "a module method is a coroutine", node)


def _in_comprehension(node: ast.expr, env: Any) -> bool:
    """Does an expression bind a name around the comprehension that it stands in?"""
    for above in env.source.ancestors(node):
        if isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return True
        if isinstance(above, ast.stmt | ast.Lambda):
            break
    return False


def _may_be_left_out(node: ast.NamedExpr, env: Any) -> bool:
    """Does a name keep what it had where a part of the condition before this one decides: `a and (w := b)`?"""
    function = env.source.function_of(node)
    inside = [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == node.target.id] if function else []
    around = list(env.source.ancestors(node))
    looped = any(isinstance(a, ast.For | ast.While) for a in around)
    if not looped and sum(isinstance(n.ctx, ast.Store) for n in inside) < 2:
        return False  # elsewhere it has no value
    child: ast.AST = node
    for parent in around:
        if isinstance(parent, ast.stmt):
            return False
        first = parent.values[0] if isinstance(parent, ast.BoolOp) else getattr(parent, "test", child)
        first = parent.left if isinstance(parent, ast.Compare) and len(parent.ops) > 1 else first
        if child is not first:
            return True
        child = parent
    return False
