"""The sentences to begin with show what they are there to show."""

import pytest

from app.samples import senses as samples
from probes.states import word_senses


@pytest.mark.parametrize("word", samples.SENSES)
def test_senses_are_apart_in_the_last_layer_and_not_before_the_first(english, word):
    labelled = word_senses.parse(samples.SENSES[word])
    found = word_senses.uses(english, word, labelled.sentences)
    assert len(found.sentence) == len(labelled.sentences), "every sample sentence uses its word, once"
    apart = word_senses.separation(found.vectors, labelled.labels)
    assert apart.p_value[0] > 0.2, "the place of the word does not give its sense away"
    assert apart.p_value[-1] < 0.05
