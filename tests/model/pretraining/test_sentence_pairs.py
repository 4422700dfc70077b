"""Half the pairs are the true continuation; nothing but the words can tell which."""

import json

import numpy as np
import pytest

from model import InputProblem, tokenizer
from model.pretraining.sentence_pairs import Pair, Pairs, packed
from model.pretraining.token_store import Store

SPECIALS = 3  # [CLS] and two [SEP]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A store whose ids are their own places, so that every span says where it comes from."""
    folder = tmp_path_factory.mktemp("places")
    generator = np.random.default_rng(0)
    # short documents and long ones, and now and then a sentence longer than any pair
    counts = np.concatenate([generator.integers(2, 8, 300), generator.integers(30, 200, 30)])
    lengths = generator.integers(3, 40, counts.sum())
    lengths[::200] = 300
    np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tofile(folder / "sentences")
    np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tofile(folder / "documents")
    np.arange(lengths.sum(), dtype=np.uint32).tofile(folder / "ids")
    (folder / "store.json").write_text(json.dumps({"ids": "uint32", "vocabulary": 0}))
    return Store(folder)


def document(store: Store, span: np.ndarray) -> int:
    return int(np.searchsorted(store.document_tokens, span[0], side="right"))


@pytest.fixture(scope="module", params=["another", "same"])
def drawn(request, places) -> tuple[str, list[Pair]]:
    return request.param, Pairs(places, 128, request.param, seed=5).stretch(0, 10_000)


def test_half_of_ten_thousand_pairs_follow(drawn):
    share = np.mean([pair.is_next for pair in drawn[1]])
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(10_000)


def test_is_next_is_the_true_continuation_at_a_sentence_boundary(drawn, places):
    boundaries = set(places.sentences.tolist())
    for pair in drawn[1]:
        if pair.is_next:
            assert pair.b[0] == pair.a[-1] + 1
            assert int(pair.b[0]) in boundaries
            assert document(places, pair.a) == document(places, pair.b)


def test_not_next_is_never_the_continuation(drawn, places):
    negatives, pairs = drawn
    for pair in pairs:
        if not pair.is_next:
            same = document(places, pair.a) == document(places, pair.b)
            assert same == (negatives == "same")
            assert pair.b[0] != pair.a[-1] + 1
            assert not np.intersect1d(pair.a, pair.b).size


def test_every_span_is_unbroken_text_from_a_sentence_start(drawn, places):
    boundaries = set(places.sentences.tolist())
    cut = 0
    for pair in drawn[1]:
        for span in (pair.a, pair.b):
            assert (np.diff(span.astype(int)) == 1).all()
            assert document(places, span) == document(places, span[-1:])
        assert int(pair.b[0]) in boundaries
        cut += int(pair.a[0]) not in boundaries
    assert cut < 0.1 * len(drawn[1])  # only where a sentence alone is too long


def test_pairs_fit_and_are_filled_toward_the_length(drawn):
    lengths = np.array([len(pair) for pair in drawn[1]])
    assert lengths.max() <= 128
    assert min(min(len(pair.a), len(pair.b)) for pair in drawn[1]) >= 1
    assert np.median(lengths) > 100


def test_length_does_not_tell_the_label(drawn):
    labels = np.array([pair.is_next for pair in drawn[1]])
    for measure in (len, lambda pair: len(pair.a), lambda pair: len(pair.b)):
        lengths = np.array([measure(pair) for pair in drawn[1]])
        # the chance that a true pair is the longer of the two, when one of each kind is drawn
        true, false = lengths[labels], np.sort(lengths[~labels])
        shorter = np.searchsorted(false, true, "left") + np.searchsorted(false, true, "right")
        assert abs(np.mean(shorter) / 2 / len(false) - 0.5) < (0.03 if drawn[0] == "another" else 0.06)


def test_an_epoch_reads_most_of_the_corpus_and_four_nearly_all(places):
    pairs = Pairs(places, 128, seed=1)
    seen, share = np.zeros(places.tokens, dtype=bool), []
    for epoch in range(4):
        for pair in pairs.stretch(epoch * pairs.points, pairs.points):
            seen[pair.a] = True
            seen[pair.b] = True
        share.append(seen.mean())
    assert share[0] > 0.6  # half of the pairs give up their true second half
    assert share[3] > 0.9


def test_a_stretch_is_the_same_whenever_it_is_asked_for(places):
    one, other = Pairs(places, 64, seed=3), Pairs(places, 64, seed=3)
    one.stretch(0, 64)
    for a, b in zip(one.stretch(640, 32), other.stretch(640, 32), strict=True):
        assert (a.a.tolist(), a.b.tolist(), a.is_next) == (b.a.tolist(), b.b.tolist(), b.is_next)
    assert Pairs(places, 64, seed=4).stretch(0, 9)[0].a.tolist() != one.stretch(0, 9)[0].a.tolist()


def test_packing_marks_segments_padding_and_labels():
    pieces = tokenizer.from_words(list("abcde"))
    a, b, c, d, e = (pieces.id(word) for word in "abcde")
    rows = packed([Pair(np.array([a, b]), np.array([c]), True), Pair(np.array([d]), np.array([e, e, e]), False)], pieces)
    cls, sep, pad = pieces.cls, pieces.sep, pieces.pad
    assert rows.ids.tolist() == [[cls, a, b, sep, c, sep, pad], [cls, d, sep, e, e, e, sep]]
    assert rows.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert rows.mask.sum(1).tolist() == [6, 7]
    assert rows.labels.tolist() == [0, 1]  # 0 is IsNext


def test_too_few_documents_or_sentences_are_said(tmp_path):
    pieces = tokenizer.from_words(list("ab."))
    from model.pretraining import token_store
    list(token_store.build([["a.", "b."]] * 2, pieces, tmp_path / "ids"))
    lone = Store(tmp_path / "ids" / "train")
    with pytest.raises(InputProblem, match="two documents"):
        Pairs(lone, 32, "another")
    with pytest.raises(InputProblem, match="three sentences"):
        Pairs(lone, 32, "same")
    with pytest.raises(InputProblem, match="another or same"):
        Pairs(lone, 32, "elsewhere")
