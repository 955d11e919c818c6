"""Log-probs of sampled tokens: packed equals padded equals the plainest computation, and what each part must not do."""

from __future__ import annotations

import copy
import math

import pytest
import torch

import grpo.logprobs as logprobs_module
from grpo.grammar import GrammarError, TokenGrammar
from grpo.kl import kl_per_token
from grpo.logprobs import exact_kl_per_token, token_logprobs
from grpo.rollout import Completion, Group
from tests.conftest import make_qwen2


def group_of(prompt: list[int], *completions: list[int]) -> Group:
    return Group(prompt, [Completion(ids, [0.0] * len(ids), "length") for ids in completions])


# Unequal lengths, one-token completions, one group with a single completion, equal completions side by side.
GROUPS = [
    group_of([5, 6, 7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [20], [10, 11, 12], [10, 11, 12], [2]),
    group_of([40, 41], [50, 51, 52, 53]),
    group_of([60, 61, 62], [70], [71]),
]


def by_hand(model, groups, temperature=1.0):
    """Each completion by itself, the whole model, the full vocabulary: nothing shared with what is tested."""
    rows = []
    for group in groups:
        for completion in group.completions:
            ids = torch.tensor([group.prompt_ids + completion.token_ids])
            logp = (model(ids).logits.double() / temperature).log_softmax(-1)[0]
            places = torch.arange(len(group.prompt_ids) - 1, ids.shape[1] - 1)
            rows.append(logp[places, ids[0, places + 1]])
    return rows


def gradients(model, value: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    value.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def assert_gradients_close(one, other, relative=1e-4):
    assert one.keys() == other.keys()
    for name in one:
        assert (one[name] - other[name]).norm() <= relative * other[name].norm() + 1e-12, name


def test_log_probs_equal_each_completion_computed_by_itself(tiny_qwen2):
    model, _ = tiny_qwen2
    for temperature in (1.0, 0.5):
        expected = by_hand(model, GROUPS, temperature)
        for packed in (True, False):
            out = token_logprobs(model, GROUPS, temperature=temperature, packed=packed)
            assert out.logprobs.shape == out.entropy.shape == out.mask.shape == (8, 7)
            for row, values in enumerate(expected):
                assert out.mask[row].tolist() == [True] * len(values) + [False] * (7 - len(values))
                torch.testing.assert_close(out.logprobs[row, : len(values)].double(), values, atol=1e-4, rtol=0)
                assert not out.logprobs[row, len(values) :].any()


def test_packed_gradients_equal_padded_ones(tiny_qwen2):
    model, _ = tiny_qwen2
    weights = torch.randn(8, 7, generator=torch.Generator().manual_seed(0))
    both = [gradients(model, (token_logprobs(model, GROUPS, packed=p).logprobs * weights).sum()) for p in (True, False)]
    assert_gradients_close(*both)
    assert all(g.norm() > 0 for g in both[0].values())


def test_packed_equals_padded_on_llama_with_shared_key_heads(tiny_llama):
    model, _ = tiny_llama
    both = [token_logprobs(model, GROUPS, packed=packed).logprobs for packed in (True, False)]
    torch.testing.assert_close(*both, atol=1e-4, rtol=0)


@pytest.mark.slow
def test_packed_equals_padded_on_smollm2(smollm2):
    model, tokenizer = smollm2
    prompt = tokenizer("Names in: Shri Rajesh Kumar met Dr. A. K. Rao.").input_ids
    texts = ['[{"text":"Rajesh Kumar"}]', "[", '[{"text":"Rao"},{"text":"Kumar"}]', "[]"]
    groups = [
        group_of(prompt, *[[*tokenizer(text).input_ids, 2] for text in texts], [2]),
        group_of(prompt[:5], tokenizer("None at all").input_ids),
    ]
    results = []
    for packed in (True, False):
        out = token_logprobs(model, groups, packed=packed)
        weights = torch.randn(out.mask.shape, generator=torch.Generator().manual_seed(0))
        results.append((out.logprobs.detach(), gradients(model, (out.logprobs * weights).sum())))
    model.zero_grad()
    (one, one_gradients), (other, other_gradients) = results
    torch.testing.assert_close(one, other, atol=1e-4, rtol=0)
    assert_gradients_close(one_gradients, other_gradients)


def test_a_token_does_not_see_the_other_completions(tiny_qwen2):
    model, _ = tiny_qwen2
    alone = token_logprobs(model, [group_of([5, 6, 7], [8, 9, 10])]).logprobs[0]
    among = token_logprobs(model, [group_of([5, 6, 7], [30, 31, 32, 33], [8, 9, 10], [40, 41])]).logprobs[1, :3]
    torch.testing.assert_close(alone, among, atol=1e-5, rtol=0)


def test_masks_come_from_lengths_so_an_end_token_counts_and_padding_never_does(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    assert tokenizer.pad_token_id == tokenizer.eos_token_id == 2
    out = token_logprobs(model, [group_of([5, 6], [2, 2, 2, 2], [7, 2], [7, 0])])
    assert out.mask.sum(1).tolist() == [4, 2, 2]
    assert (out.logprobs[out.mask] < 0).all()
    loss = -out.logprobs[1, 1]  # the final end-of-sequence token alone
    assert gradients(model, loss)["model.layers.0.self_attn.q_proj.weight"].norm() > 0


def test_chunks_change_nothing_and_the_whole_logits_never_exist(tiny_qwen2, monkeypatch):
    model, _ = tiny_qwen2
    whole = token_logprobs(model, GROUPS)
    whole_gradients = gradients(model, whole.logprobs.sum())
    rows_seen = []
    handle = model.get_output_embeddings().register_forward_hook(lambda m, i, o: rows_seen.append(o.shape[0]))
    monkeypatch.setattr(logprobs_module, "CHUNK_LOGITS", 4 * 448)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.shape) or t, lambda t: t):
        chunked = token_logprobs(model, GROUPS)
    forward_rows = list(rows_seen)
    chunked_gradients = gradients(model, chunked.logprobs.sum())
    handle.remove()
    assert forward_rows == [4, 4, 4, 4, 4, 1]  # the 21 sampled tokens, four at a time; no prompt position
    assert len(rows_seen) == 12  # each once more in the backward pass
    assert not any(shape[-1:] == (448,) and len(shape) == 2 and shape[0] in (1, 4) for shape in saved)
    torch.testing.assert_close(chunked.logprobs, whole.logprobs, atol=1e-5, rtol=0)
    assert_gradients_close(chunked_gradients, whole_gradients)


def test_entropy_is_the_entropy_of_the_distribution_drawn_from(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar('root ::= ("a" | "b" | "c") "a"', tokenizer, 448)
    a = tokenizer.convert_tokens_to_ids("a")
    letters = [a, tokenizer.convert_tokens_to_ids("b"), tokenizer.convert_tokens_to_ids("c")]
    group = group_of([5, 6, 7], [a, a, 2])
    out = token_logprobs(model, [group], grammar=grammar, temperature=0.7)
    p = (model(torch.tensor([[5, 6, 7]])).logits[0, -1, letters].double() / 0.7).softmax(-1)
    assert out.entropy[0, 0].item() == pytest.approx(-(p * p.log()).sum().item(), abs=1e-4)
    assert out.logprobs[0, 0].item() == pytest.approx(p[0].log().item(), abs=1e-4)
    assert out.entropy[0, 1:].tolist() == out.logprobs[0, 1:].tolist() == [0.0, 0.0]
    assert not out.entropy.requires_grad
    full = token_logprobs(model, [group]).entropy[0, 0].item()
    assert math.log(3) < full < math.log(448)


def test_an_id_outside_the_grammar_names_group_completion_and_position(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    a, b = (tokenizer.convert_tokens_to_ids(letter) for letter in "ab")
    grammar = TokenGrammar('root ::= "a" "a"', tokenizer, 448)
    with pytest.raises(GrammarError, match=r"group 1, completion 1, position 1: token .* is not allowed"):
        token_logprobs(model, [group_of([5], [a]), group_of([5], [a, a], [a, b])], grammar=grammar)


def test_dropout_stays_off_even_when_somebody_calls_train(tokenizer):
    from grpo.models import without_dropout

    model = make_qwen2(tie=True)
    model.model.layers[0].self_attn.attention_dropout = 0.5
    without_dropout(model)
    first = token_logprobs(model, GROUPS).logprobs
    model.train()
    assert torch.equal(first, token_logprobs(model, GROUPS).logprobs)


def test_exact_kl_per_token_is_zero_at_the_reference_and_agrees_with_its_estimators_nearby(tiny_qwen2):
    model, _ = tiny_qwen2
    reference = copy.deepcopy(model)
    assert exact_kl_per_token(model, reference, GROUPS).abs().max() < 1e-6
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.01 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    kl = exact_kl_per_token(model, reference, GROUPS)
    out = token_logprobs(model, GROUPS)
    assert kl.shape == out.mask.shape
    assert (kl[out.mask] > 0).all() and not kl[~out.mask].any()
    # E[k3] over all first tokens of the group [60, 61, 62] is the exact KL there.
    every = group_of([60, 61, 62], *[[token] for token in range(448)])
    p, r = token_logprobs(model, [every]).logprobs, token_logprobs(reference, [every]).logprobs
    assert (p.exp() * kl_per_token(p, r)).sum().item() == pytest.approx(kl[6, 0].item(), rel=1e-3)
    assert gradients(model, kl.sum())
    assert all(parameter.grad is None for parameter in reference.parameters())


@pytest.mark.parametrize(
    ("groups", "temperature", "message"),
    [
        ([group_of([5], [6])], 0.0, "temperature 0.0: must be above 0"),
        ([group_of([], [6])], 1.0, "group 0: the prompt has no tokens"),
        ([group_of([5])], 1.0, "group 0: no completions"),
        ([group_of([5], [])], 1.0, "no sampled tokens"),
        ([], 1.0, "no sampled tokens"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_its_name(tiny_llama, groups, temperature, message):
    with pytest.raises(ValueError, match=message):
        token_logprobs(tiny_llama[0], groups, temperature=temperature)


def test_a_model_that_bends_its_logits_after_the_head_is_refused(tiny_llama):
    model, _ = tiny_llama
    model.config.final_logit_softcapping = 30.0
    with pytest.raises(ValueError, match="final_logit_softcapping"):
        token_logprobs(model, GROUPS)
