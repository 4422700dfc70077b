"""Answers kept for all readers at once, bounded in bytes: the one least lately wanted goes first."""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from torch import nn

T = TypeVar("T")
SAMPLE = 1000  # items of a long list that are measured; the rest is taken to be like them


@dataclass(frozen=True)
class _Entry:
    value: Any
    size: int


class ByteCache:
    """Values by key, at most `megabytes` of them in all; the latest `least` values stay whatever their size.

    Several readers who want the same value at the same moment have it computed once. Errors are not kept.
    """

    def __init__(self, megabytes: float, least: int = 0):
        self.bound, self.least = int(megabytes * 2**20), least
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()  # the least lately wanted first
        self._pending: dict[Hashable, Future] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    @property
    def size(self) -> int:
        """Bytes of everything that is kept."""
        return self._size

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of this key: the kept one, the one that another reader is computing, or a new one."""
        while True:
            with self._lock:
                if (entry := self._entries.get(key)) is not None:
                    self._entries.move_to_end(key)
                    return entry.value
                pending = self._pending.get(key)
                if pending is None:
                    mine = self._pending[key] = Future()
                    break
            try:
                return pending.result()
            except _Abandoned:
                continue  # whoever computed it left the page: somebody else does
        return self._computed(key, compute, mine)

    def _computed(self, key: Hashable, compute: Callable[[], T], mine: Future) -> T:
        try:
            value = compute()
            self._keep(key, value)
        except BaseException as error:
            # Streamlit ends the run of a reader who moved on by an exception that is no Exception: not the others' affair
            self._settled(key)
            mine.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        self._settled(key)
        mine.set_result(value)
        return value

    def _settled(self, key: Hashable) -> None:
        with self._lock:
            del self._pending[key]

    def _keep(self, key: Hashable, value: Any) -> None:
        size = measured(key) + measured(value)
        if size > self.bound and not self.least:
            return
        with self._lock:
            self._entries[key] = _Entry(value, size)
            self._size += size
            while self._size > self.bound and len(self._entries) > max(1, self.least):
                self._size -= self._entries.popitem(last=False)[1].size


class _Abandoned(Exception):
    """The reader who computed a value was interrupted."""


def measured(value: Any) -> int:
    """Bytes that a value holds in memory, each buffer once: arrays, tensors, tables and whatever is made of them."""
    return _measured(value, set())


def _measured(value: Any, seen: set[int]) -> int:
    value = _owner(value)
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()  # many tensors may lie in one, and keep the whole of it
        if storage.data_ptr() in seen:
            return 0
        seen.add(storage.data_ptr())
        return storage.nbytes()
    if isinstance(value, nn.Module):
        return sum(_measured(tensor, seen) for tensor in (*value.parameters(), *value.buffers()))
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=True).sum())
    if isinstance(value, pd.Series):
        return int(value.memory_usage(deep=True))
    own = sys.getsizeof(value)
    if isinstance(value, dict):
        return own + _many([*value.keys()], seen) + _many([*value.values()], seen)
    if isinstance(value, (list, tuple, set, frozenset)):
        return own + _many([*value], seen)
    if isinstance(value, (str, bytes, bytearray, int, float, complex, type)) or value is None:
        return own
    return own + (_many([*vars(value).values()], seen) if hasattr(value, "__dict__") else 0)


def _owner(value: Any) -> Any:
    """What a view looks at: the whole of it stays in memory as long as the view does."""
    while isinstance(value, np.ndarray) and isinstance(value.base, (np.ndarray, torch.Tensor)):
        value = value.base
    return value


def _many(items: list[Any], seen: set[int]) -> int:
    step = -(-len(items) // SAMPLE) if len(items) > SAMPLE else 1
    part = items[::step]
    return sum(_measured(item, seen) for item in part) * len(items) // max(1, len(part))
