"""The evidence about a pair is what single readings of the changed input give."""

import numpy as np
import pytest

from model import Edits
from probes import nextsentence
from probes.nextsentence import evidence

A, B = "the cat sat on the mat .", "he likes playing ."


@pytest.fixture(scope="module")
def pair(little):
    return nextsentence.packed(little, A, B)


@pytest.fixture(scope="module")
def found(little, pair):
    return evidence.of(little, pair)


def test_hiding_a_token_changes_the_margin_by_its_occlusion(little, pair, found):
    place = 3
    hidden = pair.replaced({place: (little.tokenizer.mask, "[MASK]")})
    expected = nextsentence.margins(little, [pair])[0] - nextsentence.margins(little, [hidden])[0]
    assert found.occlusion[place] == pytest.approx(expected, abs=1e-5)


def test_special_tokens_are_not_hidden(pair, found):
    assert [bool(np.isnan(value)) for value in found.occlusion] == [token.special for token in pair.tokens]


def test_each_head_off_gives_what_it_gives_alone(little, pair, found):
    for layer, head in ((0, 1), (1, 3)):
        off = [Edits(heads_off=frozenset({(layer, head)}))]
        alone = nextsentence.probabilities(nextsentence.margins(little, [pair], off))[0]
        assert found.heads[layer, head] == pytest.approx(alone, abs=1e-5)


def test_attention_of_cls_is_shared_out_without_rest(little, found):
    trace = little.trace(A, B)
    assert np.allclose(found.attention.sum(1), 1, atol=1e-5)
    assert found.uniform.sum() == pytest.approx(1)
    first = [token.position for token in trace.tokens if token.segment == 0 and not token.special]
    assert np.allclose(found.attention[:, 1], trace.attention[:, :, 0, first].sum(-1).mean(1), atol=1e-5)


def test_the_last_layer_through_the_head_is_the_answer(little, found):
    assert found.layers[-1] == pytest.approx(nextsentence.probability(little, A, B), abs=1e-5)
    assert found.margin == pytest.approx(nextsentence.judge(little, A, B).margin, abs=1e-5)


def test_before_the_first_layer_the_head_knows_nothing_of_the_pair(little, found):
    other = evidence.of(little, nextsentence.packed(little, "a dog", "new york !"))
    assert found.layers[0] == pytest.approx(other.layers[0], abs=1e-6)


def test_in_a_long_input_neighbours_are_hidden_together(english):
    pair = nextsentence.packed(english, "The cat sat down. " * 60, "The dog ran. " * 30)
    hidden, window = evidence.occluded(pair, english.tokenizer.mask)
    assert window > 1 and len(hidden) <= evidence.RUNS + 2
    covered = [place for places, _ in hidden for place in places]
    assert covered == [token.position for token in pair.tokens if not token.special]
