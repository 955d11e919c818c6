"""Fills the layouts and phrasings of pii.styles with values: the pieces of one document, before it is checked."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from typing import NamedTuple

from pii import lookalikes, names
from pii.cast import Cast, Entity
from pii.grid import DISTRACTORS, Key
from pii.styles import STYLES
from pii.styles.style import Phrases

_SLOT = re.compile(r"\{(\w*)\}")
_TYPE_SLOT = re.compile(r"\{([A-Z_]+)\}")
_DATES = ("%d/%m/%Y", "%d-%m-%Y", "%d %b %Y", "%d.%m.%Y", "%d-%b-%y")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RELATION_SHARE = 0.3


class Piece(NamedTuple):
    """Literal text (type is empty) or a mention of entity number `entity`. lookalike: the kind, where text is one."""

    text: str
    type: str = ""
    entity: int = -1
    lookalike: str = ""


Unit = list[Piece]
Field = tuple[str, Unit]


class Sentence(NamedTuple):
    """A sentence or transaction before it gets its time, number and speaker; agent: spoken by the agent of a chat."""

    pieces: Unit
    agent: bool = False


class Draft:
    """One document while it is written: who and what is in it, and which of it has been said."""

    def __init__(self, rng: random.Random, key: Key, empty: bool) -> None:
        self.rng, self.key, self.empty = rng, key, empty
        self.style = STYLES[key.style]
        self.skeleton = rng.choice(self.style.skeletons)
        self.now = datetime(2019, 1, 1) + timedelta(days=rng.randrange(2500), minutes=rng.randrange(480, 1260))
        self.date_format = rng.choice(_DATES)
        self.whose, self.first_person = rng.choice(
            [voice for voice in self.style.voices if voice[1] != "SELF" or key.forms == 1]
        )
        self.cast = Cast(rng, key, self.style.roles, self.now.date(), empty)
        self.written: set[int] = set()
        # Sentences that follow the first person's full name and use his other name forms.
        self.again: list[Sentence] = []

    def value(self, entity: Entity, *, in_field: bool = False, wrap: bool = False, bare: bool = False) -> Unit:
        """An entity as it stands in the text, with what belongs around a name. bare: no honorific, one is there."""
        self.written.add(entity.number)
        if entity.type == "PERSON":
            return self._name(entity, in_field, bare)
        text = self.cast.value(entity, wrap=wrap)
        if in_field and self.skeleton.upper and entity.type == "ADDRESS":
            text = text.upper()
        return [Piece(text, entity.type, entity.number)]

    def _name(self, entity: Entity, in_field: bool, bare: bool) -> Unit:
        rng, person = self.rng, self.cast.people[entity.owner]
        full = person.full
        if entity.owner == 0:
            forms = names.name_forms(rng, person, self.key.forms)
            full = forms[0]
            for templates, form in zip(self.style.again, forms[1:], strict=False):
                said = [Piece(form, "PERSON", entity.number)]
                self.again.append(self.sentence(rng.choice(templates), {"": said}, entity))
        shout = in_field and self.skeleton.upper
        before, after = ("", "") if bare or shout else names.courtesy(rng, person, full)
        unit = [Piece(before), Piece(full.upper() if shout else full, "PERSON", entity.number), Piece(after)]
        if entity.owner == 0 and rng.random() < _RELATION_SHARE:
            unit += self._relative(shout)
        return [piece for piece in unit if piece.text]

    def _relative(self, shout: bool) -> Unit:
        """` S/o Mohan Kumar`: the second person as the first one's relative, if nothing has been said of him yet."""
        theirs = [entity.number for entity in self.cast.entities if entity.owner == 1]
        if not theirs or not self.written.isdisjoint(theirs):
            return []
        marker, relative = self.cast.relate()
        self.written.add(theirs[0])
        return [Piece(f" {marker} "), Piece(relative.full.upper() if shout else relative.full, "PERSON", theirs[0])]

    def fill(self, template: str, slots: dict[str, Unit]) -> Unit:
        """A template with its slots replaced. A full stop after a value that ends in one is dropped."""
        unit: Unit = []
        for i, part in enumerate(_SLOT.split(template)):
            pieces = slots[part] if i % 2 else [Piece(part)]
            if unit and pieces and pieces[0].text.startswith(".") and unit[-1].text.endswith("."):
                pieces = [Piece(pieces[0].text[1:]), *pieces[1:]]
            unit += [piece for piece in pieces if piece.text]
        return unit

    def sentence(self, template: str, slots: dict[str, Unit], entity: Entity | None = None) -> Sentence:
        """A sentence about an entity (whose, which role, which honorific) with its values in slots."""
        agent = template.startswith("A> ")
        words = {}
        if entity:
            mine = "your" if agent and self.whose == "my" else self.whose
            role = self.cast.roles[entity.owner]
            whose = mine if entity.owner == 0 else f"{'the' if self.whose != 'my' else mine} {role}'s"
            words = {"whose": whose, "role": role, "hon": self.cast.people[entity.owner].honorific}
        words |= {"Whose": _capital(words.get("whose", "")), "Role": _capital(words.get("role", ""))}
        words["amount"] = self.amount()
        filled = self.fill(template.removeprefix("A> "), {name: [Piece(word)] for name, word in words.items()} | slots)
        return Sentence(filled, agent)

    def about(self, entity: Entity, phrases: Phrases) -> Sentence:
        """One entity in a sentence (or transaction) of the style."""
        template = self.rng.choice(phrases[self._phrase_key(entity)])
        return self.sentence(template, {"": self.value(entity, bare=self._bare(template))}, entity)

    def _bare(self, template: str) -> bool:
        """True where no honorific may be added: one is there, it is a bank's code, or people speak of themselves."""
        of_self = self.whose == "my" and not template.startswith("A> ")
        return "{hon}" in template or of_self or template.startswith(("I, ", "UPI", "NEFT", "IMPS", "TRF", "Chq"))

    def _phrase_key(self, entity: Entity) -> str:
        if entity.type != "PERSON":
            return entity.type
        return "OTHER" if entity.owner else self.first_person

    def field(self, entity: Entity) -> Field:
        """One entity as label and value."""
        rng, role = self.rng, self.cast.roles[entity.owner]
        value = self.value(entity, in_field=True, wrap=self.skeleton.field.endswith("{value}"))
        if entity.type == "PERSON" and entity.owner:
            label = rng.choice(self.style.labels["OTHER"]).format(role=role, Role=_capital(role))
        else:
            labels = self.style.labels[entity.type]
            if entity.owner:
                # `Nominee नाम / Name` would be no label.
                label = rng.choice([label for label in labels if label.isascii()])
                label = rng.choice((f"{_capital(role)} {label}", f"{label} ({role})", f"{label} of {role}"))
            else:
                label = rng.choice(labels)
        return label, value

    def amount(self) -> str:
        """Rupees: 250.00, 1,250.50."""
        rupees = self.rng.choice((self.rng.randint(100, 999), self.rng.randint(1000, 99999)))
        return f"{rupees:,}.{self.rng.choice(('00', '50'))}"

    def compose(self) -> Unit:
        """The whole document."""
        layout = self.skeleton.layout
        slots = {name: f"{{{name}}}" in layout for name in ("fields", "rows", "body", "filler")}
        in_fields, in_rows, in_body = self._places(slots["fields"], slots["rows"])
        together = self._combined(in_body)
        fields: list[Field] = []
        rows: list[Sentence] = []
        body: list[Sentence] = []
        # The first person's name is written first wherever it goes, as a relation may name the second one.
        for entity in sorted(self.cast.entities, key=lambda entity: entity.number):
            if entity.number in self.written:
                continue
            if entity in in_fields:
                fields.append(self.field(entity))
            elif entity in in_rows:
                rows.append(self.about(entity, self.style.rows))
            elif together and entity in together[1]:
                body.append(self._several(*together))
            else:
                body.append(self.about(entity, self.style.sentences))
        if self.rng.random() < 0.2:
            self.rng.shuffle(fields)
        self._noise(fields, rows, body, slots)
        self._blank_fields(fields, slots["fields"])
        separate = self._filler(rows, body, slots)
        self._insert_again(body)
        filled = {
            "fields": self._listed(fields),
            "rows": self._told(rows, self.skeleton.row, "\n"),
            "body": self._told(body, self.skeleton.sentence, self.skeleton.join),
            "filler": self._told(separate, self.skeleton.sentence if self.skeleton.speakers[0] else "{text}", " "),
        }
        return self._lay_out(layout, filled)

    def _places(self, has_fields: bool, has_rows: bool) -> tuple[list[Entity], list[Entity], list[Entity]]:
        """Which entities become fields, which transactions, and which sentences."""
        fields: list[Entity] = []
        rows: list[Entity] = []
        body: list[Entity] = []
        layout = self.skeleton.layout
        fields_first = has_fields and layout.index("{fields}") < layout.index("{body}")
        for entity in self.cast.entities:
            named_again = entity.number == 0 and entity.type == "PERSON" and self.key.forms > 1
            as_field = fields_first if named_again else has_fields and self.rng.random() < self.style.in_fields
            as_row = has_rows and not named_again and self._phrase_key(entity) in self.style.rows
            if as_row and self.rng.random() < 0.45:
                rows.append(entity)
            else:
                (fields if as_field else body).append(entity)
        return fields, rows, body

    def _combined(self, body: list[Entity]) -> tuple[str, list[Entity]] | None:
        """A sentence that says several things about the first person, in some of the documents where one fits."""
        mine = {entity.type: entity for entity in body if entity.owner == 0}
        fitting = [text for text in self.style.combined if {*_TYPE_SLOT.findall(text)} <= mine.keys()]
        if not fitting or self.first_person == "SELF" or self.rng.random() < 0.4:
            return None
        template = self.rng.choice(fitting)
        return template, [mine[type] for type in _TYPE_SLOT.findall(template)]

    def _several(self, template: str, entities: list[Entity]) -> Sentence:
        slots = {entity.type: self.value(entity, bare=self._bare(template)) for entity in entities}
        return self.sentence(template, slots, entities[0])

    def _noise(self, fields: list[Field], rows: list[Sentence], body: list[Sentence], slots: dict[str, bool]) -> None:
        """Distractors, each of another kind, put anywhere."""
        kinds = self.rng.sample(list(self.style.distractors), k=DISTRACTORS[self.key.distractors])
        for kind in kinds:
            fitting = [
                template
                for template in self.style.distractors[kind]
                if (slots["fields"] or "|" not in template) and (slots["rows"] or not template.startswith("# "))
            ]
            template = self.rng.choice(fitting)
            value = {"": [Piece(lookalikes.lookalike(self.rng, kind), lookalike=kind)]}
            if "|" in template:
                self._put(fields, (template.split("|")[0], value[""]))
            elif template.startswith("# "):
                self._put(rows, self.sentence(template[2:], value))
            else:
                self._put(body, self.sentence(template, value))

    def _put(self, units: list, unit: object) -> None:
        units.insert(self.rng.randint(0, len(units)), unit)

    def _blank_fields(self, fields: list[Field], has_fields: bool) -> None:
        """Fields that nobody filled in: in empty forms, and now and then in others."""
        if not has_fields or self.style.in_fields < 0.6 or not (self.empty or self.rng.random() < 0.2):
            return
        present = {entity.type for entity in self.cast.entities}
        types = [type for type in self.style.labels if type not in present and type not in ("OTHER", "PERSON")]
        for type in self.rng.sample(types, k=self.rng.randint(2, 4) if self.empty else 1):
            blank = Piece(self.rng.choice(("________", "NA", "Not provided", "-", "Nil", "")))
            self._put(fields, (self.rng.choice(self.style.labels[type]), [blank]))

    def _filler(self, rows: list[Sentence], body: list[Sentence], slots: dict[str, bool]) -> list[Sentence]:
        """p units of filler over the transactions, the body and, if the layout has one, the filler slot (returned)."""
        rng, units = self.rng, max(self.key.filler, 3 if self.empty else 0)
        transactions = (units + 1) // 2 if slots["rows"] else 0
        for text in rng.choices(self.style.row_filler, k=transactions):
            self._put(rows, self.sentence(text, {}))
        separate = []
        for text in rng.sample(self.style.filler, k=units - transactions):
            said = self.sentence(text, {})
            if slots["filler"] and rng.random() < 0.75:
                separate.append(said)
            else:
                self._put(body, said)
        return separate

    def _insert_again(self, body: list[Sentence]) -> None:
        """The other name forms, in order, somewhere after the full name."""
        at = next((i + 1 for i, said in enumerate(body) if any(piece.entity == 0 for piece in said.pieces)), 0)
        for said in self.again:
            at = self.rng.randint(at, len(body))
            body.insert(at, said)
            at += 1

    def _told(self, sentences: list[Sentence], frame: str, join: str) -> Unit:
        """Sentences in their frame (time, number, speaker), one after another; prose breaks into paragraphs."""
        units = []
        for number, said in enumerate(sentences, start=1):
            self.now += timedelta(
                minutes=self.rng.randint(1, 4), days=self.rng.randint(0, 3) * (frame == self.skeleton.row)
            )
            words = {
                "who": self.skeleton.speakers[said.agent],
                "n": str(number),
                "amount": self.amount(),
            } | self._clock()
            units.append(
                self.fill(frame, {name: [Piece(word)] for name, word in words.items()} | {"text": said.pieces})
            )
        if join != " ":
            return _joined(units, join)
        paragraphs, start = [], 0
        while start < len(units):
            size = self.rng.randint(2, 5)
            paragraphs.append(_joined(units[start : start + size], " "))
            start += size
        return _joined(paragraphs, "\n")

    def _listed(self, fields: list[Field]) -> Unit:
        units = []
        for number, (label, value) in enumerate(fields, start=1):
            words = {"label": [Piece(label)], "n": [Piece(str(number))]}
            units.append(self.fill(self.skeleton.field, words | {"value": value}))
        return _joined(units, "\n")

    def _clock(self) -> dict[str, str]:
        date_format = self.date_format.replace("%b", _MONTHS[self.now.month - 1])  # strftime's %b follows the locale
        return {"date": self.now.strftime(date_format), "time": self.now.strftime("%H:%M")}

    def _lay_out(self, layout: str, filled: dict[str, Unit]) -> Unit:
        """The layout with its slots filled; lines and whole paragraphs whose slots are all empty are left out."""
        clock = {name: [Piece(word)] for name, word in self._clock().items()}
        paragraphs = []
        for paragraph in layout.split("\n\n"):
            if self._hollow(paragraph, filled):
                continue
            lines = [line for line in paragraph.split("\n") if not self._hollow(line, filled)]
            paragraphs.append(_joined([self.fill(line, filled | clock) for line in lines], "\n"))
        return _joined(paragraphs, "\n\n")

    def _hollow(self, text: str, filled: dict[str, Unit]) -> bool:
        slots = [name for name in _SLOT.findall(text) if name in filled]
        return bool(slots) and not any(filled[name] for name in slots)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(units: list[Unit], separator: str) -> Unit:
    joined: Unit = []
    for unit in units:
        joined += [Piece(separator), *unit] if joined else unit
    return joined


def compose(rng: random.Random, key: Key, *, empty: bool = False) -> Unit:
    """The pieces of one document of a type, in reading order; empty: without anything to be found."""
    return Draft(rng, key, empty).compose()
