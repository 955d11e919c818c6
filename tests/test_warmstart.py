"""The careless annotator and the supervised warm start that made models/pii-tiny."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import warmstart
from pii.annotator import HABITS, careless
from pii.answer import parse, render
from pii.entities import ENTITY_TYPES
from pii.generator import generate, generate_with_spans
from pii.grid import HELD_OUT, TRAINED

ROOT = Path(__file__).resolve().parent.parent


def test_the_annotator_misses_about_half_and_mistypes_about_a_quarter() -> None:
    rng = random.Random(0)
    gold = kept = wrong = headings = 0
    for index in range(840):
        document = generate(TRAINED[index % len(TRAINED)], index)
        types = {mention.text: mention.type for mention in document.gold}
        answer = careless(document, rng)
        found = [mention for mention in answer if mention.text in types]
        gold += len(document.gold)
        kept += len(found)
        headings += len(answer) - len(found)
        wrong += sum(types[mention.text] != mention.type for mention in found)
    assert 0.40 < 1 - kept / gold < 0.60
    assert 0.15 < wrong / kept < 0.35
    assert headings > 100


def test_every_type_has_a_habit_and_is_mistaken_for_another_type() -> None:
    assert set(HABITS) == set(ENTITY_TYPES)
    assert all(habit.mistaken_for in ENTITY_TYPES and habit.mistaken_for != name for name, habit in HABITS.items())


def test_careless_answers_parse_and_stand_in_the_document() -> None:
    rng = random.Random(1)
    for index in range(300):
        document = generate(TRAINED[index % len(TRAINED)], index)
        answer = careless(document, rng)
        assert parse(render(answer)) == answer
        assert all(mention.text in document.text for mention in answer)


def test_warm_start_documents_are_of_trained_types_only() -> None:
    source = warmstart.documents(0)
    keys = Counter(document.key for document, _ in islice(source, 600))
    assert set(keys) <= set(TRAINED)
    assert not set(keys) & set(HELD_OUT)


@pytest.fixture(scope="module")
def tokenizer() -> warmstart.PreTrainedTokenizerFast:
    return warmstart.train_tokenizer(700, 100, 0)


def test_a_word_is_the_same_tokens_after_a_space_and_after_a_quote(
    tokenizer: warmstart.PreTrainedTokenizerFast,
) -> None:
    name = tokenizer.encode("Rajesh", add_special_tokens=False)
    in_text = tokenizer.encode("Shri Rajesh", add_special_tokens=False)
    in_answer = tokenizer.encode('[{"text":"Rajesh', add_special_tokens=False)
    assert in_text[-len(name) :] == in_answer[-len(name) :] == name


def test_digits_are_single_tokens_and_the_frame_of_an_answer_is_whole(
    tokenizer: warmstart.PreTrainedTokenizerFast,
) -> None:
    assert len(tokenizer.encode("560001", add_special_tokens=False)) == 6
    assert (
        tokenizer.convert_ids_to_tokens(tokenizer.encode('","type":"PHONE', add_special_tokens=False))[0]
        == '","type":"'
    )


def test_the_heads_set_by_hand_look_one_and_two_tokens_back(tokenizer: warmstart.PreTrainedTokenizerFast) -> None:
    model = warmstart.new_model(len(tokenizer), 128, 2, tokenizer).eval()
    model.set_attn_implementation("eager")
    for head in (0, 1):
        warmstart.look_back(model, head, distance=head + 1)
    ids = torch.randint(3, len(tokenizer), (1, 50), generator=torch.Generator().manual_seed(0))
    one_back, two_back = model(ids, output_attentions=True).attentions[0][0]  # (50, 50) each
    assert one_back.diagonal(-1).min() > 0.8
    assert two_back.diagonal(-2).min() > 0.8


def test_in_a_drill_the_second_half_repeats_the_first() -> None:
    ids, labels, _ = next(warmstart.drills(700, seed=3))
    length = ids.shape[1] // 2
    assert all(sorted(row[:length].tolist()) == sorted(row[length:].tolist()) for row in ids)
    assert (labels[:, : length + 1] == -100).all()
    assert (labels[:, length + 1 :] == ids[:, length + 1 :]).all()


def test_only_the_answer_and_its_end_are_learnt(tokenizer: warmstart.PreTrainedTokenizerFast) -> None:
    ids, labels, _ = next(warmstart.batches(tokenizer, 2, seed=0, sort_over=1))
    for row in range(2):
        learnt = labels[row][labels[row] != -100]
        text = tokenizer.decode(learnt)
        assert text.endswith(warmstart.END)
        parse(text.removesuffix(warmstart.END))
        assert (ids[row][labels[row] != -100] == learnt).all()


def test_tags_say_where_mentions_start_and_of_what_type(tokenizer: warmstart.PreTrainedTokenizerFast) -> None:
    document, spans = generate_with_spans("govt_id|kyc_form|d4|c1|x0|p6", 0)
    ids, _, tags = warmstart.example(document, document.gold, spans, tokenizer)
    starts = [(place, tag) for place, tag in enumerate(tags) if tag >= 2]
    assert [tag for _, tag in starts] == [warmstart.STARTS[mention.type] for mention in document.gold]
    for (place, _), mention in zip(starts, document.gold, strict=True):
        end = place + 1
        while tags[end] == warmstart.INSIDE:
            end += 1
        assert tokenizer.decode(ids[place:end]) == mention.text


def test_fifty_steps_from_the_command_line_leave_a_loadable_model(tmp_path: Path) -> None:
    out = tmp_path / "tiny"
    command = [
        sys.executable,
        "warmstart.py",
        "--steps",
        "50",
        "--drills",
        "5",
        "--thorough",
        "5",
        "--batch",
        "4",
        "--out",
        str(out),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    model = AutoModelForCausalLM.from_pretrained(out)
    assert model.dtype == torch.bfloat16
    assert AutoTokenizer.from_pretrained(out).eos_token == warmstart.END
    log = json.loads((out / "warmstart.json").read_text())["log"]
    assert log[-1]["answer"] < log[0]["answer"]


@pytest.mark.parametrize("flags", [["--hidden", "100"], ["--steps", "0"], ["--vocab", "10"]])
def test_a_wrong_size_is_named_in_one_line(flags: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "warmstart.py", *flags], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert flags[0] in done.stderr.splitlines()[-1]
