"""One setting, one place: a dataclass field with its documentation, and everything that is made from it.

The command line, `--help`, config.json, docs/settings.md and the checks all read the fields of a settings dataclass
(grpo.config.Config, and a task's own). A field's metadata holds

    doc       what it does, one sentence or two, without a full stop at the end
    group     the heading that it stands under
    unit      of a number: "tokens", "seconds" ("" where it has none)
    minimum, above, maximum    bounds of a number (>=, >, <=), optional
    resumable True where a run may be resumed with another value, because the value does not alter its mathematics
    auto      the words that stand for a default of None or ""

A plain `dataclasses.field(default=..., metadata={...})` is enough, so a task's settings need not import this file.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import math
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

S = TypeVar("S")


class SettingsError(ValueError):
    """A wrong setting; one line that names it, what was wrong and what to do."""


def setting(default: Any, doc: str, *, group: str, **metadata: Any) -> Any:
    """A documented dataclass field; `metadata` as in this module's docstring."""
    return dataclasses.field(default=default, metadata={"doc": doc, "group": group, **metadata})


def flag(name: str) -> str:
    """The command-line flag of a field: tokens_per_microbatch -> --tokens-per-microbatch."""
    return "--" + name.replace("_", "-")


class OneLineParser(argparse.ArgumentParser):
    """A parser whose complaint is one line on stderr, with the nearest flag where one was misspelt. Exits with 2."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0] if "unrecognized" in message else ""
        near = difflib.get_close_matches(unknown.split("=")[0], self._option_string_actions, n=1)
        hint = f"did you mean {near[0]}?" if near else "--help lists all settings"
        print(f"{self.prog}: {message}; {hint}", file=sys.stderr)
        sys.exit(2)


def add_arguments(parser: argparse.ArgumentParser, *classes: type) -> None:
    """Adds one flag per field, under the fields' groups. A flag that is not given leaves no attribute behind."""
    groups: dict[str, Any] = {}
    for cls in classes:
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            title = field.metadata["group"]
            if title not in groups:
                groups[title] = parser.add_argument_group(title)
            keywords: dict[str, Any] = {"dest": field.name, "default": argparse.SUPPRESS}
            keywords["help"] = f"{field.metadata['doc']} ({_unit_and_default(field)})".replace("%", "%%")
            kind, choices = _kind(hints[field.name])
            if kind is bool:
                keywords["action"] = argparse.BooleanOptionalAction
            elif choices:
                keywords["choices"] = choices
            else:
                keywords["type"] = kind
                keywords["metavar"] = {int: "N", float: "X", str: "TEXT"}[kind]
            groups[title].add_argument(flag(field.name), **keywords)


def given(namespace: argparse.Namespace, cls: type) -> dict[str, Any]:
    """The settings of `cls` that were given on the command line, and no others."""
    names = {field.name for field in dataclasses.fields(cls)}
    return {name: value for name, value in vars(namespace).items() if name in names}


def check(settings: Any) -> None:
    """Raises SettingsError for the first field whose value is of the wrong type, not finite, or out of bounds."""
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        kind, choices = _kind(hints[field.name])
        if value is None and field.default is None:
            continue
        wrong = _what_is_wrong(value, kind, choices, field.metadata)
        if wrong:
            raise SettingsError(f"{flag(field.name)} {value!r}: {wrong}")


def from_dict(cls: type[S], values: Mapping[str, Any], source: str) -> S:
    """Settings read back from a file; unknown or missing names are an error that says which version to use."""
    names = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for problem, found in (("does not know", set(values) - names), ("misses", names - set(values))):
        if found:
            listed = ", ".join(sorted(found))
            raise SettingsError(
                f"{source}: written by another version of this program; this one {problem} the setting {listed}: "
                "go on with the version that config.json names, or start a new run"
            )
    return cls(**values)


def markdown(*classes: type) -> str:
    """Every setting as Markdown tables, one per group: docs/settings.md."""
    lines = [
        "# Settings",
        "",
        "Made from the settings' dataclasses by `python train.py --help-markdown > docs/settings.md`; a test checks",
        "that it is current. A model may recommend other defaults (`recommended.json` beside its weights); a flag",
        "always wins. `resume` says whether a run may be resumed with another value.",
    ]
    rows: dict[str, list[str]] = {}
    for cls in classes:
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            kind, choices = _kind(hints[field.name])
            name = f"`{flag(field.name)}`" + (f", `--no-{flag(field.name)[2:]}`" if kind is bool else "")
            values = (
                ", ".join(f"`{choice}`" for choice in choices) if choices else _unit_and_default(field, default=False)
            )
            can = "yes" if field.metadata.get("resumable") else ""
            doc = field.metadata["doc"].replace("|", "\\|")
            row = f"| {name} | {_default(field)} | {values} | {doc} | {can} |"
            rows.setdefault(field.metadata["group"], []).append(row)
    for title, table in rows.items():
        lines += [
            "",
            f"## {title}",
            "",
            "| flag | default | unit or values | what it does | resume |",
            "|---|---|---|---|---|",
        ]
        lines += table
    return "\n".join(lines) + "\n"


def _kind(hint: Any) -> tuple[type, tuple[str, ...]]:
    """The plain type behind an annotation, and the values of a Literal."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    if typing.get_origin(hint) is typing.Literal:
        return str, typing.get_args(hint)
    return hint, ()


def _what_is_wrong(value: Any, kind: type, choices: tuple[str, ...], metadata: Mapping[str, Any]) -> str:
    if choices:
        return "" if value in choices else f"must be one of {', '.join(choices)}"
    if kind in (int, float):
        fits = isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
        if not fits or not math.isfinite(value):
            return f"must be {'a whole' if kind is int else 'a finite'} number"
        for name, sign, outside in (
            ("minimum", "at least", "<"),
            ("above", "more than", "<="),
            ("maximum", "at most", ">"),
        ):
            bound = metadata.get(name)
            if bound is not None and {"<": value < bound, "<=": value <= bound, ">": value > bound}[outside]:
                unit = f" {metadata['unit']}" if metadata.get("unit") else ""
                return f"must be {sign} {bound}{unit}"
        return ""
    return "" if isinstance(value, kind) else f"must be {'true or false' if kind is bool else 'text'}"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is None or field.default == "":
        return field.metadata.get("auto", "none")
    if isinstance(field.default, bool):
        return "on" if field.default else "off"
    return str(field.default)


def _unit_and_default(field: dataclasses.Field[Any], default: bool = True) -> str:
    parts = [field.metadata.get("unit", "")]
    if default:
        parts.append(f"default: {_default(field)}")
    return "; ".join(part for part in parts if part)
