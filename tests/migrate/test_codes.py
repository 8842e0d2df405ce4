"""Every code that the source can report has a rule, and every documented reason of the module writer is one it gives."""

import ast
import functools
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli_explain import explain
from nnx_migrate.migrate.rule import all_rules

ROOT = Path(__file__).parents[2]


@functools.cache
def used_codes() -> dict[str, str]:
    """Codes that stand as whole string literals outside of the rules, each with one place that uses it."""
    found: dict[str, str] = {}
    for folder in ("migrate", "compat"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.parent.name == "rules" and path.parent.parent.name == "migrate":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"NNX\d{3}", node.value):
                    found.setdefault(node.value, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_the_search_finds_codes() -> None:
    assert {"NNX001", "NNX110", "NNX147", "NNX203", "NNX601"} <= used_codes().keys()


def test_every_code_used_has_a_rule() -> None:
    unknown = {code: place for code, place in used_codes().items() if code not in all_rules()}
    assert not unknown, f"codes without a rule in migrate/rules: {unknown}"


def test_every_documented_reason_of_a_class_is_given_somewhere() -> None:
    stale = {code for code in all_rules() if code.startswith("NNX1")} - used_codes().keys()
    assert not stale, f"rules that nothing reports: {sorted(stale)}"


@pytest.mark.parametrize("code", sorted(code for code in all_rules() if code.startswith("NNX1")))
def test_explain_says_what_to_do(code: str) -> None:
    result = CliRunner().invoke(explain, [code])
    assert result.exit_code == 0 and result.output.startswith(code)
    assert code == "NNX100" or "What to do:" in result.output or "please report" in result.output
