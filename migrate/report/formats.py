"""Report formats by suffix; each is imported when it is asked for."""

from __future__ import annotations

from .model import RunReport

SUFFIXES = (".json", ".html", ".sarif", ".md")


def render(report: RunReport, suffix: str) -> str:
    """The report in the format of a suffix of `SUFFIXES`, or `.github`."""
    from .html import as_html
    from .machine import as_github, as_json, as_sarif
    from .markdown import as_markdown

    table = {
        ".json": as_json,
        ".sarif": as_sarif,
        ".github": as_github,
        ".md": as_markdown,
        ".html": as_html,
    }
    return table[suffix](report)


def text(report: RunReport, *, color: bool, check: bool) -> str:
    from .text import as_text

    return as_text(report, color=color, check=check)
