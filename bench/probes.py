"""States for probes against transformers in plain batches, and all layers' probes against scikit-learn's."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from transformers import BertModel
from transformers.utils import logging

import model
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert
from model.trace import batches_by_length
from probes.probing import experiment, features, tasks, treebank
from probes.probing.alignment import align
from probes.probing.examples import build_examples
from probes.probing.linear import LinearProbe

EXAMPLES = 30_000  # more than the reader has: all its words
PLAIN = 32  # sentences a batch, in the order they come
ROOT = Path(__file__).resolve().parent.parent
MEMORY = """
import resource, sys, tempfile, time
from pathlib import Path
import numpy as np
import model
from model import Bert, BertConfig
from probes.probing import features
tokenizer = model.load("english").tokenizer
# the feed-forward part is small, to be quick: the states are those of a base model, 13 layers of 768
bert = Bert.random_init(BertConfig(tokenizer.vocab_size, 768, 12, 12, 64, 512), tokenizer)
rng = np.random.default_rng(0)
encodings = [tokenizer.encode_ids(rng.integers(1000, 30000, 98).tolist()) for _ in range(1021)]
spans = np.array([(row, position, position + 1) for row in range(1021) for position in range(1, 99)])
started = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    for _ in features.extract(bert, encodings, spans, "first", range(13), Path(folder) / "states.npy"):
        pass
# anonymous memory of the process: pages of the file can be dropped by the system
resident = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))
print(len(spans), time.perf_counter() - started, resident / 2**20, end=" ")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    sentences = experiment.reader().sentences
    english = model.load("english")
    yield from _extraction(english, sentences)
    yield _probing(english, sentences)
    yield _memory()


def _extraction(bert: Bert, sentences: tuple[treebank.Sentence, ...]) -> Iterator[Row]:
    encodings = [aligned.encoding for aligned in align(bert, sentences).sentences]
    spans = np.array(
        [(row, position, position + 1) for row, encoding in enumerate(encodings) for position in range(len(encoding))]
    )
    with tempfile.TemporaryDirectory() as folder:
        reference = BertModel.from_pretrained(bert.save(Path(folder) / "english"), add_pooling_layer=False).eval()

    def ours() -> np.ndarray:
        states = np.empty((7, len(spans), 384), dtype=np.float32)
        for indices, vectors in features.iter_spans(bert, encodings, spans):
            states[:, indices] = vectors
        return states

    def theirs(batches: list[list[int]]) -> np.ndarray:
        states = np.empty((7, len(spans), 384), dtype=np.float32)
        for inputs in batches:
            batch = model.Batch.collate([encodings[index] for index in inputs])
            with torch.inference_mode():
                hidden = reference(
                    input_ids=batch.ids,
                    token_type_ids=batch.segments,
                    attention_mask=batch.attention_mask.long(),
                    output_hidden_states=True,
                ).hidden_states
            indices = np.concatenate([np.arange(starts[index], starts[index + 1]) for index in inputs])
            states[:, indices] = torch.stack(hidden)[:, batch.attention_mask].numpy()
        return states

    starts = np.concatenate([[0], np.cumsum([len(encoding) for encoding in encodings])])
    in_order = [list(range(start, min(start + PLAIN, len(encodings)))) for start in range(0, len(encodings), PLAIN)]
    by_length = list(batches_by_length(encodings))
    difference = float(np.abs(ours() - theirs(by_length)).max())
    assert difference < 1e-5, difference
    name = f"all layers of {len(encodings):,} sentences, {len(spans):,} wordpieces"
    note = f"largest difference {difference:.0e}"
    yield compare(
        name,
        ours,
        lambda: theirs(by_length),
        "transformers, by length",
        1.0,
        repeats=3,
        note=note,
        work=SAME,
        sides="both: the states of every piece at every layer, in the same batches of similar length",
    )
    yield compare(
        name,
        ours,
        lambda: theirs(in_order),
        f"transformers, batches of {PLAIN}",
        1.5,
        repeats=3,
        note=note,
        work=AS_USED,
        sides=f"ours in batches of similar length, theirs {PLAIN} sentences at a time as they come",
    )


def _probing(bert: Bert, sentences: tuple[treebank.Sentence, ...]) -> Row:
    examples = build_examples(bert, sentences, tasks.find("upos"), limit=EXAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npy"
        for _ in features.extract(bert, examples.encodings, examples.spans, "first", range(7), file):
            pass
        states = features.combine(np.array(features.open_memmap(file)), examples.span_indices)
    classes = sorted(set(examples.labels))
    labels = torch.tensor([classes.index(label) for label in examples.labels])
    train, test = (torch.from_numpy(np.flatnonzero(examples.splits == split)) for split in ("train", "test"))
    train_states, test_states = states[:, train], states[:, test]
    penalty = 1 / len(train)  # C = 1, scikit-learn's own default

    accuracy = {}  # of the last run: one more, only to compare accuracies, would take a minute

    def ours() -> None:
        probe = LinearProbe([penalty]).fit(train_states, labels[train])
        accuracy["ours"] = (probe.predict(test_states)[:, 0] == labels[test]).float().mean(-1).numpy()

    def theirs() -> None:
        accuracy["theirs"] = np.empty(7)
        for layer in range(7):
            mean, std = train_states[layer].mean(0), train_states[layer].std(0)
            probe = LogisticRegression(C=1.0, max_iter=1000).fit(
                ((train_states[layer] - mean) / std).numpy(), labels[train].numpy()
            )
            accuracy["theirs"][layer] = probe.score(((test_states[layer] - mean) / std).numpy(), labels[test].numpy())

    row = compare(
        f"part of speech, 7 layers × 384, {len(train):,} words, {len(classes)} classes",
        ours,
        theirs,
        "scikit-learn, C=1",
        aim=5.0,
        repeats=1,
        work=SAME,
        sides="both: the same words, scaled alike, the same penalty; each stops by its own rule",
    )
    difference = 100 * float(np.abs(accuracy["ours"] - accuracy["theirs"]).max())
    return replace(row, note=f"accuracies differ by {difference:.2f} points at most")


def _memory() -> Row:
    output = subprocess.run([sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    spans, seconds, resident, peak = output.split()
    return Row(
        f"{int(spans):,} wordpieces of 13 layers × 768 to disk",
        "itself",
        float(seconds),
        float(seconds),
        note=f"{float(resident):.2f} GB of its own, {float(peak):.2f} GB with the file's pages; 2 GB allowed",
        sides="ours only: what the process holds while states go to the disk",
    )
