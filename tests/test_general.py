"""The general-ability questions: fixed, different from one another, and graded by a rule that a reader can follow."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.general import KINDS, NEUTRAL_TEXTS, Question, grade, questions
from pii.external_values import FEMALE, MALE
from pii.names import GIVEN_NAMES


def test_there_are_300_different_questions_of_every_kind():
    made = questions()
    assert len({q.messages[-1]["content"] for q in made}) == 300
    assert {q.kind for q in made} == set(KINDS)
    assert all(q.answer and q.answer == " ".join(q.answer.split()) for q in made)


def test_two_solved_examples_of_the_kind_come_first_and_are_never_asked():
    made = questions()
    asked = {q.messages[-1]["content"] for q in made}
    for question in made:
        assert [turn["role"] for turn in question.messages] == ["user", "assistant"] * 2 + ["user"]
        shown = {turn["content"] for turn in question.messages[:-1:2]}
        assert len(shown) == 2 and not shown & asked


def test_fewer_questions_are_the_first_ones_and_a_seed_makes_others():
    assert questions(40) == questions()[:40]
    assert questions(40, seed=1) != questions(40)
    assert len(questions(480)) == 480


def test_more_questions_than_there_are_is_an_error():
    with pytest.raises(ValueError, match="n is 481"):
        questions(481)


def test_every_answer_is_right_by_its_own_grade_and_wrong_for_another_question():
    made = questions(120)
    assert all(grade(q, q.answer) for q in made)
    assert sum(grade(a, b.answer) for a, b in pairwise(made)) == 0


@pytest.mark.parametrize("completion", ["897", " 897\n", "897.", "897 . "])
def test_white_space_and_a_final_stop_are_forgiven(completion: str):
    assert grade(Question((), "897", "add"), completion)


@pytest.mark.parametrize("completion", ["", "8970", "The answer is 897.", "898", "897..", "897!"])
def test_anything_more_is_wrong(completion: str):
    assert not grade(Question((), "897", "add"), completion)


def test_capitals_count():
    assert not grade(Question((), "RIVER", "capitals"), "river")


def test_arithmetic_answers_are_the_results():
    for question in questions():
        if question.kind in ("add", "subtract", "multiply"):
            expression = question.messages[-1]["content"].split("?")[0].removeprefix("What is ").replace("times", "*")
            left, operator, right = expression.split()
            value = {"+": int(left) + int(right), "-": int(left) - int(right), "*": int(left) * int(right)}[operator]
            assert question.answer == str(value)


def test_neutral_texts_name_nobody():
    assert len(NEUTRAL_TEXTS) == len(set(NEUTRAL_TEXTS)) == 40
    words = {word.strip(".,;:") for text in NEUTRAL_TEXTS for word in text.split()}
    assert not words & ({*MALE, *FEMALE} | GIVEN_NAMES)
    assert not any(character.isdigit() for text in NEUTRAL_TEXTS for character in text)
