"""Half the pairs are the true continuation; nothing but the words can tell which."""

import json

import numpy as np
import pytest

from model import InputError, tokenizer
from model.pretraining import token_store
from model.pretraining.sentence_pairs import PairSampler, SentencePair, collate_pairs
from model.pretraining.token_store import TokenStore

SPECIALS = 3  # [CLS] and two [SEP]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store whose ids are their own indices, so that every span says where it comes from."""
    folder = tmp_path_factory.mktemp("store")
    rng = np.random.default_rng(0)
    # short documents and long ones, and now and then a sentence longer than any pair
    counts = np.concatenate([rng.integers(2, 8, 300), rng.integers(30, 200, 30)])
    lengths = rng.integers(3, 40, counts.sum())
    lengths[::200] = 300
    np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tofile(folder / "sentences")
    np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tofile(folder / "documents")
    np.arange(lengths.sum(), dtype=np.uint32).tofile(folder / "ids")
    (folder / "store.json").write_text(json.dumps({"ids": "uint32", "vocabulary": 0}))
    return TokenStore(folder)


def document(store: TokenStore, span: np.ndarray) -> int:
    return int(np.searchsorted(store.document_tokens, span[0], side="right"))


@pytest.fixture(scope="module", params=["another", "same"])
def sampled(request, store) -> tuple[str, list[SentencePair]]:
    return request.param, PairSampler(store, 128, request.param, seed=5).sample(0, 10_000)


def test_half_of_ten_thousand_pairs_are_next(sampled):
    fraction = np.mean([pair.is_next for pair in sampled[1]])
    assert abs(fraction - 0.5) < 4 * 0.5 / np.sqrt(10_000)


def test_is_next_is_the_true_continuation_at_a_sentence_boundary(sampled, store):
    boundaries = set(store.sentences.tolist())
    for pair in sampled[1]:
        if pair.is_next:
            assert pair.b[0] == pair.a[-1] + 1
            assert int(pair.b[0]) in boundaries
            assert document(store, pair.a) == document(store, pair.b)


def test_not_next_is_never_the_continuation(sampled, store):
    negatives, pairs = sampled
    for pair in pairs:
        if not pair.is_next:
            same = document(store, pair.a) == document(store, pair.b)
            assert same == (negatives == "same")
            assert pair.b[0] != pair.a[-1] + 1
            assert not np.intersect1d(pair.a, pair.b).size


def test_every_span_is_unbroken_text_from_a_sentence_start(sampled, store):
    boundaries = set(store.sentences.tolist())
    cut = 0
    for pair in sampled[1]:
        for span in (pair.a, pair.b):
            assert (np.diff(span.astype(int)) == 1).all()
            assert document(store, span) == document(store, span[-1:])
        assert int(pair.b[0]) in boundaries
        cut += int(pair.a[0]) not in boundaries
    assert cut < 0.1 * len(sampled[1])  # only where a sentence alone is too long


def test_pairs_fit_and_are_filled_toward_the_length(sampled):
    lengths = np.array([len(pair) for pair in sampled[1]])
    assert lengths.max() <= 128
    assert min(min(len(pair.a), len(pair.b)) for pair in sampled[1]) >= 1
    assert np.median(lengths) > 100


def test_length_does_not_tell_the_label(sampled):
    labels = np.array([pair.is_next for pair in sampled[1]])
    for length in (len, lambda pair: len(pair.a), lambda pair: len(pair.b)):
        lengths = np.array([length(pair) for pair in sampled[1]])
        # the probability that of a true and a false pair the true one is longer (AUC)
        true, false = lengths[labels], np.sort(lengths[~labels])
        shorter = np.searchsorted(false, true, "left") + np.searchsorted(false, true, "right")
        assert abs(np.mean(shorter) / 2 / len(false) - 0.5) < (0.03 if sampled[0] == "another" else 0.06)


def test_boosted_trees_that_see_both_lengths_are_right_little_more_than_half_the_time(sampled):
    from sklearn.ensemble import HistGradientBoostingClassifier

    lengths = np.array([(len(pair.a), len(pair.b)) for pair in sampled[1]])
    labels = np.array([pair.is_next for pair in sampled[1]])
    half = len(labels) // 2
    trees = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(lengths[:half], labels[:half])
    assert trees.score(lengths[half:], labels[half:]) < 0.57  # of ten thousand pairs half are true


def test_an_epoch_reads_most_of_the_corpus_and_four_nearly_all(store):
    sampler = PairSampler(store, 128, seed=1)
    is_read, fractions = np.zeros(store.tokens, dtype=bool), []
    for epoch in range(4):
        for pair in sampler.sample(epoch * sampler.points, sampler.points):
            is_read[pair.a] = True
            is_read[pair.b] = True
        fractions.append(is_read.mean())
    assert fractions[0] > 0.6  # half of the pairs give up their true second half
    assert fractions[3] > 0.9


def test_a_sample_is_the_same_in_every_call(store):
    used, fresh = PairSampler(store, 64, seed=3), PairSampler(store, 64, seed=3)
    used.sample(0, 64)
    for pair, again in zip(used.sample(640, 32), fresh.sample(640, 32), strict=True):
        assert (pair.a.tolist(), pair.b.tolist(), pair.is_next) == (again.a.tolist(), again.b.tolist(), again.is_next)
    assert PairSampler(store, 64, seed=4).sample(0, 9)[0].a.tolist() != used.sample(0, 9)[0].a.tolist()


def test_collating_marks_segments_padding_and_labels():
    pieces = tokenizer.from_vocabulary(list("abcde"))
    a, b, c, d, e = (pieces.token_to_id(word) for word in "abcde")
    rows = collate_pairs(
        [SentencePair(np.array([a, b]), np.array([c]), True), SentencePair(np.array([d]), np.array([e, e, e]), False)],
        pieces,
    )
    cls, sep, pad = pieces.cls_id, pieces.sep_id, pieces.pad_id
    assert rows.ids.tolist() == [[cls, a, b, sep, c, sep, pad], [cls, d, sep, e, e, e, sep]]
    assert rows.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert rows.attention_mask.sum(1).tolist() == [6, 7]
    assert rows.nsp_labels.tolist() == [0, 1]  # 0 is IsNext


def test_too_few_documents_or_sentences_are_refused(tmp_path):
    pieces = tokenizer.from_vocabulary(list("ab."))
    list(token_store.build([["a.", "b."]] * 2, pieces, tmp_path / "ids"))
    lone = TokenStore(tmp_path / "ids" / "train")
    with pytest.raises(InputError, match="two documents"):
        PairSampler(lone, 32, "another")
    with pytest.raises(InputError, match="three sentences"):
        PairSampler(lone, 32, "same")
    with pytest.raises(InputError, match="another or same"):
        PairSampler(lone, 32, "elsewhere")
