"""Every place of a text in a document, in the document's own characters, found by what a reader would call equal."""

from __future__ import annotations

import unicodedata

from pii.matching import fold, is_separator, is_word

Span = tuple[int, int]
"""Start and end in characters of the document, end excluded."""


class Places:
    """A document folded as pii.matching.fold folds it, with the way back from each folded character.

    Folding is done cluster by cluster (a character and the marks and invisible characters that follow it), because
    folding the whole would lose where a character came from.
    """

    def __init__(self, document: str) -> None:
        self.document = document
        folded: list[str] = []
        self._spans: list[Span] = []
        for start, end in _clusters(document):
            piece = document[start:end]
            text = piece.lower() if piece.isascii() and not piece.isspace() else fold(piece)
            if not text and unicodedata.normalize("NFKC", piece[0]).isspace():
                if folded and folded[-1] == " ":
                    self._spans[-1] = (self._spans[-1][0], end)
                    continue
                text = " "
            folded.extend(text)
            self._spans.extend([(start, end)] * len(text))
        self._folded = "".join(folded)
        self._kept = [place for place, char in enumerate(folded) if not is_separator(char)]
        self._squeezed = "".join(folded[place] for place in self._kept)

    def find(self, text: str, number: bool = False) -> list[Span]:
        """Where `text` stands, left to right without overlap; never inside a longer run of letters, marks and digits.

        number: spaces, hyphens and dots do not count, so that 2341 2341 2346 is found by 2341-2341-2346.
        """
        needle = fold(text, number)
        searched = self._squeezed if number else self._folded
        found: list[Span] = []
        at = searched.find(needle) if needle else -1
        while at >= 0:
            first, last = at, at + len(needle) - 1
            if number:
                first, last = self._kept[first], self._kept[last]
            whole = self._whole(first, last)
            if whole:
                found.append((self._spans[first][0], self._spans[last][1]))
            at = searched.find(needle, at + len(needle) if whole else at + 1)
        return found

    def _whole(self, first: int, last: int) -> bool:
        """Whether folded characters first..last begin and end with whole characters of the document, and words."""
        folded, spans = self._folded, self._spans
        for left, right in ((first - 1, first), (last, last + 1)):
            if left < 0 or right == len(folded):
                continue
            if spans[left] == spans[right] or (is_word(folded[left]) and is_word(folded[right])):
                return False
        return True


def _clusters(document: str) -> list[Span]:
    spans: list[Span] = []
    for place, char in enumerate(document):
        follows = not char.isascii() and (
            unicodedata.category(char)[0] == "M" or (not fold(char) and not _is_space(char))
        )
        if follows and spans and not _is_space(document[spans[-1][0]]):
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans


def _is_space(char: str) -> bool:
    return unicodedata.normalize("NFKC", char).isspace()
