"""The queue's work on pairs gives what the library gives, and goes on where it stopped."""

import numpy as np
import pandas as pd
import pytest

from app.work import nextsentence
from probes.nextsentence import benchmark, sentence_order

STORY = ["The old dog lay down by the fire.", "It was soon asleep.", "My sister put another log on."]
TEXTS = [
    [f"Document {number} has sentence {index} about {word} now." for index, word in enumerate("abcdefg")]
    for number in range(4)
]


def test_a_job_writes_the_matrix_and_goes_on_where_it_stopped(english, tmp_path):
    progress = list(nextsentence.order(tmp_path, "english", STORY))
    assert progress[-1]["fraction"] == pytest.approx(1)
    file = tmp_path / "margins.npy"
    assert np.allclose(sentence_order.read_matrix(file), sentence_order.matrix(english, STORY), atol=1e-5, equal_nan=True)
    interrupted = np.load(file)
    interrupted[0], interrupted[3] = 7.0, np.nan  # one is there already, another is missing
    np.save(file, interrupted)
    list(nextsentence.order(tmp_path, "english", STORY))
    resumed = np.load(file)
    assert resumed[0] == 7.0
    assert not np.isnan(resumed).any()


def test_a_job_reads_an_upload_and_writes_the_answers(english, tmp_path):
    (tmp_path / "upload.txt").write_text("\n\n".join(" ".join(document) for document in TEXTS), encoding="utf-8")
    progress = list(nextsentence.benchmark(tmp_path, "english", "upload.txt", 5))
    assert progress[-1]["fraction"] == pytest.approx(1)
    answers = pd.read_csv(tmp_path / "answers.csv")
    expected = benchmark.evaluate(english, benchmark.sample_pairs(benchmark.documents(tmp_path / "upload.txt"), 5))
    assert np.allclose(answers["probability"], expected["probability"], atol=1e-5)
