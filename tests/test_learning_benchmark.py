"""The picture and the table of README.md are made from runs, and from what was kept of them."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from benchmarks import learning
from tests.toy import toy_trainer


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folders = [tmp_path_factory.mktemp(f"run{seed}") / "run" for seed in (0, 1)]
    for seed, folder in enumerate(folders):
        toy_trainer(folder, steps=2, eval_every=1, eval_prompts=2, seed=seed).train()
    return learning.keep(folders)


def test_the_table_gives_mean_least_and_most_over_the_seeds(runs: list[dict]) -> None:
    before = [run["evals"][0]["reward"] for run in runs]
    row = learning.table(runs).splitlines()[2]
    assert row.startswith(f"| reward | {statistics.mean(before):.3f} ({min(before):.3f}, {max(before):.3f}) |")


def test_every_step_and_every_evaluation_is_kept(runs: list[dict]) -> None:
    assert [len(run["reward"]) for run in runs] == [2, 2]
    assert [[line["step"] for line in run["evals"]] for run in runs] == [[0, 1, 2], [0, 1, 2]]


def test_the_picture_is_drawn(runs: list[dict], tmp_path: Path) -> None:
    learning.draw(runs, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
