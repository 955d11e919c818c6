"""A model's answers to a list of prompts, kept in a file as they come, so that an interrupted evaluation goes on.

A file holds the answers of one model under one set of settings: its name has both in it. A line is one prompt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo.run_folder import RunFolder, cut_torn_tail
from grpo.sampler import Sampler, decode_completion, encode_prompts
from grpo.settings import SettingsError
from grpo.task import Prompt


@dataclass(frozen=True)
class Answers:
    """What a model said to one prompt: n texts, their lengths in tokens, and which were cut off."""

    texts: list[str]
    tokens: list[int]
    truncated: list[bool]


class AnswerFile:
    """The answers of one model to the prompts of one split."""

    def __init__(self, folder: Path, name: str, model: str, settings: Mapping[str, Any]) -> None:
        """name: of the split. model: its fingerprint. settings: all else that an answer depends on."""
        key = hashlib.sha256(json.dumps([model, dict(settings)], sort_keys=True).encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._name = RunFolder(folder), f"{name}-{key}.jsonl"
        cut_torn_tail(folder / self._name)

    def missing(self, prompts: Sequence[Prompt]) -> list[int]:
        """The places of the prompts that have no answer yet."""
        known = self._records()
        return [place for place, prompt in enumerate(prompts) if _mark(prompt) not in known]

    def add(self, prompts: Sequence[Prompt], answers: Sequence[Answers]) -> None:
        self._folder.append(
            self._name,
            *(
                {"prompt": _mark(prompt), "texts": one.texts, "tokens": one.tokens, "truncated": one.truncated}
                for prompt, one in zip(prompts, answers, strict=True)
            ),
        )

    def read(self, prompts: Sequence[Prompt]) -> list[Answers]:
        """The answers in the prompts' order; all of them must be there."""
        known = self._records()
        return [
            Answers(record["texts"], record["tokens"], record["truncated"])
            for record in (known[_mark(prompt)] for prompt in prompts)
        ]

    def _records(self) -> dict[str, dict[str, Any]]:
        return {record["prompt"]: record for record in self._folder.read(self._name)}


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


def answer_missing(
    file: AnswerFile,
    prompts: Sequence[Prompt],
    ask: Callable[[list[Prompt]], list[Answers]],
    batch: int,
    progress: Callable[[int], object],
) -> None:
    """Fills the file up, `batch` prompts at a time, the longest first (little is padded, and what fails fails early).

    progress: called with the number of prompts that were done.
    """
    left = sorted(file.missing(prompts), key=lambda place: -_length(prompts[place]))
    progress(len(prompts) - len(left))
    for start in range(0, len(left), batch):
        some = [prompts[place] for place in left[start : start + batch]]
        file.add(some, ask(some))
        progress(len(some))


def _mark(prompt: Prompt) -> str:
    """Knows a prompt again by its messages: a changed generator or prompt style asks anew."""
    return hashlib.sha256(json.dumps(list(prompt.messages), ensure_ascii=True).encode()).hexdigest()[:20]


def _length(prompt: Prompt) -> int:
    return sum(len(message["content"]) for message in prompt.messages)
