"""Files in, rewritten text and findings out. Reading, deciding and writing stay separate steps."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import inlining
from .context import FileContext, Options
from .diagnostics import Diagnostic, Severity
from .edits import Conflict
from .linen.project import configured as configurations
from .linen.project.configured import Configured
from .linen.project.index import Project
from .plan import ClassPlan, Plan
from .progress import counted
from .rule import Rule, Visit, Visitor, all_rules
from .siblings import said_in_full
from .source import SourceFile
from .stack import with_deep_stack
from .trees import check_program

if TYPE_CHECKING:
    from .nnx.linen_copies import Copies


@dataclasses.dataclass
class FileResult:
    """What became of one file; `after` is None where it could not be rewritten."""

    path: Path
    before: str
    after: str | None
    diagnostics: list[Diagnostic]


@dataclasses.dataclass
class RunResult:
    """What became of all of them, with generated files (the parity module) by path."""

    files: list[FileResult]
    classes: list[ClassPlan]
    created: dict[Path, str] = dataclasses.field(default_factory=dict)


def migrate_project(
    sources: Iterable[SourceFile],
    options: Options | None = None,
    *,
    per_file: Mapping[Path, Options] | None = None,
    unread: Collection[str] = (),
    configured: Mapping[str, Configured] | None = None,
) -> RunResult:
    """Index, plan and rewrite parsed sources. Pure: reads and writes no file, runs no user code.

    `per_file`: the options of files that have their own (which rules to select there). `unread`: modules of the project
    that could not be read; what they define may be Linen modules. `configured`: classes that configuration files make.

    A file whose rewrite fails is left as it was, and the others are then rewritten to work with it as it is.
    """
    given = list(sources)
    return with_deep_stack(lambda: _migrated(said_in_full(given), options or Options(), per_file or {}, unread, configured))


def _migrated(
    sources: list[SourceFile],
    options: Options,
    own_options: Mapping[Path, Options],
    unread: Collection[str],
    configured: Mapping[str, Configured] | None,
) -> RunResult:
    decided = _decided(Project(sources, unread, configured), options, own_options)

    def decide(other: Project, apart: Mapping[str, ClassPlan] | None) -> Decided:
        return _decided(other, options, own_options, apart)

    inlined = inlining.tried_again(decided.project, decided.plan, decide)
    if inlined is not None:
        result = _written(inlined.decided, options, own_options, inlined.not_called)
        if all(file.after is not None for file in result.files):
            return inlining.as_it_was(decided.project, result)
    result = _written(decided, options, own_options)
    failed = {file.path: file for file in result.files if file.after is None}
    if not failed:
        return result
    given = {path: own_options.get(path, options) for path in failed}
    left = {path: dataclasses.replace(own, ignore=(*own.ignore, "NNX")) for path, own in given.items()}
    own_options = {**own_options, **left}
    result = _written(_decided(Project(sources, unread, configured), options, own_options), options, own_options)
    result.files = [failed.get(file.path, file) for file in result.files]
    return result


@dataclasses.dataclass(frozen=True)
class Decided:
    """What is to become of every Linen class of a project; nothing is written yet.

    `linen`: the part of the project that the analysis of Linen code must see.
    """

    project: Project
    linen: Project
    plan: Plan
    copies: Copies


def _decided(
    project: Project,
    options: Options,
    per_file: Mapping[Path, Options],
    apart: Mapping[str, ClassPlan] | None = None,
) -> Decided:
    """`apart`: see `nnx.classes.modules.decide`."""
    from .nnx.classes import modules

    plan = Plan(aliases=dict(project.aliases))
    concerned = concerned_files(project)
    linen = project
    if len(concerned) < len(project.files):
        linen = Project([project.files[name] for name in concerned], project.unread, project.made_by_configurations)
    return Decided(project, linen, plan, modules.decide(linen, plan, options, per_file, apart))


def _written(
    decided: Decided, options: Options, per_file: Mapping[Path, Options], not_called: Collection[ast.AST] = ()
) -> RunResult:
    """All files as decided. `not_called`: what constructs modules in functions that nothing calls any more."""
    from .nnx import linen_copies, training
    from .nnx.classes import modules
    from .nnx.factories import outside_chains
    from .nnx.generated import parity_files

    project, linen, plan, copies = decided.project, decided.linen, decided.plan, decided.copies
    contexts = {
        name: FileContext(source, plan, per_file.get(source.path, options), project)
        for name, source in project.files.items()
    }
    linen_contexts = {name: contexts[name] for name in linen.files}
    plan.taken.update(not_called)
    modules.write(linen, plan, copies, linen_contexts)
    training.write(linen, plan, linen_contexts)
    outside_chains.write_modules(plan, {context.source.path: context for context in linen_contexts.values()})
    rules = [rule for rule in all_rules().values() if rule.visitors]
    for context in counted(contexts.values(), "applying rules"):
        if not linen_copies.is_copy_module(context.source):  # made by an earlier run
            apply_rules(context, [rule for rule in rules if context.options.selects(rule.code)])
    parity_files.share_homes(contexts)
    results = []
    for name, context in counted(contexts.items(), "writing files"):
        if linen_copies.is_copy_module(context.source):
            results.append(FileResult(context.source.path, context.source.text, context.source.text, []))
        else:
            results.append(_finish(context, project.exported.get(name, frozenset())))
    created = parity_files.parity_files(contexts)
    for context in linen_copies.copy_sources(linen, plan, copies, linen_contexts):
        apply_rules(context, [r for r in rules if context.options.selects(r.code) and linen_copies.applies(r.code)])
        created[context.source.path] = linen_copies.finish(context)
    return RunResult(results, plan.reported(), created)


# What code that only handles a model says, though it imports nothing of Linen.
_OF_MODELS = ("flax", "linen", ".apply(", ".init(", "apply_gradients", "batch_stats")
_WORDS_OF_MODELS = frozenset({"apply_fn", "TrainState", "AxisMetadata", "Partitioned", "LogicallyPartitioned"})


def concerned_files(project: Project) -> list[str]:
    """The modules that the analysis of Linen code must see; the others get the local rules only.

    Those that say Linen or handle models, those that import modules with Linen classes through any number of steps, and
    what all these import, packages apart that know nothing of Linen (jax itself, when it is migrated along).
    """
    imports: dict[str, set[str]] = {}
    for name, source in project.files.items():
        imports[name] = {
            base
            for dotted in [*source.names.imports.values(), *source.names.star_imports]
            for base in (dotted, dotted.rpartition(".")[0])
            if base in project.files and base != name
        }
    importers: dict[str, set[str]] = {}
    for name, bases in imports.items():
        for base in bases:
            importers.setdefault(base, set()).add(name)
    found = _closure({info.source.module for info in project.linen_classes.values()}, importers)
    packages = {name.partition(".")[0] for name in found}
    of_flax = {name.partition(".")[0] for name, source in project.files.items() if _imports_flax(source)}
    found |= {
        name for name, source in project.files.items() if name.partition(".")[0] in of_flax and _handles_models(source)
    }
    if project.made_by_configurations:
        found |= {source.module for source, _ in configurations.calls(project)}
    near = {
        name: {base for base in bases if "." not in base or base.partition(".")[0] in packages}
        for name, bases in imports.items()
    }
    found = _closure(found, near)
    return [name for name in project.files if name in found]


def _handles_models(source: SourceFile) -> bool:
    return any(said in source.text for said in _OF_MODELS) or not _WORDS_OF_MODELS.isdisjoint(source.words)


def _imports_flax(source: SourceFile) -> bool:
    """Does the file import flax, or stand alone, where no package says what it is about?"""
    dotted = [*source.names.imports.values(), *source.names.star_imports]
    return "." not in source.module or any(name.partition(".")[0] == "flax" for name in dotted)


def _closure(start: set[str], edges: Mapping[str, set[str]]) -> set[str]:
    found = set(start)
    stack = list(start)
    while stack:
        for name in edges.get(stack.pop(), ()):
            if name not in found:
                found.add(name)
                stack.append(name)
    return found


Visits = list[tuple[Rule, Visit]]


def apply_rules(context: FileContext, rules: Iterable[Rule]) -> None:
    """All local rules over the nodes of the kinds that they ask for; visitors whose words the file lacks are left out."""
    source, suppressions = context.source, context.suppressions
    some_off = bool(suppressions)
    table: dict[type[ast.AST], list[tuple[Rule, Visitor]]] = {}
    for rule in rules:
        for visitor in rule.visitors:
            if visitor.words is None or not visitor.words.isdisjoint(context.words):
                table.setdefault(visitor.kind, []).append((rule, visitor))
    for kind, visitors in table.items():
        everywhere = [(rule, visitor.visit) for rule, visitor in visitors if visitor.ends is None]
        by_end: dict[str, Visits] = {}
        for rule, visitor in visitors:
            for word in visitor.ends or ():
                for said in {word} | context.said_for(word):
                    by_end.setdefault(said, []).append((rule, visitor.visit))
        visits = {end: [*everywhere, *more] for end, more in by_end.items()}
        for node, found in _told(kind, source.by_kind.get(kind, []), visits, everywhere):
            for rule, visit in found:
                if not some_off or not suppressions.covers(node, rule.code):
                    visit(node, context)


def _told(
    kind: type[ast.AST], nodes: list[Any], visits: Mapping[str, Visits], everywhere: Visits
) -> list[tuple[ast.AST, Visits]]:
    """The nodes that have visitors, and which by their last words: of a name or an attribute, or of what is called."""
    if not visits:
        return [(node, everywhere) for node in nodes]
    of = visits.get
    if kind is ast.Name:
        return [(node, found) for node in nodes if (found := of(node.id, everywhere))]
    if kind is ast.Attribute:
        return [(node, found) for node in nodes if (found := of(node.attr, everywhere))]
    called = [(node, node.func, node.func.__class__) for node in nodes]
    ends = [(n, f.attr if k is ast.Attribute else f.id if k is ast.Name else "") for n, f, k in called]
    return [(node, found) for node, end in ends if (found := of(end, everywhere))]


def _finish(context: FileContext, keep: frozenset[str]) -> FileResult:
    from .nnx.generated.blank_lines import without_left_over
    from .nnx.generated.imports import with_imports
    from .nnx.generated.layout import shortened
    from .nnx.generated.quotes import quoted
    from .nnx.generated.settled_conditions import simplified

    source = context.source
    diagnostics = sorted(set(context.diagnostics))
    try:
        text = context.edits.render()
        if text != source.text or context.new_imports:
            known = with_imports(source, text, context.new_imports, keep=keep, gone=context.gone)
            text = shortened(source, quoted(source, simplified(source, known.text)), known)
            text = without_left_over(source, text)
            check_program(text, source.text)
    except (Conflict, SyntaxError, RecursionError) as error:
        diagnostics.append(
            Diagnostic(
                str(source.path),
                1,
                1,
                "NNX001",
                Severity.ERROR,
                f"the rewrite of this file failed and was dropped: {error}",
                "The file is left as it was. Please report it with the code.",
            )
        )
        return FileResult(source.path, source.text, None, diagnostics)
    return FileResult(source.path, source.text, text, diagnostics)
