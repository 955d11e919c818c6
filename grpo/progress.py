"""What a run shows while it runs, and how it is stopped: a bar, log lines above it, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from tqdm import tqdm

from grpo.metrics import StepMetrics, mean

WINDOW = 20


class Progress:
    """One bar over the run's steps: reward over the last 20 steps, KL, gradient norm, degenerate fraction, time left.

    Above it a line for one step in ten or so. Where stderr is no terminal there is no bar, and a line for every step.
    No loss: on-policy its value says nothing about how well the policy does (its gradient does; see docs/metrics.md).
    """

    def __init__(self, steps: int, rewards_so_far: Sequence[float], shown: bool = True) -> None:
        self.rewards: deque[float] = deque(rewards_so_far, maxlen=WINDOW)
        self.shown = shown
        terminal = sys.stderr.isatty()
        self.steps = steps
        self.log_every = max(1, steps // 15) if terminal else 1
        self.bar: Any = tqdm(
            total=steps,
            initial=len(rewards_so_far),
            disable=not (shown and terminal),
            dynamic_ncols=True,
            bar_format="{n_fmt}/{total_fmt} {bar:12} {desc} | {elapsed} gone, {remaining} left",
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.close()

    def step(self, metrics: StepMetrics) -> None:
        self.rewards.append(metrics.reward_mean)
        kl = "-" if metrics.kl is None else f"{metrics.kl:.4f}"
        self.bar.set_description_str(
            f"reward({len(self.rewards)}) {mean(list(self.rewards)):.3f}  kl {kl}  "
            f"grad {metrics.grad_norm:.2f}  degenerate {metrics.degenerate_fraction:.2f}",
            refresh=False,
        )
        self.bar.update()
        if metrics.step % self.log_every == 0 or metrics.step in (1, self.steps):
            self.write(log_line(metrics, self.steps))

    def write(self, line: str) -> None:
        if line and self.shown:
            tqdm.write(line)
            sys.stdout.flush()


def log_line(metrics: StepMetrics, steps: int) -> str:
    kl = "" if metrics.kl is None else f"kl {metrics.kl:.4f}  "
    gap = "" if metrics.logprob_gap_max is None else f"gap {metrics.logprob_gap_max:.1e}  "
    return (
        f"step {metrics.step:>4}/{steps}  reward {metrics.reward_mean:.3f} ± {metrics.reward_std:.3f}  "
        f"degenerate {metrics.degenerate_fraction:.2f}  gate {metrics.gate_fraction:.2f}  {kl}"
        f"grad {metrics.grad_norm:.2f}  lr {metrics.lr:.1e}  tokens {metrics.completion_tokens_mean:.0f}  "
        f"{gap}{metrics.seconds['total']:.1f} s"
    )


def eval_line(step: int, found: Mapping[str, Any]) -> str:
    parts = "  ".join(f"{name} {value:.2f}" for name, value in found["parts"].items())
    return (
        f"step {step:>4}  {found['split']}: reward {found['reward']:.3f} ± {found['reward_interval']:.3f} "
        f"({found['prompts']} prompts)  {parts}  {found['seconds']:.0f} s"
    )


def gap_warning(metrics: StepMetrics, bfloat16: bool, logprobs: str) -> str:
    """One line where the sampler's log-probs are further from the trainer's than rounding explains; "" where not.

    Mean and max over the step's sampled tokens, nats. Two float32 computations differ by about 1e-5, bfloat16 by 1e-2.
    """
    mean_bound, max_bound = (5e-2, 2.0) if bfloat16 else (1e-3, 1e-2)
    gap, widest = metrics.logprob_gap_mean, metrics.logprob_gap_max
    if gap is None or widest is None or (gap <= mean_bound and widest <= max_bound):
        return ""
    found = (
        f"warning: in step {metrics.step} the sampler's and the trainer's log-probs differ by {gap:.1e} nats on "
        f"average and {widest:.1e} at most (expected: below {mean_bound:.0e} and {max_bound:.0e}): "
    )
    if logprobs == "full":
        return found + "--logprobs full trains another distribution than the one that was sampled from; use constrained"
    return found + (
        "check that the weights reach the sampler (does it go away with --sampler torch?), that both run with the same "
        "precision, and that nothing but grammar and temperature shapes the sampling"
    )


class StopRequest:
    """While entered, the first SIGINT or SIGTERM asks the run to stop after the step; a second one stops it at once."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        # Only the main thread may set handlers; elsewhere (a notebook's worker) signals keep their usual meaning.
        if threading.current_thread() is threading.main_thread():
            self._previous = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        # Not print: a handler may run in the middle of another print.
        os.write(2, b"\nfinishing this step, then saving; once more to stop at once\n")
