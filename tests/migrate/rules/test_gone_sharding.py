"""What old programs say of meshes, global arrays and optimizers, and what has no successor that a tool could write."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.diagnostics import Severity
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

# Program → code, and what the remedy has to name.
LEFT = {
    "from jax.experimental.maps import xmap\nf = xmap(sum, in_axes=({0: 'i'},), out_axes={})\n": ("NNX811", "jax.shard_map"),
    "import jax.experimental.maps as maps\nf = maps.SerialLoop(3)\n": ("NNX811", "jax.lax.map"),
    "import jax\ns = jax.sharding.PositionalSharding(jax.devices())\n": ("NNX811", "NamedSharding"),
    "from jax.sharding import PositionalSharding as S\ns = S(ds).reshape(1, 8).replicate(0)\n": ("NNX811", "NamedSharding"),
    "import jax\ns = jax.sharding.PmapSharding.default((8, 2))\n": ("NNX811", "one-dimensional mesh"),
    "import jax\nx = jax.xla_computation(f)(1)\n": ("NNX811", "lower("),
    "from jax.experimental import host_callback as hcb\nhcb.id_tap(f, 3, tap_with_device=True)\n": (
        "NNX811",
        "jax.debug.callback",
    ),
    "from flax import optim\no = optim.Adam(1e-3).create(params)\n": ("NNX606", "nnx.Optimizer"),
    "import flax\no = flax.optim.Momentum(0.1, beta=0.9)\n": ("NNX606", "nnx.Optimizer"),
}
WRITTEN = {
    "from jax.experimental.global_device_array import GlobalDeviceArray\n"
    "a = GlobalDeviceArray.from_callback((8, 2), mesh, axes, f)\n": (
        "jax.make_array_from_callback((8, 2), jax.NamedSharding(mesh, axes), f)"
    ),
    "import jax\njax.config.update('jax_array', True)\n"
    "jax.config.update('jax_parallel_functions_output_gda', True)\nx = 1\n": "x = 1",
    "import jax\nwith jax.sharding.use_mesh(mesh):\n  pass\n": "with jax.set_mesh(mesh):",
}


def migrate(text: str) -> tuple[str, list[tuple[str, Severity, str]]]:
    file = migrate_project([SourceFile.parse(Path("p.py"), "p", text)]).files[0]
    return file.after or text, [(d.code, d.severity, f"{d.message} {d.help}") for d in file.diagnostics]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_gone_is_named_with_its_remedy(text: str) -> None:
    after, found = migrate(text)
    code, remedy = LEFT[text]
    said = [(severity, message) for given, severity, message in found if given == code]
    assert said and all(severity is Severity.WARNING and remedy in message for severity, message in said)
    statement = text.splitlines()[-1]
    lines = after.splitlines()
    assert lines[lines.index(statement) - 1].startswith(f"# TODO(nnx-migrate): {code}")


@pytest.mark.parametrize("text", LEFT)
def test_a_second_run_says_the_same_and_changes_nothing(text: str) -> None:
    after, found = migrate(text)
    again, second = migrate(after)
    assert again == after and [code for code, *_ in second] == [code for code, *_ in found]


@pytest.mark.parametrize("text", WRITTEN)
def test_what_has_a_successor_is_written(text: str) -> None:
    after, found = migrate(text)
    assert WRITTEN[text] in after and "TODO" not in after
    assert all(severity is Severity.INFO for _, severity, _ in found)


def test_an_argument_that_was_from_gda_keeps_the_sharding_of_its_array() -> None:
    after, _ = migrate(
        "from jax.experimental.pjit import FROM_GDA, pjit\n"
        "f = pjit(g, in_axis_resources=(FROM_GDA, None), out_axis_resources=None)\n"
    )
    assert "jax.jit(g, in_shardings=(None, None), out_shardings=None)" in after
    assert "FROM_GDA" not in after.replace("# TODO(nnx-migrate): NNX811 jax.experimental.pjit.FROM_GDA", "")
