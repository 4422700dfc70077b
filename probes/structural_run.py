"""The structural probe as an experiment: trees of every layer against gold, chain and random twin."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model import Bert, InputProblem

from . import baselines, store, tasks
from .results import RESULT, Result, packed
from .structural import Scores, StructuralProbe, Trees, chain_edges, counted, gold_edges, scored
from .treebank import Aligned, Treebank, aligned

EXAMPLES = 24  # test sentences kept to be drawn


def layers(folder: Path, bank: Treebank, bert: Bert, chosen: list[int], result: Result, seed: int
           ) -> Iterator[tuple[float, str]]:
    """Yield (fraction, stage); fills the result and writes it as the layers are scored."""
    settings = result.settings
    result.kind, result.title, result.unit = "tree", "the tree", "tree"
    train, test, skipped = _sentences(bert, bank, seed, settings["limit"])
    result.sizes = {"train": len(train), "dev": 0, "test": len(test), "skipped": skipped,
                    "sentences": len(train) + len(test)}
    kept = [*train, *test]
    places = np.array([(row, *span) for row, one in enumerate(kept) for span in one.spans.tolist()])
    sizes = np.cumsum([0] + [len(one.sentence) for one in kept])
    learn = Trees(tuple(one.sentence for one in train), sizes[: len(train) + 1])
    judge = Trees(tuple(one.sentence for one in test), sizes[len(train):])
    whole = [s for s in judge.sentences if len(counted(s)) > 1]
    chain = [(len(gold_edges(s) & chain_edges(s)), len(gold_edges(s))) for s in whole]
    result.baselines = {"chain": sum(found for found, _ in chain) / max(1, sum(there for _, there in chain))}
    for fraction, stage in store.extract_both(bert, bert.twin(seed + 1), [one.encoding for one in kept],
                                              places, settings["pooling"], chosen, folder):
        yield 0.03 + 0.4 * fraction, stage
    probes = []
    for part, name in enumerate(("model", "twin")):
        states = store.opened(folder / f"states-{name}.npy")
        probe = StructuralProbe(settings["width"], seed)
        for fraction in probe.passes(states, learn):
            yield 0.43 + 0.2 * (part + fraction), "Learning all layers" + (" of the random twin" if part else "")
        probes.append((probe, states))
    result.examples = [{"words": s.words, "heads": s.heads, "relations": s.relations} for s in whole
                       if 5 <= len(s) <= 25][:EXAMPLES]
    for index, layer in enumerate(chosen):
        yield 0.83 + 0.16 * index / len(chosen), f"Layer {layer} of {chosen[-1]}: drawing trees"
        ours, random = (scored(probe, states, judge, index) for probe, states in probes)
        low, high = _interval(ours, seed)
        result.rows.append({"seed": seed, "layer": layer, "uuas": ours.uuas, "low": low, "high": high, "root": ours.root,
                            "distance": ours.distance, "depth": ours.depth, "twin": random.uuas,
                            "chain": result.baselines["chain"]})
        probe = probes[0][0]
        result.maps[str(layer)] = [packed(probe.distance_[index].numpy()), packed(probe.depth_[index].numpy())]
        result.write(folder / RESULT)


def _sentences(bert: Bert, bank: Treebank, seed: int, limit: int) -> tuple[list[Aligned], list[Aligned], int]:
    """Sentences with a tree, every word of which left a piece: to learn from, `limit` words, and to test, a third."""
    given = tasks.splits(bank.sentences, seed)
    room, kept, skipped = {"train": limit, "test": max(limit // 3, 1)}, {"train": [], "test": []}, 0
    for row in np.random.default_rng(seed).permutation(len(bank)):
        sentence, split = bank.sentences[row], given[row]
        if split not in room or room[split] <= 0 or len(sentence) < 2 or not sentence.heads:
            continue
        fitting, left_out = aligned(bert, [sentence])
        skipped += left_out
        for one in fitting:
            if (one.spans[:, 0] < one.spans[:, 1]).all():
                kept[split].append(one)
                room[split] -= len(sentence)
    if not kept["train"] or not kept["test"]:
        raise InputProblem("The data have no sentences with trees to learn from and to test on.")
    return kept["train"], kept["test"], skipped


def _interval(scores: Scores, seed: int) -> tuple[float, float]:
    right = np.concatenate([[1] * found + [0] * (there - found)
                            for found, there in zip(scores.found, scores.there, strict=True)])
    return baselines.interval(right, np.repeat(np.arange(len(scores.there)), scores.there), seed)
