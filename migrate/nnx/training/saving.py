"""The NNX idiom's checkpoints: the model and its optimizer are saved with Orbax, and restored in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ...linen.flow.flow_makers import maker_of
from ...linen.flow.flow_uses import restored_target
from ...linen.flow.flow_values import RESTORES, SAVES, State
from . import collections, loops
from .rewrite import Unsupported

if TYPE_CHECKING:
    from .native import _Native

_FLAX_SAVE = {"ckpt_dir", "target", "step", "prefix", "keep", "overwrite", "keep_every_n_steps"}
_FLAX_RESTORE = {"ckpt_dir", "target", "step", "prefix"}
_SAVE_ARGS = {"flax.training.orbax_utils.save_args_from_target"}
_CHECKPOINTERS = ("CheckpointManager", "Checkpointer")


def touches(form: _Native, call: ast.Call) -> bool:
    """Does a call that is given a state save or restore it?"""
    if form.keeps_keys:
        return False
    name = form.flow.name(call.func) or ""
    if name in SAVES or name in RESTORES or name in _SAVE_ARGS or name.startswith("orbax.checkpoint.args."):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("save", "restore") and _kind(form, call) != ""


def use(form: _Native, call: ast.Call, node: ast.Name) -> bool:
    """Rewrite the place of a state in a call that saves it; what restores one is seen to as a call."""
    if not touches(form, call):
        return False
    pair = _pair(form, node)
    name = form.flow.name(call.func) or ""
    if name in RESTORES or _restoring(form, call):
        return True
    if name in SAVES:
        if not {k.arg for k in call.keywords} <= _FLAX_SAVE or len(call.args) > 7:
            raise Unsupported(call, "a checkpoint that is saved with other options")
        form.replace(call.func, form.context(call).parity("save_checkpoint"))
        form.replace(node, f"({pair})")
    else:
        if name.startswith("orbax.checkpoint.args.") and name.rpartition(".")[2] not in ("StandardSave", "PyTreeSave"):
            raise Unsupported(call, "a state saved as something else than a tree")
        form.replace(node, f"{form.context(call).parity('checkpointed')}({pair})")
    _report(form, call)
    return True


def restore(form: _Native, call: ast.Call) -> bool:
    """`state = checkpoints.restore_checkpoint(path, state)`, `state = manager.restore(step, items=state)`, ..."""
    node = restored_target(form.flow, call)
    if form.keeps_keys or node is None or not isinstance(form.flow.value(node), State):
        return False
    if not isinstance(node, ast.Name):
        raise Unsupported(call, "a checkpoint restored into a state that has no name")
    pair = _pair(form, node)
    helper = form.context(call).parity("restore_checkpoint")
    name = form.flow.name(call.func) or ""
    if name in RESTORES:
        if not {k.arg for k in call.keywords} <= _FLAX_RESTORE or len(call.args) > 4:
            raise Unsupported(call, "a checkpoint that is restored with other options")
        parts: list[str | ast.AST] = [f"{helper}("]
        for index, given in enumerate([*call.args, *call.keywords]):
            parts += [", "] if index else []
            if given is node:
                parts.append(f"({pair})")
            elif isinstance(given, ast.keyword) and given.value is node:
                parts.append(f"target=({pair})")
            else:
                parts.append(given)
        parts.append(")")
    else:
        kind = _kind(form, call)
        if not kind or not call.args or isinstance(call.args[0], ast.Starred):
            raise Unsupported(call, "a checkpoint restored by something unknown")
        assert isinstance(call.func, ast.Attribute)
        if kind == "CheckpointManager":
            parts = [f"{helper}(", call.func.value, f".directory, ({pair}), step=", call.args[0], ")"]
        else:
            parts = [f"{helper}(", call.args[0], f", ({pair}))"]
    symbol = form.flow.symbol(form.source(node), node)
    statement = form.statement(call)
    parent = form.parent(call)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        loops.same_state(form, parent.targets[0], symbol)
        form.replace(parent, *parts)
    elif isinstance(parent, ast.Return) and loops.is_last(form, parent):
        form.replace(parent, *parts)
    else:
        raise Unsupported(statement, "a state restored within an expression")
    _report(form, call)
    return True


def _restoring(form: _Native, call: ast.Call) -> bool:
    """Is `call` a restore, or the arguments of one?"""
    name = form.flow.name(call.func) or ""
    if name.startswith("orbax.checkpoint.args."):
        return name.endswith("Restore")
    return isinstance(call.func, ast.Attribute) and call.func.attr == "restore"


def keeps_keys(form: _Native) -> bool:
    """Does the program restore what is no state: a dictionary that it reads by a TrainState's keys? Files keep them."""
    files = form.program_files()
    methods = [form.parent(attribute) for attribute in form.flow.uses.attributes({"restore"})]
    calls = [c for c in methods if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute) and _kind(form, c)]
    for call in [*form.flow.uses.calls(RESTORES), *calls]:
        target = restored_target(form.flow, call)
        if form.source(call).module in files and (target is None or not isinstance(form.flow.value(target), State)):
            return True
    return False


def _pair(form: _Native, node: ast.Name) -> str:
    """`model, optimizer` for a state."""
    if form.fields or form.by_name:
        raise Unsupported(node, "a state with fields of its own, or masks by name, that is saved or restored")
    if collections.whole(form):
        raise Unsupported(node, "a state of all that init returned that is saved or restored")
    symbol = form.flow.symbol(form.source(node), node)
    model, optimizer = form.new_names[symbol], form.optimizers[symbol]
    form.visible(node, symbol, model)
    form.visible(node, symbol, optimizer)
    return f"{model}, {optimizer}"


def _kind(form: _Native, call: ast.Call) -> str:
    """`CheckpointManager` or `Checkpointer` where the method is one of Orbax's, told by how its object is made."""
    assert isinstance(call.func, ast.Attribute)
    made = maker_of(form.flow, call.func.value)
    if not made.startswith("orbax.checkpoint."):
        return ""
    return next((kind for kind in _CHECKPOINTERS if made.endswith(kind)), "")


def _report(form: _Native, call: ast.Call) -> None:
    form.later.append(
        lambda: form.context(call).report(
            call,
            "NNX702",
            "the checkpoint holds the states of the model and of the optimizer",
            help="Checkpoints of the Linen program are restored too, where nnx-migrate is installed.",
        )
    )
