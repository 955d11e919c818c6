"""Reads the plain text lists under pii/data: names, cities, streets. A reader can check them by eye."""

from __future__ import annotations

from importlib import resources


def read(name: str) -> dict[str, tuple[str, ...]]:
    """The lists of pii/data/{name}, by heading.

    A line `## heading` starts a list; other lines that start with # are comments. Commas and line
    ends part the items.
    """
    lists: dict[str, tuple[str, ...]] = {}
    heading = ""
    for line in resources.files("pii").joinpath("data", name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
            lists[heading] = ()
        elif line.strip() and not line.startswith("#"):
            lists[heading] += tuple(item.strip() for item in line.split(",") if item.strip())
    return lists
