"""Whether a predicted text stands in the document at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from pii.document import Mention
from pii.entities import NUMBER_TYPES
from pii.matching import fold, is_separator, is_word


def grounded_share(document: str, predicted: Sequence[Mention]) -> float:
    """The share of predictions that stand in the document; 0 where there are none.

    Both texts are folded (numbers also without spaces, hyphens and dots, as the prediction's own type says), and the
    place must not begin or end inside a run of letters, marks and digits: `Ram` does not stand in `Ramesh`.
    """
    if not predicted:
        return 0.0
    folded, squeezed, kept = _prepared(document)

    # Equal texts are looked up once: an answer may repeat one text 48 times.
    @cache
    def stands(text: str, number: bool) -> bool:
        if number:
            return _stands(text, squeezed, kept, folded)
        return _stands(text, folded, range(len(folded)), folded)

    texts = [(mention.text, mention.type in NUMBER_TYPES) for mention in predicted]
    return sum(stands(fold(text, number), number) for text, number in texts) / len(predicted)


@lru_cache(maxsize=64)
def _prepared(document: str) -> tuple[str, str, list[int]]:
    """The folded document, the same without separators, and the place in the first of each character of the second.

    Folding the document as a number would lose its word boundaries. Cached, because a group's answers share a document.
    """
    folded = fold(document)
    kept = [place for place, char in enumerate(folded) if not is_separator(char)]
    return folded, "".join(folded[place] for place in kept), kept


def _stands(text: str, searched: str, places: Sequence[int], folded: str) -> bool:
    """Whether `text` occurs in `searched`, whose character k is folded[places[k]], on word boundaries of `folded`."""
    if not text:
        return False
    at = searched.find(text)
    while at >= 0:
        first, last = places[at], places[at + len(text) - 1]
        cut_before = first > 0 and is_word(folded[first - 1]) and is_word(folded[first])
        cut_after = last + 1 < len(folded) and is_word(folded[last]) and is_word(folded[last + 1])
        if not (cut_before or cut_after):
            return True
        at = searched.find(text, at + 1)
    return False
