"""What the tests of the vLLM sampler share: when they run, a short grammar, and how far apart two log-probs are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from grpo.grammar import TokenGrammar
from grpo.logprobs import token_logprobs
from grpo.rollout import Completion, Group
from grpo.vllm_engine import vllm_missing

NEEDS_VLLM = [
    pytest.mark.vllm,
    pytest.mark.skipif(vllm_missing() is not None, reason="vLLM is not installed; `make test-vllm` installs it"),
]
# Strings over the whole alphabet, a choice and a repetition; an answer may end early or run on.
EBNF = (
    'root ::= "[" (item ("," item)*)? "]"\nitem ::= "{" [a-z] [^"{}\\x00-\\x1f]* ":" ("PERSON" | "PHONE" | "PIN") "}"'
)
PROMPTS = [[5, 6, 7, 8, 9] * 20, [40, 41], [60, 61, 62]]


def groups_of(prompts: Sequence[list[int]], rows: Sequence[list[Completion]]) -> list[Group]:
    return [Group(prompt, row) for prompt, row in zip(prompts, rows, strict=True)]


def gap(model, groups: list[Group], grammar: TokenGrammar, temperature: float = 1.0) -> float:
    """Largest distance, in nats, between the log-probs that came with the tokens and the trainer's own."""
    with torch.no_grad():
        scored = token_logprobs(model, groups, grammar=grammar, temperature=temperature)
    sampled = [logprob for group in groups for one in group.completions for logprob in one.logprobs]
    return float((scored.logprobs[scored.mask] - torch.tensor(sampled)).abs().max())
