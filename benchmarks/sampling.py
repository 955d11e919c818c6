"""TorchSampler constrained to the task's grammar against free: processor time for the same number of tokens.

    python -m benchmarks.sampling [--model NAME] [--prompt 300] [--tokens 40] [--prompts 4] [--completions 8]

Both draw the same number of tokens: the constrained one under a string that cannot end, which is where a PII answer
spends its tokens and where the mask is largest. Also: microseconds a token to replay an answer through the grammar.
"""

from __future__ import annotations

import argparse
import random
import time

from benchmarks.measure import alternately, ratio, save
from grpo.grammar import TokenGrammar
from grpo.models import default_model, load_model
from grpo.sampler import TorchSampler
from pii.prompt import GRAMMAR

ENDLESS = r"""root ::= "[{\"text\":\"" [^"\\\x00-\x1f]* "\"}]" "never" """


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=default_model())
    parser.add_argument("--prompt", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--completions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    model, tokenizer = load_model(args.model, device="cpu")
    rng = random.Random(0)
    prompts = [[rng.randrange(len(tokenizer)) for _ in range(args.prompt)] for _ in range(args.prompts)]
    drawn: dict[str, int] = {}

    def sample(name: str, sampler: TorchSampler) -> None:
        groups = sampler.generate(prompts, args.completions, max_tokens=args.tokens, seed=0)
        drawn[name] = sum(len(completion.token_ids) for group in groups for completion in group)

    free = TorchSampler(model, tokenizer)
    constrained = TorchSampler(model, tokenizer, ENDLESS)
    ways = {"constrained": lambda: sample("constrained", constrained), "free": lambda: sample("free", free)}
    times = alternately(args.repeats, ways)
    per_token = {name: [seconds / drawn[name] for seconds in times[name]] for name in times}
    cost = ratio(per_token["constrained"], per_token["free"])
    replayed = replay(TokenGrammar.for_model(GRAMMAR, model, tokenizer), tokenizer)
    result = {
        "settings": vars(args),
        "tokens": drawn,
        "tokens a processor second": {name: [1 / value for value in values] for name, values in per_token.items()},
        "constrained / free, time a token": cost,
        "replay, microseconds a token": replayed,
    }
    file = save("sampling", result)
    print(f"a constrained token takes {cost['median']:.2f} times a free one's ({cost['min']:.2f} to {cost['max']:.2f})")
    print(f"replay takes {replayed:.1f} microseconds a token; {file}")


def replay(grammar: TokenGrammar, tokenizer) -> float:
    """The least of ten replays of a four-item answer, per token."""
    item = '{"text":"12, MG Road, Pune 411001","type":"ADDRESS","entity_id":7}'
    ids = [*tokenizer(f"[{','.join([item] * 4)}]", add_special_tokens=False)["input_ids"], grammar.eos_token_ids[0]]
    times = []
    for _ in range(10):
        start = time.process_time()
        grammar.allowed_bitmask(ids)
        times.append(time.process_time() - start)
    return min(times) / len(ids) * 1e6


if __name__ == "__main__":
    main()
