"""The one strict parser of answers, and its inverse.

An answer is one JSON list of flat items, `[{"text":"Rajesh Kumar","type":"PERSON","entity_id":1}]`. Where the words
"one JSON list, nothing around it" leave a choice, this parser takes it so:

- JSON's own white space (space, tab, line feed, carriage return) may stand between tokens inside the list, because a
  model that answers without the grammar writes `"text": "..."`. Before `[` and after `]` nothing may stand, not even
  a line feed.
- The keys come in the order text, type, entity_id. Another order is refused, like a missing, extra or repeated key.
- entity_id is an integer 0-99 in its only canonical form: `-0`, `01`, `1.0` and `1e0` are refused.
- `\\u` escapes are legal JSON and are read, as long as no lone surrogate comes out.

The list is flat, so it is read left to right without recursion: depth cannot exhaust the stack, and a long integer is
refused by its length before anything converts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pii.document import Mention
from pii.entities import ENTITY_TYPES

MAX_ITEMS = 48
MAX_BYTES = 64 * 1024
MAX_ENTITY_ID = 99
KEYS = ("text", "type", "entity_id")

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING_END = re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]*")
_INTEGER = re.compile(r"0|[1-9][0-9]?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TYPES = frozenset(ENTITY_TYPES)


class AnswerError(ValueError):
    """The completion is not an answer; the message is one line that says why."""


def parse(completion: str) -> list[Mention]:
    """The mentions of an answer, in its order. AnswerError, and nothing else, for every str that is not an answer."""
    _check_envelope(completion)
    mentions: list[Mention] = []
    at = _skip(completion, 1)
    if completion[at : at + 1] == "]":
        _check_end(completion, at + 1)
        return mentions
    while True:
        if len(mentions) == MAX_ITEMS:
            raise AnswerError(f"more than {MAX_ITEMS} items")
        mention, at = _item(completion, at)
        mentions.append(mention)
        if completion[at : at + 1] == "]":
            _check_end(completion, at + 1)
            return mentions
        at = _expect(completion, at, ",")
        if completion[at : at + 1] == "]":
            raise AnswerError(f"a trailing comma before character {at}")


def render(mentions: Sequence[Mention]) -> str:
    """The compact JSON of an answer, exactly as pii.prompt.GRAMMAR admits it: raw Unicode and short escapes only.

    ValueError for what the grammar cannot express: a control character without a short escape, a lone surrogate, empty
    text, an unknown type, an id outside 0-99, more than 48 items.
    """
    if len(mentions) > MAX_ITEMS:
        raise ValueError(f"{len(mentions)} mentions; an answer holds at most {MAX_ITEMS}")
    items = []
    for text, type_, entity_id in mentions:
        if not text:
            raise ValueError("a mention with empty text")
        if type_ not in _TYPES:
            raise ValueError(f"unknown type {type_!r}")
        if isinstance(entity_id, bool) or not isinstance(entity_id, int) or not 0 <= entity_id <= MAX_ENTITY_ID:
            raise ValueError(f"entity_id {entity_id!r} is not an integer 0-{MAX_ENTITY_ID}")
        escaped = "".join(_SHORT_ESCAPES.get(char, char) for char in text)
        if bad := _CONTROL.search(escaped) or _SURROGATE.search(escaped):
            raise ValueError(f"{bad.group()!r} in {text[:40]!r} cannot be written without a \\u escape")
        items.append(f'{{"text":"{escaped}","type":"{type_}","entity_id":{entity_id}}}')
    return "[" + ",".join(items) + "]"


def _check_envelope(completion: str) -> None:
    """What can be said before reading: size, encoding, and what stands in place of the opening bracket."""
    if len(completion) > MAX_BYTES:
        raise AnswerError(f"longer than {MAX_BYTES} bytes")
    if _SURROGATE.search(completion):
        raise AnswerError("a lone surrogate: not valid Unicode text")
    if len(completion.encode()) > MAX_BYTES:
        raise AnswerError(f"longer than {MAX_BYTES} bytes")
    if not completion.startswith("["):
        if not completion.strip():
            raise AnswerError("empty")
        if completion.startswith("\ufeff"):
            raise AnswerError("starts with a byte-order mark")
        if completion.lstrip().startswith(("```", "~~~")):
            raise AnswerError("a code fence around the list")
        if completion.lstrip(" \t\n\r").startswith("["):
            raise AnswerError("white space before the list")
        raise AnswerError(f"does not start with the list but with {_seen(completion, 0)}")


def _check_end(completion: str, at: int) -> None:
    rest = completion[at:]
    if not rest:
        return
    if not rest.strip(" \t\n\r"):
        raise AnswerError("white space after the list")
    at = _skip(completion, at)
    if completion[at] in '[{"':
        raise AnswerError(f"a second value after the list, at character {at}")
    raise AnswerError(f"text after the list: {_seen(completion, at)}")


def _item(completion: str, at: int) -> tuple[Mention, int]:
    """One object from its opening brace on, and the position behind it and the white space that follows."""
    if completion[at : at + 1] == "[":
        raise AnswerError(f"a list inside the list, at character {at}")
    at = _expect(completion, at, "{")
    text, at = _text(completion, _key(completion, at, 0))
    type_, at = _type(completion, _key(completion, at, 1))
    entity_id, at = _entity_id(completion, _key(completion, at, 2))
    if completion[at : at + 1] == ",":
        _key(completion, at, len(KEYS))
    return Mention(text, type_, entity_id), _expect(completion, at, "}")


def _key(completion: str, at: int, number: int) -> int:
    """Reads key `number` of an item, the comma before it and the colon behind it; refuses whatever else stands there.

    Number 3 does not exist: asking for it says what is wrong with a fourth key.
    """
    if completion[at : at + 1] == "}":
        raise AnswerError(f"missing key {KEYS[number]!r}, at character {at}")
    if number > 0:
        at = _expect(completion, at, ",")
        if completion[at : at + 1] == "}":
            raise AnswerError(f"a trailing comma before character {at}")
    if completion[at : at + 1] != '"':
        raise AnswerError(f"expected a key but found {_seen(completion, at)}")
    key, after = _string(completion, at)
    if key in KEYS[:number]:
        raise AnswerError(f"duplicate key {key!r}, at character {at}")
    if key not in KEYS:
        raise AnswerError(f"extra key {_short(key)}, at character {at}")
    if key != KEYS[number]:
        raise AnswerError(f"key {key!r} where {KEYS[number]!r} belongs (missing or out of order), at character {at}")
    return _expect(completion, _skip(completion, after), ":")


def _text(completion: str, at: int) -> tuple[str, int]:
    text, after = _string_value(completion, at, "text")
    if not text:
        raise AnswerError(f"empty text, at character {at}")
    return text, _skip(completion, after)


def _type(completion: str, at: int) -> tuple[str, int]:
    type_, after = _string_value(completion, at, "type")
    if type_ not in _TYPES:
        raise AnswerError(f"unknown type {_short(type_)}, at character {at}")
    return type_, _skip(completion, after)


def _entity_id(completion: str, at: int) -> tuple[int, int]:
    found = _SCALAR.match(completion, at)
    assert found is not None  # the pattern matches the empty string
    if not _INTEGER.fullmatch(found.group()):
        raise AnswerError(f"entity_id is not an integer 0-{MAX_ENTITY_ID} but {_seen(completion, at)}")
    return int(found.group()), _skip(completion, found.end())


def _string_value(completion: str, at: int, key: str) -> tuple[str, int]:
    if completion[at : at + 1] != '"':
        kind = "nested" if completion[at : at + 1] in ("[", "{") else "not a string"
        raise AnswerError(f"{key} is {kind}: {_seen(completion, at)}")
    return _string(completion, at)


def _string(completion: str, at: int) -> tuple[str, int]:
    """The JSON string whose opening quote stands at `at`, and the position behind its closing quote."""
    end = _STRING_END.match(completion, at + 1)
    if end is None:
        raise AnswerError(f"a string that never ends, from character {at}")
    literal = completion[at : end.end()]
    if control := _CONTROL.search(literal):
        raise AnswerError(f"a raw control character {control.group()!r}, at character {at + control.start()}")
    if "\\" not in literal:
        return literal[1:-1], end.end()
    try:
        value = json.loads(literal)
    except json.JSONDecodeError as error:
        raise AnswerError(f"{error.msg}, at character {at + error.pos}") from None
    if _SURROGATE.search(value):
        raise AnswerError(f"a lone surrogate in the string at character {at}")
    return value, end.end()


def _skip(completion: str, at: int) -> int:
    found = _SPACE.match(completion, at)
    return found.end() if found else at


def _expect(completion: str, at: int, token: str) -> int:
    """The position behind `token` and the white space that follows it."""
    if completion[at : at + 1] != token:
        raise AnswerError(f"expected {token!r} but found {_seen(completion, at)}")
    return _skip(completion, at + 1)


def _seen(completion: str, at: int) -> str:
    if at >= len(completion):
        return "the end: the answer is unfinished"
    return f"{_short(completion[at : at + 20])}, at character {at}"


def _short(value: str) -> str:
    return ascii(value if len(value) <= 40 else value[:37] + "...")
