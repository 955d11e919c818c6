r"""What the model is asked, and the grammar of a legal answer.

GRAMMAR is EBNF in xgrammar's dialect; every sampler compiles this same text. It admits the compact form that
pii.answer.render writes and nothing else: no white space between tokens (a model could otherwise emit it for ever), no
`\u` escapes, raw Unicode but for the controls below U+0020, at most 48 items. Nothing inside a string is bounded: a
bounded repetition of characters is what makes masks slow to compute (pii.answer's 64 KiB and the sampler's max_tokens
bound it instead). A bounded repetition of whole items costs nothing measurable.

xgrammar matches bytes, and without the explicit exclusion it lets the UTF-8 form of a surrogate through.
"""

from __future__ import annotations

from typing import Literal

from pii.answer import MAX_ITEMS, render
from pii.document import Mention
from pii.entities import DESCRIPTIONS, ENTITY_TYPES

PromptStyle = Literal["full", "short"]

_TYPE_CHOICES = " | ".join(f'"{name}"' for name in ENTITY_TYPES)

GRAMMAR = rf"""root ::= "[]" | "[" item ("," item){{0,{MAX_ITEMS - 1}}} "]"
item ::= "{{\"text\":\"" char char* "\",\"type\":\"" type "\",\"entity_id\":" entity_id "}}"
char ::= [^"\\\x00-\x1f\ud800-\udfff] | "\\" ["\\/bfnrt]
type ::= {_TYPE_CHOICES}
entity_id ::= [0-9] | [1-9] [0-9]
"""

# The example's values are no real document's: a name that no list holds, a domain that is reserved for examples, a PAN
# whose fourth letter no holder has. Copying them into an answer earns nothing.
EXAMPLE_DOCUMENT = "Shri Examplo Placeholder (PAN ZZZZZ0000Z) wrote from examplo@example.invalid. Regards, Examplo"
EXAMPLE_ANSWER = (
    Mention("Examplo Placeholder", "PERSON", 0),
    Mention("ZZZZZ0000Z", "PAN", 1),
    Mention("examplo@example.invalid", "EMAIL", 2),
    Mention("Examplo", "PERSON", 0),
)

_TYPE_LINES = "\n".join(f"- {name}: {DESCRIPTIONS[name]}" for name in ENTITY_TYPES)

_FULL = f"""You find personal data in Indian documents. List every mention of personal data in the document, in \
reading order.

Answer with one JSON list and nothing else. Each item has three keys, in this order:
- "text": the mention exactly as it stands in the document
- "type": one of the types below
- "entity_id": an integer from 0 to 99; mentions of the same person or thing share it
The list is compact (no white space between its parts) and holds at most {MAX_ITEMS} items. If there is no personal \
data, answer [].

Types:
{_TYPE_LINES}

Organisations, cities alone, event dates, order and invoice numbers and helplines are not personal data.

Example document:
{EXAMPLE_DOCUMENT}
Example answer:
{render(EXAMPLE_ANSWER)}"""

_SHORT = "List the personal data in the document as JSON."


def messages(document: str, style: PromptStyle = "full") -> tuple[dict[str, str], ...]:
    """A system and a user message. "full" explains types and format; "short" is for a model trained on this task."""
    systems = {"full": _FULL, "short": _SHORT}
    if style not in systems:
        raise ValueError(f"unknown prompt style {style!r}; choose one of {', '.join(sorted(systems))}")
    return ({"role": "system", "content": systems[style]}, {"role": "user", "content": document})
