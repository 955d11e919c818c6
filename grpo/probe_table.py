"""What a probe found, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grpo.passk import VERDICTS

RIGHT, LEFT = ">", "<"


def terminal_report(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """found: the contents of probe.json. run: those of run.json. Several tables and sentences, 130 columns at most."""
    modes = found["modes"]
    first = next(iter(modes))
    sections = [types_table(found, mode) for mode in modes]
    sections.append(overall_table(found, run))
    if found["comparison"]:
        sections.append(comparison_line(found["comparison"]))
    if modes[first]["axes"]:
        sections.append(axes_table(modes[first], first))
    if modes[first]["smaller"]:
        sections.append(smaller_lines(modes[first]["smaller"], found["settings"]["k"]))
    sections.append(verdict_line(found))
    return "\n\n".join(sections)


def types_table(found: Mapping[str, Any], mode: str) -> str:
    """A line per type, in the task's order."""
    sizes = _sizes(found)
    head = [mode, "verdict", "reward", "95 %", *(f"pass@{size}" for size in ["1", *sizes])]
    head += [*(f"eff@{size}" for size in sizes), "std", "gate fail", "cut", "tokens"]
    rows = []
    for type, of_type in found["modes"][mode]["types"].items():
        rows.append(
            [
                type,
                of_type["verdict"],
                number(of_type["reward"]),
                interval(of_type["reward"]),
                *(number(of_type["pass"][size]) for size in ["1", *sizes]),
                *(number(of_type["effective"][size]) for size in sizes),
                number(of_type["std"]),
                number(of_type["gate_failures"]),
                number(of_type["truncated"]),
                f"{of_type['completion_tokens']['mean']:.0f}",
            ]
        )
    return table(head, rows, left=2)


def overall_table(found: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """A column per mode."""
    sizes = _sizes(found)
    modes = found["modes"]
    overall = {mode: modes[mode]["overall"] for mode in modes}
    lines: list[tuple[str, Any]] = [
        ("reward", lambda of: of["reward"]),
        ("reward of what parses", lambda of: of["reward_if_parsed"]),
        *((name, lambda of, name=name: of["parts"].get(name)) for name in next(iter(overall.values()))["parts"]),
        ("gate failures", lambda of: of["gate_failures"]),
        ("truncated", lambda of: of["truncated"]),
        *((f"pass@{size}", lambda of, size=size: of["pass"][size]) for size in ["1", *sizes]),
        *((f"effective fraction, groups of {size}", lambda of, size=size: of["effective"][size]) for size in sizes),
        *((f"best of {size}", lambda of, size=size: of["best"][size]) for size in sizes),
        ("group std", lambda of: of["std"]),
    ]
    rows = [[name, *(f"{number(get(of))}  {interval(get(of)):<13}" for of in overall.values())] for name, get in lines]
    rows.append(["group std, median", *(f"{of['std_median']:.3f}" + " " * 15 for of in overall.values())])
    rows.append(["tokens of a completion", *(f"{of['completion_tokens']['mean']:.0f}" for of in overall.values())])
    speeds = [run["modes"].get(mode, {}).get("tokens_per_second", 0.0) for mode in modes]
    rows.append(["tokens a second", *(f"{speed:,.0f}" for speed in speeds)])
    completions = next(iter(overall.values()))["completions"]
    return table([f"all {completions:,} completions", *modes], rows, left=1)


def comparison_line(comparison: Mapping[str, Any]) -> str:
    reward, recovered, gate = comparison["reward"], comparison["recovered"], comparison["gate_failures"]
    share = "" if recovered is None else f": {number(recovered)} of what was lacking to 1"
    return (
        f"The grammar alone changes the reward by {reward['mean']:+.3f} {interval(reward)}{share}, "
        f"and the gate failures by {gate['mean']:+.3f}."
    )


def axes_table(mode: Mapping[str, Any], name: str) -> str:
    """Means along each axis, and how much of the variance of the documents' rewards the axis accounts for."""
    size = list(next(iter(mode["types"].values()))["effective"])[-1]
    parts = list(mode["overall"]["parts"])
    head = [f"{name}, along", "level", "docs", "reward", "95 %", *parts, f"pass@{size}", f"eff@{size}", "explains"]
    rows = []
    for axis, levels in mode["axes"].items():
        for place, of_level in enumerate(levels):
            rows.append(
                [
                    axis if place == 0 else "",
                    str(of_level["level"]),
                    str(of_level["documents"]),
                    number(of_level["reward"]),
                    interval(of_level["reward"]),
                    *(number(of_level["parts"].get(part)) for part in parts),
                    number(of_level["pass"][size]),
                    number(of_level["effective"][size]),
                    f"{mode['explained'][axis]['reward']:.0%}" if place == 0 else "",
                ]
            )
    return table(head, rows, left=2)


def smaller_lines(smaller: Mapping[str, Any], k: int) -> str:
    of_small, of_all = smaller["never_solved"].values()
    lines = [f"Types without a pass: {of_small:.1f} on average with groups of {smaller['k']}, {of_all} with {k}."]
    for flip in smaller["flips"]:
        lines.append(
            f"  {flip['type']}: {flip['from']} at {smaller['k']} -> {flip['to']} at {k} "
            f"({flip['seen']:.0%} of the smaller probes see it)"
        )
    return "\n".join(lines)


def verdict_line(found: Mapping[str, Any]) -> str:
    mode, of_mode = next(iter(found["modes"].items()))
    verdicts = [of_type["verdict"] for of_type in of_mode["types"].values()]
    counts = "  ".join(f"{name} {verdicts.count(name)}" for name in VERDICTS)
    return f"verdicts ({mode}, {len(verdicts)} types):  {counts}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Columns as wide as they need; the first `left` of them flush left, the others right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [f"{cell:{LEFT if at < left else RIGHT}{widths[at]}}" for at, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(estimate: Mapping[str, float | None] | None) -> str:
    """The mean of an ESTIMATE, or a dash where it is not defined."""
    return "-" if estimate is None else f"{estimate['mean']:.3f}"


def interval(estimate: Mapping[str, float | None] | None) -> str:
    if estimate is None or estimate["low"] is None:
        return ""
    return f"{estimate['low']:.2f}..{estimate['high']:.2f}"


def _sizes(found: Mapping[str, Any]) -> list[str]:
    overall = next(iter(found["modes"].values()))["overall"]
    return list(overall["effective"])
