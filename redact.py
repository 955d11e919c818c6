"""Use it: python redact.py FILE --checkpoint runs/NAME

Prints a document with the personal data in it masked, or replaced by tags, or listed. Nothing leaves the machine.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from grpo.settings import OneLineParser, SettingsError

INCOMPLETE = 3
"""Exit status where some part of the document could not be read to its end."""


def main(arguments: list[str] | None = None) -> int:
    parser = OneLineParser(
        prog="redact.py", usage="python redact.py FILE|- [settings]", description=__doc__.split("\n\n")[1]
    )
    parser.add_argument("file", metavar="FILE", help="a text file in UTF-8, or - for standard input")
    parser.add_argument(
        "--checkpoint",
        default="",
        help="a run's folder (its newest checkpoint), a checkpoint, or a model's name (default: train.py's model)",
    )
    parser.add_argument(
        "--style",
        choices=("mask", "tag", "json"),
        default="mask",
        help="mask: XXXXXX in place of each letter and digit; tag: [PERSON_1] in place of a value, the same for every "
        "mention of one entity; json: the list of what was found, with offsets (default: mask)",
    )
    parser.add_argument(
        "--part-tokens",
        type=_positive,
        default=300,
        metavar="N",
        help="longest part read at once (default: 300 tokens)",
    )
    parser.add_argument(
        "--max-tokens", type=_positive, metavar="N", help="longest answer (default: the model's own, else 512)"
    )
    parser.add_argument("--batch", type=_positive, default=16, metavar="N", help="parts read together (default: 16)")
    parser.add_argument("--prompt-style", choices=("full", "short"), help="default: the checkpoint's own")
    parser.add_argument("--sampler", choices=("auto", "torch", "vllm"), default="auto", help="as in train.py")
    options = parser.parse_args(arguments)
    try:
        data = _bytes(options.file)
        document = decoded(data, options.file)
        if not document.strip():
            sys.stdout.buffer.write(b"[]\n" if options.style == "json" else data)
            return 0
        return redact(document, options, mark=data.startswith(codecs.BOM_UTF8))
    except ValueError as error:
        print(f"redact.py: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("redact.py: stopped; nothing was written", file=sys.stderr)
        return 130


def redact(document: str, options: Any, mark: bool) -> int:
    """Reads the document with the checkpoint and writes the result. mark: the file began with a byte-order mark."""
    # Imported late, so that --help, a misspelt flag and a file that is no text answer at once.
    from transformers.utils import logging as transformers_logging

    from grpo.models import context_length, load_model
    from grpo.sampler import decode_completion, encode_prompts
    from grpo.subjects import Engine, subjects
    from grpo.task import Prompt
    from pii.prompt import GRAMMAR, messages
    from pii.redaction import read, render

    transformers_logging.disable_progress_bar()
    (subject,) = subjects(options.checkpoint)
    style = options.prompt_style or subject.settings.get("prompt_style", "full")
    max_tokens = options.max_tokens or subject.settings.get("max_tokens", 512)
    model, tokenizer = load_model(subject.model)

    def prompt(part: str) -> Prompt:
        return Prompt(messages(plain(part, tokenizer.all_special_tokens), style), "document")

    def lengths(texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]] if texts else []

    frame = len(encode_prompts(tokenizer, [prompt("")])[0])
    # A part's tokens may differ by a few from the sum over its sentences; control tokens in it become longer.
    room = (context_length(model) or 8192) - frame - max_tokens - 32
    if room < 1:
        raise SettingsError(
            f"--max-tokens {max_tokens}: leaves no room for a document in the model's context; lower it"
        )

    with Engine(options.sampler, GRAMMAR) as engine:
        sampler = engine.sampler(model, tokenizer, subject.model, max_tokens)

        def ask(parts: Sequence[str]) -> list[str]:
            answers: list[str] = []
            bar = tqdm(
                range(0, len(parts), options.batch), desc="reading", disable=not sys.stderr.isatty(), leave=False
            )
            for start in bar:
                ids = encode_prompts(tokenizer, [prompt(part) for part in parts[start : start + options.batch]])
                rows = sampler.generate(ids, 1, max_tokens=max_tokens, temperature=0.0)
                answers += [decode_completion(tokenizer, completion) for (completion,) in rows]
            return answers

        reading = read(document, ask, lengths, min(options.part_tokens, room))
    text = render(document, reading.found, options.style)
    sys.stdout.buffer.write((codecs.BOM_UTF8 if mark and options.style != "json" else b"") + text.encode("utf-8"))
    sys.stdout.buffer.flush()
    entities = len({one.entity for one in reading.found})
    print(
        f"{len(reading.found)} places, {entities} entities, {reading.parts} parts read"
        + (f", {reading.absent} predictions dropped that do not stand in the document" if reading.absent else ""),
        file=sys.stderr,
    )
    for start, end in reading.unread:
        print(
            f"redact.py: characters {start} to {end}: the answer stayed unfinished, so personal data may be left there",
            file=sys.stderr,
        )
    return INCOMPLETE if reading.unread else 0


def decoded(data: bytes, name: str) -> str:
    """The text of a file, without a byte-order mark. ValueError, naming the first wrong byte, unless it is UTF-8."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16")):
        if data.startswith(mark):
            raise ValueError(f"{name}: {encoding}, not UTF-8; convert it: iconv -f {encoding} -t UTF-8")
    if b"\0" in data:
        raise ValueError(f"{name}: holds a zero byte at {data.index(0)}, so it is no text file; extract its text first")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        raise ValueError(
            f"{name}: not UTF-8 (byte 0x{data[place]:02x} at {place}); convert it, for instance: "
            "iconv -f WINDOWS-1252 -t UTF-8"
        ) from error


def plain(part: str, control_tokens: Sequence[str]) -> str:
    """A part as the model reads it: line feeds only, and no control tokens, by which a document could end its turn."""
    part = part.replace("\r\n", "\n").replace("\r", "\n")
    for token in control_tokens:
        part = part.replace(token, f"{token[:1]} {token[1:]}")
    return part


def _bytes(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ValueError(
            f"{name}: cannot be read ({error.strerror}); give a text file, or - for standard input"
        ) from error


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(f"{number} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
