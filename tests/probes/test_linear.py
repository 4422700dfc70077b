"""A planted direction is found and nothing else is; the regression is the one scikit-learn fits."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from model import InputProblem
from probes import baselines, codelength, store
from probes.linear import LinearProbe
from probes.scalarmix import ScalarMix
from probes.twolayer import TwoLayerProbe


def planted(strength: float, seed: int = 0, count: int = 3000) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """Vectors of word types with noise, the label written along three directions; labels depend on the use, not type."""
    draw = np.random.default_rng(seed)
    types = draw.integers(0, 300, count)
    labels = draw.integers(0, 3, count)
    where = draw.normal(size=(3, 32))
    vectors = draw.normal(size=(300, 32))[types] + strength * where[labels] + 0.3 * draw.normal(size=(count, 32))
    return torch.tensor(vectors, dtype=torch.float32)[None], labels, types.astype(str)


def scores(states: torch.Tensor, labels: np.ndarray, keys: np.ndarray, probe=None) -> tuple[float, float]:
    """Accuracy on the task and on its control, on the last third."""
    both = torch.from_numpy(np.stack([labels, baselines.control(keys, labels[:1500], seed=1)]))
    probe = (probe or LinearProbe()).fit(states[:, :1500], both[:, :1500], states[:, 1500:2000], both[:, 1500:2000], 3)
    right = (probe.predict(states[:, 2000:])[0] == both[:, 2000:]).float().mean(-1)
    return float(right[0]), float(right[1])


def test_a_planted_direction_is_found_and_the_control_is_not():
    task, control = scores(*planted(strength=2.0))
    assert task > 0.97
    assert control < 0.6


def test_on_random_labels_selectivity_is_about_zero_or_below():
    states, labels, keys = planted(strength=0.0)
    task, control = scores(states, labels, keys)
    assert abs(task - 1 / 3) < 0.06
    assert task - control < 0.05


def test_the_regression_is_the_one_scikit_learn_fits():
    states, labels, _ = planted(strength=0.3)
    states = torch.cat([states, 5 * states + 2, states.flip(1)])  # scale and shift change nothing
    probe = LinearProbe([1e-2]).fit(states, torch.from_numpy(labels))
    for layer in range(3):
        x = states[layer].numpy().astype(np.float64)
        x = (x - x.mean(0)) / x.std(0)
        theirs = LogisticRegression(C=1 / (1e-2 * len(x)), max_iter=1000, tol=1e-8).fit(x, labels)
        ours = probe.scores(states[layer: layer + 1])[0, 0] if layer == 0 else (
            states[layer] @ probe.coef_[layer, 0].T + probe.intercept_[layer, 0])
        np.testing.assert_allclose(ours.softmax(-1), theirs.predict_proba(x), atol=0.03)
        assert np.mean(ours.argmax(-1).numpy() == theirs.predict(x)) > 0.98


def test_fitting_again_gives_the_same_numbers():
    states, labels, _ = planted(strength=1.0)
    one, two = (LinearProbe([1e-3]).fit(states, torch.from_numpy(labels)).coef_ for _ in range(2))
    assert torch.equal(one, two)


def test_a_layer_is_fitted_as_if_it_were_alone():
    states, labels, _ = planted(strength=1.0)
    pair = torch.cat([states, torch.randn(states.shape, generator=torch.Generator().manual_seed(0))])
    together = LinearProbe([1e-2]).fit(pair, torch.from_numpy(labels))
    alone = LinearProbe([1e-2]).fit(states, torch.from_numpy(labels))
    torch.testing.assert_close(together.coef_[:1], alone.coef_, atol=1e-4, rtol=1e-3)


def test_dev_chooses_a_firm_penalty_where_there_is_nothing_to_learn_and_a_loose_one_where_there_is():
    noise, labels, _ = planted(strength=0.0)
    clear, _, _ = planted(strength=2.0)
    half = torch.from_numpy(labels)
    probe = LinearProbe((1.0, 1e-3)).fit(torch.cat([noise, clear])[:, :1500], half[:1500],
                                         torch.cat([noise, clear])[:, 1500:], half[1500:])
    assert probe.penalty_[:, 0].tolist() == [1.0, pytest.approx(1e-3)]


def test_several_penalties_need_a_dev_split():
    states, labels, _ = planted(strength=1.0, count=100)
    with pytest.raises(InputProblem, match="dev split"):
        LinearProbe().fit(states, torch.from_numpy(labels))


def test_a_hidden_layer_learns_what_no_linear_map_can():
    states = torch.randn(1, 3000, 8, generator=torch.Generator().manual_seed(0))
    labels = ((states[0, :, 0] > 0) ^ (states[0, :, 1] > 0)).long().numpy()
    keys = np.arange(3000).astype(str)
    linear, _ = scores(states, labels, keys)
    hidden, _ = scores(states, labels, keys, TwoLayerProbe(32, bend=True))
    low_rank, _ = scores(states, labels, keys, TwoLayerProbe(4, bend=False))
    assert hidden > 0.9 > 0.6 > max(linear, low_rank)


def test_a_rank_limited_probe_finds_a_planted_direction():
    task, _ = scores(*planted(strength=2.0), TwoLayerProbe(2, bend=False))
    assert task > 0.95


def test_labels_that_can_be_learned_cost_fewer_bits():
    states, labels, keys = planted(strength=2.0)
    both = torch.from_numpy(np.stack([labels, baselines.control(keys, labels, seed=1)]))
    task, control = codelength.online(states, both, 3)[0].tolist()
    nothing = codelength.uniform(len(labels), 3)
    assert task < 0.3 * nothing < control < 1.3 * nothing


def test_a_mix_leans_on_the_layer_where_the_label_is_written():
    clear, labels, _ = planted(strength=2.0)
    noise = torch.randn(clear.shape, generator=torch.Generator().manual_seed(0))
    mix = ScalarMix().fit(torch.cat([noise, noise.flip(1), clear, noise.roll(5, 1)]), torch.from_numpy(labels), 3)
    assert mix.weights_.argmax() == 2 and abs(float(mix.weights_.sum()) - 1) < 1e-5
    assert 1.5 < mix.centre_ < 2.5


def test_baselines_count_what_they_say():
    train, test = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 0])
    assert baselines.majority(train, test) == 0.5
    assert baselines.word_type(train, np.array(list("aabbb")), test, np.array(list("abzz"))) == 0.75


def test_a_control_label_belongs_to_the_word_form():
    keys = np.array(["a", "b", "a", "c"] * 50)
    drawn = baselines.control(keys, np.array([0, 1, 2, 3]), seed=3)
    assert all(len(set(drawn[keys == key])) == 1 for key in "abc")


def test_an_interval_holds_the_mean_and_narrows_with_more_sentences():
    draw = np.random.default_rng(0)
    right = draw.random(4000) < 0.8
    wide, narrow = (baselines.interval(right[:count], np.arange(count) // 10) for count in (400, 4000))
    assert wide[0] < right[:400].mean() < wide[1] and narrow[0] < right.mean() < narrow[1]
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


@pytest.mark.parametrize("pooling", store.POOLINGS)
def test_stored_states_are_those_of_the_trace(little, tmp_path, pooling):
    texts = ["the cat sat", "playing dogs ran on my mat .", "he likes new york !"]
    encodings = [little.tokenizer.encode(text) for text in texts]
    places = np.array([(1, 1, 4), (0, 1, 2), (2, 0, 6), (1, 4, 6)])
    for _ in store.extract(little, encodings, places, pooling, [0, 2], tmp_path / "states.npy"):
        pass
    stored = store.opened(tmp_path / "states.npy")
    assert stored.shape == (2, 4, 32) and stored.dtype == np.float16
    for index, (row, start, end) in enumerate(places):
        hidden = little.trace(texts[row]).hidden[[0, 2], start:end]
        expected = {"first": hidden[:, 0], "last": hidden[:, -1], "mean": hidden.mean(1)}[pooling]
        np.testing.assert_allclose(stored[:, index], expected, atol=2e-3)
