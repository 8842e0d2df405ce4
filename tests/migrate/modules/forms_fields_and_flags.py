"""Conditions of fields, or of sizes, together with flags of the call: the constructor asks what it knows of them."""

import flax.linen as nn
import jax.numpy as jnp


class Extra(nn.Module):
    use: bool = True

    @nn.compact
    def __call__(self, x, aux: bool = True):
        if self.use and aux:
            x = x + nn.LayerNorm()(x)
        return nn.Dense(3)(x)


class Turned(nn.Module):
    use: bool = True

    @nn.compact
    def __call__(self, x, aux: bool = True):
        if aux and self.use:
            y = nn.LayerNorm()(x)
        else:
            y = x
        return nn.Dense(3)(y)


class Either(nn.Module):
    use: bool = True
    width: int = 4

    @nn.compact
    def __call__(self, x, flag: bool = False):
        x = nn.Dense(7)(x)
        if self.use or self.width > 5 or flag:
            scale = 2.0
        else:
            scale = self.param("scale", nn.initializers.ones, (7,))
        return nn.LayerNorm()(x * scale)


class Three(nn.Module):
    use: bool = True
    width: int = 4

    @nn.compact
    def __call__(self, x, flag: bool = True):
        if self.use and self.width > 3 and flag:
            x = nn.Dense(x.shape[-1])(x)
        else:
            x = jnp.tanh(x)
        return nn.LayerNorm()(x)


class Bracketed(nn.Module):
    use: bool = True
    width: int = 4

    @nn.compact
    def __call__(self, x, flag: bool = True):
        if (self.use) and (self.width > 3) and flag:
            x = nn.Dense(x.shape[-1])(x)
        else:
            x = jnp.tanh(x)
        return nn.LayerNorm()(x)


class Heights(nn.Module):
    resolutions: tuple = (8, 4)

    @nn.compact
    def __call__(self, x, attend: bool = True):
        for width in (4, 6):
            x = nn.Conv(width, (3, 3), strides=2)(x)
            if x.shape[1] in self.resolutions and attend:
                x = x + nn.Dense(width)(x)
        return nn.GroupNorm(2)(x)


class NamedByHeights(nn.Module):
    resolutions: tuple = (4,)

    @nn.compact
    def __call__(self, x, attend: bool = True):
        hs = [nn.Conv(4, (3, 3))(x)]
        for i in range(3):
            h = nn.Conv(4, (3, 3), strides=2)(hs[-1])
            height = h.shape[1]
            if attend and height in self.resolutions:
                h = nn.Conv(4, (1, 1), name=f"attention_{i}")(h)
            hs.append(h)
        return nn.Dense(3)(hs[-1])


class Before(nn.Module):
    widths: tuple = (4, 4)

    @nn.compact
    def __call__(self, x, up: bool = True, more: bool = False):
        x = nn.Dense(4)(x)
        x = nn.Dense(4)(x)
        for width in self.widths:
            if up and not more:
                x = nn.Dense(4, use_bias=width > 3)(x)
        return x


class Given(nn.Module):
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, mask=None, train: bool = False):
        if mask is not None and self.rate > 0 and not train:
            x = x + nn.Dense(x.shape[-1], name="m")(mask)
        if self.rate > 0 and train:
            x = nn.Dropout(self.rate)(x, deterministic=False)
        return nn.Dense(3)(x)


class Head(nn.Module):
    kind: str = "a"

    @nn.compact
    def __call__(self, x, logits: bool = True):
        x = nn.Dense(5)(x)
        if self.kind == "a" and logits:
            return nn.Dense(3, name="head")(x)
        elif self.kind == "b" and logits:
            return nn.Dense(4, name="other")(x)
        if self.kind == "c" and not logits:
            raise ValueError("no")
        return jnp.tanh(x)


def extra(x, use, more):
    if use and more:
        x = nn.Dense(x.shape[-1], name="extra")(x)
    return x


class InFunctions(nn.Module):
    use: bool = True

    @nn.compact
    def __call__(self, x, more: bool = True):
        def inner(y, width):
            if more and self.use:
                y = nn.Dense(width, name="inner")(y)
            return y

        return nn.LayerNorm()(extra(inner(x, x.shape[-1]), self.use, more))


class Ends(nn.Module):
    use: bool = False

    @nn.compact
    def __call__(self, x, early: bool = False):
        x = nn.Dense(5)(x)
        if self.use and early:
            return x
        return nn.LayerNorm()(x)


CASES = [
    ("Extra", {"use": False}, [(2, 4)], {}),
    ("Either", {"use": False}, [(2, 4)], {}),
    ("Three", {"width": 3}, [(2, 4)], {}),
    ("InFunctions", {"use": False}, [(2, 4)], {}),
    ("Heights", {}, [(2, 8, 8, 3)], {}),
    ("InFunctions", {}, [(2, 4)], {}),
    ("Extra", {}, [(2, 4)], {}),
    ("Turned", {}, [(2, 4)], {}),
    ("Turned", {"use": False}, [(2, 4)], {}),
    ("Either", {}, [(2, 4)], {}),
    ("Either", {"use": False, "width": 6}, [(2, 4)], {}),
    ("Three", {}, [(2, 4)], {}),
    ("Three", {"use": False, "width": 3}, [(2, 4)], {}),
    ("Three", {"use": False}, [(2, 4)], {}),
    ("Bracketed", {}, [(2, 4)], {}),
    ("Bracketed", {"width": 3}, [(2, 4)], {}),
    ("Heights", {}, [(2, 16, 16, 3)], {}),
    ("Heights", {"resolutions": ()}, [(2, 16, 16, 3)], {}),
    ("NamedByHeights", {}, [(2, 16, 16, 3)], {}),
    ("NamedByHeights", {"resolutions": (8, 2)}, [(2, 16, 16, 3)], {}),
    ("Before", {}, [(2, 5)], {}),
    ("Before", {"widths": (3, 4, 5)}, [(2, 5)], {}),
    ("Given", {}, [(2, 4)], {"mask": None}),
    ("Given", {}, [(2, 4), (2, 5)], {}),
    ("Given", {"rate": 0.0}, [(2, 4), (2, 5)], {}),
    ("Head", {}, [(2, 4)], {}),
    ("Head", {"kind": "b"}, [(2, 4)], {}),
    ("Head", {"kind": "c"}, [(2, 4)], {}),
    ("Ends", {}, [(2, 4)], {}),
]
