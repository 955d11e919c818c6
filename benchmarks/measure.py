"""Timing two ways of doing one thing, and writing what came out."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).parent / "results"


def alternately(repeats: int, ways: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Processor seconds (all threads) of each way, `repeats` times in turn after one warm-up each.

    Processor time, because other work on the machine stretches the clock on the wall; in turn, so that what still
    disturbs one disturbs both.
    """
    for way in ways.values():
        way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    return times


def ratio(slow: list[float], fast: list[float]) -> dict[str, float]:
    """Of pairs that ran one after the other: the median ratio, and the smallest and largest."""
    ratios = [a / b for a, b in zip(slow, fast, strict=True)]
    return {"median": statistics.median(ratios), "min": min(ratios), "max": max(ratios)}


def save(name: str, result: dict[str, Any]) -> Path:
    """benchmarks/results/NAME.json, with what it was measured on."""
    machine = {"torch": torch.__version__, "threads": torch.get_num_threads(), "processor": platform.machine()}
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    file.write_text(json.dumps({"machine": machine, **result}, indent=1) + "\n", encoding="utf-8")
    return file
