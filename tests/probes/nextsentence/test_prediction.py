"""The next-sentence head is read the right way round, in batches, and never where there is no sentence."""

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForNextSentencePrediction

from model import Bert, InputError, MissingHeadError
from probes import nextsentence

PAIRS = [
    ("My dog is cute.", "He likes playing."),
    ("The cat sat on the mat.", "Parliament met in March."),
    ("a", "b"),
    ("She opened the door and looked out.", "It had been raining for hours, and the road was wet."),
]


def fresh(bert: Bert) -> Bert:
    """A copy that a test may write to."""
    copy = bert.random_init_copy()
    copy.load_state_dict(bert.state_dict())
    return copy


def test_the_first_output_is_is_next(tiny_bert):
    bert = fresh(tiny_bert)
    with torch.no_grad():
        head = bert.require_nsp().classifier
        head.weight.zero_()
        head.bias.copy_(torch.tensor([2.0, -1.0]))
    prediction = nextsentence.predict(bert, "my dog is cute .", "he likes playing .")
    assert prediction.answer == "IsNext"
    assert prediction.logit_difference == pytest.approx(3.0)
    assert prediction.is_next == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert prediction.is_next + prediction.not_next == pytest.approx(1)
    with torch.no_grad():
        bert.require_nsp().classifier.bias.copy_(torch.tensor([-1.0, 2.0]))
    assert nextsentence.predict(bert, "my dog is cute .", "he likes playing .").answer == "NotNext"


def test_probabilities_are_those_of_transformers(english, tmp_path):
    folder = english.save(tmp_path / "english")
    reference = BertForNextSentencePrediction.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for a, b in PAIRS:
        with torch.inference_mode():
            expected = reference(**tokenizer(a, b, return_tensors="pt")).logits.softmax(-1)[0]
        prediction = nextsentence.predict(english, a, b)
        assert prediction.is_next == pytest.approx(float(expected[0]), abs=1e-5)
        assert prediction.not_next == pytest.approx(float(expected[1]), abs=1e-5)
        assert nextsentence.probability(english, a, b) == prediction.is_next


def test_a_batch_gives_what_single_calls_give(english):
    encodings = [nextsentence.encode_pair(english, a, b) for a, b in PAIRS]
    alone = [nextsentence.predict(english, a, b).logit_difference for a, b in PAIRS]
    assert np.allclose(nextsentence.logit_differences(english, encodings), alone, atol=1e-5)


@pytest.mark.parametrize(
    "a, b, message",
    [
        ("My dog is cute.", "", "Sentence B is empty"),
        ("   ", "He likes playing.", "Sentence A is empty"),
        ("My dog is cute.", "ᚠᚢᚦ ᚨᚱᚲ.", "knows no word of sentence B"),
        ("ᚠᚢᚦ", "My dog is cute.", "knows no word of sentence A"),
        ("ᚠᚢᚦ", "ᚨᚱᚲ", "knows none of these characters"),
    ],
)
def test_nothing_is_predicted_where_a_sentence_is_missing(english, a, b, message):
    with pytest.raises(InputError, match=message):
        nextsentence.probability(english, a, b)


def test_a_checkpoint_without_the_head_says_so(tiny_bert):
    headless = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=0, nsp=False)
    with pytest.raises(MissingHeadError, match="no next-sentence head"):
        nextsentence.probability(headless, "the cat", "the dog")


def test_a_pair_that_is_too_long_is_cut_and_says_so(english):
    encoding = nextsentence.encode_pair(english, "The cat sat down. " * 150, "The dog ran.")
    assert len(encoding) == english.config.max_position_embeddings
    assert "cut from the end of sentence A" in encoding.note
