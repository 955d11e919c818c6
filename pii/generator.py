"""Document type and seed -> a document and its exact gold. `python -m pii.generator --key KEY -n 3` shows some.

A document is put together from pieces, each literal text or a mention, so that every offset is known by construction.
What chance can still spoil (an age of 34 beside `34 working days`, a PIN inside somebody's address, two people of one
name) is looked for afterwards, and such a document is drawn anew.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import unicodedata
from pathlib import Path
from typing import NamedTuple

from pii.compose import Piece, compose
from pii.document import Document, Mention
from pii.grid import HELD_OUT, TYPES, parse_key

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


def _record(document: Document) -> str:
    """A line of JSON: text, gold (a list of [text, type, entity_id]) and key."""
    return json.dumps({"text": document.text, "gold": document.gold, "key": document.key}, ensure_ascii=False)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m pii.generator",
        description="Shows made-up Indian documents with the personal data in them marked.",
    )
    parser.add_argument(
        "--key", help="document type, as in 'govt_id|kyc_form|d4|c1|x0|p6'; all 53 where it is left out"
    )
    parser.add_argument("-n", type=int, default=1, metavar="N", help="documents of each type (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first document (default 0)")
    parser.add_argument("--empty", action="store_true", help="documents of the type without any personal data")
    parser.add_argument("--html", metavar="FILE", help="write one HTML page")
    parser.add_argument("--jsonl", metavar="FILE", help="write data, a line a document: text, gold, key; - for stdout")
    parser.add_argument("--list", action="store_true", help="print the 53 document types and mark the held-out ones")
    options = parser.parse_args(arguments)
    if options.n < 1:
        parser.error(f"-n {options.n} asks for no documents: use 1 or more")
    if options.key is not None:
        try:
            parse_key(options.key)
        except ValueError as error:
            parser.exit(2, f"{parser.prog}: {error}; --list prints the 53 types\n")
    return options


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(
            f"python -m pii.generator: cannot write {path}: {error.strerror}; name a file in a folder that exists",
            file=sys.stderr,
        )
        sys.exit(2)


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    options = _arguments(arguments)
    if options.list:
        print("\n".join(f"{key}  held out" if key in HELD_OUT else key for key in TYPES))
        return
    seeds = range(options.seed, options.seed + options.n)
    made = [
        (seed, *generate_with_spans(key, seed, empty=options.empty))
        for key in ([options.key] if options.key else TYPES)
        for seed in seeds
    ]
    if options.jsonl:
        lines = "".join(f"{_record(document)}\n" for _, document, _ in made)
        if options.jsonl == "-":
            sys.stdout.write(lines)
        else:
            _write(options.jsonl, lines)
    from pii import show  # jinja2 is of no use to those who only want documents

    headings = [f"{document.key}  seed {seed}{'  empty' * options.empty}" for seed, document, _ in made]
    if options.html:
        parts = [show.segments(document.text, document.gold, spans) for _, document, spans in made]
        note = "Made-up documents. Nobody in them is real; a number may exist by chance."
        _write(options.html, show.to_html(zip(headings, parts, strict=True), title="Indian documents", note=note))
    if not options.jsonl and not options.html:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for heading, (_, document, spans) in zip(headings, made, strict=True):
            print(f"=== {heading}\n{show.to_terminal(document.text, document.gold, spans, colour=colour)}\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # `| head` has read enough; what is left in the buffer goes nowhere, quietly
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
