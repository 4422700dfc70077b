"""A saved result may be anybody's file: what is no result, or damaged, is refused in one sentence."""

import json

import pytest

from model import InputProblem
from probes import bundled
from probes.probing import results


@pytest.fixture(scope="module")
def whole() -> dict:
    return json.loads(bundled.probed()[-1].json())


def test_a_stored_result_is_read_again_whole(whole):
    assert results.parse(json.dumps(whole), "mine.json") == bundled.probed()[-1]


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[" * 100_000, '"bertscope probe 2"',
                                  '{"format": "bertscope probe 1"}', '{"format": "bertscope probe 2"}',
                                  '{"format": ["bertscope probe 2"]}'])
def test_what_is_no_result_is_refused_in_a_sentence(text):
    with pytest.raises(InputProblem, match=r"^mine\.json is .*\.$"):
        results.parse(text, "mine.json")


def test_a_result_that_breaks_off_is_refused(whole):
    text = json.dumps(whole)
    for end in (10, len(text) // 2, len(text) - 1):
        with pytest.raises(InputProblem, match="mine"):
            results.parse(text[:end], "mine.json")


@pytest.mark.parametrize("wrong", [None, 7, "text", [1], {"a": 1}, [[]], [None], float("nan")], ids=repr)
def test_no_field_of_the_wrong_type_passes(whole, wrong):
    for name in whole:
        if type(wrong) is type(whole[name]) and wrong != [None] and name != "rows":
            continue
        with pytest.raises(InputProblem, match="mine"):
            results.parse(json.dumps(whole | {name: wrong}), "mine.json")


@pytest.mark.parametrize("name", ["accuracy", "low", "twin", "layer"])
@pytest.mark.parametrize("wrong", [None, "high", [], float("nan"), float("inf")], ids=repr)
def test_no_score_that_is_no_number_passes(whole, name, wrong):
    rows = [whole["rows"][0] | {name: wrong}, *whole["rows"][1:]]
    with pytest.raises(InputProblem, match="damaged"):
        results.parse(json.dumps(whole | {"rows": rows}), "mine.json")


@pytest.mark.parametrize("changed", [{"confusion": {"0": [[1]]}}, {"hits": {"0 0": "AAAA"}}, {"hits": {"9 0": ""}},
                                     {"tests": {"0": {}}}, {"mix": {"0": {"layers": [0]}}}, {"labels": {"0": [{}]}},
                                     {"mistakes": {"0": [{"text": "a"}]}}, {"maps": {"nine": []}}], ids=str)
def test_parts_that_do_not_belong_together_are_refused(whole, changed):
    with pytest.raises(InputProblem, match="damaged"):
        results.parse(json.dumps(whole | changed), "mine.json")


def test_a_file_that_is_not_even_text_is_refused(tmp_path):
    (tmp_path / "mine.json").write_bytes(bytes(range(256)))
    with pytest.raises(InputProblem, match="mine"):
        results.read(tmp_path / "mine.json")


def test_counts_are_unpacked_as_they_were_packed():
    import numpy as np
    numbers = np.array([0, 3, 511, 65535])
    assert results.counts(results.packed_counts(numbers)).tolist() == numbers.tolist()
