"""Is there anything to learn? python probe.py --model M --k 32 --documents 10

Samples k completions for some documents of every type, scores them, and says of each type whether training on it can
teach anything. docs/probe.md explains every number.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grpo.probe_settings import ProbeSettings
from grpo.settings import OneLineParser, SettingsError, add_arguments, flag, from_dict, given
from pii.settings import PiiSettings

# Settings of the task that say what is trained on; a probe looks at every type.
OF_TRAINING = ("probe", "probe_rule", "train_types", "empty_share")


def main(arguments: list[str] | None = None) -> int:
    parser = OneLineParser(prog="probe.py", usage="python probe.py [settings]", description=__doc__.split("\n\n")[1])
    add_arguments(parser, ProbeSettings, PiiSettings)
    parsed = parser.parse_args(arguments)

    # Imported late, so that --help and a misspelt flag answer at once.
    from grpo import models, probe
    from grpo.probe_keep import keep
    from grpo.probe_report import write_page
    from grpo.probe_summary import summarise
    from grpo.probe_table import terminal_report
    from grpo.rollout import SamplerError
    from grpo.run_folder import RunError, versions, write_atomically
    from pii.task import PiiTask

    asked, asked_of_task = given(parsed, ProbeSettings), given(parsed, PiiSettings)
    folder = None
    try:
        for name in OF_TRAINING:
            if name in asked_of_task:
                raise SettingsError(f"{flag(name)}: is a setting of train.py; a probe looks at every type, see --types")
        if "resume" in asked:
            folder, settings, saved_task = probe.reopen(asked["resume"], asked)
            task_settings = from_dict(PiiSettings, saved_task, f"{folder.path}/settings.json")
            for name, value in asked_of_task.items():
                if value != getattr(task_settings, name):
                    raise SettingsError(
                        f"{flag(name)} {value}: the probe has {getattr(task_settings, name)!r}; drop it"
                    )
        else:
            settings, task_settings = start(asked, asked_of_task, models.default_model(), models.recommended)
            folder = probe.create(settings, dataclasses.asdict(task_settings))
        task = PiiTask(
            seed=task_settings.task_seed, prompt_style=task_settings.prompt_style, weights=task_settings.weights
        )
        print(f"probe: {folder.path}  model: {settings.model}", flush=True)
        why: dict[str, str] = {}
        if not probe.finished(folder, settings, task):
            why = sample(folder, settings, task)
        run = probe.write_run(folder, settings, why)
        records = probe.recorded(folder)
        found = summarise(records, settings, task, dataclasses.asdict(task_settings), versions(), axes)
        write_atomically(folder.path / probe.PROBE, json.dumps(found, ensure_ascii=False) + "\n")
        write_page(folder.path / probe.REPORT, found, run, panes_of)
        if settings.keep:
            keep(Path(settings.keep), found, run)
    except (ValueError, RunError, SamplerError) as error:
        # SettingsError, ModelError, GrammarError and the task's complaints are all ValueErrors with one clear line.
        print(f"probe.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        done = len(probe.recorded(folder)) if folder else 0
        go_on = f"; {done} documents are kept, go on with: python probe.py --resume {folder.path}" if folder else ""
        print(f"\nprobe.py: stopped{go_on}", file=sys.stderr)
        return 130
    print(terminal_report(found, run))
    print(f"\n{folder.path}/probe.json (for scripts, and for train.py --probe)\n{folder.path}/report.html (to read)")
    return 0


def start(
    asked: dict[str, Any], asked_of_task: dict[str, Any], default_model: str, recommended: Any
) -> tuple[ProbeSettings, PiiSettings]:
    """Settings of a new probe: what was asked for, else what the model recommends, else the defaults. Says so."""
    model = asked.get("model") or default_model
    out = asked.get("out") or f"runs/probe-{time.strftime('%Y%m%d-%H%M%S')}-{Path(model).name}"
    advice = {
        name: value
        for name, value in recommended(model).items()
        if name in ("max_tokens", "prompt_style", "temperature") and name not in asked and name not in asked_of_task
    }
    if advice:
        print("recommended by the model: " + " ".join(f"{flag(name)} {value}" for name, value in advice.items()))
    of_probe = {name: value for name, value in advice.items() if name in ProbeSettings.__dataclass_fields__}
    of_task = {name: value for name, value in advice.items() if name not in of_probe}
    return (
        ProbeSettings(**{**of_probe, **asked, "model": model, "out": out}),
        PiiSettings(**{**of_task, **asked_of_task}),
    )


def sample(folder: Any, settings: ProbeSettings, task: Any) -> dict[str, str]:
    """Loads the model and samples what the record lacks; returns what was said of each mode's sampler."""
    import torch
    from transformers.utils import logging as transformers_logging

    from grpo import models, probe
    from grpo.config import Config
    from grpo.sampler import Sampler
    from grpo.sampler_choice import choose_sampler, context_limit

    transformers_logging.disable_progress_bar()
    half = settings.precision == "bfloat16" or (settings.precision == "auto" and torch.cuda.is_available())
    dtype = torch.bfloat16 if half else torch.float32
    # Nothing is trained, so no float32 master weights are kept beside those that are computed with.
    model, tokenizer = models.load_model(settings.model, dtype)
    config = Config(
        model=settings.model,
        max_tokens=settings.max_tokens,
        sampler=settings.sampler,
        vllm_memory=settings.vllm_memory,
        out=settings.out,
    )
    why: dict[str, str] = {}

    def sampler_for(mode: str) -> tuple[Sampler, str]:
        grammar = task.grammar if mode == "constrained" else None
        sampler, why[mode] = choose_sampler(config, model, tokenizer, grammar, dtype, folder.path)
        return sampler, f"{mode}: {why[mode]}"

    probe.sample(folder, settings, task, tokenizer, context_limit(config, model), sampler_for)
    return why


def axes(key: str) -> dict[str, float | str]:
    """Where a document type lies along each axis of difficulty."""
    from pii.grid import parse_key

    parsed = parse_key(key)
    return {
        "density": parsed.entities,
        "name forms": parsed.forms,
        "distractors": parsed.distractors,
        "filler": parsed.filler,
        "style": parsed.style,
        "family": parsed.family,
    }


def panes_of(metadata: Mapping[str, Any], completion: str) -> list[Any]:
    from pii.document import Mention
    from pii.panes import panes

    return panes(metadata["document"], [Mention(*mention) for mention in metadata["gold"]], completion)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # While the libraries are still being imported there is nothing to keep.
        sys.exit(130)
