"""Learn: python train.py --steps 150

Trains a small language model with GRPO to find personal data in Indian documents, and ends with what came of it.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

from grpo.config import Config, SettingsError, resumed
from grpo.settings import OneLineParser, add_arguments, check, flag, from_dict, given, markdown
from pii.grid import HELD_OUT, TRAINED
from pii.settings import PiiSettings


def main(arguments: list[str] | None = None) -> int:
    parser = OneLineParser(prog="train.py", usage="python train.py [settings]", description=__doc__.split("\n\n")[1])
    add_arguments(parser, Config, PiiSettings)
    parser.add_argument("--help-markdown", action="store_true", help="print all settings as Markdown and exit")
    parsed = parser.parse_args(arguments)
    if parsed.help_markdown:
        print(markdown(Config, PiiSettings), end="")
        return 0

    # Imported late, so that --help and a misspelt flag answer at once.
    import torch
    from transformers.utils import logging as transformers_logging

    from grpo import models
    from grpo.report import write_report
    from grpo.rollout import SamplerError
    from grpo.run_folder import RunError, RunFolder, read_config
    from grpo.summary import summary
    from grpo.trainer import Trainer
    from pii.task import PiiTask

    transformers_logging.disable_progress_bar()
    asked, asked_of_task = given(parsed, Config), given(parsed, PiiSettings)
    try:
        if "resume" in asked:
            config, task_settings = resume(asked, asked_of_task, *read_config(asked["resume"]))
        else:
            config, task_settings = start(asked, asked_of_task, models.default_model(), models.recommended)
        check(task_settings)
        task = PiiTask(
            seed=task_settings.task_seed,
            prompt_style=task_settings.prompt_style,
            weights=task_settings.weights,
            empty_share=task_settings.empty_share,
            types=task_settings.types,
        )
        # On the CPU first: of several processes each moves it to its own GPU.
        model, tokenizer = models.load_model(config.model, device="cpu")
        trainer = Trainer(
            config,
            task,
            model,
            tokenizer,
            task_settings=dataclasses.asdict(task_settings),
            recommended={
                "lr": config.lr,
                "max_tokens": config.max_tokens,
                "prompt_style": task_settings.prompt_style,
            },
        )
        if trainer.main:
            print(f"run: {config.out}  model: {config.model}  device: {trainer.accelerator.device}", flush=True)
        finished = trainer.train()
    except torch.OutOfMemoryError:
        print(f"train.py: out of GPU memory: {config.model} is too large; --beta 0 saves a copy of it", file=sys.stderr)
        return 2
    except (ValueError, OSError, RunError, SamplerError) as error:
        # SettingsError, ModelError, GrammarError and the task's complaints are all ValueErrors with one clear line.
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("train.py: stopped at once; what follows the last checkpoint is lost", file=sys.stderr)
        return 130

    if not trainer.main:
        return 0
    print(summary(RunFolder(config.out)))
    print(f"report                       {write_report(config.out)}")
    print(f"run folder                   {config.out}")
    if not finished:
        print(f"stopped after step {trainer.steps_done}; go on with: python train.py --resume {config.out}")
    return 0


def start(
    asked: dict[str, Any], asked_of_task: dict[str, Any], default_model: str, recommended: Any
) -> tuple[Config, PiiSettings]:
    """Settings of a new run: what was asked for, else what the model recommends, else the defaults. Says so."""
    model = asked.get("model", default_model)
    asked.setdefault("model", model)
    asked["out"] = asked.get("out") or f"runs/{time.strftime('%Y%m%d-%H%M%S')}-{Path(model).name}"
    advice = recommended(model)
    known = {field.name for cls in (Config, PiiSettings) for field in dataclasses.fields(cls)}
    if set(advice) - known:
        raise SettingsError(f"{model}/recommended.json: unknown setting {', '.join(sorted(set(advice) - known))}")
    taken = {name: value for name, value in advice.items() if name not in asked and name not in asked_of_task}
    if taken:
        print("recommended by the model: " + " ".join(f"{flag(name)} {value}" for name, value in taken.items()))
    of_config = {name: value for name, value in taken.items() if name in Config.__dataclass_fields__}
    of_task = {name: value for name, value in taken.items() if name not in of_config}
    return Config(**{**of_config, **asked}), chosen_by_probe(PiiSettings(**{**of_task, **asked_of_task}))


def chosen_by_probe(settings: PiiSettings) -> PiiSettings:
    """Fills in the types that --probe calls trainable, once: config.json then says what the run trains on."""
    if not settings.probe:
        if settings.probe_rule != "uniform":
            raise SettingsError(f"--probe-rule {settings.probe_rule} says how to use a probe; give one with --probe")
        return settings
    if settings.train_types:
        raise SettingsError("--probe and --train-types both say what to train on; give one of them")
    from grpo.probe_file import training_types

    found = training_types(settings.probe, settings.probe_rule)
    shares = {key: share for key, share in found.items() if key not in HELD_OUT}
    if not shares:
        raise SettingsError(f"--probe {settings.probe}: all that it calls trainable is held out; nothing to train on")
    how = {"uniform": "in equal shares", "spread": "in proportion to their groups' spread"}[settings.probe_rule]
    print(f"probe {settings.probe}: trains on {len(shares)} of {len(TRAINED)} types, {how}")
    train_types = ",".join(
        key if settings.probe_rule == "uniform" else f"{key}={share:.4g}" for key, share in shares.items()
    )
    return dataclasses.replace(settings, train_types=train_types)


def resume(
    asked: dict[str, Any], asked_of_task: dict[str, Any], saved: Config, saved_task: dict[str, Any]
) -> tuple[Config, PiiSettings]:
    """Settings of the run that is gone on with, and whatever may be changed on the way."""
    config, notes = resumed(saved, asked["resume"], asked)
    task_settings = from_dict(PiiSettings, saved_task, f"{asked['resume']}/config.json")
    for name, value in asked_of_task.items():
        if value != getattr(task_settings, name):
            raise SettingsError(
                f"{flag(name)} {value}: the run has {getattr(task_settings, name)!r}, which cannot change"
            )
    for note in notes:
        print(note)
    return config, task_settings


if __name__ == "__main__":
    sys.exit(main())
