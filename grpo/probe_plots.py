"""The plots of a probe: matplotlib figures, as SVG for the page and as PNG for documents."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

Found = Mapping[str, Any]

# Stands for the colour of the text around a figure, which is another in the dark; every other colour suits both.
INK = "#010203"
LINES = ("#2f7de1", "#e0762f", "#2e9d6a", "#a35bd6", "#c9a227", "#d6518d")
VERDICT_COLOURS = {"trainable": "#2e9d6a", "never solved": "#d99a1c", "mastered": "#2f7de1", "dead": "#d3504a"}
MODE_STYLES = ("-", "--")
_RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "probe",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def figures(found: Found) -> dict[str, Figure]:
    """Name -> figure, in reading order; what the probe has no data for is left out. found: probe.json."""
    with matplotlib.rc_context(_RC):
        made = {}
        numeric = [name for name, levels in _first(found)["axes"].items() if _is_numeric(levels)]
        if numeric:
            made[numeric[0].replace(" ", "-")] = against(found, numeric[0])
        if _first(found)["axes"]:
            made["axes"] = along_axes(found)
        made["rewards"] = rewards(found)
        made["types"] = by_type(found)
        return made


def against(found: Found, axis: str) -> Figure:
    """Along one numeric axis: reward and the first two parts; pass@k and effective fraction."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    parts = list(_first(found)["overall"]["parts"])[:2]
    sizes = list(_first(found)["overall"]["effective"])
    _curves(left, found, axis, {"reward": ("reward",), **{part: ("parts", part) for part in parts}})
    chances: dict[str, tuple[str, ...]] = {f"pass@{k}": ("pass", k) for k in dict.fromkeys(["1", *sizes])}
    chances[f"effective fraction, groups of {sizes[-1]}"] = ("effective", sizes[-1])
    _curves(right, found, axis, chances)
    return figure


def along_axes(found: Found) -> Figure:
    """The mean reward along every axis, with its 95 % interval."""
    names = list(_first(found)["axes"])
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3 * columns, 2.5 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).flat
    for panel, name in zip(panels, names, strict=False):
        for place, (mode, of_mode) in enumerate(found["modes"].items()):
            levels = of_mode["axes"][name]
            xs = _positions(levels)
            ys = [of["reward"]["mean"] for of in levels]
            style = MODE_STYLES[place] if _is_numeric(levels) else ""
            panel.errorbar(
                xs,
                ys,
                _bars([of["reward"] for of in levels]),
                marker="o",
                ms=4,
                ls=style,
                color=LINES[place],
                label=mode,
            )
        panel.set_title(f"{name} (explains {_first(found)['explained'][name]['reward']:.0%})", fontsize=9)
        _ticks(panel, levels)
        _frame(panel)
    for panel in list(panels):
        panel.set_visible(False)
    figure.axes[0].set_ylabel("mean reward")
    if len(found["modes"]) > 1:
        figure.axes[0].legend(fontsize=8)
    return figure


def rewards(found: Found) -> Figure:
    """How the rewards of all completions are spread, and those of groups."""
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, (mode, of_mode) in enumerate(found["modes"].items()):
        groups = [group for of_type in of_mode["types"].values() for group in of_type["groups"]]
        everything = [reward for group in groups for reward in group["rewards"]]
        look: Any = {"bins": 25, "histtype": "step", "color": LINES[place], "ls": MODE_STYLES[place], "label": mode}
        left.hist(everything, weights=[1 / len(everything)] * len(everything), **look)
        right.hist([group["std"] for group in groups], weights=[1 / len(groups)] * len(groups), **look)
    left.set(xlabel="reward of a completion", ylabel="share")
    right.set(xlabel="standard deviation of a group")
    for panel in (left, right):
        panel.grid(alpha=0.15, color=INK)
        panel.legend(fontsize=8)
    return figure


def by_type(found: Found) -> Figure:
    """Every type: mean reward with its interval; effective fraction with all completions and with smaller groups."""
    mode, of_mode = next(iter(found["modes"].items()))
    types = sorted(of_mode["types"].items(), key=lambda entry: entry[1]["reward"]["mean"])
    sizes = list(of_mode["overall"]["effective"])
    ys = list(range(len(types)))
    figure = Figure(figsize=(9, 1.3 + 0.19 * len(types)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    colours = [VERDICT_COLOURS[of_type["verdict"]] for _, of_type in types]
    estimates = [of_type["reward"] for _, of_type in types]
    left.hlines(
        ys,
        [one["mean"] if one["low"] is None else one["low"] for one in estimates],
        [one["mean"] if one["high"] is None else one["high"] for one in estimates],
        colors=colours,
        alpha=0.6,
    )
    left.scatter([one["mean"] for one in estimates], ys, c=colours, s=16, zorder=3)
    right.scatter([of["effective"][sizes[-1]]["mean"] for _, of in types], ys, c=colours, s=16, zorder=3)
    if len(sizes) > 1:
        smaller = [of["effective"][sizes[0]]["mean"] for _, of in types]
        right.scatter(smaller, ys, facecolors="none", edgecolors=colours, s=24)
    passes = [of["pass"][sizes[-1]]["mean"] for _, of in types]
    right.scatter(passes, ys, marker="|", c=[INK] * len(types), s=30, alpha=0.7)
    left.set_yticks(ys, [type for type, _ in types], fontsize=7)
    left.set(xlabel=f"mean reward ({mode}), 95 % interval", ylim=(-1, len(types)))
    right.set(xlabel="effective fraction, and pass@k")
    handles = [
        Line2D([], [], marker="o", ls="", ms=4, color=VERDICT_COLOURS[verdict], label=verdict)
        for verdict in VERDICT_COLOURS
        if verdict in {of["verdict"] for _, of in types}
    ]
    handles.append(Line2D([], [], marker="o", ls="", ms=4, color=INK, label=f"effective, groups of {sizes[-1]}"))
    if len(sizes) > 1:
        hollow = Line2D(
            [], [], marker="o", ls="", ms=5, mfc="none", color=INK, label=f"effective, groups of {sizes[0]}"
        )
        handles.append(hollow)
    handles.append(Line2D([], [], marker="|", ls="", ms=6, color=INK, label=f"pass@{sizes[-1]}"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8)
    for panel in (left, right):
        panel.grid(alpha=0.15, color=INK)
        panel.set_xlim(-0.03, 1.03)
    return figure


def svg(figure: Figure) -> str:
    """An <svg> element to stand in a page: its ink is the text colour around it, its ground is transparent."""
    buffer = io.StringIO()
    with matplotlib.rc_context(_RC):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(INK, "currentColor")


def write_images(folder: Path, found: Found) -> list[Path]:
    """The plots as PNG files, on white, NAME.png each."""
    written = []
    for name, figure in figures(found).items():
        with matplotlib.rc_context(_RC):
            figure.savefig(folder / f"{name}.png", dpi=110, facecolor="white")
        written.append(folder / f"{name}.png")
    return written


def _curves(panel: Axes, found: Found, axis: str, curves: Mapping[str, Sequence[str]]) -> None:
    """curves: label -> where in STATISTICS the ESTIMATE stands."""
    for place, (mode, of_mode) in enumerate(found["modes"].items()):
        for number, (name, path) in enumerate(curves.items()):
            points = [(of["level"], one) for of in of_mode["axes"][axis] if (one := _inside(of, path))]
            label = name if place == 0 else f"{name}, {mode}"
            panel.plot(
                [level for level, _ in points],
                [one["mean"] for _, one in points],
                MODE_STYLES[place],
                marker="o",
                ms=3,
                color=LINES[number],
                label=label,
            )
            known = [(level, one["low"], one["high"]) for level, one in points if one["low"] is not None]
            if known:
                xs, low, high = zip(*known, strict=True)
                panel.fill_between(xs, low, high, color=LINES[number], alpha=0.12, lw=0)
    panel.set_xlabel(axis)
    _ticks(panel, _first(found)["axes"][axis])
    _frame(panel)
    panel.legend(fontsize=7)


def _inside(of_level: Any, path: Sequence[str]) -> Any:
    for name in path:
        of_level = of_level.get(name)
        if of_level is None:
            return None
    return of_level


def _first(found: Found) -> Any:
    return next(iter(found["modes"].values()))


def _is_numeric(levels: Sequence[Mapping[str, Any]]) -> bool:
    return all(isinstance(of["level"], (int, float)) for of in levels)


def _positions(levels: Sequence[Mapping[str, Any]]) -> list[float]:
    return [of["level"] for of in levels] if _is_numeric(levels) else list(range(len(levels)))


def _ticks(panel: Axes, levels: Sequence[Mapping[str, Any]]) -> None:
    words = not _is_numeric(levels)
    panel.set_xticks(_positions(levels), [str(of["level"]) for of in levels], rotation=30 if words else 0)
    if words:
        for label in panel.get_xticklabels():
            label.set_horizontalalignment("right")


def _frame(panel: Axes) -> None:
    panel.set_ylim(-0.03, 1.03)
    panel.grid(alpha=0.15, color=INK)


def _bars(estimates: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    return [
        [one["mean"] - (one["mean"] if one["low"] is None else one["low"]) for one in estimates],
        [(one["mean"] if one["high"] is None else one["high"]) - one["mean"] for one in estimates],
    ]
