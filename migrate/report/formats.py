"""Report formats by suffix; each is imported when it is asked for."""

from __future__ import annotations

from .model import RunReport

SUFFIXES = (".json", ".html", ".sarif", ".md")


def render(report: RunReport, suffix: str) -> str:
    """The report in the format of a suffix of `SUFFIXES`, or `.github`."""
    from . import html, machine, markdown

    table = {
        ".json": machine.as_json,
        ".sarif": machine.as_sarif,
        ".github": machine.as_github,
        ".md": markdown.as_markdown,
        ".html": html.as_html,
    }
    return table[suffix](report)


def text(report: RunReport, *, color: bool, check: bool) -> str:
    from .text import as_text

    return as_text(report, color=color, check=check)
