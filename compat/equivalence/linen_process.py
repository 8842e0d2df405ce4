"""The Linen side of a case in an interpreter of its own: `OLD_PYTHON linen_process.py CASE.json FOLDER`.

Nothing of nnx-migrate is imported: the interpreter may be an old one, with the jax and flax of its time. Writes
`arrays.npz` (inputs, variables, outputs, updated collections, gradients; no objects, hence no pickles) and
`result.json` (versions, the settings of flags that were run, the dtypes that npz cannot name, or an `error`) into FOLDER.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import sys
import traceback
from typing import Any

SEEDS = 2


def load(root: str, file: str, cls: str) -> Any:
    """Import `file` below `root` under its package name, and return its class."""
    stem = os.path.splitext(os.path.basename(file))[0]
    package = [stem] if stem != "__init__" else []
    top = os.path.dirname(os.path.join(root, file))
    while os.path.isfile(os.path.join(top, "__init__.py")):
        package.insert(0, os.path.basename(top))
        top = os.path.dirname(top)
    for entry in (root, os.path.join(root, "src"), top):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    return getattr(importlib.import_module(".".join(package)), cls)


def frozen(value: Any) -> Any:
    """JSON has lists where fields want tuples."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value


def drawn_input(text: str, seed: int, number: int) -> Any:
    """An example of `float32[2,8]`: normal floats, integers of a small vocabulary, booleans."""
    import jax.numpy as jnp
    import numpy as np

    found = re.match(r"\s*(\w+)\s*\[([\d\s,]*)\]\s*$", text)
    if found is None:
        raise ValueError(f"input {text!r}: expected a dtype and a shape as float32[8,128]")
    name, shape = found.group(1), tuple(int(n) for n in found.group(2).split(",") if n.strip())
    random = np.random.RandomState(1000 * seed + number)
    if "float" in name:
        return jnp.asarray(random.randn(*shape), jnp.dtype(name))
    if name == "bool":
        return jnp.asarray(random.randint(0, 2, shape) > 0)
    if "int" in name:
        return jnp.asarray(random.randint(0, 4, shape), jnp.dtype(name))
    raise ValueError(f"input {text!r} cannot be handed to another interpreter")


def plain(variables: Any) -> Any:
    """Dicts of arrays, whatever boxes and frozen dicts that flax has."""
    import flax

    variables = flax.core.unfreeze(variables)
    try:
        from flax.core import meta
    except ImportError:  # before boxes
        return variables
    return meta.unbox(variables)


def flat(tree: Any, path: tuple = ()) -> list:
    """`(path, array)` of nested dicts."""
    if not hasattr(tree, "items"):
        return [(path, tree)]
    return [item for key, value in tree.items() for item in flat(value, path + (str(key),))]


def shaken(tree: Any, random: Any) -> Any:
    """Values that no initializer gives: zeros and ones would hide what is exchanged or never read."""
    import jax.numpy as jnp

    if hasattr(tree, "items"):
        return {key: shaken(value, random) for key, value in tree.items()}
    if not jnp.issubdtype(tree.dtype, jnp.floating):
        return tree
    return tree + jnp.asarray(random.uniform(0.01, 0.1, tree.shape), tree.dtype)


def variants(method: Any, case: dict) -> list:
    """Both settings of a training flag that the call leaves open, as `worker.variants` has them."""
    parameters = [p for p in inspect.signature(method).parameters if p != "self"]
    for at, name in enumerate(parameters):
        if name in case["flags"] and name not in case["call"] and at >= len(case["inputs"]):
            return [{name: False}, {name: True}]
    return [{}]


def run(case: dict, keep: Any) -> list:
    """Run every variant of the call on every seed; `keep(name, array)` takes what is to be compared. The variants."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    cls = load(case["before"], case["file"], case["cls"])
    module = cls(*frozen(case["positional"]), **{k: frozen(v) for k, v in case["arguments"].items()})
    tried = variants(getattr(cls, case["method"] or "__call__"), case)
    method = {"method": getattr(module, case["method"])} if case["method"] else {}
    leaves = getattr(jax, "tree_leaves", None) or jax.tree_util.tree_leaves
    for seed in range(SEEDS):
        inputs = [drawn_input(text, seed, i) for i, text in enumerate(case["inputs"])]
        for i, value in enumerate(inputs):
            keep(f"{seed}/input/{i}", value)
        for number, flags in enumerate(tried):
            call = dict(case["call"], **flags)
            where = f"{seed}/{number}"
            streams = ["params"] + list(case["rngs"] or [])
            while True:
                keys = {name: jax.random.PRNGKey(i) for i, name in enumerate(streams)}
                try:
                    made = module.init(keys, *inputs, **dict(call, **method))
                    break
                except Exception as error:
                    asked = re.search(r'PRNG (?:key )?for "(\w+)"', str(error))
                    if asked is None or asked.group(1) in streams:
                        raise
                    streams.append(asked.group(1))
            variables = {k: v for k, v in plain(made).items() if k not in ("intermediates", "params_axes")}
            variables = shaken(variables, np.random.RandomState(seed))
            mutable = [k for k in variables if k != "params"]
            for path, value in flat(variables):
                keep("/".join((where, "variable") + path), value)

            def apply(
                params: Any, rest: Any = variables, args: Any = inputs, call: Any = call, mutable: Any = mutable
            ) -> Any:
                given = dict(rest, params=params) if "params" in rest else rest
                return module.apply(given, *args, mutable=mutable, **dict(call, **method))

            try:
                outputs, updated = apply(variables.get("params", {}))
            except Exception as error:
                if re.search(r'PRNG (?:key )?for "(\w+)"', str(error)):
                    keep(where + "/random", np.zeros(()))  # this variant draws: nothing to compare
                    continue
                raise
            for i, value in enumerate(leaves(outputs)):
                keep(f"{where}/output/{i}", value)
            for path, value in flat(plain(updated)):
                if path[0] in variables:
                    keep("/".join((where, "updated") + path), value)

            def score(params: Any, apply: Any = apply) -> Any:
                floats = [v for v in leaves(apply(params)[0]) if jnp.issubdtype(jnp.asarray(v).dtype, jnp.floating)]
                return sum((jnp.sum(v.astype(jnp.float32) ** 2) for v in floats), jnp.zeros(()))

            if "params" in variables and case["gradient"]:
                for path, value in flat(jax.grad(score)(variables["params"])):
                    keep("/".join((where, "gradient") + path), value)
    return tried


def main(arguments: list) -> int:
    """Run one case; whatever goes wrong is the result."""
    with open(arguments[0]) as file:
        case = json.load(file)
    result: dict = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}"}
    arrays: dict = {}
    dtypes: dict = {}
    try:
        import flax
        import jax
        import numpy as np

        result["jax"], result["flax"] = jax.__version__, flax.__version__

        def keep(name: str, value: Any) -> None:
            array = np.asarray(value)
            if array.dtype.kind not in "biufc":  # bfloat16 and its kind: their bits, and what they are
                dtypes[name] = str(array.dtype)
                array = array.view(np.dtype(f"u{array.dtype.itemsize}"))
            arrays[name] = array

        result["variants"] = run(case, keep)
        np.savez(os.path.join(arguments[1], "arrays.npz"), **arrays)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        result["error"] = f"{type(error).__name__}: {str(error).strip()[:500]}"
        result["traceback"] = traceback.format_exc()[-4000:]
    result["dtypes"] = dtypes
    with open(os.path.join(arguments[1], "result.json"), "w") as file:
        json.dump(result, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
