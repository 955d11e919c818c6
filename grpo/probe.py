"""Is there anything to learn here? k completions of some documents of every type, scored, before any training.

The folder of a probe:

    settings.json     what was asked for
    documents.jsonl   one line per document and mode: its k completions, rewards and parts (the record of what is done)
    run.json          how it went: tokens per second, sampler, commit (differs from run to run)
    probe.json        what was found; see grpo.probe_summary (the same bytes, however often it was interrupted)
    report.html       the same as a page; see grpo.probe_report

Batches are fixed by the settings alone, and a document's completions are drawn from a seed of its own. So an
interrupted probe goes on with the first batch that is not in the record, and ends as if it had never stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grpo.evaluate import score
from grpo.probe_progress import ProbeProgress
from grpo.probe_settings import ProbeSettings, chosen_types
from grpo.run_folder import RunFolder, cut_torn_tail, git_commit, versions, write_atomically
from grpo.sampler import Sampler, decode_completion, encode_prompts
from grpo.settings import SettingsError, flag, from_dict
from grpo.task import Prompt, Task

FORMAT = 1
SETTINGS, DOCUMENTS, RUN, PROBE, REPORT = "settings.json", "documents.jsonl", "run.json", "probe.json", "report.html"


class Item(NamedTuple):
    """One document to be sampled. number: its place among the documents of its type."""

    type: str
    number: int
    prompt: Prompt
    ids: list[int]


def create(settings: ProbeSettings, task_settings: Mapping[str, Any]) -> RunFolder:
    """Makes the folder settings.out. Raises SettingsError where that fails or a probe with a record is there."""
    folder = RunFolder(settings.out)
    if (folder.path / DOCUMENTS).exists():
        raise SettingsError(
            f"--out {settings.out}: already holds a probe; --resume {settings.out} goes on with it, or choose another"
        )
    contents = {
        "format": FORMAT,
        "settings": dataclasses.asdict(settings),
        "task": dict(task_settings),
        "versions": versions(),
    }
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        write_atomically(folder.path / SETTINGS, json.dumps(contents, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise SettingsError(f"--out {settings.out}: cannot be written ({error.strerror}); choose another") from error
    return folder


def reopen(path: str, changes: Mapping[str, Any]) -> tuple[RunFolder, ProbeSettings, dict[str, Any]]:
    """The folder of an earlier probe, its settings with `changes`, and its task's settings.

    Only settings that read the rewards may change. Raises SettingsError for any other, and where there is no probe.
    """
    file = Path(path) / SETTINGS
    try:
        contents = json.loads(file.read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            raise SettingsError(f"{file}: format {contents['format']}, this version reads {FORMAT}; start a new probe")
        saved = from_dict(ProbeSettings, contents["settings"], str(file))
        task_settings = dict(contents["task"])
    except OSError as error:
        raise SettingsError(f"--resume {path}: no probe's folder ({error.strerror}: {SETTINGS})") from error
    except SettingsError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SettingsError(f"{file}: not a probe's settings ({error!r}); restore it or start a new probe") from error
    resumable = {field.name for field in dataclasses.fields(ProbeSettings) if field.metadata.get("resumable")}
    for name, value in changes.items():
        if name not in resumable and name != "resume" and value != getattr(saved, name):
            raise SettingsError(
                f"{flag(name)} {value}: the probe in {path} has {getattr(saved, name)!r}; drop it or start a new probe"
            )
    cut_torn_tail(Path(path) / DOCUMENTS)
    return RunFolder(path), dataclasses.replace(saved, **{**changes, "resume": "", "out": saved.out}), task_settings


def recorded(folder: RunFolder) -> list[dict[str, Any]]:
    """The lines of documents.jsonl. A batch that was written in part and then sampled again counts once."""
    lines = folder.read(DOCUMENTS)
    return list({(line["mode"], line["type"], line["document"]): line for line in lines}.values())


def finished(folder: RunFolder, settings: ProbeSettings, task: Task) -> bool:
    """True where every document is in the record, so that neither model nor sampler is needed any more."""
    types = chosen_types(settings.types, task.types)
    return len(recorded(folder)) == len(settings.modes) * len(types) * settings.documents


def batches(settings: ProbeSettings, task: Task, tokenizer: Any, context: int) -> list[list[Item]]:
    """All documents, cut into batches that fill the sampler. Nothing but the settings decides which go together.

    By length, longest first: little is padded, what does not fit fails at once, and the time left is never too rosy.
    context: the most tokens that prompt and completion may have. Raises SettingsError for a prompt that leaves no room.
    """
    items = []
    for type in chosen_types(settings.types, task.types):
        prompts = [task.probe_prompt(type, number) for number in range(settings.documents)]
        for number, (prompt, ids) in enumerate(zip(prompts, encode_prompts(tokenizer, prompts), strict=True)):
            if len(ids) + settings.max_tokens > context:
                raise SettingsError(
                    f"--max-tokens {settings.max_tokens}: document {number} of type {type} has {len(ids)} tokens, and "
                    f"the model's context is {context}; lower it, or shorten the prompt"
                )
            items.append(Item(type, number, prompt, ids))
    items.sort(key=lambda item: -len(item.ids))
    cut: list[list[Item]] = []
    for item in items:
        # The first of a batch is its longest, and the others are padded to it.
        full = settings.batch_tokens // (len(cut[-1][0].ids) + settings.k * settings.max_tokens) if cut else 0
        if cut and len(cut[-1]) < full:
            cut[-1].append(item)
        else:
            cut.append([item])
    return cut


def document_seed(seed: int, type: str, number: int) -> int:
    """What the completions of one document are drawn from, whatever else is in its batch. 62 bits."""
    return random.Random(f"{seed}|{type}|{number}").getrandbits(62)


def sample(
    folder: RunFolder,
    settings: ProbeSettings,
    task: Task,
    tokenizer: Any,
    context: int,
    sampler_for: Callable[[str], tuple[Sampler, str]],
) -> None:
    """Samples and scores whatever the record lacks.

    sampler_for: mode ("constrained" or "free") -> a sampler with or without the task's grammar, and a line about it;
        it is called for a mode only where there is something left to sample.
    KeyboardInterrupt, whenever it comes, costs the batch in the making and nothing else.
    """
    if "constrained" in settings.modes and task.grammar is None:
        raise SettingsError(f"--constrained {settings.constrained}: the task has no grammar; use --constrained no")
    cut = batches(settings, task, tokenizer, context)
    before = recorded(folder)
    done = {(record["mode"], record["type"], record["document"]) for record in before}
    with ProbeProgress(len(settings.modes) * sum(map(len, cut)), settings.k) as progress:
        progress.seen(before, fresh=False)
        for mode in settings.modes:
            left = [
                number
                for number, batch in enumerate(cut)
                if any((mode, item.type, item.number) not in done for item in batch)
            ]
            if not left:
                continue
            with _closing(sampler_for(mode), progress) as sampler:
                for number in left:
                    records = _sample_batch(cut[number], number, mode, settings, task, tokenizer, sampler)
                    folder.append(DOCUMENTS, *records)
                    progress.seen(records)


def write_run(folder: RunFolder, settings: ProbeSettings, why: Mapping[str, str]) -> dict[str, Any]:
    """Writes run.json and returns it: by mode, tokens, seconds of sampling and tokens per second; and the versions.

    why: what was said of each mode's sampler; modes that were sampled in an earlier session keep what is there.
    """
    file = folder.path / RUN
    before = json.loads(file.read_text(encoding="utf-8"))["modes"] if file.exists() else {}
    modes = {}
    for mode in settings.modes:
        records = [record for record in recorded(folder) if record["mode"] == mode]
        seconds = sum({record["batch"]: record["seconds"] for record in records}.values())
        tokens = sum(sum(record["tokens"]) for record in records)
        modes[mode] = {
            "sampler": why.get(mode) or before.get(mode, {}).get("sampler", ""),
            "completion_tokens": tokens,
            "seconds": round(seconds, 3),
            "tokens_per_second": round(tokens / seconds, 1) if seconds else 0.0,
        }
    run = {"modes": modes, "versions": versions(), "git_commit": git_commit()}
    write_atomically(file, json.dumps(run, indent=2) + "\n")
    return run


def _sample_batch(
    batch: Sequence[Item],
    number: int,
    mode: str,
    settings: ProbeSettings,
    task: Task,
    tokenizer: Any,
    sampler: Sampler,
) -> list[dict[str, Any]]:
    """Lines of documents.jsonl. seconds: of sampling, for the whole batch, the same in each of its lines."""
    began = time.perf_counter()
    groups = sampler.generate(
        [item.ids for item in batch],
        settings.k,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        seed=[document_seed(settings.seed, item.type, item.number) for item in batch],
    )
    seconds = time.perf_counter() - began
    records = []
    for item, group in zip(batch, groups, strict=True):
        texts = [decode_completion(tokenizer, completion) for completion in group]
        scores = [score(task, item.prompt, text) for text in texts]
        records.append(
            {
                "mode": mode,
                "type": item.type,
                "document": item.number,
                "batch": number,
                "seconds": round(seconds, 4),
                "prompt_tokens": len(item.ids),
                "rewards": [one.reward for one in scores],
                "parts": [dict(one.parts) for one in scores],
                "gates": [one.gate for one in scores],
                "reasons": [one.reason for one in scores],
                "tokens": [len(completion.token_ids) for completion in group],
                "truncated": [completion.finish_reason == "length" for completion in group],
                "texts": texts,
                "metadata": item.prompt.metadata,
            }
        )
    return records


@contextlib.contextmanager
def _closing(chosen: tuple[Sampler, str], progress: ProbeProgress) -> Iterator[Sampler]:
    """A sampler for as long as its mode lasts: two engines at once would not fit a GPU."""
    sampler, why = chosen
    progress.write(why)
    try:
        yield sampler
    finally:
        getattr(sampler, "close", lambda: None)()
