"""Migrate random Linen programs and compare both sides: `python benchmarks/fuzz.py [--from 0] [--count 100] [SEED...]`.

A failure is a crash of the codemod, code that does not run, a different number, a result of another structure, a step of
training that updates or draws otherwise, or a second run that changes something.
Classes that are bridged or left are counted, not failures. Failing seeds are written to ./corpus/fuzz_failures.json.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import importlib.util
import inspect
import json
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).resolve().parent))
import generator
import sides


def load(path: Path, name: str) -> ModuleType:
    """Import a file under `name`, its folder on the path for what it imports beside itself."""
    sys.path.insert(0, str(path.parent))
    sys.modules.pop("linen_parity", None)
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def run(program: generator.Program, folder: Path) -> dict[str, Any]:
    """The verdict on one program: see `sides.compare_pair`; also `crash`, `not native`, `second run`, `baseline`."""
    from nnx_migrate.migrate.context import Options
    from nnx_migrate.migrate.pipeline import migrate_project
    from nnx_migrate.migrate.source import SourceFile

    source = folder / "linen" / "program.py"
    target = folder / "nnx" / "program.py"
    source.parent.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(program.text)
    try:
        result = migrate_project([SourceFile.parse(source, "program", program.text)], Options())
    except Exception as error:
        return {"verdict": "crash", "detail": sides.last(error)}
    migrated = result.files[0].after
    if migrated is None:
        dropped = [d.message for d in result.files[0].diagnostics if d.code == "NNX001"]
        return {"verdict": "crash", "detail": "; ".join(dropped)}
    target.write_text(migrated)
    for path, text in result.created.items():
        (target.parent / path.name).write_text(text)
    plans = {plan.qualname.rpartition(".")[2]: plan for plan in result.classes}
    announced = any(d.code == "NNX115" for d in result.files[0].diagnostics)
    verdict = _run_sides(program, source, target, plans, announced)
    if verdict["verdict"] in ("crash", "baseline"):
        return verdict
    left = [f"{plan.code} {plan.reason}" for plan in plans.values() if plan.outcome != "native"]
    if left or verdict["verdict"] == "not native":
        return {"verdict": "not native", "detail": "; ".join(left) or verdict["detail"]}
    files = [SourceFile.parse(target, "program", migrated)]
    files += [SourceFile.parse(target.parent / p.name, p.stem, text) for p, text in result.created.items()]
    try:
        again = next(f for f in migrate_project(files, Options()).files if f.path == target).after
    except Exception as error:
        return {"verdict": "crash", "detail": "second run: " + sides.last(error)}
    if again != migrated:
        return {"verdict": "second run", "detail": "changes its own output"}
    return verdict


def _run_sides(
    program: generator.Program, source: Path, target: Path, plans: dict[str, Any], announced: bool
) -> dict[str, Any]:
    """`announced`: the migration said that it took a number of dimensions for granted."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from flax import nnx

    random = np.random.RandomState(program.seed % 1000)
    args = [jnp.asarray(random.randn(*map(int, shape.split(","))), jnp.float32) for shape in program.inputs]
    try:
        before = load(source, "linen_program")
        linen = eval(f"{program.name}({program.arguments})", vars(before))
        variables = sides.fuzz(dict(linen.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, *args)))
        expected = sides.arrays(linen.apply(variables, *args))
    except Exception as error:
        return {"verdict": "baseline", "detail": sides.last(error)}
    plan = plans.get(program.name)
    if plan is None:
        return {"verdict": "broken", "detail": "the class is not in the plan"}
    if plan.outcome != "native":
        return {"verdict": "not native", "detail": ""}
    try:
        after = load(target, "nnx_program")
        origin = [{"name": added.name, "from": added.origin} for added in plan.added_arguments]
        try:
            added = sides.evaluate_added(origin, sides.bound_call(linen, args, {}))
        except NameError as error:
            return {"verdict": "not native", "detail": f"NNX116 the constructor asks for a width: {error}"}
        keywords = eval(f"dict({program.arguments})", vars(after))
        model = after.__dict__[program.name](**keywords, **added, rngs=nnx.Rngs(0))
    except Exception as error:
        if announced and "dimensions" in str(error):
            return {"verdict": "not native", "detail": "NNX115 another number of dimensions than announced"}
        return {"verdict": "broken", "detail": "construction: " + sides.last(error)}
    found = sides.compare_pair(linen, variables, model, args, {}, expected)
    if found["verdict"] not in GOOD:
        return found
    try:
        training = {"train": True} if "train" in inspect.signature(type(linen).__call__).parameters else {}
        wrong = sides.compare_structure(linen, variables, model, args)
        return wrong or sides.compare_training(linen, variables, model, args, training) or found
    except Exception as error:
        return {"verdict": "broken", "detail": "training: " + sides.last(error)}


GOOD = ("proved", "bitwise", "close", "not native")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--from", dest="start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="", help="the name of the one step that programs are made of; see generator.py")
    parser.add_argument("--keep", type=Path, help="leave the programs of failing seeds here")
    options = parser.parse_args()
    seeds = options.seeds or range(options.start, options.start + options.count)
    verdicts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    failures = []
    for seed in seeds:
        program = generator.program(seed, options.only)
        with tempfile.TemporaryDirectory() as folder:
            place = options.keep / str(seed) if options.keep else Path(folder)
            found = run(program, place)
        verdicts[found["verdict"]] += 1
        if found["verdict"] == "not native":
            reasons.update(found["detail"].split("; "))
        if found["verdict"] not in GOOD or options.seeds:
            print(f"{seed:6} {found['verdict']:11} {found['detail'][:200]}", flush=True)
        if found["verdict"] not in GOOD:
            failures.append({"seed": seed, **found, "features": program.features})
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    for reason, count in reasons.most_common(15):
        print(f"  {count:4} {reason}")
    path = Path(__file__).resolve().parent.parent / "corpus" / "fuzz_failures.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(failures, indent=1))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
