"""Names that jax 0.10.2 no longer has (or only with a deprecation warning), and what stands for them today.

Sources: the jax changelog ("removed" is the release that took the name away, or deprecated it where it works), and
the installed jax 0.10.2: `tests/migrate/rules/test_jax_names.py` looks every old and every new name up.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Gone:
    """One old name. `new` is the dotted name that replaces it, drop-in; None where a person must act, with `note` for
    what to do. `module` entries are prefixes: everything below moves along. `works`: still there, with a warning."""

    old: str
    new: str | None
    removed: str
    family: str
    note: str = ""
    module: bool = False
    works: bool = False


def _family(family: str, removed: str, pairs: dict[str, str], *, works: bool = False) -> tuple[Gone, ...]:
    return tuple(Gone(old, new, removed, family, works=works) for old, new in pairs.items())


def _core(removed: str, names: str, target: str, *, works: bool = False) -> tuple[Gone, ...]:
    return tuple(Gone(f"jax.core.{name}", f"{target}.{name}", removed, "core", works=works) for name in names.split())


def _manual(old: str, removed: str, note: str, *, module: bool = False) -> Gone:
    return Gone(old, None, removed, "manual", note, module)


_STACKED = "stack the arrays and jax.device_put them with a NamedSharding over a mesh of the devices"
GONE: tuple[Gone, ...] = (
    *_family(
        "tree",
        "0.6.0",
        {
            "jax.tree_map": "jax.tree.map",
            "jax.tree_leaves": "jax.tree.leaves",
            "jax.tree_structure": "jax.tree.structure",
            "jax.tree_flatten": "jax.tree.flatten",
            "jax.tree_unflatten": "jax.tree.unflatten",
            "jax.tree_transpose": "jax.tree.transpose",
            "jax.treedef_is_leaf": "jax.tree_util.treedef_is_leaf",
        },
    ),
    *_family(
        "tree",
        "0.3.16",
        {
            "jax.tree_multimap": "jax.tree.map",
            "jax.tree_util.tree_multimap": "jax.tree.map",
            "jax.tree_all": "jax.tree.all",
            "jax.tree_reduce": "jax.tree.reduce",
            "jax.treedef_tuple": "jax.tree_util.treedef_tuple",
            "jax.treedef_children": "jax.tree_util.treedef_children",
        },
    ),
    *_family(
        "array",
        "0.4.24",
        {
            "jax.random.KeyArray": "jax.Array",
            "jax.random.PRNGKeyArray": "jax.Array",
            "jax.prng.PRNGKeyArray": "jax.Array",
        },
    ),
    *_family(
        "array",
        "0.4.14",
        {
            "jax.numpy.DeviceArray": "jax.Array",
            "jax.interpreters.xla.DeviceArray": "jax.Array",
            "jax.interpreters.xla._DeviceArray": "jax.Array",
            "jax.xla.DeviceArray": "jax.Array",
            "jax.interpreters.xla.Buffer": "jax.Array",
            "jax.interpreters.pxla.ShardedDeviceArray": "jax.Array",
            "jax.experimental.global_device_array.GlobalDeviceArray": "jax.Array",
            "jax.interpreters.xla.Device": "jax.Device",
            "jax.xla.Device": "jax.Device",
        },
    ),
    *_family(
        "array",
        "0.8.0",
        {
            "jax.lib.xla_extension.ArrayImpl": "jax.Array",
            "jax.lib.xla_client.ArrayImpl": "jax.Array",
            "jax.lib.xla_extension.Device": "jax.Device",
            "jax.lib.xla_client.Device": "jax.Device",
            "jax.lib.xla_extension.XlaRuntimeError": "jax.errors.JaxRuntimeError",
            "jax.lib.xla_client.XlaRuntimeError": "jax.errors.JaxRuntimeError",
            "jax.lib.xla_client.FftType": "jax.lax.FftType",
        },
    ),
    *_family(
        "sharding",
        "0.4.11",
        {
            "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
            "jax.experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
            "jax.interpreters.pxla.PartitionSpec": "jax.sharding.PartitionSpec",
            "jax.interpreters.sharded_jit.PartitionSpec": "jax.sharding.PartitionSpec",
            "jax.pxla.PartitionSpec": "jax.sharding.PartitionSpec",
            "jax.experimental.maps.Mesh": "jax.sharding.Mesh",
            "jax.interpreters.pxla.Mesh": "jax.sharding.Mesh",
            "jax.pxla.Mesh": "jax.sharding.Mesh",
            "jax.experimental.pjit.Mesh": "jax.sharding.Mesh",
            "jax.experimental.pjit.NamedSharding": "jax.sharding.NamedSharding",
            "jax.experimental.sharding.NamedSharding": "jax.sharding.NamedSharding",
            "jax.experimental.sharding.MeshPspecSharding": "jax.sharding.NamedSharding",
            "jax.experimental.sharding.SingleDeviceSharding": "jax.sharding.SingleDeviceSharding",
            "jax.experimental.sharding.Sharding": "jax.sharding.Sharding",
            "jax.sharding.MeshPspecSharding": "jax.sharding.NamedSharding",
            "jax.sharding.XLACompatibleSharding": "jax.sharding.Sharding",
        },
    ),
    *_family("sharding", "0.7.1", {"jax.sharding.use_mesh": "jax.set_mesh"}),
    *_family("sharding", "0.6.1", {"jax.sharding.AxisTypes": "jax.sharding.AxisType"}),
    *_family(
        "numpy",
        "0.4.16",
        {
            "jax.numpy.alltrue": "jax.numpy.all",
            "jax.numpy.sometrue": "jax.numpy.any",
            "jax.numpy.product": "jax.numpy.prod",
            "jax.numpy.cumproduct": "jax.numpy.cumprod",
        },
    ),
    *_family(
        "numpy",
        "0.4.24",
        {
            "jax.numpy.row_stack": "jax.numpy.vstack",
            "jax.numpy.in1d": "jax.numpy.isin",
            "jax.numpy.trapz": "jax.numpy.trapezoid",
            "jax.scipy.linalg.tril": "jax.numpy.tril",
            "jax.scipy.linalg.triu": "jax.numpy.triu",
        },
    ),
    *_family(
        "numpy",
        "0.4.38",
        {
            "jax.numpy.round_": "jax.numpy.round",
            "jax.numpy.Inf": "jax.numpy.inf",
            "jax.numpy.PINF": "jax.numpy.inf",
            "jax.numpy.infty": "jax.numpy.inf",
            "jax.numpy.NaN": "jax.numpy.nan",
            "jax.numpy.NAN": "jax.numpy.nan",
        },
    ),
    *_family("numpy", "0.10.0", {"jax.numpy.fix": "jax.numpy.trunc"}),
    *_family("numpy", "0.4.29", {"jax.nn.normalize": "jax.nn.standardize"}),
    *_family(
        "moved",
        "0.4.24",
        {
            "jax.linear_util.wrap_init": "jax.extend.linear_util.wrap_init",
            "jax.random.threefry_2x32": "jax.extend.random.threefry_2x32",
            "jax.prng.threefry_2x32": "jax.extend.random.threefry_2x32",
            "jax.prng.threefry_prng_impl": "jax.extend.random.threefry_prng_impl",
            "jax.prng.rbg_prng_impl": "jax.extend.random.rbg_prng_impl",
            "jax.prng.unsafe_rbg_prng_impl": "jax.extend.random.unsafe_rbg_prng_impl",
            "jax.prng.seed_with_impl": "jax.extend.random.seed_with_impl",
            "jax.clear_backends": "jax.extend.backend.clear_backends",
        },
    ),
    *_family(
        "moved",
        "0.8.0",
        {
            "jax.lib.xla_bridge.get_backend": "jax.extend.backend.get_backend",
            "jax.lib.xla_bridge.default_backend": "jax.default_backend",
            "jax.lib.xla_bridge.device_count": "jax.device_count",
            "jax.lib.xla_bridge.local_device_count": "jax.local_device_count",
            "jax.lib.xla_bridge.devices": "jax.devices",
            "jax.lib.xla_bridge.local_devices": "jax.local_devices",
            "jax.lib.xla_bridge.process_count": "jax.process_count",
            "jax.lib.xla_bridge.process_index": "jax.process_index",
            "jax.lib.xla_bridge.host_id": "jax.process_index",
            "jax.lib.xla_bridge.host_count": "jax.process_count",
            "jax.experimental.enable_x64": "jax.enable_x64",
            "jax.experimental.x64_context.enable_x64": "jax.enable_x64",
            "jax.util.wraps": "functools.wraps",
            "jax.util.partial": "functools.partial",
        },
    ),
    *_family("moved", "0.2.21", {"jax.partial": "functools.partial", "jax.lax.partial": "functools.partial"}),
    *_family(
        "moved",
        "0.10.0",
        {"jax.ad_checkpoint.checkpoint": "jax.checkpoint", "jax.ad_checkpoint.remat": "jax.checkpoint"},
    ),
    *_family("moved", "0.8.0", {"jax.lax.zeros_like_array": "jax.numpy.zeros_like"}),
    Gone("jax.linear_util", "jax.extend.linear_util", "0.4.24", "moved", module=True),
    Gone("jax.experimental.stax", "jax.example_libraries.stax", "0.3.16", "moved", module=True),
    Gone("jax.experimental.optimizers", "jax.example_libraries.optimizers", "0.3.16", "moved", module=True),
    *_family("moved", "0.7.0", {"jax.stages.OutInfo": "jax.ShapeDtypeStruct"}),
    Gone("jax.experimental.shard", "jax.sharding", "0.7.0", "moved", module=True),
    Gone("jax.experimental.export", "jax.export", "0.4.36", "moved", module=True),
    *_family("core", "0.4.16", {"jax.abstract_arrays.ShapedArray": "jax.core.ShapedArray"}),
    *_family("core", "0.4.14", {"jax.ShapedArray": "jax.core.ShapedArray"}),
    *_family("core", "0.10.0", {"jax.core.get_aval": "jax.typeof"}),
    *_core("0.6.0", "Jaxpr ClosedJaxpr Literal Primitive Var JaxprEqn jaxpr_as_fun Token", "jax.extend.core"),
    *_core("0.10.0", "mapped_aval unmapped_aval subjaxprs take_current_trace set_current_trace", "jax.extend.core"),
    *_core(
        "0.8.2",
        "concrete_or_error valid_jaxtype check_jaxpr gensym jaxprs_in_params new_jaxpr_eqn Effect DropVar "
        "find_top_trace primal_dtype_to_tangent_dtype",
        "jax.extend.core",
        works=True,
    ),
    *_core("0.7.0", "call_p closed_call_p", "jax.extend.core.primitives"),
    *_core(
        "0.4.24",
        "ConcretizationTypeError UnexpectedTracerError TracerArrayConversionError TracerIntegerConversionError",
        "jax.errors",
    ),
    *_core("0.8.2", "JaxprTypeError InconclusiveDimensionOperation", "jax.errors", works=True),
    _manual(
        "jax.experimental.maps.xmap",
        "0.4.31",
        "write it with jax.shard_map over the mesh, or jax.vmap with spmd_axis_name",
    ),
    _manual("jax.experimental.maps.SerialLoop", "0.4.31", "write the loop with jax.lax.map"),
    _manual(
        "jax.experimental.pjit.FROM_GDA",
        "0.4.11",
        "a jax.Array carries its sharding: leave the argument's entry out of in_shardings",
    ),
    _manual("jax.experimental.pjit.AUTO", "0.4.31", "leave the sharding out: the compiler chooses it"),
    _manual(
        "jax.sharding.PositionalSharding",
        "0.6.0",
        "give the mesh axes names: NamedSharding(mesh, PartitionSpec(...)) in place of reshape and replicate",
    ),
    _manual("jax.sharding.GSPMDSharding", "0.6.0", "use NamedSharding(mesh, PartitionSpec(...))"),
    _manual("jax.sharding.OpShardingSharding", "0.4.16", "use NamedSharding(mesh, PartitionSpec(...))"),
    _manual(
        "jax.sharding.PmapSharding",
        "0.10.0",
        "use NamedSharding over a one-dimensional mesh of the devices, with the leading axis in the PartitionSpec",
    ),
    _manual(
        "jax.xla_computation",
        "0.4.34",
        "jax.jit(fn).lower(*args, **kwargs).compiler_ir('hlo') gives the same computation",
    ),
    _manual(
        "jax.experimental.host_callback",
        "0.8.0",
        "id_print → jax.debug.print, id_tap → jax.debug.callback, call → io_callback, which NNX814 writes where it is sure",
        module=True,
    ),
    _manual(
        "jax.experimental.global_device_array",
        "0.4.7",
        "build a jax.Array with jax.make_array_from_callback(shape, sharding, callback)",
        module=True,
    ),
    _manual("jax.experimental.loops", "0.3.16", "write it with jax.lax.fori_loop or while_loop", module=True),
    _manual("jax.experimental.jax2tf", "0.10.0", "export with jax.export and load with tf.XlaCallModule", module=True),
    _manual("jax.device_put_replicated", "0.10.0", _STACKED),
    _manual("jax.device_put_sharded", "0.10.0", _STACKED),
    _manual("jax.lax.tie_in", "0.4.29", "drop the call: tie_in(x, y) is y"),
    _manual("jax.lax.infeed", "0.7.0", "feed arrays as arguments, or call back with jax.experimental.io_callback"),
    _manual("jax.lax.outfeed", "0.7.0", "return arrays, or call back with jax.experimental.io_callback"),
    _manual("jax.core.Shape", "0.4.29", "annotate with tuple[int, ...]"),
    _manual("jax.core.DimSize", "0.4.29", "annotate with int"),
    _manual("jax.core.non_negative_dim", "0.4.29", "use max(size, 0)"),
    _manual("jax.abstract_arrays", "0.4.16", "ShapedArray is in jax.core", module=True),
    _manual("jax.experimental.si_vjp", "0.8.2", "use jax.vjp", module=True),
    _manual("jax.soft_pmap", "0.3.18", "use jax.jit with shardings, or jax.shard_map"),
    _manual("jax.mask", "0.3.18", "shape polymorphism is in jax.export"),
    _manual("jax.custom_transforms", "0.2.0", "use jax.custom_jvp or jax.custom_vjp"),
    _manual("jax.curry", "0.4.14", "use functools.partial"),
    _manual("jax.core.axis_frame", "0.4.36", "jax.lax.axis_size(name) gives the size of a mapped axis"),
    _manual("jax.core.raise_to_shaped", "0.4.36", "drop the call: every aval is a ShapedArray"),
    _manual("jax.core.NamedShape", "0.4.34", "it went with xmap"),
    _manual("jax.lib.xla_bridge", "0.8.0", "look for the function in jax or jax.extend.backend", module=True),
    _manual("jax.lib.xla_client", "0.8.0", "look for the name in jax, jax.errors or jax.extend", module=True),
    _manual("jax.lib.xla_extension", "0.8.0", "look for the name in jax, jax.errors or jax.extend", module=True),
    _manual("jax.util", "0.8.0", "jax.util was internal: copy the few lines that you need", module=True),
    _manual("jax.interpreters.sharded_jit", "0.4.1", "use jax.jit with in_shardings", module=True),
    _manual("jax.interpreters.xla.pytype_aval_mappings", "0.7.0", "use jax.core.pytype_aval_mappings"),
    _manual("jax.numpy.asfarray", "0.2.0", "use jnp.asarray(x, dtype=float)"),
    _manual("jax.random.default_prng_impl", "0.4.24", "read jax.config.jax_default_prng_impl"),
    *_family("core", "0.4.24", {"jax.interpreters.xla.ShapedArray": "jax.core.ShapedArray"}),
    *_family("moved", "0.4.16", {"jax.lax.prod": "math.prod"}),
    *_family(
        "moved",
        "0.8.0",
        {
            "jax.interpreters.xla.canonicalize_dtype": "jax.dtypes.canonicalize_dtype",
            "jax.experimental.compilation_cache.compilation_cache.initialize_cache": (
                "jax.experimental.compilation_cache.compilation_cache.set_cache_dir"
            ),
        },
    ),
    Gone("jax.api", "jax", "0.3.0", "moved", module=True),
    Gone("jax.lax_linalg", "jax.lax.linalg", "0.2.8", "moved", module=True),
    Gone("jax.core.lu", "jax.extend.linear_util", "0.4.24", "moved", module=True),
    Gone("jax.extend.ffi", "jax.ffi", "0.7.0", "moved", module=True),
    Gone("jax.experimental.array_api", "jax.numpy", "0.5.0", "moved", module=True),
    Gone("jax.experimental.gda_serialization", "jax.experimental.array_serialization", "0.4.9", "moved", module=True),
    _manual("jax.experimental.disable_x64", "0.8.0", "write with jax.enable_x64(False)"),
    _manual("jax.experimental.x64_context.disable_x64", "0.8.0", "write with jax.enable_x64(False)"),
    _manual("jax.spmd_mode", "0.7.1", "drop it: arrays of several hosts may be computed with as they are"),
    _manual("jax.prng", "0.4.24", "look for the name in jax.random or jax.extend.random", module=True),
    _manual("jax.lax.xeinsum", "0.4.31", "it went with xmap: use jnp.einsum"),
    _manual("jax.lax.pdot", "0.4.31", "it went with xmap: use jnp.einsum and jax.lax.psum"),
    _manual("jax.tree_util.GetitemKeyPathEntry", "0.4.24", "use jax.tree_util.SequenceKey or DictKey"),
    _manual(
        "jax.experimental.layout.DeviceLocalLayout", "0.7.0", "it is called Layout, and what was called Layout is Format"
    ),
    _manual("jax.core.ConcreteArray", "0.4.36", "isinstance(x, jax.core.Tracer) tells values that are not known yet"),
    _manual(
        "jax.interpreters.xla.ConcreteArray", "0.4.24", "isinstance(x, jax.core.Tracer) tells values that are not known yet"
    ),
    _manual("jax.experimental.pjit.ParsedPartitionSpec", "0.4.31", "work on the PartitionSpec itself"),
    _manual("jax.experimental.pjit.get_array_mapping", "0.4.14", "go through the PartitionSpec, one entry a dimension"),
    _manual("jax.experimental.optix", "0.2.7", "it is the package optax", module=True),
    _manual("jax.experimental.sharded_jit", "0.4.1", "use jax.jit with in_shardings", module=True),
    _manual("jax.experimental.callback", "0.4.2", "use jax.pure_callback or jax.debug.callback", module=True),
    _manual("jax.lax.pvary", "0.8.2", "use jax.lax.pcast(x, axis_name, to='varying')"),
    _manual("jax.numpy.msort", "0.4.9", "use jnp.sort(a, axis=0)"),
    _manual("jax.numpy.issubsctype", "0.4.24", "use jnp.issubdtype"),
    _manual("jax.random.shuffle", "0.4.31", "use jax.random.permutation(key, x, axis, independent=True)"),
    *(
        _manual(f"jax.random.{kind}_key", "0.4.24", f"use jax.random.PRNGKey(seed, impl='{kind}')")
        for kind in ("threefry2x32", "rbg", "unsafe_rbg")
    ),
    _manual("jax.scipy.linalg.polar_unitary", "0.4.3", "use jax.scipy.linalg.polar(a)[0]"),
    _manual(
        "jax.scipy.special.sph_harm", "0.7.0", "sph_harm_y takes degree, order, polar and azimuthal angle, in this order"
    ),
    _manual("jax.tree_util.build_tree", "0.6.0", "use jax.tree.unflatten(treedef, leaves)"),
    _manual("jax.tree_util.register_keypaths", "0.4.24", "use jax.tree_util.register_pytree_with_keys"),
    _manual("jax.tree_util.AttributeKeyPathEntry", "0.4.24", "use jax.tree_util.GetAttrKey"),
    _manual("jax.dlpack.SUPPORTED_DTYPES", "0.7.0", "ask jax.dlpack.is_supported_dtype(dtype)"),
    _manual("jax.test_util.check_close", "0.3.8", "use numpy.testing.assert_allclose"),
    _manual("jax.test_util.JaxTestCase", "0.3.15", "use absl.testing.parameterized.TestCase"),
    _manual("jax.core.AxisName", "0.7.0", "annotate with collections.abc.Hashable"),
    _manual("jax.core.AxisSize", "0.6.0", "annotate with int"),
    _manual("jax.core.abstractify", "0.7.0", "use jax.typeof(x)"),
    _manual("jax.interpreters.xla.abstractify", "0.7.0", "use jax.typeof(x)"),
    _manual("jax.core.definitely_equal", "0.4.31", "compare the dimensions with =="),
    _manual("jax.core.symbolic_equal_dim", "0.4.31", "compare the dimensions with =="),
    _manual("jax.core.dimension_as_value", "0.4.31", "drop the call"),
    _manual("jax.core.canonicalize_shape", "0.4.31", "use tuple(operator.index(size) for size in shape)"),
    *(
        _manual(f"jax.core.{name}", "0.4.16", "use jnp.issubdtype(dtype, jax.dtypes.extended)")
        for name in ("is_opaque_dtype", "has_opaque_dtype")
    ),
    *(
        _manual(f"jax.core.{name}", version, "it was internal to jax: copy the few lines that you need")
        for version, names in {
            "0.4.34": "pp_eqn pp_eqns pp_jaxpr pp_jaxprs pp_var pp_vars pp_kv_pair pp_kv_pairs",
            "0.4.36": "MainTrace EvalTrace Sublevel TraceStack TraceState cur_sublevel new_main new_base_main new_sublevel "
            "extend_axis_env thread_local_state used_axis_names subst_axis_names",
            "0.4.38": "check_eqn check_type check_valid_jaxtype",
            "0.6.0": "safe_map safe_zip full_lower lattice_join join_effects reset_trace_state MapPrimitive InputType "
            "UnshapedArray DShapedArray JaxprDebugInfo extend_axis_env_nd get_referent escaped_tracer_error",
            "0.7.0": "trace_state_clean typecheck typematch",
        }.items()
        for name in names.split()
    ),
    *(
        _manual(f"jax.interpreters.pxla.{name}", "0.10.0", "use jax.sharding.NamedSharding(mesh, PartitionSpec(...))")
        for name in ["ShardingSpec", "Chunked", "NoSharding", "Replicated", "ShardedAxis", "Unstacked", "spec_to_indices"]
    ),
    *(
        _manual(f"jax.interpreters.{name}.device_put", "0.4.14", "use jax.device_put(x, sharding)")
        for name in ("pxla", "xla")
    ),
    _manual(
        "jax.interpreters.pxla.make_sharded_device_array",
        "0.4.14",
        "use jax.make_array_from_single_device_arrays(shape, sharding, arrays)",
    ),
    _manual("jax.dlpack.to_dlpack", "0.8.0", "pass the array itself: it has __dlpack__"),
)

# Expressions, where a name alone does not do.
EXPRESSIONS: dict[str, tuple[str, str, str]] = {
    # old: (name in the new text, text around it, version)
    "jax.numpy.NINF": ("jax.numpy.inf", "-{}", "0.4.24"),
    "jax.numpy.PZERO": ("", "0.0", "0.4.24"),
    "jax.numpy.NZERO": ("", "-0.0", "0.4.24"),
}

# Attributes of arrays that are gone, under names that nothing else has: (version, what stands for it today).
GONE_ATTRIBUTES: dict[str, tuple[str, str]] = {
    "device_buffer": ("0.4.27", "x.addressable_data(0)"),
    "device_buffers": ("0.4.27", "[shard.data for shard in x.addressable_shards]"),
    "block_host_until_ready": ("0.4.1", "x.block_until_ready()"),
    "unsafe_raw_array": ("0.4.24", "jax.random.key_data(key)"),
}

# Flags that today's jax does not know: setting them raises AttributeError. Version of removal, what became of it.
DEAD_FLAGS: dict[str, tuple[str, str]] = {
    "jax_array": ("0.4.14", "jax.Array is all there is"),
    "jax_jit_pjit_api_merge": ("0.4.14", "jit and pjit are one"),
    "jax_parallel_functions_output_gda": ("0.4.26", "arrays are jax.Array"),
    "jax_experimental_name_stack": ("0.3.25", "name stacks are always on"),
    "jax_spmd_mode": ("0.7.1", "it did nothing by then"),
    "jax_new_checkpoint": ("0.5.0", "the new jax.checkpoint is the only one"),
    "jax_remat_opt_barrier": ("0.5.0", "it did nothing by then"),
    "jax_omnistaging": ("0.2.12", "omnistaging is always on"),
    "jax_coordination_service": ("0.4.14", "the coordination service is always on"),
    "jax_unique_mhlo_module_names": ("0.4.14", "it did nothing by then"),
    "jax_host_callback_ad_transforms": ("0.4.16", "host_callback is gone"),
    "jax_host_callback_legacy": ("0.8.0", "host_callback is gone"),
    "jax_host_callback_inline": ("0.8.0", "host_callback is gone"),
    "jax_host_callback_outfeed": ("0.8.0", "host_callback is gone"),
    "jax_enable_memories": ("0.5.0", "memories are always on"),
    "jax_eager_pmap": ("0.6.0", "eager pmap is always on"),
    "jax_pmap_shmap_merge": ("0.10.0", "pmap is always jit of shard_map"),
    "jax_pmap_no_rank_reduction": ("0.9.0", "it is always on"),
    "jax_data_dependent_tracing_fallback": ("0.5.0", "there is one tracing machinery"),
    "jax_collectives_common_channel_id": ("0.9.0", "it did nothing by then"),
    "jax_safer_randint": ("0.7.2", "it is always on"),
    "jax_cpu_enable_gloo_collectives": ("0.8.0", "jax_cpu_collectives_implementation chooses; gloo is the default"),
    "jax_sharding_in_types": ("0.6.0", "shardings are part of types where the mesh is Explicit"),
    "experimental_cpp_jit": ("0.4.9", "it is always on"),
    "experimental_cpp_pjit": ("0.4.9", "it is always on"),
    "experimental_cpp_pmap": ("0.4.9", "it is always on"),
}

BY_NAME: dict[str, Gone] = {entry.old: entry for entry in GONE}


def lookup(dotted: str) -> tuple[Gone, str | None] | None:
    """The entry for a dotted name, and the name that it has become; longest match wins, modules match as prefixes."""
    exact = BY_NAME.get(dotted)
    if exact is not None:
        return exact, exact.new
    head = dotted
    while "." in head:
        head, _, _ = head.rpartition(".")
        entry = BY_NAME.get(head)
        if entry is not None and entry.module:
            moved = f"{entry.new}{dotted[len(head) :]}" if entry.new else None
            again = BY_NAME.get(moved) if moved else None
            return (again, again.new) if again is not None else (entry, moved)  # what it moved to may be gone by now
        if entry is not None:  # an attribute of a class that moved: the class' own node is replaced
            return None
    return None
