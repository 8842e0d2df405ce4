"""Every report format, on one run with everything: files of each status, classes of each outcome, severities."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.diagnostics import Severity
from nnx_migrate.migrate.plan import AddedArgument, ClassPlan, Outcome
from nnx_migrate.migrate.report import formats
from nnx_migrate.migrate.report.model import FileReport, Finding, RunReport, Status

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/report.schema.json").read_text())


def everything() -> RunReport:
    files = [
        FileReport(Path("a b.py"), Status.MIGRATED, [
            Finding("NNX201", Severity.WARNING, 3, 5, "needs a <person> & | more", "Do, this: 100%"),
            Finding("NNX100", Severity.INFO, 4, 1, "assumed"),
        ], b"x = 1\n", b"x = 2\n"),
        FileReport(Path("n.ipynb"), Status.MIGRATED, [Finding("NNX005", Severity.WARNING, 2, 1, "cell", "", 7)],
                   b"{}", b"{ }"),
        FileReport(Path("linen_parity.py"), Status.MIGRATED, [], None, b"new\n"),
        FileReport(Path("bad.py"), Status.FAILED, [Finding("NNX002", Severity.ERROR, 1, 2, "does not parse\nat all")]),
        FileReport(Path("same.py"), Status.UNCHANGED),
        FileReport(Path("skip.py"), Status.SKIPPED),
    ]  # fmt: skip
    classes = [
        ClassPlan("m.Net", "a b.py", 10, Outcome.NATIVE, fields=("depth",),
                  added_arguments=(AddedArgument("in_features", "x.shape[-1]"),)),
        ClassPlan("m.Odd", "a b.py", 20, Outcome.BRIDGED, "share_scope", "NNX301"),
        ClassPlan("m.Worse", "a b.py", 30, Outcome.MANUAL, "exec", "NNX302"),
    ]  # fmt: skip
    return RunReport("0.1.0", files, classes, True, 1.25)


def test_json_follows_its_schema() -> None:
    data = json.loads(formats.render(everything(), ".json"))
    jsonschema.validate(data, SCHEMA)
    assert data["version"] == 1 and data["tool"] == "nnx-migrate 0.1.0"
    assert data["classes"][0]["added_arguments"] == [{"name": "in_features", "from": "x.shape[-1]"}]
    assert data["files"][1]["diagnostics"][0]["cell"] == 7
    assert data["summary"]["files"] == {"migrated": 3, "unchanged": 1, "failed": 1, "skipped": 1}
    assert data["summary"]["codes"] == {"NNX002": 1, "NNX005": 1, "NNX100": 1, "NNX201": 1}
    assert data["summary"]["created"] == 1


def test_the_schema_refuses_what_it_should() -> None:
    data = json.loads(formats.render(everything(), ".json"))
    data["files"][0]["status"] = "great"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_sarif() -> None:
    log = json.loads(formats.render(everything(), ".sarif"))
    assert log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"]
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["NNX002", "NNX005", "NNX100", "NNX201"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error") and result["message"]["text"]
        location = result["locations"][0]["physicalLocation"]
        assert " " not in location["artifactLocation"]["uri"] and location["region"]["startLine"] >= 1
    assert run["invocations"] == [{"executionSuccessful": False}]


def test_github_commands_escape_what_they_must() -> None:
    lines = formats.render(everything(), ".github").splitlines()
    assert lines[0] == (
        "::warning file=a b.py,line=3,col=5,title=nnx-migrate NNX201::needs a <person> & | more%0ADo, this: 100%25"
    )
    assert lines[1].startswith("::notice ") and lines[3].startswith("::error ") and "parse%0Aat all" in lines[3]
    assert len(lines) == 4


def test_markdown() -> None:
    page = formats.render(everything(), ".md")
    assert "| `m.Net` | a b.py:10 | native | `in_features = x.shape[-1]` |" in page
    assert "needs a &lt;person> & \\| more" in page and "`n.ipynb:cell 7:2:1`" in page
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


class _Checker(HTMLParser):
    VOID = {"meta", "br"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.external: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.external += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_well_formed_page_without_scripts() -> None:
    page = formats.render(everything(), ".html")
    checker = _Checker()
    checker.feed(page)
    assert not checker.open and not checker.external and "script" not in checker.seen
    assert "prefers-color-scheme: dark" in page and "url(" not in page
    assert "&lt;person&gt;" in page and "<person>" not in page
    assert "m.Net" in page and '<span class="ins">+x = 2</span>' in page and "linen_parity.py (new)" in page
    assert "1 error" in page


def test_text() -> None:
    text = formats.text(everything(), color=False, check=False)
    assert "a b.py:3:5: warning NNX201 needs a <person>" in text and "n.ipynb:cell 7:2:1" in text
    assert "native   new arguments: in_features = x.shape[-1]" in text and "NNX301: share_scope" in text
    assert text.splitlines()[-1].startswith("3 files migrated; 1 unchanged; 1 skipped; 1 failed; 3 modules: 1 native")
    assert "\033[" not in text
    colored = formats.text(everything(), color=True, check=True)
    assert re.sub(r"\033\[\d+m", "", colored) == text.replace("3 files migrated", "3 files would be migrated")


def test_reports_of_a_real_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\nx = jax.tree_map(str, {})\n")
    (tmp_path / "b.py").write_text("import jax\ndef f(:\n")
    names = [f"r{suffix}" for suffix in formats.SUFFIXES]
    args = [arg for name in names for arg in ("--report", str(tmp_path / name))]
    result = CliRunner().invoke(program, [str(tmp_path), *args, "--output-format", "json"])
    assert result.exit_code == 2
    printed = json.loads(result.stdout)
    jsonschema.validate(printed, SCHEMA)
    assert printed == json.loads((tmp_path / "r.json").read_text())
    assert {Path(f["path"]).name: f["status"] for f in printed["files"]} == {"a.py": "migrated", "b.py": "failed"}
    assert json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "NNX002"
    assert "NNX002" in (tmp_path / "r.md").read_text() and "NNX002" in (tmp_path / "r.html").read_text()
    github = CliRunner().invoke(program, [str(tmp_path), "--check", "--output-format", "github"])
    assert github.stdout.startswith("::error file=")
