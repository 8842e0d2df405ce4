"""Lists of modules made in `setup` whose input sizes follow from one to the next: `x = layer(x)` over `self.layers`.

The loop that makes the list gets the sizes that the loop of the call would go through: a variable before it, used by the
constructor, and set to the next size at the end of every iteration.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...edits import Part, Parts
from ...linen.execution.execute import Execution
from ...linen.lists.loop_names import flattened, free_reads
from ...linen.values.arguments import stored_names
from ...linen.values.dims import Dim
from ...linen.values.late_makes import names_in
from ...linen.values.merging import dependencies_of
from ...linen.values.sites import For, Local, Site, Unmigratable, steps_of
from ...linen.values.values import Array
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ..classes.class_text import ClassText
    from ..classes.class_write import ClassWriter

Carried = Sequence[tuple[str, Dim, Dim]]  # variable, its first value, its next value


def write(writer: ClassWriter, site: Site, carried: Carried, expression: Parts) -> None:
    """The edits of one site of such a list."""
    known = available(writer.run, site) | around(writer.run, site) | {tracker for tracker, _, _ in carried}
    told = writer.run.trackers | writer.run.width_names
    parts = [s for s in writer.run.sites if s.item_of() is site.item_of() and s in writer.text.built]
    own = {part: {tracker for tracker, _, _ in writer.run.carried.get(part, ())} for part in parts}
    if any(writer.text.built[part][1] & told - known - own[part] for part in parts):
        raise Unmigratable("NNX114", "a size of setup depends on what a loop of the call takes from a list", site.node)
    for _, first, following in carried:
        inside = around(writer.run, site, inner=True)  # known where the pass ends
        if first.dependencies() & told - known or following.dependencies() & told - known - inside:
            raise Unmigratable("NNX114", "a size of setup depends on a branch or loop of the call", site.node)
    made, source = loop_of(site), site.anchor()[0]
    outer: dict[For, list[tuple[str, Dim, Dim]]] = {}
    if len(site.loops) > 1:
        along = {size: writer.run.along.get(size[0]) for size in carried}
        outer = {loop: [s for s in carried if along[s] is loop] for loop in site.loops[:-1] if loop in along.values()}
        if any(held not in site.loops for held in along.values()):
            raise Unmigratable("NNX114", "input sizes that change along lists of lists cannot be followed", site.node)
        carried = [size for size in carried if along[size] is site.loops[-1]]
    if isinstance(made, ast.ListComp):
        _comprehension(writer, site, made, carried, expression)
    elif made is not None:
        _loop(writer, site, made, carried, expression)
    else:
        raise Unmigratable("NNX114", "input sizes that change along a list of modules cannot be followed", site.node)
    for held, sizes in outer.items():
        if isinstance(held.node, ast.For):
            _passes(writer, source, held.node, sizes)
        else:
            listed = source.parents[held.node]
            assert isinstance(listed, ast.ListComp)
            _as_loop(writer, source, listed, _along(writer.run, held), (source.span(listed.elt),))


def _along(run: Execution, loop: For) -> Carried:
    """All sizes that change along the list which a loop of setup makes."""
    sizes = {size[0]: size for carried in run.carried.values() for size in carried if run.along.get(size[0]) is loop}
    return list(sizes.values())


def keep_needed(text: ClassText) -> None:
    """Leave out the sizes that no constructor asks for: convolutions change height and width along a list, too.

    `text` has built all sites; a size that another needs, or that the class gives, is kept.
    """
    run = text.run
    needed = {name for _, names in text.built.values() for name in names}
    for summary in run.summaries.values():
        width = summary.result.shape.dim(-1) if isinstance(summary.result, Array) else None
        needed |= width.dependencies() if width is not None else set()
    sizes = [size for carried in run.carried.values() for size in carried]
    for _ in sizes:
        for tracker, first, following in sizes:
            if tracker in needed:
                needed |= first.dependencies() | following.dependencies()
    for site, carried in run.carried.items():
        run.carried[site] = [size for size in carried if size[0] in needed]


def loop_of(site: Site) -> ast.ListComp | ast.For | None:
    """The comprehension or loop that makes the list, one module in every iteration; None where it is not so plain."""
    source, call = site.anchor()
    for node in source.ancestors(call):
        if isinstance(node, ast.ListComp):
            statement = source.parents.get(node)
            each = flattened(node)
            items = each.elts if each is not None else getattr(node.elt, "elts", [node.elt])
            single = len(node.generators) == 1 and not node.generators[0].ifs
            plain = (single or each is not None) and call in items
            whole = isinstance(statement, ast.Assign) and statement.value is node
            inner = _listed_around(source, node) is not None and len(site.loops) == 2
            return node if plain and (whole or inner or _may_stand_before(source, node)) else None
        if isinstance(node, ast.For):
            leaves = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in subtree(node))
            parents = [*itertools.islice(source.ancestors(node), len(site.loops))]
            top = isinstance(parents[-1], ast.FunctionDef) and all(_fills_anew(p, call, source) for p in parents[:-1])
            return node if top and not leaves and not node.orelse else None
        if isinstance(node, ast.If | ast.IfExp | ast.FunctionDef | ast.Lambda | ast.While | ast.Try | ast.BoolOp):
            return None
    return None


def _fills_anew(outer: ast.AST, call: ast.Call, source: SourceFile) -> bool:
    """Has every pass of a loop a list of its own, to which an inner loop appends?"""
    added = source.parents.get(call)
    func = added.func if isinstance(added, ast.Call) else None
    name = func.value.id if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""
    return isinstance(outer, ast.For) and any(isinstance(s, ast.Assign) and name in stored_names(s) for s in outer.body)


def _may_stand_before(source: SourceFile, node: ast.ListComp) -> bool:
    """Is a list always made, once, by its statement: as an argument, `self.mlp = nn.Sequential([... for ...])`?"""
    below: ast.AST = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.Assign | ast.Return | ast.Expr):
            return below is parent.value
        if not isinstance(parent, ast.Call | ast.keyword | ast.List | ast.Tuple | ast.Dict | ast.BinOp | ast.Starred):
            return False
        below = parent
    return False


def _listed_around(source: SourceFile, node: ast.ListComp) -> ast.ListComp | None:
    """The comprehension that makes a list in each of its items: `[[nn.Dense(d) for _ in range(n)] for d in self.dims]`."""
    below: ast.AST = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.ListComp):
            plain = below is parent.elt and len(parent.generators) == 1 and not parent.generators[0].ifs
            statement = source.parents.get(parent)
            whole = isinstance(statement, ast.Assign) and statement.value is parent
            return parent if plain and (whole or _may_stand_before(source, parent)) else None
        if not isinstance(parent, ast.Call | ast.keyword | ast.List | ast.Tuple | ast.Starred):
            return None
        below = parent
    return None


def available(run: Execution, site: Site) -> set[str]:
    """The variables of this kind that stand in setup before a site, after the loops that set them."""
    found: set[str] = set()
    for other, carried in run.carried.items():
        loop = loop_of(other)
        if loop is not None and other.anchor()[0] is site.anchor()[0]:
            if (loop.end_lineno or 0) < site.anchor()[1].lineno or _is_joined_behind(site, loop):
                found |= {tracker for tracker, _, _ in carried if _lasts(run, tracker, other, site)}
    return found


def _lasts(run: Execution, tracker: str, made: Site, site: Site) -> bool:
    """Is a size of a loop the same for a site? What a loop in a loop leaves, it leaves in every pass of the outer one."""
    around_it = made.loops[:-1]
    along = run.along.get(tracker)
    return site.loops[: len(around_it)] == around_it or (along is not None and along is not made.loops[-1])


def _kept(run: Execution) -> set[str]:
    return {tracker for carried in run.carried.values() for tracker, _, _ in carried}


def around(run: Execution, site: Site, inner: bool = False) -> set[str]:
    """The variables of this kind of the loops around the one that makes a site; `inner`: of those that it is around."""
    sizes = [c for other, c in run.carried.items() if (_is_within(other, site) if inner else _is_within(site, other))]
    return {tracker for carried in sizes for tracker, _, _ in carried}


def _is_within(site: Site, other: Site) -> bool:
    """Is a site made in a loop of a loop that makes the other?"""
    return len(other.loops) < len(site.loops) and site.loops[: len(other.loops)] == other.loops


def _is_joined_behind(site: Site, loop: ast.ListComp | ast.For) -> bool:
    """`[nn.Dense(f) for f in self.widths] + [nn.Dense(5)]`: the loop of the first list goes before the statement."""
    source, call = site.anchor()
    if not isinstance(loop, ast.ListComp) or source.statement_of(loop) is not source.statement_of(call):
        return False
    return (loop.end_lineno or 0, loop.end_col_offset or 0) <= (call.lineno, call.col_offset)


def check_passes(run: Execution, site: Site, needs: set[str]) -> None:
    """A module may take the sizes of one pass of a loop of setup in that loop only, or where it is said again."""
    if site.call is None:
        return
    others = {name for s in run.sites if s.in_setup for loop in s.loops for name in names_in(loop.target)}
    own = {name for loop in site.loops for name in names_in(loop.target)} | {site.renders.get("pass_name")}
    foreign = needs & others - own
    if not site.in_setup:
        bound = {n for block in run.blocks.values() for s in steps_of(block) if isinstance(s, Local) for n in s.names}
        if foreign - bound:
            reason = f"`{min(foreign - bound)}` of a loop of setup says a size, and the loop of the call does not have it"
            raise Unmigratable("NNX114", reason, site.node)
        return
    if any(dependencies_of(value) & foreign for value in [*site.call.args, *site.call.keywords.values()]):
        raise Unmigratable("NNX114", "a size of setup depends on which item of a list is called", site.node)


def followed(run: Execution) -> set[str]:
    """The variables of this kind that hold, when setup is done, what the size is after the loop of the call."""
    setup = run.model.method("setup")
    own = [s for s in run.carried if setup is not None and s.maker is setup.node]  # not a helper's
    return {tracker for site in own if not site.conditions for tracker, _, _ in run.carried[site]}


def _comprehension(
    writer: ClassWriter, site: Site, comprehension: ast.ListComp, carried: Carried, expression: Parts
) -> None:
    """`self.layers = [Dense(f) for f in ...]` becomes a loop."""
    source, call = site.anchor()
    if comprehension.elt is not call:  # one of several in each item
        indent = source.indent_at(comprehension)
        writer.put(call, *writer.laid_out(expression, indent), source=source)
        if comprehension in writer.listed:
            return
        inside = [s for s in writer.run.carried if loop_of(s) is comprehension]
        together = {size[0]: size for s in inside for size in writer.run.carried[s]}
        if len(site.loops) > 1:
            together = {size[0]: size for size in _along(writer.run, site.loops[-1])}
        carried = list(together.values())
        each = flattened(comprehension)
        expression = (f"{writer.namer.name('flax.nnx.List')}(", source.span(comprehension.elt), ")")
        if each is not None:
            expression = (source.span(each),)
    _as_loop(writer, source, comprehension, carried, expression)


def _as_loop(
    writer: ClassWriter, source: SourceFile, comprehension: ast.ListComp, carried: Carried, expression: Parts
) -> None:
    """A list that each pass appends an item to, `expression`, with the sizes that it keeps."""
    if comprehension in writer.listed:
        return
    writer.listed.add(comprehension)
    statement = source.statement_of(comprehension)
    outer = _listed_around(source, comprehension)
    if outer is not None and not any(
        loop is not None and loop.node is outer.generators[0] for loop in map(writer.run.along.get, _kept(writer.run))
    ):
        raise Unmigratable("NNX114", "input sizes that change along lists of lists cannot be followed", comprehension)
    generator = comprehension.generators[0]
    function = source.function_of(comprehension)
    leaked = stored_names(generator.target) & free_reads(function, comprehension) if function is not None else frozenset()
    if leaked:  # the comprehension kept it to itself
        reason = f"a list whose input sizes change becomes a loop, and `{min(leaked)}` has another meaning after it"
        raise Unmigratable("NNX114", reason, comprehension)
    unit, newline = source.indent_unit, source.newline
    indent = source.indent_of(statement) + (unit if outer is not None else "")
    assigned = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is comprehension else None
    whole = assigned is not None
    target = source.span(assigned) if assigned is not None else writer.fresh("layers")
    parts: list[Part] = [target, f" = {writer.namer.name('flax.nnx.List')}()" if whole else " = []", newline]
    for tracker, first, _ in carried:
        parts += [f"{indent}{tracker} = {writer.text.dim(first)}", newline]
    parts += [f"{indent}for ", source.span(generator.target), " in ", source.span(generator.iter), ":", newline]
    for lines in writer.inner_loops.pop(comprehension, []):
        parts += [f"{indent}{unit}", *lines, newline]
    adds = ".append(" if flattened(comprehension) is None else ".extend("
    parts += [f"{indent}{unit}", target, adds, *writer.laid_out(expression, indent + unit), ")"]
    for tracker, _, following in carried:
        parts += [newline, f"{indent}{unit}{tracker} = {writer.text.dim(following)}"]
    if whole:
        writer.put(statement, *parts, source=source)
    else:
        if outer is not None:
            writer.inner_loops.setdefault(outer, []).append(parts)
        else:
            writer.insert(source.span(statement).start, *parts, newline, indent, source=source)
        holder = source.parents.get(comprehension)
        appended = isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute) and holder.func.attr == "append"
        alone = not (appended or isinstance(holder, ast.Tuple | ast.List | ast.Dict | ast.ListComp))
        made: Parts = (target,) if alone else (f"{writer.namer.name('flax.nnx.List')}(", target, ")")
        writer.put(comprehension, *made, source=source)


def check_time(run: Execution, site: Site) -> None:
    """What a size says of a number of setup's, it says of the number as the last loop or condition left it."""
    setup = run.model.method("setup")
    if setup is None or not site.in_own_words(setup.source) or site.call is None:
        return
    given = [*site.call.args, *site.call.keywords.values()]
    passes = {name for loop in site.loops for name in names_in(loop.target)} | {site.renders.get("pass_name")}
    for name in frozenset().union(*[dependencies_of(value) for value in given]) - passes:
        stores = [n for n in setup.nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
        around = set(site.source.ancestors(site.node))
        settled, plain = 0, 0
        for store in stores:
            blocks = [a for a in site.source.ancestors(store) if isinstance(a, _BLOCKS) and a not in around]
            ends = [block.end_lineno or 0 for block in blocks]
            if max([*ends, store.lineno]) >= site.node.lineno or site.source.statement_of(store) in around:
                continue
            settled, plain = max([settled, *ends]), max(plain, 0 if blocks else store.lineno)
        if plain > settled and (settled or any(isinstance(a, ast.For) for a in around)):
            raise Unmigratable("NNX114", f"setup changes `{name}`, in which sizes of its modules are said", site.node)


_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try)


def _end_of_pass(source: SourceFile, loop: ast.For, following: Dim) -> tuple[int | None, int]:
    """Where a pass knows a size for the next one, and where it ends.

    None: its end will do. Otherwise the pass changes what the size is said in, and it has to be kept before that.
    """
    read = {str(name) for name in following.dependencies()}
    end = source.line_span(loop.body[-1]).end
    changing = [part for part in loop.body if read & stored_names(part)]
    return (source.line_span(changing[0]).start if changing else None), end


def _loop(writer: ClassWriter, site: Site, loop: ast.For, carried: Carried, expression: Parts) -> None:
    """The loop that appends the modules: the sizes are set before it and at the end of its body."""
    source, call = site.anchor()
    writer.put(call, *expression, source=source)
    _passes(writer, source, loop, carried)


def _passes(writer: ClassWriter, source: SourceFile, loop: ast.For, carried: Carried) -> None:
    """The lines that keep sizes before a loop and in its passes."""
    indent, inner, newline = source.indent_of(loop), source.indent_of(loop.body[0]), source.newline
    for tracker, first, following in carried:
        if (loop, tracker) in writer.carried:  # two modules of one iteration
            continue
        writer.carried.add((loop, tracker))
        before = source.line_span(loop).start
        known, after = _end_of_pass(source, loop, following)
        writer.insert(before, f"{indent}{tracker} = {writer.text.dim(first)}{newline}", source=source)
        said = writer.text.dim(following)
        if known is not None:
            kept = writer.fresh(f"next_{tracker}")
            writer.insert(known, f"{inner}{kept} = {said}{newline}", source=source)
            said = kept
        writer.insert(after, f"{inner}{tracker} = {said}{newline}", source=source)
