"""Folding makes equal what a reader calls equal; pairing is optimal, and blind to order and numbering."""

from __future__ import annotations

import unicodedata
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pii.document import Mention
from pii.matching import canonical_order, fold, pair, tokens


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Rajesh  KUMAR\n", "rajesh kumar"),
        ("Ｒａｊｅｓｈ", "rajesh"),  # full width
        ("Ra\u200bje\u200dsh\u2060", "rajesh"),  # zero-width
        ("\u202eRajesh\u202c", "rajesh"),  # bidi override
        ("\ufeffRa\u00adjesh", "rajesh"),  # byte-order mark, soft hyphen
        ("१२३ ४५६", "123 456"),  # Devanagari digits
        ("௧௨௩", "123"),  # Tamil digits
        ("४१１\u00a0००१", "411 001"),  # no-break space
        ("12–3—4‐5‑6−7", "12-3-4-5-6-7"),  # dashes and the minus sign
        ("D’Souza", "d'souza"),
        ("D‘Souza", "d'souza"),
        ("D`Souza", "d'souza"),
        ("D´Souza", "d'souza"),
        ("DʼSouza", "d'souza"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Jose\u0301", "josé"),
        ("", ""),
        (" \u200b ", ""),
    ],
)
def test_what_folds_to_what(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_devanagari_vowel_signs_stay() -> None:
    assert fold("राम") != fold("रम")
    assert fold("किरण") != fold("करण")
    assert "ि" in fold("किरण")


@pytest.mark.parametrize(
    "written", ["2341 2341 2346", "2341-2341-2346", "234123412346", "2341.2341.2346", "2341\n2341–2346"]
)
def test_a_number_is_the_same_however_it_is_spaced(written: str) -> None:
    assert fold(written, number=True) == "234123412346"


def test_only_numbers_lose_their_dots_and_hyphens() -> None:
    assert fold("192.168.1.5") == "192.168.1.5"
    assert fold("12-03-1990") == "12-03-1990"


awkward = st.characters(categories=["Cf", "Pd", "Nd", "Lm", "Sk", "Mn", "Lu"])


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=20) | st.text(awkward, max_size=20))
def test_folding_twice_changes_nothing(text: str) -> None:
    for number in (False, True):
        assert fold(fold(text, number), number) == fold(text, number)


def test_folding_any_single_character_twice_changes_nothing() -> None:
    characters = (chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000)
    unstable = [char for char in characters if fold(once := fold(char)) != once]
    assert unstable == []


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(categories=["Mn", "Mc", "Lo"], exclude_characters="ͅ"), max_size=12))
def test_no_combining_mark_is_lost(text: str) -> None:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    folded = unicodedata.normalize("NFKD", fold(text).replace("'", ""))
    marks = [char for char in decomposed if unicodedata.category(char) in ("Mn", "Mc")]
    assert sorted(char for char in folded if unicodedata.category(char) in ("Mn", "Mc")) == sorted(marks)


def test_tokens_lose_punctuation_at_their_ends_only() -> None:
    assert tokens("K. R. Suresh,") == {"k": 1, "r": 1, "suresh": 1}
    assert tokens("(rajesh@example.com)") == {"rajesh@example.com": 1}
    assert tokens("Rao Rao") == {"rao": 2}
    assert tokens("---") == {"---": 1}
    assert tokens("") == {}


def person(text: str, entity_id: int = 0) -> Mention:
    return Mention(text, "PERSON", entity_id)


@pytest.mark.parametrize(
    ("gold", "predicted", "weight"),
    [
        ("Rajesh Kumar", "rajesh kumar", 1.0),
        ("Rajesh Kumar", "Kumar Rajesh", 1.0),
        ("Rajesh Kumar", "Rajesh", 2 / 3),  # 2 * 1 / (2 + 1)
        ("Rajesh Kumar Sharma", "Rajesh", 0.5),  # 2 * 1 / (3 + 1): still a pair
        ("Rajesh Kumar Sharma Rao", "Rajesh", 0.0),  # 2 * 1 / (4 + 1) = 0.4
        ("Rajesh Kumar", "Rajesh Sharma", 0.5),
        ("Rao Rao", "Rao", 2 / 3),  # a multiset, not a set
        ("राम कुमार", "रम कुमार", 0.5),
    ],
)
def test_weights_are_token_f1_and_zero_below_a_half(gold: str, predicted: str, weight: float) -> None:
    expected = [(0, 0, pytest.approx(weight))] if weight else []
    assert pair([person(gold)], [person(predicted)]) == expected


def test_values_that_share_only_their_domain_are_no_pair() -> None:
    for type_, gold, predicted in [
        ("EMAIL", "rajesh@gmail.com", "suresh@gmail.com"),
        ("UPI_ID", "rajesh@ybl", "suresh@ybl"),
        ("IP_ADDRESS", "192.168.1.5", "192.168.1.9"),
        ("URL", "https://www.example.com/a", "https://www.example.com/b"),
        ("DATE_OF_BIRTH", "12/03/1990", "12/03/1991"),
    ]:
        assert pair([Mention(gold, type_, 0)], [Mention(predicted, type_, 0)]) == []


def test_a_number_is_all_or_nothing_and_is_found_under_a_wrong_type() -> None:
    gold = [Mention("2341 2341 2346", "AADHAAR", 0)]
    assert pair(gold, [Mention("2341-2341-2346", "AADHAAR", 0)]) == [(0, 0, 1.0)]
    assert pair(gold, [Mention("234123412346", "PERSON", 0)]) == [(0, 0, 1.0)]
    assert pair(gold, [Mention("2341 2341", "AADHAAR", 0)]) == []


def test_ties_go_to_the_equal_type() -> None:
    gold = [Mention("411001", "PINCODE", 0)]
    predicted = [Mention("411001", "AGE", 0), Mention("411001", "PINCODE", 1), Mention("411001", "PAN", 2)]
    assert pair(gold, predicted) == [(0, 1, 1.0)]
    # Both gold mentions fit either prediction: each goes to its own type.
    gold = [Mention("Asha Rao", "PERSON", 0), Mention("Asha Rao", "URL", 1)]
    predicted = [Mention("Asha Rao", "URL", 0), Mention("Asha Rao", "PERSON", 1)]
    assert pair(gold, predicted) == [(0, 1, 1.0), (1, 0, 1.0)]


def test_an_equal_type_never_outweighs_a_better_text() -> None:
    gold = [Mention("a b c d e f g h i j", "PERSON", 0)]
    predicted = [Mention("a b c d e f g h i", "PERSON", 0), Mention("a b c d e f g h i j", "URL", 1)]
    assert pair(gold, predicted) == [(0, 1, 1.0)]


def test_the_assignment_is_the_best_in_total_and_not_greedy() -> None:
    # Greedy takes (Rajesh Kumar, Rajesh Kumar) = 1 and leaves "Rajesh Kumar Rao" with nothing: in total 1 + 0.
    gold = [person("Rajesh Kumar"), person("Kumar Sen Das")]
    predicted = [person("Rajesh Kumar"), person("Rajesh")]
    assert pair(gold, predicted) == [(0, 0, 1.0)]
    gold = [person("Anil Rao"), person("Anil Rao Sen")]
    predicted = [person("Anil Rao Sen Das"), person("Anil Rao")]
    # 1 + 6/7 beats 2 * 2 / (2 + 4) + 4/5.
    assert pair(gold, predicted) == [(0, 1, 1.0), (1, 0, pytest.approx(6 / 7))]


def test_empty_folds_and_empty_lists_pair_with_nothing() -> None:
    assert pair([], [person("a")]) == []
    assert pair([person("a")], []) == []
    assert pair([person("\u200b")], [person("\u200b")]) == []
    assert pair([Mention("-", "PAN", 0)], [Mention(".", "PAN", 0)]) == []


names = st.sampled_from(["Anil", "Anil Rao", "Rao", "Anil Rao Sen", "Sen", "411001", "411 001", "anil rao"])
mention_lists = st.lists(
    st.builds(Mention, names, st.sampled_from(["PERSON", "PINCODE", "URL"]), st.integers(0, 3)), max_size=4
)


@settings(max_examples=150, deadline=None)
@given(mention_lists, mention_lists)
def test_the_total_weight_equals_the_best_of_all_assignments(gold: list[Mention], predicted: list[Mention]) -> None:
    single = {
        (i, j): (pair([g], [p]) or [(0, 0, 0.0)])[0][2] for i, g in enumerate(gold) for j, p in enumerate(predicted)
    }
    padded = [*range(len(predicted)), *[None] * len(gold)]
    best = max(
        sum(single[i, j] for i, j in enumerate(chosen) if j is not None) for chosen in permutations(padded, len(gold))
    )
    pairs = pair(gold, predicted)
    assert len({i for i, _, _ in pairs}) == len({j for _, j, _ in pairs}) == len(pairs)
    assert sum(weight for _, _, weight in pairs) == pytest.approx(best)


@settings(max_examples=300, deadline=None)
@given(mention_lists, st.permutations(range(4)), st.randoms(use_true_random=False))
def test_the_canonical_order_forgets_places_and_numbers(mentions: list[Mention], numbers: list[int], rng) -> None:
    changed = [m._replace(entity_id=numbers[m.entity_id]) for m in mentions]
    rng.shuffle(changed)

    def canonical(listed: list[Mention]) -> list[tuple[str, str, int]]:
        in_order = [listed[i] for i in canonical_order(listed)]
        seen: dict[int, int] = {}
        return [(m.text, m.type, seen.setdefault(m.entity_id, len(seen))) for m in in_order]

    assert canonical(changed) == canonical(mentions)
