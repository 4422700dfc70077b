"""Real answers of small models, the arguments of every figure: one case a function, some functions with several."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.figures.paths import PointGroup
from model import Bert
from model.pretraining.masking import MaskingStrategy
from probes import bundled, cloze, comparison, heads, nextsentence, papers, training_replay
from probes.cloze import attention_shift, attribution, directions, logit_lens, query
from probes.heads import ablation, anatomy
from probes.masking_strategies import corruption, training_runs
from probes.nextsentence import benchmark, evidence, lexical_overlap, perturbations, sentence_order
from probes.probing import apply, experiment, results
from probes.probing.results import ProbingResult
from probes.probing.structural import gold_edges
from probes.probing.treebank import Sentence
from probes.results import RESULT
from probes.states import (
    geometry,
    input_embeddings,
    neurons,
    residual_stream,
    sentence_vectors,
    token_contexts,
    word_senses,
)
from tests.conftest import ROOT

RUN = ROOT / "model" / "weights" / "smallworld"
A, B = "the cat sat on the mat, my dog ran .", "he likes playing new <b> cats ."
SENTENCES = ["the cat sat on the mat .", "my dog likes the cat .", "the cat is cute .", "he ran on my mat ."]
Arguments = tuple[Any, ...]


class Answers:
    """What a tiny model of random weights and the shipped models say; each answer is computed once."""

    def __init__(self, tiny: Bert, english: Bert, folder: Path):
        self.tiny, self.english, self.folder = tiny, english, folder

    @cached_property
    def trace(self):
        return self.tiny.trace(A, B)

    @cached_property
    def head(self) -> anatomy.HeadAnatomy:
        return anatomy.dissect(self.tiny, self.trace, 1, 2, 3)

    @cached_property
    def target(self) -> ablation.AblationTarget:
        return ablation.target_word(self.tiny, self.trace.encoding, 2)

    @cached_property
    def effects(self) -> np.ndarray:
        return ablation.effects(self.tiny, self.target)

    @cached_property
    def pruning(self) -> pd.DataFrame:
        points = list(ablation.prune(self.tiny, [self.target], step=2, orders=3))
        losses = np.array([point.random for point in points])  # (points, orders)
        curve = pd.DataFrame(
            {
                "gone": [point.removed for point in points],
                "greedy": [point.greedy for point in points],
                "gradient": [point.gradient for point in points],
            }
        )
        return curve.assign(low=losses.min(1), middle=losses.mean(1), high=losses.max(1))

    @cached_property
    def sides(self) -> comparison.AttentionComparison:
        return comparison.attentions(self.trace, self.tiny.trace(A, "he likes playing new [b] dogs ."))

    @cached_property
    def query(self) -> query.ClozeQuery:
        encoding = self.tiny.tokenizer.encode(A, B)
        return query.build(self.tiny, encoding, query.default_span(encoding))

    @cached_property
    def shift(self) -> attention_shift.AttentionShift:
        return attention_shift.measure(self.tiny, self.query.unmasked, self.query.encoding)

    @cached_property
    def evidence(self) -> evidence.NSPEvidence:
        return evidence.of(self.tiny, self.trace.encoding)

    @cached_property
    def benchmark(self) -> dict:
        pairs = benchmark.sample_pairs(benchmark.world(count=40), 24)
        answers = benchmark.evaluate(self.english, pairs)
        kinds = [kind for kind in benchmark.NEGATIVE_KINDS if kind not in benchmark.missing(answers["kind"])]
        return {kind: benchmark.metrics_of(answers, kind) for kind in kinds}

    @cached_property
    def order(self) -> np.ndarray:
        return sentence_order.matrix(self.tiny, SENTENCES)

    @cached_property
    def probing(self) -> dict[str, ProbingResult]:
        """The tiny model probed for parts of speech, with description length and layer mixture, and for trees."""
        self.tiny.save(self.folder / "tiny")
        settings = {
            "labels": {"task": "upos", "seeds": 2, "code_length": True, "mix": True},
            "tree": {"task": "tree", "width": 8},
        }
        for kind, options in settings.items():
            (self.folder / kind).mkdir()
            run = experiment.run(self.folder / kind, str(self.folder / "tiny"), experiment.SMALL_WORLD, limit=300, **options)
            assert list(run)[-1]["fraction"] == 1
        return {kind: ProbingResult.read(self.folder / kind / RESULT) for kind in settings}

    @cached_property
    def paper_cards(self) -> list[papers.PaperCard]:
        comparisons = bundled.results(bundled.STRATEGIES), bundled.results(bundled.DIRECTIONS)
        return papers.cards(list(self.probing.values()), bundled.measurements(), *comparisons)

    @cached_property
    def contexts(self) -> token_contexts.TokenContexts:
        return token_contexts.collect(self.tiny, SENTENCES)

    @cached_property
    def senses(self) -> word_senses.WordUses:
        return word_senses.uses(self.tiny, "the", SENTENCES)

    @cached_property
    def snapshots(self) -> dict[int, training_replay.SnapshotPrediction]:
        snapshots = training_replay.snapshots(RUN)
        return {
            snapshot.step: training_replay.predict(snapshot.path, training_replay.question(RUN))
            for snapshot in (snapshots[0], snapshots[-1])
        }

    @cached_property
    def history(self) -> pd.DataFrame:
        return training_replay.history(RUN)


def _words(answers: Answers) -> pd.DataFrame:
    mask = cloze.mask_positions(answers.tiny, answers.query.encoding)[0]
    return cloze.top_k(answers.tiny, cloze.probabilities(answers.tiny, answers.query.encoding, [mask])[0], 6)


def _heads_table(answers: Answers) -> tuple[np.ndarray, pd.DataFrame]:
    return heads.classical_mds(heads.js_divergence(answers.trace.attention).bits), heads.summary(answers.trace)


def _grids(answers: Answers) -> list[Arguments]:
    table = heads.summary(answers.trace)
    return [
        (answers.effects, "bits lost", (1, 2), [(0, 1), (1, 3)]),
        (heads.as_grid(table, "entropy"), "entropy", (0, 0), (), heads.as_grid(table, "label")),
        (heads.as_grid(table, "entropy"), "entropy"),
    ]


def _paths(answers: Answers) -> list[Arguments]:
    texts = answers.trace.wordpieces
    groups = [PointGroup("first", "#868e96", [0, 3, 4]), PointGroup("others", "#1098ad", list(range(5, len(texts))))]
    return [
        (geometry.shared_paths(answers.trace.hidden, 2), texts, groups, [1, 2]),
        (geometry.layer_paths(answers.trace.hidden, 3), texts, groups, [1]),
        (geometry.layer_paths(answers.trace.hidden), [""] * len(texts), groups, (), texts),
    ]


def _trees(answers: Answers) -> list[Arguments]:
    result = answers.probing["tree"]
    example = result.examples[0]
    sentence = Sentence(tuple(example["words"]), heads=tuple(example["heads"]), relations=tuple(example["relations"]))
    edges = next(iter(apply.predict_tree(result, answers.tiny, sentence).values()))
    return [(list(sentence.words), edges, gold_edges(sentence)), (list(sentence.words), edges, None)]


def _ranks(answers: Answers) -> list[Arguments]:
    lens = logit_lens.read_layers(answers.tiny, answers.query.encoding, answers.query.unmasked.ids)
    return [(lens, answers.query.positions, [f"<{position}>" for position in answers.query.positions])]


def _attribution(answers: Answers) -> list[Arguments]:
    position = answers.query.positions[0]
    scores = attribution.compare(answers.tiny, answers.query.encoding, position, answers.query.unmasked.ids[position])
    return [(scores, answers.trace.wordpieces, position)]


def _directions(answers: Answers) -> list[Arguments]:
    rows = directions.predict(answers.tiny, answers.query.encoding, answers.query.positions[0])
    return [([(name, float(row[7])) for name, row in rows.items()],)]


def _agreement(answers: Answers) -> list[Arguments]:
    taus = {
        "greedy": sentence_order.recover(sentence_order.log_probabilities(answers.order)).tau,
        "shared words": sentence_order.recover(lexical_overlap.matrix(SENTENCES)).tau,
    }
    return [(taus, len(SENTENCES))]


def _sentence_map(answers: Answers) -> list[Arguments]:
    vectors = sentence_vectors.vectors(answers.tiny, SENTENCES, 1)
    pca = geometry.PCA(2).fit(vectors)
    return [(pca.transform(vectors), pca.explained_variance_ratio_, SENTENCES)]


def _similarity_maps(answers: Answers) -> list[Arguments]:
    cosines = geometry.cosine(answers.trace.hidden)
    layers = geometry.cka_matrix(answers.trace.hidden, answers.trace.hidden)
    numbers = [str(layer) for layer in range(len(layers))]
    return [(cosines[1], answers.trace.wordpieces), (layers, numbers, numbers, "CKA", ("layer", "layer"), 15, 2)]


def _seeds(answers: Answers) -> list[Arguments]:
    table = bundled.results("strategies")
    order = [(condition.name, condition.name) for condition in training_runs.STRATEGIES]
    return [(table, "masked", order, [("best possible", bundled.ceiling("strategies")), ("chance", 0.1)])]


def _training(answers: Answers) -> list[Arguments]:
    ceiling = training_replay.ceiling(RUN)
    return [(answers.history, ceiling["accuracy"], 100), (answers.history.iloc[:3],)]


def _ledger(answers: Answers) -> list[Arguments]:
    name, (_, parts) = next(iter(input_embeddings.parameter_tables(answers.tiny).items()))
    return [(parts, name)]


CASES: dict[str, Callable[[Answers], list[Arguments]]] = {
    "attention.grid": _grids,
    "attention.strips": lambda a: [({"query": a.head.query, "key <of>": a.head.keys[3]},)],
    "attention.mixture": lambda a: [(a.head.values, a.head.weights, a.trace.wordpieces)],
    "attention.split": lambda a: [(a.head.states[3], a.head.queries, 2)],
    "attention.softmax": lambda a: [(a.head.scores, a.head.weights, a.trace.wordpieces, 4)],
    "attention.written": lambda a: [(a.head.head_output_norms, 2)],
    "attention.head_map": lambda a: [(*_heads_table(a), colour, (1, 0)) for colour in ("layer", "label")],
    "attention.before_after": lambda a: [(ablation.distribution(a.tiny, a.target, [(0, 1)], k=7), "cat")],
    "attention.two_rankings": lambda a: [(a.effects, ablation.importance(a.tiny, [a.target]), (1, 2))],
    "attention.pruning": lambda a: [(a.pruning, 8)],
    "bipartite.lines": lambda a: [
        (a.trace.attention[1, 2], a.trace.wordpieces, frozenset({2, 3})),
        (a.trace.attention[0, 0], a.trace.wordpieces),
    ],
    "compare.heads_apart": lambda a: [(a.sides.same_index_distance(),)],
    "compare.head": lambda a: [(a.sides.left[0, 1], [f"unit {index}" for index in range(len(a.sides.units))])],
    "compare.probabilities": lambda a: [([0.31, 0.87], ["1. tiny", "2. <tiny>"]), ([0.31], ["1. tiny"])],
    "contexts.neurons": lambda a: [(neurons.top_neurons(neurons.activations(a.tiny, a.trace.encoding)[1], 3, 5),)],
    "finetune.course": lambda a: [(result,) for result in bundled.finetuning().values()],
    "finetune.similarity": lambda a: [(np.array([1.0, 0.9, 0.4]),)],
    "input.token_strips": lambda a: [(input_embeddings.parts(a.trace)[:, 3], input_embeddings.PARTS)],
    "input.sequence_strips": lambda a: [(input_embeddings.parts(a.trace), input_embeddings.PARTS, a.trace.wordpieces)],
    "input.similarities": lambda a: [
        (input_embeddings.position_similarity(a.tiny, 20), input_embeddings.sinusoid_similarity(32, 20), "tiny: learned")
    ],
    "input.treemap": _ledger,
    "mask.ranks": _ranks,
    "mask.attention_shift": lambda a: [(a.shift,)],
    "mask.difference": lambda a: [(a.shift.difference[1, 2], a.trace.wordpieces)],
    "mask.attribution": _attribution,
    "mask.directions": _directions,
    "nextsentence.answer": lambda a: [(nextsentence.predict(a.tiny, A, B),)],
    "nextsentence.perturbations": lambda a: [(perturbations.evaluate(a.tiny, A, B),)],
    "nextsentence.cls_attention": lambda a: [(a.evidence,)],
    "nextsentence.head_ablation": lambda a: [(a.evidence,)],
    "nextsentence.by_layer": lambda a: [(a.evidence,)],
    "nsp_benchmark.accuracies": lambda a: [(a.benchmark,)],
    "nsp_benchmark.roc": lambda a: [(pair,) for pair in a.benchmark.values()],
    "nsp_benchmark.calibration": lambda a: [(pair,) for pair in a.benchmark.values()],
    "paths.animated": _paths,
    "probes.curve": lambda a: [(result,) for result in a.probing.values()],
    "probes.compared": lambda a: [(list(a.probing.values()),)],
    "probes.selectivity": lambda a: [(a.probing["labels"],)],
    "probes.correlations": lambda a: [(a.probing["tree"],)],
    "probes.code_lengths": lambda a: [(a.probing["labels"],)],
    "papers.same_axis": lambda a: [(card.rows(), card.axis) for card in a.paper_cards if not card.rows().empty],
    "probes.centres": lambda a: [(results.centres_of_gravity([a.probing["labels"]]),)],
    "trees.gold": lambda a: [(["Dogs", "<b>", "bark"], [2, 0, -1], ["nsubj", "appos", "root"], 0)],
    "probes.mixed": lambda a: [(results.mixture(a.probing["labels"]),)],
    "probes.confusion": lambda a: [(a.probing["labels"].confusion["1"], a.probing["labels"].classes)],
    "probes.live": lambda a: [(apply.predict(a.probing["labels"], a.tiny, A),)],
    "sentence_order.matrix": lambda a: [(nextsentence.to_probability(a.order), SENTENCES)],
    "sentence_order.agreement": _agreement,
    "states.similarity_map": _similarity_maps,
    "states.self_similarity": lambda a: [(token_contexts.self_similarity(a.contexts), word) for word in ("the", None)],
    "states.intra_sentence": lambda a: [(token_contexts.intra_sentence(a.contexts),)],
    "states.sense_separation": lambda a: [
        (word_senses.separation(a.senses.vectors, [use % 2 for use in range(len(a.senses.sentence))]),)
    ],
    "states.residual_contributions": lambda a: [
        (residual_stream.contributions(a.tiny, a.trace.encoding), a.trace.wordpieces, part)
        for part in ("state", "attention", "feed-forward", "turn")
    ],
    "states.sentence_map": _sentence_map,
    "strategies.shares": lambda a: [(corruption.observed_shares(a.tiny, a.trace.encoding, MaskingStrategy(), 50),)],
    "strategies.mismatch": lambda a: [(corruption.mismatch(a.tiny, [a.trace.encoding], 12),)],
    "strategies.seeds": _seeds,
    "training.accuracies": _training,
    "training.losses": _training,
    "training.spoken": lambda a: [(training_replay.followed(a.snapshots), 10)],
    "training.attention": lambda a: [
        (answer.attention[0, 0], answer.texts, answer.place) for answer in list(a.snapshots.values())[-1:]
    ],
    "trees.against": _trees,
    "word_bars.bars": lambda a: [(_words(a),), (_words(a), "cat"), (_words(a).iloc[:0],)],
}
