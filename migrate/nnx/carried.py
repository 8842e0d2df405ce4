"""Lists of modules made in `setup` whose input sizes follow from one to the next: `x = layer(x)` over `self.layers`.

The loop that makes the list gets the sizes that the loop of the call would go through: a variable before it, used by the
constructor, and set to the next size at the end of every iteration.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..edits import Part, Parts
from ..linen.arguments import stored_names
from ..linen.dims import Dim
from ..linen.execute import Execution
from ..linen.late_makes import names_in
from ..linen.loop_names import free_reads, function_of
from ..linen.merging import dependencies_of
from ..linen.sites import Site, Unmigratable
from ..linen.values import Array
from ..source import SourceFile

if TYPE_CHECKING:
    from .class_text import ClassText
    from .class_write import ClassWriter

Carried = Sequence[tuple[str, Dim, Dim]]  # variable, its first value, its next value


def write(writer: ClassWriter, site: Site, carried: Carried, expression: Parts) -> None:
    """The edits of one site of such a list."""
    known = available(writer.run, site) | {tracker for tracker, _, _ in carried}
    told = writer.run.trackers | writer.run.width_names
    parts = [s for s in writer.run.sites if s.item_of() is site.item_of() and s in writer.text.built]
    if any(writer.text.built[part][1] & told - known for part in parts):
        raise Unmigratable("NNX114", "a size of setup depends on what a loop of the call takes from a list", site.node)
    for _, first, following in carried:
        if (first.dependencies() | following.dependencies()) & told - known:
            raise Unmigratable("NNX114", "a size of setup depends on a branch or loop of the call", site.node)
    loop = loop_of(site)
    if isinstance(loop, ast.ListComp):
        _comprehension(writer, site, loop, carried, expression)
    elif loop is not None:
        _loop(writer, site, loop, carried, expression)
    else:
        raise Unmigratable("NNX114", "input sizes that change along a list of modules cannot be followed", site.node)


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
            items = node.elt.elts if isinstance(node.elt, ast.Tuple | ast.List) else [node.elt]
            plain = len(node.generators) == 1 and not node.generators[0].ifs and call in items
            whole = isinstance(statement, ast.Assign) and statement.value is node
            return node if plain and (whole or _may_stand_before(source, node)) else None
        if isinstance(node, ast.For):
            leaves = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in ast.walk(node))
            top = isinstance(source.parents.get(node), ast.FunctionDef)
            return node if top and not leaves and not node.orelse and len(site.loops) == 1 else None
        if isinstance(node, ast.If | ast.IfExp | ast.FunctionDef | ast.Lambda | ast.While | ast.Try | ast.BoolOp):
            return None
    return None


def _may_stand_before(source: SourceFile, node: ast.ListComp) -> bool:
    """Is a list always made, once, by its statement: as an argument, `self.mlp = nn.Sequential([... for ...])`?"""
    below: ast.AST = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.Assign | ast.Return):
            return below is parent.value
        if not isinstance(parent, ast.Call | ast.keyword | ast.List | ast.Tuple | ast.Dict | ast.BinOp | ast.Starred):
            return False
        below = parent
    return False


def available(run: Execution, site: Site) -> set[str]:
    """The variables of this kind that stand in setup before a site, after the loops that set them."""
    found: set[str] = set()
    for other, carried in run.carried.items():
        loop = loop_of(other)
        if loop is not None and other.anchor()[0] is site.anchor()[0]:
            if (loop.end_lineno or 0) < site.anchor()[1].lineno or _is_joined_behind(site, loop):
                found |= {tracker for tracker, _, _ in carried}
    return found


def _is_joined_behind(site: Site, loop: ast.ListComp | ast.For) -> bool:
    """`[nn.Dense(f) for f in self.widths] + [nn.Dense(5)]`: the loop of the first list goes before the statement."""
    source, call = site.anchor()
    if not isinstance(loop, ast.ListComp) or source.statement_of(loop) is not source.statement_of(call):
        return False
    return (loop.end_lineno or 0, loop.end_col_offset or 0) <= (call.lineno, call.col_offset)


def check_passes(run: Execution, site: Site, needs: set[str]) -> None:
    """A module of setup may take the sizes of one pass of a loop in that loop only."""
    if not site.in_setup or site.call is None:
        return
    others = {name for s in run.sites if s.in_setup for loop in s.loops for name in names_in(loop.target)}
    own = {name for loop in site.loops for name in names_in(loop.target)} | {site.renders.get("pass_name")}
    foreign = needs & others - own
    if any(dependencies_of(value) & foreign for value in [*site.call.args, *site.call.keywords.values()]):
        raise Unmigratable("NNX114", "a size of setup depends on which item of a list is called", site.node)


def followed(run: Execution) -> set[str]:
    """The variables of this kind that hold, when setup is done, what the size is after the loop of the call."""
    setup = run.model.method("setup")
    own = [s for s in run.carried if setup is not None and function_of(*s.anchor()) is setup.node]  # not a helper's
    return {tracker for site in own if not site.conditions for tracker, _, _ in run.carried[site]}


def _comprehension(
    writer: ClassWriter, site: Site, comprehension: ast.ListComp, carried: Carried, expression: Parts
) -> None:
    """`self.layers = [Dense(f) for f in ...]` becomes a loop."""
    source, call = site.anchor()
    statement = source.statement_of(comprehension)
    if comprehension.elt is not call:  # one of several in each item
        writer.put(call, *writer.laid_out(expression, source.indent_of(statement)), source=source)
        if comprehension in writer.listed:
            return
        writer.listed.add(comprehension)
        inside = [s for s in writer.run.carried if loop_of(s) is comprehension]
        together = {size[0]: size for s in inside for size in writer.run.carried[s]}
        carried = list(together.values())
        expression = (f"{writer.namer.name('flax.nnx.List')}(", source.span(comprehension.elt), ")")
    generator = comprehension.generators[0]
    function = function_of(source, comprehension)
    leaked = stored_names(generator.target) & free_reads(function, comprehension) if function is not None else frozenset()
    if leaked:  # the comprehension kept it to itself
        reason = f"a list whose input sizes change becomes a loop, and `{min(leaked)}` has another meaning after it"
        raise Unmigratable("NNX114", reason, comprehension)
    indent, unit, newline = source.indent_of(statement), source.indent_unit, source.newline
    assigned = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is comprehension else None
    whole = assigned is not None
    target = source.span(assigned) if assigned is not None else writer.fresh("layers")
    parts: list[Part] = [target, f" = {writer.namer.name('flax.nnx.List')}()" if whole else " = []", newline]
    for tracker, first, _ in carried:
        parts += [f"{indent}{tracker} = {writer.text.dim(first)}", newline]
    parts += [f"{indent}for ", source.span(generator.target), " in ", source.span(generator.iter), ":", newline]
    parts += [f"{indent}{unit}", target, ".append(", *writer.laid_out(expression, indent + unit), ")"]
    for tracker, _, following in carried:
        parts += [newline, f"{indent}{unit}{tracker} = {writer.text.dim(following)}"]
    if whole:
        writer.put(statement, *parts, source=source)
    else:
        writer.insert(source.span(statement).start, *parts, newline, indent, source=source)
        alone = not isinstance(source.parents.get(comprehension), ast.Tuple | ast.List | ast.Dict)
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
    writer.put(call, *writer.laid_out(expression, source.indent_of(source.statement_of(call))), source=source)
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
