"""More than one process: each samples and trains its share of a step's prompts, and gradients are summed by hand.

No DDP wrapper. Every process divides by the same denominator, counted over all of them, so the sum of their gradients
is the gradient of the whole step however the prompts were shared out. A process with nothing to learn adds zeros and
takes part in the same calls as the others, so nobody waits for it. With one process these calls do nothing.
"""

from __future__ import annotations

import atexit
import dataclasses
import importlib.util
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from accelerate import Accelerator

from grpo.config import Config, SettingsError

T = TypeVar("T")


def several() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def gather(value: T) -> list[T]:
    """The values of all processes, in rank order, on every process. Values are small Python objects."""
    if not several():
        return [value]
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, value)
    return gathered


def sum_gradients(model: torch.nn.Module) -> None:
    """Replaces every parameter's gradient by its sum over all processes; a missing gradient counts as zero."""
    for parameter in model.parameters():
        if not parameter.requires_grad:
            continue
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        if several():
            dist.all_reduce(parameter.grad)


def leave() -> None:
    """Ends the process group; called as the interpreter exits, before it is taken down.

    A worker thread of gloo that frees a tensor while the interpreter is half gone aborts the process ("terminate called
    without an active exception"), so the group must end before. With NCCL that waits for the other processes, which a
    process that failed must not do: the group then ends with it.
    """
    if several() and (dist.get_backend() == "gloo" or not _failed):
        dist.destroy_process_group()


def failed() -> None:
    """Says that this process ends before its work is done, so that its end waits for no other; see leave()."""
    global _failed
    _failed = True


_failed = False


def accelerator(config: Config) -> Accelerator:
    """Device, compute type, processes and tracker. Raises SettingsError where the tracker cannot be had."""
    if config.log_with != "none" and importlib.util.find_spec(config.log_with) is None:
        raise SettingsError(
            f"--log-with {config.log_with}: that package is not installed; pip install {config.log_with}"
        )
    on_gpu = torch.cuda.is_available()
    bfloat16 = config.precision == "bfloat16" or (config.precision == "auto" and on_gpu)
    made = Accelerator(
        cpu=not on_gpu,
        mixed_precision="bf16" if bfloat16 else "no",
        log_with=None if config.log_with == "none" else config.log_with,
        project_dir=config.out,
    )
    # Once, however many trainers a process makes.
    atexit.unregister(leave)
    atexit.register(leave)
    if config.log_with != "none":
        settings = {name: value for name, value in dataclasses.asdict(config).items() if value is not None}
        try:
            made.init_trackers("grpo-pii", config=settings)
        except Exception as error:
            # Without an account, a login or a network every tracker raises something of its own.
            cause = " ".join(str(error).split())[:200] or type(error).__name__
            raise SettingsError(f"--log-with {config.log_with}: cannot be started ({cause})") from error
    return made
