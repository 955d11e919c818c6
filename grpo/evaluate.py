"""Evaluation on a fixed split: one answer per prompt, scored by the task."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

from grpo.metrics import mean, part_means
from grpo.run_folder import RunError
from grpo.sampler import Sampler, decode_completion, encode_prompts
from grpo.task import Prompt, Score, Task


def evaluate(
    task: Task,
    sampler: Sampler,
    tokenizer: Any,
    split: str,
    n: int,
    *,
    max_tokens: int,
    temperature: float = 0.0,
    seed: int = 0,
    batch: int = 32,
) -> dict[str, Any]:
    """The first n prompts of a split, answered once each (greedily at temperature 0) and scored.

    batch: prompts that are answered together.
    Returns what a line of evals.jsonl holds but for the step: split, prompts, reward, reward_interval (half the width
    of the mean's 95 % interval), parts, gate_fraction, truncated_fraction, completion_tokens_mean, scores, seconds.
    """
    began = time.perf_counter()
    prompts = task.eval_prompts(split, n)
    texts, lengths, truncated = [], [], []
    for start in range(0, len(prompts), batch):
        ids = encode_prompts(tokenizer, prompts[start : start + batch])
        groups = sampler.generate(ids, 1, max_tokens=max_tokens, temperature=temperature, seed=seed + start)
        for (completion,) in groups:
            texts.append(decode_completion(tokenizer, completion))
            lengths.append(len(completion.token_ids))
            truncated.append(completion.finish_reason == "length")
    scores = [score(task, prompt, text) for prompt, text in zip(prompts, texts, strict=True)]
    rewards = [one.reward for one in scores]
    centre = mean(rewards)
    spread = math.sqrt(mean([(reward - centre) ** 2 for reward in rewards]) / max(1, len(rewards) - 1))
    return {
        "split": split,
        "prompts": len(prompts),
        "reward": centre,
        "reward_interval": 1.96 * spread,
        "parts": part_means([one.parts for one in scores]),
        "gate_fraction": mean([one.gate for one in scores]),
        "truncated_fraction": mean(truncated),
        "completion_tokens_mean": mean(lengths),
        "scores": dict(task.scores(prompts, texts)),
        "seconds": time.perf_counter() - began,
    }


def score(task: Task, prompt: Prompt, text: str) -> Score:
    """The task's score of one completion, in plain floats (a task may count in numpy's).

    Raises RunError, naming the prompt, where it fails or is not finite.
    """
    where = f"prompt type {prompt.type!r}, completion {text[:200]!r}"
    try:
        found = task.score(prompt, text)
        parts = {name: float(value) for name, value in found.parts.items()}
        found = dataclasses.replace(found, reward=float(found.reward), parts=parts, gate=bool(found.gate))
    except Exception as error:
        raise RunError(
            f"the task's score failed with {type(error).__name__}: {error} ({where}); mend the task"
        ) from error
    wrong = {name: value for name, value in {"reward": found.reward, **found.parts}.items() if not math.isfinite(value)}
    if wrong:
        name, value = next(iter(wrong.items()))
        raise RunError(f"the task's {name} is {value}, not a finite number ({where}); mend the task")
    return found
