"""Functions under names of the user's own: an alias is rewritten where it is made, look-alikes are left alone."""

from __future__ import annotations

import pathlib
from typing import Any

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile


def migrate(text: str, name: str = "program") -> str:
    after = migrate_project([SourceFile.parse(pathlib.Path(f"{name}.py"), name, text)]).files[0].after
    assert after is not None
    return after


def test_aliases_are_rewritten_where_they_are_made() -> None:
    got = migrate(
        "import jax\nfrom flax.linen import partitioning as nn_partitioning\nfrom jax.experimental import pjit\n\n"
        "tree_map = jax.tree_map\nconstrain = nn_partitioning.with_sharding_constraint\njit = pjit.pjit\n\n\n"
        "def f(x, spec):\n    x = constrain(x, logical_axis_resources=('batch',))\n"
        "    return jit(lambda y: y, in_axis_resources=spec)(tree_map(abs, x))\n"
    )
    assert "tree_map = jax.tree.map\n" in got and "constrain = linen_parity.with_logical_constraint\n" in got
    assert "jit = jax.jit\n" in got
    assert "constrain(x, names=('batch',))" in got
    assert "jit(lambda y: y, in_shardings=spec)(tree_map(abs, x))" in got


def test_look_alikes_are_left_alone() -> None:
    text = (
        "import mylib\nfrom mylib import tree_map, pjit, KeyArray, Mesh as M\n\n\n"
        "def with_sharding_constraint(x, axis_resources=None):\n    return x\n\n\n"
        "def f(x, mesh, lock, jnp):\n"
        "    with lock:\n        x = tree_map(abs, x)\n"
        "    x = with_sharding_constraint(x, axis_resources=None)\n"
        "    return pjit(x, in_axis_resources=None), jnp.product(x), x.value, x.sharding, mylib.jax.tree_map\n"
    )
    assert migrate(text) == text


def test_names_that_a_function_shadows() -> None:
    text = "import jax\n\n\ndef f(jax, x):\n    return jax.tree_map(x)\n\n\ny = jax.devices()\n"
    assert migrate(text) == text


def test_other_context_managers_are_left_alone() -> None:
    text = (
        "import jax\nimport trimesh\n\n\ndef f(path, tape):\n    mesh = trimesh.load(path)\n"
        "    with mesh:\n        pass\n    with tape, open(path) as g:\n        return jax.devices(), g\n"
    )
    assert migrate(text) == text


def test_brackets_around_arguments() -> None:
    got = migrate(
        "import jax\nimport optax\nfrom flax import nnx\nfrom jax.experimental.pjit import pjit\n"
        "from jax.experimental.shard_map import shard_map\nfrom jax.sharding import PartitionSpec as P\n\n\n"
        "def f(model, tx, mesh, x):\n"
        "    g = pjit((lambda y: y), (P('a')), out_axis_resources=(P('b')))\n"
        "    h = shard_map((lambda y: y), (mesh), in_specs=(P('a')), out_specs=(P()), check_rep=(False))\n"
        "    optimizer = nnx.Optimizer((model), (tx))\n"
        "    grads = nnx.grad(lambda m: m(x).sum())(model)\n"
        "    optimizer.update((grads))\n"
        "    return g, h\n"
    )
    assert "g = jax.jit((lambda y: y), in_shardings=P('a'), out_shardings=P('b'))" in got
    assert "h = jax.shard_map((lambda y: y), mesh=mesh, in_specs=(P('a')), out_specs=(P()), check_vma=False)" in got
    assert "nnx.Optimizer((model), (tx), wrt=nnx.Param)" in got
    assert "optimizer.update(model, (grads))" in got


def test_brackets_around_a_partitioned_initializer() -> None:
    got = migrate(
        "import flax.linen as nn\n\n\ndef f(x, names):\n    return nn.with_logical_partitioning((lambda: x), names)()\n"
    )
    assert "linen_parity.with_logical_partitioning(lambda: x, names)()" in got


def test_names_that_one_function_imports_from_jax() -> None:
    """The file's own `tree_map` and `pjit` are other functions: rewriting these would change what the program computes."""
    got = migrate(
        "from mylib import pjit, tree_map\n\n\n"
        "def mine(f, x):\n    return pjit(tree_map(f, x), in_axis_resources=None)\n\n\n"
        "def theirs(f, x):\n    from jax import tree_map\n    from jax.experimental.pjit import pjit\n"
        "    return pjit(f, in_axis_resources=None)(tree_map(f, x))\n"
    )
    mine, theirs = got.split("def theirs")
    assert "return pjit(tree_map(f, x), in_axis_resources=None)" in mine
    assert "return jax.jit(f, in_shardings=None)(jax.tree.map(f, x))" in theirs


def test_names_that_one_scope_imports_by_several_statements() -> None:
    """Each statement keeps binding the name, also the one that today's jax gets to."""
    got = migrate(
        "try:\n    from jax import tree_map\nexcept ImportError:\n    from jax.tree_util import tree_map\n\n\n"
        "def f(x, old):\n    if old:\n        from jax import tree_map as tm\n    else:\n"
        "        from jax.tree_util import tree_map as tm\n    return tm(abs, x)\n\n\n"
        "def g(x, old):\n    if old:\n        from jax import tree_leaves\n    else:\n"
        "        from jax.tree_util import tree_leaves\n    return tree_leaves(x)\n"
    )
    names: dict[str, Any] = {}
    exec(got, names)
    assert names["tree_map"](abs, [-1]) == names["f"]([-1], True) == names["f"]([-1], False) == [1]
    assert names["g"]([1, (2,)], True) == names["g"]([1, (2,)], False) == [1, 2]


def test_the_body_of_a_class_has_imports_of_its_own() -> None:
    got = migrate(
        "def tree_map(f, x):\n    return 'own'\n\n\nclass Net:\n    from jax import tree_map\n\n"
        "    made = tree_map(abs, [-1])\n\n    def method(self, x):\n        return tree_map(abs, x)\n"
    )
    names: dict[str, Any] = {}
    exec(got, names)
    assert (names["Net"].made, names["Net"]().method([-1])) == ([1], "own")
