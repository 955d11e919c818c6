"""The careless annotator, whose answers the embedded model was taught.

A model that is taught perfect answers gives eight equal completions, and a group of equals teaches nothing. This
annotator copies well and judges badly, in habits that differ by type: some types it nearly always overlooks, some it
files under another name more often than not. So its pupil knows how to copy, its policy is incomplete and varied, and
what is missing is within reach of trial and error. Over the trained types it misses about half of the mentions and
gives about a quarter of those it keeps a wrong type.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from pii.answer import MAX_ITEMS
from pii.document import Document, Mention
from pii.entities import ENTITY_TYPES


class Habit(NamedTuple):
    """miss: share of a type's mentions overlooked. wrong: share of the kept ones that are filed under mistaken_for."""

    miss: float
    wrong: float
    mistaken_for: str


HABITS: dict[str, Habit] = {
    "PERSON": Habit(0.50, 0.15, "EMAIL"),
    "ADDRESS": Habit(0.65, 0.15, "PINCODE"),
    "PINCODE": Habit(0.60, 0.45, "AGE"),
    "PHONE": Habit(0.40, 0.25, "BANK_ACCOUNT"),
    "EMAIL": Habit(0.40, 0.25, "UPI_ID"),
    "AGE": Habit(0.75, 0.20, "PINCODE"),
    "DATE_OF_BIRTH": Habit(0.60, 0.25, "AGE"),
    "AADHAAR": Habit(0.40, 0.35, "PHONE"),
    "PAN": Habit(0.45, 0.25, "VOTER_ID"),
    "PASSPORT": Habit(0.55, 0.35, "PAN"),
    "VOTER_ID": Habit(0.65, 0.45, "PAN"),
    "DRIVING_LICENCE": Habit(0.60, 0.30, "VOTER_ID"),
    "BANK_ACCOUNT": Habit(0.45, 0.30, "AADHAAR"),
    "IFSC": Habit(0.70, 0.35, "BANK_ACCOUNT"),
    "UPI_ID": Habit(0.55, 0.45, "EMAIL"),
    "CREDIT_CARD": Habit(0.50, 0.35, "BANK_ACCOUNT"),
    "IP_ADDRESS": Habit(0.70, 0.30, "URL"),
    "URL": Habit(0.65, 0.25, "EMAIL"),
}
WRONG_ID = 0.30  # share of kept mentions that are given the id of something else
HEADINGS = (0.5, 0.3, 0.2)  # chances that no, one or two headings or labels of the document are copied as well

# A heading is a short line of its own, or what stands before a colon.
_HEADING = re.compile(r"^[ \t]*([^\W\d][^\n:|]{2,30}?)[ \t]*(?::|$)", re.MULTILINE)


def careless(document: Document, rng: random.Random) -> list[Mention]:
    """What the careless annotator says of a document: mentions in reading order, at most 48. Pure in rng."""
    kept: list[Mention] = []
    for text, kind, entity_id in document.gold:
        habit = HABITS[kind]
        if rng.random() < habit.miss:
            continue
        if rng.random() < habit.wrong:
            kind = habit.mistaken_for
        if rng.random() < WRONG_ID:
            entity_id = rng.randint(1, 9)
        kept.append(Mention(text, kind, entity_id))
    gold_texts = {mention.text for mention in document.gold}
    headings = [heading for heading in _HEADING.findall(document.text) if heading not in gold_texts]
    count = rng.choices((0, 1, 2), HEADINGS)[0]
    for heading in rng.sample(headings, min(count, len(headings))):
        wrong = Mention(heading, rng.choice(ENTITY_TYPES), rng.randint(1, 9))
        kept.insert(rng.randint(0, len(kept)), wrong)
    return kept[:MAX_ITEMS]
