"""Norms that are given mappings whose keys nobody shows."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Fields(nn.Module):
    norm_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm(**self.norm_kwargs)(x)
        x = nn.Dense(4)(x)
        x = nn.RMSNorm(name='rms', **self.norm_kwargs)(x)
        x = nn.GroupNorm(num_groups=2, **self.norm_kwargs)(x)
        return nn.BatchNorm(use_running_average=True, **self.norm_kwargs)(x)


class Setup(nn.Module):
    options: Any = None
    train: bool = True

    def setup(self):
        self.norm = nn.BatchNorm(use_running_average=not self.train, **(self.options or {}))

    def __call__(self, x):
        return self.norm(x)


class Groups(nn.Module):
    options: Any

    @nn.compact
    def __call__(self, x):
        return nn.GroupNorm(**self.options)(x)


class Kept(nn.Module):
    def setup(self):
        self.options = {'use_bias': False, 'dtype': jnp.bfloat16}
        self.norm = nn.LayerNorm(**self.options)

    def __call__(self, x):
        return self.norm(x)


class Filled(nn.Module):
    fast: bool = False

    @nn.compact
    def __call__(self, x):
        options = dict(epsilon=1e-5)
        if self.fast:
            options['dtype'] = jnp.bfloat16
        return nn.LayerNorm(**options)(x)


class Anew(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        dtype = jnp.bfloat16
        options = dict(dtype=dtype)
        dtype = jnp.float32
        return nn.LayerNorm(**options)(x.astype(dtype))


class Handed(nn.Module):
    @nn.compact
    def __call__(self, x):
        for eps in (1e-2, 1e-3):
            x = Groups({'epsilon': eps, 'num_groups': 1})(x)
        return Groups(options=dict(num_groups=2, dtype=jnp.bfloat16))(x)


CASES = [
    ("Fields", {}, [(2, 4)], {}),
    ("Fields", {"norm_kwargs": {"epsilon": 1e-2, "dtype": jnp.bfloat16}}, [(2, 4)], {}),
    ("Fields", {"norm_kwargs": {"dtype": jnp.bfloat16, "param_dtype": jnp.bfloat16}}, [(2, 4)], {}),
    ("Fields", {"norm_kwargs": {"use_scale": False}}, [(2, 4)], {}),
    ("Setup", {}, [(2, 4)], {}),
    ("Setup", {"options": {"momentum": 0.5, "dtype": jnp.float16}, "train": True}, [(2, 4)], {}),
    ("Groups", {"options": {"num_groups": 2}}, [(2, 4)], {}),
    ("Groups", {"options": {"group_size": 2, "num_groups": None, "use_bias": False}}, [(2, 4)], {}),
    ("Kept", {}, [(2, 4)], {}),
    ("Filled", {}, [(2, 4)], {}),
    ("Filled", {"fast": True}, [(2, 4)], {}),
    ("Anew", {}, [(2, 4)], {}),
    ("Handed", {}, [(2, 4)], {}),
]
