"""PiiTask: its streams are fixed and never meet, held-out types stay out, answers are scored as pii.reward says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from grpo.task import Prompt, Task
from pii.answer import render
from pii.document import Document, Mention
from pii.grid import HELD_OUT, TRAINED, TYPES
from pii.matching import fold
from pii.prompt import EXAMPLE_ANSWER, EXAMPLE_DOCUMENT, GRAMMAR
from pii.shortcuts import shortcuts
from pii.task import EVAL_EMPTY_EVERY, PiiTask

GENERATED = ("held_out", "trained")


def gold_of(prompt: Prompt) -> list[Mention]:
    return [Mention(*mention) for mention in prompt.metadata["gold"]]


def test_it_is_a_task() -> None:
    task: Task = PiiTask()
    assert task.grammar == GRAMMAR
    assert tuple(task.types) == TYPES
    assert tuple(task.trained_types) == TRAINED
    assert tuple(task.splits) == ("held_out", "external", "trained")


def test_importing_it_loads_no_torch() -> None:
    code = "import sys, pii.task; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_prompt_is_a_function_of_seed_and_index_also_in_another_process() -> None:
    show = "json.dumps([[p.messages, p.type, p.metadata] for p in map(PiiTask(seed=3).train_prompt, (0, 57, 10**9))])"
    code = f"import json; from pii.task import PiiTask; print({show})"
    elsewhere = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    here = [[p.messages, p.type, p.metadata] for p in map(PiiTask(seed=3).train_prompt, (0, 57, 10**9))]
    assert elsewhere.strip() == json.dumps(here)


def test_another_seed_gives_other_training_documents_and_the_same_evaluation() -> None:
    one, other = PiiTask(seed=1), PiiTask(seed=2)
    assert one.train_prompt(0) != other.train_prompt(0)
    assert one.probe_prompt(TYPES[0], 0) != other.probe_prompt(TYPES[0], 0)
    for split in one.splits:
        assert one.eval_prompts(split, 12) == other.eval_prompts(split, 12)


def test_every_trained_type_comes_once_before_any_comes_again() -> None:
    task = PiiTask()
    n = len(TRAINED)
    rounds = [[task.train_prompt(i).type for i in range(r * n, (r + 1) * n)] for r in range(3)]
    for types in rounds:
        assert sorted(types) == sorted(TRAINED)
    assert all(a != b for a, b in pairwise(rounds))


def test_held_out_types_are_never_trained_on_and_are_all_evaluated() -> None:
    task = PiiTask()
    assert not {task.train_prompt(i).type for i in range(200)} & set(HELD_OUT)
    assert Counter(p.type for p in task.eval_prompts("held_out", 22)) == dict.fromkeys(HELD_OUT, 2)
    assert Counter(p.type for p in task.eval_prompts("trained", 42)) == dict.fromkeys(TRAINED, 1)


def test_no_document_stands_in_two_streams() -> None:
    task = PiiTask()
    trained = {task.train_prompt(i).metadata["document"] for i in range(300)}
    probed = {task.probe_prompt(key, i).metadata["document"] for key in TYPES for i in range(3)}
    evaluated = {p.metadata["document"] for split in task.splits for p in task.eval_prompts(split, 100)}
    assert not trained & probed
    assert not trained & evaluated
    assert not probed & evaluated
    assert len(evaluated) == 300


def test_the_first_prompts_of_a_split_stay_the_first() -> None:
    task = PiiTask()
    for split in task.splits:
        assert task.eval_prompts(split, 30)[:7] == task.eval_prompts(split, 7)
        assert task.eval_prompts(split, 0) == []


def test_the_share_of_empty_documents_is_the_setting() -> None:
    def share(empty_share: float, n: int = 400) -> float:
        task = PiiTask(empty_share=empty_share)
        return sum(not task.train_prompt(i).metadata["gold"] for i in range(n)) / n

    assert share(0, 100) == 0
    assert share(1, 30) == 1
    # Three standard deviations of 400 draws at 0.1 are 0.045.
    assert share(0.1) == pytest.approx(0.1, abs=0.045)


def test_every_tenth_evaluation_document_is_empty_and_no_probe_document() -> None:
    task = PiiTask()
    for split in GENERATED:
        empty = [i for i, p in enumerate(task.eval_prompts(split, 40)) if not p.metadata["gold"]]
        assert empty == [9, 19, 29, 39]
    assert EVAL_EMPTY_EVERY == 10
    assert all(task.probe_prompt(key, 0).metadata["gold"] for key in TYPES)


def test_the_messages_hold_the_document_and_the_metadata_survives_json() -> None:
    for style in ("full", "short"):
        prompt = PiiTask(prompt_style=style).train_prompt(5)
        assert prompt.messages[-1] == {"role": "user", "content": prompt.metadata["document"]}
        assert json.loads(json.dumps(prompt.metadata)) == prompt.metadata
        assert prompt.metadata["key"] == prompt.type


def test_types_may_be_chosen() -> None:
    chosen = [TRAINED[3], TRAINED[7]]
    task = PiiTask(types=chosen)
    assert tuple(task.trained_types) == tuple(chosen)
    assert Counter(task.train_prompt(i).type for i in range(20)) == dict.fromkeys(chosen, 10)


def test_types_may_be_weighted_and_come_in_proportion() -> None:
    a, b, c, d = TRAINED[:4]
    task = PiiTask(types={a: 6, b: 3, c: 1, d: 0})
    assert tuple(task.trained_types) == (a, b, c)
    counted = Counter(task.train_prompt(i).type for i in range(300))
    assert [counted[key] for key in (a, b, c)] == pytest.approx([180, 90, 30], abs=12)


def test_a_probe_says_what_to_train_on_and_held_out_types_stay_out(tmp_path) -> None:
    file = tmp_path / "probe.json"
    file.write_text(json.dumps({"training_types": {TRAINED[0]: 1, TRAINED[5]: 2, HELD_OUT[0]: 9}}))
    task = PiiTask(probe=str(file))
    assert task.type_weights == {TRAINED[0]: 1.0, TRAINED[5]: 2.0}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "No such file"),
        ("{", "training_types"),
        ("[]", "training_types"),
        ("{}", "training_types"),
        ('{"training_types": ["a"]}', "training_types"),
        ('{"training_types": {"a": null}}', "training_types"),
        ('{"training_types": {}}', "no document type to train on"),
        ('{"training_types": {"a": 1}}', "'a' has 1 parts"),
    ],
)
def test_a_probe_file_that_says_nothing_is_named(tmp_path, content: str | None, named: str) -> None:
    file = tmp_path / "probe.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValueError) as caught:
        PiiTask(probe=file)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"empty_share": 1.5}, "empty_share 1.5"),
        ({"empty_share": float("nan")}, "empty_share nan"),
        ({"prompt_style": "long"}, "'long'"),
        ({"weights": {"recal": 1}}, "'recal'"),
        ({"types": []}, "no document type"),
        ({"types": {TRAINED[0]: 0}}, "no document type"),
        ({"types": {TRAINED[0]: -1}}, "weight -1"),
        ({"types": {TRAINED[0]: float("nan")}}, "weight nan"),
        ({"types": [HELD_OUT[0]]}, "held out"),
        ({"types": ["kyc"]}, "'kyc'"),
        ({"types": [TRAINED[0]], "probe": "probe.json"}, "one of them"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict, named: str) -> None:
    with pytest.raises(ValueError) as caught:
        PiiTask(**settings)
    assert named in str(caught.value)


def test_wrong_arguments_are_named() -> None:
    task = PiiTask()
    with pytest.raises(ValueError, match=r"'test'.*held_out, external, trained"):
        task.eval_prompts("test", 3)
    with pytest.raises(ValueError, match="-1"):
        task.train_prompt(-1)
    with pytest.raises(ValueError, match="'kyc'"):
        task.probe_prompt("kyc", 0)
    with pytest.raises(ValueError, match="1 prompts but 2 completions"):
        task.scores(task.eval_prompts("held_out", 1), ["[]", "[]"])


@pytest.mark.parametrize("split", ["held_out", "external", "trained"])
def test_the_truth_scores_one_and_what_does_not_parse_nothing(split: str) -> None:
    task = PiiTask()
    for prompt in task.eval_prompts(split, 60):
        assert task.score(prompt, render(gold_of(prompt))).reward == pytest.approx(1.0)
        closed = task.score(prompt, "I found nothing.")
        assert (closed.reward, closed.gate) == (0.0, False)


def test_weights_reach_the_reward() -> None:
    prompt = next(p for p in PiiTask().eval_prompts("held_out", 5) if len(p.metadata["gold"]) > 1)
    answer = render(gold_of(prompt)[:1])
    assert PiiTask(weights={"precision": 1}).score(prompt, answer).reward == 1.0
    assert PiiTask(weights={"recall": 1}).score(prompt, answer).reward == pytest.approx(1 / len(gold_of(prompt)))


def test_shortcuts_stay_below_the_truth_on_real_documents() -> None:
    task = PiiTask(empty_share=0)
    prompts = [p for p in map(task.train_prompt, range(126)) if len(p.metadata["gold"]) >= 6]
    assert len(prompts) > 20
    earned: Counter[str] = Counter()
    for prompt in prompts:
        document = Document(prompt.metadata["document"], gold_of(prompt), prompt.type)
        for name, completion in shortcuts(document).items():
            earned[name] += task.score(prompt, completion).reward / len(prompts)
    assert earned["the truth"] == pytest.approx(1.0)
    for name in ("nothing", "the prompt's example", "an invented name", "the whole document as one span"):
        assert earned[name] == 0.0
    assert earned["every word"] < 0.3
    assert earned["every capitalised word"] < 0.3
    assert earned["each gold string twice"] < 0.85
    assert earned["right texts, one constant type"] < 0.9


def test_no_document_holds_the_prompts_example() -> None:
    task = PiiTask()
    documents = [fold(task.train_prompt(i).metadata["document"]) for i in range(200)]
    assert "examplo" in fold(EXAMPLE_DOCUMENT)
    for mention in EXAMPLE_ANSWER:
        assert not any(fold(mention.text) in document for document in documents)


def test_corpus_scores_take_a_closed_gate_for_nothing_found() -> None:
    task = PiiTask()
    prompts = task.eval_prompts("held_out", 20)
    truth = [render(gold_of(prompt)) for prompt in prompts]
    assert task.scores(prompts, truth)["token_f1"] == 1.0
    assert task.scores(prompts, truth)["false_tokens"] == 0.0
    assert task.scores(prompts, ["oops"] * 20) == task.scores(prompts, ["[]"] * 20)
    assert task.scores(prompts, ["oops"] * 20)["token_recall"] == 0.0
    assert task.scores([], []) == {}
