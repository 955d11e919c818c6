"""A task of a few lines for the trainer's tests: answer with six digits; the reward is the share of sevens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grpo.config import Config
from grpo.task import Prompt, Score
from grpo.trainer import Trainer
from tests.conftest import make_qwen2, make_tokenizer

DIGITS = 6


class SevensTask:
    """Implements grpo.task.Task. Chance is 0.1: each of the six tokens is one of ten digits."""

    grammar: str | None = 'root ::= "<" ' + " ".join(["[0-9]"] * DIGITS) + ' ">"'
    types: Sequence[str] = ("sevens",)
    trained_types: Sequence[str] = ("sevens",)
    splits: Sequence[str] = ("held_out",)

    def train_prompt(self, index: int) -> Prompt:
        return self._prompt(f"Say {index}.")

    def probe_prompt(self, type: str, index: int) -> Prompt:
        return self._prompt(f"Probe {index}.")

    def eval_prompts(self, split: str, n: int) -> list[Prompt]:
        return [self._prompt(f"Tell {index}.") for index in range(n)]

    def score(self, prompt: Prompt, completion: str) -> Score:
        if len(completion) != DIGITS + 2:
            return Score(0.0, {"sevens": 0.0}, gate=False, reason="unfinished")
        share = completion.count("7") / DIGITS
        return Score(share, {"sevens": share})

    def scores(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> dict[str, float]:
        return {"all_sevens": sum(text == "<777777>" for text in completions) / len(completions)}

    def _prompt(self, text: str) -> Prompt:
        return Prompt(({"role": "user", "content": text},), "sevens", {"text": text})


def toy_config(out: Path | str, **changes: Any) -> Config:
    """Four steps of 2 x 4 short completions, no evaluation."""
    settings: dict[str, Any] = {
        "model": "toy",
        "steps": 4,
        "prompts_per_step": 2,
        "group_size": 4,
        "max_tokens": 12,
        "lr": 1e-3,
        "eval_every": 0,
        "out": str(out),
    }
    return Config(**{**settings, **changes})


def toy_trainer(out: Path | str, task: Any = None, model: Any = None, **changes: Any) -> Trainer:
    """A trainer over a small random model that is the same at every call."""
    model = make_qwen2(tie=True, layers=1) if model is None else model
    return Trainer(toy_config(out, **changes), task or SevensTask(), model, make_tokenizer())
