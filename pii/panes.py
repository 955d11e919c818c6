"""An answer beside its document: what the report of a probe shows for one completion."""

from __future__ import annotations

from collections.abc import Sequence

from pii.answer import AnswerError, parse
from pii.document import Mention
from pii.show import locate, segments

# A stretch of text, its kind (equal kinds have one colour; "" is plain) and a tag that says what it is.
Part = tuple[str, str, str]
Pane = tuple[str, list[Part]]


def panes(document: str, gold: Sequence[Mention], completion: str) -> list[Pane]:
    """[(title, parts)]: the document with its gold, and with the answer; the answer itself where it does not parse.

    What the answer says and the document does not hold stands below the document.
    """
    try:
        predicted = parse(completion)
    except AnswerError:
        return [("gold", _marked(document, gold)), ("answer, as sampled", [(completion, "", "")])]
    places = locate(document, predicted)
    parts = _marked(document, predicted)
    invented = [mention for mention, place in zip(predicted, places, strict=True) if place is None]
    if invented:
        parts.append(("\n\nNot in the document, or too often: ", "", ""))
        for mention in invented:
            parts += [(mention.text, mention.type, _tag(mention)), (" ", "", "")]
    if not predicted:
        parts.append(("\n\nNothing found.", "", ""))
    return [("gold", _marked(document, gold)), ("answer", parts)]


def _marked(document: str, mentions: Sequence[Mention]) -> list[Part]:
    return [
        (text, "", "") if mention is None else (text, mention.type, _tag(mention))
        for text, mention in segments(document, mentions)
    ]


def _tag(mention: Mention) -> str:
    return f"{mention.type} {mention.entity_id}"
