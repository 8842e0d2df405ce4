"""Modules that code outside of modules hands to a class and that are not followed: both sides run on the same variables."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = '''
import copy
from functools import partial
from typing import Any, Optional

import jax.numpy as jnp
from flax import linen as nn


class MLP(nn.Module):
    dims: tuple
    rate: float = 0.0

    @nn.compact
    def __call__(self, x, train=False):
        for d in self.dims:
            x = nn.relu(nn.Dense(d)(x))
        return nn.Dropout(self.rate, deterministic=not train)(x)


class Conv(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Normed(nn.Module):
    """Statistics."""

    @nn.compact
    def __call__(self, x, train=False):
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))


class Odd(nn.Module):
    """Stays Linen."""

    depth: int = 2

    @nn.compact
    def __call__(self, x):
        n = 0
        while n < self.depth:
            x = nn.Dense(x.shape[-1] + n)(x)
            n += 1
        return x


class Wrap(nn.Module):
    encoder: nn.Module
    goal_encoder: Optional[nn.Module]
    proprio: bool = True

    def __call__(self, obs, goals=None):
        x = self.encoder(obs["image"])
        if self.goal_encoder is not None and goals is not None:
            x = jnp.concatenate([x, self.goal_encoder(goals)], -1)
        if self.proprio:
            x = jnp.concatenate([x, obs["proprio"]], -1)
        return x


class Policy(nn.Module):
    encoder: nn.Module
    network: nn.Module
    actions: int
    scale: float = None
    head: nn.Module = None

    @nn.compact
    def __call__(self, obs, *args, train: bool = False):
        h = self.network(self.encoder(obs, *args), train=train)
        if self.head is not None:
            h = self.head(h)
        if self.scale is None:
            return nn.Dense(self.actions)(h)
        return nn.Dense(self.actions, kernel_init=nn.initializers.normal(self.scale))(h)


class Score(nn.Module):
    """By setup."""

    trunk: nn.Module = None
    out: int = 3

    def setup(self):
        self.first = nn.Dense(5)
        self.last = nn.Dense(self.out)

    def __call__(self, x, extra=None, train=False):
        x = self.first(x)
        if self.trunk is not None:
            x = self.trunk(x, train)
        if extra is not None:
            x = jnp.concatenate([x, extra], -1)
        return self.last(x)


class Both(nn.Module):
    left: nn.Module
    right: nn.Module

    @nn.compact
    def __call__(self, x, swap=False):
        if swap:
            return self.left(x)
        y = self.left(x)
        return y + self.right(y)


class Feature(nn.Module):
    dims: tuple

    @nn.compact
    def __call__(self, x):
        for d in self.dims[:-1]:
            x = nn.relu(nn.Dense(d)(x))
        self.sow("intermediates", "feature", x)
        return nn.Dense(self.dims[-1])(x)


def several(cls, members, out_axes=0):
    axes = {"params": 0, "intermediates": 0}
    return nn.vmap(cls, variable_axes=axes, split_rngs={"params": True}, out_axes=out_axes, in_axes=None, axis_size=members)


class Value(nn.Module):
    """An ensemble, of a width that only the call knows."""

    dims: tuple
    members: int = 2
    encoder: nn.Module = None

    def setup(self):
        made = Feature
        if self.members > 1:
            made = several(made, self.members)
        net = made((*self.dims, 1))
        self.net = net

    def joined(self, obs):
        return obs if self.encoder is None else self.encoder(obs)

    def __call__(self, obs, goals=None, actions=None):
        inputs = [self.joined(obs)]
        if goals is not None:
            inputs.append(goals)
        if actions is not None:
            inputs.append(actions)
        return self.net(jnp.concatenate(inputs, -1)).squeeze(-1)


class Discrete(Value):
    actions: int = 3

    def __call__(self, obs, goals=None, actions=None):
        return super().__call__(obs, goals, jnp.eye(self.actions)[actions])


class Negative(Discrete):
    def __call__(self, obs, goals=None, actions=None):
        return -super().__call__(obs, goals, actions)


class Wider(Value):
    """Replaces what the base's call asks for."""

    def joined(self, obs):
        return jnp.concatenate([super().joined(obs), obs], -1)


class Stack(nn.Module):
    """Compact, as are those that derive from it."""

    dims: tuple
    encoder: nn.Module = None

    @nn.compact
    def __call__(self, x):
        h = x if self.encoder is None else self.encoder(x)
        for d in self.dims:
            h = nn.Dense(d)(h)
        return h


class Scaled(Stack):
    @nn.compact
    def __call__(self, x):
        y = super().__call__(x * 2.0)
        return y * self.param("scale", nn.initializers.ones, (y.shape[-1],))


class Plain(Value):
    """Nothing of its own."""


TABLE = {"conv": Conv, "small": partial(Conv, width=2), "odd": Odd}
OBS = {"image": jnp.sin(jnp.arange(10.0)).reshape(2, 5), "proprio": jnp.ones((2, 3))}
MORE = {"image": jnp.cos(jnp.arange(20.0)).reshape(4, 5), "proprio": jnp.ones((4, 3))}
GOALS = jnp.cos(jnp.arange(12.0)).reshape(2, 6)


'''
# Name → a function that gives the model, what it is initialized with, and the calls that are compared.
MODELS = {
    "ensembles": '''def of_ensembles(dims=(4,)):
    parts = {"v": Conv(7)}
    x = jnp.cos(GOALS)
    return Value(dims, encoder=parts["v"]), (x, GOALS), {}, [((x, GOALS), {}), ((-x, GOALS), {})]
''',
    "ensembles without what they may be handed": '''def of_none(dims=(4,)):
    parts = {}
    return Value(dims, encoder=parts.get("v")), (GOALS,), {}, [((GOALS,), {})]
''',
    "a class that derives from one that is handed a module": '''def of_derived(dims=(4,)):
    parts = {"v": Conv(7)}
    args = (GOALS, GOALS, jnp.array([0, 2]))
    return Discrete(dims, encoder=parts["v"], actions=4), args, {}, [(args, {})]
''',
    "and one that derives from that": '''def of_second(dims=(4,)):
    parts = {"v": Conv(7)}
    args = (GOALS, GOALS, jnp.array([0, 2]))
    return Negative(dims, 3, parts["v"]), args, {}, [(args, {})]
''',
    "a derived class that replaces a helper": '''def of_wider(dims=(4,)):
    parts = {"v": Conv(7)}
    return Wider(dims, 2, parts["v"]), (GOALS, GOALS), {}, [((GOALS, GOALS), {})]
''',
    "a compact class that derives from one": '''def of_scaled(dims=(4, 2)):
    parts = {"v": Conv(7)}
    return Scaled(dims, parts["v"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "a derived class without a constructor, and one member": '''def of_plain(dims=(4,)):
    parts = {"v": Conv(7)}
    return Plain(dims, 1, parts["v"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "of tables": '''def of_tables(kind="conv", options={"dims": (6, 7)}):
    encoders = {"a": Wrap(TABLE[kind](), None), "b": Conv(7)}
    return Policy(encoders["a"], MLP(**options), 2), (OBS,), {}, [((OBS,), {"train": True}), ((MORE,), {})]
''',
    "of partials": '''def of_partials(kind="small", options={"dims": (6, 7)}):
    encoders = {}
    encoders["a"] = Wrap(TABLE[kind](), encoders.get("goal"))
    return Policy(encoders["a"], MLP(**options), 2, head=encoders.get("head")), (OBS,), {}, [((OBS,), {"train": True})]
''',
    "with a head and a goal": '''def with_goal(options={"dims": (6, 7)}):
    parts = {"e": Conv(3), "g": Conv(2), "head": Conv(9)}
    encoder = Wrap(parts["e"], parts["g"])
    model = Policy(encoder, MLP(**options), 2, 0.1, head=parts["head"])
    return model, (OBS, GOALS), {}, [((OBS, GOALS), {"train": True})]
''',
    "without its goal at first": '''def without_goal(options={"dims": (6, 7)}):
    parts = {"e": Conv(3), "g": Conv(2)}
    return Policy(Wrap(parts["e"], parts["g"]), MLP(**options), 2), (OBS,), {}, [((OBS,), {})]
''',
    "of layers and functions": '''def of_layers(options={"dims": (8,)}):
    parts = {"e": nn.Dense(4), "g": nn.Sequential([nn.Dense(3), nn.relu]), "head": jnp.tanh}
    model = Policy(Wrap(parts["e"], parts["g"]), MLP(**options), 2, head=parts["head"])
    return model, (OBS, GOALS), {}, [((OBS, GOALS), {"train": True})]
''',
    "of what stays Linen": '''def of_linen(options={"dims": (8,)}):
    parts = {"e": Odd(3)}
    return Policy(Wrap(parts["e"], None), MLP(**options), 2), (OBS,), {}, [((OBS,), {}), ((MORE,), {})]
''',
    "of a choice in setup": '''def by_setup(options={"dims": (8, 4)}):
    parts = {"t": MLP(**options)}
    extra = jnp.ones((2, 2))
    return Score(parts["t"]), (GOALS, extra), {}, [((GOALS, extra), {}), ((GOALS, extra, True), {})]
''',
    "none in setup": '''def none_in_setup():
    parts = {}
    return Score(parts.get("t")), (GOALS,), {"train": True}, [((GOALS,), {})]
''',
    "shared": '''def shared():
    parts = {"e": Conv(6)}
    return Both(parts["e"], parts["e"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "shared further on": '''def shared_below():
    part = Conv(6)
    parts = {"a": Both(part, Conv(6)), "b": Both(Conv(6), part)}
    return Both(parts["b"], parts["a"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "not shared by deep copies": '''def copied():
    part = Conv(6)
    parts = {"a": part, "b": copy.deepcopy(part)}
    return Both(parts["b"], parts["a"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "shared by copies": '''def copied_flat():
    part = Conv(6)
    parts = {"a": part, "b": copy.copy(part)}
    return Both(parts["b"], parts["a"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "shared, and not called where it comes first": '''def shared_uncalled():
    part = Conv(6)
    parts = {"a": part, "b": part}
    return Wrap2(parts["a"], parts["b"]), (GOALS,), {}, [((GOALS,), {})]


class Wrap2(nn.Module):
    first: nn.Module
    then: nn.Module

    def __call__(self, x, use=False):
        if use:
            x = self.first(x)
        return self.then(x)
''',
    "shared layers": '''def shared_layers():
    parts = {"e": nn.Dense(6)}
    return Both(parts["e"], parts["e"]), (GOALS,), {}, [((GOALS,), {})]
''',
    "what is called otherwise at first": '''def swapped():
    parts = {"l": Conv(6), "r": Conv(6)}
    return Both(parts["l"], parts["r"]), (GOALS,), {"swap": True}, [((GOALS,), {"swap": True})]
''',
}
STATISTICS = '''def statistics():
    parts = {"n": Normed()}
    return Score(parts["n"]), (GOALS,), {}, []
'''
UNCALLED = '''def uncalled():
    part = Conv(6)
    parts = {"a": Score(part), "b": part}
    return Wrap2(parts["a"], parts["b"]), (GOALS,), {}, [((GOALS,), {})]
'''
DROPPED = '''def dropped(options={"dims": (64,), "rate": 0.5}):
    parts = {"n": MLP(**options)}
    return Score(parts["n"]), (GOALS,), {}, []
'''
_NATIVE = ("MLP", "Conv", "Normed", "Wrap", "Policy", "Score", "Both", "Wrap2")


def _module(name: str, text: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("handing.py"), "handing", text)])


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    text = HEAD + "\n\n".join([*MODELS.values(), STATISTICS, UNCALLED, DROPPED])
    result = _migrated(text)
    outcomes = {c.qualname.partition(".")[2]: c.outcome for c in result.classes}
    assert {name: outcomes[name] for name in _NATIVE} == dict.fromkeys(_NATIVE, "native")
    assert outcomes["Odd"] == "bridged"
    for path, created in result.created.items():
        _module(path.stem, created)
    after = result.files[0].after
    assert after is not None
    return _module("handing_linen_side", text), _module("handing", after)


def _name(text: str) -> str:
    return text.split("def ", 1)[1].split("(", 1)[0]


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (jnp.shape(leaf), leaf.dtype), tree)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_handed_over_computes_the_same_under_the_same_keys(name: str, sides: Any) -> None:
    (linen, args, keywords, calls), (native, *_) = (side[_name(MODELS[name])]() for side in sides)
    variables = linen.init(jax.random.key(0), *args, **keywords)
    own = native.init(jax.random.key(0), *args, **keywords)
    assert _shapes(own) == _shapes(variables)
    for given, named in calls:
        expected = linen.apply(variables, *given, **named)
        np.testing.assert_array_equal(native.apply(variables, *given, **named), expected)
        jitted = jax.jit(lambda v, given=given, named=named: native.apply(v, *given, **named))
        np.testing.assert_allclose(jitted(variables), expected, rtol=1e-6, atol=1e-6)

        def loss(params: Any, model: Any, given: Any = given, named: Any = named) -> Any:
            return jnp.sum(jnp.sin(model.apply({"params": params}, *given, **named)))

        gradients = [jax.grad(loss)(variables["params"], model) for model in (linen, native)]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), *gradients)


@pytest.mark.parametrize("name", ["of tables", "shared further on", "of what stays Linen"])
def test_variables_of_a_checkpoint_are_enough(name: str, sides: Any) -> None:
    (linen, args, keywords, calls), (native, *_) = (side[_name(MODELS[name])]() for side in sides)
    variables = linen.init(jax.random.key(1), *args, **keywords)
    for known in [key for key in type(native)._known if key == native]:
        del type(native)._known[known]
    given, named = calls[0]
    np.testing.assert_array_equal(native.apply(variables, *given, **named), linen.apply(variables, *given, **named))


def test_statistics_of_what_is_handed_over_are_updated(sides: Any) -> None:
    (linen, args, _, _), (native, *_) = (side["statistics"]() for side in sides)
    variables = linen.init(jax.random.key(0), *args)
    assert _shapes(native.init(jax.random.key(0), *args)) == _shapes(variables)
    results = [model.apply(variables, *args, train=True, mutable=["batch_stats"]) for model in (linen, native)]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), *results)


def test_what_is_handed_over_draws_from_the_keys_of_the_call(sides: Any) -> None:
    (linen, args, _, _), (native, *_) = (side["dropped"]() for side in sides)
    variables = linen.init(jax.random.key(0), *args)
    keys = [{"dropout": jax.random.key(n)} for n in (1, 1, 2)]
    first, again, other = (native.apply(variables, *args, train=True, rngs=key) for key in keys)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(native.apply(variables, *args), linen.apply(variables, *args))


def test_what_a_part_holds_that_is_not_called_has_linens_name_or_none(sides: Any) -> None:
    model, args, _, _ = sides[1]["uncalled"]()
    with pytest.raises(TypeError, match="first is not called"):
        model.init(jax.random.key(0), *args)


def test_a_class_in_place_of_a_module_is_refused(sides: Any) -> None:
    _, native = sides
    with pytest.raises(TypeError, match="is a class"):
        native["linen_parity"].Functional(native["Both"], native["Conv"], None, sizes=_sizes).init(jax.random.key(0), 1.0)


def _sizes(*args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"call_example": (args, kwargs)}


PART = '''def make():
    parts = {"e": Conv(3)}
    return Part(parts["e"])


class Part(nn.Module):
    inner: nn.Module
'''
REFUSED = {
    "it is handed on": (
        "    @nn.compact\n    def __call__(self, x):\n        return nn.Sequential([self.inner, nn.Dense(3)])(x)\n"
    ),
    "another method": "    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(3)(self.inner.other(x))\n",
    "it is mapped": "    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(3)(jax.vmap(self.inner)(x))\n",
    "under a transform": "    @nn.remat\n    @nn.compact\n    def __call__(self, x):\n        return self.inner(x)\n",
    "in a function": (
        "    @nn.compact\n    def __call__(self, x):\n        f = lambda y: self.inner(y)\n        return f(x)\n"
    ),
    "whether variables are made": (
        "    def __call__(self, x):\n        return x if self.is_initializing() else self.inner(x)\n"
    ),
    "other flags the second time": (
        "    def __call__(self, x):\n        return self.inner(x, train=True) + self.inner(x, train=False)\n"
    ),
    "only another method calls it": (
        "    def encode(self, x):\n        return self.inner(x)\n\n    def __call__(self, x):\n        return x\n"
    ),
    "a derived class has its own setup": (
        "    def __call__(self, x):\n        return self.inner(x)\n\n\n"
        "class More(Part):\n    def setup(self):\n        self.head = nn.Dense(3)\n\n"
        "    def __call__(self, x):\n        return self.head(super().__call__(x))\n"
    ),
    "a derived class has the field again": (
        "    def __call__(self, x):\n        return self.inner(x)\n\n\n"
        "class More(Part):\n    inner: nn.Module = None\n\n"
        "    def __call__(self, x):\n        return super().__call__(x) + 1\n"
    ),
    "a derived class does not call it": (
        "    def __call__(self, x):\n        return self.inner(x)\n\n\n"
        "class More(Part):\n    def __call__(self, x):\n        return x + 1\n"
    ),
    "a partial holds one": (
        "    def __call__(self, x):\n        return self.inner(x)\n\n\n"
        "def several(part):\n    make = partial(Part, inner=Conv(3))\n    return [make(), make()]\n"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_more_than_to_call_it_stays_linen(name: str) -> None:
    result = _migrated(f"import jax\n{HEAD}{PART}\n{REFUSED[name]}")
    (part,) = [c for c in result.classes if c.qualname == "handing.Part"]
    assert part.outcome != "native", part


AROUND = """    def __call__(self, x):
        return self.inner(x)


class Around(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Part(Conv(3))(x)
"""


def test_what_a_module_makes_of_such_a_class_stays_linen() -> None:
    result = _migrated(f"{HEAD}{PART}\n{AROUND}")
    outcomes = {c.qualname.partition(".")[2]: c.outcome for c in result.classes}
    assert (outcomes["Part"], outcomes["Around"]) == ("native", "bridged")
