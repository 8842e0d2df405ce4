"""Evaluation of expressions to abstract values, and how the generated constructor can say an expression."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..source import SourceFile
from . import calls, iteration, localize, shapes
from .arguments import child_env, parameters_of, substituted
from .dims import Dim
from .environment import Env
from .functions import decorated_function, global_value
from .merging import Either, either, members
from .module_calls import module_attribute
from .sites import (
    Abs,
    Block,
    DimPart,
    Factory,
    For,
    Function,
    InitPart,
    Localized,
    LocalizedPart,
    Module,
    ModuleField,
    Repeated,
    ShapePart,
    Site,
    SitePart,
    Static,
    Table,
    Unmigratable,
    Variable,
)
from .values import Array, Const, Int, Shape, Slice, Star, Tup, Unknown, Value

ARRAY_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "T", "at", "mT", "real", "imag", "value", "aval"})
OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
    "USub": "-", "UAdd": "+", "Not": "not", "Invert": "~",
}  # fmt: skip
_ARITHMETIC = {"+", "-", "*", "//", "%", "**"}


class Expressions:
    """The expression half of an `Execution`; see there for the attributes' meaning."""

    model: Any
    analyser: Any
    project: Any
    fields: Mapping[str, Any]
    attributes: dict[str, Abs]
    sites: list[Site]
    block: Block
    loops: list[For]
    in_setup: bool
    evaluated: dict[ast.AST, Abs]

    # given by Execution
    def _snapshot(self) -> Any:
        raise NotImplementedError

    def _rollback(self, snapshot: Any) -> None:
        raise NotImplementedError

    def field_value(self, name: str) -> Abs:
        raise NotImplementedError

    def run_function(self, node: ast.FunctionDef | ast.Lambda, env: Any) -> Abs:
        raise NotImplementedError

    def loop(self, node: Any, target: ast.expr, iterator: ast.expr, env: Any, body: Any) -> Any:
        raise NotImplementedError

    def merge_values(self, values: list[Abs]) -> Abs:
        raise NotImplementedError

    # evaluation ------------------------------------------------------------------------------------------------
    def constant(self, node: ast.expr, source: SourceFile) -> Abs:
        """An expression at module level: defaults, class attributes, global constants."""
        return self.evaluate(node, Env({}, source))

    def evaluate(self, node: ast.expr, env: Any) -> Abs:
        """The abstract value of an expression; what is made on the way is recorded."""
        handler = getattr(self, f"_eval_{type(node).__name__}", None)
        found: Abs = handler(node, env) if handler is not None else self._eval_other(node, env)
        self.evaluated[node] = found
        return found

    def _eval_other(self, node: ast.expr, env: Any) -> Abs:
        static, flags = True, frozenset[str]()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                value = self.evaluate(child, env)
                static, flags = static and value.static, flags | value.flags
        return self._static_text(node, static, flags, env)

    def _static_text(self, node: ast.expr, static: bool, flags: frozenset[str], env: Any) -> Abs:
        if not static:
            return Abs(Unknown(ast.unparse(node)), False, flags)
        text, deps = self.self_text(node, env)
        return Abs(Static(text, deps), True, flags)

    def self_text(self, node: ast.expr, env: Any) -> tuple[str, frozenset[str]]:
        """Source with fields as `self.f` and other local names replaced by what they are."""
        run = self

        class Names(ast.NodeTransformer):
            def __init__(self) -> None:
                self.deps: set[str] = set()

            def visit_Name(self, name: ast.Name) -> ast.AST:
                bound = env.get(name.id)
                if bound is None or name.id == "self":
                    return name
                if env.is_local(name.id):
                    self.deps.add(name.id)
                    return name
                text = run.text_of_value(bound.value)
                if text is None:
                    self.deps.add(name.id)
                    return name
                if isinstance(bound.value, Static | Int):
                    value = bound.value
                    self.deps |= value.deps if isinstance(value, Static) else value.dim.dependencies()
                return ast.parse(text, mode="eval").body

        names = Names()
        copied = ast.parse(ast.unparse(node), mode="eval").body
        return ast.unparse(names.visit(copied)), frozenset(names.deps)

    def text_of_value(self, value: Value) -> str | None:
        """Text in terms of fields, for values that have one."""
        if isinstance(value, Static):
            return value.text
        if isinstance(value, Int):
            return value.dim.text()
        if isinstance(value, Const):
            return repr(value.value) if value.value is not Ellipsis else "..."
        if isinstance(value, Tup):
            items = [self.text_of_value(i) for i in value.items]
            if any(i is None for i in items):
                return None
            inner = ", ".join(i for i in items if i is not None)
            return f"[{inner}]" if value.kind == "list" else f"({inner},)" if len(items) == 1 else f"({inner})"
        if isinstance(value, Factory) and value.field:
            return f"self.{value.field}"
        return None

    def _eval_Constant(self, node: ast.Constant, env: Any) -> Abs:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return Abs(Int(Dim.of(node.value)), static=True)
        return Abs(Const(node.value), static=True)

    def _eval_Name(self, node: ast.Name, env: Any) -> Abs:
        bound: Abs | None = env.get(node.id)
        if bound is not None:
            return bound
        if node.id == "self":
            return Abs(Unknown("self"), static=True)
        return self._global(node, env)

    def _global(self, node: ast.expr, env: Any) -> Abs:
        qualname = self.project.qualname(env.source, node)
        if qualname is None:
            return Abs(Static(ast.unparse(node)), static=True)
        known = global_value(self, qualname, node, env)
        return known if known is not None else Abs(Static(ast.unparse(node)), static=True)

    def _eval_Attribute(self, node: ast.Attribute, env: Any) -> Abs:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and env.get("self") is None:
            return self._self_attribute(node, env)
        if self.project.qualname(env.source, node) is not None and not self._rooted_local(node, env):
            return self._global(node, env)
        base = self.evaluate(node.value, env)
        value = base.value
        if isinstance(value, Static):
            return Abs(Static(f"{value.text}.{node.attr}", value.deps), base.static, base.flags)
        if isinstance(value, Module | ModuleField):
            return module_attribute(self, node, base, env)
        if isinstance(value, Array | Tup | Int) or type(value).__name__ not in ("Unknown",):
            found = shapes.attribute(value, node.attr)
            if not isinstance(found, Unknown):
                return Abs(found, base.static, base.flags)
        if isinstance(value, Array) and node.attr not in ARRAY_ATTRIBUTES:
            # An argument that is a struct of arrays: batch.inputs
            lead = value.shape.lead
            if lead is not None and not value.shape.dims and lead.known and not lead.dropped:
                return Abs(Array(Shape.argument(f"{lead.argument}.{node.attr}")), False, base.flags)
        return Abs(Unknown(ast.unparse(node)), base.static, base.flags)

    def _rooted_local(self, node: ast.expr, env: Any) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and env.get(node.id) is not None

    def _self_attribute(self, node: ast.Attribute, env: Any) -> Abs:
        name = node.attr
        if name in self.attributes:
            return self.attributes[name]
        if name in self.fields:
            return self.field_value(name)
        attribute = self.model.class_attribute(name)
        if attribute is not None:
            owner, expression = attribute
            found = self.constant(expression, owner.source)
            return Abs(found.value if isinstance(found.value, Factory | Int | Const) else Static(f"self.{name}"), True)
        method = self.model.method(name)
        if method is not None:
            if "property" in method.decorators or any(d.endswith("cached_property") for d in method.decorators):
                result = self.run_function(method.node, Env({}, method.source, method=method))
                static = isinstance(result.value, Int | Static | Const) and result.static
                if isinstance(result.value, Int | Const):
                    return Abs(result.value, static, result.flags)
                return Abs(Static(f"self.{name}") if static else result.value, static, result.flags)
            return Abs(Function(method.node, None, method.source, method), static=True)
        return Abs(Unknown(f"self.{name}"), static=False)

    def _eval_Tuple(self, node: ast.Tuple | ast.List, env: Any) -> Abs:
        items: list[Value] = []
        static, flags = True, frozenset[str]()
        for element in node.elts:
            found = self.evaluate(element, env)
            static, flags = static and found.static, flags | found.flags
            if isinstance(element, ast.Starred):
                if isinstance(found.value, Tup):
                    items.extend(found.value.items)
                else:
                    items.append(Star(found.value))
            else:
                items.append(found.value)
        kind = "tuple" if isinstance(node, ast.Tuple) else "list"
        if any(isinstance(i, Star) and isinstance(i.value, Static) for i in items):
            return self._static_text(node, static, flags, env)
        if any(isinstance(i, Star) for i in items):
            return Abs(shapes.build(items, kind), static, flags)
        return Abs(Tup(tuple(items), kind), static, flags)

    _eval_List = _eval_Tuple

    def _eval_Starred(self, node: ast.Starred, env: Any) -> Abs:
        return self.evaluate(node.value, env)

    def _eval_Dict(self, node: ast.Dict, env: Any) -> Abs:
        items: dict[object, Value] = {}
        static, flags, known = True, frozenset[str](), True
        for key, value in zip(node.keys, node.values):
            found = self.evaluate(value, env)
            static, flags = static and found.static, flags | found.flags
            label = self.evaluate(key, env).value if key is not None else None
            if isinstance(label, Const):
                items[label.value] = found.value
            elif isinstance(label, Int) and label.dim.value is not None:
                items[label.dim.value] = found.value
            else:
                known = False
        if known:
            return Abs(Table(items), static, flags)
        return self._static_text(node, static, flags, env)

    def _eval_Subscript(self, node: ast.Subscript, env: Any) -> Abs:
        base = self.evaluate(node.value, env)
        key = self._index(node.slice, env)
        flags = base.flags | key.flags
        static = base.static and key.static
        value = base.value
        if isinstance(value, Repeated):
            if isinstance(key.value, Slice):
                return Abs(value, static, flags)
            return Abs(value.element, static, flags)
        if isinstance(value, Table):
            if isinstance(key.value, Const) and key.value.value in value.items:
                return Abs(value.items[key.value.value], static, flags)
            if isinstance(key.value, Int) and key.value.dim.value in value.items:
                return Abs(value.items[key.value.dim.value], static, flags)
            kinds = list(value.items.values())
            if kinds and any(self.holds_module(v) or isinstance(v, Factory) for v in kinds):
                return Abs(Unknown("an entry of a table under a computed key"), static, flags)
            return Abs(Unknown(ast.unparse(node)), static, flags)
        if isinstance(value, Static):
            if static:
                return self._static_text(node, True, flags, env)
            return Abs(Unknown(ast.unparse(node)), False, flags)
        if isinstance(value, Variable):
            return Abs(value.site.shape or Unknown("variable"), False, flags)
        if (
            isinstance(value, Array)
            and isinstance(key.value, Const)
            and isinstance(key.value.value, str)
            and value.shape.lead is not None
            and not value.shape.dims
            and value.shape.lead.known
        ):
            return Abs(Array(Shape.argument(f"{value.shape.lead.argument}[{key.value.value!r}]")), False, flags)
        if isinstance(value, Tup) and any(self.holds_module(i) for i in value.items):
            if isinstance(key.value, Int) and key.value.dim.value is not None:
                position = key.value.dim.value
                if -len(value.items) <= position < len(value.items):
                    return Abs(value.items[position], static, flags)
            if isinstance(key.value, Slice):
                found = shapes.index(Tup(tuple(Int(Dim.of(i)) for i in range(len(value.items)))), key.value)
                if isinstance(found, Tup):
                    picked = [value.items[i.dim.value] for i in found.items if isinstance(i, Int)]  # type: ignore[index]
                    return Abs(Tup(tuple(picked), value.kind), static, flags)
            return Abs(Unknown("an element of a list of modules"), static, flags)
        found = shapes.index(value, self.plain(key.value))
        if isinstance(found, Unknown) and static:
            return self._static_text(node, True, flags, env)
        return Abs(found, static, flags)

    def _index(self, node: ast.expr, env: Any) -> Abs:
        if isinstance(node, ast.Slice):
            parts = [self.evaluate(p, env) if p is not None else None for p in (node.lower, node.upper, node.step)]
            value = Slice(*[self.plain(p.value) if p is not None else None for p in parts])
            found = [p for p in parts if p is not None]
            result = Abs(value, all(p.static for p in found), frozenset().union(*[p.flags for p in found]))
        elif isinstance(node, ast.Tuple):
            items = [self._index(e, env) for e in node.elts]
            result = Abs(
                Tup(tuple(i.value for i in items)),
                all(i.static for i in items),
                frozenset().union(*[i.flags for i in items]),
            )
        else:
            return self.evaluate(node, env)
        self.evaluated[node] = result
        return result

    def plain(self, value: Value) -> Value:
        """As the shape functions take it: static integers of unknown value become symbolic sizes."""
        if isinstance(value, Static):
            return Int(self.dim_of(value))
        if isinstance(value, Tup):
            return Tup(tuple(self.plain(i) for i in value.items), value.kind)
        if isinstance(value, Star):
            return Star(self.plain(value.value))
        if isinstance(value, Variable):
            return value.site.shape or Unknown("variable")
        return value

    @staticmethod
    def dim_of(value: Static) -> Dim:
        head, _, name = value.text.partition("self.")
        if not head and name.isidentifier():
            return Dim.field(name)
        return Dim.opaque(value.text, value.deps)

    def _eval_BinOp(self, node: ast.BinOp, env: Any) -> Abs:
        left, right = self.evaluate(node.left, env), self.evaluate(node.right, env)
        static, flags = left.static and right.static, left.flags | right.flags
        value = self.combine(type(node.op).__name__, left, right, node)
        if static and isinstance(value, Unknown):
            return self._static_text(node, True, flags, env)
        return Abs(value, static, flags)

    def combine(self, op_name: str, left: Abs, right: Abs, node: ast.AST) -> Value:
        op = OPERATORS[op_name]
        a, b = left.value, right.value
        if (self.holds_module(a) or self.holds_module(b)) and op == "+":
            return self.extended(a, b, node)
        if isinstance(a, Static) and isinstance(b, Static):
            if op in ("+", "-", "*", "//", "%"):
                return shapes.binary(op, Int(self.dim_of(a)), Int(self.dim_of(b)))
            return Unknown("")
        if op == "**" and isinstance(a, Static | Int) and isinstance(b, Static | Int):
            x, y = self.plain(a), self.plain(b)
            assert isinstance(x, Int) and isinstance(y, Int)
            if x.dim.value is not None and y.dim.value is not None and y.dim.value >= 0:
                return Int(Dim.of(x.dim.value**y.dim.value))
            text = f"{x.dim.operand_text()} ** {y.dim.operand_text()}"
            return Int(Dim.opaque(text, x.dim.dependencies() | y.dim.dependencies()))
        if (isinstance(a, Static) and isinstance(b, Tup)) or (isinstance(b, Static) and isinstance(a, Tup)):
            return Unknown("")
        if op not in _ARITHMETIC and (isinstance(a, Static) or isinstance(b, Static)):
            if isinstance(a, Array):
                return a
            if isinstance(b, Array):
                return b
            return Unknown("")
        result = shapes.binary(op, self.plain(a), self.plain(b))
        if isinstance(a, Array) and isinstance(b, Array) and op in ("+", "-", "*", "/"):
            return _same_width(a, b, result)
        if isinstance(result, Unknown) and op in ("+", "-", "*", "/"):
            # Something unknown is added to an array: the array's width stays (see `_same_width`).
            for known, other in ((a, b), (b, a)):
                if isinstance(known, Array) and isinstance(other, Unknown):
                    width = known.shape.dim(-1)
                    if width is not None and width.value != 1:
                        return Array(Shape((width,), Shape.unknown(*known.shape.needs()).lead))
        return result

    def extended(self, a: Value, b: Value, node: ast.AST) -> Value:
        """`+` or `+=` of lists of modules."""
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
            certain = self.truth(value.value)
            if certain is not None:
                return Abs(Const(not certain), value.static, value.flags)
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
            found = self.evaluate(element, env)
            certain = self.truth(found.value)
            if certain is not None and certain != is_and:
                # `False and ...`: the rest is not evaluated
                values.append(found)
                if all(self.truth(v.value) is not None for v in values):
                    return found
                return Abs(Const(not is_and), found.static, found.flags) if isinstance(found.value, Const) else found
            values.append(found)
        if all(self.truth(v.value) is not None for v in values):
            return values[-1]
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
        return Abs(Unknown(ast.unparse(node)), False, flags)

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
            elif op in ("in", "not in") and isinstance(b, Table) and isinstance(a, Const):
                return Abs(Const((a.value in b.items) == (op == "in")), static, flags)
            elif not isinstance(a, Static) and not isinstance(b, Static):
                certain = shapes.compare(op, self.plain(a), self.plain(b))
                if isinstance(certain, Const):
                    return Abs(certain, static, flags)
                if isinstance(certain, Array):
                    return Abs(certain, False, flags)
        return self._static_text(node, static, flags, env)

    def _is_none(self, value: Value, operands: Sequence[Abs]) -> bool | None:
        if isinstance(value, Const):
            return value.value is None
        if isinstance(value, Int | Tup | Module | Factory | Function | Table | Repeated) and not (
            isinstance(value, Factory) and value.field
        ):
            return isinstance(value, Int) and False
        if isinstance(value, Array) and not any(o.flags for o in operands):
            return False
        return None

    def _eval_IfExp(self, node: ast.IfExp, env: Any) -> Abs:
        test = self.evaluate(node.test, env)
        certain = self.truth(test.value)
        if certain is not None:
            return self.evaluate(node.body if certain else node.orelse, env)
        mark = len(self.sites)
        localized, text, _ = self.condition(node.test, test, env)
        from .sites import Branch

        outer = self.block
        then, orelse = Block(), Block()
        self.block = then
        env_then, env_else = env.copy(), env.copy()
        self.narrow(node.test, env_then, True)
        self.narrow(node.test, env_else, False)
        a = self.evaluate(node.body, env_then)
        self.block = orelse
        b = self.evaluate(node.orelse, env_else)
        self.block = outer
        if then.steps or orelse.steps:
            outer.steps.append(Branch(localized, then, orelse, env.source, text))
        for site in self.sites[mark:]:
            site.conditions = (*site.conditions, (node, localized is None and not text))
        static = test.static and a.static and b.static
        flags = test.flags | a.flags | b.flags
        if isinstance(a.value, Int) and isinstance(b.value, Int) and test.static:
            cond, deps = self.self_text(node.test, env)
            return Abs(Int(Dim.cond(cond, a.value.dim, b.value.dim, deps)), static, flags)
        merged = self.merge_values([a, b])
        if self.holds_module(a.value) or self.holds_module(b.value):
            return Abs(either(self, a.value, b.value, node), static, flags)
        if static and isinstance(merged.value, Unknown):
            return self._static_text(node, True, flags, env)
        return Abs(merged.value, static, flags)

    def _eval_Lambda(self, node: ast.Lambda, env: Any) -> Abs:
        static = self._closed(node, env)
        if not static:
            self._look_inside(node, env)
        return Abs(Function(node, env, env.source), static)

    def _look_inside(self, node: ast.Lambda, env: Any) -> None:
        """Evaluate a lambda's body once, so that what it reads can be said elsewhere; nothing of it is kept."""
        inner = child_env(env)
        for name in parameters_of(node):
            inner.names[name] = Abs(Unknown("argument"))
        snapshot = self._snapshot()
        self.trial += 1
        try:
            self.evaluate(node.body, inner)
        except Unmigratable:
            pass
        finally:
            self.trial -= 1
            self._rollback(snapshot)

    def local_function(self, node: ast.FunctionDef, env: Any) -> Value:
        return decorated_function(self, node, env)

    def _closed(self, node: ast.Lambda | ast.FunctionDef, env: Any) -> bool:
        """Does the function read only what the constructor has too?"""
        own = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
        for child in ast.walk(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in own:
                bound = env.get(child.id)
                if bound is not None and not bound.static:
                    return False
        return True

    def _eval_NamedExpr(self, node: ast.NamedExpr, env: Any) -> Abs:
        value = self.evaluate(node.value, env)
        env.names[node.target.id] = Abs(value.value, False, value.flags)
        env.local.discard(node.target.id)
        return Abs(value.value, False, value.flags)

    def _eval_JoinedStr(self, node: ast.JoinedStr, env: Any) -> Abs:
        static, flags = True, frozenset[str]()
        for child in node.values:
            if isinstance(child, ast.FormattedValue):
                found = self.evaluate(child.value, env)
                static, flags = static and found.static, flags | found.flags
        return self._static_text(node, static, flags, env)

    def _eval_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, env: Any) -> Abs:
        results: list[Abs] = []
        steps: list[For] = []
        mark = len(self.sites)
        inner = child_env(env)

        def at(depth: int, scope: Any) -> None:
            if depth == len(node.generators):
                results.append(self.evaluate(node.elt, scope))
                return
            generator = node.generators[depth]

            def body(loop_env: Any) -> None:
                for test in generator.ifs:
                    self.evaluate(test, loop_env)
                at(depth + 1, loop_env)

            step = self.loop(generator, generator.target, generator.iter, scope, body)
            if step is not None:
                steps.append(step)

        at(0, inner)
        result = results[-1] if results else Abs(Unknown("empty"))
        static = all(self.evaluated[g.iter].static for g in node.generators if g.iter in self.evaluated)
        if len(self.sites) > mark or self.holds_module(result.value) or isinstance(result.value, Array):
            if len(results) > 1 and self.trial == 0 and iteration.was_unrolled(self, node, env):
                items = tuple(r.value for r in results)
                return Abs(Tup(items, "list"), False, result.flags)
            return Abs(Repeated(result.value, steps[-1] if steps else None, "list"), False, result.flags)
        if static and result.static:
            return self._static_text(node, True, result.flags, env)
        if isinstance(result.value, Int) and len(node.generators) == 1:
            source = self.evaluated[node.generators[0].iter].value
            if isinstance(source, Tup):
                return Abs(Unknown("comprehension"), False, result.flags)
        return Abs(Unknown("comprehension"), False, result.flags)

    trial: int = 0

    _eval_GeneratorExp = _eval_ListComp
    _eval_SetComp = _eval_ListComp

    def _eval_DictComp(self, node: ast.DictComp, env: Any) -> Abs:
        results: list[Abs] = []
        mark = len(self.sites)
        generator = node.generators[0]

        def body(scope: Any) -> None:
            self.evaluate(node.key, scope)
            results.append(self.evaluate(node.value, scope))

        step = self.loop(generator, generator.target, generator.iter, child_env(env), body)
        if len(self.sites) > mark:
            return Abs(Repeated(results[-1].value, step, "dict"), False)
        static = self.evaluated[generator.iter].static and bool(results) and results[-1].static
        return self._static_text(node, static, frozenset(), env)

    def _eval_Call(self, node: ast.Call, env: Any) -> Abs:
        return calls.call(self, node, env)

    def _eval_Await(self, node: ast.Await, env: Any) -> Abs:
        raise Unmigratable("NNX128", "a module method is a coroutine", node)

    # asking ----------------------------------------------------------------------------------------------------
    @staticmethod
    def truth(value: Value) -> bool | None:
        if isinstance(value, Const):
            return bool(value.value)
        if isinstance(value, Int) and value.dim.value is not None:
            return bool(value.dim.value)
        if isinstance(value, Tup):
            return bool(value.items)
        if isinstance(value, Module | Function):
            return True
        return None

    def holds_module(self, value: Value) -> bool:
        return next(self.modules_in(value), None) is not None or (
            isinstance(value, Tup) and any(isinstance(i, ModuleField) for i in value.items)
        )

    def modules_in(self, value: Value) -> Iterator[Site]:
        if isinstance(value, Module | Either):
            yield from (m.site for m in members(value))
        elif isinstance(value, Tup):
            for item in value.items:
                yield from self.modules_in(item)
        elif isinstance(value, Repeated):
            yield from self.modules_in(value.element)
        elif isinstance(value, Table):
            for item in value.items.values():
                yield from self.modules_in(item)

    def unpack(self, value: Abs, count: int, starred: bool) -> list[Abs]:
        """The items that an assignment to `count` targets gives."""
        unknown = [Abs(Unknown("unpacked"), False, value.flags)] * count
        if starred:
            return unknown
        inner = value.value
        if isinstance(inner, Tup) and len(inner.items) == count:
            return [Abs(item, value.static, value.flags) for item in inner.items]
        if isinstance(inner, Static):
            return [Abs(Static(f"{inner.text}[{i}]", inner.deps), value.static, value.flags) for i in range(count)]
        if isinstance(inner, Repeated):
            return [Abs(inner.element, False, value.flags)] * count
        if isinstance(inner, Array):
            lead = inner.shape.lead
            if lead is not None and lead.known and not inner.shape.dims and not lead.dropped:
                return [Abs(Array(Shape.argument(f"{lead.argument}[{i}]")), False, value.flags) for i in range(count)]
        items = iteration.unpack_shape(self, inner, count)
        if items is None:
            return unknown
        return [Abs(item, False, value.flags) for item in items]

    def elements(self, node: ast.expr, iterated: Abs, env: Any) -> Abs:
        """The abstract element of what a loop runs over, for its target."""
        return iteration.elements(self, node, iterated, env)

    def narrow(self, test: ast.expr, env: Any, holds: bool) -> None:
        """What a condition tells about names: `x is None`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and holds:
            for value in test.values:
                self.narrow(value, env, True)
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
            env.names[test.left.id] = Abs(bound.value, bound.static, frozenset())

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
                dims[place.dim.value] = size.dim
                env.names[holder] = dataclasses.replace(bound, value=Array(Shape(tuple(dims), shape.lead)))
            return
        a, b = _shape_holder(left), _shape_holder(right)
        known, other = (env.get(a) if a else None), (env.get(b) if b else None)
        if (
            known is not None
            and other is not None
            and isinstance(known.value, Array)
            and isinstance(other.value, Array)
        ):
            env.names[a] = dataclasses.replace(known, value=other.value)

    # the constructor's words -----------------------------------------------------------------------------------
    def localize(self, node: ast.expr, env: Any) -> Localized | None:
        """How `__init__` says an (already evaluated) expression; None where it cannot."""
        replaced: list[tuple[Any, tuple[InitPart, ...]]] = []
        needs: set[str] = set()
        if not self._localize(node, env, frozenset(), replaced, needs):
            return None
        return Localized(env.source.span(node), env.source, tuple(replaced), frozenset(needs))

    def localize_statement(self, statement: ast.stmt, value: ast.expr, found: Abs, env: Any) -> Localized | None:
        """A copied assignment; only what is computed from fields and globals is copied."""
        if not found.static and not (type(found.value) is Unknown and not found.flags):
            return None
        inner = self.localize(value, env)
        if inner is None:
            return None
        return Localized(env.source.span(statement), env.source, inner.replaced, inner.needs)

    def localize_function(self, node: ast.FunctionDef, env: Any) -> Localized | None:
        """A nested function as the constructor defines it."""
        replaced: list[tuple[Any, tuple[InitPart, ...]]] = []
        needs: set[str] = set()
        bound = frozenset(
            {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            | {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        )
        if not all(self._localize(child, env, bound, replaced, needs) for child in ast.iter_child_nodes(node)):
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
            replaced.append((env.source.span(node), parts))
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
            if env.is_local(node.id):
                needs.add(node.id)
                return True
            return self._put_value(here, put, needs)
        if isinstance(node, ast.expr):
            found = self.evaluated.get(node)
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and env.get("self") is None
            ):
                if node.attr in self.attributes and node.attr not in self.fields:
                    value = self.attributes[node.attr].value
                    if isinstance(value, Module) and not self.attributes[node.attr].static:
                        return put(SitePart(value.site))
                    return True
                if node.attr in self.fields:
                    return put(DimPart(Dim.field(node.attr)))
                return self.model.method(node.attr) is not None or self.model.class_attribute(node.attr) is not None
            if found is not None and not found.static and not isinstance(node, ast.Lambda):
                if isinstance(node, ast.Attribute) and node.attr == "shape":
                    base = self.evaluated.get(node.value)
                    if base is not None and isinstance(base.value, Array):
                        return bool(put(ShapePart(base.value.shape))) if sayable(base.value.shape) else False
                if isinstance(node, ast.BoolOp | ast.IfExp) and isinstance(found.value, Int):
                    pass  # said with its own words, part by part
                elif isinstance(found.value, Int | Tup | Module):
                    mark = (len(replaced), set(needs))
                    if self._put_value(found, put, needs):
                        return True
                    del replaced[mark[0] :]
                    needs.clear()
                    needs |= mark[1]
                    if not isinstance(node, ast.Tuple | ast.List):
                        return False
                elif isinstance(node, ast.Compare):
                    text = localize.shape_condition(self, node)
                    if text is not None:
                        return put(*text)
                    if any(isinstance(self.evaluated[c].value, Array) for c in [node.left, *node.comparators]):
                        return False
                elif (isinstance(found.value, Array) and not localize.is_library_call(self, node, env)) or (
                    isinstance(found.value, Unknown)
                    and not isinstance(
                        node,
                        ast.BoolOp
                        | ast.UnaryOp
                        | ast.IfExp
                        | ast.BinOp
                        | ast.JoinedStr
                        | ast.Subscript
                        | ast.Call
                        | ast.ListComp
                        | ast.GeneratorExp
                        | ast.Tuple
                        | ast.List,
                    )
                ):
                    return False
                if isinstance(node, ast.Call) and not localize.is_plain_call(self, node, env):
                    return False
            if isinstance(node, ast.Call):
                known = localize.localize_call(self, node, env, bound, replaced, needs)
                if known is not None:
                    return known
        inner = bound
        if isinstance(node, ast.Lambda):
            arguments = node.args
            inner = bound | {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            inner = bound | {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        return all(self._localize(child, env, inner, replaced, needs) for child in ast.iter_child_nodes(node))

    def _put_value(self, found: Abs, put: Any, needs: set[str]) -> bool:
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
        if isinstance(value, Module) and not value.element:
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

    def condition(self, node: ast.expr, test: Abs, env: Any) -> tuple[Localized | None, str, None]:
        """A branch's condition in the constructor; (None, "", None) where it depends on how the module is called."""
        localized = None if test.flags else self.localize(node, env)
        if localized is not None:
            return localized, "", None
        text = localize.presence_condition(self, node, env)
        return None, text, None


def _same_width(a: Array, b: Array, result: Value) -> Value:
    """Two arrays that are added have one width: of two symbolic sizes, the one that the fields give.

    Broadcasting would allow one of them to be 1; sizes that are 1 are mostly written so. Where it is not so the
    migrated constructor asks for another size than the weights have, and fails.
    """
    left, right = a.shape.dim(-1), b.shape.dim(-1)
    if left is None or right is None or left.value is not None or right.value is not None or left == right:
        if isinstance(result, Array) or left is None or right is None:
            return result
        picked = right if left.value == 1 else left
    else:
        by_input = [any(atom.kind == "input" for atom in dim.atoms()) for dim in (left, right)]
        picked = right if by_input[0] and not by_input[1] else left
    if isinstance(result, Array) and result.shape.dims:
        dims = list(result.shape.dims)
        for place in range(-len(dims), 0):
            atom = dims[place].single_atom() if dims[place] is not None else None  # type: ignore[union-attr]
            if dims[place] is None or (atom is not None and atom.kind == "max"):
                x, y = a.shape.dim(place), b.shape.dim(place)
                dims[place] = x if place != -1 and x is not None and y is not None else dims[place]
        dims[-1] = picked
        return Array(Shape(tuple(dims), result.shape.lead))
    return Array(Shape((picked,), Shape.unknown().lead))


def sayable(shape: Shape) -> bool:
    """Can the constructor write the whole shape, given those of the arguments?"""
    if None in shape.dims:
        return False
    return shape.lead is None or (shape.lead.known and not shape.lead.head)


def _shape_holder(node: ast.expr) -> str:
    """`x` of `x.shape`."""
    if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
        return node.value.id
    return ""


def replace_dims(value: Value, change: Any) -> Value:
    """Substitute atoms in every size of a value; sizes that cannot be said become unknown."""
    if isinstance(value, Int):
        dim = change(value.dim)
        return Int(dim) if dim is not None else Unknown("size")
    if isinstance(value, Array):
        return Array(change_shape(value.shape, change))
    if isinstance(value, Tup):
        return Tup(tuple(replace_dims(i, change) for i in value.items), value.kind)
    if isinstance(value, Repeated):
        return dataclasses.replace(value, element=replace_dims(value.element, change))
    if isinstance(value, Table):
        return Table({k: replace_dims(v, change) for k, v in value.items.items()})
    if isinstance(value, Static):
        dim = change(Expressions.dim_of(value))
        return Static(dim.text(), dim.dependencies()) if dim is not None else Unknown("field")
    if isinstance(value, Module | Variable | Function | Factory | ModuleField):
        return Unknown("a module's own object")
    return value


def change_shape(shape: Shape, change: Any) -> Shape:
    """As `replace_dims` for a shape; `change` also maps leads through its attribute `lead`."""
    dims = tuple(None if d is None else change(d) for d in shape.dims)
    if shape.lead is None:
        return Shape(dims)
    base: Shape = change.lead(shape.lead)
    return Shape((*base.dims, *dims), base.lead)
