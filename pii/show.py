"""Documents with their mentions highlighted: in the terminal, and as one self-contained HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import jinja2

from pii.document import Mention
from pii.entities import ENTITY_TYPES

# Documents may come from anywhere: escape sequences, and signs that turn the direction of text, stay off the terminal.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Span = tuple[int, int]  # start, end in characters

# One hue a type, in both renderings: the golden angle keeps neighbours in the list apart.
HUES = {type: round(index * 137.5) % 360 for index, type in enumerate(ENTITY_TYPES)}
# 256-colour backgrounds on which black is readable, in the order of ENTITY_TYPES.
_ANSI = (117, 151, 223, 216, 183, 229, 159, 210, 194, 147, 222, 120, 180, 87, 218, 228, 111, 157)
_COLOURS = dict(zip(ENTITY_TYPES, _ANSI, strict=True))


def locate(text: str, mentions: Sequence[Mention]) -> list[Span | None]:
    """Where each mention stands, for mentions without offsets: the next free one after the last, or else the first.

    None where a mention's text does not stand in the document, or all its places are taken.
    """
    taken: list[Span] = []
    places: list[Span | None] = []
    position = 0
    for mention in mentions:
        place = _free(text, mention.text, position, taken) or _free(text, mention.text, 0, taken)
        if place:
            taken.append(place)
            position = place[1]
        places.append(place)
    return places


def _free(text: str, needle: str, start: int, taken: list[Span]) -> Span | None:
    while needle and (start := text.find(needle, start)) >= 0:
        end = start + len(needle)
        if all(end <= other[0] or other[1] <= start for other in taken):
            return start, end
        start += 1
    return None


def segments(
    text: str, mentions: Sequence[Mention], spans: Sequence[Span | None] | None = None
) -> list[tuple[str, Mention | None]]:
    """The text cut into plain stretches (None) and mentions, in order. spans: locate()'s where they are not given."""
    placed = zip(mentions, locate(text, mentions) if spans is None else spans, strict=True)
    parts: list[tuple[str, Mention | None]] = []
    position = 0
    for mention, span in sorted((pair for pair in placed if pair[1]), key=lambda pair: pair[1] or (0, 0)):
        start, end = span or (0, 0)
        parts += [(text[position:start], None), (text[start:end], mention)]
        position = end
    return [part for part in [*parts, (text[position:], None)] if part[0]]


def to_terminal(
    text: str, mentions: Sequence[Mention], spans: Sequence[Span | None] | None = None, *, colour: bool
) -> str:
    """The document with each mention followed by its type and entity: in colour, or in brackets for pipes and files."""
    parts = []
    for part, mention in segments(text, mentions, spans):
        part = _UNSAFE.sub("\ufffd", part)
        if mention is None:
            parts.append(part)
        elif colour:
            code = _COLOURS.get(mention.type, 250)
            painted = "\n".join(f"\033[48;5;{code}m\033[30m{line}\033[0m" for line in part.split("\n"))
            parts.append(f"{painted}\033[38;5;{code}m {mention.type}:{mention.entity_id}\033[0m")
        else:
            parts.append(f"[{part}]({mention.type}:{mention.entity_id})")
    return "".join(parts)


_PAGE = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
  :root { color-scheme: light dark; --ground: #fbfaf8; --paper: #fff; --ink: #1d1d1f; --faint: #6a6a70; --line: #e2e0db; --light: 88%; --tag: 30%; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #16171a; --paper: #1e2024; --ink: #e9e9ec; --faint: #9a9aa2; --line: #34363c; --light: 27%; --tag: 80%; }
  }
  body { margin: 0 auto; max-width: 56rem; padding: 1.5rem 1rem; background: var(--ground); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
  h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
  h2 { font-size: .95rem; font-weight: 600; margin: 0 0 .75rem; overflow-wrap: anywhere; }
  p, nav { color: var(--faint); margin: 0 0 1rem; }
  nav { line-height: 2.2; } nav mark { color: var(--ink); }
  article { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: 0 0 1.25rem; }
  pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .9rem/1.75 ui-monospace, Consolas, monospace; }
  mark { background: hsl(var(--hue) 75% var(--light)); color: inherit; border-radius: .25rem; padding: .1rem .25rem; }
  mark small { margin-left: .35rem; font: 600 .65rem system-ui, sans-serif; color: hsl(var(--hue) 70% var(--tag)); user-select: none; }
</style>
<h1>{{ title }}</h1>
<p>{{ note }}</p>
<nav>{% for type, hue in hues.items() %}<mark style="--hue:{{ hue }}">{{ type }}</mark> {% endfor %}</nav>
{% for heading, parts in documents %}
<article>
<h2>{{ heading }}</h2>
<pre>{% for part, mention in parts %}{% if mention %}<mark style="--hue:{{ hues.get(mention.type, 0) }}" title="{{ mention.type }}, entity {{ mention.entity_id }}">{{ part }}<small>{{ mention.type }}&nbsp;{{ mention.entity_id }}</small></mark>{% else %}{{ part }}{% endif %}{% endfor %}</pre>
</article>
{% endfor %}
</html>
"""  # noqa: E501
)


def to_html(documents: Iterable[tuple[str, list[tuple[str, Mention | None]]]], *, title: str, note: str = "") -> str:
    """One page of documents, each (heading, segments()); text is escaped, and nothing is loaded from anywhere."""
    documents = list(documents)
    used = {mention.type for _, parts in documents for _, mention in parts if mention}
    hues = {type: hue for type, hue in HUES.items() if type in used}
    return _PAGE.render(title=title, note=note, documents=documents, hues=hues)
