"""Boxes of the program's own around parameters: those that are not carried, and why. Others are run in training/programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """
from typing import Any
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct
from flax.core import meta


"""
BOX = """
class Scaled(struct.PyTreeNode, meta.AxisMetadata):
    value: Any
    lr: float = struct.field(pytree_node=False)

    def unbox(self):
        return self.value

    def replace_boxed(self, value):
        return self.replace(value=value)

    def add_axis(self, index, params):
        return self

    def remove_axis(self, index, params):
        return self


def init(key, shape, dtype=jnp.float32):
    return Scaled(jnp.ones(shape, dtype), 0.5)
"""
NET = """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8, kernel_init=init)(x)
"""
STACK = """
class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return nn.Dense(8, kernel_init=init)(x), None


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=2)()(x, None)[0]
"""
FOLLOWS = BOX.replace("return self\n", "return self.replace(lr=self.lr + index)\n", 1)
REFUSED = {
    "derives from more than AxisMetadata": BOX.replace("meta.AxisMetadata", "nn.Partitioned").replace("    value: Any\n", "")
    + NET,
    "is no flax.struct dataclass": BOX.replace("struct.PyTreeNode, ", "") + NET,
    "holds other than one array": BOX.replace("struct.field(pytree_node=False)", "1.0") + NET,
    "opens to something else than `self.value`": BOX.replace("return self.value\n", "return self.value * self.lr\n") + NET,
    "changes with the axis of a scan or vmap": FOLLOWS + STACK,
    "has a use that is not followed: the box has a name": BOX.replace("return Scaled(", "box = Scaled(")
    + "    return box\n"
    + NET,
    "has a use that is not followed: a helper function": BOX
    + "\n\ndef boxed(value):\n    return Scaled(value, 1.0)\n"
    + NET,
    "has a use that is not followed: a table": BOX + "\n\nBoxes = (Scaled, nn.Partitioned)\n" + NET,
    "has a use that is not followed: asked for in a module": BOX
    + NET.replace("        return", "        isinstance(self.get_variable('params', 'w'), Scaled)\n        return"),
}


def _run(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("p.py"), "p", HEAD + text)])


@pytest.mark.parametrize("reason", REFUSED)
def test_boxes_that_modules_stay_linen_for(reason: str) -> None:
    result = _run(REFUSED[reason])
    assert {plan.outcome for plan in result.classes} == {"bridged"}
    said = {plan.reason for plan in result.classes}
    assert len(said) == 1 and reason.partition(":")[0] in said.pop(), said
    after = result.files[0].after or ""
    assert "linen_parity" not in after and "nnx" not in after.replace("nnx-migrate", "")


def test_one_that_stays_linen_keeps_the_others_linen() -> None:
    odd = NET.replace("Net", "Odd").replace(
        "        return", "        while x.sum() < 0:\n            x = nn.Dense(8)(x)\n        return"
    )
    result = _run(BOX + NET + odd)
    assert {plan.outcome for plan in result.classes} == {"bridged"}
    assert "linen_parity" not in (result.files[0].after or "")


@pytest.mark.parametrize("text", [BOX + NET, BOX + STACK, FOLLOWS + NET])
def test_others_are_carried(text: str) -> None:
    result = _run(text)
    assert {plan.outcome for plan in result.classes} == {"native"}
    after = result.files[0].after
    assert after is not None and "return linen_parity.boxed(Scaled(" in after and "TODO" not in after
    assert "flax.linen" not in after and "meta.AxisMetadata" in after
    again = migrate_project([SourceFile.parse(Path("p.py"), "p", after)])
    assert again.files[0].after in (None, after) and not again.files[0].diagnostics


LIBRARY = "import flax.linen as nn\nimport shared\n" + NET.replace("kernel_init=init", "kernel_init=shared.init")
SHARED = "import jax.numpy as jnp\n\n\ndef init(key, shape, dtype=jnp.float32):\n    return jnp.ones(shape, dtype)\n"
TEST = HEAD + "import shared\nimport tested\n" + REFUSED["has a use that is not followed: the box has a name"]
TESTED = "import flax.linen as nn\n" + NET.replace(", kernel_init=init", "").replace("Net", "Tested")


@pytest.mark.parametrize(("extra", "free"), [("", True), ("import library\n", False), ("import gin\n", False)])
def test_classes_that_a_box_cannot_reach_become_native(extra: str, free: bool) -> None:
    """A box of a test: what the test imports, and with it, may be given it. What others import beside it is not."""
    texts = {"library": LIBRARY, "shared": SHARED, "tested": TESTED, "test": extra + TEST}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])
    outcomes = {plan.qualname.partition(".")[0]: plan.outcome for plan in result.classes}
    assert outcomes == {"library": "native" if free else "bridged", "tested": "bridged", "test": "bridged"}
