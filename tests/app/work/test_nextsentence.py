"""The queue's work on pairs gives what the library gives, and goes on where it stopped."""

import numpy as np
import pandas as pd
import pytest

from app.work import nextsentence
from probes.nextsentence import benchmark, sentence_order

STORY = ["The old dog lay down by the fire.", "It was soon asleep.", "My sister put another log on."]
TEXTS = [[f"Document {number} has sentence {at} about {word} now." for at, word in enumerate("abcdefg")]
         for number in range(4)]


def test_a_job_writes_the_matrix_and_goes_on_where_it_stopped(english, tmp_path):
    said = list(nextsentence.order(tmp_path, "english", STORY))
    assert said[-1]["fraction"] == pytest.approx(1)
    found = np.load(tmp_path / "margins.npy")
    assert np.allclose(sentence_order.squared(found), sentence_order.matrix(english, STORY), atol=1e-5, equal_nan=True)
    found[0] = 7.0  # what is there already is kept, the rest is read
    found[3] = np.nan
    np.save(tmp_path / "margins.npy", found)
    list(nextsentence.order(tmp_path, "english", STORY))
    again = np.load(tmp_path / "margins.npy")
    assert again[0] == 7.0 and not np.isnan(again).any()


def test_a_job_reads_an_upload_and_writes_the_answers(english, tmp_path):
    (tmp_path / "upload.txt").write_text("\n\n".join(" ".join(document) for document in TEXTS), encoding="utf-8")
    said = list(nextsentence.exam(tmp_path, "english", "upload.txt", 5))
    assert said[-1]["fraction"] == pytest.approx(1)
    answered = pd.read_csv(tmp_path / "answers.csv")
    expected = benchmark.sit(english, benchmark.questions(benchmark.documents(tmp_path / "upload.txt"), 5))
    assert np.allclose(answered["probability"], expected["probability"], atol=1e-5)
