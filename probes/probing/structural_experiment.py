"""The structural probe as an experiment: trees of every layer against gold, chain and random twin."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model import Bert, InputProblem

from . import baselines, features, tasks
from .results import RESULT, Result, packed
from .structural import Scores, StructuralProbe, Trees, chain_edges, counted, gold_edges, scored
from .treebank import Aligned, Treebank, aligned

EXAMPLES = 24  # test sentences kept to be drawn


def layers(folder: Path, bank: Treebank, bert: Bert, chosen: list[int], result: Result, seed: int
           ) -> Iterator[tuple[float, str]]:
    """One seed of the experiment: yield (fraction of it, stage), add a row a layer to the result and write it.

    Split, order of the sentences, first maps and random weights are drawn from the seed; sizes, maps and the sentences
    to draw are those of the first seed. Layers of this seed that stand in the result already are not learned again.
    """
    settings = result.settings
    result.kind, result.title, result.unit = "tree", "the tree", "tree"
    kept, learn, judge, sizes = _sentences(bert, bank, seed, settings["limit"])
    chain = _chain(judge)
    if seed == settings["seed"]:
        result.sizes, result.baselines = sizes, {"chain": chain}
        result.examples = [{"words": s.words, "heads": s.heads, "relations": s.relations} for s in judge.sentences
                           if 5 <= len(s) <= 25 and len(counted(s)) > 1][:EXAMPLES]
    if {int(row["layer"]) for row in result.rows if row["seed"] == seed} >= set(chosen):
        return
    result.rows = [row for row in result.rows if row["seed"] != seed]
    places = np.array([(row, *span) for row, one in enumerate(kept) for span in one.spans.tolist()])
    for fraction, stage in features.extract_both(bert, baselines.random_init(bert, seed), [one.encoding for one in kept],
                                              places, settings["pooling"], chosen, folder):
        yield 0.03 + 0.4 * fraction, stage
    probes = []
    for part, name in enumerate(("model", "twin")):
        states = features.opened(folder / f"states-{name}.npy")
        probe = StructuralProbe(settings["width"], seed)
        for fraction in probe.passes(states, learn):
            yield 0.43 + 0.2 * (part + fraction), "Learning all layers" + (" of the random twin" if part else "")
        probes.append((probe, states))
    for index, layer in enumerate(chosen):
        yield 0.84 + 0.15 * index / len(chosen), f"Layer {layer} of {chosen[-1]}: drawing trees"
        ours, random = (scored(probe, states, judge, index) for probe, states in probes)
        low, high = _interval(ours, seed)
        result.rows.append({"layer": layer, "seed": seed, "uuas": ours.uuas, "low": low, "high": high, "root": ours.root,
                            "distance": ours.distance, "depth": ours.depth, "twin": random.uuas, "chain": chain})
        if seed == settings["seed"]:
            probe = probes[0][0]
            result.maps[str(layer)] = [packed(probe.distance_[index].numpy()), packed(probe.depth_[index].numpy())]
        result.write(folder / RESULT)


def _sentences(bert: Bert, bank: Treebank, seed: int, limit: int) -> tuple[list[Aligned], Trees, Trees, dict[str, int]]:
    """Sentences with a tree, every word of which left a piece: all; `limit` words to learn from, a third to test; sizes."""
    split = tasks.splits(bank.sentences, seed)
    room, kept, skipped = {"train": limit, "test": max(limit // 3, 1)}, {"train": [], "test": []}, 0
    for row in np.random.default_rng(seed).permutation(len(bank)):
        sentence, name = bank.sentences[row], split.names[row]
        if name not in room or room[name] <= 0 or not sentence.heads:
            continue
        fitting, left_out = aligned(bert, [sentence])
        skipped += left_out
        for one in fitting:
            if (one.spans[:, 0] < one.spans[:, 1]).all():
                kept[name].append(one)
                room[name] -= len(sentence)
    train, test = kept["train"], kept["test"]
    if not train or not test:
        raise InputProblem("The data have no sentences with trees to learn from and to test on.")
    starts = np.cumsum([0] + [len(one.sentence) for one in (*train, *test)])
    return ([*train, *test], Trees(tuple(one.sentence for one in train), starts[: len(train) + 1]),
            Trees(tuple(one.sentence for one in test), starts[len(train):]),
            {"train": len(train), "dev": 0, "test": len(test), "skipped": skipped, "sentences": len(train) + len(test),
             "duplicates": split.duplicates, "left_out": split.left_out})


def _chain(trees: Trees) -> float:
    """UUAS of hanging every word on the next."""
    there = [gold_edges(sentence) for sentence in trees.sentences]
    found = [gold & chain_edges(sentence) for gold, sentence in zip(there, trees.sentences, strict=True)]
    return sum(map(len, found)) / max(1, sum(map(len, there)))


def _interval(scores: Scores, seed: int) -> tuple[float, float]:
    right = np.concatenate([[1] * found + [0] * (there - found)
                            for found, there in zip(scores.found, scores.there, strict=True)])
    return baselines.interval(right, np.repeat(np.arange(len(scores.there)), scores.there), seed)
