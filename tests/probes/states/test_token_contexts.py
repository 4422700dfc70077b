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
def contexts(tiny_bert) -> token_contexts.TokenContexts:
    return token_contexts.collect(tiny_bert, TEXT)


def test_a_text_is_cut_into_sentences_at_their_ends_and_nowhere_else():
    assert token_contexts.split("He paid 3.5 dollars. She left!  “Why?” asked Mr. x\n\nthe end") == [
        "He paid 3.5 dollars.",
        "She left!",
        "“Why?” asked Mr. x",
        "the end",
    ]


def test_every_token_keeps_its_state_and_its_sentence(tiny_bert, contexts):
    for index, text in enumerate(TEXT):
        trace = tiny_bert.trace(text)
        mine = contexts.locations.sentence == index
        np.testing.assert_allclose(contexts.vectors[:, mine], trace.hidden[:, 1:-1], atol=1e-5)
    token = contexts.locations.texts.index("##ing")
    assert contexts.locations.around(token) == ("he likes play", "ing", " the new york")


def test_a_word_in_one_context_only_is_perfectly_like_itself_and_noise_is_not(tiny_bert):
    collected = token_contexts.collect(tiny_bert, ["the cat sat", "the cat sat", "my dog ran"])
    similarity = token_contexts.self_similarity(collected)
    assert set(similarity.words["word"]) == {"the", "cat", "sat"}
    assert similarity.within_word == pytest.approx(np.ones(3), abs=1e-5)
    assert (similarity.baseline < 0.99).all()


def test_a_text_without_repetition_is_refused_in_words(tiny_bert):
    with pytest.raises(model.InputError, match="No word comes 2 times"):
        token_contexts.self_similarity(token_contexts.collect(tiny_bert, ["the cat sat on my mat"]))


def planted_sentences(vectors: list[list[list[float]]]) -> token_contexts.TokenContexts:
    """Sentences whose tokens have these vectors, at one layer."""
    sentence = np.array([index for index, tokens in enumerate(vectors) for _ in tokens], np.int32)
    count = len(sentence)
    where = token_contexts.TokenLocations(
        tuple("x" for _ in vectors), ("x",) * count, sentence, np.zeros((count, 2), np.int32), np.zeros(count, np.int32)
    )
    return token_contexts.TokenContexts(where, np.array([[vector for tokens in vectors for vector in tokens]], np.float32))


def test_intra_sentence_similarity_is_that_of_the_formula():
    similarity = token_contexts.intra_sentence(
        planted_sentences([[[1, 0], [0, 1]], [[2, 0], [3, 0]], [[5, 5]], [[1, 0], [-1, 2]]])
    )
    assert similarity.sentences.tolist() == [0, 1, 3]  # one word is its own mean, whatever the model does
    expected = [np.sqrt(0.5), 1.0, np.mean([0.0, 2 / np.sqrt(5)])]
    np.testing.assert_allclose(similarity.each[0], expected, atol=1e-6)
    assert similarity.mean[0] == pytest.approx(np.mean(expected))


def test_intra_sentence_similarity_of_noise_is_its_baseline_and_of_sentences_with_a_direction_is_more():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(60, 9, 20))
    of_noise = token_contexts.intra_sentence(planted_sentences(noise.tolist()))
    assert of_noise.mean[0] == pytest.approx(1 / 3, abs=0.02)  # nine unrelated tokens: 1/√9
    assert of_noise.mean[0] == pytest.approx(of_noise.shuffled[0], abs=0.02)
    planted = token_contexts.intra_sentence(planted_sentences((noise + 2 * rng.normal(size=(60, 1, 20))).tolist()))
    assert planted.mean[0] > planted.shuffled[0] + 0.3


def test_intra_sentence_similarity_of_the_model_is_that_of_its_traces(tiny_bert, contexts):
    similarity = token_contexts.intra_sentence(contexts)
    for index, text in enumerate(TEXT):
        states = tiny_bert.trace(text).hidden[:, 1:-1]  # (layers, seq, hidden)
        mean = states.mean(1, keepdims=True)
        cosines = (states * mean).sum(-1) / np.linalg.norm(states, axis=-1) / np.linalg.norm(mean, axis=-1)
        np.testing.assert_allclose(similarity.each[:, index], cosines.mean(1), atol=1e-5)


def test_sentences_of_one_word_are_refused_in_words(tiny_bert):
    with pytest.raises(model.InputError, match="two words"):
        token_contexts.intra_sentence(token_contexts.collect(tiny_bert, ["the", "cat"]))


def test_neighbours_equal_brute_force(contexts):
    index = neighbours.NeighbourIndex.of(contexts, 2)
    vector = contexts.vectors[2, 4]
    nearest = index.nearest(vector, 5)
    theirs = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(contexts.vectors[2])
    distances, order = theirs.kneighbors(vector[None])
    assert nearest["token"].tolist() == order[0].tolist()
    np.testing.assert_allclose(1 - nearest["cosine"], distances[0], atol=1e-5)


def test_a_token_is_its_own_first_neighbour_and_comes_with_its_sentence(contexts):
    index = neighbours.NeighbourIndex.of(contexts, 1)
    best = index.described(index.nearest(contexts.vectors[1, 8], 3)).iloc[0]
    assert best["piece"] == contexts.locations.texts[8]
    assert best["before"] + best["at"] + best["after"] == TEXT[contexts.locations.sentence[8]]


def test_more_neighbours_than_there_are_tokens_are_all_of_them(contexts):
    assert len(neighbours.NeighbourIndex.of(contexts, 0).nearest(contexts.vectors[0, 0], 1000)) == len(contexts.locations)


def test_a_word_of_several_pieces_is_the_mean_of_them(tiny_bert):
    uses = word_senses.uses(tiny_bert, "Playing", TEXT)
    trace = tiny_bert.trace(TEXT[2])
    pieces = [token.position for token in trace.tokens if token.text in ("play", "##ing")]
    np.testing.assert_allclose(uses.vectors[:, 0], trace.hidden[:, pieces].mean(axis=1), atol=1e-5)
    assert uses.spans == ((9, 16),)


def test_empty_lines_part_senses_and_colons_name_them():
    uses = word_senses.parse("river:\na\nb\n\n\nc\nmoney:\nd\n")
    assert uses.sentences == ("a", "b", "c", "d") and uses.labels == (0, 0, 1, 2)
    assert uses.names == ("river", "sense 2", "money")


def test_only_whole_words_count_as_uses(tiny_bert):
    assert word_senses.uses(tiny_bert, "the", ["the theatre", "The cat", "breathe"]).sentence.tolist() == [0, 1]


@pytest.mark.parametrize(("word", "message"), [("zebra", "none of these sentences"), (" ", "word is empty")])
def test_a_word_that_is_not_there_is_refused_in_words(tiny_bert, word, message):
    with pytest.raises(model.InputError, match=message):
        word_senses.uses(tiny_bert, word, TEXT)


def test_silhouette_is_scikit_learns():
    random = np.random.default_rng(2)
    points, labels = random.normal(size=(12, 3)), np.array([0] * 5 + [1] * 4 + [2] * 2 + [3])
    distances = np.maximum(1 - geometry.cosine(points), 0)
    np.fill_diagonal(distances, 0)
    ours = word_senses.silhouette(distances, labels[None])[0]
    assert ours == pytest.approx(silhouette_score(distances, labels, metric="precomputed"))


def test_planted_senses_are_separate_and_random_ones_are_not():
    random = np.random.default_rng(3)
    labels = np.repeat([0, 1], 8)
    noise = random.normal(size=(16, 32))
    planted = noise + labels[:, None] * 6 * geometry.normalise(random.normal(size=32))
    separation = word_senses.separation(np.stack([noise, planted]), labels.tolist())
    assert separation.low[0] <= separation.silhouette[0] <= separation.high[0] and separation.p_value[0] > 0.05
    assert separation.silhouette[1] > separation.high[1] and separation.p_value[1] < 0.02
    assert repr(separation).startswith("SenseSeparation(largest at layer 1: silhouette 0.")


def test_identical_sentences_do_not_break_the_separation():
    separation = word_senses.separation(np.ones((2, 6, 8)), [0, 0, 0, 1, 1, 1])
    assert np.allclose(separation.silhouette, 0) and np.allclose(separation.p_value, 1)


@pytest.mark.parametrize(("labels", "message"), [([0, 0, 0], "at least two senses"), ([0, 1], "at least three")])
def test_too_little_to_separate_is_refused_in_words(labels, message):
    with pytest.raises(model.InputError, match=message):
        word_senses.separation(np.ones((1, len(labels), 4)), labels)


def test_the_english_model_tells_the_banks_apart_in_its_layers_but_not_in_its_embeddings(english):
    river = [
        "He sat on the bank of the river and fished.",
        "Flowers grew on the bank by the water.",
        "The boat was tied to the muddy bank.",
        "Reeds grew along the bank of the stream.",
        "They swam to the other bank of the river.",
    ]
    money = [
        "She opened an account at the bank.",
        "My bank pays interest on savings.",
        "The bank lent him money for a house.",
        "He works for a bank in the city.",
        "The bank charged a fee for the loan.",
    ]
    uses = word_senses.uses(english, "bank", river + money)
    separation = word_senses.separation(uses.vectors, [0] * 5 + [1] * 5)
    assert separation.p_value[1:].max() < 0.05 and separation.p_value[0] > 0.05
    assert separation.silhouette[0] < separation.silhouette[1:].min()


def test_a_neuron_in_a_batch_is_that_of_the_sentence_alone(tiny_bert):
    alone = neurons.activations(tiny_bert, tiny_bert.tokenizer.encode(TEXT[1]))
    locations, values = neurons.activations_of(tiny_bert, TEXT, 1, 7)
    np.testing.assert_allclose(values[locations.sentence == 1], alone[1, 1:-1, 7], atol=1e-5)
    best = neurons.top_tokens(tiny_bert, TEXT, 1, 7, k=3)
    assert best["activation"].iloc[0] == values.max() and best["mean"].iloc[0] == pytest.approx(values.mean())


def test_the_strongest_neurons_come_first_beside_what_they_do_elsewhere():
    layer = np.array([[0.0, 3.0, 1.0], [5.0, 1.0, 1.0], [7.0, 2.0, 1.0]])
    table = neurons.top_neurons(layer, 0, k=2)
    assert table["neuron"].tolist() == [1, 2]
    assert table["elsewhere"].tolist() == [1.5, 1.0]


def test_a_neuron_beyond_the_last_is_refused_in_words(tiny_bert):
    with pytest.raises(model.InputError, match="no neuron 65: each layer of this model has 64"):
        neurons.activations_of(tiny_bert, TEXT, 0, 64)


def test_what_a_sublayer_adds_is_measured_against_the_state_it_is_added_to(tiny_bert):
    bert, between = copy.deepcopy(tiny_bert), []
    for layer in bert.layers:
        torch.nn.init.uniform_(layer.attention_norm.weight, 0.5, 3.0, generator=torch.Generator().manual_seed(1))
        layer.attention_norm.register_forward_hook(lambda module, inputs, output: between.append(output[0].numpy()))
    encoding = bert.tokenizer.encode(TEXT[0])
    ((_, arrays),) = model.activations(bert, [encoding], ("hidden", "attention_output", "mlp_output"))
    lengths = {name: np.linalg.norm(value, axis=-1) for name, value in arrays.items()}
    middle = np.linalg.norm(np.stack(between), axis=-1)
    contributions = residual_stream.contributions(bert, encoding)
    np.testing.assert_allclose(contributions.length, lengths["hidden"], rtol=1e-5)
    np.testing.assert_allclose(contributions.attention, lengths["attention_output"] / lengths["hidden"][:-1], rtol=1e-5)
    np.testing.assert_allclose(contributions.feed_forward, lengths["mlp_output"] / middle, rtol=1e-5)
    assert (np.abs(contributions.cosine_to_input) <= 1 + 1e-6).all()


def test_sentence_vectors_are_the_mean_of_tokens_or_the_first_state(tiny_bert):
    hidden = tiny_bert.trace(TEXT[1]).hidden[2]
    np.testing.assert_allclose(sentence_vectors.vectors(tiny_bert, TEXT, 2)[1], hidden[1:-1].mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(sentence_vectors.vectors(tiny_bert, TEXT, 2, "cls")[1], hidden[0], atol=1e-5)


def test_one_sentence_alone_is_refused_in_words(tiny_bert):
    with pytest.raises(model.InputError, match="Two sentences"):
        sentence_vectors.vectors(tiny_bert, ["the cat"], 0)


def test_a_string_is_one_text_and_not_its_letters(tiny_bert):
    with pytest.raises(model.InputError, match="not 1"):
        sentence_vectors.vectors(tiny_bert, "the cat", 0)
    alone, listed = (token_contexts.collect(tiny_bert, texts) for texts in ("the cat", ["the cat"]))
    assert alone.locations.texts == listed.locations.texts == ("the", "cat")
    np.testing.assert_array_equal(alone.vectors, listed.vectors)
    assert word_senses.uses(tiny_bert, "cat", "the cat").sentence.tolist() == [0]
    assert len(neurons.activations_of(tiny_bert, "the cat", 1, 7)[1]) == 2
    assert repr(alone) == "TokenContexts(2 tokens of 1 sentences, 3 × 32)"
