"""Which rollouts go into a report, and in what form: enough to read, small enough to open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

MAX_BYTES = 6_000_000
"""Of the rollouts inside one report; a browser on a phone still opens that."""


def whole_lines(file: Path) -> Iterable[dict[str, Any]]:
    """The records of a file of JSON lines; a last line that is still being written, or was torn off, is left out."""
    if not file.is_file():
        return
    with open(file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def embedded(file: Path, limit: int = MAX_BYTES) -> tuple[dict[str, Any], str]:
    """What the report's script reads, and one line about what was left out.

    {"texts": [...], "steps": [{"step": n, "groups": [...]}, ...]}: a group's messages name their text by its place in
    `texts`, because a system prompt is the same in all of them. Where all steps would exceed `limit` bytes, steps at
    even distances are kept, the first and the last among them; of a single step that is too large, its first groups.
    """
    texts: dict[str, int] = {}
    steps: dict[int, list[dict[str, Any]]] = {}
    sizes: dict[int, int] = {}
    for record in whole_lines(file):
        group = _group(record, texts)
        steps.setdefault(record["step"], []).append(group)
        sizes[record["step"]] = sizes.get(record["step"], 0) + _size(group, record)
    kept = _evenly(sorted(steps), sizes, limit)
    total = sum(map(len, steps.values()))
    chosen: list[dict[str, Any]] = []
    shown = 0
    for step in kept:
        groups: list[dict[str, Any]] = []
        left = limit
        for group in steps[step]:
            left -= _size(group, None)
            if groups and left < 0:
                break
            groups.append(group)
        chosen.append({"step": step, "groups": groups})
        shown += len(groups)
    note = f"{shown} groups of {len(chosen)} steps."
    if shown < total:
        note = (
            f"{shown} of {total} groups, of {len(chosen)} of {len(steps)} steps at even distances, to keep this page "
            f"under {limit // 1_000_000} MB; all of them stand in {file.name}."
        )
    return _renumbered({"texts": list(texts), "steps": chosen}), note


def _group(record: Mapping[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    prompt = record["prompt"]
    contents = [message["content"] for message in prompt["messages"]]
    known = {name: value for name, value in (prompt["metadata"] or {}).items() if value not in contents}
    columns = (record["completions"], record["rewards"], record["parts"], record["advantages"])
    return {
        "type": prompt["type"],
        "number": prompt["number"],
        "tokens": prompt["tokens"],
        "messages": [
            [message["role"], texts.setdefault(message["content"], len(texts))] for message in prompt["messages"]
        ],
        "metadata": json.dumps(known, ensure_ascii=False) if known else "",
        "degenerate": record["degenerate"],
        "completions": [
            {
                "text": completion["text"],
                "tokens": completion["tokens"],
                "finish": completion["finish_reason"],
                "reason": completion["reason"],
                "reward": reward,
                "parts": {name: round(value, 4) for name, value in parts.items()},
                "advantage": round(advantage, 4),
            }
            for completion, reward, parts, advantage in zip(*columns, strict=True)
        ],
    }


def _size(group: Mapping[str, Any], record: Mapping[str, Any] | None) -> int:
    """Bytes of a group in the page; with its record, those of its user messages as well."""
    size = len(json.dumps(group, ensure_ascii=False).encode("utf-8", errors="replace"))
    if record is not None:
        messages = record["prompt"]["messages"]
        size += sum(len(one["content"].encode("utf-8", errors="replace")) for one in messages if one["role"] == "user")
    return size


def _evenly(steps: list[int], sizes: Mapping[int, int], limit: int) -> list[int]:
    """As many of the steps as fit, at even distances; at least one."""
    for count in range(len(steps), 1, -1):
        kept = [steps[round(index * (len(steps) - 1) / (count - 1))] for index in range(count)]
        if sum(sizes[step] for step in kept) <= limit:
            return kept
    return steps[-1:]


def _renumbered(data: dict[str, Any]) -> dict[str, Any]:
    """Without the texts of steps that were left out."""
    places: dict[int, int] = {}
    for step in data["steps"]:
        for group in step["groups"]:
            group["messages"] = [[role, places.setdefault(old, len(places))] for role, old in group["messages"]]
    return {**data, "texts": [data["texts"][old] for old in places]}
