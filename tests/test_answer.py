"""The parser takes one strict form, refuses everything else with a reason, and reads what render writes."""

from __future__ import annotations

import json

import pytest

from pii.answer import MAX_BYTES, MAX_ENTITY_ID, MAX_ITEMS, AnswerError, parse, render
from pii.document import Mention
from pii.entities import ENTITY_TYPES

ITEM = '{"text":"Rajesh Kumar","type":"PERSON","entity_id":1}'


def with_id(literal: str) -> str:
    return f'[{{"text":"a","type":"PAN","entity_id":{literal}}}]'


def with_text(literal: str) -> str:
    return f'[{{"text":{literal},"type":"PAN","entity_id":1}}]'


REFUSED = {
    "empty": ("", "empty"),
    "only white space": (" \n", "empty"),
    "a code fence": (f"```json\n[{ITEM}]\n```", "code fence"),
    "prose before": (f"Here it is: [{ITEM}]", "does not start with the list"),
    "prose after": (f"[{ITEM}] That is all.", "text after the list"),
    "a line feed before": (f"\n[{ITEM}]", "white space before"),
    "a line feed after": (f"[{ITEM}]\n", "white space after"),
    "a byte-order mark": (f"\ufeff[{ITEM}]", "byte-order mark"),
    "an object alone": (ITEM, "does not start with the list"),
    "a string alone": ('"[]"', "does not start with the list"),
    "a trailing comma in the list": (f"[{ITEM},]", "trailing comma"),
    "a comma alone": ("[,]", "expected '{'"),
    "a trailing comma in an item": ('[{"text":"a","type":"PAN","entity_id":1,}]', "trailing comma"),
    "no comma between items": (f"[{ITEM}{ITEM}]", "expected ','"),
    "a line comment": (f"[{ITEM}]// done", "text after the list"),
    "a block comment": (f"[/* people */{ITEM}]", "expected '{'"),
    "a duplicate key": ('[{"text":"a","type":"PAN","entity_id":1,"text":"b"}]', "duplicate key 'text'"),
    "a duplicate key at once": ('[{"text":"a","text":"b","type":"PAN","entity_id":1}]', "duplicate key 'text'"),
    "a duplicate key below": ('[{"text":{"a":1,"a":2},"type":"PAN","entity_id":1}]', "nested"),
    "an escaped duplicate key": ('[{"text":"a","type":"PAN","entity_id":1,"t\\u0065xt":"b"}]', "duplicate key 'text'"),
    "an extra key": ('[{"text":"a","type":"PAN","entity_id":1,"start":3}]', "extra key 'start'"),
    "no keys": ("[{}]", "missing key 'text'"),
    "no type": ('[{"text":"a"}]', "missing key 'type'"),
    "no entity_id": ('[{"text":"a","type":"PAN"}]', "missing key 'entity_id'"),
    "another order of keys": ('[{"type":"PAN","text":"a","entity_id":1}]', "out of order"),
    "a key without quotes": ('[{text:"a","type":"PAN","entity_id":1}]', "expected a key"),
    "single quotes": ("[{'text':'a','type':'PAN','entity_id':1}]", "expected a key"),
    "no colon": ('[{"text""a","type":"PAN","entity_id":1}]', "expected ':'"),
    "NaN": (with_id("NaN"), "not an integer"),
    "Infinity": (with_id("Infinity"), "not an integer"),
    "-Infinity": (with_id("-Infinity"), "not an integer"),
    "a bool as id": (with_id("true"), "not an integer"),
    "null as id": (with_id("null"), "not an integer"),
    "a string as id": (with_id('"1"'), "not an integer"),
    "a float as id": (with_id("1.0"), "not an integer"),
    "an exponent as id": (with_id("1e0"), "not an integer"),
    "minus zero as id": (with_id("-0"), "not an integer"),
    "a leading zero": (with_id("01"), "not an integer"),
    "a plus sign": (with_id("+1"), "not an integer"),
    "a negative id": (with_id("-1"), "not an integer"),
    "an id of 100": (with_id("100"), "not an integer"),
    "no id": (with_id(""), "not an integer"),
    "an Arabic digit as id": (with_id("\u0661"), "not an integer"),
    "5,000 digits": (with_id("9" * 5000), "not an integer"),
    "an unknown type": ('[{"text":"a","type":"NAME","entity_id":1}]', "unknown type 'NAME'"),
    "a type in lower case": ('[{"text":"a","type":"pan","entity_id":1}]', "unknown type"),
    "a type that is no string": ('[{"text":"a","type":1,"entity_id":1}]', "type is not a string"),
    "empty text": (with_text('""'), "empty text"),
    "a number as text": (with_text("12"), "text is not a string"),
    "a list as text": (with_text('["a"]'), "nested"),
    "a raw lone surrogate": (with_text('"\ud800"'), "lone surrogate"),
    "an escaped lone surrogate": (with_text('"\\ud83d"'), "lone surrogate"),
    "surrogates in the wrong order": (with_text('"\\ude00\\ud83d"'), "lone surrogate"),
    "a raw line feed in a string": (with_text('"a\nb"'), "control character"),
    "a raw NUL in a string": (with_text('"a\0b"'), "control character"),
    "an unknown escape": (with_text('"\\x41"'), "escape"),
    "a broken \\u escape": (with_text('"\\u12G4"'), "escape"),
    "an escaped apostrophe": (with_text('"\\\'"'), "escape"),
    "a second list": ("[][]", "second value"),
    "a second list after a space": (f"[{ITEM}] []", "second value"),
    "nesting": (f"[[{ITEM}]]", "list inside the list"),
    "9,000 open brackets": ("[" * 9000, "list inside the list"),
    "8,000 open braces": ("[" + '{"text":' * 8000, "nested"),
    "a number in the list": ("[1]", "expected '{'"),
    "a no-break space between tokens": (f"[\u00a0{ITEM}]", "expected '{'"),
    "unfinished at a bracket": ("[", "unfinished"),
    "unfinished in a string": ('[{"text":"Raj', "never ends"),
    "unfinished after a backslash": ('[{"text":"Raj\\', "never ends"),
    "unfinished after an item": (f"[{ITEM}", "unfinished"),
    "49 items": ("[" + ",".join([ITEM] * 49) + "]", "more than 48 items"),
    "over 64 KiB": (with_text('"' + "a" * MAX_BYTES + '"'), "longer than 65536 bytes"),
    "over 64 KiB in UTF-8": (with_text('"' + "र" * (MAX_BYTES // 3) + '"'), "longer than 65536 bytes"),
}


@pytest.mark.parametrize(("completion", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_its_reason_on_one_line(completion: str, reason: str) -> None:
    with pytest.raises(AnswerError) as caught:
        parse(completion)
    assert reason in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 160


def test_an_answer_is_read_in_order() -> None:
    answer = f'[{ITEM},{{"text":"ABCPK1234L","type":"PAN","entity_id":99}}]'
    assert parse(answer) == [Mention("Rajesh Kumar", "PERSON", 1), Mention("ABCPK1234L", "PAN", 99)]


def test_an_empty_list_is_an_answer() -> None:
    assert parse("[]") == []


def test_json_white_space_between_tokens_is_read() -> None:
    spaced = (
        '[ {\n\t"text" : "a" ,\r\n "type" : "PAN" , "entity_id" : 1 } , {"text": "b", "type": "URL", "entity_id":2} ]'
    )
    assert parse(spaced) == [Mention("a", "PAN", 1), Mention("b", "URL", 2)]
    assert parse("[ ]") == []
    indented = json.dumps([{"text": "a", "type": "PAN", "entity_id": 1}], indent=2)
    assert parse(indented) == [Mention("a", "PAN", 1)]


def test_every_type_and_every_id_is_read() -> None:
    for type_ in ENTITY_TYPES:
        assert parse(f'[{{"text":"a","type":"{type_}","entity_id":0}}]') == [Mention("a", type_, 0)]
    for entity_id in range(MAX_ENTITY_ID + 1):
        assert parse(with_id(str(entity_id))) == [Mention("a", "PAN", entity_id)]


def test_48_items_and_64_kib_are_within_the_bounds() -> None:
    assert len(parse("[" + ",".join([ITEM] * MAX_ITEMS) + "]")) == MAX_ITEMS
    largest = with_text('"' + "a" * (MAX_BYTES - len(with_text('""'))) + '"')
    assert len(largest.encode()) == MAX_BYTES
    assert len(parse(largest)) == 1


def test_unicode_and_escapes_mean_what_json_says() -> None:
    text = 'रमेश "R" \\ / \b\f\n\r\t 😀 \u2028 \x7f \x85'
    assert parse(render([Mention(text, "PERSON", 0)])) == [Mention(text, "PERSON", 0)]
    assert parse(with_text('"\\ud83d\\ude00\\u0930\\/"')) == [Mention("😀र/", "PAN", 1)]


def test_render_writes_compact_json_without_u_escapes() -> None:
    answer = render([Mention('रमेश\n"K"', "PERSON", 0), Mention("http://a\\b", "URL", 10)])
    assert answer == (
        '[{"text":"रमेश\\n\\"K\\"","type":"PERSON","entity_id":0},{"text":"http://a\\\\b","type":"URL","entity_id":10}]'
    )
    assert render([]) == "[]"


@pytest.mark.parametrize(
    ("mention", "named"),
    [
        (Mention("", "PAN", 0), "empty text"),
        (Mention("a", "NAME", 0), "unknown type 'NAME'"),
        (Mention("a", "PAN", 100), "entity_id 100"),
        (Mention("a", "PAN", -1), "entity_id -1"),
        (Mention("a", "PAN", True), "entity_id True"),
        (Mention("a\0", "PAN", 0), "'\\x00'"),
        (Mention("a\x1f", "PAN", 0), "'\\x1f'"),
        (Mention("a\ud800", "PAN", 0), "'\\ud800'"),
    ],
)
def test_render_refuses_what_the_grammar_cannot_express(mention: Mention, named: str) -> None:
    with pytest.raises(ValueError) as caught:
        render([mention])
    assert named in str(caught.value)


def test_render_refuses_more_items_than_an_answer_holds() -> None:
    with pytest.raises(ValueError, match="49 mentions"):
        render([Mention("a", "PAN", 0)] * 49)
