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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
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


def arrays(tree: Any) -> list[Any]:
    import jax

    return [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype") and hasattr(leaf, "shape")]


def linen_key(path: Sequence[Any], known: Mapping[tuple[str, ...], Any]) -> tuple[str, ...]:
    """NNX path → Linen key: an index in a list joins the name before it (`Block/0` → `Block_0`)."""
    out: list[str] = []
    for step in path:
        joined = [*out[:-1], f"{out[-1]}_{step}"] if out else [str(step)]
        apart = [*out, str(step)]
        if isinstance(step, int) or (str(step).isdigit() and out):
            fits_apart = any(key[: len(apart)] == tuple(apart) for key in known)
            out = apart if fits_apart else joined
        else:
            fits_joined = any(key[: len(joined)] == tuple(joined) for key in known)
            fits_apart = any(key[: len(apart)] == tuple(apart) for key in known)
            out = joined if fits_joined and not fits_apart else apart
    return tuple(out)


def transplant(variables: Any, model: Any) -> list[str]:
    """Give `model` the Linen values by key; what does not fit, as text."""
    import jax
    import numpy as np
    from flax import linen as nn
    from flax import nnx, traverse_util

    flat: dict[tuple[str, ...], Any] = {}
    for collection, tree in nn.unbox(variables).items():
        for key, value in traverse_util.flatten_dict(dict(tree)).items():
            flat.setdefault(tuple(key), (collection, value))
    problems = []
    used = set()
    for path, variable in nnx.to_flat_state(nnx.state(model)):
        if isinstance(variable, nnx.RngState) or issubclass(variable.type, nnx.RngState):
            continue
        key = linen_key(path, flat)
        if key not in flat:
            problems.append(f"NNX has {'/'.join(map(str, path))}, Linen does not")
            continue
        value = flat[key][1]
        used.add(key)
        if np.shape(value) != variable.shape:
            problems.append(f"{'/'.join(key)}: Linen {np.shape(value)}, NNX {variable.shape}")
            continue
        variable[...] = jax.numpy.asarray(value)
    problems += [
        f"Linen has {found[0]}/{'/'.join(key)}, NNX does not"
        for key, found in flat.items()
        if key not in used and found[0] not in ("params_axes", "intermediates")
    ]
    return problems


def evaluate_added(arguments: Sequence[Mapping[str, str]], call: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes that Linen took from the inputs, each from its expression over the call's arguments."""
    import jax.numpy as jnp
    import numpy as np

    return {item["name"]: eval(item["from"], {"jnp": jnp, "np": np, **call}) for item in arguments}


def bound_call(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The call's arguments by the names that Linen's `__call__` gives them."""
    try:
        bound = inspect.signature(type(module).__call__).bind(module, *args, **kwargs)
        bound.apply_defaults()
    except (TypeError, ValueError):
        return dict(kwargs)
    return dict(bound.arguments)


def compare(case: Any, linen_root: Path, nnx_root: Path) -> dict[str, Any]:
    import jax
    import jax.numpy as jnp
    import numpy as np

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
    variables = fuzz(variables)
    expected = arrays(linen.apply(variables, *args, **case.call))
    constructor_name = getattr(type(linen), "__name__", "")
    call = bound_call(linen, args, case.call)

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
    sys.path.insert(0, str(nnx_root / case.subdirectory))
    try:
        constructor, positional, keywords = case.build(importlib.import_module)
        added = evaluate_added(mine[0]["added_arguments"], call) if mine else {}
        if not mine:
            added = {
                name: value
                for name, value in {"in_features": args[0].shape[-1]}.items()
                if name in inspect.signature(constructor).parameters
            }
        model = constructor(*positional, **keywords, **added, rngs=nnx.Rngs(0))
    except Exception as error:
        return {**result, "verdict": "broken", "detail": "construction: " + _last(error)}
    if not isinstance(model, nnx.Module):
        return {**result, "verdict": "not nnx", "detail": f"{type(model).__mro__[1].__module__}"}
    problems = transplant(variables, model)
    if problems:
        return {**result, "verdict": "different", "detail": f"{len(problems)} keys: " + "; ".join(problems[:3])}
    try:
        outputs = arrays(model(*args, **case.call))
    except Exception as error:
        return {**result, "verdict": "broken", "detail": "call: " + _last(error)}
    if len(outputs) != len(expected):
        return {**result, "verdict": "different", "detail": f"{len(expected)} outputs in Linen, {len(outputs)} in NNX"}
    worst = 0.0
    for want, got in zip(expected, outputs):
        if want.shape != got.shape or want.dtype != got.dtype:
            return {
                **result,
                "verdict": "different",
                "detail": f"output {want.shape} {want.dtype}, NNX {got.shape} {got.dtype}",
            }
        if want.size:
            worst = max(
                worst, float(np.nanmax(np.abs(np.asarray(want, np.complex128) - np.asarray(got, np.complex128))))
            )
    result["error"] = worst
    try:
        worst_gradient = gradients(linen, variables, model, args, case.call)
    except Exception as error:
        return {**result, "verdict": "broken", "detail": "gradient: " + _last(error)}
    result["gradient_error"] = worst_gradient
    scale = max(
        (float(jnp.max(jnp.abs(w))) for w in expected if w.size and jnp.issubdtype(w.dtype, jnp.inexact)), default=1.0
    )
    verdict = "bitwise" if worst == 0.0 and worst_gradient == 0.0 else "close"
    if worst > 1e-5 * max(scale, 1.0) or worst_gradient > 1e-4:
        verdict = "different"
    detail = f"output {worst:.1e}, gradient {worst_gradient:.1e}"
    proof = prove(linen, variables, model, args, case.call)
    if proof and verdict != "different":
        detail += f"; {proof}"
        if proof == "proved":
            verdict = "proved"
    return {**result, "verdict": verdict, "detail": detail}


def fuzz(variables: Any) -> Any:
    """Values that no initialiser gives: zeros and ones would hide exchanged or unused parameters."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.RandomState(1)

    def shake(path: Any, leaf: Any) -> Any:
        if not hasattr(leaf, "dtype") or not jnp.issubdtype(leaf.dtype, jnp.floating):
            return leaf
        noise = jnp.asarray(random.uniform(0.01, 0.1, leaf.shape), leaf.dtype)
        return leaf + noise

    return {
        name: tree if name == "params_axes" else jax.tree_util.tree_map_with_path(shake, tree)
        for name, tree in variables.items()
    }


def gradients(linen: Any, variables: Any, model: Any, args: Any, call: Any) -> float:
    """Largest difference of the parameters' gradients of a sum of squares, relative to the largest gradient."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from flax import linen as nn
    from flax import nnx, traverse_util

    def score(outputs: Any) -> Any:
        return sum(
            jnp.sum(jnp.abs(out.astype(jnp.float32)) ** 2)
            for out in arrays(outputs)
            if jnp.issubdtype(out.dtype, jnp.inexact)
        )

    rest = {name: tree for name, tree in variables.items() if name != "params"}
    want = jax.grad(lambda p: score(linen.apply({"params": p, **rest}, *args, **call)))(variables["params"])
    flat = {tuple(k): v for k, v in traverse_util.flatten_dict(dict(nn.unbox(want))).items()}
    graphdef, parameters, others = nnx.split(model, nnx.Param, ...)
    got = jax.grad(lambda p: score(nnx.merge(graphdef, p, others, copy=True)(*args, **call)))(parameters)
    worst, scale = 0.0, 1e-12
    for path, variable in nnx.to_flat_state(got):
        expected = np.asarray(flat[linen_key(path, flat)])
        scale = max(scale, float(np.max(np.abs(expected), initial=0.0)))
        worst = max(worst, float(np.max(np.abs(expected - np.asarray(variable[...])), initial=0.0)))
    return worst / scale if worst else 0.0


def prove(linen: Any, variables: Any, model: Any, args: Any, call: Any) -> str:
    """The verdict of compat's own check, where it can be had."""
    try:
        from nnx_migrate import compat

        check = compat.check_equivalence
    except (ImportError, AttributeError):
        return ""
    try:
        return str(check(linen, variables, model, *args, **call).verdict)
    except Exception as error:
        return "no proof: " + _last(error)[:120]


def _last(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [f for f in frames if "/corpus/out/" in f.filename or "/corpus/pypi" in f.filename] or frames
    place = f"{Path(mine[-1].filename).name}:{mine[-1].lineno}"
    return f"{type(error).__name__} at {place}: {' '.join(str(error).split())[:220]}"


def main() -> None:
    import corpus_classes

    name, linen_root, nnx_root = sys.argv[1:4]
    case = next(case for case in corpus_classes.CASES if case.name == name)
    try:
        found = compare(case, Path(linen_root), Path(nnx_root))
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        found = {"verdict": "baseline", "detail": "Linen side: " + _last(error)}
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
