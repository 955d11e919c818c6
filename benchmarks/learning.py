"""How much pii-tiny learns, over several seeds: the figures and the picture of README.md.

    for seed in 0 1 2 3 4; do python train.py --seed $seed --task-seed $seed --out runs/seed-$seed; done
    python -m benchmarks.learning runs/seed-*            # keeps the curves and draws the picture
    python -m benchmarks.learning                        # draws it again from what was kept

What is kept of each run (benchmarks/results/learning.json): the reward and degenerate fraction of every step, and the
sealed evaluations.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from grpo.run_folder import EVALS, METRICS, RunFolder, read_config

KEPT = Path(__file__).parent / "results" / "learning.json"
PICTURE = Path(__file__).parent.parent / "docs" / "learning.png"
WINDOW = 20


def keep(folders: list[Path]) -> list[dict[str, Any]]:
    """What is kept of each run."""
    runs = []
    for path in folders:
        config, task = read_config(path)
        folder = RunFolder(path)
        steps, evals = folder.read(METRICS), folder.read(EVALS)
        runs.append(
            {
                "model": Path(config.model).name,
                "seed": config.seed,
                "task_seed": task.get("task_seed"),
                "lr": config.lr,
                "reward": [round(step["reward_mean"], 4) for step in steps],
                "degenerate": [step["degenerate_fraction"] for step in steps],
                "seconds_a_step": round(statistics.mean(step["seconds"]["total"] for step in steps), 3),
                "evals": [
                    {
                        "step": line["step"],
                        "split": line["split"],
                        "prompts": line["prompts"],
                        "reward": round(line["reward"], 4),
                        "parts": {name: round(value, 4) for name, value in line["parts"].items()},
                    }
                    for line in evals
                ],
            }
        )
    return runs


def table(runs: list[dict[str, Any]]) -> str:
    """Markdown: the sealed reward and its parts before and after, over the seeds: mean (least, most)."""
    first, last = [run["evals"][0] for run in runs], [run["evals"][-1] for run in runs]
    rows = [
        f"| seeds: {len(runs)} | before | after {last[0]['step']} steps | change |",
        "|---|---|---|---|",
    ]
    names = ["reward", *[name for name in last[0]["parts"] if all(name in line["parts"] for line in first)]]
    for name in names:
        before = [line["reward"] if name == "reward" else line["parts"][name] for line in first]
        after = [line["reward"] if name == "reward" else line["parts"][name] for line in last]
        change = [b - a for a, b in zip(before, after, strict=True)]
        rows.append(f"| {name} | {_spread(before)} | {_spread(after)} | {_spread(change, sign='+')} |")
    degenerate = [
        [statistics.mean(part) for part in (run["degenerate"][:WINDOW], run["degenerate"][-WINDOW:])] for run in runs
    ]
    rows.append(
        f"| degenerate groups (first and last {WINDOW} steps) | {_spread([a for a, _ in degenerate])} "
        f"| {_spread([b for _, b in degenerate])} | {_spread([b - a for a, b in degenerate], sign='+')} |"
    )
    return "\n".join(rows)


def _spread(values: list[float], sign: str = "") -> str:
    return f"{statistics.mean(values):{sign}.3f} ({min(values):{sign}.3f}, {max(values):{sign}.3f})"


def draw(runs: list[dict[str, Any]], picture: Path) -> None:
    """Reward in training (a mean of 20 steps) and on the sealed held-out types, each seed and the mean of seeds."""
    figure, axes = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
    for run in runs:
        smooth = [statistics.mean(run["reward"][max(0, i - WINDOW + 1) : i + 1]) for i in range(len(run["reward"]))]
        axes.plot(range(1, len(smooth) + 1), smooth, color="#8aa9d6", linewidth=1)
        axes.plot(
            [line["step"] for line in run["evals"]],
            [line["reward"] for line in run["evals"]],
            color="#e0a080",
            linewidth=1,
            marker=".",
        )
    steps = [line["step"] for line in runs[0]["evals"]]
    sealed = [statistics.mean(run["evals"][i]["reward"] for run in runs) for i in range(len(steps))]
    axes.plot(steps, sealed, color="#b04a1a", linewidth=2.5, marker="o", label="held-out types, never trained on")
    axes.plot([], [], color="#8aa9d6", label=f"training, mean of {WINDOW} steps (seeds: {len(runs)})")
    axes.set(xlabel="step", ylabel="reward", ylim=(0, 1), title=f"{runs[0]['model']}: 4 prompts x 8 completions a step")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(picture, dpi=110)
    pyplot.close(figure)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, help="run folders; none: what was kept")
    settings = parser.parse_args(argv)
    if settings.runs:
        runs = keep(settings.runs)
        KEPT.write_text(json.dumps(runs) + "\n", encoding="utf-8")
    elif KEPT.is_file():
        runs = json.loads(KEPT.read_text(encoding="utf-8"))
    else:
        print(f"benchmarks.learning: {KEPT} does not exist; name the run folders", file=sys.stderr)
        return 2
    draw(runs, PICTURE)
    print(table(runs))
    print(f"\n{PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
