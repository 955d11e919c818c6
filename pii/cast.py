"""Who and what is in a document: its entities, the people they belong to, and values that agree with each other.

A person's PAN carries his initial, his e-mail his name, his age follows from his date of birth, his PIN code and his
licence are of his state and his IFSC is of the bank of his account.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date

from pii import addresses, names, values
from pii.grid import FAMILIES, Key

# What a second person is not asked for, and what a form wraps over two lines, with its share.
_FIRST_ONLY = frozenset({"URL", "IP_ADDRESS"})
_WRAPPED = {"AADHAAR": 0.08, "BANK_ACCOUNT": 0.05, "CREDIT_CARD": 0.05}
_WRAPPED_ADDRESSES = 0.4
_ROLE_GENDER = {"brother": "male", "father": "male", "landlord": "male", "sister": "female", "mother": "female"}
# By the first letter of S/o, D/o, W/o, C/o and their kin; a father where it is none of these.
_RELATIVES = {"w": "husband", "c": "guardian"}
_HINDI_WIFE = "पत्नी"


@dataclass
class Entity:
    """One thing to be found. owner: number of the person that it belongs to, or that it is; 0 is the first person."""

    number: int
    type: str
    owner: int


def draw_types(rng: random.Random, key: Key) -> list[tuple[str, int]]:
    """The types of a document's d entities, each with the number of its owner; no owner has one type twice."""
    family = FAMILIES[key.family]
    if key.entities == 1:
        return [("PERSON" if key.forms > 1 or rng.random() < 0.3 else rng.choice(family), 0)]
    first = min(key.entities, len(family))
    if key.entities > 2 and rng.random() < 0.45:
        first = rng.randint((key.entities + 1) // 2, first)
    drawn: list[tuple[str, int]] = []
    owner = 0
    while len(drawn) < key.entities:
        others = [type for type in family if type != "PERSON" and not (owner and type in _FIRST_ONLY)]
        rng.shuffle(others)
        size = first if owner == 0 else min(key.entities - len(drawn), len(others) + 1, 5)
        # One document in ten names nobody; a second person is always named, as its values are told apart by that.
        named = owner > 0 or key.forms > 1 or rng.random() < 0.9 or size > len(others)
        drawn += [(type, owner) for type in (["PERSON", *others] if named else others)[:size]]
        owner += 1
    return drawn


class Cast:
    """The entities and people of one document. today: the day on which ages are counted."""

    def __init__(self, rng: random.Random, key: Key, roles: tuple[str, ...], today: date, empty: bool) -> None:
        self.rng, self.key, self.today = rng, key, today
        types = [] if empty else draw_types(rng, key)
        owners = range(1 + max((owner for _, owner in types), default=0))
        self.entities = [Entity(number, type, owner) for number, (type, owner) in enumerate(types)]
        self.roles = ["", *rng.sample(roles, k=len(owners) - 1)]
        self.people = [
            names.person(rng, gender=_ROLE_GENDER.get(self.roles[owner]), forms=1 if owner else key.forms)
            for owner in owners
        ]
        self.states = [rng.choice(addresses.CITIES).state for _ in owners]
        self.banks = [rng.choice(tuple(values.BANKS)) for _ in owners]
        self.births = [self._birth() for _ in owners]

    def _birth(self) -> date:
        birth = values.birth_date(self.rng, values.age_years(self.rng))
        return birth.replace(year=birth.year + self.today.year - values.TODAY.year)

    def _age(self, owner: int) -> int:
        birth, today = self.births[owner], self.today
        return max(1, today.year - birth.year - ((today.month, today.day) < (birth.month, birth.day)))

    def value(self, entity: Entity, *, wrap: bool) -> str:
        """A value of any type but PERSON. wrap: it may be broken over two lines, as forms do."""
        rng, owner = self.rng, entity.owner
        if entity.type == "ADDRESS":
            address = addresses.address(rng, self.states[owner])
            return "\n".join(address.lines) if wrap and rng.random() < _WRAPPED_ADDRESSES else address.text
        if entity.type == "AGE":
            return str(self._age(owner))
        if entity.type == "DATE_OF_BIRTH":
            return values.written_date(rng, self.births[owner])
        text = values.value(
            rng, entity.type, person=self.people[owner], state=self.states[owner], bank=self.banks[owner]
        )
        return values.wrapped(rng, text) if wrap and rng.random() < _WRAPPED.get(entity.type, 0) else text

    def relate(self) -> tuple[str, names.Person]:
        """Makes the second person the first one's relative: (S/o, the father)."""
        # With a second name form, `Mr. Kumar` must be one of the two only.
        marker, relative = names.relation(self.rng, self.people[0], share_surname=self.key.forms == 1)
        self.people[1] = relative
        self.roles[1] = "husband" if marker == _HINDI_WIFE else _RELATIVES.get(marker[0].lower(), "father")
        return marker, relative
