"""vLLM against TorchSampler on the same prompts: log-prob agreement, tokens a second, and what the grammar costs.

    OMP_NUM_THREADS=1 python -m benchmarks.vllm_compare [--model NAME] [--prompt 300] [--tokens 40] [--repeats 3]

Both draw from prompts of the task's shape (random ids), constrained to a string that cannot end, which is where a PII
answer spends its tokens, and free. Times are processor seconds of the whole process, per token that was drawn. On a
GPU processor time says nothing about the engine: --wall takes the clock on the wall.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import ratio, save
from benchmarks.sampling import ENDLESS
from grpo.grammar import TokenGrammar
from grpo.logprobs import token_logprobs
from grpo.models import default_model, load_model
from grpo.rollout import Group
from grpo.sampler import Sampler, TorchSampler, VLLMSampler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--prompt", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--completions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--wall", action="store_true", help="time by the clock on the wall")
    args = parser.parse_args()
    clock = time.perf_counter if args.wall else time.process_time
    model, tokenizer = load_model(args.model)
    rng = random.Random(0)
    prompts = [[rng.randrange(len(tokenizer)) for _ in range(args.prompt)] for _ in range(args.prompts)]
    grammar = TokenGrammar.for_model(ENDLESS, model, tokenizer)
    log = Path(tempfile.mkdtemp()) / "vllm.log"
    engine = VLLMSampler(model, tokenizer, grammar, max_model_len=args.prompt + args.tokens, log_file=log)
    # One engine a process: the same one samples freely with its grammar taken away (control tokens stay masked).
    no_grammar = TokenGrammar.for_model(None, model, tokenizer)
    samplers: dict[str, Sampler] = {
        "vllm constrained": engine,
        "vllm free": engine,
        "torch constrained": TorchSampler(model, tokenizer, ENDLESS),
        "torch free": TorchSampler(model, tokenizer),
    }
    seconds: dict[str, list[float]] = {way: [] for way in samplers}
    gaps: dict[str, dict[str, float]] = {}
    for repeat in range(args.repeats + 1):
        for way, sampler in samplers.items():
            if sampler is engine:
                engine.grammar = grammar if way == "vllm constrained" else no_grammar
                # The step that follows an update finds no prompt in the cache.
                engine.sync(model)
            start = clock()
            rows = sampler.generate(prompts, args.completions, max_tokens=args.tokens, seed=repeat)
            spent = clock() - start
            if repeat:
                seconds[way].append(spent / sum(len(one.token_ids) for row in rows for one in row))
            elif way.endswith("constrained"):
                groups = [Group(prompt, row) for prompt, row in zip(prompts, rows, strict=True)]
                gaps[way] = gap(model, groups, grammar)
    engine.close()
    result: dict[str, Any] = {
        "settings": vars(args),
        "engine dtype": str(engine.dtype),
        "log-prob gap to the trainer, nats": gaps,
        "tokens a second": {way: [1 / value for value in values] for way, values in seconds.items()},
        "constrained / free, time a token": {
            name: ratio(seconds[f"{name} constrained"], seconds[f"{name} free"]) for name in ("vllm", "torch")
        },
    }
    file = save("vllm_compare", result)
    print("|  | tokens a second (least, most) | constrained / free (least, most) | largest log-prob gap |")
    print("|---|---|---|---|")
    for way in samplers:
        speeds = result["tokens a second"][way]
        row = [way, f"{statistics.median(speeds):.0f} ({min(speeds):.0f}, {max(speeds):.0f})", "", ""]
        if way in gaps:
            cost = result["constrained / free, time a token"][way.split()[0]]
            row[2:] = [f"{cost['median']:.2f} ({cost['min']:.2f}, {cost['max']:.2f})", f"{gaps[way]['max']:.1e}"]
        print(f"| {' | '.join(row)} |")
    print(file)


def gap(model: Any, groups: list[Group], grammar: TokenGrammar) -> dict[str, float]:
    """Mean and largest distance, nats, of the completions' log-probs from the trainer's."""
    with torch.no_grad():
        scored = token_logprobs(model, groups, grammar=grammar)
    own = torch.tensor([value for group in groups for one in group.completions for value in one.logprobs])
    apart = (scored.logprobs[scored.mask].cpu() - own).abs()
    return {"mean": apart.mean().item(), "max": apart.max().item()}


if __name__ == "__main__":
    main()
