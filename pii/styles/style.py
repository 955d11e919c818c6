"""What documents look like: layouts and phrasings, as data. One module per style; pii.generator fills them in.

Templates hold these slots; everything else is literal text and never personal data:

    {}                  the value; in `combined`, {PERSON} {AGE} ... name the type instead
    {hon}               the person's honorific, which stands outside the mention
    {whose} {Whose}     whose value it is: my, the applicant's, the nominee's
    {role} {Role}       who another person is: nominee, attendant
    {date} {time} {amount} {n}    the document's clock, an amount in rupees, a running number

A layout holds {fields} (label and value), {body} (sentences), {filler} and, in bank statements, {rows} (transactions).
A paragraph of which every slot stays empty is left out, with its heading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

Phrases = Mapping[str, tuple[str, ...]]


class Skeleton(NamedTuple):
    """One layout. field, sentence, row: how a field, a sentence of the body and a transaction are written.

    join: what stands between two sentences; with a space they run on and break into paragraphs.
    speakers: (customer, agent), for {who}. upper: names and addresses of the fields in capitals.
    """

    layout: str
    field: str = "{label}: {value}"
    sentence: str = "{text}"
    row: str = "{date}  {text}  {amount}"
    join: str = " "
    speakers: tuple[str, str] = ("", "")
    upper: bool = False


@dataclass(frozen=True)
class Style:
    """Everything that one style says. Types are pii.entities names; OTHER is a PERSON who is not the first one.

    labels: type -> names of a field. sentences: type -> sentences with {}; those that start with `A> ` are the agent's.
    rows: type -> transaction texts. combined: sentences that give several values of the first person at once.
    again: sentences for the second name form (a surname, after {hon}) and for the third (a given name).
    voices: (whose, key into sentences for the first person); SELF speaks of himself, so name forms > 1 exclude it.
    roles: who the other people are. distractors: kind of look-alike -> `label|{}`, `# row {}` or a sentence.
    filler, row_filler: sentences and transactions without personal data. in_fields: share of values given as fields.
    """

    skeletons: tuple[Skeleton, ...]
    sentences: Phrases
    again: tuple[tuple[str, ...], tuple[str, ...]]
    roles: tuple[str, ...]
    voices: tuple[tuple[str, str], ...]
    distractors: Phrases
    filler: tuple[str, ...]
    combined: tuple[str, ...] = ()
    labels: Phrases = field(default_factory=dict)
    rows: Phrases = field(default_factory=dict)
    row_filler: tuple[str, ...] = ()
    in_fields: float = 0.5
