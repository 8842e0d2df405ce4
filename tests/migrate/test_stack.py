"""Deep recursion has room, and what was set for it is put back."""

import sys

import pytest
from nnx_migrate.migrate.stack import with_deep_stack


def depth(count: int) -> int:
    return depth(count - 1) + 1 if count else 0


def test_recurses_deeply() -> None:
    before = sys.getrecursionlimit()
    assert with_deep_stack(lambda: depth(5_000)) == 5_000
    assert sys.getrecursionlimit() == before


def test_an_error_leaves_the_limit_as_it_was() -> None:
    before = sys.getrecursionlimit()
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: depth(100) // 0)
    assert sys.getrecursionlimit() == before


def test_a_larger_limit_stays() -> None:
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(20_000)
        assert with_deep_stack(sys.getrecursionlimit) == 20_000
    finally:
        sys.setrecursionlimit(before)
