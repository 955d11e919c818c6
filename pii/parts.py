"""Long documents in parts: cut between paragraphs, lines or sentences, and elsewhere only where there is no choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pii.locating import Span

Lengths = Callable[[Sequence[str]], list[int]]
"""Texts -> how long each is, in the unit of the limit (tokens, usually)."""

OVERLAP = 80
"""Characters that a part repeats of the one before it where the cut had to be made inside a sentence."""

# A line's end, or a sentence's: a full stop after four letters or more (`Mr.`, `K. R.`, `Smt.` and `Ltd.` end none).
_ENDS = re.compile(
    r"""
    \n[ \t]*
    | (?: (?<=[^\W_]{4}[.]) | (?<=[\d)\]"'][.]) | (?<=[!?\u0964\u0965]) ) [)\]"'\u2019\u201d]* [ \t]+
    """,
    re.VERBOSE,
)


def split(document: str, lengths: Lengths, limit: int) -> list[Span]:
    """Parts of at most `limit`, in order, that together cover the document; [] for one without anything but space.

    A sentence that is longer by itself is cut between words, or inside one of more than `limit`; only then do parts
    overlap (by OVERLAP characters or a little less), so that a value at the cut stands whole in one of them.
    """
    if limit < 1:
        raise ValueError(f"a part of at most {limit}: it must hold at least 1")
    ends = [match.end() for match in _ENDS.finditer(document)]
    pieces = [(start, end) for start, end in zip([0, *ends], [*ends, len(document)], strict=True) if start < end]
    parts: list[Span] = []
    filled = 0
    fresh = True
    for (start, end), length in zip(pieces, lengths([document[a:b] for a, b in pieces]), strict=True):
        if length > limit:
            parts += _forced(document, start, end, length, lengths, limit)
            fresh = True
        elif fresh or filled + length > limit:
            parts.append((start, end))
            filled, fresh = length, False
        else:
            parts[-1] = (parts[-1][0], end)
            filled += length
    return [(start, end) for start, end in parts if not document[start:end].isspace()]


def halves(document: str, span: Span) -> list[Span]:
    """A part in two, cut as near its middle as a line, sentence or word ends; [] where it is too short for that."""
    start, end = span
    if end - start < 2 * OVERLAP:
        return []
    middle = (start + end) // 2
    low, high = start + (end - start) // 4, end - (end - start) // 4
    ends = [match.end() for match in _ENDS.finditer(document, low, high)]
    if ends:
        cut = min(ends, key=lambda place: abs(place - middle))
        return [(start, cut), (cut, end)]
    cut = _word_end(document, low, middle)
    return [(start, cut), (_step_back(document, low, cut), end)]


def _forced(document: str, start: int, end: int, length: int, lengths: Lengths, limit: int) -> list[Span]:
    """A stretch without a sentence's end, in windows. A window that is still too long is cut again, more finely."""
    width = max(1, int((end - start) * limit / length * 0.9))
    overlap = min(OVERLAP, width // 4)
    windows: list[Span] = []
    at = start
    while end - at > width:
        cut = _word_end(document, at + width // 2, at + width)
        windows.append((at, cut))
        at = max(_step_back(document, cut - overlap, cut), at + 1)
    windows.append((at, end))
    parts: list[Span] = []
    for (first, last), size in zip(windows, lengths([document[a:b] for a, b in windows]), strict=True):
        if size > limit and last - first > 1:
            parts += _forced(document, first, last, max(size, limit + 1), lengths, limit)
        else:
            parts.append((first, last))
    return parts


def _word_end(document: str, low: int, high: int) -> int:
    """The last place in (low, high] after white space, or high."""
    for place in range(high, low, -1):
        if document[place - 1].isspace():
            return place
    return high


def _step_back(document: str, low: int, high: int) -> int:
    """The first beginning of a word in [low, high], or low."""
    for place in range(low, high):
        if place and document[place - 1].isspace():
            return place
    return low
