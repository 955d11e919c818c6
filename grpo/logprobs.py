"""Log-probs of sampled tokens under a model: the numbers that the whole update is made of.

Sampling under a grammar and at a temperature draws from

    pi(a | s) = softmax over the allowed tokens of (logits / temperature)

so this is what is computed and differentiated here; the usual trainer's full-vocabulary log-prob is `grammar=None`.
A token that was the only choice has log-prob exactly 0 and gradient exactly 0.

The prompt is computed once per group (see grpo.packing). Only hidden states that predict a sampled token reach the LM
head, in chunks whose logits are computed again in the backward pass, so memory does not grow with tokens x vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from grpo.grammar import GrammarError, TokenGrammar, unpack
from grpo.kl import exact_kl
from grpo.packing import pack_group, pad_group
from grpo.rollout import Group

# Entries of one chunk's logits: 64 MiB in float32, a few times over while it is worked on.
CHUNK_LOGITS = 2**24


class TokenLogprobs(NamedTuple):
    """Per-token results, right-padded: B = all completions in group order, T = the longest of them.

    logprobs: (B, T) float32, nats, with gradient; 0 where padded.
    entropy: (B, T) float32, nats, without gradient: of the distribution that each token was drawn from (after grammar
        and temperature), summed over the vocabulary, no estimate; 0 where padded.
    mask: bool (B, T), True at sampled tokens. Made from lengths: no token value has a meaning here, so the final
        end-of-sequence token counts, and padding that looks like one does not.
    """

    logprobs: Tensor
    entropy: Tensor
    mask: Tensor


def token_logprobs(
    model: PreTrainedModel,
    groups: Sequence[Group],
    *,
    grammar: TokenGrammar | None = None,
    temperature: float = 1.0,
    packed: bool = True,
) -> TokenLogprobs:
    """Log-prob and entropy of every sampled token of some groups.

    grammar: what the completions were sampled under; None means the full vocabulary, whatever they were sampled under.
    temperature: what they were sampled at.
    packed: False computes prompt and completion afresh for each completion: K times the prompt's work, equal results.
    Raises GrammarError where a sampled id is not allowed by the grammar, and ValueError for groups without tokens, a
    temperature that is not positive, or a model whose logits are not simply LM head times hidden state.
    """
    _check(model, groups, temperature)
    tokens = _SampledTokens(groups, grammar, _device(model))
    hidden = _hidden_states(model, groups, packed)
    head = model.get_output_embeddings()

    def of_chunk(hidden: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
        logp = _log_softmax(head(hidden), tokens.allowed(rows), temperature)
        with torch.no_grad():
            entropy = torch.special.entr(logp.exp()).sum(-1)
        return logp.gather(-1, tokens.ids[rows, None]).squeeze(-1), entropy

    logprobs, entropy = _in_chunks(of_chunk, hidden, head.weight.shape[0])
    return TokenLogprobs(tokens.to_rows(logprobs), tokens.to_rows(entropy.detach()), tokens.mask)


def exact_kl_per_token(
    model: PreTrainedModel,
    reference: PreTrainedModel,
    groups: Sequence[Group],
    *,
    grammar: TokenGrammar | None = None,
    temperature: float = 1.0,
) -> Tensor:
    """KL(policy || reference), summed over the vocabulary, at every sampled token: (B, T) as in TokenLogprobs, nats.

    The gradient goes to `model` only. Costs a forward pass of each model, so ask for it instead of an estimate.
    """
    _check(model, groups, temperature)
    tokens = _SampledTokens(groups, grammar, _device(model))
    hidden = _hidden_states(model, groups, packed=True)
    with torch.no_grad():
        reference_hidden = _hidden_states(reference, groups, packed=True)
    head, reference_head = model.get_output_embeddings(), reference.get_output_embeddings()

    def of_chunk(hidden: Tensor, rows: slice) -> tuple[Tensor]:
        with torch.no_grad():
            reference_logits = reference_head(reference_hidden[rows]).float() / temperature
        return (exact_kl(head(hidden).float() / temperature, reference_logits, tokens.allowed(rows)),)

    (kl,) = _in_chunks(of_chunk, hidden, head.weight.shape[0])
    return tokens.to_rows(kl)


class _SampledTokens:
    """All sampled tokens of some groups, flat (N), and the way back to (B, T)."""

    def __init__(self, groups: Sequence[Group], grammar: TokenGrammar | None, device: torch.device) -> None:
        completions = [completion.token_ids for group in groups for completion in group.completions]
        lengths = torch.tensor([len(ids) for ids in completions], device=device)
        self.ids = torch.tensor([i for ids in completions for i in ids], dtype=torch.int64, device=device)
        self.mask = torch.arange(int(lengths.max()), device=device) < lengths[:, None]
        self._bitmask: Tensor | None = None
        if grammar is not None:
            self._vocab_size = grammar.vocab_size
            self._bitmask = torch.cat(list(_replay(groups, grammar))).to(device)

    def allowed(self, rows: slice) -> Tensor | None:
        """bool (rows, V), or None where everything is."""
        return None if self._bitmask is None else unpack(self._bitmask[rows], self._vocab_size)

    def to_rows(self, flat: Tensor) -> Tensor:
        """(N,) -> (B, T), 0 where padded."""
        return flat.new_zeros(self.mask.shape).masked_scatter(self.mask, flat)


def _replay(groups: Sequence[Group], grammar: TokenGrammar) -> Iterator[Tensor]:
    for g, group in enumerate(groups):
        for k, completion in enumerate(group.completions):
            try:
                yield grammar.allowed_bitmask(completion.token_ids)
            except GrammarError as error:
                raise GrammarError(f"group {g}, completion {k}, {error}") from error


def _hidden_states(model: PreTrainedModel, groups: Sequence[Group], packed: bool) -> Tensor:
    """(N, hidden): the last hidden state that predicts each sampled token. One forward pass per group."""
    decoder, device = model.get_decoder(), _device(model)
    parts = []
    for group in groups:
        layout = pack_group(group, device) if packed else pad_group(group, device)
        # use_cache=False also where a model's config says otherwise: nothing is generated here.
        output = decoder(
            input_ids=layout.input_ids,
            attention_mask=layout.attention_mask,
            position_ids=layout.position_ids,
            use_cache=False,
        )
        parts.append(output.last_hidden_state.flatten(0, 1)[layout.predictors])
    return torch.cat(parts)


def _log_softmax(logits: Tensor, allowed: Tensor | None, temperature: float) -> Tensor:
    """(N, V) in any dtype -> float32 log-probs of logits / temperature over the allowed tokens; -inf elsewhere."""
    logits = logits.float() / temperature
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -torch.inf)
    return torch.log_softmax(logits, dim=-1)


def _in_chunks(function: Callable[..., tuple[Tensor, ...]], hidden: Tensor, vocab_size: int) -> tuple[Tensor, ...]:
    """Applies function(hidden[rows], rows) to slices of rows and joins what it returns.

    With more than one chunk, a chunk's logits are dropped and computed again in the backward pass: about a fifth more
    work in the head, for memory that does not grow with the number of tokens.
    """
    size = max(1, CHUNK_LOGITS // vocab_size)
    chunks = [slice(start, start + size) for start in range(0, hidden.shape[0], size)]
    if len(chunks) == 1 or not torch.is_grad_enabled():
        parts = [function(hidden[rows], rows) for rows in chunks]
    else:
        parts = [
            checkpoint(function, hidden[rows], rows, use_reentrant=False, preserve_rng_state=False) for rows in chunks
        ]
    return tuple(torch.cat(part) for part in zip(*parts, strict=True))


def _device(model: PreTrainedModel) -> torch.device:
    return next(model.parameters()).device


def _check(model: PreTrainedModel, groups: Sequence[Group], temperature: float) -> None:
    if not temperature > 0:
        raise ValueError(f"temperature {temperature}: must be above 0 (greedy completions are scored at temperature 1)")
    for number, group in enumerate(groups):
        if not group.prompt_ids:
            raise ValueError(f"group {number}: the prompt has no tokens, so nothing predicts a first token")
        if not group.completions:
            raise ValueError(f"group {number}: no completions")
    if not any(completion.token_ids for group in groups for completion in group.completions):
        raise ValueError("no sampled tokens in these groups")
    for name in ("final_logit_softcapping", "logit_scale", "logits_scaling"):
        if getattr(model.config, name, None) not in (None, 1, 1.0):
            raise ValueError(f"models that change their logits after the LM head ({name}) are not supported")
