"""The mesh in force, read from jax's internals of old."""

from __future__ import annotations

import ast

from ..context import FileContext
from ..rule import Example, Rule

RULE = Rule(
    code="NNX507",
    name="mesh-resources",
    summary="the mesh in force is jax.sharding.get_abstract_mesh(), with its devices jax.sharding.get_mesh()",
    what="Rewrites `thread_resources.env.physical_mesh` of jax.experimental.maps and jax.interpreters.pxla.",
    why="maps is gone and pxla.thread_resources is deprecated: neither sees a mesh that jax.set_mesh put in force.",
    how_sure="by construction: the abstract mesh has the same axis names, sizes and `empty`",
    examples=(
        Example(
            title="is a mesh in force?",
            before="""\
from jax.interpreters import pxla


def meshed():
    mesh = pxla.thread_resources.env.physical_mesh
    return not mesh.empty


axes = pxla.thread_resources.env.physical_mesh.axis_names
devices = pxla.thread_resources.env.physical_mesh.devices
""",
            after="""\
import jax


def meshed():
    mesh = jax.sharding.get_abstract_mesh()
    return not mesh.empty


axes = jax.sharding.get_abstract_mesh().axis_names
devices = jax.sharding.get_mesh().devices
""",
            run="def check(before, after):\n    assert after['meshed']() is False and after['axes'] == ()\n",
        ),
    ),
    words=frozenset({"physical_mesh"}),
)
_OLD = frozenset(
    {
        "jax.interpreters.pxla.thread_resources.env.physical_mesh",
        "jax.experimental.maps.thread_resources.env.physical_mesh",
        "jax._src.mesh.thread_resources.env.physical_mesh",
    }
)
_CONCRETE = frozenset({"devices", "device_ids", "local_mesh", "local_devices", "is_multi_process"})


@RULE.register(ast.Attribute, ends=frozenset({"physical_mesh"}))
def resources(node: ast.AST, ctx: FileContext) -> None:
    assert isinstance(node, ast.Attribute)
    if node.attr != "physical_mesh" or ctx.qualname(node) not in _OLD:
        return
    parent = ctx.source.parents.get(node)
    concrete = isinstance(parent, ast.Attribute) and parent.attr in _CONCRETE
    name = "jax.sharding.get_mesh" if concrete else "jax.sharding.get_abstract_mesh"
    ctx.replace(node, f"{ctx.name(name)}()", code=RULE.code)
