"""Stacks whose axes a field says, whose collections stand along different axes, and whose streams are split or not.

`CASES` as in `forms_basic.py`.
"""

import dataclasses

import jax
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

ScanIn = nn_partitioning.ScanIn


@dataclasses.dataclass(frozen=True)
class Config:
    depth: int = 3
    axis: int = 1
    drop: bool = True
    noise: bool = False


class Layer(nn.Module):
    """Draws from two streams, counts its calls and sows."""

    width: int = 6

    @nn.compact
    def __call__(self, x, deterministic):
        y = nn.Dense(self.width, kernel_init=nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model")))(x)
        y = nn.Dropout(0.5)(nn.relu(y), deterministic=deterministic)
        if not deterministic:
            y = y + jax.random.normal(self.make_rng("noise"), y.shape)
        self.sow("intermediates", "hidden", y)
        return x + nn.Dense(x.shape[-1])(y), None


class Stack(nn.Module):
    axis: int = 1
    depth: int = 3

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        layers = nn.scan(
            Layer,
            variable_axes={"params": self.axis, "intermediates": 0},
            split_rngs={"params": True, "dropout": True, "noise": True},
            in_axes=(nn.broadcast,),
            length=self.depth,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        return layers(name="layers")(x, deterministic)[0]


class Configured(nn.Module):
    config: Config = Config()

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        cfg = self.config
        initializing = self.is_mutable_collection("params")
        spec = cfg.axis if initializing else ScanIn(cfg.axis)
        layers = nn.scan(
            nn.remat(Layer, prevent_cse=False, static_argnums=(-1, -2)),
            variable_axes={"params": spec, "cache": 0, "intermediates": 0},
            split_rngs={"params": True, "dropout": cfg.drop, "noise": cfg.noise},
            in_axes=(nn.broadcast,),
            length=cfg.depth,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )
        return layers(width=4, name="layers")(x, deterministic)[0]


class OneStream(nn.Module):
    """One stream for all layers, said outright."""

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        layers = nn.scan(
            Layer,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": False, "noise": True},
            in_axes=(nn.broadcast,),
            length=2,
            metadata_params={nn.PARTITION_NAME: None},
        )
        return layers()(x, deterministic)[0]


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=False)(nn.Dense(4)(x)), None


class Statistics(nn.Module):
    """Averages along another axis than the parameters."""

    @nn.compact
    def __call__(self, x):
        layers = nn.scan(
            Normed, variable_axes={"params": 1, "batch_stats": 0}, split_rngs={"params": True}, length=2, in_axes=()
        )
        return layers(name="layers")(x)[0]


class Ensemble(nn.Module):
    axis: int = -1

    def setup(self):
        self.members = nn.vmap(
            nn.Dense, variable_axes={"params": self.axis}, split_rngs={"params": True}, in_axes=None, axis_size=2
        )(3)

    def __call__(self, x):
        return self.members(x)


class LastStatic(nn.Module):
    """Static arguments counted from the last one, as Linen counts them."""

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        layer = nn.remat(Layer, static_argnums=(-2,))
        x = layer(name="first")(x, deterministic)[0]
        return nn.remat(Layer, static_argnums=-2)(name="second")(x, deterministic)[0]


CASES = [
    ("Stack", {}, [(2, 4)], {}),
    ("Stack", {"axis": 0}, [(2, 4)], {}),
    ("Stack", {"depth": 2}, [(2, 4)], {}),
    ("Configured", {}, [(2, 4)], {}),
    ("Configured", {"config": Config(2, 0, False, True)}, [(2, 4)], {}),
    ("OneStream", {}, [(2, 4)], {}),
    ("Statistics", {}, [(2, 4)], {}),
    ("LastStatic", {}, [(2, 4)], {}),
    ("Ensemble", {}, [(2, 4)], {}),
    ("Ensemble", {"axis": 1}, [(2, 4)], {}),
]
