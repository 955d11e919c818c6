"""The GRPO loss, term by term: policy_term and a KL term per token, one mask, one reduction, one denominator.

    total = policy + beta * kl          (DeepSeekMath, arXiv 2402.03300, equation 3, with the sign of a loss)

Everything is a function of tensors. Per-token tensors are (B, T): B completions, right-padded to T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from grpo.kl import LOG_RATIO_LIMIT, kl_per_token

Reduction = Literal["sequence", "token", "constant"]
REDUCTIONS = ("sequence", "token", "constant")
KL_ESTIMATORS = ("k1", "k2", "k3", "exact")


class LossTerms(NamedTuple):
    """total = policy + beta * kl, each a scalar with its gradient; detach() what is only logged."""

    total: Tensor
    policy: Tensor
    kl: Tensor


def grpo_loss(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    ref_logprobs: Tensor | None = None,
    beta: float = 0.02,
    old_logprobs: Tensor | None = None,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    kl_estimator: Literal["k1", "k2", "k3", "exact"] = "k3",
    reduction: Reduction = "sequence",
    max_tokens: int | None = None,
    denominator: float | None = None,
    dual_clip: float | None = None,
    exact_kl: Tensor | None = None,
    importance_weights: Tensor | None = None,
) -> LossTerms:
    """The loss of B completions, or of one micro-batch of them.

    logprobs (B, T): policy log-probs of the sampled tokens, with gradient. advantages (B,). mask (B, T) bool: True at
        sampled tokens. What stands elsewhere, NaN and inf included, adds exactly 0 to the value and to every gradient.
    ref_logprobs (B, T): the frozen reference's; None: no KL term (kl is 0). At beta 0 the KL is reported, not added.
    old_logprobs (B, T): those stored when the batch was sampled, for clipped reuse of it; None: on-policy.
    clip_low, clip_high, dual_clip: see policy_term. kl_estimator: see grpo.kl; "exact" takes `exact_kl` (B, T).
    reduction, max_tokens, denominator: see reduce_tokens. A step that is cut into micro-batches must pass the
        loss_denominator of the whole step; the gradients then add up to the same sum however it was cut.
    importance_weights (B, T): multiply the policy term, without gradient (see truncated_importance_weights).

    A batch with no token left gives 0 with gradient 0. Raises ValueError for shapes that do not fit or unknown names.
    """
    _check_shapes(
        logprobs,
        advantages,
        mask=mask,
        ref_logprobs=ref_logprobs,
        old_logprobs=old_logprobs,
        exact_kl=exact_kl,
        importance_weights=importance_weights,
    )
    if mask.dtype != torch.bool:
        raise ValueError(f"the mask has type {mask.dtype}; it must be bool, True at sampled tokens")
    if kl_estimator not in KL_ESTIMATORS:
        raise ValueError(f"the KL estimator is {kl_estimator!r}; it must be one of {', '.join(KL_ESTIMATORS)}")
    if kl_estimator == "exact" and exact_kl is None and ref_logprobs is not None:
        raise ValueError('kl_estimator is "exact": pass exact_kl, the (B, T) result of grpo.kl.exact_kl')
    if denominator is None:
        denominator = loss_denominator(mask, reduction, max_tokens)

    logprobs = _only(mask, logprobs)
    per_token = policy_term(
        logprobs,
        advantages,
        None if old_logprobs is None else _only(mask, old_logprobs),
        clip_low=clip_low,
        clip_high=clip_high,
        dual_clip=dual_clip,
    )
    if importance_weights is not None:
        per_token = per_token * _only(mask, importance_weights.detach())
    policy = reduce_tokens(per_token, mask, reduction, denominator)

    kl = torch.zeros_like(policy)
    if kl_estimator == "exact":
        if exact_kl is not None:
            kl = reduce_tokens(exact_kl, mask, reduction, denominator)
    elif ref_logprobs is not None:
        per_token = kl_per_token(logprobs, _only(mask, ref_logprobs), kl_estimator)
        kl = reduce_tokens(per_token, mask, reduction, denominator)

    return LossTerms(policy + beta * kl if beta else policy, policy, kl)


def policy_term(
    logprobs: Tensor,
    advantages: Tensor,
    old_logprobs: Tensor | None = None,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = None,
) -> Tensor:
    """The policy part of the loss at each token. logprobs (B, T), advantages (B,), old_logprobs (B, T) -> (B, T).

    On-policy (old_logprobs None): -A * logp, the policy gradient itself.
    With stored log-probs, r = exp(logp - old): -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A), PPO's clipped
    surrogate (arXiv 1707.06347, equation 7); clip_high > clip_low is DAPO's clip-higher (arXiv 2503.14476).
    dual_clip c > 1: where A < 0 the loss is at most -c A (arXiv 1912.09729), so that a token which has become likely
    by mistake cannot blow up the step; TRL calls it delta.

    At r = 1 both forms have the gradient -A, but not the same value: -A * logp against -A. Neither says how well the
    policy does. The log-ratio is clamped to +-20.
    """
    if dual_clip is not None and dual_clip <= 1:
        raise ValueError(f"dual_clip is {dual_clip}; it must be above 1, the ratio of an unchanged policy")
    advantage = advantages.detach().to(logprobs.dtype)[:, None]
    if old_logprobs is None:
        return -advantage * logprobs
    ratio = _ratio(logprobs, old_logprobs)
    objective = torch.minimum(ratio * advantage, ratio.clamp(1 - clip_low, 1 + clip_high) * advantage)
    if dual_clip is not None:
        objective = torch.where(advantage < 0, torch.maximum(objective, dual_clip * advantage), objective)
    return -objective


def reduce_tokens(per_token: Tensor, mask: Tensor, reduction: Reduction, denominator: float) -> Tensor:
    """Per-token values -> one number. per_token (B, T), mask (B, T) bool -> scalar.

    "sequence": sum over completions of the mean over the completion's own tokens, / denominator (GRPO, equation 3).
    "token", "constant": sum over all tokens / denominator (DAPO; Dr. GRPO, arXiv 2503.20783).
    What the denominator counts goes with the reduction: see loss_denominator. 0 is for an empty batch only.
    """
    _check_reduction(reduction)
    kept = torch.where(mask, per_token, 0.0)
    if reduction == "sequence":
        kept = kept / mask.sum(dim=1, keepdim=True).clamp(min=1)
    if denominator <= 0:
        if bool(mask.any()):
            raise ValueError(f"the denominator is {denominator}, but there are tokens to average")
        denominator = 1.0
    return kept.sum() / denominator


def loss_denominator(
    mask_or_lengths: Tensor | Sequence[int], reduction: Reduction, max_tokens: int | None = None
) -> float:
    """What a whole optimizer step divides by: count once, over all its micro-batches (and add up over processes).

    mask_or_lengths: the step's mask (B, T) bool, or its B completion lengths. Completions without a token don't count.
    "sequence": completions. "token": tokens. "constant": completions * max_tokens, so that a token's weight depends
    neither on its own completion's length nor on the others'. Raises ValueError for "constant" without max_tokens.
    """
    _check_reduction(reduction)
    counts = torch.as_tensor(mask_or_lengths)
    lengths = counts.sum(dim=1) if counts.dim() == 2 else counts
    if reduction == "token":
        return float(lengths.sum())
    completions = float((lengths > 0).sum())
    if reduction == "sequence":
        return completions
    if max_tokens is None or max_tokens < 1:
        raise ValueError(
            f'reduction "constant" needs max_tokens, the longest that a completion can be; got {max_tokens}'
        )
    return completions * max_tokens


def clip_fraction(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    old_logprobs: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = None,
) -> Tensor:
    """Share of the tokens whose policy gradient is cut to 0 by clipping; a scalar in [0, 1], 0 without tokens.

    Counts what policy_term cuts: r > 1 + clip_high where A > 0, r < 1 - clip_low or r > dual_clip where A < 0.
    """
    ratio = _ratio(_only(mask, logprobs.detach()), _only(mask, old_logprobs))
    advantage = advantages[:, None]
    clipped = ((advantage > 0) & (ratio > 1 + clip_high)) | ((advantage < 0) & (ratio < 1 - clip_low))
    if dual_clip is not None:
        clipped = clipped | ((advantage < 0) & (ratio > dual_clip))
    return (clipped & mask).sum() / mask.sum().clamp(min=1)


def truncated_importance_weights(logprobs: Tensor, sampler_logprobs: Tensor, cap: float) -> Tensor:
    """min(exp(trainer's log-prob - sampler's log-prob), cap) per token, without gradient. (B, T), (B, T) -> (B, T).

    Corrects for a sampler whose numbers differ from the trainer's (other kernels, bfloat16), at the price of a bias
    where the cap bites. Truncated importance sampling: Ionides, J. Comp. Graph. Stat. 17(2), 2008.
    """
    return _ratio(logprobs.detach(), sampler_logprobs).clamp(max=cap)


def _ratio(logprobs: Tensor, old_logprobs: Tensor) -> Tensor:
    return (logprobs - old_logprobs.detach()).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()


def _only(mask: Tensor, values: Tensor) -> Tensor:
    """0 where the mask is False. Selected before any arithmetic: multiplying by the mask keeps NaN (0 * NaN)."""
    return torch.where(mask, values if values.dtype == torch.float64 else values.float(), 0.0)


def _check_reduction(reduction: str) -> None:
    if reduction not in REDUCTIONS:
        raise ValueError(f"the reduction is {reduction!r}; it must be one of {', '.join(REDUCTIONS)}")


def _check_shapes(logprobs: Tensor, advantages: Tensor, **per_token: Tensor | None) -> None:
    """Nothing is broadcast: with B == T a (B,) vector would quietly stretch along the wrong axis."""
    if logprobs.dim() != 2:
        raise ValueError(f"logprobs have shape {tuple(logprobs.shape)}; they must be (completions, tokens)")
    if advantages.shape != logprobs.shape[:1]:
        raise ValueError(
            f"advantages have shape {tuple(advantages.shape)}; "
            f"{logprobs.shape[0]} completions need ({logprobs.shape[0]},)"
        )
    for name, tensor in per_token.items():
        if tensor is not None and tensor.shape != logprobs.shape:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}, logprobs {tuple(logprobs.shape)}; they must agree"
            )
