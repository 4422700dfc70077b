"""Fine-tuning learns what is there to be learned, writes to nobody's model, and is what transformers reads."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification, BertForTokenClassification

from model import BertConfig, CheckpointProblem, InputProblem
from model.finetuning import Labelled, Plan, Tuned, finetune, load, probabilities, usual_rate

WORDS = "the cat dog sat on mat my is cute".split()
THEIRS = {"sentence": BertForSequenceClassification, "token": BertForTokenClassification}


def sentences(bert, unit: str) -> Labelled:
    """Every three words; the label of a sentence says whether a dog is in it, that of a word whether it is `dog`."""
    texts = list(itertools.product(WORDS, repeat=3))
    encodings = [bert.tokenizer.encode_words(words) for words in texts]
    if unit == "sentence":
        return Labelled(encodings, np.array([(row, 0) for row in range(len(texts))]),
                        np.array([int("dog" in words) for words in texts]))
    places = [(row, place + 1) for row, words in enumerate(texts) for place in range(len(words))]
    return Labelled(encodings, np.array(places), np.array([int(texts[row][place - 1] == "dog") for row, place in places]))


def tuned(bert, unit: str, plan: Plan | None = None):
    given = sentences(bert, unit)
    told, work = [], finetune(bert, ["no dog", "dog"], unit, given, given, plan or Plan(epochs=3, rate=3e-3))
    while True:
        try:
            told.append(next(work))
        except StopIteration as end:
            return end.value, told, given


@pytest.mark.parametrize("unit", THEIRS)
def test_it_learns_what_is_there(little, unit):
    learned, told, given = tuned(little, unit)
    assert told[0].step == 0 and told[0].loss is None
    assert [progress.step for progress in told] == list(range(told[-1].steps + 1))
    asked = [progress.accuracy for progress in told if progress.accuracy is not None]
    assert len(asked) == 13 and asked[-1] > 0.97 > asked[0]
    assert probabilities(learned, given).sum(-1) == pytest.approx(1, abs=1e-5)


def test_the_model_it_began_with_is_not_written_to(little):
    before = {name: weight.clone() for name, weight in little.state_dict().items()}
    tuned(little, "sentence", Plan(epochs=1, rate=1e-2))
    assert all(torch.equal(weight, before[name]) for name, weight in little.state_dict().items())
    assert little.mlm is not None and little.nsp is not None


def test_the_same_seed_gives_the_same_weights(little):
    first, second, other = (tuned(little, "sentence", Plan(epochs=1, seed=seed))[0].state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])


def test_nobody_else_s_random_numbers_change(little):
    given = sentences(little, "sentence")
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    work = finetune(little, ["no dog", "dog"], "sentence", given, given, Plan(epochs=1))
    for _ in range(3):
        next(work)
    work.close()
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])


@pytest.mark.parametrize("unit", THEIRS)
def test_transformers_reads_it_with_equal_scores_and_so_do_we(little, tmp_path, unit):
    learned, _, given = tuned(little, unit, Plan(epochs=1))
    folder = learned.save(tmp_path / "tuned")
    theirs = THEIRS[unit].from_pretrained(folder).eval()
    assert theirs.config.id2label == {0: "no dog", 1: "dog"}
    said, again = probabilities(learned, given), load(folder)
    assert (again.names, again.unit) == (["no dog", "dog"], unit)
    np.testing.assert_allclose(probabilities(again, given), said, atol=1e-6)
    for example in range(0, len(given.labels), 97):
        row, place = given.places[example]
        with torch.inference_mode():
            scores = theirs(torch.tensor([given.encodings[row].ids])).logits[0]
        np.testing.assert_allclose((scores if unit == "sentence" else scores[place]).softmax(-1), said[example], atol=1e-5)


def test_a_checkpoint_without_an_output_layer_is_said_to_have_none(little, tmp_path):
    with pytest.raises(CheckpointProblem, match="not fine-tuned"):
        load(little.save(tmp_path / "plain"))


def test_an_output_layer_looks_at_sentences_or_tokens_only(little):
    with pytest.raises(InputProblem, match="not at a pair"):
        Tuned(little, ["a", "b"], "pair")
    with pytest.raises(InputProblem, match="learning rate"):
        Plan(rate=0)


@pytest.mark.parametrize(("size", "low", "high"), [("tiny", 5e-4, 2e-3), ("base", 2e-5, 1e-4), ("large", 2e-5, 6e-5)])
def test_the_usual_rate_falls_with_the_width(size, low, high):
    bert = SimpleNamespace(config=BertConfig.preset(size))
    assert low <= usual_rate(bert) <= high  # type: ignore[arg-type]
