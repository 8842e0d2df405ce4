"""Diffs by anchors: what they say is what `patch` makes of them, whatever the texts are."""

from __future__ import annotations

import difflib
import random

import pytest
from nnx_migrate.migrate.report.linediff import opcodes, unified


def _rebuilt(before: list[str], after: list[str]) -> list[str]:
    out: list[str] = []
    last_i = last_j = 0
    for tag, i1, i2, j1, j2 in opcodes(before, after):
        assert (i1, j1) == (last_i, last_j), "opcodes leave no gap"
        if tag == "equal":
            assert before[i1:i2] == after[j1:j2]
        out += before[i1:i2] if tag == "equal" else after[j1:j2]
        last_i, last_j = i2, j2
    assert (last_i, last_j) == (len(before), len(after))
    return out


@pytest.mark.parametrize("seed", range(60))
def test_opcodes_turn_one_text_into_the_other(seed: int) -> None:
    rng = random.Random(seed)
    words = [f"line {i}\n" for i in range(rng.choice((2, 5, 40)))]
    before = [rng.choice(words) for _ in range(rng.randrange(40))]
    after = list(before)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(after) + 1)
        if rng.random() < 0.5:
            after.insert(at, rng.choice([*words, "new\n"]))
        else:
            del after[at : at + rng.randrange(4)]
    assert _rebuilt(before, after) == after


def test_hunks_read_as_those_of_difflib() -> None:
    before = [f"{i}\n" for i in range(60)]
    after = [*before[:10], "ten and a half\n", *before[10:30], *before[33:], "end"]
    assert list(unified(before, after)) == list(difflib.unified_diff(before, after))[2:]


@pytest.mark.parametrize("before,after", [([], ["a\n"]), (["a\n"], []), (["a"], ["a\n"]), ([], [])])
def test_ends(before: list[str], after: list[str]) -> None:
    assert list(unified(before, after)) == list(difflib.unified_diff(before, after))[2:]
