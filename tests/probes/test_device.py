"""Probes of a model on another device give the arrays they give here."""

import numpy as np
import pytest

from model import Edits
from probes import cloze, heads, nextsentence
from probes.cloze import attribution, logit_lens
from probes.heads import ablation, anatomy
from probes.states import input_embeddings, neurons, residual_stream, sentence_vectors, token_contexts

A, B = "the cat sat on the mat .", "my dog is cute"


def arrays(bert) -> dict[str, np.ndarray]:
    encoding = bert.tokenizer.encode(A, B)
    trace = bert.trace(A, B, Edits(heads_off={(0, 1)}))
    target = ablation.target_word(bert, encoding, 2)
    residual = residual_stream.contributions(bert, encoding)
    lens = logit_lens.read_layers(bert, encoding, encoding.ids)
    return {
        "norms": heads.norms(bert, trace),
        "anatomy": anatomy.dissect(bert, trace, 1, 2, 3).attention_output,
        "effects": ablation.effects(bert, target),
        "importance": ablation.importance(bert, [target]),
        "distribution": ablation.distribution(bert, target, [(0, 1)])["after"].to_numpy(),
        "residual": residual.feed_forward,
        "neurons": neurons.activations_of(bert, [A, B], 1, 7)[1],
        "contexts": token_contexts.collect(bert, [A, B]).vectors,
        "sentence vectors": sentence_vectors.vectors(bert, [A, B], 2),
        "positions": input_embeddings.position_similarity(bert, 10),
        "logit lens": lens.gold_probability,
        "filled masks": cloze.fill(bert, "the [MASK] sat on the mat .", B)["probability"].to_numpy(),
        "pseudo-log-likelihood": cloze.score(bert, [A, B]),
        "next sentence": np.array(nextsentence.probability(bert, A, B)),
        "gradient × input": attribution.gradient_x_input(bert, encoding, 3, 8),
    }


def test_probes_give_the_same_arrays_wherever_the_model_is(tiny_bert, away):
    here, there = arrays(tiny_bert), arrays(away)
    for name, values in here.items():
        assert isinstance(there[name], np.ndarray)
        assert there[name] == pytest.approx(values, abs=1e-5), name
