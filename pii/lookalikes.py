"""Look-alikes: what has the shape of personal data and is none. Each is invalid by construction, or of another kind.

A document puts them where such things stand; a model that marks them loses precision.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable

from pii import addresses, checks, names, values

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_ORGANISATIONS = (
    "Tata Motors Ltd", "Lakshmi Vilas Stores", "Mahindra Logistics", "Godrej Properties", "Larsen & Toubro",
    "Birla Cement Works", "Kirloskar Pumps", "Bajaj Finance", "Maruti Suzuki", "State Bank of India", "ICICI Lombard",
    "Canara Bank", "Life Insurance Corporation", "Reliance Retail", "Infosys Limited", "Wipro Technologies",
    "Bharat Petroleum", "Indian Oil", "Apollo Hospitals", "Fortis Healthcare", "Sri Ramachandra Hospital",
    "Jaslok Hospital", "St. Xavier's College", "Loyola Institute", "Lady Shri Ram College", "Jadavpur University",
    "Kendriya Vidyalaya", "Delhi Public School", "Nagar Nigam", "Regional Transport Office",
    "Election Commission of India", "Passport Seva Kendra", "Income Tax Department", "Muthoot Finance", "Cipla",
    "Manappuram Gold", "Shriram Transport", "Zydus Wellness", "Amul Dairy", "Mother Dairy", "Haldiram's", "Bikanervala",
    "Saravana Bhavan", "IRCTC",
)  # fmt: skip
_TRADES = (
    "Stores", "Traders", "Enterprises", "Textiles", "Jewellers", "Medicals", "Travels", "Constructions", "Motors",
    "Associates", "Industries Pvt Ltd", "Exports LLP", "Clinic", "Nursing Home", "Diagnostics", "Finserv Ltd",
)  # fmt: skip
_DEITIES = (
    "Shree Balaji", "Sai Ram", "Sri Venkateswara", "Jai Hanuman", "Om Shakti", "Annapurna", "New Bharat", "Navrang",
)  # fmt: skip
_SHORT_HELPLINES = (
    "1930", "112", "1947", "155260", "14567", "1098", "139", "181", "104", "108", "1915", "14404", "1064",
)  # fmt: skip
_AIRLINES = ("6E", "AI", "IX", "QP", "SG")
_SURNAMES = tuple(sorted(name for name in names.SURNAMES if name.isascii()))


def _organisation(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.5:
        return rng.choice(_ORGANISATIONS)
    if draw < 0.7:
        return f"{rng.choice(_DEITIES)} {rng.choice(_TRADES)}"
    surname = rng.choice(_SURNAMES)
    return (
        f"{surname} & Sons"
        if draw < 0.78
        else f"{surname} Brothers"
        if draw < 0.85
        else f"{surname} {rng.choice(_TRADES)}"
    )


def _city(rng: random.Random) -> str:
    city = rng.choice(addresses.CITIES)
    return city.name if rng.random() < 0.75 else f"{city.name}, {city.state}" if rng.random() < 0.5 else city.state


def _event_date(rng: random.Random) -> str:
    """From 2012 to 2026 and written as dates of birth are: the words around it tell the two apart."""
    return values.written_date(rng, datetime.date(2012, 1, 1) + datetime.timedelta(days=rng.randrange(5400)))


def _order_number(rng: random.Random) -> str:
    return rng.choice(
        (
            f"OD{checks.digits(rng, 15)}",
            f"{rng.randint(402, 408)}-{checks.digits(rng, 7)}-{checks.digits(rng, 7)}",
            f"ORD-{rng.randint(2019, 2025)}-{checks.digits(rng, 6)}",
            f"#{rng.randint(10000, 99999)}",
            # Ten digits, as a mobile has; mobiles start 6 to 9.
            f"{rng.randint(1, 5)}{checks.digits(rng, 9)}",
        )
    )


def _invoice_number(rng: random.Random) -> str:
    year = rng.randint(2018, 2025)
    return rng.choice(
        (
            f"INV/{year}-{(year + 1) % 100:02}/{checks.digits(rng, 5)}",
            f"INV-{checks.digits(rng, 7)}",
            f"GST/{checks.digits(rng, 4)}/{year % 100}",
            f"BILL{checks.digits(rng, 8)}",
        )
    )


def _epoch_time(rng: random.Random) -> str:
    """Seconds (10 digits, start 1) or milliseconds (13) between 2017 and 2026."""
    seconds = rng.randint(1_483_228_800, 1_767_225_599)
    return str(seconds) if rng.random() < 0.6 else f"{seconds}{checks.digits(rng, 3)}"


def _cin(rng: random.Random) -> str:
    """A company's number: listed or not, industry, state, year, kind, registration (Ministry of Corporate Affairs)."""
    state = rng.choice(("MH", "DL", "KA", "TN", "GJ", "WB", "UP", "TG", "HR", "RJ"))
    kind = rng.choice(("PTC", "PLC", "OPC", "NPL"))
    return f"{rng.choice('UL')}{checks.digits(rng, 5)}{state}{rng.randint(1950, 2024)}{kind}{checks.digits(rng, 6)}"


def _helpline(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(_SHORT_HELPLINES)
    separator = rng.choice(("-", " "))
    return separator.join((rng.choice(("1800", "1800", "1860")), checks.digits(rng, 3), checks.digits(rng, 4)))


def _four_four_four(rng: random.Random, number: str) -> str:
    return checks.grouped(number, (4, 4, 4), rng.choice((" ", " ", "-", "")))


def _bad_aadhaar_start(rng: random.Random) -> str:
    """The shape of an Aadhaar with its check digit right; none starts with 0 or 1."""
    body = rng.choice("01") + checks.digits(rng, 10)
    return _four_four_four(rng, body + checks.verhoeff_digit(body))


def _wrong(rng: random.Random, right: str) -> str:
    return rng.choice("0123456789".replace(right, ""))


def _bad_aadhaar_check(rng: random.Random) -> str:
    """The shape of an Aadhaar; the check digit is wrong. Never 91 first: unspaced, that is a mobile number."""
    body = rng.choice("2345678") + checks.digits(rng, 10)
    return _four_four_four(rng, body + _wrong(rng, checks.verhoeff_digit(body)))


def _bad_card(rng: random.Random) -> str:
    """The shape of a card; the Luhn digit is wrong."""
    number = values.card_number(rng)
    return values.card_written(rng, number[:-1] + _wrong(rng, number[-1]))


def _gstin(rng: random.Random) -> str:
    """A company's tax number: state, PAN, entity, Z, check character. The PAN in it is a part of a longer word."""
    body = f"{rng.randint(1, 37):02}{values.pan(rng, holder=rng.choice('CF'))}{rng.randint(1, 9)}Z"
    # The check character of GSTIN: weights 1 and 2 in turn, base 36, digits of each product added.
    alphabet = "0123456789" + _UPPER
    total = 0
    for place, letter in enumerate(body):
        product = alphabet.index(letter) * (1 + place % 2)
        total += product // 36 + product % 36
    return body + alphabet[-total % 36]


def _utr(rng: random.Random) -> str:
    """A bank transfer's reference: 16 characters for NEFT, 22 for RTGS."""
    code = values.BANKS[rng.choice(tuple(values.BANKS))].code
    if rng.random() < 0.6:
        return f"{code}N{rng.randint(20, 25)}{rng.randint(1, 365):03}{checks.digits(rng, 6)}"
    return f"{code}R{rng.randint(2019, 2025)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}{checks.digits(rng, 9)}"


def _train_number(rng: random.Random) -> str:
    return f"{rng.choice('12')}{checks.digits(rng, 4)}"


def _flight_number(rng: random.Random) -> str:
    return f"{rng.choice(_AIRLINES)}{rng.choice(('-', ' ', ''))}{rng.randint(101, 9999)}"


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "organisation": _organisation,
    "city": _city,
    "event_date": _event_date,
    "order_number": _order_number,
    "invoice_number": _invoice_number,
    "epoch_time": _epoch_time,
    "cin": _cin,
    "helpline": _helpline,
    "bad_aadhaar_start": _bad_aadhaar_start,
    "bad_aadhaar_check": _bad_aadhaar_check,
    "bad_card": _bad_card,
    "gstin": _gstin,
    "utr": _utr,
    "train_number": _train_number,
    "flight_number": _flight_number,
}
KINDS: tuple[str, ...] = tuple(_MAKERS)


def lookalike(rng: random.Random, kind: str) -> str:
    """One look-alike of a kind (one of KINDS), as a document writes it."""
    if kind not in _MAKERS:
        raise ValueError(f"unknown look-alike {kind!r}: use one of {', '.join(KINDS)}")
    return _MAKERS[kind](rng)
