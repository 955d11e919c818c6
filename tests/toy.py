"""A task of a few lines for the trainer's tests: answer with six digits; the reward is the share of sevens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from grpo import processes
from grpo.config import Config
from grpo.microbatch import microbatches
from grpo.models import without_dropout
from grpo.rollout import Group
from grpo.sampler import decode_completion
from grpo.task import Prompt, Score
from grpo.trainer import Trainer
from grpo.update import policy_logprobs, step_loss
from tests.conftest import make_tokenizer

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


def toy_model(tie: bool = True) -> PreTrainedModel:
    """A random one-layer Qwen2, the same at every call, that starts near uniform over the allowed tokens."""
    config = Qwen2Config(
        vocab_size=448,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        tie_word_embeddings=tie,
        initializer_range=0.02,
        eos_token_id=[2, 0],
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return without_dropout(Qwen2ForCausalLM(config))


def toy_config(out: Path | str, **changes: Any) -> Config:
    """Four steps of 2 x 8 short completions, no evaluation."""
    settings: dict[str, Any] = {
        "model": "toy",
        "steps": 4,
        "prompts_per_step": 2,
        "group_size": 8,
        "max_tokens": 12,
        "lr": 1e-3,
        "eval_every": 0,
        "out": str(out),
    }
    return Config(**{**settings, **changes})


def toy_trainer(out: Path | str, task: Any = None, model: Any = None, **changes: Any) -> Trainer:
    """A trainer over the toy model, on a CPU or wherever the tests run."""
    return Trainer(toy_config(out, **changes), task or SevensTask(), model or toy_model(), make_tokenizer())


def sampled(trainer: Trainer) -> tuple[list[int], list[Group], list[list[Score]]]:
    """The next step's prompts, groups and scores, as step() makes them, for tests of what follows."""
    numbers, prompts = trainer.next_prompts()
    groups = trainer.sample(numbers, prompts)
    texts = [[decode_completion(trainer.tokenizer, one) for one in group.completions] for group in groups]
    scores = [[trainer.task.score(prompt, text) for text in row] for prompt, row in zip(prompts, texts, strict=True)]
    return numbers, groups, scores


def gradients(trainer: Trainer, numbers: list[int], groups: list[Group], scores: list[list[Score]]) -> list[Tensor]:
    """The step's gradient for these groups, summed over processes, as step() computes it."""
    config = trainer.config
    advantages, _, denominator = trainer.advantages(numbers, groups, scores)
    trainer.optimizer.zero_grad(set_to_none=True)
    for batch in microbatches(groups, advantages, trainer.tokens_per_microbatch, config.packed):
        policy = policy_logprobs(batch, trainer.model, trainer.reference, trainer.grammar, config)
        step_loss(batch, policy, denominator, config, trainer.importance_cap).total.backward()
    processes.sum_gradients(trainer.model)
    return [parameter.grad.clone() for parameter in trainer.model.parameters()]


def largest_difference(ours: list[Tensor], theirs: list[Tensor]) -> float:
    """The largest difference of any entry, relative to the largest entry."""
    scale = max(one.abs().max().item() for one in theirs)
    return max((one - other).abs().max().item() for one, other in zip(ours, theirs, strict=True)) / scale
