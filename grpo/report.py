"""A run as one HTML page: curves, sealed evaluations, advice, and rollouts to read.

    python -m grpo.report runs/NAME

Made from the run's folder alone (docs/metrics.md), so also of a run that is still going on or was cut off.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from grpo.advice import advice
from grpo.checkpoint import checkpoints
from grpo.config import SettingsError
from grpo.hacking import WINDOW, outside_curve, part_means, precision_gaps, warnings, windows
from grpo.metrics import PHASES, mean
from grpo.pages import render_page
from grpo.report_plots import Series, line_chart, stacked_chart
from grpo.report_rollouts import embedded, whole_lines
from grpo.run_folder import EVALS, METRICS, ROLLOUTS, read_config, write_atomically

Lines = Sequence[Mapping[str, Any]]


def write_report(run: str | Path) -> Path:
    """Writes run/report.html and returns its path. Raises SettingsError where `run` is not a run's folder."""
    run = Path(run)
    config, _ = read_config(run)
    steps, evals = list(whole_lines(run / METRICS)), list(whole_lines(run / EVALS))
    outside_name, outside = outside_curve(run)
    rollouts, rollouts_note = embedded(run / ROLLOUTS)
    found = [int(path.name.removeprefix("step-")) for path in checkpoints(run)]
    columns, rows = _eval_table(evals)
    page = render_page(
        "report.html.j2",
        title=f"{run.resolve().name}: {config.model}",
        script="report.js" if rollouts["steps"] else "",
        data=rollouts if rollouts["steps"] else None,
        status=_status(steps, config.steps, run),
        warnings=warnings(steps, evals, outside),
        advice=advice(steps, evals, outside, found),
        smoothing=WINDOW,
        window=max(1, min(WINDOW, len(steps) // 2)),
        changes=_changes(steps),
        charts=_charts(steps, evals, outside_name, outside),
        eval_columns=columns,
        evals=rows,
        how=f"sampled (temperature {config.eval_temperature})" if config.eval_temperature else "greedy",
        gaps=precision_gaps(evals, steps, outside),
        rollouts=bool(rollouts["steps"]),
        rollouts_note=rollouts_note,
        config=(run / "config.json").read_text(encoding="utf-8"),
    )
    file = run / "report.html"
    write_atomically(file, page)
    return file


def running_mean(values: Sequence[float | None], window: int = WINDOW) -> list[float | None]:
    """Mean of each value and those before it, `window` in all; of fewer at the start. None is left out of a mean."""
    means: list[float | None] = []
    for end in range(1, len(values) + 1):
        recent = [value for value in values[max(0, end - window) : end] if value is not None]
        means.append(mean(recent) if recent else None)
    return means


def _status(steps: Lines, planned: int, run: Path) -> str:
    if not steps:
        return f"No step of {planned} has finished yet."
    done = steps[-1]["step"]
    seconds = sum(line["seconds"]["total"] for line in steps)
    said = f"{done} of {planned} steps, {seconds:.0f} s in steps ({seconds / len(steps):.2f} s each)."
    if done < planned:
        said += f" Not finished; go on with: python train.py --resume {run}"
    return said


def _changes(steps: Lines) -> list[tuple[str, str, str, str]]:
    """Rows (name, first, last, change) of the numbers that say how a run went."""
    first, last = windows(steps)
    if not last:
        return []
    before, after = part_means(first), part_means(last)
    rows = [*_two_means("reward", "reward_mean", first, last)]
    rows += [(name, before[name], after[name]) for name in before if name in after]
    for title, name in (
        ("degenerate groups", "degenerate_fraction"),
        ("passed the gate", "gate_fraction"),
        ("distinct completions", "unique_fraction"),
        ("entropy (nats a token)", "entropy"),
        ("KL (nats a token)", "kl"),
        ("tokens a completion", "completion_tokens_mean"),
        ("cut off", "truncated_fraction"),
    ):
        rows += _two_means(title, name, first, last)
    return [(name, f"{old:.3f}", f"{new:.3f}", f"{new - old:+.3f}") for name, old, new in rows]


def _two_means(title: str, name: str, first: Lines, last: Lines) -> list[tuple[str, float, float]]:
    """One row, or none where the number was not measured."""
    old, new = ([line[name] for line in some if line[name] is not None] for some in (first, last))
    return [(title, mean(old), mean(new))] if old and new else []


def _charts(steps: Lines, evals: Lines, outside_name: str, outside: Sequence[Any]) -> list[tuple[str, str, Markup]]:
    if not steps:
        return []
    x = [line["step"] for line in steps]

    def both(name: str, label: str) -> list[Series]:
        values = [line[name] for line in steps]
        return [Series(label, x, values, faint=True), Series(label, x, running_mean(values))]

    reward = both("reward_mean", f"training, {WINDOW} steps")
    if evals:
        reward.append(
            Series(
                "sealed",
                [line["step"] for line in evals],
                [line["reward"] for line in evals],
                half_width=[line["reward_interval"] for line in evals],
            )
        )
    names = dict.fromkeys(name for line in steps for name in line["reward_parts"])
    parts = [Series(name, x, running_mean([line["reward_parts"].get(name) for line in steps])) for name in names]
    found = [
        ("Reward", "training, and the sealed evaluations with 95 % intervals", line_chart("Reward over steps", reward)),
        ("Parts of the reward", "where each is defined", line_chart("Parts over steps", parts)),
    ]
    if len(outside) > 1:
        curves = [
            Series(
                outside_name,
                [point.step for point in outside],
                [point.score for point in outside],
                half_width=[point.half_width for point in outside],
            ),
            Series("precision outside", [point.step for point in outside], [point.precision for point in outside]),
        ]
        if gaps := precision_gaps(evals, steps, outside):
            curves.append(Series("precision by the reward", [gap.step for gap in gaps], [gap.own for gap in gaps]))
        found.append(("Outside", "what is never the reward, from eval.py", line_chart("Outside over steps", curves)))
    for title, name, unit, kind in (
        ("KL to the untrained model", "kl", "nats a token", ""),
        ("Entropy", "entropy", "nats a sampled token", ""),
        ("Gradient norm", "grad_norm", "before clipping", "log"),
        ("Degenerate groups", "degenerate_fraction", "share with all rewards equal", "share"),
        ("Length", "completion_tokens_mean", "tokens a completion", ""),
        ("Cut off", "truncated_fraction", "share at the length limit", "share"),
        ("Passed the gate", "gate_fraction", "share that was an answer at all", "share"),
    ):
        if any(line[name] is not None for line in steps):
            drawing = line_chart(f"{title} over steps", both(name, title), log=kind == "log", share=kind == "share")
            found.append((title, unit, drawing))
    logprob_gaps = [
        Series(label, x, [line[name] for line in steps])
        for label, name in (("mean", "logprob_gap_mean"), ("largest", "logprob_gap_max"))
    ]
    if any(value is not None for one in logprob_gaps for value in one.y):
        note = "nats between the sampler's and the trainer's log-probs"
        found.append(("Log-prob gap", note, line_chart("Log-prob gap over steps", logprob_gaps, log=True)))
    phases = [(name, [line["seconds"].get(name, 0.0) for line in steps]) for name in PHASES]
    found.append(("Time", "seconds of a step, by phase", stacked_chart("Seconds by phase over steps", x, phases)))
    return found


def _eval_table(evals: Lines) -> tuple[list[str], list[list[str]]]:
    if not evals:
        return [], []
    parts = list(dict.fromkeys(name for line in evals for name in line["parts"]))
    names = [name for name in dict.fromkeys(name for line in evals for name in line["scores"]) if _worth(name)]
    columns = ["reward", *parts, "passed the gate", *(name.replace("_", " ") for name in names)]
    rows = [
        [
            str(line["step"]),
            f"{line['reward']:.3f} \N{PLUS-MINUS SIGN} {line['reward_interval']:.3f}",
            *(_cell(line["parts"].get(name)) for name in parts),
            _cell(line["gate_fraction"]),
            *(_cell(line["scores"].get(name)) for name in names),
        ]
        for line in evals
    ]
    return columns, rows


def _worth(name: str) -> bool:
    """Bounds and counts would drown the scores in a table; they stand in evals.jsonl."""
    return not name.endswith(("_low", "_high", "_mentions", "documents"))


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) != 1 or given[0].startswith("-"):
        print("usage: python -m grpo.report RUN", file=sys.stderr)
        return 0 if given in (["-h"], ["--help"]) else 2
    try:
        print(write_report(given[0]))
    except (SettingsError, OSError, json.JSONDecodeError) as error:
        print(f"grpo.report: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
