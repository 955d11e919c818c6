"""What came of a run, read back from its folder: the lines that train.py ends with."""

from __future__ import annotations

from typing import Any

from grpo.advice import advice
from grpo.checkpoint import checkpoints
from grpo.hacking import outside_curve, warnings
from grpo.metrics import mean
from grpo.run_folder import EVALS, METRICS, RunFolder

WINDOW = 20


def summary(folder: RunFolder) -> str:
    """Reward before and after, sealed and in training, its parts, degenerate groups, time. "" before the first step."""
    steps = folder.read(METRICS)
    if not steps:
        return ""
    first, last = steps[:WINDOW], steps[-WINDOW:]
    lines = [f"after {steps[-1]['step']} steps"]
    evals = folder.read(EVALS)
    if len(evals) >= 2:
        before, after = evals[0], evals[-1]
        lines += _change(
            f"{after['split']} ({after['prompts']} prompts, steps {before['step']} and {after['step']})", before, after
        )
    lines += _change(
        f"training (mean of the first and the last {len(last)} steps)",
        {"reward": mean([step["reward_mean"] for step in first]), "parts": _parts(first)},
        {"reward": mean([step["reward_mean"] for step in last]), "parts": _parts(last)},
    )
    degenerate = [mean([step["degenerate_fraction"] for step in window]) for window in (first, last)]
    seconds = sum(step["seconds"]["total"] for step in steps)
    lines += [
        f"  degenerate groups          {degenerate[0]:.2f} -> {degenerate[1]:.2f}",
        f"time                         {seconds:.0f} s in steps ({seconds / len(steps):.2f} s each)",
    ]
    return "\n".join([*lines, *_next(folder, steps, evals)])


def _next(folder: RunFolder, steps: list[dict[str, Any]], evals: list[dict[str, Any]]) -> list[str]:
    """What the run's own numbers advise, and signs of a gamed reward."""
    _, outside = outside_curve(folder.path)
    kept = [int(path.name.removeprefix("step-")) for path in checkpoints(folder.path)]
    return [
        *(f"warning: {line}" for line in warnings(steps, evals, outside)),
        *(f"advice: {line}" for line in advice(steps, evals, outside, kept)),
    ]


def _change(title: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    lines = [title, f"  reward                     {before['reward']:.3f} -> {after['reward']:.3f}"]
    for name, value in after["parts"].items():
        start = before["parts"].get(name)
        lines.append(f"  {name:<26} {'  -  ' if start is None else f'{start:.3f}'} -> {value:.3f}")
    return lines


def _parts(steps: list[dict[str, Any]]) -> dict[str, float]:
    names = [name for step in steps for name in step["reward_parts"]]
    return {
        name: mean([step["reward_parts"][name] for step in steps if name in step["reward_parts"]])
        for name in dict.fromkeys(names)
    }
