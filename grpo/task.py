"""All that the algorithm knows about a task: prompts come out, completions go in, a score comes back.

Plain dataclasses and one Protocol, no torch, so that a task can be used (and tested) without the trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Prompt:
    """One question to the model.

    messages: chat messages, [{"role": ..., "content": ...}, ...], rendered with the tokenizer's chat template.
    type: the kind of prompt (for PII, the document type's key); statistics are kept by it.
    metadata: whatever the task needs to score an answer and a reader needs to understand it; JSON-serialisable.
    """

    messages: tuple[dict[str, str], ...]
    type: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """What the task thought of one completion.

    reward: one finite number; PII's lies in [0, 1].
    parts: what the reward is made of, by name.
    gate: True where the completion was an answer at all (it parsed); False means reward 0 whatever its content.
    reason: why the gate was closed, one line; empty where it was open.
    """

    reward: float
    parts: dict[str, float] = field(default_factory=dict)
    gate: bool = True
    reason: str = ""


class Task(Protocol):
    """A source of prompts and a judge of completions. Everything is deterministic: same index, same prompt.

    grammar: EBNF of a legal answer (xgrammar's dialect, start rule `root`), or None for free-form answers.
    types: every kind of prompt, for the probe. trained_types: those the training stream draws from.
    splits: names that eval_prompts() takes; the first is the sealed split that training reports.
    """

    grammar: str | None
    types: Sequence[str]
    trained_types: Sequence[str]
    splits: Sequence[str]

    def train_prompt(self, index: int) -> Prompt:
        """Prompt number `index` (0, 1, ...) of the endless training stream; the data position is this one integer."""
        ...

    def probe_prompt(self, type: str, index: int) -> Prompt:
        """Prompt number `index` of one type; disjoint from the training stream and from every split."""
        ...

    def eval_prompts(self, split: str, n: int) -> list[Prompt]:
        """The first n prompts of a fixed split, the same at every call."""
        ...

    def score(self, prompt: Prompt, completion: str) -> Score:
        """Scores one completion's text (special tokens removed)."""
        ...

    def scores(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> dict[str, float]:
        """Corpus-level scores that are never the reward (for PII: strict token F1 and the rest); may be empty."""
        ...
