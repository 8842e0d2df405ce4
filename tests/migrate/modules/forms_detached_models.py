"""Layers that are initialized and applied with variables from elsewhere, within modules."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class Standardized(nn.Module):
    """A layer that lends its first values, and is applied with others."""

    features: int
    kernel_size: Any = 3

    @nn.compact
    def __call__(self, x):
        conv = nn.Conv(features=self.features, kernel_size=(self.kernel_size,) * 2, parent=None)

        kernel_init = lambda rng, x: conv.init(rng, x)["params"]["kernel"]
        bias_init = lambda rng, x: conv.init(rng, x)["params"]["bias"]
        kernel = self.param("kernel", kernel_init, x)
        mean = jnp.mean(kernel, axis=(0, 1, 2), keepdims=True)
        bias = self.param("bias", bias_init, x)
        return conv.apply({"params": {"kernel": kernel - mean, "bias": bias}}, x)


class StandardizedTwice(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        h = nn.relu(Standardized(self.width)(x))
        h = nn.LayerNorm()(h)
        return nn.Dense(3)(Standardized(2 * self.width, kernel_size=1)(h))


class Counted(nn.Module):
    """One that Linen numbers, as it is no module's own but by `parent=None`."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(5)(x)
        dense = nn.Dense(4, use_bias=False)
        kernel = self.param("kernel", nn.initializers.normal(), (x.shape[-1], 4))
        y = dense.apply({"params": {"kernel": kernel / jnp.linalg.norm(kernel)}}, x)
        return nn.Dense(2)(y)


class Normed(nn.Module):
    """Of setup."""

    width: int

    def setup(self):
        self.conv = nn.Conv(self.width, (3,), padding="SAME")
        self.weight_v = self.param("weight_v", nn.initializers.he_normal(), (self.width, 2, 3))
        self.weight_g = self.param("weight_g", lambda _: jnp.linalg.norm(self.weight_v, axis=(0, 1))[None, None, :])
        self.bias = self.param("bias", jax.nn.initializers.zeros, (self.width,))

    def __call__(self, x):
        kernel = self.weight_v / jnp.linalg.norm(self.weight_v, axis=(0, 1))[None, None, :] * self.weight_g
        return self.conv.apply({"params": {"kernel": kernel.T, "bias": self.bias}}, x)


class NormedByFields(nn.Module):
    """Of which fields are read."""

    width: int
    groups: int = 2

    def setup(self):
        self.conv = nn.Conv(
            features=self.width,
            kernel_size=(3,),
            kernel_init=jax.nn.initializers.he_normal(),
            padding="VALID",
            feature_group_count=self.groups,
        )
        shape = (self.conv.features, self.conv.features // self.conv.feature_group_count, self.conv.kernel_size[0])
        self.weight_v = self.param("weight_v", jax.nn.initializers.he_normal(), shape)
        self.weight_g = self.param("weight_g", lambda _: jnp.linalg.norm(self.weight_v, axis=(0, 1))[None, None, :])
        self.bias = self.param("bias", jax.nn.initializers.zeros, (self.conv.features,))
        self.prev_padding = self.conv.kernel_size[0] // 2

    def _get_normed_weights(self):
        norm = jnp.linalg.norm(self.weight_v, axis=(0, 1))[None, None, :]
        return self.weight_v / norm * self.weight_g

    def __call__(self, x):
        x = jnp.pad(x, ((0, 0), (self.prev_padding, self.prev_padding), (0, 0)))
        return self.conv.apply({"params": {"kernel": self._get_normed_weights().T, "bias": self.bias}}, x)


class Embedded(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(NormedByFields(4)(x))


class Body(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.relu(nn.Dense(self.width)(x)))


class OfTree(nn.Module):
    """All variables of a model as one parameter."""

    width: int

    @nn.compact
    def __call__(self, x):
        body = Body(self.width, parent=None)
        params = self.param("body", lambda key: body.init(key, x)["params"])
        return body.apply({"params": jax.tree.map(lambda leaf: leaf * 2.0, params)}, x)


class OfKernel(nn.Module):
    """One parameter of a model of the project's, for each example by itself."""

    width: int

    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(self.width, use_bias=False, parent=None)

        def init(key, x):
            variables = layer.init(key, x[0])
            return variables["params"]["kernel"]

        kernel = self.param("kernel", init, x)
        return jax.vmap(lambda one: layer.apply({"params": {"kernel": kernel}}, one))(x)


class Shaped(nn.Module):
    """An initializer that is given an array, and asks for its shape."""

    @nn.compact
    def __call__(self, x):
        y = jnp.concatenate([x, x * x], axis=-1)
        kernel = self.param("kernel", lambda key, a, n: nn.initializers.normal()(key, (a.shape[-1], n)), y, 3)
        scale = self.param("scale", lambda key, a: jnp.ones_like(a[0]), y)
        return (y * scale) @ kernel


class OfCall(nn.Module):
    """Applied with variables that the call is given."""

    def setup(self):
        self.dense = nn.Dense(4)
        self.out = nn.Dense(2)

    def __call__(self, x, kernel):
        variables = {"params": {"kernel": kernel, "bias": jnp.ones(4)}}
        return self.out(self.dense.apply(variables, x))


class Boxed(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(4, kernel_init=nn.with_partitioning(nn.initializers.normal(), (None, "model")), parent=None)
        kernel = self.param("kernel", lambda key, x: dense.init(key, x)["params"]["kernel"], x)
        return dense.apply({"params": {"kernel": kernel, "bias": jnp.zeros(4)}}, x)


class Looked(nn.Module):
    """Embeddings, and a norm."""

    @nn.compact
    def __call__(self, x):
        embed = nn.Embed(7, 4, parent=None)
        ids = jnp.argmax(x, axis=-1)
        table = self.param("table", lambda key, i: embed.init(key, i)["params"]["embedding"], ids)
        norm = nn.LayerNorm(use_bias=False, parent=None)
        y = embed.apply({"params": {"embedding": table}}, ids)
        scale = self.param("scale", lambda key: norm.init(key, y)["params"]["scale"])
        return norm.apply({"params": {"scale": scale + 1.0}}, y)


CASES = [
    ("Standardized", {"features": 4}, [(2, 5, 5, 3)], {}),
    ("Standardized", {"features": 3, "kernel_size": 1}, [(1, 4, 4, 2)], {}),
    ("StandardizedTwice", {}, [(2, 5, 5, 3)], {}),
    ("Counted", {}, [(2, 3)], {}),
    ("Normed", {"width": 4}, [(2, 6, 2)], {}),
    ("NormedByFields", {"width": 4}, [(2, 6, 4)], {}),
    ("Embedded", {}, [(2, 6, 4)], {}),
    ("OfTree", {"width": 4}, [(2, 3)], {}),
    ("OfKernel", {"width": 4}, [(2, 3)], {}),
    ("Shaped", {}, [(2, 3)], {}),
    ("OfCall", {}, [(2, 3), (3, 4)], {}),
    ("Boxed", {}, [(2, 3)], {}),
    ("Looked", {}, [(2, 5)], {}),
]
