"""Scans whose parameters are stacked when they are made and only read afterwards: `axis if initializing else ScanIn(axis)`."""

import jax
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

ScanIn = nn_partitioning.ScanIn


class Layer(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask):
        y = nn.Dense(self.width)(x) * mask
        return x + nn.Dense(x.shape[-1])(nn.relu(y)), None


class Stack(nn.Module):
    n: int = 3
    policy: str = "none"

    @nn.compact
    def __call__(self, x, mask):
        initializing = self.is_mutable_collection("params")
        params_spec = 0 if initializing else ScanIn(0)
        layer = Layer
        if self.policy != "none":
            if self.policy == "minimal":
                policy = jax.checkpoint_policies.checkpoint_dots_with_no_batch_dims
            else:
                assert self.policy == "full"
                policy = None
            layer = nn.remat(layer, prevent_cse=False, policy=policy)
        x, _ = nn.scan(
            layer,
            variable_axes={"params": params_spec, "cache": 0},
            split_rngs={"params": True},
            in_axes=(nn.broadcast,),
            length=self.n,
            metadata_params={nn.PARTITION_NAME: "layers"},
        )(width=4, name="layers")(x, mask)
        return x


class Axis1(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, x, mask):
        axis = 1
        initializing = self.is_initializing()
        spec = axis if initializing else nn_partitioning.ScanIn(axis)
        layers = nn.scan(
            Layer, variable_axes={"params": spec}, split_rngs={"params": True}, in_axes=nn.broadcast, length=self.n
        )
        return layers(4, name="layers")(x, mask)[0]


CASES = [(n, {}, [(2, 6), (2, 4)], {}) for n in ("Stack", "Axis1")]
CASES += [("Stack", {"policy": p}, [(2, 6), (2, 4)], {}) for p in ("minimal", "full")]
