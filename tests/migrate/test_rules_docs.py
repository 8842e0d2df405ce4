"""docs/rules.md is generated from the rules and is current; every rule is documented."""

import re
from pathlib import Path

import pytest
from nnx_migrate.migrate.report.docs import rules_page
from nnx_migrate.migrate.rule import Rule, all_rules

PAGE = Path(__file__).parents[2] / "docs/rules.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == rules_page(), (
        "docs/rules.md is out of date; run: python -m nnx_migrate.migrate.report.docs docs/rules.md"
    )


@pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.code)
def test_every_rule_says_what_why_and_how_sure(rule: Rule) -> None:
    assert re.fullmatch(r"NNX\d{3}", rule.code) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary and "\n" not in rule.summary and rule.what and rule.why and rule.how_sure


def test_names_are_unique() -> None:
    names = [rule.name for rule in all_rules().values()]
    assert len(set(names)) == len(names)
