"""The loss by hand, term by term, and the ways in which masks and denominators go wrong elsewhere."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from grpo.loss import (
    clip_fraction,
    grpo_loss,
    loss_denominator,
    policy_term,
    reduce_tokens,
    truncated_importance_weights,
)

REDUCTIONS = ("sequence", "token", "constant")
MAX_TOKENS = 6


def batch(seed: int = 0) -> dict[str, Tensor]:
    """Six completions of 1 to 5 tokens, float64; logprobs has a gradient."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([5, 1, 3, 4, 2, 5])
    shape = (6, 5)
    logprobs = -3 * torch.rand(shape, generator=generator, dtype=torch.float64)
    return {
        "logprobs": logprobs.requires_grad_(),
        "advantages": torch.tensor([1.2, -0.4, 0.0, -1.5, 0.9, -0.2], dtype=torch.float64),
        "mask": torch.arange(5) < lengths[:, None],
        "ref_logprobs": logprobs.detach() + 0.5 * torch.randn(shape, generator=generator, dtype=torch.float64),
        "old_logprobs": logprobs.detach() + 0.2 * torch.randn(shape, generator=generator, dtype=torch.float64),
    }


def gradient(value: Tensor, logprobs: Tensor) -> Tensor:
    return torch.autograd.grad(value, logprobs)[0]


# Two completions: two tokens of log-prob -1, -2 with A = 1; one token of log-prob -3 with A = -0.5.
LOGPROBS = torch.tensor([[-1.0, -2.0], [-3.0, 0.0]])
ADVANTAGES = torch.tensor([1.0, -0.5])
MASK = torch.tensor([[True, True], [True, False]])


@pytest.mark.parametrize(
    "reduction, expected",
    [
        ("sequence", ((1 + 2) / 2 - 1.5) / 2),  # completion means 1.5 and -1.5, over two completions
        ("token", (1 + 2 - 1.5) / 3),  # three tokens
        ("constant", (1 + 2 - 1.5) / (2 * 10)),  # two completions of at most ten tokens
    ],
)
def test_the_on_policy_loss_by_hand(reduction: str, expected: float) -> None:
    terms = grpo_loss(LOGPROBS, ADVANTAGES, MASK, reduction=reduction, max_tokens=10)
    assert terms.total.item() == terms.policy.item() == pytest.approx(expected)
    assert terms.kl.item() == 0


def test_the_total_is_the_policy_term_plus_beta_times_the_kl() -> None:
    # k3 with d = ln 2 at every token: 2 - ln 2 - 1
    terms = grpo_loss(LOGPROBS, ADVANTAGES, MASK, ref_logprobs=LOGPROBS + math.log(2), beta=0.1)
    assert terms.kl.item() == pytest.approx(1 - math.log(2), abs=1e-6)
    assert terms.total.item() == pytest.approx(terms.policy.item() + 0.1 * (1 - math.log(2)), abs=1e-6)


def test_beta_defaults_to_two_hundredths() -> None:
    terms = grpo_loss(LOGPROBS, ADVANTAGES, MASK, ref_logprobs=LOGPROBS + 1)
    assert (terms.total - terms.policy).item() == pytest.approx(0.02 * terms.kl.item())


def test_at_beta_zero_the_kl_is_reported_but_has_no_gradient_in_the_total() -> None:
    data = batch()
    terms = grpo_loss(data["logprobs"], data["advantages"], data["mask"], ref_logprobs=data["ref_logprobs"], beta=0)
    assert terms.kl > 0
    assert terms.total == terms.policy


@pytest.mark.parametrize(
    "advantage, ratio, expected",
    [
        (2.0, 1.1, -2.2),  # inside the clip range: -r A
        (2.0, 1.5, -2.0 * 1.3),  # too likely already: clipped at 1 + high
        (2.0, 0.5, -1.0),  # has become unlikely: unclipped, the way back is free
        (-2.0, 0.5, 2.0 * 0.8),  # unlikely enough: clipped at 1 - low
        (-2.0, 1.5, 3.0),  # has become likely: unclipped
        (-2.0, 9.0, 18.0),
    ],
)
def test_the_clipped_surrogate_by_hand(advantage: float, ratio: float, expected: float) -> None:
    old = torch.tensor([[-2.0]])
    term = policy_term(old + math.log(ratio), torch.tensor([advantage]), old, clip_low=0.2, clip_high=0.3)
    assert term.item() == pytest.approx(expected, rel=1e-5)


def test_dual_clip_caps_the_loss_of_a_bad_token_that_became_likely() -> None:
    old = torch.full((1, 3), -5.0)
    logprobs = (old + torch.tensor([2.0, 4.0, 0.5]).log()).requires_grad_()
    term = policy_term(logprobs, torch.tensor([-1.0]), old, dual_clip=3.0)
    assert term[0].tolist() == pytest.approx([2.0, 3.0, 0.8], rel=1e-5)
    assert gradient(term.sum(), logprobs)[0].tolist() == pytest.approx([2.0, 0.0, 0.0], rel=1e-5)
    good = policy_term(logprobs, torch.tensor([1.0]), old, dual_clip=3.0)
    torch.testing.assert_close(good, policy_term(logprobs, torch.tensor([1.0]), old))


def test_at_ratio_one_the_clipped_and_the_on_policy_term_differ_in_value_but_not_in_gradient() -> None:
    data = batch()
    logprobs, advantages = data["logprobs"], data["advantages"]
    on_policy = policy_term(logprobs, advantages)
    clipped = policy_term(logprobs, advantages, logprobs.detach())
    torch.testing.assert_close(on_policy, -advantages[:, None] * logprobs)
    torch.testing.assert_close(clipped, -advantages[:, None].expand_as(logprobs))
    torch.testing.assert_close(gradient(on_policy.sum(), logprobs), gradient(clipped.sum(), logprobs))


def test_the_loss_is_zero_at_ratio_one_while_its_gradient_is_not() -> None:
    # The question that is asked most: advantages sum to 0, so the surrogate -mean(A) is 0 where lengths are equal.
    logprobs = torch.tensor([[-1.0, -2.0], [-3.0, -0.5]], requires_grad=True)
    terms = grpo_loss(
        logprobs,
        torch.tensor([0.7, -0.7]),
        torch.ones(2, 2, dtype=torch.bool),
        old_logprobs=logprobs.detach(),
        ref_logprobs=logprobs.detach(),
    )
    assert terms.total.item() == pytest.approx(0, abs=1e-7)
    assert gradient(terms.total, logprobs).flatten().tolist() == pytest.approx([-0.175, -0.175, 0.175, 0.175])


def test_clip_fraction_counts_the_tokens_whose_gradient_is_cut() -> None:
    data = batch()
    advantages, mask, old = data["advantages"], data["mask"], data["old_logprobs"]
    logprobs = data["logprobs"]
    cut = (gradient(policy_term(logprobs, advantages, old, dual_clip=1.3).sum(), logprobs) == 0) & mask
    cut = cut & (advantages != 0)[:, None]
    fraction = clip_fraction(logprobs, advantages, mask, old, dual_clip=1.3)
    assert 0 < cut.sum() < mask.sum()
    assert fraction.item() == pytest.approx(cut.sum().item() / mask.sum().item())
    assert clip_fraction(logprobs, advantages, torch.zeros_like(mask), old).item() == 0
    assert clip_fraction(logprobs, advantages, mask, logprobs).item() == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kl_estimator", ["k1", "k2", "k3", "exact"])
@pytest.mark.parametrize("junk", [math.nan, math.inf, -math.inf])
def test_what_stands_at_masked_positions_changes_nothing(reduction: str, kl_estimator: str, junk: float) -> None:
    def loss(fill: float) -> tuple[Tensor, Tensor, Tensor]:
        data = batch()
        mask = data["mask"]
        logprobs = torch.where(mask, data["logprobs"].detach(), fill).requires_grad_()
        exact = (logprobs.detach() - 1).square().where(mask, torch.tensor(fill)).requires_grad_()
        terms = grpo_loss(
            logprobs,
            data["advantages"],
            mask,
            ref_logprobs=torch.where(mask, data["ref_logprobs"], fill),
            old_logprobs=torch.where(mask, data["old_logprobs"], fill),
            importance_weights=torch.where(mask, 0.9, fill),
            exact_kl=exact,
            kl_estimator=kl_estimator,
            reduction=reduction,
            max_tokens=MAX_TOKENS,
        )
        terms.total.backward()
        if exact.grad is not None:
            assert exact.grad[~mask].eq(0).all()
        assert logprobs.grad[~mask].eq(0).all()
        return terms.policy.detach(), terms.kl.detach(), logprobs.grad

    for clean, dirty in zip(loss(0.0), loss(junk), strict=True):
        assert torch.equal(clean, dirty)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("rows", [0, 3])
def test_a_batch_with_nothing_left_is_zero_not_nan(reduction: str, rows: int) -> None:
    logprobs = torch.full((rows, 4), -1.0, requires_grad=True)
    mask = torch.zeros(rows, 4, dtype=torch.bool)
    terms = grpo_loss(
        logprobs, torch.ones(rows), mask, ref_logprobs=logprobs.detach(), reduction=reduction, max_tokens=4
    )
    terms.total.backward()
    assert [term.item() for term in terms] == [0.0, 0.0, 0.0]
    assert logprobs.grad.eq(0).all()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_masked_row_does_not_count(reduction: str) -> None:
    data = batch()
    mask = data["mask"].clone()
    mask[3] = False
    rows = [0, 1, 2, 4, 5]
    with_row = grpo_loss(data["logprobs"], data["advantages"], mask, reduction=reduction, max_tokens=MAX_TOKENS)
    without = grpo_loss(
        data["logprobs"][rows], data["advantages"][rows], mask[rows], reduction=reduction, max_tokens=MAX_TOKENS
    )
    torch.testing.assert_close(with_row.total, without.total)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_more_padding_changes_nothing(reduction: str) -> None:
    data = batch()
    wide = {
        name: torch.nn.functional.pad(data[name].detach(), (0, 7))
        for name in ("logprobs", "mask", "ref_logprobs", "old_logprobs")
    }
    narrow = grpo_loss(**data, reduction=reduction, max_tokens=MAX_TOKENS)
    padded = grpo_loss(**wide, advantages=data["advantages"], reduction=reduction, max_tokens=MAX_TOKENS)
    for left, right in zip(narrow, padded, strict=True):
        torch.testing.assert_close(left, right)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("cuts", [[3, 3], [1, 2, 3], [1] * 6, [5, 1]])
def test_the_gradient_does_not_depend_on_how_the_step_is_cut(reduction: str, cuts: list[int]) -> None:
    data = batch()
    whole = gradient(grpo_loss(**data, reduction=reduction, max_tokens=MAX_TOKENS).total, data["logprobs"])
    denominator = loss_denominator(data["mask"], reduction, MAX_TOKENS)
    accumulated = torch.zeros_like(whole)
    start = 0
    for size in cuts:
        rows = slice(start, start + size)
        # A micro-batch is padded to its own longest completion only.
        width = int(data["mask"][rows].sum(dim=1).max())
        part = {name: tensor[rows] if tensor.dim() == 1 else tensor[rows, :width] for name, tensor in data.items()}
        loss = grpo_loss(**part, reduction=reduction, denominator=denominator).total
        accumulated += gradient(loss, data["logprobs"])
        start += size
    assert (accumulated - whole).abs().max() < 1e-12


def test_averaging_micro_batch_means_would_be_wrong() -> None:
    # What several trainers did: each micro-batch divided by its own tokens, then the mean of the losses.
    data = batch()
    whole = gradient(grpo_loss(**data, reduction="token").total, data["logprobs"])
    halves = [
        grpo_loss(**{name: tensor[rows] for name, tensor in data.items()}, reduction="token").total
        for rows in (slice(0, 3), slice(3, 6))
    ]
    assert (gradient(sum(halves) / 2, data["logprobs"]) - whole).abs().max() > 0.005


def test_the_denominator_of_a_step() -> None:
    lengths = [5, 1, 3, 4, 2, 5]
    for counts in (batch()["mask"], torch.tensor(lengths), lengths):
        assert loss_denominator(counts, "sequence") == 6
        assert loss_denominator(counts, "token") == 20
        assert loss_denominator(counts, "constant", max_tokens=8) == 48
    assert loss_denominator([4, 0], "sequence") == 1
    assert loss_denominator([], "token") == loss_denominator([], "sequence") == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_length_of_a_completion_weighs_as_the_reduction_says(reduction: str) -> None:
    # A long and a short completion of equal advantage: the share of the gradient's mass that the long one gets.
    logprobs = torch.full((2, 4), -1.0, requires_grad=True)
    mask = torch.tensor([[True] * 4, [True, False, False, False]])
    terms = grpo_loss(logprobs, torch.ones(2), mask, reduction=reduction, max_tokens=4)
    mass = gradient(terms.total, logprobs).abs().sum(dim=1)
    assert (mass[0] / mass.sum()).item() == pytest.approx({"sequence": 0.5, "token": 0.8, "constant": 0.8}[reduction])


def test_importance_weights_scale_the_policy_term_only_and_have_no_gradient() -> None:
    data = batch()
    weights = torch.full_like(data["logprobs"], 0.5).requires_grad_()
    plain, weighted = grpo_loss(**data), grpo_loss(**data, importance_weights=weights)
    torch.testing.assert_close(weighted.policy, plain.policy / 2)
    torch.testing.assert_close(weighted.kl, plain.kl)
    weighted.total.backward()
    assert weights.grad is None


def test_importance_weights_are_the_ratio_up_to_the_cap() -> None:
    logprobs = torch.tensor([[0.5, 3.0, 1.0, 1e6]]).log().requires_grad_()
    weights = truncated_importance_weights(logprobs, torch.zeros(1, 4), cap=2.0)
    assert weights[0].tolist() == pytest.approx([0.5, 2.0, 1.0, 2.0])
    assert not weights.requires_grad


def test_a_policy_far_from_the_stored_one_overflows_nothing() -> None:
    logprobs = torch.tensor([[-0.1, -1e4]], requires_grad=True)
    old = torch.tensor([[-1e4, -0.1]])
    for advantage in (1.0, -1.0):
        terms = grpo_loss(
            logprobs,
            torch.tensor([advantage]),
            torch.ones(1, 2, dtype=torch.bool),
            old_logprobs=old,
            ref_logprobs=old,
        )
        assert all(torch.isfinite(term) for term in terms)
        assert torch.isfinite(gradient(terms.total, logprobs)).all()


def test_the_exact_kl_is_averaged_as_it_is_given() -> None:
    kl = torch.tensor([[0.2, 0.4], [0.5, 9.0]], requires_grad=True)
    terms = grpo_loss(LOGPROBS, ADVANTAGES, MASK, kl_estimator="exact", exact_kl=kl, beta=1.0)
    assert terms.kl.item() == pytest.approx((0.3 + 0.5) / 2)
    assert gradient(terms.total, kl).flatten().tolist() == pytest.approx([0.25, 0.25, 0.5, 0.0])


def test_bfloat16_log_probs_are_computed_with_in_float32() -> None:
    terms = grpo_loss(LOGPROBS.bfloat16(), ADVANTAGES, MASK, ref_logprobs=(LOGPROBS + 0.01).bfloat16())
    assert {term.dtype for term in terms} == {torch.float32}


def test_shapes_are_never_broadcast() -> None:
    square = torch.zeros(3, 3)
    mask = torch.ones(3, 3, dtype=torch.bool)
    # (3, 1) or (1, 3) would broadcast without an error, the second along the wrong axis.
    for advantages in (torch.zeros(3, 1), torch.zeros(1, 3), torch.zeros(4)):
        with pytest.raises(ValueError, match="advantages have shape"):
            grpo_loss(square, advantages, mask)
    with pytest.raises(ValueError, match="mask has shape"):
        grpo_loss(square, torch.zeros(3), mask[:, :1])
    with pytest.raises(ValueError, match="ref_logprobs has shape"):
        grpo_loss(square, torch.zeros(3), mask, ref_logprobs=square[:1])
    with pytest.raises(ValueError, match="logprobs have shape"):
        grpo_loss(square[0], torch.zeros(3), mask[0])


def test_wrong_arguments_are_named() -> None:
    args = (LOGPROBS, ADVANTAGES, MASK)
    with pytest.raises(ValueError, match=r"mask has type torch\.float32"):
        grpo_loss(LOGPROBS, ADVANTAGES, MASK.float())
    with pytest.raises(ValueError, match="reduction is 'mean'"):
        grpo_loss(*args, reduction="mean")
    with pytest.raises(ValueError, match="needs max_tokens"):
        grpo_loss(*args, reduction="constant")
    with pytest.raises(ValueError, match="KL estimator is 'k9'"):
        grpo_loss(*args, kl_estimator="k9")
    with pytest.raises(ValueError, match="pass exact_kl"):
        grpo_loss(*args, ref_logprobs=LOGPROBS, kl_estimator="exact")
    with pytest.raises(ValueError, match=r"dual_clip is 0\.9"):
        grpo_loss(*args, old_logprobs=LOGPROBS, dual_clip=0.9)
    with pytest.raises(ValueError, match="denominator is 0"):
        reduce_tokens(LOGPROBS, MASK, "token", 0)
