"""Samplers: prompts in, groups of completions out, as token ids with the log-probs that they were drawn at.

TorchSampler (grpo.torch_sampler) samples in process and needs no extra install; VLLMSampler (grpo.vllm_sampler) is the
vLLM engine. Both draw from the same distribution and neither reads a model's generation_config, whose top-k, top-p or
repetition penalty would draw from another one than is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.rollout import Completion
from grpo.task import Prompt
from grpo.torch_sampler import TorchSampler

if TYPE_CHECKING:
    from grpo.vllm_sampler import VLLMSampler

__all__ = ["Sampler", "TorchSampler", "VLLMSampler", "decode_completion", "encode_prompts"]


class Sampler(Protocol):
    """Where completions come from."""

    def generate(
        self,
        prompts: list[list[int]],
        n: int,
        *,
        max_tokens: int,
        temperature: float = 1.0,
        seed: int | Sequence[int] | None = None,
    ) -> list[list[Completion]]:
        """Samples n completions for every prompt.

        prompts: token ids, see encode_prompts. n: completions a prompt, all different draws. max_tokens: the longest
        completion; one that reaches it has finish_reason "length" and no end-of-sequence id.
        temperature: divides the logits; 0 is greedy (n must be 1; log-probs are then those at temperature 1).
        seed: same seed, same completions; None draws a seed from torch's global generator. A list gives every prompt a
            seed of its own, and its completions are then drawn from that alone, whatever its place in the call.
        Returns a list per prompt, in order, of n completions.
        """
        ...

    def sync(self, model: PreTrainedModel) -> None:
        """Samples from this model's weights, as they are now, from here on."""
        ...


def encode_prompts(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt]) -> list[list[int]]:
    """Chat messages -> token ids, by the tokenizer's chat template, ready for the assistant's answer.

    The template writes the control tokens itself (a BOS too, where the model has one), so none are added again.
    Raises ValueError for a tokenizer without a chat template.
    """
    if not tokenizer.chat_template:
        raise ValueError(
            f"the tokenizer of {tokenizer.name_or_path!r} has no chat template; use an instruction-tuned model, or set "
            "chat_template in its tokenizer_config.json"
        )
    texts = [
        tokenizer.apply_chat_template(list(prompt.messages), tokenize=False, add_generation_prompt=True)
        for prompt in prompts
    ]
    return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]


def decode_completion(tokenizer: PreTrainedTokenizerBase, completion: Completion) -> str:
    """The text of a completion, for scoring and reading: without control tokens, otherwise exactly as sampled."""
    # "Cleaning up" would turn " ." into "." and so change text that is compared character by character.
    text = tokenizer.decode(completion.token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return cast(str, text)


def __getattr__(name: str) -> Any:
    # vLLM takes seconds to import and is not always installed, so it is loaded where it is first asked for.
    if name == "VLLMSampler":
        from grpo.vllm_sampler import VLLMSampler

        return VLLMSampler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
