"""What a small model has learned: words masked, unmasked or replaced, and the relations of nouns, frozen and fine-tuned."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model import Bert, Edits, Encoding, hidden_states, smallworld
from model.finetuning import FinetuningConfig, LabelledInputs, default_learning_rate, finetune
from model.pretraining import evaluation
from model.pretraining.evaluation import HELDOUT_SEED
from model.pretraining.masking import MaskingStrategy
from model.pretraining.objective import pretraining_batch
from model.pretraining.sentence_pairs import PairSampler
from model.pretraining.token_store import TokenStore
from model.smallworld import Story

from ..probing import baselines
from ..probing.linear import LinearProbe

PAIRS = 300
BATCH_SIZE = 32
# the selected words are the same each time; what differs is what the model reads in their place
READS = {"masked": MaskingStrategy(1, 0, 0), "unmasked": MaskingStrategy(0, 0, 1), "replaced": MaskingStrategy(0, 1, 0)}

# the relation of a noun to its head: subject, object, ...; the same noun occurs in many
STORY_SEED = 2
TRAIN_STORIES, DEV_STORIES, TEST_STORIES = 150, 50, 300
EPOCHS = 5

# what is measured: its title, and one sentence on what it is
COLUMNS = {
    "masked": ("Masked words", "held-out words named where the model reads [MASK]."),
    "unmasked": ("Words left unmasked", "held-out words named where the model reads the word itself, as it does in use."),
    "replaced": ("Replaced words", "held-out words named where the model reads a random word in their place."),
    "probe": (
        "Frozen features, linear probe",
        "the part a noun plays in its sentence (subject, object, …), predicted by a "
        "linear map from the last layer; it stands for the paper's feature-based column.",
    ),
    "finetuned": ("Fine-tuned", "the same question after all weights learned it together with one added layer."),
}


@dataclass(frozen=True)
class LabelledWords:
    """Nouns of stories, each with the number of its relation; -1 for a relation that training never saw."""

    inputs: LabelledInputs
    word_types: np.ndarray  # (words,) text

    @property
    def labels(self) -> np.ndarray:
        return self.inputs.labels


@dataclass(frozen=True)
class NounRelations:
    """The task: nouns of different stories to train on, to choose the penalty by, and to test on."""

    classes: list[str]
    train: LabelledWords
    dev: LabelledWords
    test: LabelledWords


def evaluate(
    bert: Bert, heldout: TokenStore, direction: str, max_length: int, labelled: bool, seed: int
) -> dict[str, float]:
    """Every accuracy of one model on texts it has not seen, with its baselines; the labelled task on request."""
    scores = {
        name: evaluation.evaluate(bert, heldout, reads, max_length, "another", PAIRS, BATCH_SIZE, direction).mlm_accuracy
        for name, reads in READS.items()
    }
    scores |= dict.fromkeys((f"{name}_most_frequent" for name in READS), most_frequent_accuracy(heldout))
    if labelled and direction == "both":
        task = noun_relations(bert)
        scores |= {
            "probe": probe_accuracy(bert, task),
            "finetuned": finetuned_accuracy(bert, task, seed),
            "probe_random_init": probe_accuracy(bert.random_init_copy(seed), task),
        }
        scores["probe_word_type"] = scores["finetuned_word_type"] = word_type_accuracy(task)
    return scores


def most_frequent_accuracy(heldout: TokenStore) -> float:
    """The baseline: always the most frequent token of the texts."""
    return float(np.bincount(heldout.ids).max() / heldout.tokens)


def ensemble_accuracy(left: Bert, right: Bert, heldout: TokenStore, max_length: int) -> float:
    """MLM accuracy of the mean of two one-sided predictions, on the masked words of `evaluate`. Peters et al. (2018)."""
    pairs = sorted(PairSampler(heldout, max_length, "another", HELDOUT_SEED).sample(0, PAIRS), key=len)
    rng, n_correct, count = np.random.default_rng(HELDOUT_SEED), 0, 0
    with torch.inference_mode():
        for start in range(0, PAIRS, BATCH_SIZE):
            batch = pretraining_batch(pairs[start : start + BATCH_SIZE], left.tokenizer, READS["masked"], rng)
            before, after = (
                bert.mlm_logits(bert(batch.batch, Edits(direction=name)).flatten(0, 1)[batch.selected_positions]).softmax(-1)
                for name, bert in (("left", left), ("right", right))
            )  # (selected, vocabulary) each
            n_correct += int(((before + after).argmax(-1) == batch.mlm_labels).sum())
            count += len(batch.mlm_labels)
    return n_correct / count


def noun_relations(bert: Bert) -> NounRelations:
    """The nouns of stories that no model was trained on, with their relations."""
    counts = (TRAIN_STORIES, DEV_STORIES, TEST_STORIES)
    splits = [_nouns(bert, smallworld.stories(STORY_SEED + split, count)) for split, count in enumerate(counts)]
    classes = sorted(set(splits[0][2]))
    number = {relation: index for index, relation in enumerate(classes)}
    train, dev, test = (
        LabelledWords(
            LabelledInputs(encodings, np.array(positions), np.array([number.get(name, -1) for name in relations])),
            np.array(word_types),
        )
        for encodings, positions, relations, word_types in splits
    )
    return NounRelations(classes, train, dev, test)


def _nouns(bert: Bert, stories: Iterable[Story]) -> tuple[list[Encoding], list[tuple[int, int]], list[str], list[str]]:
    """Encodings of stories as pairs of two halves; (input, position), relation and form of each noun."""
    tokenizer = bert.tokenizer
    encodings, positions, relations, word_types = [], [], [], []
    for row, story in enumerate(stories):
        middle = len(story.sentences) // 2
        halves = [
            [word for sentence in half for word in sentence.words]
            for half in (story.sentences[:middle], story.sentences[middle:])
        ]
        ids = [[tokenizer.token_to_id(word.form.lower()) or tokenizer.unknown_id for word in half] for half in halves]
        encodings.append(tokenizer.encode_ids(*ids))
        for start, half in zip((1, len(ids[0]) + 2), halves, strict=True):
            for position, word in enumerate(half, start):
                if word.upos == "NOUN":
                    positions.append((row, position))
                    relations.append(word.deprel)
                    word_types.append(word.form.lower())
    return encodings, positions, relations, word_types


def word_type_accuracy(task: NounRelations) -> float:
    """The baseline: the most frequent relation of each noun."""
    return baselines.word_type(task.train.labels, task.train.word_types, task.test.labels, task.test.word_types)


def probe_accuracy(bert: Bert, task: NounRelations) -> float:
    """Accuracy of a linear probe on the frozen last layer."""
    train, dev, test = (_last_states(bert, words.inputs) for words in (task.train, task.dev, task.test))
    train_labels, dev_labels = torch.from_numpy(task.train.labels), torch.from_numpy(task.dev.labels)
    probe = LinearProbe().fit(train, train_labels, dev, dev_labels, len(task.classes))
    return float((probe.predict(test)[0, 0].numpy() == task.test.labels).mean())


def _last_states(bert: Bert, inputs: LabelledInputs) -> Tensor:
    """The last hidden state of every labelled word: (1, words, hidden)."""
    last = dict(hidden_states(bert, inputs.encodings, [bert.config.num_hidden_layers]))
    return torch.from_numpy(np.stack([last[row][0, position] for row, position in inputs.positions]))[None]


def finetuned_accuracy(bert: Bert, task: NounRelations, seed: int) -> float:
    """Test accuracy after fine-tuning a copy of the model with one output layer on T_i. Devlin et al. (2019), 3.2."""
    config = FinetuningConfig(epochs=EPOCHS, learning_rate=default_learning_rate(bert), seed=seed, evaluations=1)
    *_, last = finetune(bert, task.classes, "token", task.train.inputs, task.test.inputs, config)
    assert last.accuracy is not None  # the only evaluation is due at the last step
    return last.accuracy
