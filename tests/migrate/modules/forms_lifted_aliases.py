"""Classes that a file's body lifts: `BatchModel = nn.vmap(Model, ...)`, used as models, in modules, or as factories."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn


class Normed(nn.Module):
    width: int
    train: bool = False

    @nn.compact
    def __call__(self, x, lengths):
        x = nn.Dense(self.width)(x)
        x = nn.BatchNorm(use_running_average=not self.train, axis_name="batch")(x)
        x = nn.Dropout(0.5, deterministic=not self.train)(x)
        mask = jnp.arange(x.shape[0]) < lengths
        return nn.Dense(3)((mask[:, None] * x).mean(0))


# Every example by itself, with one set of weights.
BatchNormed = nn.vmap(
    Normed,
    in_axes=(0, 0),
    out_axes=0,
    variable_axes={"params": None, "batch_stats": None, "cache": 0},
    split_rngs={"params": False, "dropout": True},
    axis_name="batch",
)


class Statistics(nn.Module):
    """Batch statistics that are updated by all members together."""

    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False, axis_name="batch")(nn.Dense(4)(x))


BatchStatistics = nn.vmap(
    Statistics, variable_axes={"params": None, "batch_stats": None}, split_rngs={"params": False}, axis_name="batch"
)


class Scaled(nn.Module):
    def setup(self):
        self.inner = nn.Dense(5)

    def __call__(self, x, scale):
        return self.inner(x) * scale


# One scale for all members.
ManyScaled = nn.vmap(Scaled, in_axes=(0, None), out_axes=1, variable_axes={"params": None}, split_rngs={"params": False})


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


LightModel = nn.remat(Block)
LightBlock = nn.remat(Block, prevent_cse=False)
Members = nn.vmap(Block, in_axes=None, out_axes=0, variable_axes={"params": 0}, split_rngs={"params": True}, axis_size=3)
scan_over_time = partial(nn.scan, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1)


class Uses(nn.Module):
    """Both in one: the members are given what another module computes."""

    width: int

    @nn.compact
    def __call__(self, x):
        return Members(self.width)(LightBlock(self.width)(x)).sum(0)


class Recurrent(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        cell = scan_over_time(nn.GRUCell)(self.width)
        _, y = cell(jnp.zeros((x.shape[0], self.width)), x)
        return y


class StateSpace(nn.Module):
    width: int = 6
    rescale: float = 1.0

    def setup(self):
        self.decay = self.param("decay", nn.initializers.normal(), (self.width,))
        self.mix = self.param("mix", nn.initializers.lecun_normal(), (self.width, self.width))

    def __call__(self, u):
        return (u * jax.nn.sigmoid(self.decay) * self.rescale) @ self.mix


def make_state_space(width):
    return partial(StateSpace, width=width)


class SequenceLayer(nn.Module):
    space: nn.Module
    width: int

    def setup(self):
        self.seq = self.space(rescale=2.0)
        self.norm = nn.LayerNorm()
        self.out = nn.Dense(self.width)

    def __call__(self, x):
        return x + self.out(self.seq(self.norm(x)))


class Stack(nn.Module):
    """The kind of layer is what a function outside of modules gives to the mapped class."""

    space: nn.Module
    width: int
    depth: int

    def setup(self):
        self.encoder = nn.Dense(self.width)
        self.layers = [SequenceLayer(space=self.space, width=self.width) for _ in range(self.depth)]

    def __call__(self, x):
        x = self.encoder(x)
        for layer in self.layers:
            x = layer(x)
        return x


BatchStack = nn.vmap(Stack, in_axes=0, out_axes=0, variable_axes={"params": None}, split_rngs={"params": False})


def centred(x):
    return x - x.mean()


all_centred = jax.vmap(centred)


class Local(nn.Module):
    """A lifted class that setup names first; what a function under jax.vmap gives."""

    width: int

    def setup(self):
        """Make the stack."""
        Batched = nn.vmap(Block, variable_axes={"params": None}, split_rngs={"params": False})
        self.block = Batched(self.width)
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(all_centred(self.block(x)))


class Padded(nn.Module):
    """The input is an array or an array with its lengths, as a field says."""

    padded: bool

    def setup(self):
        self.dense = nn.Dense(3)
        self.head = nn.Dense(2)

    def __call__(self, x):
        if self.padded:
            x, lengths = x
            x = jnp.sum(self.dense(x), axis=0) / lengths
        else:
            x = jnp.sum(self.dense(x), axis=0)
        return self.head(x)


def make_model(width):
    space = make_state_space(width)
    return partial(BatchStack, space=space, width=width, depth=2)


CASES = [
    ("BatchNormed", {"width": 4}, [(2, 6, 5), (2,)], {}),
    ("Normed", {"width": 4}, [(6, 5), ()], {}),
    ("BatchStatistics", {}, [(4, 6, 5)], {}),
    ("ManyScaled", {}, [(4, 6), ()], {}),
    ("LightModel", {"width": 3}, [(2, 5)], {}),
    ("BatchStack", {"space": StateSpace, "width": 6, "depth": 2}, [(2, 4, 5)], {}),
    ("Local", {"width": 3}, [(2, 5)], {}),
    ("Padded", {"padded": False}, [(2, 4, 5)], {}),
    ("Uses", {"width": 3}, [(2, 5)], {}),
    ("Recurrent", {"width": 3}, [(2, 4, 5)], {}),
]
