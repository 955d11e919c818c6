"""Checkpoints are whole or absent, hold no pickle, and load like any other model."""

from __future__ import annotations

import json
import random

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from grpo import checkpoint
from grpo.checkpoint import CheckpointError
from grpo.models import load_model, recommended
from tests.conftest import CHATML, make_tokenizer
from tests.toy import toy_model


def stepped(tie: bool = True):
    """A model and an AdamW that has made one step on it."""
    model = toy_model(tie)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model(torch.tensor([[3, 4, 5]])).logits.square().mean().backward()
    optimizer.step()
    return model, optimizer


def saved(run, *steps: int, tie: bool = True, keep: int = 0):
    model, optimizer = stepped(tie)
    for step in steps:
        checkpoint.save(run, step, model, make_tokenizer(), optimizer, {"next_prompt": 4 * step}, {"lr": 1e-5}, keep)
    return model, optimizer


@pytest.mark.parametrize("tie", [True, False])
def test_a_checkpoint_is_an_ordinary_model_folder(tmp_path, tie):
    model, _ = saved(tmp_path, 2, tie=tie)
    folder = str(tmp_path / "step-2")
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    ids = torch.tensor([[5, 6, 7, 8]])
    assert torch.equal(loaded.eval()(ids).logits, model(ids).logits)
    assert AutoTokenizer.from_pretrained(folder).chat_template == make_tokenizer().chat_template
    ours, tokenizer = load_model(folder, device="cpu")
    assert torch.equal(ours(ids).logits, model(ids).logits)
    assert tokenizer.encode("<7>") == make_tokenizer().encode("<7>")
    assert recommended(folder) == {"lr": 1e-5}


@pytest.mark.parametrize("tie", [True, False])
def test_weights_optimizer_and_random_states_come_back(tmp_path, tie):
    torch.manual_seed(3)
    random.seed(3)
    model, optimizer = saved(tmp_path, 2, tie=tie)
    drawn = (torch.rand(3), random.random(), random.gauss(0, 1))

    other = toy_model(tie)
    other_optimizer = torch.optim.AdamW(other.parameters(), lr=1e-3)
    state = checkpoint.load(tmp_path / "step-2", other, other_optimizer)
    assert state == {"step": 2, "next_prompt": 8}
    assert torch.equal(torch.rand(3), drawn[0])
    assert (random.random(), random.gauss(0, 1)) == drawn[1:]
    for ours, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        for key, value in optimizer.state[ours].items():
            assert torch.equal(value, other_optimizer.state[theirs][key]), key


def test_nothing_in_a_checkpoint_is_a_pickle(tmp_path):
    saved(tmp_path, 1)
    suffixes = {file.suffix for file in (tmp_path / "step-1").iterdir()}
    assert suffixes <= {".json", ".safetensors", ".jinja"}


def test_the_newest_is_found_by_number(tmp_path):
    assert checkpoint.latest(tmp_path) is None
    saved(tmp_path, 9, 10)
    assert checkpoint.latest(tmp_path) == tmp_path / "step-10"


def test_an_unfinished_checkpoint_does_not_count_and_is_cleared_away(tmp_path):
    saved(tmp_path, 1)
    (tmp_path / "step-2.tmp").mkdir()
    (tmp_path / "step-2.tmp" / "model.safetensors").write_bytes(b"half")
    assert checkpoint.latest(tmp_path) == tmp_path / "step-1"
    saved(tmp_path, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1", "step-2"]


def test_only_the_newest_are_kept_where_that_was_asked(tmp_path):
    saved(tmp_path, 1, 2, 3, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-2", "step-3"]


def test_a_truncated_file_is_named_with_the_last_whole_step(tmp_path):
    saved(tmp_path, 2, 4)
    file = tmp_path / "step-4" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(CheckpointError) as error:
        checkpoint.latest(tmp_path)
    line = str(error.value)
    assert f"{file}: truncated (1000 of " in line
    assert line.endswith(f"delete {tmp_path / 'step-4'} to go on from step-2")
    assert "\n" not in line


@pytest.mark.parametrize("name", ["optimizer.safetensors", "state.json", "manifest.json"])
def test_a_missing_file_is_named(tmp_path, name):
    saved(tmp_path, 4)
    (tmp_path / "step-4" / name).unlink()
    with pytest.raises(CheckpointError, match=rf"{name}: (missing|cannot be read).*start the run again"):
        checkpoint.latest(tmp_path)


def test_a_flipped_byte_is_found(tmp_path):
    saved(tmp_path, 4)
    file = tmp_path / "step-4" / "optimizer.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert "damaged (its SHA-256" in checkpoint.damage(tmp_path / "step-4")


def test_another_format_is_named(tmp_path):
    saved(tmp_path, 4)
    manifest = tmp_path / "step-4" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 99}))
    assert "format 99" in checkpoint.damage(tmp_path / "step-4")


@pytest.mark.parametrize(
    "files", [["model.safetensors"], {"model.safetensors": 3}, {"model.safetensors": {"bytes": 3}}]
)
def test_a_manifest_that_lists_nothing_sensible_is_damaged(tmp_path, files):
    saved(tmp_path, 4)
    manifest = tmp_path / "step-4" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "files": files}))
    assert checkpoint.damage(tmp_path / "step-4") == f"{manifest}: damaged"


def test_a_tokenizer_with_several_chat_templates_is_saved_and_verified_whole(tmp_path):
    model, optimizer = stepped()
    tokenizer = make_tokenizer()
    tokenizer.chat_template = {"default": CHATML, "tool_use": CHATML + " "}
    folder = checkpoint.save(tmp_path, 1, model, tokenizer, optimizer, {"next_prompt": 4}, {})
    assert checkpoint.latest(tmp_path) == folder
    (inner,) = folder.glob("*/*")
    inner.write_text("")
    assert f"{inner}: truncated" in checkpoint.damage(folder)
