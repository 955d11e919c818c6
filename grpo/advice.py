"""When to stop, and which checkpoint to use: read off a run's own numbers. Pure functions, like grpo.hacking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from grpo.hacking import WINDOW, Outside, windows
from grpo.metrics import mean

EXHAUSTED = 0.5
"""Share of degenerate groups from which on most of a step teaches nothing."""


def advice(
    steps: Sequence[Mapping[str, Any]],
    evals: Sequence[Mapping[str, Any]],
    outside: Sequence[Outside] = (),
    checkpoints: Sequence[int] = (),
) -> list[str]:
    """What to do next, one line each; [] before the first step.

    steps, evals, outside: as in grpo.hacking.warnings. checkpoints: the steps whose checkpoints are kept; others are
    not recommended where any are given.
    """
    if not steps:
        return []
    return [*_groups(steps, _past_its_best(outside)), *_sealed(evals, checkpoints), *_outside(outside, checkpoints)]


def _groups(steps: Sequence[Mapping[str, Any]], past_its_best: bool) -> list[str]:
    first, last = windows(steps)
    last = last or first
    before = mean([line["degenerate_fraction"] for line in first])
    now = mean([line["degenerate_fraction"] for line in last])
    share = f"{now:.0%} of the groups of the last {len(last)} steps taught nothing ({before:.0%} at the start)"
    if now >= EXHAUSTED:
        return [f"{share}: stop here, or go on with harder prompts; a probe of this checkpoint shows which still teach"]
    rise = _rise([line["reward_mean"] for line in steps])
    if rise is None:
        return [f"{share}; the run is too short to say whether more steps would help"]
    if rise > 0 and past_its_best:
        return [f"{share}, and the reward was still rising, but the score outside no longer: see below"]
    if rise > 0:
        return [f"{share}, and the reward was still rising: a longer run is likely to help"]
    return [f"{share}, and the reward no longer rose over the last {2 * WINDOW} steps: more of the same brings little"]


def _rise(rewards: Sequence[float]) -> float | None:
    """How much the last window is above the one before it, 0 where that may be noise (two standard errors)."""
    if len(rewards) < 2 * WINDOW:
        return None
    earlier, later = rewards[-2 * WINDOW : -WINDOW], rewards[-WINDOW:]
    difference = mean(later) - mean(earlier)
    error = math.sqrt(sum(_variance(values) / len(values) for values in (earlier, later)))
    return difference if difference > 2 * error else 0.0


def _variance(values: Sequence[float]) -> float:
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / max(1, len(values) - 1)


def _sealed(evals: Sequence[Mapping[str, Any]], checkpoints: Sequence[int]) -> list[str]:
    kept = [line for line in evals if line["step"] and (not checkpoints or line["step"] in checkpoints)]
    if not kept:
        return []
    # Of equals the earliest: it has moved the least.
    best, last = max(kept, key=lambda line: line["reward"]), max(kept, key=lambda line: line["step"])
    said = f"best checkpoint by the sealed reward: step-{best['step']} ({best['reward']:.3f})"
    if best["step"] != last["step"]:
        within = best["reward"] - last["reward"] <= math.hypot(best["reward_interval"], last["reward_interval"])
        said += f"; step-{last['step']} has {last['reward']:.3f}" + (", within the noise of it" if within else "")
    untrained = next((line for line in evals if line["step"] == 0), None)
    if untrained is not None and best["reward"] <= untrained["reward"]:
        said += f"; the untrained model had {untrained['reward']:.3f}, so training has not helped"
    return [said]


def _outside(outside: Sequence[Outside], checkpoints: Sequence[int]) -> list[str]:
    kept = [point for point in outside if not checkpoints or point.step in (0, *checkpoints)]
    if len(kept) < 2:
        return []
    best, last = max(kept, key=lambda point: point.score), max(kept)
    if best.step == last.step:
        return [f"outside the score was still the best at the last checkpoint, step-{last.step} ({last.score:.3f})"]
    name = f"step-{best.step}" if best.step else "the untrained model"
    return [
        f"outside the score peaked at {name} ({best.score:.3f}); the last checkpoint has {last.score:.3f}"
        + (f": use {name}" if _past_its_best(kept) else ", which may be noise")
    ]


def _past_its_best(outside: Sequence[Outside]) -> bool:
    """Whether the last score is below an earlier one by more than the two intervals allow."""
    if not outside:
        return False
    best, last = max(outside, key=lambda point: point.score), max(outside)
    return best.step < last.step and best.score - last.score > math.hypot(best.half_width, last.half_width)
