"""Checkpoints: written aside, verified by size and hash, renamed into place. Safetensors and JSON only; no pickle.

runs/NAME/step-N/ holds
    model.safetensors, config.json, tokenizer files    a folder that transformers and `--model` load like any other
    recommended.json        settings that suit this model, read by train.py beside a model
    optimizer.safetensors   AdamW's state, `exp_avg.NAME`, `exp_avg_sq.NAME`, `step.NAME` for each parameter
    rng.safetensors         states of the random generators of torch, CUDA and Python
    state.json              step, data position
    manifest.json           bytes and SHA-256 of every file above; written last
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, load_model, save_file

from grpo.config import SettingsError
from grpo.run_folder import RunError, sync_folder, write_atomically

FORMAT = 1


class CheckpointError(SettingsError):
    """A checkpoint that is not whole; one line that names the file and says from which step the run can go on."""


def save(
    run: Path,
    step: int,
    model: Any,
    tokenizer: Any,
    optimizer: torch.optim.Optimizer,
    state: Mapping[str, Any],
    recommended: Mapping[str, Any],
    keep: int = 0,
) -> Path:
    """Writes run/step-N, unless it is there already, and returns its path.

    state: what the trainer needs besides weights and optimizer. recommended: settings for whoever loads the model.
    keep: older checkpoints beyond the newest `keep` are deleted; 0 keeps all.
    Raises RunError where it cannot be written.
    """
    folder = run / f"step-{step}"
    try:
        if not folder.exists():
            for unfinished in run.glob("step-*.tmp"):
                shutil.rmtree(unfinished)
            aside = run / f"step-{step}.tmp"
            _write(aside, model, tokenizer, optimizer, {"step": step, **state}, recommended)
            os.rename(aside, folder)
            sync_folder(run)
    except (OSError, SafetensorError) as error:
        raise RunError(f"{folder}: the checkpoint cannot be written ({error}); make room and resume") from error
    if keep:
        for old in checkpoints(run)[keep:]:
            shutil.rmtree(old)
    return folder


def _write(
    folder: Path,
    model: Any,
    tokenizer: Any,
    optimizer: torch.optim.Optimizer,
    state: Mapping[str, Any],
    recommended: Mapping[str, Any],
) -> None:
    folder.mkdir(parents=True)
    model.save_pretrained(folder, max_shard_size="1TB")
    tokenizer.save_pretrained(folder)
    save_file(_optimizer_tensors(model, optimizer), folder / "optimizer.safetensors")
    save_file(_rng_tensors(), folder / "rng.safetensors")
    _write_json(folder / "state.json", state)
    _write_json(folder / "recommended.json", recommended)
    # A tokenizer with several chat templates keeps them in a folder of their own.
    files = {str(file.relative_to(folder)): _fingerprint(file) for file in sorted(folder.rglob("*")) if file.is_file()}
    _write_json(folder / "manifest.json", {"format": FORMAT, "step": state["step"], "files": files})
    for file in folder.rglob("*"):
        _sync_file(file)
    sync_folder(folder)


def checkpoints(run: Path) -> list[Path]:
    """The checkpoints under their final names, newest first."""
    found = [path for path in run.glob("step-*") if re.fullmatch(r"step-\d+", path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")), reverse=True)


def latest(run: Path) -> Path | None:
    """The newest checkpoint, verified; None where the run has none yet.

    Raises CheckpointError where it is damaged, and names the newest one that is whole.
    """
    found = checkpoints(run)
    if not found:
        return None
    newest, *older = found
    problem = damage(newest)
    if problem:
        whole = next((path for path in older if not damage(path)), None)
        instead = f"go on from {whole.name}" if whole else "start the run again from its first step"
        raise CheckpointError(f"{problem}; delete {newest} to {instead}")
    return newest


def damage(folder: Path) -> str:
    """What is wrong with a checkpoint's files, naming the first that is; "" where it is whole."""
    manifest = folder / "manifest.json"
    try:
        contents = json.loads(manifest.read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            return f"{manifest}: format {contents['format']}, and this version of the program reads format {FORMAT}"
        expected = {name: {key: one[key] for key in ("bytes", "sha256")} for name, one in contents["files"].items()}
    except OSError as error:
        return f"{manifest}: cannot be read ({error.strerror})"
    except (ValueError, LookupError, TypeError, AttributeError):
        return f"{manifest}: damaged"
    for name, fingerprint in expected.items():
        file = folder / name
        if not file.is_file():
            return f"{file}: missing"
        size = file.stat().st_size
        if size != fingerprint["bytes"]:
            return f"{file}: truncated ({size} of {fingerprint['bytes']} bytes)"
        if _fingerprint(file) != fingerprint:
            return f"{file}: damaged (its SHA-256 is not the manifest's)"
    return ""


def load(folder: Path, model: Any, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Puts weights, optimizer state and random states back in place, and returns the saved state."""
    try:
        load_model(model, folder / "model.safetensors", device=str(model.device))
    except RuntimeError as error:
        raise CheckpointError(
            f"{folder / 'model.safetensors'}: does not fit this model ({str(error)[:200]})"
        ) from error
    saved = load_file(folder / "optimizer.safetensors", device=str(model.device))
    for name, parameter in model.named_parameters():
        entry = {key: saved[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{name}" in saved}
        if entry:
            # AdamW keeps its step count on the CPU.
            entry["step"] = entry["step"].cpu()
            optimizer.state[parameter] = entry
    _restore_rng(load_file(folder / "rng.safetensors"))
    return json.loads((folder / "state.json").read_text(encoding="utf-8"))


def _optimizer_tensors(model: Any, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    return {
        f"{key}.{name}": value.detach().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def _rng_tensors() -> dict[str, torch.Tensor]:
    version, words, gauss = random.getstate()
    tensors = {
        "torch": torch.get_rng_state(),
        "python": torch.tensor([version, *words], dtype=torch.int64),
        "python_gauss": torch.tensor([] if gauss is None else [gauss], dtype=torch.float64),
    }
    if torch.cuda.is_available():
        tensors |= {f"cuda.{index}": state for index, state in enumerate(torch.cuda.get_rng_state_all())}
    return tensors


def _restore_rng(tensors: dict[str, torch.Tensor]) -> None:
    torch.set_rng_state(tensors["torch"])
    version, *words = tensors["python"].tolist()
    gauss = tensors["python_gauss"].tolist()
    random.setstate((version, tuple(words), gauss[0] if gauss else None))
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            if f"cuda.{index}" in tensors:
                torch.cuda.set_rng_state(tensors[f"cuda.{index}"], index)


def _write_json(file: Path, contents: Mapping[str, Any]) -> None:
    write_atomically(file, json.dumps(contents, indent=2, allow_nan=False) + "\n")


def _fingerprint(file: Path) -> dict[str, Any]:
    with open(file, "rb") as handle:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(handle, "sha256").hexdigest()}


def _sync_file(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
