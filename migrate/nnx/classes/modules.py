"""Linen module classes → nnx.Module classes: which become native, and the edits of those that do."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from ...context import FileContext, Options
from ...diagnostics import Severity
from ...edits import Conflict, Edit, Parts, Span
from ...linen.evidence.ranks import certain_ranks, seen_ranks
from ...linen.execution.analyser import Analyser, internal_error
from ...linen.modules import applied_models, call_fields, local_classes, named_factories, untold_factories
from ...linen.modules.foreign import may_be_wrapped
from ...linen.modules.layer_classes import layer_class
from ...linen.modules.passed import held_modules
from ...linen.outside import outside
from ...linen.project.classes import Classes, ClassModel
from ...linen.project.index import Project
from ...linen.project.own_boxes import own_boxes
from ...linen.values.sites import Unmigratable
from ...plan import ClassPlan, Outcome, Plan
from ...progress import counted
from ...source import SourceFile
from .. import linen_copies
from ..calls import drawn, sown
from ..factories import factories, given_layers, helper_functions, outside_chains
from ..factories.field_kinds import Misfit, OtherSizes
from ..fields import kept_fields
from ..generated import foreign
from ..lifted import lifted_aliases, lifted_functions
from ..refused import reflection
from ..setup import kept_arrays
from ..text import shared_names
from ..text.layer_variants import LayerVariant
from ..text.text_parts import DryNamer, Recorder
from . import (
    asking,
    attempts,
    configured,
    given_trees,
    held_state,
    late_attempts,
    later_sizes,
    rank_checks,
    shared_readings,
    stack_axes,
    taken_for_granted,
    templates,
)
from .class_text import ClassText
from .class_write import ClassWriter

# The codes of the class writer and of the training writer's general form: one without the other is half a migration.
WRITERS = ("NNX100", "NNX603")


class _NotSelected(Unmigratable):
    """The class was not tried."""


def decide(
    project: Project,
    plan: Plan,
    options: Options,
    per_file: Mapping[Path, Options] | None = None,
    apart: Mapping[str, ClassPlan] | None = None,
) -> linen_copies.Copies:
    """Fill `plan.classes`: native, bridged or manual for every Linen class, with its added arguments.

    Classes of files for which the writers are not selected stay as they are. Gives the Linen copies that the bridged
    classes need of native ones. `apart`: classes that are not asked about, and what an estimate may take them for: those
    that others contain are decided, the rest is left out.
    """
    classes = Classes(project)
    asked = [model for model in classes if model.qualname not in (apart or {})]
    unselected = _unselected(classes, options, per_file or {})
    if len(unselected) == len(list(classes)):
        for model in classes:
            plan.classes[model.qualname] = _left(model, unselected[model.qualname], options)
        return linen_copies.Copies()
    analyser = Analyser(classes, certain_ranks(classes), seen_ranks(project, classes, options.trace))
    analyser.never_later = _not_for(classes, options, per_file or {}, later_sizes.CODE)
    analyser.kinds.never_named = _not_for(classes, options, per_file or {}, named_factories.CODE)
    analyser.never_told_apart = _not_for(classes, options, per_file or {}, shared_names.CODE)
    loaded = analyser.loaded = _loaded_attributes(project)
    outside.learn(project, analyser)
    _execute_all(analyser, asked)
    aliases = lifted_aliases.aliases_of(project)
    references = linen_copies.References(project)
    earlier = linen_copies.of_earlier_runs(classes, references)
    reasons: dict[str, Unmigratable] = {**earlier, **lifted_aliases.refused(project, aliases), **unselected}
    for name, why in project.unseen_bases.items():
        reason = f"{why}, and may be a Linen module"
        reasons.setdefault(name, Unmigratable("NNX176", reason, project.linen_classes[name].node))
    for name, known in (apart or {}).items():
        if known.outcome is not Outcome.NATIVE:
            reasons.setdefault(name, Unmigratable(known.code, known.reason))
    boxes = own_boxes(project)
    reached = [model for model in classes if model.source.module in boxes.reach]
    if boxes.reason is not None:
        _all_stay(reached, reasons, boxes.reason)
    given = dict(reasons)
    while True:
        texts: dict[str, ClassText] = {}
        plan.classes.clear()
        plan.lifted_aliases.clear()
        before = len(reasons)
        try:
            for model in counted(asked, "deciding on classes"):
                _decide_class(model, analyser, plan, reasons, texts, (), references if options.bridge else None)
        except Misfit as misfit:
            assert misfit.factory.origin is not None
            plan.warnings.append(("NNX163", misfit.message, *misfit.factory.origin))
            analyser.kinds.drop(misfit.factory)
            _execute_all(analyser, asked)
            continue
        except asking.TakenBack as taken:
            asking.take_back(analyser, taken.qualname)
            continue
        except given_trees.TreeGiven as tree:
            analyser.given_trees.setdefault(tree.target, set()).add(tree.parameter)
            analyser.unasked.add(tree.target)
            analyser.again(tree.target)
            _execute_all(analyser, asked)
            continue
        except (OtherSizes, rank_checks.OtherRank) as other:
            other.learn(analyser)
            _execute_all(analyser, asked)
            continue
        if outside.hand_over(analyser, [n for n in reasons if n not in given and analyser.templates(n)]):
            reasons = dict(given)
            _execute_all(analyser, asked)
            continue
        if call_fields.keep(analyser, reasons):  # what they hold decides more than their calls can say
            reasons = dict(given)
            _execute_all(analyser, asked)
            continue
        try:
            edited = _check_edits(project, plan, texts, reasons, loaded | analyser.read_attributes)
        except shared_readings.Agreed:
            _execute_all(analyser, asked)
            continue
        outside_chains.check(plan, analyser, reasons)
        templates.check_takers(analyser, reasons)
        templates.check_handed(plan, analyser, reasons)
        configured.check(plan, analyser, reasons)
        plan.lifted_texts = lifted_aliases.decide(project, analyser, plan, aliases, reasons)
        holds = analyser.given_outside.holds
        if any(model.qualname in reasons for model in reached):  # initializers return them to Linen's modules or native ones
            _all_stay(reached, reasons, "a module that stays Linen may hold boxes of the program's own")
        copies = linen_copies.settle(classes, reasons, edited, references, holds, options.bridge)
        if len(reasons) == before:
            break
    for model in classes:
        error = reasons.get(model.qualname)
        if error is not None:
            plan.classes[model.qualname] = _left(model, error, options)
        elif model.qualname in texts:
            plan.templates.update(templates.calls(texts[model.qualname]))
    linen_copies.add_plans(project, plan, copies)
    return copies


def _all_stay(classes: Iterable[ClassModel], reasons: dict[str, Unmigratable], why: str) -> None:
    for model in classes:
        reasons.setdefault(model.qualname, Unmigratable("NNX181", why))


def _unselected(classes: Classes, options: Options, per_file: Mapping[Path, Options]) -> dict[str, Unmigratable]:
    """Why the writers leave classes alone that nobody selected them for."""
    found: dict[str, Unmigratable] = {}
    for model in classes:
        own = per_file.get(model.source.path, options)
        off = next((code for code in WRITERS if not own.selects(code)), None)
        if off is not None:
            found[model.qualname] = _NotSelected(off, f"{off} is not selected")
    return found


def _execute_all(analyser: Analyser, models: Collection[ClassModel]) -> None:
    """Through everything, until every field knows what factories it is given."""
    analyser.forget_all()
    while True:
        known, analyser.revised = analyser.kinds.version, False
        for model in counted(models, "following classes"):
            _try_execution(analyser, model)
        stable = analyser.kinds.version == known and not analyser.revised
        if stable and not untold_factories.learn(analyser):
            return
        analyser.forget_news()


def _not_for(classes: Classes, options: Options, per_file: Mapping[Path, Options], code: str) -> set[str]:
    """The classes of files for which a rule is not selected."""
    return {m.qualname for m in classes if not per_file.get(m.source.path, options).selects(code)}


def _try_execution(analyser: Analyser, model: ClassModel) -> None:
    try:
        analyser.execution(model.qualname)
    except Unmigratable:
        pass


def _decide_class(
    model: ClassModel,
    analyser: Analyser,
    plan: Plan,
    reasons: dict[str, Unmigratable],
    texts: dict[str, ClassText],
    path: tuple[str, ...],
    references: linen_copies.References | None,
) -> None:
    """`references`: of the project, where modules that stay Linen may be wrapped."""
    name = model.qualname
    if name in reasons or name in texts or name in path:
        return
    why = local_classes.unfit(analyser.classes.project, model)
    if why:
        reasons[name] = Unmigratable("NNX175", why, model.node)
        return
    variant = layer_class(analyser.classes, name)
    if variant is not None:
        _decide_variant(LayerVariant(variant, analyser), plan, reasons)
        return

    def inner(qualname: str) -> None:
        """What it contains is planned first."""
        found = analyser.classes.get(qualname)
        if found is not None:
            _decide_class(found, analyser, plan, reasons, texts, (*path, name), references)

    for kind in outside_chains.kinds(analyser, name):
        inner(kind)

    def again() -> attempts.Attempt:
        analyser.forget(name, tried)
        return attempts.attempt(model, analyser, plan, inner, references)

    text, failure, tried = attempts.attempt(model, analyser, plan, inner, references)
    contained: set[str] = set()
    first = failure
    if failure is not None and asking.is_of_several(failure) and later_sizes.may_find(analyser, model, failure):
        analyser.later.add(name)
        text, last, tried = again()
        failure = failure if last is not None else None
        if text is None:
            analyser.later.discard(name)
            analyser.forget_special([name])
    while failure is not None and asking.asks(analyser, name, failure):
        text, failure, tried = again()
    while failure is not None and asking.takes_numbers(analyser, model, failure):
        text, failure, tried = again()
    if failure is not None and asking.takes_no_numbers(analyser, model):
        analyser.forget(name, tried)
        failure, tried = first, {}
    if failure is not None and name in analyser.asked_values:
        asking.forget(analyser, name)
        analyser.forget(name, tried)
        failure, tried = first, {}
    while failure is not None and failure.inner and failure.inner not in contained and references is not None:
        if not contained:  # each that can be native by itself is so before anything is wrapped
            for reference in references.within(model.source, model.node):
                inner(reference.key)
        contained.add(failure.inner)
        inner(failure.inner)
        if failure.inner not in plan.classes:  # it stays Linen: wrapped, if it can be
            analyser.bridging.add(name)
            analyser.wrapped.add(failure.inner)
            analyser.forget_special([failure.inner])
        elif failure.code == "NNX124":  # it was wrapped, and has become native since
            analyser.wrapped.discard(failure.inner)
            analyser.forget_special([failure.inner])
        try:
            text, failure, tried = again()
        except asking.TakenBack as taken:
            if taken.container != name or name not in analyser.bridging:
                raise
            break  # for a class that wraps what stays Linen, no other class stops asking
    while failure is not None and failure.foreign is not None and references is not None:
        source, package_class = failure.foreign
        known = analyser.foreign.get(name, set())
        if package_class in known or not may_be_wrapped(analyser.classes.project, source, package_class):
            break
        analyser.foreign.setdefault(name, known).add(package_class)
        analyser.bridging.add(name)
        text, failure, tried = again()
    text, failure, tried = late_attempts.found(model, analyser, (text, failure, tried), again)
    if text is None:
        assert failure is not None
        if analyser.foreign.pop(name, None):
            analyser.bridging.discard(name)
            analyser.forget(name, tried)
            assert first is not None
            failure = foreign.although(first, failure)
        elif name in analyser.bridging:
            if first is not None and first.code != "NNX124" and failure.code != "NNX150":
                failure = attempts.although_wrapped(first, failure, plan)
            analyser.bridging.discard(name)
            analyser.forget(name, tried)
        elif tried:
            analyser.forget(name, tried)
        assert failure is not None
        reasons[name] = failure
        return
    run = text.run
    changed = tried or name in analyser.foreign
    if changed or name in analyser.tracking or name in analyser.asked_values or text.run.number_arguments:
        analyser.forget_users(name, plan.classes)
    text.notes += taken_for_granted.notes(text, analyser)
    texts[name] = text
    details = text.details()
    method = model.method("__call__")
    made = [*run.sites, *(module.site for _, module in held_modules(run))]
    plan.classes[name] = ClassPlan(
        qualname=name,
        path=str(model.source.path),
        line=model.node.lineno,
        outcome=Outcome.NATIVE,
        fields=tuple(f.name for f in model.fields()),
        required_fields=tuple(f.name for f in model.fields() if f.default is None and f.factory is None),
        added_arguments=tuple(a for a, _, _ in details.added),
        needs_rngs=True,
        collections=held_state.collections(made, plan),
        rng_streams=held_state.streams(made, run.used_streams, plan),
        shared_streams=stack_axes.shared_streams(made, plan.classes),
        unnamed_streams=drawn.names_unknown(run.sites, plan.classes) or name in analyser.given_outside.handed,
        sown=sown.collections_of(run.sows) | sown.below(run.sites, plan.classes),
        late=held_state.makes_late(text) or any(below.late for below in held_state.below(made, plan)),
        modes=held_state.modes(text, made, plan),
        updated=held_state.updated_at_init(text, made, plan),
        arrays=kept_arrays.keeps_arrays(text) or any(below.arrays for below in held_state.below(made, plan)),
        wraps=held_state.wraps(made, plan),
        own_streams=held_state.own_streams(text, made, plan),
        transforms=held_state.transforms(text, made, plan),
        applied_by=applied_models.methods(model),
        methods=tuple(n for n in model.methods() if not n.startswith("_") and n != "setup"),
        call_arguments=tuple(p.arg for p in method.positional) if method is not None else (),
        call_rest=method.vararg if method is not None else "",
        call_keywords=tuple(a.arg for a in method.node.args.kwonlyargs) if method is not None else (),
        call_defaults=method.constant_defaults() if method is not None else {},
        details=details,
    )
    plan.classes[name].writer = text
    for kind in outside_chains.kinds(analyser, name) & plan.classes.keys():
        plan.classes[name].hold(plan.classes[kind])


def _decide_variant(variant: LayerVariant, plan: Plan, reasons: dict[str, Unmigratable]) -> None:
    """A class that is a layer with something changed."""
    model = variant.model
    try:
        variant.edits(DryNamer())
    except Unmigratable as error:
        reasons[model.qualname] = error
        return
    own = model.own_methods.get("__call__")
    inputs = tuple(p.arg for p in own.positional) if own is not None else ("inputs",)
    plan.classes[model.qualname] = ClassPlan(
        qualname=model.qualname,
        path=str(model.source.path),
        line=model.node.lineno,
        outcome=Outcome.NATIVE,
        fields=tuple(f.name for f in model.fields()),
        collections=frozenset({"params"}),
        methods=("__call__",),
        added_arguments=variant.added(inputs),
        call_arguments=inputs,
        details=variant.details(),
        writer=variant,
    )


def _of_variable(project: Project, source: SourceFile, node: ast.expr) -> bool:
    """Does an attribute belong to what a name of some file was assigned? (`bound.rate`, at the top of a script)"""
    while isinstance(node, ast.Attribute):
        node = node.value
    name = project.qualname(source, node) if isinstance(node, ast.Name) else None
    defined = project.definition(name) if name else None
    return defined is not None and isinstance(defined[1], ast.Assign | ast.AnnAssign)


def _loaded_attributes(project: Project) -> frozenset[str]:
    """Attribute names read on anything but self, or asked for by a string, in any file."""
    found: set[str] = set()
    for source in project.files.values():
        for node in source.by_kind.get(ast.Attribute, ()):
            assert isinstance(node, ast.Attribute)
            if node.attr in found or (isinstance(node.value, ast.Name) and node.value.id == "self"):
                continue
            if source.names.qualname(node) is None or _of_variable(project, source, node.value):
                found.add(node.attr)
        found.update(kept_fields.asked_by_name(source))
    return frozenset(found)


def _check_edits(
    project: Project, plan: Plan, texts: dict[str, ClassText], reasons: dict[str, Unmigratable], loaded: frozenset[str]
) -> set[str]:
    """A method shared by several classes can be rewritten one way only.

    Gives the module-level helpers that are rewritten for native classes.
    """
    wanted: dict[tuple[str, int, int], tuple[str, object]] = {}
    edited: set[str] = set()
    trials: dict[str, FileContext] = {}
    helpers: dict[Path, _Helpers] = {}
    read: list[tuple[str, SourceFile, Span]] = []
    inserted: dict[str, dict[tuple[Path, int], list[Parts]]] = {}
    for text in texts.values():
        lifted_functions.note_carried(text)
    for name, text in texts.items():
        if text.source.module not in trials:
            trials[text.source.module] = FileContext(text.source, plan, Options(), project)
        namer = Recorder(trials[text.source.module])
        writer = ClassWriter(text, namer, loaded)
        try:
            edits = writer.write()
        except Unmigratable as error:
            reasons[name] = error
            continue
        except Exception as error:
            reasons[name] = internal_error(error)
            continue
        text.written = edits, namer
        if writer.read_there:
            put = {(edit.source.path, edit.span) for edit in edits if not edit.insert}
            read += [(name, *there) for there in writer.read_there if (there[0].path, there[1]) not in put]
        for edit in edits:
            if edit.source.path not in helpers:
                helpers[edit.source.path] = _Helpers(project, edit.source)
            edited.add(helpers[edit.source.path].around(edit.span))
            if edit.insert:
                inserted.setdefault(name, {}).setdefault((edit.source.path, edit.span.start), []).append(edit.parts)
                continue
            key = (str(edit.source.path), edit.span.start, edit.span.end)
            other = wanted.setdefault(key, (name, edit.parts))
            if other[1] != edit.parts:
                if other[0] in texts and other[0] != name:
                    shared_readings.agree(text, texts[other[0]])
                reasons.setdefault(name, _SHARED)
                reasons.setdefault(other[0], _SHARED)
    for name, places in inserted.items():  # lines that a class adds to a base's
        for owner in texts[name].model.mro()[1:]:
            others = inserted.get(owner.qualname, {})
            span = owner.source.full_span(owner.node)
            for (path, at), lines in places.items():
                if path == owner.source.path and span.start <= at <= span.end and lines != others.get((path, at)):
                    reasons.setdefault(name, _SHARED)
                    reasons.setdefault(owner.qualname, _SHARED)
    for name, source, span in read:  # as it stands, where another class has something else there
        other = wanted.get((str(source.path), span.start, span.end), (name, ()))
        if other[0] != name:
            reasons.setdefault(name, _SHARED)
            reasons.setdefault(other[0], _SHARED)
    return edited - {""}


_SHARED = Unmigratable("NNX170", "a method that several classes share would have to differ between them")


class _Helpers:
    """The statements of a module, and which of them define what is no Linen class."""

    def __init__(self, project: Project, source: SourceFile) -> None:
        names: dict[ast.stmt, str] = {}
        for name, definition in source.names.definitions.items():
            qualname = f"{source.module}.{name}" if source.module else name
            if qualname not in project.linen_classes:
                names.setdefault(definition, qualname)
        self._spans = [source.full_span(statement) for statement in source.tree.body]
        self._names = [names.get(statement, "") for statement in source.tree.body]

    def around(self, span: Span) -> str:
        """The definition around `span`; "" where there is none."""
        at = bisect.bisect_right(self._spans, span.start, key=lambda statement: statement.start) - 1
        return self._names[at] if at >= 0 and self._spans[at].contains(span) else ""


def _left(model: ClassModel, error: Unmigratable, options: Options) -> ClassPlan:
    method = model.method("__call__")
    return ClassPlan(
        qualname=model.qualname,
        path=str(model.source.path),
        line=model.node.lineno,
        outcome=Outcome.BRIDGED if options.bridge and not isinstance(error, _NotSelected) else Outcome.MANUAL,
        reason=error.reason,
        code=error.code,
        fields=tuple(f.name for f in model.fields()),
        required_fields=tuple(f.name for f in model.fields() if f.default is None and f.factory is None),
        methods=tuple(n for n in model.methods() if not n.startswith("_") and n != "setup"),
        call_arguments=tuple(p.arg for p in method.positional) if method is not None else (),
        copy_of=model.qualname if linen_copies.is_copy_module(model.source) else "",
    )


def _holding(node: ast.AST, own: FileContext, contexts: Mapping[str, FileContext]) -> FileContext:
    """The file that a node stands in: its class's own, or that of a base or a helper function in another file."""
    return next((c for c in (own, *contexts.values()) if node in c.source.parents), own)


def write(project: Project, plan: Plan, copies: linen_copies.Copies, contexts: dict[str, FileContext]) -> None:
    """Add the edits of every native class to its file's context."""
    loaded: frozenset[str] | None = None
    copied = copies.nodes(project).keys()
    by_path = {context.source.path: context for context in contexts.values()}
    for code, message, source, node in plan.warnings:
        by_path[source.path].report(node, code, message, severity=Severity.WARNING)
    for decided in plan.reported():
        if decided.alias_of:
            continue
        info = project.linen_classes[decided.qualname]
        context = contexts[info.source.module]
        if linen_copies.is_copy_module(info.source):
            continue
        if decided.outcome is not Outcome.NATIVE:
            context.report(
                info.node,
                decided.code or "NNX100",
                f"{info.node.name} stays a Linen module: {decided.reason}.",
                severity=Severity.WARNING,
                help="Use it from NNX through nnx.bridge.ToNNX, or rewrite the named place by hand and run again.",
            )
            continue
        text: ClassText | LayerVariant = decided.writer
        if isinstance(text, LayerVariant):
            edits = text.edits(context)
        elif text.written is not None and text.written[1].holds_for(context):
            edits, text.namer = text.written[0], context
        else:
            loaded = _loaded_attributes(project) if loaded is None else loaded
            edits = ClassWriter(text, context, loaded | text.analyser.read_attributes).write()
        for edit in edits:
            target = by_path[edit.source.path]
            change = Edit(edit.span, edit.parts, edit.code, edit.order, edit.in_place)
            for part in edit.parity:
                target.parity(part)
            for module in edit.imports:
                target.name(module)
            try:
                target.edits.add(change)
            except Conflict as conflict:
                if conflict.first.parts != change.parts:
                    raise
        for code, message, node in text.notes:
            _holding(node, context, contexts).report(node, code, message)
        for above in local_classes.replaced(info.source, info.node):
            message = f"this {above.name} stays a Linen module: the one defined below takes its place."
            context.report(above, "NNX175", message, severity=Severity.WARNING, help="Remove what nobody sees.")
        if isinstance(text, LayerVariant):
            continue
        for message in reflection.warnings(text):
            context.report(info.node, "NNX133", message, severity=Severity.WARNING, help="Ask by name for what is wanted.")
        templates.rewrite(text, contexts, copied)
        plan.taken.update(helper_functions.taken(text.run))
        plan.taken.update(factories.taken(text))
        for collection in sorted(text.collections):
            context.variable_types[collection] = text.variable_type(collection)
    lifted_aliases.write(plan.lifted_texts, by_path)
    outside_chains.write(plan, project, by_path)
    given_layers.write(plan, project, by_path)
    for context in contexts.values():
        _name_variable_types(context)
    linen_copies.write(project, plan, copies, contexts)


def _name_variable_types(context: FileContext) -> None:
    """The Variable types of collections of the user's own, the same in all files: NNX tells variables by their type."""
    if not context.variable_types:
        return
    source = context.source
    first = next(n for n in source.tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef))
    type_of = context.name("flax.nnx.variable_type_from_name")
    lines = [f"{name} = {type_of}({c!r}, allow_register=True)" for c, name in sorted(context.variable_types.items())]
    written = "".join(line + source.newline for line in lines) + 2 * source.newline
    context.edits.insert(source.line_span(first).start, written, order=-200)  # before a TODO of the class


__all__ = ["decide", "write"]
