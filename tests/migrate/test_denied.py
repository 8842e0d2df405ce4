"""Conditions that do not hold, as the constructor says them."""

from __future__ import annotations

import pytest
from nnx_migrate.migrate.nnx.text.text_parts import condition, denied

DENIED = {
    "kind == 'add'": "kind != 'add'",
    "in_shape != y_shape": "in_shape == y_shape",
    "norm is None": "norm is not None",
    "size not in (1, 2)": "size in (1, 2)",
    "name == 'é' + é": "name != 'é' + é",
    "self.train": "not self.train",
    "1 < n < 9": "not (1 < n < 9)",
    "n > 3": "not (n > 3)",
    "(a or b) == c": "not ((a or b) == c)",
    "a == b or c": "not (a == b or c)",
}


@pytest.mark.parametrize("said", DENIED)
def test_what_denies_a_condition(said: str) -> None:
    assert "".join(denied((said,), "")) == DENIED[said]


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("not (kind == 'add')", "kind != 'add'"),
        ("not kind == 'add'", "kind != 'add'"),
        ("not (a and b)", "not (a and b)"),
        ("a == b", "a == b"),
        ("not (a == b) or c", "not (a == b) or c"),
    ],
)
def test_a_denial_is_said_plainly(said: str, plain: str) -> None:
    assert "".join(condition((said,), "")) == plain
