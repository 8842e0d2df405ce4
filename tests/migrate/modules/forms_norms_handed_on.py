"""Norms that are given to other modules, and counted: which number they have, a field decides."""

from typing import Any

import flax.linen as nn


class Enc(nn.Module):
    norm: Any = None
    n: int = 4

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.n)(x)
        if self.norm is not None:
            x = self.norm(x)
        return x


class Detr(nn.Module):
    pre: bool = False

    @nn.compact
    def __call__(self, x):
        enc_norm = nn.LayerNorm() if self.pre else None
        y = Enc(norm=enc_norm, name="enc")(x)
        dec_norm = nn.LayerNorm()
        return Enc(norm=dec_norm, name="dec")(y)


class Stm(nn.Module):
    pre: bool = False

    @nn.compact
    def __call__(self, x):
        if self.pre:
            enc_norm = nn.LayerNorm()
        else:
            enc_norm = None
        y = Enc(norm=enc_norm, name="enc")(x)
        dec_norm = nn.LayerNorm()
        return Enc(norm=dec_norm, name="dec")(y)


class Both(nn.Module):
    pre: bool = False

    @nn.compact
    def __call__(self, x):
        enc_norm = nn.LayerNorm() if self.pre else None
        dec_norm = nn.LayerNorm()
        y = Enc(norm=enc_norm, name="enc")(x)
        return Enc(norm=dec_norm, name="dec")(y)


class Inner(nn.Module):
    pre: bool = False

    @nn.compact
    def __call__(self, x):
        a = nn.LayerNorm() if self.pre else None
        b = nn.LayerNorm()
        if self.pre:
            x = Enc(norm=a)(x)
        return Enc(norm=b)(x)


CASES = [
    ("Detr", {"pre": False}, [(2, 3)], {}),
    ("Detr", {"pre": True}, [(2, 3)], {}),
    ("Stm", {"pre": True}, [(2, 3)], {}),
    ("Stm", {"pre": False}, [(2, 3)], {}),
    ("Both", {"pre": True}, [(2, 3)], {}),
    ("Both", {"pre": False}, [(2, 3)], {}),
    ("Inner", {"pre": True}, [(2, 3)], {}),
    ("Inner", {"pre": False}, [(2, 3)], {}),
]
