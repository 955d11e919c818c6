"""The probe: its record, interrupt and resume, what it makes of rewards, its page, and what train.py takes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

import probe as script
import train
from grpo import probe
from grpo.probe_file import training_types
from grpo.probe_report import page
from grpo.probe_settings import ProbeSettings, chosen_types
from grpo.probe_summary import summarise
from grpo.probe_table import terminal_report
from grpo.rollout import Completion
from grpo.run_folder import RunFolder
from grpo.sampler import Sampler, TorchSampler
from grpo.settings import SettingsError
from grpo.task import Prompt
from pii.grid import HELD_OUT, TRAINED
from tests.conftest import make_qwen2, make_tokenizer
from tests.toy import SevensTask


class TwoKinds(SevensTask):
    """The task of the trainer's tests with two types, whose prompts differ in length."""

    types: Sequence[str] = ("short", "long")

    def probe_prompt(self, type: str, index: int) -> Prompt:
        text = f"Probe {index}." * {"short": 1, "long": 4}[type]
        return Prompt(({"role": "user", "content": text},), type, {"text": text})


class StoppedBy(TorchSampler):
    """Ctrl-C in the middle of the batch with this number."""

    batches_left = 10**6

    def generate(self, *arguments: Any, **keywords: Any) -> list[list[Completion]]:
        if self.batches_left == 0:
            raise KeyboardInterrupt
        self.batches_left -= 1
        return super().generate(*arguments, **keywords)


def toy_settings(out: Path, **changes: Any) -> ProbeSettings:
    usual: dict[str, Any] = {"model": "toy", "k": 4, "documents": 3, "sub_k": 2, "max_tokens": 12, "pass_bar": 0.3}
    # Two documents of four completions fill a batch.
    return ProbeSettings(**{**usual, "batch_tokens": 2 * (70 + 4 * 12), "out": str(out), **changes})


def run_toy(settings: ProbeSettings, folder: RunFolder, batches: int = 10**6) -> dict[str, Any]:
    model, tokenizer, task = make_qwen2(tie=True, layers=1), make_tokenizer(), TwoKinds()

    def sampler_for(mode: str) -> tuple[Sampler, str]:
        sampler = StoppedBy(model, tokenizer, task.grammar if mode == "constrained" else None)
        sampler.batches_left = batches
        return sampler, ""

    probe.sample(folder, settings, task, tokenizer, 512, sampler_for)
    return summarise(probe.recorded(folder), settings, task, {}, {}, axes)


def axes(type: str) -> dict[str, float | str]:
    return {"length": {"short": 1, "long": 4}[type], "first letter": type[0]}


def record(
    mode: str, type: str, document: int, rewards: list[float], gates: list[bool] | None = None
) -> dict[str, Any]:
    return {
        "mode": mode,
        "type": type,
        "document": document,
        "batch": document,
        "seconds": 0.5,
        "prompt_tokens": 10,
        "rewards": rewards,
        "parts": [{"sevens": reward} for reward in rewards],
        "gates": gates or [True] * len(rewards),
        "reasons": [""] * len(rewards),
        "tokens": [8] * len(rewards),
        "truncated": [False] * len(rewards),
        "texts": [f"<{reward}>" for reward in rewards],
        "metadata": {"text": f"{type} {document}"},
    }


def test_an_interrupted_probe_ends_with_the_same_bytes_as_one_that_never_stopped(tmp_path: Path) -> None:
    whole = toy_settings(tmp_path / "whole", constrained="both")
    expected = run_toy(whole, probe.create(whole, {}))
    assert len(probe.batches(whole, TwoKinds(), make_tokenizer(), 512)) == 3

    broken = toy_settings(tmp_path / "broken", constrained="both")
    folder = probe.create(broken, {})
    # Of the first batch one document remains; the second session samples that batch again, and the next.
    for finished_before, lines in ((1, 1), (2, 4)):
        with pytest.raises(KeyboardInterrupt):
            run_toy(broken, folder, batches=finished_before)
        # The power went, too: half of the last line never reached the disk.
        record_file = folder.path / probe.DOCUMENTS
        record_file.write_bytes(record_file.read_bytes()[:-200])
        folder, broken, _ = probe.reopen(str(tmp_path / "broken"), {})
        assert len(folder.read(probe.DOCUMENTS)) == lines
    assert not probe.finished(folder, broken, TwoKinds())
    found = run_toy(broken, folder)
    assert len(probe.recorded(folder)) == 12 < len(folder.read(probe.DOCUMENTS))
    assert probe.finished(folder, broken, TwoKinds())
    assert json.dumps(found) == json.dumps(expected)


def test_a_documents_completions_depend_on_its_own_seed_and_not_on_its_batch(tmp_path: Path) -> None:
    together = toy_settings(tmp_path / "together", batch_tokens=10**6)
    alone = toy_settings(tmp_path / "alone", batch_tokens=1, types="long")
    folders = [probe.create(settings, {}) for settings in (together, alone)]
    run_toy(together, folders[0])
    run_toy(alone, folders[1])
    texts = [
        {(line["type"], line["document"]): line["texts"] for line in folder.read(probe.DOCUMENTS)} for folder in folders
    ]
    assert len(texts[0]) == 6 and len(texts[1]) == 3
    assert all(texts[0][key] == texts[1][key] for key in texts[1])
    assert len({tuple(found) for found in texts[0].values()}) == 6
    assert all(len(set(found)) > 1 for found in texts[0].values())


def test_batches_are_full_longest_first_and_hold_every_document_once(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path)
    cut = probe.batches(settings, TwoKinds(), make_tokenizer(), 512)
    places = [(item.type, item.number) for batch in cut for item in batch]
    assert sorted(places) == sorted((type, number) for type in TwoKinds.types for number in range(3))
    lengths = [len(item.ids) for batch in cut for item in batch]
    assert lengths == sorted(lengths, reverse=True)
    assert [len(batch) for batch in cut] == [2, 2, 2]
    with pytest.raises(SettingsError, match=r"--max-tokens 12: document 0 of type short has \d+ tokens, and the model"):
        probe.batches(settings, TwoKinds(), make_tokenizer(), 20)


def test_numbers_by_hand(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path, documents=2, pass_bar=0.5)
    records = [
        record("constrained", "short", 0, [1.0, 0.0, 0.0, 0.0], [True, True, True, False]),
        record("constrained", "short", 1, [0.2, 0.2, 0.2, 0.2]),
        record("constrained", "long", 0, [0.0, 0.0, 0.0, 0.0]),
        record("constrained", "long", 1, [0.4, 0.4, 0.4, 0.4]),
    ]
    mode = summarise(records, settings, TwoKinds(), {}, {}, axes)["modes"]["constrained"]
    short, long, overall = mode["types"]["short"], mode["types"]["long"], mode["overall"]
    assert short["reward"] == {"mean": 0.225, "low": 0.2, "high": 0.25}
    assert short["gate_failures"]["mean"] == 0.125
    assert short["reward_if_parsed"]["mean"] == pytest.approx(1.8 / 7, abs=1e-6)
    assert {k: one["mean"] for k, one in short["pass"].items()} == {"1": 0.125, "2": 0.25, "4": 0.5}
    assert {k: one["mean"] for k, one in short["effective"].items()} == {"2": 0.25, "4": 0.5}
    assert short["best"]["4"]["mean"] == 0.6
    # The one group with a spread: mean 0.25, squares 0.5625 + 3 * 0.0625 = 0.75, over 3.
    assert short["std"]["mean"] == 0.25
    assert short["std_median"] == 0.25
    assert (short["verdict"], long["verdict"]) == ("trainable", "dead")
    assert overall["reward"]["mean"] == 0.2125
    assert overall["documents"] == 4 and overall["completions"] == 16
    # Along the axes there is one type a level. Document means 0.25 0.2 | 0 0.4: between them 4 * 0.0125^2 of 0.081875.
    assert [(level["level"], level["reward"]["mean"]) for level in mode["axes"]["length"]] == [(1, 0.225), (4, 0.2)]
    assert mode["explained"]["length"]["reward"] == pytest.approx(0.000625 / 0.081875, abs=1e-6)
    best, median, worst = (short["examples"][name] for name in ("best", "median", "worst"))
    assert (best["reward"], best["document"], best["completion"]) == (1.0, 0, 0)
    assert (median["reward"], median["document"]) == (0.2, 1)
    assert (worst["reward"], worst["document"], worst["completion"]) == (0.0, 0, 1)


def test_what_smaller_groups_would_have_said_equals_their_enumeration(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path, documents=2, pass_bar=0.5)
    rewards = {"short": [[1.0, 0.1, 0.1, 0.1], [0.1] * 4], "long": [[0.0] * 4, [0.0, 0.0, 0.0, 0.4]]}
    records = [record("constrained", type, at, rewards[type][at]) for type in rewards for at in (0, 1)]
    found = summarise(records, settings, TwoKinds(), {}, {})["modes"]["constrained"]
    never, seen = 0.0, {}
    for type, groups in rewards.items():
        smaller = list(product(*(list(combinations(group, 2)) for group in groups)))
        passes = [any(max(group) >= 0.5 for group in one) for one in smaller]
        never += 1 - sum(passes) / len(passes)
        spread = [any(max(group) > min(group) for group in one) for one in smaller]
        seen[type] = (sum(passes) / len(passes), sum(spread) / len(spread))
    assert found["smaller"]["never_solved"] == {"2": pytest.approx(never), "4": 1}
    assert seen == {"short": (0.5, 0.5), "long": (0.0, 0.5)}
    # At exactly one half the better verdict stands; one completion more without a pass and it flips.
    assert found["smaller"]["flips"] == []
    rewards["short"] = [[1.0, 0.1, 0.1, 0.1, 0.1, 0.1], [0.1] * 6]
    rewards["long"] = [[0.0] * 6, [0.0, 0.0, 0.0, 0.0, 0.0, 0.4]]
    settings = toy_settings(tmp_path, documents=2, pass_bar=0.5, k=6)
    records = [record("constrained", type, at, rewards[type][at]) for type in rewards for at in (0, 1)]
    found = summarise(records, settings, TwoKinds(), {}, {})["modes"]["constrained"]
    assert found["smaller"]["flips"] == [
        {"type": "short", "from": "dead", "to": "trainable", "seen": pytest.approx(1 / 3, abs=1e-6)},
        {"type": "long", "from": "dead", "to": "never solved", "seen": pytest.approx(1 / 3, abs=1e-6)},
    ]


def test_the_grammars_share_of_the_shortfall(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path, documents=1, constrained="both")
    gated = [True, True, False, False]
    records = [
        record(mode, type, 0, rewards, gates)
        for type in TwoKinds.types
        for mode, rewards, gates in (("constrained", [0.6] * 4, [True] * 4), ("free", [0.6, 0.6, 0.0, 0.0], gated))
    ]
    comparison = summarise(records, settings, TwoKinds(), {}, {})["comparison"]
    assert comparison["reward"]["mean"] == pytest.approx(0.3)
    assert comparison["gate_failures"]["mean"] == pytest.approx(-0.5)
    # Free-form completions lack 0.7; the grammar gives 0.3 of it back.
    assert comparison["recovered"]["mean"] == pytest.approx(0.3 / 0.7, abs=1e-6)
    assert comparison["sevens"]["mean"] == pytest.approx(0.3)


def test_settings_that_read_the_rewards_may_change_and_no_others(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path / "p")
    probe.create(settings, {"task_seed": 3})
    _, again, task_settings = probe.reopen(
        str(tmp_path / "p"), {"pass_bar": 0.7, "k": 4, "resume": str(tmp_path / "p")}
    )
    assert (again.pass_bar, again.k, task_settings) == (0.7, 4, {"task_seed": 3})
    with pytest.raises(SettingsError, match=r"--k 8: the probe in .* has 4"):
        probe.reopen(str(tmp_path / "p"), {"k": 8})
    # One that failed before its first document can be started again.
    probe.create(settings, {"task_seed": 3}).append(probe.DOCUMENTS, {"mode": "constrained"})
    with pytest.raises(SettingsError, match="already holds a probe; --resume"):
        probe.create(settings, {})
    with pytest.raises(SettingsError, match="no probe's folder"):
        probe.reopen(str(tmp_path / "nowhere"), {})
    (tmp_path / "p" / "settings.json").write_text('{"format": 1')
    with pytest.raises(SettingsError, match="not a probe's settings"):
        probe.reopen(str(tmp_path / "p"), {})


def test_types_are_chosen_by_pattern() -> None:
    types = ["a|chat|d1", "a|email|d1", "b|chat|d10"]
    assert chosen_types("", types) == types
    assert chosen_types("b|chat|d10, *|email|*", types) == ["a|email|d1", "b|chat|d10"]
    assert chosen_types("*|chat|*", types) == ["a|chat|d1", "b|chat|d10"]
    with pytest.raises(SettingsError, match=r"--types c\*: matches none of the task's 3 types"):
        chosen_types("a|chat|d1,c*", types)


def test_the_page_escapes_what_a_model_says_and_loads_nothing(tmp_path: Path) -> None:
    settings = toy_settings(tmp_path, documents=1, constrained="both")
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\ud800"
    records = [
        record(mode, type, 0, [0.0, 0.1, 0.2, 0.3]) | {"texts": [hostile] * 4, "metadata": {"text": hostile}}
        for type in TwoKinds.types
        for mode in settings.modes
    ]
    found = summarise(records, settings, TwoKinds(), {}, {}, axes)
    run = {"modes": {mode: {"tokens_per_second": 1.0} for mode in settings.modes}}
    html = page(found, run, lambda metadata, text: [(metadata["text"], [(text, text, text)])])
    assert "<script" not in html and "<img" not in html
    assert html.count("&lt;script&gt;") >= 12
    assert not [
        where for where in ("src=", "@import", "url(http", "<link") if where in html.replace("&lt;img src=", "")
    ]
    assert html.count("<svg") == 4
    assert "prefers-color-scheme: dark" in html and "#010203" not in html
    (tmp_path / "report.html").write_text(html, encoding="utf-8", errors="backslashreplace")
    assert "never solved" in terminal_report(found, run)


def write_probe(file: Path, **changes: Any) -> str:
    kinds = {TRAINED[0]: 0.1, TRAINED[1]: 0.3, HELD_OUT[0]: 0.2}
    types = {kind: {"std": {"mean": std}} for kind, std in kinds.items()}
    contents = {"format": 1, "modes": {"constrained": {"types": types}}, "training_types": dict.fromkeys(kinds, 1.0)}
    file.write_text(json.dumps({**contents, **changes}))
    return str(file)


def test_training_types_follow_the_stated_rule(tmp_path: Path) -> None:
    file = write_probe(tmp_path / "probe.json")
    assert training_types(file) == {TRAINED[0]: 1.0, TRAINED[1]: 1.0, HELD_OUT[0]: 1.0}
    assert training_types(file, "spread") == {TRAINED[0]: 0.1, TRAINED[1]: 0.3, HELD_OUT[0]: 0.2}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "No such file or directory"),
        ('{"format": 1, "modes": {', "not whole JSON"),
        ("[]", "not a probe.json"),
        ('{"format": 99, "modes": {}}', "format 99, this version reads 1"),
        ('{"format": 1, "modes": {}}', "damaged"),
        ('{"format": 1, "modes": {}, "training_types": {}}', "calls no type trainable"),
        (f'{{"format": 1, "modes": {{}}, "training_types": {{"{HELD_OUT[0]}": 1.0}}}}', "all that it calls trainable"),
    ],
)
def test_train_refuses_a_bad_probe_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, complaint: str
) -> None:
    if text is not None:
        (tmp_path / "probe.json").write_text(text)
    arguments = ["--model", "toy", "--out", str(tmp_path / "run"), "--probe", str(tmp_path / "probe.json")]
    assert train.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("train.py: ") and complaint in said and said.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    model = make_qwen2(tie=True, layers=1)
    model.config.max_position_embeddings = 2048
    model.save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


def test_the_script_probes_and_reads_again_without_the_model(
    tmp_path: Path, tiny_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "p"
    arguments = ["--model", str(tiny_folder), "--k", "3", "--sub-k", "2", "--documents", "2", "--max-tokens", "24"]
    arguments += ["--types", "*|chat|d1|*", "--prompt-style", "short", "--constrained", "both", "--out", str(out)]
    assert script.main(arguments) == 0
    said = capsys.readouterr().out
    assert "verdicts (constrained, 2 types)" in said and "tokens a second" in said
    assert sorted(path.name for path in out.iterdir()) == sorted(
        ["settings.json", "documents.jsonl", "run.json", "probe.json", "report.html"]
    )
    found = json.loads((out / "probe.json").read_text(encoding="utf-8"))
    assert list(found["modes"]) == ["constrained", "free"]
    assert list(found["modes"]["free"]["axes"]) == [
        "density",
        "name forms",
        "distractors",
        "filler",
        "style",
        "family",
    ]
    before = (out / "probe.json").read_bytes()
    # Nothing is left to sample, so that neither model nor tokenizer is loaded.
    (out / "settings.json").write_text((out / "settings.json").read_text().replace(str(tiny_folder), "gone/model"))
    assert script.main(["--resume", str(out)]) == 0
    assert (out / "probe.json").read_bytes() == before.replace(str(tiny_folder).encode(), b"gone/model")
    kept = tmp_path / "kept"
    assert script.main(["--resume", str(out), "--pass-bar", "0", "--keep", str(kept)]) == 0
    found = json.loads((out / "probe.json").read_text(encoding="utf-8"))
    assert {of_type["verdict"] for of_type in found["modes"]["free"]["types"].values()} == {"mastered"}
    assert (kept / "density.png").stat().st_size > 1000
    assert "verdicts (constrained, 2 types)" in (kept / "tables.txt").read_text(encoding="utf-8")
    compact = json.loads((kept / "probe.json").read_text(encoding="utf-8"))
    assert compact["run"]["modes"]["free"]["tokens_per_second"] > 0
    for of_mode in found["modes"].values():
        for of_type in of_mode["types"].values():
            del of_type["examples"], of_type["groups"]
    assert compact["modes"] == found["modes"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--k", "1"], "--k 1: must be at least 2 completions"),
        (["--types", "nothing"], "--types nothing: matches none of the task's 53 types"),
        (["--probe", "x.json"], "--probe: is a setting of train.py"),
        (["--resume", "nowhere"], "--resume nowhere: no probe's folder"),
        (["--reward-weights", "recall=x"], "--reward-weights 'recall=x'"),
    ],
)
def test_the_script_refuses_wrong_settings_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    extra = [] if "--resume" in arguments else ["--model", "toy", "--out", str(tmp_path / "p")]
    assert script.main([*extra, *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("probe.py: ") and complaint in said and said.count("\n") == 1


def test_train_records_what_the_probe_chose(tmp_path: Path, tiny_folder: Path) -> None:
    out = tmp_path / "run"
    arguments = ["--model", str(tiny_folder), "--steps", "1", "--prompts-per-step", "2", "--group-size", "2"]
    arguments += ["--max-tokens", "8", "--prompt-style", "short", "--eval-every", "0", "--out", str(out)]
    file = write_probe(tmp_path / "probe.json")
    assert train.main([*arguments, "--probe", file, "--probe-rule", "spread"]) == 0
    recorded = json.loads((out / "config.json").read_text())["task"]
    assert recorded["train_types"] == f"{TRAINED[0]}=0.1,{TRAINED[1]}=0.3"
    assert (recorded["probe"], recorded["probe_rule"]) == (file, "spread")
    lines = (out / "rollouts.jsonl").read_text().splitlines()
    assert {json.loads(line)["prompt"]["type"] for line in lines} <= {TRAINED[0], TRAINED[1]}


def test_a_rule_for_a_probe_that_was_not_given_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--model", "pii-tiny", "--probe-rule", "spread", "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "--probe-rule spread" in said and "--probe" in said
    assert not (tmp_path / "run").exists()
