"""A Linen module and its NNX counterpart as programs with common labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..keys import bare_numbers
from ..sharing import Path, linen_paths
from ..target import group_of, is_variable, linen_key
from . import packed, sown
from .proof import Program, plain_path, trace

Label = tuple[Any, ...]
#: Groups of NNX state that have no Linen counterpart.
PRIVATE = ("rng", "array")
_CLOSING = frozenset({"if", "in", "is", "or", "as", "for", "def", "del", "not", "and", "try"})


@dataclasses.dataclass
class Call:
    """How both sides are called.

    Attributes:
        args, kwargs: of the Linen call; arrays may be `jax.ShapeDtypeStruct`s.
        nnx_args, nnx_kwargs: of the NNX call, where they differ.
        mutable: collections that the Linen call may update.
        rngs: names of the streams, or name → key. Keys are abstract in a proof.
        method: method name (None: `__call__`).
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    nnx_args: tuple[Any, ...] | None = None
    nnx_kwargs: dict[str, Any] | None = None
    mutable: tuple[str, ...] = ()
    rngs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    method: str | None = None

    def arrays(self) -> tuple[list[Any], Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]]:
        """The array leaves of the Linen call, and how to put others in their place."""
        return _leaves((self.args, self.kwargs))

    def nnx_arrays(self) -> tuple[list[Any], Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]]:
        given = self.kwargs if self.nnx_kwargs is None else self.nnx_kwargs
        return _leaves((self.args if self.nnx_args is None else self.nnx_args, given))


def _as_jax_has_it(leaf: Any) -> Any:
    """A number, or an array of NumPy's, in the dtype that JAX computes with: float64 is float32, unless `jax_enable_x64`
    is set.

    An initializer that gives one leaves it that when it runs eagerly, and makes it an array under `jit` or `eval_shape`.
    """
    numeric = isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc"
    return jnp.asarray(leaf) if numeric or isinstance(leaf, bool | int | float | complex) else leaf


def _leaves(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Array leaves of a tree; everything else (flags, strings, None) is static."""
    flat, structure = jax.tree_util.tree_flatten(tree)
    at = [i for i, leaf in enumerate(flat) if is_array(leaf)]

    def rebuild(values: Sequence[Any]) -> Any:
        filled = list(flat)
        for i, value in zip(at, values, strict=True):
            filled[i] = value
        return jax.tree_util.tree_unflatten(structure, filled)

    return [flat[i] for i in at], rebuild


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct))


def abstract(leaf: Any) -> Any:
    """Shape and dtype of a leaf."""
    return leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.ShapeDtypeStruct(np.shape(leaf), jnp.result_type(leaf))


def abstract_key(key: Any) -> Any:
    return abstract(key) if hasattr(key, "dtype") else jax.ShapeDtypeStruct((), jax.random.key(0).dtype)


class LinenSide:
    """A Linen module with its variables, boxes taken off: their specs are compared on their own.

    With boxes on, `apply` would add a constraint for each parameter, which NNX does by laying out the parameter itself;
    and Linen's attention cannot be run under a mesh with its three-dimensional logical names at all.
    """

    def __init__(self, module: Any, variables: Any) -> None:
        from flax.core import meta, unfreeze

        self.module = module
        self.boxed = unfreeze(variables) if not isinstance(variables, dict) else variables
        self.variables = jax.tree.map(
            lambda v: v.unbox(apply_constraint=False) if isinstance(v, meta.Partitioned) else meta.unbox(v),
            self.boxed,
            is_leaf=lambda v: isinstance(v, meta.AxisMetadata),
        )
        self.flat: dict[Label, Any] = {}
        for path, leaf in jax.tree_util.tree_flatten_with_path(self.variables)[0]:
            self.flat[plain_path(path)] = _as_jax_has_it(leaf)

    def apply(self, variables: Any, args: Any, kwargs: Any, keys: Mapping[str, Any], call: Call) -> tuple[Any, Any]:
        """Output and all variables after the call; collections that are not mutable come back as they went in."""
        options: dict[str, Any] = {}
        if call.method is not None:
            options["method"] = call.method
        if keys:
            options["rngs"] = dict(keys)
        if not call.mutable:
            return self.module.apply(variables, *args, **options, **kwargs), dict(variables)
        out, updates = self.module.apply(variables, *args, **options, mutable=list(call.mutable), **kwargs)
        return out, {**variables, **updates}


class NnxSide:
    """An NNX module as graph definition and flat state, each leaf labelled with its Linen name.

    Args:
        model: an `nnx.Module`, concrete or abstract, or a function that makes one (it is then only traced).
        names: Linen labels that exist; they decide where a name that Python could not spell (`if_`) belongs.
    """

    def __init__(self, model: Any, names: Sequence[Label] = ()) -> None:
        from flax import nnx

        if isinstance(model, nnx.Module):
            self.graphdef, self.state = nnx.split(without_sown(model))
            shared = linen_paths(model)
            constants, self.made_abstract = [], False
        else:
            self.graphdef, self.state, shared = make_abstract(model)
            self.made_abstract = True
            constants = [v for _, v in nnx.to_flat_state(self.state) if group_of(v) == "array"]
        if constants:
            self.state = _with_constants(model, self.state)
        known = set(names)
        groups = {tuple(path): group_of(value) for path, value in nnx.to_flat_state(self.state)}
        self.groups_after, self.paths_after = groups, dict[str, Path]()
        self.labels: list[Label] = []
        self.kinds: list[str] = []
        self.packing = packed.Packing(self.graphdef, self.state, known)
        self.paths, self.stored = self.packing.paths, self.packing.stored
        self.leaves = [_as_jax_has_it(leaf) for leaf in self.packing.leaves]
        for path in self.paths:
            plain = self.stored[path]
            group = next((groups[plain[:i]] for i in range(len(plain), 0, -1) if plain[:i] in groups), "array")
            self.kinds.append(group)
            linen = linen_path(path, shared)
            self.labels.append(("nnx", group, *path) if group in PRIVATE else linen_label(group, linen, known))

    def metadata(self) -> dict[Label, dict[str, Any]]:
        """Label → metadata of the Variable."""
        from flax import nnx

        values = {tuple(p): v for p, v in nnx.to_flat_state(self.state)}
        return {
            label: dict(values[path].get_metadata())
            for label, path in zip(self.labels, map(self.stored.__getitem__, self.paths))
            if path in values and is_variable(values[path])
        }

    def streams(self) -> dict[Label, str]:
        """Label of a stream's key → its name, where Linen has streams by name; `default` stands for all."""
        tags = {label: data.get("tag") for label, data in self.metadata().items() if label[:2] == ("nnx", "rng")}
        return {label: str(tag) for label, tag in tags.items() if tag not in (None, "default")}

    def call(self, leaves: Sequence[Any], args: Any, kwargs: Any, call: Call) -> tuple[Any, dict[str, Any]]:
        """Output and the state after the call, by the printed path of each leaf."""
        from flax import nnx

        state, apart = self.packing.join(leaves)
        model = nnx.merge(self.graphdef, state, copy=True)
        out = (model if call.method is None else getattr(model, call.method))(*args, **kwargs)
        after = nnx.split(model)[1]
        self.groups_after = {tuple(path): group_of(value) for path, value in nnx.to_flat_state(after)}
        flat = apart(after)
        self.paths_after = {repr(path): path for path, _ in flat}
        return out, {repr(path): leaf for path, leaf in flat}


def without_sown(model: Any) -> Any:
    """The model as it is before it is called: what earlier calls have sown stays in it, and Linen has none of that."""
    from flax import nnx

    if not any(group_of(value) == "intermediates" for _, value in nnx.to_flat_state(nnx.state(model))):
        return model
    bare = nnx.merge(*nnx.split(model))
    nnx.pop(bare, nnx.Intermediate)
    return bare


def opened(model: Any, call: Call) -> Any:
    """What `NnxSide` takes, of what may be, or be made as, a `Functional` of a migrated program's `linen_parity`.

    That is a model with `init` and `apply`, which has its sizes from a call's arguments: its module is made for this call.
    """
    from flax import nnx

    if isinstance(model, nnx.Module) and not _is_functional(model):
        return model
    args = call.args if call.nnx_args is None else call.nnx_args
    kwargs = call.kwargs if call.nnx_kwargs is None else call.nnx_kwargs

    def make() -> Any:
        made = model if _is_functional(model) else model()
        keys = {name: jax.random.key(i) for i, name in enumerate(("params", *call.rngs))}
        return made.init_module(keys, *args, **kwargs) if _is_functional(made) else made

    return make


def _is_functional(model: Any) -> bool:
    """By its type: it says that it is of the class that it makes."""
    return hasattr(type(model), "init_module")


def make_abstract(create: Callable[[], Any]) -> tuple[Any, Any, dict[Path, Path]]:
    """Graph definition and abstract state of what `create()` makes, and Linen's paths of what is shared in it.
    Annotations are read, not applied: no mesh is needed.
    """
    from flax import nnx

    kept: dict[str, Any] = {}

    def make() -> Any:
        made = create()
        kept["graphdef"], state = nnx.split(made)
        kept["shared"] = linen_paths(made)
        return state

    with nnx.use_eager_sharding(False):
        state = jax.eval_shape(make)
    return kept["graphdef"], state, kept["shared"]


def linen_path(path: Path, shared: Mapping[Path, Path]) -> Path:
    """Linen's path of a leaf, which may lie below a Variable."""
    for end in range(len(path), 0, -1):
        if path[:end] in shared:
            return (*shared[path[:end]], *path[end:])
    return path


def _with_constants(create: Callable[[], Any], state: Any) -> Any:
    """`state` with the values of the arrays that are no Variables: tables and masks, which Linen has as constants.

    Compiled for these alone, so no weight is ever computed.
    """
    from flax import nnx

    def make() -> dict[int, Any]:
        flat = nnx.to_flat_state(nnx.split(create())[1])
        return {i: v for i, (_, v) in enumerate(flat) if group_of(v) == "array"}

    with nnx.use_eager_sharding(False):
        values = jax.jit(make)()
    flat = [(path, values.get(i, leaf)) for i, (path, leaf) in enumerate(nnx.to_flat_state(state))]
    return nnx.from_flat_state(flat)


def linen_label(group: str, path: Sequence[Any], known: set[Label]) -> Label:
    """The Linen name of an NNX path: numbered containers join their stem, escaped keywords lose their underscore."""
    label = (group, *linen_key(path))
    if label in known:
        return label
    bare = (group, *(p[:-1] if p.endswith("_") and p[:-1] in _CLOSING else p for p in linen_key(path)))
    if bare in known:
        return bare
    plain = (group, *map(str, path))
    if plain in known:
        return plain
    # A dict of submodules in setup: Linen's `heads_a` is the entry `a` of the nnx.Dict `heads`.
    for at in range(len(label) - 2):
        joined = (*label[: at + 1], f"{label[at + 1]}_{label[at + 2]}", *label[at + 3 :])
        if joined in known:
            return joined
    # Modules of a list that are named by their numbers alone.
    for numbered in bare_numbers(tuple(path)):
        found = (group, *numbered)
        if found in known:
            return found
    return label


def programs(linen: LinenSide, nnx_side: NnxSide, call: Call, *, gradient: bool = False) -> tuple[Program, Program]:
    """Both sides traced: the forward computation with all state after it, or its vector-Jacobian product.

    The product is traced for a cotangent that is an input, so a proof holds for every loss that is a function of the
    outputs; it is taken with respect to the parameters and to the floating-point arguments.
    """
    args, rebuild = call.arrays()
    nnx_args, nnx_rebuild = call.nnx_arrays()
    args, nnx_args = [abstract(a) for a in args], [abstract(a) for a in nnx_args]
    keys = {name: abstract_key(key) for name, key in dict(call.rngs).items()}
    variables = jax.tree.map(abstract, linen.variables)
    params = variables.get("params", {})
    other = {k: v for k, v in variables.items() if k != "params"}

    linen_call = call

    def left(params: Any, other: Any, args: Any, keys: Any) -> Any:
        a, k = rebuild(args)
        return linen.apply({"params": params, **other} if "params" in variables else other, a, k, keys, linen_call)

    is_param = [kind == "params" for kind in nnx_side.kinds]
    leaves = [_abstract_leaf(leaf) for leaf in nnx_side.leaves]
    trained = [leaf for leaf, p in zip(leaves, is_param) if p]
    rest = [leaf for leaf, p in zip(leaves, is_param) if not p]

    def fill(trained: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
        one, two = iter(trained), iter(rest)
        return [next(one) if p else next(two) for p in is_param]

    def right(trained: Any, rest: Any, args: Any) -> Any:
        a, k = nnx_rebuild(args)
        return nnx_side.call(fill(trained, rest), a, k, call)

    heads: list[Label] = [("params",), (), ("argument",), ("rng",), ("cotangent",)]

    def label_left(path: tuple[Any, ...]) -> Label | None:
        return (*heads[path[0]], *path[1:])

    param_labels = [label for label, p in zip(nnx_side.labels, is_param) if p]
    rest_labels = [label for label, p in zip(nnx_side.labels, is_param) if not p]

    def label_right(path: tuple[Any, ...]) -> Label | None:
        part, rest_ = path[0], path[1:]
        if part in (0, 1):
            label: Label = (param_labels, rest_labels)[part][rest_[0]]
            return label
        return ("argument", *rest_) if part == 2 else ("cotangent", *rest_)

    by_path = {repr(path): label for path, label in zip(nnx_side.paths, nnx_side.labels)}

    def state_label(path: str) -> Label | None:
        label = by_path.get(path)
        if label is not None:
            return None if label[0] == "nnx" else label
        group, plain = new.get(path, ("", ()))
        return sown.label_of(group, plain, {n for n in one.outputs if n is not None}, sows) if group else ("new state", path)

    def is_root(label: Any) -> bool:
        return bool(label[0] == "rng" or label[:2] == ("nnx", "rng"))

    constants = {
        label: leaf
        for label, kind, leaf in zip(nnx_side.labels, nnx_side.kinds, nnx_side.leaves)
        if kind == "array" and not isinstance(leaf, jax.ShapeDtypeStruct)
    }
    streams = {("rng", name): name for name in keys}, nnx_side.streams()
    if not gradient:

        def forward_label(side: int) -> Callable[[tuple[Any, ...]], Label | None]:
            def label(path: tuple[Any, ...]) -> Label | None:
                if path[0] == 0:
                    return ("output", *path[1:])
                return tuple(path[1:]) if side == 0 else state_label(path[1])

            return label

        after = _output_paths(right, trained, rest, nnx_args)
        new = _new_state(after, nnx_side)
        sows = sown.names({k: g for k, (g, _) in new.items()}, left, params, other, args, keys)
        extra = sorted({label[0] for label in sows} - set(call.mutable))
        linen_call = dataclasses.replace(call, mutable=(*call.mutable, *extra))
        one = trace(left, params, other, args, keys, label=label_left, label_output=forward_label(0), roots=is_root)
        two = trace(
            right,
            trained,
            rest,
            nnx_args,
            label=label_right,
            label_output=forward_label(1),
            roots=is_root,
            constants=constants,
        )
        counters = {
            label: two_index
            for two_index, path in enumerate(after)
            if path[0] == 1 and (label := by_path.get(path[1])) is not None and label[:2] == ("nnx", "rng")
            if label[-1] == "count"
        }
        two.advances = counters
        one.streams, two.streams = streams
        return one, two

    cotangents = jax.eval_shape(lambda *a: _float_leaves(left(*a)[0]), params, other, args, keys)

    def left_grad(params: Any, other: Any, args: Any, keys: Any, cts: Any) -> Any:
        floats, back = _float_split(args)
        _, pull = jax.vjp(lambda p, f: _float_leaves(left(p, other, back(f), keys)[0]), params, floats)
        return pull(cts)

    def right_grad(trained: Any, rest: Any, args: Any, cts: Any) -> Any:
        floats, back = _float_split(args)
        _, pull = jax.vjp(lambda p, f: _float_leaves(right(p, rest, back(f))[0]), trained, floats)
        return pull(cts)

    def grad_label(side: int) -> Callable[[tuple[Any, ...]], Label | None]:
        def label(path: tuple[Any, ...]) -> Label | None:
            if path[0] == 1:
                return ("gradient of argument", *path[1:])
            return ("gradient", *(("params", *path[1:]) if side == 0 else param_labels[path[1]]))

        return label

    one = trace(
        left_grad, params, other, args, keys, cotangents, label=label_left, label_output=grad_label(0), roots=is_root
    )

    def label_right_grad(path: tuple[Any, ...]) -> Label | None:
        return ("cotangent", *path[1:]) if path[0] == 3 else label_right(path)

    two = trace(
        right_grad,
        trained,
        rest,
        nnx_args,
        cotangents,
        label=label_right_grad,
        label_output=grad_label(1),
        roots=is_root,
        constants=constants,
    )
    one.streams, two.streams = streams
    return one, two


def leaks(nnx_side: NnxSide, call: Call) -> bool:
    """Does an abstractly made model hold a tracer of its constructor as a constant? It can only be made for real
    then.
    """
    arrays, rebuild = call.nnx_arrays()

    def run(leaves: Any, args: Any) -> Any:
        return nnx_side.call(leaves, *rebuild(args), call)

    try:
        made = jax.make_jaxpr(run)([_abstract_leaf(v) for v in nnx_side.leaves], [abstract(a) for a in arrays])
    except jax.errors.UnexpectedTracerError:
        return True
    except Exception:  # reported where the program itself is traced
        return False
    return any(isinstance(c, jax.core.Tracer) for c in made.consts)


def _output_paths(function: Callable[..., Any], *args: Any) -> list[tuple[Any, ...]]:
    shape = jax.eval_shape(function, *args)
    return [plain_path(p) for p, _ in jax.tree_util.tree_flatten_with_path(shape)[0]]


def _new_state(outputs: Sequence[tuple[Any, ...]], nnx_side: NnxSide) -> dict[str, tuple[str, Path]]:
    """Printed path → collection and path, of what a call left behind that was not there before."""
    before = {repr(path) for path in nnx_side.paths}
    new = {}
    for output in outputs:
        if output[0] == 1 and output[1] not in before:
            path = nnx_side.paths_after[output[1]]
            groups = (nnx_side.groups_after[path[:i]] for i in range(len(path), 0, -1) if path[:i] in nnx_side.groups_after)
            new[output[1]] = (next(groups, ""), path)
    return new


def _abstract_leaf(leaf: Any) -> Any:
    """Like `abstract`, typed keys included."""
    return jax.ShapeDtypeStruct(tuple(leaf.shape), leaf.dtype) if hasattr(leaf, "dtype") else abstract(leaf)


def _float_leaves(tree: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)]


def _float_split(args: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """The floating-point arguments, and how to put others in their place."""
    at = [i for i, a in enumerate(args) if jnp.issubdtype(a.dtype, jnp.inexact)]

    def back(floats: Sequence[Any]) -> list[Any]:
        filled = list(args)
        for i, value in zip(at, floats, strict=True):
            filled[i] = value
        return filled

    return [args[i] for i in at], back
