"""Mentions and documents: the two records that everything in pii/ passes around."""

from __future__ import annotations

from typing import NamedTuple


class Mention(NamedTuple):
    """One piece of personal data as it stands in a document.

    text: the surface string. type: one of pii.entities.ENTITY_TYPES. entity_id: 0-99, equal for mentions of one entity.
    """

    text: str
    type: str
    entity_id: int


class Document(NamedTuple):
    """A document and every mention in it, in reading order; key names the document type (see pii.grid)."""

    text: str
    gold: list[Mention]
    key: str
