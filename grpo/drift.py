"""How far training has moved a model on text that has nothing to do with the task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.logprobs import exact_kl_per_token
from grpo.models import context_length, load_model
from grpo.rollout import Completion, Group
from grpo.run_folder import write_atomically
from grpo.settings import SettingsError
from grpo.subjects import Subject


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


def kl_to_base(
    subjects: Sequence[Subject], fingerprints: Mapping[str, str], base: str | None, texts: Sequence[str], file: Path
) -> dict[str, float]:
    """mean_kl of every subject that has an untrained model, by Subject.model; an untrained model's own is 0.

    fingerprints: of all models, by name. base: the untrained model, where it is not the subjects' own. file: where
    results are kept, so that none is computed twice.
    """
    mark = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]
    kept: dict[str, float] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found: dict[str, float] = {}
    loaded: tuple[str, Any] = ("", None)
    for one in subjects:
        origin = base or one.base
        if one.step == 0 or origin == one.model:
            found[one.model] = 0.0
        elif origin:
            key = f"{fingerprints[one.model]} {fingerprints[origin]} {mark}"
            if key not in kept:
                if loaded[0] != origin:
                    loaded = (origin, load_model(origin)[0])
                model, tokenizer = load_model(one.model)
                kept[key] = mean_kl(model, loaded[1], tokenizer, texts)
                write_atomically(file, json.dumps(kept, indent=1))
            found[one.model] = kept[key]
    return found
