"""Functions that hand out a norm, by a name in a field, or something that makes nothing: `get_norm(self.norm, train)()(x)`."""

import functools
from typing import Optional

import jax.numpy as jnp
from flax import linen as nn


class OwnNorm(nn.Module):
    """A norm of the project that takes its flag from the constructor or from the call."""

    use_running_average: Optional[bool] = None
    momentum: float = 0.9

    @nn.compact
    def __call__(self, x, use_running_average: Optional[bool] = None):
        use_running_average = nn.merge_param("use_running_average", self.use_running_average, use_running_average)
        mean = self.variable("batch_stats", "mean", lambda s: jnp.zeros(s), (x.shape[-1],))
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        now = mean.value if use_running_average else x.mean(tuple(range(x.ndim - 1)))
        return (x - now) * scale


def get_norm(kind, train, dtype=jnp.float32, momentum=0.9):
    """A function that makes the norm, so that every use of it makes one of its own."""
    if kind == "batch":
        return functools.partial(nn.BatchNorm, use_running_average=not train, momentum=0.9, dtype=dtype)
    elif kind == "own":
        return functools.partial(OwnNorm, use_running_average=not train, momentum=momentum)
    elif kind in ["layer", "before", "after"]:
        return functools.partial(nn.LayerNorm, dtype=dtype)
    elif kind == "none":

        def wrapper(*args, **kwargs):
            del args
            del kwargs

            def identity(x, *args, **kwargs):
                del args
                del kwargs
                return x

            return identity

        return wrapper
    else:
        raise ValueError(kind)


class Numbered(nn.Module):
    norm: str = "batch"

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = get_norm(self.norm, train)
        y = norm()(x)
        y = nn.Dense(4)(nn.relu(y))
        y = norm()(y)
        return nn.Dense(3)(y)


class Named(nn.Module):
    norm: str = "batch"
    momentum: float = 0.5

    @nn.compact
    def __call__(self, x, training: bool = False):
        norm = get_norm(self.norm, training, dtype=None, momentum=self.momentum)
        y = norm(name="first")(x)
        y = nn.Dense(4, name="dense")(nn.relu(y))
        last = norm(name="last")
        return last(y)


class Around(nn.Module):
    """Before the layer or after it."""

    norm: str = "before"

    @nn.compact
    def __call__(self, x, train: bool = False):
        if self.norm == "before":
            before = get_norm(self.norm, train)
            after = get_norm("none", train)
        elif self.norm == "after":
            before = get_norm("none", train)
            after = get_norm(self.norm, train)
        else:
            raise ValueError(self.norm)
        y = before()(x)
        x = x + nn.Dense(3)(y)
        x = after()(x)
        y = before()(x)
        x = x + nn.Dense(3)(y)
        return after()(x)


class Looped(nn.Module):
    norm: str = "batch"

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = get_norm(self.norm, train)
        for i in range(2):
            x = nn.Dense(5)(norm(name=f"norm_{i}")(x))
        return norm()(x)


def short(kind):
    return nn.LayerNorm if kind == "layer" else lambda *args, **kwargs: lambda x: x


class Short(nn.Module):
    norm: str = "layer"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(short(self.norm)(epsilon=1e-3)(x))


KINDS = ("batch", "own", "layer", "none")
CASES = [(n, {"norm": k}, [(2, 3)], {}) for k in KINDS for n in ("Numbered", "Named", "Looped")]
CASES += [(n, {"norm": k}, [(2, 3)], {"train": True}) for k in KINDS for n in ("Numbered", "Looped")]
CASES += [("Around", {"norm": k}, [(2, 3)], {}) for k in ("before", "after")]
CASES += [("Short", {"norm": k}, [(2, 3)], {}) for k in ("layer", "none")]
