"""What a probe found: lines of documents.jsonl -> the contents of probe.json.

    {"format", "settings", "task", "versions",
     "modes": {"constrained" or "free": {
         "overall": STATISTICS,
         "types": {TYPE: STATISTICS and "verdict", "verdict_at" {k: verdict}, "examples" {"best", "median", "worst"},
                         "groups" [{"rewards", "std"} of each document]},
         "smaller": {"k", "never_solved", "flips"},      what a probe of smaller groups would have said, see _smaller
         "axes": {AXIS: [STATISTICS and "level"]},       means along an axis, over all documents of a level
         "explained": {AXIS: {"reward", PART: share}}}}, eta squared of the documents' means
     "comparison": {NAME: ESTIMATE},                     constrained minus free, document by document
     "training_types": {TYPE: 1.0}}                      what train.py --probe trains on, in equal shares

    STATISTICS   "documents", "completions", and as an ESTIMATE {"mean", "low", "high"} each: "reward",
                 "reward_if_parsed", "gate_failures", "truncated", "completion_tokens", "prompt_tokens", "std", and by
                 name or by k: "parts", "pass", "effective", "best"; "std_median" is a plain number

Intervals are 95 % percentile bootstraps over documents; low and high are null where there is one document. Nothing here
depends on time or on the order of the lines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grpo import passk
from grpo.passk import SAME_REWARD, any_of, estimate, mean
from grpo.probe_settings import ProbeSettings, chosen_types
from grpo.task import Task

Record = Mapping[str, Any]
Level = float | str
Axes = Callable[[str], Mapping[str, Level]]

FORMAT = 1
LEARNABLE = ("trainable", "never solved")
DIGITS = 6


def summarise(
    records: Sequence[Record],
    settings: ProbeSettings,
    task: Task,
    task_settings: Mapping[str, Any],
    versions: Mapping[str, str],
    axes: Axes | None = None,
) -> dict[str, Any]:
    """The contents of probe.json, as this module's docstring says.

    axes: type -> where it lies along each axis of difficulty, {"density": 4, "style": "chat"}; numbers are ordered.
    Raises ValueError where a document is missing from the records.
    """
    types = chosen_types(settings.types, task.types)
    place = {(record["mode"], record["type"], record["document"]): record for record in records}
    modes = {}
    for mode in settings.modes:
        by_type = {}
        for type in types:
            keys = [(mode, type, number) for number in range(settings.documents)]
            if any(key not in place for key in keys):
                raise ValueError(f"the probe is not finished: {mode} documents of {type} are missing; resume it")
            by_type[type] = [place[key] for key in keys]
        modes[mode] = _mode(by_type, settings, axes)
    first = modes[settings.modes[0]]["types"]
    pairs = [
        (place["constrained", type, number], place["free", type, number])
        for type in (types if len(modes) == 2 else [])
        for number in range(settings.documents)
    ]
    asked = dataclasses.asdict(settings)
    return {
        "format": FORMAT,
        "settings": {name: asked[name] for name in asked if name not in ("out", "resume", "keep")},
        "task": dict(task_settings),
        "versions": dict(versions),
        "modes": modes,
        "comparison": _comparison(pairs, settings),
        "training_types": {type: 1.0 for type in types if first[type]["verdict"] in LEARNABLE},
    }


def statistics(records: Sequence[Record], settings: ProbeSettings) -> dict[str, Any]:
    """STATISTICS of some documents."""
    rewards = [record["rewards"] for record in records]
    passes = [_passes(record, settings) for record in records]
    sizes = settings.group_sizes
    stds = [passk.group_std(group) for group in rewards]
    names = list(dict.fromkeys(name for record in records for parts in record["parts"] for name in parts))
    return {
        "documents": len(records),
        "completions": len(records) * settings.k,
        "reward": _estimate([mean(group) for group in rewards]),
        "reward_if_parsed": _estimate(
            [sum(r for r, gate in zip(one["rewards"], one["gates"], strict=True) if gate) for one in records],
            [sum(one["gates"]) for one in records],
        ),
        "gate_failures": _estimate([1 - mean(record["gates"]) for record in records]),
        "truncated": _estimate([mean(record["truncated"]) for record in records]),
        "completion_tokens": _estimate([mean(record["tokens"]) for record in records]),
        "prompt_tokens": _estimate([record["prompt_tokens"] for record in records]),
        "parts": {name: _part(records, name) for name in names},
        "pass": {
            str(k): _estimate([passk.pass_at_k(settings.k, count, k) for count in passes])
            for k in dict.fromkeys((1, *sizes))
        },
        "effective": {str(k): _estimate([passk.effective_at_k(group, k) for group in rewards]) for k in sizes},
        "best": {str(k): _estimate([passk.best_at_k(group, k) for group in rewards]) for k in sizes},
        "std": _estimate(stds),
        "std_median": round(passk.median(stds), DIGITS),
    }


def _mode(by_type: Mapping[str, list[Record]], settings: ProbeSettings, axes: Axes | None) -> dict[str, Any]:
    everything = [record for records in by_type.values() for record in records]
    types = {}
    for type, records in by_type.items():
        verdicts = {str(k): _verdict(records, settings, k) for k in settings.group_sizes}
        types[type] = {
            **statistics(records, settings),
            "verdict": verdicts[str(settings.k)],
            "verdict_at": verdicts,
            "examples": _examples(records),
            "groups": [
                {
                    "rewards": [round(reward, DIGITS) for reward in record["rewards"]],
                    "std": round(passk.group_std(record["rewards"]), DIGITS),
                }
                for record in records
            ],
        }
    levels = {type: dict(axes(type)) if axes else {} for type in by_type}
    names = list(dict.fromkeys(name for of_type in levels.values() for name in of_type))
    return {
        "overall": statistics(everything, settings),
        "types": types,
        "smaller": _smaller(by_type, types, settings),
        "axes": {name: _along(name, levels, by_type, settings) for name in names},
        "explained": {name: _explained(name, levels, everything) for name in names},
    }


def _verdict(records: Sequence[Record], settings: ProbeSettings, k: int) -> passk.Verdict:
    passes = [_passes(record, settings) for record in records]
    return passk.verdict(
        sum(passes) / (len(records) * settings.k),
        any_of(passk.pass_at_k(settings.k, count, k) for count in passes),
        any_of(passk.effective_at_k(record["rewards"], k) for record in records),
        settings.mastered,
    )


def _smaller(
    by_type: Mapping[str, list[Record]], types: Mapping[str, Any], settings: ProbeSettings
) -> dict[str, Any] | None:
    """What a probe with groups of sub_k would have said, over all ways to keep sub_k of each document's completions.

    never_solved: how many types it would have seen no pass of, on average, and how many the whole probe saw none of.
    flips: types that it would more likely than not have called dead or never solved, and that turned out better; `seen`
        is the probability that it sees what makes the difference (a pass, or for a dead type any spread).
    None where there is no smaller size.
    """
    if len(settings.group_sizes) == 1:
        return None
    k = settings.sub_k
    no_pass, flips = 0.0, []
    for type, records in by_type.items():
        sees_pass = any_of(passk.pass_at_k(settings.k, _passes(record, settings), k) for record in records)
        sees_spread = any_of(passk.effective_at_k(record["rewards"], k) for record in records)
        no_pass += 1 - sees_pass
        before, after = types[type]["verdict_at"][str(k)], types[type]["verdict"]
        if before in ("dead", "never solved") and before != after:
            seen = sees_spread if before == "dead" else sees_pass
            flips.append({"type": type, "from": before, "to": after, "seen": round(seen, DIGITS)})
    without = sum(not any(_passes(record, settings) for record in records) for records in by_type.values())
    return {"k": k, "never_solved": {str(k): round(no_pass, DIGITS), str(settings.k): without}, "flips": flips}


def _along(
    name: str,
    levels: Mapping[str, Mapping[str, Level]],
    by_type: Mapping[str, list[Record]],
    settings: ProbeSettings,
) -> list[dict[str, Any]]:
    """Numbers in order, words as they come."""
    found: dict[Level, list[Record]] = {}
    for type, records in by_type.items():
        if name in levels[type]:
            found.setdefault(levels[type][name], []).extend(records)
    if all(isinstance(level, (int, float)) for level in found):
        found = dict(sorted(found.items()))
    return [{"level": level, **statistics(records, settings)} for level, records in found.items()]


def _explained(name: str, levels: Mapping[str, Mapping[str, Level]], records: Sequence[Record]) -> dict[str, float]:
    here = [record for record in records if name in levels[record["type"]]]
    values = {"reward": [(levels[record["type"]][name], mean(record["rewards"])) for record in here]}
    for record in here:
        for part in dict.fromkeys(part for parts in record["parts"] for part in parts):
            known = [parts[part] for parts in record["parts"] if part in parts]
            values.setdefault(part, []).append((levels[record["type"]][name], mean(known)))
    return {
        part: round(passk.explained_share([level for level, _ in pairs], [value for _, value in pairs]), DIGITS)
        for part, pairs in values.items()
    }


def _comparison(pairs: Sequence[tuple[Record, Record]], settings: ProbeSettings) -> dict[str, Any]:
    """Constrained minus free on the same documents; empty where only one of them was sampled.

    recovered: of what free-form completions lack to a reward of 1, the share that the grammar alone gives back.
    """
    if not pairs:
        return {}

    def difference(value: Callable[[Record], float]) -> dict[str, float | None] | None:
        return _estimate([value(constrained) - value(free) for constrained, free in pairs])

    def part(name: str) -> Callable[[Record], float]:
        return lambda record: mean([parts.get(name, 0.0) for parts in record["parts"]])

    shared = [
        name for name in pairs[0][0]["parts"][0] if all(name in p for pair in pairs for r in pair for p in r["parts"])
    ]
    gains = [mean(constrained["rewards"]) - mean(free["rewards"]) for constrained, free in pairs]
    return {
        "reward": _estimate(gains),
        "recovered": _estimate(gains, [1 - mean(free["rewards"]) for _, free in pairs]),
        "gate_failures": difference(lambda record: 1 - mean(record["gates"])),
        "pass": difference(lambda record: _passes(record, settings) / settings.k),
        "effective": difference(lambda record: passk.effective_at_k(record["rewards"], settings.k)),
        "std": difference(lambda record: passk.group_std(record["rewards"])),
        "truncated": difference(lambda record: mean(record["truncated"])),
        "completion_tokens": difference(lambda record: mean(record["tokens"])),
        **{name: difference(part(name)) for name in shared},
    }


def _examples(records: Sequence[Record]) -> dict[str, Any]:
    """The best, the median and the worst of a type's completions; of equals, the first."""
    ranked = sorted(
        (reward, record["document"], number) for record in records for number, reward in enumerate(record["rewards"])
    )
    best = max(ranked, key=lambda entry: (entry[0], -entry[1], -entry[2]))
    chosen = {"best": best, "median": ranked[(len(ranked) - 1) // 2], "worst": ranked[0]}
    examples = {}
    for name, (reward, document, number) in chosen.items():
        record = records[document]
        examples[name] = {
            "document": document,
            "completion": number,
            "reward": reward,
            "parts": record["parts"][number],
            "gate": record["gates"][number],
            "reason": record["reasons"][number],
            "truncated": record["truncated"][number],
            "tokens": record["tokens"][number],
            "text": record["texts"][number],
            "metadata": record["metadata"],
        }
    return examples


def _passes(record: Record, settings: ProbeSettings) -> int:
    # A reward that misses the bar by rounding only has reached it.
    return sum(reward >= settings.pass_bar - SAME_REWARD for reward in record["rewards"])


def _part(records: Sequence[Record], name: str) -> dict[str, float | None] | None:
    """Over the completions for which the part is defined."""
    known = [[parts[name] for parts in record["parts"] if name in parts] for record in records]
    return _estimate([sum(values) for values in known], [len(values) for values in known])


def _estimate(
    numerators: Sequence[float], denominators: Sequence[float] | None = None
) -> dict[str, float | None] | None:
    """An ESTIMATE; None where no document counts."""
    if denominators is not None and not any(denominators):
        return None
    found = estimate(numerators, denominators)
    return {name: None if value is None else round(value, DIGITS) for name, value in found._asdict().items()}
