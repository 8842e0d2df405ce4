"""How long the codemod takes, against what libcst needs merely to parse the same files in one process.

Two bodies: the installed jax and flax packages (hardly anything to edit), and a generated tree of Linen modules (every
file edited). Each round runs the two sides one after the other, in fresh processes, in alternating order; the figure is
the median of the rounds' ratios, on CPU time, which a busy machine disturbs least. Both sides run from bytecode, as
installed packages do: a first round, which makes it, does not count. Startup weighs more on a small tree; give
`--files` several sizes to see both what a run costs and what a file does.

    python benchmarks/bench_codemod.py [--rounds 5] [--files 40 400]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PARSE = """
import sys, libcst
from pathlib import Path
for root in sys.argv[1:]:
    for path in sorted(Path(root).rglob("*.py")):
        libcst.parse_module(path.read_bytes())
"""

MODEL = '''"""Model number {n}."""

from typing import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block{n}(nn.Module):
    """A transformer block."""

    features: int
    heads: int = 4
    dropout: float = 0.1
    activation: Callable = nn.gelu

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        y = nn.LayerNorm(name="norm_attention")(x)
        y = nn.MultiHeadDotProductAttention(num_heads=self.heads)(y, y, deterministic=deterministic)
        x = x + nn.Dropout(self.dropout)(y, deterministic=deterministic)
        y = nn.LayerNorm(name="norm_mlp")(x)
        y = nn.Dense(4 * self.features, kernel_init=nn.initializers.xavier_uniform())(y)
        y = nn.Dense(self.features)(self.activation(y))
        return x + nn.Dropout(self.dropout)(y, deterministic=deterministic)


class Model{n}(nn.Module):
    """A stack of blocks."""

    vocabulary: int = 100
    features: int = 32
    layers: int = 2

    @nn.compact
    def __call__(self, tokens, deterministic: bool = True):
        x = nn.Embed(self.vocabulary, self.features)(tokens)
        for i in range(self.layers):
            x = Block{n}(self.features, name=f"block_{{i}}")(x, deterministic)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


def loss{n}(params, tokens):
    logits = Model{n}().apply({{"params": params}}, tokens)
    return jnp.mean(jax.tree_map(jnp.square, logits))


def create{n}(key):
    return Model{n}().init(key, jnp.ones((1, 8), jnp.int32))
'''


def cpu_seconds(bytecode: str, *command: str) -> float:
    """User and system time of a command and its children. Raises where it fails (status 1 is a finding, not an error).

    `bytecode`: a folder that keeps the compiled modules from one run to the next.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command}: {done.stderr.decode()[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(roots: list[str], rounds: int) -> dict[str, float]:
    """Median CPU seconds of both sides over paired rounds, and the median of their ratios."""
    sides = {
        "libcst": [sys.executable, "-c", PARSE, *roots],
        "migrate": [sys.executable, "-m", "nnx_migrate.migrate", *roots, "--diff"],
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as bytecode:
        for turn in range(-1, rounds):
            for name in sorted(sides, reverse=turn % 2 == 1):
                seconds = cpu_seconds(bytecode, *sides[name])
                if turn >= 0:
                    times[name].append(seconds)
    ratios = [mine / other for mine, other in zip(times["migrate"], times["libcst"])]
    return {
        "files": sum(1 for root in roots for _ in Path(root).rglob("*.py")),
        "libcst_s": round(statistics.median(times["libcst"]), 2),
        "migrate_s": round(statistics.median(times["migrate"]), 2),
        "ratio": round(statistics.median(ratios), 3),
    }


def package(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed: pip install 'nnx-migrate[jax]'")
    return os.path.dirname(spec.origin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, nargs="+", default=[40], help="sizes of the generated Linen trees")
    parser.add_argument("--only", choices=["packages", "linen"])
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    if options.only != "linen":
        found["installed jax and flax (at most 0.5)"] = measure([package("jax"), package("flax")], options.rounds)
    if options.only != "packages":
        for size in options.files:
            with tempfile.TemporaryDirectory() as root:
                for number in range(size):
                    (Path(root) / f"model_{number}.py").write_text(MODEL.format(n=number))
                found[f"{size} Linen files, all edited (at most 3)"] = measure([root], options.rounds)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
