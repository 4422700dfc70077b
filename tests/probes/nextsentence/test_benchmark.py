"""A benchmark has the pairs it names, and its metrics tell one who knows everything from one who knows nothing."""

import numpy as np
import pandas as pd
import pytest

from model import InputError
from probes.nextsentence import benchmark
from probes.nextsentence.benchmark import BenchmarkPair

TEXTS = [
    [f"Document {number} has sentence {index} about {word} now." for index, word in enumerate("abcdefg")]
    for number in range(12)
]


@pytest.fixture(scope="module")
def pairs() -> list[BenchmarkPair]:
    return benchmark.sample_pairs(TEXTS, 50)


def location(sentence: str) -> tuple[int, int]:
    """The document of a sentence and its index there."""
    _, number, _, _, index, *_ = sentence.split()
    return int(number), int(index)


def test_there_are_as_many_negative_pairs_of_each_kind_as_true_ones(pairs):
    counts = pd.Series([pair.kind for pair in pairs]).value_counts()
    assert dict(counts) == dict.fromkeys([benchmark.TRUE, *benchmark.NEGATIVE_KINDS], 50)


def test_every_kind_is_what_its_name_says(pairs):
    for pair in pairs:
        (document_a, a), (document_b, b) = location(pair.a), location(pair.b)
        assert {
            "next": document_a == document_b and b == a + 1,
            "swapped": document_a == document_b and b == a - 1,
            "same": document_a == document_b and b not in (a, a + 1),
            "another": document_a != document_b,
        }[pair.kind]


def test_the_same_seed_samples_the_same_pairs(pairs):
    assert benchmark.sample_pairs(TEXTS, 50) == pairs
    assert benchmark.sample_pairs(TEXTS, 50, seed=1) != pairs


def test_short_sentences_are_in_no_pair_and_do_not_make_others_neighbours():
    text = [["One two three four.", "No.", "Five six seven eight.", "Nine ten eleven twelve."]]
    assert {(pair.a, pair.b) for pair in benchmark.sample_pairs(text, 9) if pair.truth} == {
        ("Five six seven eight.", "Nine ten eleven twelve.")
    }


def test_one_document_gives_no_pairs_with_another_and_says_so():
    pairs = benchmark.sample_pairs(TEXTS[:1], 9)
    assert "another" not in {pair.kind for pair in pairs}
    assert "one document" in benchmark.missing(pair.kind for pair in pairs)["another"]


def test_one_who_knows_is_always_correct_and_one_who_always_says_yes_is_not(pairs):
    truth = np.array([pair.truth for pair in pairs])
    knowing = benchmark.answers(pairs, np.where(truth, 5.0, -5.0))
    for kind in benchmark.NEGATIVE_KINDS:
        model, overlap = benchmark.metrics_of(knowing, kind)
        assert (model.accuracy, model.auc) == (1, 1)
        assert model.count == overlap.count == 100
        assert benchmark.confident_errors(knowing, kind).empty
    yes = benchmark.answers(pairs, np.full(len(pairs), 5.0))
    assert benchmark.metrics_of(yes, "same")[0].accuracy == 0.5
    assert benchmark.confident_errors(yes, "same")["truth"].tolist() == [False] * 10


def test_lexical_overlap_cannot_tell_a_pair_from_the_swapped_one(pairs):
    answers = benchmark.answers(pairs, np.zeros(len(pairs)))
    _, overlap = benchmark.metrics_of(answers, "swapped")
    assert 0.3 < overlap.auc < 0.7


@pytest.mark.parametrize("texts", [[], [["Only one sentence here."]], [["Too short.", "Too short."]]])
def test_a_text_without_pairs_is_refused(texts):
    with pytest.raises(InputError, match="No two sentences of 3 to 80 words"):
        benchmark.sample_pairs(texts, 5)


def test_a_script_the_vocabulary_does_not_know_is_refused(english):
    runes = [["ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ ok", "ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ yes", "ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ no"]] * 2
    with pytest.raises(InputError, match="not in the vocabulary"):
        benchmark.evaluate(english, benchmark.sample_pairs(runes, 3))


def test_the_small_world_has_its_order_planted():
    first, second = benchmark.world(count=2)
    assert len(first) == len(second) > 3 and first != second
