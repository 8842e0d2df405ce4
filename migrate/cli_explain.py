"""`nnx-migrate explain CODE`: a rule's own documentation."""

from __future__ import annotations

import difflib
import json
from typing import Any

import click

from .rule import Rule, all_rules


@click.command()
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "every", is_flag=True, help="Every rule.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def explain(ctx: click.Context, codes: tuple[str, ...], every: bool, form: str) -> None:
    """Say what CODE (or every rule of a prefix, NNX2) finds, why, and what the code looks like before and after."""
    rules = all_rules()
    if not codes and not every:
        raise click.UsageError("Give a CODE such as NNX201, or --all.", ctx)
    chosen: dict[str, Rule] = dict(rules) if every else {}
    for code in codes:
        wanted = code.strip().upper()
        found = {name: rule for name, rule in rules.items() if name.startswith(wanted) or rule.name == code}
        if wanted in found:
            found = {wanted: found[wanted]}
        if not found:
            names = [rule.name for rule in rules.values()]
            near = difflib.get_close_matches(wanted.replace("O", "0"), rules, 3) or difflib.get_close_matches(code, names, 3)
            hint = f" Nearest: {', '.join(near)}." if near else ""
            raise click.UsageError(f"No rule {code}.{hint} `nnx-migrate explain --all` lists them.", ctx)
        chosen.update(found)
    if form == "json":
        click.echo(json.dumps([rule_dict(rule) for rule in chosen.values()], indent=2))
    elif every and not codes:
        for rule in chosen.values():
            click.echo(f"{rule.code}  {rule.name}: {rule.summary}")
    else:
        click.echo("\n".join(rule_text(rule) for rule in chosen.values()), nl=False)


def rule_dict(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "what": rule.what,
        "why": rule.why,
        "how_sure": rule.how_sure,
        "examples": [
            {"title": example.title, "before": example.before, "after": example.after} for example in rule.examples
        ],
    }


def rule_text(rule: Rule) -> str:
    out = [f"{rule.code} {rule.name}", rule.summary, ""]
    for title, body in (("What it does", rule.what), ("Why", rule.why), ("How sure", rule.how_sure)):
        if body:
            out += [title, *_indented(body), ""]
    for example in rule.examples:
        out += [f"Before{f' ({example.title})' if example.title else ''}", *_indented(example.before), ""]
        if example.after is None:
            out += ["After", "    (left as it is, and reported)", ""]
        else:
            out += ["After", *_indented(example.after), ""]
    return "\n".join(out) + "\n"


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in text.strip("\n").splitlines()]
