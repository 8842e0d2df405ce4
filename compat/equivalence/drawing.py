"""Running two programs that draw random numbers on the same draws: Linen's own keys are handed to NNX.

The two sides derive their keys differently, so the same seed gives other masks, and comparing numbers would compare
noise. Here the Linen program is run step by step and the key of each draw is kept; then the NNX program is run likewise, and
where it draws it is given Linen's key of the same turn. That is possible where both draw equally often and the same shapes.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .randomness import CONSUMERS

#: Steps of a program that is run one by one.
LIMIT = 40_000


class CannotRun(Exception):
    """Draws that cannot be followed or matched; the message says why."""


class OtherDraws(CannotRun):
    """One side draws more random numbers than the other: no matter of keys."""


@dataclasses.dataclass(frozen=True)
class Draw:
    """One draw: its key, and what tells it from others."""

    key: Any
    kind: tuple[Any, ...]


def record(closed: Any, values: Sequence[Any]) -> tuple[list[Any], list[Draw]]:
    """Outputs of a program, and its draws in order. Raises CannotRun."""
    draws: list[Draw] = []

    def keep(key: Any, kind: tuple[Any, ...]) -> Any:
        draws.append(Draw(key, kind))
        return key

    return _Run(keep)(_without_dead_code(closed), values), draws


def replay(closed: Any, values: Sequence[Any], draws: Sequence[Draw]) -> list[Any]:
    """Outputs of a program that is given the keys of `draws`. Raises CannotRun where its draws are others."""
    at = 0

    def give(key: Any, kind: tuple[Any, ...]) -> Any:
        nonlocal at
        if at >= len(draws):
            raise CannotRun(f"NNX draws more often than Linen, which does so {len(draws)} times")
        draw = draws[at]
        at += 1
        if draw.kind != kind:
            raise CannotRun(f"draw {at} is {_kind_text(draw.kind)} in Linen and {_kind_text(kind)} in NNX")
        return draw.key

    outputs = _Run(give)(_without_dead_code(closed), values)
    if at != len(draws):
        raise CannotRun(f"Linen draws {len(draws)} times, NNX {at} times")
    return outputs


def handed_over(one: Any, values: Sequence[Any], other: Any, others: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Outputs of both programs, each draw of the other made with the key of the one's draw of the same turn."""
    outputs, drawn = record(one, values)
    return outputs, replay(other, others, drawn)


def alike(one: Any, values: Sequence[Any], other: Any, others: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Outputs of both programs where all draws of a kind are made with one key.

    Raises:
        CannotRun: the draws are of other kinds, as where one side draws a row at a time: the same distribution, perhaps,
            but no numbers that could be compared.
        OtherDraws: one side draws more, or the other program draws with keys that are the same at every call.
    """
    (a, drawn), (b, drawn_too) = by_kind(one, values), by_kind(other, others)
    amounts = [sum(math.prod(d.kind[1]) for d in found) for found in (drawn, drawn_too)]
    if amounts[0] != amounts[1]:
        raise OtherDraws(f"Linen draws {amounts[0]} random numbers here, NNX {amounts[1]}")
    fixed, fixed_too = fixed_draws(one, values), fixed_draws(other, others)
    if fixed_too > fixed:
        raise OtherDraws(f"{fixed_too - fixed} draws of NNX have a constant key: the same numbers at every call")
    kinds, kinds_too = (sorted(_kind_text(d.kind) for d in found) for found in (drawn, drawn_too))
    if len(kinds) != len(kinds_too):
        raise CannotRun(f"Linen draws {len(kinds)} times, NNX {len(kinds_too)} times")
    if kinds != kinds_too:
        mine, other_kind = next((x, y) for x, y in zip(kinds, kinds_too) if x != y)
        raise CannotRun(f"Linen draws {mine}, NNX {other_kind}")
    return a, b


def by_kind(closed: Any, values: Sequence[Any]) -> tuple[list[Any], list[Draw]]:
    """Outputs where draws of one kind all have one key, so that it does not matter which is which; and the draws."""
    draws: list[Draw] = []

    def give(key: Any, kind: tuple[Any, ...]) -> Any:
        draws.append(Draw(None, kind))
        seeded = jax.random.key(zlib.crc32(repr(kind).encode()) % (1 << 31), impl=jax.random.key_impl(key))
        return jax.random.split(seeded, jnp.shape(key)) if jnp.shape(key) else seeded

    return _Run(give)(_without_dead_code(closed), values), draws


def fixed_draws(closed: Any, values: Sequence[Any]) -> int:
    """How many draws have a key that does not follow from the keys among the program's inputs."""
    at = [i for i, v in enumerate(values) if jax.dtypes.issubdtype(jnp.asarray(v).dtype, jax.dtypes.prng_key)]
    if not at:
        return len(record(closed, values)[1])
    changed = list(values)
    for i in at:
        changed[i] = jax.random.split(values[i], (*values[i].shape, 2))[..., 1]
    before, after = (record(closed, given)[1] for given in (values, changed))
    if len(before) != len(after):
        return 0  # how much is drawn depends on what was drawn
    return sum(_bits(a.key) == _bits(b.key) for a, b in zip(before, after))


def _bits(key: Any) -> bytes:
    typed = jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(key) if typed else key).tobytes()


def draws_at_all(closed: Any) -> bool:
    """Does a program draw anything that its outputs depend on?"""
    return has_draws(_without_dead_code(closed).jaxpr)


def has_draws(jaxpr: Any) -> bool:
    """Does a jaxpr draw, at any depth?"""
    for equation in jaxpr.eqns:
        if equation.primitive.name in CONSUMERS:
            return True
        if any(has_draws(inner) for inner in bodies(equation)):
            return True
    return False


def bodies(equation: Any) -> list[Any]:
    found = []
    for value in equation.params.values():
        for one in value if isinstance(value, (tuple, list)) else (value,):
            jaxpr = getattr(one, "jaxpr", one)
            if hasattr(jaxpr, "eqns"):
                found.append(jaxpr)
    return found


def _without_dead_code(closed: Any) -> Any:
    from jax._src.interpreters import partial_eval

    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return jax.extend.core.ClosedJaxpr(jaxpr, closed.consts)


def _kind_text(kind: tuple[Any, ...]) -> str:
    keys = f" with {math.prod(kind[3])} keys" if kind[3] else ""
    return f"{kind[0]} of shape {list(kind[1])}{keys}"


class _Run:
    """Evaluates a jaxpr one equation at a time wherever something is drawn within, else as it stands."""

    def __init__(self, on_draw: Callable[[Any, tuple[Any, ...]], Any]) -> None:
        self.on_draw = on_draw
        self.steps = 0

    def __call__(self, closed: Any, values: Sequence[Any]) -> list[Any]:
        return self.run(closed.jaxpr, closed.consts, values)

    def run(self, jaxpr: Any, consts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts))
        known.update(zip(jaxpr.invars, values))

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, jax.extend.core.Literal) else known[variable]

        for equation in jaxpr.eqns:
            self.steps += 1
            if self.steps > LIMIT:
                raise CannotRun("the program is too long to be run step by step")
            outputs = self.step(equation, [read(v) for v in equation.invars])
            known.update(zip(equation.outvars, outputs))
        return [read(v) for v in jaxpr.outvars]

    def step(self, equation: Any, operands: list[Any]) -> Sequence[Any]:
        name, params = equation.primitive.name, equation.params
        if name in CONSUMERS:
            shape = tuple(equation.outvars[0].aval.shape)
            kind = (name, shape, str(equation.outvars[0].aval.dtype), tuple(jnp.shape(operands[0])))
            operands = [self.on_draw(operands[0], kind), *operands[1:]]
            return self.bind(equation, operands)
        if not any(has_draws(inner) for inner in bodies(equation)):
            return self.bind(equation, operands)
        if name == "scan":
            return self.scan(params, operands)
        if name == "while":
            return self.loop(params, operands)
        if name == "cond":
            index = int(operands[0])
            branch = params["branches"][max(0, min(index, len(params["branches"]) - 1))]
            return self(branch, operands[1:])
        inner = params.get("jaxpr") or params.get("call_jaxpr") or params.get("fun_jaxpr")
        if inner is None or name in ("shard_map", "pmap", "xla_pmap"):
            raise CannotRun(f"random numbers are drawn within `{name}`")
        if hasattr(inner, "jaxpr"):
            return self(inner, operands)
        return self.run(inner, (), operands)

    def bind(self, equation: Any, operands: list[Any]) -> Sequence[Any]:
        found = equation.primitive.get_bind_params(equation.params)
        functions, params = ((), found) if isinstance(found, dict) else found  # jax before 0.10 gave both
        out: Any = equation.primitive.bind(*functions, *operands, **params)
        return out if equation.primitive.multiple_results else [out]

    def scan(self, params: Any, operands: list[Any]) -> Sequence[Any]:
        consts, count = params["num_consts"], params["num_carry"]
        fixed, carry, mapped = operands[:consts], operands[consts : consts + count], operands[consts + count :]
        length, collected = params["length"], []
        order = range(length - 1, -1, -1) if params["reverse"] else range(length)
        for i in order:
            out = self(params["jaxpr"], [*fixed, *carry, *(x[i] for x in mapped)])
            carry = list(out[:count])
            collected.append(out[count:])
        if params["reverse"]:
            collected.reverse()
        return [*carry, *(jnp.stack(column) for column in zip(*collected))]

    def loop(self, params: Any, operands: list[Any]) -> Sequence[Any]:
        test, body = params["cond_nconsts"], params["body_nconsts"]
        carry = operands[test + body :]
        while bool(self(params["cond_jaxpr"], [*operands[:test], *carry])[0]):
            carry = list(self(params["body_jaxpr"], [*operands[test : test + body], *carry]))
        return carry


__all__ = ["CannotRun", "Draw", "OtherDraws", "alike", "by_kind", "draws_at_all", "handed_over", "record", "replay"]
