"""pass@k, effective fraction, intervals and verdicts: by hand, in closed form, and by enumerating all sub-groups."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from grpo.advantage import degenerate_groups
from grpo.passk import (
    any_of,
    best_at_k,
    effective_at_k,
    estimate,
    explained_share,
    group_std,
    mean,
    median,
    pass_at_k,
    verdict,
)

REWARDS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=8)


def test_pass_at_k_by_hand() -> None:
    # Four completions, one passes: of the six pairs, three hold it.
    assert pass_at_k(4, 1, 2) == 0.5
    assert pass_at_k(4, 1, 1) == 0.25
    assert pass_at_k(4, 0, 4) == 0.0
    assert pass_at_k(4, 1, 4) == 1.0
    # Three fail at most, so four of them cannot all fail.
    assert pass_at_k(8, 5, 4) == 1.0


def test_pass_at_k_of_a_large_group_is_exact() -> None:
    # 1 - C(31, 8) / C(32, 8) = 8 / 32: the one pass is among 8 of 32 with probability a quarter.
    assert pass_at_k(32, 1, 8) == 0.25
    # Far beyond what floats hold: C(5000, 2500) has 1,503 digits.
    assert pass_at_k(5000, 1, 2500) == 0.5


def test_pass_at_k_is_unbiased_where_the_usual_shortcut_is_not() -> None:
    # True pass probability 0.3, k = 3, n = 5: averaged over the binomial draws of c the estimator gives 1 - 0.7^3.
    p, n, k = 0.3, 5, 3
    draws = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    unbiased = sum(weight * pass_at_k(n, c, k) for c, weight in enumerate(draws))
    shortcut = sum(weight * (1 - (1 - c / n) ** k) for c, weight in enumerate(draws))
    assert unbiased == pytest.approx(1 - 0.7**3)
    assert shortcut < unbiased - 0.03


def test_effective_fraction_by_hand() -> None:
    # Rewards 0 0 1: pairs 00, 01, 01.
    assert effective_at_k([0.0, 0.0, 1.0], 2) == pytest.approx(2 / 3)
    assert effective_at_k([0.0, 0.0, 1.0], 3) == 1.0
    assert effective_at_k([0.5] * 8, 4) == 0.0
    assert effective_at_k([0.1, 0.2, 0.3], 1) == 0.0


@settings(max_examples=60, deadline=None)
@given(REWARDS, st.data())
def test_sub_groups_in_closed_form_equal_their_enumeration(rewards: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rewards)))
    groups = list(combinations(rewards, k))
    passes = sum(reward >= 0.5 for reward in rewards)
    assert pass_at_k(len(rewards), passes, k) == pytest.approx(mean([max(g) >= 0.5 for g in groups]))
    assert effective_at_k(rewards, k) == pytest.approx(mean([max(g) > min(g) for g in groups]))
    assert best_at_k(rewards, k) == pytest.approx(mean([max(g) for g in groups]))
    assert -best_at_k([-r for r in rewards], k) == pytest.approx(mean([min(g) for g in groups]))


def test_a_smaller_probe_is_as_likely_to_see_something_as_its_enumeration_says() -> None:
    # Three documents of four completions. Every way of keeping two of each: 6 * 6 * 6 smaller probes.
    documents = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.2, 0.2], [0.0] * 4]
    probes = list(product(*(list(combinations(rewards, 2)) for rewards in documents)))
    passed = mean([any(max(group) >= 0.9 for group in probe) for probe in probes])
    spread = mean([any(max(group) > min(group) for group in probe) for probe in probes])
    assert any_of(pass_at_k(4, sum(r >= 0.9 for r in rewards), 2) for rewards in documents) == pytest.approx(passed)
    assert any_of(effective_at_k(rewards, 2) for rewards in documents) == pytest.approx(spread)
    # By hand: half of the pairs see the pass; a third of the second document's pairs are equal.
    assert (passed, spread) == (0.5, pytest.approx(1 - 0.5 * (1 / 3)))


def test_a_group_counts_as_equal_exactly_where_the_trainer_gives_no_advantage() -> None:
    noise = [0.1 + 0.2, 0.3, 0.3, 0.3]
    for rewards in (noise, [0.3, 0.3, 0.3, 0.3 + 1e-6], [0.0, 1.0, 0.5, 0.5], [0.0] * 4):
        degenerate = degenerate_groups(torch.tensor([rewards], dtype=torch.float64)).item()
        assert (effective_at_k(rewards, 4) == 0.0) == degenerate
        assert (group_std(rewards) == 0.0) == degenerate


def test_group_std_and_median_by_hand() -> None:
    assert group_std([0.0, 1.0]) == pytest.approx(math.sqrt(0.5))
    assert group_std([0.7]) == 0.0
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([1.0, 2.0, 3.0, 10.0]) == 2.5


def test_the_interval_of_two_documents_is_the_three_means_that_can_be_drawn() -> None:
    # 0 and 1 drawn twice: mean 0, 0.5 or 1 with probability 1/4, 1/2, 1/4, so both 2.5 % tails lie at the ends.
    assert estimate([0.0, 1.0]) == (0.5, 0.0, 1.0)


def test_one_document_has_no_interval_and_equal_ones_have_an_empty_one() -> None:
    assert estimate([0.4]) == (0.4, None, None)
    assert estimate([0.5, 0.5, 0.5]) == (0.5, 0.5, 0.5)


def test_the_interval_is_that_of_scipy_and_close_to_the_normal_one_for_many_documents() -> None:
    values = np.random.default_rng(3).beta(2, 5, size=400)
    centre, low, high = estimate(values.tolist())
    reference = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=1).confidence_interval
    half = 1.96 * values.std(ddof=0) / math.sqrt(len(values))
    assert low is not None and high is not None
    assert (low, high) == pytest.approx((reference.low, reference.high), abs=0.1 * half)
    assert (low, high) == pytest.approx((centre - half, centre + half), abs=0.1 * half)


def test_a_ratio_weighs_documents_by_their_counts_and_skips_empty_ones() -> None:
    # Two completions with the part in the first document (sum 1), one in the second (sum 1), none in the third.
    found = estimate([1.0, 1.0, 0.0], [2.0, 1.0, 0.0])
    assert found.mean == pytest.approx(2 / 3)
    assert (found.low, found.high) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[0.0, 1.0], [0.0, 0.0]], "trainable"),
        ([[0.0, 0.2], [0.0, 0.0]], "never solved"),
        ([[1.0, 1.0], [1.0, 0.95]], "mastered"),
        ([[0.0, 0.0], [0.4, 0.4]], "dead"),
    ],
)
def test_verdicts(groups: list[list[float]], expected: str) -> None:
    passes = [reward >= 0.9 for group in groups for reward in group]
    seen = any_of(effective_at_k(group, 2) for group in groups)
    assert verdict(mean(passes), float(any(passes)), seen) == expected


def test_explained_share_by_hand() -> None:
    # Means 0 and 1, no variance inside a level: all of it is between them.
    assert explained_share(["a", "a", "b", "b"], [0.0, 0.0, 1.0, 1.0]) == 1.0
    assert explained_share(["a", "b", "a", "b"], [0.0, 0.0, 1.0, 1.0]) == 0.0
    # Level means 0.5 and 2.5 around 1.5: 4 * 1 / (2.25 + 0.25 + 0.25 + 2.25) = 0.8.
    assert explained_share([1, 1, 2, 2], [0.0, 1.0, 2.0, 3.0]) == pytest.approx(0.8)
    assert explained_share([1, 2], [0.5, 0.5]) == 0.0


@pytest.mark.parametrize("k", [0, 5])
def test_sub_groups_that_cannot_be_are_refused(k: int) -> None:
    for call in (lambda: pass_at_k(4, 1, k), lambda: effective_at_k([0.0] * 4, k), lambda: best_at_k([0.0] * 4, k)):
        with pytest.raises(ValueError, match="k must be from 1 to 4"):
            call()


def test_no_values_are_refused() -> None:
    for call in (lambda: mean([]), lambda: median([]), lambda: estimate([]), lambda: estimate([1.0], [0.0])):
        with pytest.raises(ValueError, match="no "):
            call()
    with pytest.raises(ValueError, match="5 passes among 4"):
        pass_at_k(4, 5, 1)
    with pytest.raises(ValueError, match="1 levels but 2 values"):
        explained_share(["a"], [0.0, 1.0])
