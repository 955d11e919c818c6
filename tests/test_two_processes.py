"""Two processes share a step's prompts and get one process's gradient; one with nothing to learn blocks nobody."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grpo.run_folder import METRICS, ROLLOUTS, RunFolder
from tests.toy import gradients, largest_difference, sampled, toy_trainer

ROOT = Path(__file__).resolve().parent.parent

GRADIENT = """
import sys, torch
from tests.toy import gradients, sampled, toy_trainer
out, reduction = sys.argv[1:]
trainer = toy_trainer(out, prompts_per_step=3, reduction=reduction, scale="batch", importance_cap=2.0)
rank = trainer.accelerator.process_index
assert trainer.accelerator.num_processes == 2
everyone = torch.load(out + ".rollouts", weights_only=False)
own = [column[rank::2] for column in everyone]
found = gradients(trainer, *own)
if rank == 0:
    torch.save(found, out + ".gradients")
"""
TRAIN = """
import sys
from tests.toy import toy_trainer
trainer = toy_trainer(sys.argv[1], prompts_per_step=1, steps=2, eval_every=2, eval_prompts=2)
assert trainer.train()
"""


def run_two(program: str, *arguments: str) -> None:
    """Runs a program as two processes that know of each other, on a CPU over gloo."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    common |= {"LOCAL_WORLD_SIZE": "2", "CUDA_VISIBLE_DEVICES": ""}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            cwd=ROOT,
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for rank in range(2)
    ]
    try:
        for process in processes:
            output, _ = process.communicate(timeout=500)
            assert process.returncode == 0, output.decode()[-3000:]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.parametrize("reduction", ["sequence", "token"])
def test_two_processes_have_the_gradient_of_one(tmp_path, reduction):
    settings = {"prompts_per_step": 3, "reduction": reduction, "scale": "batch", "importance_cap": 2.0}
    alone = toy_trainer(tmp_path / "alone", **settings)
    rollouts = sampled(alone)
    out = str(tmp_path / "two")
    torch.save(rollouts, out + ".rollouts")
    run_two(GRADIENT, out, reduction)
    assert largest_difference(torch.load(out + ".gradients"), gradients(alone, *rollouts)) < 1e-5


def test_a_process_without_a_prompt_waits_for_nobody(tmp_path):
    run_two(TRAIN, str(tmp_path / "run"))
    folder = RunFolder(tmp_path / "run")
    assert [line["step"] for line in folder.read(METRICS)] == [1, 2]
    assert len(folder.read(ROLLOUTS)) == 2
