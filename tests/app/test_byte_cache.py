"""Answers for all readers: bounded in bytes, computed once, the least recently used forgotten first."""

import threading
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch

from app.byte_cache import ByteCache, size_of

PIECES = 512


@dataclass(frozen=True)
class Answer:
    name: str
    weights: np.ndarray


def array(megabytes: float) -> np.ndarray:
    return np.zeros(int(megabytes * 2**20), dtype=np.uint8)


def test_forty_different_inputs_stay_under_the_bound():
    cache = ByteCache(megabytes=10)
    for number in range(40):
        answer = cache.get(("input", number), lambda number=number: Answer(str(number), array(0.9)))
        assert answer.name == str(number)
        assert cache.size <= 10 * 2**20
    assert len(cache) == 11  # of 0.9 MB each


def test_a_long_trace_weighs_what_its_arrays_weigh(english):
    trace = english.trace("word " * 700)
    assert len(trace.tokens) == PIECES
    arrays = [value for value in vars(trace).values() if isinstance(value, np.ndarray)]
    weight = sum(value.nbytes for value in arrays)
    assert weight > 80e6
    assert weight <= size_of(trace) < 1.02 * weight


def test_forty_real_texts_stay_under_the_bound(tiny_bert):
    one = size_of(tiny_bert.trace("the cat sat on the mat."))
    cache = ByteCache(megabytes=5 * one / 2**20)
    for number in range(40):
        cache.get(number, lambda number=number: tiny_bert.trace(f"the cat sat on {'the ' * (number % 3)}mat."))
        assert cache.size <= cache.max_bytes
    assert 3 <= len(cache) <= 5


def test_what_was_not_wanted_for_longest_goes_first():
    cache = ByteCache(megabytes=3.5)
    for name in "abc":
        cache.get(name, lambda: array(1))
    cache.get("a", pytest.fail)
    cache.get("d", lambda: array(1))
    assert [name for name in "abcd" if name in cache] == ["a", "c", "d"]


def test_a_value_larger_than_the_bound_is_answered_and_not_kept():
    cache = ByteCache(megabytes=1)
    cache.get("small", lambda: array(0.5))
    assert len(cache.get("large", lambda: array(2))) == 2 * 2**20
    assert "large" not in cache and "small" in cache


def test_the_latest_few_stay_whatever_their_size_where_that_is_promised():
    cache = ByteCache(megabytes=1, min_entries=2)
    for name in "abc":
        cache.get(name, lambda: array(2))
    assert [name for name in "abc" if name in cache] == ["b", "c"]


def test_an_error_is_said_and_not_kept():
    cache = ByteCache(megabytes=1)
    with pytest.raises(ValueError, match="once"):
        cache.get("answer", lambda: (_ for _ in ()).throw(ValueError("once")))
    assert cache.get("answer", lambda: 7) == 7


def together(cache: ByteCache, first, others: list) -> list:
    """Readers of one key: the first is at work when the others come; what each gets, an answer or an error."""
    begun, go = threading.Event(), threading.Event()
    results: list = [None] * (1 + len(others))

    def slow():
        begun.set()
        assert go.wait(60)
        return first()

    def read(index: int, compute) -> None:
        try:
            results[index] = cache.get("answer", compute)
        except BaseException as error:
            results[index] = error

    readers = [threading.Thread(target=read, args=(index, compute)) for index, compute in enumerate([slow, *others])]
    readers[0].start()
    assert begun.wait(60)
    for reader in readers[1:]:
        reader.start()
    go.set()
    for reader in readers:
        reader.join(60)
    return results


def test_readers_at_the_same_moment_have_it_computed_once():
    counted = []

    def count():
        counted.append(1)
        return array(0.1)

    results = together(ByteCache(megabytes=1), count, [count] * 5)
    assert len(counted) == 1
    assert all(result is results[0] for result in results)


def test_who_leaves_the_page_does_not_end_the_others():
    class LeftThePage(BaseException):
        pass

    def leave():
        raise LeftThePage

    left, *others = together(ByteCache(megabytes=1), leave, [lambda: 7] * 3)
    assert isinstance(left, LeftThePage)
    assert others == [7, 7, 7]


def test_a_view_weighs_what_it_keeps_in_memory():
    whole = array(1)
    assert size_of(whole[:10]) == size_of((whole[:10], whole[5:])) - size_of(()) - 16 == 2**20


def test_tables_texts_and_models_have_their_weight(tiny_bert):
    table = pd.DataFrame({"word": ["mat"] * 1000, "probability": np.zeros(1000)})
    assert size_of(table) >= 1000 * 8 + 1000 * 3
    assert size_of(b"x" * 5000) >= 5000
    weights = sum(parameter.numel() * 4 for parameter in tiny_bert.parameters())
    assert weights <= size_of(tiny_bert) <= 1.01 * weights
    assert size_of(torch.zeros(1000)[:10]) == 4000


def test_a_long_list_is_measured_by_a_part_of_it():
    items = [f"sentence number {number:06}" for number in range(50_000)]
    exact = sum(map(size_of, items))
    assert abs(size_of(items) - size_of([]) - 8 * len(items) - exact) < 0.02 * exact
