"""States for probes against transformers in plain batches, and all layers' probes against scikit-learn's."""

import os
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
from model.trace import alike
from probes.probing import features, tasks, treebank
from probes.probing.linear import LinearProbe

SENTENCES = 2000
EXAMPLES = 30_000
PLAIN = 32  # sentences a batch, in the order they come
ROOT = Path(__file__).resolve().parent.parent
MEMORY = """
import resource, sys, tempfile, time
from pathlib import Path
import numpy as np
import model
from model import Bert, BertConfig
from probes import store
tokenizer = model.load("english").tokenizer
# the feed-forward part is small, to be quick: the states are those of a base model, 13 layers of 768
bert = Bert.random(BertConfig(tokenizer.size, 768, 12, 12, 64, 512), tokenizer)
draw = np.random.default_rng(0)
encodings = [tokenizer.encode_ids(draw.integers(1000, 30000, 98).tolist()) for _ in range(1021)]
places = np.array([(row, place, place + 1) for row in range(1021) for place in range(1, 99)])
started = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    for _ in store.extract(bert, encodings, places, "first", range(13), Path(folder) / "states.npy"):
        pass
# what the process itself holds: pages of the file are the system's to drop
held = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))
print(len(places), time.perf_counter() - started, held / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder = Path(os.environ.get("BERTSCOPE_DATA", ROOT.parent / "shared" / "data")) / "treebank"
    if not folder.is_dir():
        print(f"  needs a Universal Dependencies treebank in {folder} (BERTSCOPE_DATA names another place)")
        return
    sentences = treebank.read(folder).sentences
    english = model.load("english")
    yield from _extraction(english, sentences)
    yield _probing(english, sentences)
    yield _memory()


def _extraction(bert: Bert, sentences: tuple[treebank.Sentence, ...]) -> Iterator[Row]:
    kept, _ = treebank.aligned(bert, sentences[:SENTENCES])
    encodings = [one.encoding for one in kept]
    places = np.array([(row, place, place + 1) for row, one in enumerate(encodings) for place in range(len(one))])
    with tempfile.TemporaryDirectory() as folder:
        other = BertModel.from_pretrained(bert.save(Path(folder) / "english"), add_pooling_layer=False).eval()

    def ours() -> np.ndarray:
        made = np.empty((7, len(places), 384), dtype=np.float32)
        for chosen, vectors in features.pooled(bert, encodings, places):
            made[:, chosen] = vectors
        return made

    def theirs(batches: list[list[int]]) -> np.ndarray:
        made = np.empty((7, len(places), 384), dtype=np.float32)
        for rows_ in batches:
            batch = model.Batch.of([encodings[row] for row in rows_])
            with torch.inference_mode():
                hidden = other(input_ids=batch.ids, token_type_ids=batch.segments, attention_mask=batch.mask.long(),
                               output_hidden_states=True).hidden_states
            made[:, np.concatenate([np.arange(starts[row], starts[row + 1]) for row in rows_])] = torch.stack(
                hidden)[:, batch.mask].numpy()
        return made

    starts = np.concatenate([[0], np.cumsum([len(one) for one in encodings])])
    as_they_come = [list(range(start, min(start + PLAIN, len(encodings)))) for start in range(0, len(encodings), PLAIN)]
    by_length = list(alike(encodings))
    apart = float(np.abs(ours() - theirs(by_length)).max())
    assert apart < 1e-5, apart
    name = f"all layers of {len(encodings):,} sentences, {len(places):,} pieces"
    note = f"largest difference {apart:.0e}"
    yield compare(name, ours, lambda: theirs(by_length), "transformers, by length", 1.0, repeats=3, note=note, work=SAME,
                  sides="both: the states of every piece at every layer, in the same batches of similar length")
    yield compare(name, ours, lambda: theirs(as_they_come), f"transformers, batches of {PLAIN}", 1.5, repeats=3, note=note,
                  work=AS_USED, sides=f"ours in batches of similar length, theirs {PLAIN} sentences at a time as they come")


def _probing(bert: Bert, sentences: tuple[treebank.Sentence, ...]) -> Row:
    made = tasks.examples(bert, sentences, tasks.find("upos"), limit=EXAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "states.npy"
        for _ in features.extract(bert, [one for _, one in made.inputs], made.places, "first", range(7), file):
            pass
        states = features.features(np.array(features.opened(file)), made.rows)
    classes = sorted(set(made.labels))
    labels = torch.tensor([classes.index(label) for label in made.labels])
    train, test = (torch.from_numpy(np.flatnonzero(made.splits == split)) for split in ("train", "test"))
    learn, judge = states[:, train], states[:, test]
    penalty = 1 / len(train)  # C = 1, scikit-learn's own default

    scores = {}  # of the last run: one more, only to compare accuracies, would take a minute

    def ours() -> None:
        probe = LinearProbe([penalty]).fit(learn, labels[train])
        scores["ours"] = (probe.predict(judge)[:, 0] == labels[test]).float().mean(-1).numpy()

    def theirs() -> None:
        scores["theirs"] = np.empty(7)
        for layer in range(7):
            mean, spread = learn[layer].mean(0), learn[layer].std(0)
            probe = LogisticRegression(C=1.0, max_iter=1000).fit(
                ((learn[layer] - mean) / spread).numpy(), labels[train].numpy())
            scores["theirs"][layer] = probe.score(((judge[layer] - mean) / spread).numpy(), labels[test].numpy())

    row = compare(f"part of speech, 7 layers × 384, {len(train):,} words, {len(classes)} classes", ours, theirs,
                  "scikit-learn, C=1", aim=5.0, repeats=1, work=SAME,
                  sides="both: the same words, scaled alike, the same penalty; each stops by its own rule")
    apart = 100 * float(np.abs(scores["ours"] - scores["theirs"]).max())
    return replace(row, note=f"accuracies differ by {apart:.2f} points at most")


def _memory() -> Row:
    said = subprocess.run([sys.executable, "-c", MEMORY], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    places, seconds, held, peak = said.split()
    return Row(f"{int(places):,} pieces of 13 layers × 768 to disk", "itself", float(seconds), float(seconds),
               note=f"{float(held):.2f} GB of its own, {float(peak):.2f} GB with the file's pages; 2 GB allowed",
               sides="ours only: what the process holds while states go to the disk")
