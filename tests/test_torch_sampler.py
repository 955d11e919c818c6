"""TorchSampler: what it draws, in what order, and what must never leak into it."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from transformers import GenerationConfig

from grpo.grammar import TokenGrammar
from grpo.logprobs import token_logprobs
from grpo.rollout import Completion, Group
from grpo.sampler import Sampler, TorchSampler, VLLMSampler, decode_completion, encode_prompts
from grpo.task import Prompt
from grpo.torch_sampler import inverse_cdf
from tests.conftest import CHATML, make_qwen2

PROMPTS = [[5, 6, 7, 8, 9], [40, 41], [60, 61, 62]]


def flat(groups):
    return [completion for group in groups for completion in group]


def by_hand(model, prompt, completion, temperature=1.0, rows=None):
    """Log-probs of a completion from one plain forward pass, over the first `rows` tokens of the vocabulary."""
    ids = torch.tensor([prompt + completion.token_ids])
    with torch.no_grad():
        logp = (model(ids).logits[0, :, :rows].double() / temperature).log_softmax(-1)
    places = torch.arange(len(prompt) - 1, ids.shape[1] - 1)
    return logp[places, ids[0, places + 1]]


def test_prompts_of_unequal_length_decode_in_one_batch_and_keep_their_own_log_probs(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    groups = TorchSampler(model, tokenizer).generate(PROMPTS, 4, max_tokens=12, seed=0)
    assert [len(group) for group in groups] == [4, 4, 4]
    for prompt, group in zip(PROMPTS, groups, strict=True):
        for completion in group:
            expected = by_hand(model, prompt, completion, rows=len(tokenizer))
            torch.testing.assert_close(torch.tensor(completion.logprobs).double(), expected, atol=1e-4, rtol=0)


def test_same_seed_same_completions_and_another_seed_others(tiny_qwen2):
    sampler = TorchSampler(*tiny_qwen2)
    first = sampler.generate(PROMPTS, 3, max_tokens=8, seed=1)
    assert first == sampler.generate(PROMPTS, 3, max_tokens=8, seed=1)
    assert first != sampler.generate(PROMPTS, 3, max_tokens=8, seed=2)


def test_without_a_seed_torchs_generator_decides(tiny_qwen2):
    sampler = TorchSampler(*tiny_qwen2)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        first, second = (sampler.generate(PROMPTS, 2, max_tokens=8) for _ in range(2))
        torch.manual_seed(3)
        assert first == sampler.generate(PROMPTS, 2, max_tokens=8)
    assert first != second


def test_completions_of_a_group_differ_from_the_first_token_on(tiny_qwen2):
    groups = TorchSampler(*tiny_qwen2).generate([[5, 6], [5, 6]], 16, max_tokens=6, seed=0)
    assert len({tuple(c.token_ids) for c in flat(groups)}) > 24
    for group in groups:
        assert len({c.token_ids[0] for c in group}) > 4
    assert groups[0] != groups[1]  # the same prompt twice in a call is two different groups


def test_a_completion_does_not_depend_on_what_else_is_in_the_batch(tiny_qwen2):
    sampler = TorchSampler(*tiny_qwen2)
    alone = sampler.generate(PROMPTS[:1], 2, max_tokens=10, seed=4)[0]
    among = sampler.generate(PROMPTS, 5, max_tokens=10, seed=4)[0][:2]
    assert [c.token_ids for c in alone] == [c.token_ids for c in among]


def test_a_prompts_own_seed_decides_wherever_the_prompt_stands(tiny_qwen2):
    sampler = TorchSampler(*tiny_qwen2)
    one, two, three = sampler.generate(PROMPTS, 2, max_tokens=10, seed=[7, 8, 9])
    moved = sampler.generate([PROMPTS[2], PROMPTS[0]], 2, max_tokens=10, seed=[9, 7])
    assert [[c.token_ids for c in group] for group in moved] == [[c.token_ids for c in group] for group in (three, one)]
    same, other = sampler.generate([PROMPTS[1]] * 2, 2, max_tokens=10, seed=[8, 5])
    assert [c.token_ids for c in same] == [c.token_ids for c in two] != [c.token_ids for c in other]
    with pytest.raises(ValueError, match="2 seeds for 3 prompts"):
        sampler.generate(PROMPTS, 2, max_tokens=3, seed=[1, 2])


def test_draws_follow_the_distribution(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar('root ::= "a" | "b" | "c"', tokenizer, 448)
    letters = [tokenizer.convert_tokens_to_ids(letter) for letter in "abc"]
    with torch.no_grad():
        p = (model(torch.tensor([[5, 6]])).logits[0, -1, letters] / 3.0).softmax(-1)
    n = 3000
    group = TorchSampler(model, tokenizer, grammar).generate([[5, 6]], n, max_tokens=1, temperature=3.0, seed=0)[0]
    for letter, probability in zip(letters, p.tolist(), strict=True):
        share = sum(c.token_ids == [letter] for c in group) / n
        assert share == pytest.approx(probability, abs=4 * math.sqrt(probability * (1 - probability) / n) + 1e-9)


def test_every_end_of_sequence_id_ends_a_completion(tokenizer):
    model = make_qwen2(tie=False)
    assert model.generation_config.eos_token_id == [2, 0]
    with torch.no_grad():
        model.lm_head.weight[[0, 2]] *= 4  # both ends likely
    completions = flat(TorchSampler(model, tokenizer).generate([[5, 6]], 200, max_tokens=30, seed=0))
    ended = [c for c in completions if c.finish_reason == "stop"]
    assert {c.token_ids[-1] for c in ended} == {0, 2}
    for completion in completions:
        assert not {0, 2} & set(completion.token_ids[:-1])
        if completion.finish_reason == "length":
            assert len(completion.token_ids) == 30
            assert completion.token_ids[-1] not in (0, 2)


def test_rows_that_finish_early_leave_the_others_unchanged(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    grammar = TokenGrammar("root ::= [ab] | [ab] [ab] [ab] [ab] [ab] [ab]", tokenizer, 448, [2])
    groups = TorchSampler(model, tokenizer, grammar).generate(PROMPTS, 6, max_tokens=8, temperature=2.0, seed=0)
    assert len({len(c.token_ids) for c in flat(groups)}) > 1
    out = token_logprobs(
        model, [Group(p, g) for p, g in zip(PROMPTS, groups, strict=True)], grammar=grammar, temperature=2
    )
    for row, completion in enumerate(flat(groups)):
        theirs = out.logprobs[row, : len(completion.token_ids)].tolist()
        assert theirs == pytest.approx(completion.logprobs, abs=1e-4)


def test_greedy_takes_the_likeliest_token_and_reports_log_probs_at_temperature_1(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    [[completion]] = TorchSampler(model, tokenizer).generate([[5, 6]], 1, max_tokens=5, temperature=0)
    with torch.no_grad():
        first = model(torch.tensor([[5, 6]])).logits[0, -1, : len(tokenizer)].argmax().item()
    assert completion.token_ids[0] == first
    expected = by_hand(model, [5, 6], completion, rows=len(tokenizer)).tolist()
    assert completion.logprobs == pytest.approx(expected, abs=1e-4)


def test_a_models_generation_config_has_no_influence(tokenizer):
    model = make_qwen2(tie=True)
    sampler = TorchSampler(model, tokenizer)
    before = sampler.generate(PROMPTS, 4, max_tokens=8, seed=0)
    model.generation_config = GenerationConfig(
        top_k=1, top_p=0.1, temperature=0.1, repetition_penalty=5.0, max_length=3, do_sample=False, eos_token_id=[2, 0]
    )
    assert TorchSampler(model, tokenizer).generate(PROMPTS, 4, max_tokens=8, seed=0) == before


def test_padded_rows_of_the_vocabulary_are_never_drawn(tokenizer):
    model = make_qwen2(tie=False)
    with torch.no_grad():
        model.lm_head.weight[len(tokenizer) :] *= 50  # by far the likeliest tokens, were they allowed
    for grammar in (None, r'root ::= "\"" [^"]* "\""'):
        groups = TorchSampler(model, tokenizer, grammar).generate(PROMPTS, 8, max_tokens=10, seed=0)
        assert max(max(c.token_ids) for c in flat(groups)) < len(tokenizer)


def test_answers_under_a_grammar_hold_no_white_space_and_no_control_token(tokenizer):
    model = make_qwen2(tie=False)
    grammar = TokenGrammar(r'root ::= "[" [0-9] ("," [0-9])* "]"', tokenizer, 448, [2, 0])
    groups = TorchSampler(model, tokenizer, grammar).generate(PROMPTS, 8, max_tokens=40, temperature=3.0, seed=0)
    for completion in flat(groups):
        text = tokenizer.decode(completion.token_ids[:-1])
        assert set(text) <= set("[],0123456789")
        if completion.finish_reason == "stop":
            assert text.startswith("[") and text.endswith("]")


def test_ids_stay_as_sampled_though_their_text_would_be_tokenised_otherwise(tokenizer):
    model = make_qwen2(tie=False)
    groups = TorchSampler(model, tokenizer).generate(PROMPTS, 8, max_tokens=20, temperature=2.0, seed=0)
    texts = [decode_completion(tokenizer, c) for c in flat(groups)]
    again = [tokenizer(text, add_special_tokens=False).input_ids for text in texts]
    assert any(ids != c.token_ids for ids, c in zip(again, flat(groups), strict=True))
    assert all(len(c.token_ids) == 20 or c.finish_reason == "stop" for c in flat(groups))


def test_after_an_update_the_next_completions_come_from_the_new_weights(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    sampler: Sampler = TorchSampler(model, tokenizer)
    sampler.generate(PROMPTS, 2, max_tokens=4, seed=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0))
    sampler.sync(model)
    [[completion]] = sampler.generate([[5, 6]], 1, max_tokens=6, seed=0)
    expected = by_hand(model, [5, 6], completion, rows=len(tokenizer)).tolist()
    assert completion.logprobs == pytest.approx(expected, abs=1e-4)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.get_output_embeddings().weight.mul_(0.5)
    sampler.sync(other)
    [[completion]] = sampler.generate([[5, 6]], 1, max_tokens=6, seed=0)
    assert completion.logprobs == pytest.approx(
        by_hand(other, [5, 6], completion, rows=len(tokenizer)).tolist(), abs=1e-4
    )


def test_sampling_leaves_the_models_mode_and_gradients_alone(tiny_qwen2):
    model, tokenizer = tiny_qwen2
    model.train()
    TorchSampler(model, tokenizer).generate(PROMPTS, 2, max_tokens=3, seed=0)
    assert model.training
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    token_logprobs(model, [Group([5], [Completion([6], [0.0], "length")])]).logprobs.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"temperature": 0.0}, "n is 2 at temperature 0"),
        ({"prompts": [[5], []]}, "prompt 1 has no tokens"),
        ({"prompts": [[5], [6] * 510]}, "prompt 1 has 510 tokens, which with max_tokens 4 .* context of 512"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_its_name(tiny_llama, arguments, message):
    sampler = TorchSampler(*tiny_llama)
    with pytest.raises(ValueError, match=message):
        sampler.generate(**{"prompts": [[5, 6]], "n": 2, "max_tokens": 4, **arguments})


def test_no_prompts_no_completions(tiny_llama):
    assert TorchSampler(*tiny_llama).generate([], 2, max_tokens=4) == []


def test_a_prompt_is_the_chat_template_and_has_one_bos(tokenizer):
    with_bos = copy.deepcopy(tokenizer)
    with_bos.chat_template = "{{ bos_token }}" + CHATML.replace("<|im_start|>", "")
    [ids] = encode_prompts(with_bos, [Prompt(({"role": "user", "content": "yes"},), "x")])
    assert ids.count(with_bos.bos_token_id) == 1 and ids[0] == with_bos.bos_token_id
    [ids] = encode_prompts(tokenizer, [Prompt(({"role": "user", "content": "yes"},), "x")])
    assert tokenizer.decode(ids) == "<|im_start|>user\nyes<|im_end|>\n<|im_start|>assistant\n"


def test_a_tokenizer_without_a_chat_template_is_refused(tokenizer):
    bare = copy.deepcopy(tokenizer)
    bare.chat_template = None
    with pytest.raises(ValueError, match="no chat template"):
        encode_prompts(bare, [Prompt(({"role": "user", "content": "yes"},), "x")])


def test_decoding_drops_control_tokens_and_changes_nothing_else(tokenizer):
    text = "Rajesh , Kumar . it 's  n't"
    ids = [*tokenizer(text, add_special_tokens=False).input_ids, 2]
    assert decode_completion(tokenizer, Completion(ids, [0.0] * len(ids), "stop")) == text


def test_an_id_of_probability_zero_is_never_drawn():
    logp = torch.tensor([[-torch.inf, 0.5, 0.5, -torch.inf, -torch.inf]]).log_softmax(-1).expand(4, -1)
    uniform = torch.tensor([0.0, 0.49999, 0.50001, 1 - 2**-53], dtype=torch.float64)
    assert inverse_cdf(logp, uniform).tolist() == [1, 1, 2, 2]


def test_both_samplers_are_reached_through_one_module():
    assert VLLMSampler.__module__ == "grpo.vllm_sampler"
    with pytest.raises(ImportError):
        from grpo.sampler import NoSuchSampler  # noqa: F401
