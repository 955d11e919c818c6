"""What a sampler hands to the rest: completions as sampled, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length"]


class SamplerError(RuntimeError):
    """A sampler that cannot go on (an engine that died, for instance): one line, what happened and where to look."""


@dataclass(frozen=True)
class Completion:
    """One sampled answer.

    token_ids: the ids as sampled, T of them; the end-of-sequence id is the last one where finish_reason is "stop".
        Text is never tokenised again: encode(decode(ids)) may differ, and these ids are the ones that were sampled.
    logprobs: T log-probs under the distribution that was sampled from (temperature and grammar included), in nats.
    finish_reason: "stop" (ended by itself) or "length" (cut off at max_tokens, no end-of-sequence id).
    """

    token_ids: list[int]
    logprobs: list[float]
    finish_reason: FinishReason

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError(f"{len(self.token_ids)} token ids but {len(self.logprobs)} log-probs")


@dataclass(frozen=True)
class Group:
    """One prompt and the K completions that were sampled for it."""

    prompt_ids: list[int]
    completions: list[Completion]
