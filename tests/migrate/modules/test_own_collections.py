"""One collection used in two files has one Variable type, so that it stays one collection."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

INNER = """import jax.numpy as jnp
from flax import linen as nn


class Inner(nn.Module):
  @nn.compact
  def __call__(self, x):
    n = self.variable('tally', 'calls', lambda: jnp.zeros((), jnp.int32))
    n.value = n.value + 1
    return nn.Dense(4)(x)
"""
OUTER = """import jax.numpy as jnp
from flax import linen as nn
from two_files_inner import Inner


class Outer(nn.Module):
  @nn.compact
  def __call__(self, x):
    n = self.variable('tally', 'steps', lambda: jnp.zeros((), jnp.int32))
    n.value = n.value + 2
    return Inner()(x)
"""


def _loaded(texts: dict[str, str]) -> types.ModuleType:
    module = types.ModuleType("")
    for name, text in texts.items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def test_a_collection_of_two_files_stays_one() -> None:
    texts = {"two_files_inner": INNER, "two_files_outer": OUTER}
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, t) for n, t in texts.items()])
    x = jnp.ones((2, 3))
    linen = _loaded(texts).Outer()
    variables = linen.init(jax.random.key(0), x)
    native = _loaded({f.path.stem: f.after or "" for f in result.files}).Outer(in_features=3, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    _, updated = linen.apply(variables, x, mutable=["tally"])
    native(x)
    got = compat.to_linen(native)
    assert jax.tree.structure(got) == jax.tree.structure({**variables, **updated})
    for a, b in zip(jax.tree.leaves({**variables, **updated}), jax.tree.leaves(got)):
        np.testing.assert_array_equal(a, b)
    Tally = nnx.variable_type_from_name("tally")
    assert len(jax.tree.leaves(nnx.state(native, Tally))) == 2


def test_the_types_stand_before_the_note_of_a_class() -> None:
    text = (
        "import jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
        "class Odd(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n    return self.perturb('p', nn.Dense(3)(x))\n\n\n"
        "class Noisy(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n"
        "    noise = self.variable('noise_consts', 'n', lambda: jnp.zeros((4,)))\n    return nn.Dense(4)(x) + noise.value\n"
    )
    (once,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    assert once.after is not None
    assert (
        once.after.index("variable_type_from_name")
        < once.after.index("# TODO")
        == once.after.index("class Odd")
        - len(next(line for line in once.after.splitlines(keepends=True) if line.startswith("# TODO")))
    )
    (twice,) = migrate_project([SourceFile.parse(Path("m.py"), "m", once.after)]).files
    assert twice.after == once.after
