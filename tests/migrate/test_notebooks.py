"""Notebooks and percent scripts: only what changed changes, down to the byte."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files import magics
from nnx_migrate.migrate.files.documents import read_document
from nnx_migrate.migrate.files.errors import InputError
from nnx_migrate.migrate.files.json_spans import scan


def cell(source: str | list[str], kind: str = "code", **extra: Any) -> dict[str, Any]:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    base: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": lines, **extra}
    return base | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}


def read(book: dict[str, Any], **dump: Any) -> Any:
    return read_document(Path("nb.ipynb"), json.dumps(book, **dump).encode())


def migrated(data: bytes, tmp_path: Path, status: int = 0) -> bytes:
    file = tmp_path / "nb.ipynb"
    file.write_bytes(data)
    result = CliRunner().invoke(program, [str(file)])
    assert result.exit_code == status, result.output
    after = file.read_bytes()
    assert CliRunner().invoke(program, [str(file), "--check"]).stdout.startswith(("0 files", "nb", str(file)))
    assert file.read_bytes() == after
    return after


BOOK = notebook(
    cell("# Title with jax.tree_map", "markdown"),
    cell("%matplotlib inline\nimport jax\n!pip install flax"),
    cell("x = jax.tree_map(str, {'é': 1})\nprint('ü')", outputs=[{"text": "jax.tree_map stays"}]),
    cell("y = 1"),
)


@pytest.mark.parametrize(
    "style",
    [
        {"indent": 1},
        {"indent": 1, "ensure_ascii": False},
        {"indent": 2},
        {"indent": "\t", "sort_keys": True},
        {},
        {"separators": (",", ":")},
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_only_the_changed_line_changes(tmp_path: Path, style: dict[str, Any], end: str) -> None:
    data = (json.dumps(BOOK, **style) + end).encode()
    assert migrated(data, tmp_path) == data.replace(b"x = jax.tree_map", b"x = jax.tree.map")


def test_source_as_one_string(tmp_path: Path) -> None:
    book = notebook(cell("x"))
    book["cells"][0]["source"] = "import jax\nx = jax.tree_map(str, {})"
    data = json.dumps(book).encode()
    assert migrated(data, tmp_path) == data.replace(b"tree_map", b"tree.map")


def test_result_is_a_valid_notebook(tmp_path: Path) -> None:
    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import jax\nfrom jax.experimental import PartitionSpec as P"),
            nbformat.v4.new_code_cell("jax.tree_map(str, P())"),
        ]
    )
    after = migrated(nbformat.writes(book).encode(), tmp_path)
    done = nbformat.reads(after.decode(), as_version=4)
    nbformat.validate(done)
    assert "tree.map" in done.cells[1].source and [c.id for c in done.cells] == [c.id for c in book.cells]


MAGICS = [
    "%matplotlib inline",
    "!pip install -q flax",
    "x = !ls -l",
    "files = %sx ls",
    "if True:\n    !pip install flax\n    %cd /tmp",
    "!pip install \\\n  flax \\\n  jax\nx = 1",
    "jax?",
    "?jax.numpy",
    "jax.numpy.dot??",
    "%%time\nx = 1",
    "%%bash\nfor i in 1 2; do echo $i; done",
    "%%writefile a.py\ndef f(:\n",
    "\n\n%%html\n<b>bold</b>",
    "%timeit f(x)",
    "x = (a\n  % b)\n%time y",
    "s = '''\n%not a magic\n!nor this\n'''\n!this is",
    "d = {\n  'a': 1,  # comment with ( bracket\n}\n%magic",
    "x = 1  # what?",
]


@pytest.mark.parametrize("text", MAGICS)
def test_magics_are_masked_and_come_back(text: str) -> None:
    import ast

    masked, table = magics.mask_cell(text)
    ast.parse(masked)
    assert magics.restore(masked, table, Path("nb.ipynb")) == text
    book = notebook(cell("import jax"), cell(text), cell("z = 1"))
    document = read(book)
    assert not document.problems()
    assert document.encode(document.text) == document.data
    changed = json.loads(document.encode(document.text.replace("z = 1", "z = 2")))
    assert "".join(changed["cells"][1]["source"]) == text and changed["cells"][2]["source"] == ["z = 2"]


def test_what_looks_like_a_magic_in_a_string_or_brackets_is_none() -> None:
    text = "s = '''\n%not a magic\n'''\nx = (a\n  % b)\n"
    assert magics.mask(text) == (text, {})


def test_python_below_a_timing_magic_is_migrated(tmp_path: Path) -> None:
    data = json.dumps(notebook(cell("import jax"), cell("%%time\nx = jax.tree_map(str, {})"))).encode()
    assert migrated(data, tmp_path) == data.replace(b"tree_map", b"tree.map")


def test_a_broken_cell_is_reported_and_the_others_migrated(tmp_path: Path) -> None:
    book = notebook(cell("import jax"), cell("def f(:\n  pass"), cell("jax.tree_map(str, {})"))
    data = json.dumps(book).encode()
    (tmp_path / "nb.ipynb").write_bytes(data)
    result = CliRunner().invoke(program, [str(tmp_path / "nb.ipynb")])
    assert result.exit_code == 1 and "NNX005" in result.stdout and "cell 2" in result.stdout
    assert (tmp_path / "nb.ipynb").read_bytes() == data.replace(b"jax.tree_map", b"jax.tree.map")


def test_other_languages_are_left_alone(tmp_path: Path) -> None:
    book = notebook(cell("jax.tree_map(x)"), kernelspec={"language": "julia", "name": "julia", "display_name": "j"})
    data = json.dumps(book).encode()
    assert migrated(data, tmp_path) == data


def test_positions_are_those_of_cells() -> None:
    document = read(notebook(cell("a"), cell("text", "markdown"), cell("b = 1\nc = 2\nd = 3")))
    line = document.text.splitlines().index("d = 3") + 1
    assert document.locate(line) == (3, 3)


def test_rewrites_that_lose_a_magic_or_a_cell_are_refused() -> None:
    document = read(notebook(cell("%magic\nx = 1"), cell("y = 2")))
    with pytest.raises(InputError, match="%magic"):
        document.encode("\n".join(line for line in document.text.splitlines() if "magic-0" not in line) + "\n")
    with pytest.raises(InputError, match="cells"):
        document.encode(document.text.replace("# nnx-migrate-cell-2-\n", ""))


@pytest.mark.parametrize(
    "data, says",
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b'{"cells": [1,]}', "JSON"),
        (b"[1, 2]", "not a notebook"),
        (b'{"worksheets": []}', "format 3"),
        (b'{"cells": {}}', "not a notebook"),
        (b"\xff\xfe{}", "UTF-8"),
        (b"[" * 100_000, "JSON"),
    ],
)
def test_what_is_no_notebook(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as info:
        read_document(Path("nb.ipynb"), data)
    assert info.value.code in ("NNX003", "NNX004")


def test_percent_scripts(tmp_path: Path) -> None:
    text = "# %% [markdown]\n# Title\n# %%\n%matplotlib inline\nimport jax\n# %%\n!ls\njax.tree_map(str, {})\n"
    file = tmp_path / "script.py"
    file.write_text(text)
    assert CliRunner().invoke(program, [str(file)]).exit_code == 0
    assert file.read_text() == text.replace("tree_map", "tree.map")
    commented = "# %%\n# %matplotlib inline\nimport jax\njax.tree_map(str, {})\n"
    file.write_text(commented)
    assert CliRunner().invoke(program, [str(file), "--allow-dirty"]).exit_code == 0
    assert file.read_text() == commented.replace("tree_map", "tree.map")


def test_json_spans() -> None:
    text = '{"a": [1, -2.5e3, "x\\"\\u00e9", null], "b": {}, "c": []}'
    root = scan(text)
    items = root.get("a").items  # type: ignore[union-attr]
    assert [item.raw(text) for item in items] == ["1", "-2.5e3", '"x\\"\\u00e9"', "null"]
    assert items[2].value == 'x"é' and root.get("nope") is None
    for bad in ("", "{", '{"a" 1}', "[1 2]", "[1,]", '"open', "nul", "{} x", "{1: 2}"):
        with pytest.raises(ValueError, match="line 1"):
            scan(bad)
