"""Documents and their gold: every promise of the task about them, over all 53 types and thousands of seeds."""

import hashlib
import json
import random
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise

import pytest
from stdnum import luhn
from stdnum.in_ import aadhaar, pan

from pii import generator, names, show
from pii.compose import compose
from pii.document import Document, Mention
from pii.entities import ENTITY_TYPES
from pii.generator import Span, generate, generate_with_spans, is_exact, occurrences
from pii.grid import DISTRACTORS, FAMILIES, TRAINED, TYPES, parse_key
from pii.styles import STYLES
from pii.styles.filler import TRANSACTIONS

SEEDS = 50


@lru_cache(maxsize=1)
def documents():
    """All 53 types and 2,650 seeds, 50 for each type, with the spans."""
    return [generate_with_spans(key, SEEDS * row + seed) for row, key in enumerate(TYPES) for seed in range(SEEDS)]


@lru_cache(maxsize=1)
def empty_documents():
    return [generate(key, seed, empty=True) for key in TYPES for seed in range(20)]


def tokens(text):
    """Runs of letters, marks and digits, casefolded: told from pii.generator's own notion of a word on purpose."""
    marked = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return marked.casefold().split()


def test_a_document_holds_d_entities_and_each_is_mentioned_once_but_for_the_name_forms():
    for document, _ in documents():
        key = parse_key(document.key)
        mentions = Counter(mention.entity_id for mention in document.gold)
        assert len(mentions) == key.entities, document
        assert sorted(mentions.values()) == [1] * (key.entities - 1) + [key.forms], document


def test_each_mention_stands_where_its_span_says_on_word_boundaries_and_in_reading_order():
    for document, spans in documents():
        text = document.text
        for mention, (start, end) in zip(document.gold, spans, strict=True):
            assert text[start:end] == mention.text
            assert mention.text == mention.text.strip() != ""
            # A space at either side changes nothing about the words inside: the mention starts and ends whole.
            cut = f"{text[:start]} {text[start:end]} {text[end:]}"
            assert tokens(cut) == tokens(text), (mention, document)
        assert all(left.end <= right.start for left, right in pairwise(spans))


def test_entities_are_numbered_by_their_first_mention_and_have_one_type():
    for document, _ in documents():
        ids = list(dict.fromkeys(mention.entity_id for mention in document.gold))
        assert ids == list(range(1, len(ids) + 1))
        types = {(mention.entity_id, mention.type) for mention in document.gold}
        assert len(types) == len(ids)
        assert {type for _, type in types} <= set(FAMILIES[parse_key(document.key).family])


def test_no_surface_string_belongs_to_two_entities_nor_stands_outside_the_gold():
    for document, spans in documents():
        blanked = document.text
        for start, end in spans:
            blanked = blanked[:start] + "\x00" * (end - start) + blanked[end:]
        outside = " " + " ".join(tokens(blanked)) + " "
        surfaces = {}
        for mention in document.gold:
            folded = " ".join(tokens(mention.text))
            assert surfaces.setdefault(folded, mention.entity_id) == mention.entity_id, document
            assert f" {folded} " not in outside, (mention, document)


def test_a_surname_or_a_pin_inside_another_entity_is_drawn_again():
    for document, _ in documents():
        for mention in document.gold:
            inside = f" {' '.join(tokens(mention.text))} "
            for other in document.gold:
                if other.entity_id != mention.entity_id and other.type not in ("EMAIL", "UPI_ID", "URL"):
                    assert inside not in f" {' '.join(tokens(other.text))} ", (mention, other, document)


def test_the_check_refuses_what_it_is_there_for():
    kumar = [Mention("Rajesh Kumar", "PERSON", 1), Mention("Kumar", "PERSON", 1)]
    assert is_exact(Document("Rajesh Kumar, Mr. Kumar", kumar, ""), [Span(0, 12), Span(18, 23)])
    # a third `Kumar`, which is somebody else or nobody
    assert not is_exact(Document("Rajesh Kumar, Mr. Kumar & kumar", kumar, ""), [Span(0, 12), Span(18, 23)])
    # an e-mail address that holds the name says nothing
    mail = [*kumar, Mention("rajesh.kumar@example.in", "EMAIL", 2)]
    spans = [Span(0, 12), Span(18, 23), Span(24, 47)]
    assert is_exact(Document("Rajesh Kumar, Mr. Kumar rajesh.kumar@example.in", mail, ""), spans)
    # an age beside the same number, inside a longer number, and at the end of one
    age = [Mention("34", "AGE", 1)]
    assert not is_exact(Document("aged 34, 34 days", age, ""), [Span(5, 7)])
    assert is_exact(Document("aged 34, 342 days", age, ""), [Span(5, 7)])
    assert not is_exact(Document("aged 342", age, ""), [Span(5, 7)])
    # a PIN that stands in another entity's address as well
    pin = [Mention("4 MG Road, Pune 411001", "ADDRESS", 1), Mention("411001", "PINCODE", 2)]
    assert not is_exact(Document("4 MG Road, Pune 411001; PIN 411001", pin, ""), [Span(0, 22), Span(28, 34)])


def test_a_hindi_word_does_not_end_before_its_vowel_sign():
    assert occurrences("राम राज", "राम") == [Span(0, 3)]
    assert occurrences("रामा", "राम") == []


def test_the_name_forms_are_different_and_one_person():
    for document, _ in documents():
        key = parse_key(document.key)
        surfaces = [m.text for m in document.gold if m.type == "PERSON"]
        ids = Counter(m.entity_id for m in document.gold if m.type == "PERSON")
        if key.forms > 1:
            (person,) = (entity_id for entity_id, count in ids.items() if count > 1)
            forms = [m.text.casefold() for m in document.gold if m.entity_id == person]
            assert len(set(forms)) == key.forms, document
            assert set(tokens(forms[1])) <= set(tokens(forms[0])), document
        assert len(set(surfaces)) == len(surfaces)


def test_the_full_name_comes_before_its_short_forms():
    for document, _ in documents():
        if parse_key(document.key).forms > 1:
            first = next(
                m
                for m in document.gold
                if m.type == "PERSON" and Counter(g.entity_id for g in document.gold)[m.entity_id] > 1
            )
            assert len(tokens(first.text)) > 1, document


def test_honorifics_stand_outside_the_names():
    titles = {
        "mr",
        "mrs",
        "ms",
        "shri",
        "sri",
        "smt",
        "dr",
        "janab",
        "sardar",
        "sardarni",
        "ji",
        "श्री",
        "श्रीमती",
        "जी",
        "डॉ",
    }
    beside = 0
    for document, spans in documents():
        for mention, (start, _) in zip(document.gold, spans, strict=True):
            if mention.type == "PERSON":
                assert not titles & set(tokens(mention.text)), mention
                before = tokens(document.text[:start][-9:])
                beside += bool(before) and before[-1] in titles
    assert beside > 300


def test_no_honorific_and_no_full_stop_is_written_twice():
    for document, _ in documents():
        assert not re.search(
            r"\b(Mr|Mrs|Ms|Dr|Smt)\. (Mr|Mrs|Ms|Dr|Smt|Shri|Sri)\b|\b(Shri|Sri) (Mr|Shri|Sri|Dr)\b", document.text
        ), document
        assert not re.search(r"(?<!\.)\.\.(?!\.)| ,|\{|\}", document.text), document


def test_a_relation_is_two_persons():
    marker = re.compile(r" (?:[SDWC]/[oO]|s/o|son of|daughter of|wife of|पुत्र|पुत्री|पत्नी) ")
    related = 0
    for document, spans in documents():
        for (left, right), (first, second) in zip(pairwise(spans), pairwise(document.gold), strict=True):
            if marker.fullmatch(document.text[left.end : right.start].replace("-ji", "").replace(" ji", "")):
                related += 1
                assert first.type == second.type == "PERSON"
                assert first.entity_id != second.entity_id
    assert related > 40


def fold_digits(text):
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c.isalnum())


def test_python_stdnum_agrees_with_the_aadhaars_pans_and_cards_in_the_gold():
    counts = Counter()
    for document, _ in documents():
        for mention in document.gold:
            number = fold_digits(mention.text)
            if mention.type == "AADHAAR" and number.isdigit():
                assert aadhaar.is_valid(number), mention
            elif mention.type == "AADHAAR":
                assert re.fullmatch(r"[Xx]{8}\d{4}", number), mention
            elif mention.type == "PAN":
                assert pan.is_valid(number), mention
            elif mention.type == "CREDIT_CARD":
                assert luhn.is_valid(number), mention
            else:
                continue
            counts[mention.type, number.isdigit()] += 1
    assert counts["AADHAAR", True] > 300
    assert counts["AADHAAR", False] > 30
    assert counts["PAN", False] > 300
    assert counts["CREDIT_CARD", True] > 150


def without_gold(document, spans):
    text = document.text
    for start, end in spans:
        text = text[:start] + "|" * (end - start) + text[end:]
    return text


def test_nothing_outside_the_gold_is_a_valid_aadhaar_card_or_mobile_number():
    for document, spans in documents():
        text = without_gold(document, spans)
        for match in re.finditer(r"(?<!\w)(?<!\d[ -])\d{4}([ -]?)\d{4}\1\d{4}(?!\w|[ -]\d)", text):
            assert not aadhaar.is_valid(fold_digits(match[0])), (match, document)
        for match in re.finditer(r"(?<!\w)\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}(?!\w)|(?<!\w)\d{15,16}(?!\w)", text):
            assert not luhn.is_valid(fold_digits(match[0])), (match, document)
        assert not re.search(r"(?<!\w)[6-9]\d{9}(?!\w)", text), document
        assert "@" not in text.replace("@client", "").replace("@bot", ""), document


def test_a_document_has_the_distractors_of_its_level_each_of_another_kind_and_none_at_level_0():
    kinds = Counter()
    for key in TYPES:
        for seed in range(20):
            pieces = compose(random.Random(seed), parse_key(key))
            placed = [piece for piece in pieces if piece.lookalike]
            assert len(placed) == DISTRACTORS[parse_key(key).distractors]
            assert len({piece.lookalike for piece in placed}) == len(placed)
            assert not any(piece.type for piece in placed)
            kinds.update(piece.lookalike for piece in placed)
    assert min(kinds[kind] for style in STYLES.values() for kind in style.distractors) >= 5


def test_documents_of_a_form_wrap_some_addresses_and_numbers_over_lines():
    wrapped = Counter(m.type for document, _ in documents() for m in document.gold if "\n" in m.text)
    assert wrapped["ADDRESS"] > 50
    assert set(wrapped) >= {"AADHAAR"}


def test_some_documents_are_in_two_scripts_and_some_names_in_devanagari():
    def hindi(text):
        return any("DEVANAGARI" in unicodedata.name(c, "") for c in text)

    assert sum(hindi(document.text) for document, _ in documents()) > 200
    assert sum(hindi(m.text) for document, _ in documents() for m in document.gold) > 20


def test_every_entity_type_is_met_often_in_training():
    types = Counter(m.type for key in TRAINED for seed in range(25) for m in generate(key, seed).gold)
    assert set(types) == set(ENTITY_TYPES)
    assert min(types.values()) > 50, types


def test_a_person_is_named_in_most_documents_of_two_entities_or_more():
    dense = [document for document, _ in documents() if parse_key(document.key).entities > 1]
    assert sum(any(m.type == "PERSON" for m in document.gold) for document in dense) > 0.85 * len(dense)


def test_an_empty_document_has_text_and_nothing_to_be_found():
    for document in empty_documents():
        assert document.gold == []
        assert len(document.text.split()) >= 5, document
        assert "@" not in document.text.replace("@client", "").replace("@bot", "")
        assert not re.search(r"(?<!\w)(?:[6-9]\d{9}|[A-Z]{5}\d{4}[A-Z])(?!\w)", document.text), document


def test_filler_holds_no_name_of_the_lists_and_no_long_number():
    given = {name.casefold() for name in names.GIVEN_NAMES | names.SURNAMES}
    for style in STYLES.values():
        for sentence in (*style.filler, *style.row_filler):
            assert not given & set(tokens(sentence)), sentence
            assert not re.search(r"\d{5}|@|://", sentence), sentence


def test_each_style_has_a_dozen_layouts_forty_fillers_and_four_phrasings_of_every_type():
    for name, style in STYLES.items():
        assert len({skeleton.layout for skeleton in style.skeletons}) >= 12 or name == "chat"
        assert len(set(style.skeletons)) >= 12
        assert len(set(style.filler)) >= 40
        assert min(len(set(again)) for again in style.again) >= 6
        for type in (*ENTITY_TYPES, "OTHER"):
            assert len(set(style.sentences[type])) >= 4, (name, type)
            assert len(set(style.labels[type])) >= 4, (name, type)
        assert all("{body}" in skeleton.layout for skeleton in style.skeletons)
    assert len(set(TRANSACTIONS)) >= 20


def test_two_documents_of_a_type_hardly_ever_share_their_frame():
    def frame(document, spans):
        text, position, parts = document.text, 0, []
        for mention, (start, end) in zip(document.gold, spans, strict=True):
            parts += [text[position:start], mention.type]
            position = end
        return re.sub(r"\d", "0", "".join([*parts, text[position:]]))

    frames = {}
    for document, spans in documents():
        frames.setdefault(document.key, []).append(frame(document, spans))
    for key, texts in frames.items():
        assert len(set(texts)) >= 0.9 * SEEDS, key


def digest():
    made = [generate(key, seed, empty=empty) for key in TYPES for seed in (0, 1, 99) for empty in (False, True)]
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()


def test_the_same_type_and_seed_give_the_same_bytes_in_another_process():
    code = "from tests.test_generator import digest; print(digest())"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(p or "." for p in sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    ]
    assert runs == [digest()] * 2


def test_other_seeds_and_types_give_other_documents():
    texts = {document.text for document, _ in documents()}
    assert len(texts) == len(TYPES) * SEEDS
    assert generate(TYPES[0], 3) == generate(TYPES[0], 3)


def test_a_malformed_key_is_refused():
    with pytest.raises(ValueError, match="no family 'tax'"):
        generate("tax|kyc_form|d4|c1|x0|p6", 0)


def test_any_well_formed_key_gives_documents():
    for key in ("address|chat|d10|c3|x2|p20", "medical|bank_statement|d1|c1|x0|p0", "contact|email|d9|c2|x2|p20"):
        for seed in range(10):
            assert generate(key, seed).text


KEY = "govt_id|kyc_form|d4|c1|x0|p6"


def test_the_command_line_marks_mentions_without_colour_where_it_is_no_terminal(capsys):
    generator.main(["--key", KEY, "-n", "3"])
    shown = capsys.readouterr().out
    assert shown.count(f"=== {KEY}") == 3
    assert "\033" not in shown
    for mention in generate(KEY, 0).gold:
        assert f"[{mention.text}]({mention.type}:{mention.entity_id})" in shown


def test_colour_keeps_the_text_and_control_characters_of_a_document_stay_off_the_terminal():
    document = Document("Hi Asha\033[2J", [Mention("Asha", "PERSON", 1)], "")
    shown = show.to_terminal(document.text, document.gold, colour=True)
    assert re.sub(r"\033\[[0-9;]*m", "", shown) == "Hi Asha PERSON:1\ufffd[2J"


def test_jsonl_holds_text_gold_and_key(capsys, tmp_path):
    generator.main(["--key", KEY, "-n", "2", "--seed", "7", "--jsonl", "-"])
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"text": document.text, "gold": [list(mention) for mention in document.gold], "key": KEY}
        for document in (generate(KEY, 7), generate(KEY, 8))
    ]
    generator.main(["--jsonl", str(tmp_path / "all.jsonl"), "--empty"])
    records = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["key"] for record in records] == list(TYPES)
    assert all(record["gold"] == [] for record in records)


def test_the_page_escapes_the_document_and_loads_nothing(tmp_path):
    generator.main(["-n", "2", "--html", str(tmp_path / "page.html")])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<article>") == 2 * len(TYPES)
    assert not re.search(r"<(?:script|link|img)|url\(|@import", page)
    parts = show.segments("<b>Asha</b>", [Mention("Asha", "PERSON", 1)])
    assert "&lt;b&gt;<mark" in show.to_html([("<i>", parts)], title="t")


def test_list_prints_the_53_types_and_marks_the_held_out_ones(capsys):
    generator.main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TYPES)
    assert sum(line.endswith("held out") for line in lines) == 11


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--key", "govt_id|kyc_form|d4"], "3 parts"),
        (["--key", "tax|kyc_form|d4|c1|x0|p6"], "no family 'tax'"),
        (["-n", "0"], "use 1 or more"),
        (["--html", "no/such/folder/page.html"], "no/such/folder/page.html"),
    ],
)
def test_a_wrong_argument_ends_with_one_line_and_exit_2(arguments, told, capsys):
    with pytest.raises(SystemExit) as ended:
        generator.main(arguments)
    assert ended.value.code == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert told in error


def test_mentions_without_offsets_are_located_in_reading_order():
    text = "Kumar met Kumar"
    assert show.locate(text, [Mention("Kumar", "PERSON", 1)] * 2) == [(0, 5), (10, 15)]
    assert show.locate(text, [Mention("Rao", "PERSON", 1), Mention("met", "PERSON", 2)]) == [None, (6, 9)]
    assert show.locate("b a", [Mention("a", "PERSON", 1), Mention("b", "PERSON", 2)]) == [(2, 3), (0, 1)]
