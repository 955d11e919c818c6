"""Did it work? python eval.py runs/NAME --all

Measures checkpoints and the untrained model beside them: held-out document types, the external set next to cheap
baselines, general ability, and the KL to the untrained model; and makes a page of outputs to read. An evaluation that
was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import baselines as cheap
from benchmarks import general
from grpo.settings import OneLineParser, SettingsError
from grpo.task import Prompt
from pii import eval_tables, evaluation
from pii.outputs import Column, page_values
from pii.prompt import GRAMMAR
from pii.settings import PiiSettings
from pii.task import PiiTask

FULL = {"held_out": 110, "external": 600, "general": 300}
QUICK = {"held_out": 22, "external": 40, "general": 48}
GENERAL_TOKENS = 48
"""The longest right answer to a general question, a word spelt with hyphens, takes about half of it."""

FORMAT = 1
PII_TEMPLATES = Path(__file__).resolve().parent / "pii" / "templates"


def parser() -> argparse.ArgumentParser:
    made = OneLineParser(
        prog="eval.py",
        usage="python eval.py RUN_OR_CHECKPOINT... [settings]",
        description=__doc__.split("\n\n")[1],
    )
    made.add_argument(
        "subjects",
        nargs="+",
        metavar="RUN_OR_CHECKPOINT",
        help="a run's folder, a checkpoint step-N, or a model's name",
    )
    made.add_argument("--all", action="store_true", help="every checkpoint of a run, not the newest alone")
    made.add_argument("--base", metavar="MODEL", help="the untrained model (default: what the run started from)")
    made.add_argument("--out", type=Path, metavar="DIR", help="default: RUN/eval, or ./eval-out where there is no run")
    for name, what in (
        ("held_out", "documents of the held-out types"),
        ("external", "documents of the external set"),
        ("general", "general questions"),
    ):
        made.add_argument(
            "--" + name.replace("_", "-"), type=_count, metavar="N", help=f"{what}; 0: none (default: {FULL[name]})"
        )
    quick = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in QUICK.items())
    made.add_argument("--quick", action="store_true", help=f"a small part of each: {quick}")
    made.add_argument(
        "--samples", type=_positive, default=1, metavar="N", help="answers to each document; 1: greedy (default: 1)"
    )
    made.add_argument("--temperature", type=float, default=1.0, help="of the answers where --samples is above 1")
    made.add_argument("--seed", type=int, default=0, help="of the samples")
    made.add_argument("--free-form", action="store_true", help="without the grammar that answers are constrained to")
    made.add_argument("--max-tokens", type=_positive, metavar="N", help="longest answer (default: the run's, else 512)")
    made.add_argument("--prompt-style", choices=("full", "short"), help="default: the run's, else the model's own")
    made.add_argument("--sampler", choices=("auto", "torch", "vllm"), default="auto", help="as in train.py")
    made.add_argument("--batch", type=_positive, default=32, metavar="N", help="prompts asked together (default: 32)")
    made.add_argument("--no-baselines", action="store_true", help="leave the cheap baselines out")
    made.add_argument(
        "--read", type=_count, default=200, metavar="N", help="documents on the page of outputs (default: 200)"
    )
    made.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    for name, count in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, count)
    try:
        return evaluate(options)
    except (ValueError, RuntimeError, OSError) as error:
        # Settings, models, the task's complaints, engines that died, a full disk: each has one clear line.
        print(f"eval.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("eval.py: stopped; the same command goes on where it was", file=sys.stderr)
        return 130


def evaluate(options: argparse.Namespace) -> int:
    from transformers.utils import logging as transformers_logging

    from grpo.hacking import Outside

    transformers_logging.disable_progress_bar()
    if options.samples > 1 and not options.temperature > 0:
        raise SettingsError(f"--temperature {options.temperature}: several samples of a greedy answer are all the same")
    if not (options.held_out or options.external or options.general):
        raise SettingsError("--held-out 0 --external 0 --general 0: leaves nothing to measure; drop one of them")
    chosen = models(options)
    run = next((one.run for one in chosen if one.run is not None), None)
    out = options.out or (run / "eval" if run else Path("eval-out"))
    out.mkdir(parents=True, exist_ok=True)
    weights = next((one.settings["reward_weights"] for one in chosen if "reward_weights" in one.settings), "")
    measured, outputs = measure(chosen, options, out, PiiSettings(reward_weights=weights).weights)
    labels = [one["label"] for one in measured]

    # A curve is of one run; step 0 is the model that it started from.
    of_run = {one.run for one in chosen if one.run is not None}
    curve = [
        Outside(
            one["step"], scores["token_f1"], scores["token_f1_low"], scores["token_f1_high"], scores["token_precision"]
        )
        for one in measured
        if len(of_run) == 1 and one["step"] is not None and one["external"]
        for scores in [one["external"]["scores"]]
    ]
    rows = eval_tables.summary(measured)
    print((eval_tables.as_markdown if options.markdown else eval_tables.as_text)(rows, labels))
    beside = {one["label"]: one["external"]["scores"] for one in measured if one["external"]}
    note = "left out: --no-baselines"
    if options.external and not options.no_baselines:
        found, note = cheap.kept_or_measured(options.external, out)
        beside |= found
    if beside and not options.no_baselines:
        print(f"\nexternal set, {note}\n{cheap.table(beside, options.markdown)}")
    warnings, advice = judge(run if len(of_run) == 1 else None, curve, measured)
    for line in [*(f"warning: {line}" for line in warnings), *advice]:
        print(line)

    settings = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    contents = {
        "format": FORMAT,
        "settings": {**settings, "reward_weights": weights},
        "models": measured,
        "curve_name": "external strict token F1",
        "curve": [point._asdict() for point in curve],
        "baselines": {name: row for name, row in beside.items() if name not in labels},
        "warnings": warnings,
        "advice": advice,
    }
    pages = write_pages(out, contents, rows, beside, note, outputs, options)
    if run is not None and out == run / "eval":
        from grpo.report import write_report

        pages.append(write_report(run))
    print("\n" + "\n".join(map(str, pages)))
    return 0


def models(options: argparse.Namespace) -> list[Any]:
    """The subjects with the untrained models in front of them."""
    from grpo.subjects import subjects, untrained

    named = [one for name in options.subjects for one in subjects(name, options.all)]
    bases: dict[str, Any] = {}
    for one in named:
        base = options.base or one.base
        if base and base != one.model:
            bases.setdefault(base, untrained(base, one.settings))
    # Named as well, the untrained model would stand there twice.
    found = [*bases.values(), *(one for one in named if one.model not in bases)]
    if len({one.run for one in named}) < 2:
        return found
    return [dataclasses.replace(one, label=f"{one.run.name} {one.label}") if one.run else one for one in found]


def measure(
    chosen: Sequence[Any], options: argparse.Namespace, out: Path, weights: dict[str, float]
) -> tuple[list[dict[str, Any]], tuple[list[tuple[str, Prompt]], list[Column]]]:
    """All measurements of all models, as eval.json holds them; and what the page of outputs is made of."""
    from grpo.answers import ask_all
    from grpo.drift import kl_to_base
    from grpo.evaluate import score
    from grpo.subjects import fingerprint

    tasks: dict[str, PiiTask] = {}
    jobs, prints = {}, {}
    for one in chosen:
        style = options.prompt_style or one.settings.get("prompt_style", "full")
        tasks.setdefault(style, PiiTask(prompt_style=style, weights=weights))
        prints[one.model] = fingerprint(one.model)
        jobs[one.model] = plan(one, tasks[style], prints[one.model], options, out / "answers")
    ask_all(chosen, jobs, sampler=options.sampler, batch=options.batch)
    kl = kl_to_base(chosen, prints, options.base, general.NEUTRAL_TEXTS, out / "answers" / "kl.json")
    measured, columns = [], []
    prompts: list[tuple[str, Prompt]] = []
    for one in chosen:
        style = options.prompt_style or one.settings.get("prompt_style", "full")
        found: dict[str, Any] = {"held_out": None, "external": None, "general": None}
        texts, scores = [], []
        prompts = []
        for job in jobs[one.model]:
            answers = job.answers()
            if job.split == "general":
                found["general"] = graded(job.prompts, [answer.texts[0] for answer in answers])
                continue
            rows = [
                [score(tasks[style], prompt, text) for text in answer.texts]
                for prompt, answer in zip(job.prompts, answers, strict=True)
            ]
            found[job.split] = evaluation.rewards(rows)
            if job.split == "external":
                found["external"] |= evaluation.external(job.prompts, [answer.texts for answer in answers])
            flat = [cut for answer in answers for cut in answer.truncated]
            found[job.split]["truncated_fraction"] = sum(flat) / len(flat)
            prompts += [(job.split.replace("_", "-"), prompt) for prompt in job.prompts]
            texts += [answer.texts[0] for answer in answers]
            scores += [row[0] for row in rows]
        columns.append(Column(one.label, texts, scores))
        measured.append(
            {
                "label": one.label,
                "model": one.model,
                "step": one.step,
                "fingerprint": prints[one.model],
                "prompt_style": style,
                "kl": kl.get(one.model),
                **found,
            }
        )
    # Two columns beside the gold are what can be read side by side: the first model and the last.
    return measured, (prompts, columns[:1] + columns[1:][-1:])


def plan(one: Any, task: PiiTask, fingerprint: str, options: argparse.Namespace, folder: Path) -> list[Any]:
    """What is to be asked of a model."""
    from grpo.answers import Job

    jobs = []
    for split in ("held_out", "external"):
        if count := getattr(options, split):
            jobs.append(
                Job(
                    split,
                    task.eval_prompts(split, count),
                    grammar=None if options.free_form else GRAMMAR,
                    samples=options.samples,
                    temperature=options.temperature if options.samples > 1 else 0.0,
                    max_tokens=options.max_tokens or one.settings.get("max_tokens", 512),
                    seed=options.seed,
                    folder=folder,
                    fingerprint=fingerprint,
                )
            )
    if options.general:
        asked = general.questions(options.general)
        prompts = [Prompt(question.messages, question.kind, {"answer": question.answer}) for question in asked]
        jobs.append(Job("general", prompts, max_tokens=GENERAL_TOKENS, folder=folder, fingerprint=fingerprint))
    return jobs


def graded(prompts: Sequence[Prompt], texts: Sequence[str]) -> dict[str, Any]:
    """Share of right answers to the general questions, in all and by kind."""
    kinds: dict[str, list[bool]] = {}
    for prompt, text in zip(prompts, texts, strict=True):
        question = general.Question(prompt.messages, prompt.metadata["answer"], prompt.type)
        kinds.setdefault(prompt.type, []).append(general.grade(question, text))
    right = [one for values in kinds.values() for one in values]
    return {
        "questions": len(right),
        "share": sum(right) / len(right),
        "by_kind": {kind: sum(values) / len(values) for kind, values in kinds.items()},
    }


def judge(run: Path | None, curve: Sequence[Any], measured: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Signs of a gamed reward, and advice, from the run's own log and what was measured here."""
    from grpo.advice import advice
    from grpo.hacking import precision_gaps, warnings
    from grpo.report_rollouts import whole_lines
    from grpo.run_folder import EVALS, METRICS

    if run is None:
        return [], []
    steps = list(whole_lines(run / METRICS))
    # Never both: the run's own evaluations may be of other prompts and at another temperature.
    evals = [
        {"step": one["step"], **one["held_out"]} for one in measured if one["held_out"] and one["step"] is not None
    ]
    if not evals:
        evals = list(whole_lines(run / EVALS))
    gaps = [
        f"step {gap.step}: precision {gap.own:.3f} by the reward, {gap.outside:.3f} outside"
        for gap in precision_gaps(evals, steps, curve)
    ]
    return warnings(steps, evals, curve), [*gaps, *advice(steps, evals, curve)]


def write_pages(
    out: Path,
    contents: dict[str, Any],
    rows: list[eval_tables.Row],
    beside: dict[str, Any],
    note: str,
    outputs: tuple[list[tuple[str, Prompt]], list[Column]],
    options: argparse.Namespace,
) -> list[Path]:
    """eval.json, eval.html and outputs.html."""
    from grpo.pages import render_page
    from grpo.report_plots import Series, line_chart
    from grpo.run_folder import write_atomically

    measured = contents["models"]
    labels = [one["label"] for one in measured]
    files = [out / "eval.json", out / "eval.html"]
    drawings = [
        (title, note, line_chart(f"{title} over steps", [Series(*line) for line in lines]))
        for title, note, lines in eval_tables.curves(measured)
    ]
    type_head, types = eval_tables.by_type(measured)
    how = "free-form" if options.free_form else "constrained to the grammar"
    asked = "one greedy answer" if options.samples == 1 else f"{options.samples} answers at {options.temperature}"
    page = render_page(
        "eval.html.j2",
        folder=PII_TEMPLATES,
        title=f"Evaluation: {labels[-1]}",
        note=f"{asked} to each document, {how}.",
        warnings=contents["warnings"],
        advice=contents["advice"],
        outputs="outputs.html" if outputs[0] else "",
        rows=rows,
        labels=labels,
        charts=drawings if len(contents["curve"]) > 2 else [],
        beside=eval_tables.beside(beside, cheap.COLUMNS),
        beside_head=list(cheap.COLUMNS),
        beside_note=note,
        type_head=type_head,
        types=types,
        kinds=eval_tables.by_kind(measured),
        settings=json.dumps(contents["settings"], indent=2),
    )
    write_atomically(files[0], json.dumps(contents, indent=1) + "\n")
    write_atomically(files[1], page)
    if outputs[0] and options.read:
        values = page_values(*outputs, limit=options.read)
        shown = (
            f"{len(values['items'])} of {values['total']} documents"
            if values["total"] > options.read
            else "All documents"
        )
        what = "those that changed most, worst first" if values["compared"] else "the lowest reward first"
        page = render_page(
            "outputs.html.j2",
            folder=PII_TEMPLATES,
            title="Outputs to read: " + " and ".join(column.label for column in outputs[1]),
            script="outputs.js",
            note=f"{shown}: {what}. The fault filter looks at the last column.",
            **values,
        )
        files.append(out / "outputs.html")
        write_atomically(files[-1], page)
    return files


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
