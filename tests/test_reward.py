"""The five checks by hand-worked numbers, what the reward must not depend on, and what shortcuts are worth."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pii.answer import render
from pii.document import Mention
from pii.grounding import grounded_share
from pii.matching import pair
from pii.reward import WEIGHTS, parts, score
from pii.shortcuts import EXAMPLE, shortcuts, table

DOCUMENT = "Asha Rao and her brother Vikram Rao (+91 98765 43210) live in Pune. Asha is 34."
GOLD = [
    Mention("Asha Rao", "PERSON", 0),
    Mention("Vikram Rao", "PERSON", 1),
    Mention("+91 98765 43210", "PHONE", 2),
    Mention("Asha", "PERSON", 0),
]


def reward(predicted: list[Mention], gold: list[Mention] = GOLD, document: str = DOCUMENT) -> float:
    return score(document, gold, render(predicted)).reward


def test_the_weights_sum_to_one() -> None:
    assert math.fsum(WEIGHTS.values()) == pytest.approx(1.0)
    assert WEIGHTS == {"recall": 0.325, "precision": 0.325, "type": 0.25, "grounding": 0.05, "coreference": 0.05}


def test_the_truth_scores_one() -> None:
    assert score(DOCUMENT, GOLD, render(GOLD)).reward == 1.0
    assert score(DOCUMENT, GOLD, render(GOLD)).parts == dict.fromkeys(WEIGHTS, 1.0)


def test_a_mixed_answer_by_hand() -> None:
    predicted = [
        Mention("Asha Rao", "PERSON", 5),  # exact: weight 1
        Mention("Vikram", "PERSON", 5),  # 2 * 1 / (2 + 1): weight 2/3; wrongly the same person as Asha
        Mention("98765 43210", "PHONE", 1),  # without +91 another string of digits: no pair, yet it stands there
        Mention("34", "AGE", 2),  # no gold mention, stands there
        Mention("Meera", "PERSON", 3),  # invented
        Mention("Asha", "URL", 4),  # exact under a wrong type: weight 1
    ]
    true = 1 + 2 / 3 + 1
    recall = true / 4
    expected = {
        "recall": recall,
        "precision": true / 6,
        "type": (1 + 2 / 3) / 4,
        "grounding": 5 / 6 * recall,
        "coreference": 0.0,  # gold links Asha Rao and Asha, the answer Asha Rao and Vikram
    }
    found = score(DOCUMENT, GOLD, render(predicted))
    assert found.parts == pytest.approx(expected)
    assert found.reward == pytest.approx(sum(WEIGHTS[name] * value for name, value in expected.items()))


def test_type_is_the_share_of_paired_weight_times_recall() -> None:
    predicted = [Mention("Asha Rao", "PERSON", 0), Mention("Vikram", "URL", 1)]
    found = score(DOCUMENT, GOLD, render(predicted)).parts
    assert found["type"] == pytest.approx(1 / (1 + 2 / 3) * found["recall"])


def test_without_links_on_either_side_coreference_is_left_out_and_the_rest_scaled() -> None:
    gold = GOLD[:3]
    found = score(DOCUMENT, gold, render(gold[:2]))
    assert "coreference" not in found.parts
    expected = (0.325 * 2 / 3 + 0.325 * 1 + 0.25 * 2 / 3 + 0.05 * 2 / 3) / 0.95
    assert found.reward == pytest.approx(expected)


def test_links_of_unpaired_mentions_count_against_on_both_sides() -> None:
    three = [Mention("Asha Rao", "PERSON", 0), Mention("Asha", "PERSON", 0), Mention("Ms. A. Rao", "PERSON", 0)]
    # Gold has 3 links; two mentions found and linked: 1 common, 1 predicted.
    assert parts("", three, three[:2])["coreference"] == pytest.approx(2 * 1 / (3 + 1))
    # Two mentions of gold, one link; a third, invented one linked to both: 3 predicted links.
    invented = [*three[:2], Mention("Meera", "PERSON", 0)]
    assert parts("", three[:2], invented)["coreference"] == pytest.approx(2 * 1 / (1 + 3))
    # Only the answer has a link.
    assert parts("", three[:1], invented)["coreference"] == 0.0


def test_only_persons_are_linked() -> None:
    phones = [Mention("98765 43210", "PHONE", 0), Mention("9876543210", "PHONE", 0)]
    assert "coreference" not in parts("", phones, phones)
    as_person = [phones[0]._replace(type="PERSON"), phones[1]._replace(type="PERSON")]
    assert parts("", phones, as_person)["coreference"] == 0.0


def test_nothing_where_there_is_nothing_scores_one_and_anything_zero() -> None:
    found = score("No names here.", [], "[]")
    assert (found.reward, found.gate) == (1.0, True)
    assert found.parts == {"recall": 1.0, "precision": 1.0, "type": 1.0, "grounding": 1.0}
    for predicted in ([Mention("names", "PERSON", 0)], [Mention("No", "PERSON", 0), Mention("names", "PERSON", 0)]):
        found = score("No names here.", [], render(predicted))
        assert found.reward == 0.0
        assert set(found.parts.values()) == {0.0}


def test_what_does_not_parse_scores_zero_with_the_reason() -> None:
    found = score(DOCUMENT, GOLD, f"```json\n{render(GOLD)}\n```")
    assert (found.reward, found.gate) == (0.0, False)
    assert "code fence" in found.reason
    assert set(found.parts.values()) == {0.0}
    assert score(DOCUMENT, [], "nothing").reward == 0.0
    assert score(DOCUMENT, GOLD, render(GOLD)[:-1]).gate is False


def test_the_recipes_of_the_past_are_settings() -> None:
    recipe = {"recall": 0.40, "precision": 0.25, "type": 0.10, "grounding": 0.20, "coreference": 0.05}
    found = score(DOCUMENT, GOLD, render(GOLD[:2]), recipe)
    assert found.reward == pytest.approx(0.40 * 0.5 + 0.25 * 1 + 0.10 * 0.5 + 0.20 * 0.5)
    assert score(DOCUMENT, GOLD, render(GOLD[:2]), {"precision": 3}).reward == 1.0


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ({"recal": 1.0}, "'recal'"),
        ({"recall": -0.1}, "recall=-0.1"),
        ({"recall": math.nan}, "recall=nan"),
        ({"recall": math.inf}, "recall=inf"),
        ({}, "above 0"),
        ({"recall": 0.0, "precision": 0.0}, "above 0"),
        ({"coreference": 1.0}, "besides coreference"),
    ],
)
def test_wrong_weights_are_named(weights: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError) as caught:
        score(DOCUMENT, GOLD, "[]", weights)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("text", "type_", "stands"),
    [
        ("asha rao", "PERSON", True),
        ("Ash", "PERSON", False),  # inside a word
        ("sha Rao", "PERSON", False),
        ("34", "AGE", True),
        ("4", "AGE", False),
        ("(+91 98765 43210)", "PHONE", True),
        ("98765-43210", "PHONE", True),  # numbers stand there however they are spaced
        ("9876543210", "PHONE", True),
        ("9876543210", "UPI_ID", False),
        ("876543210", "PHONE", False),
        ("Meera", "PERSON", False),
        ("\u200b", "PERSON", False),
        ("--", "PHONE", False),
    ],
)
def test_what_stands_in_the_document(text: str, type_: str, stands: bool) -> None:
    assert grounded_share(DOCUMENT, [Mention(text, type_, 0)]) == float(stands)


def test_a_vowel_sign_is_no_word_boundary() -> None:
    assert grounded_share("राम से", [Mention("रा", "PERSON", 0)]) == 0.0
    assert grounded_share("राम से", [Mention("राम", "PERSON", 0)]) == 1.0
    assert grounded_share("करि", [Mention("कर", "PERSON", 0)]) == 0.0


def test_a_value_that_wraps_over_two_lines_stands_in_the_document() -> None:
    document = "Aadhaar: 2341 2341\n2346\nFlat 3, Lake Road,\nPune 411001"
    assert grounded_share(document, [Mention("234123412346", "AADHAAR", 0)]) == 1.0
    assert grounded_share(document, [Mention("Flat 3, Lake Road, Pune 411001", "ADDRESS", 0)]) == 1.0


texts = st.sampled_from(
    ["Asha", "Asha Rao", "Rao", "asha rao", "Vikram Rao", "98765 43210", "9876543210", "Pune", "34"]
)
mention_lists = st.lists(
    st.builds(Mention, texts, st.sampled_from(["PERSON", "PERSON", "PHONE", "AGE"]), st.integers(0, 4)), max_size=7
)


@settings(max_examples=300, deadline=None)
@given(mention_lists, mention_lists)
def test_every_part_and_every_reward_lies_between_zero_and_one(gold: list[Mention], predicted: list[Mention]) -> None:
    found = score(DOCUMENT, gold, render(predicted))
    assert all(0 <= value <= 1 for value in [*found.parts.values(), found.reward])
    assert found.gate


@settings(max_examples=300, deadline=None)
@given(mention_lists, mention_lists, st.permutations(range(5)), st.permutations(range(5)), st.randoms())
def test_shuffling_and_renumbering_change_nothing(gold, predicted, gold_ids, predicted_ids, rng) -> None:
    before = score(DOCUMENT, gold, render(predicted))
    gold = [m._replace(entity_id=gold_ids[m.entity_id]) for m in gold]
    predicted = [m._replace(entity_id=90 + predicted_ids[m.entity_id]) for m in predicted]
    rng.shuffle(gold)
    rng.shuffle(predicted)
    assert score(DOCUMENT, gold, render(predicted)) == before


@settings(max_examples=200, deadline=None)
@given(mention_lists, mention_lists)
def test_coreference_equals_the_f1_of_two_sets_of_links(gold: list[Mention], predicted: list[Mention]) -> None:
    partner = {j: i for i, j, _ in pair(gold, predicted)}

    def links(mentions: list[Mention]) -> set[frozenset[int]]:
        persons = [i for i, m in enumerate(mentions) if m.type == "PERSON"]
        return {frozenset(ij) for ij in combinations(persons, 2) if len({mentions[i].entity_id for i in ij}) == 1}

    # A predicted link is carried over to the gold mentions that its ends are paired with; an unpaired end stays itself.
    carried = {frozenset(partner.get(j, f"unpaired {j}") for j in link) for link in links(predicted)}
    both = links(gold) & carried
    total = len(links(gold)) + len(carried)
    assert parts(DOCUMENT, gold, predicted).get("coreference") == (
        pytest.approx(2 * len(both) / total) if total else None
    )


@settings(max_examples=100, deadline=None)
@given(mention_lists.filter(bool))
def test_saying_all_twice_never_pays(predicted: list[Mention]) -> None:
    once, twice = parts(DOCUMENT, GOLD, predicted), parts(DOCUMENT, GOLD, predicted * 2)
    assert twice["recall"] <= 1
    assert twice["precision"] <= once["precision"] + 1e-12


def test_48_hostile_items_against_48_gold_mentions() -> None:
    gold = [Mention(f"a{i} b c d e f", "ADDRESS" if i % 2 else "PAN", i) for i in range(48)]
    predicted = [Mention(f"a{47 - i} b c d e f", "PERSON", 0) for i in range(48)]
    found = score(" ".join(m.text for m in gold), gold, render(predicted))
    assert found.parts["recall"] == 1.0
    assert found.parts["type"] == 0.0


REWARDS = {
    name: score(EXAMPLE.text, EXAMPLE.gold, completion).reward for name, completion in shortcuts(EXAMPLE).items()
}


@pytest.mark.parametrize(
    ("shortcut", "worth"),
    [
        ("the truth", 1.0),
        ("nothing", 0.0),
        ("one sure hit", 0.325 * 0.1 + 0.325 * 1 + 0.25 * 0.1 + 0.05 * 0.1),
        ("four right", 0.325 * 0.4 + 0.325 * 1 + 0.25 * 0.4 + 0.05 * 0.4),
        ("four right, four wrong from the document", 0.325 * 0.4 + 0.325 * 0.5 + 0.25 * 0.4 + 0.05 * 0.4),
        ("four right, four invented", 0.325 * 0.4 + 0.325 * 0.5 + 0.25 * 0.4 + 0.05 * 0.4 * 0.5),
        ("the whole document as one span", 0.0),
        ("the whole document, once a mention", 0.0),
        ("each gold string twice", 0.325 + 0.325 * 0.5 + 0.25 + 0.05 + 0.05 * 0.25),
        ("`A or B or C` as one span", 0.0),
        ("`A or B or C`, once a mention", 0.0),
        ("right texts, one constant type", 0.325 + 0.325 + 0.25 * 0.3 + 0.05 + 0.05),
        ("all one entity_id", 0.95 + 0.05 * 2 * 1 / (1 + 3)),
        ("every mention its own id", 0.95),
        ("the truth and an invented name", 0.325 + 0.325 * 10 / 11 + 0.25 + 0.05 * 10 / 11 + 0.05),
        ("an invented name", 0.0),
        ("the prompt's example", 0.0),
        ("the truth in a code fence", 0.0),
    ],
)
def test_what_a_shortcut_is_worth(shortcut: str, worth: float) -> None:
    assert REWARDS[shortcut] == pytest.approx(worth)


def test_one_sure_hit_of_ten_is_worth_less_than_four_right_and_four_wrong() -> None:
    assert REWARDS["one sure hit"] < REWARDS["four right, four invented"]
    assert REWARDS["one sure hit"] < REWARDS["four right, four wrong from the document"]
    # Precision's own share apart, a tenth of the work earns less than 0.15.
    assert REWARDS["one sure hit"] - WEIGHTS["precision"] < 0.15


@pytest.mark.parametrize("shortcut", ["every capitalised word", "every word"])
def test_shouting_is_worth_less_than_a_third_and_less_than_one_sure_hit(shortcut: str) -> None:
    assert REWARDS[shortcut] < 1 / 3
    assert REWARDS[shortcut] < REWARDS["one sure hit"]


def test_two_names_joined_by_or_are_paid_for_one_of_them() -> None:
    document = "Asha Rao or Vikram Rao"
    gold = [Mention("Asha Rao", "PERSON", 0), Mention("Vikram Rao", "PERSON", 1)]
    weight = 2 * 2 / (5 + 2)
    found = score(document, gold, render([Mention(document, "PERSON", 0)]))
    assert found.parts["recall"] == pytest.approx(weight / 2)
    assert found.reward == pytest.approx((0.325 * weight + (0.325 + 0.25 + 0.05) * weight / 2) / 0.95)
    assert found.reward < 0.5
    # Saying so for each of the two pays both pairs, and still no more than their weight.
    assert score(document, gold, render([Mention(document, "PERSON", i) for i in range(2)])).reward == pytest.approx(
        weight
    )


def test_every_shortcut_is_worth_less_than_the_truth() -> None:
    assert all(worth < REWARDS["the truth"] for name, worth in REWARDS.items() if name != "the truth")


def test_the_table_in_the_docs_is_the_computed_one() -> None:
    page = (Path(__file__).parent.parent / "docs" / "reward.md").read_text(encoding="utf-8")
    assert table() in page, "run `python -m pii.shortcuts` and paste its table into docs/reward.md"
