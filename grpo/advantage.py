"""Rewards of a group -> advantages: how much better than its siblings each completion did.

GRPO has no value network: the group's own mean is the baseline. DeepSeekMath (arXiv 2402.03300, section 4.1.2) divides
by the group's standard deviation; Dr. GRPO (arXiv 2503.20783) shows that this weights prompts by how unevenly they are
solved, and leaves it out (scale="none").
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Scale = Literal["group", "batch", "none"]

# Rewards closer than this are the same reward, written with different rounding: sums of parts that are equal on paper
# (0.1 + 0.2 and 0.3) differ in the last digits. Eight units in the last place of the rewards' own type, at least 1e-8.
ROUNDING_UNITS = 8
SMALLEST_SPREAD = 1e-8


def group_advantages(rewards: Tensor, scale: Scale = "group", eps: float = 1e-4) -> Tensor:
    """A[g, k] = (r[g, k] - mean_k r[g]) / (std + eps), and exactly 0 throughout a degenerate group.

    rewards: (G, K), any real type; G groups of K completions each. Returns (G, K) float32, without gradient.
    scale: what std is. "group": of the group's K rewards. "batch": of all G * K rewards (the mean stays the group's).
        "none": no division at all, A = r - mean. Standard deviations have ddof 1. With several processes, "batch" needs
        the rewards of all of them.
    eps: in units of reward; bounds what a small spread is blown up to.

    A degenerate group (see degenerate_groups; K = 1 is one) gives 0 and never NaN, whatever the scale.
    TRL computes the same numbers, but for rounding noise, which it gives an advantage of noise / 1e-4: small, but an
    optimizer that normalises gradients, as AdamW does, would make a full step of it.

    Raises ValueError for a wrong shape, an unknown scale, or a reward that is NaN or infinite (names the first).
    """
    if scale not in ("group", "batch", "none"):
        raise ValueError(f'scale is {scale!r}; it must be "group", "batch" or "none"')
    degenerate = degenerate_groups(rewards)
    values = rewards.detach().double()
    centred = values - values.mean(dim=1, keepdim=True)
    if scale == "group" and values.shape[0] > 0 and values.shape[1] > 1:
        centred = centred / (values.std(dim=1, keepdim=True) + eps)
    elif scale == "batch" and values.numel() > 1:
        centred = centred / (values.std() + eps)
    return centred.masked_fill(degenerate[:, None], 0.0).float()


def degenerate_groups(rewards: Tensor) -> Tensor:
    """Which groups teach nothing because all their rewards are equal. rewards (G, K) -> bool (G,).

    Equal means max == min up to rounding: a spread of at most 1e-8, or of 8 units in the last place of the largest
    reward in the tensor's own type (9.5e-7 for float32 rewards near 1). Raises ValueError as group_advantages does.
    """
    if rewards.dim() != 2 or rewards.shape[1] == 0:
        raise ValueError(f"rewards have shape {tuple(rewards.shape)}; they must be (groups, completions per group)")
    values = rewards.detach().double()
    if not torch.isfinite(values).all():
        group, completion = (~torch.isfinite(values)).nonzero()[0].tolist()
        raise ValueError(
            f"the reward of group {group}, completion {completion} is {values[group, completion].item()}; "
            "rewards must be finite: the task's score is at fault"
        )
    precision = torch.finfo(rewards.dtype if rewards.is_floating_point() else torch.float64).eps
    rounding = (ROUNDING_UNITS * precision * values.abs().amax(dim=1)).clamp(min=SMALLEST_SPREAD)
    return values.amax(dim=1) - values.amin(dim=1) <= rounding
