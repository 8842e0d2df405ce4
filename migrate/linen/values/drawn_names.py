"""Names of a compact method that hold what it draws, where parameters start from them.

    noise = jax.random.uniform(self.make_rng("params"), (self.width,))
    steps = self.param("steps", lambda *_: jnp.exp(noise))

The constructor draws, too, and says these statements for the sake of first values alone: all else that reads such a name
is the call's, which draws anew each time.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ...trees import subtree
from .sites import Abs, Localized, Site

_CARRY = "carry_init"  # what cells start from at each call


class DrawnNames:
    """What is known of them while a class is followed."""

    def __init__(self) -> None:
        self.held: set[tuple[ast.AST, str]] = set()  # method, name
        self.parameters: dict[tuple[ast.AST, str], Site] = {}  # those that hold a parameter, as it was made
        self.saying = False  # is what a parameter starts from being said?
        self.drawing = False  # or an assignment that draws for its sake?

    def first(self, run: Any, node: ast.expr, env: Any) -> Localized | None:
        """How the constructor says what a parameter starts from."""
        with self._said_for_it(drawing=False):
            said: Localized | None = run.localize(node, env)
        return said

    def assignment(self, run: Any, statement: ast.Assign, value: Abs, env: Any) -> Localized | None:
        """How the constructor says an assignment of what is drawn."""
        with self._said_for_it(drawing=True):
            said: Localized | None = run.localize_statement(statement, statement.value, value, env)
        return said

    def function(self, run: Any, node: ast.FunctionDef, env: Any) -> Localized | None:
        """How the constructor defines a function that reads what is drawn."""
        with self._said_for_it(drawing=False):
            said: Localized | None = run.localize_function(node, env)
        return said

    @contextlib.contextmanager
    def _said_for_it(self, drawing: bool) -> Iterator[None]:
        before = self.saying, self.drawing
        self.saying, self.drawing = True, drawing
        try:
            yield
        finally:
            self.saying, self.drawing = before


def is_first_value(target: str, name: str) -> bool:
    """Is an argument of a layer asked for nothing but what its parameters start from?"""
    return target.startswith("flax.linen.") and name.endswith("_init") and name != _CARRY


def is_held(run: Any, env: Any, name: str) -> bool:
    """Does the constructor have the name with a draw of its own?"""
    place = env.place_of(name)
    return place is not None and place.method is not None and (place.method.node, name) in run.drawn.held


def parameter(run: Any, env: Any, name: str) -> Site | None:
    """The parameter that a name of a compact method holds: others may start from what it starts from."""
    place = env.place_of(name)
    return run.drawn.parameters.get((place.method.node, name)) if place is not None and place.method is not None else None


def is_draw(run: Any, node: ast.AST) -> str:
    """The stream of a `self.make_rng('params')` that the constructor draws from; "" of anything else."""
    return stream_of(node) if run.drawn.drawing else ""


def stream_of(node: ast.AST) -> str:
    """`params` of `self.make_rng()`, `noise` of `self.make_rng('noise')`; "" for anything else."""
    func = node.func if isinstance(node, ast.Call) else None
    own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    if not own or func.attr != "make_rng" or not isinstance(node, ast.Call):  # type: ignore[union-attr]
        return ""
    given = [*node.args, *[k.value for k in node.keywords]]
    if not given:
        return "params"
    one = given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else ""
    return one if isinstance(one, str) and one.isidentifier() else ""


def forget(run: Any, names: set[str], env: Any) -> None:
    """The names are given another meaning."""
    if env.method is not None:
        run.drawn.held -= {(env.method.node, name) for name in names}
        for name in names:
            run.drawn.parameters.pop((env.method.node, name), None)


def drawn_first(node: ast.Call, after: int) -> dict[ast.AST, str]:
    """The random keys that a first value takes, in a lambda or as an argument, each with its stream."""
    places = [call for n in subtree(node) if isinstance(n, ast.Lambda) for call in subtree(n.body)]
    streams = {call: stream_of(call) for call in [*places, *node.args[after:]]}
    return {call: stream for call, stream in streams.items() if stream}


def drawn_by_constructor(run: Any, drawn: Mapping[ast.AST, str], mark: int, streams: set[str]) -> None:
    """The constructor draws these, and no call does."""
    if drawn:
        run.sites[mark:] = [s for s in run.sites[mark:] if s.node not in drawn]
        run.used_streams = streams


__all__ = [
    "DrawnNames", "drawn_by_constructor", "drawn_first", "forget", "is_draw", "is_first_value", "is_held", "parameter",
    "stream_of",
]  # fmt: skip
