"""A grammar over token ids: which tokens may come next, while sampling and when a completion is replayed.

Sampling under a grammar draws from the model renormalised over the allowed tokens, so the trainer needs the same sets
again: it replays the completion's ids through the same compiled grammar (xgrammar; EBNF text, start rule `root`).

Three kinds of token are never allowed, wherever the grammar stands:
- rows of the LM head beyond the tokenizer's vocabulary (padding for speed; xgrammar leaves some of them open);
- control tokens such as <|im_start|>: to xgrammar they are text, so `[^"]` inside a string would let them through,
  and they vanish when the completion is decoded;
- end-of-sequence tokens before the answer is complete.

Tokens that a grammar forces (one id allowed) are sampled like any other and get log-prob 0. Skipping their forward
passes would not pay: in a PII answer 6 of 107 tokens of SmolLM2's were forced, since a fixed string like
`","type":"` can be cut into tokens in several ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import xgrammar
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.models import eos_token_ids, vocab_rows


class GrammarError(ValueError):
    """A grammar that does not compile, or a token id that the grammar does not allow."""


class TokenGrammar:
    """An EBNF grammar compiled for one tokenizer and one LM head.

    ebnf: the grammar's text, or None for free-form answers (every token of the tokenizer, always).
    vocab_size: V, the rows of the LM head; more than the tokenizer's vocabulary where that was padded.
    eos_token_ids: the ids that end an answer; the tokenizer's own where not given. `for_model` asks the model too.
    Raises GrammarError where the text is no grammar. Compiling takes about 0.3 s for 49,000 tokens; replay 3 to 7
    microseconds a token.
    """

    def __init__(
        self,
        ebnf: str | None,
        tokenizer: PreTrainedTokenizerBase,
        vocab_size: int,
        eos_token_ids: Sequence[int] | None = None,
    ) -> None:
        if eos_token_ids is None:
            eos_token_ids = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
        if not eos_token_ids or not all(0 <= eos < vocab_size for eos in eos_token_ids):
            raise GrammarError(
                f"end-of-sequence ids {list(eos_token_ids)}: need one or more, each in [0, {vocab_size})"
            )
        self.ebnf = ebnf
        self.vocab_size = vocab_size
        self.eos_token_ids = sorted(eos_token_ids)
        self._tokenizer = tokenizer
        possible = torch.zeros(-(-vocab_size // 32) * 32, dtype=torch.bool)
        possible[[i for i in tokenizer.get_vocab().values() if i < vocab_size]] = True
        if ebnf is not None:
            control = set(tokenizer.all_special_ids)
            control |= {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
            possible[[i for i in control if i < vocab_size]] = False
        possible[self.eos_token_ids] = True
        self.possible = frozenset(possible.nonzero().flatten().tolist())
        """Every id that can be allowed anywhere; given to vLLM as allowed_token_ids, its sets equal these."""
        self.possible_bitmask = pack(possible)
        self._compiled = None if ebnf is None else self._compile(ebnf)

    @classmethod
    def for_model(cls, ebnf: str | None, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> TokenGrammar:
        """The grammar for a model's own LM head and all of its end-of-sequence ids."""
        return cls(ebnf, tokenizer, vocab_rows(model), eos_token_ids(model, tokenizer))

    def _compile(self, ebnf: str) -> xgrammar.CompiledGrammar:
        info = xgrammar.TokenizerInfo.from_huggingface(
            self._tokenizer, vocab_size=self.vocab_size, stop_token_ids=self.eos_token_ids
        )
        try:
            return xgrammar.GrammarCompiler(info).compile_grammar(ebnf)
        except RuntimeError as error:
            # The message starts with a time and the place in xgrammar's own source.
            cause = " ".join(str(error).split("] ", 1)[-1].split(": ", 1)[-1].split())
            raise GrammarError(f"the grammar is not valid EBNF: {cause}") from error

    def matcher(self) -> GrammarState:
        """A new state at the start of an answer, to go through it token by token."""
        return GrammarState(self, self._compiled)

    def allowed_bitmask(self, token_ids: Sequence[int]) -> torch.Tensor:
        """Replays a completion; row t is the set that was allowed before token t.

        token_ids: T ids as sampled, the end-of-sequence id included where there is one.
        Returns int32 (T, ceil(V / 32)): bit b of word w is token 32 w + b (see `unpack`).
        Raises GrammarError, naming the position, where an id is not allowed there.
        """
        bitmask = torch.empty(len(token_ids), self.possible_bitmask.shape[0], dtype=torch.int32)
        state = self.matcher()
        for position, token_id in enumerate(token_ids):
            if state.terminated:
                raise GrammarError(f"position {position}: {self._name(token_id)} stands after the end of the sequence")
            state.fill(bitmask, position)
            if not state.accept(token_id):
                raise GrammarError(
                    f"position {position}: {self._name(token_id)} is not allowed by the grammar; were these "
                    "ids sampled under it, and with this tokenizer?"
                )
        return bitmask & self.possible_bitmask

    def allowed(self, token_ids: Sequence[int]) -> torch.Tensor:
        """As allowed_bitmask, unpacked: bool (T, V)."""
        return unpack(self.allowed_bitmask(token_ids), self.vocab_size)

    def _name(self, token_id: int) -> str:
        known = 0 <= token_id < len(self._tokenizer)
        return (
            f"token {token_id} ({self._tokenizer.convert_ids_to_tokens(token_id)!r})" if known else f"token {token_id}"
        )


class GrammarState:
    """Where one answer stands in the grammar."""

    def __init__(self, grammar: TokenGrammar, compiled: xgrammar.CompiledGrammar | None) -> None:
        self._grammar = grammar
        self._matcher = None if compiled is None else xgrammar.GrammarMatcher(compiled)
        self.terminated = False
        """True once an end-of-sequence id was accepted."""

    def accept(self, token_id: int) -> bool:
        """Goes past one token; False (and no change) where it is not allowed here."""
        if self.terminated or token_id not in self._grammar.possible:
            return False
        if self._matcher is not None and not self._matcher.accept_token(token_id):
            return False
        self.terminated = token_id in self._grammar.eos_token_ids
        return True

    def fill(self, bitmask: torch.Tensor, row: int) -> None:
        """Writes what may come next into one row of an int32 (rows, ceil(V / 32)) tensor on the CPU.

        The caller still intersects it with the grammar's possible_bitmask (for all rows at once: that is cheaper).
        """
        if self._matcher is None:
            bitmask[row] = -1
        else:
            self._matcher.fill_next_token_bitmask(bitmask, row)


def pack(allowed: torch.Tensor) -> torch.Tensor:
    """bool (..., 32 W) -> int32 (..., W): bit b of word w is entry 32 w + b, xgrammar's layout."""
    weights = torch.ones(32, dtype=torch.int64) << torch.arange(32)
    words = (allowed.unflatten(-1, (-1, 32)).long() * weights).sum(-1)
    return torch.where(words >= 2**31, words - 2**32, words).int()


def unpack(bitmask: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """int32 (..., W) -> bool (..., vocab_size), on the bitmask's own device."""
    # Byte by byte (little-endian, as is every machine that torch runs on): a temporary of one byte a token, not four.
    shifts = torch.arange(8, dtype=torch.uint8, device=bitmask.device)
    bits = (bitmask.contiguous().view(torch.uint8).unsqueeze(-1) >> shifts) & 1
    return bits.flatten(-2)[..., :vocab_size].bool()
