"""What captions say of states: the pair, the layer and the word that were planted stand out."""

import numpy as np
import pandas as pd
import pytest

from probes import comparison
from probes.states import geometry, input_embeddings, residual_stream, token_contexts, word_senses


def test_the_nearest_pair_is_the_one_that_was_planted():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(6, 40))
    states[4] = states[1] + 0.1 * rng.normal(size=40)
    first, second, cosine = geometry.nearest_pair(geometry.cosine(states))
    assert (first, second) == (1, 4)
    assert cosine > 0.9


def test_points_in_a_plane_are_shown_whole_by_two_components():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8))
    assert geometry.PCA(2).fit(points).explained_variance == pytest.approx(1)
    assert geometry.PCA(1).fit(points).explained_variance < 1
    assert geometry.shared_paths(points.reshape(3, 10, 8), 2).explained_variance == pytest.approx(1)


def test_the_best_layer_is_where_the_senses_are_apart():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 8, 20))
    vectors[2, :4] += 5  # at the last layer half of the uses point elsewhere
    assert word_senses.separation(vectors, [0] * 4 + [1] * 4).best_layer == 2


def test_contributions_name_the_layers_of_the_smallest_and_the_largest_mean():
    ones = np.ones((3, 4))
    answer = residual_stream.ResidualContributions(np.ones((4, 4)), ones * [[0.2], [0.9], [0.4]], ones, np.full((3, 4), 0.5))
    np.testing.assert_allclose(answer.by_layer("attention"), [0.2, 0.9, 0.4])
    low, lowest, high, highest = answer.extremes("attention")
    assert (low, high) == (0, 1)
    assert (lowest, highest) == (pytest.approx(0.2), pytest.approx(0.9))


def test_one_word_has_its_own_line_over_the_layers():
    words = pd.DataFrame({"word": ["bank", "the"], "uses": [3, 2], 0: [0.9, 0.1], 1: [0.5, 0.2]})
    similarity = token_contexts.SelfSimilarity(words, np.array([0.5, 0.35]), np.zeros(2))
    np.testing.assert_array_equal(similarity.of_word("the"), [0.1, 0.2])


def test_sinusoids_are_alike_where_positions_are_near():
    adjacent, any_two = input_embeddings.neighbour_similarity(input_embeddings.sinusoid_similarity(64, 50))
    assert adjacent > any_two
    assert input_embeddings.neighbour_similarity(np.eye(4)) == (0, 0)


def test_lengths_are_those_of_the_vectors(tiny_bert):
    parts = input_embeddings.parts(tiny_bert.trace("my dog is cute"))
    lengths = input_embeddings.lengths(parts)
    assert lengths.shape == parts.shape[:2]
    assert lengths[1, 2] == pytest.approx(np.linalg.norm(parts[1, 2]))


def test_two_sides_that_are_one_are_most_alike_at_one_layer_and_differ_nowhere(tiny_bert):
    trace = tiny_bert.trace("my dog is cute", "he likes playing.")
    left, right, cka = comparison.states(trace, trace, 2).most_alike
    assert left == right
    assert cka == pytest.approx(1)
    assert not comparison.attentions(trace, trace).difference.any()


def test_a_uniform_prediction_shares_everything_with_itself_and_a_certain_one_nearly_nothing():
    assert comparison.uniform_agreement(np.full(50, 1 / 50)) == pytest.approx(1)
    assert comparison.uniform_agreement(np.eye(50)[3]) == pytest.approx(1 / 50)
