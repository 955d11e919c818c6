"""Indian postal addresses, from flat to PIN code, with a PIN that fits the city and its state.

An ADDRESS span runs from flat to PIN inclusive where the PIN stands in the address; PINCODE is a mention only where the
PIN stands by itself. Places are in pii/data/places.txt; streets and quarters are put into any city, so that no real
household is described.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from pii import lists

_PLACES = lists.read("places.txt")


class City(NamedTuple):
    """name, state, std (the STD code with its leading 0), pin_prefixes (sorting districts, three digits each)."""

    name: str
    state: str
    std: str
    pin_prefixes: tuple[str, ...]


class State(NamedTuple):
    """name, code (of licences and vehicles), offices (RTOs are numbered 1 to this), pin_prefixes (2-3 digits each)."""

    name: str
    code: str
    offices: int
    pin_prefixes: tuple[str, ...]


def _city(item: str) -> City:
    name, state, std, pins = item.split("/")
    return City(name, state, std, tuple(pins.split()))


def _state(item: str) -> State:
    name, code, offices, pins = item.split("/")
    return State(name, code, int(offices), tuple(pins.split()))


CITIES: tuple[City, ...] = tuple(map(_city, _PLACES["cities"]))
STATES: dict[str, State] = {state.name: state for state in map(_state, _PLACES["states"])}
# Everything that names a street or a quarter, for the test that the external set shares none of it.
STREETS: frozenset[str] = frozenset(_PLACES["streets"] + _PLACES["localities"])

_STATE_NAMES = tuple(STATES)
_STREETS, _LOCALITIES, _BUILDINGS = _PLACES["streets"], _PLACES["localities"], _PLACES["buildings"]
_VILLAGES, _TEHSILS = _PLACES["villages"], _PLACES["tehsils"]
_LANDMARKS = _PLACES["landmarks"]


class Address(NamedTuple):
    """An address. text: one line, flat to PIN. lines: the same broken into 2-4 lines; text == " ".join(lines).

    street, city, state, pincode (six digits, unspaced): its parts, for documents that ask for them apart.
    """

    text: str
    lines: tuple[str, ...]
    street: str
    city: str
    state: str
    pincode: str


def pincode(rng: random.Random, state: str | None = None) -> str:
    """A PIN code of six digits; its first two or three digits are those of the state (a key of STATES)."""
    if state is not None and state not in STATES:
        raise ValueError(f"unknown state {state!r}: use one of {', '.join(STATES)}")
    return _pin(rng, rng.choice(STATES[state or rng.choice(_STATE_NAMES)].pin_prefixes))


def _pin(rng: random.Random, prefix: str) -> str:
    # Post offices are numbered from 001 within a sorting district; few districts reach 150.
    while len(prefix) < 3:
        prefix += str(rng.randint(1, 7))
    return f"{prefix}{rng.randint(1, 149):03}"


def _house(rng: random.Random) -> str:
    n, letter = rng.randint(1, 480), rng.choice("ABCDEFGHK")
    return rng.choice(
        (
            f"Flat {n}",
            f"Flat No. {rng.randint(1, 14)}{rng.randint(1, 8):02}",
            f"H.No. {n}",
            f"House No. {n}/{letter}",
            f"{letter}-{n}",
            f"{n}/{rng.randint(1, 60)}",
            f"Door No. {rng.randint(1, 60)}-{rng.randint(1, 99)}-{rng.randint(1, 99)}",
            f"Plot {n}",
            f"#{n}",
            f"{n}",
            f"Qtr. {letter}/{rng.randint(1, 90)}",
            f"Room No. {rng.randint(1, 40)}",
        )
    )


def _pin_written(rng: random.Random, pin: str) -> tuple[str, str]:
    """What joins the PIN to the place before it, and the PIN as it is written."""
    spaced = f"{pin[:3]} {pin[3:]}"
    return rng.choice(
        (
            (" - ", pin),
            (" - ", spaced),
            ("-", pin),
            (" ", pin),
            (" ", spaced),
            (", ", pin),
            (", ", f"PIN {pin}"),
            (", ", f"Pin: {pin}"),
            (", ", f"PIN Code - {pin}"),
            (" – ", pin),
        )
    )


def _town(rng: random.Random, city: City) -> tuple[str, list[str], str]:
    street, locality = rng.choice(_STREETS), rng.choice(_LOCALITIES)
    first = [_house(rng)]
    if rng.random() < 0.55:
        first.append(rng.choice(_BUILDINGS))
    second = [street] if rng.random() < 0.7 else [street, rng.choice(_LANDMARKS)]
    if rng.random() < 0.7:
        second.append(locality)
    return street, [", ".join(first), ", ".join(second)], city.name


def _rural(rng: random.Random, city: City) -> tuple[str, list[str], str]:
    village = rng.choice(_VILLAGES)
    first = [
        rng.choice((f"Village {village}", f"Vill. {village}", f"VPO {village}", f"Gram {village}", f"At {village}"))
    ]
    if rng.random() < 0.4:
        first.insert(0, f"{rng.choice(('House No.', 'H.No.', 'Ward No.'))} {rng.randint(1, 190)}")
    if not first[-1].startswith("VPO"):
        first.append(f"{rng.choice(('Post', 'P.O.', 'Post Office'))} {rng.choice(_VILLAGES)}")
    tehsil = f"{rng.choice(('Tehsil', 'Teh.', 'Taluka', 'Tal.', 'Block'))} {rng.choice(_TEHSILS)}"
    return village, [", ".join(first), tehsil], f"{rng.choice(('Dist.', 'District', 'Distt.'))} {city.name}"


def address(rng: random.Random, state: str | None = None) -> Address:
    """An address in a town (four of five) or a village; of one state where it is given and has a city in the list."""
    choices = CITIES if state is None else tuple(city for city in CITIES if city.state == state)
    if not choices:
        raise ValueError(f"unknown state {state!r}: use one of {', '.join(STATES)}")
    city = rng.choice(choices)
    pin = _pin(rng, rng.choice(city.pin_prefixes))
    rural = rng.random() < 0.2 and city.name not in (
        "Delhi",
        "New Delhi",
        "Mumbai",
        "Navi Mumbai",
        "Kolkata",
        "Chennai",
    )
    street, parts, place = (_rural if rural else _town)(rng, city)
    joiner, written = _pin_written(rng, pin)
    # State before the PIN, after it, or not at all.
    order = rng.random()
    if order < 0.4 and city.state != city.name:
        last = f"{place}, {city.state}{joiner}{written}"
    elif order < 0.65 and city.state != city.name and not written.startswith(("PIN", "Pin")):
        last = f"{place}{joiner}{written}, {city.state}"
    else:
        last = f"{place}{joiner}{written}"
    if len(parts[1]) < 16 or rng.random() < 0.25:
        lines = [f"{parts[0]}, {parts[1]},", last]
    else:
        lines = [f"{parts[0]},", f"{parts[1]},", last]
    if len(lines) == 3 and f"{place}, " in last and rng.random() < 0.2:
        lines[2:] = [f"{place},", last.removeprefix(f"{place}, ")]
    return Address(" ".join(lines), tuple(lines), street, city.name, city.state, pin)
