"""Digits: drawn, grouped, and checked by Verhoeff (Aadhaar) and Luhn (payment cards)."""

from __future__ import annotations

import random


def digits(rng: random.Random, n: int) -> str:
    """n decimal digits."""
    return f"{rng.randrange(10**n):0{n}}"


def grouped(text: str, sizes: tuple[int, ...], separator: str) -> str:
    """text cut into groups of the given sizes: ("234123412346", (4, 4, 4), " ") -> 2341 2341 2346."""
    groups, start = [], 0
    for size in sizes:
        groups.append(text[start : start + size])
        start += size
    return separator.join(groups)


# The dihedral group D5 and Verhoeff's permutation (J. Verhoeff, Error Detecting Decimal Codes, 1969): a digit is a
# symmetry of the pentagon, 0-4 rotations and 5-9 reflections.
_D5 = tuple(
    tuple(
        (a + b) % 5 if a < 5 and b < 5 else
        (a + b - 5) % 5 + 5 if a < 5 else
        (a - 5 - b) % 5 + 5 if b < 5 else
        (a - b) % 5
        for b in range(10)
    )
    for a in range(10)
)  # fmt: skip
_STEP = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def _permutations() -> tuple[tuple[int, ...], ...]:
    rows = [tuple(range(10))]
    for _ in range(7):
        rows.append(tuple(_STEP[digit] for digit in rows[-1]))
    return tuple(rows)


_PERMUTED = _permutations()


def verhoeff(digits: str) -> int:
    """The Verhoeff checksum of a number that ends in its check digit: 0 where it is right."""
    checksum = 0
    for place, digit in enumerate(reversed(digits)):
        checksum = _D5[checksum][_PERMUTED[place % 8][int(digit)]]
    return checksum


def verhoeff_digit(digits: str) -> str:
    """The check digit to append."""
    return str(_D5[verhoeff(f"{digits}0")].index(0))


def luhn(digits: str) -> int:
    """The Luhn checksum (ISO/IEC 7812-1, annex B) of a number that ends in its check digit: 0 where it is right."""
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(map(int, odd)) + sum(2 * int(digit) - 9 * (digit > "4") for digit in even)) % 10


def luhn_digit(digits: str) -> str:
    """The check digit to append."""
    return str(-luhn(f"{digits}0") % 10)
