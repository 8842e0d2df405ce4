"""migrate_project: pure, each file on its own feet, the second run changes nothing."""

import ast
from pathlib import Path

import pytest
from nnx_migrate.migrate import pipeline
from nnx_migrate.migrate.context import FileContext, Options
from nnx_migrate.migrate.diagnostics import Severity
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.pipeline import apply_rules, migrate_project
from nnx_migrate.migrate.plan import Plan
from nnx_migrate.migrate.rule import Rule
from nnx_migrate.migrate.source import SourceFile
from nnx_migrate.migrate.trees import check_program


def source(name: str, text: str) -> SourceFile:
    return SourceFile.parse(Path(f"{name.replace('.', '/')}.py"), name, text)


def test_names_that_other_files_import_stay_imported() -> None:
    a = source("pkg.a", "import numpy as np\nimport jax\nx = jax.tree_map(str, np.bool8)\n")
    b = source("pkg.b", "from pkg.a import np\nx = np\n")
    after = {str(file.path): file.after for file in migrate_project([a, b]).files}
    assert after["pkg/a.py"] is not None and "import numpy as np" in after["pkg/a.py"]
    assert after["pkg/b.py"] == b.text


def test_options_of_one_file() -> None:
    files = [source(name, "import jax\nx = jax.tree_map(str, {})\n") for name in ("a", "b")]
    result = migrate_project(files, per_file={Path("a.py"): Options(ignore=("NNX8",))})
    assert [file.after == file.before for file in result.files] == [True, False]


def context(text: str, options: Options | None = None) -> FileContext:
    return FileContext(source("m", text), Plan(), options or Options())


def rule_on(kind: type[ast.AST]) -> Rule:
    rule = Rule("NNX999", "test", "test")

    @rule.register(kind)
    def visit(node: ast.AST, ctx: FileContext) -> None:
        ctx.report(node, "NNX999", "do something", severity=Severity.WARNING)

    return rule


def test_a_warning_leaves_one_comment_and_the_second_run_none() -> None:
    text = "def f():\r\n    x = g(1) + g(2)\r\n    return x\r\n"
    ctx = context(text)
    apply_rules(ctx, [rule_on(ast.Call)])
    assert len(ctx.diagnostics) == 2
    once = ctx.edits.render()
    assert once == text.replace("    x =", "    # TODO(nnx-migrate): NNX999 do something\r\n    x =")
    again = context(once)
    apply_rules(again, [rule_on(ast.Call)])
    assert len(again.diagnostics) == 2 and again.edits.render() == once


def test_two_places_with_the_same_message_get_a_comment_each() -> None:
    text = "g(1)\ng(2)\n"
    ctx = context(text)
    apply_rules(ctx, [rule_on(ast.Call)])
    once = ctx.edits.render()
    assert once.count("TODO") == 2
    again = context(once)
    apply_rules(again, [rule_on(ast.Call)])
    assert again.edits.render() == once


def test_a_message_of_several_lines_is_one_comment() -> None:
    ctx = context("x = g(1)\n")
    ctx.todo(ctx.source.tree.body[0], "first\n  second")
    assert ctx.edits.render() == "# TODO(nnx-migrate): first second\nx = g(1)\n"


def test_comments_go_above_decorators_and_not_into_strings_or_elifs() -> None:
    text = "@g(1)\ndef f(): pass\nx = '''\n''' + g(2)\nif a:\n    pass\nelif g(3):\n    pass\n"
    ctx = context(text)
    apply_rules(ctx, [rule_on(ast.Call)])
    after = ctx.edits.render()
    ast.parse(after)
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))
    assert after.startswith("# TODO") and after.count("# TODO") == 3


@pytest.mark.parametrize("options", [Options(ignore=("NNX9",)), Options(select=("NNX1",))])
def test_unselected_codes_are_silent(options: Options) -> None:
    ctx = context("g(1)\n", options)
    apply_rules(ctx, [rule_on(ast.Call)])
    assert not ctx.diagnostics and not ctx.edits


def test_a_rewrite_that_does_not_parse_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(ctx: FileContext, rules: object) -> None:
        if ctx.source.module == "a":
            ctx.edits.insert(0, "def f(:\n")

    monkeypatch.setattr(pipeline, "apply_rules", spoil)
    first, second = migrate_project([source("a", "x = 1\n"), source("b", "y = 1\n")]).files
    assert first.after is None and [d.code for d in first.diagnostics] == ["NNX001"]
    assert second.after == "y = 1\n"


def test_the_other_files_work_with_one_whose_rewrite_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pipeline.apply_rules

    def spoil(ctx: FileContext, rules: list[Rule]) -> None:
        real(ctx, rules)
        if ctx.source.module == "a":
            ctx.edits.insert(0, "def f(:\n")

    files = [
        source("a", "from flax import linen as nn\nclass Scale(nn.Module):\n  @nn.compact\n"
               "  def __call__(self, x):\n    return x * self.param('s', nn.initializers.ones, ())\n"),
        source("b", "from a import Scale\nimport jax\n\ndef f(x):\n  return Scale().init(jax.random.key(0), x)\n"),
    ]  # fmt: skip
    assert "nnx.split" in (migrate_project(files).files[1].after or "")
    monkeypatch.setattr(pipeline, "apply_rules", spoil)
    first, second = migrate_project(files).files
    assert first.after is None and [d.code for d in first.diagnostics if d.code == "NNX001"] == ["NNX001"]
    assert second.after == second.before


def test_linen_classes_are_found_through_files_that_never_say_flax() -> None:
    files = [
        source("pkg.base", "import flax.linen as nn\nclass Base(nn.Module): pass\n"),
        source("pkg.mid", "from pkg import base as b\nAlias = b.Base\nclass Mid(b.Base): pass\nclass A(Alias): pass\n"),
        source("pkg.leaf", "from pkg.mid import Mid as M\ndef f():\n    class Leaf(M): pass\nclass Other(dict): pass\n"),
        source("pkg.star", "from pkg.base import *\nclass Star(Base): pass\n"),
    ]
    found = {"pkg.base.Base", "pkg.mid.Mid", "pkg.mid.A", "pkg.leaf.f.Leaf", "pkg.star.Star"}
    assert set(Project(files).linen_classes) == found


def test_a_module_is_itself_where_star_imports_bring_its_name_along() -> None:
    texts = {
        "pkg": "from pkg.attention import *\nfrom pkg.types import *\n",
        "pkg.attention": "from pkg.attention.common import *\n",
        "pkg.attention.common": "from pkg import types\n\nclass Attention(types.Layer):\n  pass\n",
        "pkg.types": "from flax import linen as nn\n\nclass Base(nn.Module):\n  pass\n\nclass Layer(Base):\n  pass\n",
    }
    files = [
        SourceFile.parse(Path(f"{name}.py"), name, text, is_package=name in ("pkg", "pkg.attention"))
        for name, text in texts.items()
    ]
    found = {"pkg.attention.common.Attention", "pkg.types.Base", "pkg.types.Layer"}
    for _ in range(2):  # a part of the project is read once more
        assert set(Project(files).linen_classes) == found


@pytest.mark.parametrize("text", ["def f(a, a): pass", "return 1", "def f():\n    nonlocal x"])
def test_what_only_compiling_tells_is_no_program(text: str) -> None:
    ast.parse(text)
    with pytest.raises(SyntaxError):
        check_program(text, "x = 1")
    check_program(text, text)  # nor was the original
    check_program("await f()", "x = 1")  # of a notebook
