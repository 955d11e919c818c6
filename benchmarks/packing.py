"""Packed against padded groups: processor time and largest difference of one forward and backward pass.

    python -m benchmarks.packing [--model NAME] [--prompt 300] [--answer 80] [--completions 8] [--repeats 3]

The completions' lengths run evenly from half to one and a half times --answer. Ids are random: time does not depend on
what is said.
"""

from __future__ import annotations

import argparse
import random

import torch

from benchmarks.measure import alternately, ratio, save
from grpo.logprobs import token_logprobs
from grpo.models import default_model, load_model
from grpo.rollout import Completion, Group


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--prompt", type=int, default=300)
    parser.add_argument("--answer", type=int, default=80)
    parser.add_argument("--completions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    model, tokenizer = load_model(args.model, device="cpu")
    group = random_group(args.prompt, args.answer, args.completions, len(tokenizer))

    def update(packed: bool) -> torch.Tensor:
        model.zero_grad()
        logprobs = token_logprobs(model, [group], packed=packed).logprobs
        logprobs.sum().backward()
        return logprobs.detach()

    results: dict[bool, torch.Tensor] = {}

    def keep(packed: bool) -> None:
        results[packed] = update(packed)

    times = alternately(args.repeats, {"padded": lambda: keep(False), "packed": lambda: keep(True)})
    gain = ratio(times["padded"], times["packed"])
    result = {
        "settings": vars(args),
        "seconds": times,
        "padded / packed": gain,
        "largest log-prob difference": (results[True] - results[False]).abs().max().item(),
    }
    file = save("packing", result)
    print(f"packed takes {gain['median']:.2f} times less ({gain['min']:.2f} to {gain['max']:.2f}); {file}")


def random_group(prompt: int, answer: int, completions: int, vocabulary: int) -> Group:
    """Lengths spread evenly from answer / 2 to 3 answer / 2."""
    rng = random.Random(0)
    step = answer / max(1, completions - 1)
    lengths = [round(answer / 2 + step * k) for k in range(completions)]
    rows = [[rng.randrange(vocabulary) for _ in range(length)] for length in lengths]
    ids = [rng.randrange(vocabulary) for _ in range(prompt)]
    return Group(ids, [Completion(row, [0.0] * len(row), "length") for row in rows])


if __name__ == "__main__":
    main()
