"""Output sizes of convolutions and pooling: exact for every padding, stride and dilation."""

from __future__ import annotations

from collections.abc import Sequence

from ..values.dims import Dim, DimLike
from .shape_ops import stop

# One entry per spatial dimension, or a name: SAME, SAME_LOWER, VALID, CIRCULAR, REFLECT, CAUSAL.
Padding = str | Sequence[tuple[DimLike, DimLike]]


def dilated(size: DimLike, dilation: DimLike) -> Dim:
    """The extent of a kernel (or of an input) with holes."""
    return (Dim.of(size) - 1) * dilation + 1


def window_dim(
    size: Dim | None,
    window: Dim | None,
    stride: Dim | None,
    padding: str | tuple[DimLike, DimLike],
    *,
    window_dilation: DimLike = 1,
    input_dilation: DimLike = 1,
) -> Dim | None:
    """One spatial output size: ceil(n / s) for SAME, floor((n + pads - k) / s) + 1 for explicit padding."""
    if size is None or stride is None:
        return None
    extent = dilated(size, input_dilation)
    if isinstance(padding, str):
        name = padding.upper()
        if name in ("SAME", "SAME_LOWER"):
            return extent.ceil_div(stride)
        if name in ("CIRCULAR", "REFLECT", "CAUSAL"):  # k - 1 in all, then VALID
            return (extent - 1) // stride + 1
        if name != "VALID":
            raise stop(f"padding {padding!r}")
        padding = (0, 0)
    if window is None:
        return None
    return (extent + padding[0] + padding[1] - dilated(window, window_dilation)) // stride + 1


def _entries(padding: Padding, count: int) -> list[str | tuple[DimLike, DimLike]]:
    if isinstance(padding, str):
        return [padding] * count
    if len(padding) != count:
        raise stop(f"{len(padding)} paddings for {count} dimensions")
    return list(padding)


def conv_output_dims(
    spatial: Sequence[Dim | None],
    kernel: Sequence[Dim | None],
    strides: Sequence[Dim | None] | None = None,
    padding: Padding = "SAME",
    *,
    input_dilation: Sequence[DimLike] | None = None,
    kernel_dilation: Sequence[DimLike] | None = None,
) -> tuple[Dim | None, ...]:
    """Spatial output sizes of `nn.Conv`, `lax.conv_general_dilated`. Raises Stop for a padding of another kind."""
    count = len(spatial)
    steps = strides or [Dim.of(1)] * count
    if not len(kernel) == len(steps) == count:
        raise stop(f"a kernel of {len(kernel)} dimensions and {len(steps)} strides over {count} dimensions")
    return tuple(
        window_dim(
            spatial[i],
            kernel[i],
            steps[i],
            pads,
            window_dilation=kernel_dilation[i] if kernel_dilation else 1,
            input_dilation=input_dilation[i] if input_dilation else 1,
        )
        for i, pads in enumerate(_entries(padding, count))
    )


def pool_output_dims(
    spatial: Sequence[Dim | None],
    window: Sequence[Dim | None],
    strides: Sequence[Dim | None] | None = None,
    padding: Padding = "VALID",
) -> tuple[Dim | None, ...]:
    """Spatial output sizes of `nn.max_pool` and its kin (strides default to 1, padding to VALID)."""
    return conv_output_dims(spatial, window, strides, padding)


def conv_transpose_output_dims(
    spatial: Sequence[Dim | None],
    kernel: Sequence[Dim | None],
    strides: Sequence[Dim | None] | None = None,
    padding: Padding = "SAME",
    *,
    kernel_dilation: Sequence[DimLike] | None = None,
) -> tuple[Dim | None, ...]:
    """Spatial output sizes of `nn.ConvTranspose` and `lax.conv_transpose` (explicit pads: of the dilated input)."""
    count = len(spatial)
    steps = strides or [Dim.of(1)] * count
    out: list[Dim | None] = []
    for i, pads in enumerate(_entries(padding, count)):
        size, window, step = spatial[i], kernel[i], steps[i]
        if size is None or step is None:
            out.append(None)
        elif isinstance(pads, str) and pads.upper() in ("SAME", "CIRCULAR"):
            out.append(size * step)
        elif window is None:
            out.append(None)
        else:
            extent = dilated(window, kernel_dilation[i] if kernel_dilation else 1)
            if isinstance(pads, str):
                if pads.upper() != "VALID":
                    raise stop(f"padding {pads!r} of a transposed convolution")
                out.append(size * step + (extent - step).maximum(0))
            else:
                out.append((size - 1) * step + 1 + pads[0] + pads[1] - extent + 1)
    return tuple(out)
