"""Linear layers with weights in the order in which the processor's matrix kernels read them.

PyTorch lays weights out row by row, and its float32 products on a CPU rearrange them in every call.
oneDNN, which comes with PyTorch, can rearrange them once: sentence by sentence that is two to three
times as fast, and in batches by a fifth or more. The products differ in the last digits at most.
"""

from __future__ import annotations

import platform
from typing import Any

import torch
from torch import nn

#: Rows of a product that the order is chosen for; any other number of rows gets the same products.
_ROWS = 512


class PackedLinear(nn.Module):
    """A linear layer for inference, whose weights only oneDNN can read."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        # As PyTorch's own compiler does; a plain attribute, since it is no tensor to be moved.
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), _ROWS)
        self._bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return values W^T + b, (…, out_features), for (…, in_features)."""
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            values, self._packed, self._bias, "none", [], ""
        )
        return found

    def extra_repr(self) -> str:
        """Return the layer's size for PyTorch's printed summary."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


def pack_linear_layers(body: nn.Module) -> int:
    """Replace the linear layers of a model's body in place; returns how many.

    0, and nothing replaced, where packing serves nothing: on a GPU, in other numbers than float32,
    on other processors. For inference alone; a layer at a time, so that memory holds one of them
    twice at most.
    """
    if not _can_pack():
        return 0
    packed = 0
    for parent in list(body.modules()):
        for name, child in parent.named_children():
            # A subclass may do more than a product.
            if type(child) is nn.Linear and _is_plain(child.weight):
                setattr(parent, name, PackedLinear(child))
                packed += 1
    return packed


def _can_pack() -> bool:
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)


def _is_plain(weight: Any) -> bool:
    return bool(weight.device.type == "cpu" and weight.dtype == torch.float32)
