"""Long lines of the new text are broken within brackets; the program stays the same, and old lines stay what they were."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from nnx_migrate.migrate.nnx.generated.imports import with_imports
from nnx_migrate.migrate.nnx.generated.layout import shortened
from nnx_migrate.migrate.source import SourceFile
from nnx_migrate.migrate.trees import same_tree

LONG = "a_rather_long_name_of_an_argument"


def _shortened(new: str, old: str = "x = 1\nif x:\n    pass\n") -> str:
    out = shortened(SourceFile.parse(Path("m.py"), "m", old), new)
    assert ast.dump(ast.parse(out)) == ast.dump(ast.parse(new))
    return out


def test_one_item_a_line_where_all_do_not_fit_on_one() -> None:
    line = f"    model = Functional({LONG}, {LONG}, **kw, sizes=lambda x, *_, **__: {{'a': x.shape[-1]}}, more={LONG})"
    assert _shortened(f"def f():\n{line}\n").splitlines() == [
        "def f():",
        "    model = Functional(",
        f"        {LONG},",
        f"        {LONG},",
        "        **kw,",
        "        sizes=lambda x, *_, **__: {'a': x.shape[-1]},",
        f"        more={LONG},",
        "    )",
    ]


def test_all_items_on_one_line_where_they_fit() -> None:
    assert _shortened(f"one_attribute.of_another = function({LONG}, {LONG}, last=(1, 2, 3))\n").splitlines() == [
        "one_attribute.of_another = function(",
        f"    {LONG}, {LONG}, last=(1, 2, 3)",
        ")",
    ]


def test_brackets_within_brackets() -> None:
    inner = f"inner({LONG}, {LONG}, {LONG}, {LONG})"
    lines = _shortened(f"x = outer({inner}, {LONG}, {LONG}, {LONG})\n").splitlines()
    assert lines[:3] == ["x = outer(", "    inner(", f"        {LONG},"] and max(map(len, lines)) <= 100


def test_a_comment_stays_behind_the_last_bracket() -> None:
    assert _shortened(f"x = f({LONG}, {LONG}, {LONG}, {LONG})(y)  # why, and '(what)' for\n").splitlines() == [
        "x = f(",
        *[f"    {LONG},"] * 4,
        ")(y)  # why, and '(what)' for",
    ]


def test_the_brackets_of_what_is_called_come_first_where_it_is_too_long() -> None:
    assert _shortened(f"one = merge({LONG}, {LONG}, {LONG})(x, train=False, deterministic=True)\n").splitlines() == [
        "one = merge(",
        *[f"    {LONG},"] * 3,
        ")(x, train=False, deterministic=True)",
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"x = f({LONG}, {LONG}, {LONG}, {LONG})  # type: ignore",
        f"x = f({LONG}, {LONG})  # a comment of more than {LONG}, and {LONG}, and {LONG}, and {LONG}",
        f"# x = f({LONG}, {LONG}, {LONG}, {LONG})",
        f"x = {LONG} + {LONG} + {LONG} + {LONG}",
        f"x = f'{{g({LONG}, {LONG}, {LONG}, {LONG})}}'",
        f"x = sum({LONG} * {LONG} for {LONG} in {LONG})",
        f"x = '{LONG}, {LONG}, {LONG}, {LONG}'",
        f"x = ({LONG}), {LONG}, {LONG}, ({LONG})",
    ],
)
def test_what_cannot_be_broken_stays(line: str) -> None:
    assert _shortened(f"{line}\n") == f"{line}\n"


@pytest.mark.parametrize(
    "line",
    [
        f"x = ('{LONG} {LONG} {LONG} {LONG}',)",
        f"x = (yet(another)({LONG}), ({LONG}), ({LONG}, {LONG}))",
        f"x = {{'ü': {LONG}, **{LONG}, 'ö': ({LONG}), 'é, ß': [{LONG}]}}",
        f"f(*{LONG}, ('ä, ü'), **{LONG}, é=({LONG}, {LONG}))",
        f"with f({LONG}, {LONG}), g({LONG}, {LONG}, {LONG}): pass",
        f"if (f({LONG}, {LONG}) if {LONG} else f)({LONG}, {LONG}, {LONG},): pass",
        f"x[({LONG}), f({LONG}, {LONG}, {LONG})] = {LONG}",
    ],
)
def test_the_program_stays_the_same(line: str) -> None:
    _shortened(f"{line}\n")


def test_lines_that_the_file_had_stay() -> None:
    old = f"x = f({LONG}, {LONG}, {LONG}, {LONG})\n"
    assert _shortened(f"import jax\n{old}", old) == f"import jax\n{old}"


def test_a_file_whose_own_lines_are_longer_may_have_longer_ones() -> None:
    old, new = f"# {'-' * 113}\n", f"x = f({LONG}, {LONG}, {LONG})\n"
    assert len(new) > 105 and _shortened(old + new, old) == old + new


def test_line_ends_of_the_file_are_kept() -> None:
    out = shortened(SourceFile.parse(Path("m.py"), "m", "x = 1\r\n"), f"x = f({LONG}, {LONG}, {LONG}, {LONG})\r\n")
    assert out.count("\r\n") == out.count("\n") == 6


def test_files_of_two_spaces_go_four_deeper_as_their_authors_do() -> None:
    out = _shortened(f"x = f({LONG}, {LONG}, {LONG}, {LONG})\n", "if x:\n  pass\n")
    assert out.splitlines()[1] == f"    {LONG},"


def test_form_feeds_end_no_lines() -> None:
    lines = _shortened(f"y = 1\n\x0c\nz = '\u2028'\nx = f({LONG}, {LONG}, {LONG}, {LONG})\n").split("\n")
    assert lines[3:6] == ["x = f(", f"    {LONG},", f"    {LONG},"]


OTHERS = ["x = [1.0, f(-0.0)]", "x = [True, f(0.0)]", "x = [1, f(0.0, 0)]", "x = [1, f(a=0.0)]", "x = [1]"]


@pytest.mark.parametrize("other", OTHERS)
def test_trees_of_other_programs_are_told_apart(other: str) -> None:
    tree = ast.parse("x = [1, f(0.0)]")
    assert same_tree(tree, ast.parse("x = [\n  1, f(0.0),\n]")) and not same_tree(tree, ast.parse(other))


_CALL = f"f({LONG}, {LONG}, {LONG}, {LONG}, {LONG})"


@pytest.mark.parametrize(
    "new",
    [
        f"def g():\n    return {_CALL}\n",
        f"def g(): return {_CALL}\n",
        f"class A:\n\tdef g(self):\n\t\tx = 1; y = {_CALL}\n\t\treturn x\n",
        f"@{_CALL}\n@other\nclass A:\n    x = {_CALL}\n",
        f"if {_CALL}:\n    y = {_CALL}\nelse: z = {_CALL}\n",
        f"x = [{_CALL}, '''a\nb''']; y = {_CALL}\n",
        f"y = {_CALL} + \\\n    {_CALL}\n",
        f"y = {_CALL}",
        f"y = f'{{{_CALL}}}'\n",
    ],
)
@pytest.mark.parametrize(
    "above",
    [
        "",
        "import os\n",
        '"""Words."""\nfrom __future__ import annotations\n\nimport jax  # why\n\n',
        "from flax import (\n    linen,\n    struct\n)\nlinen\n",
        "import os; os\n",
        "# more\n\n",
    ],
)
def test_lines_are_broken_alike_where_the_tree_of_the_text_before_its_imports_is_known(above: str, new: str) -> None:
    new = f"{above}{new.rstrip()}\nnnx, jnp.ones, sys\n" if new.endswith("\n") else above + new
    wanted = {"nnx": "flax.nnx", "jnp": "jax.numpy", "sys": "sys"}
    source = SourceFile.parse(Path("m.py"), "m", f"{above}x = 1\n")
    known = with_imports(source, new, wanted)
    assert ("; os" in above and "nnx" in new) or known.tree is not None
    assert shortened(source, known.text, known) == shortened(source, known.text)


def test_an_import_beside_another_statement_leaves_the_text_to_be_parsed() -> None:
    source = SourceFile.parse(Path("m.py"), "m", "import os; x = (1,\n 2)\n")
    known = with_imports(source, "import os; x = (1,\n 2)\nnnx\n", {"nnx": "flax.nnx"})
    assert known.tree is None
    with pytest.raises(SyntaxError):
        shortened(source, known.text, known)
