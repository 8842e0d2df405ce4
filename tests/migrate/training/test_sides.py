"""Whole training programs, before and after: specs of all variables and optimizer slots, ten steps, collectives."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

RUNNER = Path(__file__).with_name("run_sides.py")
PROGRAMS = Path(__file__).with_name("programs")
MESHES = ("2x4", *(pytest.param(mesh, marks=pytest.mark.slow) for mesh in ("2x2x2", "4x2", "8x1")))
COUNT = 12
PARTS = (0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, COUNT)))
# Program → the form that it takes.
SHARDED = {
    "own_boxes_under_a_mesh": "NNX603",
    "boxes_of_items_opened": "NNX602",
    "specs_by_hand": "NNX603",
    "shardings_of_init_by_hand": "NNX603",
    "spec_functions_under_other_names": "NNX603",
    "apply_handed_to_the_loss": "NNX602",
    "model_handed_to_the_loss": "NNX602",
    "model_handed_to_a_maker_of_steps": "NNX602",
    "init_jitted_with_its_shardings": "NNX602",
    "statistics_and_keys_with_axes": "NNX602",
    "partitioned_model_for_tests": "NNX602",
    "partitioned_models_of_a_function": "NNX603",
    "batch_sharded_only": "NNX602",
    "fully_sharded_by_size": "NNX602",
    "mapped_by_hand": "NNX602",
    "rules_in_a_config": "NNX602",
    "statistics_of_a_boxed_variable": "NNX603",
    "ensemble_axis": "NNX602",
    "rules_of_their_own": "NNX602",
    "rules_set_globally": "NNX602",
    "gates_batch_stats": "NNX602",
    "boxes_by_hand": "NNX602",
    "boxes_without_names": "NNX603",
    "params_opened_once": "NNX603",
    "logical_rules": "NNX602",
    "logical_names_in_a_wrapped_class": "NNX603",
    "mesh_axes_in_force": "NNX602",
    "mesh_rules_object": "NNX602",
    "param_with_axes": "NNX603",
    "scanned_axis": "NNX602",
    "specs_by_path": "NNX603",
    "stacked_axes_apart": "NNX603",
}
OTHERS = {
    "actor_loss_under_the_new_critics": "NNX601 NNX602",
    "captured_without_mutable": "NNX603",
    "init_under_a_condition": "NNX603",
    "params_printed_as_linen_has_them": "NNX602",
    "tables_of_a_model_that_is_kept": "NNX603",
    "updates_of_a_helper_that_asks_first": "NNX603",
    "variables_put_by_init": "NNX603",
    "methods_of_one_model_of_two_sizes": "NNX603",
    "mapped_init_that_updates": "NNX603",
    "stacked_variables_that_init_updates": "NNX603",
    "variables_that_were_frozen": "NNX603",
    "statistics_that_ask_for_init_by_its_params": "NNX601",
    "codebook_that_init_updates": "NNX603",
    "state_of_statistics_that_ask": "NNX603",
    "statistics_that_ask_whether_they_are_mutable": "NNX603",
    "kinds_and_copies_of_models": "NNX603",
    "methods_of_a_model_that_is_never_initialized": "NNX603",
    "sown_losses_of_init": "NNX603",
    "statistics_that_init_may_update": "NNX603",
    "variables_that_init_updates": "NNX603",
    "a_changed_layer_as_a_model": "NNX603",
    "layers_as_whole_models": "NNX602",
    "a_wrapped_class_in_a_kept_loop": "NNX603",
    "inputs_called_underscore": "NNX603",
    "loss_that_takes_its_state_first": "NNX601",
    "loss_that_takes_its_state_first_in_lines": "NNX601",
    "loss_that_takes_its_statistics_first": "NNX601",
    "loss_of_a_lambda_beside_its_state": "NNX601",
    "gradients_under_jit_that_update_statistics": "NNX601",
    "gradients_mapped_over_examples_beside_a_state": "NNX602",
    "gradients_under_jit_with_static_arguments": "NNX602",
    "loss_that_applies_its_states_own_params": "NNX602",
    "loss_that_reads_its_states_step": "NNX602",
    "loss_beside_the_first_state": "NNX602",
    "loss_beside_the_first_statistics": "NNX602",
    "loss_of_new_params_with_old_statistics": "NNX602",
    "loss_of_the_params_around_a_lambda": "NNX602",
    "loss_of_updated_params_beside_an_old_state": "NNX602",
    "loss_of_pushed_params_beside_a_state": "NNX602",
    "loss_derived_by_its_inputs_too": "NNX602",
    "loss_of_old_params_beside_a_new_state": "NNX602",
    "state_made_of_given_params": "NNX601",
    "state_made_of_params_that_are_read_again": "NNX602",
    "apply_handed_beside_params": "NNX601",
    "apply_bound_to_the_loss_by_keyword": "NNX602",
    "factories_out_of_tables": "NNX601 NNX603",
    "lambdas_out_of_tables": "NNX603",
    "factories_among_other_keywords": "NNX602",
    "a_bound_model_and_its_parts_taken_out": "NNX603",
    "decoding_with_a_cache_of_init": "NNX603",
    "decoding_with_a_stacked_cache": "NNX603",
    "decoding_of_a_config_with_repeated_caches": "NNX603",
    "decoding_with_a_cache_of_apply": "NNX603",
    "decoding_by_hand_in_an_object": "NNX603",
    "masks_that_setup_keeps": "NNX602",
    "own_boxes_with_rates": "NNX603",
    "boxes_of_layers_taken_apart": "NNX603",
    "boxes_of_a_linen_stack_taken_apart": "NNX603",
    "boxes_asked_in_initializers": "NNX603",
    "input_of_init_is_the_first_batch": "NNX601",
    "input_of_init_made_by_a_function": "NNX601",
    "input_of_init_out_of_a_loader": "NNX603",
    "input_of_init_drawn_for_two_sizes": "NNX603",
    "input_of_init_drawn_for_no_size": "NNX603",
    "input_of_init_drawn_once": "NNX601",
    "states_with_methods": "NNX602",
    "models_that_read_their_names": "NNX601",
    "models_with_names_of_their_own": "NNX601",
    "states_with_a_method_that_nothing_calls": "NNX603",
    "pmap_state_that_replicates_itself": "NNX602",
    "init_of_a_function_that_hands_on_its_arguments": "NNX602",
    "input_of_a_second_init_is_drawn": "NNX602",
    "two_models_jitted_in_place": "NNX601",
    "input_of_init_of_numpys_generator": "NNX603",
    "input_of_init_drawn_twice_alike": "NNX603",
    "input_of_init_of_a_generators_iterator": "NNX603",
    "fields_of_a_model_read_outside": "NNX601",
    "a_field_read_before_the_model_is_made": "NNX603",
    "a_field_called_sizes": "NNX603",
    "keys_that_may_be_none": "NNX601",
    "model_of_a_helper_in_every_function": "NNX601",
    "model_of_a_helper_with_another_number_for_tests": "NNX603",
    "model_of_a_helper_whose_config_changes": "NNX603",
    "model_of_a_helper_out_of_a_dictionary": "NNX601",
    "model_of_a_helper_out_of_a_changing_dictionary": "NNX603",
    "model_of_a_helper_in_two_runs": "NNX601",
    "model_of_a_helper_and_a_state_of_two_runs": "NNX603",
    "model_of_a_helper_in_a_loop": "NNX603",
    "model_of_a_helper_in_a_step_of_a_helper": "NNX603",
    "model_of_a_helper_in_an_inner_function": "NNX603",
    "model_of_a_helper_with_another_flag": "NNX603",
    "model_of_a_helper_for_decoding": "NNX601",
    "model_of_a_helper_with_a_flag_of_each_call": "NNX603",
    "two_steps_handed_to_an_epoch": "NNX602",
    "step_handed_to_an_epoch_by_keyword": "NNX601",
    "step_handed_to_an_epoch_that_drops_the_state": "NNX602",
    "step_with_a_sign": "NNX601",
    "an_object_copied_with_its_state": "NNX602",
    "an_object_copied_deeply": "NNX601",
    "an_object_given_the_attributes_of_another": "NNX602",
    "streams_that_a_stack_shares": "NNX603",
    "class_of_states_under_its_bases_name": "NNX602",
    "classes_that_trainers_are_derived_with": "NNX603",
    "loops_over_the_state": "NNX602",
    "an_ensemble_handed_its_inputs": "NNX602",
    "boxes_of_items_in_a_tree": "NNX603",
    "critics_lifted_by_a_function": "NNX603",
    "critics_handed_their_encoders": "NNX603",
    "classes_by_default_and_one_that_stays_linen": "NNX603",
    "modules_by_name_handed_on": "NNX601 NNX603",
    "encoders_of_a_chosen_class_in_a_linen_class": "NNX601 NNX603",
    "params_beside_a_dictionary": "NNX603",
    "params_changed_as_dictionaries": "NNX601",
    "encoders_of_a_table_in_a_linen_class": "NNX601 NNX603",
    "captured_after_a_table": "NNX603",
    "a_method_replaced_on_its_object": "NNX603",
    "class_methods_on_a_named_tuple_of_states": "NNX602",
    "methods_of_an_object_take_states": "NNX602",
    "methods_that_a_derived_class_overrides": "NNX603",
    "states_in_a_named_tuple": "NNX602",
    "states_of_two_models_in_one_function": "NNX602",
    "params_in_a_struct_through_a_scan": "NNX602",
    "twin_critics_and_an_actor_in_one_function": "NNX602",
    "shardings_taken_by_name": "NNX603",
    "specs_flattened": "NNX603",
    "apply_bound_to_the_loss": "NNX602",
    "model_handed_by_keyword": "NNX602",
    "unlike_models_through_the_same_functions": "NNX602",
    "unlike_models_out_of_a_function": "NNX602",
    "average_of_partitioned_params_applied": "NNX602",
    "init_in_lambdas": "NNX602",
    "params_unboxed_on_their_specs": "NNX603",
    "unbox_handed_on": "NNX603",
    "several_steps_one_update_by_spec": "NNX602",
    "steps_bound_by_partial": "NNX601",
    "a_step_bound_to_the_first_state": "NNX602",
    "a_step_bound_to_starred_arguments": "NNX602",
    "a_loss_with_keywords_of_its_own": "NNX602",
    "a_bound_loss_with_keywords": "NNX602",
    "a_model_for_training_and_two_for_tests": "NNX602",
    "mapped_apply_of_a_model_around_its_init": "NNX602",
    "target_of_an_init_in_create": "NNX602",
    "pmap_of_params_alone": "NNX602",
    "state_among_others_in_a_scan": "NNX602",
    "states_under_keys": "NNX602",
    "params_read_by_a_function_that_saves": "NNX602",
    "target_in_the_state_under_cond": "NNX602",
    "model_of_another_state_applied": "NNX602",
    "models_of_two_states_applied": "NNX601",
    "params_saved_alone": "NNX601",
    "trainer_with_a_loss_of_model_and_params": "NNX601",
    "epoch_in_a_scan_and_the_state_before": "NNX601",
    "epoch_in_a_scan_of_a_jitted_step": "NNX602",
    "model_of_a_function_applied_again": "NNX603",
    "model_of_a_function_twice": "NNX601",
    "scan_with_statistics_and_keys": "NNX601",
    "best_state_in_an_attribute": "NNX601",
    "state_in_an_attribute": "NNX601",
    "state_in_an_attribute_and_jitted_methods": "NNX601",
    "state_in_an_attribute_handed_out": "NNX602",
    "state_in_an_attribute_of_a_base": "NNX603",
    "state_in_an_attribute_read_outside": "NNX603",
    "states_in_attributes_of_two_objects": "NNX601",
    "params_kept_and_used_again": "NNX603",
    "params_kept_as_values": "NNX601",
    "attention_with_keys_and_an_old_state": "NNX602",
    "actor_and_critic": "NNX601",
    "actor_and_critic_of_which_one_is_kept": "NNX603",
    "apply_jitted_under_a_name": "NNX601",
    "apply_jitted_with_static_arguments": "NNX602",
    "generator_and_discriminator": "NNX601",
    "target_params_of_the_same_init": "NNX601",
    "target_params_of_the_same_init_donated": "NNX602",
    "class_by_branch": "NNX601",
    "class_derived_in_a_function": "NNX603",
    "class_of_a_function": "NNX601",
    "class_out_of_a_table": "NNX601",
    "class_out_of_a_table_for_tests": "NNX603",
    "init_in_a_jitted_function": "NNX601",
    "keys_in_a_dictionary": "NNX601",
    "model_and_variables_of_a_function": "NNX601",
    "params_of_a_function": "NNX601",
    "params_of_a_function_read_beside_a_state": "NNX603",
    "params_of_a_mapped_function": "NNX603",
    "states_in_a_loop": "NNX601",
    "states_made_of_given_params": "NNX603",
    "statistics_changed_outside_of_the_model": "NNX602",
    "statistics_out_of_the_loss": "NNX601",
    "statistics_out_of_the_loss_dropped": "NNX602",
    "two_models_of_an_initializer": "NNX601",
    "two_states_of_a_function": "NNX601",
    "a_copy_that_an_update_returns": "NNX602",
    "a_copy_put_back_in_a_function": "NNX602",
    "a_copy_of_like_name": "NNX601",
    "a_copy_in_a_function_goes_on": "NNX602",
    "a_table_first": "NNX601",
    "models_made_twice_with_their_states": "NNX601",
    "models_of_a_function_apart": "NNX603",
    "models_of_a_function_for_training_and_tests": "NNX602",
    "a_second_name_goes_back": "NNX601",
    "a_second_name_in_a_function": "NNX601",
    "by_hand_applied_by_a_function": "NNX601",
    "metrics_of_a_test_state": "NNX601",
    "second_names_for_a_state": "NNX601",
    "by_hand_updated_twice_in_a_step": "NNX602",
    "by_hand_with_changed_params": "NNX602",
    "loss_of_changed_params": "NNX602",
    "by_hand_applied_in_the_return": "NNX601",
    "by_hand_best_kept": "NNX602",
    "by_hand_early_end": "NNX601",
    "by_hand_in_a_script": "NNX601",
    "by_hand_masked_by_name": "NNX601",
    "by_hand_old_params_read": "NNX602",
    "by_hand_params_dropped": "NNX602",
    "by_hand_rate_changed": "NNX602",
    "by_hand_skipped_where_not_finite": "NNX602",
    "by_hand_started_again": "NNX602",
    "by_hand_state_dropped": "NNX602",
    "by_hand_tried_twice": "NNX602",
    "by_hand_two_of_one_model": "NNX602",
    "by_hand_under_new_names": "NNX601",
    "by_hand_updates_looked_at": "NNX602",
    "schedule_from_a_config": "NNX601",
    "variables_as_params_and_statistics": "NNX603",
    "variables_as_params_made_in_create": "NNX601",
    "variables_as_params_masked": "NNX602",
    "variables_as_params_with_a_target": "NNX601",
    "dynamic_scale_in_the_state": "NNX603",
    "frozen_params_changed": "NNX603",
    "initialized_with_output": "NNX603",
    "layers_in_a_sequence": "NNX603",
    "handed_modules_beside_optional_ones": "NNX603",
    "lazily_initialized": "NNX603",
    "one_class_of_two_makers_stacked": "NNX603",
    "modules_handed_over": "NNX601",
    "many_steps_one_update": "NNX601",
    "micro_batches_in_a_scan": "NNX602",
    "params_and_optimizer_state_by_hand": "NNX601",
    "params_are_what_init_returns": "NNX601",
    "pmap_ensemble_of_states": "NNX602",
    "pmap_keys_of_each_device": "NNX603",
    "pmap_statistics_and_keys_of_each_device": "NNX602",
    "run_of_a_state_in_tuples_of_tuples": "NNX602",
    "rematerialized_loss": "NNX602",
    "scan_over_steps_with_a_body_of_its_own": "NNX602",
    "steps_in_a_scan": "NNX601",
    "target_params_of_a_second_init": "NNX602",
    "best_state_kept": "NNX602",
    "best_states_beside_their_losses": "NNX601",
    "a_model_initialized_by_an_object_and_the_file": "NNX602",
    "derivatives_by_inputs": "NNX602",
    "derivatives_by_params": "NNX603",
    "a_tree_saved_beside_init": "NNX602",
    "names_of_a_script_used_again": "NNX602",
    "models_bound_to_params": "NNX601 NNX602",
    "names_of_two_models_in_a_step": "NNX601",
    "none_until_the_state_is_made": "NNX601",
    "none_until_there_are_params": "NNX602",
    "params_of_two_models_in_a_dictionary": "NNX602",
    "statistics_of_two_models_in_a_function": "NNX602",
    "field_from_the_old_params": "NNX602",
    "fields_from_the_old_state": "NNX601",
    "factories_in_the_construction": "NNX601",
    "key_and_step_in_the_loss": "NNX601",
    "loss_reads_the_params_of_the_state": "NNX602",
    "params_replaced": "NNX602",
    "states_with_code_of_their_own": "NNX603",
    "tree_made_before_the_update": "NNX601",
    "values_of_fields_kept": "NNX601",
    "average_of_params_in_the_state": "NNX601",
    "decay_mask_by_name": "NNX601",
    "gradients_accumulated": "NNX601",
    "key_in_the_state": "NNX601",
    "labels_by_name": "NNX601",
    "loss_takes_params_and_state": "NNX601",
    "metrics_by_keyword_steps": "NNX601",
    "sown_and_never_asked_for": "NNX601",
    "stats_replaced_after_the_update": "NNX601",
    "step_read_after_the_update": "NNX601",
    "keys_in_one_statement": "NNX602",
    "metrics_in_the_state": "NNX601",
    "state_thrown_away": "NNX602",
    "stats_of_two_gradients": "NNX602",
    "stats_read_before_the_update": "NNX602",
    "stats_read_by_the_loss": "NNX602",
    "stats_updated_twice": "NNX602",
    "step_that_may_end_early": "NNX601",
    "target_of_the_same_params": "NNX602",
    "update_skipped": "NNX602",
    "init_under_jit": "NNX601",
    "init_within_create": "NNX601",
    "pmap_local_batch_norm": "NNX602",
    "pmap_synced_batch_norm": "NNX602",
    "saves_bytes": "NNX603",
    "saves_composite": "NNX602",
    "saves_flax_checkpoints": "NNX601",
    "saves_with_args": "NNX601",
    "saves_with_checkpointers": "NNX603",
    "saves_with_manager": "NNX601",
}
STAYING = {  # a class stays Linen
    *("boxes_of_a_linen_stack_taken_apart", "encoders_of_a_table_in_a_linen_class"),
    "classes_by_default_and_one_that_stays_linen",
    *("encoders_of_a_chosen_class_in_a_linen_class", "a_wrapped_class_in_a_kept_loop"),
    "logical_names_in_a_wrapped_class",
}
# Linen constrains a boxed parameter again wherever it reads it. In a scan that is a layer of the stack, under the names
# that are left: where the stack itself takes a mesh axis, each layer is laid out anew at every step of the loop. The
# migrated scan reads the layers as they lie. Names in `params_axes` lay out a stack as a whole there, gathered before its
# loop or map; in Linen they lay out nothing but its layers.
EXPLAINED = {"scanned_axis": "fewer", "stacked_axes_apart": "more"}


@functools.cache
def run(names: tuple[str, ...], mesh: str, form: str = "nnx") -> dict[str, Any]:
    """What the runner found, by program."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(RUNNER), form, *names],
        capture_output=True,
        text=True,
        env={**os.environ, "MESH": mesh},
        timeout=590,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert done.returncode == 0 and lines, done.stderr[-3000:]
    return dict(json.loads(lines[-1].removeprefix("RESULT")))


def check_forms(found: dict[str, Any]) -> None:
    """Every program has the form that it is said to take, and all of its modules are native."""
    forms = {name: [c for c in said["codes"] if c in ("NNX601", "NNX602", "NNX603")] for name, said in found.items()}
    assert forms == {name: {**SHARDED, **OTHERS}[name].split() for name in found}
    assert {name for name, said in found.items() if not said["native"]} == STAYING & found.keys()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.timeout(600)
def test_sharded_programs(mesh: str, part: int) -> None:
    names = sorted(SHARDED)[part::2]
    found = run(tuple(names), mesh)
    assert {name: said["differences"] for name, said in found.items()} == {name: [] for name in names}
    check_forms(found)
    for name, said in found.items():
        assert said["moves"], name
        linen, migrated = said["collectives"]
        if name in EXPLAINED:
            fewer = sum(linen.values()) > sum(migrated.values())
            assert linen.keys() == migrated.keys() and fewer == (EXPLAINED[name] == "fewer"), name
        else:
            assert linen == migrated, name


@pytest.mark.parametrize(
    "name, reason",
    [
        ("pmap_synced_batch_norm", "jax.pmap keeps a copy of the state on each device"),
        ("pmap_local_batch_norm", "jax.pmap keeps a copy of the state on each device"),
        ("a_step_bound_to_the_first_state", "a state that is kept or handed to something unknown"),
        ("a_step_bound_to_starred_arguments", "a step that is bound to starred arguments"),
        ("a_loss_with_keywords_of_its_own", "gradients of a loss that takes keywords of its own"),
        ("a_bound_loss_with_keywords", "gradients of a loss that takes keywords of its own"),
        ("update_skipped", "an old state or params that are read after an update"),
        ("params_replaced", "a state of which params is replaced"),
        ("by_hand_state_dropped", "an old state or params that are read after an update"),
        ("by_hand_updates_looked_at", "updates that are used otherwise than once"),
        ("states_with_code_of_their_own", "a class of states with code of its own"),
    ],
)
def test_what_keeps_the_idiom_away_is_said(name: str, reason: str) -> None:
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / f"{name}.txt").read_text()
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    (said,) = (d.help for d in result.files[0].diagnostics if d.code in ("NNX602", "NNX603"))
    assert re.search(rf"What keeps (it|nnx.Optimizer from it): {re.escape(reason)} \(line \d+\)", said)


def test_what_keeps_split_state_away_is_said_where_nothing_else_was_asked_for() -> None:
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / "states_with_code_of_their_own.txt").read_text()
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)], Options(jit="functional"))
    (said,) = (d.help for d in result.files[0].diagnostics if d.code == "NNX603")
    assert re.match(r"What keeps it from split state: a class of states with code of its own \(line \d+\)", said)


def test_every_program_is_run() -> None:
    assert {path.stem for path in PROGRAMS.glob("[a-z]*.txt")} == {*SHARDED, *OTHERS}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.timeout(600)
def test_programs_on_one_host(part: int) -> None:
    names = sorted(OTHERS)[part::COUNT]
    found = run(tuple(names), "8x1")
    assert {name: said["differences"] for name, said in found.items()} == {name: [] for name in names}
    check_forms(found)
    for name, said in found.items():
        assert said["moves"], name
        assert said["collectives"][0] == said["collectives"][1], name
