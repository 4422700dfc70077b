"""Every perturbation changes the pair in exactly the way its name says."""

import numpy as np
import pytest

from model import Bert, BertConfig, Encoding, smallworld
from probes import nextsentence
from probes.nextsentence import lexical_overlap, perturbations
from probes.nextsentence.perturbations import Perturbation, PerturbationResult

A, B = "The old dog lay down by the fire.", "It was soon asleep and snoring."
TEXT = (
    "It had rained all day. The old dog lay down by the fire. It was soon asleep and snoring. "
    "My sister put another log on. Nobody wanted to go out again."
)


@pytest.fixture(scope="module")
def built(english) -> dict[str, Perturbation]:
    return {perturbation.name: perturbation for perturbation in perturbations.build(english, A, B, TEXT)}


def words(encoding: Encoding, segment: int) -> str:
    return " ".join(token.text for token in encoding.tokens if token.segment == segment and not token.is_special)


def test_the_first_is_the_pair_itself(english, built):
    assert built["pair"].encodings == (nextsentence.encode_pair(english, A, B),)


def test_swapping_puts_b_first(english, built):
    swapped, other = built["swapped"].encodings[0], nextsentence.encode_pair(english, B, A)
    assert (swapped.ids, swapped.segments) == (other.ids, other.segments)


def test_another_topic_shares_no_content_word_and_keeps_a(built):
    assert len(built["topic"].encodings) == perturbations.SAMPLES
    for encoding in built["topic"].encodings:
        assert encoding.texts[0] == A
        assert not lexical_overlap.content_words(encoding.texts[1]) & (
            lexical_overlap.content_words(A) | lexical_overlap.content_words(B)
        )


def test_the_same_text_gives_sentences_that_are_not_next(built):
    assert {encoding.texts[1] for encoding in built["nearby"].encodings} == {
        "It had rained all day.",
        "My sister put another log on.",
        "Nobody wanted to go out again.",
    }


def test_the_true_next_sentence_is_never_a_perturbation_even_if_b_is_another():
    assert B not in perturbations.same_document(A, "Something else.", TEXT)


def test_a_text_without_a_is_not_the_text_of_a():
    assert perturbations.same_document("My car is red.", B, TEXT) == []


def test_shuffling_keeps_the_words_and_changes_their_order(built):
    pair = built["pair"].encodings[0]
    for encoding in built["shuffled"].encodings:
        assert words(encoding, 0) == words(pair, 0)
        assert words(encoding, 1) != words(pair, 1)
        assert sorted(encoding.ids) == sorted(pair.ids)
        assert "s ##nor ##ing" in words(encoding, 1)
        assert encoding.tokens[-2].text == "."


def test_one_word_cannot_be_shuffled(english):
    repeated, single = (
        {result.perturbation.name: result for result in perturbations.evaluate(english, A, b)}["shuffled"]
        for b in ("Never, never, never.", "Never!")
    )
    assert len(repeated.probabilities) == perturbations.SAMPLES
    assert np.isnan(single.mean)
    assert "too few" in single.perturbation.missing


def test_repeating_puts_a_in_both_places(built):
    repeated = built["repeated"].encodings[0]
    assert words(repeated, 0) == words(repeated, 1)


def test_one_segment_changes_the_segment_ids_and_nothing_else(built):
    pair, single = built["pair"].encodings[0], built["segment"].encodings[0]
    assert single.ids == pair.ids
    assert set(single.segments) == {0}


def test_without_separator_only_the_middle_one_is_gone(built):
    pair, bare = built["pair"].encodings[0], built["separator"].encodings[0]
    middle = pair.ids.index(102)
    assert bare.ids == pair.ids[:middle] + pair.ids[middle + 1 :]
    assert bare.segments == pair.segments[:middle] + pair.segments[middle + 1 :]
    assert [token.position for token in bare.tokens] == list(range(len(pair) - 1))


def test_an_empty_part_leaves_its_separator(built):
    assert [t.text for t in built["no A"].encodings[0].tokens][:2] == ["[CLS]", "[SEP]"]
    assert set(built["no A"].encodings[0].segments[2:]) == {1}
    assert [t.text for t in built["no B"].encodings[0].tokens][-2:] == ["[SEP]", "[SEP]"]
    assert built["no B"].encodings[0].segments[-2:] == [0, 1]


def test_without_the_text_the_perturbation_from_it_says_what_it_needs(english):
    nearby = next(p for p in perturbations.build(english, A, B) if p.name == "nearby")
    assert not nearby.encodings
    assert "needs the text that A comes from" in nearby.missing


def test_the_result_of_each_perturbation_is_what_its_inputs_give_alone(english, built):
    for outcome in perturbations.evaluate(english, A, B, TEXT):
        encodings = built[outcome.perturbation.name].encodings
        alone = nextsentence.to_probability(nextsentence.logit_differences(english, encodings))
        assert np.allclose(outcome.probabilities, alone, atol=1e-5)


def result(name: str, *probabilities: float) -> PerturbationResult:
    return PerturbationResult(Perturbation(name, name, ""), np.array(probabilities))


RESULTS = [result("pair", 0.9), result("swapped", 0.8), result("topic", 0.1, 0.3), result("nearby"), result("no A", 0.88)]


def test_changes_are_measured_from_the_pair_and_impossible_ones_are_left_out():
    changes = [(outcome.perturbation.name, change) for outcome, change in perturbations.changes(RESULTS)]
    assert changes == [("swapped", pytest.approx(-0.1)), ("topic", pytest.approx(-0.7)), ("no A", pytest.approx(-0.02))]


def test_the_largest_change_may_be_a_fall_or_a_rise():
    outcome, change = perturbations.largest_change(RESULTS)
    assert (outcome.perturbation.name, change) == ("topic", pytest.approx(-0.7))
    outcome, change = perturbations.largest_change([result("pair", 0.2), result("topic", 0.1), result("swapped", 0.8)])
    assert (outcome.perturbation.name, change) == ("swapped", pytest.approx(0.6))


def test_large_changes_come_largest_first_and_small_ones_apart():
    results = [*RESULTS, result("no B", 0.5)]
    assert [outcome.perturbation.name for outcome, _ in perturbations.large_changes(results)] == ["topic", "no B"]
    assert [outcome.perturbation.name for outcome, _ in perturbations.small_changes(results)] == ["no A"]


def test_the_table_has_a_row_for_every_perturbation_and_its_range():
    table = perturbations.table(RESULTS).set_index("name")
    assert table.index.tolist() == ["pair", "swapped", "topic", "nearby", "no A"]
    topic, nearby = table[["probability", "change", "low", "high", "inputs"]].loc[["topic", "nearby"]].to_numpy(float)
    assert topic.tolist() == pytest.approx([0.2, -0.7, 0.1, 0.3, 2])
    assert np.isnan(nearby[:4]).all()


def test_a_small_vocabulary_gets_other_topics_from_the_small_world():
    tokenizer = smallworld.tokenizer()
    small = Bert.random_init(BertConfig(tokenizer.vocab_size, 32, 1, 4, 64, 80), tokenizer)
    a, b = [sentence.text for story in smallworld.stories(5, 1) for sentence in story.sentences][:2]
    assert len(perturbations.off_topic(small, a, b)) == perturbations.SAMPLES
