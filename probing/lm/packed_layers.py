"""Linear layers with weights in the order in which the processor's matrix kernels read them.

PyTorch lays weights out row by row, and its float32 products on a CPU rearrange them in every call.
oneDNN, which comes with PyTorch, can rearrange them once: sentence by sentence that is two to three
times as fast, and in batches by a fifth or more. The products differ in the last digits at most.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from probing.lm.examination import agrees, trial_row

#: Rows of a product that the order is chosen for; any other number of rows gets the same products.
_ROWS = 512


class PackedLinear(nn.Module):
    """A linear layer for inference, whose weights only oneDNN can read.

    Whatever else computes with `weight` raises; its shape, dtype and device can be asked for.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        # As PyTorch's own compiler does.
        packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _ROWS)
        self.register_buffer("weight", packed, persistent=False)
        self.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return values W^T + b, (…, out_features), for (…, in_features)."""
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            values, self.weight, self.bias, "none", [], ""
        )
        return found

    def unpacked(self) -> nn.Linear:
        """Return the layer as PyTorch lays it out, with the same numbers."""
        linear = nn.Linear(self.in_features, self.out_features, bias=False, device="meta")
        linear.weight = nn.Parameter(self.weight.to_dense(), requires_grad=False)  # type: ignore[operator]
        linear.bias = self.bias  # type: ignore[assignment]
        return linear

    def extra_repr(self) -> str:
        """Return the layer's size for PyTorch's printed summary."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


def pack_linear_layers(body: nn.Module, *, but: Any = None) -> int:
    """Replace the linear layers of a model's body in place, without `but`; returns how many.

    0, and nothing replaced, where packing serves nothing: on a GPU, in other numbers than float32,
    on other processors. For inference alone; a layer at a time, so that memory holds one of them
    twice at most.
    """
    if not _can_pack():
        return 0

    def pack(layer: nn.Module) -> nn.Module | None:
        # A subclass may do more than a product.
        if layer is but or not isinstance(getattr(layer, "weight", None), nn.Parameter):
            return None
        weight: Any = layer.weight
        if type(layer) is Conv1D:
            weight = weight.T.contiguous()
        elif type(layer) is not nn.Linear:
            return None
        return PackedLinear(weight, layer.bias) if _is_plain(weight) else None

    return _replace(body, pack)


def pack_model(model: Any) -> int:
    """Pack a causal model, or an encoder and decoder, if a short text keeps its logits."""
    given = {"input_ids": trial_row(model)}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = given["input_ids"]
    return pack_where_alike(model, lambda: model(**given).logits)


def pack_encoder(model: Any) -> int:
    """Pack an encoder without a head if a short text keeps its states."""
    row = trial_row(model)
    return pack_where_alike(model, lambda: model(input_ids=row)[0])


def pack_where_alike(model: nn.Module, read: Callable[[], torch.Tensor]) -> int:
    """Pack the layers below a model's output layer if what `read` returns stays the same.

    Some families compute with the weights of their layers themselves; theirs are left, or laid
    out, as they were. Returns how many layers are packed.
    """
    if not _can_pack():
        return 0
    with torch.inference_mode():
        expected = read()
        packed = pack_linear_layers(model, but=_head(model))
        if packed and not agrees(read, expected):
            _replace(model, lambda one: one.unpacked() if isinstance(one, PackedLinear) else None)
            return 0
    return packed


def _head(model: Any) -> Any:
    try:
        return model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        return None


def _replace(body: nn.Module, other: Callable[[nn.Module], nn.Module | None]) -> int:
    """Put others in the place of a body's modules; one that stands in several places stays one."""
    found: dict[nn.Module, nn.Module | None] = {}
    replaced = 0
    for parent in list(body.modules()):
        for name, child in list(parent._modules.items()):
            if child is None:
                continue
            if child not in found:
                found[child] = other(child)
            if (new := found[child]) is not None:
                setattr(parent, name, new)
                replaced += 1
    return replaced


def _can_pack() -> bool:
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and torch.backends.mkldnn.is_available() and bool(torch.backends.mkldnn.enabled)


def _is_plain(weight: Any) -> bool:
    return bool(weight.device.type == "cpu" and weight.dtype == torch.float32)
