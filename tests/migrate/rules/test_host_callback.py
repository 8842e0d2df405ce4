"""host_callback as today's callbacks: what the host sees, and what is left for a person."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """\
import jax
import jax.experimental.host_callback as hcb
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.host_callback import id_print, id_tap

seen = []
kinds = set()


def start(arg, transforms):
    seen.append(arg)


def update(arg, transforms):
    kinds.add(type(arg))
    seen.append(float(arg))


def half(values):
    kinds.add(type(values["x"]))
    return values["x"].astype(np.float64) / 2


def body(i, x):
    lax.cond(i == 0, lambda _: hcb.id_tap(start, None, result=i), lambda _: i, operand=None)
    lax.cond(i % 2 == 1, lambda: id_tap(update, arg=i), lambda: i)
    x = id_print(x, what="x")
    id_print(x)
    return x + hcb.call(half, {"x": x}, result_shape=1.0) + hcb.call(lambda n: n * 2, i, result_shape=i)


out = float(jax.jit(lambda x: lax.fori_loop(0, 4, body, x))(1.0))
gradient = float(jax.grad(lambda x: id_tap(update, x**2))(3.0))
hcb.barrier_wait("end")
"""


def migrate(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("p.py"), "p", text)])


def test_the_host_sees_what_it_saw(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    import sys

    result = migrate(PROGRAM)
    text = result.files[0].after
    assert text is not None and "host_callback" not in text and not result.files[0].diagnostics
    for path, content in result.created.items():
        helper = types.ModuleType(path.stem)
        monkeypatch.setitem(sys.modules, path.stem, helper)
        exec(compile(content, path.name, "exec"), helper.__dict__)
    found: dict[str, Any] = {}
    exec(compile(text, "p.py", "exec"), found)
    x = 1.0
    for i in range(4):
        x = x + x / 2 + 2 * i
    assert found["out"] == x and found["gradient"] == 6.0
    assert found["seen"] == [None, 1.0, 3.0, 9.0]
    assert {kind.__module__ for kind in found["kinds"]} == {"numpy"}
    assert capfd.readouterr().out.splitlines()[:2] == ["x 1.0", "1.0"]


@pytest.mark.parametrize(
    "text",
    [
        "hcb.id_tap(f, x, tap_with_device=True)\n",
        "hcb.id_tap(f, x, **options)\n",
        "hcb.call(*args)\n",
        "hcb.id_print(x, what=name)\n",
        "hcb.id_print(x)\ntap = hcb.id_tap\n",
        "hcb.id_tap(f, x)\nstep = jax.pmap(step)\n",
        "hcb.call(f, x, result_shape=x)\nmesh = Mesh(devices, ('x',))\n",
        "hcb.id_tap(f, x)\nstep = jax.vmap(step)\n",
        "hcb.stop_outfeed_receiver()\n",
    ],
)
def test_what_is_left_is_left_as_a_whole(text: str) -> None:
    head = "import jax\nfrom jax.sharding import Mesh\nfrom jax.experimental import host_callback as hcb\nhcb.id_print(0)\n"
    result = migrate(head + text)
    after = result.files[0].after or ""
    assert "NNX811" in {d.code for d in result.files[0].diagnostics}
    assert [line for line in after.splitlines() if "TODO" not in line] == (head + text).splitlines()


@pytest.mark.parametrize("text", ["hcb.id_print(x)\njax.pmap(f)\n", "hcb.call(f, x)\njax.vmap(g)\n"])
def test_what_does_not_depend_on_the_devices_is_written(text: str) -> None:
    result = migrate(f"import jax\nfrom jax.experimental import host_callback as hcb\n{text}")
    assert "host_callback" not in (result.files[0].after or "host_callback") and not result.files[0].diagnostics
