"""Runs programs before and after migration on a mesh of eight devices and prints what differs, as JSON.

A script of its own: XLA's flags are set before jax starts, and what it compiles is counted. Most of the time goes into
compiling, and most modules are compiled more than once: by both sides, and the small ones of eager code by every program.
Each is compiled the first time that it comes, and its collectives count for every side that asks for it.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import sys
import types
import warnings
from typing import Any

# The tests' own flags make machine code that is compiled sooner; the collectives are settled before.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")

import jax  # noqa: E402
import numpy as np  # noqa: E402
from flax import nnx  # noqa: E402
from jax._src import compiler  # noqa: E402
from nnx_migrate.migrate.context import Options  # noqa: E402
from nnx_migrate.migrate.pipeline import RunResult, migrate_project  # noqa: E402
from nnx_migrate.migrate.source import SourceFile  # noqa: E402

PROGRAMS = pathlib.Path(__file__).parent / "programs"
# What a person changes so that the old Linen program runs today; `with mesh:` would leave its constraints without effect.
TODAY = (
    ("from jax.experimental.maps import Mesh\n", "from jax.sharding import Mesh\n"),
    ("from jax.experimental.pjit import pjit\n", "pjit = jax.jit\n"),
    ("in_axis_resources", "in_shardings"),
    ("out_axis_resources", "out_shardings"),
    ("with mesh:", "with jax.set_mesh(mesh):"),
    ("with mesh,", "with jax.set_mesh(mesh),"),
    ("jax.tree_map", "jax.tree.map"),
    ('variables.pop("params")', 'flax.core.pop(variables, "params")'),
    ("params.unfreeze()", "flax.core.unfreeze(params)"),
    ("params.copy({", "flax.core.copy(params, {"),
)
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def leaf_name(path: tuple[Any, ...]) -> str:
    """`Dense_0/kernel`, whether a box, a Variable or neither holds the array."""
    name = "/".join(str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path)
    return re.sub(r"/value$|/value(?=/)|\.value", "", name)


def spec(value: Any) -> Any:
    """The PartitionSpec of an array, by dimension."""
    sharding = getattr(value, "sharding", None)
    if isinstance(sharding, jax.sharding.NamedSharding):
        return tuple(sharding.spec) + (None,) * (value.ndim - len(sharding.spec))
    return None if sharding is None else len(sharding.device_set)


def leaves(names: dict[str, Any]) -> dict[str, Any]:
    """Params, batch_stats and optimizer state at the end of a program, whatever form holds them."""
    state, model = names.get("state"), names.get("model")
    trees: dict[str, Any] = {}
    if hasattr(state, "params") and hasattr(state, "opt_state"):
        trees = {"params": state.params, "batch_stats": getattr(state, "batch_stats", {}), "opt": state.opt_state}
    elif issubclass(type(model), nnx.Module):  # a Functional stands for one
        trees = {"params": nnx.state(model, nnx.Param), "batch_stats": nnx.state(model, nnx.BatchStat)}
        optimizers = [v for v in (names.get("optimizer"), *names.values()) if isinstance(v, nnx.Optimizer)]
        trees["opt"] = nnx.state(optimizers[0]).get("opt_state", {}) if optimizers else {}
    elif "params" in names:
        trees = {"params": names["params"], "opt": names.get("opt_state", {})}
    found = {}
    for name, tree in trees.items():
        for path, value in jax.tree_util.tree_flatten_with_path(nnx.as_pure(tree))[0]:
            # A state may have all that init returned as its params, an nnx.Optimizer has the params alone.
            leaf = re.sub(r"(^|(?<=/))params/", "", leaf_name(path))
            leaf = re.sub(r"/(\d+)(?=/)", r"_\1", leaf)  # an item of a list of modules, which in Linen has a name of its own
            found[f"{name}/{leaf}"] = value
    return found


compile_and_load = compiler.backend_compile_and_load
compiled: dict[tuple[str, bytes], tuple[Any, collections.Counter[str]]] = {}  # every module, with its collectives
asked: collections.Counter[str] = collections.Counter()  # collectives of the modules that the present side asked for


def compile_once(backend: Any, module: Any, devices: Any, options: Any, host_callbacks: Any) -> Any:
    """In the place of jax's own function, which `jax.clear_caches()` makes every side call anew."""
    if host_callbacks:
        return compile_and_load(backend, module, devices, options, host_callbacks)
    key = (module.operation.get_asm(), options.SerializeAsString())
    if key not in compiled:
        executable = compile_and_load(backend, module, devices, options, host_callbacks)
        text = "\n".join(part.to_string() for part in executable.hlo_modules())
        found = {name: len(re.findall(rf"= (?:\S+|\([^)]*\)) {name}(?:-start)?\(", text)) for name in COLLECTIVES}
        compiled[key] = executable, collections.Counter(found)
    executable, found = compiled[key]
    asked.update(found)
    return executable


compiler.backend_compile_and_load = compile_once


def execute(text: str, name: str, *, anew: bool) -> tuple[dict[str, Any], dict[str, int]]:
    """Run a side; its names, and the collectives of the modules that it asked for: of all that it runs where `anew`."""
    if anew:
        jax.clear_caches()
    asked.clear()
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, name, "exec"), module.__dict__)
    return module.__dict__, {kind: number for kind, number in asked.items() if number}


def migrated(program: str, jit: str) -> tuple[str, RunResult]:
    """The program's text, and what became of it."""
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / f"{program}.txt").read_text()
    return text, migrate_project([SourceFile.parse(pathlib.Path(f"{program}.py"), program, text)], Options(jit=jit))


def compare(program: str, jit: str = "nnx") -> dict[str, Any]:
    text, result = migrated(program, jit)
    for old, new in TODAY:
        text = text.replace(old, new)
    # A program on one device has no collectives: it goes on with what the programs before it compiled.
    devices = re.search(r"mesh|pmap|shard", (PROGRAMS / f"{program}.txt").read_text()) is not None
    before, linen_collectives = execute(text, "before", anew=devices)
    for path, content in result.created.items():
        helper = types.ModuleType(path.stem)
        sys.modules[path.stem] = helper  # where its dataclasses look for their own module
        exec(compile(content, path.name, "exec"), helper.__dict__)
    after = result.files[0].after
    assert after is not None, result.files[0].diagnostics
    now, nnx_collectives = execute(after, "after", anew=devices)
    differences = []
    old, new = leaves(before), leaves(now)
    if set(old) != set(new):
        differences.append(f"keys: {sorted(set(old) ^ set(new))}")
    for name in sorted(set(old) & set(new)):
        if spec(old[name]) != spec(new[name]):
            differences.append(f"{name}: {spec(old[name])} is now {spec(new[name])}")
        elif not np.allclose(old[name], new[name], rtol=2e-4, atol=2e-5):
            differences.append(f"{name}: other values")
    for name, value in before["out"].items():
        first, second = jax.tree.leaves(value), jax.tree.leaves(now["out"][name])
        same = len(first) == len(second) and all(
            a == b if isinstance(a, str) else np.allclose(a, b, rtol=2e-4, atol=2e-5)
            for a, b in zip(first, second, strict=True)
        )
        if not same:
            differences.append(f"{name}: {first} is now {second}")
    losses = next((v for v in before["out"].values() if isinstance(v, list) and isinstance(v[0], float)), [0.0, 1.0])
    return {
        "differences": differences,
        "collectives": [linen_collectives, nnx_collectives],
        "leaves": len(old),
        "moves": len(set(losses)) > 1,
        "codes": sorted({d.code for d in result.files[0].diagnostics}),
        "native": all(plan.outcome == "native" for plan in result.classes),
    }


if __name__ == "__main__":
    form, *chosen = sys.argv[1:]
    print("RESULT" + json.dumps({name: compare(name, form) for name in chosen}))
