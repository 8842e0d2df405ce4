"""Static methods of one name, of several classes, which make modules for the `setup` of their own class."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

PROGRAM = """import jax.numpy as jnp
from flax import linen as nn


class Body(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.max_pool(nn.Conv(4, (3, 3))(x), (2, 2), (2, 2))


class Odd(nn.Module):
    block: object
    given: dict

    @nn.compact
    def __call__(self, x):
        return self.block(**self.given)(x)


class Plain(nn.Module):
    n: int = 3

    @staticmethod
    def make_body(self):
        return Body()

    def setup(self):
        self.body = Plain.make_body(self)
        self.head = nn.Dense(self.n)

    def __call__(self, x):
        x = self.body(x)
        return self.head(x.reshape((x.shape[0], -1)))


class Stays(nn.Module):
    @staticmethod
    def make_body(self):
        return Odd(nn.Dense, {"features": 4})

    def setup(self):
        self.body = Stays.make_body(self)
        self.head = nn.Dense(3)

    def __call__(self, x):
        x = self.body(x)
        return self.head(x.reshape((x.shape[0], -1)))
"""
OF_DERIVED = """

class Derived(Plain):
    @nn.compact
    def __call__(self, x):
        return Derived.make_body(self)(x)
"""


def _migrated(text: str) -> tuple[dict[str, str], dict[str, str], str]:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    outcomes = {c.qualname.rpartition(".")[2]: str(c.outcome) for c in result.classes}
    created = {path.stem: content for path, content in result.created.items()}
    return outcomes, created, result.files[0].after or ""


def test_a_class_does_not_stay_with_another_whose_maker_has_the_same_name() -> None:
    outcomes, created, after = _migrated(PROGRAM)
    assert outcomes == {"Body": "native", "Odd": "bridged", "Plain": "native", "Stays": "bridged"}
    for name, content in created.items():
        module(name, content)
    linen, new = module("one_name_before", PROGRAM).Plain(), module("one_name_after", after)
    x = jnp.linspace(-1, 1, 2 * 8 * 6 * 3).reshape((2, 8, 6, 3))
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, new.Plain(in_shape=x.shape, rngs=nnx.Rngs(0)), x)
    given = module("one_name_before", PROGRAM).Stays()
    assert jnp.array_equal(
        new.Stays().init(jax.random.key(0), x)["params"]["head"]["kernel"],
        given.init(jax.random.key(0), x)["params"]["head"]["kernel"],
    )


def test_what_a_derived_class_says_of_its_base_keeps_the_method() -> None:
    _, _, after = _migrated(PROGRAM.partition("class Stays")[0] + OF_DERIVED)
    assert "def make_body" in after


def test_a_file_that_only_names_its_package_asks_the_class_of_that_name() -> None:
    user = "from lib import models\n\nmake = lambda model: models.Plain.make_body(model)\n"
    user += "kept = lambda m: models.Alone.make(m)\n"
    alone = PROGRAM.partition("class Odd")[0].replace("Body", "Trunk") + PROGRAM[PROGRAM.index("class Plain") :]
    alone = alone.partition("class Stays")[0].replace("Plain", "Alone").replace("Body()", "Trunk()")
    texts = {"m": PROGRAM.partition("class Stays")[0], "n": alone, "user": user}
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, text) for n, text in texts.items()])
    after = {file.path.stem: file.after or "" for file in result.files}
    assert "def make_body" in after["m"]  # for what the other file asks
    assert "def make_body" not in after["n"] and "class Alone(nnx.Module)" in after["n"]
