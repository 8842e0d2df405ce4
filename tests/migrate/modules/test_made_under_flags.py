"""NNX119: what a flag of the call decides about is always made, and that is said where the flag's default leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "from flax import linen as nn\n\n\nclass M(nn.Module):\n  @nn.compact\n"

TOLD = {
    "left out by the default": ("aux: bool = False", "aux", ["aux"]),
    "made by the default": ("aux: bool = True", "aux", []),
    "no default": ("aux: bool", "aux", ["aux"]),
    "not the flag": ("aux: bool = True", "not aux", ["aux"]),
    "a mode": ("mode: str = 'train'", "mode == 'eval'", ["aux"]),
    "the mode of the default": ("mode: str = 'train'", "mode == 'train'", []),
    "two flags": ("a: bool = True, b: bool = False", "a and b", ["aux"]),
    "either flag": ("a: bool = True, b: bool = False", "a or b", []),
}


@pytest.mark.parametrize("what", TOLD)
def test_what_the_default_leaves_out_is_told(what: str) -> None:
    parameters, test, told = TOLD[what]
    body = f"  def __call__(self, x, {parameters}):\n    x = nn.Dense(3)(x)\n"
    body += f"    if {test}:\n      x = nn.Dense(3, name='aux')(x)\n"
    body += f"    if {test}:\n      x = nn.Dropout(0.5)(x, deterministic=True)\n    return x\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    (plan,) = result.classes
    assert plan.outcome == "native", plan.reason
    found = [d.message.split("`")[1] for d in result.files[0].diagnostics if d.code == "NNX119"]
    assert found == told


@pytest.mark.parametrize(
    "parameters, test, told",
    [
        ("early: bool = False", "early", []),
        ("early: bool = True", "early", ["late"]),
        ("early: bool", "early", ["late"]),
        ("early: bool = True", "not early", []),
        ("mode: str = 'train'", "mode == 'train'", ["late"]),
        ("early: bool = False", "x.sum() > 0 and early", []),
    ],
)
@pytest.mark.parametrize("around", ["if self.kind == 'a':\n      x += 1\n    elif {}:", "for _ in range(2):\n     if {}:"])
def test_what_an_early_return_leaves_out_is_told(parameters: str, test: str, told: list[str], around: str) -> None:
    head = HEAD.replace("nn.Module):\n", "nn.Module):\n  kind: str = 'a'\n")
    body = f"  def __call__(self, x, {parameters}):\n    {around.format(test)}\n      return x\n"
    body += "    return nn.Dense(3, name='late')(x)\n"
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", head + body)])
    (plan,) = result.classes
    assert plan.outcome == "native", plan.reason
    messages = [d.message for d in result.files[0].diagnostics if d.code == "NNX119"]
    assert [m.split("`")[1] for m in messages] == told
    assert all(f"that does not return before it (`{test}`)" in m for m in messages)
