"""Blocks that are lifted under one more name, and only where the configuration says so."""

import types
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import partitioning as nn_partitioning

remat = nn_partitioning.remat


class Block(nn.Module):
    config: Any
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x, mask=None, deterministic=True):
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(8)(x)))


def get_policy(name):
    return {"everything": jax.checkpoint_policies.everything_saveable, "nothing": jax.checkpoint_policies.nothing_saveable}[
        name
    ]


class LiftedByPolicy(nn.Module):
    config: Any
    dtype: Any = jnp.float32

    def setup(self):
        block = Block
        if self.config.gradient_checkpointing:
            CheckpointBlock = remat(
                block,
                static_argnums=(2,),
                policy=get_policy(
                    self.config.policy,
                ),
            )
            block = CheckpointBlock
        self.blocks = [block(self.config, name=str(i), dtype=self.dtype) for i in range(self.config.n)]

    def __call__(self, x, mask=None, deterministic=True):
        for block in self.blocks:
            x = block(x, mask, deterministic)
        return x


class PlainlyLifted(nn.Module):
    config: Any
    dtype: Any = jnp.float32

    def setup(self):
        block = Block
        if self.config.gradient_checkpointing:
            CheckpointBlock = remat(Block, static_argnums=(2,))
            block = CheckpointBlock
        self.blocks = [block(self.config, name=str(i), dtype=self.dtype) for i in range(self.config.n)]

    def __call__(self, x, mask=None, deterministic=True):
        for block in self.blocks:
            x = block(x, mask, deterministic)
        return x


LIFTED = types.SimpleNamespace(gradient_checkpointing=True, policy="nothing", n=2)
BARE = types.SimpleNamespace(gradient_checkpointing=False, policy="nothing", n=2)
CASES = [
    ("LiftedByPolicy", {"config": LIFTED}, [(2, 3)], {}),
    ("LiftedByPolicy", {"config": BARE}, [(2, 3)], {}),
    ("PlainlyLifted", {"config": LIFTED}, [(2, 3)], {}),
    ("PlainlyLifted", {"config": BARE}, [(2, 3)], {}),
]
NUMBERED = ("LiftedByPolicy", "PlainlyLifted")
