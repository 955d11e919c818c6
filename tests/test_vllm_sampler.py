"""The vLLM engine (its CPU build will do) against the trainer: same log-probs, same allowed tokens, always in step."""

from __future__ import annotations

import copy
import os
import random

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from grpo.grammar import TokenGrammar
from grpo.logprobs import token_logprobs
from grpo.models import load_model
from grpo.sampler import TorchSampler, VLLMSampler
from tests.conftest import make_qwen2
from tests.vllm_engine import EBNF, NEEDS_VLLM, PROMPTS, gap, groups_of

pytestmark = NEEDS_VLLM


@pytest.fixture(scope="module")
def tiny(tokenizer, tmp_path_factory):
    """(model, tokenizer, sampler, grammar) of a random Qwen2 with a tied head and a padded vocabulary."""
    model = make_qwen2(tie=True)
    # None of this may reach the sampling.
    model.generation_config = GenerationConfig(do_sample=True, top_k=1, repetition_penalty=5.0, eos_token_id=[2, 0])
    log = tmp_path_factory.mktemp("tiny") / "vllm.log"
    sampler = VLLMSampler(model, tokenizer, EBNF, max_model_len=256, log_file=log)
    yield model, tokenizer, sampler, TokenGrammar.for_model(EBNF, model, tokenizer)
    sampler.close()


# An engine that starts closes the one before it, so the tests stand in the order of their engines.


def in_step_through_five_updates(model, tokenizer, sampler, grammar, prompts, lr, max_tokens, tmp_path):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for update in range(6):
        for temperature in (1.0, 0.7):
            rows = sampler.generate(prompts, 2, max_tokens=max_tokens, temperature=temperature, seed=update)
            groups = groups_of(prompts, rows)
            assert gap(model, groups, grammar, temperature) < 1e-3
        if update == 5:
            break
        scored = token_logprobs(model, groups, grammar=grammar, temperature=temperature)
        scored.logprobs.sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        assert gap(model, groups, grammar, temperature) > 1e-2, "the update moved too little to notice a push left out"
        sampler.sync(model)

    # A resumed run: the weights of a checkpoint, loaded into a model of its own.
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    resumed, _ = load_model(str(tmp_path), device="cpu")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.1)
    sampler.sync(model)
    sampler.sync(resumed)
    rows = sampler.generate(prompts, 2, max_tokens=max_tokens, seed=9)
    assert gap(resumed, groups_of(prompts, rows), grammar) < 1e-3


def test_log_probs_of_a_tied_qwen2_are_the_trainers_before_and_after_every_update_and_after_resume(tiny, tmp_path):
    model, tokenizer, sampler, grammar = tiny
    trained = copy.deepcopy(model)
    try:
        in_step_through_five_updates(trained, tokenizer, sampler, grammar, PROMPTS, 0.1, 16, tmp_path)
    finally:
        sampler.sync(model)


def test_completions_of_both_samplers_replay_through_one_grammar(tiny):
    model, tokenizer, sampler, grammar = tiny
    for either in (sampler, TorchSampler(model, tokenizer, EBNF)):
        rows = either.generate(PROMPTS, 16, max_tokens=32, seed=3)
        for completion in (one for row in rows for one in row):
            allowed = grammar.allowed(completion.token_ids)
            assert allowed[torch.arange(len(completion.token_ids)), completion.token_ids].all()
            assert completion.finish_reason == ("stop" if completion.token_ids[-1] in (0, 2) else "length")
            assert len(completion.token_ids) <= 32
        assert {one.finish_reason for row in rows for one in row} == {"stop", "length"}


def test_every_end_of_sequence_id_ends_a_completion_and_stays_its_last_id(tiny):
    _, _, sampler, _ = tiny
    ended = [
        one.token_ids for row in sampler.generate(PROMPTS, 32, max_tokens=8, seed=1) for one in row
        if one.finish_reason == "stop"
    ]  # fmt: skip
    assert {ids[-1] for ids in ended} == {0, 2}
    assert not any(i in (0, 2) for ids in ended for i in ids[:-1])


def test_greedy_ids_and_log_probs_are_those_of_the_torch_sampler(tiny):
    model, tokenizer, sampler, _ = tiny
    expected = TorchSampler(model, tokenizer, EBNF).generate(PROMPTS, 1, max_tokens=12, temperature=0)
    found = sampler.generate(PROMPTS, 1, max_tokens=12, temperature=0)
    for (want,), (have,) in zip(expected, found, strict=True):
        assert have.token_ids == want.token_ids
        assert have.logprobs == pytest.approx(want.logprobs, abs=1e-3)


def test_completions_of_a_group_differ_and_a_seed_repeats_them(tiny):
    _, _, sampler, _ = tiny
    rows = sampler.generate(PROMPTS, 8, max_tokens=16, seed=4)
    assert all(len({tuple(one.token_ids) for one in row}) > 2 for row in rows)
    again = sampler.generate(PROMPTS, 8, max_tokens=16, seed=4)
    assert [[one.token_ids for one in row] for row in again] == [[one.token_ids for one in row] for row in rows]
    # Two prompts that are equal have streams of their own.
    first, second = sampler.generate([PROMPTS[0]] * 2, 4, max_tokens=16, seed=4)
    assert [one.token_ids for one in first] != [one.token_ids for one in second]


def test_first_tokens_are_drawn_as_often_as_the_model_says(tiny):
    model, _, sampler, grammar = tiny
    # After "[" a close or an item: the first token that is no formality.
    prompt, draws = PROMPTS[0], 1000
    rows = sampler.generate([prompt], draws, max_tokens=2, seed=5)
    seconds = torch.tensor([one.token_ids[1] for one in rows[0]])
    first = rows[0][0].token_ids[0]
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, first]])).logits[0, -1]
    expected = logits.masked_fill(~grammar.allowed([first, int(seconds[0])])[1], -torch.inf).softmax(-1) * draws
    found = torch.bincount(seconds, minlength=len(expected))
    often = expected >= 5
    chi2 = ((found - expected) ** 2 / expected)[often].sum()
    freedom = int(often.sum())
    # Six standard deviations of the statistic; the seed is fixed.
    assert chi2 < freedom + 6 * (2 * freedom) ** 0.5


def test_nothing_else_in_the_process_is_disturbed(tiny, capfd):
    model, _, sampler, _ = tiny

    def state():
        threads, cores = torch.get_num_threads(), os.sched_getaffinity(0)
        generators = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
        return threads, cores, torch.get_float32_matmul_precision(), torch.get_default_dtype(), generators

    before = state()
    set_num_threads = torch.set_num_threads
    sampler.sync(model)
    sampler.generate(PROMPTS, 2, max_tokens=4, seed=0)
    assert state() == before
    assert torch.set_num_threads is set_num_threads
    torch.set_num_threads(before[0])
    out, err = capfd.readouterr()
    assert out + err == ""
    assert "Reloading and processing weights" in sampler.log_file.read_text(encoding="utf-8")


def test_sleep_does_nothing_on_a_cpu(tiny):
    model, _, sampler, grammar = tiny
    sampler.sleep()
    rows = sampler.generate(PROMPTS, 2, max_tokens=4, seed=0)
    assert gap(model, groups_of(PROMPTS, rows), grammar) < 1e-3


def test_a_push_covers_every_weight_a_tied_head_under_both_names(tiny):
    model, _, sampler, _ = tiny
    sampler.sync(model)
    weights = [weight for _, weight in model.named_parameters()]
    assert sampler.pushed.tensors == len(weights) + 1
    assert sampler.pushed.elements == sum(map(torch.numel, weights)) + model.get_output_embeddings().weight.numel()


def test_free_answers_never_hold_a_padding_row_and_rounding_explains_the_gap_in_bfloat16(tokenizer, tmp_path):
    model = make_qwen2(tie=False)
    sampler = VLLMSampler(model, tokenizer, max_model_len=256, dtype=torch.bfloat16, log_file=tmp_path / "vllm.log")
    grammar = TokenGrammar.for_model(None, model, tokenizer)
    rows = sampler.generate(PROMPTS, 32, max_tokens=16, seed=6)
    assert {i for row in rows for one in row for i in one.token_ids} <= grammar.possible
    assert max(grammar.possible) < len(tokenizer) < grammar.vocab_size
    assert 1e-3 < gap(model, groups_of(PROMPTS, rows), grammar) < 0.5


@pytest.mark.slow
def test_log_probs_of_smollm2_are_the_trainers_before_and_after_every_update_and_after_resume(smollm2, tmp_path):
    model, tokenizer = smollm2
    trained = copy.deepcopy(model)
    grammar = TokenGrammar.for_model(EBNF, model, tokenizer)
    prompts = [tokenizer("Rajesh Kumar, Pune 411001, phone 98765 43210. The personal data in it:")["input_ids"]]
    sampler = VLLMSampler(trained, tokenizer, EBNF, max_model_len=256, log_file=tmp_path / "vllm.log")
    try:
        in_step_through_five_updates(trained, tokenizer, sampler, grammar, prompts, 0.1, 12, tmp_path / "saved")
    finally:
        sampler.close()
