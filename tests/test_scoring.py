"""Scores against hand-worked numbers and against nervaluate's and seqeval's strict modes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from nervaluate import Evaluator
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2

from pii.document import Mention
from pii.scoring import PRF, by_type, document_counts, interval, macro, report, scores, span_f1, token_f1, tokens


def mentions(*pairs: tuple[str, str]) -> list[Mention]:
    return [Mention(text, kind, index) for index, (text, kind) in enumerate(pairs)]


GOLD = [mentions(("Rajesh Kumar", "PERSON"), ("98765 43210", "PHONE")), mentions(("Asha", "PERSON")), []]


def test_token_f1_by_hand():
    # 5 gold tokens; 4 predicted, of which Kumar and Asha agree, 98765 has the wrong type and Pune is nowhere.
    predicted = [
        mentions(("Kumar", "PERSON"), ("98765", "AADHAAR")),
        mentions(("Asha", "PERSON")),
        mentions(("Pune", "PERSON")),
    ]
    assert token_f1(GOLD, predicted) == PRF(2 / 4, 2 / 5, 4 / 9)
    assert token_f1(GOLD, predicted, typed=False) == PRF(3 / 4, 3 / 5, 6 / 9)


def test_span_f1_by_hand():
    predicted = [
        mentions(("rajesh  KUMAR", "PERSON"), ("98765 43210", "AADHAAR")),
        mentions(("Asha Rao", "PERSON")),
        [],
    ]
    assert span_f1(GOLD, predicted) == PRF(1 / 3, 1 / 3, 1 / 3)
    assert span_f1(GOLD, predicted, typed=False) == PRF(2 / 3, 2 / 3, 2 / 3)


def test_a_string_given_twice_is_one_hit():
    predicted = [GOLD[0] + GOLD[0], GOLD[1], []]
    assert span_f1(GOLD, predicted) == PRF(3 / 5, 1.0, 6 / 8)


def test_a_string_that_stands_twice_in_the_gold_needs_two_predictions():
    gold = [mentions(("Asha", "PERSON"), ("Asha", "PERSON"))]
    assert span_f1(gold, [mentions(("Asha", "PERSON"))]).recall == 0.5


def test_hits_do_not_cross_documents():
    assert token_f1(GOLD, [GOLD[1], GOLD[0], []]) == PRF(0.0, 0.0, 0.0)


def test_tokens_keep_vowel_signs_and_part_at_everything_else():
    assert tokens("S/o. राजेश-2") == ("s", "o", "राजेश", "2")
    assert tokens("a.rao@mail.in") == ("a", "rao", "mail", "in")
    assert tokens("१२३") == ("123",)


def test_a_vowel_sign_makes_another_name():
    gold, predicted = [mentions(("राम", "PERSON"))], [mentions(("रमा", "PERSON"))]
    assert token_f1(gold, predicted).f1 == 0.0


def test_nothing_to_find_and_nothing_found_is_perfect_and_other_empties_are_zero():
    assert token_f1([[]], [[]]) == PRF(1.0, 1.0, 1.0)
    assert token_f1([[]], [mentions(("Pune", "PERSON"))]) == PRF(0.0, 0.0, 0.0)
    assert token_f1(GOLD, [[], [], []]) == PRF(0.0, 0.0, 0.0)
    assert token_f1([], []).f1 == 1.0


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="3 documents have gold but 1 have predictions"):
        token_f1(GOLD, [[]])


def test_macro_is_over_the_types_of_the_gold():
    predicted = [mentions(("Rajesh Kumar", "PERSON"), ("Pune", "ADDRESS")), [], []]
    kinds = by_type(GOLD, predicted)
    # PERSON: 2 hits, 2 predicted, 3 gold; PHONE: nothing predicted; ADDRESS has no gold and does not enter the mean.
    assert kinds == {"ADDRESS": PRF(0, 0, 0), "PERSON": PRF(1.0, 2 / 3, 0.8), "PHONE": PRF(0, 0, 0)}
    assert macro(kinds, GOLD).f1 == pytest.approx(0.4)


def test_false_tokens_are_counted_on_documents_without_pii_only():
    predicted = [mentions(("New Delhi", "PERSON")), [], mentions(("Old Fort Road", "ADDRESS"))]
    found = scores(GOLD, predicted)
    assert (found["false_tokens"], found["pii_free_documents"], found["documents"]) == (3.0, 1.0, 3.0)


def test_the_order_of_a_list_and_the_ids_change_nothing():
    rng = random.Random(0)
    gold, predicted = random_corpus(rng, 20)
    shuffled = [[m._replace(entity_id=rng.randrange(100)) for m in rng.sample(p, len(p))] for p in predicted]
    assert scores(gold, predicted) == scores(gold, shuffled)


def test_typeless_scores_are_never_below_typed_ones():
    for seed in range(20):
        found = scores(*random_corpus(random.Random(seed), 10), resamples=10)
        assert found["token_typeless_f1"] >= found["token_f1"]
        assert found["span_typeless_f1"] >= found["span_f1"]


def test_the_interval_agrees_with_a_bootstrap_written_as_a_loop():
    counts = document_counts(*random_corpus(random.Random(1), 40))
    rng = np.random.default_rng(5)
    f1 = []
    for _ in range(2000):
        hits, predictions, gold = counts[rng.integers(0, len(counts), len(counts))].sum(axis=0)
        f1.append(2 * hits / (predictions + gold))
    assert interval(counts, 2000) == pytest.approx(tuple(np.percentile(f1, [2.5, 97.5])), abs=0.01)
    assert interval(counts, 2000) == interval(counts, 2000)


def test_equal_documents_have_an_interval_without_width():
    low, high = interval(np.array([[1, 2, 2]] * 8))
    assert (low, high) == (0.5, 0.5)
    assert np.isnan(interval(np.zeros((0, 3)))).all()


def test_the_report_holds_every_type_with_its_interval():
    found = report(GOLD, GOLD)
    assert list(found["by_type"]) == ["PERSON", "PHONE"]
    assert found["by_type"]["PERSON"]["token"] == {"precision": 1, "recall": 1, "f1": 1, "f1_low": 1, "f1_high": 1}
    assert found["by_type"]["PERSON"]["gold"] == 2
    assert found["scores"] == scores(GOLD, GOLD)


def random_corpus(rng: random.Random, documents: int) -> tuple[list[list[Mention]], list[list[Mention]]]:
    """Gold and noisy predictions: some missed, some retyped, some cut or grown by a word, some invented."""
    gold, predicted = [], []
    for _ in range(documents):
        words = [f"w{i}" for i in range(24)]
        spans = [(start, start + rng.randint(1, 3)) for start in range(0, 24, 4) if rng.random() < 0.6]
        gold.append([Mention(" ".join(words[a:b]), rng.choice(("PERSON", "PHONE")), 0) for a, b in spans])
        guess = []
        for (a, b), mention in zip(spans, gold[-1], strict=True):
            roll = rng.random()
            if roll < 0.2:
                continue
            if roll < 0.4:
                mention = mention._replace(type="EMAIL")
            elif roll < 0.6:
                mention = mention._replace(text=" ".join(words[a : b + 1 if b - a < 3 else b - 1]))
            guess.append(mention)
        predicted.append(guess)
    return gold, predicted


def tags(found: list[Mention]) -> list[str]:
    """BIO tags over the 24 distinct words of a document of random_corpus."""
    made = ["O"] * 24
    for mention in found:
        numbers = [int(word[1:]) for word in mention.text.split()]
        for place, number in enumerate(numbers):
            made[number] = f"{'B' if place == 0 else 'I'}-{mention.type}"
    return made


@pytest.mark.parametrize("seed", range(5))
def test_span_f1_equals_nervaluates_and_seqevals_strict_mode(seed: int):
    gold, predicted = random_corpus(random.Random(seed), 50)
    true, guessed = [tags(d) for d in gold], [tags(d) for d in predicted]
    ours = span_f1(gold, predicted)
    strict = Evaluator(true, guessed, tags=["PERSON", "PHONE", "EMAIL"], loader="list").evaluate()["overall"]["strict"]
    assert ours == pytest.approx((strict.precision, strict.recall, strict.f1))
    assert ours.f1 == pytest.approx(f1_score(true, guessed, mode="strict", scheme=IOB2))
