"""An exam asks what it says it asks, and knows the marks of one who knows everything and of one who knows nothing."""

import numpy as np
import pandas as pd
import pytest

from model import InputProblem
from probes.nextsentence import benchmark

TEXTS = [[f"Document {number} has sentence {at} about {word} now." for at, word in enumerate("abcdefg")]
         for number in range(12)]


@pytest.fixture(scope="module")
def asked():
    return benchmark.questions(TEXTS, 50)


def home(sentence: str) -> tuple[int, int]:
    _, number, _, _, at, *_ = sentence.split()
    return int(number), int(at)


def test_there_are_as_many_false_pairs_of_each_kind_as_true_ones(asked):
    counts = pd.Series([question.kind for question in asked]).value_counts()
    assert dict(counts) == dict.fromkeys([benchmark.TRUE, *benchmark.KINDS], 50)


def test_every_kind_is_what_its_name_says(asked):
    for question in asked:
        (document, at), (other, place) = home(question.a), home(question.b)
        assert {"next": document == other and place == at + 1,
                "swapped": document == other and place == at - 1,
                "same": document == other and place not in (at, at + 1),
                "another": document != other}[question.kind]


def test_the_same_seed_asks_the_same(asked):
    assert benchmark.questions(TEXTS, 50) == asked
    assert benchmark.questions(TEXTS, 50, seed=1) != asked


def test_short_sentences_are_not_asked_about_and_do_not_make_others_neighbours():
    text = [["One two three four.", "No.", "Five six seven eight.", "Nine ten eleven twelve."]]
    assert {(q.a, q.b) for q in benchmark.questions(text, 9) if q.truth} == {
        ("Five six seven eight.", "Nine ten eleven twelve.")}


def test_one_document_gives_no_pairs_with_another_and_says_so():
    made = benchmark.questions(TEXTS[:1], 9)
    assert "another" not in {question.kind for question in made}
    assert "one document" in benchmark.missing(question.kind for question in made)["another"]


def test_one_who_knows_gets_full_marks_and_one_who_guesses_does_not(asked):
    truth = np.array([question.truth for question in asked])
    knowing = benchmark.answers(asked, np.where(truth, 5.0, -5.0))
    for kind in benchmark.KINDS:
        model, words = benchmark.marked(knowing, kind)
        assert model.accuracy == 1 and model.area == 1 and model.count == 100
        assert words.count == 100
        assert benchmark.worst(knowing, kind).empty
    yes = benchmark.answers(asked, np.full(len(asked), 5.0))
    assert benchmark.marked(yes, "same")[0].accuracy == 0.5
    worst = benchmark.worst(yes, "same")
    assert len(worst) == 10 and list(worst["truth"]) == [False] * 10


def test_shared_words_cannot_tell_a_pair_from_the_swapped_one(asked):
    answered = benchmark.answers(asked, np.zeros(len(asked)))
    words = benchmark.marked(answered, "swapped")[1]
    assert 0.3 < words.area < 0.7


@pytest.mark.parametrize("texts, said", [([], "nothing to ask about"), ([["Only one sentence here."]], "nothing to")])
def test_a_text_without_pairs_is_refused(texts, said):
    with pytest.raises(InputProblem, match=said):
        benchmark.questions(texts, 5)


def test_a_script_the_vocabulary_does_not_know_is_refused(english):
    strange = [["ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ ok", "ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ yes", "ᚠᚢᚦ ᚨᚱᚲ ᚠᚢᚦ no"]] * 2
    with pytest.raises(InputProblem, match="not in the vocabulary"):
        benchmark.sit(english, benchmark.questions(strange, 3))


def test_the_small_world_has_its_order_planted():
    first, second = benchmark.world(count=2)
    assert len(first) == len(second) > 3 and first != second
