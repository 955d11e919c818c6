"""Did training make the model worse at everything else? 300 short questions with exact answers, and neutral prose.

Nothing here has to do with personal data. The questions are generated from a seed, so nothing is copied, and each has
one right answer that a program knows; NEUTRAL_TEXTS are for the mean KL divergence to the untrained model.

    python -m benchmarks.general -n 12      shows the first questions
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.neutral_texts import NEUTRAL_TEXTS

__all__ = ["KINDS", "NEUTRAL_TEXTS", "Question", "grade", "questions"]


class Question(NamedTuple):
    """messages: two solved examples as earlier turns, then the question. answer: the exact one. kind: one of KINDS.

    The examples, of the same kind, are there for small models: without them SmolLM2-135M answers in whole sentences
    and gets nothing, so nothing could be seen to get lost.
    """

    messages: tuple[dict[str, str], ...]
    answer: str
    kind: str


_TEXT = (
    "apple basket candle door engine forest garden hammer island jacket kettle ladder mirror needle orange pencil "
    "quilt river saddle table umbrella valley window yellow zebra bridge cotton dinner feather guitar harvest insect "
    "lantern market nutmeg oyster pillow rabbit silver thunder velvet walnut anchor bottle carpet desert eagle falcon"
)
_WORDS = _TEXT.split()

# From, to, factor, all whole: a tonne is 1,000 kg (SI brochure, table 8).
_UNITS = (
    ("hours", "minutes", 60),
    ("minutes", "seconds", 60),
    ("days", "hours", 24),
    ("weeks", "days", 7),
    ("kilometres", "metres", 1000),
    ("metres", "centimetres", 100),
    ("kilograms", "grams", 1000),
    ("tonnes", "kilograms", 1000),
    ("litres", "millilitres", 1000),
    ("dozen eggs", "eggs", 12),
)
_LISTED = "Answer with the {} only, separated by a comma and a space."


def _add(rng: random.Random) -> tuple[str, str]:
    limit = rng.choice((20, 500))
    a, b = rng.randrange(2, limit), rng.randrange(2, limit)
    return f"What is {a} + {b}? Answer with the number only.", str(a + b)


def _subtract(rng: random.Random) -> tuple[str, str]:
    limit = rng.choice((20, 300))
    b, difference = rng.randrange(2, limit), rng.randrange(2, limit)
    return f"What is {b + difference} - {b}? Answer with the number only.", str(difference)


def _multiply(rng: random.Random) -> tuple[str, str]:
    a, b = rng.randrange(2, 13), rng.randrange(2, rng.choice((10, 30)))
    return f"What is {a} times {b}? Answer with the number only.", str(a * b)


def _copy(rng: random.Random) -> tuple[str, str]:
    text = " ".join(rng.sample(_WORDS, rng.randrange(4, 8)))
    return f"Repeat these words exactly, and write nothing else: {text}", text


def _sort_numbers(rng: random.Random) -> tuple[str, str]:
    numbers = rng.sample(range(1, 100), 5)
    shown = ", ".join(map(str, numbers))
    question = f"Sort these numbers from smallest to largest: {shown}. {_LISTED.format('numbers')}"
    return question, ", ".join(map(str, sorted(numbers)))


def _sort_words(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_WORDS, 4)
    question = f"Put these words in alphabetical order: {', '.join(words)}. {_LISTED.format('words')}"
    return question, ", ".join(sorted(words))


def _reverse(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_WORDS, 4)
    question = f"Write these words in the opposite order: {' '.join(words)}. Answer with the words only, with spaces."
    return question, " ".join(reversed(words))


def _spell(rng: random.Random) -> tuple[str, str]:
    word = rng.choice(_WORDS)
    return f'Spell the word "{word}" with a hyphen between the letters, as in c-a-t. Write nothing else.', "-".join(
        word
    )


def _units(rng: random.Random) -> tuple[str, str]:
    big, small, factor = rng.choice(_UNITS)
    amount = rng.randrange(2, 13)
    return f"How many {small} are there in {amount} {big}? Answer with the number only.", str(amount * factor)


def _count(rng: random.Random) -> tuple[str, str]:
    words = [rng.choice(_WORDS) for _ in range(rng.randrange(3, 10))]
    return f"How many words are in this list: {', '.join(words)}? Answer with the number only.", str(len(words))


def _capitals(rng: random.Random) -> tuple[str, str]:
    word = rng.choice(_WORDS)
    return f'Write the word "{word}" in capital letters. Answer with that one word.', word.upper()


def _choose(rng: random.Random) -> tuple[str, str]:
    words = rng.sample(_WORDS, 5)
    place, ordinal = rng.choice(((0, "first"), (1, "second"), (2, "third"), (-1, "last")))
    return (
        f"Which word is {ordinal} in this list: {', '.join(words)}? Answer with that one word, in small letters.",
        words[place],
    )


_MAKERS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "copy": _copy,
    "sort_numbers": _sort_numbers,
    "sort_words": _sort_words,
    "reverse": _reverse,
    "spell": _spell,
    "units": _units,
    "count": _count,
    "capitals": _capitals,
    "choose": _choose,
}
KINDS = tuple(_MAKERS)


def _turns(question: str, answer: str) -> tuple[dict[str, str], dict[str, str]]:
    return {"role": "user", "content": question}, {"role": "assistant", "content": answer}


def questions(n: int = 300, seed: int = 0) -> list[Question]:
    """The first n questions, kinds in turn, all different; the same at every call and in every process.

    n: at most 480, which is what the word list has distinct questions for.
    """
    if not 0 <= n <= 480:
        raise ValueError(f"n is {n}; there are 0 to 480 questions")
    made: list[Question] = []
    examples = {
        kind: [_turns(*_MAKERS[kind](random.Random(f"general example|{kind}|{i}"))) for i in (0, 1)] for kind in KINDS
    }
    seen = {turns[0]["content"] for pair in examples.values() for turns in pair}
    for index in range(n):
        kind = KINDS[index % len(KINDS)]
        rng = random.Random(f"general|{seed}|{index}")
        while (asked := _MAKERS[kind](rng))[0] in seen:
            pass
        seen.add(asked[0])
        first, second = examples[kind]
        made.append(Question((*first, *second, _turns(*asked)[0]), asked[1], kind))
    return made


def grade(question: Question, completion: str) -> bool:
    """Whether a completion is the answer: equal to it, case and punctuation included.

    Forgiven: white space around it, runs of white space inside, one final full stop. Anything more, such as a
    sentence around the answer, is wrong: every question says what to write, and following that is part of it.
    """
    return " ".join(completion.split()).removesuffix(".").rstrip() == question.answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.general", description="Shows questions and answers.")
    parser.add_argument("-n", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for question in questions(options.n, options.seed):
        print(f"[{question.kind}] {question.messages[-1]['content']}\n    {question.answer}")


if __name__ == "__main__":
    main()
