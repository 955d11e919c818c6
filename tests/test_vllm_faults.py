"""What goes wrong with an engine, and that it is noticed: half a push, none at all, a death, a prompt too long."""

from __future__ import annotations

import json

import pytest
import torch

from grpo.rollout import SamplerError
from grpo.run_folder import RunError
from grpo.sampler import VLLMSampler
from grpo.trainer import Trainer
from grpo.vllm_weights import live_weights, push_weights
from tests.conftest import make_qwen2
from tests.toy import SevensTask, toy_config, toy_model
from tests.vllm_engine import EBNF, NEEDS_VLLM, PROMPTS

pytestmark = NEEDS_VLLM


@pytest.fixture(scope="module")
def tiny(tokenizer, tmp_path_factory):
    model = make_qwen2(tie=True)
    log = tmp_path_factory.mktemp("tiny") / "vllm.log"
    return model, VLLMSampler(model, tokenizer, EBNF, max_model_len=128, log_file=log)


@pytest.mark.parametrize(
    ("left_out", "named"),
    [
        ("model.layers.1.self_attn.k_proj.weight", "model.layers.1.self_attn.qkv_proj: 24832 of 33024 elements"),
        ("model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.gate_up_proj: 32768 of 65536 elements"),
        ("lm_head.weight", "lm_head: 0 of 57344 elements"),
        ("model.norm.weight", "model.norm: 0 of 128 elements"),
    ],
)
def test_an_engine_parameter_that_a_push_does_not_cover_whole_is_an_error(tiny, left_out, named):
    model, sampler = tiny
    weights = ((name, weight) for name, weight in live_weights(model, torch.float32) if name != left_out)
    with pytest.raises(SamplerError, match=named):
        push_weights(sampler._llm, weights)


def test_a_weight_that_the_engine_does_not_know_is_an_error(tiny):
    model, sampler = tiny
    extra = [*live_weights(model, torch.float32), ("model.layers.0.adapter.weight", torch.zeros(2))]
    with pytest.raises(ValueError, match="adapter"):
        push_weights(sampler._llm, extra)
    sampler.sync(model)


def test_a_prompt_too_long_is_named_before_anything_is_sampled(tiny):
    _, sampler = tiny
    with pytest.raises(
        ValueError, match=r"prompt 1 of 2 has 120 tokens; with 9 to sample that is 129.* 128: raise --max-"
    ):
        sampler.generate([[5, 6], [7] * 120], 2, max_tokens=9)
    assert len(sampler.generate([[5, 6], [7] * 120], 2, max_tokens=8)[1]) == 2


@pytest.mark.parametrize(
    ("n", "temperature", "prompts", "message"),
    [
        (2, 0.0, PROMPTS, "greedy"),
        (1, 0.001, PROMPTS, "at least 0.01"),
        (1, -1.0, PROMPTS, "temperature -1"),
        (0, 1.0, PROMPTS, "1 or more"),
        (1, 1.0, [[5], []], "prompt 1 of 2 is empty"),
    ],
)
def test_a_request_that_vllm_would_alter_silently_is_refused(tiny, n, temperature, prompts, message):
    with pytest.raises(ValueError, match=message):
        tiny[1].generate(prompts, n, max_tokens=4, temperature=temperature)


def test_a_new_sampler_closes_the_one_before_it_which_says_so(tiny, tokenizer, tmp_path):
    model, first = tiny
    second = VLLMSampler(model, tokenizer, EBNF, max_model_len=128, log_file=tmp_path / "vllm.log")
    with pytest.raises(SamplerError, match="closed"):
        first.generate(PROMPTS[1:], 1, max_tokens=4)
    assert len(second.generate(PROMPTS[1:], 1, max_tokens=4)) == 2


class NeverPushes(VLLMSampler):
    """Takes the first weights and none after."""

    def sync(self, model):
        if not self.pushed.tensors:
            super().sync(model)


def test_a_push_left_out_shows_in_the_gap_and_in_a_warning(tokenizer, tmp_path, capsys):
    model = toy_model()
    sampler = NeverPushes(model, tokenizer, SevensTask.grammar, log_file=tmp_path / "vllm.log")
    Trainer(toy_config(tmp_path / "run", steps=3, lr=1e-2), SevensTask(), model, tokenizer, sampler).train()
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["logprob_gap_max"] < 1e-3
    assert lines[1]["logprob_gap_max"] > 1e-2
    assert "check that the weights reach the sampler" in "".join(capsys.readouterr())


class BreaksTheEngine(SevensTask):
    """After so many answers a weight of the engine takes a shape that neither a forward pass nor a push survives."""

    def __init__(self, after: int) -> None:
        self.after, self.scored, self.sampler = after, 0, None

    def score(self, prompt, completion):
        self.scored += 1
        if self.sampler is not None and self.scored == self.after:
            self.sampler._llm.apply_model(lambda engine: setattr(engine.model.norm.weight, "data", torch.ones(3)))
        return super().score(prompt, completion)


def test_an_engine_that_dies_ends_the_run_with_one_line_and_a_folder_to_go_on_from(tokenizer, tmp_path):
    model, run = toy_model(), tmp_path / "run"
    config = toy_config(run, steps=6, save_every=0)
    task = BreaksTheEngine(after=3 * config.prompts_per_step * config.group_size)
    task.sampler = VLLMSampler(model, tokenizer, task.grammar, log_file=tmp_path / "vllm.log")
    with pytest.raises(RunError, match=r"the vLLM engine failed while .*; its log: .*--resume") as caught:
        Trainer(config, task, model, tokenizer, task.sampler).train()
    assert "\n" not in str(caught.value)
    with pytest.raises(SamplerError, match="the vLLM engine failed while"):
        task.sampler.generate(PROMPTS[1:], 1, max_tokens=4)
    resumed = toy_config(run, steps=6, save_every=0, sampler="torch", resume=str(run))
    trainer = Trainer(resumed, SevensTask(), toy_model(), tokenizer)
    assert trainer.steps_done == 3
    assert trainer.train()
    steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert steps == sorted(set(steps)) and len(steps) == 6
