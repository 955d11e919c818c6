"""The cheap systems: what each one finds, that the strong ones beat the weak, and that shouting pays when untyped."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks import baselines
from benchmarks.baselines import evaluate, systems, table
from pii.document import Document, Mention
from pii.external import documents

pytest.importorskip("presidio_analyzer", reason="the rules are presidio-analyzer's (extra `eval`)")
pytest.importorskip("presidio_evaluator", reason="the external set reads presidio-evaluator (extra `eval`)")

TEXT = (
    "My name is Neha K. Sharma, aged 34, call +91 98765 43210 or mail n.sharma@example.com. "
    "PAN ABCPE1234F, Aadhaar 2341 2341 2346, old Aadhaar 2341 2341 2345. 12, Rose Lane, Pune 411001. ZIP: 411002"
)


def found(name: str, text: str = TEXT) -> list[tuple[str, str]]:
    return [(m.text, m.type) for m in systems()[name](text)]


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, float]]:
    return evaluate(documents(150))


def test_capital_letters_find_every_capitalised_word():
    words = [text for text, _ in found("capitalised words", "The house of Asha Rao in Pune")]
    assert words == ["The", "Asha", "Rao", "Pune"]


def test_title_case_wants_two_words():
    assert found("Title Case", "Yesterday Asha met Vikram S. Rao") == [
        ("Yesterday Asha", "PERSON"),
        ("Vikram S. Rao", "PERSON"),
    ]


def test_presidios_rules_find_numbers_by_their_check_digit_and_no_names():
    assert found("Presidio rules") == [
        ("+91 98765 43210", "PHONE"),
        ("n.sharma@example.com", "EMAIL"),
        ("ABCPE1234F", "PAN"),
        ("2341 2341 2346", "AADHAAR"),
    ]


def test_the_regexes_add_age_address_and_pin():
    added = set(found("Presidio rules + Title Case + 4 regexes")) - set(found("Presidio rules + Title Case"))
    assert added == {("34", "AGE"), ("12, Rose Lane, Pune 411001", "ADDRESS"), ("411002", "PINCODE")}


def test_the_gazetteer_joins_names_that_follow_one_another():
    names = sorted(baselines._faker_names())
    assert found("name gazetteer (faker)", f"met {names[0]} K. {names[1]} and nobody else") == [
        (f"{names[0]} K. {names[1]}", "PERSON")
    ]


def test_finds_do_not_overlap_and_equal_texts_are_one_entity():
    for system in systems().values():
        mentions = system(TEXT + " " + TEXT)
        assert all(m.text in TEXT and 0 <= m.entity_id <= 99 for m in mentions)
        assert len({m.text for m in mentions}) == len({m.entity_id for m in mentions})


def test_scores_are_of_the_size_that_others_measured(results: dict[str, dict[str, float]]):
    # Published for such a set, strict token F1: capitals 0.22, rules 0.25, rules and Title Case 0.40, and regexes 0.61.
    strict = {name: row["token_f1"] for name, row in results.items()}
    assert strict["capitalised words"] == pytest.approx(0.22, abs=0.05)
    assert strict["Presidio rules"] == pytest.approx(0.28, abs=0.08)
    assert strict["Presidio rules + Title Case"] == pytest.approx(0.40, abs=0.07)
    assert strict["Presidio rules + Title Case + 4 regexes"] > 0.6


def test_shouting_pays_where_types_do_not_count(results: dict[str, dict[str, float]]):
    shouting, rules = results["capitalised words"], results["Presidio rules"]
    assert shouting["token_typeless_f1"] > rules["token_typeless_f1"]
    assert shouting["token_f1"] < rules["token_f1"]
    assert shouting["false_tokens"] > 5 > 1 > rules["false_tokens"]


def test_the_table_has_a_row_for_each_system(results: dict[str, dict[str, float]]):
    assert len(table(results).splitlines()) == len(systems()) + 1
    assert table(results, markdown=True).splitlines()[1].startswith("| --- | ---:")


def test_naming_systems_loads_neither_presidio_nor_torch():
    code = (
        "import sys; from benchmarks.baselines import systems; systems()['Title Case']('Asha Rao');"
        "print([m in sys.modules for m in ('presidio_analyzer', 'spacy', 'torch')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[False, False, False]"


def test_an_absent_library_is_named(monkeypatch: pytest.MonkeyPatch):
    baselines._recognizers.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="presidio-analyzer is not installed: pip install presidio-analyzer"):
        systems()["Presidio rules"]("text")


def test_a_perfect_document_scores_one():
    document = Document("Asha Rao", [Mention("Asha Rao", "PERSON", 0)], "external")
    assert evaluate([document], ["Title Case"])["Title Case"]["token_f1"] == 1.0
