"""The report of a run, the signs of a gamed reward, and the advice: from numbers written by hand."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from html.parser import HTMLParser

import pytest

from grpo import report
from grpo.advice import advice
from grpo.hacking import Outside, outside_curve, precision_gaps, runaway, warnings, windows
from grpo.pages import json_for_html
from grpo.report_plots import Series, line_chart, stacked_chart
from grpo.report_rollouts import embedded
from grpo.run_folder import EVALS, METRICS, ROLLOUTS, RunFolder
from tests.toy import toy_config, toy_trainer

HOSTILE = '</script><script>document.title = "owned"</script><!-- <img src=x onerror=alert(1)> \u2028 &amp; \ud800'


def steps(rewards, parts=None, degenerate=0.1):
    """Lines of metrics.jsonl: step n has rewards[n - 1], and every part's n-th value."""
    return [
        {
            "step": number,
            "reward_mean": reward,
            "degenerate_fraction": degenerate,
            "reward_parts": {name: values[number - 1] for name, values in (parts or {}).items()},
        }
        for number, reward in enumerate(rewards, 1)
    ]


def sealed(*points, interval=0.01):
    return [{"step": step, "reward": reward, "reward_interval": interval, "parts": {}} for step, reward in points]


def outside(*points, half=0.01):
    return [Outside(step, score, score - half, score + half, precision) for step, score, precision in points]


def climb(start, end, count=60):
    return [start + (end - start) * n / (count - 1) for n in range(count)]


# Signs of a gamed reward.


def test_first_and_last_window_never_share_a_step():
    for count in range(1, 60):
        lines = steps([0.0] * count)
        first, last = windows(lines)
        assert len(first) + len(last) <= max(count, 1)
        assert not last or first[-1]["step"] < last[0]["step"]


def test_parts_that_rise_together_are_no_sign():
    parts = {"recall": climb(0.2, 0.6), "precision": climb(0.3, 0.6), "type": climb(0.1, 0.5)}
    assert runaway(steps(climb(0.2, 0.55), parts)) == []


def test_a_part_that_runs_away_while_the_others_stall_is_named():
    parts = {"grounding": climb(0.1, 0.9), "recall": climb(0.2, 0.22), "type": climb(0.1, 0.1)}
    (warning,) = runaway(steps(climb(0.2, 0.3), parts))
    assert warning.startswith("grounding ran away: 0.23 -> 0.77")


def test_a_part_that_falls_while_the_reward_rises_is_named():
    parts = {"recall": climb(0.2, 0.6), "precision": climb(0.6, 0.3), "type": climb(0.2, 0.6)}
    (warning,) = runaway(steps(climb(0.3, 0.5), parts))
    assert warning.startswith("precision fell: 0.55 -> 0.35 while the reward rose")


def test_a_few_steps_are_no_evidence():
    assert runaway(steps([0.1, 0.9], {"a": [0.0, 1.0], "b": [0.5, 0.1]})) == []


def test_a_reward_that_rises_while_the_outside_falls_is_a_warning():
    curve = outside((0, 0.10, 0.3), (50, 0.40, 0.4), (150, 0.30, 0.26))
    evals = sealed((0, 0.3), (50, 0.5), (150, 0.6))
    said = warnings(steps(climb(0.3, 0.6, 150)), evals, curve)
    assert len(said) == 1
    assert "rose from 0.500 (step 50) to 0.600 (step 150) while the score outside fell from 0.400 to 0.300" in said[0]


@pytest.mark.parametrize(
    "curve",
    [
        outside((0, 0.10, 0.3), (50, 0.30, 0.4), (150, 0.40, 0.4)),  # still rising
        outside((0, 0.10, 0.3), (50, 0.40, 0.4), (150, 0.39, 0.4)),  # hardly fallen
        outside((0, 0.10, 0.3), (50, 0.40, 0.4), (150, 0.30, 0.4), half=0.1),  # within the intervals
        outside((150, 0.30, 0.4)),
        [],
    ],
)
def test_no_warning_without_a_clear_fall_outside(curve):
    assert warnings(steps(climb(0.3, 0.6, 150)), sealed((0, 0.3), (50, 0.5), (150, 0.6)), curve) == []


def test_precisions_that_drift_apart_are_a_warning_with_both_figures():
    lines = steps([0.5] * 100, {"precision": climb(0.8, 0.96, 100), "recall": climb(0.5, 0.7, 100)})
    curve = outside((1, 0.30, 0.40), (100, 0.31, 0.25))
    gaps = precision_gaps([], lines, curve)
    assert [gap.step for gap in gaps] == [1, 100]
    assert gaps[0].own == 0.8 and gaps[1].own == pytest.approx(0.945, abs=0.01)
    (warning,) = warnings(lines, [], curve)
    assert warning.startswith("precision drifts apart: the reward's own 0.80 -> 0.94, outside 0.40 -> 0.25")


def test_the_sealed_precision_goes_before_that_of_training():
    evals = [{"step": 20, "reward": 0.5, "reward_interval": 0.1, "parts": {"precision": 0.7}}]
    lines = steps([0.5] * 20, {"precision": [0.9] * 20})
    (gap,) = precision_gaps(evals, lines, outside((20, 0.3, 0.4)))
    assert (gap.own, gap.outside) == (0.7, 0.4)


# Advice.


def test_no_advice_before_the_first_step():
    assert advice([], []) == []


def test_when_most_groups_teach_nothing_the_advice_is_to_stop():
    (line,) = advice(steps([0.9] * 60, degenerate=0.6), [])
    assert line.startswith("60% of the groups of the last 20 steps taught nothing") and "stop here" in line


def test_a_reward_that_still_rises_asks_for_a_longer_run_and_a_flat_one_does_not():
    assert "longer run is likely to help" in advice(steps(climb(0.2, 0.6)), [])[0]
    flat = [0.5 + 0.05 * (-1) ** n for n in range(60)]
    assert "no longer rose" in advice(steps(flat), [])[0]
    assert "too short to say" in advice(steps([0.1, 0.2, 0.3]), [])[0]


def test_no_longer_run_is_advised_where_the_score_outside_has_fallen():
    said = advice(steps(climb(0.2, 0.6)), [], outside((20, 0.4, None), (60, 0.3, None)))
    assert "longer run" not in said[0] and "the score outside no longer" in said[0]


def test_the_best_checkpoint_is_the_earliest_of_the_best_by_the_sealed_reward():
    lines = steps([0.5] * 100)
    said = advice(lines, sealed((0, 0.3), (25, 0.6), (50, 0.6), (100, 0.5)))[1]
    assert said == "best checkpoint by the sealed reward: step-25 (0.600); step-100 has 0.500"
    said = advice(lines, sealed((50, 0.60), (100, 0.59), interval=0.05))[1]
    assert said.endswith("step-100 has 0.590, within the noise of it")


def test_only_checkpoints_that_exist_are_recommended():
    said = advice(steps([0.5] * 100), sealed((0, 0.3), (25, 0.6), (100, 0.5)), checkpoints=[50, 100])[1]
    assert said == "best checkpoint by the sealed reward: step-100 (0.500)"


def test_training_that_did_not_help_is_said():
    assert "training has not helped" in advice(steps([0.5] * 50), sealed((0, 0.6), (50, 0.5)))[1]


def test_an_outside_score_that_peaked_early_names_its_checkpoint():
    lines = steps([0.5] * 150)
    said = advice(lines, [], outside((0, 0.1, None), (50, 0.4, None), (150, 0.3, None)))[1]
    assert said == "outside the score peaked at step-50 (0.400); the last checkpoint has 0.300: use step-50"
    said = advice(lines, [], outside((0, 0.1, None), (50, 0.4, None), (150, 0.395, None)))[1]
    assert said.endswith("which may be noise")
    assert "still the best" in advice(lines, [], outside((0, 0.1, None), (150, 0.4, None)))[1]


def test_the_outside_curve_is_read_from_what_an_evaluation_left(tmp_path):
    assert outside_curve(tmp_path) == ("", [])
    (tmp_path / "eval").mkdir()
    points = [{"step": step, "score": 0.4, "low": 0.3, "high": 0.5, "precision": 0.2} for step in (50, 0)]
    (tmp_path / "eval" / "eval.json").write_text(json.dumps({"curve_name": "F1", "curve": points}))
    assert outside_curve(tmp_path) == ("F1", [Outside(0, 0.4, 0.3, 0.5, 0.2), Outside(50, 0.4, 0.3, 0.5, 0.2)])


# The page.


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three steps of the toy task with evaluations, its last rollout's texts replaced by hostile ones."""
    folder = tmp_path_factory.mktemp("runs") / "toy"
    toy_trainer(folder, steps=3, eval_every=3, eval_prompts=4).train()
    lines = RunFolder(folder).read(ROLLOUTS)
    lines[-1]["prompt"]["messages"][-1]["content"] = HOSTILE
    lines[-1]["completions"][0]["text"] = HOSTILE
    lines[-1]["prompt"]["type"] = HOSTILE[:40]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / ROLLOUTS).write_text(text)
    return folder


class Elements(HTMLParser):
    """Start tags, and the text of script elements."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self._in_script = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_data(self, data):
        if self._in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self._in_script = False


def test_the_report_holds_curves_evaluations_and_every_rollout(run):
    page = report.write_report(run).read_text(encoding="utf-8")
    elements = Elements(page)
    names = [attributes["aria-label"] for tag, attributes in elements.tags if tag == "svg"]
    for name in (
        "Reward",
        "Parts",
        "KL",
        "Entropy",
        "Gradient norm",
        "Degenerate groups",
        "Length",
        "Log-prob gap",
        "Seconds",
    ):
        assert any(found.startswith(name) for found in names)
    data = json.loads(elements.scripts[0])
    assert [step["step"] for step in data["steps"]] == [1, 2, 3]
    size = toy_config(run).group_size
    assert all(len(group["completions"]) == size for step in data["steps"] for group in step["groups"])
    assert "Sealed evaluations" in page and "3 of 3 steps" in page
    assert "best checkpoint by the sealed reward: step-3" in page


def test_hostile_text_adds_no_element_and_comes_back_as_it_was(run):
    elements = Elements(report.write_report(run).read_text(encoding="utf-8"))
    assert len(elements.scripts) == 2
    assert not [tag for tag, _ in elements.tags if tag == "img"]
    data = json.loads(elements.scripts[0])
    assert data["steps"][-1]["groups"][-1]["completions"][0]["text"] == HOSTILE
    assert HOSTILE in data["texts"]


def test_the_page_names_no_address_and_may_load_nothing(run):
    page = report.write_report(run).read_text(encoding="utf-8")
    elements = Elements(page)
    policy = next(attributes["content"] for tag, attributes in elements.tags if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    for tag, attributes in elements.tags:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert not {"src", "srcset", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("xlink:href", "#").startswith("#") and attributes.get("href", "#").startswith("#")
    # Namespaces are names; nothing is fetched from them.
    assert set(re.findall(r"https?://[\w./]+", page)) <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}


def test_a_run_of_one_step_and_one_that_was_cut_off_inside_a_line(run, tmp_path):
    for name in ("config.json", METRICS, EVALS, ROLLOUTS):
        text = (run / name).read_text(encoding="utf-8")
        if name in (METRICS, ROLLOUTS):
            text = "".join(line for line in text.splitlines(keepends=True) if line.startswith('{"step": 1,'))
            text += '{"step": 2, "reward_me'
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = report.write_report(tmp_path).read_text(encoding="utf-8")
    assert "1 of 3 steps" in page and "Not finished; go on with: python train.py --resume" in page
    assert "<svg" in page


def test_a_run_without_a_finished_step_has_a_report_too(tmp_path):
    RunFolder.create(toy_config(tmp_path), {})
    page = report.write_report(tmp_path).read_text(encoding="utf-8")
    assert "No step of 4 has finished yet." in page and "<script" not in page


def test_what_is_no_run_is_refused_in_one_line(tmp_path, capsys):
    assert report.main([str(tmp_path)]) == 2
    assert "not a run's folder" in capsys.readouterr().err
    assert report.main([]) == 2


def test_what_was_not_measured_leaves_no_chart(tmp_path):
    folder = tmp_path / "run"
    toy_trainer(folder, steps=1, beta=0.0).train()
    page = report.write_report(folder).read_text(encoding="utf-8")
    assert "KL to the untrained model" not in page and "Entropy" in page


def test_the_20_step_mean_starts_with_what_there_is():
    assert report.running_mean([1.0, 2.0, None, 6.0], window=2) == [1.0, 1.5, 2.0, 6.0]
    assert report.running_mean([None, 1.0]) == [None, 1.0]


# Rollouts that fit.


def record(step, group, size=100):
    completion = {"text": "x" * size, "tokens": 3, "finish_reason": "stop", "gate": True, "reason": ""}
    return {
        "step": step,
        "group": group,
        "prompt": {
            "number": group,
            "type": "t",
            "tokens": 5,
            "messages": [{"role": "system", "content": "s" * 500}, {"role": "user", "content": f"q{step}-{group}"}],
            "metadata": {"document": f"q{step}-{group}", "gold": [1]},
        },
        "completions": [completion] * 2,
        "rewards": [0.0, 1.0],
        "parts": [{"a": 0.0}, {"a": 1.0}],
        "advantages": [-0.7, 0.7],
        "degenerate": False,
        "unique_fraction": 0.5,
    }


def embed(tmp_path, records, limit):
    file = tmp_path / ROLLOUTS
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    return embedded(file, limit)


def test_all_rollouts_are_embedded_where_they_fit_and_a_system_prompt_once(tmp_path):
    data, note = embed(tmp_path, [record(step, group) for step in (1, 2) for group in (0, 1)], 1_000_000)
    assert note == "4 groups of 2 steps."
    assert len(data["texts"]) == 1 + 4
    assert data["steps"][1]["groups"][0]["metadata"] == '{"gold": [1]}'


def test_too_many_rollouts_are_thinned_at_even_distances_and_it_is_said(tmp_path):
    records = [record(step, 0, size=1000) for step in range(1, 101)]
    data, note = embed(tmp_path, records, 60_000)
    kept = [step["step"] for step in data["steps"]]
    assert kept[0] == 1 and kept[-1] == 100 and 15 < len(kept) < 30
    gaps = [later - earlier for earlier, later in itertools.pairwise(kept)]
    assert max(gaps) <= 2 * min(gaps)
    # The shared texts and the brackets come on top.
    assert len(json.dumps(data)) < 63_000
    assert len(data["texts"]) == 1 + len(kept)
    assert note.startswith(f"{len(kept)} of 100 groups, of {len(kept)} of 100 steps")


def test_of_one_huge_step_the_first_groups_are_kept(tmp_path):
    data, note = embed(tmp_path, [record(1, group, size=1000) for group in range(50)], 20_000)
    assert 1 <= len(data["steps"][0]["groups"]) < 12
    assert "of 50 groups" in note


# Drawings and data.


def test_a_chart_takes_its_colours_from_the_page_and_its_ids_are_its_own():
    one = line_chart("One", [Series("a", [1, 2], [0.1, None]), Series("b", [1, 2], [0.3, 0.2])])
    other = line_chart("Other", [Series("a", [1, 2], [0.1, 0.2])])
    assert "var(--c1)" in one and "currentColor" in one and "#0" not in re.sub(r'"#[^"]*"|url\(#[^)]*\)', "", one)
    ids = [set(re.findall(r' id="([^"]+)"', drawing)) for drawing in (one, other)]
    assert ids[0] and not ids[0] & ids[1]
    assert one == line_chart("One", [Series("a", [1, 2], [0.1, None]), Series("b", [1, 2], [0.3, 0.2])])


@pytest.mark.parametrize("values", [[], [0.0], [None, None], [1e-9, 1e9]])
def test_charts_of_little_or_extreme_data(values):
    x = list(range(1, len(values) + 1))
    assert "<svg" in line_chart("x", [Series("a", x, values)], log=True)
    assert "<svg" in line_chart("x", [Series("a", x, values)], share=True)


def test_a_stacked_chart_of_one_step_shows_something():
    assert stacked_chart("one", [3], [("a", [1.0]), ("b", [2.0])]).count("<path") > 4


def test_a_chart_name_is_escaped():
    assert "&lt;b&gt;&#34;" in line_chart('<b>"', [Series("a", [1], [1.0])])


def test_embedded_json_holds_no_markup_and_says_the_same():
    text = json_for_html({"text": HOSTILE, "more": ["<", "&", "'"]})
    assert "<" not in text
    assert json.loads(text) == {"text": HOSTILE, "more": ["<", "&", "'"]}
    with pytest.raises(ValueError, match="Out of range"):
        json_for_html([float("nan")])


def test_settings_of_the_toy_run_are_shown(run):
    assert dataclasses.asdict(toy_config(run))["lr"] == 1e-3
    assert "&#34;lr&#34;: 0.001" in report.write_report(run).read_text(encoding="utf-8")
