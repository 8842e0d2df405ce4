"""`nn.remat_scan` and `nn.map_variables`: transforms that a function of linen_parity carries out whole.

A module under `nn.remat_scan` is made once per step, stacked along an axis for each of the lengths; one under
`nn.map_variables` keeps its parameters as Linen stores them and is called as a copy that holds what the functions make of
them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...edits import Part, Parts
from ...linen.lifted.lifting import WHOLE
from ...linen.values.sites import Function, Lifted, Module, SelfModule, Site, Table, Unmigratable
from ...linen.values.values import Const, Int, Tup, Value
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import InitLines
from . import lifted as lifted_modules

if TYPE_CHECKING:
    from ..classes.class_text import ClassText


def one_of(levels: tuple[Lifted, ...] | list[Lifted]) -> Lifted | None:
    """The one such transform among those of a module or function, which then has at most remat within it."""
    found = [l for l in levels if l.kind in WHOLE]
    if not found:
        return None
    others = [l for l in levels if l.kind != "jit"]
    if others[0] is not found[0] or any(l.kind != "remat" for l in others[1:]) or len(others) > 2:
        raise Unmigratable("NNX130", f"nn.{found[0].kind} is one of several transforms around each other", found[0].node)
    return found[0]


# remat_scan -------------------------------------------------------------------------------------------------------
def _axis(one: Lifted, used: lifted_modules.Used) -> int | None:
    """Along which axis nn.remat_scan stacks the parameters; None where all steps share them."""
    broadcast = one.abs.get("variable_broadcast")
    shared = broadcast is not None and not _nothing(broadcast.value)
    if used.sown:
        raise Unmigratable("NNX168", "values are sown by the steps of nn.remat_scan", one.node)
    if shared:
        assert broadcast is not None
        more = used.collections - {"params"} or used.streams or used.unnamed
        if more or broadcast.value not in (Const("params"), Const(True)):
            reason = "the steps of nn.remat_scan share variables and have statistics or random numbers"
            raise Unmigratable("NNX168", reason, one.node)
        return None
    split = one.abs.get("split_rngs")
    if split is not None:
        table = split.value.items if isinstance(split.value, Table) else {}
        wanted = {"params", *used.streams}
        if used.unnamed or not all(table.get(s, table.get(True)) == Const(True) for s in wanted):
            raise Unmigratable("NNX168", "the steps of nn.remat_scan start equal or draw the same numbers", one.node)
    axes = one.abs.get("variable_axes")
    if axes is None:
        return 0
    table = axes.value.items if isinstance(axes.value, Table) else {}
    numbers = {_number(table.get(c, table.get("True", table.get(True)))) for c in {"params", *used.collections}}
    if len(numbers) != 1 or None in numbers or (numbers != {0} and used.streams):
        raise Unmigratable("NNX168", "nn.remat_scan maps collections in a way that is not followed", one.node)
    return numbers.pop()


def _number(value: Value | None) -> int | None:
    return value.dim.value if isinstance(value, Int) else None


def _nothing(value: Value) -> bool:
    return (isinstance(value, Const) and not value.value) or (isinstance(value, Tup) and not value.items)


# map_variables ----------------------------------------------------------------------------------------------------
def _stored_through(one: Lifted, used: lifted_modules.Used) -> list[str]:
    """The functions that the first values go through, in order, by the names of the options."""
    _only_params(one, used)
    init, mutable = _flag(one, "init"), _flag(one, "mutable")
    if not init and not mutable:
        reason = "nn.map_variables has neither `init` nor `mutable`, so that Linen makes no parameters under it"
        raise Unmigratable("NNX130", reason, one.node)
    order = ["trans_out_fn", "trans_in_fn", "trans_out_fn"] if init else ["trans_out_fn"]
    found = [name for name in order if name in one.options]
    if "trans_in_fn" in found and _asks_for_init(one, "trans_in_fn"):
        if not _keeps_at_init(one):
            raise Unmigratable("NNX130", "what nn.map_variables does at init depends on `is_initializing`", one.node)
        found = [name for name in found if name != "trans_in_fn"]
    if "trans_out_fn" in found and _asks_for_init(one, "trans_out_fn"):
        raise Unmigratable("NNX130", "what nn.map_variables does at init depends on `is_initializing`", one.node)
    return found


def _only_params(one: Lifted, used: lifted_modules.Used) -> None:
    given = one.abs.get("mapped_collections")
    value = given.value if given is not None else Const(True)
    if isinstance(value, Tup) and len(value.items) == 1:
        value = value.items[0]
    if value != Const("params") and not (value == Const(True) and used.collections <= {"params"}):
        raise Unmigratable("NNX130", "nn.map_variables maps other collections than the parameters", one.node)


def _flag(one: Lifted, name: str) -> bool:
    """Is the option on while Linen initializes?"""
    node = one.options.get(name)
    if node is None:
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "is_initializing":
        return True
    value = one.abs[name].value
    if not isinstance(value, Const) or not isinstance(value.value, bool):
        raise Unmigratable("NNX130", f"`{name}` of nn.map_variables is not a constant", one.node)
    return value.value


def _asks_for_init(one: Lifted, name: str) -> bool:
    value = one.abs[name].value
    body = value.node if isinstance(value, Function) else one.options[name]
    return any(isinstance(n, ast.Attribute) and n.attr == "is_initializing" for n in subtree(body))


def _keeps_at_init(one: Lifted) -> bool:
    """Is the function `return f(variables) if not self.is_initializing() else variables`, or the like?"""
    value = one.abs["trans_in_fn"].value
    if not isinstance(value, Function):
        return False
    node = value.node
    parameters = [a.arg for a in node.args.args if a.arg != "self"]
    if isinstance(node, ast.Lambda):
        returned: ast.expr | None = node.body
    else:
        body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        if len(body) == 2 and isinstance(body[0], ast.If) and len(body[0].body) == 1 and not body[0].orelse:
            kept = body[0].body[0]
            same = isinstance(kept, ast.Return) and isinstance(kept.value, ast.Name) and [kept.value.id] == parameters
            return same and ast.unparse(body[0].test) == "self.is_initializing()"
        returned = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if not isinstance(returned, ast.IfExp):
        return False
    negated = isinstance(returned.test, ast.UnaryOp) and isinstance(returned.test.op, ast.Not)
    test = returned.test.operand if isinstance(returned.test, ast.UnaryOp) and negated else returned.test
    kept_value = returned.orelse if negated else returned.body
    same = isinstance(kept_value, ast.Name) and [kept_value.id] == parameters
    return same and ast.unparse(test) == "self.is_initializing()"


# writing ----------------------------------------------------------------------------------------------------------
def constructor(writer: ClassText, site: Site, one: Lifted, inner: Parts) -> InitLines:
    """How the module under the transform is made."""
    if site.scopes:
        raise Unmigratable("NNX130", f"nn.{one.kind} stands in a lifted function", one.node)
    used = lifted_modules.used_by(writer, site)
    if one.kind == "map_variables":
        names = _stored_through(one, used)
        if not names:
            return InitLines((), inner)
        parts: list[Part] = [writer.namer.parity("stored"), "(", *inner]
        for name in names:
            parts += [", ", *_in_constructor(writer, site, one, name)]
        return InitLines((), (*parts, ")"))
    axis = _axis(one, used)
    if axis is None:
        return InitLines((), inner)
    stacked = writer.namer.parity("stacked")
    lengths = _in_constructor(writer, site, one, "lengths")
    last = (f", axis={axis})",) if axis else (")",)
    return InitLines((), (f"{stacked}(lambda rngs: ", *inner, ", ", *lengths, ", rngs", *last))


def _in_constructor(writer: ClassText, site: Site, one: Lifted, name: str) -> Parts:
    if name not in one.options:
        raise Unmigratable("NNX130", f"nn.{one.kind} has no `{name}`", one.node)
    if site.in_own_words(writer.source) and _stands_in(site.source, one.options[name], site.node):
        return (site.source.span(one.options[name]),)
    said = one.said.get(name)
    if said is None:
        raise Unmigratable("NNX130", f"`{name}` of nn.{one.kind} is known only when the module is called", one.node)
    return writer.said(said)


def _stands_in(source: SourceFile, option: ast.expr, node: ast.AST) -> bool:
    """Do both stand in the same function?"""

    def around(inner: ast.AST) -> ast.AST | None:
        return next((a for a in source.ancestors(inner) if isinstance(a, ast.FunctionDef | ast.Lambda)), None)

    return option in source.parents and around(option) is around(node)


def called(writer: ClassText, site: Site, one: Lifted, remats: list[Lifted], method: str, node: ast.Call) -> Parts:
    """`linen_parity.remat_scan(Block.__call__, lengths)`: to be called with the module first."""
    if one.kind == "remat_scan" and (len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred)):
        raise Unmigratable("NNX141", "a module under nn.remat_scan takes one argument, and no keywords", node)
    function = lifted_modules.remat_call(writer, site, remats, method, node)
    if not function:
        function = lifted_modules.unbound(writer, site, method, (), node)
    used = lifted_modules.used_by(writer, site)
    return (writer.namer.parity(one.kind), "(", *function, *_options(writer, site.source, one, used, node, site), ")")


def _options(
    writer: ClassText, source: SourceFile, one: Lifted, used: lifted_modules.Used, call: ast.AST, site: Site | None
) -> Parts:
    """The options of the transform where the module is called, behind the function."""

    def said(name: str) -> Part:
        option = one.options[name]
        if not _stands_in(source, option, call) and not _closed(source, option):
            raise Unmigratable("NNX130", f"`{name}` of nn.{one.kind} is known to another function only", one.node)
        return source.span(option)

    if one.kind == "map_variables":
        _only_params(one, used)
        if "trans_in_fn" not in one.options:
            return ()
        return (", ", said("trans_in_fn"))
    axis = _axis(one, used)
    if "lengths" not in one.options:
        raise Unmigratable("NNX130", "nn.remat_scan has no lengths", one.node)
    parts: list[Part] = [", ", said("lengths")]
    if "policy" in one.options:
        parts += [", policy=", said("policy")]
    if axis != 0:
        parts.append(f", axis={axis}")
    return tuple(parts)


def _closed(source: SourceFile, node: ast.expr) -> bool:
    """Does an expression mean the same in every method: nothing but fields, globals, constants and its own arguments?"""
    own = {a.arg for n in subtree(node) if isinstance(n, ast.Lambda) for a in n.args.args}
    names = [n for n in subtree(node) if isinstance(n, ast.Name) and n.id not in own]
    return all(n.id == "self" or not source.names.is_hidden(n.id, n) for n in names)


def of_function(writer: ClassText, one: Lifted, module: Value, used: lifted_modules.Used, source: SourceFile) -> Parts:
    """The options of `nn.map_variables(function, ...)` behind the function."""
    if one.kind == "remat_scan":
        raise Unmigratable("NNX130", "nn.remat_scan is applied to a function", one.node)
    _only_params(one, used)
    if not isinstance(module, SelfModule | Module):
        raise Unmigratable("NNX130", "nn.map_variables is applied to a function of something that is not followed", one.node)
    if _flag(one, "init") or ("trans_out_fn" in one.options and _flag(one, "mutable")):
        raise Unmigratable("NNX130", "nn.map_variables changes first values in a function", one.node)
    return ("trans_in_fn=", source.span(one.options["trans_in_fn"])) if "trans_in_fn" in one.options else ()


__all__ = ["called", "constructor", "of_function", "one_of"]
