"""KL estimators against the exact KL of a 5-token vocabulary: every token is enumerated, nothing is sampled."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from grpo.kl import exact_kl, kl_per_token

ESTIMATORS = ("k1", "k2", "k3")
POLICY = torch.tensor([0.4, -1.1, 0.9, 0.0, 2.0], dtype=torch.float64)
REFERENCE = torch.tensor([0.1, 0.3, 1.2, -0.7, 1.0], dtype=torch.float64)


def kl(p: Tensor, q: Tensor) -> Tensor:
    """The definition, in float64: sum of p log(p / q)."""
    return (p.exp() * (p - q)).sum()


def mean_over_vocabulary(logits: Tensor, ref_logits: Tensor, estimator: str) -> Tensor:
    """The estimate's mean over the policy's tokens; sampling held fixed, as it is when a batch is differentiated."""
    logp = logits.log_softmax(-1)
    return (logp.detach().exp() * kl_per_token(logp, ref_logits.log_softmax(-1), estimator)).sum()


def gradient(value: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(value, logits)[0]


def test_by_hand_a_token_of_probability_one_half_whose_reference_says_one_quarter() -> None:
    logp, ref = torch.tensor([math.log(0.5)]), torch.tensor([math.log(0.25)])
    # d = ln(1/4) - ln(1/2) = -ln 2
    assert kl_per_token(logp, ref, "k1").item() == pytest.approx(math.log(2))
    assert kl_per_token(logp, ref, "k2").item() == pytest.approx(math.log(2) ** 2 / 2)
    assert kl_per_token(logp, ref, "k3").item() == pytest.approx(0.5 + math.log(2) - 1)


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_the_mean_of_k1_and_k3_is_the_kl_of_the_policy_from_the_reference(estimator: str) -> None:
    exact = kl(POLICY.log_softmax(-1), REFERENCE.log_softmax(-1))
    other_direction = kl(REFERENCE.log_softmax(-1), POLICY.log_softmax(-1))
    assert abs(exact - other_direction) > 0.01  # the two directions can be told apart here
    assert mean_over_vocabulary(POLICY, REFERENCE, estimator).item() == pytest.approx(exact.item(), abs=1e-12)


def test_the_mean_of_k2_is_biased_far_from_the_reference_and_exact_to_third_order_near_it() -> None:
    def bias(step: float) -> float:
        near = POLICY + step * (REFERENCE - POLICY)
        exact = kl(POLICY.log_softmax(-1), near.log_softmax(-1))
        return (mean_over_vocabulary(POLICY, near, "k2") - exact).item()

    assert abs(bias(1.0)) > 0.01
    # Ten times closer: the bias shrinks a thousandfold (and the KL itself only a hundredfold).
    assert bias(0.001) / bias(0.01) == pytest.approx(1e-3, rel=0.1)


def test_k1_as_a_loss_has_no_gradient() -> None:
    logits = POLICY.clone().requires_grad_()
    assert gradient(mean_over_vocabulary(logits, REFERENCE, "k1"), logits).abs().max() < 1e-15


def test_k2_as_a_loss_has_the_gradient_of_the_kl() -> None:
    logits = POLICY.clone().requires_grad_()
    exact = gradient(kl(logits.log_softmax(-1), REFERENCE.log_softmax(-1)), logits)
    torch.testing.assert_close(gradient(mean_over_vocabulary(logits, REFERENCE, "k2"), logits), exact)


def test_k3_as_a_loss_has_the_gradient_of_the_other_direction() -> None:
    logits = POLICY.clone().requires_grad_()
    forward = gradient(kl(REFERENCE.log_softmax(-1), logits.log_softmax(-1)), logits)
    reverse = gradient(kl(logits.log_softmax(-1), REFERENCE.log_softmax(-1)), logits)
    k3 = gradient(mean_over_vocabulary(logits, REFERENCE, "k3"), logits)
    torch.testing.assert_close(k3, forward)
    assert (k3 - reverse).abs().max() > 0.01


def test_near_the_reference_the_gradients_of_k2_and_k3_agree() -> None:
    logits = (REFERENCE + 0.01 * POLICY).requires_grad_()
    k2, k3 = (gradient(mean_over_vocabulary(logits, REFERENCE, e), logits) for e in ("k2", "k3"))
    assert (k2 - k3).norm() < 0.02 * k2.norm()


def test_every_gradient_pulls_towards_the_reference() -> None:
    # A sign error would push the policy away: one small step down the gradient must lower the exact KL.
    for estimator in ("k2", "k3"):
        logits = POLICY.clone().requires_grad_()
        step = gradient(mean_over_vocabulary(logits, REFERENCE, estimator), logits)
        closer = kl((POLICY - 0.1 * step).log_softmax(-1), REFERENCE.log_softmax(-1))
        assert closer < kl(POLICY.log_softmax(-1), REFERENCE.log_softmax(-1)), estimator


def test_k2_and_k3_are_never_negative_and_zero_only_at_the_reference() -> None:
    logp = torch.linspace(-30, 0, 301)
    ref = torch.full_like(logp, -15.0)
    for estimator in ("k2", "k3"):
        values = kl_per_token(logp, ref, estimator)
        assert (values >= 0).all()
        assert (values == 0).equal(logp == ref)


def test_k3_keeps_its_digits_where_the_policies_are_nearly_equal() -> None:
    # exp(1e-4) - 1e-4 - 1 = 5.0002e-9, below float32's resolution at 1.
    logp = torch.tensor([-2.0])
    ref = logp + 1e-4
    d = (ref - logp).double().item()
    assert kl_per_token(logp, ref, "k3").item() == pytest.approx(math.expm1(d) - d, rel=1e-2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("logp, ref", [(-1e4, -0.1), (-0.1, -1e4), (-0.1, -math.inf)])
def test_far_from_the_reference_nothing_overflows(estimator: str, logp: float, ref: float) -> None:
    logprobs = torch.tensor([logp], requires_grad=True)
    value = kl_per_token(logprobs, torch.tensor([ref]), estimator)
    value.sum().backward()
    assert torch.isfinite(value).all()
    assert torch.isfinite(logprobs.grad).all()


def test_the_reference_gets_no_gradient() -> None:
    logprobs = torch.tensor([-1.0], requires_grad=True)
    reference = torch.tensor([-2.0], requires_grad=True)
    kl_per_token(logprobs, reference).sum().backward()
    assert reference.grad is None


def test_unknown_estimators_and_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="'k4'"):
        kl_per_token(torch.zeros(2), torch.zeros(2), "k4")
    with pytest.raises(ValueError, match=r"\(2,\).*\(1,\)"):
        kl_per_token(torch.zeros(2), torch.zeros(1))
    with pytest.raises(ValueError, match=r"\(2, 5\).*\(2, 6\)"):
        exact_kl(torch.zeros(2, 5), torch.zeros(2, 6))


def test_exact_kl_is_the_definition_and_has_its_gradient() -> None:
    logits = POLICY.clone().requires_grad_()
    value = exact_kl(logits, REFERENCE)
    definition = kl(logits.log_softmax(-1), REFERENCE.log_softmax(-1))
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(definition.item(), abs=1e-6)
    torch.testing.assert_close(gradient(value, logits), gradient(definition, logits), atol=1e-6, rtol=0)


@pytest.mark.parametrize("masked_how", ["allowed", "-inf logits"])
def test_exact_kl_under_a_grammar_is_that_of_the_renormalised_policies(masked_how: str) -> None:
    allowed = torch.tensor([True, False, True, True, False])
    logits = POLICY.clone()
    if masked_how == "-inf logits":
        logits[~allowed] = -math.inf
    logits.requires_grad_()
    value = exact_kl(logits, REFERENCE, allowed if masked_how == "allowed" else None)

    few = POLICY[allowed].clone().requires_grad_()
    definition = kl(few.log_softmax(-1), REFERENCE[allowed].log_softmax(-1))
    assert value.item() == pytest.approx(definition.item(), abs=1e-6)
    grad = gradient(value, logits)
    torch.testing.assert_close(grad[allowed], gradient(definition, few), atol=1e-6, rtol=0)
    assert grad[~allowed].tolist() == [0.0, 0.0]


def test_rows_with_one_choice_or_none_have_no_kl_and_no_gradient() -> None:
    logits = torch.stack([POLICY, POLICY]).requires_grad_()
    allowed = torch.tensor([[False, True, False, False, False], [False] * 5])
    value = exact_kl(logits, REFERENCE.expand(2, 5), allowed)
    value.sum().backward()
    assert value.tolist() == [0.0, 0.0]
    assert logits.grad.eq(0).all()


def test_exact_kl_of_any_leading_shape() -> None:
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    assert exact_kl(logits, logits).shape == (2, 3)
    assert exact_kl(logits, logits).abs().max() < 1e-6
