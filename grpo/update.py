"""From a micro-batch to its loss: what connects log-probs, settings and the pure functions of grpo.loss."""

from __future__ import annotations

from typing import Any

import torch

from grpo.config import Config
from grpo.grammar import TokenGrammar
from grpo.logprobs import TokenLogprobs, exact_kl_per_token, token_logprobs
from grpo.loss import LossTerms, clip_fraction, grpo_loss, truncated_importance_weights
from grpo.metrics import TokenStatistics
from grpo.microbatch import Microbatch


def policy_logprobs(
    batch: Microbatch, model: Any, reference: Any | None, grammar: TokenGrammar | None, config: Config
) -> TokenLogprobs:
    """Log-probs of the batch's sampled tokens under the policy, (B, T) with gradient.

    Fills in, the first time, what further passes over the batch need: the reference's log-probs (without gradient), and
    where there are further passes the policy's own as they are now, which the clipped ratio compares with.
    """
    how: dict[str, Any] = {
        "grammar": grammar if config.logprobs == "constrained" else None,
        "temperature": config.temperature,
        "packed": config.packed,
    }
    policy = token_logprobs(model, batch.groups, **how)
    if reference is not None and config.kl_estimator == "exact":
        batch.exact_kl = exact_kl_per_token(
            model, reference, batch.groups, grammar=how["grammar"], temperature=config.temperature
        )
    elif reference is not None and batch.ref_logprobs is None:
        with torch.no_grad():
            batch.ref_logprobs = token_logprobs(reference, batch.groups, **how).logprobs
    if config.passes > 1 and batch.old_logprobs is None:
        batch.old_logprobs = policy.logprobs.detach()
    return policy


def step_loss(
    batch: Microbatch, policy: TokenLogprobs, denominator: float, config: Config, importance_cap: float
) -> LossTerms:
    """The batch's share of the step's loss. denominator: of the whole step, over all micro-batches and processes."""
    sampled_with = policy.logprobs if batch.old_logprobs is None else batch.old_logprobs
    weights = None
    if importance_cap:
        weights = truncated_importance_weights(sampled_with, batch.sampler_logprobs, importance_cap)
    return grpo_loss(
        policy.logprobs,
        batch.advantages,
        policy.mask,
        ref_logprobs=batch.ref_logprobs,
        beta=config.beta,
        old_logprobs=batch.old_logprobs,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        dual_clip=config.dual_clip,
        kl_estimator=config.kl_estimator,
        exact_kl=batch.exact_kl,
        reduction=config.reduction,
        max_tokens=config.max_tokens,
        denominator=denominator,
        importance_weights=weights,
    )


@torch.no_grad()
def token_statistics(batch: Microbatch, policy: TokenLogprobs, loss: LossTerms, config: Config) -> TokenStatistics:
    """Sums over the batch's sampled tokens, for the step's metrics."""
    mask = policy.mask
    tokens = int(mask.sum())
    gap = (policy.logprobs - batch.sampler_logprobs).abs()[mask]
    clipped = 0.0
    if batch.old_logprobs is not None:
        share = clip_fraction(
            policy.logprobs,
            batch.advantages,
            mask,
            batch.old_logprobs,
            clip_low=config.clip_low,
            clip_high=config.clip_high,
            dual_clip=config.dual_clip,
        )
        clipped = share.item() * tokens
    return TokenStatistics(
        loss=loss.total.item(),
        policy=loss.policy.item(),
        kl=loss.kl.item(),
        tokens=tokens,
        entropy=policy.entropy[mask].sum().item(),
        gap=gap.sum().item(),
        gap_max=gap.max().item(),
        clipped=clipped,
    )
