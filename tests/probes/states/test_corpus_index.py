"""A corpus on disk answers as the same sentences in memory do, and a broken-off reading goes on where it was."""

import itertools

import numpy as np
import pytest

import model
from model import tokenizer
from probes.states import corpus_index, neighbours, token_contexts

LINES = ["the cat sat on the mat.", "my dog ran.", "the dog is cute!", "he likes playing.", "new york is new."] * 3


@pytest.fixture
def checkpoint(little, tmp_path):
    return str(little.save(tmp_path / "little"))


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return str(path)


def test_a_corpus_on_disk_has_the_neighbours_of_the_same_sentences_in_memory(little, checkpoint, corpus, tmp_path):
    progress = list(corpus_index.build(tmp_path, checkpoint))
    assert progress[-1]["fraction"] == 1 and progress[-1]["sentences"] == len(LINES)
    gathered = token_contexts.gather(little, LINES)
    for layer in range(3):
        kept, fresh = corpus_index.load(tmp_path, layer), neighbours.Index.of(gathered, layer)
        assert kept.places.texts == fresh.places.texts
        np.testing.assert_allclose(kept.directions, fresh.directions, atol=2e-3)


def test_reading_broken_off_goes_on_and_ends_the_same(checkpoint, tmp_path):
    corpus = tmp_path / "long.txt"
    corpus.write_text("\n".join(LINES * 80), encoding="utf-8")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    unbroken = list(corpus_index.build(whole, checkpoint, str(corpus)))
    begun = list(itertools.islice(corpus_index.build(broken, checkpoint, str(corpus)), 3))
    rest = list(corpus_index.build(broken, checkpoint, str(corpus)))
    assert len(rest) == len(unbroken) - len(begun) + 1, "what was read before is not read again"
    assert rest[1]["fraction"] > begun[-1]["fraction"] > 0 and rest[-1]["fraction"] == 1
    assert np.array_equal(corpus_index.load(whole, 2).directions, corpus_index.load(broken, 2).directions)


def test_a_large_corpus_is_sampled_over_its_whole_length(checkpoint, tmp_path):
    path = tmp_path / "large.txt"
    path.write_text("\n".join(["the cat sat."] * 500 + ["my dog ran."] * 500), encoding="utf-8")
    list(corpus_index.build(tmp_path, checkpoint, str(path), tokens=200))
    texts = corpus_index.load(tmp_path, 0).places.texts
    assert len(texts) == 200 and {"cat", "dog"} <= set(texts)


def test_an_empty_corpus_is_refused_in_words(checkpoint, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(model.InputProblem, match="no sentence"):
        list(corpus_index.build(tmp_path, checkpoint, path.name))


def test_a_file_that_is_not_text_is_refused_by_the_byte_that_cannot_be_read(checkpoint, tmp_path):
    path = tmp_path / "picture.txt"
    path.write_bytes(b"the cat \xff\xfe sat")
    with pytest.raises(model.InputProblem, match=r"not UTF-8 text \(byte 9 "):
        list(corpus_index.build(tmp_path, checkpoint, path.name))


def test_a_layer_that_was_not_indexed_is_refused_in_words(tmp_path):
    with pytest.raises(model.InputProblem, match="not been indexed"):
        corpus_index.load(tmp_path, 9)


def test_lines_in_an_unknown_script_are_passed_over(tmp_path, corpus):
    pieces = tokenizer.from_words(["cat", "dog"])
    bert = model.Bert.random(model.BertConfig(pieces.size, 8, 1, 2, 16, 16), pieces)
    path = tmp_path / "mixed.txt"
    path.write_text("кошка\ncat dog\n", encoding="utf-8")
    list(corpus_index.build(tmp_path, str(bert.save(tmp_path / "bert")), path.name))
    assert corpus_index.load(tmp_path, 0).places.texts == ("cat", "dog")
