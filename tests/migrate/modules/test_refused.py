"""What cannot become native stays Linen, byte for byte, with the code that says why."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from . import (
    refused_called_under_conditions,
    refused_changed_in_loops,
    refused_changing_objects,
    refused_class_changes,
    refused_compact_lists,
    refused_conditional_items,
    refused_config_objects,
    refused_constructs,
    refused_default_modules,
    refused_displayed_dicts,
    refused_ends_left_out,
    refused_ends_of_lists,
    refused_factories_in_fields,
    refused_factories_in_objects,
    refused_first_values,
    refused_functions_of_setup,
    refused_given_functions,
    refused_handed_layers,
    refused_hidden_names,
    refused_inlined,
    refused_kept_methods,
    refused_kinds,
    refused_lifted,
    refused_list_order,
    refused_lists,
    refused_lists_of_lists,
    refused_lookups,
    refused_loop_names,
    refused_loops_along_setup,
    refused_loops_of_bases,
    refused_meaning,
    refused_names_bound_again,
    refused_none_at_first,
    refused_norms,
    refused_one_of_functions,
    refused_options,
    refused_other_methods,
    refused_own_chains,
    refused_parameters_of_setup,
    refused_plain_objects,
    refused_setup_forms,
    refused_setup_values,
    refused_shared_defaults,
    refused_sharing,
    refused_sizes,
    refused_sizes_of_lists,
    refused_skips_of_setup,
    refused_stacked_by_functions,
    refused_structure,
    refused_traced_draws,
    refused_unheld_modules,
    refused_updated_statistics,
)
from .outside_code import named_outside

pytestmark = pytest.mark.usefixtures("sizes_by_reading")

HEAD = "import functools\nfrom typing import Any\nimport jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"

TABLES = (
    refused_changed_in_loops,
    refused_changing_objects,
    refused_class_changes,
    refused_called_under_conditions,
    refused_compact_lists,
    refused_config_objects,
    refused_conditional_items,
    refused_constructs,
    refused_default_modules,
    refused_displayed_dicts,
    refused_ends_left_out,
    refused_ends_of_lists,
    refused_factories_in_fields,
    refused_factories_in_objects,
    refused_first_values,
    refused_functions_of_setup,
    refused_given_functions,
    refused_handed_layers,
    refused_hidden_names,
    refused_inlined,
    refused_kept_methods,
    refused_kinds,
    refused_lifted,
    refused_list_order,
    refused_lists,
    refused_lists_of_lists,
    refused_lookups,
    refused_loop_names,
    refused_loops_along_setup,
    refused_loops_of_bases,
    refused_meaning,
    refused_names_bound_again,
    refused_none_at_first,
    refused_norms,
    refused_one_of_functions,
    refused_options,
    refused_other_methods,
    refused_own_chains,
    refused_parameters_of_setup,
    refused_plain_objects,
    refused_setup_forms,
    refused_setup_values,
    refused_shared_defaults,
    refused_sharing,
    refused_sizes,
    refused_sizes_of_lists,
    refused_skips_of_setup,
    refused_stacked_by_functions,
    refused_structure,
    refused_traced_draws,
    refused_unheld_modules,
    refused_updated_statistics,
)
# What a case is → its code and the whole text: a table may have a head of its own, and say how far its bodies are indented.
REFUSED: dict[str, tuple[str, str]] = {}
for table in TABLES:
    for what, (code, body) in table.REFUSED.items():
        name = table.__name__.rpartition(".refused_")[2].replace("_", " ")
        text = textwrap.indent(body, " " * getattr(table, "INDENT", 0)).rstrip() + "\n"
        REFUSED[f"{name}: {what}"] = (code, getattr(table, "HEAD", HEAD) + text)
assert len(REFUSED) == sum(len(table.REFUSED) for table in TABLES)


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    text = named_outside(body)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    found = {c.qualname: c for c in result.classes}
    plan = found.get("m.M") or next((c for c in result.classes if c.code == code), result.classes[0])
    assert plan.outcome == "bridged"
    assert plan.code == code, plan.reason
    assert plan.reason
    after = result.files[0].after
    assert after is not None
    kept = "".join(line for line in after.splitlines(keepends=True) if "TODO(nnx-migrate)" not in line)
    if all(other.outcome == "bridged" for other in result.classes):  # what it does not need may be native
        first = "\nclass "  # code ahead of the classes may be rewritten
        assert kept[kept.index(first) :] == text[text.index(first) :]
    assert f"# TODO(nnx-migrate): {code}" in after


def test_a_parameter_under_an_attribute_that_another_class_reads_keeps_it() -> None:
    text = (
        HEAD
        + """class M(nn.Module):
  def setup(self):
    self.weight = self.param('w', nn.initializers.ones, (3,))
  def __call__(self, x):
    return x * self.weight


class Outer(nn.Module):
  def setup(self):
    self.inner = M()
  def __call__(self, x):
    return self.inner(x) * self.inner.weight
"""
    )
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", "NNX180"), plan.reason


def test_a_script_that_fills_a_field_with_what_does_not_fit_is_named_and_stops_nothing() -> None:
    body = """class M(nn.Module):
  conv: Any
  @nn.compact
  def __call__(self, x):
    return self.conv(4, (3, 3))(x)


Plain = functools.partial(M, nn.Conv)
Local = functools.partial(M, conv=nn.ConvLocal)
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    (plan,) = result.classes
    assert plan.outcome == "native", plan.reason
    after = result.files[0].after
    assert after is not None
    assert "Plain = functools.partial(M, nnx.Conv)" in after
    assert "# TODO(nnx-migrate): NNX163" in after
    assert "Local = functools.partial(M, conv=nn.ConvLocal)" in after  # left as it is: a TypeError when it is built


def test_the_object_whose_attributes_are_computed_is_named() -> None:
    body = """def changed(config, **changes):
  for name, value in changes.items():
    setattr(config, name, value)
  return config


class M(nn.Module):
  config: Any
  def setup(self):
    self.head = nn.Dense(changed(self.config, width=4).width)
  def __call__(self, x):
    return self.head(x)
"""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    (plan,) = result.classes
    assert plan.reason.startswith("`setattr(config, ...)`"), plan.reason
