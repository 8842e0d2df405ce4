"""Programs that put values of others into params, by Linen's names, and train on: both sides print the same."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .printed import printed

HERE = Path(__file__).parent
PROGRAMS = HERE / "pretrained"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
FORMS = {  # program → the form that it takes, and with `--jit functional`
    "a_body_that_is_frozen": ("NNX601", "NNX603"),
    "a_dictionary_of_others": ("NNX601", "NNX602"),
    "a_field_with_the_same_params": ("NNX603", "NNX603"),
    "a_function_that_assigns_items": ("NNX601", "NNX602"),
    "a_function_that_changes_what_it_is_given": ("NNX603", "NNX603"),
    "a_function_that_is_jitted_merges": ("NNX603", "NNX603"),
    "a_function_that_merges": ("NNX601", "NNX602"),
    "a_function_that_others_call_too": ("NNX603", "NNX603"),
    "a_mask_and_its_opposite": ("NNX601", "NNX603"),
    "a_mask_of_params": ("NNX601", "NNX602"),
    "a_method_that_comes_to_a_reader": ("NNX602", "NNX602"),
    "a_trainer_with_methods": ("NNX601", "NNX602"),
    "an_item_of_params_out_of_a_function": ("NNX603", "NNX603"),
    "an_item_is_assigned": ("NNX601", "NNX603"),
    "an_update_of_an_unfrozen_copy": ("NNX601", "NNX603"),
    "by_hand_clipped_by_name": ("NNX601", "NNX602"),
    "flat_items_are_merged": ("NNX601", "NNX603"),
    "items_of_items_are_assigned": ("NNX601", "NNX603"),
    "items_of_others_change_later": ("NNX603", "NNX603"),
    "labels_by_keys": ("NNX601", "NNX603"),
    "old_params_are_read": ("NNX603", "NNX603"),
    "params_changed_in_a_loss": ("NNX603", "NNX603"),
    "params_out_of_a_function": ("NNX601 NNX603", "NNX602 NNX603"),
    "params_of_another_model": ("NNX601", "NNX603"),
    "params_that_a_dictionary_holds": ("NNX603", "NNX603"),
    "steps_thrown_away_by_a_method": ("NNX602", "NNX602"),
}


def text(name: str) -> str:
    return (PROGRAMS / "_head.txt").read_text() + "\n\n" + (PROGRAMS / f"{name}.txt").read_text()


@functools.cache
def outcomes() -> dict[str, list[tuple[str, str]]]:
    """Of every program what each side prints, and the codes of its form."""
    found: dict[str, list[tuple[str, str]]] = {}
    with tempfile.TemporaryDirectory() as where:
        folders: dict[str, tuple[str, str]] = {}
        for name in FORMS:
            sides = [(text(name), "", {})]
            for jit in ("nnx", "functional"):
                result = migrate_project([SourceFile.parse(Path("main.py"), "main", text(name))], Options(jit=jit))
                said = {d.code for d in result.files[0].diagnostics if d.code in ("NNX601", "NNX602", "NNX603")}
                assert result.files[0].after is not None
                sides.append((result.files[0].after, " ".join(sorted(said)), result.created))
            for number, (main, said, created) in enumerate(sides):
                folder = Path(where).resolve() / f"{name}_{number}"
                folder.mkdir()
                (folder / "main.py").write_text(main)
                for path, content in created.items():
                    (folder / path.name).write_text(content)
                folders[str(folder)] = (name, said)
        output = printed(folders)
        for folder, (name, said) in folders.items():
            found.setdefault(name, []).append((output[folder], said))
    return found


def test_every_program_has_its_form() -> None:
    assert {path.stem for path in PROGRAMS.glob("[!_]*.txt")} == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.timeout(600)
def test_params_with_parts_of_others(name: str) -> None:
    (linen, _), *sides = outcomes()[name]
    assert "Traceback" not in linen and len(set(NUMBER.findall(linen))) > 3, linen
    assert tuple(codes for _, codes in sides) == FORMS[name]
    for side, _ in sides:
        assert NUMBER.sub("#", side) == NUMBER.sub("#", linen)
        for old, new in zip(NUMBER.findall(linen), NUMBER.findall(side), strict=True):
            assert float(new) == pytest.approx(float(old), rel=2e-4, abs=2e-5), f"{linen}\nis now\n{side}"
