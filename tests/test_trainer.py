"""The loop on a real (tiny, random) model: what a step does, and what it must never do."""

from __future__ import annotations

import json
import math
import os
import signal

import numpy as np
import pytest
import torch

from grpo.grammar import GrammarError
from grpo.microbatch import microbatches
from grpo.rollout import Completion, Group
from grpo.run_folder import METRICS, ROLLOUTS, RunError
from grpo.task import Prompt, Score
from tests.toy import SevensTask, gradients, largest_difference, sampled, toy_model, toy_trainer


class SameReward(SevensTask):
    def score(self, prompt: Prompt, completion: str) -> Score:
        return Score(0.3)


def weights(trainer) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in trainer.model.parameters()]


def moved(before, trainer) -> bool:
    return any(not torch.equal(old, new) for old, new in zip(before, trainer.model.parameters(), strict=True))


@pytest.mark.parametrize("reduction", ["sequence", "token", "constant"])
def test_the_gradient_does_not_depend_on_the_micro_batches(tmp_path, reduction):
    settings = {"prompts_per_step": 3, "reduction": reduction, "scale": "batch", "beta": 0.5}
    whole = toy_trainer(tmp_path / "whole", **settings)
    # A reference that differs, so that the KL term has a gradient.
    whole.reference = toy_model(tie=True)
    with torch.no_grad():
        whole.reference.get_input_embeddings().weight.mul_(1.5)
    rollouts = sampled(whole)
    expected = gradients(whole, *rollouts)
    longest = max(len(one.prompt_ids) for one in rollouts[1])
    for name, changes in {
        "each completion": {"tokens_per_microbatch": 1},
        "part of a group": {"tokens_per_microbatch": longest + 25},
        "two groups": {"tokens_per_microbatch": 2 * (longest + 4 * 10)},
        "padded": {"packed": False},
    }.items():
        cut = toy_trainer(tmp_path / name, **settings, **changes)
        cut.reference = whole.reference
        assert largest_difference(gradients(cut, *rollouts), expected) < 1e-5, name


def test_micro_batches_keep_the_order_and_the_budget():
    group = Group([1, 2, 3], [Completion([4] * length, [0.0] * length, "stop") for length in (2, 5, 1, 1)])
    advantages = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    parts = microbatches([group], advantages, tokens=8)
    assert [[len(one.token_ids) for one in part.groups[0].completions] for part in parts] == [[2], [5], [1, 1]]
    assert torch.cat([part.advantages for part in parts]).tolist() == advantages[0].tolist()
    assert len(microbatches([group, group], advantages.repeat(2, 1), tokens=24)) == 1
    assert len(microbatches([group, group], advantages.repeat(2, 1), tokens=23)) == 2
    assert microbatches([], torch.zeros(0, 4), tokens=8) == []


def test_a_learning_rate_of_zero_leaves_every_weight_as_it_was(tmp_path):
    trainer = toy_trainer(tmp_path / "run", lr=0.0)
    before = weights(trainer)
    metrics = trainer.step()
    assert not moved(before, trainer)
    assert metrics.grad_norm > 0
    assert metrics.logprob_gap_max < 1e-3


def test_the_sampler_follows_every_update(tmp_path):
    trainer = toy_trainer(tmp_path / "run", lr=1e-2, temperature=0.7)
    before = weights(trainer)
    gaps = [trainer.step().logprob_gap_max for _ in range(4)]
    assert moved(before, trainer)
    assert max(gaps) < 1e-3


def test_the_reference_stays_where_it_was_and_the_kl_starts_at_zero(tmp_path):
    trainer = toy_trainer(tmp_path / "run", lr=1e-2)
    reference = [parameter.clone() for parameter in trainer.reference.parameters()]
    kl = [trainer.step().kl for _ in range(3)]
    assert kl[0] == pytest.approx(0.0, abs=1e-6)
    assert kl[2] > 1e-4
    assert all(torch.equal(a, b) for a, b in zip(reference, trainer.reference.parameters(), strict=True))


def test_no_reference_is_loaded_at_beta_zero(tmp_path):
    trainer = toy_trainer(tmp_path / "run", beta=0.0)
    assert trainer.reference is None
    assert trainer.step().kl is None


def test_weights_stay_float32(tmp_path):
    trainer = toy_trainer(tmp_path / "run", model=toy_model().bfloat16())
    assert {parameter.dtype for parameter in trainer.model.parameters()} == {torch.float32}


@pytest.mark.parametrize("estimator", ["k1", "k2", "exact"])
def test_every_kl_estimator_runs(tmp_path, estimator):
    trainer = toy_trainer(tmp_path / "run", kl_estimator=estimator, lr=1e-2)
    trainer.step()
    metrics = trainer.step()
    assert metrics.kl != 0
    assert math.isfinite(metrics.grad_norm)


def test_a_second_pass_clips_against_the_first(tmp_path):
    once = toy_trainer(tmp_path / "once", lr=1e-2)
    twice = toy_trainer(tmp_path / "twice", lr=1e-2, passes=2, clip_low=0.01, clip_high=0.01)
    assert once.step().clip_fraction is None
    metrics = twice.step()
    assert metrics.clip_fraction > 0.1
    # At ratio 1 the surrogate's value is minus the mean advantage of each group: 0.
    assert metrics.policy_loss == pytest.approx(0.0, abs=1e-6)
    assert largest_difference(weights(once), weights(twice)) > 0


def test_equal_log_probs_have_importance_weights_of_one(tmp_path):
    plain = toy_trainer(tmp_path / "plain")
    capped = toy_trainer(tmp_path / "capped", importance_cap=2.0)
    rollouts = sampled(plain)
    assert largest_difference(gradients(capped, *rollouts), gradients(plain, *rollouts)) < 1e-5


def test_a_step_of_equal_rewards_teaches_nothing(tmp_path):
    trainer = toy_trainer(tmp_path / "run", task=SameReward(), beta=0.0)
    before = weights(trainer)
    metrics = trainer.step()
    assert metrics.degenerate_fraction == 1.0
    assert metrics.grad_norm == 0.0
    assert not moved(before, trainer)


def test_degenerate_groups_can_be_left_out(tmp_path):
    trainer = toy_trainer(tmp_path / "run", task=SameReward(), skip_degenerate=True)
    metrics = trainer.step()
    assert metrics.grad_norm == 0.0
    assert metrics.logprob_gap_max is None
    assert metrics.reward_mean == pytest.approx(0.3)


def test_a_gradient_that_is_not_finite_never_reaches_the_weights(tmp_path):
    trainer = toy_trainer(tmp_path / "run")
    trainer.step()
    before = weights(trainer)
    trainer.model.get_input_embeddings().weight.register_hook(lambda gradient: gradient * math.inf)
    with pytest.raises(RunError, match=r"gradient's norm is (nan|inf) in step 2, and it was not applied.*step 1"):
        trainer.train()
    assert not moved(before, trainer)
    assert (tmp_path / "run" / "step-1").is_dir()


def test_full_log_probs_are_warned_about(tmp_path, capsys):
    toy_trainer(tmp_path / "run", steps=1, logprobs="full").train()
    assert "--logprobs full trains another distribution" in capsys.readouterr().out


def test_a_prompt_that_does_not_fit_says_so_before_sampling(tmp_path):
    trainer = toy_trainer(tmp_path / "run", max_context=24)
    with pytest.raises(RunError, match=r"prompt type 'sevens': \d+ tokens.*exceed the context of 24"):
        trainer.train()


def test_a_run_leaves_its_lines_and_evaluations(tmp_path):
    trainer = toy_trainer(tmp_path / "run", steps=3, eval_every=2, eval_prompts=3)
    assert trainer.train()
    lines = {
        name: [json.loads(line) for line in (tmp_path / "run" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("metrics", "evals", "rollouts")
    }
    assert [line["step"] for line in lines["metrics"]] == [1, 2, 3]
    assert [line["step"] for line in lines["evals"]] == [0, 2, 3]
    assert set(lines["evals"][0]["scores"]) == {"all_sevens"}
    assert [line["prompt"]["number"] for line in lines["rollouts"]] == [0, 1, 2, 3, 4, 5]
    assert lines["metrics"][0]["lr"] == 1e-3
    assert lines["metrics"][0]["unique_fraction"] > 0.5
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert settings["settings"]["steps"] == 3
    assert "torch" in settings["versions"]
    assert trainer.folder.read(METRICS) and trainer.folder.read(ROLLOUTS)


def test_a_tracker_gets_the_metrics(tmp_path):
    pytest.importorskip("tensorboard", reason="the package tensorboard is not installed (make test installs it)")
    toy_trainer(tmp_path / "run", steps=1, log_with="tensorboard").train()
    assert list((tmp_path / "run").rglob("events.out.tfevents*"))


def test_ctrl_c_in_the_last_step_leaves_no_evaluation_out(tmp_path):
    class Stopped(SevensTask):
        def score(self, prompt: Prompt, completion: str) -> Score:
            if prompt.metadata["text"] == "Say 3." and not self.__dict__.get("asked"):
                self.asked = True
                os.kill(os.getpid(), signal.SIGINT)
            return super().score(prompt, completion)

    trainer = toy_trainer(tmp_path / "run", task=Stopped(), steps=2, eval_every=1, eval_prompts=1)
    assert trainer.train()
    assert [line["step"] for line in trainer.folder.read("evals.jsonl")] == [0, 1, 2]
    assert (tmp_path / "run" / "step-2").is_dir()


def test_what_was_finished_is_saved_though_the_error_cannot_be_written_down(tmp_path):
    class Fails(SevensTask):
        def score(self, prompt: Prompt, completion: str) -> Score:
            if prompt.metadata["text"] == "Say 2.":
                raise KeyError("gold")
            return super().score(prompt, completion)

    trainer = toy_trainer(tmp_path / "run", task=Fails())
    (tmp_path / "run" / "error.txt").mkdir()
    with pytest.raises(RunError, match=r"failed with KeyError: 'gold' .*step 1; .*error\.txt could not be written"):
        trainer.train()
    assert (tmp_path / "run" / "step-1" / "manifest.json").is_file()


def test_a_task_may_count_in_numpy(tmp_path):
    class Numpy(SevensTask):
        def score(self, prompt: Prompt, completion: str) -> Score:
            share = np.float32(completion.count("7"))
            return Score(share, {"sevens": share, "whole": 1}, gate=np.bool_(True))

    trainer = toy_trainer(tmp_path / "run", task=Numpy(), steps=1)
    assert trainer.train()
    assert trainer.folder.read(METRICS)[0]["reward_parts"]["whole"] == 1.0


def test_weights_that_are_not_finite_are_named_before_a_token_is_drawn(tmp_path):
    model = toy_model()
    with torch.no_grad():
        model.get_input_embeddings().weight.fill_(math.nan)
    with pytest.raises(RunError, match=r"probabilities are NaN.*are its weights finite"):
        toy_trainer(tmp_path / "run", model=model).train()


def test_a_refused_task_leaves_its_folder_free_for_another_try(tmp_path):
    class BadGrammar(SevensTask):
        grammar = "root ::= nowhere"

    with pytest.raises(GrammarError, match="nowhere"):
        toy_trainer(tmp_path / "run", task=BadGrammar())
    assert not (tmp_path / "run").exists()
    assert toy_trainer(tmp_path / "run").steps_done == 0
