"""Curves as inline SVG: drawn by matplotlib, coloured by the page's style sheet, so that they suit light and dark."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

# Colours that occur nowhere else in a drawing; each is replaced by a variable of page.css.
_INK = "#010203"
_SERIES = tuple(f"#0{index}0b0c" for index in range(1, 8))
_VARIABLES = {_INK: "currentColor"} | {colour: f"var(--c{index})" for index, colour in enumerate(_SERIES, 1)}

_STYLE: Any = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.5,
}


class Series(NamedTuple):
    """One line of a chart; y may hold None where nothing was measured.

    faint: drawn thin behind the others, without a colour of its own. half_width: of an interval, with y as points.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    faint: bool = False
    half_width: Sequence[float] | None = None


def line_chart(name: str, series: Sequence[Series], *, log: bool = False, share: bool = False) -> Markup:
    """Lines over steps. name: for screen readers. log: a logarithmic y axis. share: y from 0 to 1."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _axes()
        colour = 0
        for one in series:
            y = [math.nan if value is None else float(value) for value in one.y]
            if one.faint:
                # In the colour of the line that it belongs to, which comes next.
                axes.plot(one.x, y, color=_SERIES[colour % 7], alpha=0.3, linewidth=0.8, marker=_marker(y))
                continue
            shade = _SERIES[colour % 7]
            colour += 1
            if one.half_width is not None:
                axes.errorbar(
                    one.x, y, yerr=list(one.half_width), color=shade, fmt="o-", ms=4, lw=1, capsize=2, label=one.label
                )
            else:
                axes.plot(one.x, y, color=shade, label=one.label, marker=_marker(y), markersize=3)
        if log and any(value is not None and value > 0 for one in series for value in one.y):
            axes.set_yscale("log", nonpositive="mask")
        if share:
            axes.set_ylim(-0.02, 1.02)
        if sum(not one.faint for one in series) > 1:
            _legend(axes)
        return _svg(figure, name)


def stacked_chart(name: str, x: Sequence[float], layers: Sequence[tuple[str, Sequence[float]]]) -> Markup:
    """Layers on top of one another over steps: what a total is made of. A single step is drawn as one step wide."""
    with matplotlib.rc_context(_STYLE):
        figure, axes = _axes()
        if len(x) == 1:
            x, layers = [x[0] - 0.5, x[0] + 0.5], [(label, [*values, *values]) for label, values in layers]
        axes.stackplot(
            x,
            *(values for _, values in layers),
            labels=[label for label, _ in layers],
            colors=[_SERIES[index % 7] for index in range(len(layers))],
            alpha=0.8,
            linewidth=0,
        )
        axes.set_ylim(bottom=0)
        _legend(axes)
        return _svg(figure, name)


def _axes() -> tuple[Figure, Any]:
    figure = Figure(figsize=(4.5, 2.6), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    axes.grid(axis="y", color=_INK, alpha=0.12, linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.margins(x=0.02)
    return figure, axes


def _legend(axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = 2 if len(labels) > 2 else len(labels)
    axes.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, handlelength=1.2)


def _marker(values: Sequence[float]) -> str:
    """Dots where a line would not be seen: a single measured value."""
    return "o" if sum(not math.isnan(value) for value in values) < 2 else ""


def _svg(figure: Figure, name: str) -> Markup:
    # The salt keeps the ids of two drawings on one page apart, and a drawing the same each time it is made.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        drawn = io.StringIO()
        FigureCanvasSVG(figure).print_svg(drawn, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = drawn.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' id="[a-zA-Z0-9.]+_\d+"', "", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    label = str(Markup.escape(name))
    text = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        rf'<svg viewBox="\1" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-label="{label}">',
        text,
        count=1,
    )
    return Markup(text)
