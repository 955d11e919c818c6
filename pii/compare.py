"""What is wrong with an answer, mention by mention: missed, invented, wrong type, wrong boundary, wrong link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pii.document import Mention
from pii.entities import NUMBER_TYPES
from pii.matching import fold, is_word, pair

KINDS = ("missed", "invented", "wrong type", "wrong boundary", "wrong link")


class Fault(NamedTuple):
    """One thing that is wrong. gold is None for what was invented, predicted is None for what was missed."""

    kind: str
    gold: Mention | None
    predicted: Mention | None

    @property
    def types(self) -> tuple[str, ...]:
        """The types that it concerns."""
        return tuple(dict.fromkeys(one.type for one in (self.gold, self.predicted) if one))


def faults(gold: Sequence[Mention], predicted: Sequence[Mention]) -> list[Fault]:
    """All that is wrong, in the order of KINDS' causes along the gold, then what was invented.

    Mentions are paired as the reward pairs them (pii.matching); of those that are left, one whose text holds the
    other's whole is a wrong boundary too. A pair may have several faults. A wrong link is a PERSON whose partners under
    the answer's ids are not those under the gold's, counted among paired persons (what was missed has its own fault).
    """
    pairs = {i: j for i, j, _ in pair(gold, predicted)}
    left = [j for j in range(len(predicted)) if j not in pairs.values()]
    for i, mention in enumerate(gold):
        if i not in pairs:
            near = next((j for j in left if _holds(mention, predicted[j])), None)
            if near is not None:
                pairs[i] = near
                left.remove(near)
    linked = _wrong_links(gold, predicted, pairs)
    found = []
    for i, mention in enumerate(gold):
        if i not in pairs:
            found.append(Fault("missed", mention, None))
            continue
        said = predicted[pairs[i]]
        if said.type != mention.type:
            found.append(Fault("wrong type", mention, said))
        number = mention.type in NUMBER_TYPES
        if fold(said.text, number) != fold(mention.text, number):
            found.append(Fault("wrong boundary", mention, said))
        if i in linked:
            found.append(Fault("wrong link", mention, said))
    return found + [Fault("invented", None, predicted[j]) for j in left]


def _holds(one: Mention, other: Mention) -> bool:
    """Whether the text of one stands in the text of the other, on word boundaries."""
    short, long = sorted((fold(one.text), fold(other.text)), key=len)
    at = long.find(short) if short else -1
    while at >= 0:
        end = at + len(short)
        cut_before = at > 0 and is_word(long[at - 1]) and is_word(short[0])
        cut_after = end < len(long) and is_word(long[end]) and is_word(short[-1])
        if not (cut_before or cut_after):
            return True
        at = long.find(short, at + 1)
    return False


def _wrong_links(gold: Sequence[Mention], predicted: Sequence[Mention], pairs: Mapping[int, int]) -> set[int]:
    """Places in the gold of the persons whose links among the paired persons are not the gold's."""
    persons = [i for i, j in pairs.items() if gold[i].type == "PERSON" and predicted[j].type == "PERSON"]
    by_gold: defaultdict[int, set[int]] = defaultdict(set)
    by_answer: defaultdict[int, set[int]] = defaultdict(set)
    for i in persons:
        by_gold[gold[i].entity_id].add(i)
        by_answer[predicted[pairs[i]].entity_id].add(i)
    return {i for i in persons if by_gold[gold[i].entity_id] != by_answer[predicted[pairs[i]].entity_id]}
