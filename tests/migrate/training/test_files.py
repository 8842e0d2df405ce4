"""Programs of several files, before and after: what `main.py` prints of losses, checksums, specs and names is the same."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.diagnostics import Severity
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .printed import printed

HERE = Path(__file__).parent
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
# Program → what it takes with `--jit nnx` and with `--jit functional`, and other codes that are said of its training code.
PROGRAMS = {
    "a_jitted_model_initialized_by_another_file": ("NNX603", "NNX603"),
    "a_layer_flattened": ("NNX601 NNX609", "NNX603"),
    "a_layer_mapped": ("NNX601 NNX609", "NNX603"),
    "a_layer_of_an_average": ("NNX601", "NNX603"),
    "a_loss_with_a_layer_of_its_params": ("NNX603", "NNX603"),
    "a_model_initialized_by_a_function_elsewhere": ("NNX603", "NNX603"),
    "a_model_initialized_by_another_file": ("NNX603", "NNX603"),
    "a_plain_loop": ("NNX601", "NNX602"),
    "a_table_of_models_that_grows": ("NNX601", "NNX603"),
    "a_table_updated_with_models": ("NNX601", "NNX603"),
    "an_average_by_its_keys": ("NNX601", "NNX603"),
    "an_average_by_its_paths": ("NNX601", "NNX602"),
    "an_average_flattened": ("NNX601", "NNX602"),
    "an_optimizer_beside_its_schedule": ("NNX601", "NNX602"),
    "an_optimizer_of_a_function_in_the_loop": ("NNX601", "NNX602"),
    "an_optimizer_out_of_a_function": ("NNX602", "NNX602"),
    "averages_beside_params": ("NNX601", "NNX602"),
    "classes_of_classes_for_linen": ("NNX603", "NNX603"),
    "models_put_into_a_table": ("NNX601", "NNX603"),
    "models_registered_by_an_object": ("NNX601", "NNX603"),
    "models_registered_by_name": ("NNX601", "NNX603"),
    "models_registered_either_way": ("NNX601", "NNX603"),
    "models_registered_plainly": ("NNX601", "NNX603"),
    "moments_by_their_paths": ("NNX601", "NNX603"),
    "moments_flattened": ("NNX603", "NNX603"),
    "moments_of_a_layer": ("NNX603", "NNX603"),
    "moments_of_all_layers": ("NNX602", "NNX602"),
    "norms_of_gradients_of_layers": ("NNX603", "NNX603"),
    "norms_of_layers": ("NNX601 NNX609", "NNX602 NNX609"),
    "norms_of_layers_in_a_loss": ("NNX601", "NNX603"),
    "norms_of_layers_in_a_step": ("NNX601", "NNX602"),
    "params_in_their_order": ("NNX603", "NNX603"),
    "params_shown_by_module": ("NNX603", "NNX603"),
    "rates_by_layer": ("NNX601 NNX609", "NNX602 NNX609"),
    "scores_of_a_registered_model": ("NNX603 NNX607", "NNX603 NNX607"),
    "sizes_of_a_layer": ("NNX601 NNX609", "NNX602 NNX609"),
    "sums_of_layers_by_a_function": ("NNX603", "NNX603"),
    "the_last_part_of_an_optimizers_state": ("NNX602", "NNX602"),
    "two_optimizers_out_of_functions": ("NNX603", "NNX603"),
    "two_states_of_the_same_params": ("NNX602 NNX609", "NNX602 NNX609"),
}
# Programs that do not run afterwards → what is said of which lines.
LEFT = {
    "a_table_of_models_that_is_handed_out": {("nets.py", 6, "NNX604"), ("nets.py", 15, "NNX604")},
    "models_in_a_list": {("nets.py", 6, "NNX604"), ("nets.py", 15, "NNX604")},
    "models_in_a_table_of_tables": {("nets.py", 6, "NNX604"), ("nets.py", 15, "NNX604")},
    "models_of_an_imported_module": {("builders.py", 6, "NNX604")},
}
PARTS = 4  # each run in one process; `make test` has the first of them, `make slow` the others


def texts(program: str) -> dict[str, str]:
    """The files of a program: those of the base that its first line names, and its own."""
    head, *own = re.split(r"^=== (\S+)\n", (HERE / "files" / f"{program}.txt").read_text(), flags=re.M)
    base = texts(head.split()[-1]) if head.strip() else {}
    return {**base, **dict(zip(own[::2], own[1::2], strict=True))}


def codes(result_codes: set[str]) -> tuple[str, ...]:
    return tuple(sorted(code for code in result_codes if code.startswith("NNX6") or code == "NNX001"))


@functools.cache
def outcomes(part: int) -> dict[str, tuple[list[str], list[tuple[str, ...]]]]:
    """Of every program of a part what the three sides print, and the codes of the two forms."""
    chosen = sorted(PROGRAMS)[part::PARTS]
    found: dict[str, list[tuple[str, ...]]] = {}
    with tempfile.TemporaryDirectory() as where:
        folders = []
        for program in chosen:
            before = texts(program)
            sides = [before]
            for jit in ("nnx", "functional"):
                result = migrate_project([SourceFile.parse(Path(n), n[:-3], t) for n, t in before.items()], Options(jit=jit))
                found.setdefault(program, []).append(codes({d.code for f in result.files for d in f.diagnostics}))
                after = {file.path.name: file.after or before[file.path.name] for file in result.files}
                sides.append({**after, **{path.name: text for path, text in result.created.items()}})
            for number, side in enumerate(sides):
                folder = Path(where).resolve() / f"{program}_{number}"
                folder.mkdir()
                folders.append(str(folder))
                for name, text in side.items():
                    (folder / name).write_text(text)
        output = printed(folders)
    return {p: ([output[f] for f in folders[3 * i : 3 * i + 3]], found[p]) for i, p in enumerate(chosen)}


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, marks=pytest.mark.slow if i % PARTS else ()) for i, p in enumerate(sorted(PROGRAMS))],
)
def test_a_program_of_several_files(program: str) -> None:
    (linen, *migrated), said = outcomes(sorted(PROGRAMS).index(program) % PARTS)[program]
    assert "Traceback" not in linen and len(set(NUMBER.findall(linen))) > 1, linen
    assert tuple(" ".join(found) for found in said) == PROGRAMS[program]
    for side in migrated:
        assert NUMBER.sub("#", side) == NUMBER.sub("#", linen)
        for old, new in zip(NUMBER.findall(linen), NUMBER.findall(side), strict=True):
            assert float(new) == pytest.approx(float(old), rel=2e-4, abs=2e-5), f"{linen}\nis now\n{side}"


@pytest.mark.parametrize("program", sorted(LEFT))
def test_what_is_left_of_a_program(program: str) -> None:
    """A program that nothing can be said for is marked where it has to be changed."""
    files = migrate_project([SourceFile.parse(Path(n), n[:-3], t) for n, t in texts(program).items()]).files
    said = {(f.path.name, d.line, d.code) for f in files for d in f.diagnostics if d.severity is Severity.WARNING}
    assert said == LEFT[program]


def test_every_program_is_run() -> None:
    assert {path.stem for path in (HERE / "files").glob("[a-z]*.txt")} == {*PROGRAMS, *LEFT}
