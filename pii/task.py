"""PiiTask: documents, prompt, grammar, reward and scores, as the trainer takes them.

Everything is a function of its arguments and the seed, so that any prompt can be made again from its number alone. Four
streams of documents never meet, because the seeds that they give to the generator lie in different ranges: training,
probe, and the two generated evaluation splits. The evaluation splits are the same whatever the seed, so that runs with
different seeds are compared on the same documents.
"""

from __future__ import annotations

import json
import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from grpo.task import Prompt, Score
from pii.answer import AnswerError, parse
from pii.document import Document, Mention
from pii.generator import generate
from pii.grid import HELD_OUT, TRAINED, TYPES, parse_key
from pii.prompt import GRAMMAR, PromptStyle, messages
from pii.reward import WEIGHTS, check_weights, score
from pii.scoring import scores

# The first bits of a document's seed say which stream it belongs to; the other 48 are drawn.
_SEED_BITS = 48
_STREAMS = {"train": 1, "probe": 2, "held_out": 3, "trained": 4}

# One document in ten of the generated evaluation splits holds nothing, or false alarms would never be seen.
EVAL_EMPTY_EVERY = 10


class PiiTask:
    """Implements grpo.task.Task.

    seed: of the training stream and of the probe's documents.
    prompt_style: "full", or "short" for a model that was trained on this task.
    weights: of the reward's parts (pii.reward).
    empty_share: share of training documents without any personal data.
    types: what to train on: keys, or keys with weights; TRAINED, each as often as the others, where not given.
    probe: instead of types, a file that probe.py wrote; its "training_types" are keys with weights.
    ValueError for a setting that cannot be, in one line.
    """

    grammar: str | None = GRAMMAR
    types: Sequence[str] = TYPES
    splits: Sequence[str] = ("held_out", "external", "trained")

    def __init__(
        self,
        seed: int = 0,
        prompt_style: PromptStyle = "full",
        weights: Mapping[str, float] = WEIGHTS,
        empty_share: float = 0.1,
        types: Sequence[str] | Mapping[str, float] | None = None,
        probe: str | Path | None = None,
    ) -> None:
        if not 0 <= empty_share <= 1:
            raise ValueError(f"empty_share {empty_share} is not a share; give a number from 0 to 1")
        if types is not None and probe is not None:
            raise ValueError("types and probe both say what to train on; give one of them")
        check_weights(weights)
        messages("", prompt_style)
        self.seed, self.prompt_style, self.empty_share = seed, prompt_style, empty_share
        self.weights = dict(weights)
        self.type_weights = _type_weights(_probed(Path(probe)) if probe is not None else types)
        self.trained_types: Sequence[str] = tuple(self.type_weights)

    def train_prompt(self, index: int) -> Prompt:
        """Prompt number `index` of the training stream.

        With equal weights every type comes once before any comes again, in an order drawn anew each time; with others
        a type's count in each round of len(trained_types) prompts is its share, rounded up or down.
        """
        if index < 0:
            raise ValueError(f"training prompt {index}: prompts are numbered from 0")
        round_, place = divmod(index, len(self.trained_types))
        key = self._round(round_)[place]
        rng = random.Random(f"{self.seed}|train|{index}")
        empty = rng.random() < self.empty_share
        return self._prompt(generate(key, _document_seed("train", rng), empty=empty))

    def probe_prompt(self, type: str, index: int) -> Prompt:
        """Document number `index` of a type for the probe; never one without personal data."""
        rng = random.Random(f"{self.seed}|probe|{type}|{index}")
        return self._prompt(generate(type, _document_seed("probe", rng)))

    def eval_prompts(self, split: str, n: int) -> list[Prompt]:
        """The first n prompts of a split; what a split holds depends on nothing but its name and the prompt style.

        held_out and trained go round their types; every tenth document holds nothing personal. external: pii.external.
        """
        if split == "external":
            # Imported here because only this split needs the package that holds the templates.
            from pii.external import documents

            return [self._prompt(document) for document in documents(n)]
        keys = {"held_out": HELD_OUT, "trained": TRAINED}.get(split)
        if keys is None:
            raise ValueError(f"unknown split {split!r}; choose one of {', '.join(self.splits)}")
        prompts = []
        for index in range(n):
            seed = _document_seed(split, random.Random(f"{split}|{index}"))
            empty = index % EVAL_EMPTY_EVERY == EVAL_EMPTY_EVERY - 1
            prompts.append(self._prompt(generate(keys[index % len(keys)], seed, empty=empty)))
        return prompts

    def score(self, prompt: Prompt, completion: str) -> Score:
        """The reward and its parts (pii.reward)."""
        return score(prompt.metadata["document"], _gold(prompt), completion, self.weights)

    def scores(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> dict[str, float]:
        """Token and span F1 and the rest (pii.scoring); a completion that does not parse found nothing."""
        gold = [_gold(prompt) for prompt in prompts]
        predicted = [_predicted(completion) for completion in completions]
        if len(gold) != len(predicted):
            raise ValueError(f"{len(gold)} prompts but {len(predicted)} completions")
        return scores(gold, predicted) if gold else {}

    def _round(self, number: int) -> list[str]:
        """The types of one round of the training stream: evenly spaced points on the line of weights, shuffled."""
        rng = random.Random(f"{self.seed}|types|{number}")
        keys, ends = list(self.type_weights), list(accumulate(self.type_weights.values()))
        step, offset = ends[-1] / len(keys), rng.random()
        points = ((place + offset) * step for place in range(len(keys)))
        # The last point may round up to the end of the line.
        chosen = [keys[min(bisect_right(ends, point), len(keys) - 1)] for point in points]
        rng.shuffle(chosen)
        return chosen

    def _prompt(self, document: Document) -> Prompt:
        metadata = {
            "document": document.text,
            "gold": [list(mention) for mention in document.gold],
            "key": document.key,
        }
        return Prompt(messages(document.text, self.prompt_style), document.key, metadata)


def _document_seed(stream: str, rng: random.Random) -> int:
    return _STREAMS[stream] << _SEED_BITS | rng.getrandbits(_SEED_BITS)


def _gold(prompt: Prompt) -> list[Mention]:
    return [Mention(*mention) for mention in prompt.metadata["gold"]]


def _predicted(completion: str) -> list[Mention]:
    try:
        return parse(completion)
    except AnswerError:
        return []


def _type_weights(types: Sequence[str] | Mapping[str, float] | None) -> dict[str, float]:
    """Keys with weights above 0, checked: well formed, not held out."""
    if types is None:
        types = TRAINED
    weights = dict(types) if isinstance(types, Mapping) else dict.fromkeys(types, 1.0)
    for key, weight in weights.items():
        parse_key(key)
        if key in HELD_OUT:
            raise ValueError(f"document type {key!r} is held out; it is never trained on")
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"document type {key!r} has weight {weight}; give a finite number, 0 or more")
    weights = {key: float(weight) for key, weight in weights.items() if weight > 0}
    if not weights:
        raise ValueError("no document type to train on; give at least one a weight above 0")
    return weights


def _probed(file: Path) -> dict[str, float]:
    """What a probe says to train on; the types that it looked at and that are held out are left alone."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["training_types"]
        weights = {str(key): float(weight) for key, weight in found.items()}
    except OSError as error:
        raise ValueError(f"probe {file}: {error.strerror}; give the probe.json that probe.py wrote") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f'probe {file}: no "training_types" with a weight for each type; give the probe.json that probe.py wrote'
        ) from error
    return {key: weight for key, weight in weights.items() if key not in HELD_OUT}
