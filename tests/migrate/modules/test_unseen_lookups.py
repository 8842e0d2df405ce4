"""What is looked up, chosen or handed on where no class shows it: norms with keywords, activations, kinds by `match`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

IMAGE = jnp.linspace(-1, 1, 2 * 4 * 4 * 3).reshape(2, 4, 4, 3)
ROWS = jnp.linspace(-1, 1, 6).reshape(2, 3)

NORMS = """from functools import partial
from typing import Callable

import jax.numpy as jnp
from flax import linen as nn


class Block(nn.Module):
    width: int
    norm: Callable[..., nn.Module] = nn.BatchNorm

    def setup(self):
        self.before = self.norm()
        self.conv = nn.Conv(self.width, (3, 3))
        self.behind = self.norm()

    def __call__(self, x, norm_kwargs=None):
        norm_kwargs = norm_kwargs or {}
        x = self.conv(nn.relu(self.before(x, **norm_kwargs)))
        return nn.relu(self.behind(x, **norm_kwargs))


class Net(nn.Module):
    norm: Callable[..., nn.Module] = nn.BatchNorm

    @nn.compact
    def __call__(self, x, **norm_kwargs):
        for i, width in enumerate((4, 5)):
            x = Block(width, norm=self.norm, name=f"block{i}")(x, norm_kwargs=norm_kwargs)
        x = self.norm(name="last")(x, **norm_kwargs)
        return nn.Dense(2)(x.mean((1, 2)))


Fast = partial(Net, norm=partial(nn.BatchNorm, momentum=0.5))
"""


@pytest.mark.parametrize("name", ["Net", "Fast"])
@pytest.mark.parametrize("average", [True, False])
def test_keywords_that_are_handed_on_reach_a_norm(name: str, average: bool) -> None:
    before, after = both_sides("handed_norms", NORMS)
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), IMAGE, use_running_average=True)
    new = getattr(after, name)(in_features=3, rngs=nnx.Rngs(0))
    report = compat.check_equivalence(
        linen, variables, new, IMAGE, use_running_average=average, mutable=["batch_stats"], rngs=[]
    )
    assert report


ENCODED = """import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    width: int = 4
    degree: int = 3

    def setup(self):
        def encode(x):
            scales = 2 ** jnp.arange(self.degree)
            parts = jnp.reshape(x[..., None, :] * scales[:, None], x.shape[:-1] + (-1,))
            return jnp.concatenate([x, jnp.sin(parts), jnp.cos(parts)], axis=-1)

        self.encode = encode

    @nn.compact
    def __call__(self, x, direction):
        h = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(2)(jnp.concatenate([h, self.encode(direction)], axis=-1))
"""
EARLY = """from flax import linen as nn


class Early(nn.Module):
    wide: bool = False

    def setup(self):
        if not self.wide:
            return
        self.more = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.more(x) if self.wide else x)
"""


def test_a_function_of_setup_may_return_before_what_a_compact_method_makes() -> None:
    before, after = both_sides("encoded", ENCODED)
    linen = before.Net()
    variables = linen.init(jax.random.key(0), ROWS, ROWS)
    new = after.Net(in_features=3, direction_features=3, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, ROWS, ROWS)


def test_setup_itself_may_not() -> None:
    result = migrate_project([SourceFile.parse(Path("early.py"), "early", EARLY)])
    (early,) = [c for c in result.classes if c.qualname.endswith("Early")]
    assert early.code == "NNX180"


MADE = """from flax import linen as nn


def flat(x):
    return x.reshape(x.shape[0], -1)


def encoder(mode="plain", flatten=True):
    if mode == "wide":
        return nn.Dense(6)
    return nn.Sequential([nn.Dense(5), nn.relu, nn.Dense(4), flat if flatten else lambda x: x])


class Net(nn.Module):
    mode: str = "plain"

    def setup(self):
        self.encode = encoder(self.mode)
        self.head = nn.Dense(2)

    def __call__(self, x):
        return self.head(self.encode(x))
"""


@pytest.mark.parametrize("mode", ["plain", "wide"])
def test_a_function_that_gives_layers_to_what_it_makes(mode: str) -> None:
    before, after = both_sides("made_of_layers", MADE)
    linen = before.Net(mode)
    variables = linen.init(jax.random.key(0), ROWS)
    assert compat.check_equivalence(linen, variables, after.Net(mode, in_shape=(2, 3), rngs=nnx.Rngs(0)), ROWS)


ACTIVATIONS = """import jax
import jax.numpy as jnp

ACTIVATIONS = {}


def register(name):
    def decorator(cls):
        ACTIVATIONS[name] = {"cls": cls}
        return cls

    return decorator


def get_activation(name, **kwargs):
    if name not in ACTIVATIONS:
        raise ValueError(name)
    cls = ACTIVATIONS[name]["cls"]
    return cls(**kwargs)


@register("sine")
class Sine:
    def __init__(self, omega=1.0):
        self.omega = omega

    def __call__(self, x):
        return jnp.sin(self.omega * x)
"""
SIREN = """from flax import linen as nn
from {module} import get_activation


class Base(nn.Module):
    width: int = 4
    depth: int = 2

    def _make(self):
        raise NotImplementedError

    def _make_first(self):
        return self._make()

    def setup(self):
        self._first_act = self._make_first()
        self._act = self._make()
        self.first = nn.Dense(self.width)
        self.hidden = [nn.Dense(self.width) for _ in range(self.depth)]

    def __call__(self, x):
        x = self._first_act(self.first(x))
        for layer in self.hidden:
            x = self._act(layer(x))
        return x


class Siren(Base):
    omega: float = 3.0

    def _make(self):
        return get_activation("sine")

    def _make_first(self):
        return get_activation("sine", omega=self.omega)
"""


def _siren(activations: str) -> Any:
    files = {"acts": activations, "net": SIREN.format(module="acts")}
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, text) for n, text in files.items()])
    return next(c for c in result.classes if c.qualname.endswith("Siren")), result


def test_activations_of_a_table_that_decorators_fill() -> None:
    before, after = both_sides("siren", f"{ACTIVATIONS}\n{SIREN.replace('from {module} import get_activation', '')}")
    linen = before.Siren()
    variables = linen.init(jax.random.key(0), ROWS)
    assert compat.check_equivalence(linen, variables, after.Siren(in_features=3, rngs=nnx.Rngs(0)), ROWS)


def test_a_table_with_a_module_may_give_that() -> None:
    module = """

@register("learned")
class Learned(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x * self.param("scale", nn.initializers.ones, ())
"""
    plain, _ = _siren(ACTIVATIONS)
    other, _ = _siren(f"from flax import linen as nn\n{ACTIVATIONS}{module}")
    assert str(plain.outcome) == "native"
    assert str(other.outcome) == "bridged"


STATE_SPACE = """import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


def init_hippo(size):
    eigenvalues = -0.5 + 1j * np.arange(1, size + 1)
    vectors = np.eye(size) * (1 + 0.5j)
    return jnp.asarray(eigenvalues), jnp.asarray(vectors)


def init_input(init, key, shape, vectors):
    found = vectors.conj().T @ init(key, shape).astype(jnp.complex64)
    return jnp.stack([found.real, found.imag], axis=-1)


class Net(nn.Module):
    width: int = 3
    size: int = 4

    def setup(self):
        eigenvalues, vectors = init_hippo(self.size)
        self.real = self.param("real", lambda key, shape: eigenvalues.real, (None,))
        self.imag = self.param("imag", lambda key, shape: eigenvalues.imag, (None,))
        init = nn.initializers.lecun_normal()
        self.b = self.param("b", lambda key, shape: init_input(init, key, shape, vectors), (self.size, self.width))
        self.bar = jnp.exp(self.real + 1j * self.imag)

    def __call__(self, x):
        return (x @ (self.b[..., 0] + 1j * self.b[..., 1]).T * self.bar).real
"""


def test_parts_of_complex_arrays_are_initial_values() -> None:
    before, after = both_sides("state_space", STATE_SPACE)
    linen = before.Net()
    variables = linen.init(jax.random.key(0), ROWS)
    new = after.Net(rngs=nnx.Rngs(0))
    assert jnp.array_equal(new.real[...], variables["params"]["real"])
    assert compat.check_equivalence(linen, variables, new, ROWS)


KINDS = """from typing import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Plain(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, state=None):
        return nn.Dense(self.width)(x)


class Deep(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, state=None):
        return nn.Dense(self.width)(nn.relu(nn.Dense(3)(x)))


def kind(name):
    match name.lower():
        case "plain":
            return Plain
        case "deep" | "wide":
            return Deep
        case _:
            raise ValueError(name)


class Compact(nn.Module):
    name_of: str = "plain"

    @nn.compact
    def __call__(self, x):
        block = kind(self.name_of)
        return nn.Dense(2)(block(5)(x))


class Held(nn.Module):
    name_of: str = "plain"

    def setup(self):
        block = kind(self.name_of)
        self.first = block(5)
        self.second = block(width=4)

    def __call__(self, x):
        return self.second(self.first(x))


class Written(nn.Module):
    @nn.compact
    def __call__(self, x):
        return kind("DEEP")(5)(x)
"""


@pytest.mark.parametrize("name", ["Compact", "Held"])
@pytest.mark.parametrize("kind", ["plain", "Deep", "WIDE"])
def test_a_match_over_a_string_in_another_case(name: str, kind: str) -> None:
    before, after = both_sides("kinds", KINDS)
    linen = getattr(before, name)(kind)
    variables = linen.init(jax.random.key(0), ROWS)
    assert compat.check_equivalence(linen, variables, getattr(after, name)(kind, in_features=3, rngs=nnx.Rngs(0)), ROWS)


def test_a_match_over_a_string_that_is_written_out() -> None:
    before, after = both_sides("kinds", KINDS)
    linen = before.Written()
    variables = linen.init(jax.random.key(0), ROWS)
    assert compat.check_equivalence(linen, variables, after.Written(in_features=3, rngs=nnx.Rngs(0)), ROWS)


LOOPED = """from typing import Sequence

from flax import linen as nn


class Plain(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Deep(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.relu(nn.Dense(3)(x)))


def kind(name):
    if name == "plain":
        return Plain
    elif name == "deep":
        return Deep
    else:
        raise ValueError(name)


class Net(nn.Module):
    names: Sequence[str] = ("plain", "deep", "plain")

    @nn.compact
    def __call__(self, x):
        for name in self.names:
            x = kind(name)(4)(x)
        return x
"""


@pytest.mark.parametrize("names", [("plain", "deep", "plain"), ("deep",), ("deep", "deep", "plain")])
def test_kinds_that_a_loop_says(names: tuple[str, ...]) -> None:
    before, after = both_sides("looped_kinds", LOOPED)
    linen = before.Net(names)
    variables = linen.init(jax.random.key(0), ROWS)
    assert compat.check_equivalence(linen, variables, after.Net(names, in_features=3, rngs=nnx.Rngs(0)), ROWS)


ASKING = """import jax
import jax.numpy as jnp
from flax import linen as nn


def cut(x, state):
    return x if state is None else x[..., : state.shape[-1]]


class Odd(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, state=None):
        y = cut(nn.Dense(self.width)(x), state)
        if state is not None:
            y = jnp.sort(jax.nn.one_hot(y, 4).sum(-1)) + state
        return nn.Dense(self.width)(getattr(jnp, "tanh")(y))


class Plain(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, state=None):
        return nn.relu(nn.Dense(self.width)(x))


def kind(name):
    if name == "odd":
        return Odd
    elif name == "plain":
        return Plain
    raise ValueError(name)


class Net(nn.Module):
    which: str = "odd"

    @nn.compact
    def __call__(self, x):
        return kind(self.which)(width=4)(x)


class Held(nn.Module):
    which: str = "odd"

    def setup(self):
        block = kind(self.which)
        self.first = block(width=4)
        self.second = block(width=3)

    def __call__(self, x):
        return self.second(self.first(x))
"""


@pytest.mark.parametrize("name", ["Net", "Held"])
@pytest.mark.parametrize("kind", ["odd", "plain"])
def test_one_of_several_kinds_may_ask_for_an_example(name: str, kind: str) -> None:
    before, after = both_sides("asking_kinds", ASKING)
    linen = getattr(before, name)(kind)
    variables = linen.init(jax.random.key(0), ROWS)
    new = getattr(after, name)(kind, in_features=3, in_example=ROWS, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, ROWS)
