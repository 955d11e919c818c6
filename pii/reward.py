"""Five checks of an answer, and the one number in [0, 1] that they make.

With TP the sum of pair weights (pii.matching.pair), G gold mentions and P predictions:

    recall       TP / G
    precision    TP / P
    type         (share of TP on pairs of equal type) * recall
    grounding    (share of predictions that stand in the document) * recall
    coreference  2 * common links / (gold links + predicted links)

type and grounding are multiplied with recall, so that an answer cannot live on the form of what it says: right types of
nothing, or words copied from the document, are worth nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from grpo.task import Score
from pii.answer import AnswerError, parse
from pii.document import Mention
from pii.grounding import grounded_share
from pii.matching import pair

WEIGHTS: dict[str, float] = {
    "recall": 0.325,
    "precision": 0.325,
    "type": 0.25,
    "grounding": 0.05,
    "coreference": 0.05,
}


def score(document: str, gold: Sequence[Mention], completion: str, weights: Mapping[str, float] = WEIGHTS) -> Score:
    """The reward of one completion: the weighted mean of the parts that are defined for it.

    A completion that does not parse scores 0 in every part (gate False, the reason kept). coreference is a part only
    where gold or answer link two mentions; elsewhere the other weights are scaled to sum to 1. Nothing found where
    there is nothing scores 1, anything found there 0. Weights that are not given count as 0; the others must be as
    check_weights says.
    """
    check_weights(weights)
    try:
        predicted = parse(completion)
    except AnswerError as error:
        return Score(0.0, dict.fromkeys(("recall", "precision", "type", "grounding"), 0.0), False, str(error))
    found = parts(document, gold, predicted)
    total = math.fsum(weights.get(name, 0.0) for name in found)
    reward = math.fsum(weights.get(name, 0.0) * value for name, value in found.items()) / total
    # A quotient of two rounded sums can pass 1 by an ulp.
    return Score(min(reward, 1.0), found)


def parts(document: str, gold: Sequence[Mention], predicted: Sequence[Mention]) -> dict[str, float]:
    """The checks by name, each in [0, 1]; coreference is absent where neither side links two PERSON mentions."""
    pairs = pair(gold, predicted)
    true = math.fsum(weight for _, _, weight in pairs)
    true_typed = math.fsum(weight for i, j, weight in pairs if gold[i].type == predicted[j].type)
    if gold:
        recall = true / len(gold)
        precision = true / len(predicted) if predicted else 0.0
        type_ = true_typed / len(gold)
        grounding = recall * grounded_share(document, predicted)
    else:
        recall = precision = type_ = grounding = 0.0 if predicted else 1.0
    result = {"recall": recall, "precision": precision, "type": type_, "grounding": grounding}
    coreference = _coreference(gold, predicted, pairs)
    if coreference is not None:
        result["coreference"] = coreference
    return result


def check_weights(weights: Mapping[str, float]) -> None:
    """ValueError where weights name no part, are negative or not finite, or leave a reward undefined."""
    for name, weight in weights.items():
        if name not in WEIGHTS:
            raise ValueError(f"unknown reward part {name!r}; the parts are {', '.join(WEIGHTS)}")
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"reward weight {name}={weight} must be finite and not negative")
    if not any(weight > 0 for name, weight in weights.items() if name != "coreference"):
        raise ValueError("some part besides coreference needs a weight above 0: coreference is not always defined")


def _coreference(
    gold: Sequence[Mention], predicted: Sequence[Mention], pairs: Sequence[tuple[int, int, float]]
) -> float | None:
    """F1 of links. A link joins two PERSON mentions of one entity, whether they are paired or not."""
    links = _links(gold) + _links(predicted)
    if not links:
        return None
    both = Counter(
        (gold[i].entity_id, predicted[j].entity_id)
        for i, j, _ in pairs
        if gold[i].type == "PERSON" and predicted[j].type == "PERSON"
    )
    return 2 * sum(map(_choose_two, both.values())) / links


def _links(mentions: Sequence[Mention]) -> int:
    return sum(map(_choose_two, Counter(m.entity_id for m in mentions if m.type == "PERSON").values()))


def _choose_two(n: int) -> int:
    return n * (n - 1) // 2
