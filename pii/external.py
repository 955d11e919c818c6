"""The external set: somebody else's sentences, Indian values; for evaluation only.

The 210 sentence templates of the package presidio-evaluator 0.2.5 (extra `eval`) are read from its installed file
without importing it (the import takes seconds) and without keeping a copy here. Their faults are repaired, their
placeholders are filled with valid Indian values from lists that no training document uses, and four sentences make a
document. Nothing is trained, chosen or tuned on the result; no training code imports this module.

    python -m pii.external          the counts
    python -m pii.external -n 3     and three documents
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

from pii import external_values as indian
from pii.document import Document, Mention
from pii.matching import fold
from pii.values import value

SENTENCES = 4
BLOCK = 600
"""Documents that one pass of the plan covers: every template 11 or 12 times."""
PII_FREE = 40
"""Documents of a block made only of sentences without PII; mixed at random there would be about one."""

_FILE = Path("data_generator") / "raw_data" / "templates.txt"
_SHA256 = "f8b04ff8c5c24d17fcac2e666767f6ba80841b69ee2ea3c1cfe089a676a766ef"

# Placeholder -> type; names are matched by their pattern (name, first_name_female, ...). Everything else is filled
# and is no gold.
TYPES = {
    "person": "PERSON",
    "address": "ADDRESS",
    "street_name": "ADDRESS",
    "building_number": "ADDRESS",
    "secondary_address": "ADDRESS",
    "postcode": "ADDRESS",
    "zipcode": "PINCODE",
    "phone_number": "PHONE",
    "email": "EMAIL",
    "age": "AGE",
    "ssn": "AADHAAR",
    "us_driver_license": "DRIVING_LICENCE",
    "iban": "BANK_ACCOUNT",
    "credit_card_number": "CREDIT_CARD",
    "ip_address": "IP_ADDRESS",
    "url": "URL",
}
_NAME = re.compile(r"(first_|last_)?name(_\w+)?")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

# Who is who in the 21 templates with two or more names, read by hand: line of the file -> one letter a name. Only
# three speak twice of one person. Elsewhere every placeholder is an entity of its own.
PERSONS = {
    61: "AA",
    97: "AB",
    101: "AA",
    102: "AB",
    105: "AB",
    107: "AB",
    109: "AB",
    113: "ABA",
    121: "ABC",
    123: "AB",
    126: "AB",
    127: "AB",
    139: "AB",
    140: "AB",
    154: "AB",
    156: "AB",
    160: "ABCDEF",
    168: "AB",
    174: "ABC",
    198: "ABCDEF",
    201: "ABCD",
}
ONE_STREET = 111
"""The one template that names a street twice and means the same."""


def entity_type(placeholder: str) -> str | None:
    """The type of a placeholder's value; None where it is filler."""
    return "PERSON" if _NAME.fullmatch(placeholder) else TYPES.get(placeholder)


def _repair(line: str) -> str:
    """Undoes the file's known faults: written-out newlines, single braces, quote marks, a replacement character."""
    line = line.replace("\\n", "\n").replace("\\,", ",").replace("\ufffd", "-")
    line = re.sub(r"(?<!\{)\{(\w+)\}(?!\})", r"{{\1}}", line)
    if line.startswith(">"):
        line = re.sub(r"(?m)^> ?", "", line)
    return line.strip()


@lru_cache(maxsize=1)
def templates() -> tuple[str, ...]:
    """The 210 repaired templates, in the file's order; ValueError where the package is absent or another version."""
    how = "install it with: pip install 'presidio-evaluator==0.2.5' (extra `eval`)"
    spec = importlib.util.find_spec("presidio_evaluator")
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"the external set needs the package presidio-evaluator, which is not installed: {how}")
    path = Path(next(iter(spec.submodule_search_locations))) / _FILE
    if not path.is_file():
        raise ValueError(f"presidio-evaluator has no {_FILE}: {how}")
    text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    if hashlib.sha256(text.encode()).hexdigest() != _SHA256:
        raise ValueError(f"the templates in {path} are not those of version 0.2.5: {how}")
    return tuple(_repair(line) for line in text.split("\n"))


def placeholders(template: str) -> list[str]:
    return _PLACEHOLDER.findall(template)


def has_gold(template: str) -> bool:
    return any(entity_type(p) for p in placeholders(template))


class _Filler:
    """Fills the templates of one document: no two entities of it share a surface string or a name."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.mentions: list[Mention] = []
        self.seen: set[str] = set()
        self.names = {
            "male": rng.sample(indian.MALE, len(indian.MALE)),
            "female": rng.sample(indian.FEMALE, len(indian.FEMALE)),
        }
        self.surnames = rng.sample(indian.SURNAMES, len(indian.SURNAMES))
        self.entities = 0

    def new_entity(self) -> int:
        self.entities += 1
        return self.entities

    def person(self, placeholder: str) -> indian.ExternalPerson:
        gender = "female" if "_female" in placeholder else "male" if "_male" in placeholder else None
        given = self.names[gender or self.rng.choice(("male", "female"))].pop()
        return indian.person(self.rng, given, self.surnames.pop())

    def fresh(self, make: Callable[[], str]) -> str:
        while fold(text := make()) in self.seen:
            pass
        return text

    def sentence(self, line: int, template: str) -> str:
        """The filled text of the template at `line` (from 1) of the file; adds its mentions."""
        city, _, state, prefix = self.rng.choice(indian.CITIES)
        at_home = "{{postcode}}" in template
        letters = iter(PERSONS.get(line, ""))
        people: dict[str, tuple[indian.ExternalPerson, int]] = {}
        street: tuple[str, int] | None = None
        pieces = _PLACEHOLDER.split(template)
        for position in range(1, len(pieces), 2):
            placeholder, after = pieces[position], pieces[position + 1]
            kind = entity_type(placeholder)
            if kind is None:
                pieces[position] = self._fill(placeholder, city, state, at_home)
                continue
            if kind == "PERSON":
                letter = next(letters, "")
                person, entity = people.get(letter) or (self.person(placeholder), self.new_entity())
                if letter:
                    people[letter] = person, entity
                text = _name(placeholder, person)
            elif placeholder == "street_name" and line == ONE_STREET and street:
                text, entity = street
            else:
                bare = placeholder == "street_name" and re.match(r" (St\b|street)", after, re.IGNORECASE) is not None
                text, entity = self.fresh(partial(self._value, placeholder, kind, prefix, bare)), self.new_entity()
                if placeholder == "street_name":
                    street = text, entity
            self.seen.add(fold(text))
            self.mentions.append(Mention(text, kind, entity))
            pieces[position] = text
        return "".join(pieces)

    def _value(self, placeholder: str, kind: str, prefix: str, bare: bool) -> str:
        rng = self.rng
        if placeholder == "street_name":
            return indian.street(rng, bare)
        if placeholder in ("postcode", "zipcode"):
            return indian.pin(rng, prefix)
        if placeholder in ("email", "url"):
            owner = rng.choice(rng.choice((indian.MALE, indian.FEMALE))), rng.choice(indian.SURNAMES)
            return (indian.email if placeholder == "email" else indian.url)(rng, *owner)
        if placeholder == "age":
            return str(rng.randrange(18, 95))
        own = {
            "address": indian.address,
            "building_number": indian.building_number,
            "secondary_address": indian.secondary_address,
            "ip_address": indian.ip_address,
        }
        return own[placeholder](rng) if placeholder in own else value(rng, kind)

    def _fill(self, placeholder: str, city: str, state: str, at_home: bool) -> str:
        if placeholder == "city":
            return city
        if placeholder == "state_abbr":
            return state
        if placeholder == "country" and at_home:
            return "India"
        return indian.filler(self.rng, placeholder)


def _name(placeholder: str, person: indian.ExternalPerson) -> str:
    if placeholder.startswith("first_name"):
        return person.given
    return person.surname if placeholder.startswith("last_name") else person.full


def _plan(block: int, seed: int) -> list[list[int]]:
    """The template lines of a block's documents: BLOCK lists of SENTENCES lines."""
    rng = random.Random(f"external plan|{seed}|{block}")
    lines = range(1, len(templates()) + 1)
    passes, remainder = divmod(BLOCK * SENTENCES, len(lines))
    chosen = [*lines] * passes + rng.sample(lines, remainder)
    rng.shuffle(chosen)
    free = [line for line in chosen if not has_gold(templates()[line - 1])][: PII_FREE * SENTENCES]
    mixed = list((Counter(chosen) - Counter(free)).elements())
    rng.shuffle(mixed)
    sentences = free + mixed
    planned = [sentences[i : i + SENTENCES] for i in range(0, len(sentences), SENTENCES)]
    rng.shuffle(planned)
    return planned


def documents(n: int = 600, seed: int = 0) -> list[Document]:
    """The first n documents of the set, key "external"; the same at every call and in every process.

    documents(100) are the first hundred of documents(600). Gold stands in the order of the text.
    """
    made = []
    for block in range((n + BLOCK - 1) // BLOCK):
        for index, lines in enumerate(_plan(block, seed)[: n - block * BLOCK]):
            filler = _Filler(random.Random(f"external|{seed}|{block * BLOCK + index}"))
            text = "\n".join(filler.sentence(line, templates()[line - 1]) for line in lines)
            made.append(Document(text, filler.mentions, "external"))
    return made


def counts(n: int = 600, seed: int = 0) -> str:
    """The set's counts as lines of text."""
    made = documents(n, seed)
    kinds = Counter(m.type for document in made for m in document.gold)
    filled = [t for t in templates() if placeholders(t)]
    rows = [
        ("templates", len(templates())),
        ("  distractors: only placeholders that are no PII", sum(not has_gold(t) for t in filled)),
        ("  without any placeholder", len(templates()) - len(filled)),
        ("documents", len(made)),
        ("  without PII", sum(not document.gold for document in made)),
        ("gold mentions", kinds.total()),
        *((f"  {kind}", count) for kind, count in kinds.most_common()),
    ]
    return "\n".join(f"{name:<50}{count:>6}" for name, count in rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pii.external", description="The external set's counts.")
    parser.add_argument("-n", type=int, default=0, help="show this many documents as well")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        print(counts(seed=options.seed))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for document in documents(options.n, options.seed):
        print(f"\n{document.text}\n" + "\n".join(f"    {m.entity_id:>2} {m.type:<16}{m.text!r}" for m in document.gold))
    return 0


if __name__ == "__main__":
    sys.exit(main())
