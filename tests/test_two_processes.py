"""Two processes share a step's prompts and get one process's gradient; one with nothing to learn blocks nobody."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import torch

from grpo.run_folder import METRICS, ROLLOUTS, RunFolder
from tests.toy import gradients, largest_difference, sampled, toy_trainer

ROOT = Path(__file__).resolve().parent.parent

GRADIENT = """
import sys, torch
from tests.toy import gradients, toy_trainer
out = sys.argv[1]
everyone = torch.load(out + ".rollouts", weights_only=False)
for reduction in ("sequence", "token"):
    trainer = toy_trainer(out + reduction, prompts_per_step=3, reduction=reduction, scale="batch", importance_cap=2.0)
    assert trainer.accelerator.num_processes == 2
    rank = trainer.accelerator.process_index
    found = gradients(trainer, *[column[rank::2] for column in everyone])
    if rank == 0:
        torch.save(found, out + reduction + ".gradients")
"""
# atexit's functions run last in, first out: this one is registered before the trainer's, so it runs after it.
TRAIN = """
import atexit, sys
import torch.distributed as dist
atexit.register(lambda: print("group left" if not dist.is_initialized() else "group still there", flush=True))
from tests.toy import toy_trainer
trainer = toy_trainer(sys.argv[1], prompts_per_step=1, steps=2, eval_every=2, eval_prompts=2)
assert trainer.train()
"""


def run_two(program: str, *arguments: str) -> list[str]:
    """Runs a program as two processes that know of each other, on a CPU over gloo; returns what each wrote."""
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
    outputs = []
    try:
        for process in processes:
            output, _ = process.communicate(timeout=500)
            outputs.append(output.decode())
            assert process.returncode == 0, outputs[-1][-3000:]
    finally:
        for process in processes:
            process.kill()
    return outputs


def test_two_processes_have_the_gradient_of_one(tmp_path):
    settings = {"prompts_per_step": 3, "scale": "batch", "importance_cap": 2.0}
    alone = {
        reduction: toy_trainer(tmp_path / reduction, reduction=reduction, **settings)
        for reduction in ("sequence", "token")
    }
    rollouts = sampled(alone["token"])
    out = str(tmp_path / "two")
    torch.save(rollouts, out + ".rollouts")
    run_two(GRADIENT, out)
    for reduction, trainer in alone.items():
        found = torch.load(f"{out}{reduction}.gradients")
        assert largest_difference(found, gradients(trainer, *rollouts)) < 1e-5, reduction


def test_a_process_without_a_prompt_waits_for_nobody(tmp_path):
    outputs = run_two(TRAIN, str(tmp_path / "run"))
    folder = RunFolder(tmp_path / "run")
    assert [line["step"] for line in folder.read(METRICS)] == [1, 2]
    assert len(folder.read(ROLLOUTS)) == 2
    # Left to the interpreter's end, the group aborted one process in six ("terminate called without ...").
    assert all(output.strip().endswith("group left") for output in outputs)
