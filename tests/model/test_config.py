"""The published sizes and their parameters, to the unit."""

import json

import pytest
import torch
from transformers import BertConfig as TheirConfig
from transformers import BertForPreTraining

from model import SIZES, Bert, BertConfig, CheckpointError, parameter_counts, tokenizer


def total(config: BertConfig) -> int:
    return sum(part.count for part in parameter_counts(config))


def test_the_ledger_says_the_papers_embedding_counts():
    counts = {
        part.name: part.count for part in parameter_counts(BertConfig(vocab_size=30_000)) if part.group == "embeddings"
    }
    assert counts["tokens"] == 23_040_000
    assert counts["segments"] == 1_536
    assert counts["positions"] == 393_216


@pytest.mark.parametrize("size", ["base", "large"])
def test_totals_are_transformers_own(size):
    config = BertConfig.preset(size)
    with torch.device("meta"):
        theirs = BertForPreTraining(
            TheirConfig(
                vocab_size=config.vocab_size,
                hidden_size=config.hidden_size,
                num_hidden_layers=config.num_hidden_layers,
                num_attention_heads=config.num_attention_heads,
                intermediate_size=config.intermediate_size,
            )
        )
    assert total(config) == theirs.num_parameters()


@pytest.mark.parametrize(("size", "millions"), [("base", 110), ("large", 336)])
def test_base_and_large_have_the_size_they_are_known_for(size, millions):
    assert round(total(BertConfig.preset(size)) / 1e6) == millions


@pytest.mark.parametrize("size", ["tiny", "mini"])
@pytest.mark.parametrize("heads", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("positions", ["absolute", "sinusoidal"])
def test_the_ledger_counts_what_the_model_learns(size, heads, positions):
    words = tokenizer.from_vocabulary(["a", "b"])
    config = BertConfig.preset(size, vocab_size=words.vocab_size, position_embedding_type=positions)
    bert = Bert.random_init(config, words, mlm=heads[0], nsp=heads[1])
    learned = sum(p.numel() for p in bert.parameters() if p.requires_grad)
    assert sum(part.count for part in parameter_counts(config, *heads)) == learned


def test_every_preset_has_heads_of_64():
    assert {BertConfig.preset(size).head_size for size in SIZES} == {64}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden_size": 100}, "not a multiple"),
        ({"num_hidden_layers": 0}, "positive whole number"),
        ({"vocab_size": "many"}, "positive whole number"),
        ({"hidden_act": "swish"}, "hidden_act"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_in_words(change, message):
    with pytest.raises(CheckpointError, match=message):
        BertConfig.preset("base", **change)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not readable"),
        ("[]", "no JSON object"),
        ('{"model_type": "roberta"}', "roberta"),
        ('{"is_decoder": true}', "decoder"),
        ('{"hidden_size": 10}', "config.json"),
    ],
)
def test_a_config_that_is_not_berts_is_refused_by_name(tmp_path, content, message):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(CheckpointError, match=message):
        BertConfig.read(tmp_path / "config.json")


def test_a_config_survives_being_written_and_read(tmp_path):
    config = BertConfig.preset("mini", vocab_size=77, position_embedding_type="sinusoidal")
    config.write(tmp_path / "config.json")
    assert BertConfig.read(tmp_path / "config.json") == config
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "bert"
