"""A planted direction is found and nothing else is; the regression is the one scikit-learn fits, in any company."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from model import Bert, InputError
from probes.probing import baselines, experiment, features, mdl, results, scalar_mix, tasks, treebank
from probes.probing.examples import build_examples
from probes.probing.linear import LinearProbe
from probes.probing.mlp import MLPProbe
from probes.probing.scalar_mix import ScalarMix


def word_states(signal: float, examples: int = 3000, seed: int = 0) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """States (1, examples, 32) of 300 word types plus noise, the label added along three directions; labels; word types."""
    rng = np.random.default_rng(seed)
    types, labels = rng.integers(0, 300, examples), rng.integers(0, 3, examples)
    label_directions, type_vectors = rng.normal(size=(3, 32)), rng.normal(size=(300, 32))
    states = type_vectors[types] + signal * label_directions[labels] + 0.3 * rng.normal(size=(examples, 32))
    return torch.tensor(states, dtype=torch.float32)[None], labels, types.astype(str)


def task_and_control_accuracy(
    probe: LinearProbe | MLPProbe, states: torch.Tensor, labels: np.ndarray, word_types: np.ndarray
) -> tuple[float, float]:
    """Test accuracy on the task and on its control task, fitted together. Hewitt & Liang (2019)."""
    train, dev, test = slice(0, 1500), slice(1500, 2000), slice(2000, None)
    control = baselines.control_labels(word_types, labels[train], seed=1)
    targets = torch.from_numpy(np.stack([labels, control]))  # (task and control, examples)
    probe.fit(states[:, train], targets[:, train], states[:, dev], targets[:, dev], classes=3)
    accuracy = (probe.predict(states[:, test])[0] == targets[:, test]).float().mean(-1)
    return float(accuracy[0]), float(accuracy[1])


def test_a_label_written_along_a_direction_is_found_and_its_control_is_not():
    task, control = task_and_control_accuracy(LinearProbe(), *word_states(signal=2.0))
    assert task > 0.97
    assert control < 0.6


def test_on_random_labels_selectivity_is_about_zero_or_below():
    task, control = task_and_control_accuracy(LinearProbe(), *word_states(signal=0.0))
    assert abs(task - 1 / 3) < 0.06
    assert task - control < 0.05


def assert_same_as_scikit_learn(
    states: torch.Tensor, labels: torch.Tensor, test_states: torch.Tensor, test_labels: torch.Tensor, penalty: float
) -> None:
    """Every labelling, fitted together, is what scikit-learn fits alone: states (examples, features), labels (targets,
    examples); within 0.2 points of accuracy, or one example, and 1e-3 of mean loss, on train and on test."""
    probe = LinearProbe([penalty]).fit(states[None], labels)
    mean, std = states.double().mean(0), states.double().std(0, correction=0)
    for target, gold in enumerate(labels):
        reference = LogisticRegression(C=1 / (penalty * len(states)), max_iter=5000, tol=1e-6)
        reference.fit((states - mean) / std, gold)
        for inputs, truth in ((states, gold), (test_states, test_labels[target])):
            ours = (inputs @ probe.coef_[0, target].T + probe.intercept_[0, target]).double()
            theirs = torch.full_like(ours, -1e9)
            theirs[:, reference.classes_] = torch.from_numpy(reference.decision_function((inputs - mean) / std))
            accuracy = [(scores.argmax(-1) == truth).double().mean() for scores in (ours, theirs)]
            assert abs(accuracy[0] - accuracy[1]) <= max(0.002, 1 / len(truth))
            known = torch.isin(truth, torch.from_numpy(reference.classes_))
            loss = [torch.nn.functional.cross_entropy(scores[known], truth[known]) for scores in (ours, theirs)]
            assert abs(loss[0] - loss[1]) < 1e-3


def real_states(
    bert: Bert, dataset: treebank.Treebank, task: str, layer: int, limit: int
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """States (examples, features) of the train and then of the test split, two labellings, and where the test begins."""
    examples = build_examples(bert, dataset.sentences, tasks.find(task), 0, limit)
    states = np.empty((len(examples.spans), bert.config.hidden_size), dtype=np.float32)
    for indices, vectors in features.iter_spans(bert, examples.encodings, examples.spans, "mean", [layer]):
        states[indices] = vectors[0]
    train, test = (np.flatnonzero(examples.splits == split) for split in ("train", "test"))
    test = test[np.isin(examples.labels[test], examples.labels[train])]
    _, gold = np.unique(examples.labels[[*train, *test]], return_inverse=True)
    labels = np.stack([gold, baselines.control_labels(examples.word_types[[*train, *test]], gold[: len(train)], 0)])
    return features.combine(states, examples.span_indices[[*train, *test]]), torch.from_numpy(labels), len(train)


@pytest.mark.parametrize("penalty", [1e-2, 1e-3])
def test_the_regression_is_the_one_scikit_learn_fits_to_real_states(english, penalty):
    states, labels, count = real_states(english, experiment.small_world(), "deprel", 4, 1500)
    singular_values = torch.linalg.svdvals(states[:count] - states[:count].mean(0))
    assert singular_values[0] > 50 * singular_values[-1]  # hard to fit: some directions are far longer than others
    assert_same_as_scikit_learn(states[:count], labels[:, :count], states[count:], labels[:, count:], penalty)


def test_the_regression_is_the_one_scikit_learn_fits_to_a_treebank(english, corpora):
    """It runs where a Universal Dependencies treebank is in ../shared/data/treebank, or below what BERTSCOPE_DATA names."""
    states, labels, count = real_states(english, treebank.read(corpora / "treebank"), "upos", 4, 6000)
    assert int(labels.max()) + 1 == 17
    assert_same_as_scikit_learn(states[:count], labels[:, :count], states[count:], labels[:, count:], 1e-3)


def test_real_states_are_fitted_alike_beside_a_control_and_alone(english):
    """Random-init states of few examples, many classes of very different size: where company mattered most."""
    for layer in (2, 5):
        states, labels, count = real_states(english.random_init_copy(), experiment.small_world(), "deprel", layer, 500)
        train, dev = states[None, : count * 5 // 6], states[None, count * 5 // 6 : count]
        parts = labels[:, : count * 5 // 6], labels[:, count * 5 // 6 : count]
        classes = int(labels.max()) + 1
        alone, beside = (LinearProbe().fit(train, parts[0][:count], dev, parts[1][:count], classes) for count in (1, 2))
        assert alone.penalty_[0, 0] == beside.penalty_[0, 0]
        ours, theirs = (probe.decision_function(states[None])[0, 0] for probe in (alone, beside))
        torch.testing.assert_close(ours, theirs, atol=5e-3, rtol=5e-3)
        assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


def company(labels: np.ndarray, others: int) -> torch.Tensor:
    """The labelling first, and random ones behind it."""
    rng = np.random.default_rng(5)
    return torch.from_numpy(np.stack([labels, *(rng.integers(0, 3, len(labels)) for _ in range(others))]))


@pytest.mark.parametrize("others", [1, 5])
@pytest.mark.parametrize(
    "make",
    [LinearProbe, lambda: MLPProbe(4, nonlinear=False), lambda: MLPProbe(8, nonlinear=True)],
    ids=["linear", "rank", "hidden"],
)
def test_equal_states_are_fitted_alike_in_any_company(make, others):
    states, labels, _ = word_states(signal=0.4, examples=1500)
    other = torch.randn(states.shape, generator=torch.Generator().manual_seed(0))
    fits = []
    for targets, layers in (
        (company(labels, 0), states),
        (company(labels, others), states),
        (company(labels, others), torch.cat([states, other, 3 * other + states])),
    ):
        probe = make().fit(layers[:, :900], targets[:, :900], layers[:, 900:1200], targets[:, 900:1200], 3)
        fits.append((probe.decision_function(layers[:, 1200:])[0, 0], getattr(probe, "penalty_", torch.zeros(1, 1))[0, 0]))
    for scores, penalty in fits[1:]:
        assert penalty == fits[0][1]
        torch.testing.assert_close(scores, fits[0][0], atol=2e-3, rtol=2e-3)
        assert torch.equal(scores.argmax(-1), fits[0][0].argmax(-1))


def test_every_labelling_goes_down_its_own_penalties():
    states, labels, _ = word_states(signal=2.0)
    both = company(labels, 1)
    alone = [
        LinearProbe().fit(states[:, :1500], one[:, :1500], states[:, 1500:], one[:, 1500:], 3).penalty_[0, 0]
        for one in (both[:1], both[1:])
    ]
    together = LinearProbe().fit(states[:, :1500], both[:, :1500], states[:, 1500:], both[:, 1500:], 3).penalty_[0]
    assert together.tolist() == alone and alone[0] < alone[1]


def test_fitting_again_gives_the_same_numbers():
    states, labels, _ = word_states(signal=1.0)
    one, two = (LinearProbe([1e-3]).fit(states, torch.from_numpy(labels)).coef_ for _ in range(2))
    assert torch.equal(one, two)


def test_a_layer_is_fitted_as_if_it_were_alone():
    states, labels, _ = word_states(signal=1.0)
    pair = torch.cat([states, torch.randn(states.shape, generator=torch.Generator().manual_seed(0))])
    together = LinearProbe([1e-2]).fit(pair, torch.from_numpy(labels))
    alone = LinearProbe([1e-2]).fit(states, torch.from_numpy(labels))
    torch.testing.assert_close(together.coef_[:1], alone.coef_, atol=1e-4, rtol=1e-3)


def test_dev_chooses_a_firm_penalty_where_there_is_nothing_to_learn_and_a_loose_one_where_there_is():
    noise, labels, _ = word_states(signal=0.0)
    clear, _, _ = word_states(signal=2.0)
    half = torch.from_numpy(labels)
    probe = LinearProbe((1.0, 1e-3)).fit(
        torch.cat([noise, clear])[:, :1500], half[:1500], torch.cat([noise, clear])[:, 1500:], half[1500:]
    )
    assert probe.penalty_[:, 0].tolist() == [1.0, pytest.approx(1e-3)]


def test_several_penalties_need_a_dev_split():
    states, labels, _ = word_states(signal=1.0, examples=100)
    with pytest.raises(InputError, match="dev split"):
        LinearProbe().fit(states, torch.from_numpy(labels))


def test_a_hidden_layer_learns_what_no_linear_map_can():
    states = torch.randn(1, 3000, 8, generator=torch.Generator().manual_seed(0))
    labels = ((states[0, :, 0] > 0) ^ (states[0, :, 1] > 0)).long().numpy()
    word_types = np.arange(3000).astype(str)
    linear, hidden, low_rank = (
        task_and_control_accuracy(probe, states, labels, word_types)[0]
        for probe in (LinearProbe(), MLPProbe(32, nonlinear=True), MLPProbe(4, nonlinear=False))
    )
    assert hidden > 0.9 > 0.6 > max(linear, low_rank)


def test_a_rank_limited_probe_finds_a_planted_direction():
    task, _ = task_and_control_accuracy(MLPProbe(2, nonlinear=False), *word_states(signal=2.0))
    assert task > 0.95


def test_labels_that_can_be_learned_cost_fewer_bits():
    states, labels, word_types = word_states(signal=2.0)
    targets = torch.from_numpy(np.stack([labels, baselines.control_labels(word_types, labels, seed=1)]))
    task, control = mdl.online_code_length(states, targets, 3)[0].tolist()
    uniform = mdl.uniform_code_length(len(labels), 3)
    assert task < 0.3 * uniform < control < 1.3 * uniform


def test_bits_are_those_of_the_probe_that_is_named():
    """What no linear map can learn costs as much as knowing nothing, but a hidden layer sends it in less."""
    states = torch.randn(1, 600, 4, generator=torch.Generator().manual_seed(0))
    labels = ((states[0, :, :1] > 0) ^ (states[0, :, 1:2] > 0)).long().T
    linear, hidden = (
        mdl.online_code_length(states, labels, 2, probe)[0, 0]
        for probe in (LinearProbe, lambda: MLPProbe(16, nonlinear=True))
    )
    assert hidden < 0.75 * linear and linear > 0.95 * mdl.uniform_code_length(600, 2)


def test_bits_are_searched_like_accuracy():
    """A labelling that is noise costs little more than knowing nothing once the penalty may be firm; with one loose
    penalty for all it costs far more."""
    states = torch.randn(1, 1500, 60, generator=torch.Generator().manual_seed(0))
    noise = torch.randint(0, 3, (1, 1500), generator=torch.Generator().manual_seed(1))
    searched, loose = (
        mdl.online_code_length(states, noise, 3, probe)[0, 0] / mdl.uniform_code_length(1500, 3)
        for probe in (LinearProbe, lambda: LinearProbe([1e-3]))
    )
    assert searched < 1.15 < 1.3 < loose


def test_a_mix_leans_on_the_layer_where_the_label_is_written():
    clear, labels, _ = word_states(signal=2.0)
    noise = torch.randn(clear.shape, generator=torch.Generator().manual_seed(0))
    mix = ScalarMix().fit(torch.cat([noise, noise.flip(1), clear, noise.roll(5, 1)]), torch.from_numpy(labels), 3)
    assert mix.weights_.argmax() == 2 and abs(float(mix.weights_.sum()) - 1) < 1e-5
    assert 1.5 < mix.center_of_gravity_ < 2.5


def mixture(states: torch.Tensor, labels: np.ndarray) -> results.LayerMixture:
    """What a result says of a mix fitted to the first 800 examples, five to a sentence."""
    gold, layers = torch.from_numpy(labels), list(range(len(states)))
    resampled = scalar_mix.resampled(states[:, :800], gold[:800], np.arange(800) // 5, 3, 12, seed=0)
    return results.mixture(
        results.ProbingResult(
            {},
            mix={
                "0": {
                    "layers": layers,
                    "weights": ScalarMix().fit(states[:, :800], gold[:800], 3).weights_.tolist(),
                    "resampled": [weights.tolist() for weights in resampled],
                    "cumulative": scalar_mix.cumulative(states[:, :800], gold[:800], states[:, 800:], gold[800:], 3),
                }
            },
        )
    )


def test_the_centre_of_gravity_is_sure_where_the_label_is_written_and_anywhere_in_noise():
    clear, labels, _ = word_states(signal=2.0, examples=1200)
    noise = torch.randn(5, *clear.shape[1:], generator=torch.Generator().manual_seed(0))
    sure = mixture(torch.cat([noise[:2], clear, noise[2:4]]), labels)
    assert 1.5 < sure.low <= sure.center_of_gravity <= sure.high < 2.5 and not sure.undecided and sure.one_layer == 2
    assert sure.expected == pytest.approx(2, abs=0.2)  # layers 0 and 1 add nothing, layer 2 everything
    lost = mixture(noise, labels)
    assert lost.undecided and lost.one_layer is None and lost.expected is None


def test_the_expected_layer_is_the_mean_of_what_each_layer_adds():
    assert scalar_mix.expected_layer([0, 1, 2, 3], [0.5, 0.7, 0.8, 0.9]) == pytest.approx((1 * 2 + 2 * 1 + 3 * 1) / 4)
    assert scalar_mix.expected_layer([0, 4, 6], [0.5, 0.5, 0.9]) == pytest.approx(6)
    assert scalar_mix.expected_layer([0, 1], [0.5, 0.5]) is None


def test_baselines_count_what_they_say():
    train, test = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 0])
    assert baselines.majority(train, test) == 0.5
    assert baselines.word_type(train, np.array(list("aabbb")), test, np.array(list("abzz"))) == 0.75


def test_a_control_label_belongs_to_the_word_form():
    word_types = np.array(["a", "b", "a", "c"] * 50)
    control = baselines.control_labels(word_types, np.array([0, 1, 2, 3]), seed=3)
    assert all(len(set(control[word_types == word_type])) == 1 for word_type in "abc")


@pytest.mark.parametrize("pooling", features.POOLINGS)
def test_stored_states_are_those_of_the_trace(tiny_bert, tmp_path, pooling):
    texts = ["the cat sat", "playing dogs ran on my mat .", "he likes new york !"]
    encodings = [tiny_bert.tokenizer.encode(text) for text in texts]
    spans = np.array([(1, 1, 4), (0, 1, 2), (2, 0, 6), (1, 4, 6)])
    for _ in features.extract(tiny_bert, encodings, spans, pooling, [0, 2], tmp_path / "states.npy"):
        pass
    stored = features.open_memmap(tmp_path / "states.npy")
    assert stored.shape == (2, 4, 32) and stored.dtype == np.float16
    for index, (row, start, end) in enumerate(spans):
        hidden = tiny_bert.trace(texts[row]).hidden[[0, 2], start:end]
        expected = {"first": hidden[:, 0], "last": hidden[:, -1], "mean": hidden.mean(1)}[pooling]
        np.testing.assert_allclose(stored[:, index], expected, atol=2e-3)
