"""It learns: a random model and a reward for sevens, from chance to over 0.9, on a CPU."""

from __future__ import annotations

from grpo.run_folder import EVALS, METRICS
from tests.toy import toy_trainer


def test_the_reward_rises_from_chance_to_over_nine_tenths(tmp_path):
    trainer = toy_trainer(tmp_path / "run", steps=40, prompts_per_step=4, lr=3e-3, beta=0.0, eval_every=40)
    trainer.train()
    rewards = [line["reward_mean"] for line in trainer.folder.read(METRICS)]
    assert rewards[0] < 0.3
    assert sum(rewards[-5:]) / 5 > 0.9
    before, after = trainer.folder.read(EVALS)
    assert before["reward"] < 0.5
    assert after["reward"] > 0.9


def test_a_large_beta_keeps_the_policy_near_the_reference(tmp_path):
    settings = {"steps": 20, "prompts_per_step": 4, "lr": 3e-3}
    held = toy_trainer(tmp_path / "held", beta=10.0, **settings)
    free = toy_trainer(tmp_path / "free", beta=0.001, **settings)
    held.train()
    free.train()
    kl_held, kl_free = (trainer.folder.read(METRICS)[-1]["kl"] for trainer in (held, free))
    assert kl_held < 0.05
    assert kl_free > 10 * kl_held
