"""A run that was stopped goes on as if nothing had happened: bit for bit on a CPU."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from grpo.config import SettingsError
from grpo.run_folder import METRICS, RunError, RunFolder, read_config
from grpo.task import Prompt, Score
from tests.toy import SevensTask, toy_trainer

ROOT = Path(__file__).resolve().parent.parent
# What differs between two runs of the same numbers.
MEASURED = ("seconds", "tokens_per_second", "peak_memory_bytes")


class FailsAtPrompt(SevensTask):
    """A task whose score of one prompt is not a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def score(self, prompt: Prompt, completion: str) -> Score:
        if prompt.metadata["text"] == f"Say {self.number}.":
            return Score(float("nan"))
        return super().score(prompt, completion)


def lines(run: Path, name: str) -> list[dict]:
    found = [json.loads(line) for line in (run / name).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in MEASURED} for line in found]


def assert_same_run(one: Path, other: Path, last: str) -> None:
    for name in ("metrics.jsonl", "rollouts.jsonl", "evals.jsonl"):
        assert lines(one, name) == lines(other, name), name
    for name in ("model.safetensors", "optimizer.safetensors"):
        ours, theirs = load_file(one / last / name), load_file(other / last / name)
        assert ours.keys() == theirs.keys()
        assert all(ours[key].equal(theirs[key]) for key in ours), name


def test_two_steps_and_two_after_resuming_equal_four(tmp_path):
    settings = {"eval_every": 2, "eval_prompts": 2, "save_every": 2, "lr": 1e-2, "beta": 0.1}
    straight, cut = tmp_path / "straight", tmp_path / "cut"
    assert toy_trainer(straight, **settings).train()

    # What a crash during step 4 leaves: a checkpoint of step 2, and lines of step 3 and half of one of step 4.
    shutil.copytree(straight, cut)
    shutil.rmtree(cut / "step-4")
    text = (cut / METRICS).read_text()
    (cut / METRICS).write_text(text[:-40])

    resumed = toy_trainer(cut, resume=str(cut), **settings)
    assert resumed.steps_done == 2
    assert resumed.train()
    assert_same_run(straight, cut, "step-4")


def test_a_failed_step_can_be_gone_on_with(tmp_path):
    settings = {"lr": 1e-2, "steps": 3}
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    toy_trainer(straight, **settings).train()
    with pytest.raises(RunError) as error:
        toy_trainer(broken, task=FailsAtPrompt(4), **settings).train()
    line = str(error.value)
    assert "the task's reward is nan, not a finite number (prompt type 'sevens', completion '<" in line
    assert f"go on with: python train.py --resume {broken}" in line
    assert "\n" not in line
    assert toy_trainer(broken, resume=str(broken), **settings).train()
    for name in ("metrics.jsonl", "rollouts.jsonl"):
        assert lines(straight, name) == lines(broken, name)


def test_a_run_that_failed_in_its_first_step_starts_again(tmp_path):
    with pytest.raises(RunError, match="stopped after step 0"):
        toy_trainer(tmp_path / "run", task=FailsAtPrompt(0)).train()
    assert not list((tmp_path / "run").glob("step-*"))
    assert toy_trainer(tmp_path / "run", resume=str(tmp_path / "run"), steps=1).train()
    assert [line["step"] for line in lines(tmp_path / "run", METRICS)] == [1]


def test_more_steps_stretch_the_schedule(tmp_path):
    run = tmp_path / "run"
    toy_trainer(run, steps=1).train()
    assert toy_trainer(run, resume=str(run), steps=2).train()
    assert [line["lr"] for line in lines(run, METRICS)] == pytest.approx([1e-3, 5e-4])


def test_a_resumed_policy_samples_from_its_own_weights(tmp_path):
    run = tmp_path / "run"
    toy_trainer(run, steps=2, lr=1e-2).train()
    metrics = toy_trainer(run, resume=str(run), steps=4, lr=1e-2).step()
    assert metrics.logprob_gap_max < 1e-3
    # The reference is still the base model.
    assert metrics.kl > 1e-4


def test_a_folder_with_a_run_is_not_written_over(tmp_path):
    toy_trainer(tmp_path / "run", steps=1)
    with pytest.raises(SettingsError, match="already holds a run"):
        toy_trainer(tmp_path / "run", steps=1)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to another process")
def test_ctrl_c_finishes_the_step_and_saves(tmp_path):
    run = tmp_path / "run"
    program = f"from tests.toy import toy_trainer; print(toy_trainer({str(run)!r}, steps=100000).train())"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 300
    while not (run / METRICS).exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    assert output.decode().rstrip().endswith("False")
    assert b"finishing this step" in errors
    done = len(RunFolder(run).read(METRICS))
    assert (run / f"step-{done}" / "manifest.json").exists()
    config, _ = read_config(run)
    assert config.steps == 100000
    assert toy_trainer(run, resume=str(run), steps=100000).steps_done == done
