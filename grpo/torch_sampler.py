"""TorchSampler: sampling in process, on whatever device the model is on, from the very weights that are trained.

All prompts of a call decode together in one batch. Prompts are prefilled once each, their keys and values serve all n
completions (see grpo.group_cache), and rows leave the batch as they finish.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from grpo.grammar import GrammarState, TokenGrammar, unpack
from grpo.group_cache import GroupCache, attending_by_group
from grpo.models import context_length
from grpo.rollout import Completion


class TorchSampler:
    """Samples from a live model.

    grammar: EBNF text, a TokenGrammar, or None for free-form answers (padded rows of the LM head stay excluded).
    autocast: the dtype that the trainer computes in (torch.bfloat16 on a GPU), so that both see the same logits.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        grammar: str | TokenGrammar | None = None,
        *,
        autocast: torch.dtype | None = None,
    ) -> None:
        if not isinstance(grammar, TokenGrammar):
            grammar = TokenGrammar.for_model(grammar, model, tokenizer)
        self.grammar = grammar
        self._model = model
        self._autocast = autocast

    def sync(self, model: PreTrainedModel) -> None:
        """Samples from this model from here on. Its weights are read in place, so there is nothing to copy."""
        self._model = model

    @torch.inference_mode()
    def generate(
        self,
        prompts: list[list[int]],
        n: int,
        *,
        max_tokens: int,
        temperature: float = 1.0,
        seed: int | Sequence[int] | None = None,
    ) -> list[list[Completion]]:
        """See grpo.sampler.Sampler. A completion depends on the seed, its prompt and their places in the call, not on
        what else is in the batch. Raises ValueError for what cannot be sampled.
        """
        self._check(prompts, n, max_tokens, temperature)
        if not prompts:
            return []
        was_training = self._model.training
        self._model.eval()
        try:
            with self._precision():
                rows = self._sample(prompts, n, max_tokens, temperature, seed)
        finally:
            self._model.train(was_training)
        return [rows[start : start + n] for start in range(0, len(rows), n)]

    def _sample(
        self, prompts: list[list[int]], n: int, max_tokens: int, temperature: float, seed: int | Sequence[int] | None
    ) -> list[Completion]:
        device = next(self._model.parameters()).device
        count = len(prompts) * n
        answers = [_Answer(self.grammar.matcher()) for _ in range(count)]
        uniform = uniform_draws(prompt_seeds(seed, len(prompts)), n, max_tokens).to(device) if temperature > 0 else None
        hidden, cache = self._prefill(prompts, n, device)
        positions = torch.tensor([len(prompt) for prompt in prompts for _ in range(n)], device=device)
        rows = list(range(count))  # which answer each row of the batch belongs to
        for step in range(max_tokens):
            logp = self._log_distribution(hidden, [answers[row] for row in rows], temperature or 1.0)
            chosen = logp.argmax(-1) if uniform is None else inverse_cdf(logp, uniform[rows, step])
            drawn_at = logp.gather(-1, chosen[:, None]).squeeze(-1)
            for row, token, value in zip(rows, chosen.tolist(), drawn_at.tolist(), strict=True):
                answers[row].append(token, value)
            alive = [place for place, row in enumerate(rows) if not answers[row].finished]
            if not alive or step == max_tokens - 1:
                break
            if len(alive) < len(rows):
                keep = torch.tensor(alive, device=device)
                cache.keep(keep)
                chosen, positions = chosen[keep], positions[keep]
                rows = [rows[place] for place in alive]
            hidden = self._decode(chosen, positions, cache)
            positions = positions + 1
        return [answer.completion() for answer in answers]

    def _prefill(self, prompts: list[list[int]], n: int, device: torch.device) -> tuple[Tensor, GroupCache]:
        """Every prompt once, left-padded; returns the last hidden states (P * n, hidden) and a cache of n rows each."""
        width = max(len(prompt) for prompt in prompts)
        ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts], device=device)
        padding = torch.tensor([[width - len(prompt)] for prompt in prompts], device=device)
        places = torch.arange(width, device=device)
        visible = places >= padding
        cache = DynamicCache()
        output = self._model.get_decoder()(
            input_ids=ids,
            attention_mask=visible.long(),
            position_ids=(places - padding).clamp(min=0),
            past_key_values=cache,
            use_cache=True,
        )
        return output.last_hidden_state[:, -1].repeat_interleave(n, dim=0), GroupCache(cache, visible, n)

    def _decode(self, token_ids: Tensor, positions: Tensor, cache: GroupCache) -> Tensor:
        """One token a row through the decoder: (rows,), (rows,) -> hidden states (rows, hidden)."""
        with attending_by_group(self._model):
            output = self._model.get_decoder()(
                input_ids=token_ids[:, None],
                # Already 4-D, so that no mask is made of it: the cache itself knows what a row may see.
                attention_mask=token_ids.new_ones(1, 1, 1, 1, dtype=torch.bool),
                position_ids=positions[:, None],
                past_key_values=cache,
                use_cache=True,
                group_cache=cache,
            )
        return output.last_hidden_state[:, -1]

    def _log_distribution(self, hidden: Tensor, answers: Sequence[_Answer], temperature: float) -> Tensor:
        """(rows, V) float32: the log-probs that the next tokens are drawn from; -inf where not allowed."""
        bitmask = torch.empty(len(answers), self.grammar.possible_bitmask.shape[0], dtype=torch.int32)
        for row, answer in enumerate(answers):
            answer.state.fill(bitmask, row)
        allowed = unpack((bitmask & self.grammar.possible_bitmask).to(hidden.device), self.grammar.vocab_size)
        logits = self._model.get_output_embeddings()(hidden).float() / temperature
        return torch.log_softmax(logits.masked_fill(~allowed, -torch.inf), dim=-1)

    def _precision(self) -> AbstractContextManager:
        if self._autocast is None:
            return nullcontext()
        return torch.autocast(next(self._model.parameters()).device.type, dtype=self._autocast)

    def _check(self, prompts: list[list[int]], n: int, max_tokens: int, temperature: float) -> None:
        if n < 1:
            raise ValueError(f"n is {n}: at least one completion a prompt must be asked for")
        if max_tokens < 1:
            raise ValueError(f"max_tokens is {max_tokens}: a completion has at least one token")
        if not 0 <= temperature < float("inf"):
            raise ValueError(f"temperature is {temperature}: it must be 0 (greedy) or above, and finite")
        if temperature == 0 and n > 1:
            raise ValueError(f"n is {n} at temperature 0: greedy completions of one prompt are all the same; ask for 1")
        context = context_length(self._model)
        for number, prompt in enumerate(prompts):
            if not prompt:
                raise ValueError(f"prompt {number} has no tokens")
            if context is not None and len(prompt) + max_tokens > context:
                raise ValueError(
                    f"prompt {number} has {len(prompt)} tokens, which with max_tokens {max_tokens} is more than the "
                    f"model's context of {context}; shorten it or lower max_tokens"
                )


class _Answer:
    """A completion in the making."""

    def __init__(self, state: GrammarState) -> None:
        self.state = state
        self.token_ids: list[int] = []
        self.logprobs: list[float] = []

    @property
    def finished(self) -> bool:
        return self.state.terminated

    def append(self, token_id: int, logprob: float) -> None:
        if not self.state.accept(token_id):
            raise RuntimeError(f"sampled token {token_id}, which the grammar does not allow: are the weights finite?")
        self.token_ids.append(token_id)
        self.logprobs.append(logprob)

    def completion(self) -> Completion:
        return Completion(self.token_ids, self.logprobs, "stop" if self.finished else "length")


def prompt_seeds(seed: int | Sequence[int] | None, prompts: int) -> list[str]:
    """One seed a prompt: its own where there is a list; else made of the call's seed and the prompt's place in it."""
    if isinstance(seed, Sequence):
        if len(seed) != prompts:
            raise ValueError(f"{len(seed)} seeds for {prompts} prompts: give one seed, or one for each prompt")
        return [str(own) for own in seed]
    if seed is None:
        seed = int(torch.randint(2**62, ()))
    return [f"{seed}/{place}" for place in range(prompts)]


def uniform_draws(seeds: Sequence[str], n: int, max_tokens: int) -> Tensor:
    """(prompts * n, max_tokens) float64 in [0, 1): every row from a generator of its own.

    One seed for a whole group, or one draw for all rows, would make a group's completions equal; one generator for the
    batch would make a completion depend on its neighbours.
    """
    rows = []
    for seed in seeds:
        for k in range(n):
            digest = hashlib.blake2b(f"{seed}:{k}".encode(), digest_size=8).digest()
            generator = torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
            rows.append(torch.rand(max_tokens, generator=generator, dtype=torch.float64))
    return torch.stack(rows)


def inverse_cdf(logp: Tensor, uniform: Tensor) -> Tensor:
    """Draws one id a row: the first whose cumulative probability exceeds the uniform number. (R, V), (R,) -> (R,).

    In float64, because 50,000 probabilities added up in float32 are off by more than the rarest of them. An id of
    probability 0 is never drawn. Raises ValueError for log-probs that are NaN: no id would be right.
    """
    cdf = logp.exp().cumsum(-1, dtype=torch.float64)
    total = cdf[:, -1:]
    if not torch.isfinite(total).all():
        raise ValueError("the model's probabilities are NaN, so nothing can be sampled: are its weights finite?")
    target = torch.minimum(uniform[:, None] * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cdf, target, right=True).squeeze(-1)
