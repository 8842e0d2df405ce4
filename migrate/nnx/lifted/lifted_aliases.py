"""`BatchModel = nn.vmap(Model, ...)` outside of modules → a class of that name whose `__call__` is mapped.

    class BatchModel(Model):
        __call__ = nnx.vmap(Model.__call__, in_axes=(None, 0, 0), out_axes=0)

In Linen the lifted class derives from `Model` and holds its variables under the same keys; only `__call__` goes through the
transform. That holds for what derives from the native class, as long as all members share their variables. Aliases that only
modules of the project use need no class: those modules say the transform where they call it (see `lifted.py`).
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...edits import Part, Parts
from ...linen.execution.execute import Execution
from ...linen.lifted.lifted_aliases import LiftedAlias, factory_of, find, lifted_kind, targets_of
from ...linen.lifted.lifting import transforms_of
from ...linen.project.index import Project
from ...linen.values.mapped_axes import in_axes_of
from ...linen.values.sites import Lifted, Unmigratable
from ...linen.values.values import Const, Int, Value
from ...plan import ClassPlan, Outcome, Plan
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import DryNamer, Namer
from .lifted import Used, treatment
from .lifted_calls import axis_text

if TYPE_CHECKING:
    from ...context import FileContext
    from ...linen.execution.analyser import Analyser


@dataclasses.dataclass(frozen=True)
class AliasText:
    """An alias that becomes a class, or that goes (`lifted` is None) because only modules use it."""

    alias: LiftedAlias
    lifted: Lifted | None
    how: str
    count: int  # the positional arguments of a call


def refused(project: Project, aliases: list[LiftedAlias]) -> dict[str, Unmigratable]:
    """Classes to which a lifted transform is applied outside of modules in any other way than by an alias."""
    found: dict[str, Unmigratable] = {}
    known = {alias.call for alias in aliases}
    for source in project.files.values():
        for node in source.by_kind.get(ast.Call, ()):
            if not isinstance(node, ast.Call) or node in project.inside_modules or node in known:
                continue
            if lifted_kind(project, source, node):
                for target in targets_of(project, source, node):
                    found[target] = _refusal(ast.unparse(node.func), source.path.name)
    return found


def _refusal(transform: str, file: str, why: str = "") -> Unmigratable:
    return Unmigratable("NNX130", f"{transform} is applied to it outside of a module (in {file}){why}")


def aliases_of(project: Project) -> list[LiftedAlias]:
    """The aliases of the project."""
    return find(project)


def decide(
    project: Project, analyser: Analyser, plan: Plan, aliases: list[LiftedAlias], reasons: dict[str, Unmigratable]
) -> list[AliasText]:
    """The aliases of native classes as they will be written, each with a plan of its own; `reasons` gets the classes for
    which that cannot be.
    """
    found: list[AliasText] = []
    for alias in aliases:
        target = plan.classes.get(alias.target)
        if target is None or target.outcome is not Outcome.NATIVE:
            continue
        try:
            outside = used_outside(project, alias)
            text = _planned(analyser, alias, target) if outside else AliasText(alias, None, "", 0)
        except Unmigratable as error:
            short = alias.kind
            reasons[alias.target] = _refusal(f"nn.{short}", alias.source.path.name, f": {error.reason}")
            continue
        found.append(text)
        if text.lifted is not None:
            plan.classes[alias.qualname] = dataclasses.replace(
                target, qualname=alias.qualname, path=str(alias.source.path), line=alias.statement.lineno,
                alias_of=alias.target, writer=None,
            )  # fmt: skip
        plan.lifted_aliases[alias.call] = alias.qualname
    return found


def used_outside(project: Project, alias: LiftedAlias) -> bool:
    """Does code outside of modules, or a class that derives from it, say the name? So does an import for other files."""
    name = alias.qualname.rpartition(".")[2]
    for source in project.files.values():
        if name not in source.words and alias.qualname not in source.names.imports.values():
            continue
        local = {n for n, dotted in source.names.module_imports.items() if project.canonical(dotted) == alias.qualname}
        if local and (source.is_package or any(n not in _names(source) for n in local)):
            return True
        for node in source.nodes:
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if project.qualname(source, node) != alias.qualname:
                continue
            parent = source.parents.get(node)
            if node not in project.inside_modules or (isinstance(parent, ast.ClassDef) and node in parent.bases):
                return True
    listed = any(isinstance(n, ast.Constant) and n.value == name for n in _all_list(alias.source.tree))
    return listed or (not name.startswith("_") and not _used_inside(project, alias))


def _names(source: SourceFile) -> set[str]:
    return {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}


def _used_inside(project: Project, alias: LiftedAlias) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and project.qualname(info.source, node) == alias.qualname
        for info in project.linen_classes.values()
        for node in info.nodes
    )


def _all_list(tree: ast.Module) -> list[ast.AST]:
    """What `__all__` lists."""
    return [
        node
        for statement in tree.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
        for node in subtree(statement.value)
    ]


def _planned(analyser: Analyser, alias: LiftedAlias, target: ClassPlan) -> AliasText:
    model = analyser.classes.get(alias.target)
    method = model.method("__call__") if model is not None else None
    if model is None or method is None or target.writer is None:
        raise Unmigratable("NNX130", "it has no `__call__` of its own", alias.call)
    (lifted,) = factory_of(Execution(model, analyser), alias).lifted
    if {"__call__"} != {n for n in (*model.methods(), "__call__") if lifted in transforms_of((lifted,), n)}:
        raise Unmigratable("NNX130", "other methods than `__call__` are lifted", alias.call)
    if lifted.kind == "remat":
        if set(lifted.options) - {"prevent_cse", "static_argnums", "policy"}:
            raise Unmigratable("NNX130", "its options have no counterpart", alias.call)
        text = AliasText(alias, lifted, "remat", 0)
    elif lifted.kind == "vmap":
        text = _vmapped(
            alias,
            lifted,
            target,
            [p.arg for p in method.positional if method.default(p.arg) is None],
            [p.arg for p in method.positional],
            method.node,
        )
    else:
        raise Unmigratable("NNX130", f"nn.{lifted.kind} has no class of its own in NNX", alias.call)
    class_parts(text, DryNamer())
    return text


def _vmapped(
    alias: LiftedAlias, lifted: Lifted, target: ClassPlan, required: list[str], named: list[str], node: ast.FunctionDef
) -> AliasText:
    used = Used(target.collections, target.rng_streams, target.sown, target.unnamed_streams)
    how, _ = treatment(lifted, used)
    if how not in ("shared", "streams"):
        raise Unmigratable("NNX130", "every member has variables of its own", alias.call)
    if set(lifted.options) - {"variable_axes", "split_rngs", "in_axes", "out_axes", "axis_size", "axis_name"}:
        raise Unmigratable("NNX130", "its options have no counterpart", alias.call)
    given = lifted.abs.get("in_axes")
    count = len(getattr(given.value, "items", ())) if given is not None else 0
    if not count:  # one axis for all arguments, however many a call has
        if len(required) != len(named):
            raise Unmigratable("NNX130", "how many arguments are mapped is not written out", alias.call)
        count = len(named)
    if not len(required) <= count <= len(named) or node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        raise Unmigratable("NNX130", "its arguments are not those that in_axes names", alias.call)
    mapped = dict(zip(named, in_axes_of(lifted, count)))
    for argument in target.added_arguments:
        if argument.call:
            raise Unmigratable("NNX130", "the class is handed modules, which are made when it is called", alias.call)
        _same_size_outside(argument.name, argument.origin, mapped, alias)
    return AliasText(alias, lifted, how, count)


def _same_size_outside(name: str, origin: str, mapped: Mapping[str, Value], alias: LiftedAlias) -> None:
    """A size of what one member sees must be the same expression of what the mapped class is called with."""
    argument, dot, rest = origin.partition(".")
    axis = mapped.get(argument, Const(None))
    if axis == Const(None):
        return
    leading = isinstance(axis, Int) and axis.dim.value == 0
    if not leading or not dot or rest != "shape[-1]":
        raise Unmigratable("NNX130", f"its size `{name}` is not that of all members", alias.call)


# writing ----------------------------------------------------------------------------------------------------------
def class_parts(text: AliasText, namer: Namer) -> Parts:
    """The value of `__call__` in the class."""
    alias, lifted = text.alias, text.lifted
    assert lifted is not None
    source, model = alias.source, alias.call.args[0]
    options: list[Part] = []
    if lifted.kind == "remat":
        for name, node in lifted.options.items():
            options += [f", {name}=", source.span(node)]
        return (f"{namer.name('flax.nnx.remat')}(", source.span(model), ".__call__", *options, ")")
    axes = [axis_text(a, lifted) for a in in_axes_of(lifted, text.count)]
    if text.how == "streams":
        function = namer.parity("vmap_with_streams")
    else:
        function, axes = namer.name("flax.nnx.vmap"), ["None", *axes]
    out = lifted.abs.get("out_axes")
    out_text = axis_text(out.value, lifted) if out is not None else "0"
    options += [f", in_axes=({', '.join(axes)}{',' if len(axes) == 1 else ''}), out_axes={out_text}"]
    for name in ("axis_size", "axis_name"):
        if name in lifted.options:
            options += [f", {name}=", source.span(lifted.options[name])]
    return (f"{function}(", source.span(model), ".__call__", *options, ")")


def write(texts: list[AliasText], by_path: Mapping[Any, FileContext]) -> None:
    """The edits of the aliases."""
    for text in texts:
        alias = text.alias
        context = by_path[alias.source.path]
        if text.lifted is None:
            context.replace(alias.source.line_span(alias.statement), code="NNX100")
            for other in by_path.values():  # the imports of it go, too
                other.gone.add(alias.qualname)
            continue
        name, newline, unit = alias.qualname.rpartition(".")[2], alias.source.newline, alias.source.indent_unit
        short = alias.target.rpartition(".")[2]
        context.replace(
            alias.statement,
            f"class {name}(", alias.call.args[0], f"):{newline}",
            f'{unit}"""`{short}`, called through nnx.{text.lifted.kind}."""{newline}{newline}',
            f"{unit}__call__ = ", *class_parts(text, context),
            code="NNX100",
        )  # fmt: skip


__all__ = ["AliasText", "aliases_of", "decide", "refused", "used_outside", "write"]
