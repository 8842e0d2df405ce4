"""What a class does with the modules that code outside of modules hands to it: calls them, goes through them, reads a field.

    for flow in reversed(self.flows):        latents = get_latent(self.encoder, observations)
        z = flow(z, reverse=True)            sections = [q.sections for q in self.quantizers]

They are followed through loops, local names and functions of the project. What `__call__` reaches is run once on shapes,
when there are only stand-ins for the modules; other methods find the modules themselves, and may call their methods, too.
"""

from __future__ import annotations

import ast
from typing import Any

from ...source import SourceFile
from ...trees import of_kind, said, subtree
from ..flow.function_calls import parameter
from ..project.classes import ClassModel, Field

_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# What has a class make or call its parts otherwise than its text says.
_LIFTED = frozenset(
    f"flax.linen.{name}"
    for name in (
        *("scan", "vmap", "remat", "checkpoint", "jit", "remat_scan", "map_variables", "transforms", "vjp", "jvp", "grad"),
        *("value_and_grad", "while_loop", "cond", "switch", "custom_vjp", "share_scope", "fold_rngs", "add_metadata_axis"),
    )
)
# What asks for the place of a module, for its variables, or whether they are being made.
_OF_LINEN = frozenset(
    {"is_initializing", "is_mutable_collection", "has_variable", "get_variable", "put_variable", "variables", "scope",
     "perturb", "clone", "bind", "unbind", "init", "apply", "path", "name", "parent", "children", "copy", "tabulate",
     "init_with_output", "lazy_init", "module_paths"}
)  # fmt: skip
# What stand-ins for modules have themselves.
_OF_STAND_INS = frozenset(
    {"adopting", "again", "eval", "first", "iter_children", "iter_modules", "made", "make", "see", "set_attributes",
     "settling", "sow", "train", "whose"}
)  # fmt: skip
# What a model is asked for outside of modules, by methods that are called there.
_OUTSIDE = frozenset({"init", "apply"})
_FLAGS = frozenset(
    {"train", "training", "is_training", "deterministic", "use_running_average", "eval", "test", "testing", "inference"}
)
_AS_LIST = frozenset({"list", "tuple", "reversed"})
_MAX_DEPTH = 4


class More(Exception):
    """More is done with a module than what can be followed."""


class Uses:
    """The uses of some fields of a class. Raises More."""

    def __init__(self, analyser: Any, model: ClassModel, names: frozenset[str]) -> None:
        self.analyser, self.model, self.names = analyser, model, names
        self.project = analyser.classes.project
        self.reached = _reached(model)
        self.called: set[str] = set()  # fields whose modules `__call__` calls
        self.asked: set[str] = set()  # fields that anything is done with
        self.read: set[str] = set()  # fields of the modules that are read
        self.flags: dict[tuple[str, bool], set[str]] = {}
        self._seen: set[tuple[ast.expr, str, bool, bool]] = set()
        for owner in model.mro():
            self._read(owner)
        if any(len(unlike) > 1 for unlike in self.flags.values()):
            raise More  # statistics that one call updates may be read by the next, see `updated_statistics`

    def _read(self, owner: ClassModel) -> None:
        own = {f.name for f in self.model.fields()}
        for node in subtree(owner.node):
            if isinstance(node, ast.Name | ast.Attribute) and self.project.qualname(owner.source, node) in _LIFTED:
                raise More
            if not isinstance(node, ast.Attribute) or not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                continue
            method = self._method_around(owner, node)
            if node.attr in _OF_LINEN - own and not (node.attr in _OUTSIDE and method not in self.reached):
                raise More
            if node.attr in self.names:
                if not isinstance(node.ctx, ast.Load) or method is None:
                    raise More
                self.asked.add(node.attr)
                _Use(self, node.attr, method in self.reached).follow(owner.source, node, method)
        strings = any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in of_kind(owner.node, ast.Constant))
        if strings and any(isinstance(n, ast.Name) and n.id in _BY_NAME for n in of_kind(owner.node, ast.Name)):
            raise More

    def is_new(self, node: ast.expr, field: str, now: bool, item: bool) -> bool:
        """Is an expression looked at for the first time, for this field?"""
        key = (node, field, now, item)
        found = key not in self._seen
        self._seen.add(key)
        return found

    def is_dict(self, name: str) -> bool:
        """Is a field a dict of modules, by its type?"""
        noted = next(f.annotation for f in self.model.fields() if f.name == name)
        kinds = (n for n in subtree(noted) if isinstance(n, ast.Subscript)) if noted is not None else ()
        return any(ast.unparse(n.value).rpartition(".")[2] in _DICTS for n in kinds)

    def _method_around(self, owner: ClassModel, node: ast.AST) -> ast.FunctionDef | None:
        """The method of the class that a node stands in."""
        around = [p for p in owner.source.ancestors(node) if isinstance(p, ast.FunctionDef) and p in owner.node.body]
        return around[0] if around else None


_BY_NAME = frozenset({"getattr", "setattr", "vars"})
_DICTS = frozenset({"Dict", "dict", "Mapping", "FrozenDict", "OrderedDict"})


class _Use:
    """One use of one field; `now`: while there are only stand-ins for the modules."""

    def __init__(self, uses: Uses, field: str, now: bool, item: bool = False, depth: int = 0) -> None:
        self.uses, self.field, self.now, self.item, self.depth = uses, field, now, item, depth

    def follow(self, source: SourceFile, node: ast.expr, function: ast.FunctionDef) -> None:
        """What is done with what an expression of a function holds: a module or several of them."""
        if not self.uses.is_new(node, self.field, self.now, self.item):
            return
        parent = source.parents[node]
        if isinstance(parent, ast.Compare):
            if not ((parent.left is node and _with_none(parent)) or _is_in(parent, node)):
                raise More
        elif isinstance(parent, ast.Call):
            self._in_call(source, parent, node, function)
        elif isinstance(parent, ast.keyword):
            call = source.parents[parent]
            assert isinstance(call, ast.Call)
            self._given(source, call, parent)
        elif isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
            self._of_item().follow(source, parent, function)
        elif isinstance(parent, ast.Attribute):
            self._attribute(source, parent, function)
        elif isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
            self._loop(source, parent, parent.target, function)
        elif isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
            self._name(source, parent.targets[0], function, function)
        elif isinstance(parent, ast.IfExp) and parent.test is not node:
            self.follow(source, parent, function)
        elif isinstance(parent, ast.List | ast.Tuple) or (isinstance(parent, ast.ListComp) and parent.elt is node):
            self._of_item().follow(source, parent, function)
        elif isinstance(parent, ast.BinOp | ast.Starred) and _is_added(source, parent):
            self.follow(source, parent, function)
        elif not _is_test(source, node) or _What(self.uses.analyser, "__len__", "__bool__").is_method:
            raise More

    def _of_item(self) -> _Use:
        return _Use(self.uses, self.field, self.now, True, self.depth)

    def _in_call(self, source: SourceFile, call: ast.Call, node: ast.expr, function: ast.FunctionDef) -> None:
        if call.func is node:
            self._called(source, call, function)
            return
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name == "len" and len(call.args) == 1:
            return
        if name in _AS_LIST and len(call.args) == 1:
            self._of_item().follow(source, call, function)
            return
        if name in ("zip", "enumerate"):
            self._pairs(source, call, [call.args.index(node) if name == "zip" else 1], function)
            return
        self._given(source, call, node)

    def _called(self, source: SourceFile, call: ast.Call, function: ast.FunctionDef) -> None:
        around = source.parents[call]
        if isinstance(around, ast.Call) and around.func is call:
            raise More  # of a factory
        if not self.now:
            return
        if next((p for p in source.ancestors(call) if isinstance(p, _DEFERRED)), None) is not function:
            raise More  # which may be under a transform
        self.uses.flags.setdefault((self.field, self.item), set()).add(_flags(call, of_item=self.item))
        self.uses.called.add(self.field)

    def _attribute(self, source: SourceFile, node: ast.Attribute, function: ast.FunctionDef) -> None:
        call = source.parents[node]
        called = isinstance(call, ast.Call) and call.func is node
        if node.attr in ("keys", "values", "items", "get") and called:
            assert isinstance(call, ast.Call)
            if node.attr == "keys":
                return
            if node.attr == "items":
                self._of_item()._pairs(source, call, [1], function)
            elif len(call.args) == (1 if node.attr == "get" else 0) and not call.keywords:
                self._of_item().follow(source, call, function)
            else:
                raise More
            return
        hidden = node.attr.startswith("__") and not node.attr.endswith("__")
        if not isinstance(node.ctx, ast.Load) or node.attr in _OF_LINEN or hidden:
            raise More
        found = _What(self.uses.analyser, node.attr)
        plain = found.is_field and not called and not isinstance(call, ast.Attribute | ast.Subscript)
        if plain and not (self.now and node.attr in _OF_STAND_INS):
            self.uses.read.add(node.attr)
        elif self.now or not called or not found.is_method:
            raise More

    def _loop(self, source: SourceFile, loop: ast.AST, target: ast.expr, function: ast.FunctionDef) -> None:
        if not self.item and self.uses.is_dict(self.field):
            return  # its keys
        within = source.parents[loop] if isinstance(loop, ast.comprehension) else loop
        self._of_item()._name(source, target, function, within)

    def _pairs(self, source: SourceFile, call: ast.Call, places: list[int], function: ast.FunctionDef) -> None:
        """`for i, layer in enumerate(self.layers)`; `places`: of the modules among what the loop names."""
        parent = source.parents[call]
        if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
            raise More
        if isinstance(parent, ast.Call) and said(parent.func) == "enumerate" and parent.args == [call]:
            self._pairs(source, parent, [1, *places], function)
            return
        if not isinstance(parent, ast.For | ast.comprehension) or parent.iter is not call:
            raise More
        target = parent.target
        for place in places:
            if not isinstance(target, ast.Tuple | ast.List) or place >= len(target.elts):
                raise More
            if any(isinstance(e, ast.Starred) for e in target.elts):
                raise More
            target = target.elts[place]
        self._loop(source, parent, target, function)

    def _name(self, source: SourceFile, target: ast.expr, function: ast.FunctionDef, within: ast.AST) -> None:
        """All uses of a local name, which a loop names only in that."""
        if not isinstance(target, ast.Name):
            raise More
        names = source.names
        scope = names.bound_by(target)
        inside = set(subtree(within)) if within is not function else None
        if scope is not function and inside is None:
            raise More
        for node in of_kind(function, ast.Name):
            assert isinstance(node, ast.Name)
            if node.id != target.id or node is target or names.binding_scope(node.id, node) is not scope:
                continue
            if inside is not None and node not in inside:
                if not _is_of_other_loop(source, node):
                    raise More
            elif isinstance(node.ctx, ast.Load):
                self.follow(source, node, function)
            elif inside is not None or not _is_assigned(source, node):
                raise More
        if any(isinstance(p, ast.arg) and p.arg == target.id for p in subtree(function.args)):
            raise More

    def _given(self, source: SourceFile, call: ast.Call, argument: ast.expr | ast.keyword) -> None:
        """A function of the project that is handed a module."""
        found = self.uses.analyser.given_outside.functions.called(source, call)
        name = parameter(found[1], call, argument) if found is not None else None
        starred = any(isinstance(a, ast.Starred) for a in call.args)
        if found is None or name is None or starred or self.depth > _MAX_DEPTH:
            raise More
        home, function = found
        if self.uses.project.qualname(source, call.func) in self.uses.project.linen_classes:
            raise More
        inner = _Use(self.uses, self.field, self.now, self.item, self.depth + 1)
        for node in subtree(function):
            if not isinstance(node, ast.Name) or node.id != name or home.names.binding_scope(name, node) is not function:
                continue
            if not isinstance(node.ctx, ast.Load):
                raise More
            inner.follow(home, node, function)


class _What:
    """What modules of the project have under a name."""

    def __init__(self, analyser: Any, name: str, *others: str) -> None:
        models = list(analyser.classes)
        given = analyser.given_outside
        holders = {target for target, names in given.fields.items() if name in names}
        holders |= {target for target, by_field in given.templates.items() if name in by_field}
        fields = [f for m in models for f in m.fields() if f.name == name]
        set_up = any(_sets(m, name) for m in models)
        self.is_field = bool(fields) and not set_up and not holders and not any(_may_hold(f) for f in fields)
        self.is_method = any(own in m.own_methods for m in models for own in (name, *others))


def _sets(model: ClassModel, name: str) -> bool:
    """Does a class set an attribute of its own, or have a method of that name?"""
    if name in model.own_methods:
        return True
    nodes = (n for n in of_kind(model.node, ast.Attribute) if isinstance(n, ast.Attribute) and n.attr == name)
    return any(not isinstance(n.ctx, ast.Load) for n in nodes)


def _may_hold(field: Field) -> bool:
    """Has a field no type, or one that is none of plain values, or a default that is made for each module?"""
    if field.annotation is None or field.factory is not None:
        return True
    names = {n.id for n in subtree(field.annotation) if isinstance(n, ast.Name)}
    names |= {n.attr for n in subtree(field.annotation) if isinstance(n, ast.Attribute)}
    return not names <= _PLAIN


_PLAIN = frozenset(
    {
        "int",
        "float",
        "bool",
        "str",
        "tuple",
        "list",
        "Tuple",
        "List",
        "Sequence",
        "Iterable",
        "Optional",
        "Union",
        "None",
        "typing",
    }
)


def _is_added(source: SourceFile, node: ast.BinOp | ast.Starred) -> bool:
    """`self.flows + self.more`, `[*self.flows, last]`"""
    return (
        isinstance(node.op, ast.Add)
        if isinstance(node, ast.BinOp)
        else isinstance(source.parents[node], ast.List | ast.Tuple)
    )


def _is_assigned(source: SourceFile, node: ast.Name) -> bool:
    """`part = self.parts[0]` beside another assignment of that name, which is looked at by itself."""
    parent = source.parents[node]
    return isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.targets[0] is node


def _is_of_other_loop(source: SourceFile, node: ast.Name) -> bool:
    """Does a name stand in another loop that names its items so?"""
    loops = (p for p in source.ancestors(node) if isinstance(p, ast.For))
    return any(n.id == node.id for loop in loops for n in subtree(loop.target) if isinstance(n, ast.Name))


def _is_test(source: SourceFile, node: ast.expr) -> bool:
    """Is it only asked whether there is one: `if self.encoder and train`, `assert self.flows`?"""
    parent = source.parents[node]
    if isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        return _is_test(source, parent)
    if isinstance(parent, ast.If | ast.IfExp | ast.While | ast.Assert):
        return parent.test is node
    return False


def _is_in(parent: ast.Compare, node: ast.expr) -> bool:
    """`"goal" in self.encoders`"""
    return parent.comparators == [node] and isinstance(parent.ops[0], ast.In | ast.NotIn)


def _with_none(node: ast.Compare) -> bool:
    nothing = node.comparators[0]
    return len(node.ops) == 1 and isinstance(nothing, ast.Constant) and nothing.value is None


def _flags(call: ast.Call, *, of_item: bool) -> str:
    """What a call says of its flags: constants, and what keywords are given. Items may take other arguments each."""
    constants = [a for a in call.args if isinstance(a, ast.Constant) and (not of_item or isinstance(a.value, bool))]
    keywords = [k for k in call.keywords if not of_item or k.arg in _FLAGS or _is_flag(k.value)]
    return ", ".join([*(ast.unparse(a) for a in constants), *sorted(ast.unparse(k) for k in keywords)])


def _is_flag(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _reached(model: ClassModel) -> set[ast.FunctionDef]:
    """`__call__`, and the methods that it calls, those of bases by `super()`."""
    stack, found = [model.method("__call__")], set[ast.FunctionDef]()
    while stack:
        method = stack.pop()
        if method is None or method.node in found:
            continue
        found.add(method.node)
        above = model.mro()[model.mro().index(method.owner) + 1 :]
        for node in method.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                stack.append(model.method(node.attr))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and said(node.value.func) == "super":
                stack += [owner.own_methods[node.attr] for owner in above if node.attr in owner.own_methods][:1]
    return found


__all__ = ["More", "Uses"]
