"""All settings of a probe: one dataclass, as grpo.config is for a run (see grpo.settings for what is made from it)."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grpo.settings import SettingsError, check, setting

PROBE, SAMPLING, READING = "probe", "sampling", "reading the rewards"


@dataclass(frozen=True, kw_only=True)
class ProbeSettings:
    """Settings of one probe. Raises SettingsError where a value, or two together, make no sense."""

    model: str = setting(
        "",
        "model to probe: a hub id, a folder (such as a checkpoint), pii-tiny or smollm2-135m",
        group=PROBE,
        auto="Qwen/Qwen2.5-0.5B-Instruct on a GPU, pii-tiny on a CPU",
    )
    k: int = setting(32, "completions of each document", group=PROBE, unit="completions", minimum=2)
    documents: int = setting(10, "documents of each type", group=PROBE, unit="documents", minimum=1)
    types: str = setting(
        "",
        "types to probe, comma separated; * and ? stand for any characters, so *|chat|* is every chat",
        group=PROBE,
        auto="all of the task's",
    )
    seed: int = setting(0, "seed of sampling; the task has its own", group=PROBE, minimum=0)
    out: str = setting("", "folder of the probe", group=PROBE, auto="runs/probe-DATE-TIME-MODEL")
    resume: str = setting(
        "", "folder of a probe to go on with, or to read anew under other settings for that", group=PROBE
    )

    constrained: Literal["yes", "no", "both"] = setting(
        "yes", "sample under the task's grammar, free-form, or first the one and then the other", group=SAMPLING
    )
    temperature: float = setting(1.0, "sampling temperature", group=SAMPLING, above=0.0)
    max_tokens: int = setting(
        512, "longest completion; what is longer is cut off there", group=SAMPLING, unit="tokens", minimum=1
    )
    batch_tokens: int = setting(
        65536,
        "documents are sampled together up to this many tokens (prompts, and k longest completions each)",
        group=SAMPLING,
        unit="tokens",
        minimum=1,
    )
    sampler: Literal["auto", "torch", "vllm"] = setting(
        "auto",
        "what samples: vLLM, or this process's own model. auto: vLLM where there is a GPU and it is installed",
        group=SAMPLING,
    )
    precision: Literal["auto", "float32", "bfloat16"] = setting(
        "auto", "compute type of the model. auto: bfloat16 on a GPU", group=SAMPLING
    )
    vllm_memory: float = setting(0.6, "share of the GPU's memory for vLLM", group=SAMPLING, above=0.0, maximum=1.0)

    pass_bar: float = setting(0.9, "a completion passes with at least this reward", group=READING, resumable=True)
    mastered: float = setting(
        0.95,
        "a type is mastered when at least this share of its completions passes",
        group=READING,
        above=0.0,
        maximum=1.0,
        resumable=True,
    )
    sub_k: int = setting(
        8,
        "smaller group size that is also reported, over all sub-groups of the k completions; 0: none",
        group=READING,
        unit="completions",
        minimum=0,
        resumable=True,
    )

    keep: str = setting(
        "",
        "folder for what is worth keeping in a repository: the plots as PNG, the tables, and probe.json without "
        "completions",
        group=READING,
        resumable=True,
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def modes(self) -> tuple[str, ...]:
        """What is sampled, in order; verdicts and training types come from the first."""
        return {"yes": ("constrained",), "no": ("free",), "both": ("constrained", "free")}[self.constrained]

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """The k for which pass@k and the effective fraction are reported, ascending; the last is the one sampled."""
        return (self.sub_k, self.k) if 1 < self.sub_k < self.k else (self.k,)


def chosen_types(wanted: str, types: Sequence[str]) -> list[str]:
    """The task's types that a value of --types names, in the task's order; SettingsError where an entry names none."""
    if not wanted:
        return list(types)
    found: set[str] = set()
    for pattern in (entry.strip() for entry in wanted.split(",")):
        # Square brackets would be a set of characters to fnmatch; here they are themselves.
        matching = {type for type in types if fnmatch.fnmatchcase(type, pattern.replace("[", "[[]"))}
        if not matching:
            raise SettingsError(f"--types {pattern}: matches none of the task's {len(types)} types, such as {types[0]}")
        found |= matching
    return [type for type in types if type in found]
