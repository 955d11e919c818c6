"""The cheap systems that every model is printed beside: capital letters, regexes, Presidio's rules, a list of names.

    python -m benchmarks.baselines                    the table, on the external set and on the held-out types
    python -m benchmarks.baselines --markdown         as Markdown; --json FILE keeps the numbers

No model is downloaded or run: presidio-analyzer's recognisers are called one by one, without its language model, on
their patterns, checksums and phone number library alone. Nothing was tuned on either set: the patterns are those that
one writes first, and the threshold stands where Presidio's authors put their lowest unassisted pattern.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

from pii.document import Document, Mention
from pii.scoring import scores

System = Callable[[str], list[Mention]]
Span = tuple[int, int, str]
"""Start, end and type of a find."""

SCORE_THRESHOLD = 0.3
"""Presidio's lowest score of a pattern that is meant to stand without context words (a voter id's)."""

KEPT = Path(__file__).resolve().parent / "results" / "baselines.json"

HELD_OUT_PER_TYPE = 20
HELD_OUT_FIRST_SEED = 9_000_000

_CAPITALISED = re.compile(r"\b[A-Z][\w'’]*")
_TITLE_CASE = re.compile(r"\b[A-Z][a-z]+(?:[ ]+(?:[A-Z]\.|[A-Z][a-z]+))*[ ]+[A-Z][a-z]+\b")
_REGEXES = (
    (r"\b\d{1,3}(?=[ -]?(?:years?|yrs?|y/o))|(?<=aged )\d{1,3}\b|(?<=turned )\d{1,3}\b|(?<=Age: )\d{1,3}\b", "AGE"),
    (
        r"(?:\b(?:Flat|House|Plot|Shop|Door|No\.)\W{1,2})?\b\d+[\w/-]*[\w\s,/'()#-]{3,90}?\b[1-8]\d{2} ?\d{3}\b",
        "ADDRESS",
    ),
    (r"\b[1-8]\d{5}\b", "PINCODE"),
    (r"\b\d{9,18}\b", "BANK_ACCOUNT"),
)

_PRESIDIO_TYPES = {
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "CREDIT_CARD": "CREDIT_CARD",
    "IP_ADDRESS": "IP_ADDRESS",
    "URL": "URL",
    "IBAN_CODE": "BANK_ACCOUNT",
    "IN_AADHAAR": "AADHAAR",
    "IN_PAN": "PAN",
    "IN_PASSPORT": "PASSPORT",
    "IN_VOTER": "VOTER_ID",
}


def _find(pattern: re.Pattern[str] | str, text: str, kind: str) -> list[Span]:
    return [(match.start(), match.end(), kind) for match in re.finditer(pattern, text)]


def capitalised_words(text: str) -> list[Span]:
    """Every word that starts with a capital letter is a person."""
    return _find(_CAPITALISED, text, "PERSON")


def title_case(text: str) -> list[Span]:
    """Two or more words in a row that start with a capital letter are a person."""
    return _find(_TITLE_CASE, text, "PERSON")


def four_regexes(text: str) -> list[Span]:
    """Ages, addresses that end in a PIN code, PIN codes, long numbers (bank accounts)."""
    return [span for pattern, kind in _REGEXES for span in _find(pattern, text, kind)]


@lru_cache(maxsize=1)
def _recognizers() -> list[Any]:
    if importlib.util.find_spec("presidio_analyzer") is None:
        raise ValueError("presidio-analyzer is not installed: pip install presidio-analyzer (extra `eval`)")
    import tldextract
    from presidio_analyzer import predefined_recognizers as presidio

    # E-mail addresses are checked against the list of public suffixes; without this line it is downloaded.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())  # type: ignore[assignment]
    return [
        presidio.InAadhaarRecognizer(),
        presidio.InPanRecognizer(),
        presidio.InPassportRecognizer(),
        presidio.InVoterRecognizer(),
        presidio.CreditCardRecognizer(),
        presidio.EmailRecognizer(),
        presidio.IbanRecognizer(),
        presidio.IpRecognizer(),
        presidio.PhoneRecognizer(),
        presidio.UrlRecognizer(),
    ]


def presidio_rules(text: str) -> list[Span]:
    """Presidio's recognisers of Indian ids and of cards, e-mail, IBAN, IP, phone and web addresses, by score."""
    found = [
        result
        for recognizer in _recognizers()
        for result in recognizer.analyze(text, recognizer.supported_entities, None)
        if result.score >= SCORE_THRESHOLD
    ]
    found.sort(key=lambda result: (-result.score, result.start - result.end, result.start))
    return [(result.start, result.end, _PRESIDIO_TYPES[result.entity_type]) for result in found]


@lru_cache(maxsize=1)
def _faker_names() -> frozenset[str]:
    if importlib.util.find_spec("faker") is None:
        raise ValueError("faker is not installed: pip install faker")
    from faker.providers.person.en_IN import Provider

    return frozenset({*Provider.first_names, *Provider.last_names})


def name_gazetteer(text: str) -> list[Span]:
    """Runs of words that stand in faker's lists of Indian names, initials between them included."""
    names = _faker_names()
    spans: list[Span] = []
    for match in re.finditer(r"[^\W\d_]+", text):
        if match[0] not in names:
            continue
        if spans and re.fullmatch(r" (?:[A-Z]\. )*", text[spans[-1][1] : match.start()]):
            spans[-1] = (spans[-1][0], match.end(), "PERSON")
        else:
            spans.append((match.start(), match.end(), "PERSON"))
    return spans


def _system(*finders: Callable[[str], Sequence[Span]]) -> System:
    """Finders one after the other; a span that overlaps one found before is dropped. Equal texts are one entity."""

    def run(text: str) -> list[Mention]:
        taken: list[Span] = []
        for finder in finders:
            for start, end, kind in finder(text):
                if all(end <= other[0] or start >= other[1] for other in taken):
                    taken.append((start, end, kind))
        ids: dict[str, int] = {}
        found = [(text[start:end], kind) for start, end, kind in sorted(taken)]
        return [Mention(value, kind, min(ids.setdefault(value, len(ids)), 99)) for value, kind in found]

    return run


def systems() -> dict[str, System]:
    """The systems by name: text -> mentions. Cheap to call; Presidio (seconds) and faker load at their first use.

    A system raises ValueError, with what to install, where its library is absent.
    """
    return {
        "capitalised words": _system(capitalised_words),
        "Title Case": _system(title_case),
        "name gazetteer (faker)": _system(name_gazetteer),
        "Presidio rules": _system(presidio_rules),
        "Presidio rules + Title Case": _system(presidio_rules, title_case),
        "Presidio rules + Title Case + 4 regexes": _system(presidio_rules, four_regexes, title_case),
        "Presidio rules + gazetteer + 4 regexes": _system(presidio_rules, four_regexes, name_gazetteer),
    }


def held_out_documents(per_type: int = HELD_OUT_PER_TYPE, first_seed: int = HELD_OUT_FIRST_SEED) -> list[Document]:
    """per_type documents of each held-out type, seeds first_seed, first_seed + 1, ..."""
    from pii.generator import generate
    from pii.grid import HELD_OUT

    return [generate(key, first_seed + index) for key in HELD_OUT for index in range(per_type)]


def evaluate(documents: Sequence[Document], names: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """pii.scoring.scores of each system (all, or those named) on the documents, by name, with `seconds`."""
    gold = [document.gold for document in documents]
    table = {}
    for name, system in systems().items():
        if names is not None and name not in names:
            continue
        start = time.perf_counter()
        predicted = [system(document.text) for document in documents]
        seconds = time.perf_counter() - start
        table[name] = scores(gold, predicted) | {"seconds": round(seconds, 2)}
    return table


def kept_or_measured(count: int, folder: Path) -> tuple[dict[str, dict[str, float]], str]:
    """Scores of all systems on the first `count` external documents, and where they come from.

    Those in KEPT where they are of the same documents, else measured now and kept in `folder`. A system whose library
    is absent is left out, which is said on stderr.
    """
    from pii.external import documents

    made = documents(count)
    shape = (len(made), sum(len(document.gold) for document in made))
    kept = json.loads(KEPT.read_text(encoding="utf-8"))["external set"] if KEPT.exists() else {}
    if kept and all((row["documents"], row["gold_mentions"]) == shape for row in kept.values()):
        return kept, "beside the cheap baselines (kept in benchmarks/results/baselines.json, of the same documents)"
    key = hashlib.sha256(json.dumps(made).encode()).hexdigest()[:12]
    file = folder / f"baselines-{key}.json"
    if not file.exists():
        found: dict[str, dict[str, float]] = {}
        for name in tqdm(systems(), desc="baselines", leave=False, disable=not sys.stderr.isatty()):
            try:
                found |= evaluate(made, [name])
            except ValueError as error:
                print(f"baseline {name!r} left out: {error}", file=sys.stderr)
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8")), "beside the cheap baselines, on the same documents"


COLUMNS = {
    "token F1": "token_f1",
    "P": "token_precision",
    "R": "token_recall",
    "typeless": "token_typeless_f1",
    "span F1": "span_f1",
    "macro": "token_macro_f1",
    "false tokens": "false_tokens",
}


def table(results: dict[str, dict[str, float]], markdown: bool = False) -> str:
    """The systems' scores as text: token F1 with its 95 % interval, then COLUMNS."""
    rows = [["", *COLUMNS]]
    for name, row in results.items():
        cells = [f"{row[key]:.2f}" for key in COLUMNS.values()]
        if not row["pii_free_documents"]:
            cells[-1] = "-"
        cells[0] += f" ({row['token_f1_low']:.2f}-{row['token_f1_high']:.2f})"
        rows.append([name, *cells])
    if markdown:
        rows.insert(1, ["---"] + ["---:"] * len(COLUMNS))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baselines", description="Scores the cheap systems.")
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every score to this file")
    options = parser.parse_args(arguments)
    try:
        from pii.external import documents

        sets = {"external set": documents(), "held-out types": held_out_documents()}
        results = {name: evaluate(made) for name, made in sets.items()}
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for name, made in sets.items():
        mentions = sum(len(document.gold) for document in made)
        free = sum(not document.gold for document in made)
        print(f"\n{name}: {len(made)} documents, {mentions} gold mentions, {free} documents without PII\n")
        print(table(results[name], options.markdown))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
