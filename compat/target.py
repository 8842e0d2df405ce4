"""The NNX side as a flat list of slots: each Variable of a model, and of its optimizer, with the Linen name that it
answers to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .boxes import key_of
from .formats.base import Key
from .sharing import linen_paths

Path = tuple[Any, ...]

# Groups that need not be in a Linen checkpoint: Linen saves no such state.
OPTIONAL = ("rng", "intermediates", "perturbations", "array")


@dataclasses.dataclass(eq=False)
class Slot:
    """One leaf of `nnx.state(target)`.

    Attributes:
        path: in `nnx.state(target)`.
        owner: the path of the model or optimizer that it belongs to; `owner + local == path`.
        local: path within the owner; for optimizers it begins with 'opt_state' or is ('step',).
        group: the Linen collection ('params', 'batch_stats', …), 'optimizer', 'rng', 'array', 'empty', or 'field' for
            an array that stands beside the model, in dicts and lists of its own (`path`, `local` and `linen` are one then).
        param: for optimizer slots kept per parameter, the path of that parameter in its model, else ().
        value: the Variable, or the abstract array where there is none.
        linen: `local` as Linen has it; another path where the variable is shared (see `sharing`).
        linen_param: `param` as Linen has it, with `inner`.
        inner: keys within the value of a Variable that holds a pytree (a carry, the accumulators of optax.sm3); they end
            `path`, `local` and `linen`, and are () where the Variable holds one array.
    """

    path: Path
    owner: Path
    local: Path
    group: str
    param: Path
    value: Any
    shape: tuple[int, ...]
    dtype: Any
    linen: Path = ()
    linen_param: Path = ()
    inner: Key = ()

    def __post_init__(self) -> None:
        self.linen = self.linen or self.local
        self.linen_param = self.linen_param or self.local_param

    @property
    def local_param(self) -> Path:
        """`param`, with `inner`: the end of `local`."""
        return (*self.param, *self.inner) if self.param else ()

    @property
    def variable(self) -> Path:
        """The path of the Variable in `nnx.state(target)`."""
        return self.path[: len(self.path) - len(self.inner)]

    @property
    def name(self) -> str:
        return "/".join(map(str, self.path))

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(self.value.get_metadata()) if is_variable(self.value) else {}


def is_variable(value: Any) -> bool:
    from flax import nnx

    return isinstance(value, nnx.Variable)


def raw(value: Any) -> Any:
    """What a Variable holds; anything else is itself."""
    return value.get_raw_value() if is_variable(value) else value


def parts(value: Any) -> dict[Key, Any]:
    """The arrays and numbers that a Variable holds by their keys in it: () for the usual one, none for a masked slot."""
    import jax

    if hasattr(value, "shape"):
        return {(): value}
    leaves = jax.tree_util.tree_flatten_with_path(value)[0]
    return {key_of(path): leaf for path, leaf in leaves if hasattr(leaf, "shape") or isinstance(leaf, (int, float, complex))}


def sequence_positions(value: Any, inner: Key) -> list[int]:
    """Which keys of `inner` are indices of a list or tuple; the others are those of dicts or fields."""
    import jax

    for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]:
        if key_of(path) == inner:
            return [i for i, entry in enumerate(path) if isinstance(entry, jax.tree_util.SequenceKey)]
    return []


def with_parts(value: Any, new: Mapping[Key, Any]) -> Any:
    """`value` with others in the place of some of its `parts`."""
    import jax

    if () in new:
        return new[()]
    return jax.tree_util.tree_map_with_path(lambda path, leaf: new.get(key_of(path), leaf), value)


def is_typed_key(dtype: Any) -> bool:
    import jax

    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def key_impl(dtype: Any) -> str:
    """The PRNG implementation of a typed key's dtype (`key<fry>` is threefry2x32)."""
    return str(dtype._impl.name)


def linen_key(path: Sequence[Any]) -> Key:
    """An NNX path with Linen's names: the entry 0 of the list `Block` is `Block_0`."""
    parts: list[str] = []
    for part in path:
        if parts and (isinstance(part, int) or (isinstance(part, str) and part.isdigit())):
            parts[-1] = f"{parts[-1]}_{part}"
        else:
            parts.append(str(part))
    return tuple(parts)


def is_container(target: Any) -> bool:
    """Whether a target is a plain tuple, list or dict of models, optimizers and fields."""
    return type(target) in (tuple, list, dict)


@dataclasses.dataclass
class Target:
    """What `create()` makes, abstractly: its slots, and how to build it from values.

    Two kinds: NNX objects (a model, an optimizer, containers of these), and plain trees of arrays and Variables such as the
    TrainState of a program that keeps its variables outside of the model.
    """

    slots: list[Slot]
    build: Callable[[dict[Path, Any]], Any]
    leaves: Callable[[Any], dict[Path, Any]]
    graphdef: Any = None
    state: Any = None


def abstract(create: Callable[[], Any]) -> Target:
    """Traces `create()`; no array is allocated.

    Eager sharding is off while it runs: the annotations are read, not applied, so neither a mesh nor rules are needed,
    and optimizers whose slots have another rank than the parameter (adafactor) do not trip over them.
    """
    import jax
    from flax import nnx

    kept: dict[str, Any] = {}

    def trace() -> Any:
        target = create()
        kept["container"] = is_container(target)
        kept["graph"] = isinstance(target, nnx.Pytree) or (
            kept["container"] and any(isinstance(x, nnx.Pytree) for x in jax.tree.leaves(target, is_leaf=_is_graph))
        )
        if not kept["graph"]:
            return target
        kept["graphdef"], state = nnx.split(target)
        kept["shared"] = linen_paths(target)
        kept["fields"] = field_paths(target)
        return state

    with nnx.use_eager_sharding(False):
        state = jax.eval_shape(trace)
    if not kept["graph"]:
        return tree_target(state)
    graphdef = kept["graphdef"]

    def leaves(target: Any) -> dict[Path, Any]:
        return {tuple(path): value for path, value in nnx.to_flat_state(nnx.split(target)[1])}

    def build(values: dict[Path, Any]) -> Any:
        return nnx.merge(graphdef, nnx.from_flat_state(list(values.items())))

    return Target(slots(state, kept["container"], kept["shared"], kept["fields"]), build, leaves, graphdef, state)


def field_paths(target: Any, path: Path = ()) -> set[Path]:
    """Where arrays, and trees of them, stand in plain containers beside models and optimizers.

    An array within a module is a constant of it, which no Linen checkpoint has; these are fields of the TrainState, which it
    must have.
    """
    if not is_container(target):
        return {path} if path and not _is_graph(target) and not is_variable(target) else set()
    entries = target.items() if isinstance(target, dict) else enumerate(target)
    return {found for name, child in entries for found in field_paths(child, (*path, name))}


def _is_graph(value: Any) -> bool:
    from flax import nnx

    return isinstance(value, nnx.Pytree)


def is_tree(target: Any) -> bool:
    """Whether a concrete target is a tree such as a TrainState, rather than objects of NNX or a plain container of these."""
    from flax import nnx

    return not isinstance(target, (nnx.Pytree, nnx.State)) and not is_container(target)


def tree_target(tree: Any) -> Target:
    """The target that is a plain tree of arrays and Variables; `build` gives a new one."""
    import jax

    def leaves(target: Any) -> dict[Path, Any]:
        flat = jax.tree_util.tree_flatten_with_path(target, is_leaf=is_variable)[0]
        return {key_of(path): value for path, value in flat}

    structure = jax.tree_util.tree_structure(tree, is_leaf=is_variable)
    table = leaves(tree)
    params = {path[1:] for path in table if path[:1] == ("params",)}
    found = []
    for path, value in table.items():
        param = next((path[i:] for i in range(1, len(path)) if path[i:] in params), ()) if path[0] != "params" else ()
        for inner, group, shape, dtype in _contents(value, "tree"):
            whole = (*path, *inner)
            found.append(Slot(whole, (), whole, group, param, value, shape, dtype, inner=inner))

    def build(values: dict[Path, Any]) -> Any:
        return jax.tree_util.tree_unflatten(structure, [values[path] for path in table])

    return Target(found, build, leaves)


def _contents(value: Any, group: str) -> Iterator[tuple[Key, str, tuple[int, ...], Any]]:
    """Inner key, group, shape and dtype of each array that a leaf of the state holds; group 'empty' where it holds none."""
    import jax

    held = parts(raw(value))
    if not held:
        yield (), "empty", (), None  # optax's MaskedNode: a slot that holds nothing
    for inner, part in held.items():
        dtype = part.dtype if hasattr(part, "dtype") else jax.dtypes.result_type(part)
        yield inner, group, tuple(getattr(part, "shape", ())), dtype


def split(target: Any) -> Any:
    """The state of a concrete (or abstract) target."""
    from flax import nnx

    return nnx.split(target)[1]


def slots_of(target: Any) -> list[Slot]:
    """The slots of a target, or of its `nnx.state`."""
    from flax import nnx

    if isinstance(target, nnx.State):
        return slots(target)
    if is_tree(target):
        return tree_target(target).slots
    return slots(split(target), is_container(target), linen_paths(target), field_paths(target))


def slots(
    state: Any,
    container: bool | None = None,
    shared: Mapping[Path, Path] | None = None,
    fields: set[Path] | frozenset[Path] = frozenset(),
) -> list[Slot]:
    """The slots of a target's state, as made by `abstract` or `split`; `container` None guesses from integer keys.

    `shared` has Linen's paths of the variables that Linen stores elsewhere (`sharing.linen_paths`), `fields` what
    `field_paths` found.
    """
    from flax import nnx
    from flax.nnx.training.optimizer import OptState

    flat = [(tuple(path), value) for path, value in nnx.to_flat_state(state)]
    roots = {p[:i] for p, v in flat if isinstance(v, OptState) for i, part in enumerate(p) if part in ("opt_state", "step")}
    # 'opt_state' and 'step' also occur inside of optax states; the outermost one is the optimizer's.
    owners = {r for r in roots if not any(o != r and r[: len(o)] == o for o in roots)}
    models = _model_owners([p for p, v in flat if not isinstance(v, OptState)], owners, container)
    params = {_below(p, models) for p, v in flat if isinstance(v, nnx.Param)}
    elsewhere = {_below(path, models): _below(linen, models) for path, linen in (shared or {}).items()}
    found = []
    for path, value in flat:
        owner = next((o for o in owners if path[: len(o)] == o), None) if isinstance(value, OptState) else None
        param: Path = ()
        if owner is not None:
            local, group = path[len(owner) :], "optimizer"
            param = next((local[i:] for i in range(1, len(local)) if local[i:] in params), ())
        else:
            owner = next((m for m in models if path[: len(m)] == m), ())
            local = path[len(owner) :]
            beside = not is_variable(value) and any(path[:i] in fields for i in range(1, len(path) + 1))
            group = "field" if beside or not local else group_of(value)
            local = path if beside else local
        for inner, kind, shape, dtype in _contents(value, group):
            whole = (*(local or path[-1:]), *inner)
            slot = Slot((*path, *inner), owner, whole, kind, param, value, shape, dtype, inner=inner)
            if param in elsewhere:
                slot.linen_param = (*elsewhere[param], *inner)
                slot.linen = (*local[: len(local) - len(param)], *slot.linen_param)
            elif group != "optimizer":
                slot.linen = (*_below(shared[path], models), *inner) if shared and path in shared else slot.local
            found.append(slot)
    return found


def group_of(value: Any) -> str:
    """The Linen collection of a Variable type; registered names of custom types included."""
    from flax import nnx

    if not is_variable(value):
        return "array"
    if isinstance(value, nnx.RngState):
        return "rng"
    for kind in type(value).__mro__:
        for name, registered in nnx.variablelib.VariableTypeCache.items():
            if registered is kind:
                return str(name)
    return "variable" if type(value) is nnx.Variable else type(value).__name__


def _model_owners(paths: Sequence[Path], owners: set[Path], container: bool | None) -> list[Path]:
    """Where the models stand: beside the optimizers. A target without optimizer is the model itself."""
    parents = {o[:-1] for o in owners}
    if container is None:
        container = bool(paths) and all(isinstance(p[0], int) for p in paths)
    if container:
        return sorted({p[:1] for p in paths}, key=str)
    if not parents or () in owners:
        return [()]
    depth = {len(p) + 1 for p in parents}
    found = {p[:d] for p in paths for d in depth if len(p) >= d and p[: d - 1] in parents}
    return sorted(found, key=lambda p: (-len(p), str(p)))


def _below(path: Path, models: Sequence[Path]) -> Path:
    owner = next((m for m in models if path[: len(m)] == m), ())
    return path[len(owner) :]
