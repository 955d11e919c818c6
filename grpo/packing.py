"""Laying out groups for a forward pass: packed (one row per group) or padded (one row per completion).

A group is one prompt and K continuations of it:

    packed   [prompt | c1 | c2 | ... | cK]      positions of every c restart after the prompt; a token sees the prompt
                                                and its own continuation, by a 4-D attention mask
    padded   [prompt | c1]  ...  [prompt | cK]  right-padded to the longest; the plain way, and the oracle

Either way a completion's last token is left out: nothing is predicted from it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from grpo.rollout import Group


class Layout(NamedTuple):
    """One forward pass for one group.

    input_ids: (rows, L) int64. position_ids: (rows, L) int64.
    attention_mask: bool (rows, 1, L, L), True = may be seen; None = plain causal attention.
    predictors: (N,) int64, places in the flattened (rows * L) output whose hidden state predicts a sampled token; for
        every completion in order, all of its tokens in order. The prompt's last place stands there K times when packed.
    """

    input_ids: Tensor
    position_ids: Tensor
    attention_mask: Tensor | None
    predictors: Tensor


def pack_group(group: Group, device: torch.device) -> Layout:
    """One row for the whole group: the prompt is computed once, and nothing is padded."""
    prompt = len(group.prompt_ids)
    ids = list(group.prompt_ids)
    positions = list(range(prompt))
    owner = [0] * prompt
    predictors: list[int] = []
    for number, completion in enumerate(group.completions, start=1):
        start, length = len(ids), len(completion.token_ids)
        if length:
            predictors += [prompt - 1, *range(start, start + length - 1)]
        ids += completion.token_ids[:-1]
        positions += range(prompt, prompt + length - 1)
        owner += [number] * (length - 1)
    mask = None
    if len(set(owner)) > 2:
        owners = torch.tensor(owner, device=device)
        seen = (owners[None, :] == owners[:, None]) | (owners == 0)[None, :]
        mask = seen.tril()[None, None]
    return Layout(
        torch.tensor([ids], device=device),
        torch.tensor([positions], device=device),
        mask,
        torch.tensor(predictors, dtype=torch.int64, device=device),
    )


def pad_group(group: Group, device: torch.device) -> Layout:
    """One row per completion, right-padded. Padding stands after all that is read, so causal attention hides it."""
    prompt = len(group.prompt_ids)
    lengths = [len(completion.token_ids) for completion in group.completions]
    width = prompt + max(max(lengths) - 1, 0)
    rows = [(group.prompt_ids + c.token_ids[:-1] + [0] * width)[:width] for c in group.completions]
    predictors = [row * width + prompt - 1 + t for row, length in enumerate(lengths) for t in range(length)]
    return Layout(
        torch.tensor(rows, device=device),
        torch.arange(width, device=device).expand(len(rows), -1),
        None,
        torch.tensor(predictors, dtype=torch.int64, device=device),
    )
