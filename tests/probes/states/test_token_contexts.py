"""Tokens, words, neurons and sentences met in context: each agrees with the trace of the sentence alone."""

import copy

import numpy as np
import pytest
import torch
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors

import model
from probes.states import geometry, neighbours, neurons, residual_stream, sentence_vectors, token_contexts, word_senses

TEXT = ["the cat sat on the mat.", "my dog ran, the dog is cute!", "he likes playing the new york"]


@pytest.fixture(scope="module")
def gathered(little) -> token_contexts.Contexts:
    return token_contexts.gather(little, TEXT)


def test_a_text_is_cut_into_sentences_at_their_ends_and_nowhere_else():
    assert token_contexts.split("He paid 3.5 dollars. She left!  “Why?” asked Mr. x\n\nthe end") == [
        "He paid 3.5 dollars.", "She left!", "“Why?” asked Mr. x", "the end"]


def test_every_token_keeps_its_state_and_its_sentence(little, gathered):
    for index, text in enumerate(TEXT):
        trace = little.trace(text)
        mine = gathered.places.sentence == index
        np.testing.assert_allclose(gathered.vectors[:, mine], trace.hidden[:, 1:-1], atol=1e-5)
    token = gathered.places.texts.index("##ing")
    assert gathered.places.around(token) == ("he likes play", "ing", " the new york")


def test_a_word_in_one_context_only_is_perfectly_like_itself_and_noise_is_not(little):
    found = token_contexts.steadiness(token_contexts.gather(little, ["the cat sat", "the cat sat", "my dog ran"]))
    assert set(found.words["word"]) == {"the", "cat", "sat"}
    assert found.same == pytest.approx(np.ones(3), abs=1e-5)
    assert (found.random < 0.99).all()


def test_a_text_without_repetition_is_refused_in_words(little):
    with pytest.raises(model.InputProblem, match="No word comes twice"):
        token_contexts.steadiness(token_contexts.gather(little, ["the cat sat on my mat"]))


def planted_sentences(vectors: list[list[list[float]]]) -> token_contexts.Contexts:
    """Sentences whose tokens have these vectors, at one layer."""
    sentence = np.array([index for index, tokens in enumerate(vectors) for _ in tokens], np.int32)
    count = len(sentence)
    where = token_contexts.Places(tuple("x" for _ in vectors), ("x",) * count, sentence, np.zeros((count, 2), np.int32),
                            np.zeros(count, np.int32))
    return token_contexts.Contexts(where, np.array([[vector for tokens in vectors for vector in tokens]], np.float32))


def test_intra_sentence_similarity_is_that_of_the_formula():
    found = token_contexts.intra_sentence(planted_sentences([[[1, 0], [0, 1]], [[2, 0], [3, 0]], [[5, 5]], [[1, 0],
                                                                                                            [-1, 2]]]))
    assert found.sentences.tolist() == [0, 1, 3]  # one word is its own mean, whatever the model does
    expected = [np.sqrt(0.5), 1.0, np.mean([0.0, 2 / np.sqrt(5)])]
    np.testing.assert_allclose(found.each[0], expected, atol=1e-6)
    assert found.mean[0] == pytest.approx(np.mean(expected))


def test_intra_sentence_similarity_of_noise_is_its_baseline_and_of_sentences_with_a_direction_is_more():
    generator = np.random.default_rng(3)
    noise = generator.normal(size=(60, 9, 20))
    found = token_contexts.intra_sentence(planted_sentences(noise.tolist()))
    assert found.mean[0] == pytest.approx(1 / 3, abs=0.02)  # nine unrelated tokens: 1/√9
    assert found.mean[0] == pytest.approx(found.shuffled[0], abs=0.02)
    theirs = token_contexts.intra_sentence(planted_sentences((noise + 2 * generator.normal(size=(60, 1, 20))).tolist()))
    assert theirs.mean[0] > theirs.shuffled[0] + 0.3


def test_intra_sentence_similarity_of_the_model_is_that_of_its_traces(little, gathered):
    found = token_contexts.intra_sentence(gathered)
    for index, text in enumerate(TEXT):
        states = little.trace(text).hidden[:, 1:-1]  # (layers, seq, hidden)
        mean = states.mean(1, keepdims=True)
        cosines = (states * mean).sum(-1) / np.linalg.norm(states, axis=-1) / np.linalg.norm(mean, axis=-1)
        np.testing.assert_allclose(found.each[:, index], cosines.mean(1), atol=1e-5)


def test_sentences_of_one_word_are_refused_in_words(little):
    with pytest.raises(model.InputProblem, match="two words"):
        token_contexts.intra_sentence(token_contexts.gather(little, ["the", "cat"]))


def test_neighbours_equal_brute_force(gathered):
    index = neighbours.Index.of(gathered, 2)
    vector = gathered.vectors[2, 4]
    found = index.nearest(vector, 5)
    theirs = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(gathered.vectors[2])
    distances, order = theirs.kneighbors(vector[None])
    assert found["token"].tolist() == order[0].tolist()
    np.testing.assert_allclose(1 - found["cosine"], distances[0], atol=1e-5)


def test_a_token_is_its_own_first_neighbour_and_comes_with_its_sentence(gathered):
    index = neighbours.Index.of(gathered, 1)
    best = index.described(index.nearest(gathered.vectors[1, 8], 3)).iloc[0]
    assert best["piece"] == gathered.places.texts[8]
    assert best["before"] + best["at"] + best["after"] == TEXT[gathered.places.sentence[8]]


def test_asking_for_more_neighbours_than_there_are_gives_all(gathered):
    assert len(neighbours.Index.of(gathered, 0).nearest(gathered.vectors[0, 0], 1000)) == len(gathered.places)


def test_a_word_of_several_pieces_is_the_mean_of_them(little):
    found = word_senses.uses(little, "Playing", TEXT)
    trace = little.trace(TEXT[2])
    pieces = [token.position for token in trace.tokens if token.text in ("play", "##ing")]
    np.testing.assert_allclose(found.vectors[:, 0], trace.hidden[:, pieces].mean(axis=1), atol=1e-5)
    assert found.spans == ((9, 16),)


def test_empty_lines_part_senses_and_colons_name_them():
    found = word_senses.parsed("river:\na\nb\n\n\nc\nmoney:\nd\n")
    assert found.sentences == ("a", "b", "c", "d") and found.labels == (0, 0, 1, 2)
    assert found.names == ("river", "sense 2", "money")


def test_only_whole_words_count_as_uses(little):
    assert word_senses.uses(little, "the", ["the theatre", "The cat", "breathe"]).sentence.tolist() == [0, 1]


@pytest.mark.parametrize(("word", "said"), [("zebra", "none of these sentences"), (" ", "Type the word")])
def test_a_word_that_is_not_there_is_refused_in_words(little, word, said):
    with pytest.raises(model.InputProblem, match=said):
        word_senses.uses(little, word, TEXT)


def test_silhouette_is_scikit_learns():
    random = np.random.default_rng(2)
    points, labels = random.normal(size=(12, 3)), np.array([0] * 5 + [1] * 4 + [2] * 2 + [3])
    distances = np.maximum(1 - geometry.cosine(points), 0)
    np.fill_diagonal(distances, 0)
    ours = word_senses.silhouette(distances, labels[None])[0]
    assert ours == pytest.approx(silhouette_score(distances, labels, metric="precomputed"))


def test_planted_senses_are_found_and_random_ones_are_not():
    random = np.random.default_rng(3)
    labels = np.repeat([0, 1], 8)
    noise = random.normal(size=(16, 32))
    planted = noise + labels[:, None] * 6 * geometry.unit(random.normal(size=32))
    found = word_senses.separation(np.stack([noise, planted]), labels.tolist())
    assert found.low[0] <= found.silhouette[0] <= found.high[0] and found.p[0] > 0.05
    assert found.silhouette[1] > found.high[1] and found.p[1] < 0.02


def test_identical_sentences_do_not_break_the_separation():
    found = word_senses.separation(np.ones((2, 6, 8)), [0, 0, 0, 1, 1, 1])
    assert np.allclose(found.silhouette, 0) and np.allclose(found.p, 1)


@pytest.mark.parametrize(("labels", "said"), [([0, 0, 0], "empty line"), ([0, 1], "at least three")])
def test_too_little_to_separate_is_refused_in_words(labels, said):
    with pytest.raises(model.InputProblem, match=said):
        word_senses.separation(np.ones((1, len(labels), 4)), labels)


def test_the_english_model_tells_the_banks_apart_in_its_layers_but_not_in_its_embeddings(english):
    river = ["He sat on the bank of the river and fished.", "Flowers grew on the bank by the water.",
             "The boat was tied to the muddy bank.",
             "Reeds grew along the bank of the stream.", "They swam to the other bank of the river."]
    money = ["She opened an account at the bank.", "My bank pays interest on savings.",
             "The bank lent him money for a house.",
             "He works for a bank in the city.", "The bank charged a fee for the loan."]
    found = word_senses.uses(english, "bank", river + money)
    apart = word_senses.separation(found.vectors, [0] * 5 + [1] * 5)
    assert apart.p[1:].max() < 0.05 and apart.p[0] > 0.05
    assert apart.silhouette[0] < apart.silhouette[1:].min()


def test_a_neuron_is_heard_as_in_the_trace_of_the_sentence(little):
    alone = neurons.activations(little, little.tokenizer.encode(TEXT[1]))
    where, heard = neurons.responses(little, TEXT, 1, 7)
    np.testing.assert_allclose(heard[where.sentence == 1], alone[1, 1:-1, 7], atol=1e-5)
    best = neurons.exciters(little, TEXT, 1, 7, k=3)
    assert best["activation"].iloc[0] == heard.max() and best["mean"].iloc[0] == pytest.approx(heard.mean())


def test_the_strongest_neurons_come_first_beside_what_they_do_elsewhere():
    layer = np.array([[0.0, 3.0, 1.0], [5.0, 1.0, 1.0], [7.0, 2.0, 1.0]])
    table = neurons.strongest(layer, 0, k=2)
    assert table["neuron"].tolist() == [1, 2]
    assert table["elsewhere"].tolist() == [1.5, 1.0]


def test_a_neuron_beyond_the_last_is_refused_in_words(little):
    with pytest.raises(model.InputProblem, match="64 neurons"):
        neurons.responses(little, TEXT, 0, 64)


def test_what_a_sublayer_writes_is_measured_against_the_state_it_is_added_to(little):
    bert, between = copy.deepcopy(little), []
    for layer in bert.layers:
        torch.nn.init.uniform_(layer.attention_norm.weight, 0.5, 3.0, generator=torch.Generator().manual_seed(1))
        layer.attention_norm.register_forward_hook(lambda module, inputs, output: between.append(output[0].numpy()))
    encoding = bert.tokenizer.encode(TEXT[0])
    parts = model.activations(bert, encoding, ("hidden", "attended", "written"))
    lengths = {name: np.linalg.norm(value, axis=-1) for name, value in parts.items()}
    middle = np.linalg.norm(np.stack(between), axis=-1)
    found = residual_stream.writes(bert, encoding)
    np.testing.assert_allclose(found.length, lengths["hidden"], rtol=1e-5)
    np.testing.assert_allclose(found.attention, lengths["attended"] / lengths["hidden"][:-1], rtol=1e-5)
    np.testing.assert_allclose(found.feed_forward, lengths["written"] / middle, rtol=1e-5)
    assert (np.abs(found.turn) <= 1 + 1e-6).all()


def test_sentence_vectors_are_the_mean_of_tokens_or_the_first_state(little):
    hidden = little.trace(TEXT[1]).hidden[2]
    np.testing.assert_allclose(sentence_vectors.vectors(little, TEXT, 2)[1], hidden[1:-1].mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(sentence_vectors.vectors(little, TEXT, 2, "cls")[1], hidden[0], atol=1e-5)


def test_one_sentence_alone_is_refused_in_words(little):
    with pytest.raises(model.InputProblem, match="Two sentences"):
        sentence_vectors.vectors(little, ["the cat"], 0)
