"""How far training has moved a model on text that has nothing to do with the task."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.logprobs import exact_kl_per_token
from grpo.models import context_length
from grpo.rollout import Completion, Group
from grpo.settings import SettingsError


@torch.no_grad()
def mean_kl(
    model: PreTrainedModel,
    untrained: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
) -> float:
    """KL(model || untrained) in nats a token, over the full vocabulary, averaged over all tokens of all texts.

    At every token of a text but its first: the distributions are those given the text so far, no chat template around
    it. Texts longer than the models' context are cut there. Raises SettingsError for models of different vocabularies.
    """
    sizes = [one.get_output_embeddings().weight.shape[0] for one in (model, untrained)]
    if sizes[0] != sizes[1]:
        raise SettingsError(
            f"vocabularies of {sizes[0]} and {sizes[1]} tokens: the KL needs the model that training started from"
        )
    limit = context_length(model)
    total, count = 0.0, 0
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"][:limit]
        if len(ids) < 2:
            continue
        following = Completion(ids[1:], [0.0] * (len(ids) - 1), "stop")
        total += exact_kl_per_token(model, untrained, [Group(ids[:1], [following])]).double().sum().item()
        count += len(ids) - 1
    if not count:
        raise SettingsError("no text of two tokens or more to measure the KL on")
    return total / count
