"""How text becomes input."""

import numpy as np

from probes.states import input_embeddings


def test_the_parts_are_the_three_embeddings_and_their_normalised_sum(tiny_bert):
    trace = tiny_bert.trace("the cat sat", "my dog ran")
    parts = input_embeddings.parts(trace)
    whole = parts[:3].sum(0)
    centred = whole - whole.mean(-1, keepdims=True)
    np.testing.assert_allclose(parts[3], centred / whole.std(-1, keepdims=True), atol=1e-4)


def test_a_position_is_most_like_itself_and_sinusoids_fall_off(tiny_bert):
    learned = input_embeddings.position_similarity(tiny_bert, 20)
    fixed = input_embeddings.sinusoid_similarity(128, 20)
    np.testing.assert_allclose(np.diag(learned), 1, atol=1e-5)
    assert (fixed[0, :-1] >= fixed[0, 1:])[:5].all()
    np.testing.assert_allclose(fixed[3, 7], fixed[10, 14], atol=1e-5)


def test_parameter_counts_stand_beside_base_and_large(tiny_bert):
    tables = input_embeddings.parameter_tables(tiny_bert)
    assert list(tables) == [tiny_bert.info.name, "BERT-base", "BERT-large"]
    assert sum(part.count for part in tables["BERT-base"][1]) == 110_106_428
    assert sum(part.count for part in tables[tiny_bert.info.name][1]) == sum(p.numel() for p in tiny_bert.parameters())
