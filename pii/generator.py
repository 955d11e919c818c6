"""Document type and seed -> a document and its exact gold. `python -m pii.generator --key KEY -n 3` shows some.

A document is put together from pieces, each literal text or a mention, so that every offset is known by construction.
What chance can still spoil (an age of 34 beside `34 working days`, a PIN inside somebody's address, two people of one
name) is looked for afterwards, and such a document is drawn anew.
"""

from __future__ import annotations

import random
import unicodedata
from typing import NamedTuple

from pii.compose import Piece, compose
from pii.document import Document, Mention
from pii.grid import parse_key

_ATTEMPTS = 500
# A name may come back inside these without being mentioned: rajesh.kumar@example.in does not say `Kumar`.
_NAME_BEARING = frozenset({"EMAIL", "UPI_ID", "URL"})


class Span(NamedTuple):
    """Where a mention stands: text[start:end] is its text."""

    start: int
    end: int


def generate(key: str, seed: int, *, empty: bool = False) -> Document:
    """The document number `seed` of a type: the same bytes on every machine.

    empty: the same type and style with nothing personal in it (gold is []). Raises ValueError for a malformed key.
    """
    return generate_with_spans(key, seed, empty=empty)[0]


def generate_with_spans(key: str, seed: int, *, empty: bool = False) -> tuple[Document, list[Span]]:
    """As generate, with the place of every mention of the gold, in the same order."""
    parsed = parse_key(key)
    # A string seeds by its content (SHA-512); a tuple would go through hash(), which differs between processes.
    rng = random.Random(f"{key}/{seed}/empty" if empty else f"{key}/{seed}")
    for _ in range(_ATTEMPTS):
        document, spans = _assemble(key, compose(rng, parsed, empty=empty))
        if is_exact(document, spans):
            return document, spans
    raise RuntimeError(f"no clean document of type {key!r}, seed {seed} in {_ATTEMPTS} attempts: a fault of pii.styles")


def _assemble(key: str, pieces: list[Piece]) -> tuple[Document, list[Span]]:
    gold: list[Mention] = []
    spans: list[Span] = []
    ids: dict[int, int] = {}
    parts: list[str] = []
    length = 0
    for piece in pieces:
        if piece.type:
            entity_id = ids.setdefault(piece.entity, len(ids) + 1)
            gold.append(Mention(piece.text, piece.type, entity_id))
            spans.append(Span(length, length + len(piece.text)))
        parts.append(piece.text)
        length += len(piece.text)
    return Document("".join(parts), gold, key), spans


def _in_word(character: str) -> bool:
    # Marks belong to words: `\w` would end a Hindi word before its vowel sign.
    return unicodedata.category(character)[0] in "LMN"


def occurrences(text: str, needle: str) -> list[Span]:
    """Every place where needle stands in text on word boundaries, overlaps included."""
    found, start = [], text.find(needle)
    while start >= 0:
        end = start + len(needle)
        if not (start and _in_word(text[start - 1]) and _in_word(needle[0])) and not (
            end < len(text) and _in_word(text[end]) and _in_word(needle[-1])
        ):
            found.append(Span(start, end))
        start = text.find(needle, start + 1)
    return found


def is_exact(document: Document, spans: list[Span]) -> bool:
    """True where each mention stands on word boundaries, and where else its text stands, it is the same entity.

    Case is ignored, and a name inside an e-mail, UPI or web address does not count.
    """
    # casefold() may change lengths (ß), lower() of what documents hold does not; İ is the one exception in Unicode.
    text = document.text.lower()
    placed = list(zip(document.gold, spans, strict=True))
    for mention, span in placed:
        found = occurrences(text, mention.text.lower())
        if span not in found:
            return False
        for other in found:
            if not any(
                place.start <= other.start
                and other.end <= place.end
                and (
                    holder.entity_id == mention.entity_id or (mention.type == "PERSON" and holder.type in _NAME_BEARING)
                )
                for holder, place in placed
            ):
                return False
    return True
