"""Proofs: are two programs equal for every input of these shapes? Nothing is run; shapes are all that is needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.extend.core

from .canonical import Canonicaliser, Switches, aval_of
from .compare import Divergence, Matching, Place, first_divergence, label_text
from .freeze import sharding_key
from .terms import RNG, Terms

Label = Any  # hashable; tuples of names here
Labeller = Callable[[tuple[Any, ...]], Label | None]


@dataclasses.dataclass
class Program:
    """A traced function with names for its inputs and outputs, one for each leaf.

    Attributes:
        jaxpr: the closed jaxpr.
        inputs, outputs: a label for each leaf; what two programs call the same is the same. None for outputs that are
            not compared (random state).
        roots: the labels of inputs that are random state: keys, and the counters of streams.
        constants: label → concrete value, for inputs that only this side has.
        shardings: label → declared sharding of the input.
        advances: label of an input counter → index of the output with its new value.
        streams: label of a key → the name of the random stream that it is the root of.
    """

    jaxpr: Any
    inputs: list[Label]
    outputs: list[Label | None]
    roots: frozenset[Label] = frozenset()
    constants: Mapping[Label, Any] = dataclasses.field(default_factory=dict)
    shardings: Mapping[Label, Any] = dataclasses.field(default_factory=dict)
    advances: Mapping[Label, int] = dataclasses.field(default_factory=dict)
    streams: Mapping[Label, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Proof:
    """The outcome: `proved`, or the first divergences and the names that only one side has."""

    proved: bool
    outputs: dict[str, bool]
    divergences: list[Divergence]
    missing: list[str]  # labels of the left side that the right side lacks
    extra: list[str]
    notes: list[str]
    terms: int
    values_proved: bool  # equal as values, whatever is said of rematerialisation and constraints
    keys: int = 0  # random keys matched
    other_streams: str = ""  # equal but for this: which streams a key is drawn from on either side

    def __bool__(self) -> bool:
        return self.proved

    def to_dict(self) -> dict[str, Any]:
        return {
            **{f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "divergences"},
            "divergences": [d.to_dict() for d in self.divergences],
        }

    def __str__(self) -> str:
        if self.proved:
            return f"proved: {len(self.outputs)} outputs, {self.terms} terms" + (
                f", {self.keys} keys matched" if self.keys else ""
            )
        lines = ["not proved"]
        lines += [f"  only on the left: {m}" for m in self.missing[:8]] + [
            f"  only on the right: {m}" for m in self.extra[:8]
        ]
        lines += [f"  {d}" for d in self.divergences[:3]] + [f"  {n}" for n in self.notes]
        return "\n".join(lines)


def trace(
    function: Callable[..., Any],
    *args: Any,
    label: Labeller | None = None,
    label_output: Labeller | None = None,
    roots: Callable[[Label], bool] | None = None,
    shardings: Mapping[Label, Any] | None = None,
    constants: Mapping[Label, Any] | None = None,
) -> Program:
    """Trace `function(*args)`; leaves of `args` may be `jax.ShapeDtypeStruct`s.

    Args:
        label, label_output: pytree path (parts as plain keys, `value` wrappers dropped) → label; by default the path.
        roots: which labels are random state; typed keys always are.
    """
    made, shape = jax.make_jaxpr(function, return_shape=True)(*args)
    label = label or (lambda path: path)
    label_output = label_output or label
    flat = jax.tree_util.tree_flatten_with_path(args)[0]
    inputs = [label(plain_path(p)) for p, _ in flat]
    outputs = [label_output(plain_path(p)) for p, _ in jax.tree_util.tree_flatten_with_path(shape)[0]]
    rooted = {
        name
        for name, (_, leaf) in zip(inputs, flat)
        if (roots and roots(name)) or jax.dtypes.issubdtype(getattr(leaf, "dtype", None) or float, jax.dtypes.prng_key)
    }
    return Program(made, inputs, outputs, frozenset(rooted), constants or {}, shardings or {})


def plain_path(path: Sequence[Any]) -> tuple[Any, ...]:
    """A pytree path as plain keys; the `value` attribute by which a Variable holds its array is dropped."""
    parts = []
    for part in path:
        name = getattr(part, "key", getattr(part, "name", getattr(part, "idx", part)))
        if isinstance(part, jax.tree_util.GetAttrKey) and name in ("value", "raw_value"):
            continue
        parts.append(name)
    return tuple(parts)


def prove(left: Program, right: Program) -> Proof:
    """Compare two programs output by output, matched by label.

    First with everything that is compared; where that fails, again without rematerialisation and sharding
    constraints, so
    that the report can say whether the values at least are proved.
    """
    proof = _prove(left, right, Switches())
    if proof.proved or proof.missing or proof.extra:
        return proof
    for switches, what in (
        (Switches(remat=False), "rematerialisation"),
        (Switches(constraints=False), "sharding constraints"),
        (Switches(remat=False, constraints=False), "rematerialisation and sharding constraints"),
    ):
        values = _prove(left, right, switches)
        if values.proved:
            proof.values_proved = True
            proof.notes.append(f"the values are proved equal; only {what} differ")
            break
    return proof


def _prove(left: Program, right: Program, switches: Switches) -> Proof:
    terms = Terms()
    terms.shared = frozenset(set(left.inputs) & set(right.inputs) & left.roots & right.roots)
    terms.streams = {(side, n): s for side, p in (("left", left), ("right", right)) for n, s in p.streams.items()}
    results: dict[str, dict[Label, int]] = {}
    frozen: list[str] = []
    sides = {"left": left, "right": right}
    shapes: dict[str, dict[Label, Any]] = {}
    for side, program in sides.items():
        terms.side = side
        canon = Canonicaliser(terms, switches)
        inputs, shapes[side] = [], {}
        for name, variable in zip(program.inputs, program.jaxpr.jaxpr.invars):
            aval = aval_of(variable.aval)
            shapes[side][name] = aval
            if name in program.constants:
                inputs.append(canon.constant(program.constants[name]))
                continue
            # Random state is private to a side: its names mean nothing to the other.
            root = name in program.roots
            term = canon.input((side, name) if root else name, aval, root=root)
            if name in program.shardings:
                canon.declared[term] = (sharding_key(program.shardings[name]), None, frozenset())
            inputs.append(term)
        outputs = canon.program(program.jaxpr, inputs)
        results[side] = {n: t for n, t in zip(program.outputs, outputs) if n is not None}
        used = _roots_used(terms, results[side].values())
        for name, at in program.advances.items():
            if name in program.inputs:
                start = inputs[program.inputs.index(name)]
                if start in used and outputs[at] == start:
                    frozen.append(
                        f"{side}: the stream counter {label_text(name)} does not advance: the same masks every call"
                    )
    missing = [label_text(n) for n in results["left"] if n not in results["right"]]
    extra = [label_text(n) for n in results["right"] if n not in results["left"]]
    common = [n for n in results["left"] if n in results["right"]]
    matching = Matching(terms)
    equal = matching.equal([(results["left"][n], results["right"][n]) for n in common])
    divergences = [
        first_divergence(terms, label_text(n), results["left"][n], results["right"][n], matching)
        for n, same in zip(common, equal)
        if not same
    ]
    for name, aval in shapes["left"].items():
        other = shapes["right"].get(name)
        if other is not None and other != aval:
            text = f"{label_text(name)} is {_aval_text(aval)} on the left and {_aval_text(other)} on the right"
            divergences.insert(
                0,
                Divergence(label_text(name), Place(_aval_text(aval), "input"), Place(_aval_text(other), "input"), text),
            )
    for text in frozen:
        divergences.append(Divergence("random state", Place("", ""), Place("", ""), text))
    proved = bool(common) and all(equal) and not (missing or extra or frozen or divergences)
    unique = {(d.left, d.right): d for d in divergences}
    return Proof(
        proved,
        {label_text(n): same for n, same in zip(common, equal)},
        list(unique.values()),
        missing,
        extra,
        [],
        len(terms.nodes),
        proved,
        len(matching.forward),
        matching.why,
    )


def _roots_used(terms: Terms, outputs: Any) -> set[int]:
    """Inputs of random state that a compared output draws from, through the opaque keys."""
    seen: set[int] = set()
    stack = list(outputs)
    while stack:
        term = stack.pop()
        if term in seen:
            continue
        seen.add(term)
        node = terms[term]
        stack.extend(node.args)
        if node.op == "key" and isinstance(node.params, tuple):
            stack.append(node.params[1])
    return {t for t in seen if terms[t].op == "input" and terms[t].purity == RNG}


def _aval_text(aval: tuple[tuple[int, ...], str]) -> str:
    return f"{aval[1]}{list(aval[0])}"
