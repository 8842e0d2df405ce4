"""Run one listed class on both sides in one process: `corpus_compare.py NAME LINEN_ROOT NNX_ROOT`.

The Linen original is imported, used to initialise and evaluate; then its modules are forgotten, the migrated package is
imported under the same names, built with the sizes that the report asks for, given the Linen weights by key, and
compared: keys, shapes, outputs, gradients. Prints one line `RESULT {json}`.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import sides

os.environ.setdefault("JAX_PLATFORMS", "cpu")


class _StubMeta(type):
    """Attribute access gives further stubs, so that a stubbed library can be imported from and inherited from."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StubMeta(name, (_Stub,), {})

    def __or__(cls, other: Any) -> Any:
        return Any

    __ror__ = __or__


class _Stub(metaclass=_StubMeta):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # As a decorator it must hand back what it decorates.
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stub()

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(self) -> Any:
        return iter(())


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes importable what the corpus imports beside what we run (TensorFlow, TFP, gym), where it is not installed."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if any(fullname == name or fullname.startswith(name + ".") for name in self.names):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: getattr(_Stub, name)  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def shim_removed_names() -> None:
    """Names that today's stack has dropped, for the originals, which nobody has brought up to date."""
    import flax
    import flax.core
    import flax.linen as nn
    import jax
    import jax.core
    import jax.interpreters.pxla as pxla
    import numpy as np

    def give(owner: Any, name: str, value: Any) -> None:
        if not hasattr(owner, name):
            setattr(owner, name, value)

    give(jax, "tree_map", jax.tree_util.tree_map)
    give(jax, "tree_leaves", jax.tree_util.tree_leaves)
    give(jax, "tree_multimap", jax.tree_util.tree_map)
    give(jax.random, "KeyArray", jax.Array)
    give(jax.numpy, "DeviceArray", jax.Array)
    give(jax.core, "Shape", tuple)
    give(jax.core, "NamedShape", tuple)
    give(
        pxla,
        "thread_resources",
        types.SimpleNamespace(env=types.SimpleNamespace(physical_mesh=jax.sharding.Mesh(np.empty((), object), ()))),
    )
    give(nn, "normalize", jax.nn.standardize)
    give(flax.core, "NamedTuple", tuple)
    give(np, "product", np.prod)
    give(np, "float", float)
    if not hasattr(jax, "linear_util"):
        import jax.extend.linear_util as linear_util

        sys.modules["jax.linear_util"] = linear_util
        give(jax, "linear_util", linear_util)
    give(jax.lax, "ConvPrecision", jax.lax.PrecisionLike)
    for missing in ("jax.experimental.maps", "jax.experimental.global_device_array", "jax.lib.xla_bridge"):
        if missing not in sys.modules:
            try:
                importlib.import_module(missing)
            except ImportError:
                module = types.ModuleType(missing)
                module.__getattr__ = lambda name: getattr(_Stub, name)  # type: ignore[method-assign]
                sys.modules[missing] = module


def make_inputs(specs: Sequence[str]) -> list[Any]:
    """`2,3` floats, `i:` tokens, `m:` a mask of ones, `t:` zeros, `p:` positions, `n:` None."""
    import jax.numpy as jnp
    import numpy as np

    random = np.random.RandomState(0)
    out: list[Any] = []
    for spec in specs:
        kind, _, shape_text = spec.rpartition(":")
        shape = tuple(int(size) for size in shape_text.split(","))
        if kind == "i":
            out.append(jnp.asarray(random.randint(1, 31, shape), jnp.int32))
        elif kind == "m":
            out.append(jnp.ones(shape, jnp.int32))
        elif kind == "t":
            out.append(jnp.zeros(shape, jnp.int32))
        elif kind == "p":
            out.append(jnp.broadcast_to(jnp.arange(shape[-1]), shape))
        elif kind == "n":
            out.append(None)
        else:
            out.append(jnp.asarray(random.randn(*shape), jnp.float32))
    return out


def compare(case: Any, linen_root: Path, nnx_root: Path) -> dict[str, Any]:
    import jax

    shim_removed_names()
    stubs = []
    for name in case.stubs:
        try:
            importlib.import_module(name)
        except Exception:
            stubs.append(name)
            for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[loaded]
    sys.meta_path.append(StubFinder(stubs)) if not stubs else sys.meta_path.insert(0, StubFinder(stubs))
    args = make_inputs(case.inputs)

    before = set(sys.modules)
    sys.path.insert(0, str(linen_root / case.subdirectory))
    constructor, positional, keywords = case.build(importlib.import_module)
    linen = constructor(*positional, **keywords)
    keys = {stream: jax.random.key(i) for i, stream in enumerate(case.streams)}
    variables = jax.jit(lambda keys: linen.init(keys, *args, **case.call))(keys)
    variables = dict(variables)
    variables.pop("intermediates", None)
    variables = sides.fuzz(variables)
    expected = sides.arrays(linen.apply(variables, *args, **case.call))
    constructor_name = getattr(type(linen), "__name__", "")
    call = sides.bound_call(linen, args, case.call)

    sys.path.pop(0)
    prefix = {name.partition(".")[0] for name in set(sys.modules) - before}
    roots = {path.stem for path in (linen_root / case.subdirectory).glob("*")}
    for name in list(sys.modules):
        if name.partition(".")[0] in prefix & roots:
            del sys.modules[name]

    from flax import nnx

    result: dict[str, Any] = {"class": constructor_name}
    report = json.loads((nnx_root / "nnx_migrate_classes.json").read_text())
    mine = [entry for entry in report if entry["name"] == constructor_name]
    mine = [e for e in mine if e["module"] == type(linen).__module__] or mine
    if mine:
        result["outcome"] = mine[0]["outcome"]
        if result["outcome"] != "native":
            return {**result, "verdict": "not native", "detail": mine[0]["reason"]}
    sys.path.insert(0, str(nnx_root / case.subdirectory))
    try:
        constructor, positional, keywords = case.build(importlib.import_module)
        added = sides.evaluate_added(mine[0]["added_arguments"], call) if mine else {}
        if not mine:
            added = {
                name: value
                for name, value in {"in_features": args[0].shape[-1]}.items()
                if name in inspect.signature(constructor).parameters
            }
        model = constructor(*positional, **keywords, **added, rngs=nnx.Rngs(0))
    except Exception as error:
        return {**result, "verdict": "broken", "detail": "construction: " + sides.last(error)}
    if not isinstance(model, nnx.Module):
        return {**result, "verdict": "not nnx", "detail": f"{type(model).__mro__[1].__module__}"}
    return {**result, **sides.compare_pair(linen, variables, model, args, case.call, expected)}


def main() -> None:
    import corpus_classes

    name, linen_root, nnx_root = sys.argv[1:4]
    case = next(case for case in corpus_classes.CASES if case.name == name)
    try:
        found = compare(case, Path(linen_root), Path(nnx_root))
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        found = {"verdict": "baseline", "detail": "Linen side: " + sides.last(error)}
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
