"""The key-value cache of groups: a prompt's keys and values once, however many completions go on from it.

Repeating the prompt's cache for every completion costs n times the memory, and reading it all again for every token is
most of the time of decoding on a CPU. Here a row's query meets two parts and one softmax over both:

    scores = [ query . prompt keys (P, W)  |  query . own keys (rows, t) ]

For the prompt part the rows of one prompt are queries of one matrix product. It is exact attention (float32 whatever
the dtype of the model), differently ordered. Query heads that share a key head are treated the same way, so keys and
values are not repeated for them either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

NAME = "grpo_group"
FIRST_CAPACITY = 32  # tokens; doubled when full


class GroupCache(Cache):
    """Starts where a left-padded prefill of P prompts ended, with n rows a prompt. Rows stay in order of their prompts.

    prefilled: the prompts' cache, (P, key heads, W, head size) a layer.
    visible: bool (P, W), False at padding.
    """

    def __init__(self, prefilled: DynamicCache, visible: Tensor, n: int) -> None:
        self.parts: list[_GroupLayer] = []
        for layer in prefilled.layers:
            if not isinstance(layer, DynamicLayer) or layer.keys is None or layer.values is None:
                raise ValueError(f"a model with {type(layer).__name__} layers: only full attention can be sampled here")
            self.parts.append(_GroupLayer(layer.keys, layer.values))
        super().__init__(layers=list(self.parts))
        self.bias = torch.zeros(visible.shape, device=visible.device).masked_fill(~visible, -torch.inf)[:, None, None]
        self._lay_out(torch.arange(visible.shape[0], device=visible.device).repeat_interleave(n))

    def keep(self, rows: Tensor) -> None:
        """Goes on with these rows (indices, ascending) only; a prompt without rows goes too."""
        prompts, owner = self._owner[rows].unique(return_inverse=True)
        fewer = prompts.shape[0] < self.bias.shape[0]
        if fewer:
            self.bias = self.bias[prompts]
        for part in self.parts:
            part.keep(rows, prompts if fewer else None)
        self._lay_out(owner)

    def _lay_out(self, owner: Tensor) -> None:
        """Gives every row a slot in a (P, widest) table."""
        self._owner = owner
        counts = owner.bincount(minlength=self.bias.shape[0])
        self._widest = int(counts.max())
        rank = torch.arange(owner.shape[0], device=owner.device) - (counts.cumsum(0) - counts)[owner]
        self._slot = owner * self._widest + rank
        self._full = owner.shape[0] == counts.shape[0] * self._widest

    def by_prompt(self, rows: Tensor) -> Tensor:
        """(rows, heads, G, X) -> (P, heads, widest * G, X); empty slots are 0."""
        if not self._full:
            table = rows.new_zeros(self.bias.shape[0] * self._widest, *rows.shape[1:])
            rows = table.index_copy_(0, self._slot, rows)
        return rows.unflatten(0, (-1, self._widest)).transpose(1, 2).flatten(2, 3)

    def by_row(self, table: Tensor) -> Tensor:
        """The inverse of by_prompt."""
        rows = table.unflatten(2, (self._widest, -1)).transpose(1, 2).flatten(0, 1)
        return rows if self._full else rows[self._slot]


class _GroupLayer(DynamicLayer):
    """One layer: the prompts' keys and values, and the rows' own in a buffer that grows by doubling."""

    def __init__(self, prompt_keys: Tensor, prompt_values: Tensor) -> None:
        super().__init__()
        self.prompt_keys, self.prompt_values = prompt_keys.float(), prompt_values.float()
        self._keys: Tensor | None = None
        self._values: Tensor | None = None
        self._length = 0

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Adds one token, (rows, key heads, 1, size), and returns the rows' own so far, (rows, key heads, t, size)."""
        if self._keys is None or self._values is None:
            self._keys, self._values = _longer(key_states[:, :, :0]), _longer(value_states[:, :, :0])
        elif self._length == self._keys.shape[2]:
            self._keys, self._values = _longer(self._keys), _longer(self._values)
        self._keys[:, :, self._length] = key_states[:, :, 0]
        self._values[:, :, self._length] = value_states[:, :, 0]
        self._length += 1
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]

    def get_seq_length(self) -> int:
        return self.prompt_keys.shape[2] + self._length

    def keep(self, rows: Tensor, prompts: Tensor | None) -> None:
        if self._keys is not None and self._values is not None:
            self._keys, self._values = self._keys[rows], self._values[rows]
        if prompts is not None:
            self.prompt_keys, self.prompt_values = self.prompt_keys[prompts], self.prompt_values[prompts]


def _longer(buffer: Tensor) -> Tensor:
    """A float32 copy with room for twice as many tokens."""
    rows, heads, length, size = buffer.shape
    longer = torch.empty(rows, heads, max(FIRST_CAPACITY, 2 * length), size, device=buffer.device)
    longer[:, :, :length] = buffer
    return longer


def group_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float,
    group_cache: GroupCache,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention of one new token a row: query (rows, heads, 1, size), key and value the rows' own.

    In the form that transformers calls; group_cache is an argument of the decoder, which hands it down.
    """
    part = group_cache.parts[module.layer_idx]
    with torch.autocast(query.device.type, enabled=False):
        # (rows, key heads, queries a key head, size)
        grouped = (query.float() * scaling).reshape(query.shape[0], key.shape[1], -1, query.shape[-1])
        of_prompt = group_cache.by_prompt(grouped) @ part.prompt_keys.transpose(-1, -2) + group_cache.bias
        width = of_prompt.shape[-1]
        scores = torch.cat([group_cache.by_row(of_prompt), grouped @ key.transpose(-1, -2)], dim=-1)
        weights = scores.softmax(-1)
        of_prompt = group_cache.by_prompt(weights[..., :width]) @ part.prompt_values
        output = group_cache.by_row(of_prompt) + weights[..., width:] @ value
    # (rows, 1, heads, size)
    return output.flatten(1, 2)[:, None].to(query.dtype), None


AttentionInterface.register(NAME, group_attention)


@contextmanager
def attending_by_group(model: PreTrainedModel) -> Iterator[None]:
    """Lets the model's decoder attend with group_attention while it decodes."""
    before = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before
