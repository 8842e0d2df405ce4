"""What setup computes from its parameters: computed anew for every call, under conditions, in tuples, within expressions."""

import jax
import jax.numpy as jnp
from flax import linen as nn


def discretize(lam, b, step):
    return jnp.exp(lam * step), b * step[:, None]


class SSM(nn.Module):
    H: int
    P: int
    kind: str = "full"
    method: str = "zoh"
    clip: bool = False
    double: bool = False
    rescale: float = 1.0

    def setup(self):
        """Parameters and what follows from them."""
        if self.double:
            size = 2 * self.P
        else:
            size = self.P

        # The diagonal.
        self.re = self.param("re", nn.initializers.normal(), (size,))
        self.im = self.param("im", nn.initializers.normal(), (size,))
        # clipped
        if self.clip:
            self.lam = jnp.clip(self.re, None, -1e-4) + self.im
        else:
            self.lam = self.re + self.im  # the sum

        self.B = self.param("B", nn.initializers.lecun_normal(), (size, self.H))
        b = self.B * 2.0

        # Output
        if self.kind in ["full"]:
            shape = (self.H, size)
        elif self.kind in ["half"]:
            shape = (self.H, size)
        else:
            raise NotImplementedError(self.kind)
        if self.kind == "full":
            if self.double:
                C = self.param("C", nn.initializers.normal(), (self.H, size))
                self.out = C * 2.0
            else:
                C = self.param("C", nn.initializers.normal(), shape)
                self.out = C * 1.0
        else:
            self.C1 = self.param("C1", nn.initializers.normal(), shape)
            self.out = jnp.sin(self.C1)
        self.log_step = self.param("log_step", nn.initializers.normal(), (size,))
        factor = self.rescale * 2
        step = factor * jnp.exp(self.log_step)

        # Discretize
        if self.method in ["zoh"]:
            self.lam_bar, self.b_bar = discretize(self.lam, b, step)
        elif self.method in ["other"]:
            self.lam_bar, self.b_bar = discretize(self.lam, b, 2 * step)
        else:
            raise NotImplementedError(f"{self.method}")

    def __call__(self, x):
        """Apply."""
        y = x @ self.b_bar.T * self.lam_bar
        return (lambda u: u @ self.out.T)(y) + self.norm()

    def norm(self):
        return jnp.sum(self.lam**2) + self.re.sum()


class Inside(nn.Module):
    def setup(self):
        self.scale = jnp.exp(self.param("log_scale", nn.initializers.normal(), (3,)))
        self.dense = nn.Dense(3)
        w = self.param("w", nn.initializers.normal(), (3, 3))
        self.w = w
        self.sym = w + w.T

    def __call__(self, x):
        return self.dense(x) @ self.sym * self.scale @ self.w


class Looped(nn.Module):
    """Functions, loops and methods of setup that read parameters; a property that reads what they give."""

    depth: int = 3

    def setup(self):
        self.w = self.param("w", nn.initializers.normal(), (3,))
        self.b: jax.Array = self.param("b", nn.initializers.normal(), (3,))

        def squash(v):
            return jnp.tanh(v) * self.b

        total = jnp.zeros(3)
        for i in range(self.depth):
            total += squash(self.w) ** i
        self.total = total
        self.sums, self.size = self._sum(total), self.w.shape[0]
        self.dense = nn.Dense(3)

    def _sum(self, v):
        return jnp.cumsum(v) + self.w

    @property
    def both(self):
        return self.total + self.sums

    def __call__(self, x):
        return self.dense(x) * self.both / self.size


class Unused(nn.Module):
    def setup(self):
        w = self.param("w", nn.initializers.ones, (3,))  # noqa: F841

    def __call__(self, x):
        return 2 * x


class Outer(nn.Module):
    """Such a module in a list, called twice: each call computes anew."""

    def setup(self):
        self.layers = [Inside() for _ in range(2)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(layer(x))
        return x


CASES = [
    ("SSM", {"H": 4, "P": 6}, [(2, 4)], {}),
    ("SSM", {"H": 4, "P": 6, "double": True, "clip": True, "method": "other"}, [(2, 4)], {}),
    ("SSM", {"H": 4, "P": 6, "kind": "half", "rescale": 3.0}, [(2, 4)], {}),
    ("Inside", {}, [(2, 4)], {}),
    ("Looped", {}, [(2, 4)], {}),
    ("Unused", {}, [(2, 4)], {}),
    ("Outer", {}, [(2, 3)], {}),
]
