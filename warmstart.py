"""How models/pii-tiny was made: supervised training on the answers of a careless annotator (see pii/annotator.py).

    python warmstart.py                          the whole of it, into models/pii-tiny-new
    python warmstart.py --steps 50 --out DIR     a short try

Copying is the hard part for so small a model: on documents alone, 500 steps of 16 left the answers' loss at 2.3 nats a
token. Two things bring copying early. The two heads of layer 0 are set by hand, before training, to look one and two
tokens back (half of what an induction head needs, Olsson et al. 2022, arXiv 2209.11895; two tokens, because ten digits
make too few pairs). And training starts with drills: random tokens, then the same again from a random place, so that
each token of the second half can be told from the first. After 200 drills 0.95 of their tokens were right (0.05 without
the heads); of drills with 12 different tokens 0.82 (0.53 with one head). Documents then teach what to copy: first with
thorough answers, because careless ones hardly taught where mentions start. Meanwhile a second head that is thrown away
afterwards reads from half-way up where each mention of the gold starts and what it is; that it helps was not shown.

Only the trained document types are used, never the held-out ones or the external set. The result is a Qwen2
architecture with a tokenizer of its own. Digits are single tokens, and a space is a token of its own, so that a word is
written with the same tokens in the document (after a space) and in the answer (after a quote): what is to be copied is
the same ids. The constant stretches of an answer (`{"text":"` and so on) are one token each.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sys
import time
from collections.abc import Iterator
from itertools import chain, cycle, islice
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from tqdm import tqdm
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from pii.annotator import careless
from pii.answer import render
from pii.document import Document, Mention
from pii.entities import ENTITY_TYPES
from pii.generator import Span, generate_with_spans
from pii.grid import TRAINED
from pii.prompt import messages

PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# What BPE may never merge across: the constant stretches of an answer, type names, words, single digits, white space
# and punctuation marks one by one.
PIECES = r'\{"text":"|","type":"|","entity_id":|\},|\}\]|[A-Z]+(?:_[A-Z]+)+|[\p{L}\p{M}]+|\p{N}|\s|[^\s\p{L}\p{M}\p{N}]'
EMPTY_SHARE = 0.1
LONGEST = 480  # tokens of prompt and answer; longer examples, 30 % that hold 45 % of all tokens, are left out
# What the second head tells apart: outside, inside, and the start of a mention of each type.
OUTSIDE, INSIDE, STARTS = 0, 1, {name: 2 + index for index, name in enumerate(ENTITY_TYPES)}


def documents(seed: int) -> Iterator[tuple[Document, list[Span]]]:
    """Endless labelled documents of the trained types, with the places of their mentions; a share of them has none."""
    rng = random.Random(f"warmstart/{seed}")
    while True:
        empty = rng.random() < EMPTY_SHARE
        yield generate_with_spans(rng.choice(TRAINED), rng.getrandbits(40), empty=empty)


def train_tokenizer(vocab_size: int, count: int, seed: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE over `count` generated documents and their answers; vocab_size includes 3 special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    source = documents(seed)
    texts = (f"{document.text}\n{render(document.gold)}" for document, _ in islice(source, count))
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=CHAT_TEMPLATE,
        model_max_length=4096,
        clean_up_tokenization_spaces=False,
    )


def token_id(tokenizer: PreTrainedTokenizerFast, token: str) -> int:
    found = tokenizer.convert_tokens_to_ids(token)
    assert isinstance(found, int)
    return found


def new_model(vocab_size: int, hidden: int, layers: int, tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    """Random weights. Heads of size 64, because vLLM's CPU build takes no smaller ones; the head is tied."""
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=vocab_size,
            hidden_size=hidden,
            intermediate_size=hidden * 3,
            num_hidden_layers=layers,
            num_attention_heads=hidden // 64,
            num_key_value_heads=hidden // 64,
            max_position_embeddings=4096,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=token_id(tokenizer, END),
            pad_token_id=token_id(tokenizer, PAD),
        )
    )


@torch.no_grad()
def look_back(model: Qwen2ForCausalLM, head: int, distance: int, strength: float = 5.0) -> None:
    """Makes a head of layer 0 attend `distance` tokens back, whatever they are: query and key are constant (biases).

    Rotary positions turn a key by its position. A query that is the same vector turned back by `distance` meets the key
    from there at angle 0 in each of its 32 planes, and every other key at some angle in most of them.
    """
    attention = model.model.layers[0].self_attn
    angles = distance * model.model.rotary_emb.inv_freq.float()
    rows = slice(head * 64, (head + 1) * 64)
    attention.q_proj.weight[rows] = 0.0
    attention.k_proj.weight[rows] = 0.0
    attention.k_proj.bias[rows] = strength * torch.cat([torch.ones(32), torch.zeros(32)])
    attention.q_proj.bias[rows] = strength * torch.cat([torch.cos(angles), -torch.sin(angles)])


class Example(NamedTuple):
    """ids: prompt and answer. labels: the same, but -100 on the prompt. tags: of the prompt's document, else -100."""

    ids: list[int]
    labels: list[int]
    tags: list[int]


class Batch(NamedTuple):
    """Three of Example's rows as tensors, each (rows, T), padded on the right."""

    ids: torch.Tensor
    labels: torch.Tensor
    tags: torch.Tensor


def example(
    document: Document, mentions: list[Mention], spans: list[Span], tokenizer: PreTrainedTokenizerFast
) -> Example:
    """A document as the model meets it, and an answer to it. spans: where the gold's mentions stand."""
    prompt = tokenizer.apply_chat_template(
        list(messages(document.text, "short")), tokenize=False, add_generation_prompt=True
    )
    assert isinstance(prompt, str)
    encoded = tokenizer(prompt, add_special_tokens=False, return_offsets_mapping=True)
    answer = tokenizer.encode(render(mentions) + END, add_special_tokens=False)
    offset = prompt.index(document.text)
    tags = [OUTSIDE if offset <= start < offset + len(document.text) else -100 for start, _ in encoded.offset_mapping]
    for mention, span in zip(document.gold, spans, strict=True):
        for place, (start, end) in enumerate(encoded.offset_mapping):
            if start < span.end + offset and end > span.start + offset:
                tags[place] = STARTS[mention.type] if start <= span.start + offset else INSIDE
    return Example(encoded.input_ids + answer, [-100] * len(tags) + answer, tags + [-100] * len(answer))


def batches(
    tokenizer: PreTrainedTokenizerFast, size: int, seed: int, thorough: bool = False, sort_over: int = 8
) -> Iterator[Batch]:
    """Endless batches of `size` examples, of alike lengths; answers are the gold where thorough, else careless."""
    rng = random.Random(f"warmstart/{seed}/answers")
    source = (
        example(document, document.gold if thorough else careless(document, rng), spans, tokenizer)
        for document, spans in documents(seed)
    )
    short = (one for one in source if len(one.ids) <= LONGEST)
    fills = Example(token_id(tokenizer, PAD), -100, -100)  # type: ignore[arg-type]
    while True:
        pool = sorted(islice(short, size * sort_over), key=lambda one: len(one.ids))
        chunks = [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(chunks)
        for chunk in chunks:
            width = max(len(one.ids) for one in chunk)
            yield Batch(
                *(
                    torch.tensor([row + [fill] * (width - len(row)) for row in rows])
                    for rows, fill in zip(zip(*chunk, strict=True), fills, strict=True)
                )
            )


def drills(vocab_size: int, seed: int, tokens: int = 4096) -> Iterator[Batch]:
    """Batches without tags, (tokens / 2L, 2L): L random tokens (16 to 64), then the same, rolled by up to L/2.

    Every other drill draws each row's tokens from 12 of the vocabulary, as numbers draw theirs from ten digits.
    """
    generator = torch.Generator().manual_seed(seed)
    for few in cycle((False, True)):
        length = int(torch.randint(16, 65, (1,), generator=generator))
        rows = tokens // (2 * length)
        first = torch.randint(3, vocab_size, (rows, length), generator=generator)
        if few:
            first = first.gather(1, torch.randint(0, 12, (rows, length), generator=generator))
        start = torch.randint(0, length // 2, (rows, 1), generator=generator)
        second = first.gather(1, (torch.arange(length) + start) % length)
        ids = torch.cat([first, second], dim=1)
        labels = ids.clone()
        labels[:, : length + 1] = -100
        yield Batch(ids, labels, torch.full_like(ids, -100))


class Losses(NamedTuple):
    """answer, tags: mean cross-entropy in nats. first_choice: share of the answer's tokens that are the likeliest."""

    answer: torch.Tensor
    tags: torch.Tensor
    first_choice: torch.Tensor


def losses(model: Qwen2ForCausalLM, tagger: torch.nn.Linear, batch: Batch) -> Losses:
    """Of one batch. The tags are read half-way up, so that the layers above can attend to what they say.

    Right padding needs no attention mask: a causal model's real tokens never see what comes after them.
    """
    with torch.autocast(batch.ids.device.type, dtype=torch.bfloat16):
        states = model.model(input_ids=batch.ids, output_hidden_states=True)
        learnt = batch.labels[:, 1:] != -100
        logits = model.lm_head(states.last_hidden_state[:, :-1][learnt]).float()
        tagged = batch.tags != -100
        tag_logits = tagger(states.hidden_states[model.config.num_hidden_layers // 2][tagged]).float()
    targets = batch.labels[:, 1:][learnt]
    return Losses(
        cross_entropy(logits, targets),
        # A drill has no tags, and the mean of nothing is no number.
        cross_entropy(tag_logits, batch.tags[tagged], reduction="sum") / max(1, int(tagged.sum())),
        (logits.argmax(-1) == targets).float().mean(),
    )


def learning_rate(step: int, steps: int, peak: float, warmup: int = 100) -> float:
    """Linear warm-up, then a cosine to a twentieth of the peak."""
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return peak * (0.05 + 0.95 * (1 + math.cos(math.pi * progress)) / 2)


def save(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """bfloat16 safetensors, tokenizer and configuration; the folder appears under its name only when it is whole."""
    aside = out.with_name(out.name + ".tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    half = Qwen2ForCausalLM(model.config)
    half.load_state_dict(model.state_dict())
    torch.nn.Module.to(half, torch.bfloat16)
    half.save_pretrained(aside)
    tokenizer.save_pretrained(aside)
    if out.exists():
        shutil.rmtree(out)
    aside.rename(out)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000, help="steps on careless answers, last (default %(default)s)")
    parser.add_argument("--drills", type=int, default=300, help="steps of copying drills before (default %(default)s)")
    parser.add_argument("--thorough", type=int, default=2000, help="steps on gold answers next (default %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="documents a step (default %(default)s)")
    parser.add_argument("--lr", type=float, default=2e-3, help="peak learning rate of AdamW (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=128, help="width, a multiple of 64 (default %(default)s)")
    parser.add_argument("--layers", type=int, default=4, help="layers (default %(default)s)")
    parser.add_argument("--vocab", type=int, default=2048, help="entries of the tokenizer (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of weights, documents and answers (default %(default)s)")
    parser.add_argument("--save-every", type=int, default=500, help="steps between saves (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("models/pii-tiny-new"), help="folder (default %(default)s)")
    settings = parser.parse_args(argv)
    for name in ("steps", "batch", "layers", "save_every"):
        if getattr(settings, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be 1 or more, not {getattr(settings, name)}")
    if settings.hidden < 64 or settings.hidden % 64:
        parser.error(f"--hidden must be a multiple of 64 (the size of a head), not {settings.hidden}")
    if settings.vocab < 512:
        parser.error(f"--vocab must be 512 or more (256 bytes and the words of the task), not {settings.vocab}")

    torch.manual_seed(settings.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print("training the tokenizer on 4,000 documents")
    tokenizer = train_tokenizer(settings.vocab, 4000, settings.seed)
    model = new_model(len(tokenizer), settings.hidden, settings.layers, tokenizer)
    torch.nn.Module.to(model, device)
    for head in range(min(2, settings.hidden // 64)):
        look_back(model, head, distance=head + 1)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} tokens")

    tagger = torch.nn.Linear(settings.hidden, 2 + len(ENTITY_TYPES)).to(device)
    optimizer = torch.optim.AdamW(
        [*model.parameters(), *tagger.parameters()], lr=settings.lr, betas=(0.9, 0.98), weight_decay=0.05
    )
    lessons = chain(
        islice(drills(len(tokenizer), settings.seed), settings.drills),
        islice(batches(tokenizer, settings.batch, settings.seed + 1, thorough=True), settings.thorough),
        islice(batches(tokenizer, settings.batch, settings.seed + 2), settings.steps),
    )
    log: list[dict[str, float]] = []
    started = time.monotonic()
    total = settings.drills + settings.thorough + settings.steps
    bar = tqdm(lessons, total=total, desc="warm start", unit="step", file=sys.stdout)
    for step, batch in enumerate(bar):
        rate = learning_rate(step, total, settings.lr)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = losses(model, tagger, Batch(*(part.to(device) for part in batch)))
        optimizer.zero_grad()
        (loss.answer + loss.tags).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.append({"step": step + 1, "lr": rate, **{name: x.item() for name, x in loss._asdict().items()}})
        recent = log[-20:]
        bar.set_postfix({name: f"{sum(row[name] for row in recent) / len(recent):.3f}" for name in Losses._fields})
        if (step + 1) % settings.save_every == 0 or step + 1 == total:
            save(model, tokenizer, settings.out)
            record = {name: value for name, value in vars(settings).items() if name != "out"}
            record |= {"seconds": round(time.monotonic() - started), "log": log[:: max(1, len(log) // 200)]}
            (settings.out / "warmstart.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"saved to {settings.out}")


if __name__ == "__main__":
    main()
