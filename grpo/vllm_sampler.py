"""Sampling with the vLLM engine, in this process: prompt ids in, completions with their log-probs out.

Settings that make its log-probs those of the policy that the trainer differentiates:
    logprobs_mode="processed_logprobs"   after temperature and grammar mask; vLLM's default is before both
    generation_config="vllm"             a model's own top_k, top_p and penalties stay out of the sampling
    StructuredOutputsParams(grammar=...) the same EBNF text, compiled by the same xgrammar
"""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo.grammar import TokenGrammar
from grpo.rollout import Completion, SamplerError
from grpo.vllm_engine import LONGEST_CONTEXT, import_vllm, one_line, output_to, process_kept, runs_on_gpu, start_engine
from grpo.vllm_weights import Pushed, live_weights, push_weights

# Below this vLLM raises the temperature by itself (with a warning only), and the log-probs would be another policy's.
LOWEST_TEMPERATURE = 0.01


# vLLM's distributed state is one for the process, and an engine that ends, or is collected as garbage, takes it along.
_running: list[VLLMSampler] = []


class VLLMSampler:
    """grpo.sampler.Sampler with the vLLM engine. A process has one at a time: a new one closes the one before it.

    grammar: EBNF text (start rule `root`) that every completion follows, or None; or a TokenGrammar made from it.
    max_model_len: longest prompt and completion together, tokens; None: the model's own limit, at most 8192.
    memory: share of the GPU's memory for the engine, weights and cache together (no effect on a CPU, see vllm_engine).
    dtype: what the engine computes in; None: bfloat16 on a GPU, float32 on a CPU.
    sleep: give the memory back in sleep(); None: on a GPU yes. A CPU has no sleep, and sleep() does nothing there.
    log_file: where the engine's own output goes; None: a file in a temporary folder.

    Attributes: pushed (what the last sync moved), dtype, max_model_len, log_file.
    Raises SamplerError where vLLM is not installed or the engine does not start, and when it fails later.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        grammar: str | TokenGrammar | None = None,
        *,
        max_model_len: int | None = None,
        memory: float = 0.3,
        dtype: torch.dtype | None = None,
        sleep: bool | None = None,
        log_file: str | Path | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="grpo-vllm-")
        self.log_file = Path(log_file) if log_file else Path(self._folder.name) / "vllm.log"
        self.grammar = (
            grammar if isinstance(grammar, TokenGrammar) else TokenGrammar.for_model(grammar, model, tokenizer)
        )
        own_limit = getattr(model.config.get_text_config(), "max_position_embeddings", LONGEST_CONTEXT)
        self.max_model_len = max_model_len or min(own_limit, LONGEST_CONTEXT)
        if self.max_model_len > own_limit:
            raise ValueError(
                f"a context of {self.max_model_len} tokens, but the model was made for {own_limit}; lower it"
            )
        self._failure = ""
        self._asleep = False
        self.pushed = Pushed(0, 0)
        self._llm: Any = None
        while _running:
            _running.pop().close()
        _running.append(self)
        with self._engine("starting"):
            import_vllm()
            on_gpu = runs_on_gpu()
            self.dtype = dtype or (torch.bfloat16 if on_gpu else torch.float32)
            self._sleeps = on_gpu if sleep is None else sleep and on_gpu
            self._llm = start_engine(
                model,
                tokenizer,
                Path(self._folder.name),
                # Padding rows and control tokens: masked over and above the grammar, as TokenGrammar does.
                never=sorted(set(range(self.grammar.vocab_size)) - self.grammar.possible),
                max_model_len=self.max_model_len,
                memory=memory,
                dtype=self.dtype,
                sleep=self._sleeps,
                log_file=self.log_file,
            )
        self.sync(model)

    def generate(
        self,
        prompts: Sequence[list[int]],
        n: int,
        *,
        max_tokens: int,
        temperature: float = 1.0,
        seed: int | Sequence[int] | None = None,
    ) -> list[list[Completion]]:
        """n completions for each prompt, in the prompts' order.

        prompts: token ids. temperature 0: greedy, n must be 1, and log-probs are those at temperature 1.
        seed: the same seed gives the same completions; None draws one from torch's generator. Every completion has its
        own seed made from it (one for all would make the completions of a group equal). A list: a seed for each prompt.
        Raises ValueError for a request that cannot be met, before anything is sampled; SamplerError where the engine
        fails, after which it stays unusable.
        """
        check_request(prompts, n, max_tokens, temperature, self.max_model_len)
        if seed is None:
            seed = int(torch.randint(2**62, ()).item())
        # (seed, place) of every prompt; with a seed of its own, a prompt's place in the call does not matter.
        bases = [(seed, at) for at in range(len(prompts))] if isinstance(seed, int) else [(one, 0) for one in seed]
        with self._engine("sampling"):
            vllm = import_vllm()
            if self._asleep:
                self._wake(None)
            # vLLM adds 0..n-1 to a request's seed for its completions; the streams must not meet the next prompt's.
            params = [
                vllm.SamplingParams(
                    n=n,
                    temperature=temperature,
                    max_tokens=max_tokens,
                    seed=random.Random(f"{base} {place}").getrandbits(62),
                    logprobs=0,
                    detokenize=False,
                    stop_token_ids=self.grammar.eos_token_ids,
                    structured_outputs=self._structure(),
                )
                for _, (base, place) in zip(prompts, bases, strict=True)
            ]
            requests = [vllm.TokensPrompt(prompt_token_ids=list(prompt)) for prompt in prompts]
            outputs = self._llm.generate(requests, params, use_tqdm=False)
        if [output.prompt_token_ids for output in outputs] != [list(prompt) for prompt in prompts]:
            raise SamplerError("vLLM answered other prompts than it was asked: a call before this one was interrupted")
        return [[self._completion(answer) for answer in output.outputs] for output in outputs]

    def sync(self, model: PreTrainedModel) -> None:
        """Pushes the model's weights into the engine, waking it where it sleeps; `pushed` says how much that was."""
        with self._engine("taking the new weights"):
            if self._asleep:
                self._wake(["weights"])
            self.pushed = push_weights(self._llm, live_weights(model, self.dtype))
            if self._asleep:
                self._wake(["kv_cache"])

    def sleep(self) -> None:
        """Gives the engine's GPU memory back (weights to the CPU, cache dropped) until the next sync or generate."""
        if self._sleeps and not self._asleep:
            with self._engine("going to sleep"):
                self._llm.sleep(level=1)
            self._asleep = True

    def close(self) -> None:
        """Ends the engine; vLLM ends torch.distributed with it, for the whole process."""
        if self in _running:
            _running.remove(self)
        llm, self._llm = self._llm, None
        if llm is not None:
            self._failure = self._failure or "the vLLM engine was closed (a new sampler does that too)"
            with output_to(self.log_file), process_kept():
                llm.llm_engine.engine_core.shutdown()

    def _wake(self, tags: list[str] | None) -> None:
        # The engine maps memory of its own; what torch's allocator merely keeps in reserve is not free for it.
        torch.cuda.empty_cache()
        self._asleep = not self._llm.wake_up(tags)

    def _structure(self) -> Any:
        if self.grammar.ebnf is None:
            return None
        from vllm.sampling_params import StructuredOutputsParams

        return StructuredOutputsParams(grammar=self.grammar.ebnf)

    def _completion(self, answer: Any) -> Completion:
        ids = list(answer.token_ids)
        if answer.finish_reason not in ("stop", "length"):
            raise SamplerError(f"vLLM ended a completion with {answer.finish_reason!r}; its log: {self.log_file}")
        if (answer.finish_reason == "stop") != (ids[-1] in self.grammar.eos_token_ids):
            raise SamplerError(f"vLLM ended a completion with {answer.finish_reason!r} after token {ids[-1]}")
        # By id: the entry's first key need not be the sampled token.
        logprobs = [entry[token].logprob for entry, token in zip(answer.logprobs, ids, strict=True)]
        return Completion(ids, logprobs, answer.finish_reason)

    @contextlib.contextmanager
    def _engine(self, doing: str) -> Iterator[None]:
        """The engine's output goes to its log, and whatever it dies of becomes one line."""
        if self._failure:
            raise SamplerError(self._failure)
        try:
            with output_to(self.log_file), process_kept():
                yield
        except BaseException as error:
            # Interrupted, it still holds requests that would be answered in the next call.
            self._failure = f"the vLLM engine failed while {doing} ({one_line(error)}); its log: {self.log_file}"
            if isinstance(error, SamplerError) or not isinstance(error, Exception):
                raise
            raise SamplerError(self._failure) from error


def check_request(
    prompts: Sequence[list[int]], n: int, max_tokens: int, temperature: float, max_model_len: int
) -> None:
    """Raises ValueError, naming what is wrong, for a request that vLLM would cut short, alter or refuse."""
    if n < 1 or max_tokens < 1:
        raise ValueError(f"{n} completions of at most {max_tokens} tokens: both must be 1 or more")
    if temperature < 0 or 0 < temperature < LOWEST_TEMPERATURE:
        raise ValueError(f"temperature {temperature}: must be 0 (greedy) or at least {LOWEST_TEMPERATURE}")
    if temperature == 0 and n != 1:
        raise ValueError(f"temperature 0 with {n} completions: greedy completions are all the same; ask for 1")
    for index, prompt in enumerate(prompts):
        if not prompt:
            raise ValueError(f"prompt {index} of {len(prompts)} is empty")
        if len(prompt) + max_tokens > max_model_len:
            raise ValueError(
                f"prompt {index} of {len(prompts)} has {len(prompt)} tokens; with {max_tokens} to sample that is "
                f"{len(prompt) + max_tokens}, and the context is {max_model_len}: "
                "raise --max-context, lower --max-tokens or shorten the prompt"
            )
