"""Checkpoints go both ways between us and transformers; what is not a checkpoint is refused by name and runs nothing."""

import json
import multiprocessing
import os
import pickle
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertForMaskedLM, BertForPreTraining, BertForSequenceClassification, BertModel

import model
from model import Bert, BertConfig, CheckpointError, finetuning, tokenizer
from model.checkpoint import BUNDLED

PAIR = ("my dog is cute .", "he likes playing")


def scores(bert: Bert):
    with torch.inference_mode():
        last = bert(bert.tokenizer.encode(*PAIR))
        return bert.mlm_logits(last), bert.nsp_logits(last)


def theirs(folder, kind=BertForPreTraining):
    return kind.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.fixture
def folder(tiny_bert, tmp_path):
    return tiny_bert.save(tmp_path / "saved")


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_what_we_save_transformers_loads_with_equal_scores_and_tokenizer(tiny_bert, folder):
    words = AutoTokenizer.from_pretrained(folder)
    inputs = words(*PAIR, return_tensors="pt")
    assert inputs["input_ids"][0].tolist() == tiny_bert.tokenizer.encode(*PAIR).ids
    with torch.inference_mode():
        expected = theirs(folder)(**inputs)
    mine = scores(tiny_bert)
    np.testing.assert_allclose(mine[0], expected.prediction_logits, atol=1e-5)
    np.testing.assert_allclose(mine[1], expected.seq_relationship_logits, atol=1e-5)


def test_what_transformers_saves_we_load_with_equal_scores(tiny_bert, folder, tmp_path):
    theirs(folder).save_pretrained(tmp_path / "theirs")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "theirs")
    for mine, again in zip(scores(tiny_bert), scores(model.load(tmp_path / "theirs")), strict=True):
        np.testing.assert_allclose(mine, again, atol=1e-6)


def test_sinusoidal_positions_survive_and_transformers_computes_the_same(tiny_bert, tmp_path):
    config = BertConfig(**(vars(tiny_bert.config) | {"position_embedding_type": "sinusoidal"}))
    bert = Bert.random_init(config, tiny_bert.tokenizer, seed=2)
    folder = bert.save(tmp_path / "sines")
    again = model.load(folder)
    assert again.config.position_embedding_type == "sinusoidal"
    np.testing.assert_allclose(scores(bert)[0].detach(), scores(again)[0])
    inputs = AutoTokenizer.from_pretrained(folder)(*PAIR, return_tensors="pt")
    np.testing.assert_allclose(theirs(folder)(**inputs).prediction_logits.detach(), scores(bert)[0].detach(), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("form", ["safetensors", "bin", "sharded safetensors", "sharded bin"])
def test_every_form_and_precision_is_read(tiny_bert, folder, form, dtype):
    tensors = {name: tensor.to(dtype) for name, tensor in weights(folder).items()}
    (folder / "model.safetensors").unlink()
    write, name = (save_file, "model.safetensors") if "safetensors" in form else (torch.save, "pytorch_model.bin")
    if "sharded" in form:
        names = sorted(tensors)
        parts = {f"part-{half}.{name.split('.')[-1]}": names[half::2] for half in (0, 1)}
        for part, listed in parts.items():
            write({key: tensors[key] for key in listed}, folder / part)
        (folder / f"{name}.index.json").write_text(
            json.dumps({"weight_map": {key: part for part, listed in parts.items() for key in listed}})
        )
    else:
        write(tensors, folder / name)
    loaded = model.load(folder)
    assert loaded.embeddings.token.weight.dtype == torch.float32
    close = {torch.float32: 1e-6, torch.float16: 2e-2, torch.bfloat16: 2e-1}[dtype]
    np.testing.assert_allclose(scores(loaded)[1], scores(tiny_bert)[1], atol=close)


def test_old_names_and_no_prefix_are_read(tiny_bert, folder):
    old = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in weights(folder).items()
    }
    save_file(old, folder / "model.safetensors")
    np.testing.assert_allclose(scores(model.load(folder))[0], scores(tiny_bert)[0])


def test_the_bias_of_the_decoder_is_found_under_its_other_name(tiny_bert, folder):
    tensors = weights(folder)
    tensors["cls.predictions.decoder.bias"] = tensors.pop("cls.predictions.bias") + 1
    save_file(tensors, folder / "model.safetensors")
    np.testing.assert_allclose(scores(model.load(folder))[0], scores(tiny_bert)[0] + 1, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "mlm", "nsp"),
    [(BertForMaskedLM, True, False), (BertModel, False, False), (BertForSequenceClassification, False, False)],
)
def test_a_checkpoint_without_a_head_loads_and_says_so(folder, tmp_path, kind, mlm, nsp):
    theirs(folder, kind).save_pretrained(tmp_path / "part")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "part")
    bert = model.load(tmp_path / "part")
    assert (bert.mlm is not None, bert.nsp is not None) == (mlm, nsp)
    notes = " ".join(bert.info.notes)
    assert ("no masked-word head" in notes) == (not mlm)
    assert ("no next-sentence head" in notes) == (not nsp)
    assert ("classifier.weight" in notes) == (kind is BertForSequenceClassification)


def test_an_untied_decoder_is_not_taken_for_berts(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}))
    assert model.load(folder).mlm is None


def test_saving_over_a_checkpoint_replaces_it_whole(tiny_bert, folder):
    other = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=8)
    other.save(folder)
    np.testing.assert_allclose(scores(model.load(folder))[0], scores(other)[0].detach())
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]


def test_a_loaded_model_does_not_hang_on_its_file(tiny_bert, folder):
    """Windows lets nobody replace or remove a file that is mapped into memory."""
    fine_tuned = finetuning.FinetunedBert(tiny_bert, ["a", "b"], "sentence").save(folder.parent / "tuned")
    parameters = [*model.load(folder).parameters(), *finetuning.load(fine_tuned).parameters()]
    before = [parameter.clone() for parameter in parameters]
    for file in folder.parent.rglob("model.safetensors"):
        with file.open("r+b") as written:
            written.write(bytes(file.stat().st_size))
    assert all(torch.equal(one, other) for one, other in zip(before, parameters, strict=True))


def test_a_loaded_checkpoint_can_be_saved_where_it_came_from(folder):
    bert = model.load(folder)
    expected = scores(bert)[0]
    np.testing.assert_array_equal(scores(model.load(bert.save(folder)))[0], expected)
    np.testing.assert_array_equal(scores(bert)[0], expected)


def _save_without_room(bert: Bert, folder, bytes_left: int, outcome) -> None:
    import resource

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, bytes_left))
    try:
        bert.save(folder)
        outcome.send("saved")
    except Exception as error:
        outcome.send(type(error).__name__)


@pytest.mark.skipif(os.name != "posix", reason="needs fork and file limits, which Windows has not")
@pytest.mark.parametrize("bytes_left", [1000, 150_000], ids=["no room for the weights", "no room for the vocabulary"])
@pytest.mark.parametrize("there", [True, False], ids=["over another", "anew"])
def test_a_full_disk_leaves_nothing_behind_and_what_was_there_intact(tiny_bert, folder, bytes_left, there):
    pieces = tokenizer.from_vocabulary(f"w{number}" for number in range(9000))  # its files are greater than the weights
    bert = Bert.random_init(BertConfig(pieces.vocab_size, 2, 1, 1, 2, 8), pieces)
    target = folder if there else folder.with_name("new")
    processes = multiprocessing.get_context("fork")
    reader, writer = processes.Pipe(duplex=False)
    child = processes.Process(target=_save_without_room, args=(bert, target, bytes_left, writer))
    child.start()
    assert reader.recv() != "saved"
    child.join()
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]
    np.testing.assert_array_equal(scores(model.load(folder))[0], scores(tiny_bert)[0])


def test_a_folder_that_cannot_take_its_place_leaves_the_one_before_it(tiny_bert, folder, monkeypatch):
    really = os.replace

    def replace(source, target):
        if str(source).endswith(".new"):
            raise OSError("no")
        really(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="no"):
        Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=8).save(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]
    np.testing.assert_array_equal(scores(model.load(folder))[0], scores(tiny_bert)[0])


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("write", [pickle.dumps, None], ids=["plain pickle", "torch file"])
def test_a_malicious_pickle_runs_nothing(folder, tmp_path, write):
    (folder / "model.safetensors").unlink()
    target = folder / "pytorch_model.bin"
    bomb = {"bert.embeddings.word_embeddings.weight": Bomb(tmp_path / "ran")}
    target.write_bytes(write(bomb)) if write else torch.save(bomb, target)
    with pytest.raises(CheckpointError, match=r"pytorch_model\.bin"):
        model.load(folder)
    assert not (tmp_path / "ran").exists()


def truncate(path):
    path.write_bytes(path.read_bytes()[:-200])


def spoil(change):
    def change_weights(path):
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path)

    return change_weights


@pytest.mark.parametrize(
    ("name", "break_it", "message"),
    [
        ("model.safetensors", truncate, r"model\.safetensors is damaged"),
        ("model.safetensors", lambda path: path.write_text("hello"), r"model\.safetensors is damaged"),
        ("model.safetensors", lambda path: path.unlink(), "has no weights"),
        ("model.safetensors", spoil(lambda t: t.pop("bert.encoder.layer.1.output.dense.weight")), "lacks the weights"),
        ("model.safetensors", spoil(lambda t: t.update({"bert.pooler.dense.weight": torch.zeros(3, 3)})), "has shape"),
        (
            "model.safetensors",
            spoil(lambda t: t.update({"bert.pooler.dense.bias": torch.zeros(32, dtype=torch.int64)})),
            "not floating-point",
        ),
        ("config.json", lambda path: path.unlink(), r"no config\.json"),
        ("config.json", lambda path: path.write_text("not json"), "not readable as JSON"),
        ("tokenizer.json", lambda path: path.write_text("{}"), "cannot be read"),
        ("tokenizer.json", lambda path: [path.unlink(), (path.parent / "vocab.txt").unlink()], "neither tokenizer"),
        ("tokenizer_config.json", lambda path: path.write_text("{"), "not readable as JSON"),
    ],
)
def test_a_damaged_checkpoint_is_refused_by_file_and_reason(folder, name, break_it, message):
    break_it(folder / name)
    with pytest.raises(CheckpointError, match=message) as refused:
        model.load(folder)
    assert "\n" not in str(refused.value).strip()


@pytest.mark.parametrize("content", [b"hello", b"PK\x03\x04 broken", b""])
def test_a_file_that_is_no_torch_file_is_refused(folder, content):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"pytorch_model\.bin"):
        model.load(folder)


def test_an_index_cannot_reach_outside_its_folder(folder):
    shutil.move(folder / "model.safetensors", folder.parent / "outside.safetensors")
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../outside.safetensors"}}')
    with pytest.raises(CheckpointError, match="outside its folder"):
        model.load(folder)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no-such-model", "needs hub=True"),
        ("some/where/deep", "neither a folder nor a bundled model"),
        (__file__, "is a file"),
    ],
)
def test_a_name_that_leads_nowhere_says_what_to_do(source, message):
    with pytest.raises(CheckpointError, match=message):
        model.load(source)


def test_a_hub_name_without_a_network_says_what_to_do(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CheckpointError, match="could not be fetched"):
        model.load("somebody/bert-that-is-not-here", hub=True)


def test_the_shipped_model_is_offered_first_and_found_folders_after_it(folder):
    listed = model.available([folder.parent])
    assert listed[0].path == BUNDLED / "english"
    assert listed[-1].path == folder
    assert listed[-1].config.shape == "2/32/4"


def test_a_cased_vocabulary_stays_cased(tmp_path):
    words = tokenizer.from_vocabulary(["Dog", "dog"], lowercase=False)
    folder = Bert.random_init(BertConfig(words.vocab_size, 32, 1, 2, 64, 32), words).save(tmp_path / "cased")
    (folder / "tokenizer.json").unlink()
    assert [t.text for t in model.load(folder).tokenizer.encode("Dog dog").tokens] == ["[CLS]", "Dog", "dog", "[SEP]"]
