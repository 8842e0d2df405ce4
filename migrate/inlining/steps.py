"""One call after the other, until a class calls none of the functions any more."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator

from ..edits import EditSet, Span
from ..linen.project.index import Project
from ..nnx.generated.imports import finish_imports
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name, given_by, names_in
from .callees import Callee, Key, NotInlined, callee, calls_in
from .chosen import Choice, by_conditions, choice_of, keys_of
from .matches import without_matches
from .place import Place, first_before, place_of
from .rewritten import class_of, reparsed
from .text import Writer, bind, closed, expression, is_expression
from .unused import without_unused

MAX_STEPS = 60  # functions that call themselves never come to an end


class _Stays(Exception):
    """A function that is called where its text cannot stand."""

    def __init__(self, key: Key, why: str) -> None:
        super().__init__(why)
        self.key = key


def inlined(project: Project, source: SourceFile, name: str, wanted: Collection[Key]) -> SourceFile:
    """`source`, in which the class `name` has the text of the functions in place of their calls."""
    left, before = set(wanted), class_of(source, name)
    for _ in range(MAX_STEPS):
        try:
            text = _step(project, source, class_of(source, name), left)
        except _Stays as stays:  # the others may be what it takes
            left.discard(stays.key)
            if not left:
                raise NotInlined(str(stays)) from stays
            continue
        if text is None:
            return without_unused(project, before, source, name, left)
        source = reparsed(source, text)
    raise NotInlined("it calls itself")


def _step(project: Project, source: SourceFile, model: ast.ClassDef, wanted: Collection[Key]) -> str | None:
    """The text after one call; None where there is no more."""
    for method, call in calls_in(source, model):
        choice = choice_of(project, source, call.func)
        if choice is not None:
            key = next((k for k in keys_of(project, source, model, call.func) if k in wanted), None)
            if key is None:
                continue
            try:
                return chosen(source, method, call, choice)
            except NotInlined as error:
                raise _Stays(key, str(error)) from error
        function = callee(project, source, model, call.func)
        if function is None or function.key not in wanted or function.node is method:
            continue
        if _within(source, call, function):
            raise NotInlined("it calls itself")
        try:
            return _replaced(project, source, method, call, function)
        except NotInlined as error:
            raise _Stays(function.key, str(error)) from error
    return None


def _within(source: SourceFile, call: ast.Call, function: Callee) -> bool:
    return any(a is function.node for a in source.ancestors(call))


def _replaced(project: Project, source: SourceFile, method: ast.FunctionDef, call: ast.Call, function: Callee) -> str:
    function = without_matches(function)
    function.check()
    hiding = next(_hiding_names(source, method, call, function), None)
    if hiding is not None:
        return _called_otherwise(source, method, hiding)
    imports = _new_imports(project, source, call, function)
    edits = EditSet(source.text)
    place: Place | None = None
    refused: NotInlined | None = None
    try:
        place = place_of(source, method, call)
    except NotInlined as error:
        refused = error
    if is_expression(function):
        try:
            said = expression(function, bind(function, call, None, source, method))
        except NotInlined as error:
            refused = refused or error
        else:
            edits.replace(source.span(call), closed(said, operand=_is_operand(source, call)))
            return _with_imports(source, edits.render(), imports)
    if place is not None:
        bindings = bind(function, call, place, source, method)
        edits.replace(source.span(place.statement), Writer(bindings, place).write())
        return _with_imports(source, edits.render(), imports)
    assert refused is not None
    return _unfolded(source, method, call, refused)


def chosen(source: SourceFile, method: ast.FunctionDef, call: ast.Call, choice: Choice) -> str:
    """The text one step nearer to a call of each of several functions under its condition."""
    try:
        place = place_of(source, method, call)
    except NotInlined as refused:
        return _unfolded(source, method, call, refused)
    return by_conditions(source, place, call, choice)


def _is_operand(source: SourceFile, call: ast.Call) -> bool:
    """May an operator, a dot or a call stand behind or ahead of it?"""
    parent = source.parents[call]
    return not isinstance(parent, ast.Assign | ast.AnnAssign | ast.Return | ast.keyword | ast.List | ast.Tuple | ast.Expr)


def _unfolded(source: SourceFile, method: ast.FunctionDef, call: ast.Call, refused: NotInlined) -> str:
    """The comprehension or the choice around a call as statements, in which the call can be replaced."""
    for outer in source.ancestors(call):
        if outer is method:
            break
        if isinstance(outer, ast.ListComp | ast.GeneratorExp):
            return _as_loop(source, method, outer)
        if isinstance(outer, ast.IfExp):
            return _as_branches(source, method, outer)
    before = first_before(source, call)
    if before is None:
        raise refused
    return named_first(source, method, before)


def named_first(source: SourceFile, method: ast.FunctionDef, node: ast.expr) -> str:
    """`nn.Dense(3)(block(x))` with the layer made by a statement of its own: it is made before the block is."""
    place = place_of(source, method, node)
    if isinstance(place.statement, ast.AugAssign) or place.node.lineno != place.node.end_lineno:
        raise NotInlined("something else is computed before it")
    name = free_name("made", names_in(method))
    edits = EditSet(source.text)
    edits.replace(source.span(node), name)
    rest = edits.render(source.span(place.statement))
    edits = EditSet(source.text)
    edits.replace(
        source.span(place.statement), f"{name} = {source.text_of(node)}\n{source.indent_of(place.statement)}{rest}"
    )
    return edits.render()


def _as_loop(source: SourceFile, method: ast.FunctionDef, node: ast.ListComp | ast.GeneratorExp) -> str:
    """`[make(i) for i in range(n)]` as a loop that appends to a list."""
    place = place_of(source, method, node)
    if isinstance(node, ast.GeneratorExp) and not _taken_whole(source, node):
        raise NotInlined("it is called by a generator")
    if len(node.generators) != 1 or node.generators[0].is_async:
        raise NotInlined("it is called in a comprehension of several loops")
    (generator,) = node.generators
    bound = {n.id for n in subtree(generator.target) if isinstance(n, ast.Name)}
    inside = {id(n) for n in subtree(node)}
    if any(isinstance(n, ast.Name) and n.id in bound and id(n) not in inside for n in subtree(method)):
        raise NotInlined("the names of its comprehension are those of other things")
    own = place.target()
    held = own if own and not _reads(node, own) else free_name("made", names_in(method))
    indent, unit = source.indent_of(place.statement), source.indent_unit
    target, over = source.text_of(generator.target), closed(source.text_of(generator.iter))
    lines = [f"{held} = []", f"{indent}for {target} in {over}:"]
    deeper = indent + unit
    for test in generator.ifs:
        lines.append(f"{deeper}if {closed(source.text_of(test))}:")
        deeper += unit
    lines.append(f"{deeper}{held}.append({source.text_of(node.elt)})")
    if held != own:
        edits = EditSet(source.text)
        edits.replace(source.span(node), held)
        lines.append(indent + edits.render(source.span(place.statement)))
    edits = EditSet(source.text)
    edits.replace(source.span(place.statement), "\n".join(lines))
    return edits.render()


def _taken_whole(source: SourceFile, node: ast.GeneratorExp) -> bool:
    """Is a generator all that `tuple(...)` or `list(...)` is given?"""
    parent = source.parents[node]
    alone = isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords
    return alone and isinstance(parent.func, ast.Name) and parent.func.id in ("tuple", "list")  # type: ignore[attr-defined]


def _as_branches(source: SourceFile, method: ast.FunctionDef, node: ast.IfExp) -> str:
    """`x = a if test else b` as a statement."""
    place = place_of(source, method, node)
    if not place.whole:
        raise NotInlined("it is called in a part of a choice")
    indent, unit = source.indent_of(place.statement), source.indent_unit
    sides = []
    for side in (node.body, node.orelse):
        edits = EditSet(source.text)
        edits.replace(source.span(node), Span(source.span(side).start, source.span(side).end))
        sides.append(edits.render(source.span(place.statement)))
    lines = [
        f"if {closed(source.text_of(node.test))}:",
        f"{indent}{unit}{sides[0]}",
        f"{indent}else:",
        f"{indent}{unit}{sides[1]}",
    ]
    edits = EditSet(source.text)
    edits.replace(source.span(place.statement), "\n".join(lines))
    return edits.render()


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in subtree(node))


# names ---------------------------------------------------------------------------------------------------------
def _free_names(function: Callee, call: ast.Call, source: SourceFile) -> Iterator[ast.Name]:
    """The names of others in a function's text and in the defaults that a call leaves to it."""
    yield from function.free
    for one in given_by(function, call, source)[0].values():
        if one.default:
            yield from (n for n in subtree(one.node) if isinstance(n, ast.Name))
            if any(isinstance(n, ast.List | ast.Dict | ast.Set) for n in subtree(one.node)):
                raise NotInlined("it has a default that may change")
            if any(function.source.names.is_hidden(n.id, n) for n in subtree(one.node) if isinstance(n, ast.Name)):
                raise NotInlined("it has a default that was computed before")


def _hiding_names(source: SourceFile, method: ast.FunctionDef, call: ast.Call, function: Callee) -> Iterator[str]:
    """Variables of the method called as what the function's text means by that name: they can be called otherwise."""
    for name in _free_names(function, call, source):
        scope, here = function.source.names.binding_scope(name.id, name), source.names.binding_scope(name.id, call)
        if scope is None and here is method and _is_variable(method, name.id):
            yield name.id


def _is_variable(method: ast.FunctionDef, name: str) -> bool:
    """Is a name of the method bound by assignments and loops alone?"""
    for node in subtree(method):
        bound = [getattr(node, "arg", None), getattr(node, "name", None), getattr(node, "asname", None)]
        if name in bound and not isinstance(node, ast.keyword):
            return False
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return False
        if isinstance(node, ast.Import | ast.ImportFrom) and any(name == a.name.split(".")[0] for a in node.names):
            return False
    return True


def _called_otherwise(source: SourceFile, method: ast.FunctionDef, name: str) -> str:
    other, edits = free_name(name, names_in(method)), EditSet(source.text)
    for node in subtree(method):
        if isinstance(node, ast.Name) and node.id == name and source.names.binding_scope(name, node) is method:
            if source.text_of(node) != name:  # in an f-string
                raise NotInlined(f"`{name}` means something else where it is called")
            edits.replace(source.span(node), other)
    return edits.render()


def _new_imports(project: Project, source: SourceFile, call: ast.Call, function: Callee) -> dict[str, str]:
    """What the caller's file must import for the function's text to mean the same there."""
    home, found = function.source, {}
    for name in _free_names(function, call, source):
        scope, here = home.names.binding_scope(name.id, name), source.names.binding_scope(name.id, call)
        if scope is not here:
            raise NotInlined(f"`{name.id}` means something else where it is called")
        if scope is not None or home is source:
            continue
        meant, here_meant = _meaning(project, home, name.id), _meaning(project, source, name.id)
        if meant == here_meant and (meant or hasattr(builtins, name.id)):
            continue
        if not meant or here_meant or name.id in source.names.local_names or source.names.star_imports:
            raise NotInlined(f"`{name.id}` means something else where it is called")
        found[name.id] = f"{home.module}.{name.id}" if name.id in home.names.definitions else home.names.imports[name.id]
    return found


def _meaning(project: Project, source: SourceFile, name: str) -> str:
    """What a name of a module is there; "" where the module does not bind it."""
    names = source.names
    if name in names.definitions:
        return f"{source.module}.{name}"
    return project.canonical(names.module_imports[name]) if name in names.module_imports else ""


def _with_imports(source: SourceFile, text: str, imports: dict[str, str]) -> str:
    if not imports:
        return text
    try:
        return finish_imports(source, text, imports, keep=frozenset(source.names.imports))
    except SyntaxError as error:
        raise NotInlined("its text cannot stand there") from error


__all__ = ["chosen", "inlined", "named_first", "reparsed"]
