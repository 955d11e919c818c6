"""Names of people as Indian documents write them: by region, with initials, single names, relations and honorifics.

An honorific is never a part of a name: it is returned beside it, and the document writes it outside the span. The lists
are in pii/data/names.txt; they leave out many common names, which the external set uses.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from pii import lists

_NAMES = lists.read("names.txt")

# Shares of the training names, roughly as often as one meets them.
REGIONS: dict[str, float] = {
    "north": 0.28,
    "south": 0.22,
    "west": 0.14,
    "east": 0.11,
    "muslim": 0.10,
    "punjab": 0.06,
    "christian": 0.05,
    "north_east": 0.04,
}
_REGION_NAMES = tuple(REGIONS)
_REGION_WEIGHTS = tuple(REGIONS.values())


def _pairs(heading: str) -> dict[str, str]:
    return dict(item.split("=") for item in _NAMES[heading])


_DEVANAGARI = {gender: _pairs(f"devanagari {gender}") for gender in ("male", "female")}
_DEVANAGARI_SURNAMES = _pairs("devanagari surnames")
_DEVANAGARI_GIVEN = {gender: tuple(_DEVANAGARI[gender]) for gender in _DEVANAGARI}
_DEVANAGARI_FAMILY = tuple(_DEVANAGARI_SURNAMES)
_GUJARATI_MIDDLE = tuple(
    f"{name}bhai" for name in ("Ramesh", "Mahesh", "Jignesh", "Kalpesh", "Dinesh", "Pravin", "Hasmukh")
)
_SIKH = {"male": "Singh", "female": "Kaur"}
_NORTHERN_WOMEN = ("Devi", "Kumari")
_MUSLIM_WOMEN = ("Begum", "Khatoon", "Bano", "Bi")

_DEVANAGARI_TOKENS = {*_DEVANAGARI["male"].values(), *_DEVANAGARI["female"].values()}

# Every token that stands in a training name, for the test that the external set shares none of them.
GIVEN_NAMES: frozenset[str] = frozenset(
    {name for region in REGIONS for gender in ("male", "female") for name in _NAMES[f"{region} {gender}"]}
    | {*_NAMES["north middle"], *_NAMES["muslim middle"], *_GUJARATI_MIDDLE}
    | _DEVANAGARI_TOKENS
)
SURNAMES: frozenset[str] = frozenset(
    {name for region in REGIONS for name in _NAMES[f"{region} surnames"]}
    | {*_SIKH.values(), *_NORTHERN_WOMEN, *_MUSLIM_WOMEN}
    | set(_DEVANAGARI_SURNAMES.values())
)

_HONORIFICS = {"male": ("Mr.", "Mr.", "Shri", "Sri", "Dr."), "female": ("Ms.", "Mrs.", "Smt.", "Smt.", "Dr.")}
_REGION_HONORIFICS = {
    ("punjab", "male"): ("Sardar", "Mr.", "Shri"),
    ("punjab", "female"): ("Sardarni", "Smt.", "Ms."),
    ("muslim", "male"): ("Janab", "Mr.", "Shri", "Dr."),
}
_DEVANAGARI_HONORIFICS = {"male": ("श्री", "डॉ."), "female": ("श्रीमती", "सुश्री", "डॉ.")}

# Letters that South Indian initials start with; Q, W, X and Z are next to unknown there.
_INITIALS = "ABCDEGHIJKLMNPRSTUV"


class Person(NamedTuple):
    """A person.

    full: the whole name as documents first write it. given, surname: its parts; surname is "" for single names and for
    names with initials. initials: their letters, "" where there are none. honorific: what a document may write before
    the name, outside the span. gender: male or female. region: a key of REGIONS. latin: (given, surname) in Latin
    letters (differs from given and surname where those are Devanagari), for e-mail addresses and PANs.
    """

    full: str
    given: str
    surname: str
    honorific: str
    gender: str
    region: str
    initials: str
    latin: tuple[str, str]


def _with_initials(rng: random.Random, given: str, initials: str, last: bool) -> str:
    """K. R. Suresh, K.R. Suresh, K R Suresh; with last, Suresh K.R. and its kin."""
    dotted, plain = "".join(f"{letter}." for letter in initials), " ".join(initials)
    spaced = " ".join(f"{letter}." for letter in initials)
    if last:
        return f"{given} {rng.choice((dotted, plain, plain, dotted[:-1]))}"
    return f"{rng.choice((dotted, spaced, spaced, plain))} {given}"


def _devanagari(rng: random.Random, gender: str, region: str) -> Person:
    given, surname = rng.choice(_DEVANAGARI_GIVEN[gender]), rng.choice(_DEVANAGARI_FAMILY)
    native = (_DEVANAGARI[gender][given], _DEVANAGARI_SURNAMES[surname])
    honorific = rng.choice(_DEVANAGARI_HONORIFICS[gender])
    return Person(" ".join(native), *native, honorific, gender, region, "", (given, surname))


def _latin(rng: random.Random, gender: str, region: str, forms: int) -> Person:
    given = rng.choice(_NAMES[f"{region} {gender}"])
    surname = rng.choice(_NAMES[f"{region} surnames"])
    middle, initials, draw = "", "", rng.random()
    match region:
        case "north":
            if draw < 0.15 and gender == "male":
                middle = rng.choice([name for name in _NAMES["north middle"] if name != surname])
            elif draw < 0.25 and gender == "female":
                surname = rng.choice(_NORTHERN_WOMEN)
        case "punjab":
            if draw < 0.65:
                surname = _SIKH[gender]
            elif draw < 0.9:
                middle = _SIKH[gender]
        case "west":
            if draw < 0.10 and surname in ("Patel", "Shah", "Mehta", "Vaghela", "Gohil", "Makwana"):
                middle = rng.choice(_GUJARATI_MIDDLE)
            elif draw < 0.25:
                middle = rng.choice([name for name in _NAMES["west male"] if name != given])
        case "muslim":
            if draw < 0.3 and gender == "male":
                # Mohd. Irfan Ansari: the person is called by the second name.
                honorific = rng.choice(_REGION_HONORIFICS["muslim", "male"])
                prefix = rng.choice(_NAMES["muslim middle"])
                return Person(
                    f"{prefix} {given} {surname}", given, surname, honorific, gender, region, "", (given, surname)
                )
            if draw < 0.35 and gender == "female":
                surname = rng.choice(_MUSLIM_WOMEN)
        case "south":
            if draw < 0.6:
                initials, surname = "".join(rng.choices(_INITIALS, k=rng.choice((1, 1, 2, 2, 2, 3)))), ""
    if forms == 1 and not initials and not middle and rng.random() < (0.3 if region == "north_east" else 0.06):
        surname = ""
    if initials:
        full = _with_initials(rng, given, initials, last=rng.random() < 0.35)
    else:
        full = " ".join(part for part in (given, middle, surname) if part)
    honorific = rng.choice(_REGION_HONORIFICS.get((region, gender), _HONORIFICS[gender]))
    return Person(full, given, surname, honorific, gender, region, initials, (given, surname))


def person(
    rng: random.Random,
    region: str | None = None,
    gender: str | None = None,
    *,
    forms: int = 1,
    devanagari: float = 0.04,
) -> Person:
    """A person, drawn by region and gender where they are not given.

    forms: how many name forms name_forms() will be asked for; a single name has one only and is then not drawn.
    devanagari: share of northern and western people whose name is written in Devanagari.
    """
    if region is None:
        region = rng.choices(_REGION_NAMES, _REGION_WEIGHTS)[0]
    if gender is None:
        gender = rng.choice(("male", "female"))
    if region in ("north", "west") and rng.random() < devanagari:
        return _devanagari(rng, gender, region)
    return _latin(rng, gender, region, forms)


def name_forms(rng: random.Random, person: Person, n: int) -> list[str]:
    """n (1 to 3) different ways to write one person's name, no honorific in any.

    The full name first; then the surname, to be written with courtesy() before it; then the given name. Where there are
    initials and no surname: K. R. Suresh, Suresh, Suresh K.R. A name of one word has one form only: ValueError.
    """
    if person.surname:
        forms = [person.full, person.surname, person.given]
    elif person.initials:
        last = not person.full.startswith(person.given)
        forms = [person.full, person.given, _with_initials(rng, person.given, person.initials, last)]
    else:
        forms = [person.full]
    if not 1 <= n <= len(forms):
        raise ValueError(f"{person.full!r} has {len(forms)} name forms, {n} were asked for: draw it with forms={n}")
    return forms[:n]


def courtesy(rng: random.Random, person: Person, form: str) -> tuple[str, str]:
    """What a document writes before and after a name form, outside the span: ("Mr. ", ""), ("", " ji"), ("", "").

    A surname alone always has something before it, as in `Mr. Kumar`; other forms have it in part of the cases.
    """
    native = not form.isascii()
    if form == person.surname and form != person.given:
        return f"{person.honorific} ", ""
    draw = rng.random()
    if draw < 0.35 and (form == person.full or not person.surname):
        return f"{person.honorific} ", ""
    if draw > 0.88 and person.region != "christian":
        return "", " जी" if native else rng.choice((" ji", " ji", "-ji"))
    return "", ""


_RELATIONS = {
    "male": ("S/o", "S/o", "S/O", "s/o", "son of", "C/o"),
    "female": ("D/o", "D/o", "D/O", "daughter of", "W/o", "W/o", "W/O", "wife of", "C/o"),
}
_DEVANAGARI_RELATIONS = {"male": ("पुत्र",), "female": ("पुत्री", "पत्नी")}


def relation(rng: random.Random, person: Person, *, share_surname: bool = True) -> tuple[str, Person]:
    """A marker that stands after the person's name, and the relative that it names: ("S/o", father).

    The relative is another person with another given name and, with share_surname, mostly the same surname. Where the
    surname alone stands for the person (two name forms or more), pass share_surname=False: it would stand for both.
    """
    native = not person.full.isascii()
    marker = rng.choice((_DEVANAGARI_RELATIONS if native else _RELATIONS)[person.gender])
    while True:
        other = _devanagari(rng, "male", person.region) if native else _latin(rng, "male", person.region, forms=2)
        if other.given == person.given or (person.surname and not share_surname and other.surname == person.surname):
            continue
        if person.surname and other.surname and share_surname and rng.random() < 0.8:
            surname = person.surname
            if surname in _SIKH.values():
                surname = "Singh"
            elif surname in _NORTHERN_WOMEN or surname in _MUSLIM_WOMEN or surname == other.surname:
                return marker, other
            latin = other.latin[0], person.latin[1]
            other = other._replace(full=f"{other.given} {surname}", surname=surname, latin=latin)
        return marker, other
