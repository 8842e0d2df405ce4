"""Canonical form of jaxprs: every output as a term whose identity is the computation that makes it.

Two programs whose outputs are the same terms compute the same function of their labelled inputs. The converse does not
hold: what no rule here relates stays different, and is then compared by running it.

Every rule that identifies two different programs is a function of `rules.py` or `loops.py`, or a method here, whose
docstring says why the two are equal. Calls (`jit`, `closed_call`, `custom_jvp_call`, `custom_vjp_call`) are
inlined: their
value is that of the function called. What a custom derivative rule says is not seen in a forward program; it is
compared
where the gradient is traced, which a proof therefore always does too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.extend.core
import numpy as np

from . import folding, loops, randomness, rules
from .freeze import array_key, freeze, says_nothing, sharding_key
from .terms import COMMUTATIVE, CONST, DATA, RNG, Terms

Literal = jax.extend.core.Literal
ClosedJaxpr = jax.extend.core.ClosedJaxpr
Jaxpr = jax.extend.core.Jaxpr
Aval = tuple[tuple[int, ...], str]

INLINED = frozenset(
    {
        "jit",
        "pjit",
        "closed_call",
        "core_call",
        "core_closed_call",
        "custom_jvp_call",
        "custom_vjp_call",
        "custom_vjp_call_jaxpr",
    }
)
REMAT = frozenset({"checkpoint", "remat", "remat2"})
#: Parameters that say how a program is run or what it is called, never what it computes.
IGNORED = frozenset({"weak_type", "debug_info", "name_and_src_info"})


@dataclasses.dataclass(frozen=True)
class Switches:
    """What is looked at beside the values.

    Attributes:
        remat: rematerialisation and its policies.
        constraints: sharding constraints, also those of nested jits.
    """

    remat: bool = True
    constraints: bool = True


class Canonicaliser:
    """Builds terms from jaxprs. One for each side, both over the same `Terms`."""

    def __init__(self, terms: Terms, switches: Switches = Switches()) -> None:
        self.terms = terms
        self.switches = switches
        self.declared: dict[int, Hashable] = {}  # input term → its declared sharding, whose constraint says nothing new

    # programs --------------------------------------------------------------------------------------------------
    def program(self, closed: Any, inputs: Sequence[int]) -> list[int]:
        """Terms of the outputs of a closed jaxpr whose inputs are the terms `inputs`."""
        return self.run(prune(closed), inputs, 0)

    def input(self, label: Hashable, aval: Aval, *, root: bool = False) -> int:
        """An input of the program. `root`: it is random state, from which keys are derived."""
        return self.terms.make("input", label, (), aval, purity=RNG if root else DATA)

    def run(self, closed: Any, inputs: Sequence[int], depth: int) -> list[int]:
        """Evaluate a jaxpr over terms. `depth` counts the enclosing loops."""
        jaxpr, consts = (closed.jaxpr, closed.consts) if isinstance(closed, ClosedJaxpr) else (closed, ())
        environment: dict[Any, int] = {}
        for variable, value in zip(jaxpr.constvars, consts):
            environment[variable] = self.constant(value)
        for variable, term in zip(jaxpr.invars, inputs, strict=True):
            environment[variable] = term

        def read(atom: Any) -> int:
            return self.literal(atom) if isinstance(atom, Literal) else environment[atom]

        for equation in jaxpr.eqns:
            arguments = [read(v) for v in equation.invars]
            results = self.equation(equation, arguments, depth)
            for variable, term in zip(equation.outvars, results, strict=True):
                environment[variable] = term
                self.terms.note(term, equation.source_info)
        return [read(v) for v in jaxpr.outvars]

    def equation(self, equation: Any, arguments: list[int], depth: int) -> list[int]:
        """Terms of the results of one equation."""
        name, params = equation.primitive.name, equation.params
        avals = [aval_of(v.aval) for v in equation.outvars]
        draws = folding.drawn(equation, [self.terms.values.get(a) for a in arguments])
        if draws is not None:
            return [self.constant(value) for value in draws]
        if name in INLINED:
            return self._call(params, arguments, depth)
        if name == "scan":
            return loops.scan(self, params, arguments, avals, depth)
        if name == "while":
            return loops.while_loop(self, params, arguments, avals, depth)
        if name == "cond":
            return self._cond(params, arguments, avals, depth)
        if name in REMAT:
            return self._remat(params, arguments, depth)
        if name == "shard_map":
            return self._shard_map(params, arguments, avals, depth)
        if name == "sharding_constraint":
            return [self._constraint(arguments[0], params, avals[0])]
        values = folding.folded(equation, [self.terms.values.get(a) for a in arguments])
        if values is not None:
            return [self.constant(value) for value in values]
        if name in randomness.CONSUMERS:
            arguments = [randomness.abstract_key(self.terms, a) if i == 0 else a for i, a in enumerate(arguments)]
        rule = rules.RULES.get(name)
        if rule is not None:
            found = rule(self, params, arguments, avals)
            if found is not None:
                return found
        return self.opaque(name, self.freeze_params(params, depth), arguments, avals)

    def opaque(self, name: str, params: Hashable, arguments: Sequence[int], avals: Sequence[Aval]) -> list[int]:
        """An operation no rule knows more about: equal to itself on the same arguments with the same parameters."""
        if name in COMMUTATIVE:
            arguments = sorted(arguments, key=self.terms.order)
        purity = None
        if name == "random_wrap" and self.terms[arguments[0]].op == "input":
            purity = RNG  # an old-style uint32 key given as an input is a root
        if len(avals) == 1:
            return [self.terms.make(name, params, arguments, avals[0], purity=purity)]
        whole = self.terms.make(name, params, arguments, None, purity=purity)
        return [self.terms.make("get", i, (whole,), aval) for i, aval in enumerate(avals)]

    # leaves ----------------------------------------------------------------------------------------------------
    def literal(self, atom: Any) -> int:
        """A literal of a jaxpr, with the dtype that the equation gives it."""
        dtype = aval_of(atom.aval)[1]
        return self.constant(np.asarray(atom.val, np.dtype(dtype)) if _plain(dtype) else atom.val)

    def constant(self, value: Any) -> int:
        """A concrete array. One that holds a single value throughout is the broadcast of a scalar, which it equals."""
        dtype = getattr(value, "dtype", None)
        if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
            key = self.terms.make("constant", array_key(value), (), (tuple(value.shape), str(dtype)))
            self.terms.values[key] = value
            return key
        array = np.asarray(value)
        aval = (tuple(array.shape), str(array.dtype))
        if array.ndim and array.size:
            first = array.reshape(-1)[:1]
            if array.tobytes() == first.tobytes() * array.size:
                scalar = self.constant(first.reshape(()))
                term = rules.broadcast(self, scalar, aval[0], ())
                self.terms.values[term] = np.broadcast_to(first.reshape(()), aval[0])
                return term
        term = self.terms.make("constant", array_key(array), (), aval)
        if array.size <= folding.LIMIT:
            self.terms.values[term] = array
        return term

    # parameters ------------------------------------------------------------------------------------------------
    def freeze_params(self, params: dict[str, Any], depth: int, leave_out: frozenset[str] = frozenset()) -> Hashable:
        """All parameters of an equation but those that only name it."""

        def nested(jaxpr: Any) -> Hashable:
            return self.closed(jaxpr, depth + 1)

        if "jaxpr" in params:  # of a reduction, which has the function that this was traced from, too
            leave_out |= {"computation"}
        return tuple(
            (key, None if key.endswith("sharding") and says_nothing(value) else freeze(value, nested))
            for key, value in sorted(params.items())
            if key not in IGNORED and key not in leave_out
        )

    def closed(self, jaxpr: Any, depth: int) -> tuple[int, ...]:
        """Canonical form of a nested program that takes its inputs by position."""
        closed = prune(jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ()))
        inner = closed.jaxpr
        inputs = [
            self.terms.make("parameter", (depth, i), (), aval_of(v.aval), purity=DATA) for i, v in enumerate(inner.invars)
        ]
        return tuple(self.run(closed, inputs, depth))

    # structured operations -------------------------------------------------------------------------------------
    def _call(self, params: dict[str, Any], arguments: list[int], depth: int) -> list[int]:
        """A call is its callee's value. Shardings that a nested jit states constrain its inputs and outputs."""
        body = next(params[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in params)
        if self.switches.constraints and "in_shardings" in params:
            arguments = [self._stated(a, s) for a, s in zip(arguments, params["in_shardings"])]
        results = self.run(body, arguments, depth)
        if self.switches.constraints and "out_shardings" in params:
            results = [self._stated(r, s) for r, s in zip(results, params["out_shardings"])]
        return results

    def _stated(self, term: int, sharding: Any) -> int:
        if not isinstance(sharding, jax.sharding.Sharding):
            return term  # left to the compiler
        return self._constrain(term, (sharding_key(sharding), None, frozenset()))

    def _constraint(self, term: int, params: dict[str, Any], aval: Aval) -> int:
        """A sharding constraint: the identity on values, kept because where arrays lie is compared too.

        The same constraint twice in a row is one; on an input that was declared to lie so already it says nothing.
        """
        if not self.switches.constraints:
            return term
        key = (
            sharding_key(params["sharding"]),
            params.get("layout"),
            frozenset(params.get("unconstrained_dims") or ()),
        )
        return self._constrain(term, key)

    def _constrain(self, term: int, key: Hashable) -> int:
        node = self.terms[term]
        if (node.op == "constraint" and node.params == key) or self.declared.get(term) == key:
            return term
        return self.terms.make("constraint", key, (term,), node.aval)

    def _cond(self, params: dict[str, Any], arguments: list[int], avals: Sequence[Aval], depth: int) -> list[int]:
        """A choice between pure branches, output by output.

        Branches read the operands directly: a branch has no effect but its value. Where all branches agree the
        choice does not matter; a constant index (clamped as the primitive does) takes its branch.
        """
        index, operands = arguments[0], arguments[1:]
        branches = [self.run(b, operands, depth) for b in params["branches"]]
        chosen = rules.scalar_value(self, index)
        if chosen is not None:
            return branches[int(np.clip(int(chosen), 0, len(branches) - 1))]
        results = []
        for values, aval in zip(zip(*branches), avals):
            same = len(set(values)) == 1
            results.append(values[0] if same else self.terms.make("cond", None, (index, *values), aval))
        return results

    def _remat(self, params: dict[str, Any], arguments: list[int], depth: int) -> list[int]:
        """Rematerialisation: the body's values. Marked on each result, since what is saved is part of what was written.

        `differentiated` and `static_argnums` say how it was traced. With `switches.remat` off the mark is left out:
        it changes memory and time, never values.
        """
        results = self.run(params["jaxpr"], arguments, depth)
        if not self.switches.remat:
            return results
        mark = self.freeze_params({k: params.get(k) for k in ("policy", "prevent_cse")}, depth)
        given = set(arguments)
        return [r if r in given else self.terms.make("remat", mark, (r,), self.terms[r].aval) for r in results]

    def _shard_map(self, params: dict[str, Any], arguments: list[int], avals: Sequence[Aval], depth: int) -> list[int]:
        """Each result of a per-device program: its body over the local parts of the arguments.

        A local part is a node of its own (mesh, spec, global value), so no local value is taken for a global one, and
        the order of the arguments does not matter. Constants inside hold the same value on every device, as they do
        outside.
        """
        mesh, axes = params["mesh"], params.get("manual_axes")
        where = (tuple(mesh.shape.items()), frozenset(axes) if axes is not None else None)
        body = params["jaxpr"]
        inner = body.jaxpr if isinstance(body, ClosedJaxpr) else body
        local = [
            self.terms.make("local", (where, sharding_spec(spec)), (a,), aval_of(v.aval))
            for a, spec, v in zip(arguments, params["in_specs"], inner.invars)
        ]
        results = self.run(body, local, depth)
        other = self.freeze_params(params, depth, frozenset({"jaxpr", "mesh", "manual_axes", "in_specs", "out_specs"}))
        return [
            self.terms.make("shard_map", (where, sharding_spec(spec), other), (r,), aval)
            for r, spec, aval in zip(results, params["out_specs"], avals)
        ]


def prune(closed: Any) -> Any:
    """The program without the equations that no output needs, loops' unused carries included (jax's own pass)."""
    from jax._src.interpreters import partial_eval

    jaxpr = closed.jaxpr
    small, _ = partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    return ClosedJaxpr(small, closed.consts) if len(small.constvars) == len(jaxpr.constvars) else closed


def aval_of(aval: Any) -> Aval:
    """Shape and dtype; weak types are dropped, since they only steer promotions, which a jaxpr spells out."""
    return (tuple(getattr(aval, "shape", ())), str(getattr(aval, "dtype", type(aval).__name__)))


def sharding_spec(spec: Any) -> Hashable:
    """A spec of a shard_map as a hashable."""
    from .freeze import spec_key

    return spec_key(spec) if isinstance(spec, jax.sharding.PartitionSpec) else freeze(spec, lambda j: id(j))


def _plain(dtype: str) -> bool:
    return not dtype.startswith("key") and "float0" not in dtype  # `str` of that one is `[('float0', 'V')]`


__all__ = ["CONST", "Canonicaliser", "Switches", "aval_of", "prune"]
