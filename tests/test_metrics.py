"""What a step reports, on numbers worked out by hand, and files of lines that are whole or absent."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from grpo.metrics import Rollout, StepMetrics, TokenStatistics, part_means, rollout_record, step_metrics
from grpo.progress import gap_warning
from grpo.rollout import Completion, Group
from grpo.run_folder import METRICS, RunError, RunFolder
from grpo.summary import summary
from grpo.task import Prompt, Score

ROOT = Path(__file__).resolve().parent.parent


def two_groups() -> list[dict]:
    """Rewards 0, 1 and 0.5, 0.5; completions of 2, 4, 3, 3 tokens, one cut off, one refused, the last two equal."""
    ids = [[1, 2], [1, 2, 3, 4], [5, 6, 7], [5, 6, 7]]
    scores = [
        Score(0.0, {"recall": 0.0}, gate=False, reason="not JSON"),
        Score(1.0, {"recall": 1.0, "coreference": 0.5}),
        Score(0.5, {"recall": 0.5}),
        Score(0.5, {"recall": 0.5}),
    ]
    rows = []
    for number, pair in ((8, slice(0, 2)), (9, slice(2, 4))):
        completions = [Completion(i, [0.0] * len(i), "length" if len(i) == 2 else "stop") for i in ids[pair]]
        rows.append(
            Rollout(
                number,
                Prompt(({"role": "user", "content": "?"},), "kind"),
                Group([9, 9], completions),
                ["a", "b"],
                scores[pair],
                [-0.7, 0.7] if number == 8 else [0.0, 0.0],
                number == 9,
            )
        )
    return [rollout_record(3, 4, row) for row in rows]


def measured(**changes) -> StepMetrics:
    settings = {
        "step": 3,
        "records": two_groups(),
        "tokens": TokenStatistics(loss=0.3, policy=0.2, kl=5.0, tokens=12, entropy=6.0, gap=0.12, gap_max=0.05),
        "with_kl": True,
        "with_clipping": False,
        "grad_norm": 2.0,
        "lr": 1e-5,
        "seconds": {"total": 2.0},
    }
    return step_metrics(**{**settings, **changes})


def test_a_step_by_hand():
    metrics = measured()
    assert metrics.reward_mean == 0.5
    assert metrics.reward_std == pytest.approx((0.5**0.5 + 0.0) / 2)
    assert metrics.reward_parts == {"recall": 0.5, "coreference": 0.5}
    assert (metrics.effective_fraction, metrics.degenerate_fraction) == (0.5, 0.5)
    assert metrics.completion_tokens_mean == 3.0
    assert metrics.truncated_fraction == 0.25
    assert metrics.unique_fraction == 0.75
    assert metrics.gate_fraction == 0.75
    assert metrics.entropy == 0.5
    assert metrics.logprob_gap_mean == pytest.approx(0.01)
    assert metrics.logprob_gap_max == 0.05
    assert metrics.tokens_per_second == 6.0
    assert metrics.kl == 5.0


def test_what_was_not_measured_is_null():
    metrics = measured(with_kl=False, tokens=TokenStatistics())
    assert metrics.kl is metrics.entropy is metrics.logprob_gap_mean is metrics.clip_fraction is None


def test_a_part_counts_only_where_it_is_defined():
    assert part_means([{"a": 1.0}, {"a": 0.0, "b": 0.4}]) == {"a": 0.5, "b": 0.4}


def test_sums_of_micro_batches_add_up_and_the_widest_gap_stays():
    total = TokenStatistics(loss=1.0, tokens=2, gap_max=0.5) + TokenStatistics(loss=2.0, tokens=3, gap_max=0.1)
    assert (total.loss, total.tokens, total.gap_max) == (3.0, 5, 0.5)


def test_a_rollout_line_says_who_asked_and_what_came():
    record = two_groups()[0]
    assert (record["step"], record["group"], record["prompt"]["number"]) == (3, 0, 8)
    assert record["completions"][0] == {
        "text": "a",
        "tokens": 2,
        "finish_reason": "length",
        "gate": False,
        "reason": "not JSON",
    }
    assert record["rewards"] == [0.0, 1.0]
    assert record["advantages"] == [-0.7, 0.7]
    json.dumps(record, allow_nan=False)


def test_every_name_is_in_the_glossary():
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    for field in dataclasses.fields(StepMetrics):
        assert re.search(rf"^\| `{field.name}", text, re.MULTILINE), field.name


def test_a_gap_beyond_rounding_says_what_to_check():
    assert gap_warning(measured(tokens=TokenStatistics(tokens=10, gap=1e-4, gap_max=1e-4)), False, "constrained") == ""
    wide = measured(tokens=TokenStatistics(tokens=10, gap=2.0, gap_max=3.0))
    assert "check that the weights reach the sampler" in gap_warning(wide, False, "constrained")
    assert "--logprobs full trains another distribution" in gap_warning(wide, False, "full")
    rounding = measured(tokens=TokenStatistics(tokens=10, gap=0.1, gap_max=0.2))
    assert gap_warning(rounding, True, "constrained") == ""


def test_a_torn_last_line_is_cut_off_when_the_folder_is_opened_again(tmp_path):
    folder = RunFolder(tmp_path)
    folder.append(METRICS, {"step": 1}, {"step": 2})
    with open(tmp_path / METRICS, "a") as file:
        file.write('{"step": 3, "rew')
    assert RunFolder.reopen(tmp_path).read(METRICS) == [{"step": 1}, {"step": 2}]


def test_lines_of_steps_that_will_run_again_are_dropped(tmp_path):
    folder = RunFolder(tmp_path)
    folder.append(METRICS, *({"step": step} for step in (1, 2, 3)))
    folder.cut_after(2)
    assert folder.read(METRICS) == [{"step": 1}, {"step": 2}]


def test_a_lone_surrogate_does_not_stop_a_run(tmp_path):
    folder = RunFolder(tmp_path)
    folder.append(METRICS, {"step": 1, "text": "\ud800"})
    assert folder.read(METRICS) == [{"step": 1, "text": "\ud800"}]


def test_a_number_that_is_none_is_never_written(tmp_path):
    folder = RunFolder(tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        folder.append(METRICS, {"step": 1}, {"step": 2, "reward": float("nan")})
    assert folder.read(METRICS) == []


def test_a_folder_that_vanished_is_one_clear_line(tmp_path):
    with pytest.raises(RunError, match=r"metrics.jsonl: cannot be written \(No such file"):
        RunFolder(tmp_path / "gone").append(METRICS, {"step": 1})


def test_the_closing_summary_compares_start_and_end(tmp_path):
    folder = RunFolder(tmp_path)
    for step, reward in ((1, 0.1), (2, 0.5)):
        metrics = dataclasses.replace(measured(), step=step, reward_mean=reward)
        folder.append(METRICS, metrics.to_json())
    for step, reward in ((0, 0.125), (2, 0.625)):
        evaluation = {"step": step, "split": "held_out", "prompts": 4, "reward": reward, "parts": {"recall": reward}}
        folder.append("evals.jsonl", evaluation)
    text = summary(folder)
    assert "held_out (4 prompts, steps 0 and 2)\n  reward                     0.125 -> 0.625" in text
    assert "degenerate groups" in text
