"""The learning rate from the first step to the last."""

from __future__ import annotations

import pytest
import torch

from grpo.schedule import cosine_to_zero


def test_it_starts_at_the_peak_is_half_in_the_middle_and_ends_at_zero() -> None:
    assert cosine_to_zero(0, 150, 2e-6) == 2e-6
    assert cosine_to_zero(75, 150, 2e-6) == pytest.approx(1e-6)
    assert cosine_to_zero(150, 150, 2e-6) == 0.0


def test_a_quarter_of_the_way_by_hand() -> None:
    assert cosine_to_zero(25, 100, 1.0) == pytest.approx((1 + 0.5**0.5) / 2)


def test_it_never_rises_and_the_last_step_still_moves() -> None:
    rates = [cosine_to_zero(step, 150, 2e-6) for step in range(151)]
    assert rates == sorted(rates, reverse=True)
    assert rates[149] > 0


def test_past_the_end_it_stays_zero() -> None:
    assert cosine_to_zero(151, 150, 2e-6) == cosine_to_zero(10**6, 150, 2e-6) == 0.0


def test_a_run_of_one_step_takes_it_at_the_peak() -> None:
    assert cosine_to_zero(0, 1, 0.1) == 0.1


def test_it_is_torch_s_cosine_annealing() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20, eta_min=0.0)
    for step in range(21):
        assert cosine_to_zero(step, 20, 0.3) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-12)
        optimizer.step()
        scheduler.step()


def test_senseless_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="steps is 0"):
        cosine_to_zero(0, 0, 1.0)
    with pytest.raises(ValueError, match="step is -1"):
        cosine_to_zero(-1, 10, 1.0)
