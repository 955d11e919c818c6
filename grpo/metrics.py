"""What a step reports. docs/metrics.md explains every name; each is measured in the step that it stands for."""

from __future__ import annotations

import dataclasses
import math
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from grpo.rollout import Group
from grpo.task import Prompt, Score

PHASES = ("sample", "score", "logprobs", "backward", "sync")


@dataclass(frozen=True)
class StepMetrics:
    """One line of metrics.jsonl. None stands for what was not measured in this step (the KL at beta 0, for one)."""

    step: int
    reward_mean: float
    reward_std: float
    reward_parts: dict[str, float]
    effective_fraction: float
    degenerate_fraction: float
    loss: float
    policy_loss: float
    kl: float | None
    entropy: float | None
    clip_fraction: float | None
    grad_norm: float
    lr: float
    completion_tokens_mean: float
    truncated_fraction: float
    unique_fraction: float
    gate_fraction: float
    logprob_gap_mean: float | None
    logprob_gap_max: float | None
    seconds: dict[str, float]
    tokens_per_second: float
    peak_memory_bytes: int

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def flat(self) -> dict[str, float]:
        """For trackers: numbers only, with reward_parts and seconds as `reward_parts/recall`, `seconds/sample`."""
        flat: dict[str, float] = {}
        for name, value in self.to_json().items():
            if isinstance(value, dict):
                flat |= {f"{name}/{key}": number for key, number in value.items()}
            elif value is not None and name != "step":
                flat[name] = value
        return flat


@dataclass
class TokenStatistics:
    """Sums over the sampled tokens of some micro-batches; those of several micro-batches and processes add up.

    loss, policy and kl are already divided by the denominator of the whole step.
    """

    loss: float = 0.0
    policy: float = 0.0
    kl: float = 0.0
    tokens: int = 0
    entropy: float = 0.0
    gap: float = 0.0
    gap_max: float = 0.0
    clipped: float = 0.0

    def __add__(self, other: TokenStatistics) -> TokenStatistics:
        names = [field.name for field in dataclasses.fields(self)]
        pairs: dict[str, Any] = {name: (getattr(self, name), getattr(other, name)) for name in names}
        return TokenStatistics(**{name: max(pair) if name == "gap_max" else sum(pair) for name, pair in pairs.items()})


class Clock:
    """Seconds spent in each phase of a step. On a GPU it waits for the work that the phase queued."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.started = time.perf_counter()

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self.seconds[phase] += time.perf_counter() - began

    def read(self) -> dict[str, float]:
        return {**self.seconds, "total": time.perf_counter() - self.started}


@dataclass(frozen=True)
class Rollout:
    """One prompt of a step, the group that was sampled for it, and what became of it. Lists have K entries."""

    number: int
    prompt: Prompt
    group: Group
    texts: list[str]
    scores: list[Score]
    advantages: list[float]
    degenerate: bool


def rollout_record(step: int, prompts_per_step: int, rollout: Rollout) -> dict[str, Any]:
    """A line of rollouts.jsonl; see docs/metrics.md."""
    completions = rollout.group.completions
    return {
        "step": step,
        "group": rollout.number % prompts_per_step,
        "prompt": {
            "number": rollout.number,
            "type": rollout.prompt.type,
            "tokens": len(rollout.group.prompt_ids),
            "messages": list(rollout.prompt.messages),
            "metadata": rollout.prompt.metadata,
        },
        "completions": [
            {
                "text": text,
                "tokens": len(completion.token_ids),
                "finish_reason": completion.finish_reason,
                "gate": score.gate,
                "reason": score.reason,
            }
            for text, completion, score in zip(rollout.texts, completions, rollout.scores, strict=True)
        ],
        "rewards": [score.reward for score in rollout.scores],
        "parts": [dict(score.parts) for score in rollout.scores],
        "advantages": rollout.advantages,
        "degenerate": rollout.degenerate,
        "unique_fraction": len({tuple(one.token_ids) for one in completions}) / len(completions),
    }


def step_metrics(
    *,
    step: int,
    records: Sequence[Mapping[str, Any]],
    tokens: TokenStatistics,
    with_kl: bool,
    with_clipping: bool,
    grad_norm: float,
    lr: float,
    seconds: Mapping[str, float],
) -> StepMetrics:
    """records: the step's groups as rollouts.jsonl holds them. tokens: sums over all of the step's micro-batches."""
    completions = [completion for record in records for completion in record["completions"]]
    lengths = [completion["tokens"] for completion in completions]
    degenerate_fraction = mean([record["degenerate"] for record in records])
    return StepMetrics(
        step=step,
        reward_mean=mean([reward for record in records for reward in record["rewards"]]),
        reward_std=mean([standard_deviation(record["rewards"]) for record in records]),
        reward_parts=part_means([parts for record in records for parts in record["parts"]]),
        effective_fraction=1.0 - degenerate_fraction,
        degenerate_fraction=degenerate_fraction,
        loss=tokens.loss,
        policy_loss=tokens.policy,
        kl=tokens.kl if with_kl else None,
        entropy=tokens.entropy / tokens.tokens if tokens.tokens else None,
        clip_fraction=tokens.clipped / tokens.tokens if with_clipping and tokens.tokens else None,
        grad_norm=grad_norm,
        lr=lr,
        completion_tokens_mean=mean(lengths),
        truncated_fraction=mean([completion["finish_reason"] == "length" for completion in completions]),
        unique_fraction=mean([record["unique_fraction"] for record in records]),
        gate_fraction=mean([completion["gate"] for completion in completions]),
        logprob_gap_mean=tokens.gap / tokens.tokens if tokens.tokens else None,
        logprob_gap_max=tokens.gap_max if tokens.tokens else None,
        seconds=dict(seconds),
        tokens_per_second=sum(lengths) / seconds["total"],
        peak_memory_bytes=peak_memory_bytes(),
    )


def mean(values: Sequence[float]) -> float:
    """0.0 for no values."""
    return math.fsum(values) / len(values) if values else 0.0


def standard_deviation(values: Sequence[float]) -> float:
    """With ddof 1; 0.0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def part_means(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each part over the completions for which it is defined, in order of first appearance."""
    values: dict[str, list[float]] = {}
    for of_one in parts:
        for name, value in of_one.items():
            values.setdefault(name, []).append(value)
    return {name: mean(found) for name, found in values.items()}


def peak_memory_bytes() -> int:
    """Of the GPU's memory that torch handed out, where there is a GPU; else of the process's resident memory."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    # macOS counts bytes, Linux KiB.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
