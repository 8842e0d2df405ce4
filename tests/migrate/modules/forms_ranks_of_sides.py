"""What one side of a condition tells of an argument's rank holds there: the other side takes arrays of other ranks."""

import flax.linen as nn
import jax.numpy as jnp


class Encoder(nn.Module):
    images: bool = True

    @nn.compact
    def __call__(self, x):
        if self.images:
            x = nn.Conv(4, (3, 3))(x)
            x = x.mean(axis=(1, 2))
        else:
            x = x.reshape(x.shape[0], -1)
        return nn.Dense(3)(x)


class Unpacked(nn.Module):
    images: bool = False

    @nn.compact
    def __call__(self, x):
        if self.images:
            b, h, w, c = x.shape
            x = x.reshape(b, h * w * c)
        return nn.Dense(3)(x)


class Returned(nn.Module):
    images: bool = True

    @nn.compact
    def __call__(self, x):
        if not self.images:
            return nn.Dense(4)(x.reshape(x.shape[0], -1))
        b, h, w, c = x.shape
        return nn.Dense(4)(x.reshape(b, h * w, c))


class Raised(nn.Module):
    kind: str = "images"

    @nn.compact
    def __call__(self, x):
        if self.kind == "images":
            b, h, w, c = x.shape
            x = x.reshape(b, h * w, c)
        else:
            raise ValueError(self.kind)
        return nn.Dense(4)(x.reshape(x.shape[0], -1))


class Chosen(nn.Module):
    turn: bool = True

    @nn.compact
    def __call__(self, x):
        y = x.transpose(0, 2, 1) if self.turn else x
        return nn.Dense(3)(y)


class Both(nn.Module):
    turn: bool = True

    @nn.compact
    def __call__(self, x):
        if self.turn:
            y = jnp.einsum("btd->bdt", x)
        else:
            b, t, d = x.shape
            y = x.reshape(b, t * d)
        return nn.Dense(3)(y) * nn.Dense(1)(x.reshape(x.shape[0], -1)).mean()


class Part(nn.Module):
    images: bool = True

    @nn.compact
    def __call__(self, x):
        if self.images:
            b, h, w, c = x.shape
            x = x.reshape(b, h * w, c)
        return nn.Dense(3)(x)


class Whole(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Part(images=False)(nn.Dense(4)(x))
        return nn.Dense(3)(x.reshape(x.shape[0], -1))


class Token(nn.Module):
    kind: str = "token"
    width: int = 4

    @nn.compact
    def __call__(self, x, token=None):
        if self.kind == "token":
            x = jnp.concatenate((jnp.tile(token[None, None, :], (x.shape[0], 1, 1)), x), axis=1)
        table = self.param("table", nn.initializers.normal(), (x.shape[1], self.width))
        return nn.Dense(3)(x + table[None])


class Scaled(nn.Module):
    """A parameter of setup under a local name, where one side tells a rank."""

    images: bool = True

    def setup(self):
        self.scale = self.param("scale", nn.initializers.normal(), (3,))
        self.out = nn.Dense(4)

    def __call__(self, x):
        scale = self.scale
        if self.images:
            b, h, w, c = x.shape
            x = x.reshape(b, h * w, c)
        return self.out(x * scale)


class Masked(nn.Module):
    heads: bool = True

    @nn.compact
    def __call__(self, x, mask=None):
        if self.heads:
            y = x if mask is None else x * mask.transpose(0, 2, 1)
            if mask is not None:
                b, t, d = mask.shape
                y = y + nn.Dense(x.shape[-1], name="within")(mask.reshape(b, d, t))
        else:
            y = x
        if mask is not None:
            y = y + nn.Dense(x.shape[-1], name="behind")(mask)
        return nn.Dense(3)(y)


CASES = [
    ("Scaled", {}, [(2, 4, 4, 3)], {}),
    ("Scaled", {"images": False}, [(2, 3)], {}),
    ("Encoder", {"images": False}, [(2, 5)], {}),
    ("Returned", {"images": False}, [(2, 3, 4)], {}),
    ("Chosen", {"turn": False}, [(2, 5)], {}),
    ("Whole", {}, [(2, 3, 5)], {}),
    ("Masked", {"heads": False}, [(2, 5), (2, 7)], {}),
    ("Masked", {}, [(2, 4, 4), (2, 4, 4)], {}),
    ("Masked", {}, [(2, 4, 5)], {"mask": None}),
    ("Token", {}, [(2, 5, 4), (4,)], {}),
    ("Token", {"kind": "mean"}, [(2, 5, 4)], {"token": None}),
    ("Encoder", {}, [(2, 4, 4, 3)], {}),
    ("Encoder", {"images": False}, [(2, 3, 4, 5)], {}),
    ("Encoder", {"images": False}, [(2, 3, 4, 5, 2)], {}),
    ("Unpacked", {}, [(2, 5)], {}),
    ("Unpacked", {"images": True}, [(2, 4, 4, 3)], {}),
    ("Returned", {}, [(2, 4, 4, 3)], {}),
    ("Raised", {}, [(2, 4, 4, 3)], {}),
    ("Chosen", {}, [(2, 5, 3)], {}),
    ("Chosen", {"turn": False}, [(2, 5, 3, 2)], {}),
    ("Both", {}, [(2, 5, 3)], {}),
    ("Both", {"turn": False}, [(2, 5, 3)], {}),
    ("Part", {"images": False}, [(2, 5)], {}),
]
