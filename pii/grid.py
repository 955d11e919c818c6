"""The 53 document types: which of them are trained on, which are held out, and how a key is read.

`govt_id|kyc_form|d4|c1|x0|p6` reads, from left to right:

    family   govt_id     which entity types are drawn from (FAMILIES)
    style    kyc_form    what the document looks like (pii.styles)
    d        d4          entities: how many people and things are to be found, 1 to 10
    c        c1          forms of the first person's name: 1 `Rajesh Kumar`, 2 also `Mr. Kumar`, 3 also `Rajesh`
    x        x0          distractors, which look like personal data and are not: level 0, 1 or 2 (see DISTRACTORS)
    p        p6          units of filler, about one short sentence each

A document of a type holds exactly d entities and d + c - 1 mentions. The full cross product of the axes has some 8,800
corners; the 53 rows below meet every pair of family and style, and every level of every axis at least seven times, in
training at least five times. Any other well-formed key works as well, it is just not one of the 53.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pii.entities import ENTITY_TYPES

FAMILIES: dict[str, tuple[str, ...]] = {
    "govt_id": ("PERSON", "AADHAAR", "PAN", "PASSPORT", "VOTER_ID", "DRIVING_LICENCE", "DATE_OF_BIRTH"),
    "financial": ("PERSON", "BANK_ACCOUNT", "IFSC", "UPI_ID", "CREDIT_CARD", "PAN", "PHONE"),
    "contact": ("PERSON", "PHONE", "EMAIL", "ADDRESS", "PINCODE", "URL", "IP_ADDRESS"),
    "identity": ("PERSON", "DATE_OF_BIRTH", "AGE", "ADDRESS", "AADHAAR", "VOTER_ID", "PHONE"),
    "address": ("PERSON", "ADDRESS", "PINCODE", "PHONE", "EMAIL"),
    "medical": ("PERSON", "AGE", "DATE_OF_BIRTH", "PHONE", "ADDRESS", "AADHAAR", "EMAIL"),
    "mixed": ENTITY_TYPES,
}
STYLES: tuple[str, ...] = ("kyc_form", "bank_statement", "chat", "email", "medical_note")
# Level of x -> number of distractors in a document.
DISTRACTORS: tuple[int, ...] = (0, 2, 4)

USED, HELD = False, True
_ROWS: tuple[tuple[str, bool], ...] = (
    ("govt_id|kyc_form|d1|c1|x0|p3", USED),
    ("govt_id|kyc_form|d4|c1|x0|p6", USED),
    ("govt_id|bank_statement|d3|c2|x1|p0", HELD),
    ("govt_id|chat|d6|c2|x2|p3", USED),
    ("govt_id|chat|d8|c3|x1|p10", USED),
    ("govt_id|email|d2|c3|x0|p0", USED),
    ("govt_id|email|d10|c2|x2|p6", USED),
    ("govt_id|medical_note|d6|c3|x2|p10", USED),
    ("financial|kyc_form|d10|c3|x0|p6", HELD),
    ("financial|bank_statement|d6|c1|x1|p10", USED),
    ("financial|bank_statement|d8|c2|x0|p3", USED),
    ("financial|chat|d1|c2|x2|p0", USED),
    ("financial|chat|d4|c3|x2|p10", HELD),
    ("financial|email|d1|c1|x1|p6", USED),
    ("financial|email|d2|c2|x1|p3", USED),
    ("financial|medical_note|d3|c1|x0|p0", USED),
    ("contact|kyc_form|d1|c2|x1|p10", USED),
    ("contact|bank_statement|d4|c1|x2|p3", USED),
    ("contact|chat|d2|c1|x0|p10", USED),
    ("contact|chat|d10|c1|x1|p3", HELD),
    ("contact|email|d3|c3|x2|p6", USED),
    ("contact|email|d6|c2|x2|p0", HELD),
    ("contact|medical_note|d1|c3|x0|p0", USED),
    ("identity|kyc_form|d2|c3|x2|p3", USED),
    ("identity|kyc_form|d3|c2|x1|p6", USED),
    ("identity|bank_statement|d4|c1|x0|p0", USED),
    ("identity|chat|d6|c2|x0|p6", USED),
    ("identity|email|d8|c1|x0|p10", USED),
    ("identity|medical_note|d2|c2|x2|p10", HELD),
    ("identity|medical_note|d10|c3|x1|p3", USED),
    ("address|kyc_form|d8|c2|x1|p0", USED),
    ("address|kyc_form|d10|c1|x2|p0", USED),
    ("address|bank_statement|d1|c2|x0|p10", HELD),
    ("address|bank_statement|d2|c3|x1|p6", USED),
    ("address|chat|d3|c3|x0|p3", USED),
    ("address|email|d3|c1|x1|p3", HELD),
    ("address|medical_note|d8|c1|x2|p6", USED),
    ("medical|kyc_form|d6|c3|x1|p10", USED),
    ("medical|bank_statement|d3|c3|x2|p3", USED),
    ("medical|chat|d1|c1|x2|p6", USED),
    ("medical|chat|d4|c2|x0|p0", USED),
    ("medical|email|d4|c3|x1|p10", USED),
    ("medical|medical_note|d2|c2|x0|p6", HELD),
    ("medical|medical_note|d10|c1|x1|p0", USED),
    ("mixed|kyc_form|d3|c1|x2|p10", USED),
    ("mixed|kyc_form|d4|c3|x2|p0", HELD),
    ("mixed|bank_statement|d8|c3|x1|p6", USED),
    ("mixed|bank_statement|d10|c2|x0|p10", USED),
    ("mixed|chat|d2|c1|x1|p0", USED),
    ("mixed|email|d1|c2|x0|p3", USED),
    ("mixed|email|d6|c3|x0|p0", USED),
    ("mixed|medical_note|d4|c2|x1|p6", USED),
    ("mixed|medical_note|d8|c1|x2|p3", HELD),
)

TYPES: tuple[str, ...] = tuple(key for key, _ in _ROWS)
HELD_OUT: tuple[str, ...] = tuple(key for key, held in _ROWS if held)
TRAINED: tuple[str, ...] = tuple(key for key, held in _ROWS if not held)


class Key(NamedTuple):
    """A document type, taken apart. entities 1-10, forms 1-3, distractors 0-2 (a level), filler 0-20 (units)."""

    family: str
    style: str
    entities: int
    forms: int
    distractors: int
    filler: int


_EXAMPLE = "govt_id|kyc_form|d4|c1|x0|p6"
_AXES = (
    ("d", "entities", 1, 10),
    ("c", "name forms", 1, 3),
    ("x", "distractor level", 0, 2),
    ("p", "filler units", 0, 20),
)


def parse_key(key: str) -> Key:
    """Takes a key apart. Raises ValueError, in one line, that says which part is wrong and what it may be."""
    parts = key.split("|")
    if len(parts) != 6:
        raise ValueError(f"document type {key!r} has {len(parts)} parts, not 6: write it as {_EXAMPLE}")
    family, style, *levels = parts
    if family not in FAMILIES:
        raise ValueError(f"document type {key!r}: no family {family!r}: use one of {', '.join(FAMILIES)}")
    if style not in STYLES:
        raise ValueError(f"document type {key!r}: no style {style!r}: use one of {', '.join(STYLES)}")
    numbers = []
    for level, (letter, meaning, low, high) in zip(levels, _AXES, strict=True):
        match = re.fullmatch(rf"{letter}(0|[1-9][0-9]?)", level, re.ASCII)
        if not match or not low <= int(match[1]) <= high:
            raise ValueError(
                f"document type {key!r}: {level!r} is not a level of {meaning}: use {letter}{low} to {letter}{high}"
            )
        numbers.append(int(match[1]))
    return Key(family, style, *numbers)
