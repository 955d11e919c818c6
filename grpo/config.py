"""All settings of a run: one dataclass, each field documented once (see grpo.settings for what is made from it)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from grpo.settings import SettingsError, check, flag, setting

__all__ = ["Config", "SettingsError", "resumed"]

RUN, ROLLOUTS, LOSS, OPTIMIZER, COMPUTE, ENGINE, EVALUATION = (
    "run",
    "rollouts",
    "advantages and loss",
    "optimizer",
    "compute and memory",
    "sampler",
    "evaluation",
)


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of one run. Raises SettingsError where a value, or two together, make no sense."""

    model: str = setting(
        "",
        "model to train: a hub id, a folder (such as a checkpoint), pii-tiny or smollm2-135m",
        group=RUN,
        auto="Qwen/Qwen2.5-0.5B-Instruct on a GPU, pii-tiny on a CPU",
    )
    steps: int = setting(
        150,
        "optimizer steps of the run; the learning rate falls to zero over them. A resumed run may get more, not fewer",
        group=RUN,
        unit="steps",
        minimum=1,
    )
    seed: int = setting(0, "seed of sampling; the task has its own", group=RUN, minimum=0)
    out: str = setting("", "folder of the run", group=RUN, auto="runs/DATE-TIME-MODEL")
    resume: str = setting("", "folder of a run to go on with, from its newest checkpoint", group=RUN, resumable=True)
    save_every: int = setting(
        50, "steps between checkpoints; 0: only at the end", group=RUN, unit="steps", minimum=0, resumable=True
    )
    keep: int = setting(
        0, "newest checkpoints to keep; 0: all of them", group=RUN, unit="checkpoints", minimum=0, resumable=True
    )
    log_with: Literal["none", "tensorboard", "wandb", "trackio"] = setting(
        "none", "tracker that gets a copy of the metrics", group=RUN, resumable=True
    )

    prompts_per_step: int = setting(4, "prompts of a step", group=ROLLOUTS, unit="prompts", minimum=1)
    group_size: int = setting(8, "completions sampled for each prompt", group=ROLLOUTS, unit="completions", minimum=1)
    temperature: float = setting(
        1.0,
        "sampling temperature; the log-probs of the update are taken at the same temperature",
        group=ROLLOUTS,
        above=0.0,
    )
    max_tokens: int = setting(
        512, "longest completion; what is longer is cut off there", group=ROLLOUTS, unit="tokens", minimum=1
    )
    logprobs: Literal["constrained", "full"] = setting(
        "constrained",
        "distribution whose log-probs are trained: over the tokens that the grammar allows, which is what was sampled "
        "from, or over the full vocabulary (the usual mismatch, for comparison)",
        group=ROLLOUTS,
    )

    scale: Literal["group", "batch", "none"] = setting(
        "group", "what the centred rewards are divided by: the group's std, the batch's std, or nothing", group=LOSS
    )
    reduction: Literal["sequence", "token", "constant"] = setting(
        "sequence",
        "how tokens are averaged: within a completion and then over completions (GRPO), over all tokens of the step "
        "(DAPO), or divided by completions x max_tokens (Dr. GRPO)",
        group=LOSS,
    )
    beta: float = setting(
        0.02, "weight of the KL to the frozen reference; 0: no reference is loaded", group=LOSS, minimum=0.0
    )
    kl_estimator: Literal["k1", "k2", "k3", "exact"] = setting(
        "k3", "estimator of that KL from the sampled token, or the exact sum over the vocabulary", group=LOSS
    )
    passes: int = setting(
        1,
        "optimizer steps on each batch of rollouts; with more than one the policy term is the clipped ratio to the "
        "log-probs that the trainer had in the first pass",
        group=LOSS,
        unit="passes",
        minimum=1,
    )
    clip_low: float = setting(
        0.2, "the ratio is clipped below 1 - this (passes > 1)", group=LOSS, minimum=0.0, maximum=1.0
    )
    clip_high: float = setting(0.2, "the ratio is clipped above 1 + this (passes > 1)", group=LOSS, minimum=0.0)
    dual_clip: float | None = setting(
        None,
        "bound on the ratio where the advantage is negative (passes > 1)",
        group=LOSS,
        above=1.0,
        auto="no bound",
    )
    importance_cap: float | None = setting(
        None,
        "each token's policy term is weighted by trainer's / sampler's probability, at most this; 0: no weights",
        group=LOSS,
        minimum=0.0,
        auto="0 where the sampler computes in float32, 2 where in bfloat16",
    )
    skip_degenerate: bool = setting(
        False,
        "leave groups of equal rewards out of the forward and backward pass; the denominator stays, and the KL term of "
        "those groups is left out too",
        group=LOSS,
    )

    lr: float = setting(2e-6, "AdamW's learning rate at the first step", group=OPTIMIZER, minimum=0.0)
    weight_decay: float = setting(0.0, "AdamW's weight decay", group=OPTIMIZER, minimum=0.0)
    max_grad_norm: float = setting(
        1.0, "gradients are scaled down to this norm; 0: never", group=OPTIMIZER, minimum=0.0
    )

    precision: Literal["auto", "float32", "bfloat16"] = setting(
        "auto",
        "compute type of the forward passes; weights and optimizer are always float32. auto: bfloat16 on a GPU",
        group=COMPUTE,
    )
    tokens_per_microbatch: int | None = setting(
        None,
        "tokens whose activations are held at once; fewer take less memory and give the same gradient",
        group=COMPUTE,
        unit="tokens",
        minimum=1,
        resumable=True,
        auto="2048 on a CPU, 4096 on a GPU",
    )
    packed: bool = setting(
        True,
        "compute a group as one row (prompt once, all completions behind it); --no-packed pads them, as a check",
        group=COMPUTE,
        resumable=True,
    )

    sampler: Literal["auto", "torch", "vllm"] = setting(
        "auto",
        "what samples: vLLM, or this process's own model. auto: vLLM where there is a GPU and it is installed",
        group=ENGINE,
        resumable=True,
    )
    vllm_memory: float = setting(
        0.3,
        "share of the GPU's memory for vLLM",
        group=ENGINE,
        above=0.0,
        maximum=1.0,
        resumable=True,
    )
    max_context: int = setting(
        0,
        "longest prompt and completion together",
        group=ENGINE,
        unit="tokens; 0: the model's own limit, at most 8192",
        minimum=0,
        resumable=True,
    )

    eval_every: int = setting(
        50,
        "steps between evaluations on the sealed split, which also runs before the first and after the last step; "
        "0: none at all",
        group=EVALUATION,
        unit="steps",
        minimum=0,
        resumable=True,
    )
    eval_prompts: int = setting(
        110, "prompts of an evaluation, answered once each", group=EVALUATION, unit="prompts", minimum=1, resumable=True
    )
    eval_temperature: float = setting(
        1.0,
        "temperature of an evaluation's answers: 1 measures the policy that is trained, 0 its greedy answers",
        group=EVALUATION,
        minimum=0.0,
        resumable=True,
    )

    def __post_init__(self) -> None:
        check(self)
        if self.group_size == 1:
            raise SettingsError("--group-size 1: a group of one has nothing to be compared with; use 2 or more")
        if self.kl_estimator == "exact" and not self.packed:
            raise SettingsError("--kl-estimator exact --no-packed: the exact KL is computed on packed groups; drop one")


def resumed(saved: Config, run: str, changes: Mapping[str, Any]) -> tuple[Config, list[str]]:
    """The settings of a resumed run, and one line for each change of them.

    saved: from the run's config.json. changes: settings that were given along with --resume.
    Raises SettingsError for a change that would make the rest of the run another experiment.
    """
    notes = []
    for field in dataclasses.fields(Config):
        name = field.name
        if name in ("resume", "out") or name not in changes or changes[name] == getattr(saved, name):
            continue
        old, new = getattr(saved, name), changes[name]
        if name == "steps" and new > old:
            notes.append(f"--steps {new}: was {old}; the learning rate's way to zero now ends at step {new}")
        elif field.metadata.get("resumable"):
            notes.append(f"{flag(name)} {new}: was {old}")
        else:
            why = (
                "a shorter run cannot be resumed"
                if name == "steps"
                else "it would change what the rest of the run computes"
            )
            raise SettingsError(
                f"{flag(name)} {new}: the run in {run} has {old}, and {why}; drop it or start a new run"
            )
    if "out" in changes and changes["out"] != run:
        raise SettingsError(f"--out {changes['out']}: a resumed run stays in its folder {run}; drop --out")
    return dataclasses.replace(saved, **{**changes, "resume": run, "out": run}), notes
