"""Is the reward being gamed? What a rising reward hides: one part that runs away, a score outside that falls.

Pure functions of what a run and its evaluations wrote down (docs/metrics.md); nothing is computed anew. "Outside" is a
score that is never the reward, on prompts that are not the task's own: eval.py measures it for a run's checkpoints.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grpo.metrics import mean

WINDOW = 20
"""Steps that are averaged before two moments of a run are compared: single steps are noise."""

RUNAWAY_GAIN = 0.1
"""What a part must have gained at least before it can be called a runaway."""

STALLED_SHARE = 0.25
"""A part has stalled that gained less than this share of what the runaway gained."""

PART_LOSS = 0.05
"""What a part may lose while the reward rises before that is worth a warning."""

OUTSIDE_LOSS = 0.02
"""The least fall of the outside score that is worth a warning, whatever its interval."""

PRECISION_GAP = 0.1
"""How much wider the gap of the two precisions may become before that is worth a warning."""


class Outside(NamedTuple):
    """The outside score of one checkpoint. low, high: its 95 % interval. precision: outside, where it was measured."""

    step: int
    score: float
    low: float
    high: float
    precision: float | None = None

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


class Gap(NamedTuple):
    """The reward's own precision at a step and the precision outside."""

    step: int
    own: float
    outside: float


def outside_curve(run: Path) -> tuple[str, list[Outside]]:
    """The outside score's name and its curve, from what eval.py left in the run's folder; ("", []) where it did not."""
    file = run / "eval" / "eval.json"
    if not file.is_file():
        return "", []
    contents = json.loads(file.read_text(encoding="utf-8"))
    points = [Outside(*(point[name] for name in Outside._fields)) for point in contents["curve"]]
    return contents["curve_name"], sorted(points)


def windows(steps: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """The first and the last steps, as many as are averaged; they never share a step."""
    size = max(1, min(WINDOW, len(steps) // 2))
    return steps[:size], steps[-size:] if len(steps) > 1 else []


def part_means(steps: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Mean of each part of the reward over some steps, where it was defined."""
    names = dict.fromkeys(name for step in steps for name in step["reward_parts"])
    return {
        name: mean([step["reward_parts"][name] for step in steps if name in step["reward_parts"]]) for name in names
    }


def reward_at(step: int, steps: Sequence[Mapping[str, Any]], evals: Sequence[Mapping[str, Any]]) -> float | None:
    """The sealed reward at a step where it was measured there, else training's over the steps up to it."""
    for line in evals:
        if line["step"] == step:
            return line["reward"]
    # Before the first update, training's first step is the nearest thing that was measured.
    recent = [line["reward_mean"] for line in steps if step - WINDOW < line["step"] <= max(step, 1)]
    return mean(recent) if recent else None


def runaway(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Warnings about parts that do not move together, between the first and the last steps of training."""
    first, last = windows(steps)
    if len(last) < 5:
        return []
    before, after = part_means(first), part_means(last)
    gains = {name: after[name] - before[name] for name in before if name in after}
    said = []
    if len(gains) > 1:
        top, gain = max(gains.items(), key=lambda item: item[1])
        others = {name: value for name, value in gains.items() if name != top}
        if gain >= RUNAWAY_GAIN and max(others.values()) < STALLED_SHARE * gain:
            said.append(
                f"{top} ran away: {before[top]:.2f} -> {after[top]:.2f} while no other part gained more than "
                f"{max(0.0, max(others.values())):.2f}; read rollouts in which it is high"
            )
    risen = mean([line["reward_mean"] for line in last]) - mean([line["reward_mean"] for line in first])
    if risen > 0:
        said += [
            f"{name} fell: {before[name]:.2f} -> {after[name]:.2f} while the reward rose by {risen:.2f}"
            for name, gain in gains.items()
            if gain < -PART_LOSS
        ]
    return said


def reward_against_outside(
    steps: Sequence[Mapping[str, Any]], evals: Sequence[Mapping[str, Any]], outside: Sequence[Outside]
) -> list[str]:
    """A warning where the outside score has fallen from its best while the reward rose."""
    if len(outside) < 2:
        return []
    best, last = max(outside, key=lambda point: point.score), max(outside)
    fall = best.score - last.score
    # The same documents each time, so the difference is known better than this; a warning should not be noise.
    if best.step >= last.step or fall < max(OUTSIDE_LOSS, math.hypot(best.half_width, last.half_width)):
        return []
    then, now = reward_at(best.step, steps, evals), reward_at(last.step, steps, evals)
    if then is None or now is None or now <= then:
        return []
    return [
        f"the reward rose from {then:.3f} (step {best.step}) to {now:.3f} (step {last.step}) while the score outside "
        f"fell from {best.score:.3f} to {last.score:.3f}: what is learnt by now pays in the reward alone"
    ]


def precision_gaps(
    evals: Sequence[Mapping[str, Any]],
    steps: Sequence[Mapping[str, Any]],
    outside: Sequence[Outside],
    part: str = "precision",
) -> list[Gap]:
    """The two precisions of each checkpoint for which both are known; the reward's own is sealed where that exists."""
    sealed = {line["step"]: line["parts"][part] for line in evals if part in line["parts"]}
    gaps = []
    for point in sorted(outside):
        recent = [
            line["reward_parts"][part]
            for line in steps
            if part in line["reward_parts"] and point.step - WINDOW < line["step"] <= max(point.step, 1)
        ]
        own = sealed.get(point.step, mean(recent) if recent else None)
        if own is not None and point.precision is not None:
            gaps.append(Gap(point.step, own, point.precision))
    return gaps


def widening(gaps: Sequence[Gap]) -> list[str]:
    """A warning where the reward's own precision has moved away from the precision outside."""
    if len(gaps) < 2:
        return []
    first, last = gaps[0], gaps[-1]
    if (last.own - last.outside) - (first.own - first.outside) <= PRECISION_GAP:
        return []
    return [
        f"precision drifts apart: the reward's own {first.own:.2f} -> {last.own:.2f}, outside {first.outside:.2f} -> "
        f"{last.outside:.2f} (steps {first.step} and {last.step})"
    ]


def warnings(
    steps: Sequence[Mapping[str, Any]], evals: Sequence[Mapping[str, Any]], outside: Sequence[Outside] = ()
) -> list[str]:
    """All signs of a gamed reward, one line each; [] where there is none.

    steps: lines of metrics.jsonl. evals: lines of evals.jsonl. outside: the curve of a score that is never the reward.
    """
    return [
        *runaway(steps),
        *reward_against_outside(steps, evals, outside),
        *widening(precision_gaps(evals, steps, outside)),
    ]
