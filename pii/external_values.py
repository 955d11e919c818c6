"""What fills the external set's templates: Indian names, streets and places that no training document uses.

The lists are written for this set and are disjoint from pii.names and pii.addresses (tests/test_external.py compares
them), so a score on the external set cannot come from names learnt by heart. They are fixed here, not drawn from a
library's data, because a set that changes with an upgrade measures nothing. Identifiers with a check digit come from
pii.values: how a valid one is written is no secret to be kept from the training.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from pii import lists

_LISTS = lists.read("external.txt")
MALE, FEMALE, SURNAMES = _LISTS["male"], _LISTS["female"], _LISTS["surnames"]
STREETS, STREET_WORDS = _LISTS["streets"], _LISTS["street words"]


class City(NamedTuple):
    """state_letters: as on number plates. pin: the first three digits of its PIN codes."""

    name: str
    state: str
    state_letters: str
    pin: str


CITIES = tuple(City(*item.split("=")) for item in _LISTS["cities"])

_MONTHS = _LISTS["months"]
# Real providers and hosts beside made-up ones: the domains say nothing about a person.
_MAIL_HOSTS = ("gmail.com", "yahoo.co.in", "rediffmail.com", "outlook.com", "hillpost.in", "kovilmail.org")
_WEB_HOSTS = ("photobarn.in", "myweb.org.in", "sharepost.co.in", "notebookpages.com", "lekhblog.in")


class ExternalPerson(NamedTuple):
    """full: the name as a sentence writes it; given and surname: its parts."""

    full: str
    given: str
    surname: str


def person(rng: random.Random, given: str, surname: str) -> ExternalPerson:
    """Most names are given name and surname; some carry an initial between or before, as southern names do."""
    initial = rng.choice("ABCDGHJKLMNPRSTV")
    roll = rng.random()
    if roll < 0.1:
        return ExternalPerson(f"{initial}. {given} {surname}", given, surname)
    if roll < 0.2:
        return ExternalPerson(f"{given} {initial}. {surname}", given, surname)
    return ExternalPerson(f"{given} {surname}", given, surname)


def pin(rng: random.Random, prefix: str) -> str:
    return f"{prefix}{rng.randrange(1, 150):03d}"


def street(rng: random.Random, bare: bool = False) -> str:
    """A street, `Old Mint Lane`; bare=True leaves out the closing word."""
    name = rng.choice(STREETS)
    return name if bare else f"{name} {rng.choice(STREET_WORDS)}"


def building_number(rng: random.Random) -> str:
    number = rng.randrange(2, 400)
    return rng.choice(
        (f"{number}", f"{number}/{rng.choice('ABCDE')}", f"{number}-{rng.randrange(1, 90)}", f"No. {number}")
    )


def secondary_address(rng: random.Random) -> str:
    return rng.choice(
        (
            f"Flat {rng.randrange(1, 12)}0{rng.randrange(1, 9)}",
            f"Wing {rng.choice('ABCDEF')}, Flat {rng.randrange(1, 60)}",
            f"{rng.choice(('Ground', '1st', '2nd', '3rd', '4th'))} Floor",
            f"Shop {rng.randrange(1, 90)}",
        )
    )


def address(rng: random.Random) -> str:
    """A whole address from house to PIN; one in four is written over three lines."""
    city, state, _, prefix = rng.choice(CITIES)
    house = f"{building_number(rng)}, {street(rng)}"
    if rng.random() < 0.4:
        house = f"{secondary_address(rng)}, {house}"
    end = rng.choice((f"{state} {pin(rng, prefix)}", f"{state} - {pin(rng, prefix)}", f"{pin(rng, prefix)}"))
    if rng.random() < 0.25:
        return f"{house}\n{city}\n{end}"
    return f"{house}, {city}, {end}"


def email(rng: random.Random, given: str, surname: str) -> str:
    given, surname = given.lower(), surname.lower()
    local = rng.choice(
        (f"{given}.{surname}", f"{given}{rng.randrange(10, 99)}", f"{given[0]}_{surname}", f"{surname}.{given}")
    )
    return f"{local}@{rng.choice(_MAIL_HOSTS)}"


def url(rng: random.Random, given: str, surname: str) -> str:
    given, surname, host = given.lower(), surname.lower(), rng.choice(_WEB_HOSTS)
    return rng.choice(
        (
            f"https://{host}/{given}-{surname}",
            f"http://www.{given}{surname}.in/",
            f"https://{given}.{host}/album/{rng.randrange(100, 9999)}",
            f"www.{host}/u/{surname}{rng.randrange(1, 99)}",
        )
    )


def ip_address(rng: random.Random) -> str:
    if rng.random() < 0.25:
        return "2405:" + ":".join(f"{rng.randrange(1, 65536):x}" for _ in range(7))
    return f"{rng.randrange(11, 224)}." + ".".join(str(rng.randrange(1, 255)) for _ in range(3))


def date(rng: random.Random, first_year: int, last_year: int) -> str:
    day, month, year = rng.randrange(1, 29), rng.randrange(1, 13), rng.randrange(first_year, last_year + 1)
    return rng.choice(
        (f"{day:02d}/{month:02d}/{year}", f"{day} {_MONTHS[month - 1]} {year}", f"{day:02d}-{month:02d}-{year}")
    )


def filler(rng: random.Random, placeholder: str) -> str:
    """A value that is no personal data: an organisation, a country, a job, ...; KeyError for an unknown placeholder."""
    if placeholder == "year":
        return str(rng.randrange(1950, 2024))
    if placeholder == "date_of_birth":
        return date(rng, 1945, 2005)
    if placeholder == "date_time":
        return date(rng, 2015, 2024)
    return rng.choice(_LISTS[placeholder])
