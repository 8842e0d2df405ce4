"""Every rule's examples: the text that comes out, a second run without changes and, where they run, both sides."""

from __future__ import annotations

import ast
import difflib
import pathlib
import subprocess
import sys
import textwrap

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import FileResult, migrate_project
from nnx_migrate.migrate.rule import Example, Rule, all_rules
from nnx_migrate.migrate.source import SourceFile

CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{index}-{example.title.replace(' ', '_')}")
    for rule in all_rules().values()
    for index, example in enumerate(rule.examples)
]
RUNNABLE = [case for case in CASES if case.values[1].run]
_PRELUDE = "import os\nos.environ.setdefault('XLA_FLAGS', '--xla_force_host_platform_device_count=8')\nimport jax, flax\n"


PATH = pathlib.Path("example.py")


def migrate(text: str) -> FileResult:
    result = migrate_project([SourceFile.parse(PATH, "example", text)], Options())
    assert [file.path for file in result.files] == [PATH]
    return result.files[0]


def parity_module(text: str) -> str:
    """The parity module that the migrated example imports; empty where it needs none."""
    result = migrate_project([SourceFile.parse(PATH, "example", text)], Options())
    return "".join(result.created.values())


def show(want: str, got: str) -> str:
    return "".join(difflib.unified_diff(want.splitlines(True), got.splitlines(True), "wanted", "got"))


def without_todos(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if not line.lstrip().startswith("# TODO(nnx-migrate):"))


@pytest.mark.parametrize("rule, example", CASES)
def test_text(rule: Rule, example: Example) -> None:
    result = migrate(example.before)
    assert result.after is not None, result.diagnostics
    if example.after is None:
        assert without_todos(result.after) == example.before, show(example.before, result.after)
        assert any(found.code == rule.code for found in result.diagnostics), result.diagnostics
    else:
        got = without_todos(result.after)
        assert got == example.after, show(example.after, got)


@pytest.mark.parametrize("rule, example", CASES)
def test_a_second_run_changes_nothing(rule: Rule, example: Example) -> None:
    once = migrate(example.before).after
    assert once is not None
    twice = migrate(once).after
    assert twice == once, show(once, twice or "")


@pytest.mark.parametrize("rule, example", CASES)
def test_a_rule_that_is_off_stays_off(rule: Rule, example: Example) -> None:
    source = SourceFile.parse(PATH, "example", example.before)
    result = migrate_project([source], Options(ignore=("NNX",)))
    if rule.visitors:
        assert not any(found.code == rule.code for found in result.files[0].diagnostics)


def test_examples_that_run_do_what_they_did(tmp_path: pathlib.Path) -> None:
    """One process for all: `before` runs where today's stack can, `after` always; `check` gets both namespaces."""
    script = [_PRELUDE, "import traceback, types\nfailed = []\n"]
    for case in RUNNABLE:
        example = case.values[1]
        after = example.before if example.after is None else example.after
        ast.parse(example.run)
        script.append(
            textwrap.dedent(
                f"""
                for side in ('before', 'after'):  # dataclasses look their module up
                    sys.modules[side] = types.ModuleType(side)
                before, after = sys.modules['before'].__dict__, sys.modules['after'].__dict__
                try:
                    exec(compile({example.before!r}, 'before.py', 'exec'), before)
                except Exception as error:
                    before = error
                parity = {parity_module(example.before)!r}
                if parity:
                    sys.modules['linen_parity'] = types.ModuleType('linen_parity')
                    exec(parity, sys.modules['linen_parity'].__dict__)
                try:
                    exec(compile({after!r}, 'after.py', 'exec'), after)
                    space = {{}}
                    exec({example.run!r}, space)
                    space['check'](before, after)
                except Exception:
                    failed.append({case.id!r})
                    print({case.id!r}); traceback.print_exc(file=sys.stdout)
                """
            )
        )
    script.append("raise SystemExit(len(failed))\n")
    file = tmp_path / "run_examples.py"
    file.write_text("import sys\n" + "\n".join(script))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


def test_every_rule_is_documented() -> None:
    for rule in all_rules().values():
        assert rule.summary and rule.name == rule.name.lower().replace(" ", "-"), rule.code
