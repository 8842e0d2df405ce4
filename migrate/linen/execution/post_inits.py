"""`__post_init__`: what it only checks, the fields that it changes, and the attributes that it makes of them.

    width: int                                   def __init__(self, width: int, hidden: int | None = None, *, rngs):
    hidden: int | None = None                        if hidden is None:
                                                         hidden = 4 * width
    def __post_init__(self):                         self.width = width
        if self.hidden is None:                      self.hidden = hidden
            self.hidden = 4 * self.width             self.ratio = self.hidden // self.width
        self.ratio = self.hidden // self.width
        super().__post_init__()

A field that is changed means what it is changed to everywhere in the constructor, which changes it before all else; nothing
is known of it but its name. Linen runs `__post_init__` again for every clone, on the fields as they are then: only
what gives the same a second time is followed.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...catalog import layers
from ...trees import subtree
from ..project.classes import ClassModel, Field, Method
from ..values.environment import Env, Returned
from ..values.sites import Abs, AnyFactory, Block, BoundArg, Unmigratable
from ..values.values import Global, Unknown
from .package_calls import OF_MODULES

if TYPE_CHECKING:
    from .execute import Execution

_CODE = "NNX173"
_SPEAKS = ("warnings.warn", "logging.", "absl.logging.", "print")
# What gives the same again of what it gave.
_CONVERSIONS = frozenset({
    "tuple", "list", "int", "float", "str", "bool", "frozenset", "sorted", "jax.numpy.dtype", "numpy.dtype",
    "flax.core.freeze", "flax.core.FrozenDict", "flax.core.frozen_dict.freeze", "flax.core.frozen_dict.FrozenDict",
})  # fmt: skip
_NUMBERS = frozenset({"int", "float", "bool", "str", "numbers.Number", "numbers.Integral"})
_SETTINGS = frozenset({"args", "cfg", "conf", "config", "flags", "FLAGS", "hparams", "opts", "options", "settings"})
_NEW = ast.Dict | ast.List | ast.ListComp | ast.DictComp
_UNCERTAIN = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_FOLLOWED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.Expr, ast.Assert, ast.Raise, ast.Pass)


@dataclasses.dataclass(frozen=True, eq=False)
class Computing:
    """A `__post_init__` that does more than to check."""

    method: Method
    changed: frozenset[str]  # fields
    made: frozenset[str]  # attributes
    before: tuple[ast.stmt, ...]  # what changes fields, or checks ahead of that
    after: tuple[ast.stmt, ...]
    names: frozenset[str]  # local names
    checks: tuple[Method, ...] = ()  # those of its bases that only check, behind it

    @property
    def asked(self) -> frozenset[str]:
        """What these read."""
        return frozenset(name for m in self.checks for n in m.nodes if (name := own_attribute(n)))


@dataclasses.dataclass(frozen=True)
class _Store:
    """One place where an attribute of the module is set."""

    name: str
    place: int  # among the statements
    statement: ast.stmt
    value: ast.expr | None  # None: one of several that are taken out of a tuple
    tests: tuple[tuple[ast.If, bool], ...]  # the conditions around it, and on which side it stands


def is_nothing(statement: ast.stmt) -> bool:
    plain = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return plain or isinstance(statement, ast.Pass) or is_super(statement)


def is_super(statement: ast.stmt) -> bool:
    given = statement.value if isinstance(statement, ast.Expr | ast.Return) else None
    return given is not None and ast.unparse(given) in ("super().__post_init__()", "nn.Module.__post_init__(self)")


def attribute_set(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The attribute and its value: of `self.a = b`, and of `object.__setattr__(self, "a", b)`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and own_attribute(statement.targets[0]):
        return own_attribute(statement.targets[0]), statement.value
    if isinstance(statement, ast.AnnAssign) and own_attribute(statement.target) and statement.value is not None:
        return own_attribute(statement.target), statement.value
    return set_by_name(statement)


def set_by_name(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The same of `object.__setattr__(self, "a", b)` and `setattr(self, "a", b)` only."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    called, args = ast.unparse(call.func), call.args
    if called in ("object.__setattr__", "setattr") and len(args) == 3 and _is_self(args[0]):
        args = args[1:]
    elif called != "super().__setattr__" or len(args) != 2:
        return None
    name = args[0].value if isinstance(args[0], ast.Constant) else None
    return (name, args[1]) if isinstance(name, str) and name.isidentifier() else None


def own_attribute(node: ast.AST) -> str:
    """`a` of `self.a` and of `object.__getattribute__(self, "a")`; "" for anything else."""
    if isinstance(node, ast.Attribute) and _is_self(node.value):
        return node.attr
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "object.__getattribute__" and len(node.args) == 2:
        name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        return name if _is_self(node.args[0]) and isinstance(name, str) and name.isidentifier() else ""
    return ""


def computing(model: ClassModel) -> Computing | None:
    """What the `__post_init__` of a class computes; None where it only checks. Raises Unmigratable."""
    methods = [m for owner in model.mro() if (m := owner.own_methods.get("__post_init__")) is not None]
    more = [found for m in methods if (found := _does_more(m, m.node.body)) is not None]
    if not more:
        return None
    others = [m for m in methods if m is not methods[0] and not all(is_nothing(s) for s in m.node.body)]
    first = methods[0]
    behind = is_super(first.node.body[-1])
    for other in others:
        if not behind or _does_more(other, other.node.body) is not None:
            raise _refused(other.node, "and that of a class from which it derives does something, too")
    if _does_more(first, first.node.body) is None:
        raise more[0]
    if first.decorators or first.parameters:
        raise _refused(first.node, "has arguments or decorators")
    return dataclasses.replace(_Reader(model, first).read(), checks=tuple(others))


def changed(model: ClassModel | None) -> frozenset[str]:
    """The fields that a class changes before anything reads them."""
    if model is None or not any("__post_init__" in owner.own_methods for owner in model.mro()):
        return frozenset()
    try:
        found = computing(model)
    except Unmigratable:
        return frozenset()
    return found.changed if found is not None else frozenset()


# what it does -------------------------------------------------------------------------------------------------
def _refused(node: ast.AST, why: str) -> Unmigratable:
    return Unmigratable(_CODE, f"its __post_init__ {why} (line {getattr(node, 'lineno', 0)})", node)


def _does_more(method: Method, body: Sequence[ast.stmt]) -> Unmigratable | None:
    """None where there are questions, errors and warnings only: what would change the module, or hand it on, is more."""
    for statement in body:
        if is_nothing(statement):
            continue
        heads: list[ast.AST | None] = []
        if isinstance(statement, ast.If):
            heads = [statement.test]
            inner = _does_more(method, [*statement.body, *statement.orelse])
            if inner is not None:
                return inner
        elif isinstance(statement, ast.Raise | ast.Assert):
            heads = [statement]
        elif isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets):
            heads = [statement.value]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _speaks(method, statement.value):
            heads = [*statement.value.args, *statement.value.keywords]
        if not heads or not all(_asks_only(head) for head in heads if head is not None):
            return _refused(statement, "does more than to check")
    return None


def _speaks(method: Method, call: ast.Call) -> bool:
    """A call for nothing that it gives: a warning, or a function that gets values and no module."""
    project = method.owner.project
    called = ast.unparse(call.func)
    known = project.qualname(method.source, call.func)
    name, root = known or called, called.partition(".")[0].partition("(")[0]
    outside = root.isidentifier() and root not in ("self", "super")  # `check(self.sizes)`
    checks = outside and known is not None
    return checks or any(name == word or (word.endswith(".") and name.startswith(word)) for word in _SPEAKS)


def _asks_only(root: ast.AST) -> bool:
    """Does code read fields, and neither hand the module on nor call its methods?"""
    read: set[ast.AST] = set()
    for node in subtree(root):
        if isinstance(node, (*_UNCERTAIN, ast.Lambda)):
            return False
        if isinstance(node, ast.Attribute) and _is_self(node.value):
            read.add(node.value)
        elif isinstance(node, ast.Call) and own_attribute(node):
            read.add(node.args[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_self(node.func.value):
            return False
    loose = [n for n in subtree(root) if isinstance(n, ast.Name) and n.id in ("self", "super") and n not in read]
    return not loose


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


class _Reader:
    """Reads a method that computes."""

    def __init__(self, model: ClassModel, method: Method) -> None:
        self.model, self.method, self.project = model, method, model.project
        self.fields = {field.name for field in model.fields()}
        self.stores: list[_Store] = []
        self.reads: list[tuple[str, int, ast.stmt]] = []  # fields
        self.count = 0
        self.new: set[str] = set()  # local names that hold what was made here

    def read(self) -> Computing:
        body = [s for s in self.method.node.body if not is_nothing(s) and not is_super(s)]
        self._block(body, ())
        fields = frozenset(s.name for s in self.stores if s.name in self.fields)
        made = frozenset(s.name for s in self.stores) - fields
        self._check_again(fields)
        last = max((i for i, s in enumerate(body) if self._stored_in(s) & fields), default=-1)
        before, after = body[: last + 1], body[last + 1 :]
        for statement in before:
            if self._stored_in(statement) & made:
                raise _refused(statement, "makes an attribute before it changes a field")
        names = {n.id for s in body for n in subtree(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        early = {n.id for s in before for n in subtree(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._check_names(names, before, made)
        for statement in after:
            if any(isinstance(n, ast.Name) and n.id in early for n in subtree(statement)):
                raise _refused(statement, "reads what it needed for a field")
            if set_by_name(statement) is None and any(set_by_name(s) for s in _statements([statement])):
                raise _refused(statement, "sets attributes by their names under a condition")
        return Computing(self.method, fields, made, tuple(before), tuple(after), frozenset(names))

    def _stored_in(self, statement: ast.stmt) -> set[str]:
        inner = {id(s) for s in _statements([statement])}
        return {store.name for store in self.stores if id(store.statement) in inner}

    # statements ------------------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[ast.stmt], tests: tuple[tuple[ast.If, bool], ...]) -> None:
        for statement in statements:
            self.count += 1
            if is_nothing(statement):
                if is_super(statement):
                    raise _refused(statement, "calls that of its base under a condition")
                continue
            if not isinstance(statement, _FOLLOWED):
                raise _refused(statement, "does more than to compute")
            self._statement(statement, tests)

    def _statement(self, node: ast.stmt, tests: tuple[tuple[ast.If, bool], ...]) -> None:
        if isinstance(node, ast.If):
            self._expression(node.test, node)
            self._block(node.body, (*tests, (node, True)))
            self._block(node.orelse, (*tests, (node, False)))
            return
        if isinstance(node, ast.For):
            self._expression(node.iter, node)
            inner = len(self.stores)
            if any(isinstance(n, ast.Attribute | ast.Subscript) for n in subtree(node.target)) or node.orelse:
                raise _refused(node, "has a loop that is not followed")
            self._block(node.body, tests)
            if len(self.stores) > inner:
                raise _refused(node, "sets attributes in a loop")
            return
        found = attribute_set(node)
        if found is not None:
            self._value(found[1], node)
            self.stores.append(_Store(found[0], self.count, node, found[1], tests))
        elif isinstance(node, ast.Assign):
            self._value(node.value, node)
            for target in node.targets:
                self._target(target, node, tests)
            if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, _NEW):
                self.new.add(node.targets[0].id)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            if not isinstance(node.target, ast.Name) or node.value is None:
                raise _refused(node, "changes something in place")
            self._value(node.value, node)
        elif isinstance(node, ast.Expr):
            self._call(node)
        elif isinstance(node, ast.Assert | ast.Raise):
            for child in ast.iter_child_nodes(node):
                self._expression(child, node)

    def _target(self, target: ast.expr, node: ast.Assign, tests: tuple[tuple[ast.If, bool], ...]) -> None:
        if isinstance(target, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in target.elts):
            for element in target.elts:
                self._target(element, node, tests)
        elif own_attribute(target) and len(node.targets) == 1:
            self.stores.append(_Store(own_attribute(target), self.count, node, None, tests))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.new:
            self._expression(target.slice, node)
        elif not isinstance(target, ast.Name):
            raise _refused(node, "changes something in place")

    def _call(self, node: ast.Expr) -> None:
        """`sizes.append(4)` of a list made here, a warning, a check."""
        call = node.value
        if not isinstance(call, ast.Call):
            raise _refused(node, "does more than to compute")
        own = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        if not (own and call.func.value.id in self.new) and not _speaks(self.method, call):  # type: ignore[attr-defined]
            raise _refused(node, "calls what may change something")
        for part in [*call.args, *call.keywords]:
            self._expression(part, node)

    def _value(self, value: ast.expr, statement: ast.stmt) -> None:
        self._expression(value, statement)
        for node in subtree(value):
            name = self.project.qualname(self.method.source, node) if isinstance(node, ast.Name | ast.Attribute) else None
            if name is None:
                continue
            if name in self.project.linen_classes or layers.lookup(name) is not None or name.startswith("dataclasses."):
                raise _refused(statement, f"computes with `{ast.unparse(node)}`")

    def _expression(self, root: ast.AST, statement: ast.stmt) -> None:
        """Code that reads fields; notes which."""
        if not _asks_only(root):
            raise _refused(statement, "hands the module on, or calls its methods")
        for node in subtree(root):
            name = own_attribute(node)
            if not name:
                continue
            if name in self.fields:
                self.reads.append((name, self.count, statement))
                continue
            if name in OF_MODULES or name.startswith("__") or self.model.method(name) is not None:
                raise _refused(statement, f"reads `self.{name}`")
            if self.model.class_attribute(name) is None and all(s.name != name or s.tests for s in self.stores):
                raise _refused(statement, f"reads `self.{name}`")

    # a second time ---------------------------------------------------------------------------------------------
    def _check_again(self, fields: frozenset[str]) -> None:
        """Raise Unmigratable unless the method would give the same of what it has given."""
        excused: set[tuple[str, int]] = set()
        for store in self.stores:
            if store.name in fields:
                excused |= self._excused(store)
            elif any(self._reads(test.test) & fields for test, _ in store.tests):
                raise _refused(store.statement, "makes an attribute or not by a field that it changes")
        for name, place, statement in self.reads:
            later = [s for s in self.stores if s.name == name and s.place >= place]
            if later and (name, id(statement)) not in excused:
                raise _refused(statement, f"reads the field `{name}`, which it changes later")

    def _excused(self, store: _Store) -> set[tuple[str, int]]:
        """The statements that may read a field before it is changed, as then nothing changes the second time."""
        name, value = store.name, store.value
        found: set[tuple[str, int]] = set()
        alone = [s for s in self.stores if s.name == name]
        if isinstance(value, ast.Name):
            defined = self._defined(value.id)
            if defined is not None:
                found.add((name, id(defined)))
                value = defined.value
        reads_itself = value is not None and name in self._reads(value)
        guarded = False
        for test, side in store.tests:
            if name not in self._reads(test.test):
                continue
            if not side or guarded or test.orelse or not self._asks_once(test.test, name, value):
                raise _refused(store.statement, f"may change `{name}` again")
            reads_itself &= not _is_about_kinds(test.test)
            guarded = True
            found.add((name, id(test)))
        if guarded and _is_about_kinds(store.tests[-1][0].test):
            found.add((name, id(store.statement)))
        if reads_itself:
            if value is None or guarded or len(alone) > 1 or not self._gives_itself(value, name):
                raise _refused(store.statement, f"may change `{name}` again")
            found.add((name, id(store.statement)))
        elif len(alone) > 1 and not all(any(name in self._reads(t.test) for t, _ in s.tests) or s.tests for s in alone):
            raise _refused(store.statement, f"changes `{name}` twice")
        return found

    def _defined(self, local: str) -> ast.Assign | None:
        """The one assignment of a name that is read once."""
        nodes = [n for n in self.method.nodes if isinstance(n, ast.Name) and n.id == local]
        if len(nodes) != 2:
            return None
        for statement in self.method.node.body:
            if isinstance(statement, ast.Assign) and statement.targets[0] in nodes and len(statement.targets) == 1:
                return statement
        return None

    def _reads(self, node: ast.AST) -> set[str]:
        return {name for n in subtree(node) if (name := own_attribute(n))}

    def _asks_once(self, test: ast.expr, name: str, value: ast.expr | None) -> bool:
        """Is a condition false once the field has the value? `self.f is None`, `not self.f`, `isinstance(self.f, int)`."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(name in self._reads(v) and self._asks_once(v, name, value) for v in test.values)
        if _is_about_kinds(test):
            asked = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]  # type: ignore[attr-defined]
            kinds = {self.project.qualname(self.method.source, k) or ast.unparse(k) for k in asked}
            whole = value.left if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) else value
            repeated = value.right if isinstance(value, ast.BinOp) else None
            several = isinstance(whole, ast.Tuple | ast.List) or isinstance(repeated, ast.Tuple | ast.List)
            return own_attribute(test.args[0]) == name and several and kinds <= _NUMBERS  # type: ignore[attr-defined]
        if value is None or name in self._reads(value):
            return False
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return own_attribute(test.operand) == name
        return _is_none(test) and own_attribute(test.left) == name  # type: ignore[attr-defined]

    def _gives_itself(self, value: ast.expr, name: str) -> bool:
        """Does an expression give a field's value again once the field has it? `self.f or 4`, `tuple(self.f)`."""

        def is_field(node: ast.expr) -> bool:
            return own_attribute(node) == name

        if isinstance(value, ast.Call) and not value.keywords and len(value.args) == 1 and is_field(value.args[0]):
            called = self.project.qualname(self.method.source, value.func) or ast.unparse(value.func)
            return called in _CONVERSIONS
        if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
            return is_field(value.values[0]) and not any(name in self._reads(v) for v in value.values[1:])
        if not isinstance(value, ast.IfExp):
            return False
        test, there, other = value.test, value.body, value.orelse
        if _is_none(test) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            there, other = other, there
            held = test.left if isinstance(test, ast.Compare) else test.operand  # type: ignore[attr-defined]
        elif isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and _is_constant_none(test.comparators[0]):
            held = test.left
        else:
            held = test
        return is_field(held) and is_field(there) and name not in self._reads(other)

    # names -----------------------------------------------------------------------------------------------------
    def _check_names(self, names: set[str], before: Sequence[ast.stmt], made: frozenset[str]) -> None:
        """The constructor has the local names, too, and the fields under theirs."""
        others = {
            n.id for m in self.model.methods().values() if m is not self.method for n in m.nodes if isinstance(n, ast.Name)
        }
        clash = names & (others | (self.fields - self._under_own_names()) | {"rngs"})
        inner = {
            n.id if isinstance(n, ast.Name) else n.arg
            for s in before
            for c in subtree(s)
            if isinstance(c, ast.comprehension | ast.Lambda)
            for n in subtree(c.target if isinstance(c, ast.comprehension) else c.args)
            if isinstance(n, ast.Name | ast.arg)
        }
        if clash | (inner & self.fields):
            raise _refused(
                self.method.node, f"uses the name `{min(clash | (inner & self.fields))}` for something of its own"
            )
        if any(n in self.fields for n in names) and any(isinstance(n, ast.Lambda) for s in before for n in subtree(s)):
            raise _refused(self.method.node, "keeps the name of a field in a lambda")
        if made & (self.model.methods().keys() | self.model.class_attributes.keys() | {"rngs"}):
            raise _refused(self.method.node, "sets what the class defines")

    def _under_own_names(self) -> set[str]:
        """Fields whose new values have their names first: `width = self.width or 4`, then `self.width = width`."""
        found: set[str] = set()
        for store in self.stores:
            name = store.name
            defined = self._defined(name) if keeps(store.statement) else None
            reads = [s for n, place, s in self.reads if n == name and place <= store.place]
            if defined is not None and not store.tests and all(s is defined for s in reads):
                found.add(name)
        return found


def keeps(statement: ast.stmt) -> bool:
    """`self.width = width`"""
    found = attribute_set(statement)
    return found is not None and isinstance(found[1], ast.Name) and found[1].id == found[0]


def _statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in block:
        yield from (n for n in subtree(statement) if isinstance(n, ast.stmt))


def _is_none(test: ast.expr) -> bool:
    plain = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is)
    return plain and _is_constant_none(test.comparators[0])  # type: ignore[attr-defined]


def _is_constant_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_about_kinds(test: ast.expr) -> bool:
    called = isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    return called and len(test.args) == 2 and not test.keywords  # type: ignore[attr-defined]


# while a class is followed ------------------------------------------------------------------------------------
def _begin(run: Execution, found: Computing) -> None:
    """Forget what is known of the fields that change."""
    for name in found.changed:
        field = run.fields[name] = dataclasses.replace(run.fields[name], default=None, factory=None)
        run.given.pop(name, None)
        if name in run.call_fields or name in run.passed or _holds_layers(run, field):
            raise _refused(found.method.node, f"changes `{name}`, which holds layers or is a flag of the call")
    asked = _asked_outside(run, found.changed | found.made)
    if asked:
        reason = f"computes `{asked}`, which code outside of modules asks for: a model that is not made yet has none"
        raise _refused(found.method.node, reason)


def _asked_outside(run: Execution, names: frozenset[str]) -> str:
    """One of the names that code which may hold a model of the class reads off something, or asks for by a string."""
    project = run.project
    if run.analyser.named_outside.isdisjoint(m.qualname for m in (run.model, *run.analyser.classes.derived(run.model))):
        return ""
    for source in project.files.values():
        if source.words.isdisjoint(names) and not any(name in source.text for name in names):
            continue
        for node in source.by_kind.get(ast.Attribute, ()):
            assert isinstance(node, ast.Attribute)
            base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            if node.attr in names and node not in project.inside_modules and base not in _SETTINGS:
                return node.attr
        for node in source.by_kind.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called in ("getattr", "hasattr", "attrgetter") and node not in project.inside_modules:
                for part in node.args:
                    if isinstance(part, ast.Constant) and part.value in names:
                        return str(part.value)
    return ""


def _holds_layers(run: Execution, field: Field) -> bool:
    analyser = run.analyser
    if field.name in analyser.templates(run.model.qualname) or field.name in analyser.given.get(run.model.qualname, {}):
        return True
    return isinstance(run.field_value(field.name).value, AnyFactory)


def execute(run: Execution) -> None:
    """Follow it as the beginning of `setup`. A class that is refused for it goes on telling others what it gives them."""
    try:
        _execute(run)
    except Unmigratable as problem:
        run.problems.append(problem)
        run.computing, run.in_setup = None, False


def _execute(run: Execution) -> None:
    found = run.computing = computing(run.model)
    if found is None:
        return
    _begin(run, found)
    env = Env({}, found.method.source, method=found.method)
    run.entry, run.in_setup, run.block = "setup", True, Block()
    for statement in found.after:
        named = set_by_name(statement)
        if named is not None:
            run.attributes[named[0]] = run.evaluate(named[1], env)
        else:
            run.run_block([statement], env, Returned())
    for name in found.made:
        held = run.attributes.get(name)
        value = held.value if held is not None else None
        layer = isinstance(value, Global) and layers.lookup(value.name) is not None
        if layer or isinstance(value, AnyFactory) or (value is not None and run.holds_module(value)):
            raise _refused(found.method.node, f"keeps layers as `{name}`")
    run.in_setup = False


def unknown_fields(model: ClassModel | None, bound: dict[str, BoundArg]) -> None:
    """At a construction: what is given for a field that changes is not what it holds."""
    for name in changed(model):
        value: Any = Abs(Unknown(f"`{name}`, which __post_init__ computes"), False)
        given = bound.get(name)
        bound[name] = BoundArg(None, value, None, given=False) if given is None else dataclasses.replace(given, abs=value)


__all__ = [
    "Computing", "attribute_set", "changed", "computing", "execute", "is_nothing", "is_super", "keeps", "own_attribute",
    "set_by_name", "unknown_fields",
]  # fmt: skip
