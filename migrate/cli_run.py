"""One run of the codemod: paths in, a `RunReport` with the new bytes of every file out. Writes nothing."""

from __future__ import annotations

import dataclasses
import gc
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from . import suppression
from .config import Config
from .context import FileContext, Options
from .diagnostics import Diagnostic, Severity
from .files.configurations import made_by_configurations
from .files.documents import Document, read_document
from .files.errors import InputError
from .files.modules import module_names
from .files.select import read_along, select
from .files.walk import walk
from .linen.project.configured import Configured
from .pipeline import FileResult, RunResult, migrate_project
from .progress import Progress, counted, watched
from .report.model import FileReport, Finding, RunReport, Status
from .source import SourceFile


def migrate_paths(
    paths: Iterable[Path], options: Options, config: Config, *, version: str, progress: Progress | None = None
) -> RunReport:
    """Migrate what is below `paths` in memory. One bad file never stops the others: it is in the report."""
    started = time.perf_counter()
    say = progress or (lambda _: None)
    errors: list[InputError] = []
    contents: dict[Path, bytes] = {}
    named: set[Path] = set()
    say("looking for files")
    for found in walk(paths, config.excludes, errors):
        try:
            contents[found.path] = found.path.read_bytes()
            if found.named:
                named.add(found.path)
        except OSError as error:
            help = "Make it readable, or exclude it."
            errors.append(InputError(found.path, "NNX003", f"cannot be read: {error.strerror}", help))
    configured = made_by_configurations(paths, contents.values(), config.excludes)
    if configured:  # they may construct modules, whatever they import
        named |= {path for path, data in contents.items() if b"hydra" in data and b"instantiate" in data}
    report = migrate_contents(contents, options, config, version=version, named=named, configured=configured, progress=say)
    for problem in errors:
        report.files.append(FileReport(problem.path, Status.FAILED, [_finding(problem, Severity.ERROR)]))
    report.files.sort(key=lambda file: str(file.path))
    report.seconds = time.perf_counter() - started
    return report


def migrate_contents(
    contents: Mapping[Path, bytes],
    options: Options,
    config: Config,
    *,
    version: str,
    named: Collection[Path] = (),
    configured: Mapping[str, Configured] | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """As `migrate_paths`, for bytes that are already there. `named`: files to read whatever they hold. `configured`: see
    `made_by_configurations`."""
    say = progress or (lambda _: None)
    with _without_gc(), watched(say):
        run = _Run(contents, options, config, named, configured or {}, say)
        return run.report(version)


class _Run:
    def __init__(
        self,
        contents: Mapping[Path, bytes],
        options: Options,
        config: Config,
        named: Collection[Path],
        configured: Mapping[str, Configured],
        say: Progress,
    ) -> None:
        self.contents = contents
        self.named = named
        self.configured = configured
        self.options = options
        self.config = config
        self.say = say
        self.files: dict[Path, FileReport] = {}
        self.documents: dict[Path, Document] = {}
        self.unread: set[str] = set()  # modules that are left out of the run because of an error

    def report(self, version: str) -> RunReport:
        sources = self._read()
        self.say(f"rewriting {len(sources)} of {len(self.contents)} files")
        result, encoded = self._migrate(sources)
        for file in result.files:
            self._accept(file, encoded.get(file.path))
        for path, text in result.created.items():
            before = path.read_bytes() if path.is_file() else None
            after = text.encode()
            if before != after:
                self.files[path] = FileReport(path, Status.MIGRATED, [], before, after)
        for path in self.contents:
            self.files.setdefault(path, FileReport(path, Status.UNCHANGED))
        return RunReport(version, sorted(self.files.values(), key=lambda file: str(file.path)), result.classes)

    def _read(self) -> list[SourceFile]:
        """Parse what the byte filter keeps; failures and skipped files go to the report."""
        selected = select(self.contents, self.named)
        along = read_along(self.contents, selected)
        kept = sorted(selected | along)
        names = module_names(kept, self.contents)
        sources = []
        for path in counted(kept, "reading files"):
            try:
                document = read_document(path, self.contents[path])
            except InputError as problem:
                if path not in along:  # nobody asked for what is read along
                    self._fail(problem)
                self.unread.add(names[path].name)
                continue
            if suppression.skips_file(document.text):
                self.files[path] = FileReport(path, Status.SKIPPED)
                continue
            self.documents[path] = document
            name = names[path]
            sources.append(
                SourceFile(path, name.name, document.text, document.tree, name.is_package, name.resolve, name.prefix)
            )
        return sources

    def _migrate(self, sources: list[SourceFile]) -> tuple[RunResult, dict[Path, bytes]]:
        """Migrate; a file on which the tool fails is left out and the rest migrated without it, so that nothing is
        rewritten against a class that stayed as it was."""
        while True:
            per_file = {
                source.path: own
                for source in sources
                if self.config.overrides and (own := self.config.options_for(source.path, self.options)) is not self.options
            }
            failed: dict[Path, InputError | FileResult] = {}
            encoded: dict[Path, bytes] = {}
            try:
                result = migrate_project(
                    sources, self.options, per_file=per_file, unread=self.unread, configured=self.configured
                )
            except Exception as error:
                culprit = _culprit(error.__traceback__)
                if culprit is None:
                    raise
                failed[culprit] = _internal(culprit, error)
            else:
                for file in result.files:
                    try:
                        if file.after is None:
                            failed[file.path] = file
                        elif file.after != file.before:
                            encoded[file.path] = self.documents[file.path].encode(file.after)
                    except InputError as problem:
                        failed[file.path] = problem
            if not failed:
                return result, encoded
            for path, problem_or_result in failed.items():
                if isinstance(problem_or_result, InputError):
                    self._fail(problem_or_result)
                else:
                    findings = [self._locate(path, item) for item in problem_or_result.diagnostics]
                    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
                    self.files[path] = FileReport(path, Status.FAILED, errors)
            self.unread |= {source.module for source in sources if source.path in failed}
            sources = [source for source in sources if source.path not in failed]

    def _accept(self, file: FileResult, after: bytes | None) -> None:
        document = self.documents[file.path]
        findings = [self._locate(file.path, diagnostic) for diagnostic in file.diagnostics]
        for problem in document.problems():
            cell = problem.line
            finding = Finding(problem.code, Severity.WARNING, 1, 1, problem.message, problem.help, cell)
            findings.append(finding)
        changed = after is not None and after != document.data
        status = Status.MIGRATED if changed else Status.UNCHANGED
        self.files[file.path] = FileReport(
            file.path, status, findings, document.data if changed else None, after if changed else None
        )

    def _locate(self, path: Path, diagnostic: Diagnostic) -> Finding:
        cell, line = self.documents[path].locate(diagnostic.line)
        return Finding(
            diagnostic.code, diagnostic.severity, line, diagnostic.column, diagnostic.message, diagnostic.help, cell
        )

    def _fail(self, problem: InputError) -> None:
        self.files[problem.path] = FileReport(problem.path, Status.FAILED, [_finding(problem, Severity.ERROR)])


def _finding(problem: InputError, severity: Severity) -> Finding:
    return Finding(problem.code, severity, problem.line, problem.column, problem.message, problem.help)


def _internal(path: Path, error: Exception) -> InputError:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace is not None else ""
    return InputError(
        path,
        "NNX001",
        f"the tool failed on this file: {type(error).__name__}: {error}{place}",
        "The file is left as it was and the others were migrated without it. Please report it with the code.",
    )


def _culprit(trace: TracebackType | None) -> Path | None:
    """The file that the innermost frame with a file at hand was working on."""
    found: Path | None = None
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            source = value.source if hasattr(value, "source") and not isinstance(value, type) else value
            if isinstance(value, FileContext):
                source = value.source
            if isinstance(source, SourceFile):
                found = source.path
        trace = trace.tb_next
    return found


@contextmanager
def _without_gc() -> Iterator[None]:
    """Syntax trees are millions of objects without cycles worth finding; collecting them costs a quarter of a run."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # what was made goes to the oldest generation, unseen: the next collections are of the young
        gc.unfreeze()
        if enabled:
            gc.enable()


def with_command_line(config: Config, **given: object) -> Options:
    """The options of a run: the command line first, then pyproject.toml, then the defaults."""
    options = Options()
    for field in dataclasses.fields(Options):
        for value in (given.get(field.name), getattr(config, field.name, None)):
            if value is not None and value != ():
                options = dataclasses.replace(options, **{field.name: value})  # type: ignore[arg-type]
                break
    return options
