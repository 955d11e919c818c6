"""What is worth keeping of a probe: small enough for a repository, and without anybody's documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grpo.probe_plots import write_images
from grpo.probe_table import terminal_report
from grpo.run_folder import write_atomically
from grpo.settings import SettingsError


def keep(folder: Path, found: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Writes NAME.png of every plot, tables.txt, and probe.json with run.json inside but without single rewards and
    completions. Raises SettingsError where the folder cannot be written.
    """
    modes = {
        mode: {
            **of_mode,
            "types": {
                type: {name: value for name, value in of_type.items() if name not in ("examples", "groups")}
                for type, of_type in of_mode["types"].items()
            },
        }
        for mode, of_mode in found["modes"].items()
    }
    compact = json.dumps({**found, "modes": modes, "run": run}, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "probe.json", compact + "\n")
        write_atomically(folder / "tables.txt", terminal_report(found, run) + "\n")
        write_images(folder, found)
    except OSError as error:
        raise SettingsError(f"--keep {folder}: cannot be written ({error.strerror}); choose another folder") from error
