"""The loop. step() is the algorithm, in the seven lines of the README; everything around it keeps the run safe."""

from __future__ import annotations

import copy
import dataclasses
import math
import random
import traceback
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grpo import checkpoint, processes
from grpo.advantage import degenerate_groups, group_advantages
from grpo.config import Config, SettingsError
from grpo.evaluate import evaluate, score
from grpo.grammar import TokenGrammar
from grpo.loss import loss_denominator
from grpo.metrics import Clock, Rollout, StepMetrics, TokenStatistics, rollout_record, step_metrics
from grpo.microbatch import microbatches
from grpo.progress import Progress, StopRequest, eval_line, gap_warning
from grpo.rollout import Group, SamplerError
from grpo.run_folder import EVALS, METRICS, ROLLOUTS, RunError, RunFolder
from grpo.sampler import Sampler, decode_completion, encode_prompts
from grpo.sampler_choice import choice, choose_sampler, context_limit
from grpo.schedule import cosine_to_zero
from grpo.task import Prompt, Score, Task
from grpo.update import policy_logprobs, step_loss, token_statistics


class Trainer:
    """GRPO on one task.

    model: a causal language model in float32, trained in place. A frozen copy of it is the reference where beta > 0.
    sampler: None chooses one (see grpo.sampler_choice). Whatever it is, it gets the weights before the first sample.
    task_settings: kept in config.json, so that a resumed run can build the same task.
    recommended: settings that a checkpoint recommends to whoever loads it (see grpo.models.recommended).

    Where config.resume names a run, the trainer goes on from its newest checkpoint: `model` must then still be the base
    model, config.model, for the reference is copied from it before the checkpoint's weights are loaded.
    """

    def __init__(
        self,
        config: Config,
        task: Task,
        model: Any,
        tokenizer: Any,
        sampler: Sampler | None = None,
        *,
        task_settings: Mapping[str, Any] | None = None,
        recommended: Mapping[str, Any] | None = None,
    ) -> None:
        # Whatever can be refused is refused before the run's folder is made: --out is then free for another try.
        self.context = context_limit(config, model)
        self.grammar = TokenGrammar.for_model(task.grammar, model, tokenizer)
        if sampler is None:
            choice(config.sampler)
        self.accelerator = processes.accelerator(config)
        self.main = self.accelerator.is_main_process
        if self.main and not config.resume:
            RunFolder.create(config, task_settings or {})
        # The processes may have been given different defaults (there is a time in them); the first one's folder counts.
        config = dataclasses.replace(config, out=processes.gather(config.out)[0])
        self.folder = RunFolder.reopen(config.out)
        self.config, self.task, self.tokenizer = config, task, tokenizer
        self.recommended = dict(recommended or {})
        self.bfloat16 = self.accelerator.mixed_precision == "bf16"
        usual_tokens = 4096 if self.accelerator.device.type == "cuda" else 2048
        self.tokens_per_microbatch = config.tokens_per_microbatch or usual_tokens
        usual_cap = 2.0 if self.bfloat16 else 0.0
        self.importance_cap = usual_cap if config.importance_cap is None else config.importance_cap

        self.model = model.to(self.accelerator.device).float().eval()
        self.reference = copy.deepcopy(self.model).requires_grad_(False) if config.beta > 0 else None
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
        self.steps_done = 0
        # False while the weights are those of no finished step, and so must not be saved.
        self.whole = True
        if config.resume:
            self.load_checkpoint()
        self.warned = False
        self.notes: list[str] = []
        if sampler is None:
            dtype = torch.bfloat16 if self.bfloat16 else torch.float32
            sampler, why = choose_sampler(config, self.model, tokenizer, task.grammar, dtype, self.folder.path)
            self.notes.append(why)
        self.sampler = sampler
        # An engine that shares the GPU with the trainer gives its memory back while the trainer works.
        self.sleep = getattr(sampler, "sleep", lambda: None)

    def step(self) -> StepMetrics:
        """One step of GRPO. Raises RunError before any weight is touched where the step cannot be made."""
        config, clock = self.config, Clock()

        # 1. Take the next prompts: this process's share of them.
        numbers, prompts = self.next_prompts()

        # 2. Sample a group of completions for each, constrained to the grammar.
        with clock("sample"):
            groups = self.sample(numbers, prompts)
            self.sleep()

        # 3. Score every completion: the task's program, no model.
        with clock("score"):
            texts = [[decode_completion(self.tokenizer, one) for one in group.completions] for group in groups]
            scores = [
                [score(self.task, prompt, text) for text in row] for prompt, row in zip(prompts, texts, strict=True)
            ]

        # 4. Group-normalised advantages, (G, K), and what the whole step's loss is divided by.
        advantages, degenerate, denominator = self.advantages(numbers, groups, scores)
        keep = [not (config.skip_degenerate and equal) for equal in degenerate]
        taught = [group for group, kept in zip(groups, keep, strict=True) if kept]
        batches = microbatches(taught, advantages[keep], self.tokens_per_microbatch, config.packed)

        self.optimizer.zero_grad(set_to_none=True)
        passes: list[TokenStatistics] = []
        grad_norm = 0.0
        for _ in range(config.passes):
            statistics = TokenStatistics()
            for batch in batches:
                # 5. Log-probs of the sampled tokens: policy (with gradient) and frozen reference (without).
                with clock("logprobs"), self.accelerator.autocast():
                    policy = policy_logprobs(batch, self.model, self.reference, self.grammar, config)

                # 6. Loss = policy term + beta * KL, per token, averaged over a completion, then over completions.
                with clock("backward"):
                    loss = step_loss(batch, policy, denominator, config, self.importance_cap)
                    loss.total.backward()
                    statistics += token_statistics(batch, policy, loss, config)
            passes.append(statistics)

            # 7. Step the optimizer, step the schedule ...
            with clock("backward"):
                grad_norm = max(grad_norm, self.update())
        self.steps_done += 1
        self.whole = True

        # ... and push the weights into the sampler. The step is recorded even where the engine fails at that.
        try:
            with clock("sync"):
                self.sampler.sync(self.model)
        finally:
            columns = (numbers, prompts, groups, texts, scores, advantages.tolist(), degenerate)
            metrics = self.record([Rollout(*row) for row in zip(*columns, strict=True)], passes, grad_norm, clock)
        return metrics

    def train(self) -> bool:
        """Runs to the last step; True where it got there, False where it was asked to stop and can be resumed.

        Raises RunError for whatever ends the run half-way; everything up to the last finished step is then saved.
        """
        recent = [line["reward_mean"] for line in self.folder.read(METRICS)]
        with StopRequest() as stop, Progress(self.config.steps, recent, shown=self.main) as progress:
            for note in self.notes:
                progress.write(note)
            try:
                self.sampler.sync(self.model)
                while self.steps_done < self.config.steps and not any(processes.gather(stop.requested)):
                    self.evaluate_if_due(progress)
                    self.report(self.step(), progress)
                    if self.config.save_every and self.steps_done % self.config.save_every == 0:
                        self.save()
                self.save()
                if self.steps_done == self.config.steps:
                    self.evaluate_if_due(progress)
            except Exception as error:
                processes.failed()
                raise self.rescued(error) from error
            except KeyboardInterrupt:
                processes.failed()
                raise
            finally:
                # Not accelerator.end_training(): it ends torch.distributed too, which an engine in this process uses.
                for tracker in self.accelerator.trackers:
                    tracker.finish()
        return self.steps_done == self.config.steps

    def next_prompts(self) -> tuple[list[int], list[Prompt]]:
        """Their numbers in the training stream, and the prompts. Process r of n takes every n-th of them."""
        first = self.steps_done * self.config.prompts_per_step
        every, rank = self.accelerator.num_processes, self.accelerator.process_index
        numbers = list(range(first, first + self.config.prompts_per_step))[rank::every]
        return numbers, [self.task.train_prompt(number) for number in numbers]

    def sample(self, numbers: list[int], prompts: list[Prompt]) -> list[Group]:
        if not prompts:
            return []
        ids = encode_prompts(self.tokenizer, prompts)
        for prompt, row in zip(prompts, ids, strict=True):
            if len(row) + self.config.max_tokens > self.context:
                raise RunError(
                    f"prompt type {prompt.type!r}: {len(row)} tokens, which with --max-tokens {self.config.max_tokens} "
                    f"exceed the context of {self.context}; lower --max-tokens or raise --max-context"
                )
        # From the place in the stream, not from a generator's state: a resumed run samples what it would have sampled.
        seed = random.Random(f"{self.config.seed} {numbers[0]}").getrandbits(31)
        rows = self.sampler.generate(
            ids,
            self.config.group_size,
            max_tokens=self.config.max_tokens,
            temperature=self.config.temperature,
            seed=seed,
        )
        return [Group(prompt_ids, row) for prompt_ids, row in zip(ids, rows, strict=True)]

    def advantages(
        self, numbers: list[int], groups: list[Group], scores: list[list[Score]]
    ) -> tuple[Tensor, list[bool], float]:
        """Advantages (G, K) and degenerate groups of this process, and the denominator of the whole step's loss.

        The rewards and lengths of all processes go in: --scale batch and the denominator are over all of them.
        """
        own = [
            (number, [one.reward for one in row], [len(one.token_ids) for one in group.completions])
            for number, group, row in zip(numbers, groups, scores, strict=True)
        ]
        everyone = sorted(row for rows in processes.gather(own) for row in rows)
        rewards = torch.tensor([rewards for _, rewards, _ in everyone], dtype=torch.float64)
        lengths = [length for _, _, lengths in everyone for length in lengths]
        mine = [place for place, (number, _, _) in enumerate(everyone) if number in numbers]
        advantages = group_advantages(rewards, scale=self.config.scale)[mine]
        return (
            advantages.to(self.accelerator.device),
            degenerate_groups(rewards)[mine].tolist(),
            loss_denominator(lengths, self.config.reduction, self.config.max_tokens),
        )

    def update(self) -> float:
        """Sums the gradients over processes, clips them, steps the optimizer; returns their norm before clipping.

        Where no group taught anything the gradient is zero and AdamW still moves by its momentum, as in any trainer.
        """
        processes.sum_gradients(self.model)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm or math.inf).item()
        if not math.isfinite(norm):
            raise RunError(
                f"the gradient's norm is {norm} in step {self.steps_done + 1}, and it was not applied; "
                "try a lower --lr or --precision float32"
            )
        self.whole = False
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return norm

    @property
    def lr(self) -> float:
        """Of the step that comes next."""
        return cosine_to_zero(self.steps_done, self.config.steps, self.config.lr)

    def record(
        self, rollouts: list[Rollout], passes: list[TokenStatistics], grad_norm: float, clock: Clock
    ) -> StepMetrics:
        """Writes the step's line of metrics.jsonl and its lines of rollouts.jsonl, over all processes."""
        own = [rollout_record(self.steps_done, self.config.prompts_per_step, rollout) for rollout in rollouts]
        gathered = processes.gather((own, passes))
        records = sorted((one for theirs, _ in gathered for one in theirs), key=lambda one: one["group"])
        totals = [
            sum(of_one_pass, TokenStatistics()) for of_one_pass in zip(*(each for _, each in gathered), strict=True)
        ]
        metrics = step_metrics(
            step=self.steps_done,
            records=records,
            # The first pass is the one in which trainer and sampler hold the same weights; the last clips the most.
            tokens=dataclasses.replace(totals[0], clipped=totals[-1].clipped),
            with_kl=self.reference is not None,
            with_clipping=self.config.passes > 1,
            grad_norm=grad_norm,
            lr=self.optimizer.param_groups[0]["lr"],
            seconds=clock.read(),
        )
        if self.main:
            self.folder.append(ROLLOUTS, *records)
            self.folder.append(METRICS, metrics.to_json())
            self.accelerator.log(metrics.flat(), step=self.steps_done)
        return metrics

    def report(self, metrics: StepMetrics, progress: Progress) -> None:
        """Shows a step on the bar, and the first time that the gap is too wide, a warning above it."""
        progress.step(metrics)
        if not self.warned:
            warning = gap_warning(metrics, self.bfloat16, self.config.logprobs)
            self.warned = bool(warning)
            progress.write(warning)

    def evaluate_if_due(self, progress: Progress) -> None:
        """Before the first step, every --eval-every steps and after the last, on the task's first split."""
        config, step = self.config, self.steps_done
        if not self.main or not config.eval_every or (step % config.eval_every and step != config.steps):
            return
        split = self.task.splits[0]
        if any(line["step"] == step and line["split"] == split for line in self.folder.read(EVALS)):
            return
        found = evaluate(
            self.task,
            self.sampler,
            self.tokenizer,
            split,
            config.eval_prompts,
            max_tokens=config.max_tokens,
            temperature=config.eval_temperature,
        )
        self.folder.append(EVALS, {"step": step, **found})
        self.accelerator.log({f"{split}/reward": found["reward"]}, step=step)
        progress.write(eval_line(step, found))

    def save(self) -> None:
        """Writes step-N. Nothing before the first step: without a checkpoint a run resumes at its start."""
        if not self.main or not self.steps_done:
            return
        checkpoint.save(
            self.folder.path,
            self.steps_done,
            self.model,
            self.tokenizer,
            self.optimizer,
            state={"next_prompt": self.steps_done * self.config.prompts_per_step},
            recommended=self.recommended,
            keep=self.config.keep,
        )

    def load_checkpoint(self) -> None:
        """Goes back to the newest checkpoint: weights, optimizer, random states; cuts what was logged after it."""
        newest = checkpoint.latest(self.folder.path)
        if newest is not None:
            self.steps_done = checkpoint.load(newest, self.model, self.optimizer)["step"]
        if self.steps_done > self.config.steps:
            raise SettingsError(f"{newest}: beyond the run's --steps {self.config.steps}; give it more steps")
        if self.main:
            self.folder.cut_after(self.steps_done)

    def rescued(self, error: Exception) -> RunError:
        """Saves what was finished when `error` struck, and says in one line what happened and how to go on."""
        details = self.folder.path / "error.txt"
        where = f"details in {details}"
        if self.main:
            try:
                details.write_text(traceback.format_exc(), encoding="utf-8", errors="backslashreplace")
            except OSError as second:
                # A full disk, for one. What was finished must be saved all the same.
                where = f"{details} could not be written: {second.strerror}"
        if isinstance(error, torch.OutOfMemoryError):
            what = "out of GPU memory: lower --tokens-per-microbatch, --vllm-memory or --max-tokens"
        elif isinstance(error, RunError | SamplerError | ValueError):
            what = str(error)
        else:
            what = f"{type(error).__name__}: {error}"
        if self.whole:
            try:
                self.save()
            except Exception as second:
                # What a full disk or a lost GPU raises here is of many kinds, and the first error is the one to report.
                what += f" [and the last step could not be saved: {second}]"
        return RunError(
            f"{what} [stopped after step {self.steps_done}; {where}; "
            f"go on with: python train.py --resume {self.folder.path}]"
        )
