"""Reading probe.json: what a probe found, and which types to train on because of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal

from grpo.probe_summary import FORMAT
from grpo.settings import SettingsError

Rule = Literal["uniform", "spread"]


def read_probe(file: str | Path) -> dict[str, Any]:
    """The contents of a probe.json (see grpo.probe_summary). Raises SettingsError, in one line, for any other file."""
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"probe {file}: {error.strerror}; give the probe.json that probe.py wrote") from error
    except ValueError as error:
        raise SettingsError(f"probe {file}: not whole JSON ({error}); restore it or run probe.py again") from error
    if not isinstance(found, dict) or "format" not in found or "modes" not in found:
        raise SettingsError(f"probe {file}: not a probe.json; give the one that probe.py wrote")
    if found["format"] != FORMAT:
        raise SettingsError(
            f"probe {file}: format {found['format']}, this version reads {FORMAT}; run probe.py of this version again"
        )
    return found


def training_types(file: str | Path, rule: Rule = "uniform") -> dict[str, float]:
    """Type -> its share of the training prompts, for the types that the probe calls trainable (solved or not).

    rule: "uniform", as many prompts of each type; "spread", in proportion to the mean standard deviation of the type's
    groups, so that types whose completions differ most come most often.
    Raises SettingsError for a file that is no probe.json, and where it calls no type trainable.
    """
    found = read_probe(file)
    try:
        types = {str(type): float(share) for type, share in found["training_types"].items()}
        if rule == "spread":
            mode = next(iter(found["modes"].values()))
            types = {type: float(mode["types"][type]["std"]["mean"]) for type in types}
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise SettingsError(f"probe {file}: damaged ({error!r}); restore it or run probe.py again") from error
    if not types:
        raise SettingsError(
            f"probe {file}: calls no type trainable, so there is nothing to train on; docs/probe.md says what to change"
        )
    if not all(math.isfinite(share) and share > 0 for share in types.values()):
        raise SettingsError(f"probe {file}: a type's share is not a positive number; run probe.py again")
    return types
