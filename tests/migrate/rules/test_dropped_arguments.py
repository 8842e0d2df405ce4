"""Arguments that go or move to the front: comments around them may hold commas and brackets, and stay."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import FROM_GDA, pjit
from jax.experimental.shard_map import shard_map
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
x = jnp.asarray([3.0, 1.0, 2.0])


def step(s, b):
    return s + b


"""
# How the arguments of a call may stand: what is before the first, between two, and behind the last.
LAYOUTS = {
    "one line": ("", ", ", ""),
    "tight": ("", ",", ","),
    "lines": ("\n    ", ",\n    ", ",\n"),
    "comments behind": ("  # the call, at (first\n    ", ",  # one, two)\n    ", "  # the last, at last\n"),
    "comments above": ("\n    # before, all\n    ", ",\n    # so, (this\n    # too, of course\n    ", ",\n"),
    "both": ("  # (\n    ", ",  # of it, )\n    # above, (\n    ", ",  # that's all, folks\n    # end, of it\n"),
    "commas in front": ("\n    ", "  # of it, )\n    , ", "\n"),
    "commas alone": ("\n    ", "\n    # of it, )\n    ,\n    # next, (\n    ", "\n    # end, of it\n    ,\n"),
}
GIVEN = (
    "in_axis_resources=FROM_GDA",
    "donate_argnums=(0,)",
    "out_axis_resources=(  # none, at (all\n    FROM_GDA)",
    "inline=(True)",
)


def _after(text: str) -> str:
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    assert file.after is not None
    return file.after


def _comments(text: str) -> list[str]:
    found = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    return [comment for comment in found if "TODO(nnx-migrate)" not in comment]


def _call(text: str) -> ast.Call:
    (found,) = (n for n in ast.parse(text).body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "f")
    assert isinstance(found.value, ast.Call)
    return found.value


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", ["step", "fun=(step)", "fun=(  # it, is\n    step)"])
def test_every_order_of_what_goes_and_stays(layout: str, function: str) -> None:
    first, between, last = LAYOUTS[layout]
    orders = [o for n in range(1, 5) for o in itertools.permutations(GIVEN, n) if n < 4 or o[0] < o[-1]]
    for order in orders[:: 1 if function == "step" else 3]:
        # The function stands first by position, and anywhere by name.
        at = len(order) // 2 if "=" in function else 0
        items = [*order[:at], function, *order[at:]]
        text = f"{HEAD}f = pjit({first}{between.join(items)}{last})\n"
        after = _after(text)
        call = _call(after)
        assert [ast.unparse(a) for a in call.args] == ["step"], after
        kept = [item for item in order if "FROM_GDA" not in item]
        assert [ast.unparse(k) for k in call.keywords] == [ast.unparse(_call(f"f = g({k})").keywords[0]) for k in kept]
        around = [comment for comment in _comments(text) if "at (all" not in comment and "it, is" not in comment]
        assert [c for c in _comments(after) if "it, is" not in c] == around, after


CALLS = {
    "f = jnp.sort(kind='mergesort', a=x)": "f = jnp.sort(a=x)",
    "f = jnp.sort(\n    x,\n    # a way, of old\n    kind='stable',  # no, more\n)": (
        "f = jnp.sort(\n    x,\n    # a way, of old\n    # no, more\n)"
    ),
    "f = jnp.sort(x, kind=(\n    'stable'), axis=-1)": "f = jnp.sort(x, axis=-1)",
    "f = jax.nn.softmax(x,  # of, these\n    axis=-1, initial=(-jnp.inf))": (
        "f = jax.nn.softmax(x,  # of, these\n    axis=-1)"
    ),
    "f = jnp.where(\n    condition=x > 1,  # a, b\n    x=(x),\n    # c, d\n    y=0,\n)": (
        "f = jnp.where(\n    x > 1,  # a, b\n    x,\n    # c, d\n    0,\n)"
    ),
    "f = jnp.where(x=x, y=-x, condition=(x > 1))": "f = jnp.where(x > 1, x, -x)",
    "f = jax.scipy.linalg.solve(jnp.eye(3), x, sym_pos=(True))": "f = jax.scipy.linalg.solve(jnp.eye(3), x, assume_a='pos')",
    "f = jax.jit(\n    static_argnums=1,\n    # now, the function\n    fun=step,\n)(x, 2)": (
        "f = jax.jit(\n    step, static_argnums=1,\n    # now, the function\n)(x, 2)"
    ),
    "f = partial(jax.jit, static_argnums=1,  # one, two\n    fun=step)()(x, 2)": (
        "f = partial(jax.jit, step, static_argnums=1,  # one, two\n    )()(x, 2)"
    ),
    "f = shard_map(\n    jnp.negative,\n    # its axes, if any\n    auto=frozenset(),\n    mesh=mesh,"
    " in_specs=P(), out_specs=P())(x)": (
        "f = jax.shard_map(\n    jnp.negative,\n    # its axes, if any\n    mesh=mesh, in_specs=P(), out_specs=P())(x)"
    ),
    "f = shard_map(jnp.negative, (  # over, all\n    mesh), P(), (  # of, it\n    P()))(x)": (
        "f = jax.shard_map(jnp.negative, mesh=(  # over, all\n    mesh), in_specs=P(), out_specs=(  # of, it\n    P()))(x)"
    ),
    "f = shard_map(jnp.negative, mesh, P(), P(), auto=frozenset({'i'}) | {'i'})": (
        "f = jax.shard_map(\n    jnp.negative,\n    mesh=mesh,\n    in_specs=P(),\n    out_specs=P(),\n"
        "    axis_names=set(mesh.axis_names) - (frozenset({'i'}) | {'i'}),\n)"
    ),
    "f = jax.lax.with_sharding_constraint(x, axis_resources=(  # as, is\n    jax.NamedSharding(mesh, P())))": (
        "f = jax.lax.with_sharding_constraint(x, shardings=(  # as, is\n    jax.NamedSharding(mesh, P())))"
    ),
}


@pytest.mark.parametrize("before", CALLS)
def test_what_stands_there(before: str) -> None:
    assert _after(f"{HEAD}{before}\n").endswith(f"\n\n{CALLS[before]}\n")


@pytest.mark.parametrize("before", CALLS)
def test_it_runs_and_gives_what_it_gave(before: str) -> None:
    old: dict[str, object] = {}
    new: dict[str, object] = {}
    exec(_after(f"{HEAD}{before}\n"), new)
    try:
        exec(HEAD.replace("FROM_GDA, ", "") + before, old)
    except TypeError:  # a keyword of old
        return
    if not callable(old["f"]):
        assert str(old["f"]) == str(new["f"])


def test_a_dimension_that_goes_leaves_its_comments() -> None:
    text = (
        f"{HEAD}@partial(shard_map, mesh=mesh, in_specs=P('i'), out_specs=P(('i'),  # rows, columns\n"
        "    # and, more\n    None, None))\ndef f(x):\n    return jax.lax.psum_scatter(x, 'i')\n"
    )
    assert "out_specs=P(('i'),  # rows, columns\n    # and, more\n    ))\n" in _after(text)
