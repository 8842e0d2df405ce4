"""What setup holds under one attribute and Linen under another name, or under several, or not on every branch."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class OrArray(nn.Module):
    kind: bool = True

    def setup(self):
        if self.kind:
            self.scale = self.param("scale_weight", nn.initializers.normal(), (3,))
        else:
            self.scale = jnp.zeros((3,))

    def __call__(self, x):
        return x + self.scale


class OrNothing(nn.Module):
    kind: bool = True

    def setup(self):
        self.shift = None
        if self.kind:
            self.shift = self.param("shift.weight", nn.initializers.normal(), (3,))
        self.bias = self.param("bias_weight", nn.initializers.normal(), (3,)) if self.kind else None

    def __call__(self, x):
        x = x + self.shift if self.shift is not None else x
        return x if self.bias is None else x + self.bias


class CountedOrNot(nn.Module):
    kind: bool = True

    def setup(self):
        self.count = None
        if self.kind:
            self.count = self.variable("stats", "times", jnp.zeros, (3,))

    def __call__(self, x):
        return x if self.count is None else x + self.count.value


class Either(nn.Module):
    kind: bool = True

    def setup(self):
        if self.kind:
            self.either = self.param("first_w", nn.initializers.normal(), (3,))
        else:
            self.either = self.param("second_w", nn.initializers.normal(), (3,))

    def __call__(self, x):
        return x + self.either


class ByLocalName(nn.Module):
    kind: bool = True
    both: bool = False

    def setup(self):
        if self.kind:
            w = self.param("w_first", nn.initializers.normal(), (3,))
        elif self.both:
            w = self.param("w_second", nn.initializers.normal(), (3,))
        else:
            w = jnp.ones((3,))
        self.local = w

    def __call__(self, x):
        return x + self.local


class ComputedOfEither(nn.Module):
    """What setup computes of a parameter or an array follows the parameter."""

    kind: bool = True

    def setup(self):
        if self.kind:
            w = self.param("w_computed", nn.initializers.normal(), (3,))
        else:
            w = jnp.ones((3,))
        self.doubled = 2 * w
        self.count = w.shape[0]

    def __call__(self, x):
        return x + self.doubled * self.count


class OneAfterTheOther(nn.Module):
    """One local name for two parameters, one behind the other."""

    def setup(self):
        w = self.param("former_w", nn.initializers.normal(), (3,))
        self.former = w
        w = self.param("latter_w", nn.initializers.normal(), (3,))
        self.latter = w

    def __call__(self, x):
        return x * self.former + self.latter


class Prefixed(nn.Module):
    prefix: str = "p"
    kind: bool = True

    def setup(self):
        name = "k_w" if self.kind else "n_w"
        self.prefixed = self.param(f"{self.prefix}_w", nn.initializers.normal(), (3,))
        self.chosen = self.param(name, nn.initializers.normal(), (3,))

    def __call__(self, x):
        return x * self.prefixed + self.chosen


class Annotated(nn.Module):
    def setup(self):
        self.noted: jax.Array = self.param("noted.w", nn.initializers.normal(), (3,))
        self.one, self.two = (
            self.param("one.w", nn.initializers.normal(), (3,)),
            self.param("two.w", nn.initializers.normal(), (3,)),
        )

    def __call__(self, x):
        return x + self.noted + self.one * self.two


class Mix(nn.Module):
    """Modules of two names under one attribute, of which a field decides."""

    width: int = 4
    length: int = 1

    def setup(self):
        if self.length == 1:
            self.mix = nn.Dense(self.width)
        else:
            self.mix = nn.Conv(self.width, (self.length,), name="conv")
        self.out = nn.Dense(2)

    def mixed(self, x):
        return nn.relu(self.mix(x))

    def __call__(self, x):
        return self.out(self.mixed(x))


class Named(nn.Module):
    """The other way round, each under a name of its own."""

    deep: bool = False

    def setup(self):
        if self.deep and self.deep is not None:
            self.body = nn.Sequential([nn.Dense(4), nn.Dense(3)], name="deep_body")
        else:
            self.body = nn.Dense(3, name="flat_body")

    def __call__(self, x):
        return self.body(x)


CASES = [
    ("OrArray", {}, [(2, 3)], {}),
    ("OrNothing", {}, [(2, 3)], {}),
    ("CountedOrNot", {}, [(2, 3)], {}),
    ("Either", {}, [(2, 3)], {}),
    ("Either", {"kind": False}, [(2, 3)], {}),
    ("ByLocalName", {}, [(2, 3)], {}),
    ("ByLocalName", {"kind": False, "both": True}, [(2, 3)], {}),
    ("ByLocalName", {"kind": False}, [(2, 3)], {}),
    ("ComputedOfEither", {}, [(2, 3)], {}),
    ("ComputedOfEither", {"kind": False}, [(2, 3)], {}),
    ("OneAfterTheOther", {}, [(2, 3)], {}),
    ("Prefixed", {}, [(2, 3)], {}),
    ("Prefixed", {"prefix": "q", "kind": False}, [(2, 3)], {}),
    ("Annotated", {}, [(2, 3)], {}),
    ("Mix", {}, [(2, 6, 3)], {}),
    ("Mix", {"length": 3}, [(2, 6, 3)], {}),
    ("Named", {}, [(2, 3)], {}),
    ("Named", {"deep": True}, [(2, 3)], {}),
    ("OrArray", {"kind": False}, [(2, 3)], {}),
    ("OrNothing", {"kind": False}, [(2, 3)], {}),
    ("CountedOrNot", {"kind": False}, [(2, 3)], {}),
]
