"""Kernels whose shape ends in known sizes: convolutions by hand give as many features."""

import jax
import jax.numpy as jnp
import flax.linen as nn
from typing import Optional, Union, Tuple, Callable, Sequence
class Depthwise(nn.Module):
    kernel_shape: Union[int, Sequence[int]] = (1, 1)
    stride: Union[int, Sequence[int]] = (1, 1)
    padding: str = "SAME"
    multiplier: int = 1
    @nn.compact
    def __call__(self, input):
        w = self.param("kernel", nn.initializers.lecun_uniform(), self.kernel_shape + (1, self.multiplier * input.shape[-1]))
        return jax.lax.conv_general_dilated(input, w, self.stride, self.padding, (1,) * len(self.kernel_shape),
            (1,) * len(self.kernel_shape), ("NHWC", "HWIO", "NHWC"), input.shape[-1])
class Depthwise2(nn.Module):
    kernel_shape: Sequence[int] = (1, 1)
    stride: Sequence[int] = (1, 1)
    @nn.compact
    def __call__(self, input):
        w = self.param("kernel", nn.initializers.lecun_uniform(), tuple(self.kernel_shape) + (1, 2 * input.shape[-1]))
        return jax.lax.conv_general_dilated(input, w, self.stride, "SAME", None, None, ("NHWC", "HWIO", "NHWC"), input.shape[-1])
class Depthwise3(nn.Module):
    kernel_shape: Sequence[int] = (1, 1)
    stride: Sequence[int] = (1, 1)
    @nn.compact
    def __call__(self, input):
        w = self.param("kernel", nn.initializers.lecun_uniform(), (*self.kernel_shape, input.shape[-1], 5))
        return jax.lax.conv_general_dilated(input, w, self.stride, "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
class Separable(nn.Module):
    features: int
    multiplier: int
    kernel_shape: Union[int, Sequence[int]]
    stride: Union[int, Sequence[int]] = 1
    use_bias: bool = True
    @nn.compact
    def __call__(self, inputs):
        depthwise = Depthwise(multiplier=self.multiplier, kernel_shape=self.kernel_shape, stride=self.stride)
        h = depthwise(inputs)
        h = Depthwise3(self.kernel_shape)(Depthwise2(self.kernel_shape)(h))
        return nn.Conv(self.features, kernel_size=[1, 1])(h)
CASES = [("Separable", {"features": 4, "multiplier": 3, "kernel_shape": (3, 3), "stride": (2, 2)}, [(2, 8, 8, 3)], {}), ("Depthwise3", {}, [(2, 8, 8, 3)], {})]
