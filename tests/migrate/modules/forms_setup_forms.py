"""What `setup` holds, said in another form: lifted classes, dicts that loops fill, parameters in lists, numbered attributes."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
from flax import linen as nn


class MLP(nn.Module):
    features: Sequence[int]
    act: Callable = nn.silu

    @nn.compact
    def __call__(self, x):
        for f in self.features:
            x = self.act(nn.Dense(f)(x))
        return x


class LiftedByItsAttribute(nn.Module):
    n: int = 3
    features: Sequence[int] = (4, 5)

    def setup(self):
        self.filter_fn = nn.vmap(
            MLP, in_axes=None, out_axes=-2, axis_size=self.n, variable_axes={"params": 0}, split_rngs={"params": True}
        )

    @nn.compact
    def __call__(self, x):
        return self.filter_fn(self.features, nn.tanh)(x)


class RematByItsAttribute(nn.Module):
    features: Sequence[int] = (4, 5)

    def setup(self):
        self.block = nn.remat(MLP)

    @nn.compact
    def __call__(self, x):
        return self.block(self.features)(x)


class FilledDict(nn.Module):
    degrees: Sequence[int] = (0, 1)

    def setup(self):
        cs = {}
        for d in self.degrees:
            cs[d] = nn.Dense(d + 2)
        self.cs = cs

    def __call__(self, x):
        return [self.cs[d](x) for d in self.degrees]


class FilledDictOfNames(nn.Module):
    degrees: Sequence[int] = (0, 1)

    def setup(self):
        cs = {}
        for d in self.degrees:
            cs[f"d{d}"] = nn.Dense(d + 2)
        self.cs = cs

    def __call__(self, x):
        return [self.cs[f"d{d}"](x) for d in self.degrees]


class ListOfParameters(nn.Module):
    n: int = 2

    def setup(self):
        weights = []
        for i in range(self.n):
            weights.append(self.param(f"w_{i}", nn.initializers.normal(), (3,)))
        self.weights = weights

    def __call__(self, x):
        for w in self.weights:
            x = x * w
        return x


class ComprehensionOfParameters(nn.Module):
    n: int = 2

    def setup(self):
        self.ws = [self.param(f"w{i}", nn.initializers.normal(), (3,)) for i in range(self.n)]

    def __call__(self, x):
        for w in self.ws:
            x = x * w
        return x


class ParameterOrNumber(nn.Module):
    periods: Sequence[float] = (1.0, 2.0)
    trainable: Sequence[bool] = (True, False)

    def setup(self):
        params = {}
        for i, (p, t) in enumerate(zip(self.periods, self.trainable)):
            if t:
                params[f"period_{i}"] = self.param(f"period_{i}", nn.initializers.constant(p), ())
            else:
                params[f"period_{i}"] = p
        self.period_params = params

    def __call__(self, x):
        out = []
        for i in range(len(self.periods)):
            out.append(jnp.cos(self.period_params[f"period_{i}"] * x))
        return jnp.concatenate(out, -1)


class NumberedAttributes(nn.Module):
    n: int = 3
    dim: int = 4

    def setup(self):
        for i in range(self.n):
            setattr(self, f"layer_{i}", nn.Dense(self.dim))

    def __call__(self, x):
        for i in range(self.n):
            x = nn.relu(getattr(self, f"layer_{i}")(x))
        return x


class TupleOfLayers(nn.Module):
    n: int = 2

    def setup(self):
        self.layers = tuple(nn.Dense(4) for _ in range(self.n))

    def __call__(self, x):
        for l in self.layers:
            x = l(x)
        return x


class PartOfSetup(nn.Module):
    """docs"""

    periods: Sequence[float] = (1.0, 2.0)
    trainable: Sequence[bool] = (True, False)
    width: int = 4

    def setup(self):
        """makes"""
        n = self.width
        scale = 2.0
        self.trunk = nn.Dense(n)
        params = {}
        for i, p in enumerate(self.periods):
            if self.trainable[i]:
                params[f"period_{i}"] = self.param(f"period_{i}", nn.initializers.constant(p * scale), ())
            else:
                params[f"period_{i}"] = p
        self.params_of = params
        self.extra = [self.param(f"extra_{k}", nn.initializers.ones, (n,)) for k in range(2)]
        self.both = self.extra[0] + self.extra[1]

    def __call__(self, x):
        """runs"""
        i = 1
        params = self.trunk(x)
        out = []
        for k in range(len(self.periods)):
            out.append(jnp.cos(self.params_of[f"period_{k}"] * params * i))
        return jnp.concatenate(out, -1), self.both, [e * 2 for e in self.extra]


class TwoCallsOfAParts(nn.Module):
    n: int = 2

    def setup(self):
        self.ws = [self.param(f"w{i}", nn.initializers.normal(), (3,)) for i in range(self.n)]
        self.inner = PartOfSetup()

    def __call__(self, x):
        return self.inner(x * self.ws[0])[0] + self.inner(x * self.ws[1])[0]


class LiftedTwice(nn.Module):
    degrees: Sequence[int] = (0, 1)
    features: Sequence[int] = (4, 5)

    def setup(self):
        self.n = len(self.degrees)
        self.filter_fn = nn.vmap(
            MLP,
            in_axes=None,
            out_axes=-2,
            axis_size=len(self.degrees),
            variable_axes={"params": 0},
            split_rngs={"params": True},
        )
        self.trunk = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        w = self.filter_fn(self.features, nn.tanh)(x)
        v = self.filter_fn((2,))(self.trunk(x))
        return w, v


class DictOfModules(nn.Module):
    degrees: Sequence[int] = (1, 2)

    def setup(self):
        fns = {}
        for d in self.degrees:
            fns[d] = MLP((d,), nn.tanh)
        self.fns = fns
        self.post = nn.Dense(3)

    def __call__(self, x):
        return jnp.concatenate([self.post(self.fns[d](x).sum(-1, keepdims=True)) for d in self.degrees], axis=-1)


class ConditionOnAParameter(nn.Module):
    def setup(self):
        self.w = self.param("w", nn.initializers.normal(), (3,))
        if self.w.sum() > 0:
            self.scale = jnp.exp(self.w)
        else:
            self.scale = self.w

    def __call__(self, x):
        return x * self.scale


class StringsAndNumbers(nn.Module):
    n: int = 2

    def setup(self):
        for i in range(2):
            setattr(self, "fc_" + str(i), nn.Dense(4))
        total = 0
        for i in range(self.n):
            total = total + i
        self.total = total

    def __call__(self, x):
        for i in range(2):
            x = getattr(self, "fc_" + str(i))(x)
        return x * self.total


CASES = [
    ("LiftedByItsAttribute", {}, [(2, 3)], {}),
    ("RematByItsAttribute", {}, [(2, 3)], {}),
    ("FilledDict", {}, [(2, 3)], {}),
    ("FilledDictOfNames", {}, [(2, 3)], {}),
    ("ListOfParameters", {}, [(2, 3)], {}),
    ("ComprehensionOfParameters", {}, [(2, 3)], {}),
    ("ParameterOrNumber", {}, [(2, 3)], {}),
    ("NumberedAttributes", {}, [(2, 3)], {}),
    ("TupleOfLayers", {}, [(2, 3)], {}),
    ("ParameterOrNumber", {"trainable": (False, True)}, [(2, 3)], {}),
    ("PartOfSetup", {}, [(2, 3)], {}),
    ("TwoCallsOfAParts", {}, [(2, 3)], {}),
    ("LiftedTwice", {}, [(2, 3)], {}),
    ("DictOfModules", {}, [(2, 3)], {}),
    ("ConditionOnAParameter", {}, [(2, 3)], {}),
    ("StringsAndNumbers", {}, [(2, 3)], {}),
    ("NumberedAttributes", {"n": 1}, [(2, 3)], {}),
]
