"""An index on disk has the neighbours of the same sentences in memory, and an interrupted build resumes."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import model
from model import tokenizer
from probes.states import corpus_index, neighbours, token_contexts

LINES = ["the cat sat on the mat.", "my dog ran.", "the dog is cute!", "he likes playing.", "new york is new."] * 3


@pytest.fixture
def checkpoint(tiny_bert, tmp_path):
    return str(tiny_bert.save(tmp_path / "tiny"))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return str(path)


def test_a_corpus_on_disk_has_the_neighbours_of_the_same_sentences_in_memory(tiny_bert, checkpoint, corpus, tmp_path):
    progress = list(corpus_index.build(tmp_path, checkpoint))
    assert progress[-1]["fraction"] == 1 and progress[-1]["sentences"] == len(LINES)
    contexts = token_contexts.collect(tiny_bert, LINES)
    for layer in range(3):
        on_disk, in_memory = corpus_index.load(tmp_path, layer), neighbours.NeighbourIndex.of(contexts, layer)
        assert on_disk.places.texts == in_memory.places.texts
        np.testing.assert_allclose(on_disk.directions, in_memory.directions, atol=2e-3)


def test_an_interrupted_build_resumes_and_ends_the_same(checkpoint, tmp_path):
    corpus = tmp_path / "long.txt"
    corpus.write_text("\n".join(LINES * 80), encoding="utf-8")
    whole, interrupted = tmp_path / "whole", tmp_path / "interrupted"
    whole.mkdir()
    interrupted.mkdir()
    uninterrupted = list(corpus_index.build(whole, checkpoint, str(corpus)))
    first_batches = list(itertools.islice(corpus_index.build(interrupted, checkpoint, str(corpus)), 3))
    rest = list(corpus_index.build(interrupted, checkpoint, str(corpus)))
    assert len(rest) == len(uninterrupted) - len(first_batches) + 1, "the first batches are not computed again"
    assert rest[1]["fraction"] > first_batches[-1]["fraction"] > 0 and rest[-1]["fraction"] == 1
    assert np.array_equal(corpus_index.load(whole, 2).directions, corpus_index.load(interrupted, 2).directions)


def test_a_crash_while_the_count_is_written_loses_nothing(checkpoint, tmp_path, monkeypatch):
    corpus = tmp_path / "long.txt"
    corpus.write_text("\n".join(LINES * 80), encoding="utf-8")
    building = corpus_index.build(tmp_path, checkpoint, str(corpus))
    before = list(itertools.islice(building, 2))[-1]["fraction"]
    write_text = Path.write_text

    def crash(path: Path, text: str, **options) -> int:
        write_text(path, text[:0], **options)
        raise OSError("unplugged")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_text", crash)
        with pytest.raises(OSError, match="unplugged"):
            next(building)
    rest = list(corpus_index.build(tmp_path, checkpoint, str(corpus)))
    assert 0 < before < rest[1]["fraction"] and rest[-1]["fraction"] == 1


def test_a_large_corpus_is_sampled_over_its_whole_length(checkpoint, tmp_path):
    path = tmp_path / "large.txt"
    path.write_text("\n".join(["the cat sat."] * 500 + ["my dog ran."] * 500), encoding="utf-8")
    list(corpus_index.build(tmp_path, checkpoint, str(path), tokens=200))
    texts = corpus_index.load(tmp_path, 0).places.texts
    assert len(texts) == 200 and {"cat", "dog"} <= set(texts)


def test_an_empty_corpus_is_refused_in_words(checkpoint, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(model.InputError, match="no sentence"):
        list(corpus_index.build(tmp_path, checkpoint, path.name))


def test_a_file_that_is_not_text_is_refused_by_the_byte_that_cannot_be_read(checkpoint, tmp_path):
    path = tmp_path / "picture.txt"
    path.write_bytes(b"the cat \xff\xfe sat")
    with pytest.raises(model.InputError, match=r"not UTF-8 text \(byte 9 "):
        list(corpus_index.build(tmp_path, checkpoint, path.name))


def test_a_layer_that_was_not_indexed_is_refused_in_words(tmp_path):
    with pytest.raises(model.InputError, match="no index at layer 9"):
        corpus_index.load(tmp_path, 9)


def test_lines_in_an_unknown_script_are_passed_over(tmp_path, corpus):
    pieces = tokenizer.from_vocabulary(["cat", "dog"])
    bert = model.Bert.random_init(model.BertConfig(pieces.vocab_size, 8, 1, 2, 16, 16), pieces)
    path = tmp_path / "mixed.txt"
    path.write_text("кошка\ncat dog\n", encoding="utf-8")
    list(corpus_index.build(tmp_path, str(bert.save(tmp_path / "bert")), path.name))
    assert corpus_index.load(tmp_path, 0).places.texts == ("cat", "dog")
