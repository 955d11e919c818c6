"""Pushing the trainer's live weights into a running vLLM engine, and counting what arrived.

Four things go wrong here in practice, all of them silent: a weight that is never pushed, half of a fused matrix (q
without k and v), a tied head whose packed copy stays behind, and a prefix cache that still holds the old model's keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from grpo.rollout import SamplerError


class Pushed(NamedTuple):
    """What one push moved: tensors and elements handed to the engine, a tied head counted under both of its names."""

    tensors: int
    elements: int


def live_weights(model: nn.Module, dtype: torch.dtype) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, weight) of every parameter in the engine's dtype, a tied head under both of its names.

    The CPU build of vLLM 0.32 keeps a packed copy of the head's matrix, which only a push under the head's own name
    renews; without it a tied model samples with the old head.
    """
    for name, parameter in model.named_parameters(remove_duplicate=False):
        yield name, parameter.detach().to(dtype)


def push_weights(llm: Any, weights: Iterable[tuple[str, torch.Tensor]]) -> Pushed:
    """Loads the weights into the engine and empties its prefix cache.

    weights: (checkpoint name, tensor), as live_weights gives them.
    Raises SamplerError where an element of an engine parameter was not covered; the engine must not be used then.
    """
    count = [0, 0]

    def counted() -> Iterator[tuple[str, torch.Tensor]]:
        for name, weight in weights:
            count[0] += 1
            count[1] += weight.numel()
            yield name, weight

    missing = llm.collective_rpc(_reload, args=(counted(),))[0]
    if missing:
        some = "; ".join(missing[:3]) + ("; ..." if len(missing) > 3 else "")
        raise SamplerError(
            f"the push of the weights left {len(missing)} of the engine's modules uncovered ({some}); the model's "
            "parameters must be those of the architecture that the engine was started with"
        )
    if not llm.reset_prefix_cache():
        raise SamplerError("vLLM kept its prefix cache after a push of the weights: are requests still running?")
    return Pushed(*count)


def _reload(worker: Any, weights: Iterator[tuple[str, torch.Tensor]]) -> list[str]:
    """Runs in the engine's worker. Returns a line for every module that was not covered whole."""
    model = worker.model_runner.get_model()
    load = model.load_weights
    missing: list[str] = []

    def load_and_look(weights: Iterable[tuple[str, torch.Tensor]]) -> Any:
        loaded = load(weights)
        # After this vLLM fills what is missing with whatever the memory held, and says so at best in its log.
        missing.extend(_uncovered(model))
        return loaded

    model.load_weights = load_and_look
    try:
        worker.reload_weights(weights_iterator=weights)
    finally:
        del model.load_weights
    return missing


def _uncovered(model: nn.Module) -> list[str]:
    """Modules of vLLM's model whose parameters were not loaded element for element (read in the middle of a reload)."""
    from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
    from vllm.model_executor.model_loader.reload.layerwise import get_layerwise_info

    lines = []
    for name, module in model.named_modules():
        info = get_layerwise_info(module)
        # A module is closed as soon as all of it has arrived.
        if not info.can_load():
            continue
        wanted = sum(parameter.numel() for parameter in module.parameters(recurse=False))
        if isinstance(module, VocabParallelEmbedding):
            # Its rows are padded to a multiple of 64; no checkpoint has those.
            wanted = wanted // module.num_embeddings_padded * module.org_vocab_size
        if info.load_numel < wanted:
            lines.append(f"{name}: {info.load_numel} of {wanted} elements")
    return lines
