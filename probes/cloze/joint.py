"""Joint decoding: BERT predicts each mask alone; here several are filled together.

BERT defines no joint probability, so every method is measured by the same one: the chain rule from left to right, each
word predicted with those before it filled in and those after it still masked.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding

BEAM_WIDTH = 10  # most probable words tried at each mask
BATCH_SIZE = 8  # prefixes that go through the model together
MAX_BATCHES = 24  # after which the search ends with the best decoding so far


@dataclass(frozen=True)
class Decoding:
    """One token for every mask, in the order of the positions, and log P of each by the chain rule."""

    method: str
    positions: tuple[int, ...]
    ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    order: tuple[int, ...]  # positions in the order in which they were decided

    @property
    def log_prob(self) -> float:
        return float(sum(self.log_probs))

    @property
    def probability(self) -> float:
        return float(np.exp(self.log_prob))


def decode_all(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> list[Decoding]:
    """The same masks filled independently, left to right, highest confidence first, and best first."""
    return [
        independent(bert, encoding, positions),
        left_to_right(bert, encoding, positions),
        most_confident_first(bert, encoding, positions),
        best_first(bert, encoding, positions),
    ]


def independent(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Decoding:
    """The most probable word of each mask, as if the others stayed masked: what BERT itself predicts."""
    ids = _probabilities(bert, encoding, positions, [()], positions)[0].argmax(-1)
    return _decoding(bert, encoding, "independent", positions, ids, positions)


def left_to_right(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Decoding:
    """The most probable word at the first mask, then at the next with the first filled in, and so on."""
    ids: tuple[int, ...] = ()
    for position in positions:
        ids += (int(_probabilities(bert, encoding, positions, [ids], [position])[0, 0].argmax()),)
    return _decoding(bert, encoding, "left to right", positions, ids, positions)


def most_confident_first(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Decoding:
    """Always the mask whose best word is the most probable, then again with that one filled in."""
    remaining, order, filled = list(positions), [], encoding
    while remaining:
        predicted = _probabilities(bert, filled, remaining, [()], remaining)[0]  # (remaining, vocabulary)
        index, token_id = np.unravel_index(predicted.argmax(), predicted.shape)
        order.append(remaining.pop(int(index)))
        filled = filled.replace_tokens({order[-1]: (int(token_id), bert.tokenizer.vocabulary[int(token_id)])})
    return _decoding(bert, encoding, "confidence first", positions, [filled.ids[p] for p in positions], order)


def best_first(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Decoding:
    """The decoding of highest joint probability: a search that always extends the most probable prefixes.

    A prefix is given up once it is less probable than a whole decoding already reached: longer is never more probable.
    """
    greedy = left_to_right(bert, encoding, positions)
    best_ids, best_log_prob = greedy.ids, greedy.log_prob
    heap: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]  # (-log P, prefix)
    for _ in range(MAX_BATCHES):
        prefixes = [heapq.heappop(heap) for _ in range(min(BATCH_SIZE, len(heap))) if -heap[0][0] > best_log_prob]
        if not prefixes:
            break
        # prefixes of one length go together, the others wait for a later batch
        length = len(prefixes[0][1])
        for prefix in prefixes:
            if len(prefix[1]) != length:
                heapq.heappush(heap, prefix)
        prefixes = [prefix for prefix in prefixes if len(prefix[1]) == length]
        predicted = _probabilities(bert, encoding, positions, [ids for _, ids in prefixes], [positions[length]])[:, 0]
        for (cost, ids), row in zip(prefixes, np.log(predicted), strict=True):
            for token_id in np.argpartition(row, -BEAM_WIDTH)[-BEAM_WIDTH:] if len(row) > BEAM_WIDTH else range(len(row)):
                log_prob, longer = float(row[token_id]) - cost, (*ids, int(token_id))
                if log_prob <= best_log_prob:
                    continue
                if len(longer) == len(positions):
                    best_ids, best_log_prob = longer, log_prob
                else:
                    heapq.heappush(heap, (-log_prob, longer))
    return _decoding(bert, encoding, "best first", positions, best_ids, positions)


def chain_log_probs(bert: Bert, encoding: Encoding, positions: Sequence[int], ids: Sequence[int]) -> np.ndarray:
    """log P of each token of a decoding, those to its left filled in and those to its right masked: (positions,)."""
    rows = [_fill(bert, encoding, positions, ids[:done]) for done in range(len(positions))]
    with torch.inference_mode():
        states = bert(rows)[torch.arange(len(rows)), list(positions)]
        return bert.mlm_logits(states).log_softmax(-1)[torch.arange(len(rows)), list(ids)].cpu().numpy()


def _decoding(
    bert: Bert, encoding: Encoding, method: str, positions: Sequence[int], ids: Iterable[int], order: Sequence[int]
) -> Decoding:
    ids = tuple(int(token_id) for token_id in ids)
    log_probs = tuple(float(log_prob) for log_prob in chain_log_probs(bert, encoding, positions, ids))
    return Decoding(method, tuple(positions), ids, log_probs, tuple(order))


def _probabilities(
    bert: Bert, encoding: Encoding, positions: Sequence[int], prefixes: Sequence[tuple[int, ...]], at: Sequence[int]
) -> np.ndarray:
    """P(token) at some positions after each prefix of a decoding: (prefixes, at, words of the tokenizer)."""
    with torch.inference_mode():
        states = bert([_fill(bert, encoding, positions, prefix) for prefix in prefixes])[:, list(at)]
        return bert.mlm_logits(states).softmax(-1)[..., : bert.tokenizer.vocab_size].cpu().numpy()


def _fill(bert: Bert, encoding: Encoding, positions: Sequence[int], ids: Sequence[int]) -> Encoding:
    """The input with the first masks filled in, as many as there are ids."""
    vocabulary = bert.tokenizer.vocabulary
    return encoding.replace_tokens(
        {position: (token_id, vocabulary[token_id]) for position, token_id in zip(positions, ids, strict=False)}
    )
