"""Linen modules in the manner of model libraries: results of several parts, helper methods, tables of functions."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import flax
import jax
import jax.numpy as jnp
from flax import linen as nn


@flax.struct.dataclass
class EncoderOutput:
    last: jnp.ndarray
    states: Any = None


class Pair(NamedTuple):
    first: jnp.ndarray
    second: jnp.ndarray


ACTIVATIONS = {
    "gelu": functools.partial(nn.gelu, approximate=False),
    "relu": nn.relu,
    "tanh": jnp.tanh,
}


class Heads(nn.Module):
    """Sizes that helper methods of the class split and merge."""

    width: int
    heads: int

    def setup(self):
        self.inner = nn.Dense(self.width)
        self.out = nn.Dense(self.width)

    def _split(self, x):
        return x.reshape(x.shape[:2] + (self.heads, self.width // self.heads))

    def __call__(self, x, weights: bool = False):
        y = self._split(self.inner(x))
        scores = nn.softmax(jnp.einsum("...qhd,...khd->...hqk", y, y))
        y = jnp.einsum("...hqk,...khd->...qhd", scores, y)
        y = self.out(y.reshape(y.shape[:2] + (-1,)))
        return (y, scores) if weights else (y,)


class Layer(nn.Module):
    """A result that a flag makes longer."""

    width: int

    def setup(self):
        self.attention = Heads(self.width, 2)
        self.mlp = nn.Dense(2 * self.width)
        self.act = ACTIVATIONS["gelu"]
        self.out = nn.Dense(self.width)

    def __call__(self, x, weights: bool = False):
        results = self.attention(x, weights=weights)
        x = x + results[0]
        outputs = (self.out(self.act(self.mlp(x))),)
        if weights:
            outputs += (results[1],)
        return outputs


class Encoder(nn.Module):
    """A tuple or a record, by a flag, with what is None left out."""

    width: int
    depth: int

    def setup(self):
        self.layers = [Layer(self.width, name=str(i)) for i in range(self.depth)]

    def __call__(self, x, weights: bool = False, states: bool = False, as_record: bool = True):
        all_states = () if states else None
        all_weights = () if weights else None
        for layer in self.layers:
            if states:
                all_states += (x,)
            outputs = layer(x, weights)
            x = outputs[0]
            if weights:
                all_weights += (outputs[1],)
        if not as_record:
            return tuple(v for v in (x, all_states, all_weights) if v is not None)
        return EncoderOutput(last=x, states=all_states)


class Classifier(nn.Module):
    """Reads the last state by its attribute."""

    width: int
    depth: int

    def setup(self):
        self.encoder = Encoder(self.width, self.depth)
        self.head = nn.Dense(3)

    def __call__(self, x, states: bool = False):
        outputs = self.encoder(x, states=states)
        return self.head(outputs.last.mean(axis=1))


class Tagger(nn.Module):
    """Reads the last state by its position."""

    width: int
    depth: int

    def setup(self):
        self.encoder = Encoder(self.width, self.depth)
        self.head = nn.Dense(3)

    def __call__(self, x):
        outputs = self.encoder(x, as_record=False)
        return (self.head(outputs[0]),) + outputs[1:]


class Split(nn.Module):
    """A named tuple, read by name and by position."""

    @nn.compact
    def __call__(self, x):
        pair = Pair(nn.Dense(4)(x), nn.Dense(5)(x))
        return nn.Dense(2)(pair.first) + nn.Dense(2)(pair[1])


class Table(nn.Module):
    """An activation looked up under a key that a field holds, or given itself."""

    act: Any = "relu"

    def setup(self):
        self.up = nn.Dense(6)
        if isinstance(self.act, str):
            self.activate = ACTIVATIONS[self.act]
        else:
            self.activate = self.act
        self.down = nn.Dense(3)

    def __call__(self, x):
        return self.down(self.activate(self.up(x)))


class Tied(nn.Module):
    """The head's weights are the embedding's, looked up by collection and name."""

    vocabulary: int
    width: int

    def setup(self):
        self.embed = nn.Embed(self.vocabulary, self.width)
        self.norm = nn.LayerNorm()

    def __call__(self, tokens):
        x = self.norm(self.embed(tokens))
        table = self.embed.variables["params"]["embedding"]
        return x @ table.T


class Stem(nn.Module):
    vocabulary: int
    width: int

    def setup(self):
        self.tokens = nn.Embed(self.vocabulary, self.width)

    def __call__(self, tokens):
        return self.tokens(tokens)


class TiedThrough(nn.Module):
    """The same through a submodule."""

    vocabulary: int
    width: int

    def setup(self):
        self.stem = Stem(self.vocabulary, self.width)
        self.dense = nn.Dense(self.width)

    def __call__(self, tokens):
        x = self.dense(self.stem(tokens))
        table = self.stem.variables["params"]["tokens"]["embedding"]
        kernel = self.variables["params"]["dense"]["kernel"]
        return x @ table.T, kernel.sum()


TOKENS = jnp.array([[1, 2, 3], [0, 4, 2]])

NUMBERED = ('Encoder', 'Classifier', 'Tagger')  # see test_forms
class ForgetsWhatItIsGiven(nn.Module):
    """Methods that delete a parameter, or bind it anew, before they make anything."""

    width: int = 3

    def setup(self):
        self.dense = nn.Dense(self.width)
        self.other = nn.Dense(2)

    def encode(self, x, y, *, train=False):
        del train
        x, y = y, x
        return self.dense(x), self.other(y)

    def __call__(self, x, y, *, train=False):
        x, y = self.encode(x, y, train=train)
        return x.sum() + y.sum()


CASES = [
    ("ForgetsWhatItIsGiven", {}, ((2, 4), (2, 5)), {"train": True}),
    ("Heads", {"width": 8, "heads": 2}, [(2, 3, 4)], {}),
    ("Heads", {"width": 8, "heads": 2}, [(2, 3, 4)], {"weights": True}),
    ("Layer", {"width": 8}, [(2, 3, 8)], {"weights": True}),
    ("Encoder", {"width": 8, "depth": 2}, [(2, 3, 8)], {"states": True}),
    ("Encoder", {"width": 8, "depth": 2}, [(2, 3, 8)], {"weights": True, "as_record": False}),
    ("Classifier", {"width": 8, "depth": 2}, [(2, 3, 8)], {}),
    ("Tagger", {"width": 8, "depth": 2}, [(2, 3, 8)], {}),
    ("Split", {}, [(2, 3)], {}),
    ("Table", {}, [(2, 3)], {}),
    ("Table", {"act": "gelu"}, [(2, 3)], {}),
    ("Table", {"act": jax.nn.silu}, [(2, 3)], {}),
    ("Tied", {"vocabulary": 6, "width": 4}, [TOKENS], {}),
    ("TiedThrough", {"vocabulary": 6, "width": 4}, [TOKENS], {}),
]
