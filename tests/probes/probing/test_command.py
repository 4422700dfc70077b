"""`run.py probe` as a process: numbers and a file at the end, one sentence and the code 2 where it cannot."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT


def typed(*words: str, place=ROOT) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "probes.probing", *words],
        cwd=place,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )


def test_a_small_run_prints_its_table_and_writes_its_file(tmp_path):
    file = tmp_path / "result.json"
    done = typed("--model", "smallworld", "--layers", "1", "--limit", "200", "--seeds", "2", "--out", str(file))
    assert done.returncode == 0, done.stderr
    assert "part of speech · smallworld" in done.stdout and "means of the seeds 0 to 1" in done.stdout
    content = json.loads(file.read_text())
    assert content["finished"] and [row["seed"] for row in content["rows"]] == [0, 1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "nobody"], "nobody"),
        (["--data", "nowhere.conllu"], "nowhere.conllu"),
        (["--model", "smallworld", "--layers", "0-9"], "This model has the layers 0 (embeddings) to 2, not 0-9."),
        (["--out", "nowhere/table.csv"], "There is no folder nowhere to write table.csv into."),
        (["--out", "table.xls"], "--out takes a .csv or a .json file, not table.xls."),
        (["--model", "smallworld", "--seeds", "0"], "An experiment needs one seed at least, not 0."),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(words, sentence):
    done = typed(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr and done.stderr.strip().count("\n") == 0
