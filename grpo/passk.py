"""Estimators for groups of rewards: what k attempts at one prompt show, and how sure a mean over prompts is.

A probe samples n completions of a prompt once. Everything about smaller groups of k follows from those n without
sampling again: the formulas here are exact averages over all C(n, k) sub-groups. Plain numbers in, plain numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

Verdict = Literal["trainable", "never solved", "mastered", "dead"]
VERDICTS: tuple[Verdict, ...] = ("trainable", "never solved", "mastered", "dead")

# Rewards closer than this are one reward written with different rounding; see grpo.advantage.degenerate_groups.
SAME_REWARD = 1e-8
RESAMPLES = 2000


class Estimate(NamedTuple):
    """A mean over documents and its 95 % interval; None, None where there are fewer than two documents."""

    mean: float
    low: float | None
    high: float | None


def pass_at_k(n: int, passes: int, k: int) -> float:
    """Probability that at least one of k completions passes, where `passes` of n did: 1 - C(n - c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374, equation 1), in exact integers. 1 - (1 - c/n)^k, which
    is often used instead, is too low. Raises ValueError unless 0 <= passes <= n and 1 <= k <= n.
    """
    _check_k(n, k)
    if not 0 <= passes <= n:
        raise ValueError(f"{passes} passes among {n} completions")
    return 1 - math.comb(n - passes, k) / math.comb(n, k)


def effective_at_k(rewards: Sequence[float], k: int) -> float:
    """Probability that a random sub-group of k of these n completions has any spread: 1 - sum_v C(m_v, k) / C(n, k).

    m_v: how many completions have the reward v. At k = n it is 0 or 1: whether the group teaches anything. At k = 1 it
    is 0. Raises ValueError unless 1 <= k <= n.
    """
    n = len(rewards)
    _check_k(n, k)
    return 1 - sum(math.comb(count, k) for count in _multiplicities(rewards)) / math.comb(n, k)


def best_at_k(rewards: Sequence[float], k: int) -> float:
    """Expected highest reward of a random sub-group of k: sum_i r_(i) C(i - 1, k - 1) / C(n, k), r_(1) the lowest.

    The generalisation of pass@k to rewards that are not 0 or 1. Raises ValueError unless 1 <= k <= n.
    """
    n = len(rewards)
    _check_k(n, k)
    terms = (reward * (math.comb(rank, k - 1) / math.comb(n, k)) for rank, reward in enumerate(sorted(rewards)))
    return math.fsum(terms)


def mean(values: Sequence[float]) -> float:
    """Raises ValueError for no values."""
    if not values:
        raise ValueError("no values to take the mean of")
    return math.fsum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle. Raises ValueError for no values."""
    if not values:
        raise ValueError("no values to take the median of")
    return float(np.median(values))


def group_std(rewards: Sequence[float]) -> float:
    """Standard deviation with ddof 1, as advantages are divided by; 0 for a single completion and an equal group."""
    if len(_multiplicities(rewards)) < 2:
        return 0.0
    return float(np.std(rewards, ddof=1))


def estimate(numerators: Sequence[float], denominators: Sequence[float] | None = None, *, seed: int = 0) -> Estimate:
    """sum(numerators) / sum(denominators) over documents, with its 95 % percentile-bootstrap interval.

    One number a document; without denominators it is the plain mean. The document is what is drawn anew, for the
    completions of one document are no independent evidence about other documents. Documents that count for nothing
    (denominator 0) are left out. Raises ValueError where none is left.
    """
    top = np.asarray(numerators, dtype=np.float64)
    bottom = np.ones_like(top) if denominators is None else np.asarray(denominators, dtype=np.float64)
    top, bottom = top[bottom > 0], bottom[bottom > 0]
    if not len(top):
        raise ValueError("no documents to take the mean of")
    centre = float(top.sum() / bottom.sum())
    if len(top) < 2:
        return Estimate(centre, None, None)
    drawn = np.random.default_rng(seed).integers(len(top), size=(RESAMPLES, len(top)))
    low, high = np.percentile(top[drawn].sum(1) / bottom[drawn].sum(1), [2.5, 97.5])
    return Estimate(centre, float(low), float(high))


def any_of(probabilities: Iterable[float]) -> float:
    """Probability that at least one of several independent things happens: 1 - prod(1 - p)."""
    return 1 - math.prod(1 - probability for probability in probabilities)


def verdict(pass_at_1: float, seen_pass: float, seen_spread: float, mastered: float = 0.95) -> Verdict:
    """What is to be learnt from a type.

    pass_at_1: share of completions that pass.
    seen_pass, seen_spread: probability that a probe of this size sees a pass, or a group with any spread, in at least
        one document of the type. 0 or 1 for the probe that was really made; between them (any_of over documents) for
        one of smaller groups, and the verdict is then the likelier one.

    mastered       at least the share `mastered` of completions pass: little is left to learn
    dead           every group has equal rewards: no advantage, no gradient
    never solved   groups differ, so there is something to climb, but nothing passed
    trainable      groups differ, and some completions pass
    """
    if pass_at_1 >= mastered:
        return "mastered"
    if seen_spread < 0.5:
        return "dead"
    return "never solved" if seen_pass < 0.5 else "trainable"


def explained_share(levels: Sequence[float | str], values: Sequence[float]) -> float:
    """Eta squared: the share of the variance of `values` that lies between the levels of an axis, 0 to 1.

    sum_levels n_l (mean_l - mean)^2 / sum (value - mean)^2. 0 where the values do not vary.
    """
    if len(levels) != len(values):
        raise ValueError(f"{len(levels)} levels but {len(values)} values")
    centre = mean(values)
    total = math.fsum((value - centre) ** 2 for value in values)
    if total <= 0:
        return 0.0
    groups: dict[float | str, list[float]] = {}
    for level, value in zip(levels, values, strict=True):
        groups.setdefault(level, []).append(value)
    return math.fsum(len(group) * (mean(group) - centre) ** 2 for group in groups.values()) / total


def _multiplicities(rewards: Sequence[float]) -> list[int]:
    """How often each distinct reward occurs; rewards within rounding of their lower neighbour count as equal to it."""
    counts: list[int] = []
    previous = -math.inf
    for reward in sorted(rewards):
        if counts and reward - previous <= SAME_REWARD:
            counts[-1] += 1
        else:
            counts.append(1)
        previous = reward
    return counts


def _check_k(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"sub-groups of {k} out of {n} completions: k must be from 1 to {n}")
