"""The external set: its counts, its repairs, who is who, and that it shares nothing with the training data."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from stdnum import luhn, verhoeff

from pii import external
from pii.addresses import STREETS
from pii.document import Document
from pii.entities import ENTITY_TYPES
from pii.external import PERSONS, documents, entity_type, has_gold, placeholders, templates
from pii.external_values import CITIES, FEMALE, MALE, SURNAMES
from pii.external_values import STREETS as EXTERNAL_STREETS
from pii.matching import fold
from pii.names import GIVEN_NAMES
from pii.names import SURNAMES as TRAINING_SURNAMES

pytest.importorskip("presidio_evaluator", reason="the templates are read from presidio-evaluator (extra `eval`)")


@pytest.fixture(scope="module")
def made() -> list[Document]:
    return documents()


def test_the_counts_are_those_of_the_specification(made: list[Document]):
    kinds = Counter(m.type for document in made for m in document.gold)
    assert len(made) == 600
    assert 3100 <= kinds.total() <= 3300
    assert len(kinds) == 12
    assert set(kinds) <= set(ENTITY_TYPES)
    assert sum(not document.gold for document in made) >= external.PII_FREE
    filled = [t for t in templates() if placeholders(t)]
    assert (len(templates()), len(filled), sum(not has_gold(t) for t in filled)) == (210, 196, 28)


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]):
    assert external.main(["-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^documents +600$", shown, re.M)
    assert re.search(r"^gold mentions +3\d{3}$", shown, re.M)


def test_every_fault_of_the_file_is_repaired():
    text = "\0".join(templates())
    assert "\\n" not in text and "\\," not in text and "\ufffd" not in text
    assert re.search(r"(?m)^>", text.replace("\0", "\n")) is None
    assert re.search(r"(?<!\{)\{\w+\}(?!\})", text) is None
    assert templates()[133].count("{{street_name}}") == 2
    assert sum("\n" in t for t in templates()) >= 20


def test_no_placeholder_and_no_template_mark_is_left_in_a_document(made: list[Document]):
    assert not any(re.search(r"\{\{|\}\}|\\n", document.text) for document in made)


def test_gold_stands_in_the_document_in_reading_order(made: list[Document]):
    for document in made:
        place = 0
        for mention in document.gold:
            place = document.text.index(mention.text, place) + len(mention.text)
        assert document.key == "external"
        assert all(1 <= m.entity_id <= 99 for m in document.gold)
        assert len(document.gold) <= 48


def test_equal_texts_are_one_entity_and_different_persons_share_no_name(made: list[Document]):
    for document in made:
        entity_of: dict[str, int] = {}
        for mention in document.gold:
            assert entity_of.setdefault(fold(mention.text), mention.entity_id) == mention.entity_id
        words: dict[str, int] = {}
        for mention in document.gold:
            if mention.type == "PERSON":
                for word in re.findall(r"\w{2,}", mention.text):
                    assert words.setdefault(word, mention.entity_id) == mention.entity_id


def test_who_is_who_is_written_down_for_every_template_with_two_names():
    several = {}
    for line, template in enumerate(templates(), 1):
        names = sum(entity_type(p) == "PERSON" for p in placeholders(template))
        if names > 1:
            several[line] = names
    assert several == {line: len(letters) for line, letters in PERSONS.items()}
    assert len(several) == 21
    assert sum(len(set(letters)) < len(letters) for letters in PERSONS.values()) == 3


def test_one_person_under_two_names_has_one_id(made: list[Document]):
    found = [
        (full, short)
        for document in made
        for full, short in re.findall(r"My name is (.+) but everyone calls me (\w+)", document.text)
        if (ids := {m.text: m.entity_id for m in document.gold})[full] == ids[short] and short in full
    ]
    assert len(found) >= 11


def test_no_name_is_a_training_name():
    training = {name.casefold() for name in GIVEN_NAMES | TRAINING_SURNAMES}
    own = [name.casefold() for name in (*MALE, *FEMALE, *SURNAMES)]
    assert sorted(set(own) & training) == []
    assert len(own) == len(set(own))
    assert len(own) > 300


def test_no_street_is_a_training_street():
    training = {street.casefold() for street in STREETS}
    assert [s for s in EXTERNAL_STREETS if any(s.casefold() in t or t in s.casefold() for t in training)] == []
    assert len(set(EXTERNAL_STREETS)) == len(EXTERNAL_STREETS) >= 50


def test_identifiers_are_valid(made: list[Document]):
    pins = {city.pin for city in CITIES}
    for document in made:
        for mention in document.gold:
            digits = re.sub(r"\D", "", mention.text)
            if mention.type == "CREDIT_CARD":
                luhn.validate(digits)
            elif mention.type == "AADHAAR" and "X" not in mention.text.upper():
                verhoeff.validate(digits)
            elif mention.type == "PINCODE":
                assert len(digits) == 6 and digits[:3] in pins


def test_a_part_of_the_set_is_its_beginning(made: list[Document]):
    assert documents(37) == made[:37]
    assert documents(37, seed=1) != made[:37]
    assert documents(0) == []


def test_another_process_makes_the_same_bytes(made: list[Document]):
    code = "import sys, pii.external; sys.stdout.buffer.write(repr(pii.external.documents()).encode())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout == repr(made).encode()


def test_the_package_is_read_and_not_imported():
    code = (
        "import sys, pii.external as external; external.templates();"
        "print([name in sys.modules for name in ('presidio_evaluator', 'torch')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[False, False]"


def test_an_absent_package_and_another_version_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    templates.cache_clear()
    monkeypatch.setattr(external, "_SHA256", "0")
    with pytest.raises(ValueError, match=r"not those of version 0\.2\.5: install it with: pip install"):
        templates()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="not installed"):
        templates()
    assert external.main([]) == 2
    monkeypatch.undo()
    assert len(templates()) == 210


def test_no_training_code_imports_the_external_set():
    allowed = {"pii/external.py", "pii/task.py", "eval.py"}
    root = Path(external.__file__).parents[1]
    for path in (*root.glob("*.py"), *(root / "grpo").glob("*.py"), *(root / "pii").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{a.name}" for a in node.names] + [str(node.module)]
            if any(name.startswith("pii.external") for name in names):
                where = path.relative_to(root).as_posix()
                assert where in allowed, f"{where} imports the external set, which is for evaluation only"
