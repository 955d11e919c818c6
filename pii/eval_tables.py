"""What eval.py measured as rows of text: one set of rows for the terminal and for the page.

A model's measurements are a dictionary with label, held_out, external, general and kl; what was left out is None. A row
is (name, cells); one without cells is a heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

Measured = Mapping[str, Any]
Row = tuple[str, list[str]]

_EXTERNAL = {
    "precision": "token_precision",
    "recall": "token_recall",
    "typeless token F1": "token_typeless_f1",
    "span F1": "span_f1",
    "typeless span F1": "span_typeless_f1",
    "macro token F1": "token_macro_f1",
    "macro span F1": "span_macro_f1",
}


def summary(models: Sequence[Measured]) -> list[Row]:
    """The one table: held-out types, external set, general ability, KL; a column a model."""
    rows: list[Row] = []

    def add(part: str, name: str, value: Callable[[Any], str]) -> None:
        rows.append((name, [value(one[part]) if one[part] is not None else "" for one in models]))

    if some := _first(models, "held_out"):
        rows.append((f"held-out types ({some['prompts']} documents)", []))
        add("held_out", "reward", lambda one: f"{one['reward']:.3f} ±{one['reward_interval']:.3f}")
        for part in some["parts"]:
            add("held_out", part, partial(_part, part))
        add("held_out", "passed the gate", lambda one: f"{one['gate_fraction']:.3f}")
        add("held_out", "cut off", lambda one: f"{one['truncated_fraction']:.3f}")
    if some := _first(models, "external"):
        rows.append((f"external set ({some['scores']['documents']:.0f} documents)", []))
        add("external", "token F1", lambda one: _interval(one["scores"], "token_f1"))
        for name, key in _EXTERNAL.items():
            add("external", name, partial(_score, key))
        add("external", "false tokens a PII-free document", lambda one: _false_tokens(one["scores"]))
        add("external", "cut off", lambda one: f"{one['truncated_fraction']:.3f}")
    if some := _first(models, "general"):
        rows.append((f"general ability ({some['questions']} questions)", []))
        add("general", "right", lambda one: f"{one['share']:.3f}")
    if any(one["kl"] is not None for one in models):
        rows.append(("neutral text", []))
        add("kl", "KL to the untrained model (nats a token)", lambda one: f"{one:.4f}")
    return rows


def by_type(models: Sequence[Measured]) -> tuple[list[str], list[Row]]:
    """Token F1 of every type on the external set: column heads and rows."""
    reports = [one["external"]["by_type"] for one in models if one["external"] is not None]
    labels = [one["label"] for one in models if one["external"] is not None]
    gold: dict[str, float] = {}
    for report in reports:
        gold |= {name: row["gold"] for name, row in report.items()}
    rows = [
        (name, [f"{count:.0f}", *(_of_type(report.get(name)) for report in reports)])
        for name, count in sorted(gold.items())
    ]
    return ["gold", *labels], rows


def by_kind(models: Sequence[Measured]) -> list[Row]:
    """Share of right answers to each kind of general question."""
    some = _first(models, "general")
    if some is None:
        return []
    return [
        (
            kind.replace("_", " "),
            [_number(one["general"]["by_kind"].get(kind)) if one["general"] else "" for one in models],
        )
        for kind in some["by_kind"]
    ]


def beside(scores: Mapping[str, Mapping[str, float]], columns: Mapping[str, str]) -> list[Row]:
    """Models and baselines by name, one a row. columns: heading -> name of a score."""
    return [
        (
            name,
            [
                _interval(row, "token_f1")
                if key == "token_f1"
                else _false_tokens(row)
                if key == "false_tokens"
                else f"{row[key]:.3f}"
                for key in columns.values()
            ],
        )
        for name, row in scores.items()
    ]


def curves(models: Sequence[Measured]) -> list[tuple[str, str, list[tuple[str, list[int], list[float | None]]]]]:
    """Charts over the steps of a run: title, note, and lines of label, steps and values."""
    found = sorted((one for one in models if one["step"] is not None), key=lambda one: one["step"])
    charts = []
    if of := [one for one in found if one["external"]]:
        names = {"token F1": "token_f1", "precision": "token_precision", "recall": "token_recall"}
        steps = [one["step"] for one in of]
        scores = [one["external"]["scores"] for one in of]
        lines = [(label, steps, [row[key] for row in scores]) for label, key in names.items()]
        charts.append(("External set", "strict, by token", lines))
    if of := [one for one in found if one["held_out"]]:
        steps = [one["step"] for one in of]
        rows = [{"reward": one["held_out"]["reward"], **one["held_out"]["parts"]} for one in of]
        lines = [(name, steps, [row.get(name) for row in rows]) for name in rows[0]]
        charts.append(("Held-out types", "reward and its parts", lines))
    if of := [one for one in found if one["general"]]:
        line = ("right", [one["step"] for one in of], [one["general"]["share"] for one in of])
        charts.append(("General ability", "share of right answers", [line]))
    if of := [one for one in found if one["kl"] is not None]:
        line = ("KL", [one["step"] for one in of], [one["kl"] for one in of])
        charts.append(("KL to the untrained model", "neutral text, nats a token", [line]))
    return charts


def as_text(rows: Sequence[Row], labels: Sequence[str]) -> str:
    """Rows as columns of a terminal."""
    first = max(len(name) for name, cells in rows if cells) + 2
    widths = [max(len(label), *(len(cells[place]) for _, cells in rows if cells)) for place, label in enumerate(labels)]
    lines = [" " * first + "  ".join(label.rjust(width) for label, width in zip(labels, widths, strict=True))]
    for name, cells in rows:
        if not cells:
            lines.append(name)
            continue
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        lines.append(f"  {name}".ljust(first) + "  ".join(padded))
    return "\n".join(line.rstrip() for line in lines)


def as_markdown(rows: Sequence[Row], labels: Sequence[str]) -> str:
    """Rows as a Markdown table."""
    lines = [f"| | {' | '.join(labels)} |", "|---|" + "---:|" * len(labels)]
    lines += [
        f"| {name if cells else f'**{name}**'} | {' | '.join(cells or [''] * len(labels))} |" for name, cells in rows
    ]
    return "\n".join(lines)


def _first(models: Sequence[Measured], part: str) -> Any:
    return next((one[part] for one in models if one[part] is not None), None)


def _of_type(row: Measured | None) -> str:
    if row is None:
        return ""
    # Without gold an F1 says nothing but that something was predicted.
    return _interval(row["token"], "f1") if row["gold"] else f"{row['predicted']:.0f} invented"


def _part(name: str, one: Measured) -> str:
    return _number(one["parts"].get(name))


def _score(name: str, one: Measured) -> str:
    return f"{one['scores'][name]:.3f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(row: Mapping[str, float], name: str) -> str:
    return f"{row[name]:.3f} ({row[f'{name}_low']:.2f}-{row[f'{name}_high']:.2f})"


def _false_tokens(row: Mapping[str, float]) -> str:
    return f"{row['false_tokens']:.2f}" if row["pii_free_documents"] else "-"
