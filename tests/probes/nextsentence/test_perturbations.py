"""Every control changes the pair in exactly the way its name says."""

import numpy as np
import pytest

from probes import nextsentence
from probes.nextsentence import lexical_overlap, perturbations

A, B = "The old dog lay down by the fire.", "It was soon asleep and snoring."
TEXT = ("It had rained all day. The old dog lay down by the fire. It was soon asleep and snoring. "
        "My sister put another log on. Nobody wanted to go out again.")


@pytest.fixture(scope="module")
def made(english):
    return {control.name: control for control in perturbations.controls(english, A, B, TEXT)}


def words(encoding, segment: int) -> str:
    return " ".join(token.text for token in encoding.tokens if token.segment == segment and not token.special)


def test_the_first_is_the_pair_itself(english, made):
    assert made["pair"].encodings == (nextsentence.packed(english, A, B),)


def test_swapping_puts_b_first(english, made):
    swapped, other = made["swapped"].encodings[0], nextsentence.packed(english, B, A)
    assert (swapped.ids, swapped.segments) == (other.ids, other.segments)


def test_another_topic_shares_no_content_word_and_keeps_a(made):
    assert len(made["topic"].encodings) == perturbations.SAMPLES
    for encoding in made["topic"].encodings:
        assert encoding.texts[0] == A
        assert not lexical_overlap.content(encoding.texts[1]) & (lexical_overlap.content(A) | lexical_overlap.content(B))


def test_the_same_text_gives_sentences_that_are_not_next(made):
    assert {encoding.texts[1] for encoding in made["nearby"].encodings} == {
        "It had rained all day.", "My sister put another log on.", "Nobody wanted to go out again."}


def test_the_true_next_sentence_is_never_a_control_even_if_b_is_another():
    assert B not in perturbations.nearby(A, "Something else.", TEXT)


def test_a_text_that_does_not_hold_a_is_not_taken_for_its_text():
    assert perturbations.nearby("My car is red.", B, TEXT) == []


def test_shuffling_keeps_the_words_and_changes_their_order(made):
    pair = made["pair"].encodings[0]
    for encoding in made["shuffled"].encodings:
        assert words(encoding, 0) == words(pair, 0)
        assert words(encoding, 1) != words(pair, 1)
        assert sorted(encoding.ids) == sorted(pair.ids)
        assert "s ##nor ##ing" in words(encoding, 1)
        assert encoding.tokens[-2].text == "."


def test_one_word_cannot_be_shuffled(english):
    found = {o.control.name: o for o in perturbations.outcomes(english, A, "Never, never, never.")}
    assert len(found["shuffled"].probabilities) == perturbations.SAMPLES
    found = {o.control.name: o for o in perturbations.outcomes(english, A, "Never!")}
    assert np.isnan(found["shuffled"].mean) and "too few" in found["shuffled"].control.missing


def test_repeating_puts_a_in_both_places(made):
    repeated = made["repeated"].encodings[0]
    assert words(repeated, 0) == words(repeated, 1)


def test_one_segment_changes_the_segment_ids_and_nothing_else(made):
    pair, one = made["pair"].encodings[0], made["segment"].encodings[0]
    assert one.ids == pair.ids and set(one.segments) == {0}


def test_without_separator_only_the_middle_one_is_gone(made):
    pair, bare = made["pair"].encodings[0], made["separator"].encodings[0]
    middle = pair.ids.index(102)
    assert bare.ids == pair.ids[:middle] + pair.ids[middle + 1:]
    assert bare.segments == pair.segments[:middle] + pair.segments[middle + 1:]
    assert [token.position for token in bare.tokens] == list(range(len(pair) - 1))


def test_an_empty_part_leaves_its_separator(made):
    assert [t.text for t in made["no A"].encodings[0].tokens][:2] == ["[CLS]", "[SEP]"]
    assert set(made["no A"].encodings[0].segments[2:]) == {1}
    assert [t.text for t in made["no B"].encodings[0].tokens][-2:] == ["[SEP]", "[SEP]"]
    assert made["no B"].encodings[0].segments[-2:] == [0, 1]


def test_without_the_text_the_control_from_it_says_what_it_needs(english):
    missing = next(c for c in perturbations.controls(english, A, B) if c.name == "nearby")
    assert not missing.encodings and "Give the text" in missing.missing


def test_the_outcome_of_each_control_is_what_its_inputs_give_alone(english, made):
    for outcome in perturbations.outcomes(english, A, B, TEXT):
        alone = nextsentence.probabilities(nextsentence.margins(english, made[outcome.control.name].encodings))
        assert np.allclose(outcome.probabilities, alone, atol=1e-5)


def outcome(name: str, cue: str, probability: float) -> perturbations.Outcome:
    return perturbations.Outcome(perturbations.Control(name, name, cue), np.array([probability]))


def test_the_verdict_names_the_cues_that_move_the_answer():
    said = perturbations.verdict([outcome("pair", "", 0.9), outcome("topic", "what B is about", 0.2),
                             outcome("shuffled", "the order of the words", 0.88), outcome("swapped", "the order", 0.8)])
    assert said == ("The answer is IsNext: P(IsNext) is 0.90 (in brackets: after a change). "
                    "It follows what B is about (0.20). It hardly notices the order of the words (0.88).")


def test_the_verdict_of_a_head_that_says_the_same_of_everything():
    said = perturbations.verdict([outcome("pair", "", 0.97), outcome("topic", "what B is about", 0.95)])
    assert "tells little about this B" in said


def test_a_small_vocabulary_gets_other_topics_from_the_small_world(english):
    from model import Bert, BertConfig, smallworld
    cut = smallworld.tokenizer()
    small = Bert.random(BertConfig(cut.size, 32, 1, 4, 64, 80), cut)
    a, b = [sentence.text for story in smallworld.stories(5, 1) for sentence in story.sentences][:2]
    assert len(perturbations.elsewhere(small, a, b)) == perturbations.SAMPLES
