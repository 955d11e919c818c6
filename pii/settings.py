"""The PII task's own settings: dataclass fields from which the command line and config.json are made.

What the metadata of a field means is said in grpo.settings, which reads it; this file imports nothing of the trainer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pii.reward import WEIGHTS, check_weights

GROUP = "task"


def _setting(default: Any, doc: str, **metadata: Any) -> Any:
    return field(default=default, metadata={"doc": doc, "group": GROUP, **metadata})


@dataclass(frozen=True, kw_only=True)
class PiiSettings:
    """What the documents are and how answers are scored."""

    task_seed: int = _setting(0, "seed of the documents", minimum=0)
    prompt_style: Literal["full", "short"] = _setting(
        "full", "prompt with every type explained, or one line for a model that was made for the task"
    )
    empty_share: float = _setting(
        0.1, "share of training documents without any personal data", minimum=0.0, maximum=1.0
    )
    reward_weights: str = _setting(
        "",
        "weights of the reward's parts that differ from the usual, such as recall=0.4,precision=0.25,type=0.1",
        auto=",".join(f"{name}={weight}" for name, weight in WEIGHTS.items()),
    )
    train_types: str = _setting(
        "",
        "document types to train on, KEY or KEY=SHARE, comma separated; --probe fills it in",
        auto="all trained types, in equal shares",
    )
    probe: str = _setting(
        "", "probe.json of this model: only document types that it calls trainable are trained on", auto="no probe"
    )
    probe_rule: Literal["uniform", "spread"] = _setting(
        "uniform",
        "shares of the types that --probe chooses: equal, or in proportion to how far a type's completions differ in "
        "reward",
    )

    @property
    def types(self) -> dict[str, float] | None:
        """What train_types says; None where it says nothing. Raises ValueError naming the entry that cannot be read."""
        found = {}
        for entry in filter(None, self.train_types.split(",")):
            key, separator, share = entry.partition("=")
            try:
                found[key.strip()] = float(share) if separator else 1.0
            except ValueError:
                raise ValueError(f"--train-types {entry!r}: write it as KEY or KEY=NUMBER") from None
        return found or None

    @property
    def weights(self) -> dict[str, float]:
        """All parts with their weights. Raises ValueError naming the entry that cannot be read."""
        found = dict(WEIGHTS)
        for entry in filter(None, self.reward_weights.split(",")):
            name, _, number = entry.partition("=")
            try:
                found[name.strip()] = float(number)
            except ValueError:
                raise ValueError(f"--reward-weights {entry!r}: write it as NAME=NUMBER, such as recall=0.4") from None
        check_weights(found)
        return found
