"""Scores for reading, never the reward: token F1, span F1, per type, on documents without PII, with intervals.

Everything is counted per document and summed (micro average). A document's predictions and gold mentions are two
multisets, of (token, type) or of (span, type), and the hits are the size of their intersection: no order, no
pairing, and a string predicted twice is one hit at most where it stands in the gold once.

Conventions. Texts are folded first (pii.matching.fold, without the number types' stripping, so that a typeless score
is never below the typed one). Tokens are runs of Unicode letters, marks and digits: `\\w+` would cut Devanagari at
its vowel signs. 0/0: where there is neither gold nor prediction, precision, recall and F1 are 1; any other 0/0 is 0.
Macro averages run over the types that the gold has, so that two models share their denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pii.document import Mention
from pii.matching import fold, is_word

Key = tuple[str, str]
Counts = np.ndarray
"""(documents, 3) integers: hits, predictions, gold."""


class PRF(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


_fold = lru_cache(maxsize=100_000)(fold)


@lru_cache(maxsize=100_000)
def tokens(text: str) -> tuple[str, ...]:
    """The runs of letters, marks and digits of the folded text, in order: `S/o. राजेश-2` -> ("s", "o", "राजेश", "2")."""
    spaced = "".join(c if is_word(c) else " " for c in _fold(text))
    return tuple(spaced.split())


def _token_keys(mentions: Iterable[Mention], typed: bool) -> Counter[Key]:
    return Counter((token, m.type if typed else "") for m in mentions for token in tokens(m.text))


def _span_keys(mentions: Iterable[Mention], typed: bool) -> Counter[Key]:
    return Counter((_fold(m.text), m.type if typed else "") for m in mentions)


_KEYS: dict[str, Callable[[Iterable[Mention], bool], Counter[Key]]] = {"token": _token_keys, "span": _span_keys}


def document_counts(
    gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], unit: str = "token", typed: bool = True
) -> Counts:
    """Hits, predictions and gold of each document, (documents, 3). unit: "token" or "span"."""
    if len(gold) != len(predicted):
        raise ValueError(
            f"{len(gold)} documents have gold but {len(predicted)} have predictions: give one list for each"
        )
    keys = _KEYS[unit]
    rows = []
    for gold_mentions, predicted_mentions in zip(gold, predicted, strict=True):
        g, p = keys(gold_mentions, typed), keys(predicted_mentions, typed)
        rows.append(((g & p).total(), p.total(), g.total()))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _prf(hits: float, predictions: float, gold: float) -> PRF:
    if predictions == 0 and gold == 0:
        return PRF(1.0, 1.0, 1.0)
    return PRF(
        float(hits / predictions) if predictions else 0.0,
        float(hits / gold) if gold else 0.0,
        float(2 * hits / (predictions + gold)),
    )


def token_f1(gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], typed: bool = True) -> PRF:
    """Micro PRF over the documents' multisets of (token, type); of tokens alone with typed=False."""
    return _prf(*document_counts(gold, predicted, "token", typed).sum(axis=0))


def span_f1(gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], typed: bool = True) -> PRF:
    """Micro PRF over the documents' multisets of (folded text, type); of folded texts alone with typed=False.

    Where each value stands once in its document this is nervaluate's and seqeval's strict mode.
    """
    return _prf(*document_counts(gold, predicted, "span", typed).sum(axis=0))


def by_type(
    gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], unit: str = "token"
) -> dict[str, PRF]:
    """PRF of every type that occurs in gold or predictions, by name; a type that is only predicted has F1 0."""
    names = sorted({m.type for mentions in (*gold, *predicted) for m in mentions})
    return {name: _prf(*document_counts(_only(gold, name), _only(predicted, name), unit).sum(axis=0)) for name in names}


def _only(documents: Sequence[Sequence[Mention]], name: str) -> list[list[Mention]]:
    return [[m for m in mentions if m.type == name] for mentions in documents]


def macro(by_name: dict[str, PRF], gold: Sequence[Sequence[Mention]]) -> PRF:
    """Mean over the types that occur in the gold; 1 where the gold has none and nothing was predicted, else 0."""
    present = {m.type for mentions in gold for m in mentions}
    if not present:
        return PRF(0.0, 0.0, 0.0) if by_name else PRF(1.0, 1.0, 1.0)
    rows = np.array([by_name[name] for name in sorted(present)])
    return PRF(*(float(mean) for mean in rows.mean(axis=0)))


def false_tokens(gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]]) -> tuple[float, int]:
    """Mean number of predicted tokens on a document without PII (each is false), and how many such documents.

    (0.0, 0) where every document has some.
    """
    counts = document_counts(gold, predicted, "token", typed=False)
    free = np.array([not mentions for mentions in gold], dtype=bool)
    return (float(counts[free, 1].mean()) if free.any() else 0.0), int(free.sum())


@lru_cache(maxsize=2)
def _draws(documents: int, resamples: int, seed: int) -> np.ndarray:
    """How often each document is drawn, (resamples, documents)."""
    return np.random.default_rng(seed).multinomial(documents, np.full(documents, 1 / documents), size=resamples)


def interval(counts: Counts, resamples: int = 1000, seed: int = 0) -> tuple[float, float]:
    """Bootstrap 95 % interval of micro F1, documents drawn with replacement (Efron's percentile method).

    counts: (documents, 3) from document_counts. (nan, nan) without documents.
    """
    n = len(counts)
    if n == 0:
        return float("nan"), float("nan")
    hits, predictions, gold = (_draws(n, resamples, seed) @ counts).T
    total = predictions + gold
    f1 = np.where(total == 0, 1.0, 2 * hits / np.maximum(total, 1))
    low, high = np.percentile(f1, [2.5, 97.5])
    return float(low), float(high)


def scores(
    gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], resamples: int = 1000, seed: int = 0
) -> dict[str, float]:
    """All scores of a corpus by flat name; gold and predicted hold one list of mentions a document.

    token_f1, token_precision, token_recall are strict (typed); token_typeless_*, span_*, span_typeless_* likewise;
    each *_f1 has *_f1_low and *_f1_high; token_macro_f1 and span_macro_f1; false_tokens (a PII-free document);
    documents, pii_free_documents, gold_mentions, predicted_mentions.
    """
    flat: dict[str, float] = {}
    for unit in ("token", "span"):
        for typed in (True, False):
            name = unit if typed else f"{unit}_typeless"
            counts = document_counts(gold, predicted, unit, typed)
            prf = _prf(*counts.sum(axis=0))
            flat |= {f"{name}_f1": prf.f1, f"{name}_precision": prf.precision, f"{name}_recall": prf.recall}
            flat[f"{name}_f1_low"], flat[f"{name}_f1_high"] = interval(counts, resamples, seed)
        flat[f"{unit}_macro_f1"] = macro(by_type(gold, predicted, unit), gold).f1
    flat["false_tokens"], free = false_tokens(gold, predicted)
    flat["documents"], flat["pii_free_documents"] = float(len(gold)), float(free)
    flat["gold_mentions"] = float(sum(map(len, gold)))
    flat["predicted_mentions"] = float(sum(map(len, predicted)))
    return flat


def report(
    gold: Sequence[Sequence[Mention]], predicted: Sequence[Sequence[Mention]], resamples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """What a table by type needs, JSON-serialisable.

    {"scores": scores(...), "by_type": {type: {"gold": mentions, "predicted": mentions, "token": {"precision",
    "recall", "f1", "f1_low", "f1_high"}, "span": the same}}}, types in alphabetical order.
    """
    rows: dict[str, Any] = {}
    for name in sorted({m.type for mentions in (*gold, *predicted) for m in mentions}):
        g, p = _only(gold, name), _only(predicted, name)
        row: dict[str, Any] = {"gold": sum(map(len, g)), "predicted": sum(map(len, p))}
        for unit in ("token", "span"):
            counts = document_counts(g, p, unit)
            low, high = interval(counts, resamples, seed)
            row[unit] = {**_prf(*counts.sum(axis=0))._asdict(), "f1_low": low, "f1_high": high}
        rows[name] = row
    return {"scores": scores(gold, predicted, resamples, seed), "by_type": rows}
