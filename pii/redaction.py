"""From answers to a redacted document: what was found, where it stands, which finds are one entity.

Nothing here runs a model: `ask` does. A prediction counts only where its text stands in the document (folded, on word
boundaries); then every place of it is taken, also in parts of the document in which the model did not report it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pii.answer import MAX_ITEMS, AnswerError, parse
from pii.document import Mention
from pii.entities import NUMBER_TYPES
from pii.locating import Places, Span
from pii.matching import fold, is_word
from pii.parts import Lengths, halves, split

Ask = Callable[[Sequence[str]], list[str]]
"""Parts of a document -> the model's answer to each."""

STYLES = ("mask", "tag", "json")

# A value this short (an age, an initial) is hidden only in the parts where it was reported: elsewhere the same
# characters are most likely something else.
SHORT = 3


class Found(NamedTuple):
    """One stretch of the document. entity: type and number, `PERSON_1`; numbers go by first appearance."""

    start: int
    end: int
    type: str
    entity: str


class Value(NamedTuple):
    """What makes two predictions one value: a type, and the text folded as that type is."""

    type: str
    folded: str


@dataclass(frozen=True)
class Reading:
    """What was found in a document.

    found: in reading order, without overlap. parts: how many the document was read in. absent: predictions that do not
    stand in the document. unread: parts in which an answer stayed unfinished however small they were cut.
    """

    found: list[Found]
    parts: int
    absent: int
    unread: list[Span]


def read(document: str, ask: Ask, lengths: Lengths, limit: int) -> Reading:
    """Finds the personal data of a document of any length, in parts of at most `limit` (see pii.parts.split).

    A part whose answer is cut off, or fills the whole list, is read again in halves; the items before the cut of one
    that cannot be halved any more are used, and the part is named in `unread`.
    """
    parts = split(document, lengths, limit)
    answers: list[tuple[Span, list[Mention]]] = []
    unread: list[Span] = []
    waiting, asked = parts, 0
    while waiting:
        asked += len(waiting)
        again: list[Span] = []
        for span, completion in zip(waiting, ask([document[a:b] for a, b in waiting]), strict=True):
            mentions, whole = _complete_items(completion)
            smaller = [] if whole else halves(document, span)
            again += smaller
            if not smaller:
                answers.append((span, mentions))
                if not whole:
                    unread.append(span)
        waiting = again
    found, absent = locate(document, sorted(answers))
    return Reading(found, asked, absent, sorted(unread))


def locate(document: str, answers: Iterable[tuple[Span, Sequence[Mention]]]) -> tuple[list[Found], int]:
    """All places of the predicted values, longest first, without overlap; and how many predictions stand nowhere.

    Persons are joined by the model's entity ids within a part, and by equal names across parts. Of the other types
    equal values are one entity and different values two: the reward teaches no links between those.
    """
    places = Places(document)
    where: dict[Value, list[Span]] = {}
    votes: dict[Value, int] = {}
    entities = _Entities()
    absent = 0
    for span, mentions in answers:
        persons: dict[int, Value] = {}
        for text, type_, entity_id in mentions:
            value = Value(type_, fold(text, type_ in NUMBER_TYPES))
            if value not in where:
                where[value] = _occurrences(places, text, type_)
            here = where[value]
            if len(value.folded) <= SHORT:
                here = [place for place in here if span[0] <= place[0] and place[1] <= span[1]]
                # Kept apart by part, so that each part's places stay.
                value = Value(type_, f"{value.folded} {span[0]}")
                where[value] = here
                entities.join(value, Value(type_, fold(text, type_ in NUMBER_TYPES)))
            if not here:
                absent += 1
                continue
            votes[value] = votes.get(value, 0) + 1
            if type_ == "PERSON":
                entities.join(persons.setdefault(entity_id, value), value)
    taken = bytearray(len(document))
    chosen: list[tuple[int, int, Value]] = []
    candidates = [(start, end, value) for value in votes for start, end in where[value]]
    # sorted() is stable: what is still equal is decided by which was reported first.
    for start, end, value in sorted(candidates, key=lambda one: (one[0] - one[1], -votes[one[2]])):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            chosen.append((start, end, value))
    names: dict[Value, str] = {}
    counts: dict[str, int] = {}
    found = []
    for start, end, value in sorted(chosen, key=lambda one: one[0]):
        root = entities.root(value)
        if root not in names:
            counts[value.type] = counts.get(value.type, 0) + 1
            names[root] = f"{value.type}_{counts[value.type]}"
        found.append(Found(start, end, value.type, names[root]))
    return found, absent


def mask(document: str, found: Sequence[Found]) -> str:
    """Each letter, mark and digit of a found value becomes X; spaces and punctuation stay, and so do all offsets."""
    return _replaced(document, found, lambda one: "".join("X" if is_word(c) else c for c in document[one[0] : one[1]]))


def tag(document: str, found: Sequence[Found]) -> str:
    """Each found value becomes its entity in square brackets: [PERSON_1]."""
    return _replaced(document, found, lambda one: f"[{one.entity}]")


def listed(document: str, found: Sequence[Found]) -> str:
    """A JSON list, an item a line: text, type, entity, start and end in characters (code points)."""
    items = [
        {
            "text": document[one.start : one.end],
            "type": one.type,
            "entity": one.entity,
            "start": one.start,
            "end": one.end,
        }
        for one in found
    ]
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    return f"[\n{lines}\n]\n" if items else "[]\n"


def render(document: str, found: Sequence[Found], style: str) -> str:
    """The output of one of STYLES."""
    return {"mask": mask, "tag": tag, "json": listed}[style](document, found)


def _replaced(document: str, found: Sequence[Found], replacement: Callable[[Found], str]) -> str:
    pieces, at = [], 0
    for one in found:
        pieces += [document[at : one.start], replacement(one)]
        at = one.end
    return "".join([*pieces, document[at:]])


def _complete_items(completion: str) -> tuple[list[Mention], bool]:
    """The mentions of an answer and whether it is whole; of one that breaks off, the items before that."""
    try:
        mentions = parse(completion)
        return mentions, len(mentions) < MAX_ITEMS
    except AnswerError:
        pass
    last = completion.rfind("}")
    while last > 0:
        try:
            return parse(completion[: last + 1] + "]"), False
        except AnswerError:
            last = completion.rfind("}", 0, last)
    return [], False


def _occurrences(places: Places, text: str, type_: str) -> list[Span]:
    found = places.find(text, type_ in NUMBER_TYPES)
    if type_ != "PERSON" or text.islower():
        return found
    # Rose is a name, and a rose is none.
    return [(start, end) for start, end in found if not places.document[start:end].islower()]


class _Entities:
    """Values that are one entity, joined pair by pair (a disjoint-set forest)."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}

    def root(self, value: Value) -> Value:
        while value in self._parent:
            value = self._parent[value]
        return value

    def join(self, one: Value, other: Value) -> None:
        one, other = self.root(one), self.root(other)
        if one != other:
            self._parent[other] = one
