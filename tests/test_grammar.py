"""The grammar over token ids: what is allowed, what never is, and errors that say where."""

from __future__ import annotations

import json
import re

import pytest
import torch

from grpo.grammar import GrammarError, TokenGrammar, pack, unpack

# A list of {"text": ..., "n": digit}, compact; the strings are JSON's, without \\u.
JSON_LIST = r"""
root ::= "[]" | "[" item ("," item)* "]"
item ::= "{\"text\":\"" char char* "\",\"n\":" [0-9] "}"
char ::= [^"\\\x00-\x1F] | "\\" ["\\/bfnrt]
"""
V = 448  # rows of the tests' LM heads; the tokenizer has fewer


def ids_of(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False).input_ids


@pytest.fixture(scope="module")
def grammar(tokenizer) -> TokenGrammar:
    return TokenGrammar(JSON_LIST, tokenizer, V, [2, 0])


def test_the_allowed_sets_are_those_of_the_grammar_by_brute_force(tokenizer):
    yes_or_no = TokenGrammar('root ::= "yes" | "no"', tokenizer, V)
    texts = {i: tokenizer.decode([i]) for i in range(len(tokenizer)) if i not in tokenizer.all_special_ids}
    ids = [
        tokenizer.convert_tokens_to_ids("y"),
        tokenizer.convert_tokens_to_ids("e"),
        tokenizer.convert_tokens_to_ids("s"),
    ]
    allowed = yes_or_no.allowed([*ids, tokenizer.eos_token_id])
    for position, before in enumerate(["", "y", "ye"]):
        expected = {i for i, t in texts.items() if t and any(w.startswith(before + t) for w in ("yes", "no"))}
        assert set(allowed[position].nonzero().flatten().tolist()) == expected
    assert allowed[3].nonzero().flatten().tolist() == [tokenizer.eos_token_id]


def test_an_id_outside_the_grammar_is_an_error_that_names_the_position(tokenizer, grammar):
    ids = ids_of(tokenizer, '[{"text":"a","n":1}]')
    ids[-3:] = ids_of(tokenizer, "x")
    with pytest.raises(GrammarError, match=rf"position {len(ids) - 1}: token \d+ \('x'\) is not allowed"):
        grammar.allowed(ids)


@pytest.mark.parametrize("bad_id", [V, V - 1, -1, 10**6])
def test_an_id_outside_the_vocabulary_is_an_error_too(grammar, bad_id):
    with pytest.raises(GrammarError, match=f"position 0: token {bad_id} is not allowed"):
        grammar.allowed([bad_id])


def test_nothing_may_follow_the_end_of_the_sequence(tokenizer, grammar):
    ids = ids_of(tokenizer, "[]")
    with pytest.raises(GrammarError, match=f"position {len(ids) + 1}: .* after the end"):
        grammar.allowed([*ids, 2, 2])


def test_end_of_sequence_is_allowed_only_after_a_whole_answer_and_every_such_id_is(tokenizer, grammar):
    ids = ids_of(tokenizer, '[{"text":"a","n":1}]')
    allowed = grammar.allowed([*ids, 0])
    assert not allowed[:-1, [0, 2]].any()
    assert allowed[-1].nonzero().flatten().tolist() == [0, 2]


def test_a_cut_off_answer_replays(tokenizer, grammar):
    assert grammar.allowed(ids_of(tokenizer, '[{"text":"Raj')).any(-1).all()


def test_padded_rows_of_the_vocabulary_are_never_allowed(tokenizer, grammar):
    for constrained in (grammar, TokenGrammar(None, tokenizer, V)):
        allowed = constrained.allowed(ids_of(tokenizer, '[{"text":"Rajesh'))
        assert not allowed[:, len(tokenizer) :].any()


def test_control_tokens_are_no_text_inside_a_string(tokenizer, grammar):
    ids = ids_of(tokenizer, '[{"text":"Rajesh')
    allowed = grammar.allowed(ids)
    assert allowed[-1].sum() > 100
    assert not allowed[:, tokenizer.all_special_ids].any()
    with pytest.raises(GrammarError, match=rf"position {len(ids)}: token 1 \('<\|im_start\|>'\)"):
        grammar.allowed([*ids, 1])


def test_no_white_space_between_tokens_of_the_answer(tokenizer, grammar):
    allowed = grammar.allowed(ids_of(tokenizer, '[{"text":"a b","n":1},{"text":"c","n":2}]'))
    inside_a_string = allowed.sum(-1) > 100
    blank = [i for i in range(3, len(tokenizer)) if tokenizer.decode([i]) and not tokenizer.decode([i]).strip()]
    assert blank
    assert not allowed[~inside_a_string][:, blank].any()


def test_what_the_grammar_admits_is_json_with_any_character(tokenizer, grammar):
    text = '[{"text":"राजेश — \\\\ \\" \\n é 😀","n":7}]'
    grammar.allowed([*ids_of(tokenizer, text), 2])
    assert json.loads(text)[0]["n"] == 7
    with pytest.raises(GrammarError):
        grammar.allowed(ids_of(tokenizer, '[{"text":"a\nb"'))


def test_without_a_grammar_every_real_token_is_allowed(tokenizer):
    free = TokenGrammar(None, tokenizer, V, [2, 0])
    allowed = free.allowed([*ids_of(tokenizer, "any words"), 0])
    assert allowed[:, : len(tokenizer)].all()
    with pytest.raises(GrammarError, match="position 1"):
        free.allowed([0, 5])


@pytest.mark.parametrize("bad", ['root ::= "a', 'start ::= "a"', "", "root ::= b"])
def test_a_bad_grammar_is_one_clear_line(tokenizer, bad):
    with pytest.raises(GrammarError, match=r"^the grammar is not valid EBNF: .+ at line 1, column \d+.*$") as caught:
        TokenGrammar(bad, tokenizer, V)
    assert not re.search(r"\.cc|\n", str(caught.value))


def test_an_end_of_sequence_id_outside_the_head_is_refused(tokenizer):
    with pytest.raises(GrammarError, match="end-of-sequence ids"):
        TokenGrammar(JSON_LIST, tokenizer, V, [V])


def test_packing_and_unpacking_are_inverse():
    bits = torch.rand(5, 96, generator=torch.Generator().manual_seed(0)) < 0.5
    bits[0, 31], bits[1, 95] = True, True  # the sign bits
    assert torch.equal(unpack(pack(bits), 96), bits)
    assert torch.equal(unpack(pack(bits), 90), bits[:, :90])


def test_few_tokens_of_an_answer_are_forced_so_skipping_them_would_not_pay(smollm2):
    model, tokenizer = smollm2
    grammar = TokenGrammar.for_model(JSON_LIST, model, tokenizer)
    allowed = grammar.allowed([*ids_of(tokenizer, '[{"text":"Rajesh Kumar","n":1},{"text":"ABCPK1234F","n":2}]'), 2])
    counts = allowed.sum(-1)
    assert counts[-1] == 1
    assert (counts == 1).float().mean() < 0.25
