"""What `make train` runs on a machine without a GPU: the repository's own model, with no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grpo.models import PII_TINY, load_model, recommended
from pii.answer import render
from pii.generator import generate
from pii.grid import TYPES
from pii.prompt import messages

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(torch.cuda.is_available(), reason="a machine with a GPU trains Qwen2.5-0.5B by default")
def test_three_steps_of_the_default_run_offline_on_what_the_model_recommends(tmp_path: Path) -> None:
    out = tmp_path / "run"
    sizes = ["--steps", "3", "--eval-prompts", "4", "--max-tokens", "96"]
    done = subprocess.run(
        [sys.executable, "train.py", *sizes, "--out", str(out)],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"--lr {recommended('pii-tiny')['lr']}" in done.stdout
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    evals = [json.loads(line) for line in (out / "evals.jsonl").read_text().splitlines()]
    assert [step["step"] for step in steps] == [1, 2, 3]
    assert [line["step"] for line in evals] == [0, 3]
    # The untrained model answers: there is something to learn from, and not everything is right already.
    assert 0.05 < steps[0]["reward_mean"] < 0.8
    assert steps[0]["effective_fraction"] > 0
    assert max(step["logprob_gap_max"] for step in steps) < 1e-3
    assert (out / "report.html").is_file()


def test_the_model_is_small_and_its_heads_fit_vllms_cpu_build() -> None:
    model, _ = load_model("pii-tiny", device="cpu")
    assert 1e6 < sum(parameter.numel() for parameter in model.parameters()) < 5e6
    assert model.config.hidden_size // model.config.num_attention_heads == 64
    assert model.config.tie_word_embeddings
    assert sum(file.stat().st_size for file in PII_TINY.iterdir()) < 10e6


def test_prompts_and_answers_survive_its_tokenizer() -> None:
    _, tokenizer = load_model("pii-tiny", device="cpu")
    for seed, key in enumerate(TYPES):
        document = generate(key, seed)
        for text in (document.text, render(document.gold), messages(document.text, "short")[0]["content"]):
            assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_the_longest_answer_fits_the_tokens_it_recommends() -> None:
    _, tokenizer = load_model("pii-tiny", device="cpu")
    answers = [render(generate(key, seed).gold) for key in TYPES for seed in range(10)]
    longest = max(len(tokenizer.encode(answer, add_special_tokens=False)) for answer in answers)
    assert longest < recommended("pii-tiny")["max_tokens"]
