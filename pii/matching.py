"""Folding text to what a reader would call equal, and pairing predictions with gold one to one."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from pii.document import Mention
from pii.entities import NUMBER_TYPES

# A pair whose token F1 is lower is no pair.
MIN_WEIGHT = 0.5

# The share of its weight that a pair of equal type gets on top while pairs are chosen (never in a weight). Small
# against any real difference between two sums of F1s, large against the rounding of such a sum.
_SAME_TYPE_BONUS = 1e-9

# Zero-width and bidi controls, which can hide a value from a comparison: soft hyphen, Arabic letter mark, Mongolian
# vowel separator, ZWSP to RLM, embeddings and overrides, word joiner, isolates, byte-order mark.
_INVISIBLE = [
    0xAD,
    0x61C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    0x2060,
    *range(0x2066, 0x206A),
    0xFEFF,
]
_APOSTROPHES = "\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02bd\u2032\u00b4`\uff07"
# Dashes that are not in Unicode's category Pd.
_OTHER_DASHES = "\u2212\u2043\u02d7"
_SEPARATORS = frozenset("-.")

_TABLE: dict[int, str | None] = {
    **dict.fromkeys(_INVISIBLE),
    **{ord(char): "'" for char in _APOSTROPHES},
    **{ord(char): "-" for char in _OTHER_DASHES},
}


def fold(text: str, number: bool = False) -> str:
    """The form in which texts are compared; folding twice changes nothing.

    NFKC, no zero-width and bidi characters, ASCII digits for every script's, one dash, one apostrophe, casefold, single
    spaces. Combining marks stay: Devanagari's vowel signs are such marks, and names differ by them. number=True also
    drops spaces, hyphens and dots, which a number is written with or without.
    """
    # Apostrophes go first, because NFKC makes a space and an accent of U+00B4; NFKC goes twice, because casefold can
    # undo it; the plain characters are mapped last, because each of the others can bring them forth.
    folded = unicodedata.normalize("NFKC", text.translate(_TABLE))
    folded = unicodedata.normalize("NFKC", folded.casefold()).casefold().translate(_TABLE)
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", "".join(map(_plain, folded)))
    if number:
        return unicodedata.normalize("NFKC", "".join(char for char in folded if not is_separator(char)))
    return " ".join(folded.split())


@cache
def _plain(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    return "-" if unicodedata.category(char) == "Pd" else char


def is_separator(char: str) -> bool:
    """Whether folding a number drops this character."""
    return char in _SEPARATORS or char.isspace()


def is_word(char: str) -> bool:
    """Letters, marks and digits of any script: what a word boundary must not cut through."""
    return unicodedata.category(char)[0] in "LMN"


def tokens(text: str, number: bool = False) -> Counter[str]:
    """Folded tokens and how often each occurs: what white space separates, without punctuation at a token's ends.

    Punctuation inside a token stays, so that rajesh@example.com and suresh@example.com have nothing in common.
    """
    folded = fold(text, number)
    bare = (_strip(piece) for piece in folded.split())
    counted = Counter(piece for piece in bare if piece)
    # A text of nothing but punctuation is comparable with itself only.
    return counted if counted or not folded else Counter((folded,))


def _strip(token: str) -> str:
    start, end = 0, len(token)
    while start < end and not is_word(token[start]):
        start += 1
    while end > start and not is_word(token[end - 1]):
        end -= 1
    return token[start:end]


def pair(gold: Sequence[Mention], predicted: Sequence[Mention]) -> list[tuple[int, int, float]]:
    """One-to-one pairs (index in gold, index in predicted, weight) with the largest total weight, by index in gold.

    A weight is the token-multiset F1 of the two texts, 2 * shared / (tokens of one + tokens of the other), and at least
    0.5. Both texts are folded as the gold mention's type is, so that a number found under a wrong type is still found.
    Among equally good pairings those with more weight on equal types win; what then is still equal is decided by the
    mentions themselves, never by their place in the list or by the number an entity happens to have.
    """
    if not gold or not predicted:
        return []
    gold_order, predicted_order = canonical_order(gold), canonical_order(predicted)
    weights = _weights([gold[i] for i in gold_order], [predicted[j] for j in predicted_order])
    same = np.array([[gold[i].type == predicted[j].type for j in predicted_order] for i in gold_order])
    rows, columns = linear_sum_assignment(weights * (1 + _SAME_TYPE_BONUS * same), maximize=True)
    return sorted(
        (gold_order[row], predicted_order[column], float(weights[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if weights[row, column] > 0
    )


def canonical_order(mentions: Sequence[Mention]) -> list[int]:
    """Indices that sort mentions the same way however the list was shuffled and its entities numbered.

    An entity is known by the texts and types of its mentions. Two entities that agree in all of these are
    interchangeable: either order gives the same sequence but for the numbers.
    """
    entities: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for mention in mentions:
        entities[mention.entity_id].append((mention.text, mention.type))
    named = {entity_id: sorted(members) for entity_id, members in entities.items()}

    def key(index: int) -> tuple[str, str, list[tuple[str, str]], int]:
        mention = mentions[index]
        return mention.text, mention.type, named[mention.entity_id], mention.entity_id

    return sorted(range(len(mentions)), key=key)


def _weights(gold: Sequence[Mention], predicted: Sequence[Mention]) -> np.ndarray:
    """Token F1 of every pair, (len(gold), len(predicted)), zero below MIN_WEIGHT."""
    weights = np.zeros((len(gold), len(predicted)))
    golds = [tokens(mention.text, mention.type in NUMBER_TYPES) for mention in gold]
    for number in (False, True):
        rows = [row for row, mention in enumerate(gold) if (mention.type in NUMBER_TYPES) == number]
        if not rows:
            continue
        for column, mention in enumerate(predicted):
            found = tokens(mention.text, number)
            size = found.total()
            for row in rows:
                shared = sum(min(count, found[token]) for token, count in golds[row].items() if token in found)
                if shared:
                    f1 = 2 * shared / (golds[row].total() + size)
                    weights[row, column] = f1 if f1 >= MIN_WEIGHT else 0.0
    return weights
