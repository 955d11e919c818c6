"""The learning rate of each step: half a cosine from the peak to zero (SGDR, arXiv 1608.03983, eq. 5, no restart)."""

from __future__ import annotations

import math


def cosine_to_zero(step: int, steps: int, peak: float) -> float:
    """lr(step) = peak * (1 + cos(pi * step / steps)) / 2, for the step that is about to be taken, counted from 0.

    lr(0) = peak: there is no warm-up. lr(steps) = 0, and 0 after that; the last step of a run, steps - 1, still moves.
    Raises ValueError where steps < 1 or step < 0.
    """
    if steps < 1:
        raise ValueError(f"steps is {steps}; a schedule needs at least 1")
    if step < 0:
        raise ValueError(f"step is {step}; steps are counted from 0")
    if step >= steps:
        return 0.0
    return peak * (1.0 + math.cos(math.pi * step / steps)) / 2.0
