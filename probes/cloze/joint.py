"""Several masks at once: BERT predicts each alone; here they are filled together.

BERT gives no joint probability, so one is agreed on for every comparison: the chain rule from left to right, each word
predicted with those before it filled in and those after it still masked.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding

WIDTH = 10  # most probable words tried at each mask
AT_ONCE = 8  # partial fillings that go through the model together
ROUNDS = 24  # batches after which the search ends with the best filling so far


@dataclass(frozen=True)
class Filling:
    """One word for every mask: ids in the order of the positions, and log P of each by the chain rule."""

    method: str
    positions: tuple[int, ...]
    ids: tuple[int, ...]
    logs: tuple[float, ...]
    order: tuple[int, ...]  # positions in the order in which they were decided

    @property
    def log(self) -> float:
        return float(sum(self.logs))

    @property
    def probability(self) -> float:
        return float(np.exp(self.log))


def fillings(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> list[Filling]:
    """The same masks filled independently, left to right, highest confidence first, and best first."""
    return [independent(bert, encoding, positions), left_to_right(bert, encoding, positions),
            confident(bert, encoding, positions), best_first(bert, encoding, positions)]


def independent(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Filling:
    """Each mask gets its own most probable word, as if the others stayed masked: what BERT gives."""
    ids = _predicted(bert, encoding, positions, [()], positions)[0].argmax(-1)
    return _chained(bert, encoding, "independent", positions, ids, positions)


def left_to_right(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Filling:
    """The most probable word at the first mask, then at the next with the first filled in, and so on."""
    ids: tuple[int, ...] = ()
    for position in positions:
        ids += (int(_predicted(bert, encoding, positions, [ids], [position])[0, 0].argmax()),)
    return _chained(bert, encoding, "left to right", positions, ids, positions)


def confident(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Filling:
    """Always the mask whose best word is the most probable, then again with that one filled in."""
    left, order, now = list(positions), [], encoding
    while left:
        predicted = _predicted(bert, now, left, [()], left)[0]
        place, word = np.unravel_index(predicted.argmax(), predicted.shape)
        order.append(left.pop(int(place)))
        now = now.replaced({order[-1]: (int(word), bert.tokenizer.words[int(word)])})
    return _chained(bert, encoding, "confidence first", positions, [now.ids[p] for p in positions], order)


def best_first(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Filling:
    """The filling of highest joint probability: a search that always follows the most probable beginnings.

    A beginning is given up once it is less probable than a whole filling already found: longer is never more probable.
    """
    start = left_to_right(bert, encoding, positions)
    found, best = start.ids, start.log
    heap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for _ in range(ROUNDS):
        open_ = [heapq.heappop(heap) for _ in range(min(AT_ONCE, len(heap))) if -heap[0][0] > best]
        if not open_:
            break
        # beginnings of one length go together, the rest wait for their turn
        length = len(open_[0][1])
        for item in open_:
            if len(item[1]) != length:
                heapq.heappush(heap, item)
        open_ = [item for item in open_ if len(item[1]) == length]
        logs = np.log(_predicted(bert, encoding, positions, [ids for _, ids in open_], [positions[length]])[:, 0])
        for (cost, ids), row in zip(open_, logs, strict=True):
            for word in np.argpartition(row, -WIDTH)[-WIDTH:] if len(row) > WIDTH else range(len(row)):
                log, longer = float(row[word]) - cost, (*ids, int(word))
                if log <= best:
                    continue
                if len(longer) == len(positions):
                    found, best = longer, log
                else:
                    heapq.heappush(heap, (-log, longer))
    return _chained(bert, encoding, "best first", positions, found, positions)


def chain(bert: Bert, encoding: Encoding, positions: Sequence[int], ids: Sequence[int]) -> np.ndarray:
    """log P of each word of a filling, given those to its left and with those to its right masked: (positions,)."""
    rows = [_filled(bert, encoding, positions, ids[:done]) for done in range(len(positions))]
    with torch.inference_mode():
        states = bert(rows)[torch.arange(len(rows)), list(positions)]
        return bert.words(states).log_softmax(-1)[torch.arange(len(rows)), list(ids)].numpy()


def _chained(bert, encoding, method, positions, ids, order) -> Filling:
    ids = tuple(int(word) for word in ids)
    logs = tuple(float(log) for log in chain(bert, encoding, positions, ids))
    return Filling(method, tuple(positions), ids, logs, tuple(order))


def _predicted(bert: Bert, encoding: Encoding, positions: Sequence[int], begun: Sequence[tuple[int, ...]],
               asked: Sequence[int]) -> np.ndarray:
    """Predictions at the asked positions for each beginning: (beginnings, asked, words of the tokenizer)."""
    with torch.inference_mode():
        states = bert([_filled(bert, encoding, positions, ids) for ids in begun])[:, list(asked)]
        return bert.words(states).softmax(-1)[..., : bert.tokenizer.size].numpy()


def _filled(bert: Bert, encoding: Encoding, positions: Sequence[int], ids: Sequence[int]) -> Encoding:
    words = bert.tokenizer.words
    return encoding.replaced({position: (word, words[word]) for position, word in zip(positions, ids, strict=False)})
