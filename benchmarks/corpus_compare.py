"""Run one listed class on both sides in one process: `corpus_compare.py NAME LINEN_ROOT NNX_ROOT`.

The Linen original is imported, used to initialise and evaluate; then its modules are forgotten, the migrated package is
imported under the same names, built with the sizes that the report asks for, given the Linen weights by key, and
compared: proved where that is possible, and always run as well. Prints one line `RESULT {json}`. `--linen` runs the
Linen side even of a class that is not native; `-v` prints tracebacks.
"""

from __future__ import annotations

import collections
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import sys
import traceback
import types
from collections.abc import Mapping, Sequence
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

    def __setitem__(cls, key: Any, value: Any) -> None:
        """A table of a library, in which a module registers something."""

    def __iter__(cls) -> Any:
        return iter(())


class _Stub(metaclass=_StubMeta):
    """Keeps what it is made of, as a tree: a distribution of a library that is not here is compared by its parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_made_of"] = (args, kwargs)
        _register(type(self))

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


@functools.cache
def _register(cls: type) -> None:
    """Make a class a pytree, once it has instances: a dataclass that derives from a stub registers itself, and has none."""
    import jax

    def parts(stub: Any) -> tuple[Any, None]:
        return stub.__dict__.get("_made_of", ((), {})), None

    jax.tree_util.register_pytree_node(cls, parts, lambda _, of: cls(*of[0], **of[1]))


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
    clip = jax.numpy.clip
    jax.numpy.clip = lambda x, a_min=None, a_max=None, **now: clip(x, now.get("min", a_min), now.get("max", a_max))
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
    give(jax.interpreters.xla, "pytype_aval_mappings", collections.defaultdict(lambda: None))  # tensorflow_probability
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


def stub_missing(names: Sequence[str]) -> None:
    """Put stubs in the place of those of `names` that cannot be imported here."""
    stubs = []
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            stubs.append(name)
            for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[loaded]
    if stubs:
        sys.meta_path.insert(0, StubFinder(stubs))


def entry_of(cls: type, root: Path, report: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The report's entry for a class: by file and name, looked for along its bases (`nn.vmap` and the like subclass)."""
    for base in cls.__mro__:
        files = _files_of(base)
        for one in report:
            if one["name"] == base.__name__ and (root / one["path"]).resolve() in files:
                return one
    return None


def _files_of(cls: type) -> set[Path]:
    """Where a class may be written: its module's file, and those of its methods (packages change `__module__`)."""
    files = set()
    for thing in (cls, *(inspect.unwrap(v) for v in vars(cls).values() if inspect.isfunction(v))):
        try:
            files.add(Path(inspect.getfile(thing)).resolve())
        except (TypeError, OSError):
            continue
    return files


_VIA = re.compile(r"it contains (\w+), which is not native|(\w+), which stays Linen, uses it")


def root_reason(entry: Mapping[str, Any], report: Sequence[Mapping[str, Any]]) -> str:
    """Why a class is not native, followed through the classes that it contains to the one that is at fault."""
    chain = [entry["name"]]
    while found := _VIA.search(entry["reason"]):
        name = found[1] or found[2]
        inner = [one for one in report if one["name"] == name and one["outcome"] != "native"]
        inner = [one for one in inner if one["path"] == entry["path"]] or inner
        if not inner or name in chain:
            break
        entry = inner[0]
        chain.append(name)
    via = f" (by way of {' > '.join(chain[:-1])})" if len(chain) > 1 else ""
    return f"{entry['reason'].split(': it contains')[0]} [{entry['name']} at {entry['path']}:{entry['line']}]{via}"


def compare(case: Any, linen_root: Path, nnx_root: Path, *, always_run: bool = False) -> dict[str, Any]:
    """Build and compare one class; the verdict is one of `VERDICTS`."""
    import jax

    shim_removed_names()
    stub_missing(case.stubs)
    args = make_inputs(case.inputs)
    report = json.loads((nnx_root / "nnx_migrate_classes.json").read_text())

    before = set(sys.modules)
    sys.path.insert(0, str(linen_root / case.subdirectory))
    try:
        constructor, positional, keywords = case.build(importlib.import_module)
        linen = constructor(*positional, **keywords)
        entry = entry_of(type(linen), linen_root, report)
        result: dict[str, Any] = {"class": type(linen).__name__, "outcome": entry["outcome"] if entry else "unknown"}
        refused = entry is not None and entry["outcome"] != "native"
        if refused and not always_run:
            assert entry is not None
            return {**result, "verdict": "not native", "detail": root_reason(entry, report)}
        keys = {stream: jax.random.key(i) for i, stream in enumerate(case.streams)}
        variables = dict(jax.jit(lambda keys: linen.init(keys, *args, **case.call))(keys))
        variables.pop("intermediates", None)
        variables = sides.fuzz(variables)
        expected = sides.arrays(linen.apply(variables, *args, **case.call))
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        return {"verdict": "broken", "detail": "the Linen side itself: " + sides.last(error)}
    if refused:
        assert entry is not None
        return {**result, "verdict": "not native", "detail": root_reason(entry, report)}
    call = sides.bound_call(linen, args, case.call)
    forget(before, linen_root / case.subdirectory)

    from flax import nnx

    sys.path.insert(0, str(nnx_root / case.subdirectory))
    try:
        constructor, positional, keywords = case.build(importlib.import_module)
        added = sides.evaluate_added(entry["added_arguments"] if entry else (), call)
        model = sides.construct(constructor, positional, keywords, added, args, case.call)
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        return {**result, "verdict": "broken", "detail": "construction: " + sides.last(error)}
    if not isinstance(model, nnx.Module):
        kind = f"{type(model).__module__}.{type(model).__name__}"
        return {**result, "verdict": "not native", "detail": f"what is constructed is still no nnx.Module but a {kind}"}
    return {**result, **sides.compare_pair(linen, variables, model, args, case.call, expected)}


def forget(before: set[str], root: Path) -> None:
    """Drop the modules that were imported from `root` since `before`, and `root` from the path."""
    if str(root) in sys.path:
        sys.path.remove(str(root))
    roots = {path.stem for path in root.glob("*")}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in roots:
            del sys.modules[name]


def main() -> None:
    import corpus_classes

    name, linen_root, nnx_root = sys.argv[1:4]
    case = next(case for case in corpus_classes.CASES if case.name == name)
    try:
        found = compare(case, Path(linen_root), Path(nnx_root), always_run="--linen" in sys.argv)
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        found = {"verdict": "broken", "detail": "the harness: " + sides.last(error)}
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
