"""Rewards -> advantages: hand-worked numbers, and what must never happen."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo.advantage import degenerate_groups, group_advantages


def test_two_completions_by_hand() -> None:
    # mean 0.5, deviations +-0.5, std with ddof 1: sqrt(0.5) = 0.70711; 0.5 / 0.70721 = 0.70701
    advantages = group_advantages(torch.tensor([[1.0, 0.0]]))
    assert advantages.tolist() == [pytest.approx([0.5 / (math.sqrt(0.5) + 1e-4), -0.5 / (math.sqrt(0.5) + 1e-4)])]


def test_one_success_among_four_by_hand() -> None:
    # mean 0.25; squared deviations 0.5625 + 3 * 0.0625 = 0.75; std = sqrt(0.75 / 3) = 0.5
    advantages = group_advantages(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    assert advantages[0].tolist() == pytest.approx([0.75 / 0.5001] + 3 * [-0.25 / 0.5001])


def test_each_scale_divides_by_its_own_spread() -> None:
    # Two groups of different spread, so that swapped scales show. All rewards: mean 1.5, squared deviations
    # 2.25 + 0.25 + 0.25 + 6.25 = 9, std = sqrt(3).
    rewards = torch.tensor([[0.0, 1.0], [1.0, 4.0]])
    group = [0.5 / (math.sqrt(0.5) + 1e-4), 1.5 / (math.sqrt(4.5) + 1e-4)]
    batch = [0.5 / (math.sqrt(3.0) + 1e-4), 1.5 / (math.sqrt(3.0) + 1e-4)]
    for scale, (first, second) in {"group": group, "batch": batch, "none": [0.5, 1.5]}.items():
        expected = [-first, first, -second, second]
        assert group_advantages(rewards, scale=scale).flatten().tolist() == pytest.approx(expected), scale


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_a_group_of_equal_rewards_teaches_nothing(scale: str) -> None:
    rewards = torch.tensor([[0.3] * 8, [0.0] * 4 + [1.0] * 4])
    advantages = group_advantages(rewards, scale=scale)
    assert advantages[0].tolist() == [0.0] * 8
    assert advantages[1].abs().min() > 0
    assert degenerate_groups(rewards).tolist() == [True, False]


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
@pytest.mark.parametrize(
    "rewards",
    [
        torch.tensor([[0.1 + 0.2, 0.3, 0.3]], dtype=torch.float64),
        torch.tensor([[0.3, 0.3 + 1e-9, 0.3 - 1e-9]], dtype=torch.float64),
        torch.tensor([[0.7, 0.7 + 6e-8, 0.7 - 6e-8]], dtype=torch.float32),
        torch.tensor([[1e5 + 0.1, 1e5 + 0.11]], dtype=torch.float32),
        torch.tensor([[0.0, 1e-17]], dtype=torch.float64),
    ],
)
def test_rounding_noise_teaches_nothing(rewards: torch.Tensor, scale: str) -> None:
    assert degenerate_groups(rewards).all()
    assert group_advantages(rewards, scale=scale).eq(0).all()


def test_a_real_difference_is_kept_however_small_or_far_from_zero() -> None:
    assert not degenerate_groups(torch.tensor([[0.5, 0.5 + 1e-5]])).any()
    assert not degenerate_groups(torch.tensor([[1e6, 1e6 + 1e-3]], dtype=torch.float64)).any()


def test_one_completion_has_advantage_zero_not_nan() -> None:
    for scale in ("group", "batch", "none"):
        assert group_advantages(torch.tensor([[0.7]]), scale=scale).tolist() == [[0.0]]
        assert group_advantages(torch.tensor([[0.7], [0.1]]), scale=scale).tolist() == [[0.0], [0.0]]


def test_a_small_spread_is_not_blown_up() -> None:
    # Deviations of 1e-5: without eps the advantages would be +-0.71; eps = 1e-4 leaves them at a tenth of that.
    advantages = group_advantages(torch.tensor([[0.5, 0.50002]], dtype=torch.float64))
    assert advantages.abs().max() < 0.1


def test_a_batch_scale_of_one_uneven_group_is_the_group_scale() -> None:
    rewards = torch.tensor([[0.1, 0.9, 0.4]])
    torch.testing.assert_close(group_advantages(rewards, scale="batch"), group_advantages(rewards, scale="group"))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_finite_is_named(bad: float) -> None:
    rewards = torch.zeros(2, 3)
    rewards[1, 2] = bad
    with pytest.raises(ValueError, match="group 1, completion 2"):
        group_advantages(rewards)


def test_wrong_shapes_and_scales_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(4,\)"):
        group_advantages(torch.zeros(4))
    with pytest.raises(ValueError, match=r"shape \(2, 0\)"):
        group_advantages(torch.zeros(2, 0))
    with pytest.raises(ValueError, match="scale is 'global'"):
        group_advantages(torch.zeros(1, 2), scale="global")


def test_no_groups_give_no_advantages() -> None:
    assert group_advantages(torch.zeros(0, 4)).shape == (0, 4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int64])
def test_the_result_is_float32_whatever_comes_in(dtype: torch.dtype) -> None:
    advantages = group_advantages(torch.tensor([[0, 1, 1, 0]], dtype=dtype))
    assert advantages.dtype == torch.float32
    assert advantages[0, 1] == -advantages[0, 0] > 0


rewards_strategy = st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4), min_size=1, max_size=5).map(
    lambda rows: torch.tensor(rows, dtype=torch.float64)
)


@settings(max_examples=100, deadline=None)
@given(rewards=rewards_strategy, scale=st.sampled_from(["group", "batch", "none"]))
def test_advantages_sum_to_zero_keep_the_order_and_forget_a_constant(rewards: torch.Tensor, scale: str) -> None:
    advantages = group_advantages(rewards, scale=scale).double()
    assert torch.isfinite(advantages).all()
    assert advantages.sum(dim=1).abs().max() < 1e-5
    ordered = advantages.gather(1, rewards.argsort(dim=1))
    assert (ordered.diff(dim=1) >= 0).all()
    # Adding 1 rounds rewards by 1e-16; divided by eps that is still nothing, unless it moves the degenerate border.
    shifted = group_advantages(rewards + 1, scale=scale).double()
    settled = degenerate_groups(rewards) == degenerate_groups(rewards + 1)
    torch.testing.assert_close(shifted[settled], advantages[settled], atol=1e-6, rtol=1e-6)
