"""The text of a function as it reads in place of one of its calls."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Sequence

from ..edits import Edit, EditSet
from ..source import SourceFile
from ..trees import subtree
from .bindings import Bindings, Given, free_name, given_by, moved, names_in
from .callees import Callee, NotInlined
from .place import Place
from .pure import is_pure, is_simple

MAX_PASSES = 4  # of a loop that is said pass by pass
MAX_LINES = 8  # of one that has one statement


class Names:
    """Names for a function's own that nothing in the caller's method has."""

    def __init__(self, method: ast.FunctionDef, function: Callee) -> None:
        self.taken = names_in(method)
        if function.kind == "nested":
            inside = {n.id for n in function.nodes if isinstance(n, ast.Name) and function.is_own(n)} | function.locals
            outside = {id(n) for n in subtree(function.node)}
            kept = {n.id for n in subtree(method) if isinstance(n, ast.Name) and id(n) not in outside}
            kept |= {a.arg for a in subtree(method) if isinstance(a, ast.arg) and id(a) not in outside}
            self.taken -= inside - kept  # they are its own, and go with it
        self.taken |= {n.id for n in function.free}

    def fresh(self, name: str) -> str:
        """`name`, or what is like it."""
        found = free_name(name, self.taken)
        self.taken.add(found)
        return found


def bind(function: Callee, call: ast.Call, place: Place | None, caller: SourceFile, method: ast.FunctionDef) -> Bindings:
    """What stands for the function's names; without a `place`, nothing can be assigned first."""
    given, rest = given_by(function, call, caller)
    bindings = Bindings(function)
    names = Names(method, function)
    _bind_rest(bindings, rest, caller, names if place is not None else None)
    target = _takes_over(function, given, place, method)
    for name in [*given]:
        one = given[name]
        if name == target:
            assert isinstance(one.node, ast.Name)
            bindings.words[name] = one.node.id
        elif _said_in_place(function, name, one, place, caller, method):
            bindings.words[name] = one.text
            if isinstance(one.node, ast.Constant):
                bindings.constants[name] = one.node
            elif (one.source.names.qualname(one.node) or "").startswith(("flax.linen.", "jax.nn.")):
                bindings.constants[name] = ast.Constant(...)  # some function, which is not None
        elif place is None:
            raise NotInlined("an argument of it cannot be said in its place")
        elif name in function.captured and place.in_loop:
            raise NotInlined("functions in its text keep an argument of a loop")
        elif any(isinstance(n, ast.Name) and function.is_own(n) and n.id == name for n in function.nodes) or not is_pure(
            one.node
        ):
            bindings.words[name] = names.fresh(name)
            bindings.assigned.append((bindings.words[name], one))
            if isinstance(one.node, ast.Constant) and name not in function.stored:
                bindings.constants[name] = one.node
    named = [n for n in function.nodes if isinstance(n, ast.FunctionDef) and function.is_in(n)]
    inner = {n.name for n in named}
    own = {n.id for n in function.nodes if isinstance(n, ast.Name) and function.is_own(n)} - {*given, *rest, *inner}
    own -= {"self"} if function.kind == "method" else set()
    for nested in named:
        said = names.fresh(nested.name)
        if said != nested.name:
            bindings.words[nested.name] = bindings.inner[nested] = said
    if own and place is None:
        raise NotInlined("it has names of its own")
    if place is not None and place.in_loop and function.captured & function.stored:
        raise NotInlined("functions in its text keep names of a loop")
    for name in sorted(own):
        bindings.words[name] = names.fresh(name)
    bindings.assigned.sort(key=lambda held: (not held[1].default, held[1].node.lineno, held[1].node.col_offset))
    _check_capture(function, bindings)
    return bindings


def _bind_rest(bindings: Bindings, rest: dict[str, list[ast.AST]], caller: SourceFile, names: Names | None) -> None:
    """What is left for `*args` and `**kwargs`; what is computed is given a name first, for which there must be a place."""
    function = bindings.function
    for name, items in rest.items():
        if name == getattr(function.node.args.vararg, "arg", "") and not _only_handed_on(function, name):
            _as_tuple(bindings, name, items, caller, names)
            continue
        uses = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == name and function.is_own(n)]
        for use in uses:
            star = function.source.parents[use]
            call = function.source.parents[star]
            kind = ast.keyword if name == getattr(function.node.args.kwarg, "arg", "") else ast.Starred
            if not isinstance(star, kind) or getattr(star, "arg", None) is not None or not isinstance(call, ast.Call):
                raise NotInlined("it reads what it is given in *args or **kwargs")
        bindings.rest[name] = [_handed_on(bindings, item, caller, names) for item in items]


def _only_handed_on(function: Callee, name: str) -> bool:
    """Does the function do nothing with its `*args` but to give them to others?"""
    uses = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == name and function.is_own(n)]
    return all(isinstance(function.source.parents[use], ast.Starred) for use in uses)


def _as_tuple(bindings: Bindings, name: str, items: list[ast.AST], caller: SourceFile, names: Names | None) -> None:
    """The tuple that `*args` are: `layers = (nn.Dense(4), nn.relu)`."""
    if names is None or any(isinstance(item, ast.Starred) for item in items):
        raise NotInlined("it reads what it is given in *args or **kwargs")
    texts = [caller.text_of(item) for item in items]
    said = f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    bindings.words[name] = held = names.fresh(name)
    first = items[0] if items else ast.Constant(None, lineno=0, col_offset=0)
    assert isinstance(first, ast.expr)
    bindings.assigned.append((held, Given(first, caller, said=said)))


def _handed_on(bindings: Bindings, item: ast.AST, caller: SourceFile, names: Names | None) -> str:
    value = item.value if isinstance(item, ast.keyword) else item
    assert isinstance(value, ast.expr)
    if is_pure(value):
        return caller.text_of(item)
    word = item.arg if isinstance(item, ast.keyword) else "item"
    if names is None or word is None or isinstance(value, ast.Starred):
        raise NotInlined("what it hands on is computed")
    held = names.fresh(word)
    bindings.assigned.append((held, Given(value, caller)))
    return f"{word}={held}" if isinstance(item, ast.keyword) else held


def _takes_over(function: Callee, given: dict[str, Given], place: Place | None, method: ast.FunctionDef) -> str:
    """The parameter that may go by the caller's own name: `x = block(x, 3)` and `return block(x, 3)` need that no more."""
    if place is None:
        return ""
    last = isinstance(place.statement, ast.Return) and place.whole
    for name, one in given.items():
        if not isinstance(one.node, ast.Name) or one.default or name not in function.stored or name in function.captured:
            continue
        said = one.node.id
        if place.source.names.binding_scope(said, one.node) is not method or not (last or place.target() == said):
            continue
        others = [o.node for n, o in given.items() if n != name]
        if any(isinstance(n, ast.Name) and n.id == said for other in others for n in subtree(other)):
            continue
        later = [n for n in subtree(method) if isinstance(n, ast.Lambda | ast.FunctionDef) and n is not method]
        if not any(isinstance(n, ast.Name) and n.id == said for f in later for n in subtree(f)):
            return name
    return ""


def _said_in_place(
    function: Callee, name: str, one: Given, place: Place | None, caller: SourceFile, method: ast.FunctionDef
) -> bool:
    """Can the argument itself stand wherever the function says its parameter?"""
    uses = [n for n in function.nodes if isinstance(n, ast.Name) and n.id == name and function.is_own(n)]
    if name in function.stored or one.node.lineno != one.node.end_lineno:
        return False
    texts = [n for n in uses if any(isinstance(a, ast.JoinedStr) for a in function.source.ancestors(n))]
    number = isinstance(one.node, ast.Constant) and isinstance(one.node.value, int | float)  # no quotes within others
    if texts and not (isinstance(one.node, ast.Name | ast.Attribute) or number):
        return False
    once = is_pure(one.node) or (name in function.captured and _is_list_for_module(function, uses, one.node))
    if not is_simple(one.node) and not (once and (place is None or len(uses) <= 1)):
        return False
    for node in subtree(one.node):
        if isinstance(node, ast.Attribute) and node.attr in function.attributes_set:
            return False
        if isinstance(node, ast.Name) and name in function.captured:
            scope = one.source.names.binding_scope(node.id, node)
            binders = [b for b in caller.names.binders(node.id) if caller.names.bound_by(b) is method]
            later = len(binders) != 1 or (place is not None and place.in_loop)
            if scope is not None and node.id != "self":
                if scope is not method or (later and not _is_settled(binders, place)):
                    return False
    return True


def _check_capture(function: Callee, bindings: Bindings) -> None:
    """No name that is said in place of another may be bound by a comprehension or function in the text."""
    inner = {
        n.arg if isinstance(n, ast.arg) else n.id
        for n in function.nodes
        if isinstance(n, ast.arg) or (isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load) and not function.is_own(n))
    }
    inner |= {n.name for n in function.nodes if isinstance(n, ast.FunctionDef) and not function.is_in(n)}
    said = [*bindings.words.values(), *itertools.chain(*bindings.rest.values())]
    for text in said:
        tree = ast.parse(f"f({text})", mode="eval")
        if inner & {n.id for n in subtree(tree) if isinstance(n, ast.Name)}:
            raise NotInlined("a comprehension in its text has a name of the caller's")


def expression(function: Callee, bindings: Bindings) -> str:
    """The text of a function that does nothing but return an expression."""
    (only,) = function.body
    assert isinstance(only, ast.Return) and only.value is not None
    return closed(bindings.text(only.value))


def is_expression(function: Callee) -> bool:
    """Does a function do nothing but return an expression?"""
    only = function.body[0] if len(function.body) == 1 else None
    return isinstance(only, ast.Return) and only.value is not None


def _is_list_for_module(function: Callee, uses: list[ast.Name], node: ast.expr) -> bool:
    """Is it a list, `[width] * 2`, of which nothing is done but to give it to a class, as for `MLP(sizes)(x)`?"""
    if not all(is_pure(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr) and not isinstance(n, ast.List)):
        return False
    lists = [n for n in subtree(node) if isinstance(n, ast.List)]
    if not lists or not all(is_pure(item) for held in lists for item in held.elts):
        return False
    for use in uses:
        outer = function.source.parents[use]
        outer = function.source.parents[outer] if isinstance(outer, ast.keyword) else outer
        named = ast.unparse(outer.func).rpartition(".")[2] if isinstance(outer, ast.Call) and use is not outer.func else ""
        if not named[:1].isupper():
            return False
    return True


def _is_settled(binders: list[ast.AST], place: Place | None) -> bool:
    """Has a name of the caller's its last value where the call is first reached: is nothing bound to it behind that?"""
    if place is None:
        return False
    around = list(itertools.takewhile(lambda a: a is not place.method, place.source.ancestors(place.node)))
    loops = [a for a in around if isinstance(a, ast.For | ast.While)]
    begins = (loops[-1] if loops else place.statement).lineno
    ends = [getattr(place.source.statement_of(b) if isinstance(b, ast.expr) else b, "end_lineno", None) for b in binders]
    around_binders = [a for b in binders for a in place.source.ancestors(b)]
    looped = any(isinstance(a, ast.For | ast.While) and a in around for a in around_binders)
    return not looped and all(end is not None and end < begins for end in ends)


def closed(text: str, operand: bool = False) -> str:
    """An expression that may stand anywhere: in brackets where it needs any."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:  # of several lines, in brackets that are not its own
        return f"({text})"
    if isinstance(tree, ast.Tuple):
        return text if text.startswith("(") and text.endswith(")") and _is_one(text) else f"({text})"
    plain = isinstance(
        tree, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.List | ast.Dict | ast.Constant | ast.ListComp
    )
    return text if plain or not operand else f"({text})"


def _is_one(text: str) -> bool:
    """Do the brackets at both ends belong together?"""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth and at < len(text) - 1:
            return False
    return True


class Writer:
    """Writes the statements of a function in place of the statement that calls it."""

    def __init__(self, bindings: Bindings, place: Place) -> None:
        self.bindings = bindings
        self.function = bindings.function
        self.place = place
        self.lines: list[str] = []
        self.unit = place.source.indent_unit
        self.result = ""

    def write(self) -> str:
        """All lines, the first without its indentation."""
        indent = self.place.source.indent_of(self.place.statement)
        if not self.place.whole and _leaves(self.function.body) > 1:
            said = {*self.bindings.words.values(), *[n.id for n in self.function.free]}
            self.result = free_name("made", names_in(self.place.method) | said)
        self._block(self.function.body, indent)
        if self.result:
            self._say(self.result, indent)
        words = set(re.findall(r"\w+", "\n".join(self.lines)))
        settled = [name for name, one in self.bindings.assigned if isinstance(one.node, ast.Constant) and name not in words]
        first = [f"{indent}{n} = {closed(one.text)}" for n, one in self.bindings.assigned if n not in settled]
        return "\n".join([*first, *self.lines])[len(indent) :]

    def _block(self, body: Sequence[ast.stmt], indent: str) -> None:
        count = len(self.lines)
        self._statements(body, indent)
        if all(line.lstrip().startswith("#") for line in self.lines[count:]):
            self.lines.append(f"{indent}pass")

    def _statements(self, body: Sequence[ast.stmt], indent: str, *, tail: bool = True) -> None:
        """`tail`: the function ends behind them."""
        source = self.function.source
        for position, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                self._comments(statement, indent)
                self._leaf(statement.value, indent)
                return
            if isinstance(statement, ast.If) and (side := self.bindings.settled(statement.test)) is not None:
                self._statements([*(statement.body if side else statement.orelse), *body[position + 1 :]], indent)
                return
            passes = self._passes(statement)
            if isinstance(statement, ast.For) and passes is not None:
                for _ in range(passes):
                    self._statements(statement.body, indent, tail=False)
                continue
            if any(isinstance(n, ast.Return) for n in _own_nodes(statement)):
                self._choice(statement, body[position + 1 :], indent)
                return
            self._comments(statement, indent)
            span = source.span(statement)
            rest = source.text[span.end : source.line_end(span.end)].strip()
            text = moved(self.bindings.text(statement), source.indent_of(statement), indent)
            self.lines.append(f"{indent}{text}{f'  {rest}' if rest.startswith('#') else ''}")
        if tail and not _always_returns(body):
            self._leaf(None, indent)

    def _passes(self, statement: ast.stmt) -> int | None:
        """How often a loop runs that does the same in each pass, where arguments say it: `for _ in range(1, depth)`."""
        if not isinstance(statement, ast.For) or statement.orelse or not isinstance(statement.target, ast.Name):
            return None
        over = statement.iter
        counted = isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"
        if not isinstance(over, ast.Call) or not counted or len(over.args) not in (1, 2) or over.keywords:
            return None
        ends = [self.bindings.number(argument) for argument in over.args]
        nodes = [n for s in self.function.body for n in subtree(s)]
        reads = [n for n in nodes if isinstance(n, ast.Name) and n.id == statement.target.id and isinstance(n.ctx, ast.Load)]
        leaves = any(isinstance(n, ast.Return | ast.Break | ast.Continue) for n in subtree(statement))
        if None in ends or reads or leaves or all(isinstance(argument, ast.Constant) for argument in over.args):
            return None
        count = len(range(*ends))  # type: ignore[arg-type]
        return count if count <= MAX_PASSES or (count <= MAX_LINES and len(statement.body) == 1) else None

    def _choice(self, statement: ast.stmt, rest: Sequence[ast.stmt], indent: str) -> None:
        """An `if` that returns: what follows it stands in the branch that does not."""
        if not isinstance(statement, ast.If):
            raise NotInlined("it returns out of a loop")
        then, orelse = _always_returns(statement.body), _always_returns(statement.orelse)
        if rest and not then and not orelse:
            raise NotInlined("it returns in several places")
        self._comments(statement, indent)
        head, deeper = len(self.lines), indent + self.unit
        test = self.bindings.text(statement.test)
        self.lines.append(f"{indent}if {closed(test)}:")
        self._block([*statement.body, *([] if then else rest)], deeper)
        empty = self.lines[head + 1 :] == [f"{deeper}pass"]
        if empty:
            self.lines[head:] = [f"{indent}if {_opposite(statement.test, test)}:"]
        else:
            self.lines.append(f"{indent}else:")
        start = len(self.lines)
        self._block([*statement.orelse, *([] if orelse else rest)], deeper)
        if self.lines[start:] == [f"{deeper}pass"]:
            del self.lines[head + 1 if empty else start - 1 :]
            if empty:
                self.lines[head:] = [f"{indent}pass"]

    def _comments(self, statement: ast.stmt, indent: str) -> None:
        """The lines of comments above a statement."""
        source = self.function.source
        found: list[str] = []
        line = min([statement.lineno, *[d.lineno for d in getattr(statement, "decorator_list", ())]]) - 2
        while line >= 0 and source.lines[line].strip().startswith("#"):
            found.append(source.lines[line].strip())
            line -= 1
        self.lines += [f"{indent}{comment}" for comment in reversed(found)]

    def _leaf(self, value: ast.expr | None, indent: str) -> None:
        """What the function returns, in its caller's statement."""
        text = self.bindings.text(value) if value is not None else "None"
        if isinstance(value, ast.expr):
            text = moved(text, self.function.source.indent_of(self.function.source.statement_of(value)), indent)
        if self.result:
            self.lines.append(f"{indent}{self.result} = {closed(text)}")
        elif isinstance(self.place.statement, ast.Expr) and self.place.whole:
            if value is not None and not is_pure(value):
                self.lines.append(indent + closed(text))
        elif text != self.place.target():
            bare = isinstance(value, ast.Tuple) and self.place.whole and "\n" not in text
            self._say(text if bare else closed(text, operand=not self.place.whole), indent)

    def _say(self, text: str, indent: str) -> None:
        """The caller's statement with `text` for the call."""
        source, statement = self.place.source, self.place.statement
        edits = EditSet(source.text)
        said = edits.render(source.span(statement), [Edit(source.span(self.place.node), (text,))])
        self.lines.append(indent + moved(said, source.indent_of(statement), indent))


def _opposite(test: ast.expr, text: str) -> str:
    """The text of a condition that holds where `test` does not."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is):
        left, _, right = text.partition(" is ")
        if right == "None":
            return f"{left} is not None"
    return f"not {closed(text, operand=True)}"


def _own_nodes(statement: ast.stmt) -> Iterable[ast.AST]:
    """Everything in a statement but what stands in functions."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            stack += ast.iter_child_nodes(node)


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def _leaves(body: Sequence[ast.stmt]) -> int:
    """In how many places the caller's statement would stand."""
    returns = [n for s in body for n in _own_nodes(s) if isinstance(n, ast.Return)]
    return len(returns) + (not _always_returns(body))


__all__ = ["Writer", "bind", "closed", "expression", "is_expression"]
