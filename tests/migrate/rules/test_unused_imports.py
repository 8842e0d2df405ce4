"""Imports of names that jax dropped: those that nothing uses go, so that the file imports at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile


def _run(text: str, name: str = "p.py", *others: SourceFile) -> RunResult:
    return migrate_project([SourceFile.parse(Path(name), Path(name).stem, text), *others])


@pytest.mark.parametrize(
    "line, left",
    [
        ("from jax.experimental.maps import xmap\n", ""),
        ("from jax.experimental.maps import xmap, Mesh\nMesh\n", "from jax.sharding import Mesh\nMesh\n"),
        ("from jax.experimental import host_callback as hcb, mesh_utils\nmesh_utils\n", "mesh_utils"),
        ("import jax\nimport jax.experimental.host_callback\njax.jit\n", "import jax\njax.jit\n"),
        ("from jax.lib import xla_bridge\nxla_bridge.get_backend().platform\n", "jex_backend.get_backend().platform"),
    ],
)
def test_unused_ones_go(line: str, left: str) -> None:
    result = _run(line)
    after = result.files[0].after
    assert after is not None and left in after and "TODO" not in after, after
    for gone in ("xmap", "host_callback", "xla_bridge", "experimental.maps"):
        assert gone not in after
    assert not [d for d in result.files[0].diagnostics if d.code == "NNX811"]


@pytest.mark.parametrize(
    "text",
    [
        "from jax.experimental.maps import xmap\nf = xmap(g)\n",
        "from jax.experimental import host_callback as hcb\ndef f(x):\n    return g(hcb.id_print)\n",
        "import jax.experimental.host_callback\njax.experimental.host_callback.id_print(3, threshold=9)\n",
        "from jax.experimental.maps import xmap\n__all__ = ['xmap']\n",
    ],
)
def test_used_ones_are_marked(text: str) -> None:
    result = _run(text)
    assert "NNX811" in {d.code for d in result.files[0].diagnostics}
    assert text.splitlines()[0] in (result.files[0].after or text)


def test_one_that_another_file_takes_stays() -> None:
    other = SourceFile.parse(Path("q.py"), "q", "from p import xmap\nxmap(1)\n")
    result = _run("from jax.experimental.maps import xmap\n", "p.py", other)
    assert "NNX811" in {d.code for d in result.files[0].diagnostics}
