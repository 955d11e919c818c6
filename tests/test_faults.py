"""Faults that people met in this field and that no other file of tests would show if they came back."""

from __future__ import annotations

import re

import pytest

from grpo.progress import log_line
from pii.answer import render
from pii.document import Mention
from pii.external import templates
from pii.generator import generate
from pii.grid import TYPES
from pii.grounding import grounded_share
from pii.locating import Places
from pii.matching import pair
from pii.reward import score
from pii.scoring import span_f1, token_f1
from pii.task import PiiTask
from tests.test_metrics import measured

CARD = "4539 1488 0343 6467"


def test_a_step_shows_reward_gradient_norm_and_kl_and_no_loss():
    line = log_line(measured(), steps=150)
    for shown in ("reward 0.500", "grad 2.00", "kl 5.0000", "degenerate 0.50"):
        assert shown in line
    assert "loss" not in line


@pytest.mark.parametrize("window", ["4539 1488 0343", "1488 0343 6467", "453914880343", "1488-0343-6467", "488034364"])
def test_twelve_digits_inside_a_card_are_no_aadhaar(window):
    mention = Mention(window, "AADHAAR", 0)
    assert pair([Mention(CARD, "CREDIT_CARD", 0)], [mention]) == []
    assert score(f"Card {CARD}.", [Mention(CARD, "CREDIT_CARD", 0)], render([mention])).reward == 0
    unspaced = f"Card {CARD.replace(' ', '')} was charged."
    assert grounded_share(unspaced, [mention]) == 0
    assert Places(unspaced).find(window, number=True) == []


@pytest.mark.parametrize(
    "separator", ["", " ", "-", ".", "\n", "\r\n", "\u00a0", "\u2011", "\u2013", "\u200b", " \n", "\u202f"]
)
def test_an_aadhaar_is_found_however_it_was_split(separator):
    written = separator.join(["2341", "2341", "2346"])
    document, mention = f"Aadhaar: {written}, given on 3 May.", Mention("2341 2341 2346", "AADHAAR", 0)
    assert grounded_share(document, [mention]) == 1
    assert [document[start:end] for start, end in Places(document).find(mention.text, number=True)] == [written]
    assert pair([Mention(written, "AADHAAR", 0)], [mention]) == [(0, 0, 1.0)]


def test_what_the_strict_parser_refuses_earns_nothing_anywhere():
    """One parser: a lax one beside it would pay twice for a duplicate key, or read a list out of a code fence."""
    task = PiiTask()
    prompt = next(prompt for prompt in task.eval_prompts("trained", 1) if prompt.metadata["gold"])
    gold = [Mention(*mention) for mention in prompt.metadata["gold"]]
    truth = render(gold)
    assert task.scores([prompt], [truth])["token_f1"] == 1
    doubled = truth.replace('{"text"', '{"text":"x","text"', 1)
    for answer in (f"```json\n{truth}\n```", truth + " ", doubled, truth[:-1]):
        found = score(prompt.metadata["document"], gold, answer)
        assert (found.reward, found.gate) == (0, False)
        assert task.scores([prompt], [answer])["token_f1"] == 0


def test_one_prediction_is_paid_for_one_of_two_equal_mentions():
    gold = [Mention("Asha Rao", "PERSON", 0), Mention("Asha Rao", "PERSON", 0)]
    once, twice = gold[:1], gold
    document = "Asha Rao met Asha Rao."
    assert score(document, gold, render(once)).parts["recall"] == 0.5
    assert score(document, once, render(twice)).parts == pytest.approx(
        {"recall": 1.0, "precision": 0.5, "type": 1.0, "grounding": 1.0, "coreference": 0.0}
    )
    assert span_f1([once], [twice]).recall == token_f1([once], [twice]).recall == 1


def test_no_sentence_of_the_external_set_stands_in_our_documents():
    """Its words between two placeholders, eight or more in a row."""
    pieces = {
        " ".join(piece.split()).casefold()
        for template in templates()
        for piece in re.split(r"\{\{.*?\}\}", template)
        if len(piece.split()) >= 8
    }
    assert len(pieces) > 50
    for key in TYPES:
        document = " ".join(generate(key, 1).text.split()).casefold()
        assert not [piece for piece in pieces if piece in document], key
