"""Principal axes, cosines, CKA and anisotropy against what is known of them."""

import numpy as np
import pytest
from sklearn import decomposition

import model
from probes.states import geometry


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize("count", [20, 300])
def test_pca_is_scikit_learns_up_to_sign(random, count):
    points = (random.normal(size=(count, 48)) * np.linspace(4, 0.1, 48) + 3).astype(np.float32)
    ours, theirs = geometry.PCA(3).fit(points), decomposition.PCA(3, svd_solver="full").fit(points)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-3)
    np.testing.assert_allclose(np.abs(ours.transform(points)), np.abs(theirs.transform(points)), atol=2e-3)


def test_pca_finds_a_planted_direction(random):
    direction = geometry.normalise(random.normal(size=64))
    points = random.normal(size=(500, 1)) * 10 * direction + random.normal(size=(500, 64)) * 0.1
    pca = geometry.PCA(1).fit(points)
    assert abs(pca.components_[0] @ direction) > 0.999
    assert pca.explained_variance_ratio_[0] > 0.99


def test_identical_points_stand_still_and_explain_nothing():
    paths = geometry.shared_paths(np.ones((3, 5, 8), np.float32))
    assert np.allclose(paths.points, 0) and np.allclose(paths.overall, 0) and np.isfinite(paths.explained).all()


def test_axes_beyond_the_rank_are_flat():
    assert geometry.PCA(3).fit(np.array([[0.0, 1.0], [1.0, 0.0]])).explained_variance_ratio_[1:] == pytest.approx([0, 0])


def test_shared_axes_show_movement_and_own_axes_show_shape(random):
    shape = random.normal(size=(6, 16))
    hidden = np.stack([shape + step * 10 * np.eye(16)[0] for step in range(4)])
    shared, own = geometry.shared_paths(hidden), geometry.layer_paths(hidden)
    steps = np.diff(shared.points, axis=0)
    assert np.allclose(np.linalg.norm(steps, axis=-1), 10, atol=0.5), "a shift of ten is seen as ten"
    assert np.allclose(np.diff(own.points, axis=0), 0, atol=1e-8), "a shift does not change the shape of a layer"
    assert (own.explained.sum(axis=1) >= shared.explained.sum(axis=1) - 1e-9).all()


def test_a_layer_that_mirrors_the_one_before_is_turned_back(random):
    shape = random.normal(size=(6, 16))
    points = geometry.layer_paths(np.stack([shape, -shape])).points
    assert np.allclose(points[0], points[1])


def test_a_token_is_its_own_nearest(random):
    similarity = geometry.cosine(random.normal(size=(3, 7, 16)))
    assert np.allclose(np.diagonal(similarity, axis1=1, axis2=2), 1)
    assert np.allclose(similarity, similarity.transpose(0, 2, 1))


@pytest.mark.parametrize("measure", [geometry.cka, geometry.debiased_cka])
def test_cka_is_one_for_a_rotation_and_a_scale(random, measure):
    states = random.normal(size=(12, 24))
    rotation = np.linalg.qr(random.normal(size=(24, 24)))[0]
    assert measure(states, 3 * states @ rotation + 5) == pytest.approx(1)


def test_cka_of_noise_is_near_its_expectation(random):
    pairs = [(random.normal(size=(15, 60)), random.normal(size=(15, 40))) for _ in range(200)]
    plain = np.mean([geometry.cka(a, b) for a, b in pairs])
    mended = np.mean([geometry.debiased_cka(a, b) for a, b in pairs])
    assert plain == pytest.approx(geometry.cka_of_noise(15, 60, 40), abs=0.02)
    assert plain > 0.7, "the reason why the plain measure is not the one shown first"
    assert mended == pytest.approx(0, abs=0.03)


def test_layers_are_compared_as_pairs_of_layers_are(random):
    left, right = random.normal(size=(3, 9, 12)), random.normal(size=(2, 9, 20))
    both, plain = geometry.cka_matrix(left, right), geometry.biased_cka_matrix(left, right)
    assert both.shape == (3, 2)
    assert both[2, 1] == pytest.approx(geometry.debiased_cka(left[2], right[1]))
    assert plain[2, 1] == pytest.approx(geometry.cka(left[2], right[1]))


def test_too_few_tokens_for_cka_are_refused_in_words():
    with pytest.raises(model.InputError, match="four tokens"):
        geometry.cka_matrix(np.ones((2, 3, 4)), np.ones((2, 3, 4)))


def test_noise_points_everywhere_and_a_common_shift_narrows_it(random):
    noise = random.normal(size=(2, 400, 64))
    assert np.abs(geometry.anisotropy(noise)).max() < 0.01
    assert geometry.anisotropy(noise[0] + 10) > 0.9


def test_anisotropy_is_the_mean_over_pairs(random):
    states = random.normal(size=(6, 5)) + 0.3
    pairs = geometry.cosine(states)[np.triu_indices(6, 1)]
    assert geometry.anisotropy(states) == pytest.approx(pairs.mean())
