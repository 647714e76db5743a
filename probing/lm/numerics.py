"""Log probabilities out of logits: in float64, over the whole vocabulary."""

from __future__ import annotations

import torch

#: Numbers of one block of logits that are widened to float64 at a time (256 MB).
_BLOCK = 1 << 25


def widen(logits: torch.Tensor) -> torch.Tensor:
    """Return `logits` in float64; MPS has none, so from there they go to the CPU."""
    return (logits.cpu() if logits.device.type == "mps" else logits).double()


def at_least_float32(values: torch.Tensor) -> torch.Tensor:
    """Return values as float32, or as they are in float64: half precision is too coarse."""
    return values if values.dtype == torch.float64 else values.float()


def log_softmax(logits: torch.Tensor) -> torch.Tensor:
    """Return ln P over the last axis, in float64."""
    return torch.log_softmax(widen(logits), dim=-1)


def pick_logprobs(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return ln P of one target per row of `logits` (n, vocabulary), as (n,) float64 on the CPU."""
    rows = max(1, _BLOCK // logits.shape[-1])
    found = [
        log_softmax(part).gather(1, wanted[:, None].to(part.device))[:, 0].cpu()
        for part, wanted in zip(logits.split(rows), targets.split(rows), strict=True)
    ]
    return torch.cat(found) if found else torch.empty(0, dtype=torch.float64)


def pick_many_logprobs(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return ln P of the same targets (k,) in every row of `logits`, (n, k) float64 on the CPU."""
    rows = max(1, _BLOCK // logits.shape[-1])
    found = []
    for part in map(widen, logits.split(rows)):
        norms = torch.logsumexp(part, dim=1, keepdim=True)
        found.append((part[:, targets.to(part.device)] - norms).cpu())
    return torch.cat(found)
