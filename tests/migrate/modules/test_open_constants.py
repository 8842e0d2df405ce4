"""Constants that are conditions of modules which are never made: what is migrated can be set the other way, as Linen's."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

PROGRAM = (Path(__file__).parent / "forms_open_constants.py").read_text()
FLIPS = [
    ("DEPTH, KIND, FIRST = True, 2", "DEPTH, KIND, FIRST = True, 3", "OfFile"),
    ('2, "a", True', '2, "a", False', "OfFile"),
    ('2, "a", True', '2, "b", True', "Returned"),
    ('2, "a", True', '2, "c", True', "Returned"),
    ("deep = True", "deep = False", "Returned"),
    ("first = True", "first = False", "Normed"),
    ("shortcut = False", "shortcut = True", "Shortcut"),
]


@pytest.mark.parametrize("was,now,name", FLIPS, ids=[now for _, now, _ in FLIPS])
def test_set_the_other_way(was: str, now: str, name: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", PROGRAM)])
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after
    assert after is not None and was in after and was in PROGRAM
    before_module = module("constants_before", PROGRAM.replace(was, now))
    after_module = module("constants_after", after.replace(was, now))
    x = jax.random.normal(jax.random.key(0), (2, 6, 6, 2) if name == "Shortcut" else (2, 4))
    linen = getattr(before_module, name)()
    model = getattr(after_module, name)(in_features=x.shape[-1], rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)
