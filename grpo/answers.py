"""A model's answers to a list of prompts, kept in a file as they come, so that an interrupted evaluation goes on.

A file holds the answers of one model under one set of settings: its name has both in it. A line is one prompt.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from grpo.models import context_length, load_model
from grpo.run_folder import RunFolder, cut_torn_tail
from grpo.sampler import Sampler, decode_completion, encode_prompts
from grpo.settings import SettingsError
from grpo.subjects import Engine, Subject, compute_dtype
from grpo.task import Prompt


@dataclass(frozen=True)
class Answers:
    """What a model said to one prompt: n texts, their lengths in tokens, and which were cut off."""

    texts: list[str]
    tokens: list[int]
    truncated: list[bool]


class Job:
    """Prompts of one split for one model, and the file in which their answers are kept.

    grammar: what answers are constrained to, or None. fingerprint: the model's; it is a part of the file's name, and so
    is everything else that an answer depends on besides its prompt.
    """

    def __init__(
        self,
        split: str,
        prompts: Sequence[Prompt],
        *,
        folder: Path,
        fingerprint: str,
        max_tokens: int,
        grammar: str | None = None,
        samples: int = 1,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.split, self.prompts, self.grammar = split, list(prompts), grammar
        self.samples, self.temperature, self.max_tokens = samples, temperature, max_tokens
        self.seed = seed if temperature else 0
        how = [fingerprint, grammar, samples, temperature, max_tokens, self.seed, str(compute_dtype())]
        key = hashlib.sha256(json.dumps(how).encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._name = RunFolder(folder), f"{split}-{key}.jsonl"
        cut_torn_tail(folder / self._name)

    def missing(self) -> list[Prompt]:
        """The prompts without an answer, the longest first: little is padded, and what does not fit fails early."""
        known = self._records()
        left = {_mark(prompt): prompt for prompt in self.prompts if _mark(prompt) not in known}
        return sorted(left.values(), key=lambda prompt: -sum(len(message["content"]) for message in prompt.messages))

    def answers(self) -> list[Answers]:
        """In the order of the prompts; all of them must be there."""
        known = self._records()
        records = [known[_mark(prompt)] for prompt in self.prompts]
        return [Answers(record["texts"], record["tokens"], record["truncated"]) for record in records]

    def ask(self, prompts: Sequence[Prompt], sampler: Sampler, tokenizer: Any, context: int | None) -> None:
        """Answers some prompts and keeps the answers. context: see answer()."""
        found = answer(
            prompts,
            sampler,
            tokenizer,
            samples=self.samples,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            context=context,
        )
        records = [
            {"prompt": _mark(prompt), "texts": one.texts, "tokens": one.tokens, "truncated": one.truncated}
            for prompt, one in zip(prompts, found, strict=True)
        ]
        self._folder.append(self._name, *records)

    def _records(self) -> dict[str, dict[str, Any]]:
        return {record["prompt"]: record for record in self._folder.read(self._name)}


def ask_all(subjects: Sequence[Subject], jobs: Mapping[str, Sequence[Job]], *, sampler: str, batch: int) -> None:
    """Asks every model what it has not answered yet, one grammar after the other, with a bar on a terminal.

    jobs: by Subject.model. sampler: auto, torch or vllm. batch: prompts that are asked together.
    """
    every = [job for subject in subjects for job in jobs[subject.model]]
    shown = sys.stderr.isatty()
    with tqdm(
        total=sum(len(job.prompts) for job in every), unit="prompt", dynamic_ncols=True, disable=not shown
    ) as bar:
        for grammar in dict.fromkeys(job.grammar for job in every):
            with Engine(sampler, grammar) as engine:
                for subject in subjects:
                    due = [(job, job.missing()) for job in jobs[subject.model] if job.grammar == grammar]
                    bar.update(sum(len(job.prompts) - len(left) for job, left in due))
                    if not any(left for _, left in due):
                        continue
                    model, tokenizer = load_model(subject.model)
                    for job, left in due:
                        bar.set_description(f"{subject.label}, {job.split.replace('_', '-')}")
                        source = engine.sampler(model, tokenizer, subject.model, job.max_tokens)
                        for start in range(0, len(left), batch):
                            job.ask(left[start : start + batch], source, tokenizer, context_length(model))
                            bar.update(len(left[start : start + batch]))


def answer(
    prompts: Sequence[Prompt],
    sampler: Sampler,
    tokenizer: Any,
    *,
    samples: int,
    temperature: float,
    max_tokens: int,
    seed: int,
    context: int | None,
) -> list[Answers]:
    """Asks for `samples` answers to each prompt; what a prompt gets does not depend on the others.

    context: tokens that fit the model, or None. Raises SettingsError for a prompt that leaves no room for an answer.
    """
    ids = encode_prompts(tokenizer, prompts)
    for prompt, row in zip(prompts, ids, strict=True):
        if context is not None and len(row) + max_tokens > context:
            raise SettingsError(
                f"prompt type {prompt.type!r}: {len(row)} tokens, which with --max-tokens {max_tokens} exceed the "
                f"model's context of {context}; lower --max-tokens"
            )
    seeds = [int.from_bytes(hashlib.sha256(f"{seed} {_mark(prompt)}".encode()).digest()[:7]) for prompt in prompts]
    groups = sampler.generate(ids, samples, max_tokens=max_tokens, temperature=temperature, seed=seeds)
    return [
        Answers(
            [decode_completion(tokenizer, one) for one in group],
            [len(one.token_ids) for one in group],
            [one.finish_reason == "length" for one in group],
        )
        for group in groups
    ]


def _mark(prompt: Prompt) -> str:
    """Knows a prompt again by its messages: a changed generator or prompt style asks anew."""
    return hashlib.sha256(json.dumps(list(prompt.messages), ensure_ascii=True).encode()).hexdigest()[:20]
