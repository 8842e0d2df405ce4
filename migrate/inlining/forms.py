"""The same `setup` said in another way: what is held, made in loops or under computed names, as plain lists and dicts.

Each form is the same Linen program, with the same names: a class that `setup` holds stands where it is called, a dict that a
loop fills is a comprehension, `layer_0`, `layer_1` are the items of a list `layer`, and parameters that `setup` keeps
are made at the beginning of the one method that reads them, as `setup` runs whenever a method does. A layer whose `setup`
is another class's looks its ids up as the layer does. `match` is `if` where its patterns are values, and
`if w := self.width:` is two statements. A random key that a variable alone starts from is drawn in its arguments. A flag
that a scan leaves alone stands around the scanned function. What a plain dataclass gives a class stands in it. A subclass
of a layer has the layer within. An attribute that is one name or another in Linen by a field is two.
A list of modules that a loop makes in its header has a name, and an item that is called apart from the others stands
apart. A list of modules that `map` calls is a comprehension's. Functions of `setup` that call modules are methods.
A slice of a shape that a module takes as arguments is its items. A list with one more layer of its kind is one list, and
names of its parts are what they are of it. A lambda that has a name is a function.
A call that hands all on to another method says what that takes. A function that makes modules and that a field holds has
its own name where the field is called. A module that each branch makes for itself is made before them. What the
`__init__` of a subclass of a layer says are the defaults of its fields. `getattr(nn, "Dense")` is `nn.Dense`. A list of
those of some arrays that are given is made by statements. What one nn.Sequential takes stands in it. A module that
`jax.tree.map` is given is called in a function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..edits import EditSet, Span
from ..linen.lifted.lifting import LIFTED
from ..linen.project.index import Project
from ..shared_lines import beside, removals
from ..source import SourceFile
from ..trees import subtree
from .broadcast_arguments import with_flags_around
from .callees import NotInlined, is_class, read_elsewhere
from .dataclass_bases import with_own_fields
from .drawn_keys import with_keys_in_place
from .field_functions import with_own_names
from .functions_of_setup import with_methods
from .inits_of_layers import with_fields_of_init
from .items_of_shapes import with_items_of_shapes
from .joined_ends import with_joined_ends
from .layer_text import looked_up
from .layers_within import with_layer_within
from .lists_in_calls import with_named_lists
from .made_in_branches import with_one_before_branches
from .mapped_items import with_mapped_items
from .mapped_modules import with_mapped_modules
from .matches import as_conditions
from .moved_params import at_the_call
from .named_lambdas import with_named_functions
from .names_in_tests import as_statements
from .names_of_branches import with_own_attributes
from .optional_items import with_optional_items
from .rewritten import reparsed
from .sequentials_in_place import with_sequentials_in_place
from .spelled_attributes import with_spelled_attributes
from .spelled_calls import with_spelled_call
from .text import closed
from .unpacked_lists import with_unpacked_lists

# What such a setup is refused with.
CODES = frozenset(
    {
        "NNX110",
        "NNX111",
        "NNX112",
        "NNX113",
        "NNX114",
        "NNX120",
        "NNX121",
        "NNX123",
        "NNX127",
        "NNX130",
        "NNX132",
        "NNX133",
        "NNX136",
        "NNX137",
        "NNX138",
        "NNX141",
        "NNX152",
        "NNX155",
        "NNX157",
        "NNX160",
        "NNX172",
        "NNX180",
    }
)


_PLAINER = (
    with_fields_of_init, with_spelled_attributes, with_sequentials_in_place, with_spelled_call, with_own_fields,
    as_conditions, as_statements, with_keys_in_place, with_flags_around, with_layer_within, with_named_lists,
    with_mapped_items, with_items_of_shapes, with_unpacked_lists, with_named_functions, with_own_names,
    with_one_before_branches, with_optional_items, with_mapped_modules,
)  # fmt: skip


def other_form(project: Project, source: SourceFile, name: str) -> SourceFile:
    """`source` with the `setup` of the class `name` in its plainest form; raises NotInlined where that is the one it has."""
    rewrites: tuple[Callable[[Project, SourceFile, ast.ClassDef, ast.FunctionDef], str | None], ...]
    rewrites = (
        _held_class, _filled_dict, _tuple_of_modules, _numbered, with_own_attributes, with_methods, at_the_call, looked_up,
        with_joined_ends,
    )  # fmt: skip
    before = source
    for plainer in _PLAINER:
        while isinstance(found := source.names.definitions.get(name), ast.ClassDef):
            text = plainer(project, source, found)
            if text is None:
                break
            source = reparsed(source, text)
    for rewrite in rewrites:
        for _ in range(20):
            model = source.names.definitions.get(name)
            setup = _setup_of(project, source, model) if isinstance(model, ast.ClassDef) else None
            if setup is None or not isinstance(model, ast.ClassDef):
                break
            text = rewrite(project, source, model, setup)
            if text is None or text == source.text:
                break
            source = reparsed(source, text)
    if source is before:
        raise NotInlined("it has no other form")
    return source


def _setup_of(project: Project, source: SourceFile, model: ast.ClassDef) -> ast.FunctionDef | None:
    """The `setup` of a class that derives from no other of the project, and that none derives from."""
    qualname = f"{source.module}.{model.name}"
    own = project.linen_classes.get(qualname)
    if own is None or any(qualname in info.bases for info in project.linen_classes.values()):
        return None
    if any(base in project.linen_classes for base in own.bases):
        return None
    found = [s for s in model.body if isinstance(s, ast.FunctionDef) and s.name == "setup" and not s.decorator_list]
    return found[0] if len(found) == 1 else None


def _attribute(node: ast.AST) -> str:
    """`a` of `self.a`; "" for anything else."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if isinstance(node, ast.Attribute) and own else ""


def _assigned(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The attribute that a statement sets, and its value."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _attribute(statement.targets[0]):
        return _attribute(statement.targets[0]), statement.value
    return None


def _mentions(model: ast.ClassDef, attribute: str) -> list[ast.Attribute]:
    return [n for n in subtree(model) if isinstance(n, ast.Attribute) and _attribute(n) == attribute]


def _dropped(source: SourceFile, function: ast.FunctionDef, statement: ast.stmt) -> tuple[Span, str]:
    """The lines that go with a statement of a function, and what stands there then."""
    if len(function.body) > 1:
        return next(removals(source, [statement])), ""
    if function.name == "setup":
        span = source.line_span(function)
        end = span.end
        while end < len(source.text) and not source.text[end : source.line_end(end)].strip():
            end = source.line_end(end)
        return Span(span.start, end), ""
    return source.span(statement), "pass"


# classes that setup holds ----------------------------------------------------------------------------------------
def _held_class(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`self.block = nn.remat(Block)`, which methods call: the class stands where it is called."""
    for statement in setup.body:
        held = _assigned(statement)
        if held is None or not isinstance(held[1], ast.Call) or project.qualname(source, held[1].func) not in LIFTED:
            continue
        attribute, value = held
        uses = [n for n in _mentions(model, attribute) if isinstance(n.ctx, ast.Load)]
        called = all(isinstance(c := source.parents[n], ast.Call) and c.func is n for n in uses)
        once = len(_mentions(model, attribute)) == len(uses) + 1
        local = any(isinstance(n, ast.Name) and n.id != "self" and source.names.is_hidden(n.id, n) for n in subtree(value))
        made = not any(isinstance(n, ast.Call) and is_class(project, source, n.func) for n in subtree(value))
        if not (uses and called and once and made) or local or read_elsewhere(project, source, model, {attribute}):
            continue
        bound = [source.names.bound_in(f) for n in uses for f in source.ancestors(n) if isinstance(f, ast.FunctionDef)]
        if any(isinstance(n, ast.Name) and n.id != "self" and n.id in names for names in bound for n in subtree(value)):
            continue
        edits = EditSet(source.text)
        for use in uses:
            edits.replace(source.span(use), source.text_of(value))
        edits.replace(*_dropped(source, setup, statement))
        return edits.render()
    return None


# dicts and tuples ------------------------------------------------------------------------------------------------
def _filled_dict(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`heads = {}` and a loop of `heads[k] = ...`: a comprehension."""
    for first, loop, last in zip(setup.body, setup.body[1:], setup.body[2:], strict=False):
        empty = isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name)
        if not empty or not _is_empty_dict(first.value) or not isinstance(loop, ast.For) or loop.orelse:  # type: ignore[attr-defined]
            continue
        name = first.targets[0].id  # type: ignore[attr-defined]
        (only, *more), held = loop.body, _assigned(last)
        if more or not isinstance(only, ast.Assign) or len(only.targets) != 1 or held is None:
            continue
        target = only.targets[0]
        stored = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name
        around = [n for n in subtree(setup) if isinstance(n, ast.Name) and not any(n is i for i in subtree(loop))]
        apart = not _is_read_behind(source, setup, loop) and sum(n.id == name for n in around) == 2
        used = [n for n in subtree(loop) if isinstance(n, ast.Name) and n.id == name]
        if any(len(beside(source, statement)) > 1 for statement in (first, loop)):  # type: ignore[arg-type]
            continue
        if not stored or not apart or len(used) != 1 or not (isinstance(held[1], ast.Name) and held[1].id == name):
            continue
        assert isinstance(target, ast.Subscript)
        parts = [source.text_of(n) for n in (target.slice, only.value, loop.target, loop.iter)]
        text = f"{{{parts[0]}: {closed(parts[1])} for {parts[2]} in {closed(parts[3])}}}"
        edits = EditSet(source.text)
        edits.replace(source.line_span(first))
        edits.replace(source.line_span(loop))
        edits.replace(source.span(held[1]), text)
        return edits.render()
    return None


def _is_read_behind(source: SourceFile, setup: ast.FunctionDef, loop: ast.For) -> bool:
    """Is a name of a loop read by something that does not give it a value itself? A comprehension leaves none."""
    counted = {n.id for n in subtree(loop.target) if isinstance(n, ast.Name)}
    inside = {id(n) for n in subtree(loop)}
    for node in subtree(setup):
        if not isinstance(node, ast.Name) or node.id not in counted or id(node) in inside or isinstance(node.ctx, ast.Store):
            continue
        around = [a for a in source.ancestors(node) if isinstance(a, ast.For)]
        loops = [a for a in around if any(isinstance(n, ast.Name) and n.id == node.id for n in subtree(a.target))]
        over = any(any(n is node for n in subtree(a.iter)) for a in loops)
        if source.names.binding_scope(node.id, node) is setup and (not loops or over):
            return True
    return False


def _is_empty_dict(node: ast.expr) -> bool:
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
    return (isinstance(node, ast.Dict) and not node.keys) or (made and not node.args and not node.keywords)  # type: ignore[attr-defined]


def _tuple_of_modules(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`self.layers = tuple(nn.Dense(4) for _ in range(n))`: a list, which Linen makes a tuple of anyway."""
    for statement in setup.body:
        held = _assigned(statement)
        value = held[1] if held is not None else None
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("tuple", "list")):
            continue
        if len(value.args) != 1 or value.keywords or not isinstance(value.args[0], ast.GeneratorExp | ast.ListComp):
            continue
        made = value.args[0]
        if not isinstance(made.elt, ast.Call) or not is_class(project, source, made.elt.func):
            continue
        inner = Span(source.span(made.elt).start, _end(source, made))
        edits = EditSet(source.text)
        edits.replace(source.span(value), "[", inner, "]")
        return edits.render()
    return None


def _end(source: SourceFile, made: ast.GeneratorExp | ast.ListComp) -> int:
    """Where the last part of a comprehension ends."""
    last = made.generators[-1]
    return source.span(last.ifs[-1] if last.ifs else last.iter).end


# computed names --------------------------------------------------------------------------------------------------
def _numbered(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`setattr(self, f"layer_{i}", ...)` in a loop that counts: the items of a list `layer`."""
    for loop in setup.body:
        counter = _counter(loop)
        if not isinstance(loop, ast.For) or not counter or len(loop.body) != 1:
            continue
        call = loop.body[0].value if isinstance(loop.body[0], ast.Expr) else None
        if not _is_call(call, "setattr", 3) or not isinstance(call, ast.Call):
            continue
        prefix, index = _computed(call.args[1])
        if not prefix or not isinstance(index, ast.Name) or index.id != counter:
            continue
        if _is_read_behind(source, setup, loop):
            continue
        reads = list(_reads(model, prefix))
        if _is_taken(model, prefix, [call, *[r for r, _ in reads]]):
            continue
        if read_elsewhere(project, source, model, {prefix}) or any(f"{prefix}_{i}" in source.words for i in range(10)):
            continue
        edits = EditSet(source.text)
        made = source.text_of(call.args[2])
        over = f"for {source.text_of(loop.target)} in {closed(source.text_of(loop.iter))}"
        edits.replace(source.span(loop), f"self.{prefix} = [{made} {over}]")
        for read, number in reads:
            edits.replace(source.span(read), f"self.{prefix}[{ast.unparse(number)}]")
        return edits.render()
    return None


def _counter(loop: ast.stmt) -> str:
    """The name that counts the passes of a loop from 0."""
    if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.iter, ast.Call) or loop.iter.keywords:
        return ""
    called = loop.iter.func.id if isinstance(loop.iter.func, ast.Name) else ""
    target, args = loop.target, loop.iter.args
    if called == "range" and len(args) == 1 and isinstance(target, ast.Name):
        return target.id
    if called == "enumerate" and len(args) == 1 and isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        return target.elts[0].id
    return ""


def _is_call(node: ast.AST | None, name: str, count: int) -> bool:
    """`name(self, ...)` with so many arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != name or node.keywords:
        return False
    return len(node.args) == count and isinstance(node.args[0], ast.Name) and node.args[0].id == "self"


def _computed(node: ast.expr) -> tuple[str, ast.expr | None]:
    """`layer` and `i` of `f"layer_{i}"`, and of `"layer_" + str(i)`."""
    prefix, index = "", None
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2 and isinstance(node.values[0], ast.Constant):
        held = node.values[1]
        if isinstance(held, ast.FormattedValue) and held.conversion == -1 and held.format_spec is None:
            prefix, index = str(node.values[0].value), held.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Constant):
        right = node.right
        if (
            isinstance(right, ast.Call)
            and isinstance(right.func, ast.Name)
            and right.func.id == "str"
            and len(right.args) == 1
        ):
            prefix, index = str(node.left.value), right.args[0]
    if not prefix.endswith("_") or not prefix[:-1].isidentifier():
        return "", None
    return prefix[:-1], index


def _reads(model: ast.ClassDef, prefix: str) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The `getattr(self, f"layer_{i}")` of a class, each with its number."""
    for node in subtree(model):
        if _is_call(node, "getattr", 2):
            assert isinstance(node, ast.Call)
            said, index = _computed(node.args[1])
            if said == prefix and index is not None:
                yield node, index


def _is_taken(model: ast.ClassDef, prefix: str, known: list[ast.Call]) -> bool:
    """Is the name of the list, or one of its items, something else's, or asked for in another way?"""
    parts = {id(n) for call in known for n in subtree(call)}
    for node in subtree(model):
        if id(node) in parts:
            continue
        said = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        said = said or (node.name if isinstance(node, ast.FunctionDef) else "")
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if said == prefix or said.startswith(f"{prefix}_") or text.startswith(f"{prefix}_"):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "setattr", "hasattr")
        ):
            if _computed(node.args[1])[0] in ("", prefix):
                return True
    return False


__all__ = ["CODES", "other_form"]
