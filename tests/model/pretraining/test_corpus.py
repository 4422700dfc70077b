"""Texts in, sentences out, whatever they are packed in; and ids that can be read back."""

import gzip
import json
import lzma
from itertools import pairwise

import numpy as np
import pytest

from model import InputError, tokenizer
from model.pretraining import corpus, token_store
from model.pretraining.token_store import TokenStore

TEXT = "The cat sat. The dog ran!\nHe slept.\n\n\nA second document. It has two sentences.\n"
SPLIT = [["The cat sat.", "The dog ran!", "He slept."], ["A second document.", "It has two sentences."]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith came. He sat.", ["Dr. Smith came.", "He sat."]),
        ("Use tools, e.g. Python or i.e. C. They work.", ["Use tools, e.g. Python or i.e. C. They work."]),
        ("J. R. R. Tolkien wrote. We read.", ["J. R. R. Tolkien wrote.", "We read."]),
        ("It is in the U.S. Army. Yes.", ["It is in the U.S. Army.", "Yes."]),
        ("See Fig. 3 and No. 5 of vol. 2. Then go on.", ["See Fig. 3 and No. 5 of vol. 2.", "Then go on."]),
        ('"Is it so?" he asked. "It is." He left.', ['"Is it so?" he asked.', '"It is."', "He left."]),
        ("It rose 3.5 points to 4.1 today. 1990 was worse.", ["It rose 3.5 points to 4.1 today.", "1990 was worse."]),
        ("Wait… What? No! (Really.) Yes.", ["Wait…", "What?", "No!", "(Really.)", "Yes."]),
        ("It was I. He agreed.", ["It was I.", "He agreed."]),
        ("no capital. follows here", ["no capital. follows here"]),
        ("   ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert corpus.split_sentences(text) == expected


def test_a_sentence_broken_over_lines_is_one():
    assert list(corpus.documents(["The cat sat on\nthe mat. It\nslept.\nA heading\nThe end."])) == [
        ["The cat sat on the mat.", "It slept.", "A heading", "The end."]
    ]


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
@pytest.mark.parametrize("kind", [".txt", ".jsonl"])
def test_every_packing_gives_the_same_documents(tmp_path, kind, packed):
    blocks = TEXT.split("\n\n\n")
    text = TEXT if kind == ".txt" else "".join(json.dumps({"text": block, "id": 1}) + "\n" for block in blocks)
    path = tmp_path / f"my{kind}{packed}"
    with {"": open, ".gz": gzip.open, ".xz": lzma.open}[packed](path, "wt", encoding="utf-8") as file:
        file.write(text)
    assert list(corpus.documents(path)) == SPLIT
    assert list(corpus.documents(tmp_path)) == SPLIT
    assert list(corpus.documents(str(path))) == SPLIT


def test_documents_in_memory_are_texts_or_sentences():
    assert list(corpus.documents(TEXT.split("\n\n\n"))) == SPLIT
    assert list(corpus.documents(SPLIT)) == SPLIT


@pytest.mark.parametrize("gap", ["\n", " "])
def test_a_document_without_end_is_cut_so_that_memory_stays_bounded(tmp_path, monkeypatch, gap):
    monkeypatch.setattr(corpus, "MAX_CHARACTERS", 52)
    (tmp_path / "long.txt").write_text(f"The cat sat.{gap}" * 20)
    documents = list(corpus.documents(tmp_path / "long.txt"))
    assert len(documents) == 5
    assert sum(map(len, documents)) == 20


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", "caf\xe9 au lait".encode("latin-1"), "UTF-8"),
        ("broken.txt.gz", b"no gzip at all", "damaged"),
        ("broken.txt.xz", lzma.compress(b"The end. " * 999)[:-20], "damaged"),
        ("other.jsonl", b'{"text": "fine"}\n{"body": "no text"}\n', "Line 2"),
        ("other.jsonl", b"not json\n", "Line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(corpus.documents(tmp_path / name))


def test_a_missing_file_and_an_empty_folder_are_named(tmp_path):
    with pytest.raises(InputError, match="no file or folder"):
        list(corpus.documents(tmp_path / "nowhere.txt"))
    with pytest.raises(InputError, match="holds no"):
        list(corpus.documents(tmp_path))


@pytest.fixture
def pieces():
    return tokenizer.from_vocabulary([*"abcdefghijklmnopqrstuvwxyz0123456789.", *(f"##{c}" for c in "abcdefghij0123456789")])


def build(documents, pieces, folder, heldout_every=60):
    list(token_store.build(documents, pieces, folder, heldout_every))
    return TokenStore(folder / "train"), TokenStore(folder / "heldout")


def test_the_store_gives_back_every_sentence(tmp_path, pieces):
    documents = [[f"a{n} b{k}." for k in range(2 + n % 5)] for n in range(50)]
    train, _ = build(documents, pieces, tmp_path / "ids", heldout_every=10_000)
    expected = documents[:1] + documents[2:]  # the second is the one held out
    assert len(train) == len(expected)
    for number, document in enumerate(expected):
        first, last = train.documents[number], train.documents[number + 1]
        sentences = [list(train.ids[train.sentences[s] : train.sentences[s + 1]]) for s in range(first, last)]
        assert sentences == [pieces.piece_ids(sentence) for sentence in document]
    assert train.tokens == train.document_tokens[-1]


def test_whole_documents_are_held_out_one_in_so_many(tmp_path, pieces):
    documents = [[f"a{n}.", f"b{n}."] for n in range(100)]
    train, heldout = build(documents, pieces, tmp_path / "ids", heldout_every=10)
    assert (len(train), len(heldout)) == (90, 10)
    texts = {tuple(heldout.ids[begin:end]) for begin, end in pairwise(heldout.document_tokens)}
    assert texts == {tuple(pieces.piece_ids(f"a{n}. b{n}.")) for n in range(1, 100, 10)}


def test_a_document_of_one_sentence_holds_no_pair_and_stands_apart(tmp_path, pieces):
    train, _ = build([["a."], ["a.", "b."], ["", "c."], ["d.", "e."]], pieces, tmp_path / "ids")
    assert len(train) == 1
    assert [len(TokenStore(tmp_path / "ids" / part)) for part in ("train-single", "heldout-single")] == [1, 1]
    with pytest.raises(InputError, match="no text"):
        build([[""], []], pieces, tmp_path / "none")
    assert list(tmp_path.glob("*none*")) == []


def test_a_store_knows_its_vocabulary(tmp_path, pieces):
    train, _ = build([["a.", "b."], ["a.", "b."]], pieces, tmp_path / "ids")
    train.check(pieces)
    with pytest.raises(InputError, match="another vocabulary"):
        train.check(tokenizer.from_vocabulary(["a", "b", "."]))


def test_a_broken_off_build_leaves_nothing(tmp_path, pieces):
    def breaking():
        yield ["a.", "b."]
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        build(breaking(), pieces, tmp_path / "ids")
    assert list(tmp_path.iterdir()) == []


def test_large_vocabularies_get_wider_ids(tmp_path):
    many = tokenizer.from_vocabulary([f"w{n}" for n in range(70_000)])
    train, _ = build([["w69999 w1", "w2"], ["w1", "w2"]], many, tmp_path / "ids")
    assert train.ids.dtype == np.uint32
    assert list(train.ids) == [many.token_to_id("w69999"), many.token_to_id("w1"), many.token_to_id("w2")]
