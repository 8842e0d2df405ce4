"""Modules made in functions of the method that `jax.vmap` or a derivative is given."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def encoded(x, degrees):
    return jnp.concatenate([f(x * scale) for f in (jnp.sin, jnp.cos) for scale in 2.0 ** np.arange(degrees)], -1)


class Block(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(nn.LayerNorm()(x)))


class Heads(nn.Module):
    """Two heads for each of several layers' outputs."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)

        def heads(h):
            return nn.Dense(5, name="classes")(h), nn.sigmoid(nn.Dense(4)(Block(3)(h)))

        classes, boxes = jax.vmap(heads)(x)
        return classes, nn.Dense(2)(boxes)


class Lambda(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = jax.vmap(lambda t: nn.Dense(3)(t), in_axes=1, out_axes=1)(x)
        return y.sum() + nn.Dense(1)(y)


class Decorated(nn.Module):
    @nn.compact
    def __call__(self, x):
        @jax.vmap
        def head(t):
            return nn.Dense(3, use_bias=False)(t)

        return head(nn.Dense(4)(x))


class Partials(nn.Module):
    depth: int = 3
    skip: int = 2

    @nn.compact
    def __call__(self, x):
        dense = functools.partial(nn.Dense, kernel_init=nn.initializers.ones)

        def density(t, c):
            h = jnp.concatenate([t, c], -1)
            inputs = h
            for i in range(self.depth):
                h = nn.relu(dense(5)(h))
                if i % self.skip == 0 and i > 0:
                    h = jnp.concatenate([h, inputs], -1)
            return dense(1)(h)[..., 0], h

        (raw, h), grads = jax.vmap(jax.value_and_grad(density, has_aux=True), in_axes=(0, 0))(x, 2 * x)
        return raw, dense(2)(h), grads


class Either(nn.Module):
    """The function is mapped or called as it is."""

    mapped: bool = True

    @nn.compact
    def __call__(self, x):
        def density(t):
            return nn.Dense(1)(nn.tanh(nn.Dense(4)(t)))[..., 0]

        if self.mapped:
            found, slope = jax.vmap(jax.value_and_grad(density))(x)
        else:
            found, slope = density(x), None
        return found if slope is None else found[:, None] + slope


class Derived(nn.Module):
    @nn.compact
    def __call__(self, x):
        def energy(t):
            return Block(3)(t).sum()

        return nn.Dense(2)(jax.grad(energy)(x))


class Twice(nn.Module):
    """Each call of the mapped function makes layers of its own."""

    @nn.compact
    def __call__(self, x):
        head = jax.vmap(lambda t: nn.Dense(4)(t))
        return head(head(nn.Dense(3)(x)))


class Looped(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.depth):
            x = jax.vmap(lambda t: nn.relu(nn.Dense(3)(t)))(x)
        return nn.Dense(2)(x)


class Within(nn.Module):
    """It calls a function of the method that makes others, and has a parameter."""

    @nn.compact
    def __call__(self, x):
        def mix(t, width):
            return nn.Dense(width)(t)

        def head(t):
            scale = self.param("scale", nn.initializers.ones, (t.shape[-1],))
            return mix(nn.relu(mix(t * scale, 5)), 2)

        return jax.vmap(head)(x)


class Doubled(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jax.vmap(jax.vmap(lambda t: Block(3)(t)))(x)


class Unmapped(nn.Module):
    """Only one of the arguments is mapped."""

    @nn.compact
    def __call__(self, x):
        def head(t, whole):
            return nn.Dense(3)(jnp.concatenate([t, whole.mean(0)], -1))

        return jax.vmap(head, in_axes=(0, None))(x, x)


class Evaluated(nn.Module):
    """A Dropout that draws nothing."""

    @nn.compact
    def __call__(self, x):
        return jax.vmap(lambda t: nn.Dropout(0.5)(nn.Dense(3)(t), deterministic=True))(x)


class Encoded(nn.Module):
    """No code shows how wide the encoding is: the call on shapes does."""

    degrees: int = 3

    @nn.compact
    def __call__(self, x):
        def density(t):
            return nn.Dense(1)(nn.tanh(nn.Dense(5)(encoded(t, self.degrees))))[..., 0]

        def block(t):
            return Block(3)(encoded(t, 2))

        found, slope = jax.vmap(jax.value_and_grad(density))(x)
        return found[:, None] + slope, jax.vmap(block)(x)


class Looked(nn.Module):
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        def head(t):
            h = encoded(t, 2)
            for _ in range(self.depth):
                h = jnp.concatenate([nn.Dense(3)(h), encoded(t, 1)], -1)
            return h

        return jax.vmap(head)(x)


class OfMethods(nn.Module):
    """A method is mapped, and called as it is."""

    def head(self, t, scale):
        return nn.Dense(3)(t) * scale

    def energy(self, t):
        return nn.Dense(1, name="last")(nn.LayerNorm()(t)).sum()

    @nn.compact
    def __call__(self, x):
        head = jax.vmap(self.head, in_axes=(0, None))
        return head(x, 2.0) + self.head(x, 3.0), jax.vmap(jax.grad(self.energy))(x)


class Based(OfMethods):
    def energy(self, t):
        return (nn.Dense(2, name="first")(t) ** 2).sum()


CASES = [
    ("Heads", {}, [(2, 3, 4)], {}),
    ("Lambda", {}, [(2, 5, 3)], {}),
    ("Decorated", {}, [(2, 3)], {}),
    ("Partials", {}, [(2, 3)], {}),
    ("Partials", {"depth": 1}, [(2, 3)], {}),
    ("Either", {}, [(2, 3)], {}),
    ("Either", {"mapped": False}, [(2, 3)], {}),
    ("Derived", {}, [(2, 3)], {}),
    ("Twice", {}, [(2, 3)], {}),
    ("Looped", {}, [(2, 4)], {}),
    ("Within", {}, [(2, 3)], {}),
    ("Doubled", {}, [(2, 3, 4)], {}),
    ("Unmapped", {}, [(2, 3)], {}),
    ("Evaluated", {}, [(2, 3)], {}),
    ("Encoded", {}, [(2, 3)], {}),
    ("Looked", {}, [(2, 3)], {}),
    ("OfMethods", {}, [(2, 3)], {}),
    ("Based", {}, [(2, 3)], {}),
]
