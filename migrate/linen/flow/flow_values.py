"""The abstract values of `flow`: what a name outside of module classes may hold, and the functions that pass it on."""

from __future__ import annotations

import ast
import dataclasses
from typing import TypeGuard

from ...catalog.tree_functions import TREE_MAPS
from ...frozen import frozen
from ..values.records import RecordClass

Symbol = tuple[str, ast.AST | None, str]  # (module, scope that binds it, name); attributes as "self.x" of a class


@frozen
class Value:
    """An abstract value; the plain class stands for "anything else"."""


@frozen
class Nothing(Value):
    """No value seen yet: what a parameter has until a call is found."""


ANY = Value()
NOTHING = Nothing()


@frozen
class ClassValue(Value):
    """A module class itself, or one of several that cannot be told apart."""

    qualnames: frozenset[str]


@frozen
class Tracked(Value):
    """A value made from the models constructed at `sites`."""

    sites: frozenset[ast.Call]


@frozen
class Model(Tracked):
    """A Linen module instance that is not bound to variables."""


@frozen
class Variables(Tracked):
    """What `init` returns: `{'params': ..., 'batch_stats': ...}`."""


@frozen
class Collection(Tracked):
    """One collection of variables, or a tree like it. `updated`: it is surely what a call of `apply` made of it.

    `name`: of a tree that may be one of several, all of them (`params|ema_params`).
    """

    name: str
    updated: bool = False

    @property
    def names(self) -> list[str]:
        return self.name.split("|")


@frozen
class Gradients(Tracked):
    """Gradients with respect to `params`."""


@frozen
class Updated(Tracked):
    """The second result of `apply(..., mutable=...)`."""


@frozen
class State(Tracked):
    """A TrainState; `cls` is its class. `whole`: its params are all that init returned, `{'params': ...}`."""

    cls: str
    whole: bool = False


@frozen
class OptState(Tracked):
    """What `tx.init(params)` returns; `whole` as in State."""

    whole: bool = False


@frozen
class Deltas(Tracked):
    """What `tx.update(grads, opt_state)` makes of gradients."""


@frozen
class Transformation(Value):
    """A gradient transformation of optax: `tx`."""


@frozen
class Half(Value):
    """`tx.init` or `tx.update` under a name: `opt_init, opt_update = optax.adam(1e-3)`."""

    method: str


@frozen
class Method(Tracked):
    """`model.apply`, `model.init`, `state.apply_fn`, ..."""

    name: str


@frozen
class Bound(Tracked):
    """`model.bind(variables)`, or a part of it."""


@frozen
class Instance(Value):
    """An object of a class of the project that is no module, or the class itself as a class method is given it."""

    cls: str
    is_class: bool = False


@frozen
class Items(Value):
    """A tuple or list whose items are known."""

    items: tuple[Value, ...]


@frozen
class Record(Items):
    """A NamedTuple or dataclass of the project with known items: see `records`."""

    cls: RecordClass

    def field(self, name: str) -> Value | None:
        """What a field holds; None where the class has none of that name."""
        return self.items[self.cls.fields.index(name)] if name in self.cls.fields else None


@frozen
class Entries(Items):
    """A dictionary with states under keys that are spelled out: `{"runner_state": state, "losses": losses}`."""

    keys: tuple[str, ...]

    def entry(self, key: object) -> Value | None:
        """What stands under a key; None where the dictionary has none of that name."""
        return self.items[self.keys.index(key)] if isinstance(key, str) and key in self.keys else None


@frozen
class Table(Value):
    """A dictionary of module classes: `{"small": CNN, "large": ResNet}`."""

    classes: ClassValue


@frozen
class Function(Value):
    """Functions of the project. `transform` is what they are wrapped in: grad, value_and_grad, derivative or nothing.

    A derivative is one of another kind, or of another derivative, by arguments that hold nothing of a model.
    """

    nodes: frozenset[ast.AST]
    transform: str = ""
    has_aux: bool = False
    bound: int = 0  # leading positional arguments given by functools.partial
    argnum: int = 0  # the argument that a gradient is of, among those that are left
    inner: tuple[int, ...] = ()  # those that the derivatives inside of a derivative are of
    several: tuple[int, ...] = ()  # all that a gradient is of, where `argnums` is a tuple


def is_params(value: Value | None) -> TypeGuard[Variables | Collection]:
    """Is it what `init` returns, or its params?"""
    return isinstance(value, Variables) or (isinstance(value, Collection) and value.name == "params")


def join(a: Value | None, b: Value | None) -> Value | None:
    """The least value that covers both; None is "nothing yet"."""
    if a is None or a is b or isinstance(a, Nothing):
        return b
    if b is None or isinstance(b, Nothing):
        return a
    if a is ANY or b is ANY:
        return ANY
    if a == b:
        return b
    if type(a) is type(b):
        if isinstance(a, Collection) and isinstance(b, Collection) and a.updated != b.updated:
            a, b = (dataclasses.replace(value, updated=False) for value in (a, b))
        if isinstance(a, Collection) and isinstance(b, Collection) and a.name != b.name:
            both_names = "|".join(sorted({*a.names, *b.names}))
            a, b = (dataclasses.replace(value, name=both_names, updated=False) for value in (a, b))
        if isinstance(a, Tracked) and isinstance(b, Tracked):
            merged = dataclasses.replace(a, sites=a.sites | b.sites)
            return merged if merged == dataclasses.replace(b, sites=a.sites | b.sites) else ANY
        if isinstance(a, ClassValue) and isinstance(b, ClassValue):
            return ClassValue(a.qualnames | b.qualnames)
        if isinstance(a, Items) and isinstance(b, Items) and len(a.items) == len(b.items):
            if isinstance(a, Record) and isinstance(b, Record) and a.cls != b.cls:
                return ANY
            if isinstance(a, Entries) and isinstance(b, Entries) and a.keys != b.keys:
                return ANY
            return dataclasses.replace(a, items=tuple(join(x, y) or ANY for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, Function) and isinstance(b, Function):
            both = dataclasses.replace(a, nodes=a.nodes | b.nodes)
            return both if both == dataclasses.replace(b, nodes=a.nodes | b.nodes) else ANY
    return ANY


def sites_of(value: Value) -> frozenset[ast.Call]:
    """The constructions of the models that a value, or what a tuple has, is made from."""
    if isinstance(value, Items):
        return frozenset().union(*map(sites_of, value.items))
    return frozenset(value.sites) if isinstance(value, Tracked) else frozenset()


def is_sequence(value: Value, length: int) -> bool:
    """A tuple or list of so many items, which an assignment may take apart?"""
    return isinstance(value, Items) and not isinstance(value, Entries) and len(value.items) == length


TRAIN_STATES = {"flax.training.train_state.TrainState"}
# Functions whose result is the function they are given.
WRAPPERS = {
    "jax.jit",
    "jax.pmap",
    "jax.checkpoint",
    "jax.remat",
    "jax.experimental.pjit.pjit",
    "jax.pjit",
    "jax.vmap",
    "jax.shard_map",
    "jax.experimental.shard_map.shard_map",
    "flax.nnx.jit",
    "functools.wraps",
    "functools.lru_cache",
    "functools.cache",
}
SCAN = "jax.lax.scan"
COND = "jax.lax.cond"
SWITCH = "jax.lax.switch"
# Loops whose body takes what is carried, last, and returns it: the place of its first value among their arguments.
LOOPS = {"jax.lax.fori_loop": 3, "jax.lax.while_loop": 2}
GRADIENTS = {"jax.grad": "grad", "jax.value_and_grad": "value_and_grad"}
DERIVATIVES = {"jax.jacfwd", "jax.jacrev", "jax.jacobian", "jax.hessian"}
# Functions whose result is a tree like their argument: name → position of that argument.
SAME_TREE = {
    "flax.core.freeze": 0,
    "flax.core.unfreeze": 0,
    "flax.core.FrozenDict": 0,
    "flax.jax_utils.replicate": 0,
    "flax.jax_utils.unreplicate": 0,
    "flax.linen.unbox": 0,
    "flax.core.copy": 0,
    "jax.device_put": 0,
    "jax.device_put_replicated": 0,
    "jax.device_get": 0,
    "jax.block_until_ready": 0,
    **dict.fromkeys(TREE_MAPS, 1),
    "jax.lax.pmean": 0,
    "jax.lax.psum": 0,
    "jax.lax.stop_gradient": 0,
    "optax.incremental_update": 0,
    "optax.periodic_update": 0,
}

# Those of them that may change the leaves.
MAPS = {
    *(*TREE_MAPS, "jax.lax.pmean", "jax.lax.psum"),
    *("optax.incremental_update", "optax.periodic_update"),
}

# Functions that save the state they are given, and those that return the restored one.
SAVES = {"flax.training.checkpoints.save_checkpoint", "flax.training.checkpoints.save_checkpoint_multiprocess"}
RESTORES = {"flax.training.checkpoints.restore_checkpoint"}
# Functions that return a tree like their first argument, with values that were saved.
READS_BACK = {"flax.serialization.from_bytes", "flax.serialization.from_state_dict"}
RESTORE_ARGS = {"orbax.checkpoint.args.StandardRestore", "orbax.checkpoint.args.PyTreeRestore"}
