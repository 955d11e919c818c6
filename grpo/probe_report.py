"""A probe as one HTML page that loads nothing: figures, tables, and completions beside their documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from grpo.passk import VERDICTS
from grpo.probe_plots import VERDICT_COLOURS, figures, svg
from grpo.probe_table import interval, number
from grpo.run_folder import write_atomically

# (title, [(text, kind, tag), ...]): a stretch of text with a kind is highlighted, and its tag says what it is.
Pane = tuple[str, Sequence[tuple[str, str, str]]]
Panes = Callable[[Mapping[str, Any], str], Sequence[Pane]]

_CAPTIONS = {
    "axes": "Mean reward along each axis, with 95 % intervals over documents. The percentage is the share of the "
    "variance of the documents' rewards that lies between the levels of that axis alone; the axes are not independent.",
    "rewards": "Left: rewards of single completions. Right: how far the completions of one document lie apart, which "
    "is what an advantage is made of.",
    "types": "Every type, by its mean reward. Full dots: the share of groups with any spread; hollow ones: what "
    "smaller groups of the same completions would have had; bars: the chance of at least one pass.",
}
_OF_AXIS = "Along {name}: bands are 95 % intervals over documents; dashed lines are free-form completions."


def write_page(file: Path, found: Mapping[str, Any], run: Mapping[str, Any], panes: Panes | None = None) -> None:
    """found, run: the contents of probe.json and run.json. panes: (metadata, completion) -> what a reader is shown."""
    write_atomically(file, page(found, run, panes))


def page(found: Mapping[str, Any], run: Mapping[str, Any], panes: Panes | None = None) -> str:
    """All text that comes from documents and completions is escaped by the template."""
    modes = found["modes"]
    first = next(iter(modes))
    types = [
        {
            "name": name,
            "verdict": of_type["verdict"],
            "of": of_type,
            "examples": [
                (mode, label, example, list((panes or plain_panes)(example["metadata"], example["text"])))
                for mode in modes
                for label, example in modes[mode]["types"][name]["examples"].items()
            ],
        }
        for name, of_type in modes[first]["types"].items()
    ]
    kinds = sorted(
        {kind for type in types for *_, shown in type["examples"] for _, parts in shown for _, kind, _ in parts if kind}
    )
    verdicts = [type["verdict"] for type in types]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(number=number, interval=interval)
    return environment.get_template("probe.html").render(
        found=found,
        run=run,
        first=first,
        sizes=list(modes[first]["overall"]["effective"]),
        # matplotlib escapes what it writes into an SVG.
        figures=[
            (Markup(svg(figure)), _CAPTIONS.get(name, _OF_AXIS.format(name=name.replace("-", " "))))
            for name, figure in figures(found).items()
        ],
        types=types,
        counts=[(verdict, verdicts.count(verdict), VERDICT_COLOURS[verdict]) for verdict in VERDICTS],
        colours=VERDICT_COLOURS,
        # The golden angle keeps neighbours apart, however many kinds there are.
        hues={kind: round(index * 137.5) % 360 for index, kind in enumerate(kinds)},
    )


def plain_panes(metadata: Mapping[str, Any], completion: str) -> list[Pane]:
    """For a task that shows nothing better: what it keeps about the prompt, and the completion."""
    about = "\n".join(f"{name}: {value}" for name, value in metadata.items())
    return [("prompt", [(about, "", "")]), ("completion", [(completion, "", "")])]
