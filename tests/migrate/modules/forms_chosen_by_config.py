"""`cfg = self.config`, an object of a class that the project has, which chooses what is made: `if cfg.remat: ...`."""

from typing import Any

import flax.linen as nn
from flax import struct


@struct.dataclass
class Config:
    pol: str = "minimal"
    remat: bool = True
    scan: bool = True


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, mask, det=True):
        return x + nn.Dense(x.shape[-1])(x), None


class Other(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, mask, det=True):
        return nn.LayerNorm()(x), None


class Flag(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        B = Block
        if cfg.remat:
            B = nn.remat(B)
        x, _ = nn.scan(
            B, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(nn.broadcast, nn.broadcast), length=3
        )(config=cfg, name="enc")(x, None, True)
        return x


class Own(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        B = Block
        if self.config.remat:
            B = nn.remat(B)
        x, _ = nn.scan(
            B, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(nn.broadcast, nn.broadcast), length=3
        )(config=self.config, name="enc")(x, None, True)
        return x


class NotIn(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        B = Block
        if cfg.pol not in (None, "none"):
            B = nn.remat(B)
        x, _ = nn.scan(
            B, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(nn.broadcast, nn.broadcast), length=3
        )(config=cfg, name="enc")(x, None, True)
        return x


class Plain(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        B = Block
        if cfg.pol not in ["none"]:
            B = nn.remat(B)
        x, _ = B(cfg)(x, None, True)
        return x


class Both(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        B = Block
        if cfg.pol is not None and cfg.pol != "none":
            B = nn.remat(B)
        x, _ = nn.scan(
            B, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=(nn.broadcast, nn.broadcast), length=3
        )(config=cfg, name="enc")(x, None, True)
        return x


class KindAndRemat(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        kind = Block if cfg.pol == "minimal" else Other
        if cfg.remat:
            kind = nn.remat(kind)
        for i in range(2):
            x, _ = kind(cfg, name=f"l_{i}")(x, None, True)
        return x


class InSetup(nn.Module):
    config: Config

    def setup(self):
        cfg = self.config
        kind = Block
        if cfg.pol == "none":
            kind = Other
        self.b = kind(cfg)

    def __call__(self, x):
        return self.b(x, None)[0]


CASES: list[tuple[Any, ...]] = [
    (name, {"config": config}, [(2, 4)], {})
    for name in ("Flag", "Own", "NotIn", "Plain", "Both", "KindAndRemat", "InSetup")
    for config in (Config(), Config(pol="none", remat=False))
]
