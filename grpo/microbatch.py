"""A step's groups, cut into pieces that fit into memory. The step's gradient does not depend on where the cuts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grpo.rollout import Group


@dataclass
class Microbatch:
    """What one forward and backward pass works on: B completions in some groups (or parts of groups).

    advantages: (B,). sampler_logprobs: (B, T), right-padded with 0, as the sampler reported them.
    old_logprobs, ref_logprobs: (B, T), filled in the first pass and kept for the further passes over the batch.
    exact_kl: (B, T) with gradient, filled anew in every pass (--kl-estimator exact).
    """

    groups: list[Group]
    advantages: Tensor
    sampler_logprobs: Tensor = field(init=False)
    old_logprobs: Tensor | None = None
    ref_logprobs: Tensor | None = None
    exact_kl: Tensor | None = None

    def __post_init__(self) -> None:
        rows = [torch.tensor(one.logprobs) for group in self.groups for one in group.completions]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        self.sampler_logprobs = padded.to(self.advantages.device)


def microbatches(groups: Sequence[Group], advantages: Tensor, tokens: int, packed: bool = True) -> list[Microbatch]:
    """Groups and their advantages (G, K), in order, in as few micro-batches as the budget of tokens allows.

    tokens: the most tokens, padding included, whose activations are held at once. A group that exceeds it by itself is
        split into parts with the same prompt, which is as exact; one completion is the least.
    """
    pieces = [
        piece for group, row in zip(groups, advantages, strict=True) for piece in _split(group, row, tokens, packed)
    ]
    batches: list[Microbatch] = []
    current: list[tuple[Group, Tensor]] = []
    for piece in pieces:
        if current and _cost([group for group, _ in [*current, piece]], packed) > tokens:
            batches.append(_join(current))
            current = []
        current.append(piece)
    if current:
        batches.append(_join(current))
    return batches


def _split(group: Group, advantages: Tensor, tokens: int, packed: bool) -> list[tuple[Group, Tensor]]:
    pieces = []
    start = 0
    for end in range(1, len(group.completions) + 1):
        longer = Group(group.prompt_ids, group.completions[start : end + 1])
        if end == len(group.completions) or _cost([longer], packed) > tokens:
            pieces.append((Group(group.prompt_ids, group.completions[start:end]), advantages[start:end]))
            start = end
    return pieces


def _cost(groups: Sequence[Group], packed: bool) -> int:
    """Tokens that go through the model: a row per group where packed, else a padded row per completion."""
    tokens = 0
    for group in groups:
        lengths = [len(one.token_ids) for one in group.completions]
        prompt = len(group.prompt_ids)
        tokens += prompt + sum(lengths) if packed else len(lengths) * (prompt + max(lengths))
    return tokens


def _join(pieces: Sequence[tuple[Group, Tensor]]) -> Microbatch:
    return Microbatch([group for group, _ in pieces], torch.cat([advantages for _, advantages in pieces]))
