"""The distribution that is differentiated is the one that was sampled from."""

from __future__ import annotations

import pytest
import torch

from grpo.grammar import TokenGrammar
from grpo.logprobs import token_logprobs
from grpo.rollout import Completion, Group
from grpo.sampler import TorchSampler, encode_prompts
from grpo.task import Prompt
from tests.test_grammar import JSON_LIST


def log_prob_gap(model, prompts, groups, **how) -> float:
    """The largest difference between the sampler's and the trainer's log-prob of a token, in nats."""
    with torch.no_grad():
        out = token_logprobs(model, [Group(p, g) for p, g in zip(prompts, groups, strict=True)], **how)
    completions = [completion for group in groups for completion in group]
    gaps = [
        (out.logprobs[row, : len(c.token_ids)] - torch.tensor(c.logprobs)).abs().max().item()
        for row, c in enumerate(completions)
    ]
    return max(gaps)


@pytest.mark.parametrize("temperature", [1.0, 0.7, 0.5])
def test_sampler_and_trainer_agree_under_the_grammar(tiny_qwen2, temperature):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar.for_model(JSON_LIST, model, tokenizer)
    prompts = [[5, 6, 7, 8, 9], [40, 41], [60, 61, 62]]
    groups = TorchSampler(model, tokenizer, grammar).generate(
        prompts, 6, max_tokens=30, temperature=temperature, seed=0
    )
    gaps = {
        "right": log_prob_gap(model, prompts, groups, grammar=grammar, temperature=temperature),
        "no grammar": log_prob_gap(model, prompts, groups, temperature=temperature),
        "no temperature": log_prob_gap(model, prompts, groups, grammar=grammar),
    }
    assert gaps["right"] < 1e-3
    assert gaps["no grammar"] > 1
    assert gaps["no temperature"] > 0.1 or temperature == 1.0


def test_free_sampling_agrees_too_though_the_vocabulary_is_padded(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    free = TokenGrammar.for_model(None, model, tokenizer)
    groups = TorchSampler(model, tokenizer, free).generate([[5, 6]], 8, max_tokens=10, seed=0)
    assert log_prob_gap(model, [[5, 6]], groups, grammar=free) < 1e-3


@pytest.mark.slow
def test_on_smollm2_the_gap_is_rounding_under_the_grammar_and_nats_without_it(smollm2, record_property):
    model, tokenizer = smollm2
    grammar = TokenGrammar.for_model(JSON_LIST, model, tokenizer)
    prompts = encode_prompts(
        tokenizer,
        [
            Prompt(({"role": "user", "content": "List the names as JSON: Rajesh Kumar met Anil Rao."},), "x"),
            Prompt(({"role": "user", "content": "hello"},), "x"),
        ],
    )
    sampler = TorchSampler(model, tokenizer, grammar)
    for temperature in (1.0, 0.7):
        groups = sampler.generate(prompts, 2, max_tokens=12, temperature=temperature, seed=1)
        constrained = log_prob_gap(model, prompts, groups, grammar=grammar, temperature=temperature)
        full = log_prob_gap(model, prompts, groups, temperature=temperature)
        record_property(f"gap_at_{temperature}", {"constrained": constrained, "full": full})
        assert constrained < 1e-3
        assert full > 1


def test_a_grammar_with_a_single_legal_string_gives_log_prob_0_and_gradient_exactly_0(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar('root ::= "7"', tokenizer, 448, [2])
    [group] = TorchSampler(model, tokenizer, grammar).generate([[5, 6, 7]], 4, max_tokens=5, seed=0)
    seven = tokenizer.convert_tokens_to_ids("7")
    assert group == [Completion([seven, 2], [0.0, 0.0], "stop")] * 4
    out = token_logprobs(model, [Group([5, 6, 7], group)], grammar=grammar)
    assert out.logprobs.detach().eq(0).all() and out.entropy.eq(0).all()
    (out.logprobs * 1e6).sum().backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.parameters())


def test_a_step_along_the_constrained_gradient_moves_only_the_allowed_choice(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar('root ::= "a" | "b"', tokenizer, 448, [2])
    a, b = (tokenizer.convert_tokens_to_ids(letter) for letter in "ab")
    hidden = model.get_decoder()(torch.tensor([[5, 6]])).last_hidden_state[0, -1]
    logits = model.get_output_embeddings()(hidden).detach().requires_grad_()
    allowed = grammar.allowed([a])[0]
    logits.masked_fill(~allowed, -torch.inf).log_softmax(-1)[a].backward()
    p = logits.detach()[[a, b]].softmax(-1)
    expected = torch.zeros(448)
    expected[a], expected[b] = 1 - p[0], -p[1]
    torch.testing.assert_close(logits.grad, expected, atol=1e-5, rtol=0)
