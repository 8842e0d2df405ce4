"""Library functions by what they do to shapes: data for migrate.linen.shapes. Names without their module."""

from __future__ import annotations

import math

# Numbers of numpy, jax.numpy and math; not those that Python has no literal for.
NUMBERS = {"pi": math.pi, "e": math.e, "tau": math.tau, "euler_gamma": 0.5772156649015329}

# jax.numpy and numpy: the result has the first argument's shape; other arguments are scalars or flags.
NUMPY_UNARY = """
abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh around asin asinh astype atan atanh bitwise_invert
bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs fix floor i0 imag invert isfinite
isin isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not nan_to_num negative positive rad2deg radians real
reciprocal rint round sign signbit sin sinc sinh sqrt square tan tanh trunc unwrap
"""

# Broadcast over the first two arguments.
NUMPY_BINARY = """
add arctan2 atan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide fmax fmin
fmod greater greater_equal heaviside hypot isclose ldexp left_shift less less_equal logaddexp logaddexp2 logical_and
logical_or logical_xor maximum minimum mod multiply nextafter not_equal pow power remainder right_shift subtract
true_divide
"""

# Reductions: (a, axis, dtype, out, keepdims, ...); the order of the parameters differs, see REDUCTION_SIGNATURES.
REDUCTION_SIGNATURES = {
    "a axis dtype out keepdims initial where promote_integers": "sum prod nansum nanprod",
    "a axis dtype out keepdims where": "mean nanmean",
    "a axis dtype out ddof keepdims where": "std var nanstd nanvar",
    "a axis out keepdims initial where": "max min amax amin nanmax nanmin",
    "a axis out keepdims where": "all any",
    "a axis out overwrite_input keepdims": "median nanmedian",
    "a axis keepdims": "count_nonzero",
}

# jax.lax
LAX_UNARY = """
abs acos acosh asin asinh atan atanh cbrt ceil conj convert_element_type cos cosh cummax cummin cumprod cumsum
cumlogsumexp digamma erf erf_inv erfc exp exp2 expm1 floor imag integer_pow is_finite lgamma log log1p logistic neg
population_count real reciprocal reduce_precision round rsqrt sign sin sinh sqrt square stop_gradient tan tanh rev
optimization_barrier pmean pmax pmin ppermute pcast pvary with_sharding_constraint
"""
LAX_BINARY = "add atan2 bitwise_and bitwise_or bitwise_xor complex div eq ge gt le lt max min mul ne nextafter pow rem sub"

# jax.nn and flax.linen activations: elementwise in the first argument.
ACTIVATIONS = """
celu elu gelu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax mish normalize relu relu6
selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh identity
"""

# Functions that return their first argument, whatever it is (an array, a tuple of arrays, ...).
IDENTITY = """
jax.lax.stop_gradient jax.lax.with_sharding_constraint jax.lax.optimization_barrier jax.lax.pmean
jax.lax.pmax jax.lax.pmin jax.lax.pcast jax.lax.pvary jax.device_put jax.block_until_ready
jax.ad_checkpoint.checkpoint_name jax.experimental.pjit.with_sharding_constraint
flax.linen.with_logical_constraint flax.linen.partitioning.with_sharding_constraint
flax.linen.spmd.with_logical_constraint flax.linen.unbox flax.core.unfreeze flax.core.freeze jax.numpy.copy
"""

# jax.random: parameters after the key.
RANDOM_SIGNATURES = {
    "key shape dtype": "normal exponential gumbel laplace logistic cauchy rademacher bits maxwell",
    "key shape dtype minval maxval": "uniform",
    "key p shape": "bernoulli",
    "key shape minval maxval dtype": "randint",
    "key lower upper shape dtype": "truncated_normal",
    "key a shape dtype": "gamma loggamma",
    "key lam shape dtype": "poisson",
    "key df shape dtype": "t chisquare",
    "key b shape dtype": "pareto",
    "key a b shape dtype": "beta",
}

# Array methods that are the jax.numpy function with the array as its first argument.
ARRAY_METHODS = """
all any argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot max mean min prod ptp ravel repeat round
sort squeeze std sum swapaxes take transpose var
"""

# What `hasattr` finds on a jax.Array or a traced one, besides `ARRAY_METHODS`.
ARRAY_ATTRIBUTES = """
T addressable_data addressable_shards argpartition astype at aval block_until_ready byteswap choose compress copy
copy_to_host_async delete device devices dtype flat flatten format global_shards imag is_deleted is_fully_addressable
is_fully_replicated is_ready item itemsize mT nbytes ndim nonzero on_device_size_in_bytes real reshape searchsorted shape
sharding size to_device tobytes tolist trace view weak_type
"""

# Methods of str that are evaluated on constants.
STR_METHODS = """
startswith endswith lower upper strip lstrip rstrip split replace join removeprefix removesuffix title capitalize
isdigit format find count
"""
