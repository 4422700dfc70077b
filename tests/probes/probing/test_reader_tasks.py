"""The reader as data of probes: its marks become labels, its split stays fixed, and passages keep their words and chains."""

import numpy as np
import pytest

from probes.finetuning import change
from probes.probing import experiment, tasks
from probes.probing.examples import build_examples
from probes.probing.treebank import Sentence, has_fixed_split, passages
from probes.reader import compact_form
from probes.reader.sense_examples import MIN_SENTENCES, sense_examples


@pytest.fixture(scope="module")
def reader():
    return experiment.reader()


def test_every_task_of_the_page_has_examples_in_the_reader(reader):
    names = {task.name for task in tasks.available(reader.sentences)}
    assert {"upos", "deprel", "number", "tense", "entity", "coreference", "sense", "sentiment", "topic", "subject"} <= names
    assert not {"tag", "label"} & names


def test_the_split_is_that_of_the_texts_whatever_the_seed(reader, english):
    assert has_fixed_split(reader.sentences)
    parts = [build_examples(english, reader.sentences, tasks.find("entity"), seed) for seed in (0, 1)]
    assert (parts[0].splits == parts[1].splits).all() and (parts[0].labels == parts[1].labels).all()
    number = {text.name: text.split for text in compact_form.read().texts}
    for index, split in zip(parts[0].input_of, parts[0].splits, strict=True):
        assert number[parts[0].inputs[index][0].document.split()[0]] == split


def test_coreference_is_balanced_and_never_a_question_of_spelling(reader, english):
    examples = build_examples(english, reader.sentences, tasks.find("coreference"))
    assert (examples.labels == "same").mean() == 0.5
    for one in passages(reader.sentences, tasks.PASSAGE):
        for (mention, other), label in tasks.TASKS["coreference"].label(one, np.random.default_rng(0)):
            assert one.words[mention].lower() != one.words[other].lower()
            assert (one.chains[mention] == one.chains[other]) == (label == "same")


def test_a_passage_is_the_sentences_of_one_document_joined():
    sentences = [
        Sentence(("Anna", "ran"), chains=("1", ""), document="a", split="train"),
        Sentence(("she", "fell"), chains=("1", ""), document="a", split="train"),
        Sentence(("Tom", "sat"), document="b", split="test"),
    ]
    (joined,) = passages(sentences, 2)
    assert joined.words == ("Anna", "ran", "she", "fell") and joined.chains == ("1", "", "1", "")
    assert (joined.document, joined.split) == ("a", "train")


def test_senses_come_with_sentences_that_hold_the_word_once(reader):
    examples = sense_examples(reader.sentences)
    assert len(examples) >= 15
    for word, senses in examples.items():
        assert len(senses) > 1
        for texts in senses.values():
            assert len(texts) >= MIN_SENTENCES and all(word in text.lower() for text in texts)


def test_a_model_beside_itself_has_not_changed_and_beside_random_weights_it_has(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in ("the cat sat on the mat", "my dog is cute", "the dog sat")]
    same = change.measure(tiny_bert, tiny_bert, encodings)
    assert same.cka == pytest.approx(1, abs=1e-6) and same.attention == pytest.approx(0)
    other = change.measure(tiny_bert, tiny_bert.random_init_copy(5), encodings)
    assert other.cka.min() < 0.9 and other.mean_attention > 0
    assert change.ModelChange.parse(other.json()).head == other.head
