"""A saved result may be anybody's file: what is no result, or damaged, is refused in one sentence."""

import json

import numpy as np
import pytest

from model import InputError
from probes import bundled
from probes.probing import results
from probes.probing.results import ProbingResult
from probes.results import FORMAT


@pytest.fixture(scope="module")
def whole() -> dict:
    return json.loads(bundled.probing()["smallworld-upos"].json())


def test_a_stored_result_is_read_again_whole(whole):
    assert ProbingResult.parse(json.dumps(whole), "mine.json") == bundled.probing()["smallworld-upos"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        "[" * 100_000,
        json.dumps(FORMAT),
        json.dumps({"format": "bertscope result 2", "experiment": "probing"}),
        json.dumps({"format": FORMAT}),
        json.dumps({"format": FORMAT, "experiment": "fine-tuning"}),
        json.dumps({"format": FORMAT, "experiment": "probing"}),
        json.dumps({"format": [FORMAT], "experiment": "probing"}),
    ],
)
def test_what_is_no_result_is_refused_in_a_sentence(text):
    with pytest.raises(InputError, match=r"^mine\.json is .*\.$"):
        ProbingResult.parse(text, "mine.json")


def test_a_result_that_breaks_off_is_refused(whole):
    text = json.dumps(whole)
    for end in (10, len(text) // 2, len(text) - 1):
        with pytest.raises(InputError, match="mine"):
            ProbingResult.parse(text[:end], "mine.json")


@pytest.mark.parametrize("wrong", [None, 7, "text", [1], {"a": 1}, [[]], [None], float("nan")], ids=repr)
def test_no_field_of_the_wrong_type_passes(whole, wrong):
    for name in whole:
        if type(wrong) is type(whole[name]) and wrong != [None] and name != "rows":
            continue
        with pytest.raises(InputError, match="mine"):
            ProbingResult.parse(json.dumps(whole | {name: wrong}), "mine.json")


@pytest.mark.parametrize("name", ["accuracy", "low", "random_init", "layer"])
@pytest.mark.parametrize("wrong", [None, "high", [], float("nan"), float("inf")], ids=repr)
def test_no_score_that_is_no_number_passes(whole, name, wrong):
    rows = [whole["rows"][0] | {name: wrong}, *whole["rows"][1:]]
    with pytest.raises(InputError, match="damaged"):
        ProbingResult.parse(json.dumps(whole | {"rows": rows}), "mine.json")


@pytest.mark.parametrize(
    "changed",
    [
        {"confusion": {"0": [[1]]}},
        {"n_correct": {"0 0": "AAAA"}},
        {"n_correct": {"9 0": ""}},
        {"test_sets": {"0": {}}},
        {"mix": {"0": {"layers": [0]}}},
        {"labels": {"0": [{}]}},
        {"mistakes": {"0": [{"text": "a"}]}},
        {"weights": {"nine": []}},
        {"unknown": 1},
    ],
    ids=str,
)
def test_parts_that_do_not_belong_together_are_refused(whole, changed):
    with pytest.raises(InputError, match="damaged"):
        ProbingResult.parse(json.dumps(whole | changed), "mine.json")


def test_a_file_that_is_not_even_text_is_refused(tmp_path):
    (tmp_path / "mine.json").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="mine"):
        ProbingResult.read(tmp_path / "mine.json")


def test_counts_are_read_as_they_were_stored():
    counts = np.array([0, 3, 511, 65535])
    assert results.counts_from_json(results.counts_to_json(counts)).tolist() == counts.tolist()
