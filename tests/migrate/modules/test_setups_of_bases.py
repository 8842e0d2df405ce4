"""The `setup` of a base goes to derived classes in other files where it means the same there, and nothing else uses it."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

BASE = """from flax import linen as nn

WIDE = 3


class Base(nn.Module):
    n: int

    def setup(self):
        self.a = nn.Dense(self.n * WIDE)
        self.out = nn.Dense(max(self.n, 2))

    def end(self, h):
        return self.out(h)


class Near(Base):
    def __call__(self, x):
        return self.end(self.a(x))
"""
USER = """{imports}


class Far(Base):
    def __call__(self, x, y):
        return self.end(self.a(x) + self.a(y))
"""
PLAIN = "from flax import linen as nn\nfrom moved_base import WIDE, Base"


def migrated(base: str, user: str) -> RunResult:
    files = {"moved_base": base, "moved_user": user}
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])


def outcomes(result: RunResult) -> set[str]:
    return {found.outcome.value for found in result.classes}


def test_the_setup_goes_to_another_file() -> None:
    user = USER.format(imports=PLAIN)
    module("moved_base", BASE)
    linen = module("moved_user_linen", user)
    result = migrated(BASE, user)
    assert outcomes(result) == {"native"}
    texts = {file.path.stem: file.after for file in result.files}
    assert texts["moved_base"] is not None and texts["moved_user"] is not None
    module("moved_base", texts["moved_base"])
    native = module("moved_user_nnx", texts["moved_user"])
    x, y = jnp.arange(10.0).reshape(2, 5), jnp.ones((2, 5))
    model = linen.Far(2)
    variables = model.init(jax.random.key(0), x, y)
    other = native.Far(2, in_features=5, rngs=nnx.Rngs(1))
    compat.from_linen(variables, other)
    np.testing.assert_array_equal(other(x, y), model.apply(variables, x, y))


@pytest.mark.parametrize(
    "base,imports",
    [
        (BASE, "from flax import linen as nn\nfrom moved_base import Base\nWIDE = 4"),
        (BASE, "from flax import linen as nn\nfrom moved_base import Base"),
        (BASE, "from moved_base import WIDE, Base"),
        (BASE, f"{PLAIN}\nmax = min"),
        (BASE, f"{PLAIN}\nmodel = Base(3)"),
        (BASE.replace("def end", "def __call__(self, x):\n        return self.a(x)\n\n    def end"), PLAIN),
        (BASE + "\n\ndef made(kind=Base):\n    return kind(3)\n", PLAIN),
    ],
    ids=["another number", "no number", "no nn", "another builtin", "made", "called", "handed"],
)
def test_the_setup_stays(base: str, imports: str) -> None:
    result = migrated(base, USER.format(imports=imports))
    after = {file.path.stem: file.after for file in result.files}["moved_base"]
    text = base if after is None else after
    assert "self.a = " in text.partition("class Near")[0]


ALIKE = """import jax
from flax import linen as nn


class Wide(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(x)


class Base(nn.Module):
    def after(self, x):
        return {read}


class One(Base):
    def setup(self):
        self.a = nn.Dense(4)
        self.gain = self.param("gain", nn.initializers.ones, (4,))

    def __call__(self, x):
        return {called}


class Other(Base):
    def setup(self):
        self.a = {made}
        self.gain = {gain}

    def __call__(self, x):
        return {called}
"""


@pytest.mark.parametrize("called", ["self.after(self.a(x))", "self.a(x)"])
@pytest.mark.parametrize(
    "read,made,gain,native",
    [
        ("x * self.a.features", "nn.Dense(3)", "2", True),
        ("x * self.a.features", "Wide(3)", "2", False),
        ("jax.lax.add(x, self.gain)", "Wide(3)", "2.0", False),
        ("x + self.gain", "Wide(3)", "self.param('gain', nn.initializers.ones, (1,))", True),
        ("x + self.gain", "Wide(3)", "self.param('other', nn.initializers.ones, (1,))", False),
        ("x + self.gain", "Wide(3)", "self.variable('seen', 'gain', jax.numpy.ones, (1,))", False),
    ],
)
def test_a_method_of_a_base_reads_one_kind_of_attribute(read: str, made: str, gain: str, native: bool, called: str) -> None:
    text = ALIKE.format(read=read, made=made, gain=gain, called=called)
    result = migrate_project([SourceFile.parse(Path("read_by_bases.py"), "read_by_bases", text)])
    found = {c.qualname.rpartition(".")[2]: c.outcome.value for c in result.classes}
    assert found["One"] == found["Other"] == ("native" if native else "bridged")
