"""A query applies marked spans to a text: masked, asked for while visible, or replaced."""

import pytest

from model import InputError
from probes import cloze
from probes.cloze import query
from probes.cloze.query import MarkedSpan, TargetSpan


def test_spans_of_another_text_are_dropped(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat")
    invalid = [MarkedSpan(0, 1, "mask"), MarkedSpan(2, 4, "mask"), MarkedSpan(50, 51, "ask"), MarkedSpan(1, 2, "mark")]
    assert query.valid_spans(encoding, [*invalid, MarkedSpan(1, 2, "ask")]) == [MarkedSpan(1, 2, "ask")]


def test_of_two_spans_that_overlap_the_first_stays(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat")
    assert query.valid_spans(encoding, [MarkedSpan(2, 3, "ask"), MarkedSpan(1, 3, "mask")]) == [MarkedSpan(1, 3, "mask")]


def test_a_longer_replacement_shifts_the_targets_behind_it(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat on the mat")
    built = query.build(tiny_bert, encoding, [MarkedSpan(2, 3, "replace", "dogs"), MarkedSpan(6, 7, "mask")])
    assert [t.text for t in built.encoding.tokens][2:4] == ["dog", "##s"]
    assert built.targets == (TargetSpan(7, 8, False, (encoding.ids[6],)),)
    assert built.encoding.ids[7] == tiny_bert.tokenizer.mask_id
    assert built.unmasked.ids[7] == encoding.ids[6]
    assert built.gold_ids == {7: encoding.ids[6]}


def test_a_mask_in_the_text_is_a_target_without_a_gold_token(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the [MASK] sat on the mat")
    built = query.build(tiny_bert, encoding, [MarkedSpan(6, 7, "mask")])
    assert built.targets == (TargetSpan(2, 3, False, ()), TargetSpan(6, 7, False, (encoding.ids[6],)))
    assert built.mask_positions == [2, 6]
    assert built.gold_ids == {6: encoding.ids[6]}


def test_a_visible_target_is_predicted_from_the_input_as_it_stands(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat")
    built = query.build(tiny_bert, encoding, [MarkedSpan(2, 3, "ask")])
    assert built.encoding.ids == encoding.ids
    assert (built.positions, built.mask_positions) == ([2], [])
    dog = tiny_bert.tokenizer.piece_ids("dog")
    score = query.word_score(tiny_bert, built, built.targets[0], "dog")
    assert score.probability == pytest.approx(cloze.probabilities(tiny_bert, encoding, [2])[0, dog[0]])


def test_a_word_of_other_length_than_a_visible_one_is_refused(tiny_bert):
    built = query.build(tiny_bert, tiny_bert.tokenizer.encode("the cat sat"), [MarkedSpan(2, 3, "ask")])
    with pytest.raises(InputError, match="“playing” is 2 wordpieces, the visible word 1"):
        query.word_score(tiny_bert, built, built.targets[0], "playing")


def test_a_query_without_a_target_is_refused(tiny_bert):
    with pytest.raises(InputError, match="has no target"):
        query.build(tiny_bert, tiny_bert.tokenizer.encode("the cat"), [])


def test_the_default_span_is_the_last_word_of_sentence_a(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cats sat on my mat .", "he ran")
    (span,) = query.default_span(encoding)
    assert query.join_pieces(tiny_bert, encoding.ids[span.start : span.stop]) == "mat"
