"""Indian identifiers, valid by construction, in the forms in which documents write them.

Every function takes a random.Random first and depends on nothing else. value() makes one value of any type but PERSON
(pii.names) and ADDRESS (pii.addresses). What each type promises stands in tests/test_values.py.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable
from typing import NamedTuple

from pii import addresses, checks, contacts, names

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NO_BREAK_SPACE = "\u00a0"


class Bank(NamedTuple):
    """name, code (the first four letters of its IFSC), starts (of account numbers), length (digits of an account)."""

    name: str
    code: str
    starts: tuple[str, ...]
    length: int


# A 12-digit account has the shape of an Aadhaar, a 16-digit one that of a card; the words around it decide.
BANKS: dict[str, Bank] = {
    bank.name: bank
    for bank in (
        Bank("State Bank of India", "SBIN", ("1", "2", "3", "4"), 11),
        Bank("ICICI Bank", "ICIC", ("00", "01", "02", "1", "2", "6"), 12),
        Bank("HDFC Bank", "HDFC", ("50100", "50200", "0"), 14),
        Bank("Bank of Baroda", "BARB", ("0", "1", "2", "3", "4", "5"), 14),
        Bank("Axis Bank", "UTIB", ("9", "91"), 15),
        Bank("Punjab National Bank", "PUNB", ("0", "1", "2", "3", "4", "5", "6"), 16),
        Bank("Canara Bank", "CNRB", ("0", "1", "2", "3"), 13),
        Bank("Union Bank of India", "UBIN", ("3", "5"), 15),
    )
}
_BANK_NAMES = tuple(BANKS)

# 4th letter of a PAN: person, company, Hindu undivided family, and the rest (Income Tax Department).
_PAN_HOLDERS = "PCHABGJLFT"
_PASSPORT_LETTERS = "ABCDEFGHJKLMNPRSTUVWYZ"

# Ages and dates of birth are told from this day, so that documents do not change with the calendar.
TODAY = datetime.date(2025, 6, 30)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip


def masked_aadhaar(rng: random.Random) -> str:
    """XXXX XXXX 1234 and its kin: only the last four digits are told."""
    x, separator = rng.choice("XXXx"), rng.choice((" ", " ", "-", ""))
    return separator.join((x * 4, x * 4, checks.digits(rng, 4)))


def _aadhaar_digits(rng: random.Random) -> str:
    while True:
        body = rng.choice("23456789") + checks.digits(rng, 10)
        number = body + checks.verhoeff_digit(body)
        if number != number[::-1]:  # UIDAI issues no palindromes
            return number


def _aadhaar(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.12:
        return masked_aadhaar(rng)
    # Dots and no-break spaces come from scanned and pasted documents; both fold away.
    separator = (
        " " if draw < 0.60 else "-" if draw < 0.75 else "" if draw < 0.97 else "." if draw < 0.985 else _NO_BREAK_SPACE
    )
    return checks.grouped(_aadhaar_digits(rng), (4, 4, 4), separator)


def _initial(person: names.Person | None, rng: random.Random) -> str:
    for name in reversed(person.latin if person else ()):
        if name:
            return name[0].upper()
    return rng.choice(_UPPER)


def pan(rng: random.Random, person: names.Person | None = None, holder: str | None = None) -> str:
    """A PAN. Where its 4th letter is P (a person), the 5th is the initial of the surname, or of the only name."""
    kind = holder or ("P" if person is not None or rng.random() < 0.85 else rng.choice(_PAN_HOLDERS[1:]))
    fifth = _initial(person, rng) if kind == "P" else rng.choice(_UPPER)
    return "".join(rng.choices(_UPPER, k=3)) + kind + fifth + f"{rng.randint(1, 9999):04}" + rng.choice(_UPPER)


def _passport(rng: random.Random) -> str:
    gap = " " if rng.random() < 0.12 else ""
    return f"{rng.choice(_PASSPORT_LETTERS)}{gap}{rng.randint(1, 9)}{checks.digits(rng, 6)}"


def _voter_id(rng: random.Random) -> str:
    return "".join(rng.choices(_UPPER, k=3)) + (" " if rng.random() < 0.08 else "") + checks.digits(rng, 7)


def _driving_licence(rng: random.Random, state: str | None) -> str:
    home = addresses.STATES[state] if state else rng.choice(tuple(addresses.STATES.values()))
    office, year, serial = (
        f"{rng.randint(1, home.offices):02}",
        str(rng.randint(1988, TODAY.year)),
        f"{rng.randint(1, 99999):07}",
    )
    form = rng.choice(
        (
            "{}{} {}{}",
            "{}{} {}{}",
            "{}{} {}{}",
            "{}-{}{}{}",
            "{}{}{}{}",
            "{}-{}-{}-{}",
            "{}{}-{}{}",
            "{}-{} {}{}",
            "{} {} {} {}",
        )
    )
    return form.format(home.code, office, year, serial)


def _bank_account(rng: random.Random, bank: str | None) -> str:
    kind = BANKS[bank or rng.choice(_BANK_NAMES)]
    start = rng.choice(kind.starts)
    number = start + checks.digits(rng, kind.length - len(start))
    size = next((size for size in (4, 5) if kind.length % size == 0), 0)
    if not size or rng.random() < 0.8:
        return number
    return checks.grouped(number, (size,) * (kind.length // size), rng.choice((" ", "-")))


def _ifsc(rng: random.Random, bank: str | None) -> str:
    code = BANKS[bank or rng.choice(_BANK_NAMES)].code
    if code == "BARB" and rng.random() < 0.6:  # this bank spells its branches: BARB0KOTHRU
        return f"{code}0{''.join(rng.choices(_UPPER, k=6))}"
    return f"{code}0{rng.choice(('00', '00', '01', '0A', '0R'))}{checks.digits(rng, 4)}"


_CARD_STARTS = {  # network: (starts, length); the ranges of ISO/IEC 7812 issuer numbers that each network uses
    "visa": (("4",), 16),
    "mastercard": (("51", "52", "53", "54", "55", "2221", "2345", "2720"), 16),
    "rupay": (("60", "6521", "6522", "508", "81", "82"), 16),
    "amex": (("34", "37"), 15),
}


def card_number(rng: random.Random) -> str:
    """A card number, unspaced, with its Luhn digit: Visa, Mastercard, RuPay (16 digits) or American Express (15)."""
    starts, length = _CARD_STARTS[rng.choices(("visa", "mastercard", "rupay", "amex"), (4, 3, 3, 1))[0]]
    start = rng.choice(starts)
    body = start + checks.digits(rng, length - len(start) - 1)
    return body + checks.luhn_digit(body)


def card_written(rng: random.Random, number: str) -> str:
    """4-4-4-4 (American Express 4-6-5) with spaces, hyphens or nothing."""
    sizes = (4, 4, 4, 4) if len(number) == 16 else (4, 6, 5)
    return checks.grouped(number, sizes, rng.choice((" ", " ", " ", "-", "", "")))


def _credit_card(rng: random.Random) -> str:
    return card_written(rng, card_number(rng))


def written_date(rng: random.Random, date: datetime.date) -> str:
    """One of the forms in which Indian documents write a date: 15/08/1990, 15-Aug-1990, 15th August 1990, ..."""
    d, m, y, month = date.day, date.month, date.year, _MONTHS[date.month - 1]
    ordinal = "th" if 11 <= d <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(d % 10, "th")
    return rng.choice(
        (
            f"{d:02}/{m:02}/{y}",
            f"{d:02}/{m:02}/{y}",
            f"{d:02}-{m:02}-{y}",
            f"{d:02}-{m:02}-{y}",
            f"{d:02}.{m:02}.{y}",
            f"{y}-{m:02}-{d:02}",
            f"{d:02} {month[:3]} {y}",
            f"{d:02}-{month[:3]}-{y}",
            f"{d} {month} {y}",
            f"{month} {d}, {y}",
            f"{d}{ordinal} {month} {y}",
            f"{d}/{m}/{y}",
            f"{d:02}/{m:02}/{y % 100:02}",
        )
    )


def age_years(rng: random.Random) -> int:
    """An age: mostly of adults, some children and very old people."""
    return rng.randint(18, 75) if rng.random() < 0.85 else rng.randint(1, 97)


def birth_date(rng: random.Random, age: int) -> datetime.date:
    """A day on which somebody was born who is `age` years old on TODAY."""
    # Without 29 February: the same day of another year always exists.
    day = datetime.date(2023, 1, 1) + datetime.timedelta(days=rng.randrange(365))
    had_birthday = (day.month, day.day) <= (TODAY.month, TODAY.day)
    return day.replace(year=TODAY.year - age - (not had_birthday))


def _pincode(rng: random.Random, state: str | None) -> str:
    pin = addresses.pincode(rng, state)
    return pin if rng.random() < 0.8 else f"{pin[:3]} {pin[3:]}"


Maker = Callable[[random.Random, names.Person | None, str | None, str | None], str]

_MAKERS: dict[str, Maker] = {
    "PINCODE": lambda rng, person, state, bank: _pincode(rng, state),
    "PHONE": lambda rng, person, state, bank: contacts.phone(rng),
    "EMAIL": lambda rng, person, state, bank: contacts.email(rng, person),
    "AGE": lambda rng, person, state, bank: str(age_years(rng)),
    "DATE_OF_BIRTH": lambda rng, person, state, bank: written_date(rng, birth_date(rng, age_years(rng))),
    "AADHAAR": lambda rng, person, state, bank: _aadhaar(rng),
    "PAN": lambda rng, person, state, bank: pan(rng, person),
    "PASSPORT": lambda rng, person, state, bank: _passport(rng),
    "VOTER_ID": lambda rng, person, state, bank: _voter_id(rng),
    "DRIVING_LICENCE": lambda rng, person, state, bank: _driving_licence(rng, state),
    "BANK_ACCOUNT": lambda rng, person, state, bank: _bank_account(rng, bank),
    "IFSC": lambda rng, person, state, bank: _ifsc(rng, bank),
    "UPI_ID": lambda rng, person, state, bank: contacts.upi_id(rng, person),
    "CREDIT_CARD": lambda rng, person, state, bank: _credit_card(rng),
    "IP_ADDRESS": lambda rng, person, state, bank: contacts.ip_address(rng),
    "URL": lambda rng, person, state, bank: contacts.url(rng, person),
}


def value(
    rng: random.Random,
    type: str,
    *,
    person: names.Person | None = None,
    state: str | None = None,
    bank: str | None = None,
) -> str:
    """One valid value of a type in one of its written forms. PERSON and ADDRESS have modules of their own.

    person: e-mail, UPI and web addresses are made from the name, and a PAN gets its initial; another name where None.
    state: a PINCODE or DRIVING_LICENCE of that state (a key of pii.addresses.STATES). bank: a key of BANKS.
    An AGE is the number alone; `years` stays outside the span.
    """
    if type not in _MAKERS:
        raise ValueError(f"no values of type {type!r}: use one of {', '.join(_MAKERS)}")
    if state is not None and state not in addresses.STATES:
        raise ValueError(f"unknown state {state!r}: use one of {', '.join(addresses.STATES)}")
    if bank is not None and bank not in BANKS:
        raise ValueError(f"unknown bank {bank!r}: use one of {', '.join(BANKS)}")
    return _MAKERS[type](rng, person, state, bank)


def wrapped(rng: random.Random, value: str) -> str:
    """The value broken over two lines at one of its spaces, or after a hyphen of a long number.

    Folded, the result equals the value. A value with neither comes back as it is.
    """
    places = [match.start() for match in re.finditer(" ", value)]
    if places:
        place = rng.choice(places)
        return f"{value[:place]}\n{value[place + 1 :]}"
    if re.fullmatch(r"[\dXx-]{11,}", value) and "-" in value:
        place = rng.choice([match.end() for match in re.finditer("-", value)])
        return f"{value[:place]}\n{value[place:]}"
    return value
