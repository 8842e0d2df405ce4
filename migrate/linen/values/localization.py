"""How the generated constructor can say an expression of the call."""

from __future__ import annotations

import ast
from typing import Any

from ...trees import children, subtree
from . import closures, drawn_names, given_shapes, localize, mutation, named_expressions
from .arguments import is_self, substituted
from .dims import Dim
from .evaluation import Evaluation
from .presence import GIVEN, Mixed, Presence, condition_text
from .replacing import sayable
from .sites import (
    Abs,
    DimPart,
    Function,
    InitPart,
    Localized,
    LocalizedPart,
    Module,
    ShapePart,
    Site,
    SitePart,
    Static,
    Variable,
)
from .values import Array, Const, DtypeOf, Int, Real, ShapeOf, Tup, Unknown, Value
from .variable_starts import is_unchanged


def is_opaque(value: Value) -> bool:
    """Something that is not known by its sizes alone: the constructor computes it again, where it can be said."""
    if isinstance(value, Tup):
        plain = all(isinstance(item, Int | Static | Const) or is_opaque(item) for item in value.items)
        return plain and any(is_opaque(item) for item in value.items)
    if isinstance(value, ShapeOf):
        return not sayable(value.shape)
    return type(value) is Unknown or isinstance(value, Array | Real)


def named_after(name: str, value: Value, sequence: bool = False) -> Abs:
    """A value that the constructor holds under a name."""
    if isinstance(value, Tup):
        items = (named_after(f"{name}[{i}]", v).value for i, v in enumerate(value.items))
        return Abs(Tup(tuple(items), value.kind))
    if type(value) is Unknown:
        return Abs(Static(name, frozenset({name.partition("[")[0]}), sequence), static=True)
    return Abs(value)


def is_of_setup(env: Any) -> bool:
    """Is it code of `setup` itself, whose statements stand in the constructor?"""
    return env.method is not None and env.method.name == "setup"


def is_sequence(node: ast.expr, env: Any) -> bool:
    """Does the expression give a tuple or list, whatever is in it?"""
    if isinstance(node, ast.Tuple | ast.List | ast.ListComp):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and env.get(node.func.id) is None:
        return node.func.id in ("tuple", "list", "sorted", "range", "reversed")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_sequence(node.left, env) or is_sequence(node.right, env)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return is_sequence(node.left, env)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return True
    held = env.get(node.id) if isinstance(node, ast.Name) else None
    return held is not None and isinstance(held.value, Static) and held.value.sequence


def _given(value: Presence) -> Dim:
    """Whether an array is given, as a text of the constructor's: see `setup_conditions.asking_sizes`."""
    return Dim.opaque(f"{'' if value.present else 'not '}{GIVEN}.{value.argument}")


class Localization(Evaluation):
    """The part of an `Execution` that says expressions of the call in terms of the constructor."""

    def localize(self, node: ast.expr, env: Any) -> Localized | None:
        """How `__init__` says an (already evaluated) expression; None where it cannot."""
        if self.apart:
            return None
        replaced: list[tuple[Any, tuple[InitPart, ...]]] = []
        needs: set[str] = set()
        if not self._localize(node, env, frozenset(), replaced, needs):
            return None
        return Localized(env.source.span(node), env.source, tuple(replaced), frozenset(needs))

    def localize_asking(self, node: ast.expr, found: Abs, env: Any) -> Localized | None:
        """The same of what asks whether the call is given an array, as the constructor asks for its size."""
        if self.in_setup or not any(isinstance(n, ast.expr) and self._is_asked(n, env) for n in subtree(node)):
            return None
        before, self.asking = self.asking, set()
        try:
            said = self.localize(node, env)
            return said if found.flags <= self.asking else None
        finally:
            self.asking = before

    def _is_asked(self, node: ast.expr, env: Any) -> bool:
        held = env.get(node.id) if isinstance(node, ast.Name) else self.evaluated.get(node)
        return held is not None and isinstance(held.value, Presence)

    def localize_statement(self, statement: ast.stmt, value: ast.expr, found: Abs, env: Any) -> Localized | None:
        """A copied assignment; only what is computed from fields, globals and sizes is copied."""
        opaque = is_opaque(found.value) or (isinstance(found.value, ShapeOf | Tup) and mutation.changes(statement, env))
        if isinstance(found.value, Function):  # which may read nothing of the call but sizes
            shaped = isinstance(value, ast.Call) and given_shapes.of_call(self, value, env)
            sized = isinstance(value, ast.Call) and given_shapes.of_sizes(self, value)
            opaque |= isinstance(value, ast.Lambda) or bool(shaped) or sized
        if not found.static and (found.flags or not opaque):
            return None
        inner = self.localize(value, env)
        if inner is None or (isinstance(value, ast.Lambda) and closures.changes(self, value, env)):
            return None
        return Localized(env.source.span(statement), env.source, inner.replaced, inner.needs)

    def localize_function(self, node: ast.FunctionDef, env: Any) -> Localized | None:
        """A nested function as the constructor defines it."""
        if self.apart:
            return None
        replaced: list[tuple[Any, tuple[InitPart, ...]]] = []
        needs: set[str] = set()
        bound = frozenset(
            {a.arg for a in subtree(node) if isinstance(a, ast.arg)}
            | {n.id for n in subtree(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        )
        if not all(self._localize(child, env, bound, replaced, needs) for child in ast.iter_child_nodes(node)):
            return None
        if closures.changes(self, node, env):
            return None
        return Localized(env.source.span(node), env.source, tuple(replaced), frozenset(needs))

    def _localize(
        self,
        node: ast.AST,
        env: Any,
        bound: frozenset[str],
        replaced: list[tuple[Any, tuple[InitPart, ...]]],
        needs: set[str],
    ) -> bool:
        def put(*parts: InitPart) -> bool:
            said = localize.of_comprehensions(parts, bound, env)
            said = localize.of_f_strings(said, node, env) if said is not None else None
            if said is None:
                return False
            replaced.append((env.source.span(node), localize.bracketed(node, said, env)))
            return True

        if isinstance(node, ast.Name):
            if node.id in bound or not isinstance(node.ctx, ast.Load):
                return True
            here = env.get(node.id)
            if here is None:
                return True
            substitute = substituted(env, node.id)
            if substitute is not None:
                needs |= substitute.needs
                return put(LocalizedPart(substitute))
            started = drawn_names.parameter(self, env, node.id) if self.drawn.saying else None
            if started is not None:
                return put(SitePart(started), "[...]")
            if self.asking is not None and isinstance(here.value, Presence):
                self.asking.add(here.value.argument)
                return put(DimPart(_given(here.value)))
            if node.id in self.item_names and isinstance(here.value, Array):
                return False  # the constructor's loop has its width under this name
            if env.is_local(node.id):
                needs.add(node.id)
                return self.drawn.saying or not drawn_names.is_held(self, env, node.id)
            if isinstance(here.value, DtypeOf) and self.asked_dtype is not None:
                return put(self.asked_dtype.part(node, here.value))
            if self.in_setup and isinstance(here.value, Unknown) and is_of_setup(env):
                return True  # setup's own statements stand in the constructor
            if self._put_value(here, put, needs):
                return True
            assigned = named_expressions.said(self, node, here, env)
            if assigned is None:  # what setup computes of its parameters the constructor does, see `first_values`
                return self.in_setup and isinstance(here.value, Array) and is_of_setup(env)
            needs |= assigned.needs
            return put(LocalizedPart(assigned))
        if isinstance(node, ast.expr):
            found = self.evaluated.get(node) or closures.evaluated(self, node, bound, env)
            if found is not None and self.asking is not None and isinstance(found.value, Presence):
                self.asking.add(found.value.argument)
                return put(DimPart(_given(found.value)))
            if found is not None and isinstance(found.value, DtypeOf) and self.asked_dtype is not None:
                return put(self.asked_dtype.part(node, found.value))
            if isinstance(node, ast.Attribute) and is_self(node.value, env):
                if node.attr in self.attributes and node.attr not in self.fields:
                    value = self.attributes[node.attr].value
                    if isinstance(value, Module) and not self.attributes[node.attr].static:
                        return put(SitePart(value.site))
                elif node.attr in self.call_fields:
                    return False
                elif node.attr in self.fields:
                    return put(DimPart(Dim.field(node.attr)))
                elif self.model.method(node.attr) is None and self.model.class_attribute(node.attr) is None:
                    return False
                # the constructor has no other name for it: `me = self`
                return ast.unparse(node.value) == "self" or put(DimPart(Dim.opaque(f"self.{node.attr}")))
            if isinstance(node, ast.Attribute) and found is not None and isinstance(found.value, Static):
                holder = self.evaluated.get(node.value)
                if holder is not None and isinstance(holder.value, Module) and holder.value.site.held:
                    return put(DimPart(self.dim_of(found.value)))  # an argument of a module that is handed in
            if isinstance(node, ast.Attribute) and node.attr == "value":
                if isinstance(node.value, ast.Attribute) and is_self(node.value.value, env):
                    kept = self.attributes.get(node.value.attr)  # said as it stands
                    if kept is not None and isinstance(kept.value, Variable):
                        if not is_unchanged(self, kept.value.site, node, env):
                            return False
                        found = None
                else:
                    held = self.evaluated.get(node.value)
                    if self.starting and held is not None and isinstance(held.value, Variable):
                        starts = is_unchanged(self, held.value.site, node, env)
                        return starts and put(SitePart(held.value.site), "[...]")
            drawn = node in self.first_draws or bool(drawn_names.is_draw(self, node))
            if found is not None and not found.static and not isinstance(node, ast.Lambda) and not drawn:
                if isinstance(node, ast.Attribute) and node.attr == "shape":
                    base = self.evaluated.get(node.value)
                    if base is not None and isinstance(base.value, Array):
                        return bool(put(ShapePart(base.value.shape))) if sayable(base.value.shape) else False
                if isinstance(node, ast.BoolOp | ast.IfExp) and isinstance(found.value, Int):
                    pass  # said with its own words, part by part
                elif isinstance(found.value, Int | Tup | Module):
                    mark = (len(replaced), set(needs))
                    if self._put_value(found, put, needs, node if self.in_setup else None):
                        return True
                    del replaced[mark[0] :]
                    needs.clear()
                    needs |= mark[1]
                    arrays = isinstance(node, ast.Call) and isinstance(found.value, Tup) and is_opaque(found.value)
                    again = arrays and isinstance(node, ast.Call) and localize.is_plain_call(self, node, env)
                    if not again and not isinstance(node, ast.Tuple | ast.List):
                        return False
                elif isinstance(node, ast.Compare):
                    text = localize.shape_condition(self, node)
                    if text is not None:
                        return put(*text)
                elif localize.works_on(node, bound):
                    if isinstance(node, ast.Call) and not localize.is_free_call(self, node):
                        return False
                elif not localize.is_said_by_parts(self, node, found.value, env) and not localize.is_called(self, node, env):
                    return False
            if isinstance(node, ast.Call):
                known = localize.localize_call(self, node, env, bound, replaced, needs)
                if known is not None:
                    return known
        inner = bound
        if isinstance(node, ast.Lambda):
            if closures.changes(self, node, env):
                return False
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            inner = bound | {a.arg for a in named if a is not None}
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            inner = bound | {n.id for g in node.generators for n in subtree(g.target) if isinstance(n, ast.Name)}
        asked = set[str]()
        said = all(self._localize(child, env, inner, replaced, asked) for child in children(node))
        needs |= asked - (inner - bound)  # sizes may say the names of a comprehension
        return said

    def _put_value(self, found: Abs, put: Any, needs: set[str], node: ast.AST | None = None) -> bool:
        """Replace an expression by the value it has: a size, a module's attribute, a constant."""
        value = found.value
        if isinstance(value, Int):
            needs |= value.dim.dependencies()
            return bool(put(DimPart(value.dim)))
        if isinstance(value, Static):
            needs |= value.deps
            return bool(put(DimPart(self.dim_of(value))))
        if isinstance(value, Const) and not found.flags:
            return bool(put("..." if value.value is Ellipsis else repr(value.value)))
        if isinstance(value, ShapeOf) and not found.flags and sayable(value.shape):
            return bool(put(ShapePart(value.shape)))
        if isinstance(value, Module) and (not value.element or value.site.node is node or self._of_this_pass(value.site)):
            return bool(put(SitePart(value.site)))
        if isinstance(value, Tup):
            parts: list[InitPart] = ["[" if value.kind == "list" else "("]
            for position, item in enumerate(value.items):
                if position:
                    parts.append(", ")
                inner: list[InitPart] = []
                if not self._put_value(Abs(item), lambda *p, inner=inner: inner.extend(p) or True, needs):
                    return False
                parts.extend(inner)
            if len(value.items) == 1 and value.kind != "list":
                parts.append(",")
            parts.append("]" if value.kind == "list" else ")")
            return bool(put(*parts))
        return False

    def _of_this_pass(self, site: Site) -> bool:
        """Is a module made in the pass of the loops that is being followed, by a compact method?"""
        return not self.in_setup and not site.in_setup and bool(site.loops) and site.loops == tuple(self.loops)

    def condition(self, node: ast.expr, test: Abs, env: Any) -> tuple[Localized | None, str, None]:
        """A branch's condition in the constructor; (None, "", None) where it depends on how the module is called."""
        if self.apart:
            return None, "", None
        known = condition_text(test.value)
        if known and not self.in_setup:
            return None, known, None
        # What is known of a shape holds however the module is called, also where a flag had a part in the array.
        of_shapes = isinstance(node, ast.Compare) and localize.shape_condition(self, node) is not None
        localized = None if test.flags and not of_shapes else self.localize(node, env)
        if localized is not None:
            return localized, "", None
        return None, test.value.text if isinstance(test.value, Presence | Mixed) else "", None
