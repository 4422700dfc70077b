"""Fine-tuning learns what is there to be learned, writes to nobody's model, and is what transformers reads."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import BertForQuestionAnswering, BertForSequenceClassification, BertForTokenClassification

from model import BertConfig, CheckpointError, InputError
from model.finetuning import (
    START_AND_END,
    FinetunedBert,
    FinetuningConfig,
    LabelledInputs,
    best_spans,
    default_learning_rate,
    finetune,
    gold_spans,
    load,
    outputs,
    probabilities,
    score,
)

WORDS = "the cat dog sat on mat my is cute".split()
THEIRS = {"sentence": BertForSequenceClassification, "token": BertForTokenClassification}


def sentences(bert, level: str) -> LabelledInputs:
    """Every three words; the label of a sentence says whether a dog is in it, that of a word whether it is `dog`."""
    texts = list(itertools.product(WORDS, repeat=3))
    encodings = [bert.tokenizer.encode_words(words) for words in texts]
    if level == "sentence":
        return LabelledInputs(
            encodings, np.array([(row, 0) for row in range(len(texts))]), np.array([int("dog" in words) for words in texts])
        )
    places = [(row, place + 1) for row, words in enumerate(texts) for place in range(len(words))]
    return LabelledInputs(
        encodings, np.array(places), np.array([int(texts[row][place - 1] == "dog") for row, place in places])
    )


def tuned(bert, level: str, config: FinetuningConfig | None = None):
    inputs = sentences(bert, level)
    config = config or FinetuningConfig(epochs=3, learning_rate=3e-3)
    progress, work = [], finetune(bert, ["no dog", "dog"], level, inputs, inputs, config)
    while True:
        try:
            progress.append(next(work))
        except StopIteration as end:
            return end.value, progress, inputs


@pytest.mark.parametrize("level", THEIRS)
def test_it_learns_what_is_there(tiny_bert, level):
    learned, progress, inputs = tuned(tiny_bert, level)
    assert progress[0].step == 0 and progress[0].loss is None
    assert [moment.step for moment in progress] == list(range(progress[-1].steps + 1))
    accuracies = [moment.accuracy for moment in progress if moment.accuracy is not None]
    assert len(accuracies) == 13 and accuracies[-1] > 0.97 > accuracies[0]
    assert probabilities(learned, inputs).sum(-1) == pytest.approx(1, abs=1e-5)


def test_the_model_it_began_with_is_not_written_to(tiny_bert):
    before = {name: weight.clone() for name, weight in tiny_bert.state_dict().items()}
    tuned(tiny_bert, "sentence", FinetuningConfig(epochs=1, learning_rate=1e-2))
    assert all(torch.equal(weight, before[name]) for name, weight in tiny_bert.state_dict().items())
    assert tiny_bert.mlm is not None and tiny_bert.nsp is not None


def test_the_same_seed_gives_the_same_weights(tiny_bert):
    first, second, other = (
        tuned(tiny_bert, "sentence", FinetuningConfig(epochs=1, seed=seed))[0].state_dict() for seed in (3, 3, 4)
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])


def test_nobody_else_s_random_numbers_change(tiny_bert):
    inputs = sentences(tiny_bert, "sentence")
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(5)
    np.random.seed(5)
    work = finetune(tiny_bert, ["no dog", "dog"], "sentence", inputs, inputs, FinetuningConfig(epochs=1))
    for _ in range(3):
        next(work)
    work.close()
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])


@pytest.mark.parametrize("level", THEIRS)
def test_transformers_reads_it_with_equal_scores_and_so_do_we(tiny_bert, tmp_path, level):
    learned, _, inputs = tuned(tiny_bert, level, FinetuningConfig(epochs=1))
    folder = learned.save(tmp_path / "tuned")
    theirs = THEIRS[level].from_pretrained(folder).eval()
    assert theirs.config.id2label == {0: "no dog", 1: "dog"}
    predicted, again = probabilities(learned, inputs), load(folder)
    assert (again.classes, again.level) == (["no dog", "dog"], level)
    np.testing.assert_allclose(probabilities(again, inputs), predicted, atol=1e-6)
    for example in range(0, len(inputs.labels), 97):
        row, place = inputs.positions[example]
        with torch.inference_mode():
            scores = theirs(torch.tensor([inputs.encodings[row].ids])).logits[0]
        np.testing.assert_allclose(
            (scores if level == "sentence" else scores[place]).softmax(-1), predicted[example], atol=1e-5
        )


def numbers(bert) -> LabelledInputs:
    """Every three words; the number is how many of them are dogs."""
    texts = list(itertools.product(WORDS, repeat=3))
    return LabelledInputs(
        [bert.tokenizer.encode_words(words) for words in texts],
        np.array([(row, 0) for row in range(len(texts))]),
        np.array([float(words.count("dog")) for words in texts]),
    )


def spans(bert) -> LabelledInputs:
    """Every three words with one dog; the answer is where it stands."""
    texts = [words for words in itertools.product(WORDS, repeat=3) if words.count("dog") == 1]
    places = [(row, place + 1) for row in range(len(texts)) for place in range(3)]
    labels = [START_AND_END if texts[row][place - 1] == "dog" else 0 for row, place in places]
    return LabelledInputs([bert.tokenizer.encode_words(words) for words in texts], np.array(places), np.array(labels))


@pytest.mark.parametrize(
    ("level", "data", "classes", "theirs"),
    [
        ("number", numbers, ["value"], BertForSequenceClassification),
        ("span", spans, ["start", "end"], BertForQuestionAnswering),
    ],
)
def test_numbers_and_spans_are_learned_and_transformers_reads_them_with_equal_scores(
    tiny_bert, tmp_path, level, data, classes, theirs
):
    inputs = data(tiny_bert)
    work = finetune(tiny_bert, classes, level, inputs, inputs, FinetuningConfig(epochs=4, learning_rate=3e-3))
    progress = next(work)
    while True:
        try:
            progress = next(work)
        except StopIteration as end:
            learned = end.value
            break
    assert progress.accuracy is not None and progress.accuracy > 0.9
    assert score(learned, inputs) == pytest.approx(progress.accuracy)
    folder = learned.save(tmp_path / "tuned")
    again, expected = load(folder), outputs(learned, inputs)
    assert (again.level, again.classes) == (level, classes)
    np.testing.assert_allclose(outputs(again, inputs), expected, atol=1e-6)
    reloaded = theirs.from_pretrained(folder).eval()
    for example in range(0, len(inputs.labels), 61):
        row, place = inputs.positions[example]
        with torch.inference_mode():
            answer = reloaded(torch.tensor([inputs.encodings[row].ids]))
        if level == "number":
            assert float(answer.logits[0, 0]) == pytest.approx(float(expected[example, 0]), abs=1e-5)
        else:
            both = torch.stack([answer.start_logits[0, place], answer.end_logits[0, place]])
            np.testing.assert_allclose(both, expected[example], atol=1e-5)


def test_the_best_span_never_ends_before_it_starts(tiny_bert):
    inputs = spans(tiny_bert)
    logits = np.zeros((len(inputs.labels), 2), dtype=np.float32)
    logits[2::3, 0] = logits[0::3, 1] = 5  # start at the last word, end at the first: no span
    assert all(start <= end for start, end in best_spans(logits, inputs).values())
    assert all(start == end for start, end in gold_spans(inputs).values())


def test_a_checkpoint_without_an_output_layer_is_said_to_have_none(tiny_bert, tmp_path):
    with pytest.raises(CheckpointError, match="not fine-tuned"):
        load(tiny_bert.save(tmp_path / "plain"))


def test_an_output_layer_has_one_of_four_shapes(tiny_bert):
    with pytest.raises(InputError, match="sentence, number, token, span, not 'pair'"):
        FinetunedBert(tiny_bert, ["a", "b"], "pair")
    with pytest.raises(InputError, match="learning rate"):
        FinetuningConfig(learning_rate=0)


@pytest.mark.parametrize(("size", "low", "high"), [("tiny", 5e-4, 2e-3), ("base", 2e-5, 1e-4), ("large", 2e-5, 6e-5)])
def test_the_usual_rate_falls_with_the_width(size, low, high):
    bert = SimpleNamespace(config=BertConfig.preset(size))
    assert low <= default_learning_rate(bert) <= high  # pyright: ignore[reportArgumentType]  # its config is all it reads
