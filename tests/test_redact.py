"""Redaction: finding values in documents of any size and script, joining entities over parts, refusing what is no text.

The model is replaced by a rule where the text of the answers matters; a random tiny model stands for it where the
command line does.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
from collections.abc import Sequence

import pytest

import redact
from pii.answer import render as answer
from pii.document import Mention
from pii.entities import NUMBER_TYPES
from pii.generator import generate
from pii.grid import TYPES
from pii.grounding import grounded_share
from pii.locating import Places
from pii.parts import OVERLAP, split
from pii.redaction import Found, listed, locate, mask, read, tag
from pii.task import PiiTask
from tests.conftest import make_qwen2, make_tokenizer

EMAIL = re.compile(r"[\w.]+@[\w.]+\w")
NAMES = ("Rajesh Kumar", "Rajesh", "Meera Joshi", "राजेश कुमार")


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def finds_names_and_emails(parts: Sequence[str]) -> list[str]:
    answers = []
    for part in parts:
        found = [Mention(name, "PERSON", 1 if "Meera" in name else 2) for name in NAMES if name in part]
        found += [Mention(match, "EMAIL", number) for number, match in enumerate(EMAIL.findall(part), 50)]
        answers.append(answer(found[:40]))
    return answers


def whole(text: str, *mentions: Mention) -> list[Found]:
    return locate(text, [((0, len(text)), mentions)])[0]


# Finding.


def test_a_value_is_found_at_every_place_but_not_inside_a_longer_word():
    assert Places("Ram met Ramesh. Ram left.").find("Ram") == [(0, 3), (16, 19)]


def test_a_number_is_found_however_it_is_spaced_and_over_a_line_break():
    text = "Aadhaar: 2341-2341\r\n2346."
    (place,) = Places(text).find("2341 2341 2346", number=True)
    assert text[slice(*place)] == "2341-2341\r\n2346"


def test_a_hidden_character_does_not_hide_a_value():
    text = "PAN ABC\u200bPK1234\u200dL here"
    (place,) = Places(text).find("abcpk1234l", number=True)
    assert text[slice(*place)] == "ABC\u200bPK1234\u200dL"


def test_full_width_and_devanagari_digits_are_found_by_ascii_ones():
    number = "98765 43210"
    devanagari = number.translate({48 + digit: 0x966 + digit for digit in range(10)})
    wide = number.translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    text = f"फ़ोन {devanagari} / {wide}"
    assert [text[slice(*place)] for place in Places(text).find("9876543210", number=True)] == [devanagari, wide]


def test_devanagari_vowel_signs_belong_to_their_word():
    text = "राजेश और राज और राजेशा"
    assert [text[slice(*place)] for place in Places(text).find("राज")] == ["राज"]
    assert [text[slice(*place)] for place in Places(text).find("राजेश")] == ["राजेश"]


def test_white_space_may_differ_and_a_name_does_not_hide_the_common_noun():
    text = "Rose\u00a0 Thomas grows a rose. ROSE wrote."
    assert [text[a:b] for a, b, *_ in whole(text, Mention("Rose Thomas", "PERSON", 1))] == ["Rose\u00a0 Thomas"]
    assert [text[a:b] for a, b, *_ in whole(text, Mention("Rose", "PERSON", 1))] == ["Rose", "ROSE"]


def test_the_longest_value_wins_where_values_overlap():
    text = "Rajesh Kumar and Rajesh"
    found = whole(text, Mention("Rajesh", "PERSON", 3), Mention("Rajesh Kumar", "PERSON", 3))
    assert [text[a:b] for a, b, *_ in found] == ["Rajesh Kumar", "Rajesh"]


def test_what_does_not_stand_in_the_document_is_dropped_and_counted():
    assert locate("nothing here", [((0, 12), [Mention("Mohan", "PERSON", 1)])]) == ([], 1)


def test_every_gold_mention_is_found_and_finding_agrees_with_the_rewards_grounding():
    rng = random.Random(0)
    for prompt in PiiTask().eval_prompts("held_out", 44):
        document = prompt.metadata["document"]
        gold = [Mention(*mention) for mention in prompt.metadata["gold"]]
        assert locate(document, [((0, len(document)), gold)])[1] == 0
        places = Places(document)
        for text, type_, _ in gold:
            cut = text[: rng.randint(1, len(text))]
            grounded = grounded_share(document, [Mention(cut, type_, 0)]) == 1.0
            assert bool(places.find(cut, type_ in NUMBER_TYPES)) == grounded, (cut, document)


# Entities.


def test_persons_are_joined_by_id_within_a_part_and_by_name_across_parts():
    text = "Rajesh Kumar came. Rajesh left. Meera Joshi and Rajesh Kumar met."
    first, second = (0, 32), (32, len(text))
    found, _ = locate(
        text,
        [
            (first, [Mention("Rajesh Kumar", "PERSON", 7), Mention("Rajesh", "PERSON", 7)]),
            (second, [Mention("Meera Joshi", "PERSON", 7), Mention("Rajesh Kumar", "PERSON", 8)]),
        ],
    )
    assert tag(text, found) == "[PERSON_1] came. [PERSON_1] left. [PERSON_2] and [PERSON_1] met."


def test_two_numbers_are_two_entities_whatever_their_ids_and_two_spellings_of_one_are_one():
    text = "98765 43210, 98765-43210 or 91234 56789"
    found = whole(
        text,
        Mention("98765 43210", "PHONE", 1),
        Mention("98765-43210", "PHONE", 2),
        Mention("91234 56789", "PHONE", 1),
    )
    assert tag(text, found) == "[PHONE_1], [PHONE_1] or [PHONE_2]"


def test_a_value_seen_in_one_part_is_hidden_in_all_but_an_age_is_not():
    text = "Meera Joshi is 34. " * 2 + "House 34, Meera Joshi."
    part = (0, 19)
    found, _ = locate(text, [(part, [Mention("Meera Joshi", "PERSON", 1), Mention("34", "AGE", 2)])])
    assert tag(text, found) == "[PERSON_1] is [AGE_1]. [PERSON_1] is 34. House 34, [PERSON_1]."


def test_the_type_reported_more_often_is_kept_and_then_the_first():
    text = "12345678901 " * 3
    spans = [(0, 12), (12, 24), (24, 36)]
    kinds = ["PHONE", "BANK_ACCOUNT", "BANK_ACCOUNT"]
    found, _ = locate(
        text, [(span, [Mention("12345678901", kind, 1)]) for span, kind in zip(spans, kinds, strict=True)]
    )
    assert {one.type for one in found} == {"BANK_ACCOUNT"}


# Output.


def test_a_mask_keeps_length_spaces_and_punctuation():
    text = "Mail: r.kumar@example.in; राजेश कुमार"
    found = whole(text, Mention("r.kumar@example.in", "EMAIL", 1), Mention("राजेश कुमार", "PERSON", 2))
    masked = mask(text, found)
    assert masked == "Mail: X.XXXXX@XXXXXXX.XX; XXXXX XXXXX"
    assert len(masked) == len(text)


def test_json_offsets_give_back_the_text():
    text = "नमस्ते राजेश कुमार 😀 Meera Joshi"
    found = whole(text, Mention("Meera Joshi", "PERSON", 1), Mention("राजेश कुमार", "PERSON", 2))
    items = json.loads(listed(text, found))
    assert [item["entity"] for item in items] == ["PERSON_1", "PERSON_2"]
    assert all(text[item["start"] : item["end"]] == item["text"] for item in items)
    assert json.loads(listed(text, [])) == []


# Long documents.


def test_parts_cover_the_document_within_the_limit():
    text = "\n".join(generate(key, 5).text for key in TYPES[::5])
    parts = split(text, words, 60)
    assert all(count <= 60 for count in words([text[a:b] for a, b in parts]))
    covered = bytearray(len(text))
    for start, end in parts:
        covered[start:end] = b"\1" * (end - start)
    assert all(covered[place] or char.isspace() for place, char in enumerate(text))
    assert len(parts) > 10


def test_titles_and_initials_end_no_sentence():
    text = "We met Smt. K. R. Meera and Mr. Rao today. Then Dr. Iyer of Infra Ltd. came home. It rained."
    pieces = [text[a:b] for a, b in split(text, words, 10)]
    assert pieces == [
        "We met Smt. K. R. Meera and Mr. Rao today. ",
        "Then Dr. Iyer of Infra Ltd. came home. It rained.",
    ]


def test_devanagari_sentences_end_at_the_danda():
    text = "राजेश घर गया। मीरा आई॥ फिर बारिश हुई।"
    assert [text[a:b] for a, b in split(text, words, 3)] == ["राजेश घर गया। ", "मीरा आई॥ ", "फिर बारिश हुई।"]


def test_a_value_at_a_forced_cut_stands_whole_in_one_of_two_parts():
    text = "word " * 30 + "Rajesh Kumar " + "word " * 40
    for shift in range(12):
        shifted = "x " * shift + text
        parts = split(shifted, words, 20)
        assert any("Rajesh Kumar" in shifted[a:b] for a, b in parts)
        assert all(b - a <= 20 * 5 + OVERLAP for a, b in parts)


def test_ten_pages_are_read_in_parts_with_one_tag_per_person():
    page = "\n\n".join(generate(key, 11).text for key in TYPES[:8])
    text = "\n".join(
        f"Page {n}\nRajesh Kumar wrote to meera@example.in.\n{page}\nMeera Joshi read it." for n in range(10)
    )
    assert len(text) > 20_000
    reading = read(text, finds_names_and_emails, words, 120)
    assert reading.parts > 20 and not reading.unread
    hidden = tag(text, reading.found)
    assert hidden.count("[PERSON_1] wrote to [EMAIL_1].") == 10
    assert hidden.count("[PERSON_2] read it.") == 10
    assert "Rajesh Kumar" not in hidden and "Meera Joshi" not in hidden


@pytest.mark.parametrize("filler", ["x", "word ", "क"])
def test_one_line_of_100_000_characters(filler):
    text = (filler * 100_000)[:99_988] + " Meera Joshi"

    def characters(texts: Sequence[str]) -> list[int]:
        return [len(one) for one in texts]

    reading = read(text, finds_names_and_emails, characters, 2_000)
    assert 50 <= reading.parts < 120
    assert mask(text, reading.found) == text[:-12] + " XXXXX XXXXX"


def test_an_unfinished_answer_is_asked_again_in_halves():
    text = "Nothing. " * 40 + "Meera Joshi came. " + "Nothing. " * 40
    asked = []

    def cut_off(parts: Sequence[str]) -> list[str]:
        asked.extend(parts)
        return [
            finds_names_and_emails([part])[0] if len(part) < 250 else '[{"text":"Meera Joshi","type":"PERSON","entity_'
            for part in parts
        ]

    reading = read(text, cut_off, words, 1000)
    assert len(asked) == reading.parts == 1 + 2 + 4
    assert tag(text, reading.found).count("[PERSON_1]") == 1
    assert reading.unread == []


def test_a_part_that_stays_unfinished_is_named_and_its_whole_items_are_used():
    text = "Meera Joshi and Rajesh Kumar met."
    reading = read(text, lambda parts: ['[{"text":"Meera Joshi","type":"PERSON","entity_id":1},{"text":"Ra'], words, 50)
    assert mask(text, reading.found) == "XXXXX XXXXX and Rajesh Kumar met."
    assert reading.unread == [(0, len(text))]


# The command line.


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    make_qwen2(tie=True).save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    (folder / "recommended.json").write_text('{"max_tokens": 24, "prompt_style": "short"}')
    return str(folder)


def run(monkeypatch, capsysbinary, data: bytes, *arguments: str) -> tuple[int, bytes, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    status = redact.main(["-", *arguments])
    out, err = capsysbinary.readouterr()
    return status, out, err.decode()


@pytest.mark.parametrize("style", ["mask", "tag"])
@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t"])
def test_an_empty_file_comes_back_as_it_was(monkeypatch, capsysbinary, data, style):
    assert run(monkeypatch, capsysbinary, data, "--style", style) == (0, data, "")


def test_an_empty_file_is_an_empty_list(monkeypatch, capsysbinary):
    assert run(monkeypatch, capsysbinary, b"", "--style", "json") == (0, b"[]\n", "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\x02\x01\x00\x00", "zero byte at 6"),
        ("Zoë".encode("latin-1"), "byte 0xeb at 2"),
        (b"\xef\xbb\xbfab\xff", "byte 0xff at 5"),
        ("Ram".encode("utf-16"), "UTF-16, not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_refused_in_one_line(monkeypatch, capsysbinary, data, said):
    status, out, err = run(monkeypatch, capsysbinary, data)
    assert (status, out) == (2, b"")
    assert said in err and err.count("\n") == 1


def test_a_missing_file_is_refused_in_one_line(capsys, tmp_path):
    assert redact.main([str(tmp_path / "none.txt")]) == 2
    assert "none.txt: cannot be read (No such file or directory)" in capsys.readouterr().err


def test_crlf_and_the_byte_order_mark_are_kept(monkeypatch, capsysbinary, checkpoint):
    data = b"\xef\xbb\xbfName: Rajesh Kumar\r\nPIN 411001\r\n\r\nend"
    status, out, err = run(monkeypatch, capsysbinary, data, "--checkpoint", checkpoint)
    # A random model seldom ends its answer.
    assert status in (0, redact.INCOMPLETE)
    assert re.fullmatch(rb"\xef\xbb\xbf[\w: ]+\r\n[\w ]+\r\n\r\n\w+", out)
    assert len(out.decode()) == len(data.decode())
    assert "parts read" in err


def test_a_document_cannot_end_its_own_turn():
    assert redact.plain("a<|im_end|>\r\nb\rc", ["<|im_end|>"]) == "a< |im_end|>\nb\nc"
