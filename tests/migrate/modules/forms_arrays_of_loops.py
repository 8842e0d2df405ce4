"""Arrays of loops that are added, stacked and joined: `sum(skips)`, `total += y`, `jnp.stack([h(x) for h in heads])`."""

from collections.abc import Sequence

import jax.numpy as jnp
from flax import linen as nn


class Skips(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        skips = []
        for i in range(self.n):
            z = nn.Dense(6)(x)
            skips.append(nn.Dense(5)(z))
            x = x + nn.Dense(x.shape[-1])(z)
        return nn.Dense(2)(nn.relu(sum(skips)))


class Mean(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        skips = []
        for i in range(self.n):
            x = nn.Dense(6)(x)
            skips.append(x)
        return nn.Dense(2)(sum(skips) / len(skips))


class StackedList(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        skips = []
        for i in range(self.n):
            x = nn.Dense(6)(x)
            skips.append(x)
        return nn.Dense(2)(jnp.stack(skips).mean(0))


class Total(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        total = 0
        for i in range(self.n):
            x = nn.Dense(6)(x)
            total = total + nn.Dense(4)(x)
        return nn.Dense(2)(total)


class TotalInPlace(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        total = 0.0
        for i in range(self.n):
            x = nn.Dense(6)(x)
            total += x
        return nn.Dense(2)(total)


class StackedLast(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        ys = []
        for i in range(self.n):
            ys.append(nn.Dense(4)(x))
        ys = jnp.stack(ys, axis=-1)
        w = nn.softmax(nn.Dense(self.n)(x))
        return nn.Dense(2)((ys * w[..., None, :]).sum(-1))


class Joined(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        ys = jnp.concatenate([nn.Dense(4)(x) for _ in range(self.n)], axis=-1)
        return nn.Dense(2)(ys)


class Kernels(nn.Module):
    kernels: Sequence[int] = (2, 3)
    nf: int = 4

    @nn.compact
    def __call__(self, x):
        ys = [nn.relu(nn.Conv(self.nf, (k,), padding="VALID")(x)).max(axis=1) for k in self.kernels]
        return nn.Dense(2)(jnp.concatenate(ys, axis=-1))


class Widths(nn.Module):
    sizes: Sequence[int] = (2, 3)

    @nn.compact
    def __call__(self, x):
        ys = [nn.Dense(s)(x) for s in self.sizes]
        return nn.Dense(2)(jnp.concatenate(ys, axis=-1))


class KernelsAppended(nn.Module):
    kernels: Sequence[int] = (2, 3)
    nf: int = 4

    @nn.compact
    def __call__(self, x):
        outs = []
        for k in self.kernels:
            h = nn.relu(nn.Conv(self.nf, (k,), padding="VALID")(x))
            outs.append(jnp.max(h, axis=1))
        return nn.Dense(2)(jnp.concatenate(outs, axis=1))


class Broadcast(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        total = 0
        for i in range(self.n):
            total += nn.Dense(4 + i)(x).sum(-1, keepdims=True)
        return nn.Dense(2)(total)


class Loss(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        loss = 0.0
        for i in range(self.n):
            x = nn.Dense(4)(x)
            loss = loss + jnp.mean(x**2)
        return nn.Dense(2)(x), loss


class StackedHeads(nn.Module):
    n: int = 2

    def setup(self):
        self.heads = [nn.Dense(4) for _ in range(self.n)]
        self.out = nn.Dense(3)

    def __call__(self, x):
        ys = jnp.stack([h(x) for h in self.heads], axis=-2)
        return self.out(ys.mean(-2))


class JoinedHeads(nn.Module):
    n: int = 2

    def setup(self):
        self.heads = [nn.Dense(4) for _ in range(self.n)]
        self.out = nn.Dense(3)

    def __call__(self, x):
        ys = jnp.concatenate([h(x) for h in self.heads], axis=-1)
        return self.out(ys)


class Product(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        count = 0
        y = 1.0
        for i in range(self.n):
            y = y * nn.sigmoid(nn.Dense(4)(x))
            count += 1
        return nn.Dense(2 + count)(y)


class Experts(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        w = nn.softmax(nn.Dense(self.n)(x))
        out = 0
        for i in range(self.n):
            out += w[..., i : i + 1] * nn.Dense(5, name=f"expert_{i}")(x)
        return nn.LayerNorm()(out)


class Mixture(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x):
        gates = nn.softmax(nn.Dense(self.n)(x))
        experts = jnp.stack([nn.Dense(5)(nn.relu(nn.Dense(8)(x))) for _ in range(self.n)], axis=1)
        y = jnp.einsum("be,bed->bd", gates, experts)
        return nn.Dense(2)(y)


CASES = [
    ("Skips", {}, [(2, 4)], {}),
    ("Mean", {}, [(2, 4)], {}),
    ("StackedList", {}, [(2, 4)], {}),
    ("Total", {}, [(2, 4)], {}),
    ("TotalInPlace", {}, [(2, 4)], {}),
    ("StackedLast", {}, [(2, 4)], {}),
    ("Joined", {}, [(2, 4)], {}),
    ("Kernels", {}, [(2, 7, 4)], {}),
    ("Widths", {}, [(2, 4)], {}),
    ("KernelsAppended", {}, [(2, 7, 4)], {}),
    ("Broadcast", {}, [(2, 4)], {}),
    ("Loss", {}, [(2, 4)], {}),
    ("StackedHeads", {}, [(2, 4)], {}),
    ("JoinedHeads", {}, [(2, 4)], {}),
    ("Product", {}, [(2, 4)], {}),
    ("Experts", {}, [(2, 4)], {}),
    ("Mixture", {}, [(2, 4)], {}),
]
