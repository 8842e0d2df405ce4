"""Modules handed to other modules: shared embeddings, lists of layers, made in setup, in compact methods and as arguments."""
from typing import Any, Optional, Sequence
import jax.numpy as jnp
from flax import linen as nn


class Encoder(nn.Module):
    width: int
    embed: nn.Embed

    def setup(self):
        self.up = nn.Dense(self.width)
        self.down = nn.Dense(self.embed.features)

    def __call__(self, tokens):
        x = self.embed(tokens)
        return x + self.down(nn.relu(self.up(x)))


class Decoder(nn.Module):
    embed: Optional[nn.Module] = None

    @nn.compact
    def __call__(self, tokens, encoded):
        if self.embed is None:
            embed = nn.Embed(11, 6)
        else:
            embed = self.embed
        x = embed(tokens) + encoded
        x = nn.Dense(6)(nn.LayerNorm()(x))
        return embed.attend(x)


class Seq2Seq(nn.Module):
    """Linen stores the embedding where it was first attached, NNX meets it first in the decoder."""

    def setup(self):
        self.shared = nn.Embed(11, 6)
        self.encoder = Encoder(8, embed=self.shared)
        self.decoder = Decoder(embed=self.shared)

    def __call__(self, tokens):
        return self.decoder(tokens, self.encoder(tokens))


class PerhapsShared(nn.Module):
    share: bool = True

    def setup(self):
        if self.share:
            self.shared = nn.Embed(11, 6)
        else:
            self.shared = None
        self.decoder = Decoder(embed=self.shared)

    def __call__(self, tokens):
        return self.decoder(tokens, 0.0)


class Layer(nn.Module):
    bias: nn.Module

    @nn.compact
    def __call__(self, x):
        return nn.Dense(x.shape[-1])(x) + self.bias(x)


class CompactStack(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        bias = nn.Dense(x.shape[-1], name='relative')
        for i in range(self.depth):
            x = Layer(bias, name=f'layers_{i}')(x)
        return Layer(bias=nn.Dense(x.shape[-1]))(x)


class Adopted(nn.Module):
    """Made as an argument in setup: Linen names it after the field that takes it."""

    def setup(self):
        self.layer = Layer(nn.Dense(4))
        made = nn.Dense(4, use_bias=False)
        self.other = Layer(made)

    def __call__(self, x):
        return self.other(self.layer(x))


class PassedOn(nn.Module):
    embed: Any

    def setup(self):
        self.inner = Encoder(5, self.embed)

    def __call__(self, tokens):
        return self.inner(tokens)


class Deep(nn.Module):
    features: int = 4

    @nn.compact
    def __call__(self, tokens):
        return PassedOn(nn.Embed(7, self.features))(tokens)


class Chain(nn.Module):
    layers: Sequence[nn.Module]

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x


class ListInSetup(nn.Module):
    def setup(self):
        self.chain = Chain([nn.Dense(4), nn.Dense(4)])

    def __call__(self, x):
        return self.chain(x)


class ListInCompact(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Chain([nn.Dense(x.shape[-1]), nn.Dense(x.shape[-1])])(x)


class Middle(nn.Module):
    """Reads of a passed Dense what NNX calls otherwise."""

    dense: nn.Dense

    @nn.compact
    def __call__(self, x):
        h = self.dense(x)
        return nn.LayerNorm()(h) * self.dense.features


class Reads(nn.Module):
    def setup(self):
        self.dense = nn.Dense(5)
        self.middle = Middle(self.dense)

    def __call__(self, x):
        return self.middle(x) + self.dense(x) + self.dense.features


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dropout(0.5)(nn.Dense(self.width)(x), deterministic=not train)
        return nn.tanh(x)


class Holder(nn.Module):
    """A passed module of the project: its width is read off the instance."""

    block: Block

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.block(x, train=False))


class Holds(nn.Module):
    width: int = 6

    def setup(self):
        self.block = Block(self.width)
        self.holder = Holder(self.block)

    def __call__(self, x):
        return self.holder(x), self.block(x)


class TwoKinds(nn.Module):
    """One class, given modules of two classes."""

    def setup(self):
        self.first = Layer(nn.Dense(4))
        self.second = Layer(Block(4))

    def __call__(self, x):
        return self.first(x) + self.second(x)


class Rematerialised(nn.Module):
    @nn.compact
    def __call__(self, x):
        bias = nn.Dense(x.shape[-1], name='bias')
        return nn.remat(Layer)(bias)(x) + Layer(bias)(x)


class Base(nn.Module):
    vocabulary: int

    def setup(self):
        self.shared = nn.Embed(self.vocabulary, 6)
        self.encoder = Encoder(8, self.shared)
        self.out = nn.Dense(6)

    def __call__(self, tokens):
        return self.out(self.encoder(tokens))


class Head(nn.Module):
    """Reaches into a submodule: its modules, their arguments and its fields."""

    vocabulary: int = 9

    def setup(self):
        self.model = Base(self.vocabulary)
        self.head = nn.Dense(self.model.shared.num_embeddings)
        self.bias = self.param('bias', nn.initializers.ones, (1, self.model.shared.num_embeddings))
        self.scale = self.param('scale', nn.initializers.ones, (self.model.vocabulary, self.model.out.features))

    def __call__(self, tokens):
        x = self.model(tokens)
        return self.head(x) + self.model.shared.attend(x) + self.bias, x @ self.scale.T * self.model.out.features


class HeadInCompact(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        model = Base(9)
        x = model(tokens)
        return nn.Dense(model.vocabulary)(x)


TOKENS = [[1, 2, 3]]
CASES = [
    ('Seq2Seq', {}, [TOKENS], {}),
    ('PerhapsShared', dict(share=True), [TOKENS], {}),
    ('PerhapsShared', dict(share=False), [TOKENS], {}),
    ('CompactStack', {}, [(2, 4)], {}),
    ('Adopted', {}, [(2, 4)], {}),
    ('Deep', {}, [TOKENS], {}),
    ('ListInSetup', {}, [(2, 4)], {}),
    ('ListInCompact', {}, [(2, 4)], {}),
    ('Reads', {}, [(2, 4)], {}),
    ('Holds', {}, [(2, 4)], {}),
    ('Holds', dict(width=3), [(2, 4)], {}),
    ('TwoKinds', {}, [(2, 4)], {}),
    ('Rematerialised', {}, [(2, 4)], {}),
    ('Head', {}, [TOKENS], {}),
    ('HeadInCompact', {}, [TOKENS], {}),
]
