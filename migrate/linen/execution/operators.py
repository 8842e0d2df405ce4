"""Arithmetic, comparisons and conditions, and what a condition that holds tells of its operands."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from ..evidence.ranks import asked_rank
from ..lifted.transform_choices import chosen_transform
from ..lists import added_arrays, chains
from ..lists.conditional_items import all_of, asks_what_changes
from ..lists.size_lists import before_statement
from ..modules import alternatives, factory_functions, fallback_factories
from ..modules.choices import FactoryChoice, chosen
from ..modules.given_functions import ChosenFunction
from ..modules.lost_factories import one_of
from ..shapes import filled, one_or_more, products, shapes
from ..values import bundles
from ..values.default_dtypes import field_or_input
from ..values.dims import Dim
from ..values.evaluation import Evaluation
from ..values.kind_results import OUT
from ..values.merging import (
    Choice,
    Either,
    chosen_apart,
    decided,
    either,
    may_be_none,
    of_other_modules,
    question,
    under_step,
)
from ..values.presence import Known, Mixed, OptionalArray, Presence, certain, step_of, untold, whole_argument
from ..values.scalars import widened
from ..values.sites import (
    Abs,
    Block,
    Branch,
    Factory,
    Function,
    Module,
    Repeated,
    Static,
    Table,
    Unmigratable,
)
from ..values.values import Array, Const, Int, Real, Shape, ShapeOf, Tup, Unknown, Value
from . import branch_execution, joined_branches, open_constants, side_ranks, stand_ins
from .nested_conditions import together

OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
    "USub": "-", "UAdd": "+", "Not": "not", "Invert": "~",
}  # fmt: skip
_COMPARED_BY_ITEM = {"==", "!=", "<", "<=", ">", ">="}
_ARITHMETIC = {"+", "-", "*", "//", "%", "**"}


class Operators(Evaluation):
    """The part of an `Execution` that evaluates operators and conditional expressions."""

    def _eval_BinOp(self, node: ast.BinOp, env: Any) -> Abs:
        left, right = self.evaluate(node.left, env), self.evaluate(node.right, env)
        static, flags = left.static and right.static, left.flags | right.flags
        shown = filled.beside_argument(self, node, left.value, right.value, env)
        value = shown or self.combine(type(node.op).__name__, left, right, node)
        if static and isinstance(value, Unknown):
            if isinstance(node.op, ast.Add | ast.Mult) and (isinstance(left.value, Tup) or isinstance(right.value, Tup)):
                return Abs(Static(*self.self_text(node, env), sequence=True), True, flags)  # `[0] + pads`: no number
            return self._static_text(node, True, flags, env)
        return Abs(value, static, flags)

    def combine(self, op_name: str, left: Abs, right: Abs, node: ast.AST) -> Value:
        op = OPERATORS[op_name]
        a, b = left.value, right.value
        if (self.holds_module(a) or self.holds_module(b)) and op == "+":
            return self.extended(a, b, node)
        if op == "+":
            pieces = added_arrays.added(self, a, b)
            if pieces is not None:
                return pieces
            joined = bundles.added(a, self.plain(b) if isinstance(b, Tup) else b, node)
            if joined is not None:
                return joined
        if isinstance(a, Static) and isinstance(b, Static):
            if op in ("+", "-", "*", "//", "%"):
                return shapes.binary(op, Int(self.dim_of(a)), Int(self.dim_of(b)))
            return Unknown("")
        if op == "**" and isinstance(a, Static | Int) and isinstance(b, Static | Int):
            x, y = self.plain(a), self.plain(b)
            assert isinstance(x, Int) and isinstance(y, Int)
            if x.dim.value is not None and y.dim.value is not None and y.dim.value >= 0:
                return Int(Dim.of(x.dim.value**y.dim.value))
            return Int(Dim.expr("{0} ** {1}", x.dim, y.dim))
        if (isinstance(a, Static) and isinstance(b, Tup)) or (isinstance(b, Static) and isinstance(a, Tup)):
            return Unknown("") if left.static and right.static else _ending(op, b)
        if op not in _ARITHMETIC and (isinstance(a, Static) or isinstance(b, Static)):
            if isinstance(a, Array) or isinstance(b, Array):
                return _beside_text(self, op, a, b)
            return Unknown("")
        if isinstance(a, Int) and isinstance(b, Tup) and op == "+" and not right.static:
            return _ending(op, b)  # no number, as it turns out: `kernel_shape: int | Sequence[int]`
        result = shapes.binary(op, self.plain(a), self.plain(b))
        if op == "@":
            result = products.with_width(a, b, result)
        said = next((v for v in (a, b) if isinstance(v, Static | Int | Real)), None)
        if isinstance(result, Array) and said is not None:
            result = widened(self, result, said)
        if isinstance(a, Array) and isinstance(b, Array) and any(_is_one_of(v, self.grown_from_one) for v in (a, b)):
            return result  # it was 1 before the loop, and may still be
        if isinstance(a, Array) and isinstance(b, Array) and op == "/" and a.shape.dim(-1) is None:
            return Array(a.shape)  # what divides mostly has fewer dimensions: a count, a sum
        if isinstance(a, Array) and isinstance(b, Array) and op in ("+", "-", "*", "/"):
            if op in ("*", "/"):
                _outer_product(self, a.shape, b.shape)
            return _same_rank(self, a, b, _same_width(self, a, b, result))
        if isinstance(result, Unknown) and op in ("+", "-", "*", "/"):
            # Something unknown is added to an array: the array's width stays (see `_same_width`).
            for known, other in ((a, b), (b, a)) if op != "/" else ((a, b),):
                if isinstance(known, Array) and isinstance(other, Unknown):
                    if (known.shape.rank or 0) > 1 and type(other) is Unknown:
                        return Array(Shape(tuple(_sized(self, d) for d in known.shape.dims)))
                    width = known.shape.dim(-1)
                    if width is not None and one_or_more.of_vector(self, width):
                        return one_or_more.beside_unknown(self, width)
                    if width is not None and not one_or_more.may_be_one(self, width):
                        return Array(Shape((width,), Shape.unknown(*known.shape.needs()).lead))
        return result

    def extended(self, a: Value, b: Value, node: ast.AST) -> Value:
        """`+` or `+=` of lists of modules."""
        chained = chains.extended(self, a, b)
        if chained is not None:
            return chained
        if isinstance(a, Tup) and isinstance(b, Tup):
            if self.loops and not self.in_setup:
                raise Unmigratable("NNX121", "a list of submodules grows in a loop by `+`", node)
            return Tup((*a.items, *b.items), a.kind)
        if isinstance(a, Tup) and not a.items:
            return b
        raise Unmigratable("NNX121", "lists of submodules are joined in a way that cannot be followed", node)

    def _eval_UnaryOp(self, node: ast.UnaryOp, env: Any) -> Abs:
        value = self.evaluate(node.operand, env)
        op = OPERATORS[type(node.op).__name__]
        if op == "not":
            value = question(value)
            certain = self.truth(value.value)
            if certain is not None:
                return Abs(Const(not certain), value.static, value.flags)
            if isinstance(value.value, Presence | Known | Mixed):
                return Abs(value.value.negated(), False, value.flags)
            found: Value = Unknown("")
        else:
            found = shapes.unary(op, self.plain(value.value))
        if isinstance(found, Unknown) and value.static:
            return self._static_text(node, True, value.flags, env)
        return Abs(found, value.static, value.flags)

    def _eval_BoolOp(self, node: ast.BoolOp, env: Any) -> Abs:
        is_and = isinstance(node.op, ast.And)
        values: list[Abs] = []
        for element in node.values:
            found = self._operand(node, element, values, env)
            certain = self.truth(found.value)
            if certain is not None and certain != is_and:
                # `False and ...`: the rest is not evaluated
                values.append(found)
                if all(self.truth(v.value) is not None for v in values):
                    return found
                if is_and:
                    return Abs(Const(not is_and), found.static, found.flags) if isinstance(found.value, Const) else found
                if not isinstance(found.value, Const | Int | Tup):
                    return found
                before = node.values[: len(values) - 1]
                if isinstance(found.value, Const) and found.value.value is True and all(map(_is_boolean, before)):
                    return found  # `x.shape[-1] != self.width or True`
                break  # `self.width or 6` is either
            values.append(found)
        if all(self.truth(v.value) is not None for v in values):
            return values[-1]
        if all(self.truth(v.value) is not None for v in values[:-1]):
            return values[-1]  # `None or x.shape[-1]`
        if not is_and and len(values) == 2:  # `self.norm or nn.LayerNorm`
            held, other = values
            fallback_factories.note(self, node.values[0], held.value, other.value, env)
            if isinstance(held.value, Factory) and isinstance(other.value, Factory):
                localized, text, _ = self.condition(node.values[0], held, env)
                factory = chosen(self, node.values[0], localized, text, held.value, other.value, env)
                return Abs(factory, False, held.flags | other.flags)
        kinds = one_of([v.value for v in values])
        if kinds is not None:
            return Abs(kinds, False, frozenset().union(*[v.flags for v in values]))
        undecided = [v for v in values if self.truth(v.value) is None]
        static = all(v.static for v in undecided)
        flags = frozenset().union(*[v.flags for v in undecided])
        if static and all(v.static for v in values):
            return self._static_text(node, True, flags, env)
        if not is_and and len(values) == 2 and values[0].static and isinstance(values[0].value, Static | Int):
            first, second = self.plain(values[0].value), self.plain(values[1].value)
            if isinstance(first, Int) and isinstance(second, Int):  # `self.width or 4 * d`
                text, deps = self.self_text(node.values[0], env)
                return Abs(Int(Dim.cond(text, first.dim, second.dim, deps)), False, flags)
        if not is_and and len(values) == 2 and isinstance(values[1].value, Array):
            return Abs(values[1].value, False, flags)
        if not is_and and len(values) == 2:
            dtype = field_or_input(self, node, values[0], values[1], node.values[1], node.values[:1], env)
            if dtype is not None:
                return dtype
        mixed = together(self, node, values, env)
        return Abs(all_of(self, node.values, values, mixed, env) if is_and else mixed, False, flags)

    def _operand(self, node: ast.BoolOp, element: ast.expr, before: Sequence[Abs], env: Any) -> Abs:
        """A part of `self.head and nn.Dense(4)(x)`: what it makes is made where the parts before it let it come to that."""
        outer, place, mark = self.block, self.mark, len(self.sites)
        kept = Block()
        self.block, self.mark = kept, (kept, 0)
        found: Abs = self.evaluate(element, env)
        self.block, self.mark = outer, place
        made = [] if self.in_setup else self.sites[mark:]
        for test, asked in [*zip(node.values, before)][::-1] if made else ():
            if self.truth(asked.value) is None:
                localized, text, _ = self.condition(test, question(asked), env)
                sides = (kept, Block()) if isinstance(node.op, ast.And) else (Block(), kept)
                kept = Block([Branch(localized, *sides, env.source, text)])
                for site in made:
                    site.conditions = (*site.conditions, (test, localized is None and not text))
        outer.steps.extend(kept.steps)
        return found

    def _eval_Compare(self, node: ast.Compare, env: Any) -> Abs:
        operands = [self.evaluate(e, env) for e in [node.left, *node.comparators]]
        static, flags = all(o.static for o in operands), frozenset().union(*[o.flags for o in operands])
        if len(node.ops) == 1:
            op = OPERATORS[type(node.ops[0]).__name__]
            a, b = operands[0].value, operands[1].value
            if op in ("is", "is not", "==", "!=") and any(isinstance(v, Const) and v.value is None for v in (a, b)):
                other = b if isinstance(a, Const) and a.value is None else a
                known = self._is_none(other, operands)
                if known is not None:
                    return Abs(Const(known if op in ("is", "==") else not known), static, flags)
                step = other.step if isinstance(other, OptionalArray) or may_be_none(other) else None
                argument = whole_argument(other) if step is None and not isinstance(other, OptionalArray) else ""
                if step is not None:
                    return Abs(Known(self.project.said(node), step, op in ("is not", "!=")), False, flags)
                if argument:
                    text = self.project.said(node)
                    return Abs(Presence(text, argument, op in ("is not", "!=")), False, flags)
            elif op in ("in", "not in") and isinstance(b, Table) and isinstance(a, Const) and a.value not in b.maybe:
                return Abs(Const((a.value in b.items) == (op == "in")), static, flags)
            elif not isinstance(a, Static) and not isinstance(b, Static):
                certain = shapes.compare(op, self.plain(a), self.plain(b))
                if isinstance(certain, Const):
                    return Abs(certain, static, flags)
                if isinstance(certain, Array):
                    number = next((v for v in (a, b) if isinstance(v, Int | Real)), None)
                    if number is not None:
                        certain = dataclasses.replace(widened(self, certain, number), boolean=True)
                    return Abs(certain, static, flags)
            elif op in _COMPARED_BY_ITEM and (isinstance(a, Array) or isinstance(b, Array)):  # with a number of the fields
                array = _beside_text(self, op, a, b)
                return Abs(dataclasses.replace(array, boolean=True), static, flags)
        return self._static_text(node, static, flags, env)

    def _is_none(self, value: Value, operands: Sequence[Abs]) -> bool | None:
        if isinstance(value, Const):
            return value.value is None
        if may_be_none(value):
            return None
        if any(s.held for s in self.modules_in(value)):
            return None  # handed in through a field, which others may leave out
        if isinstance(value, Either):
            return None if value.may_be_none_of_them() else False
        if isinstance(value, Int | Tup | Module | Factory | Function | Table | Repeated) and not (
            isinstance(value, Factory) and value.field
        ):
            return isinstance(value, Int) and False
        if isinstance(value, Array) and not isinstance(value, OptionalArray):
            # What is computed is there; an argument may be left out.
            return None if any(o.flags for o in operands) and whole_argument(value) else False
        return None

    def _eval_IfExp(self, node: ast.IfExp, env: Any) -> Abs:
        test = open_constants.left_open(self, node, (), env, question(self.evaluate(node.test, env)))  # type: ignore[arg-type]
        certain = self.truth(test.value)
        if certain is not None:
            return self.evaluate(node.body if certain else node.orelse, env)
        mark = len(self.sites)
        localized, text, _ = self.condition(node.test, test, env)
        outer, place = self.block, self.mark
        then, orelse = Block(), Block()
        self.block, self.mark = then, (then, 0)
        env_then, env_else = env.copy(), env.copy()
        self.narrow(node.test, env_then, True)
        self.narrow(node.test, env_else, False)
        sides = step_of(self, node.test, test, text, env)
        way = sides or untold(self, test.value)
        with side_ranks.of_side(self, node, True, env_then), self.under(way, True, localized):  # type: ignore[arg-type]
            a = self.evaluate(node.body, env_then)
        self.block, self.mark = orelse, (orelse, 0)
        with side_ranks.of_side(self, node, False, env_else), self.under(way, False, localized):  # type: ignore[arg-type]
            b = self.evaluate(node.orelse, env_else)
        side_ranks.tell(self, node)  # type: ignore[arg-type]
        self.block, self.mark = outer, place
        branch = Branch(localized, then, orelse, env.source, text)
        branch.step = sides[0] if sides is not None and not sides[0].deps else None
        if localized is not None or text:
            a, b = alternatives.saying(a, b, [bound.value for bound in env.names.values()])
        for site in self.sites[mark:]:
            site.conditions = (*site.conditions, (node, localized is None and not text))
        makes = bool(then.steps or orelse.steps)
        whole = _all_of(node, env)
        alone = isinstance(whole, ast.Assign | ast.AnnAssign)  # nothing of the statement is made before its sizes
        apart = of_other_modules(a.value, b.value, sides)
        if makes:
            outer.steps.append(branch)
        parts = stand_ins.of_argument(a, b, sides)
        if parts is not None:
            return parts
        if (localized is not None or text) and (alone or not makes):
            followed = self.merge_tracked(a, b, then, orelse, sides) if not apart else None
            if then.steps and not makes:  # widths that differ: known before the layer that the statement makes of them
                before_statement(self, branch, "")
            if followed is not None:
                return followed
        of_known_width = [isinstance(v.value, Array) and v.value.shape.dim(-1) is not None for v in (a, b)]
        if makes and all(of_known_width) and isinstance(whole, ast.Return):
            returned = branch_execution.either_returned(self, a, b, sides)  # type: ignore[arg-type]
            if returned is not None:
                return returned
        for field, input_dtype, of_input, of_field in ((a, b, node.orelse, node.body), (b, a, node.body, node.orelse)):
            dtype = field_or_input(self, node, field, input_dtype, of_input, [node.test, of_field], env)
            if dtype is not None:
                return dtype
        static = test.static and a.static and b.static
        flags = test.flags | a.flags | b.flags
        one, other = (self.plain(v.value) if isinstance(v.value, Static) else v.value for v in (a, b))
        either_size = isinstance(a.value, Int) or isinstance(b.value, Int)
        if isinstance(one, Int) and isinstance(other, Int) and either_size and test.static:
            cond, deps = self.self_text(node.test, env)
            if one != other and self.in_setup and asks_what_changes(self, cond):
                raise Unmigratable("NNX113", f"a size asks `{ast.unparse(node.test)}`, which setup sets again", node)
            return Abs(Int(Dim.cond(cond, one.dim, other.dim, deps)), static, flags)
        if test.static and isinstance(a.value, Tup) and isinstance(b.value, Tup):
            sizes = self._either_sizes(a.value, b.value, *self.self_text(node.test, env))
            if sizes is not None:
                return Abs(sizes, static, flags)
        outside = factory_functions.of_outside(self, node.test, localized, text, (a, b), env)
        if outside is not None:
            return outside
        fallback_factories.note(self, node.test, a.value, b.value, env)
        if isinstance(a.value, Factory | FactoryChoice) and isinstance(b.value, Factory | FactoryChoice):
            return Abs(chosen(self, node.test, localized, text, a.value, b.value, env), static, flags)
        transform = chosen_transform(self, node.test, localized, text, a.value, b.value, env)
        if transform is not None:
            return Abs(transform, static, flags)
        merged = joined_branches.of_either(node, a, b, self.merge_values([a, b]))
        known = under_step(chosen_apart(merged.value, a.value, b.value, sides), a.value, b.value, sides)
        if known is not merged.value:
            return Abs(known, False, flags)
        if self.holds_module(a.value) or self.holds_module(b.value):
            found = either(self, a.value, b.value, node)
            if localized is not None:
                found = decided(found, *self.self_text(node.test, env), a.value, b.value)
            return Abs(found, static, flags)
        if static and isinstance(merged.value, Unknown):
            said: Abs = self._static_text(node, True, flags, env)
            if isinstance(merged.value, Choice) and type(said.value) is Static:
                return dataclasses.replace(said, value=ChosenFunction(said.value.text, said.value.deps, choice=merged.value))
            return said
        return Abs(merged.value, static, flags)

    def _either_sizes(self, a: Tup, b: Tup, test: str, deps: frozenset[str]) -> Tup | None:
        """`(2, 2) if i > 0 else (1, 1)`: as many sizes on either side."""
        known = [(x, y) for x, y in zip(a.items, b.items) if isinstance(x, Int) or isinstance(y, Int)]
        pairs = [(self.plain(x), self.plain(y)) for x, y in known]
        found = [Int(Dim.cond(test, x.dim, y.dim, deps)) for x, y in pairs if isinstance(x, Int) and isinstance(y, Int)]
        whole = a.kind == b.kind and len(found) == len(a.items) == len(b.items)
        return Tup(tuple(found), a.kind) if whole else None

    def narrow(self, test: ast.expr, env: Any, holds: bool) -> None:
        """What a condition tells about names: `x is None`."""
        asked = self.evaluated[test].value if test in self.evaluated else None
        if isinstance(asked, Presence) and not isinstance(test, ast.Compare):  # a name that holds `x is None`
            for name, held in list(env.names.items()):
                if whole_argument(held.value) == asked.argument:
                    given = asked.present == holds
                    env.names[name] = dataclasses.replace(held, flags=frozenset()) if given else Abs(Const(None))
            return
        if isinstance(asked, Known) and not isinstance(test, ast.Compare):
            for name, held in list(env.names.items()):
                if isinstance(held.value, OptionalArray) and held.value.step == asked.step:
                    there = asked.present == holds
                    env.names[name] = dataclasses.replace(held, value=certain(held.value)) if there else Abs(Const(None))
            return
        rank = asked_rank(test) if holds else None  # `if x.ndim != 4: raise` leaves an array as it was given
        if rank is not None:
            self._narrow_rank(*rank, env)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
            for value in test.values:
                self.narrow(value, env, holds)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, env, not holds)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq):
            if isinstance(test.ops[0], ast.Eq) == holds:
                self._narrow_shapes(test.left, test.comparators[0], env)
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name)):
            return
        if not (isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None):
            return
        is_none = isinstance(test.ops[0], ast.Is | ast.Eq) == holds
        bound = env.get(test.left.id)
        if bound is None:
            return
        if is_none:
            env.names[test.left.id] = Abs(Const(None), bound.static, bound.flags)
        elif isinstance(bound.value, Array):
            env.names[test.left.id] = Abs(certain(bound.value), bound.static, frozenset())

    def _narrow_shapes(self, left: ast.expr, right: ast.expr, env: Any) -> None:
        """Where `a.shape == b.shape`, or `a.shape[-1] == n`, the name on the left has what is known on the right."""
        if isinstance(left, ast.Subscript):
            holder, size = _shape_holder(left.value), self.evaluated[right].value
            place = self.evaluated[left.slice].value if left.slice in self.evaluated else None
            bound = env.get(holder) if holder else None
            if bound is None or not isinstance(bound.value, Array) or not isinstance(size, Int):
                return
            if isinstance(place, Int) and place.dim.value is not None and place.dim.value < 0:
                shape = bound.value.shape.expand(-place.dim.value)
                dims = list(shape.dims)
                if len(dims) < -place.dim.value:
                    return  # the condition cannot be asked
                dims[place.dim.value] = size.dim
                env.names[holder] = dataclasses.replace(bound, value=Array(Shape(tuple(dims), shape.lead)))
            return
        a, b = _shape_holder(left), _shape_holder(right)
        known, other = (env.get(a) if a else None), (env.get(b) if b else None)
        if known is not None and other is not None and isinstance(known.value, Array) and isinstance(other.value, Array):
            env.names[a] = dataclasses.replace(known, value=other.value)

    def _narrow_rank(self, name: str, rank: int, env: Any) -> None:
        """An array is known to have so many dimensions."""
        bound = env.get(name)
        if bound is None or not isinstance(bound.value, Array):
            return
        found = bound.value.shape.implied_rank(rank)
        if found is not None and found[1] >= 0:
            shape = bound.value.shape.with_rank(*found)
            env.names[name] = dataclasses.replace(bound, value=dataclasses.replace(bound.value, shape=shape))

    # the constructor's words -----------------------------------------------------------------------------------


def _all_of(node: ast.IfExp, env: Any) -> ast.AST | None:
    """What a choice is all of, alone or within others: `x = a if p else b if q else c`."""
    below: ast.AST = node
    parent: ast.AST | None = env.source.parents.get(node)
    while isinstance(parent, ast.IfExp) and below is not parent.test:
        below, parent = parent, env.source.parents.get(parent)
    return parent


def _plainer(a: Dim, b: Dim) -> Dim:
    """Of two sizes that are the same, the one that says more: by the fields, rather than by an input or along a branch.

    What only a submodule knows of itself says least: who contains the class cannot ask for that.
    """

    def rank(dim: Dim) -> int:
        kinds = {atom.kind for atom in dim.atoms()}
        asked = any(atom.kind == "opaque" and str(atom.args[0]).endswith(f".{OUT}") for atom in dim.atoms())
        return 4 * asked + 2 * ("input" in kinds) + ("local" in kinds)

    return b if rank(b) < rank(a) else a


def _of_inputs(dim: Dim) -> bool:
    return any(atom.kind == "input" for atom in dim.atoms())


def _is_one_of(value: Array, trackers: set[str]) -> bool:
    """Is the width a size that a loop changes, one of `trackers`?"""
    width = value.shape.dim(-1)
    return width is not None and bool(width.dependencies() & trackers)


def _sized(run: Any, dim: Dim | None) -> Dim | None:
    """A size that stays when something unknown is added to it: any but 1."""
    return dim if dim is not None and not one_or_more.may_be_one(run, dim) else None


def _same_width(run: Any, a: Array, b: Array, result: Value) -> Value:
    """Two arrays that are added have one width: of two symbolic sizes, the one that the fields give.

    Broadcasting would allow one of them to be 1; sizes that are 1 are mostly written so. Where it is not so the
    migrated constructor asks for another size than the weights have, and fails.
    """
    left, right = a.shape.dim(-1), b.shape.dim(-1)
    if (left is None) != (right is None):
        known = right if left is None else left
        assert known is not None
        if one_or_more.of_vector(run, known):
            return one_or_more.beside_unknown(run, known)
        if one_or_more.may_be_one(run, known) or (isinstance(result, Array) and not result.shape.dims):
            return result
        picked = known
    elif left is None or right is None:
        return result
    elif left.value is not None or right.value is not None or left == right:
        if isinstance(result, Array):
            return result
        picked = right if left.value == 1 else left
    elif (both := one_or_more.broadcast(run, left, right)) is not None:
        picked = both
    elif _of_inputs(left) and _of_inputs(right):
        return result  # the constructor is given both: the greater one is exact
    else:
        picked = _plainer(left, right)
    if isinstance(result, Array) and result.shape.dims:
        dims = list(result.shape.dims)
        for place in range(-len(dims), 0):
            atom = dims[place].single_atom() if dims[place] is not None else None  # type: ignore[union-attr]
            if dims[place] is None or (atom is not None and atom.kind == "max"):
                x, y = a.shape.dim(place), b.shape.dim(place)
                dims[place] = _plainer(x, y) if place != -1 and x is not None and y is not None else dims[place]
        dims[-1] = picked
        for own, other in ((a.shape, b.shape), (b.shape, a.shape)):
            if own.lead is None and other.lead is not None and not other.lead.known and len(other.dims) <= len(own.dims):
                # What is added to an array has seldom more dimensions than it, or larger ones.
                sizes = [_sized(run, d) for d in own.dims[: len(own.dims) - len(dims)]]
                sizes += [_sized(run, d) or found for d, found in zip(own.dims[len(sizes) : -1], dims)]
                return Array(Shape((*sizes, picked)))
        return Array(Shape(tuple(dims), result.shape.lead))
    return Array(Shape((picked,), Shape.unknown(*a.shape.needs(), *b.shape.needs()).lead))


def _ending(op: str, last: Value) -> Value:
    """`self.kernel_shape + (1, x.shape[-1])`: of a shape whose length is not known, the sizes at its end."""
    sizes = last.items if isinstance(last, Tup) else ()
    if op != "+" or not sizes or not all(isinstance(size, Int) for size in sizes):
        return Unknown("")
    return ShapeOf(Shape(tuple(size.dim for size in sizes if isinstance(size, Int)), Shape.unknown().lead))


def _outer_product(run: Any, a: Shape, b: Shape) -> None:
    """`t[:, None] * frequencies[None, :]`: a column times a row of known rank, so that `t` is a vector.

    Not where the row is as wide as the input itself: `x[:, None] * scale[None]`.
    """
    for column, row in ((a, b), (b, a)):
        lead = column.lead
        if lead is None or not lead.known or column.dims or len(lead.head) != 2 or (lead.skipped, lead.dropped) != (1, 0):
            continue
        if lead.head[1] == Dim.of(1) and row.rank == 2 and row.dims[0] == Dim.of(1):
            width = row.dims[1]
            if width is not None and all(a.args[0] != lead.argument for a in width.atoms() if a.kind == "input"):
                run.assumed_ranks.setdefault(lead.argument, 1)


def _same_rank(run: Any, a: Array, b: Array, result: Value) -> Value:
    """What is added to an input has as many dimensions: `skip + f(x)`, where nothing is known of what `f` does to the
    dimensions before the last.
    """
    if not isinstance(result, Array) or result.shape.lead is None or result.shape.lead.known or len(result.shape.dims) != 1:
        return result
    width = result.shape.dims[-1]
    if width is None or run.loops:
        return result  # a loop may change it
    for known, other in ((a.shape, b.shape), (b.shape, a.shape)):
        if known.lead is not None and known.of_argument() and other.lead is not None and not other.lead.why():
            wide = known.expand(1)
            return Array(Shape((*wide.dims[:-1], result.shape.dims[-1]), wide.lead))
    return result


def _beside_text(run: Any, op: str, a: Value, b: Value) -> Array:
    """`x / self.scale`: an array and a value known as text, whose products have other sizes if it is a matrix."""
    array, other = (a, b) if isinstance(a, Array) else (b, a)
    assert isinstance(array, Array)
    return Array(Shape.unknown(*array.shape.needs())) if op == "@" else widened(run, array, other)


def _shape_holder(node: ast.expr) -> str:
    """`x` of `x.shape`."""
    if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
        return node.value.id
    return ""


def _is_boolean(node: ast.expr) -> bool:
    """Whether an expression is True or False, and nothing else that is as true: a comparison, `not`, or several of them."""
    if isinstance(node, ast.BoolOp):
        return all(_is_boolean(value) for value in node.values)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
