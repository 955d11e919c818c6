"""eval.py: what is wrong with an answer, scores that equal those called by hand, the whole script on tiny models."""

from __future__ import annotations

import json
import math

import pytest
import torch

import eval as script
from benchmarks import general
from grpo.answers import Job
from grpo.config import Config
from grpo.drift import mean_kl
from grpo.run_folder import RunFolder
from grpo.settings import SettingsError
from grpo.subjects import fingerprint, subjects
from grpo.task import Score
from pii import eval_tables, evaluation
from pii.answer import render
from pii.compare import faults
from pii.document import Mention
from pii.outputs import Column, page_values
from pii.scoring import report, scores
from pii.task import PiiTask
from tests.conftest import make_llama, make_qwen2, make_tokenizer


def person(text, entity_id=1):
    return Mention(text, "PERSON", entity_id)


def kinds(gold, predicted):
    return [fault.kind for fault in faults(gold, predicted)]


# Kinds of error.


def test_a_right_answer_has_no_fault_in_any_order_and_numbering():
    gold = [person("Ram", 1), Mention("2341 2341 2346", "AADHAAR", 2), person("Ram", 1)]
    said = [Mention("2341-2341-2346", "AADHAAR", 9), person("Ram", 5), person("Ram", 5)]
    assert kinds(gold, said) == []


def test_missed_invented_and_wrong_type_are_told_apart():
    gold = [person("Rajesh Kumar"), Mention("9876543210", "PHONE", 2)]
    said = [Mention("9876543210", "BANK_ACCOUNT", 2), Mention("a@b.in", "EMAIL", 3)]
    found = faults(gold, said)
    assert [(one.kind, one.types) for one in found] == [
        ("missed", ("PERSON",)),
        ("wrong type", ("PHONE", "BANK_ACCOUNT")),
        ("invented", ("EMAIL",)),
    ]


def test_a_name_cut_short_is_a_wrong_boundary():
    assert kinds([person("Rajesh Kumar")], [person("Rajesh")]) == ["wrong boundary"]


def test_an_address_cut_to_its_end_is_a_wrong_boundary_though_the_reward_does_not_pair_it():
    gold = [Mention("12 MG Road, Shivaji Nagar, Pune, Maharashtra 411005", "ADDRESS", 1)]
    assert kinds(gold, [Mention("411005", "PINCODE", 1)]) == ["wrong type", "wrong boundary"]


def test_part_of_a_word_is_invented_and_the_word_missed():
    assert kinds([person("Ramesh")], [person("Ram")]) == ["missed", "invented"]


def test_two_persons_under_one_id_are_wrong_links_and_so_is_one_person_under_two():
    gold = [person("Ram", 1), person("Sita", 2), person("Ram K", 1)]
    joined = [person("Ram", 1), person("Sita", 1), person("Ram K", 1)]
    assert kinds(gold, joined) == ["wrong link"] * 3
    parted = [person("Ram", 1), person("Sita", 2), person("Ram K", 3)]
    assert kinds(gold, parted) == ["wrong link"] * 2


def test_a_missed_partner_is_no_wrong_link():
    assert kinds([person("Ram", 1), person("Sita", 1)], [person("Ram", 4)]) == ["missed"]


def test_a_string_said_twice_is_invented_once():
    assert kinds([person("Ram")], [person("Ram"), person("Ram")]) == ["invented"]


# Scores.


def test_external_scores_are_those_of_scoring_called_by_hand():
    prompts = PiiTask().eval_prompts("external", 8)
    gold = [[Mention(*mention) for mention in prompt.metadata["gold"]] for prompt in prompts]
    right = [render(mentions[: 1 + place % 3]) for place, mentions in enumerate(gold)]
    texts = [*right[:-1], "no list"]
    predicted = [mentions[: 1 + place % 3] for place, mentions in enumerate(gold)]
    predicted[-1] = []
    found = evaluation.external(prompts, [[text] for text in texts])
    assert found == report(gold, predicted)
    assert found["scores"] == scores(gold, predicted)
    assert 0 < found["scores"]["token_f1"] < 1


def test_of_several_samples_the_scores_are_the_mean():
    prompts = PiiTask().eval_prompts("external", 6)
    gold = [[Mention(*mention) for mention in prompt.metadata["gold"]] for prompt in prompts]
    found = evaluation.external(prompts, [[render(mentions), "[]"] for mentions in gold])
    nothing = scores(gold, [[] for _ in gold])
    assert found["scores"]["token_f1"] == pytest.approx((1 + nothing["token_f1"]) / 2)
    assert found["scores"]["token_recall"] == pytest.approx((1 + nothing["token_recall"]) / 2)


def test_rewards_are_means_over_prompts_with_their_interval():
    rows = [
        [Score(0.2, {"recall": 0.2, "coreference": 1.0}), Score(0.4, {"recall": 0.4})],
        [Score(0.0, {"recall": 0.0}, gate=False, reason="x"), Score(0.2, {"recall": 0.4})],
    ]
    found = evaluation.rewards(rows)
    assert found["reward"] == pytest.approx(0.2)
    # Prompt means 0.3 and 0.1: standard deviation 0.1 * sqrt(2), over sqrt(2) prompts.
    assert found["reward_interval"] == pytest.approx(1.96 * 0.1)
    assert found["parts"] == pytest.approx({"recall": 0.25, "coreference": 1.0})
    assert found["gate_fraction"] == 0.75 and found["prompts"] == 2


def test_general_questions_are_graded_by_kind():
    asked = general.questions(24)
    prompts = [script.Prompt(one.messages, one.kind, {"answer": one.answer}) for one in asked]
    texts = [one.answer if place < 12 else "wrong" for place, one in enumerate(asked)]
    found = script.graded(prompts, texts)
    assert found["share"] == 0.5 and found["questions"] == 24
    assert set(found["by_kind"]) == set(general.KINDS) and set(found["by_kind"].values()) == {0.5}


# Drift.


def test_the_kl_to_itself_is_zero_and_to_another_model_the_mean_over_all_tokens():
    model, other, tokenizer = make_qwen2(tie=True), make_qwen2(tie=False), make_tokenizer()
    texts = ["The quick brown fox jumps over the lazy dog.", "yes no maybe", "x"]
    assert mean_kl(model, model, tokenizer, texts) == pytest.approx(0.0, abs=1e-6)
    total, count = 0.0, 0
    for text in texts[:2]:
        ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]])
        with torch.no_grad():
            logp, ref = (torch.log_softmax(one(ids).logits[0, :-1].double(), -1) for one in (model, other))
        total += (logp.exp() * (logp - ref)).sum().item()
        count += ids.shape[1] - 1
    assert mean_kl(model, other, tokenizer, texts) == pytest.approx(total / count, rel=1e-4)


def test_models_of_different_vocabularies_have_no_kl():
    with pytest.raises(SettingsError, match="vocabularies of 448 and 500 tokens"):
        mean_kl(make_qwen2(tie=True), make_llama(vocab_size=500), make_tokenizer(), ["a b"])


# The page's values.


def test_the_documents_that_got_worse_most_come_first():
    prompts = [("held-out", prompt) for prompt in PiiTask().eval_prompts("held_out", 3)]
    columns = [
        Column(label, ["[]", "[]", "no"], [Score(reward) for reward in rewards])
        for label, rewards in (("before", (0.5, 0.2, 0.1)), ("after", (0.6, 0.0, 0.9)))
    ]
    values = page_values(prompts, columns)
    assert [item["place"] for item in values["items"]] == [1, 0, 2]
    assert values["items"][2]["views"][0]["reason"] and not values["items"][0]["views"][0]["reason"]
    # The two that changed most.
    assert [item["place"] for item in page_values(prompts, columns, limit=2)["items"]] == [1, 2]


def test_a_string_said_twice_is_not_called_absent_from_the_document():
    (prompt,) = PiiTask().eval_prompts("held_out", 1)
    name = prompt.metadata["gold"][0][0]
    answer = render([person(name), person(name), person("Nowhere Man")] * 3)
    (item,) = page_values([("held-out", prompt)], [Column("x", [answer], [Score(0.1)])])["items"]
    absent = {fault["predicted"].text for fault in item["views"][0]["faults"] if fault["absent"]}
    assert absent == {"Nowhere Man"}


# The whole script.


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a random model with two checkpoints, made without training: only the files matter here."""
    folder = tmp_path_factory.mktemp("eval")
    model, tokenizer = make_qwen2(tie=True), make_tokenizer()
    model.config.max_position_embeddings = 4096
    base, run = folder / "base", folder / "run"
    advice = json.dumps({"max_tokens": 20, "prompt_style": "short"})
    RunFolder.create(
        Config(model=str(base), steps=4, max_tokens=20, out=str(run)),
        {"task_seed": 0, "prompt_style": "short", "empty_share": 0.1, "reward_weights": "", "probe": ""},
    )
    for place in (base, run / "step-2", run / "step-4"):
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)
        (place / "recommended.json").write_text(advice)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.05)
    return run


SMALL = ("--held-out", "3", "--external", "4", "--general", "2", "--sampler", "torch")


def test_a_run_stands_for_its_newest_checkpoint_or_for_all(run):
    assert [one.label for one in subjects(str(run))] == ["step 4"]
    assert [one.step for one in subjects(str(run), every=True)] == [2, 4]
    (one,) = subjects(str(run / "step-2"))
    assert (one.step, one.run, one.base) == (2, run, str(run.parent / "base"))
    assert one.settings["prompt_style"] == "short" and one.settings["max_tokens"] == 20
    (model,) = subjects(str(run.parent / "base"))
    assert (model.step, model.run, model.base) == (None, None, None)


def test_a_models_fingerprint_changes_with_its_weights_alone(run):
    before = fingerprint(str(run / "step-2"))
    assert before != fingerprint(str(run / "step-4"))
    (run / "step-2" / "notes.txt").write_text("x")
    assert fingerprint(str(run / "step-2")) == before


def test_every_checkpoint_beside_the_untrained_model_in_one_table(run, capsys, monkeypatch):
    assert script.main([str(run), "--all", *SMALL]) == 0
    out = capsys.readouterr().out
    assert "base (step 0)" in out and "step 2" in out and "step 4" in out
    assert "Title Case" in out
    contents = json.loads((run / "eval" / "eval.json").read_text())
    assert [one["step"] for one in contents["models"]] == [0, 2, 4]
    assert [point["step"] for point in contents["curve"]] == [0, 2, 4]
    assert contents["models"][0]["kl"] == 0.0 < contents["models"][2]["kl"]
    assert all(one["held_out"]["prompts"] == 3 and one["general"]["questions"] == 2 for one in contents["models"])
    for name in ("eval/eval.html", "eval/outputs.html", "report.html"):
        assert (run / name).stat().st_size > 1000
    assert "External scores" not in out and "External set over steps" in (run / "eval" / "eval.html").read_text()

    # The second time nothing is asked again: the models are not even loaded.
    monkeypatch.setattr("grpo.answers.load_model", None)
    monkeypatch.setattr("grpo.drift.load_model", None)
    assert script.main([str(run), "--all", *SMALL, "--markdown"]) == 0
    assert "| reward |" in capsys.readouterr().out


def test_an_interrupted_evaluation_asks_only_for_what_is_missing(tmp_path):
    task = PiiTask(prompt_style="short")
    prompts = task.eval_prompts("held_out", 4)

    class Stops:
        """Samples empty lists until it is interrupted."""

        asked = 0

        def generate(self, ids, n, **settings):
            if self.asked:
                raise KeyboardInterrupt
            self.asked += len(ids)
            return [[script_completion()] * n for _ in ids]

    def job(count=4, **changes):
        settings = {"folder": tmp_path, "fingerprint": "f", "max_tokens": 8} | changes
        return Job("held_out", prompts[:count], **settings)

    left = job().missing()
    assert [len(prompt.metadata["document"]) for prompt in left] == sorted(
        (len(prompt.metadata["document"]) for prompt in prompts), reverse=True
    )
    sampler = Stops()
    job().ask(left[:3], sampler, make_tokenizer(), None)
    with pytest.raises(KeyboardInterrupt):
        job().ask(left[3:], sampler, make_tokenizer(), None)
    with open(next(tmp_path.glob("*.jsonl")), "a") as file:
        file.write('{"prompt": "torn')
    assert job().missing() == left[3:]
    # Other settings are another file; fewer prompts are found in the same one.
    assert len(job(max_tokens=9).missing()) == len(job(fingerprint="g").missing()) == 4
    assert len(job(2).missing()) == len([prompt for prompt in prompts[:2] if prompt == left[3]])


def script_completion():
    from grpo.rollout import Completion

    return Completion([5], [0.0], "stop")


def test_several_samples_free_form_of_a_single_model(run, tmp_path, capsys):
    arguments = [str(run.parent / "base"), *SMALL, "--samples", "2", "--free-form", "--out", str(tmp_path / "out")]
    assert script.main([*arguments, "--no-baselines"]) == 0
    (model,) = json.loads((tmp_path / "out" / "eval.json").read_text())["models"]
    assert model["kl"] is None and model["step"] is None
    # A random model writes no list of its own accord.
    assert model["held_out"]["gate_fraction"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere/at/all"], "no such folder"),
        (["{run}", "--held-out", "-1"], "-1 is below 0"),
        (["{run}", "--samples", "2", "--temperature", "0"], "several samples of a greedy answer are all the same"),
        (["{run}", "--held-out", "0", "--external", "0", "--general", "0"], "leaves nothing to measure"),
        (["{run}", "--smaples", "2"], "did you mean --samples?"),
        (
            ["{run}", "--max-tokens", "4090", "--general", "0", "--out", "{run}/x"],
            "4090 exceed the model's context of 4096; lower --max-tokens",
        ),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(run, capsys, arguments, said):
    given = [argument.format(run=run) for argument in arguments]
    try:
        status = script.main(given)
    except SystemExit as stop:
        status = stop.code
    err = capsys.readouterr().err
    assert status == 2 and said in err and err.startswith("eval.py: ")
    assert len(err.strip().splitlines()) == 1


def test_a_damaged_checkpoint_is_named(run, tmp_path, capsys):
    folder = tmp_path / "step-9"
    folder.mkdir()
    manifest = {"format": 1, "files": {"model.safetensors": {"bytes": 1, "sha256": ""}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert script.main([str(folder)]) == 2
    assert "model.safetensors: missing" in capsys.readouterr().err


def test_rows_stand_under_their_columns():
    rows = [("part", []), ("reward", ["0.1", "0.25 ±0.1"])]
    assert eval_tables.as_text(rows, ["before", "after"]).splitlines() == [
        "        before      after",
        "part",
        "  reward   0.1  0.25 ±0.1",
    ]
    assert eval_tables.as_markdown(rows, ["a", "b"]).splitlines()[2:] == [
        "| **part** |  |  |",
        "| reward | 0.1 | 0.25 ±0.1 |",
    ]


def test_intervals_of_one_document_do_not_fail():
    assert math.isfinite(evaluation.rewards([[Score(0.5)]])["reward_interval"])
