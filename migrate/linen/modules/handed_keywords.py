"""Keywords that a class gives on, all of them, to a module that it is handed: `self.fn(nn.LayerNorm()(x), **kwargs)`.

What they hold is known where the class is called: `PreNorm(Attention(8))(x, context=c)` gives Attention its `context`,
and `PreNorm(Attention(8))(x)` gives it none.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from typing import Any

from ...trees import subtree
from ..values.arguments import Arguments
from ..values.sites import CallRecord, Site, Unmigratable
from ..values.values import Array

FROM_CALLER = "keywords_of_the_caller"  # of a module: the parameters, and "**" for the rest, that such keywords may give
_OPEN = "open_call"  # of a module: it was given `**something`, of which no more is known


def note(run: Any, site: Site, arguments: Arguments, unsaid: list[str], takes_more: bool) -> None:
    """Remember which arguments of a call are those that the class itself was given by name, if any."""
    stars = [node for name, node, _ in arguments.keywords if name is None]
    entry = run.model.method("__call__")
    own = len(stars) == 1 and not any(isinstance(node, ast.Starred) for node, _ in arguments.positional)
    if own and entry is not None and stars[0] in _given_on(entry.node):
        site.renders[FROM_CALLER] = frozenset([*unsaid, *(["**"] if takes_more else [])])
    site.renders[_OPEN] = True


@functools.lru_cache(maxsize=1024)
def _given_on(function: ast.FunctionDef) -> frozenset[ast.expr]:
    """Where a function gives all its keywords on; nothing where it does anything else with them."""
    name = function.args.kwarg.arg if function.args.kwarg is not None else ""
    nodes = subtree(function)
    found = frozenset(k.value for k in nodes if isinstance(k, ast.keyword) and k.arg is None)
    within = [n.args for n in nodes if isinstance(n, ast.FunctionDef | ast.Lambda) and n is not function]
    inner = {a.arg for arguments in within for a in subtree(arguments) if isinstance(a, ast.arg)}
    uses = {n for n in nodes if isinstance(n, ast.Name) and n.id == name}
    return frozenset(uses) if uses <= found and name not in inner else frozenset()


@dataclasses.dataclass(frozen=True)
class Caller:
    """A call of the class that hands on: its site and method, and what it was given there."""

    site: Site
    method: Any
    record: CallRecord

    def given_on(self, run: Any, given: Site, held: Site, call: CallRecord) -> CallRecord:
        """The call of a module that was handed to the class, in which its keywords are those of this call.

        `held`: the module as the class sees it, which calls it so.
        """
        names: frozenset[str] = held.renders.get(FROM_CALLER, frozenset())
        if not names or len(held.calls) != 1 or self.site.renders.get(_OPEN) or given.kind != "class":
            return call
        if self.method is None or self.method.name != "__call__":
            return call
        own = {p.arg for p in self.method.parameters}
        rest = {name: value for name, value in self.record.keywords.items() if name not in own}
        optional = run.analyser.execution(given.target).optional_arguments
        keywords = {k: v for k, v in call.keywords.items() if k not in names & optional}
        keywords |= {k: v for k, v in rest.items() if k in names & optional}
        if "**" in names:
            keywords |= {k: v for k, v in rest.items() if k not in call.keywords}
        return CallRecord(call.args, keywords)


def check_again(given: Site, call: CallRecord) -> None:
    """Refuse a further call that gives arrays where the first gave none: the constructor makes the module once."""
    assert given.call is not None
    both = [{name for name, value in one.keywords.items() if isinstance(value, Array)} for one in (given.call, call)]
    uneven = both[0] ^ both[1]
    if uneven:
        name = given.target.rpartition(".")[2]
        reason = f"some calls of {name} give it `{min(uneven)}` and others do not, by conditions that cannot be told apart"
        raise Unmigratable("NNX132", reason, given.node)


__all__ = ["Caller", "check_again", "note"]
