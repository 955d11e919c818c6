"""TRL's own loss as an oracle: the same tensors through GRPOTrainer._compute_loss and through grpo_loss.

The trainer object is TRL's class with the attributes that its loss reads and no model: the log-probs, which a model
would give, are handed to it. Everything that is compared is TRL's code.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from grpo.advantage import group_advantages
from grpo.loss import grpo_loss, loss_denominator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns about versions of engines that this test does not use
    pytest.importorskip("trl", reason="TRL is the oracle of this file; install the `test` extra")
    from trl.trainer.grpo_trainer import GRPOTrainer

from accelerate import Accelerator

ROWS, WIDTH, MAX_TOKENS = 8, 7, 9
LOSS_TYPES = {"grpo": "sequence", "dapo": "token", "dr_grpo": "constant"}
LENGTHS = torch.tensor([7, 1, 4, 6, 2, 7, 3, 5])


class TrlLoss(GRPOTrainer):
    """GRPOTrainer without a model. `logprobs` stands for what the model's forward pass would return."""

    def __init__(self, loss_type: str, beta: float, delta: float | None, micro_batches: int, vllm: bool) -> None:
        self.loss_type = loss_type
        self.beta = beta
        self.args = SimpleNamespace(delta=delta, use_bias_correction_kl=False, steps_per_generation=micro_batches)
        self.current_gradient_accumulation_steps = micro_batches
        self.epsilon_low, self.epsilon_high = 0.2, 0.3
        self.max_completion_length = MAX_TOKENS
        self.importance_sampling_level = "token"
        self.top_entropy_quantile = 1.0
        self.off_policy_mask_threshold = None
        self.use_vllm = self.vllm_importance_sampling_correction = vllm
        self.aux_loss_enabled = self._entropy_bonus_enabled = False
        self.model = SimpleNamespace(training=True)
        self.accelerator = Accelerator(cpu=True)
        self._metrics: dict[str, Any] = {"train": defaultdict(list)}

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, None]:
        return self.logprobs, torch.zeros_like(self.logprobs), None

    def loss(self, logprobs: Tensor, inputs: dict[str, Tensor]) -> Tensor:
        self.logprobs = logprobs
        empty = torch.zeros(len(logprobs), 0, dtype=torch.long)
        tokens = {
            "prompt_ids": empty,
            "prompt_mask": empty,
            "completion_ids": torch.zeros(logprobs.shape, dtype=torch.long),
        }
        return self._compute_loss(self.model, tokens | inputs)


def batch() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)

    def noise(scale: float) -> Tensor:
        return scale * torch.randn(ROWS, WIDTH, generator=generator, dtype=torch.float64)

    logprobs = noise(1.0).abs().neg()
    rewards = torch.tensor([[0.0, 0.2, 1.0, 0.4], [0.1, 0.1, 0.9, 0.3]])
    return {
        "logprobs": logprobs,
        "advantages": group_advantages(rewards).flatten().double(),
        "mask": torch.arange(WIDTH) < LENGTHS[:, None],
        "ref_logprobs": logprobs + noise(0.5),
        "old_logprobs": logprobs + noise(0.4),
        "importance_weights": noise(0.3).exp().clamp(max=1.5),
    }


def trl_inputs(data: dict[str, Tensor], rows: slice = slice(None)) -> dict[str, Tensor]:
    return {
        "completion_mask": data["mask"][rows].double(),
        "advantages": data["advantages"][rows],
        "ref_per_token_logps": data["ref_logprobs"][rows],
        "num_items_in_batch": data["mask"].sum(),  # of the whole step, whichever rows these are
    } | ({"old_per_token_logps": data["old_logprobs"][rows]} if "old_logprobs" in data else {})


def with_gradient(value: Tensor, logprobs: Tensor) -> tuple[float, Tensor]:
    return value.item(), torch.autograd.grad(value, logprobs)[0]


def assert_same(ours: tuple[float, Tensor], theirs: tuple[float, Tensor]) -> None:
    assert theirs[1].abs().max() > 1e-3  # something was compared
    assert ours[0] == pytest.approx(theirs[0], abs=1e-6)
    assert (ours[1] - theirs[1]).abs().max() < 1e-6


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
@pytest.mark.parametrize("beta", [0.0, 0.02, 1.0])
@pytest.mark.parametrize("delta", [None, 1.5])
def test_loss_and_gradients_are_trl_s_with_stored_log_probs(loss_type: str, beta: float, delta: float | None) -> None:
    data = batch()
    weights = data.pop("importance_weights")
    logprobs = data.pop("logprobs").requires_grad_()
    theirs = TrlLoss(loss_type, beta, delta, micro_batches=1, vllm=False).loss(logprobs, trl_inputs(data))
    options = {"beta": beta, "clip_high": 0.3, "reduction": LOSS_TYPES[loss_type], "max_tokens": MAX_TOKENS}
    ours = grpo_loss(logprobs, **data, **options, dual_clip=delta).total
    assert_same(with_gradient(ours, logprobs), with_gradient(theirs, logprobs))

    trl = TrlLoss(loss_type, beta, delta, micro_batches=1, vllm=True)
    theirs = trl.loss(logprobs, trl_inputs(data) | {"importance_sampling_ratio": weights})
    ours = grpo_loss(logprobs, **data, **options, dual_clip=delta, importance_weights=weights).total
    assert_same(with_gradient(ours, logprobs), with_gradient(theirs, logprobs))


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
@pytest.mark.parametrize("beta", [0.0, 0.02])
def test_on_policy_the_gradients_are_trl_s_and_the_value_is_reported_differently(loss_type: str, beta: float) -> None:
    data = batch()
    del data["old_logprobs"], data["importance_weights"]
    logprobs = data.pop("logprobs").requires_grad_()
    options = {"beta": beta, "clip_high": 0.3, "reduction": LOSS_TYPES[loss_type], "max_tokens": MAX_TOKENS}
    theirs = with_gradient(TrlLoss(loss_type, beta, None, 1, False).loss(logprobs, trl_inputs(data)), logprobs)

    at_ratio_one = grpo_loss(logprobs, **data, **options, old_logprobs=logprobs.detach()).total
    assert_same(with_gradient(at_ratio_one, logprobs), theirs)

    on_policy = with_gradient(grpo_loss(logprobs, **data, **options).total, logprobs)
    assert (on_policy[1] - theirs[1]).abs().max() < 1e-6
    assert abs(on_policy[0] - theirs[0]) > 0.01  # -A * logp against -A


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_two_micro_batches_add_up_to_what_trl_s_two_add_up_to(loss_type: str) -> None:
    data = batch()
    del data["importance_weights"]
    logprobs = data.pop("logprobs").requires_grad_()
    reduction = LOSS_TYPES[loss_type]
    denominator = loss_denominator(data["mask"], reduction, MAX_TOKENS)
    trl = TrlLoss(loss_type, 0.02, None, micro_batches=2, vllm=False)
    ours = theirs = torch.zeros(())
    for rows in (slice(0, 4), slice(4, 8)):
        theirs = theirs + trl.loss(logprobs[rows], trl_inputs(data, rows))
        part = {name: tensor[rows] for name, tensor in data.items()}
        ours = (
            ours + grpo_loss(logprobs[rows], **part, clip_high=0.3, reduction=reduction, denominator=denominator).total
        )
    assert_same(with_gradient(ours, logprobs), with_gradient(theirs, logprobs))


def test_trl_reports_the_kl_that_we_average_over_tokens() -> None:
    data = batch()
    trl = TrlLoss("dapo", 0.02, None, micro_batches=1, vllm=False)
    trl.loss(data["logprobs"], trl_inputs(data))
    del data["importance_weights"]
    assert trl._metrics["train"]["kl"] == [pytest.approx(grpo_loss(**data, reduction="token").kl.item(), abs=1e-6)]
