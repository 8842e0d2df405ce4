"""A Linen module and its migrated form beside each other: weights carried by key, outputs and gradients compared."""

from __future__ import annotations

import contextlib
import inspect
import keyword
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def arrays(tree: Any) -> list[Any]:
    import jax
    import jax.numpy as jnp

    numbers = (jnp.asarray(leaf) if isinstance(leaf, float | complex) else leaf for leaf in jax.tree.leaves(tree))
    found = [leaf for leaf in numbers if hasattr(leaf, "dtype") and hasattr(leaf, "shape")]
    return [leaf for leaf in found if not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)]


def linen_key(path: Sequence[Any], known: Mapping[tuple[str, ...], Any]) -> tuple[str, ...]:
    """NNX path → Linen key: an index in a list joins the name before it (`Block/0` → `Block_0`)."""
    out: list[str] = []
    for step in path:
        joined = [*out[:-1], f"{out[-1]}_{step}"] if out else [str(step)]
        apart = [*out, str(step)]
        if isinstance(step, int) or (str(step).isdigit() and out):
            fits_apart = any(key[: len(apart)] == tuple(apart) for key in known)
            bare = [*out[:-1], str(step)]  # modules that are named by their numbers alone
            fits_joined = any(key[: len(joined)] == tuple(joined) for key in known)
            fits_bare = not fits_joined and any(key[: len(bare)] == tuple(bare) for key in known)
            out = apart if fits_apart else bare if fits_bare else joined
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
    for paths, variable in _variables(model):
        if isinstance(variable, nnx.RngState):
            continue
        keys = [linen_key(path, flat) for path in paths]  # several where a module is shared; Linen has it at one
        keys += [tuple(p[:-1] if keyword.iskeyword(p[:-1]) else p for p in key) for key in keys]  # an LSTM's `if`
        key = next((k for k in keys if k in flat), keys[0])
        below = _below(flat, key)
        if key not in flat and below and isinstance(variable.get_value(), dict):  # it holds a tree of arrays
            flat[key] = (next(iter(below.values()))[0], traverse_util.unflatten_dict({k: v for k, (_, v) in below.items()}))
            used |= {(*key, *k) for k in below}
        if key not in flat:
            problems.append(f"NNX has {'/'.join(map(str, paths[0]))}, Linen does not")
            continue
        collection, value = flat[key]
        used.add(key)
        if (collection == "params") != issubclass(variable.type, nnx.Param):
            problems.append(f"{'/'.join(key)}: of collection {collection} in Linen, {variable.type.__name__} in NNX")
            continue
        shapes, own = (jax.tree.map(np.shape, tree) for tree in (value, variable.get_value()))
        if shapes != own:
            problems.append(f"{'/'.join(key)}: Linen {shapes}, NNX {own}")
            continue
        variable.set_value(jax.tree.map(jax.numpy.asarray, value))
    problems += [
        f"Linen has {found[0]}/{'/'.join(key)}, NNX does not"
        for key, found in flat.items()
        if key not in used and found[0] not in ("params_axes", "intermediates")
    ]
    return problems


def _below(flat: Mapping[tuple[str, ...], Any], key: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    """The leaves of a tree that one variable holds, by what follows its key."""
    return {k[len(key) :]: value for k, value in flat.items() if k[: len(key)] == key and k != key}


def _variables(model: Any) -> list[tuple[list[tuple[Any, ...]], Any]]:
    """Every variable with all the paths that lead to it, and the one that Linen has it at."""
    from flax import nnx
    from nnx_migrate.compat.sharing import linen_paths

    places = linen_paths(model)
    found: dict[int, tuple[list[tuple[Any, ...]], Any]] = {}

    def walk(node: Any, path: tuple[Any, ...], above: frozenset[int]) -> None:
        if isinstance(node, nnx.Variable):
            found.setdefault(id(node), ([], node))[0].extend([path, *([places[path]] if path in places else [])])
            return
        implementation = nnx.graph.get_node_impl(node) if nnx.graph.is_node(node) else None
        if implementation is not None and id(node) not in above:
            for key, child in dict(implementation.node_dict(node)).items():
                walk(child, (*path, key), above | {id(node)})

    walk(model, (), frozenset())
    return list(found.values())


def evaluate_added(arguments: Sequence[Mapping[str, str]], call: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes that Linen took from the inputs, each from its expression over the call's arguments."""
    import jax.numpy as jnp
    import numpy as np

    return {item["name"]: eval(item["from"], {"jnp": jnp, "np": np, **call}) for item in arguments}


def bound_call(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The call's arguments by the names that Linen's `__call__` gives them, and all of them as `args` and `kwargs`."""
    everything = {"args": tuple(args), "kwargs": dict(kwargs)}
    try:
        bound = inspect.signature(type(module).__call__).bind(module, *args, **kwargs)
        bound.apply_defaults()
    except (TypeError, ValueError):
        return everything | dict(kwargs)
    return everything | dict(bound.arguments)


def construct(
    constructor: Any,
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    added: Mapping[str, Any],
    args: Sequence[Any],
    call: Mapping[str, Any],
) -> Any:
    """What the migrated constructor makes, given the added sizes and `rngs` where it takes them. A `Functional` of the
    generated module (a model that the program uses by `init` and `apply`) is opened.
    """
    import jax
    from flax import nnx

    parameters = inspect.signature(constructor).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    given = {name: value for name, value in added.items() if (name in parameters or anything) and name not in keywords}
    if "rngs" in parameters or anything:
        given["rngs"] = nnx.Rngs(0)
    made = None
    if anything and not inspect.isclass(constructor):  # it may hand its keywords to a `Functional`, which finds sizes itself
        with contextlib.suppress(TypeError):
            made = constructor(*positional, **keywords)
    if made is None or not hasattr(made, "init_module"):
        made = constructor(*positional, **keywords, **given)
    if hasattr(type(made), "init_module"):
        made = made.init_module({"params": jax.random.key(0), "dropout": jax.random.key(1)}, *args, **call)
    return made


def compare_pair(
    linen: Any, variables: Any, model: Any, args: Sequence[Any], call: Mapping[str, Any], expected: Sequence[Any]
) -> dict[str, Any]:
    """The verdict on one pair; `expected` are the Linen outputs. Leaves the Linen weights in `model`.

    Both are always run on the same weights, apart from the machinery of compat, so that a proof never stands alone: the
    verdict is `different` where either says so.
    """
    import jax.numpy as jnp
    import numpy as np

    problems = transplant(variables, model)
    if problems:
        return {"verdict": "different", "detail": f"{len(problems)} keys: " + "; ".join(problems[:3])}
    try:
        outputs = arrays(model(*args, **call))
    except Exception as error:
        return {"verdict": "broken", "detail": "call: " + last(error)}
    if len(outputs) != len(expected):
        return {"verdict": "different", "detail": f"{len(expected)} outputs in Linen, {len(outputs)} in NNX"}
    worst = 0.0
    for want, got in zip(expected, outputs):
        if want.shape != got.shape or want.dtype != got.dtype:
            return {"verdict": "different", "detail": f"output {want.shape} {want.dtype}, NNX {got.shape} {got.dtype}"}
        one, other = np.asarray(want, np.complex128), np.asarray(got, np.complex128)
        if not np.array_equal(np.isnan(one), np.isnan(other)):
            return {"verdict": "different", "detail": "one side has NaN where the other has not"}
        if want.size:
            apart = float(np.max(np.abs(np.nan_to_num(one) - np.nan_to_num(other))))
            worst = max(worst, apart / float(np.max(np.abs(np.nan_to_num(one)))) if apart else 0.0)
    try:
        worst_gradient = gradients(linen, variables, model, args, call)
    except Exception as error:
        return {"verdict": "broken", "detail": "gradient: " + last(error)}
    result = {"error": worst, "gradient_error": worst_gradient}
    coarsest = max(
        (float(jnp.finfo(w.dtype).eps) for w in expected if jnp.issubdtype(w.dtype, jnp.floating)), default=1.2e-7
    )
    apart_text = f"output {worst:.1e}, gradient {worst_gradient:.1e} apart (relative)"
    proof, reason = prove(linen, variables, model, args, call)
    if worst > 100 * coarsest or worst_gradient > 1000 * coarsest:
        note = "FALSE PROOF: " if proof == "proved" else ""
        return {**result, "verdict": "different", "detail": f"{note}{apart_text}; {reason}"}
    if proof == "different":
        return {**result, "verdict": "different", "detail": f"{reason}; run: {apart_text}"}
    if proof == "proved":
        return {**result, "verdict": "proved", "detail": f"and run: {apart_text}"}
    verdict = "bitwise" if worst == 0.0 and worst_gradient == 0.0 else "close"
    return {**result, "verdict": verdict, "detail": f"{apart_text}; not proved: {reason}"}


def compare_structure(linen: Any, variables: Any, model: Any, args: Sequence[Any]) -> dict[str, Any] | None:
    """`different` where the results are other trees; records count by name, as each side has its own."""
    import jax

    want, got = (str(jax.tree.structure(out)) for out in (linen.apply(variables, *args), model(*args)))
    return None if want == got else {"verdict": "different", "detail": f"result {want[:90]}, NNX {got[:90]}"}


def compare_training(
    linen: Any, variables: Any, model: Any, args: Sequence[Any], call: Mapping[str, Any], steps: int = 2
) -> dict[str, Any] | None:
    """What is wrong with `steps` calls that update collections and draw random numbers, None where nothing is.

    Calls that draw are compared by compat's own check, which matches the keys. Others are run here, and their results and
    collections compared after each; that leaves the model with what they have updated.
    """
    import jax
    import numpy as np
    from flax import nnx
    from nnx_migrate import compat

    state = {name: tree for name, tree in variables.items() if name != "params"}
    parameters = {name: variables[name] for name in ("params",) if name in variables}
    mutable = [name for name in state if name != "intermediates"]
    keys = {"dropout": jax.random.key(5)}
    drawn = "random_bits" in str(jax.make_jaxpr(
        lambda v: linen.apply(v, *args, **call, rngs=keys, mutable=mutable)[0])(dict(variables)))  # fmt: skip
    if drawn:
        mutable += [name for name in ("intermediates",) if "self.sow(" in inspect.getsource(type(linen))]
        report = compat.check_equivalence(linen, variables, model, *args, rngs=["dropout"], mutable=mutable, **call)
        for check in report.checks:
            if str(check.verdict) == "different":
                return {"verdict": "different", "detail": f"{call}: {check.name}: {check.detail[:200]}"}
        return None
    for step in range(steps):
        expected, updates = linen.apply({**parameters, **state}, *args, **call, mutable=mutable)
        state = {**state, **updates}
        got = model(*args, **call)
        nnx.pop(model, nnx.Intermediate)
        after = compat.to_linen(model)
        pairs = [(f"output {i}", a, b) for i, (a, b) in enumerate(zip(arrays(expected), arrays(got), strict=True))]
        for name in mutable:
            flat = jax.tree_util.tree_flatten_with_path(state[name])[0]
            other = dict(jax.tree_util.tree_flatten_with_path(after.get(name, {}))[0])
            pairs += [(f"{name}{jax.tree_util.keystr(path)}", value, other.get(path)) for path, value in flat]
        for what, a, b in pairs:
            want = np.asarray(a, np.float64)
            apart = np.inf if b is None else float(np.max(np.abs(want - np.asarray(b, np.float64)), initial=0.0))
            if not apart <= 1e-4 * max(1.0, float(np.max(np.abs(want), initial=0.0))):
                return {"verdict": "different", "detail": f"{call}, call {step + 1}: {what} is {apart:.1e} apart"}
    return None


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
        floats = [out for out in arrays(outputs) if jnp.issubdtype(out.dtype, jnp.inexact)]
        return sum((jnp.sum(jnp.abs(out) ** 2).astype(jnp.float32) for out in floats), jnp.zeros(()))

    if "params" not in variables:
        return 0.0
    rest = {name: tree for name, tree in variables.items() if name != "params"}
    try:
        want = jax.grad(lambda p: score(linen.apply({"params": p, **rest}, *args, **call)))(variables["params"])
    except ValueError as error:
        if "Reverse-mode differentiation does not work" in str(error):
            return 0.0  # a loop on data: the original has no gradient
        raise
    flat = {tuple(k): v for k, v in traverse_util.flatten_dict(dict(nn.unbox(want))).items()}
    graphdef, parameters, others = nnx.split(model, nnx.Param, ...)
    got = jax.grad(lambda p: score(nnx.merge(graphdef, p, others, copy=True)(*args, **call)))(parameters)
    aliases = {path: paths for paths, _ in _variables(model) for path in paths}
    worst, scale = 0.0, 1e-12
    for path, variable in nnx.to_flat_state(got):
        keys = [linen_key(one, flat) for one in aliases.get(tuple(path), [path])]
        keys += [tuple(p[:-1] if keyword.iskeyword(p[:-1]) else p for p in key) for key in keys]
        if not any(key in flat for key in keys):
            flat[keys[0]] = traverse_util.unflatten_dict(_below(flat, keys[0]))
        expected = flat[next(key for key in keys if key in flat)]
        for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(variable.get_value()), strict=True):
            scale = max(scale, float(np.max(np.abs(one), initial=0.0)))
            worst = max(worst, float(np.max(np.abs(np.asarray(one) - np.asarray(other)), initial=0.0)))
    return worst / scale if worst else 0.0


def prove(linen: Any, variables: Any, model: Any, args: Any, call: Any) -> tuple[str, str]:
    """The verdict of compat's own check, and its reason where it is not `proved`."""
    from nnx_migrate import compat

    try:
        mutable = _sown(linen, variables, args, call)
        report = compat.check_equivalence(linen, variables, model, *args, mutable=mutable, **call)
    except Exception as error:
        return "unchecked", "the check itself: " + last(error)
    verdict = str(report.verdict)
    worst = [check for check in report.checks if str(check.verdict) == verdict]
    if verdict == "proved" or not worst:
        return verdict, ""
    check = worst[0]
    text = f"{check.name}: {(check.reason_not_proved or check.detail)[:300]}"
    for one in check.divergences[:1]:
        left, right = one["left"], one["right"]
        text += f" | Linen {left['what'][:90]} [{left['source']}] | NNX {right['what'][:90]} [{right['source']}]"
    return verdict, " ".join(text.split())


def _sown(linen: Any, variables: Any, args: Any, call: Any) -> list[str]:
    """The collections that are only written where they are asked for; NNX always does."""
    import jax

    wanted = ["intermediates"]
    given = dict(variables)
    seen = jax.eval_shape(lambda v: linen.apply(v, *args, **call, mutable=wanted)[1], given)
    return [name for name in wanted if jax.tree.leaves(dict(seen).get(name, {}))]


def last(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [f for f in frames if "/corpus/out/" in f.filename or "/corpus/pypi" in f.filename] or frames
    place = f"{Path(mine[-1].filename).name}:{mine[-1].lineno}"
    return f"{type(error).__name__} at {place}: {' '.join(str(error).split())[:220]}"
