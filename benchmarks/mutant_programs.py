"""Mutants that a module alone does not have: of training steps, collectives, random streams, sharding constraints.

    python benchmarks/mutant_programs.py [--most 400]

Each base is a Linen program, its faithful migration, and edits of the latter: those that change its meaning, applied singly
and in pairs, and those that keep it. A changed program that is proved is a false proof, of which there must be none; each is
also run beside its base, or (constraints, specs: no value shows them) its constraints are listed, and is counted only if
that differs. A kept one that is not proved is a false alarm.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutant_program_bases import PROGRAMS, Program

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()

HEAD = """
import jax, jax.numpy as jnp, numpy as np, optax, flax.linen as nn
from flax import nnx
from flax.training.train_state import TrainState
from jax import lax
from jax.sharding import PartitionSpec as P
from typing import Any
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
"""


def load(source: str) -> dict[str, Any]:
    """The names that a source text defines."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(HEAD + source, "<program>", "exec"), space)
    return space


def variants(program: Program) -> Iterator[tuple[str, str]]:
    """(description, source): single edits, then pairs of edits that do not touch the same text."""
    for count in (1, 2):
        for chosen in itertools.combinations(program.changes, count):
            source = program.native
            for old, new in chosen:
                if old not in source:
                    break
                source = source.replace(old, new)
            else:
                yield "; ".join(f"{old} -> {new}" for old, new in chosen), source


def judge(program: Program, linen: dict[str, Any], native: dict[str, Any], base: dict[str, Any]) -> tuple[bool, str]:
    """(proved, what running shows): `same`, `different`, or `broken` where one side cannot be traced."""
    import jax
    import jax.numpy as jnp
    from flax import nnx
    from nnx_migrate.compat.equivalence.api import compare_migrated
    from nnx_migrate.compat.equivalence.numbers import compare_programs
    from nnx_migrate.compat.equivalence.steps import check_steps, step_programs

    try:
        if program.kind == "step":
            shape = (2, 8, 4) if "accumulated" in program.name else (8, 4)
            x, y = (
                jax.ShapeDtypeStruct(shape, jnp.float32),
                jax.ShapeDtypeStruct((*shape[:-1], 4 if len(shape) == 3 else 2), jnp.float32),
            )
            given = (linen["step"], linen["state"](), native["step"], native["target"])
            report = check_steps(*given, x, y, run=False)
            left, right = step_programs(*given, (x, y), ())
            if set(left.outputs) != set(right.outputs) or set(left.inputs) != set(right.inputs):
                return report.proved, "different"
            return report.proved, "same" if all(d.bitwise for d in compare_programs(left, right, {}, 2)) else "different"
        x = jax.ShapeDtypeStruct((8, 8 if program.kind == "layout" else 4), jnp.float32)
        names = {"params": 0, "dropout": 1, "noise": 2}
        options: dict[str, Any] = {"rngs": ("dropout", "noise")} if program.kind == "streams" else {"mesh": linen["mesh"]}
        report = compare_migrated(
            linen["L"](), lambda: native["N"](nnx.Rngs(**names)), x, numbers_if_not_proved=False, **options
        )
        if program.kind == "layout":
            return report.proved, "same" if _layout(native, x) == _layout(base, x) else "different"
        value = jnp.linspace(-1.0, 1.0, x.size).reshape(x.shape)
        one, two = (side["N"](nnx.Rngs(**names))(value) for side in (base, native))
        return report.proved, "same" if (one == two).all() else "different"
    except Exception:
        return False, "broken"


def _layout(native: dict[str, Any], x: Any) -> str:
    """Constraints and specs of the native program, as text."""
    import jax
    from flax import nnx

    with jax.set_mesh(native["mesh"]):
        model = native["N"](nnx.Rngs(0))
        specs = str(nnx.get_partition_spec(nnx.state(model)))
        jaxpr = jax.make_jaxpr(lambda v: native["N"](nnx.Rngs(0))(v))(x)
    stated = [
        (str(e.params["sharding"]), str(e.invars[0].aval))
        for e in jaxpr.jaxpr.eqns
        if e.primitive.name == "sharding_constraint"
    ]
    return specs + str(stated)


@dataclasses.dataclass
class Outcome:
    """Counts of a campaign."""

    different: int = 0
    same: int = 0
    broken: int = 0
    kept: int = 0
    false_proofs: list[str] = dataclasses.field(default_factory=list)
    false_alarms: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"changed programs that differ: {self.different}, false proofs: {len(self.false_proofs)}; not counted: "
            f"{self.broken} that cannot be traced, {self.same} that are the same",
            f"kept programs: {self.kept}, false alarms: {len(self.false_alarms)}",
        ]
        return "\n".join([*lines, *self.false_proofs, *self.false_alarms])


def campaign(most: int, kept: bool = True, say: Callable[[str], None] = lambda text: None) -> Outcome:
    """Judge every base, its kept variants (unless `kept` is off), and up to `most` changed ones, in turn over the bases."""
    outcome = Outcome()
    loaded = [(p, load(p.linen), load(p.native)) for p in PROGRAMS]
    for program, linen, base in loaded:
        for old, new in (("", ""), *program.kept) if kept else ():
            assert old in program.native, old
            proved, numbers = judge(program, linen, load(program.native.replace(old, new) if old else program.native), base)
            outcome.kept += 1
            if not proved:
                outcome.false_alarms.append(f"FALSE ALARM {program.name} ({numbers}): {old} -> {new}")
    streams = [(p, linen, base, variants(p)) for p, linen, base in loaded]
    while streams and outcome.different < most:
        for entry in list(streams):
            program, linen, base, stream = entry
            found = next(stream, None)
            if found is None:
                streams.remove(entry)
                continue
            what, source = found
            proved, numbers = judge(program, linen, load(source), base)
            outcome.different += numbers == "different"
            outcome.same += numbers == "same"
            outcome.broken += numbers == "broken"
            say(f"{program.name}: {numbers}: {what}")
            if proved and numbers != "same":
                outcome.false_proofs.append(f"FALSE PROOF {program.name}: {what}")
    return outcome


def main() -> int:
    """Run the campaign and print its counts; the exit status is 1 where anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=400, help="so many changed programs at most")
    parser.add_argument("--verbose", action="store_true", help="say what each variant turned out to be")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.time()
    outcome = campaign(given.most, say=(lambda text: print(text, flush=True)) if given.verbose else lambda text: None)
    print(outcome)
    print(f"{time.time() - started:.0f} s")
    return 1 if outcome.false_proofs or outcome.false_alarms else 0


if __name__ == "__main__":
    sys.exit(main())
