"""A least-recently-used cache for the threads of all readers, bounded in bytes."""

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
SAMPLE = 1000  # items of a long list that are measured; the rest counts as being like them


@dataclass(frozen=True)
class _Entry:
    value: Any
    size: int


class ByteCache:
    """Values by key, at most `megabytes` of them in all; the latest `min_entries` stay whatever their size.

    Several readers who want the same value at the same moment have it computed once. Errors are not cached.
    """

    def __init__(self, megabytes: float, min_entries: int = 0):
        self.max_bytes, self.min_entries = int(megabytes * 2**20), min_entries
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()  # the least recently used first
        self._pending: dict[Hashable, Future] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    @property
    def size(self) -> int:
        """Bytes of all values and keys."""
        return self._size

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of this key: the cached one, the one that another reader is computing, or a new one."""
        while True:
            with self._lock:
                if (entry := self._entries.get(key)) is not None:
                    self._entries.move_to_end(key)
                    return entry.value
                pending = self._pending.get(key)
                if pending is None:
                    future = self._pending[key] = Future()
                    break
            try:
                return pending.result()
            except _Abandoned:
                continue  # whoever computed it left the page: somebody else does
        return self._compute(key, compute, future)

    def _compute(self, key: Hashable, compute: Callable[[], T], future: Future) -> T:
        try:
            value = compute()
            self._add(key, value)
        except BaseException as error:
            # Streamlit ends the run of a reader who moved on by an exception that is no Exception: not the others' affair
            self._remove_pending(key)
            future.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        self._remove_pending(key)
        future.set_result(value)
        return value

    def _remove_pending(self, key: Hashable) -> None:
        with self._lock:
            del self._pending[key]

    def _add(self, key: Hashable, value: Any) -> None:
        size = size_of(key) + size_of(value)
        if size > self.max_bytes and not self.min_entries:
            return
        with self._lock:
            self._entries[key] = _Entry(value, size)
            self._size += size
            while self._size > self.max_bytes and len(self._entries) > max(1, self.min_entries):
                self._size -= self._entries.popitem(last=False)[1].size


class _Abandoned(Exception):
    """The reader who computed a value was interrupted."""


def size_of(value: Any) -> int:
    """Bytes that a value holds in memory, each buffer once: arrays, tensors, tables and whatever contains them."""
    return _size_of(value, set())


def _size_of(value: Any, counted: set[int]) -> int:
    value = _buffer_owner(value)
    if id(value) in counted:
        return 0
    counted.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, torch.Tensor):
        storage = value.untyped_storage()  # many tensors may lie in one, and keep the whole of it
        if storage.data_ptr() in counted:
            return 0
        counted.add(storage.data_ptr())
        return storage.nbytes()
    if isinstance(value, nn.Module):
        return sum(_size_of(tensor, counted) for tensor in (*value.parameters(), *value.buffers()))
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=True).sum())
    if isinstance(value, pd.Series):
        return int(value.memory_usage(deep=True))
    own = sys.getsizeof(value)
    if isinstance(value, dict):
        return own + _size_of_items([*value.keys()], counted) + _size_of_items([*value.values()], counted)
    if isinstance(value, (list, tuple, set, frozenset)):
        return own + _size_of_items([*value], counted)
    if isinstance(value, (str, bytes, bytearray, int, float, complex, type)) or value is None:
        return own
    return own + (_size_of_items([*vars(value).values()], counted) if hasattr(value, "__dict__") else 0)


def _buffer_owner(value: Any) -> Any:
    """What a view looks at: the whole of it stays in memory as long as the view does."""
    while isinstance(value, np.ndarray) and isinstance(value.base, (np.ndarray, torch.Tensor)):
        value = value.base
    return value


def _size_of_items(items: list[Any], counted: set[int]) -> int:
    step = -(-len(items) // SAMPLE) if len(items) > SAMPLE else 1
    part = items[::step]
    return sum(_size_of(item, counted) for item in part) * len(items) // max(1, len(part))
