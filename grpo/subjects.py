"""What eval.py and redact.py are given: a run's folder, a checkpoint, or a model's name, and how to sample from it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grpo.checkpoint import checkpoints, damage
from grpo.config import Config, SettingsError
from grpo.models import default_model, model_path, recommended
from grpo.run_folder import read_config
from grpo.sampler import Sampler, TorchSampler
from grpo.sampler_choice import choose_sampler


@dataclass(frozen=True)
class Subject:
    """A model to look at.

    label: for tables. model: what load_model takes. step: of the run that made it, None where it is of no run.
    run: the folder of that run. base: the model that the run started from. settings: what the model recommends, and
    what it was trained with where a run says so (prompt_style, max_tokens).
    """

    label: str
    model: str
    step: int | None
    run: Path | None
    base: str | None
    settings: dict[str, Any]


def subjects(name: str, every: bool = False) -> list[Subject]:
    """The subjects that a name stands for: a run's newest checkpoint, or with `every` all of them, oldest first.

    name: "" is the default model. Raises SettingsError for a run without checkpoints and for damaged ones.
    """
    name = name or default_model()
    folder = Path(name).expanduser()
    if _is_run(folder):
        found = checkpoints(folder)
        if not found:
            raise SettingsError(f"{name}: a run without a checkpoint yet; train on, or name its model")
        chosen = found[::-1] if every else found[:1]
        return [_checkpoint(path) for path in chosen]
    if re.fullmatch(r"step-\d+", folder.name) and folder.is_dir():
        return [_checkpoint(folder)]
    model_path(name)
    return [Subject(Path(name).name, name, None, None, None, recommended(name))]


def untrained(base: str, settings: dict[str, Any]) -> Subject:
    """The model that training started from. settings: of the checkpoints that it is compared with."""
    return Subject(f"{Path(base).name} (step 0)", base, 0, None, None, settings)


def fingerprint(model: str) -> str:
    """16 hexadecimal digits that change when the model's files do; of a hub id, those of its name."""
    digest = hashlib.sha256()
    folder = Path(model_path(model))
    if not folder.is_dir():
        digest.update(model.encode())
    else:
        for file in sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*token*")):
            # An optimizer's state says nothing about answers.
            if file.is_file() and file.name not in ("optimizer.safetensors", "rng.safetensors"):
                with open(file, "rb") as handle:
                    digest.update(f"{file.name} {hashlib.file_digest(handle, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def compute_dtype() -> torch.dtype:
    """What models are run in: bfloat16 on a GPU, float32 on a CPU; as in training."""
    return torch.bfloat16 if torch.cuda.is_available() else torch.float32


class Engine:
    """A sampler for one model after another; an engine that takes long to start is kept while only the weights change.

    kind: auto, torch or vllm. grammar: None lets the models write what they like.
    """

    def __init__(self, kind: str, grammar: str | None) -> None:
        self._kind, self._grammar = kind, grammar
        self._fits = ""
        self._sampler: Sampler | None = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()

    def sampler(self, model: Any, tokenizer: Any, name: str, max_tokens: int) -> Sampler:
        """A sampler of this model's weights as they are now. name: of the model, for what is said about it."""
        shape = {key: value for key, value in model.config.to_dict().items() if not key.startswith("_")}
        fits = json.dumps([shape, tokenizer.get_vocab(), max_tokens], sort_keys=True, default=str)
        if self._sampler is None or fits != self._fits or isinstance(self._sampler, TorchSampler):
            self._close()
            config = Config(model=name, sampler=self._kind, max_tokens=max_tokens)  # type: ignore[arg-type]
            self._sampler, _ = choose_sampler(config, model, tokenizer, self._grammar, compute_dtype())
            self._fits = fits
        self._sampler.sync(model)
        return self._sampler

    def _close(self) -> None:
        if self._sampler is not None:
            getattr(self._sampler, "close", lambda: None)()
            self._sampler = None


def _is_run(folder: Path) -> bool:
    """A run's config.json has settings of this program in it; a model's has not."""
    file = folder / "config.json"
    if not file.is_file():
        return False
    head = file.read_bytes()[:4096]
    return b'"settings"' in head and b'"format"' in head


def _checkpoint(folder: Path) -> Subject:
    problem = damage(folder) if (folder / "manifest.json").exists() else ""
    if problem:
        raise SettingsError(f"{problem}; evaluate another checkpoint")
    step = int(folder.name.removeprefix("step-"))
    run = folder.parent if _is_run(folder.parent) else None
    settings = recommended(str(folder))
    base = None
    if run is not None:
        config, task = read_config(run)
        base = config.model
        settings = {"max_tokens": config.max_tokens, **task, **settings}
    return Subject(f"step {step}", str(folder), step, run, base, settings)
