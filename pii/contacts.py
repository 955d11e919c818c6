"""Ways to reach a person: telephone numbers, e-mail, UPI, web and IP addresses.

A handle is made from a person's name, so that names and addresses of one document belong together.
"""

from __future__ import annotations

import random
import re

from pii import addresses, checks, names

_NO_BREAK_SPACE = "\u00a0"

UPI_HANDLES = (
    "okaxis", "oksbi", "okicici", "okhdfcbank", "ybl", "ibl", "axl", "paytm", "ptyes", "apl", "upi", "yapl", "sbi",
    "icici", "barodampay", "kotak", "airtel", "freecharge", "fbl", "ikwik",
)  # fmt: skip
_MAIL_DOMAINS = (
    "gmail.com", "gmail.com", "gmail.com", "yahoo.co.in", "yahoo.com", "rediffmail.com", "outlook.com", "hotmail.com",
    "proton.me", "icloud.com", "infotechmail.in", "suryaexports.co.in", "navkarlabs.com", "vidyapeeth.ac.in", "nic.in",
    "shaktisteel.in",
)  # fmt: skip
_PROFILES = ("linkedin.com/in/{}", "facebook.com/{}", "instagram.com/{}", "x.com/{}", "twitter.com/{}", "github.com/{}",
             "medium.com/@{}", "youtube.com/@{}", "researchgate.net/profile/{}", "t.me/{}")  # fmt: skip
_SITES = ("{}.in", "{}.com", "{}.blogspot.com", "{}.wordpress.com", "{}.github.io", "{}.co.in", "{}.me")


def _handle_name(rng: random.Random, person: names.Person | None, separators: str) -> str:
    """rajesh.kumar, rkumar91, kumar_rajesh: three or more lower-case ASCII letters, digits and separators."""
    person = person or names.person(rng, devanagari=0.0)
    given, surname = (re.sub("[^a-z]", "", name.lower()) for name in person.latin)
    surname = surname or person.initials.lower()
    separator = rng.choice(separators) if rng.random() < 0.7 else ""
    if not surname:
        return f"{given}{separator}{rng.randint(10, 999)}"
    base = rng.choice(
        (
            f"{given}{separator}{surname}",
            f"{given}{separator}{surname}",
            f"{given[0]}{separator}{surname}" if len(surname) > 2 else f"{given}{surname}",
            f"{surname}{separator}{given}",
            given,
        )
    )
    number = rng.choice(("", "", str(rng.randint(1, 99)), str(rng.randint(1965, 2006))))
    return base + (number or ("7" if len(base) < 3 else ""))


def upi_id(rng: random.Random, person: names.Person | None) -> str:
    """name@handle or mobile@handle; never a dot after the @, which is what tells it from e-mail."""
    local = mobile(rng) if rng.random() < 0.3 else _handle_name(rng, person, ".-")
    return f"{local}@{rng.choice(UPI_HANDLES)}"


def email(rng: random.Random, person: names.Person | None) -> str:
    """An e-mail address made from the name (of somebody else where person is None); one in fifty is all capitals."""
    email = f"{_handle_name(rng, person, '._')}@{rng.choice(_MAIL_DOMAINS)}"
    return email.upper() if rng.random() < 0.02 else email


def url(rng: random.Random, person: names.Person | None) -> str:
    """A profile on a platform, or a site of one's own, named after the person."""
    name = _handle_name(rng, person, "-_" if rng.random() < 0.7 else "-")
    if rng.random() < 0.7:
        host = rng.choice(_PROFILES).format(name)
    else:
        host = rng.choice(_SITES).format(name.replace("_", "-"))
        return rng.choice(("https://", "http://", "https://www.", "www.")) + host
    return rng.choice(("https://www.", "https://", "https://", "www.", "")) + host


def mobile(rng: random.Random) -> str:
    """Ten digits that start with 6 to 9 (National Numbering Plan), unspaced."""
    return rng.choice("99988776") + checks.digits(rng, 9)


def phone(rng: random.Random) -> str:
    """A mobile (four of five) or a landline, with +91, 91, 0 or nothing before it; 5-5, 3-3-4 or unspaced."""
    if rng.random() < 0.2:
        return landline(rng)
    n = mobile(rng)
    a, b = n[:5], n[5:]
    three = f"{n[:3]} {n[3:6]} {n[6:]}"
    return rng.choice(
        (
            n,
            n,
            n,
            f"{a} {b}",
            f"{a} {b}",
            f"{a}-{b}",
            three,
            three.replace(" ", "-"),
            f"+91 {a} {b}",
            f"+91 {a} {b}",
            f"+91 {n}",
            f"+91-{n}",
            f"+91-{a}-{b}",
            f"+91{n}",
            f"+91 {three}",
            f"91 {n}",
            f"91-{n}",
            f"91{n}",
            f"0{n}",
            f"0{a} {b}",
            f"+91{_NO_BREAK_SPACE}{n}" if rng.random() < 0.15 else f"+91 {n}",
        )
    )


def landline(rng: random.Random) -> str:
    """STD code of a city in the list and a number that starts with 2 to 6: ten digits without the leading 0."""
    std = rng.choice(addresses.CITIES).std
    number = rng.choice("223456") + checks.digits(rng, 10 - len(std))  # STD code without 0, and number: ten digits
    half = f"{number[:-4]} {number[-4:]}"
    return rng.choice(
        (
            f"{std}-{number}",
            f"{std}-{number}",
            f"{std} {number}",
            f"{std} {half}",
            f"({std}) {number}",
            f"+91 {std[1:]} {number}",
            f"+91-{std[1:]}-{number}",
            f"{std}{number}",
        )
    )


def ip_address(rng: random.Random) -> str:
    """IPv4 (six of seven) or IPv6, shortened by :: in half of the cases."""
    if rng.random() < 0.85:
        # The blocks of Indian providers, and private ones as they stand in logs.
        first = rng.choice(("49", "59", "103", "106", "117", "122", "157", "182", "192.168", "10", "172.20"))
        missing = 4 - len(first.split("."))
        return ".".join((first, *(str(rng.randint(0, 255)) for _ in range(missing - 1)), str(rng.randint(1, 254))))
    groups = [rng.choice(("2401", "2405", "2409", "2402")), *(f"{rng.randint(1, 0xFFFF):x}" for _ in range(7))]
    if rng.random() < 0.5:
        return ":".join(groups[:4]) + "::" + groups[4]
    return ":".join(groups)
