"""Nested edits: order-free, everything untouched stays byte-identical."""

import pytest
from nnx_migrate.migrate.edits import Conflict, Edit, EditSet, Overlay, Span


def test_inner_edit_survives_in_a_kept_span() -> None:
    text = "a = pjit(f, spec=tree_map(g, x))  # why\n"
    edits = EditSet(text)
    call = Span(4, 32)
    value = Span(text.index("tree_map(g"), text.index(")  #") - 0)
    edits.replace(Span(text.index("tree_map"), text.index("tree_map") + 8), "tree.map")
    edits.replace(call, "jit(f, shardings=", value, ")")
    assert edits.render() == "a = jit(f, shardings=tree.map(g, x))  # why\n"


def test_insertions_keep_their_order() -> None:
    edits = EditSet("ab")
    edits.insert(1, "2", order=2)
    edits.insert(1, "1", order=1)
    assert edits.render() == "a12b"


def test_two_meanings_for_one_span_conflict() -> None:
    edits = EditSet("abc")
    edits.replace(Span(0, 1), "x")
    edits.replace(Span(0, 1), "x")
    with pytest.raises(Conflict):
        edits.replace(Span(0, 1), "y")


def test_partial_overlap_is_refused_when_rendered() -> None:
    edits = EditSet("abcdef")
    edits.replace(Span(0, 3), "x")
    edits.replace(Span(2, 5), "y")
    with pytest.raises(Conflict):
        edits.render()


def test_part_may_wrap_its_own_span() -> None:
    edits = EditSet("f(x)")
    edits.replace(Span(0, 4), "g(", Span(0, 4), ")")
    edits.replace(Span(2, 3), "y")
    assert edits.render() == "g(f(y))"


def test_overlay_renders_a_span_twice() -> None:
    edits = EditSet("if self.a + jnp.x:\n")
    condition = Span(3, 17)
    edits.replace(Span(12, 17), "np.y")
    edits.insert(0, Overlay(condition, (Edit(Span(3, 9), ("a",)),)), "\n")
    assert edits.render() == "a + np.y\nif self.a + np.y:\n"
