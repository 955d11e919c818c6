"""A wrong setting, file or folder: one line on stderr that names it and says what to do, and exit 2."""

from __future__ import annotations

import json
import re

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

import train
from grpo.rollout import SamplerError
from grpo.run_folder import EVALS, METRICS, RunFolder
from tests.conftest import make_tokenizer


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A random model with room for a document, as a folder."""
    folder = tmp_path_factory.mktemp("model")
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=448,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=8192,
            eos_token_id=[2, 0],
        )
    )
    model.save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    (folder / "recommended.json").write_text('{"max_tokens": 12, "prompt_style": "short"}')
    return str(folder)


@pytest.fixture(scope="module")
def finished(model_folder, tmp_path_factory):
    """The folder of a short run of train.py, for tests that do not change it."""
    out = str(tmp_path_factory.mktemp("runs") / "finished")
    assert train.main([*short(model_folder), "--out", out]) == 0
    return out


def short(model: str) -> list[str]:
    sizes = {"steps": 2, "prompts-per-step": 1, "group-size": 2, "eval-prompts": 1, "save-every": 1}
    return ["--model", model, *(word for name, value in sizes.items() for word in (f"--{name}", str(value)))]


def complaint(capsys, *arguments: str) -> str:
    """train.py's one line on stderr for these arguments; it must exit with 2."""
    try:
        code = train.main(list(arguments))
    except SystemExit as exit:
        code = exit.code
    lines = capsys.readouterr().err.strip().splitlines()
    assert code == 2, lines
    assert len(lines) == 1, lines
    assert lines[0].startswith("train.py: ")
    return lines[0]


def test_the_script_runs_from_start_to_summary(model_folder, tmp_path, capsys):
    out = str(tmp_path / "run")
    assert train.main([*short(model_folder), "--out", out]) == 0
    shown = capsys.readouterr().out
    assert "recommended by the model: --max-tokens 12 --prompt-style short" in shown
    assert "sampler: torch" in shown or "sampler: vllm" in shown
    assert re.search(r"held_out \(1 prompts, steps 0 and 2\)\n  reward +\d\.\d+ -> \d\.\d+", shown)
    folder = RunFolder(out)
    assert [line["step"] for line in folder.read(METRICS)] == [1, 2]
    assert [line["step"] for line in folder.read(EVALS)] == [0, 2]
    advice = json.loads((folder.path / "step-2" / "recommended.json").read_text())
    assert advice == {"lr": 2e-6, "max_tokens": 12, "prompt_style": "short"}


def test_a_finished_run_resumed_has_nothing_left_to_do(finished, capsys):
    assert train.main(["--resume", finished]) == 0
    assert len(RunFolder(finished).read(METRICS)) == 2


def test_a_misspelt_flag(capsys):
    assert "did you mean --steps?" in complaint(capsys, "--stepz", "3")


def test_a_value_out_of_bounds(capsys):
    assert "--steps 0: must be at least 1" in complaint(capsys, "--steps", "0")
    assert "--lr: invalid float value: 'fast'" in complaint(capsys, "--lr", "fast")
    assert "--reward-weights" in complaint(capsys, "--model", "x/y", "--reward-weights", "recall")
    assert "--task-seed -1: must be at least 0" in complaint(capsys, "--model", "x/y", "--task-seed", "-1")
    assert "--empty-share 1.5: must be at most 1.0" in complaint(capsys, "--model", "x/y", "--empty-share", "1.5")


def test_an_unknown_model(capsys, tmp_path):
    assert "no such folder" in complaint(capsys, "--model", "./nowhere", "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written(capsys, tmp_path, model_folder):
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "run")
    assert f"--out {out}: cannot be written" in complaint(capsys, *short(model_folder), "--out", out)


def test_a_folder_that_holds_a_run(capsys, model_folder, finished):
    assert "already holds a run" in complaint(capsys, *short(model_folder), "--out", finished)


def test_resuming_what_is_no_run(capsys, tmp_path):
    assert "not a run's folder" in complaint(capsys, "--resume", str(tmp_path))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda contents: contents.update(format=99), "format 99"),
        (lambda contents: contents["settings"].update(momentum=0.9), "does not know the setting momentum"),
        (lambda contents: contents["task"].pop("empty_share"), "misses the setting empty_share"),
        (lambda contents: contents["settings"].update(lr="fast"), "--lr 'fast': must be a finite number"),
        (lambda contents: contents.pop("task"), "not a run's config.json"),
    ],
)
def test_a_config_of_another_version(capsys, tmp_path, finished, edit, expected):
    contents = json.loads((RunFolder(finished).path / "config.json").read_text())
    edit(contents)
    (tmp_path / "config.json").write_text(json.dumps(contents))
    assert expected in complaint(capsys, "--resume", str(tmp_path))


def test_a_setting_that_may_not_change_on_resume(capsys, finished):
    assert "would change what the rest of the run computes" in complaint(capsys, "--resume", finished, "--beta", "1.0")
    assert "--task-seed 9: the run has 0" in complaint(capsys, "--resume", finished, "--task-seed", "9")


def test_a_truncated_checkpoint(capsys, model_folder, tmp_path):
    out = str(tmp_path / "run")
    assert train.main([*short(model_folder), "--out", out]) == 0
    file = tmp_path / "run" / "step-2" / "optimizer.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    capsys.readouterr()
    line = complaint(capsys, "--resume", out)
    assert f"{file}: truncated (100 of" in line
    assert "to go on from step-1" in line


def test_a_sampler_that_is_not_installed(capsys, model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo.sampler_choice.importlib.util.find_spec", lambda name: None)
    line = complaint(capsys, *short(model_folder), "--sampler", "vllm", "--out", str(tmp_path / "run"))
    assert "--sampler vllm: vLLM is not installed" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (SamplerError("the engine did not start; its log: vllm.log"), "the engine did not start"),
        (torch.OutOfMemoryError("CUDA out of memory.\nMore lines."), "out of GPU memory"),
        (PermissionError(13, "Permission denied", "vllm.log"), "Permission denied: 'vllm.log'"),
    ],
)
def test_an_engine_that_does_not_start(capsys, model_folder, tmp_path, monkeypatch, raised, expected):
    def refuse(*arguments, **keywords):
        raise raised

    monkeypatch.setattr("grpo.trainer.choose_sampler", refuse)
    assert expected in complaint(capsys, *short(model_folder), "--out", str(tmp_path / "run"))


def test_a_tracker_that_cannot_be_started(capsys, model_folder, tmp_path, monkeypatch):
    def refuse(self, *arguments, **keywords):
        raise RuntimeError("no key was given,\nlog in first")

    monkeypatch.setattr("grpo.processes.importlib.util.find_spec", lambda name: True)
    monkeypatch.setattr("grpo.processes.Accelerator.init_trackers", refuse)
    line = complaint(capsys, *short(model_folder), "--log-with", "tensorboard", "--out", str(tmp_path / "run"))
    assert "--log-with tensorboard: cannot be started (no key was given, log in first)" in line


def test_a_tracker_that_is_not_installed(capsys, model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo.processes.importlib.util.find_spec", lambda name: None)
    line = complaint(capsys, *short(model_folder), "--log-with", "wandb", "--out", str(tmp_path / "run"))
    assert "--log-with wandb: that package is not installed" in line


def test_a_model_without_room_for_the_answer(capsys, model_folder, tmp_path):
    line = complaint(capsys, *short(model_folder), "--max-tokens", "8192", "--out", str(tmp_path / "run"))
    assert "--max-tokens 8192: leaves no room for a prompt" in line
