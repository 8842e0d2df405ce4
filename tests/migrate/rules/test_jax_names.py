"""Every entry of the table of old jax names, looked up in the installed jax."""

from __future__ import annotations

import importlib
import pathlib
import re
import warnings

import jax
import pytest
from nnx_migrate.migrate.catalog.early_nnx import RENAMED
from nnx_migrate.migrate.catalog.jax_names import DEAD_FLAGS, EXPRESSIONS, GONE, Gone, lookup
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile


def state(dotted: str) -> str:
    """`gone`, `deprecated` or `ok`."""
    parts = dotted.split(".")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found: object = None
        for cut in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:cut]))
                break
            except Exception:
                continue
        try:
            for part in parts[cut:]:
                found = getattr(found, part)
        except AttributeError:
            return "gone"
    words = ("deprecated", "was removed, this is just an alias")
    return "deprecated" if any(word in str(w.message) for w in said for word in words) else "ok"


@pytest.mark.parametrize("entry", GONE, ids=lambda entry: entry.old)
def test_old_names_are_gone_and_new_ones_are_there(entry: Gone) -> None:
    assert state(entry.old) == ("deprecated" if entry.works else "gone")
    if entry.new is not None:
        assert state(entry.new) == "ok"
    else:
        assert entry.note
    assert re.fullmatch(r"0\.\d+\.\d+", entry.removed)


def test_expressions_and_flags() -> None:
    for old, (new, _, _) in EXPRESSIONS.items():
        assert state(old) == "gone" and (not new or state(new) == "ok")
    for flag in DEAD_FLAGS:
        with pytest.raises(AttributeError, match="Unrecognized config option"):
            jax.config.update(flag, True)
    assert not set(DEAD_FLAGS) & set(jax.config.values)


def test_nnx_names() -> None:
    for old, new in RENAMED.items():
        if old != "flax.nnx.abstract_with_sharding":  # says so when it is called
            assert state(old) in ("gone", "deprecated"), old
        assert state(new) == "ok", new


def test_lookup_takes_the_longest_entry() -> None:
    found = lookup("jax.lib.xla_bridge.get_backend")
    assert found is not None and found[1] == "jax.extend.backend.get_backend"
    found = lookup("jax.lib.xla_bridge.something_else")
    assert found is not None and found[1] is None
    found = lookup("jax.linear_util.transformation")
    assert found is not None and found[1] == "jax.extend.linear_util.transformation"
    assert lookup("jax.numpy.ones") is None and lookup("jaxopt.tree_map") is None


# x is an array, a model's method and a module's function are not.
ATTRIBUTES = """
import jax
import jax.numpy as jnp
import tensor_kit as kit

x = jnp.ones(3)
kit.device()
with kit.device("cpu"):
  print({old})
"""


@pytest.mark.parametrize("old", ["x.device()", "x.device_buffer", "x.device_buffers", "x.block_host_until_ready()"])
def test_attributes_of_arrays_that_are_gone_are_marked(old: str) -> None:
    text = ATTRIBUTES.replace("{old}", old)
    (file,) = migrate_project([SourceFile.parse(pathlib.Path("p.py"), "p", text)]).files
    assert [(d.code, d.line) for d in file.diagnostics] == [("NNX815", 9)]
    with pytest.raises((AttributeError, TypeError)):
        eval(old, {"x": jax.numpy.ones(3)})


def test_a_device_method_of_the_projects_own_is_left() -> None:
    text = "import jax\n\n\nclass Box:\n    def device(self):\n        return 'cpu'\n\n\nprint(Box().device())\n"
    (file,) = migrate_project([SourceFile.parse(pathlib.Path("p.py"), "p", text)]).files
    assert not file.diagnostics


def test_names_of_modules_that_moved_to_names_that_are_gone_too() -> None:
    text = """import jax
from jax.api import tree_map as tm, device_put_sharded


def shard(xs):
    devices = jax.local_devices()
    return jax.api.device_put_sharded(xs, devices), device_put_sharded(xs, devices), tm(jax.api.tree_leaves, xs)
"""
    after = migrate_project([SourceFile.parse(pathlib.Path("m.py"), "m", text)]).files[0].after
    assert after is not None and "api" not in after and "device_put_sharded" not in after
    again = migrate_project([SourceFile.parse(pathlib.Path("m.py"), "m", after)]).files[0].after
    assert again == after
    space: dict[str, object] = {}
    exec(after, space)
    once, twice, leaves = space["shard"]([jax.numpy.ones(3)] * len(jax.local_devices()))  # type: ignore[operator]
    assert once.shape == twice.shape == (len(jax.local_devices()), 3) and len(leaves) == len(jax.local_devices())


STACKED = """import jax
from jax import api as japi, device_put_replicated, device_put_sharded as put


def shard(x, tree, parts):
    by_name = put(devices=x.devices, shards=parts)
    again = device_put_replicated(tree, x.devices)
    moved = japi.device_put_replicated(devices=x.devices, x=tree)
    return by_name, again, moved, japi.tree_map(lambda leaf: 2 * leaf, tree)


def left(parts):
    return [put, japi.device_put_sharded(*parts)]
"""


def test_copies_to_devices_by_name_and_by_names_of_their_arguments() -> None:
    result = migrate_project([SourceFile.parse(pathlib.Path("m.py"), "m", STACKED)]).files[0]
    assert result.after is not None and "import jax as japi" in result.after and "tree_map" not in result.after
    marked = [d.line for d in result.diagnostics if d.code == "NNX811"]
    assert marked == [13, 13], result.diagnostics  # those that are no calls with both arguments
    again = migrate_project([SourceFile.parse(pathlib.Path("m.py"), "m", result.after)]).files[0]
    assert again.after == result.after
    space: dict[str, object] = {}
    text = result.after.replace("from jax import device_put_sharded as put\n", "put = None\n")
    exec(text, space)
    devices = jax.local_devices()
    where = type("Where", (), {"devices": devices})()
    tree = {"w": jax.numpy.arange(3.0)}
    found = space["shard"](where, tree, [tree] * len(devices))  # type: ignore[operator]
    for copied in found[:3]:
        assert copied["w"].shape == (len(devices), 3) and copied["w"].sharding.device_set == set(devices)
    assert found[3]["w"].tolist() == [0, 2, 4]
