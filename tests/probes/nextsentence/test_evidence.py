"""The evidence about a pair is what the changed inputs give one by one."""

import numpy as np
import pytest

from model import Edits, Encoding
from probes import nextsentence
from probes.nextsentence import evidence
from probes.nextsentence.evidence import NSPEvidence

A, B = "the cat sat on the mat .", "he likes playing ."


@pytest.fixture(scope="module")
def pair(tiny_bert) -> Encoding:
    return nextsentence.encode_pair(tiny_bert, A, B)


@pytest.fixture(scope="module")
def result(tiny_bert, pair) -> NSPEvidence:
    return evidence.of(tiny_bert, pair)


def test_masking_a_token_changes_the_logit_difference_by_its_occlusion(tiny_bert, pair, result):
    masked = pair.replace_tokens({3: (tiny_bert.tokenizer.mask_id, "[MASK]")})
    before, after = (nextsentence.logit_differences(tiny_bert, [encoding])[0] for encoding in (pair, masked))
    assert result.occlusion[3] == pytest.approx(before - after, abs=1e-5)


def test_special_tokens_are_not_masked(pair, result):
    assert [bool(np.isnan(value)) for value in result.occlusion] == [token.is_special for token in pair.tokens]


def test_each_head_off_gives_what_it_gives_alone(tiny_bert, pair, result):
    for layer, head in ((0, 1), (1, 3)):
        off = [Edits(heads_off=frozenset({(layer, head)}))]
        alone = nextsentence.to_probability(nextsentence.logit_differences(tiny_bert, [pair], off))[0]
        assert result.ablated[layer, head] == pytest.approx(alone, abs=1e-5)


def test_attention_of_cls_to_the_parts_sums_to_one(tiny_bert, result):
    trace = tiny_bert.trace(A, B)
    assert np.allclose(result.attention.sum(1), 1, atol=1e-5)
    assert result.uniform_attention.sum() == pytest.approx(1)
    first = [token.position for token in trace.tokens if token.segment == 0 and not token.is_special]
    assert np.allclose(result.attention[:, 1], trace.attention[:, :, 0, first].sum(-1).mean(1), atol=1e-5)


def test_the_last_layer_through_the_head_is_the_answer(tiny_bert, result):
    assert result.by_layer[-1] == pytest.approx(nextsentence.probability(tiny_bert, A, B), abs=1e-5)
    assert result.logit_difference == pytest.approx(nextsentence.predict(tiny_bert, A, B).logit_difference, abs=1e-5)


def test_before_the_first_layer_the_head_knows_nothing_of_the_pair(tiny_bert, result):
    other = evidence.of(tiny_bert, nextsentence.encode_pair(tiny_bert, "a dog", "new york !"))
    assert result.by_layer[0] == pytest.approx(other.by_layer[0], abs=1e-6)


def test_in_a_long_input_neighbours_are_masked_together(english):
    pair = nextsentence.encode_pair(english, "The cat sat down. " * 60, "The dog ran. " * 30)
    occlusions, window = evidence.occluded(pair, english.tokenizer.mask_id)
    assert window > 1
    assert len(occlusions) <= evidence.MAX_OCCLUSIONS + 2
    positions = [position for span, _ in occlusions for position in span]
    assert positions == [token.position for token in pair.tokens if not token.is_special]


def test_the_strongest_head_is_the_one_whose_ablation_changes_the_probability_most(result):
    (layer, head), without = result.strongest_head
    distance = np.abs(result.ablated - result.probability)
    assert abs(without - result.probability) == distance.max() > 0
    assert without == result.ablated[layer, head]
    np.testing.assert_allclose(result.head_effects, result.ablated - result.probability)


def test_the_strongest_token_is_a_word_whose_masking_changes_the_logit_difference_most(tiny_bert, pair, result):
    token, fall = result.strongest_token
    assert not token.is_special
    assert abs(fall) == np.nanmax(np.abs(result.occlusion))
    masked = pair.replace_tokens({token.position: (tiny_bert.tokenizer.mask_id, "[MASK]")})
    expected = result.logit_difference - nextsentence.logit_differences(tiny_bert, [masked])[0]
    assert fall == pytest.approx(expected, abs=1e-5)
