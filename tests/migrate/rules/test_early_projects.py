"""Projects of the time of early NNX, of several files, migrated and run on today's stack."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

FILES = {
    "parts.layers": """
import jax.numpy as jnp
from flax import nnx


class Count(nnx.Variable):
    pass


class Scale(nnx.Module):
    def __init__(self, dim: int):
        self.scale = nnx.Param(jnp.full((dim,), 2.0))
        self.calls = Count(jnp.array(0))

    def __call__(self, x):
        self.calls.value += 1
        return x * self.scale.value
""",
    "parts.blocks": """
from flax import nnx
from parts import layers


class Block(nnx.Module):
    def __init__(self, dim: int, *, rngs: nnx.Rngs):
        self.norm = layers.Scale(dim)
        self.linear = nnx.Linear(dim, dim, kernel_init=nnx.initializers.constant(0.1), rngs=rngs)

    def __call__(self, x):
        return self.linear(self.norm(x))
""",
    "program": """
import jax.numpy as jnp
import optax
from flax import nnx
from parts.blocks import Block
from parts.layers import Count


class Wide(Block):
    def __init__(self, dim: int, *, rngs: nnx.Rngs):
        super().__init__(dim, rngs=rngs)
        self.more = [nnx.Linear(dim, dim, kernel_init=nnx.initializers.constant(0.1), rngs=rngs)]

    def __call__(self, x):
        return self.more[0](super().__call__(x))


class Net(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs):
        self.layers = [Block(3, rngs=rngs) for _ in range(2)]
        self.heads = {"a": Wide(3, rngs=rngs)}
        self.total = Count(jnp.array(0))

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        self.total.value += 1
        return self.heads["a"](x)


net = Net(rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(net, optax.sgd(0.1))


@nnx.jit
def step(net, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda net: jnp.mean((net(x) - 1.0) ** 2))(net)
    optimizer.update(grads)
    return loss


for _ in range(3):
    print(round(float(step(net, optimizer, jnp.ones((2, 3)))), 5))
first = net.layers[0].norm
print(first.calls.value, net.total.value, round(float(first.scale.value[0]), 5))
""",
}


def run_program(folder: pathlib.Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


def test_modules_of_other_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "parts").mkdir()
    names = {name: pathlib.Path(*name.split(".")).with_suffix(".py") for name in FILES}
    result = migrate_project([SourceFile.parse(path, name, FILES[name]) for name, path in names.items()])
    for file, text in zip(result.files, FILES.values(), strict=True):
        after = file.after or text
        assert not file.diagnostics
        (tmp_path / file.path).write_text(after)
    assert run_program(tmp_path) == ["0.8746", "0.67221", "0.4389", "3", "3", "2.00924"]  # as flax 0.10.2 prints


GIVEN_LATER = {
    "net": """
import jax
import jax.numpy as jnp
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(3, 4, kernel_init=nnx.initializers.constant(0.3), rngs=rngs)
        self.mask = None
        self.note = None

    def __call__(self, x):
        x = self.linear(x)
        return x if self.mask is None else x * self.mask.value


class Net(nnx.Module):
    def __init__(self, encoder, rngs: nnx.Rngs):
        self.encoder = encoder
        self.head = nnx.Linear(4, 1, kernel_init=nnx.initializers.constant(0.1), rngs=rngs)

    def __call__(self, x):
        return self.head(self.encoder(x))


def build(seed):
    rngs = nnx.Rngs(seed)
    return Net(Encoder(rngs), rngs)
""",
    "program": """
import jax.numpy as jnp
from flax import nnx
from net import Encoder, Net

rngs = nnx.Rngs(0)
encoder = Encoder(rngs)
net = Net(encoder, rngs)
first = net(jnp.ones((1, 3)))
encoder.mask = nnx.Param(jnp.arange(4.0))
encoder.note = "masked"
print(round(float(first.sum()), 4), round(float(net(jnp.ones((1, 3))).sum()), 4))
""",
}


def test_variables_that_attributes_are_given_from_outside(tmp_path: pathlib.Path) -> None:
    result = migrate_project([SourceFile.parse(pathlib.Path(f"{name}.py"), name, GIVEN_LATER[name]) for name in GIVEN_LATER])
    for file, text in zip(result.files, GIVEN_LATER.values(), strict=True):
        (tmp_path / file.path).write_text(file.after or text)
    net = (tmp_path / "net.py").read_text()
    assert "self.mask = nnx.data(None)" in net and "self.note = None" in net
    assert run_program(tmp_path) == ["0.36", "0.54"]  # as flax 0.10.2 prints


def test_functions_that_call_each_other_are_asked_once() -> None:
    """Each leads to all the others, by many ways: following every way would not end."""
    names = [f"f{number}" for number in range(45)]
    calls = "".join(f"    a = {name}(x)\n" for name in names)
    text = "from flax import nnx\n\n\n" + "\n\n".join(f"def {name}(x):\n{calls}    return a\n" for name in names)
    text += "\n\nmodel = nnx.Linear(2, 3, rngs=nnx.Rngs(0))\ny = f0(model)\nprint(y.value, model.kernel.value)\n"
    started = time.process_time()
    (found,) = migrate_project([SourceFile.parse(pathlib.Path("m.py"), "m", text)]).files
    assert "print(y.value, model.kernel[...])" in str(found.after)
    assert time.process_time() - started < 15
