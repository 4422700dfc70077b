"""Is it real? A claim that was stated before looking, tested on sentences that nothing was chosen on.

A layer knows a task, or a head finds a relation, when it is right more often than each of its baselines, sentence by
sentence, even after the number of layers or heads among which one could have picked is taken into account.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from model import Bert, InputError, activations
from model.files import atomic_write

from . import statistics
from .heads.dependency_relations import predicted_heads
from .heads.words import merge_wordpieces
from .probing import baselines, experiment, features, tasks
from .probing.alignment import AlignedSentence, align
from .probing.data import ProbingData
from .probing.examples import build_examples
from .probing.linear import LinearProbe
from .probing.splits import assign_splits
from .probing.treebank import ROOT, Sentence
from .progress import Progress, StageClock

RESULT = "claim.json"
LEVEL = 0.05
MIN_COUNT = 10  # held-out words with a relation: fewer say nothing


@dataclass(frozen=True)
class Comparison:
    """The claim's own score beside one baseline on the same held-out examples."""

    baseline: str  # random_init, control, word_type, majority or offset
    score: float
    p_value: float  # one-sided, signs of the differences flipped sentence by sentence


@dataclass(frozen=True)
class ClaimResult:
    """What was claimed, when, and what the held-out part says."""

    statement: str
    stated: str  # time in UTC
    tested: str
    model: str
    model_digest: str
    data: str
    digest: str
    score: float
    comparisons: tuple[Comparison, ...]
    choices: int  # layers or heads one could have picked
    examples: int  # held out
    sentences: int
    detail: str = ""  # of a head: the direction and the offset that were chosen on the part to learn from

    @property
    def hardest(self) -> Comparison:
        """The baseline that is least clearly beaten: the claim must beat every one."""
        return max(self.comparisons, key=lambda one: (one.p_value, one.score))

    @property
    def p_value(self) -> float:
        """Corrected for the number of choices. Bonferroni; of several baselines the largest (Berger, 1982)."""
        return min(1.0, self.choices * self.hardest.p_value)

    @property
    def holds(self) -> bool:
        return self.p_value < LEVEL

    def write(self, path: Path) -> None:
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "ClaimResult":
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(**content | {"comparisons": tuple(Comparison(**one) for one in content["comparisons"])})


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def layer_knows(
    folder: Path,
    model: str,
    task: str,
    layer: int,
    stated: str,
    data: str = experiment.READER,
    limit: int = 3000,
    seed: int = 0,
) -> Iterator[Progress]:
    """Test “layer `layer` knows `task`” with a linear probe; the verdict is in `folder`/claim.json."""
    clock = StageClock()
    yield clock.at(0.0, "Reading the data")
    bert, dataset, probing_task = experiment.load_model(model), experiment.load_data(folder, data), tasks.find(task)
    layers = bert.config.num_hidden_layers + 1
    if not 0 <= layer < layers:
        raise InputError(f"This model has the layers 0 (embeddings) to {layers - 1}, not {layer}.")
    examples = build_examples(bert, dataset.sentences, probing_task, seed, limit)
    split = ProbingData(examples, seed)
    control, gold = split.labels[1, split.test].numpy(), split.gold[split.test]
    yield clock.at(0.1, "Reading the sentences")
    predicted: dict[str, np.ndarray] = {}
    control_correct = np.zeros(len(control), bool)
    for number, (name, source) in enumerate((("model", bert), ("random_init", baselines.random_init(bert, seed)))):
        states = np.empty((1, len(examples.spans), bert.config.hidden_size), dtype=np.float32)
        for indices, vectors in features.iter_spans(source, examples.encodings, examples.spans, features.POOLING, [layer]):
            states[:, indices] = vectors
        yield clock.at(0.3 + 0.35 * number, "Learning" + (" from random weights" if number else ""))
        by_target = split.fit(LinearProbe(), states).numpy()  # (task and control, test examples)
        predicted[name] = by_target[0]
        if name == "model":
            control_correct = by_target[1] == control
    types, train = examples.word_types, split.train
    guesses = {
        "word_type": baselines.word_type_labels(split.gold[train], types[train], types[split.test]),
        "majority": np.full(len(gold), np.bincount(split.gold[train]).argmax()),
    }
    correct = predicted["model"] == gold
    against = {"random_init": predicted["random_init"] == gold, "control": control_correct}
    against |= {name: labels == gold for name, labels in guesses.items()}
    sentences = examples.input_of[split.test]
    result = ClaimResult(
        statement=f"layer {layer} knows {probing_task.title}",
        stated=stated,
        tested=now(),
        model=bert.info.name,
        model_digest=features.digest(bert),
        data=dataset.name,
        digest=dataset.digest,
        score=float(correct.mean()),
        comparisons=_compare(correct, against, sentences),
        choices=layers,
        examples=len(correct),
        sentences=len(set(sentences.tolist())),
    )
    result.write(folder / RESULT)
    yield clock.at(1.0, "Done")


def head_finds(
    folder: Path, model: str, relation: str, layer: int, head: int, stated: str, data: str = experiment.READER, seed: int = 0
) -> Iterator[Progress]:
    """Test “head `layer`-`head` finds `relation`”; direction and best fixed offset are chosen on the other sentences."""
    clock = StageClock()
    yield clock.at(0.0, "Reading the data")
    bert, dataset = experiment.load_model(model), experiment.load_data(folder, data)
    names = assign_splits(dataset.sentences, seed).names
    parts = {
        part: [one for one in align(bert, _of(dataset.sentences, names, part)).sentences if one.has_tree and one.is_complete]
        for part in ("train", "test")
    }
    yield clock.at(0.1, "Reading the sentences to choose on")
    offsets: Counter[int] = Counter()
    n_correct = np.zeros(2)
    for words, heads, guesses in _relation_words(bert, parts["train"], relation, layer, head):
        offsets.update((heads - words).tolist())
        n_correct += (guesses == heads).sum(-1)
    yield clock.at(0.75, "Reading the sentences to test on")
    correct: list[bool] = []
    by_offset: list[bool] = []
    sentence_of: list[int] = []
    direction, offset = 0, 0
    if offsets:
        direction, offset = int(n_correct.argmax()), offsets.most_common(1)[0][0]
        for number, (words, heads, guesses) in enumerate(_relation_words(bert, parts["test"], relation, layer, head)):
            correct += (guesses[direction] == heads).tolist()
            by_offset += (words + offset == heads).tolist()
            sentence_of += [number] * len(words)
    if len(correct) < MIN_COUNT:
        raise InputError(f"{relation} occurs {len(correct)} times in the held-out sentences; it takes {MIN_COUNT}.")
    hits = np.array(correct)
    result = ClaimResult(
        statement=f"head {layer + 1}-{head + 1} finds {relation}",
        stated=stated,
        tested=now(),
        model=bert.info.name,
        model_digest=features.digest(bert),
        data=dataset.name,
        digest=dataset.digest,
        score=float(hits.mean()),
        comparisons=_compare(hits, {"offset": np.array(by_offset)}, np.array(sentence_of)),
        choices=bert.config.num_hidden_layers * bert.config.num_attention_heads,
        examples=len(hits),
        sentences=len(set(sentence_of)),
        detail=f"{('dependent looks at head', 'head looks at dependent')[direction]}, offset {offset:+d}",
    )
    result.write(folder / RESULT)
    yield clock.at(1.0, "Done")


def _of(sentences: Sequence[Sentence], names: Sequence[str], part: str) -> list[Sentence]:
    return [sentence for sentence, name in zip(sentences, names, strict=True) if name == part]


def _relation_words(
    bert: Bert, sentences: Sequence[AlignedSentence], relation: str, layer: int, head: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each sentence with the relation: its words (count,), their heads (count,), and the guesses (directions, count)."""
    chosen = [(one, words) for one in sentences if (words := _words_with(one.sentence, relation))]
    encodings = [one.encoding for one, _ in chosen]
    for index, arrays in activations(bert, encodings, ["attention"], layers=[layer]):
        one, words = chosen[index]
        attention = merge_wordpieces(arrays["attention"][:, head : head + 1], one.spans)  # (1, 1, words, words)
        guesses = predicted_heads(attention)[:, 0, 0]  # (directions, words)
        yield np.array(words), np.array([one.sentence.heads[word] for word in words]), guesses[:, words]


def _words_with(sentence: Sentence, relation: str) -> list[int]:
    """The words that have this relation to their head."""
    return [word for word, name in enumerate(sentence.relations) if name == relation and sentence.heads[word] != ROOT]


def _compare(correct: np.ndarray, against: dict[str, np.ndarray], sentences: np.ndarray) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(name, float(other.mean()), statistics.sign_flip_p_value(correct, other, sentences))
        for name, other in against.items()
    )
