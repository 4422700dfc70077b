"""The structural probe as an experiment: trees of every layer against gold, beside the chain and random weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model import Bert, Encoding, InputError

from .. import statistics
from ..results import RESULT
from . import baselines, features
from .alignment import AlignedSentence, align_one
from .results import ProbingResult, array_to_json
from .splits import assign_splits
from .structural import StructuralProbe, StructuralScores, TreeSet, chain_edges, evaluate, gold_edges, scored_words
from .treebank import Treebank

EXAMPLES = 24  # test sentences stored to be shown
EXAMPLE_LENGTHS = range(5, 26)


def layers(
    folder: Path, treebank: Treebank, bert: Bert, layers: list[int], result: ProbingResult, seed: int
) -> Iterator[tuple[float, str]]:
    """One seed of the experiment: yield (fraction of it, stage), add a row a layer to the result and write it.

    Split, order of the sentences, initial maps and random weights are drawn from the seed; sizes, weights and example
    sentences are those of the first seed. A seed whose layers are all in the result is not fitted again.
    """
    settings = result.settings
    result.kind, result.title, result.unit = "tree", "the tree", "tree"
    data = TreeData.build(bert, treebank, seed, settings["limit"])
    chain = _chain_uuas(data.test)
    if seed == settings["seed"]:
        result.sizes, result.baselines = data.sizes, {"chain": chain}
        result.examples = [
            {"words": sentence.words, "heads": sentence.heads, "relations": sentence.relations}
            for sentence in data.test.sentences
            if len(sentence) in EXAMPLE_LENGTHS and len(scored_words(sentence)) > 1
        ][:EXAMPLES]
    if result.finished_layers(seed) >= set(layers):
        return
    result.rows = [row for row in result.rows if row["seed"] != seed]
    random_init = baselines.random_init(bert, seed)
    for fraction, stage in features.extract_with_baseline(
        bert, random_init, data.encodings, data.spans, settings["pooling"], layers, folder
    ):
        yield 0.03 + 0.4 * fraction, stage
    probes = []
    for number, name in enumerate(("model", "random_init")):
        states = features.open_memmap(features.states_file(folder, name))
        probe = StructuralProbe(settings["width"], seed)
        for fraction in probe.fit_epochs(states, data.train):
            yield 0.43 + 0.2 * (number + fraction), "Learning all layers" + (" of random weights" if number else "")
        probes.append((probe, states))
    for index, layer in enumerate(layers):
        yield 0.84 + 0.15 * index / len(layers), f"Layer {layer} of {layers[-1]}: drawing trees"
        scores, random_scores = (evaluate(probe, states, data.test, index) for probe, states in probes)
        low, high = _uuas_interval(scores, seed)
        result.rows.append(
            {
                "layer": layer,
                "seed": seed,
                "uuas": scores.uuas,
                "low": low,
                "high": high,
                "root": scores.root,
                "distance": scores.distance,
                "depth": scores.depth,
                "random_init": random_scores.uuas,
                "chain": chain,
            }
        )
        if seed == settings["seed"]:
            probe, _ = probes[0]
            result.weights[str(layer)] = [array_to_json(maps[index].numpy()) for maps in (probe.distance_, probe.depth_)]
        result.write(folder / RESULT)


@dataclass(frozen=True)
class TreeData:
    """Sentences with trees as the model reads them; the states of their words are in the order of `spans`."""

    encodings: list[Encoding]
    spans: np.ndarray  # (words, 3): input, start, end
    train: TreeSet
    test: TreeSet
    sizes: dict[str, int]

    @classmethod
    def build(cls, bert: Bert, treebank: Treebank, seed: int, limit: int) -> "TreeData":
        """Sentences of which every word has a wordpiece: `limit` words to train on, a third as many to test on."""
        assignment = assign_splits(treebank.sentences, seed)
        remaining = {"train": limit, "test": max(limit // 3, 1)}
        by_split: dict[str, list[AlignedSentence]] = {"train": [], "test": []}
        skipped = 0
        for row in np.random.default_rng(seed).permutation(len(treebank)):
            sentence, split = treebank.sentences[row], assignment.names[row]
            if split not in remaining or remaining[split] <= 0 or not sentence.heads:
                continue
            candidate = align_one(bert, sentence)
            if candidate is None:
                skipped += 1
            elif candidate.is_complete:
                by_split[split].append(candidate)
                remaining[split] -= len(sentence)
        train, test = by_split["train"], by_split["test"]
        if not train or not test:
            raise InputError(
                f"The data have {len(train)} sentences with trees to learn from and {len(test)} to test on; both need one."
            )
        both = [*train, *test]
        starts = np.cumsum([0] + [len(aligned.sentence) for aligned in both])
        return cls(
            [aligned.encoding for aligned in both],
            np.array([(row, *span) for row, aligned in enumerate(both) for span in aligned.spans.tolist()]),
            TreeSet(tuple(aligned.sentence for aligned in train), starts[: len(train) + 1]),
            TreeSet(tuple(aligned.sentence for aligned in test), starts[len(train) :]),
            {
                "train": len(train),
                "dev": 0,
                "test": len(test),
                "skipped": skipped,
                "sentences": len(both),
                "duplicates": assignment.duplicates,
                "left_out": assignment.left_out,
            },
        )


def _chain_uuas(trees: TreeSet) -> float:
    """UUAS of an edge between every two neighbouring words."""
    gold = [gold_edges(sentence) for sentence in trees.sentences]
    n_correct = sum(len(edges & chain_edges(sentence)) for edges, sentence in zip(gold, trees.sentences, strict=True))
    return n_correct / max(1, sum(map(len, gold)))


def _uuas_interval(scores: StructuralScores, seed: int) -> tuple[float, float]:
    has_edges = scores.n_gold > 0
    return statistics.bootstrap_interval(scores.n_correct[has_edges], scores.n_gold[has_edges], seed)
