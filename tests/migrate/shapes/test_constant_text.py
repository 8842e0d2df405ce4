"""Conditions of which both sides are constants."""

import pytest
from nnx_migrate.migrate.linen.values.constant_text import settled
from nnx_migrate.migrate.linen.values.dims import Dim


@pytest.mark.parametrize(
    ("test", "answer"),
    [
        ("None == 'down'", False),
        ("'down' == 'down'", True),
        ("'up' != 'down'", True),
        ("1 > 1", False),
        ("2 >= 1", True),
        ("None is None", True),
        ("3 is not None", True),
        ("'a' is 'a'", None),
        ("None < 1", None),
        ("self.a == 1", None),
        ("1 < 2 < 3", None),
        ("x", None),
        ("if", None),
        ("True", None),
    ],
)
def test_a_comparison_of_constants_is_settled(test: str, answer: bool | None) -> None:
    assert settled(test) is answer


def test_sizes_under_settled_conditions_have_none() -> None:
    size = Dim.field("a")
    assert Dim.cond("1 > 1", size, size + 1) == size + 1
    assert Dim.cond("'x' == 'x'", size, size + 1) == size
    assert Dim.cond("self.b", size, size + 1).single_atom() is not None
