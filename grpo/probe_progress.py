"""What a probe shows while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm import tqdm

from grpo.passk import effective_at_k, mean

SECONDS_BETWEEN_LINES = 20


class ProbeProgress:
    """A bar over completions: mean reward, failed gates and effective fraction of the mode so far, speed, time left.

    Where stderr is no terminal there is no bar, and a line every 20 seconds or so.
    """

    def __init__(self, documents: int, k: int) -> None:
        self.k, self.total = k, documents * k
        self.terminal = sys.stderr.isatty()
        self.mode = ""
        self.groups: list[tuple[float, float, float]] = []  # of each document: mean reward, gate failures, effective
        self.at = self.started_at = self.fresh_tokens = 0
        self.began = self.last_line = time.perf_counter()
        self.bar: Any = tqdm(
            total=self.total,
            disable=not self.terminal,
            dynamic_ncols=True,
            bar_format="{n_fmt}/{total_fmt} {bar:12} {desc} | {elapsed} gone, {remaining} left",
        )

    def __enter__(self) -> ProbeProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.close()

    def write(self, line: str) -> None:
        if line:
            tqdm.write(line)
            sys.stdout.flush()

    def seen(self, records: Sequence[Mapping[str, Any]], *, fresh: bool = True) -> None:
        """Counts documents of the record. fresh: a batch that was sampled just now, not in an earlier session."""
        for record in records:
            if record["mode"] != self.mode:
                self.mode, self.groups = record["mode"], []
            rewards = record["rewards"]
            self.groups.append((mean(rewards), 1 - mean(record["gates"]), effective_at_k(rewards, self.k)))
        self.at += self.k * len(records)
        if not fresh:
            # What an earlier session did is no measure of this one's speed.
            self.started_at = self.bar.initial = self.bar.n = self.at
            return
        self.fresh_tokens += sum(sum(record["tokens"]) for record in records)
        self.bar.set_description_str(self._numbers(), refresh=False)
        self.bar.update(self.k * len(records))
        now = time.perf_counter()
        if not self.terminal and (self.at == self.total or now - self.last_line > SECONDS_BETWEEN_LINES):
            self.last_line = now
            left = (now - self.began) * (self.total - self.at) / (self.at - self.started_at)
            self.write(f"{self.at}/{self.total}  {self._numbers()}  {left / 60:.1f} min left")

    def _numbers(self) -> str:
        reward, failed, effective = (mean(column) for column in zip(*self.groups, strict=True))
        speed = self.fresh_tokens / max(time.perf_counter() - self.began, 1e-9)
        return (
            f"{self.mode}  reward {reward:.3f}  gate failures {failed:.2f}  effective {effective:.2f}  "
            f"{speed:,.0f} tokens/s"
        )
