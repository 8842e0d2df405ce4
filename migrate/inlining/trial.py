"""Classes that stay Linen for the functions that make their modules, tried again with the functions' text in their own."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..linen.execution.class_methods import is_called
from ..linen.modules.made_by_text import method_of
from ..linen.project.index import Project
from ..plan import ClassPlan, Outcome, Plan
from ..source import SourceFile, lines_of
from ..trees import subtree
from . import forms
from .base_setups import with_setup_moved
from .callees import Callee, Key, NotInlined, calls_in, gives_classes, is_given_makers, makes
from .chosen import CHOSEN, functions_of, keys_of
from .factories_given import with_factories_given
from .field_functions import calls_one
from .steps import inlined

if TYPE_CHECKING:
    from ..pipeline import Decided, RunResult

# Modules made by functions, or of what functions give; one text for two things; modules that cannot be numbered.
CODES = frozenset({
    "NNX110", "NNX111", "NNX114", "NNX120", "NNX130", "NNX132", "NNX134", "NNX135", "NNX137", "NNX138", "NNX153",
    "NNX151", "NNX158", "NNX170",
})  # fmt: skip
ALL_CODES = CODES | forms.CODES
FORM: Key = ("another form of setup",)  # wanted besides functions
MAX_ROUNDS = 4


@dataclasses.dataclass(frozen=True)
class Inlined:
    """A project with functions' text in classes that become native by it.

    `not_called`: what constructs modules in functions that nothing calls any more.
    """

    decided: Decided
    not_called: list[ast.AST]


def tried_again(
    project: Project, plan: Plan, decide: Callable[[Project, Mapping[str, ClassPlan] | None], Decided]
) -> Inlined | None:
    """The project in the form of which `decide` makes more classes native by their functions' text, if there is one.

    A class that does not become native keeps the text that it had, and nothing that was native may be lost. What becomes of
    a class is first asked for it and for those that use it alone, as if the others stayed what they are: most trials end
    there. What is kept in the end is decided for all.
    """
    first, why = plan, dict[str, str]()
    found = _tried(project, plan, decide, why)
    for name, reason in why.items():
        left = (first if found is None else found.decided.plan).classes.get(name)
        if left is not None and left.outcome is Outcome.BRIDGED and left.reason not in reason:
            left.reason += reason
    return found


def _tried(
    project: Project,
    plan: Plan,
    decide: Callable[[Project, Mapping[str, ClassPlan] | None], Decided],
    why: dict[str, str],
) -> Inlined | None:
    """As `tried_again`. `why`: what is to be added to the reasons of the classes of which nothing came."""
    native = _native(plan)
    wanted: dict[str, set[Key]] = {}
    given_up: set[str] = set()
    now: Decided | None = None
    rounds, whole = 0, False
    users = _Users(project)
    form = project
    while True:
        if rounds < MAX_ROUNDS and _more_wanted(project, form, plan, wanted, given_up, why):
            rounds += 1
            sources = _rewritten(project, wanted, given_up, why)
            if not wanted:
                return None
        elif now is None or not wanted or not wanted.keys() <= _native(plan):
            return None
        elif whole:
            break
        else:
            whole = True
        form = Project(sources.values(), project.unread, project.configured)
        uncalled = _not_called(form, {key for keys in wanted.values() for key in keys})
        form.stand_elsewhere = frozenset(node for function in uncalled for node in subtree(function))
        apart = {} if whole else users.none_of(wanted, plan)
        if apart:
            now = decide(form, apart)
            found = dataclasses.replace(now.plan, classes={**plan.classes, **_without(now.plan.classes, apart)})
            whole = not native <= _native(found)
        else:
            whole = True
        if whole:
            now = decide(form, None)
            found = now.plan
        plan = found
        if not native <= _native(plan):
            return None
    return Inlined(now, [node for node in now.project.stand_elsewhere if isinstance(node, ast.Call)])


def _without(classes: Mapping[str, ClassPlan], apart: Collection[str]) -> dict[str, ClassPlan]:
    return {name: found for name, found in classes.items() if name not in apart}


class _Users:
    """Who uses which class of a project, through any number of definitions."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @functools.cached_property
    def _users(self) -> dict[str, set[str]]:
        from ..nnx.linen_copies import References

        references = References(self.project)
        found: dict[str, set[str]] = {}
        waiting = list(self.project.linen_classes)
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            info = self.project.linen_classes.get(name)
            said = references.within(info.source, info.node) if info is not None else references.of(name)
            for key in {reference.key for reference in said} - {"", name}:
                found.setdefault(key, set()).add(name)
                if key not in seen:
                    seen.add(key)
                    waiting.append(key)
        return found

    @functools.cached_property
    def _used(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for key, users in self._users.items():
            for user in users:
                found.setdefault(user, set()).add(key)
        return found

    def none_of(self, names: Collection[str], plan: Plan) -> dict[str, ClassPlan]:
        """The classes that neither are among these nor use one of them, nor stay Linen and are used by one of them."""
        using = set(names)
        waiting = list(names)
        while waiting:
            for user in self._users.get(waiting.pop(), ()):
                if user not in using:
                    using.add(user)
                    waiting.append(user)
        seen, waiting = set(names), list(names)
        while waiting:
            for used in self._used.get(waiting.pop(), set()) - seen:
                seen.add(used)
                waiting.append(used)
        kept = {name for name in seen if name in plan.classes and plan.classes[name].outcome is Outcome.NATIVE}
        return _without(plan.classes, using | (seen - kept))


def _more_wanted(
    project: Project, form: Project, plan: Plan, wanted: dict[str, set[Key]], given_up: set[str], why: dict[str, str]
) -> bool:
    """Want more of the functions that stand behind what `plan` leaves Linen, and give up where that leads nowhere; is
    anything else to be tried than before? `form`: the project as it was tried, in which text that was put in place may
    call others."""
    more = False
    bridged = [found for found in plan.reported() if found.outcome is Outcome.BRIDGED]
    for found in bridged:
        if found.qualname in given_up or found.code not in ALL_CODES:
            continue
        keys = _makers(project, found) if found.code in CODES else set()
        keys |= _makers(form, found) if keys and form is not project else set()
        keys |= {FORM} if _may_have_other_form(project, found) else set()
        if keys <= wanted.get(found.qualname, set()):
            given_up.add(found.qualname)
            _say_why(found, wanted, why)
            more |= wanted.pop(found.qualname, None) is not None
        else:
            wanted.setdefault(found.qualname, set()).update(keys)
            more = True
    others = [found for found in bridged if found.code not in ALL_CODES]
    for found in others:
        _say_why(found, wanted, why)
    return _drop(wanted, given_up, {found.qualname for found in others}) or more


def _may_have_other_form(project: Project, plan: ClassPlan) -> bool:
    info = project.linen_classes[plan.qualname]
    by_field = plan.code == "NNX135" and calls_one(project, info.source, info.node)
    return (plan.code in forms.CODES or by_field) and _is_own_class(project, plan)


def _say_why(plan: ClassPlan, wanted: Mapping[str, set[Key]], why: dict[str, str]) -> None:
    """Note what became of a class that was tried."""
    if plan.qualname in wanted:
        what = "in another form" if wanted[plan.qualname] == {FORM} else "with the text of what it calls"
        why[plan.qualname] = f" ({what}: {plan.reason})"


def _drop(wanted: dict[str, set[Key]], given_up: set[str], names: set[str]) -> bool:
    """Give classes up."""
    found = wanted.keys() & names
    for name in found:
        del wanted[name]
    given_up |= found
    return bool(found)


def _native(plan: Plan) -> set[str]:
    return {found.qualname for found in plan.reported() if found.outcome is Outcome.NATIVE}


def _makers(project: Project, plan: ClassPlan) -> set[Key]:
    """The functions that make modules for a class, by its own calls and by each other's."""
    info = project.linen_classes[plan.qualname]
    source, model = info.source, info.node
    if not _is_own_class(project, plan):
        return set()
    found: dict[Key, Callee] = {}
    by_lambdas = any(CHOSEN in keys_of(project, source, model, call.func) for _, call in calls_in(source, model))
    stack = [called for _, call in calls_in(source, model) for called in _called(project, source, model, call)]
    if plan.code == "NNX110" and not any(function.kind == "static" for function, _ in stack):
        return set()  # sizes are followed through all but methods that are called by their class's name
    while stack:
        function, given = stack.pop()
        wanted = given or makes(project, source, model, function, set())
        if plan.code == "NNX132":  # one of several kinds, which a function says
            wanted = gives_classes(project, function)
        if function.key in found or not wanted:
            continue
        if function.kind in ("method", "static") and _is_shared(project, plan.qualname, function.node.name):
            continue
        found[function.key] = function
        for call in (n for n in function.nodes if isinstance(n, ast.Call)):
            stack += _called(project, function.source, model, call)
    return {*found, CHOSEN} if by_lambdas else set(found)


def _called(project: Project, source: SourceFile, model: ast.ClassDef, call: ast.Call) -> Iterator[tuple[Callee, bool]]:
    """The functions that a call may run, and whether it gives them others that make modules."""
    functions = list(functions_of(project, source, model, call.func))
    given = bool(functions) and is_given_makers(project, source, model, call)
    yield from ((function, given) for function in functions)


def _is_own_class(project: Project, plan: ClassPlan) -> bool:
    """Is it a class of its module, in a file whose lines may move?"""
    info = project.linen_classes[plan.qualname]
    source = info.source
    return "\r" not in source.text and source.names.definitions.get(info.node.name) is info.node


def _is_shared(project: Project, qualname: str, method: str) -> bool:
    """Does a class that derives from this one, or that it derives from, have a method of that name?"""
    for name, info in project.linen_classes.items():
        if name != qualname and any(getattr(s, "name", "") == method for s in info.node.body):
            if qualname in info.bases or name in project.linen_classes[qualname].bases:
                return True
    return False


def _rewritten(
    project: Project, wanted: dict[str, set[Key]], given_up: set[str], why: dict[str, str]
) -> dict[str, SourceFile]:
    """The project's files with the functions' text; classes that cannot have it are given up."""
    sources = dict(project.files)
    for name in list(wanted):
        info = project.linen_classes[name]
        module = info.source.module
        try:
            source = sources[module]
            if FORM in wanted[name]:
                changed = with_factories_given(project, sources, name) or with_setup_moved(project, sources, name)
                sources |= changed
                source = sources[module]
                if not changed:
                    source = _other_form(project, source, info.node.name, wanted[name])
            sources[module] = inlined(project, source, info.node.name, wanted[name])
        except NotInlined as error:
            if wanted[name] != {FORM}:
                why[name] = f" (a function's text cannot stand in the class: {error})"
            _drop(wanted, given_up, {name})
    return sources


def _other_form(project: Project, source: SourceFile, name: str, wanted: Collection[Key]) -> SourceFile:
    """The file with another form of a class's `setup`; as it is where there is none and functions' text may do."""
    try:
        return forms.other_form(project, source, name)
    except NotInlined:
        if wanted == {FORM}:
            raise
        return source


def _not_called(project: Project, keys: Collection[Key]) -> Iterator[ast.stmt]:
    """The module-level functions and class methods whose text stands elsewhere, and that nothing but each other names."""
    for module, owner, name in (key for key in keys if len(key) == 3):
        found = method_of(project, f"{module}.{owner}.{name}")
        if found is not None and not is_called(project, found[1], set()):
            yield found[1]
    functions: dict[str, ast.stmt] = {}
    for module, name in (key for key in keys if len(key) == 2):
        source = project.files.get(module)
        defined = source.names.definitions.get(name) if source is not None else None
        if defined is not None:
            functions[f"{module}.{name}"] = defined
    last = {name.rpartition(".")[2] for name in functions}
    named = [
        (node, name)
        for source in project.files.values()
        if not last.isdisjoint(source.words)
        for node in source.nodes
        if isinstance(node, ast.Name | ast.Attribute) and (node.id if isinstance(node, ast.Name) else node.attr) in last
        if (name := project.qualname(source, node) or "") in functions
    ]
    count = -1
    while count != len(functions):
        count = len(functions)
        inside = {id(n) for function in functions.values() for n in subtree(function)}
        for node, name in named:
            if id(node) not in inside:
                functions.pop(name, None)
    yield from functions.values()


def as_it_was(project: Project, result: RunResult) -> RunResult:
    """The result with the user's own text as what was there before, and with its lines."""
    texts = {str(source.path): source.text for source in project.files.values()}
    maps: dict[str, list[int]] = {}
    for file in result.files:
        old = texts[str(file.path)]
        if file.before != old:
            maps[str(file.path)] = list(_old_lines(old, file.before))
            if file.after == file.before:
                file.after = old
            file.before = old
            file.diagnostics = [dataclasses.replace(d, line=_line(maps[str(file.path)], d.line)) for d in file.diagnostics]
    for plan in result.classes:
        if plan.path in maps:
            plan.line = _line(maps[plan.path], plan.line)
    return result


def _old_lines(old: str, new: str) -> Iterator[int]:
    """The line of the old text that each line of the new one stands for, from 1."""
    matcher = difflib.SequenceMatcher(None, lines_of(old), lines_of(new), autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        for at in range(first, last):
            yield start + (at - first if tag == "equal" else 0) + 1 if start < end or tag == "equal" else max(start, 1)


def _line(lines: list[int], line: int) -> int:
    return lines[min(line, len(lines)) - 1] if lines else line


__all__ = ["as_it_was", "tried_again"]
