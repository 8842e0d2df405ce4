"""Modules made by one of several factories, and what is left of factories once their modules are made by the constructor."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...edits import Parts, Span
from ...linen.lifted.transform_choices import is_transform
from ...linen.modules.choices import FactoryChoice
from ...linen.values.nothing_made import gives_back, makes_nothing
from ...linen.values.sites import Factory, PartialLift, Site, Unmigratable
from ...source import SourceFile
from ...trees import subtree
from ..classes import call_write
from ..setup import carried, setup_conditions
from ..text.text_parts import MethodEdit, own_words

if TYPE_CHECKING:
    from ..classes.class_write import ClassWriter

_NOTHING = "nothing"  # the kind of a site whose factory makes nothing


def group_of(writer: ClassWriter, site: Site) -> list[Site]:
    """The sites of one construction, one for each factory that it may use, in the order of their making; those that make
    nothing come last."""
    made = [s for s in writer.run.sites if s.node is site.node and s.choice]
    return [*made, *writer.run.nothing.get(site.node, ())]


def write(writer: ClassWriter, site: Site, *, by_base: bool = False) -> None:
    """The construction and its calls, each under the condition that chooses; `by_base`: the base's constructor makes it."""
    group = group_of(writer, site)
    if site is not group[0]:
        return
    source = site.source
    built = [s for s in group if s.kind != _NOTHING]
    if len(built) < len(group):
        _check_uses(writer, site)
    if by_base:
        pass
    elif site.in_setup:
        _stack_functions(writer, built)
        if len({one.renders.get("pass_name") for one in built} - {None}) > 1:
            raise Unmigratable("NNX132", "the sizes of one of several modules need several names for a loop", site.node)
        for one in built:
            writer.name_pass(one)
        sizes = _carried(writer, group, built)
        made = _made(writer, source, built, conditional=not (sizes or site.loops))
        if sizes:
            carried.write(writer, built[0], sizes, made)
        else:
            writer.put(site.node, *made, source=source)
    else:
        named = {s: writer.text.reference(s) if s in built else ("None",) for s in group}
        _refuse_several(group, named, "makes several modules of one kind from one place")
        writer.put(site.node, *combined(source, group, named), source=source)
        writer.moved.append((source, source.span(site.node)))
    edits = {}
    for one in built:
        kept, writer.edits = writer.edits, []
        call_write.write(writer, one)
        edits[one], writer.edits = writer.edits, kept
    spans = {e.span for found in edits.values() for e in found}
    inserts = any(e.insert for found in edits.values() for e in found)
    written = inserts or len(built) < len(group)  # each call says what it is for each of them
    calls = {source.span(node): node for one in built for node, _, _ in one.calls} if written else {}
    spans = {s for s in spans if s.start < s.end}
    for span in sorted({*spans, *calls}, key=lambda s: (s.start, s.end)):
        there = [s for s in group if s.kind == _NOTHING or _is_called_at(s, source, span)]
        there = group if all(s.kind == _NOTHING for s in there) else there
        said: dict[Site, Parts] = {s: _input_of(source, site, calls.get(span)) for s in there if s.kind == _NOTHING}
        for one, found in ((s, edits[s]) for s in there if s in edits):
            here = [e for e in found if e.span == span and not e.insert]
            added = [e for e in found if e.insert and span in calls and _within(span, e)]
            if any(e.source is not source for e in [*here, *added]) or (here and added) or len(added) > 1:
                reason = "one of several modules is called in a way that differs between them"
                raise Unmigratable("NNX132", reason, site.node)
            if added:
                said[one] = _with_insert(writer, one, span, added[0])
            else:
                said[one] = _direct(writer, one, here[0].parts) if here else _as_it_stands(writer, one, span)
        if site.in_setup and any(parts != said[there[0]] for parts in said.values()) and _is_of_setup(source, there):
            reason = "one of several modules is called in a way that differs between them, by what setup alone knows"
            raise Unmigratable("NNX132", reason, site.node)
        _refuse_several(there, said, "makes several modules, which one call would have to be written for")
        writer.put(span, *combined(source, there, said), source=source)
    _lines_before(writer, edits, calls)
    put = {part for e in writer.edits if e.source is source for part in e.parts if isinstance(part, str)}
    for test in {test for one in group for test, _ in one.choice if own_words(source, test) in put}:
        writer.asked |= {n.attr for n in subtree(test) if isinstance(n, ast.Attribute)}


def _is_called_at(site: Site, source: SourceFile, span: Span) -> bool:
    """Is it this site's module that is called there? Others may be made in the same place, by another call of a function."""
    return any(env.source is source and source.span(node).contains(span) for node, _, env in site.calls)


def _refuse_several(group: Sequence[Site], said: dict[Site, Parts], what: str) -> None:
    """Refuse what would have to be said in several ways for one kind: of a function called with a name and without one."""
    known: dict[tuple[bool, ...], Parts] = {}
    for one in group:
        if known.setdefault(tuple(holds for _, holds in one.choice), said[one]) != said[one]:
            raise Unmigratable("NNX132", f"`{ast.unparse(one.node)}` {what}", one.node)


def _made(writer: ClassWriter, source: SourceFile, built: Sequence[Site], *, conditional: bool) -> Parts:
    """What setup makes, each under the condition that chooses; None where Linen makes no variables."""
    said = {one: writer.text.built[one][0].expression for one in built}
    whens = {one: setup_conditions.made_when(writer.text, one) if conditional else None for one in built}
    alike = set(whens.values())
    if len(alike) > 1:
        said |= {one: ("(", *said[one], " if ", *when, " else None)") for one, when in whens.items() if when}
    made = combined(source, built, said, otherwise="None")
    when = alike.pop() if len(alike) == 1 else None
    return (*made, " if ", *when, " else None") if when else made


def _is_of_setup(source: SourceFile, group: Sequence[Site]) -> bool:
    """Does the condition that chooses ask for a name of setup's own, as the counter of its loop?"""
    asked = {n.id for one in group for test, _ in one.choice for n in subtree(test) if isinstance(n, ast.Name)}
    setup = source.function_of(group[0].node)
    stored = {n.id for n in subtree(setup) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} if setup else set()
    return not asked.isdisjoint(stored)


def _carried(writer: ClassWriter, group: Sequence[Site], built: Sequence[Site]) -> carried.Carried:
    """The sizes that follow from one item of a list of such modules to the next, whichever of its kinds an item is."""
    found = [tuple(writer.run.carried.get(one, ())) for one in built]
    if any(sizes != found[0] for sizes in found) or (found[0] and len(built) < len(group)):
        reason = "input sizes that change along a list of modules of several kinds cannot be followed"
        raise Unmigratable("NNX114", reason, built[0].node)
    return found[0]


def _stack_functions(writer: ClassWriter, built: Sequence[Site]) -> None:
    """The functions that make stacks of modules in `setup`; they are called under the condition that chooses."""
    for stack in [s for s in built if writer.text.built[s][0].before]:
        writer.put_functions(stack)


def _lines_before(writer: ClassWriter, edits: dict[Site, list[MethodEdit]], calls: Collection[Span]) -> None:
    """Functions that the modules are called in, ahead of the statement: whether they are called the call says."""
    for found in edits.values():
        writer.edits += [e for e in found if e.insert and not any(_within(span, e) for span in calls)]


def _within(span: Span, edit: MethodEdit) -> bool:
    """Does a call get more arguments by this?"""
    return span.start < edit.span.start <= span.end


def _direct(writer: ClassWriter, site: Site, parts: Parts) -> Parts:
    """The text of a call with this site's own module in place of the choice between all."""
    made = site.source.span(site.node)
    if site.in_setup:
        return parts
    return tuple(p for part in parts for p in (writer.text.reference(site) if part == made else (part,)))


def _with_insert(writer: ClassWriter, site: Site, span: Span, edit: MethodEdit) -> Parts:
    """A call that is given more arguments than stand there."""
    head: Parts = (Span(span.start, edit.span.start),)
    made = site.source.span(site.node)
    if span.start == made.start and not site.in_setup:
        head = (*writer.text.reference(site), Span(made.end, edit.span.start))
    return (*head, *edit.parts, Span(edit.span.start, span.end))


def _check_uses(writer: ClassWriter, site: Site) -> None:
    """What may be nothing is called where it is made, or under the one name that it is given."""
    parent = site.source.parents.get(site.node)
    called = isinstance(parent, ast.Call) and parent.func is site.node
    targets = parent.targets if isinstance(parent, ast.Assign) and parent.value is site.node else []
    if not called and not (len(targets) == 1 and isinstance(targets[0], ast.Name | ast.Attribute)):
        reason = f"`{ast.unparse(site.node)}` may make nothing, and is not called where it stands"
        raise Unmigratable("NNX132", reason, site.node)


def _input_of(source: SourceFile, site: Site, call: ast.Call | None) -> Parts:
    """What a call gives where there is no layer: its input."""
    if call is None or not call.args or isinstance(call.args[0], ast.Starred | ast.NamedExpr):
        reason = f"a call of `{ast.unparse(site.node)}`, which may make nothing, cannot be written"
        raise Unmigratable("NNX132", reason, site.node)
    return (source.span(call.args[0]),)


def _as_it_stands(writer: ClassWriter, site: Site, span: Span) -> Parts:
    """A call that needs no edit, of the module of this site alone."""
    func = site.source.span(site.node)
    if span.start == func.start and not site.in_setup:
        return (*writer.text.reference(site), Span(func.end, span.end))
    return (span,)


def combined(
    source: SourceFile, group: Sequence[Site], said: dict[Site, Parts], depth: int = 0, *, otherwise: str = ""
) -> Parts:
    """`(a if test else b)` of what every site says; what all say alike stands by itself, also where a factory is there
    under a condition only, unless `otherwise` says what to put for it."""
    first = said[group[0]]
    if not otherwise and all(said[s] == first for s in group) and not all(s.kind == _NOTHING for s in group):
        return first
    if depth == len(group[0].choice):
        return first
    test = group[0].choice[depth][0]
    sides: list[Parts] = []
    for holds in (True, False):
        side = [s for s in group if s.choice[depth][1] is holds]
        rest = [s for s in group if s not in side]
        empty = otherwise or ("None" if all(s.kind == _NOTHING for s in rest) else "")  # where Linen raises: fails there
        nothing: Parts = (empty,) if empty else ()
        sides.append(combined(source, side, said, depth + 1, otherwise=otherwise) if side else nothing)
    a, b = (side or other for side, other in (sides, sides[::-1]))
    return a if a == b else ("(", *a, " if ", own_words(source, test), " else ", *b, ")")


# what is left over -------------------------------------------------------------------------------------------------
def drop_factories(writer: ClassWriter, bodies: Sequence[tuple[ast.FunctionDef, SourceFile]]) -> None:
    """Names of lifted classes and of choices are removed where nothing reads them any more."""
    for function, source in bodies:
        gone = [e.span for e in writer.edits if e.source is source and not e.insert and e.in_place is False]
        kept = [p for e in writer.edits if e.source is source for p in e.parts if isinstance(p, Span)]
        kept = [k for k in kept if k not in gone]
        holders = [n for n in subtree(function) if isinstance(n, ast.Assign) and _is_factory(writer, n)]
        own: dict[str, list[ast.Assign]] = {}
        for holder in holders:
            own.setdefault(_target(holder), []).append(holder)
        dead = {name for name in own if _outside(function, name, own[name])}
        while True:  # what a name that goes is made of goes with it: `Lifted = nn.remat(Block)`, `block = Lifted`
            passed_on = {n for name in dead for holder in own[name] for n in subtree(holder)}
            alive = {
                name
                for name in dead
                for n in _outside(function, name, own[name])
                if n not in passed_on and not _replaced(source.span(n), gone, kept)
            }
            if not alive:
                break
            dead -= alive
        for name in sorted(dead):
            for statement in own[name]:
                if not any(g.contains(source.span(statement)) for g in gone):
                    _remove(writer, source, statement, function)


def _target(holder: ast.Assign) -> str:
    (target,) = holder.targets
    assert isinstance(target, ast.Name)
    return target.id


def _outside(function: ast.FunctionDef, name: str, own: Sequence[ast.Assign]) -> list[ast.Name]:
    """Where a function says a name, but where it gives it a factory, and in loops that give it something else."""
    within = {n for holder in own for n in subtree(holder)}
    within |= {n for loop in _loops_over(function, name) if not within & set(loop) for n in loop}
    return [n for n in subtree(function) if isinstance(n, ast.Name) and n.id == name and n not in within]


def _loops_over(function: ast.FunctionDef, name: str) -> Iterator[list[ast.AST]]:
    """The targets and bodies of loops that give a name their items: `for block in blocks: x = block(x)`."""
    for node in subtree(function):
        if isinstance(node, ast.For) and _binds(node.target, name):
            yield [n for part in (node.target, *node.body) for n in subtree(part)]
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            for i, clause in enumerate(node.generators):
                if _binds(clause.target, name):
                    later = [part for c in node.generators[i + 1 :] for part in (c.target, c.iter, *c.ifs)]
                    items = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                    yield [n for part in (clause.target, *clause.ifs, *later, *items) for n in subtree(part)]
                    break


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in subtree(target))


def _is_factory(writer: ClassWriter, node: ast.Assign) -> bool:
    found = writer.run.evaluated.get(node.value)
    if found is None or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return False
    value: Any = found.value
    lifts = isinstance(value, PartialLift) or is_transform(value) or gives_back(value)
    return isinstance(value, Factory | FactoryChoice) or lifts or makes_nothing(value) is not None


def _replaced(span: Span, gone: Sequence[Span], kept: Sequence[Span]) -> bool:
    inside = [g for g in gone if g.contains(span)]
    return bool(inside) and not any(k.contains(span) and any(g.contains(k) for g in inside) for k in kept)


def _remove(writer: ClassWriter, source: SourceFile, statement: ast.stmt, function: ast.FunctionDef) -> None:
    """Remove a statement; where a branch holds nothing else, the branch, or leave `pass`."""
    parent = source.parents.get(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            alive = [s for s in block if s is not statement and not is_removed(writer, source, s)]
            if alive:
                writer.remove(source, _lines_of(writer, source, statement, function))
                return
            other = getattr(parent, "orelse" if field == "body" else "body", [])
            if isinstance(parent, ast.If) and all(_is_gone(writer, source, s) for s in other):
                whole = source.line_span(parent)
                writer.edits = [e for e in writer.edits if e.source is not source or _outlives(e, whole)]
                _remove(writer, source, parent, function)
                return
            writer.put(statement, "pass", source=source, in_place=True)  # the constructor may still say it
            return


def _outlives(edit: MethodEdit, gone: Span) -> bool:
    """Is an edit wanted where a whole `if` goes: a partial in it, which the constructor says in the same words?"""
    behind = Span(gone.end, gone.end)  # what stands before the next statement stays
    said = bool(edit.parts) and not edit.insert and not edit.in_place
    return said or edit.span == behind or not gone.contains(edit.span)


def _lines_of(writer: ClassWriter, source: SourceFile, statement: ast.stmt, function: ast.FunctionDef) -> Span:
    """What goes with a statement; the head of `setup` reaches to its first statement, which keeps its indentation."""
    whole = source.line_span(statement)
    if function.name != "setup" or statement not in function.body:
        return whole
    place = function.body.index(statement)
    before = function.body[1 if ast.get_docstring(function) is not None else 0 : place]
    behind = next((s for s in function.body[place + 1 :] if not is_removed(writer, source, s)), None)
    if behind is None or not all(is_removed(writer, source, s) for s in before):
        return whole
    found = Span(source.span(statement).start, source.span(behind).start)
    # Statements behind it that went before: their lines begin where this one's text would end.
    writer.edits = [e for e in writer.edits if e.source is not source or e.insert or e.parts or not found.contains(e.span)]
    return found


def _is_gone(writer: ClassWriter, source: SourceFile, statement: ast.stmt) -> bool:
    return is_removed(writer, source, statement) or _only_passes(writer, source, statement)


def is_removed(writer: ClassWriter, source: SourceFile, statement: ast.stmt) -> bool:
    """Has an edit taken all of a statement away?"""
    span = source.span(statement)
    return any(e.source is source and not e.insert and not e.parts and e.span.contains(span) for e in writer.edits)


def _only_passes(writer: ClassWriter, source: SourceFile, statement: ast.stmt) -> bool:
    span = source.span(statement)
    return any(e.source is source and e.span == span and e.parts == ("pass",) for e in writer.edits)


def left_over(writer: ClassWriter, bodies: Sequence[tuple[ast.FunctionDef, SourceFile]]) -> Iterator[ast.expr]:
    """Mentions of Linen's transforms that no edit has replaced."""
    from ...linen.lifted.lifting import LIFTED, OTHER_LIFTED

    for function, source in bodies:
        gone = [e.span for e in writer.edits if e.source is source and not e.insert]
        kept: list[Span] = [p for e in writer.edits if e.source is source for p in e.parts if isinstance(p, Span)]
        for node in subtree(function):
            if isinstance(node, ast.Name | ast.Attribute) and not isinstance(source.parents.get(node), ast.Attribute):
                name = writer.run.project.qualname(source, node) or ""
                if name in LIFTED or name in OTHER_LIFTED:
                    if not _replaced(source.span(node), gone, [k for k in kept if k not in gone]):
                        yield node


__all__ = ["combined", "drop_factories", "is_removed", "left_over", "write"]
