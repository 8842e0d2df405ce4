"""Every native class of a package on both sides: `corpus_sweep.py FILE.py LINEN_ROOT NNX_ROOT [CLASS...]`.

The classes of one file are compared in one process. Constructor arguments and inputs are guessed (see
`compat.equivalence.guessing`). Prints a line `ROW {json}` for each class: its verdict is one of those of `classes`, or
`unchecked` with the reason where no example was found. The settings of a training flag are proved as well.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import corpus_classes
import corpus_compare
import sides

STUBS = tuple(dict.fromkeys([*corpus_classes.SB3, *corpus_classes.TF, *corpus_classes.BRAX, *corpus_classes.SCICO, "aqt",
                             "qax", "chex", "rich", "ray", "orbax.export", "eformer", "triton", "vllm"]))  # fmt: skip
TRAINING = ("train", "training", "is_training", "deterministic", "enable_dropout")


def module_name(file: str, root: Path) -> tuple[str, Path]:
    """Import name of a file, from the folders above it that are packages, and the folder to put on the path."""
    path = root / file
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while folder != root and ((folder / "__init__.py").exists() or _is_namespace(folder, root)):
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def _is_namespace(folder: Path, root: Path) -> bool:
    """A folder without `__init__.py` between packages (big_vision/models under big_vision)."""
    return folder.parent != root and (folder.parent / "__init__.py").exists()


def concrete(example: Any) -> list[Any]:
    """Values for the shapes of an example."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.RandomState(0)
    out: list[Any] = []
    for name, like in example.inputs.items():
        if like is None:
            out.append(None)
        elif jax.dtypes.issubdtype(like.dtype, jax.dtypes.prng_key):
            out.append(jax.random.key(3))
        elif jnp.issubdtype(like.dtype, jnp.floating):
            out.append(jnp.asarray(random.randn(*like.shape), like.dtype))
        elif "mask" in name:
            out.append(jnp.ones(like.shape, like.dtype))
        else:
            out.append(jnp.asarray(random.randint(0, 5, like.shape), like.dtype))
    return out


def linen_half(cls: Any) -> tuple[Any, ...]:
    """Example, values, module, variables and outputs of the Linen side."""
    import jax
    from nnx_migrate.compat.equivalence import guessing

    example = guessing.example(cls, importlib.import_module)
    args = concrete(example)
    linen = cls(**guessing.realise(example.arguments, importlib.import_module))
    keys = {stream: jax.random.key(i) for i, stream in enumerate(example.streams)}
    variables = dict(linen.init(keys, *args, **example.call))
    variables.pop("intermediates", None)
    variables = sides.fuzz(variables)
    expected = sides.arrays(linen.apply(variables, *args, **example.call))
    return example, args, linen, variables, expected


def nnx_half(cls: Any, entry: dict[str, Any], found: tuple[Any, ...]) -> dict[str, Any]:
    from flax import nnx
    from nnx_migrate.compat.equivalence import guessing

    example, args, linen, variables, expected = found
    call = sides.bound_call(linen, args, example.call)
    try:
        try:
            added = sides.evaluate_added(entry["added_arguments"], {**call, "self": linen})
        except NameError as error:
            return {"verdict": "unchecked", "detail": f"the constructor asks for the width of a value of the call: {error}"}
        keywords = guessing.realise(example.arguments, importlib.import_module)
        if issubclass(cls, nnx.Linear | nnx.Conv | nnx.ConvTranspose) and "features" in keywords:  # a layer's subclass
            keywords = {"in_features": args[0].shape[-1], "out_features": keywords.pop("features"), **keywords}
        model = sides.construct(cls, (), keywords, added, args, example.call)
    except Exception as error:
        return {"verdict": "broken", "detail": "construction: " + sides.last(error)}
    if not isinstance(model, nnx.Module):
        return {"verdict": "broken", "detail": f"the report says native, but it is a {type(model).__mro__[1]}"}
    result = sides.compare_pair(linen, variables, model, args, example.call, expected)
    if result["verdict"] in ("proved", "bitwise", "close"):
        result |= training(linen, variables, model, args, example, result)
    return result


def asks_for_mode(found: tuple[Any, Any]) -> bool:
    """Is this a module with the flag that a class has in place of `is_mutable_collection`?"""
    owner = type(found[1]).__module__
    return "use_running_average" in vars(found[1]) and not owner.startswith("flax.") and not owner.endswith("linen_parity")


def training(linen: Any, variables: Any, model: Any, args: Any, example: Any, result: dict[str, Any]) -> dict[str, Any]:
    """The other setting of a training flag, proved with its random draws and updated collections."""
    from flax import nnx
    from nnx_migrate import compat

    flag = next((name for name in TRAINING if name in example.call), None)
    mutable = [name for name in variables if name != "params"]
    call = dict(example.call) if flag is None else {**example.call, flag: not example.call[flag]}
    if flag is None and not mutable:
        return {}
    streams = [s for s in example.streams if s != "params"]
    if flag is None and any(map(asks_for_mode, nnx.iter_modules(model))):
        model.train()  # which is what `mutable` says to such a class in Linen
    try:
        report = compat.check_equivalence(linen, variables, model, *args, rngs=streams, mutable=mutable, **call)
    except Exception as error:
        return {"detail": f"{result['detail']}; training: {sides.last(error)}"}
    verdict = str(report.verdict)
    if verdict == "different":
        bad = next(c for c in report.checks if str(c.verdict) == "different")
        return {"verdict": "different", "detail": f"{flag}={call.get(flag)}: {bad.name}: {bad.detail[:400]}"}
    return {"detail": f"{result['detail']}; {flag}={call.get(flag)} {verdict}"}


def places(file: str, root: Path, folder: Path) -> list[Path]:
    """What is on the path for a file: its package's folder, the root, and its own folder, as for a script."""
    return list(dict.fromkeys([folder, root, (root / file).parent]))


def import_with_stubs(name: str, file: str, root: Path, folder: Path) -> Any:
    """Import a module; what it wants and is not here is stubbed, with names that libraries have dropped since. Raises what
    importing it raises. Names stay stubbed for the other side, so that it meets what the original met.
    """
    sys.path[:0] = [str(place) for place in places(file, root, folder)]
    for _ in range(60):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if _is_of_library(missing.partition(".")[0]):
                sys.meta_path.insert(0, corpus_compare.StubFinder([missing]))
            elif missing and not _is_here(missing.partition(".")[0]):
                if own := _own_package(missing.partition(".")[0], file, root):
                    sys.path.insert(0, str(own))
                    continue
                sys.meta_path.insert(0, corpus_compare.StubFinder([missing.partition(".")[0]]))
            else:
                raise
        except (ImportError, AttributeError) as error:
            if "attempted relative import" in str(error) and folder != root:  # of a package without `__init__.py`
                sys.path[:] = [place for place in sys.path if place not in (str(folder), str((root / file).parent))]
                name, folder = ".".join(Path(file).with_suffix("").parts), root
                sys.path.insert(0, str(root))
                continue
            found = _DROPPED.search(str(error))
            owner = (found[2] or found[3]) if found else ""
            if found is None or not _is_of_library(owner.partition(".")[0]):
                raise
            name_there = found[1] or found[4]
            setattr(importlib.import_module(owner), name_there, getattr(corpus_compare._Stub, name_there))
    return importlib.import_module(name)


# How Python says that a module has no such name.
_DROPPED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'|module '([\w.]+)' has no attribute '(\w+)'")


def _is_here(name: str) -> bool:
    return any((place / name).exists() or (place / f"{name}.py").exists() for place in map(Path, sys.path))


def _own_package(name: str, file: str, root: Path) -> Path | None:
    """The folder above `file` that has a package or module of this name: the project is run from there."""
    above = [folder for folder in (root / file).parents if folder.is_relative_to(root)]
    return next((f for f in above if (f / name).is_dir() or (f / f"{name}.py").exists()), None)


def _is_of_library(name: str) -> bool:
    """Of an installed package, which has other names today than the original knew."""
    found = sys.modules.get(name)
    return "site-packages" in str(getattr(found, "__file__", None) or getattr(found, "__path__", ""))


def sweep(file: str, linen_root: Path, nnx_root: Path, only: list[str]) -> None:
    from nnx_migrate.compat.equivalence.guessing import NoExample

    report = json.loads((nnx_root / "nnx_migrate_classes.json").read_text())
    entries = {e["name"]: e for e in report if e["path"] == file and e["outcome"] == "native"}
    entries = {name: e for name, e in entries.items() if not only or name in only}

    def tell(name: str, **row: Any) -> None:
        print("ROW " + json.dumps({"file": file, "line": entries[name]["line"], "class": name, **row}), flush=True)

    corpus_compare.shim_removed_names()
    corpus_compare.stub_missing([name for name in STUBS if _own_package(name, file, linen_root) is None])
    before = set(sys.modules)
    name, folder = module_name(file, linen_root)
    try:
        original = import_with_stubs(name, file, linen_root, folder)
    except Exception as error:
        for one in entries:
            tell(one, verdict="unchecked", detail="the original does not import: " + sides.last(error))
        return
    halves = {}
    for one in entries:
        cls = getattr(original, one, None)
        if cls is None:
            tell(one, verdict="unchecked", detail="it is not at the top of its module")
            continue
        try:
            halves[one] = linen_half(cls)
        except NoExample as error:
            tell(one, verdict="unchecked", detail=f"no example found: {error}")
        except Exception as error:
            tell(one, verdict="unchecked", detail="the Linen side itself: " + sides.last(error))
    if not halves:
        return
    for place in [Path(p) for p in sys.path if Path(p).is_relative_to(linen_root)]:
        corpus_compare.forget(before, place)
    name, folder = module_name(file, nnx_root)
    if "gin" in sys.modules:  # which keeps what the original registered, and refuses another of its name
        with contextlib.suppress(Exception):
            sys.modules["gin"].enter_interactive_mode()
    try:
        migrated = import_with_stubs(name, file, nnx_root, folder)
    except Exception as error:
        if "-v" in sys.argv:
            traceback.print_exc()
        for one in halves:
            tell(one, verdict="broken", detail="import: " + sides.last(error))
        return
    for one, found in halves.items():
        try:
            result = nnx_half(getattr(migrated, one), entries[one], found)
        except Exception as error:
            if "-v" in sys.argv:
                traceback.print_exc()
            result = {"verdict": "broken", "detail": "the harness: " + sides.last(error)}
        example = found[0]
        inputs = ", ".join(f"{k}: {None if v is None else list(v.shape)}" for k, v in example.inputs.items())
        tell(one, **result, example=f"({example.arguments}) on ({inputs}) {example.call}")


def main() -> None:
    file, linen_root, nnx_root, *only = [a for a in sys.argv[1:] if not a.startswith("-")]
    sweep(file, Path(linen_root), Path(nnx_root), only)


if __name__ == "__main__":
    main()
