"""One setting, one place: the command line, config.json and docs/settings.md all come from the dataclass."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import pytest

import train
from grpo.config import Config, SettingsError, resumed
from grpo.settings import add_arguments, flag, from_dict, given, markdown
from pii.settings import PiiSettings

ROOT = Path(__file__).resolve().parent.parent


def parse(*arguments: str) -> dict:
    parser = argparse.ArgumentParser()
    add_arguments(parser, Config)
    return given(parser.parse_args(arguments), Config)


def test_a_flag_that_is_not_given_leaves_nothing_behind():
    assert parse() == {}
    assert parse("--steps", "3", "--lr", "1e-4") == {"steps": 3, "lr": 1e-4}


def test_a_boolean_has_two_flags():
    assert parse("--skip-degenerate") == {"skip_degenerate": True}
    assert parse("--no-packed") == {"packed": False}


def test_every_field_is_documented_and_stands_under_a_heading():
    for cls in (Config, PiiSettings):
        for field in dataclasses.fields(cls):
            assert len(field.metadata["doc"]) > 10, field.name
            assert not field.metadata["doc"].endswith("."), field.name
            assert field.metadata["group"], field.name


def test_help_shows_every_flag_with_its_default(capsys):
    with pytest.raises(SystemExit) as exit:
        train.main(["--help"])
    assert exit.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    for cls in (Config, PiiSettings):
        for field in dataclasses.fields(cls):
            assert flag(field.name) in shown
    assert "longest completion; what is longer is cut off there (tokens; default: 512)" in shown


def test_the_settings_page_is_current():
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == markdown(Config, PiiSettings), (
        "run: python train.py --help-markdown > docs/settings.md"
    )


def test_settings_survive_config_json():
    config = Config(lr=1e-4, dual_clip=3.0, skip_degenerate=True)
    assert from_dict(Config, dataclasses.asdict(config), "config.json") == config


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("steps", 0, "--steps 0: must be at least 1 steps"),
        ("steps", 1.5, "--steps 1.5: must be a whole number"),
        ("steps", True, "--steps True: must be a whole number"),
        ("lr", float("nan"), "--lr nan: must be a finite number"),
        ("temperature", 0.0, "--temperature 0.0: must be more than 0.0"),
        ("vllm_memory", 1.5, "--vllm-memory 1.5: must be at most 1.0"),
        ("scale", "groups", "--scale 'groups': must be one of group, batch, none"),
        ("model", None, "--model None: must be text"),
        ("packed", 1, "--packed 1: must be true or false"),
    ],
)
def test_a_wrong_value_is_named(name, value, complaint):
    with pytest.raises(SettingsError) as error:
        Config(**{name: value})
    assert str(error.value) == complaint


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_a_group_of_one_teaches_nothing_and_is_refused(scale):
    with pytest.raises(SettingsError, match=r"--group-size 1: .*use 2 or more"):
        Config(group_size=1, scale=scale)


def test_a_setting_of_another_version_is_named():
    values = dataclasses.asdict(Config())
    with pytest.raises(SettingsError, match="does not know the setting momentum"):
        from_dict(Config, {**values, "momentum": 0.9}, "config.json")
    del values["beta"]
    with pytest.raises(SettingsError, match="misses the setting beta"):
        from_dict(Config, values, "config.json")


def test_resuming_refuses_what_would_change_the_rest_of_the_run():
    saved = Config(out="runs/a", lr=1e-5)
    with pytest.raises(SettingsError, match=r"--lr 0\.1: the run in runs/a has 1e-05"):
        resumed(saved, "runs/a", {"resume": "runs/a", "lr": 0.1})
    with pytest.raises(SettingsError, match=r"--steps 100.*cannot be resumed"):
        resumed(saved, "runs/a", {"resume": "runs/a", "steps": 100})
    with pytest.raises(SettingsError, match="stays in its folder"):
        resumed(saved, "runs/a", {"resume": "runs/a", "out": "runs/b"})


def test_resuming_takes_what_does_not_and_says_so():
    saved = Config(out="runs/a")
    config, notes = resumed(saved, "runs/a", {"resume": "runs/a", "steps": 300, "save_every": 10, "lr": saved.lr})
    assert (config.steps, config.save_every, config.resume, config.out) == (300, 10, "runs/a", "runs/a")
    assert notes == [
        "--steps 300: was 150; the learning rate's way to zero now ends at step 300",
        "--save-every 10: was 50",
    ]


def test_a_model_recommends_and_a_flag_overrides(capsys):
    advice = {"lr": 1e-4, "max_tokens": 96, "prompt_style": "short"}
    config, task = train.start({"lr": 3e-4, "model": "m", "out": "o"}, {}, "m", lambda model: advice)
    assert (config.lr, config.max_tokens, task.prompt_style) == (3e-4, 96, "short")
    assert capsys.readouterr().out == "recommended by the model: --max-tokens 96 --prompt-style short\n"


def test_reward_weights_are_read_from_one_flag():
    assert PiiSettings(reward_weights="recall=0.4,precision=0.25").weights["recall"] == 0.4
    assert PiiSettings(reward_weights="recall=0.4, precision = 0.25").weights["precision"] == 0.25
    with pytest.raises(ValueError, match="NAME=NUMBER"):
        _ = PiiSettings(reward_weights="recall").weights
