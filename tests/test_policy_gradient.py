"""Does GRPO climb the expected reward? A world small enough to enumerate: three tokens, at most three of them.

Every completion and every group of completions is visited with its probability, so the expectations below are exact:
sum over all groups of P(group) * gradient(grpo_loss of the group), against the gradient of sum P(completion) * reward.
"""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from grpo.advantage import group_advantages
from grpo.loss import grpo_loss

A, B, EOS = 0, 1, 2
LONGEST = 3
COMPLETIONS = [
    ids
    for length in range(1, LONGEST + 1)
    for ids in itertools.product((A, B, EOS), repeat=length)
    if EOS not in ids[:-1] and (ids[-1] == EOS or length == LONGEST)
]
PREFIXES = sorted({ids[:t] for ids in COMPLETIONS for t in range(len(ids))})
# A grammar with a free start (but no empty answer), after `a` a second `a` that is forced, and a choice at the end.
GRAMMAR = {(): (A, B), (A,): (A,), (A, A): (B, EOS), (B,): (B, EOS)}
LENGTHS = torch.tensor([len(ids) for ids in COMPLETIONS])
MASK = torch.arange(LONGEST) < LENGTHS[:, None]


def policy_logits() -> Tensor:
    """One free logit per (prefix, token): a policy that can be anything. (prefixes, 3), with gradient."""
    generator = torch.Generator().manual_seed(1)
    return torch.randn(len(PREFIXES), 3, generator=generator, dtype=torch.float64).requires_grad_()


def token_logprobs(logits: Tensor, grammar: dict | None = None) -> Tensor:
    """Log-prob of every token of every completion: (completions, LONGEST), 0 at padding, -inf where not allowed."""
    if grammar is not None:
        allowed = torch.tensor(
            [[token in grammar.get(prefix, (A, B, EOS)) for token in range(3)] for prefix in PREFIXES]
        )
        logits = logits.masked_fill(~allowed, -torch.inf)
    logp = logits.log_softmax(dim=-1)
    rows = [
        torch.stack(
            [logp[PREFIXES.index(ids[:t]), ids[t]] if t < len(ids) else logp.new_zeros(()) for t in range(LONGEST)]
        )
        for ids in COMPLETIONS
    ]
    return torch.stack(rows)


def rewards() -> Tensor:
    """Something that depends on every token and on the length; multiples of 1/8, so that no rounding intrudes."""
    return torch.tensor(
        [(3 * ids.count(A) - 2 * ids.count(B) + 4 * (ids[-1] == EOS) + len(ids) ** 2) / 8 for ids in COMPLETIONS]
    )


def true_gradient(logits: Tensor, reward: Tensor, grammar: dict | None = None) -> Tensor:
    """Gradient of the expected reward, sum over completions of P * r."""
    probability = token_logprobs(logits, grammar).sum(dim=1).exp()
    assert probability.sum().item() == pytest.approx(1)
    return torch.autograd.grad((probability * reward).sum(), logits)[0]


def expected_update(
    logits: Tensor,
    reward: Tensor,
    group_size: int,
    *,
    grammar: dict | None = None,
    trained_grammar: dict | None = None,
    scale: str = "none",
    reduction: str = "constant",
) -> Tensor:
    """-E[gradient of grpo_loss] over all groups: what an optimizer step follows, on average.

    Completions are sampled under `grammar`; their log-probs are computed under `trained_grammar`.
    """
    sampled = token_logprobs(logits, grammar).sum(dim=1).detach().exp()
    logprobs = token_logprobs(logits, trained_grammar)
    possible = [index for index, p in enumerate(sampled) if p > 0]
    groups = torch.tensor(list(itertools.product(possible, repeat=group_size)))
    advantages = group_advantages(reward[groups], scale=scale)
    loss = logits.new_zeros(())
    for group, advantage in zip(groups, advantages, strict=True):
        terms = grpo_loss(logprobs[group], advantage, MASK[group], reduction=reduction, max_tokens=LONGEST)
        loss = loss + sampled[group].prod() * terms.total
    return -torch.autograd.grad(loss, logits)[0]


def cosine(left: Tensor, right: Tensor) -> float:
    return torch.nn.functional.cosine_similarity(left.flatten(), right.flatten(), dim=0).item()


def test_the_world_has_fifteen_completions_and_seven_of_them_begin_with_a() -> None:
    assert len(COMPLETIONS) == 15
    assert sum(ids[0] == A for ids in COMPLETIONS) == 7


@pytest.mark.parametrize("grammar", [None, GRAMMAR], ids=["free", "grammar"])
@pytest.mark.parametrize("group_size", [2, 3])
def test_the_expected_update_is_the_policy_gradient_times_one_minus_one_over_k(
    group_size: int, grammar: dict | None
) -> None:
    """The baseline holds the completion's own reward, which shrinks the update by (K - 1) / K and does not turn it."""
    logits, reward = policy_logits(), rewards()
    update = expected_update(logits, reward, group_size, grammar=grammar, trained_grammar=grammar)
    # reduction "constant" divides by the longest completion, a plain constant.
    expected = (group_size - 1) / group_size * true_gradient(logits, reward, grammar) / LONGEST
    assert expected.abs().max() > 0.01
    torch.testing.assert_close(update, expected, atol=1e-7, rtol=1e-6)


def test_without_the_grammar_in_its_log_probs_the_update_points_elsewhere() -> None:
    logits, reward = policy_logits(), rewards()
    truth = true_gradient(logits, reward, GRAMMAR)
    matched = expected_update(logits, reward, 2, grammar=GRAMMAR, trained_grammar=GRAMMAR)
    mismatched = expected_update(logits, reward, 2, grammar=GRAMMAR, trained_grammar=None)
    assert cosine(matched, truth) == pytest.approx(1, abs=1e-6)
    assert cosine(mismatched, truth) < 0.95
    # After `a` a second `a` is forced: nothing to learn there, yet the mismatched update moves its logits.
    forced = PREFIXES.index((A,))
    assert truth[forced].abs().max() == matched[forced].abs().max() == 0
    assert mismatched[forced].abs().max() > 0.1 * matched.abs().max()


def test_with_two_completions_and_rewards_of_zero_or_one_standardising_is_a_constant() -> None:
    """Deviations are +-1/2 and the std is sqrt(1/2) in every group that teaches, so the direction stays exact."""
    logits = policy_logits()
    reward = torch.tensor([float(ids[-1] == EOS) for ids in COMPLETIONS])
    update = expected_update(logits, reward, 2, scale="group")
    expected = true_gradient(logits, reward) / 2 / LONGEST / (0.5**0.5 + 1e-4)
    torch.testing.assert_close(update, expected, atol=1e-7, rtol=1e-6)


def test_standardising_graded_rewards_turns_the_update() -> None:
    """With K = 2 every group's deviations become +-0.707: who won counts, by how much no longer does."""
    logits, reward = policy_logits(), rewards() ** 4
    truth = true_gradient(logits, reward)
    assert cosine(expected_update(logits, reward, 2, scale="none"), truth) == pytest.approx(1, abs=1e-6)
    assert cosine(expected_update(logits, reward, 2, scale="group"), truth) < 0.99


def test_the_mean_over_a_completion_s_own_tokens_is_the_gradient_of_something_else() -> None:
    """Reduction "sequence" divides each completion's gradient by its length: E[(r - E r) grad(logp) / length]."""
    logits, reward = policy_logits(), rewards()
    update = expected_update(logits, reward, 2, reduction="sequence")
    logprob = token_logprobs(logits).sum(dim=1)
    probability = logprob.detach().exp()
    centred = reward - (probability * reward).sum()
    # The own-baseline factor again, (K - 1) / K = 1/2. With 1/length the baseline no longer drops out: r is centred.
    objective = 0.5 * (probability * centred / LENGTHS * logprob).sum()
    torch.testing.assert_close(update, torch.autograd.grad(objective, logits)[0], atol=1e-7, rtol=1e-6)

    truth = true_gradient(logits, reward)
    assert cosine(update, truth) < 0.99
    assert cosine(expected_update(logits, reward, 2, reduction="constant"), truth) == pytest.approx(1, abs=1e-6)


def test_the_length_bias_makes_a_long_failure_cheaper_than_a_short_one() -> None:
    """Two failures of 1 and 3 tokens beside one success: each token of the long one is pushed down a third as much."""
    logprobs = torch.full((3, LONGEST), -1.0, requires_grad=True)
    mask = torch.tensor([[True, False, False], [True, True, True], [True, True, False]])
    advantages = group_advantages(torch.tensor([[0.0, 0.0, 1.0]]))[0]
    push = {}
    for reduction in ("sequence", "constant"):
        total = grpo_loss(logprobs, advantages, mask, reduction=reduction, max_tokens=LONGEST).total
        push[reduction] = torch.autograd.grad(total, logprobs)[0][:, 0]
    assert (push["sequence"][1] / push["sequence"][0]).item() == pytest.approx(1 / 3)
    assert push["constant"][1] == push["constant"][0]
