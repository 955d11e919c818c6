"""Answers to read: what was to be found and what each model found, side by side, with what is wrong named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from grpo.task import Prompt, Score
from pii.answer import AnswerError, parse
from pii.compare import KINDS, faults
from pii.document import Mention
from pii.entities import ENTITY_TYPES
from pii.show import HUES, locate, segments


class Column(NamedTuple):
    """What one model answered. texts: an answer a prompt; scores: what it earned."""

    label: str
    texts: Sequence[str]
    scores: Sequence[Score]


def page_values(prompts: Sequence[tuple[str, Prompt]], columns: Sequence[Column], limit: int = 200) -> dict[str, Any]:
    """What pii/templates/outputs.html.j2 shows: the `limit` documents on which the models differ most.

    prompts: (split, prompt). columns: one or more; change is the last one's reward minus the first one's. Sorted by
    change, worst first; then by the last reward, lowest first.
    """
    items = [_item(place, split, prompt, columns) for place, (split, prompt) in enumerate(prompts)]
    kept = sorted(items, key=lambda item: (-abs(item["change"]), item["reward"]))[:limit]
    return {
        "items": sorted(kept, key=lambda item: (item["change"], item["reward"])),
        "total": len(items),
        "splits": list(dict.fromkeys(split for split, _ in prompts)),
        "kinds": KINDS,
        "types": ENTITY_TYPES,
        "hues": HUES,
        "compared": len(columns) > 1,
    }


def _item(place: int, split: str, prompt: Prompt, columns: Sequence[Column]) -> dict[str, Any]:
    text = prompt.metadata["document"]
    gold = [Mention(*mention) for mention in prompt.metadata["gold"]]
    views = [_view(text, gold, one.label, one.texts[place], one.scores[place]) for one in columns]
    last = views[-1]
    return {
        "place": place,
        "split": split,
        "key": prompt.type,
        "change": last["reward"] - views[0]["reward"],
        "reward": last["reward"],
        "gold": segments(text, gold),
        "views": views,
        # What the page's filters look at: the last column's faults, and every type that occurs.
        "faults": [[fault["kind"], *fault["types"]] for fault in last["faults"]],
        "types": sorted({mention.type for mention in gold} | {kind for one in views for kind in one["types"]}),
    }


def _view(text: str, gold: Sequence[Mention], label: str, answer: str, score: Score) -> dict[str, Any]:
    try:
        predicted, reason = parse(answer), ""
    except AnswerError as error:
        predicted, reason = [], str(error)
    spans = locate(text, predicted)
    wrong = faults(gold, predicted)
    # Without a place of its own is also what was said more often than it stands there.
    absent = [one for one, span in zip(predicted, spans, strict=True) if span is None and one.text not in text]
    invented = [one.predicted for one in wrong if one.kind == "invented"]
    return {
        "label": label,
        "reward": score.reward,
        "reason": reason,
        "answer": answer if reason else "",
        "segments": segments(text, predicted, spans),
        # What was invented is listed as a fault already.
        "absent": [mention for mention in absent if mention not in invented],
        "types": {mention.type for mention in predicted},
        "faults": [one._asdict() | {"types": one.types, "absent": one.predicted in absent} for one in wrong],
    }
