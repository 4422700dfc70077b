"""What the papers found, beside the same numbers of the model at hand.

Published numbers are typed in as the papers or their authors' own code give them; nothing here was read off a figure.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from model import Bert
from model.files import atomic_write

from .heads import ablation, dependency_relations
from .masking_strategies import training_runs
from .probing import features, results
from .probing.alignment import align
from .probing.results import ProbingResult
from .probing.treebank import Sentence, Treebank
from .states import geometry

PUBLISHED, PUBLISHED_BASELINE, OURS, OUR_BASELINE = "published", "published baseline", "ours", "our baseline"
PRUNED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)  # fractions of all heads
PRUNING_SENTENCES = 60
MIN_COUNT = 20  # words with a relation in each part
MIN_USES = 5  # of a word, to be compared with itself


@dataclass(frozen=True)
class Measurements:
    """Heads and states of one model on the reader: what the cards need beside probing results."""

    model: str
    model_digest: str
    data: str
    digest: str
    # relation, direction, layer, head, accuracy, offset, baseline, count: chosen on the part to learn from, tested on test
    relations: list[dict[str, Any]] = field(default_factory=list)
    pruning: list[dict[str, float]] = field(default_factory=list)  # fraction of the heads off, bits a masked word
    anisotropy: list[float] = field(default_factory=list)  # by layer
    self_similarity: list[float] = field(default_factory=list)  # by layer: a word beside itself in other sentences

    def write(self, path: Path) -> None:
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Measurements":
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def measure(bert: Bert, treebank: Treebank) -> Measurements:
    """All of it; the test sentences are those of the data's own split."""
    train, test = ([one for one in treebank.sentences if one.split == split] for split in ("train", "test"))
    anisotropy, self_similarity = _geometry(bert, test)
    return Measurements(
        model=bert.info.name,
        model_digest=features.digest(bert),
        data=treebank.name,
        digest=treebank.digest,
        relations=_relations(bert, train, test),
        pruning=_pruning(bert, test),
        anisotropy=anisotropy,
        self_similarity=self_similarity,
    )


def _relations(bert: Bert, train: Sequence[Sentence], test: Sequence[Sentence]) -> list[dict[str, Any]]:
    """The head and the offset that are best for each relation in train, and how often each is right in test."""
    *_, chosen = dependency_relations.count(bert, align(bert, train).sentences)
    *_, held_out = dependency_relations.count(bert, align(bert, test).sentences)
    best = chosen.table(MIN_COUNT).sort_values("accuracy", ascending=False).drop_duplicates("relation")
    rows = []
    for row in best.to_dict("records"):
        relation, count = row["relation"], held_out.count[row["relation"]]
        if count >= MIN_COUNT:
            direction = dependency_relations.ARC_DIRECTIONS.index(row["direction"])
            accuracy = held_out.accuracy(relation)[direction, row["layer"], row["head"]]
            baseline = held_out.offsets[relation][row["offset"]] / count
            rows.append(row | {"accuracy": round(float(accuracy), 4), "baseline": round(baseline, 4), "count": count})
    return [{name: value for name, value in row.items() if name != "gain"} for row in rows]


def _pruning(bert: Bert, sentences: Sequence[Sentence]) -> list[dict[str, float]]:
    """Bits a masked word of the test sentences takes when the least important heads are off, by gradient."""
    targets = ablation.sample_targets(bert, [sentence.text for sentence in sentences[:PRUNING_SENTENCES]], words=1)
    order = np.argsort(ablation.normalised(ablation.importance(bert, targets)), axis=None, kind="stable")
    heads = [ablation.all_heads(bert)[index] for index in order]
    sets = [heads[: round(fraction * len(heads))] for fraction in PRUNED]
    bits = ablation.losses(bert, targets, sets)
    return [{"fraction": fraction, "bits": round(float(loss), 4)} for fraction, loss in zip(PRUNED, bits, strict=True)]


def _geometry(bert: Bert, sentences: Sequence[Sentence]) -> tuple[list[float], list[float]]:
    """Mean cosine of all words, and of each frequent word with itself in other sentences, by layer."""
    aligned = align(bert, sentences).sentences
    spans = np.array([(row, *span) for row, one in enumerate(aligned) for span in one.spans.tolist() if span[0] < span[1]])
    forms = np.array(
        [
            one.sentence.words[word].lower()
            for one in aligned
            for word, span in enumerate(one.spans.tolist())
            if span[0] < span[1]
        ]
    )
    states = np.empty((bert.config.num_hidden_layers + 1, len(spans), bert.config.hidden_size), dtype=np.float32)
    for indices, vectors in features.iter_spans(bert, [one.encoding for one in aligned], spans, features.POOLING):
        states[:, indices] = vectors
    frequent = [form for form, count in Counter(forms.tolist()).items() if count >= MIN_USES]
    by_word = np.mean([geometry.anisotropy(states[:, forms == form]) for form in frequent], axis=0)
    return np.round(geometry.anisotropy(states), 4).tolist(), np.round(by_word, 4).tolist()


@dataclass(frozen=True)
class PaperCard:
    """One finding of a paper and the same numbers of the model at hand."""

    key: str
    paper: str
    claim: str
    axis: str
    published: pd.DataFrame  # label, value, kind
    ours: pd.DataFrame  # the same columns; empty where nothing was measured on this model
    difference: str  # why the two differ
    rerun: str  # the address of the page that makes ours again
    command: str = ""

    def rows(self) -> pd.DataFrame:
        """Both, on one axis."""
        # the labels come in the order of the one that has more of them
        parts = sorted((self.published, self.ours), key=lambda part: part["label"].nunique(), reverse=True)
        return pd.concat(parts, ignore_index=True)


def _frame(rows: Iterable[tuple[str, float, str]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["label", "value", "kind"])


def cards(
    probing: Sequence[ProbingResult], measurements: Measurements | None, strategies: pd.DataFrame, directions: pd.DataFrame
) -> list[PaperCard]:
    """All cards; `probing` are finished results of the model at hand on the reader, the newest first."""
    by_task: dict[str, ProbingResult] = {}
    for result in probing:
        by_task.setdefault(result.settings["task"], result)
    upos, tree = by_task.get("upos"), by_task.get("tree")
    return [
        _table_5(directions),
        _table_8(strategies),
        _clark(measurements),
        _hewitt_liang(upos),
        _hewitt_manning(tree),
        _tenney(upos, list(by_task.values())),
        _voita_titov(upos),
        _michel(measurements),
        _ethayarajh(measurements),
    ]


def _table_5(directions: pd.DataFrame) -> PaperCard:
    published = {
        "MNLI-m": (84.4, 82.1),
        "QNLI": (88.4, 84.3),
        "MRPC": (86.7, 77.5),
        "SST-2": (92.7, 92.1),
        "SQuAD": (88.5, 77.8),
    }
    rows = [
        row
        for task, (both, left) in published.items()
        for row in ((task, both / 100, PUBLISHED), (task, left / 100, PUBLISHED_BASELINE))
    ]
    means = training_runs.means(directions, "masked")
    ours = [
        ("masked words", means["both"], OURS),
        ("masked words", means["left"], OUR_BASELINE),
    ]
    return PaperCard(
        "table-5",
        "Devlin et al. (2019), table 5",
        "Both tasks of pre-training matter: without next-sentence prediction MNLI falls from 84.4 to 83.9 and QNLI from "
        "88.4 to 84.9; read from left to right only as well, MNLI falls to 82.1 and SQuAD from 88.5 to 77.8.",
        "right (baselines: left to right only)",
        _frame(rows),
        _frame(ours),
        "Theirs are BERT-base after fine-tuning, once without next-sentence prediction and left to right; ours are small "
        "models of the small world that predict masked words, three seeds each, so only the order can be compared.",
        "mask?look=directions",
        "python3 run.py strategies --help",
    )


def _table_8(strategies: pd.DataFrame) -> PaperCard:
    published = {
        "80/10/10": (95.4, 94.9),
        "100/0/0": (94.9, 94.0),
        "80/0/20": (95.2, 94.6),
        "80/20/0": (95.2, 94.7),
        "0/20/80": (94.8, 94.6),
        "0/0/100": (94.9, 94.6),
    }
    probe = training_runs.means(strategies, "probe")
    rows = [(name, frozen / 100, PUBLISHED) for name, (_, frozen) in published.items()]
    ours = [(name, probe[name], OURS) for name in published if name in probe]
    return PaperCard(
        "table-8",
        "Devlin et al. (2019), table 8",
        "How words are masked (MASK/SAME/RND in per cent) hardly matters after fine-tuning; with frozen features, masks "
        "alone cost 0.9 points of named-entity recognition (94.0 against 94.9).",
        "right with frozen features",
        _frame(rows),
        _frame(ours),
        "Theirs is named-entity recognition on BERT-base, ours a linear probe on small models of the small world, three "
        "seeds each: how far the strategies lie apart depends on how much the model must say about words it sees.",
        "strategies",
        "python3 run.py strategies --help",
    )


def _clark(measurements: Measurements | None) -> PaperCard:
    published = {
        "det": (94.3, 51.7),
        "obj": (86.8, 40.0),
        "amod": (75.6, 68.3),
        "nsubj": (58.5, 45.5),
        "mark": (50.7, 14.5),
        "ccomp": (48.8, 12.4),
    }
    rows = [
        row
        for relation, (head, offset) in published.items()
        for row in ((relation, head / 100, PUBLISHED), (relation, offset / 100, PUBLISHED_BASELINE))
    ]
    ours = [
        row
        for one in (measurements.relations if measurements else ())
        if one["relation"] in published
        for row in ((one["relation"], one["accuracy"], OURS), (one["relation"], one["baseline"], OUR_BASELINE))
    ]
    return PaperCard(
        "clark",
        "Clark et al. (2019)",
        "Single heads follow single relations: head 8-11 of BERT-base finds the noun of a determiner in 94.3 %, the best "
        "fixed offset in 51.7 %.",
        "right (baselines: best fixed offset)",
        _frame(rows),
        _frame(ours),
        "Theirs is the best head of BERT-base on the Penn Treebank (its dobj stands under obj). Ours has fewer heads; head "
        "and offset are picked on the reader's training texts and scored on its test texts.",
        "attention?panel=relations&trees=reader",
    )


def _hewitt_liang(upos: ProbingResult | None) -> PaperCard:
    published = [
        ("accuracy", 0.972, PUBLISHED),
        ("control task", 0.712, PUBLISHED),
        ("selectivity", 0.260, PUBLISHED),
    ]
    ours = []
    if upos is not None:
        best = results.best_row(upos)
        ours = [
            ("accuracy", best["accuracy"], OURS),
            ("control task", best["control"], OURS),
            ("selectivity", best["selectivity"], OURS),
            ("accuracy", best["random_init"], OUR_BASELINE),
            ("control task", best["random_init_control"], OUR_BASELINE),
            ("selectivity", best["random_init"] - best["random_init_control"], OUR_BASELINE),
        ]
    return PaperCard(
        "hewitt-liang",
        "Hewitt & Liang (2019)",
        "A probe's accuracy means little without a control task that only memory can solve: a linear probe for part of "
        "speech on ELMo's first layer is right in 97.2 %, in 71.2 % on the control task, so its selectivity is 26.0.",
        "share right (baseline: random weights)",
        _frame(published),
        _frame(ours),
        "Theirs learns from the Penn Treebank, where a word type is seen often enough to be memorised; ours from some "
        "thousand words of the reader, and with fewer repetitions the control task is harder to memorise.",
        "probes?result=english-upos",
        upos.command if upos else "",
    )


def _hewitt_manning(tree: ProbingResult | None) -> PaperCard:
    published = [
        ("edges (UUAS)", 0.825, PUBLISHED),
        ("root", 0.894, PUBLISHED),
        ("distances (DSpr.)", 0.86, PUBLISHED),
        ("depths (NSpr.)", 0.88, PUBLISHED),
        ("edges (UUAS)", 0.598, PUBLISHED_BASELINE),
        ("distances (DSpr.)", 0.73, PUBLISHED_BASELINE),
    ]
    ours = []
    if tree is not None:
        best = results.best_row(tree)
        ours = [
            ("edges (UUAS)", best["uuas"], OURS),
            ("root", best["root"], OURS),
            ("distances (DSpr.)", best["distance"], OURS),
            ("depths (NSpr.)", best["depth"], OURS),
            ("edges (UUAS)", best["random_init"], OUR_BASELINE),
        ]
    return PaperCard(
        "hewitt-manning",
        "Hewitt & Manning (2019)",
        "Trees are written in the geometry of the states: a linear map of BERT-large finds 82.5 % of the edges, of ELMo's "
        "layer without context 59.8 %.",
        "share or correlation (baselines: ELMo's layer 0; random weights)",
        _frame(published),
        _frame(ours),
        "Theirs is BERT-large and the Penn Treebank; ours a small model and the 840 training sentences of the reader, "
        "which are shorter.",
        "probes?result=english-tree",
        tree.command if tree else "",
    )


def _tenney(upos: ProbingResult | None, probed: Sequence[ProbingResult]) -> PaperCard:
    ours, order = [], ""
    if upos is not None:
        rows = results.table(upos).set_index("layer")
        ours.append(("part of speech at layer 0", float(rows["accuracy"].iloc[0]), OURS))
        ours.append(("part of speech at layer 0", float(rows["random_init"].iloc[0]), OUR_BASELINE))
    centres = results.centres_of_gravity(probed)
    if not centres.empty:
        order = "Ours, lowest first: " + ", ".join(f"{row.task} ({row.center:.1f})" for row in centres.itertuples()) + ". "
    return PaperCard(
        "tenney",
        "Tenney et al. (2019)",
        "BERT rediscovers the pipeline: part of speech is written lowest, then constituents, dependencies, semantic roles "
        "and coreference; already at layer 0, 89 % of the tags are right.",
        "right at layer 0 (baseline: random weights)",
        _frame([("part of speech at layer 0", 0.89, PUBLISHED)]),
        _frame(ours),
        f"{order}Theirs is BERT-large with far more examples; with few layers and few examples the centres of ours lie "
        "close together and their intervals overlap.",
        "probes?side=where",
        upos.command if upos else "",
    )


def _voita_titov(upos: ProbingResult | None) -> PaperCard:
    published = [
        ("layer 0", 302 / 173, PUBLISHED),
        ("layer 1", 515 / 96, PUBLISHED),
        ("layer 2", 717 / 115, PUBLISHED),
    ]
    ours = []
    if upos is not None and "code_length" in results.table(upos):
        ours = [
            (f"layer {int(row['layer'])}", row["control_code_length"] / row["code_length"], OURS)
            for row in results.table(upos).to_dict("records")
        ]
    return PaperCard(
        "voita-titov",
        "Voita & Titov (2020)",
        "Bits tell more than accuracy: at ELMo's layer 0 the control task has the higher accuracy (96.3 against 93.7 %), "
        "yet its labels take 302 kbit and the true ones 173.",
        "code length of the control task divided by that of the task",
        _frame(published),
        _frame(ours),
        "Theirs encodes the Penn Treebank with a probe of two hidden layers, ours the reader's words with a linear one. "
        "Bits grow with the number of labels, so the ratio is shown, computed from both of their lengths.",
        "probes?result=english-upos",
        upos.command if upos else "",
    )


def _michel(measurements: Measurements | None) -> PaperCard:
    curve = measurements.pruning if measurements else []
    whole = curve[0]["bits"] if curve else 1.0
    ours = [(f"{point['fraction']:.0%} of the heads off", point["bits"] / whole - 1, OURS) for point in curve[1:]]
    return PaperCard(
        "michel",
        "Michel et al. (2019)",
        "Many heads can go: up to 40 % of BERT's heads are pruned without noticeable loss.",
        "loss added, as a share of the whole model's",
        _frame([("40% of the heads off", 0.0, PUBLISHED)]),
        _frame(ours),
        "Theirs is BERT-base on MNLI, pruned by gradient; “no noticeable loss” is drawn at zero, for no number was at hand. "
        "Ours predicts masked words of the reader, a task that uses every head, with heads pruned by gradient too.",
        "attention?panel=ablation",
    )


def _ethayarajh(measurements: Measurements | None) -> PaperCard:
    ours = []
    if measurements:
        for layer, (every, same) in enumerate(zip(measurements.anisotropy, measurements.self_similarity, strict=True)):
            name = "embeddings" if layer == 0 else f"layer {layer}"
            ours += [(name, same, OURS), (name, every, OUR_BASELINE)]
    return PaperCard(
        "ethayarajh",
        "Ethayarajh (2019)",
        "States are contextual and not isotropic: in upper layers a word's states in different sentences are less alike, "
        "and any two words are more alike than chance would have it.",
        "mean cosine of a word with itself elsewhere (baseline: of any two words, anisotropy)",
        _frame([]),
        _frame(ours),
        "The paper's numbers stand in its figures and are not repeated here. Ours are all words of the reader's test texts "
        "that occur five times or more; function words are most of them.",
        "states?section=similarity",
    )
