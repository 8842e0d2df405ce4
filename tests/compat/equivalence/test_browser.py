"""The page of `verify` in a real browser, without JavaScript: seen light and dark, and printed.

Skipped where there is no Chromium; `apt-get install chromium` brings one.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.compat.equivalence.api import compare_migrated
from nnx_migrate.compat.equivalence.page import page

BROWSER = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]
GREEN, RED = (0x11, 0x63, 0x29), (0xB4, 0x23, 0x18)


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
        return jnp.tanh(nn.Dense(8, kernel_init=init)(x))


class Native(nnx.Module):
    def __init__(self, function: Any) -> None:
        sharded = {"out_sharding": (None, "model")}
        self.Dense_0 = nnx.Linear(4, 8, kernel_metadata=sharded, rngs=nnx.Rngs(0))
        self.function = function

    def __call__(self, x: Any) -> Any:
        return self.function(self.Dense_0(x))


def document(function: Any) -> dict[str, Any]:
    """What verify would tell of the migration whose activation is `function`."""
    mesh = jax.sharding.AbstractMesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    report = compare_migrated(Linen(), lambda: Native(function), jax.ShapeDtypeStruct((2, 4), jnp.float32), mesh=mesh)
    report.losses = {"linen": [1.0, 0.5, 0.3], "nnx": [1.0, 0.5, 0.3]}
    return {"results": [{**report.to_dict(), "origin": "net.py:3", "text": str(report)}], "unchecked": []}


def browse(*arguments: str) -> None:
    """Run the browser once, without scripts and without a network."""
    common = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
    command = [str(BROWSER), *common, "--proxy-server=127.0.0.1:9", "--virtual-time-budget=2000", *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def screenshot(html: str, folder: Path, *, dark: bool = False) -> Any:
    """The page's pixels, RGB. A frame that is a sandbox runs no scripts."""
    source, frame, picture = folder / "page.html", folder / "frame.html", folder / f"page{dark}.png"
    source.write_text(html, encoding="utf-8")
    frame.write_text(
        "<style>:root{color-scheme:light dark}body{margin:0}iframe{border:0;width:100vw;height:100vh}</style>"
        "<iframe sandbox src='page.html'></iframe>"
    )
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    for _ in range(4):  # on a busy machine the picture may be taken before the frame is there
        browse(scheme, "--window-size=1000,1400", f"--screenshot={picture}", frame.as_uri())
        found = pixels(picture.read_bytes())
        if found.std() > 0:
            break
    return found


def pixels(data: bytes) -> Any:
    """A PNG of 8 bits a channel, as an array."""
    at, packed, width, height, channels = 8, b"", 0, 0, 3
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[at + 8 : at + 18])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    image = np.zeros((height + 1, width + 1, channels), np.uint8)
    for y, line in enumerate(lines, 1):
        row = line[1:].reshape(width, channels)
        if line[0] == 0:
            image[y, 1:] = row
        elif line[0] == 2:
            image[y, 1:] = row + image[y - 1, 1:]
        else:
            for x in range(1, width + 1):
                a, b, c = (image[p].astype(int) for p in ((y, x - 1), (y - 1, x), (y - 1, x - 1)))
                paeth = np.where(
                    (abs(b - c) <= abs(a - c)) & (abs(b - c) <= abs(a + b - 2 * c)),
                    a,
                    np.where(abs(a - c) <= abs(a + b - 2 * c), b, c),
                )
                guess = {1: a, 3: (a + b) // 2, 4: paeth}[int(line[0])]
                image[y, x] = row[x - 1] + guess.astype(np.uint8)
    return image[1:, 1:, :3]


def has_colour(image: Any, colour: tuple[int, int, int]) -> bool:
    return bool((np.abs(image.astype(int) - colour).max(axis=-1) < 12).sum() > 40)


def test_the_verdict_is_seen_at_once_without_scripts(tmp_path: Path) -> None:
    good = screenshot(page(document(jnp.tanh)), tmp_path)
    top = good[:200]
    assert good.mean() > 200, "the light page is light"
    assert has_colour(top, GREEN) and not has_colour(top, RED)
    bad = screenshot(page(document(jnp.sin)), tmp_path)[:200]
    assert has_colour(bad, RED)
    # Written on a page of this width nothing runs off its right edge: the last columns are bare.
    assert (good[:, -4:] == good[0, 0]).all()


def test_it_is_dark_where_dark_is_wanted(tmp_path: Path) -> None:
    html = page(document(jnp.tanh))
    assert screenshot(html, tmp_path, dark=True).mean() < 80


def test_it_prints(tmp_path: Path) -> None:
    source, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    source.write_text(page(document(jnp.sin)), encoding="utf-8")
    browse("--no-pdf-header-footer", f"--print-to-pdf={printed}", source.as_uri())
    data = printed.read_bytes()
    assert data.startswith(b"%PDF") and len(data) > 5000
