"""From answers to scores: rewards over a split, scores on the external set, each the mean over samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grpo.task import Prompt, Score
from pii.answer import AnswerError, parse
from pii.document import Mention
from pii.scoring import report


def rewards(scores: Sequence[Sequence[Score]]) -> dict[str, Any]:
    """scores: those of each prompt's samples. Reward with its 95 % half-width over prompts, parts, share past the gate.

    The names are those of evals.jsonl (docs/metrics.md).
    """
    means = [_mean([one.reward for one in row]) for row in scores]
    centre = _mean(means)
    spread = math.sqrt(sum((value - centre) ** 2 for value in means) / max(1, len(means) - 1) / max(1, len(means)))
    flat = [one for row in scores for one in row]
    names = dict.fromkeys(name for one in flat for name in one.parts)
    return {
        "prompts": len(scores),
        "reward": centre,
        "reward_interval": 1.96 * spread,
        "parts": {name: _mean([one.parts[name] for one in flat if name in one.parts]) for name in names},
        "gate_fraction": _mean([one.gate for one in flat]),
    }


def external(prompts: Sequence[Prompt], texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """pii.scoring.report of the answers; with several samples a prompt the mean of the reports, one for each sample.

    texts: the samples of each prompt, the same number for all. Intervals are over documents, of one sample's answers.
    """
    gold = [[Mention(*mention) for mention in prompt.metadata["gold"]] for prompt in prompts]
    samples = len(texts[0]) if texts else 0
    return average([report(gold, [_predicted(row[k]) for row in texts]) for k in range(samples)])


def average(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Reports of equal shape, number by number; a type that not every sample predicted counts where it is there."""
    names = dict.fromkeys(name for one in reports for name in one)
    found: dict[str, Any] = {}
    for name in names:
        values = [one[name] for one in reports if name in one]
        found[name] = average(values) if isinstance(values[0], Mapping) else _mean(values)
    return found


def _predicted(completion: str) -> list[Mention]:
    try:
        return parse(completion)
    except AnswerError:
        return []


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
