"""Numbers of dimensions that were taken for granted: which ones, and the lines by which a constructor checks them.

Sizes such as `in_shape[-2]` are right for one rank only. Where that rank was guessed, another one must fail where the
model is made, not give a model of other sizes.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.execution import side_ranks
from ...linen.modules.rank_readers import reads_rank
from ...linen.values.dims import Dim
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Array, Shape, Tup

if TYPE_CHECKING:
    from ...edits import Parts
    from ...linen.execution.analyser import Analyser
    from .class_text import ClassText


class OtherRank(Exception):
    """A class was taken to have another number of dimensions of an argument than a call of it in the project shows."""

    def __init__(self, target: str, argument: str, rank: int) -> None:
        super().__init__(target)
        self.target, self.argument, self.rank = target, argument, rank

    def learn(self, analyser: Analyser) -> None:
        """What the call shows is taken instead."""
        analyser.forget(self.target, analyser.assumed.get(self.target, {}).copy())
        analyser.called.setdefault(self.target, {})[self.argument] = self.rank
        analyser.again(self.target)


def guessed(analyser: Analyser, name: str) -> dict[str, int]:
    """Argument → rank, where neither the class nor an example or a trace of the project shows it."""
    seen = analyser.seen.get(name, {})
    told = {**analyser.window_ranks.get(name, {}), **analyser.assumed.get(name, {})}
    return {a: rank for a, rank in told.items() if seen.get(a) != rank}


def lines(text: ClassText) -> list[Parts]:
    """Statements of the constructor that raise for another rank than the one guessed."""
    ranks = guessed(text.analyser, text.model.qualname)
    out: list[Parts] = []
    for added, argument, index in text.added():
        if argument not in ranks or index == -1 or added.whole:
            continue
        given = f"{added.name} is not None and " if added.origin.startswith("None if") else ""
        out.append((f"if {given}len({added.name}) != {ranks[argument]}:",))
        message = f"`{added.name}` must have {ranks[argument]} dimensions"
        out.append((text.source.indent_unit, f'raise ValueError(f"{message}: {{{added.name}}}")'))
    return out


def checked(text: ClassText, argument: str) -> bool:
    """Is the constructor given more of the argument's shape than its last size, so that it can count the dimensions?"""
    return any(name == argument and index == "shape" for _, name, index in text.added())


def ask(text: ClassText) -> None:
    """Where a guessed rank decides what layers are given, the constructor is given whole shapes, and counts the dimensions.

    `kernel = (3,) * (x.ndim - 2)` of another rank is another layer, whose weights may fit all the same.
    """
    ranks = {a: r for a, r in guessed(text.analyser, text.model.qualname).items() if a in text.run.arguments}
    if not ranks or not any(reads_rank(site) for one in text.run.sites for site in (one, *one.alternatives)):
        return
    for argument in ranks:
        text.used.setdefault(argument, set()).add("shape")


def refuse_empty(text: ClassText) -> None:
    """Raises Unmigratable for a guess of a rank with which a convolution has no window left: it is not what is meant."""
    for site in text.run.sites if guessed(text.analyser, text.model.qualname) else ():
        window = site.bound.get("kernel_size") if site.kind == "layer" else None
        if window is not None and isinstance(window.abs.value, Tup) and not window.abs.value.items:
            raise Unmigratable("NNX113", "`kernel_size` is known only when the module is called", site.node)


def refuse_unknown(text: ClassText, site: Site, argument: str, shape: Shape) -> None:
    """A part that checks the rank of an input is given a whole shape, so the rank must be known here too.

    Raises Unmigratable, naming the arguments whose ranks would tell it; OtherRank for one that tells the part's.
    """
    ranks, name = guessed(text.analyser, site.target), site.target.rpartition(".")[2]
    if shape.rank is not None and ranks.get(argument, shape.rank) != shape.rank:
        if _is_guess(text, shape) or argument in text.analyser.called.get(site.target, {}):  # or two calls show two
            why = f"`{argument}` of {name} has {shape.rank} dimensions here, and is taken to have {ranks[argument]}"
            raise Unmigratable("NNX110", why, site.node)
        raise OtherRank(site.target, argument, shape.rank)
    if shape.rank is None and argument in ranks:
        error = Unmigratable("NNX110", f"the number of dimensions of `{argument}` for {name} is not known", site.node)
        error.wanted_ranks = wanted(text, shape)
        raise error


def _is_guess(text: ClassText, shape: Shape) -> bool:
    """Does the rank of a shape follow from one that this class was given at random: no call or condition shows it?"""
    analyser, name = text.analyser, text.model.qualname
    told = {**analyser.window_ranks.get(name, {}), **side_ranks.hints(analyser.side_ranks.get(name, {}))}
    own = guessed(analyser, name).keys() - {*told, *analyser.called.get(name, {})}
    atoms = (atom for dim in shape.dims if dim is not None for atom in dim.atoms())
    return any(atom.kind == "input" and atom.args[0] in own for atom in atoms)


def wanted(text: ClassText, shape: Shape) -> tuple[str, ...]:
    """The arguments whose numbers of dimensions would tell more of a shape."""
    return tuple(a for a in shape.needs() if a in text.run.arguments and a not in text.run.ranks)


def _reads_batch(text: ClassText) -> bool:
    """Is the first dimension of a guessed rank, a batch as a rule, read as a size? Another guess may be better."""
    used = text.used
    return any(-rank in used.get(argument, ()) for argument, rank in guessed(text.analyser, text.model.qualname).items())


def is_poor(text: ClassText) -> bool:
    """Is a guessed rank not what the code means, as it seems? Another guess may be better.

    With it a batch is read as a size, or the features are averaged away: `x.mean((1, 2), keepdims=True)` of an image,
    or only every second of them is taken: `x[:, 0::2, 1::2]`.
    """
    calls = [s.call for s in text.run.sites if s.kind == "layer" and s.call is not None and s.call.args]
    inputs = [call.args[0] for call in calls]
    averaged = any(isinstance(v, Array) and v.shape.dim(-1) == Dim.of(1) for v in inputs)
    return _reads_batch(text) or averaged or leaves_features_out(text)


def leaves_features_out(text: ClassText) -> bool:
    """Does a slice with a step, the last of an index, take only some features of what follows from a guessed rank?"""
    if not guessed(text.analyser, text.model.qualname):
        return False
    own = [node for method in text.model.methods().values() for node in method.nodes]
    return any(_steps_over_features(text, node) for node in (*own, *text.run.evaluated))


def _steps_over_features(text: ClassText, node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or not isinstance(node.value, ast.Name):
        return False
    items = [item for item in node.slice.elts if isinstance(item, ast.Slice)]
    if len(items) < len(node.slice.elts) or items[-1].step is None:
        return False
    held = text.run.evaluated.get(node.value)
    rank = held.value.shape.rank if held is not None and isinstance(held.value, Array) else None
    return (rank or guessed(text.analyser, text.model.qualname).get(node.value.id)) == len(items)


__all__ = [
    "OtherRank", "ask", "checked", "guessed", "is_poor", "leaves_features_out", "lines", "refuse_empty", "refuse_unknown",
]  # fmt: skip
