"""How far the policy has moved from the reference: KL(policy || reference), estimated per token or summed exactly.

The estimators are J. Schulman's ("Approximating KL Divergence", 2020); k3 is equation 4 of DeepSeekMath
(arXiv 2402.03300). Everything is in nats. With d = reference log-prob - policy log-prob of the sampled token:

    estimator  value          mean over the policy's tokens    gradient of that mean, sampling held fixed
    k1         -d             KL(policy || reference)          0: as a loss it teaches nothing
    k2         d^2 / 2        KL to third order in d           that of KL(policy || reference)
    k3         e^d - d - 1    KL(policy || reference)          that of KL(reference || policy)
    exact      sum over the vocabulary                         that of KL(policy || reference)

A loss that is differentiated with autograd sees the last column (compare arXiv 2506.09477). Near the reference the
gradients of k2, k3 and the exact sum agree to first order. All of them are per token: how a token changes which states
are visited later is in none of them.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Estimator = Literal["k1", "k2", "k3"]

# exp(20) is 4.9e8: large enough to be seen, small enough for float32 sums. Beyond it an estimate has no gradient.
LOG_RATIO_LIMIT = 20.0


def kl_per_token(logprobs: Tensor, ref_logprobs: Tensor, estimator: Estimator = "k3") -> Tensor:
    """Estimates KL(policy || reference) at each sampled token. (..., T), (..., T) -> (..., T).

    logprobs, ref_logprobs: log-probs of the same sampled tokens, under the same grammar and temperature. The gradient
    goes to logprobs only.
    estimator: "k1", "k2" or "k3", see above. k2 and k3 are never negative.

    d is clamped to +-20, so that no estimate overflows; TRL 1.16 does not clamp.
    Raises ValueError for an unknown estimator or shapes that differ (they are never broadcast).
    """
    if logprobs.shape != ref_logprobs.shape:
        raise ValueError(
            f"log-probs have shape {tuple(logprobs.shape)}, reference log-probs {tuple(ref_logprobs.shape)}; "
            "they must be of the same tokens"
        )
    d = (ref_logprobs.detach() - logprobs).clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    if estimator == "k1":
        return -d
    if estimator == "k2":
        return d.square() / 2
    if estimator == "k3":
        # expm1 keeps the digits that exp(d) - 1 loses where the two policies are nearly equal: most of training.
        return torch.expm1(d) - d
    raise ValueError(f'the KL estimator is {estimator!r}; it must be "k1", "k2" or "k3"')


def exact_kl(logits: Tensor, ref_logits: Tensor, allowed: Tensor | None = None) -> Tensor:
    """KL(policy || reference) summed over the vocabulary. (..., V), (..., V) -> (...), float32.

    logits, ref_logits: already divided by the temperature; the gradient goes to logits only.
    allowed: bool, broadcastable to (..., V): the tokens that the grammar allows. Both distributions are renormalised
        over them; the rest take no part and get gradient 0. A policy logit of -inf counts as not allowed.
    A row with one allowed token, or with none (padding), is 0.

    Memory is rows x V in float32, several times over with the backward pass: give it rows in chunks.
    Raises ValueError where the two shapes differ.
    """
    if logits.shape != ref_logits.shape:
        raise ValueError(f"logits have shape {tuple(logits.shape)}, reference logits {tuple(ref_logits.shape)}")
    possible = logits > -torch.inf
    if allowed is not None:
        possible = possible & allowed
    logp = _log_softmax_over(logits, possible)
    ref_logp = _log_softmax_over(ref_logits.detach(), possible)
    # Both are 0 where not possible, and so is the product. With -inf there, 0 * inf would be NaN, in the gradient too.
    return (logp.exp() * (logp - ref_logp)).sum(dim=-1)


def _log_softmax_over(logits: Tensor, possible: Tensor) -> Tensor:
    """Log-softmax in float32 over the possible tokens; 0 at the others, so that products with them stay finite."""
    log_softmax = torch.log_softmax(logits.float().masked_fill(~possible, -torch.inf), dim=-1)
    return torch.where(possible, log_softmax, 0.0)
