"""The cloze test: which word stands behind a mask, how likely is a word, how likely is a sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from model import Batch, Bert, Edits, Encoding, InputProblem, Token
from model.tokenizer import MASK

# how a piece of a word is hidden when a sentence is scored: alone, or with the pieces of its word that come after it
VARIANTS = ("within_word_l2r", "original")


def vocabulary_word(bert: Bert, text: str) -> str | None:
    """The one wordpiece that a text is to this model, after its own rules on case and accents; None where it takes more."""
    ids = bert.tokenizer.pieces(text)
    return bert.tokenizer.words[ids[0]] if len(ids) == 1 and ids[0] != bert.tokenizer.unknown else None


def fill(bert: Bert, text: str, k: int = 5) -> pd.DataFrame:
    """The k most probable words behind each [MASK] of a text: position, word, probability, best first."""
    encoding = bert.tokenizer.encode(text)
    places = masks(bert, encoding)
    return best(bert, masked(bert, encoding, places), places, k)


def score(bert: Bert, texts: Sequence[str], variant: str = "within_word_l2r") -> np.ndarray:
    """Pseudo-log-likelihood of each text in nats: the sum of `each`. Salazar et al. (2020); Kauf & Ivanova (2023)."""
    encodings = [bert.tokenizer.encode(text) for text in texts]
    return np.array([row.sum() for row in each(bert, encodings, variant)])


def masks(bert: Bert, encoding: Encoding) -> list[int]:
    """The positions that are masked; at least one must be."""
    found = [token.position for token in encoding.tokens if token.id == bert.tokenizer.mask]
    if not found:
        raise InputProblem(f"No word is masked: write {MASK} where a word is missing.")
    return found


def masked(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Encoding:
    """The same input with [MASK] at some positions; something must be left to predict from."""
    hidden = encoding.replaced(dict.fromkeys(positions, (bert.tokenizer.mask, MASK)))
    if all(token.special or token.id == bert.tokenizer.mask for token in hidden.tokens):
        raise InputProblem("Every word is masked, so nothing is left to predict from: leave at least one.")
    return hidden


def probabilities(bert: Bert, encoding: Encoding, positions: Sequence[int], edits: Edits | None = None) -> np.ndarray:
    """The model's prediction at some positions of an input as it stands: (positions, vocabulary)."""
    with torch.inference_mode():
        asked = torch.tensor(positions, dtype=torch.long)
        states = bert.at(torch.zeros_like(asked), asked, encoding, edits)
        return bert.words(states).softmax(-1).numpy()


def best(bert: Bert, encoding: Encoding, positions: Sequence[int], k: int = 5,
         edits: Edits | None = None) -> pd.DataFrame:
    """The k most probable words at each position: position, word, probability, best first."""
    bert.need_mlm()
    words, shares = _top(bert, probabilities(bert, encoding, positions, edits), k)
    at = np.repeat(np.asarray(positions, dtype=int), len(words) // max(1, len(positions)))
    return pd.DataFrame({"position": at, "word": words, "probability": shares})


def listed(bert: Bert, predicted: np.ndarray, k: int) -> pd.DataFrame:
    """The k most probable words of one or more predictions (..., vocabulary): word, probability, best first."""
    words, shares = _top(bert, predicted, k)
    return pd.DataFrame({"word": words, "probability": shares})


def _top(bert: Bert, predicted: np.ndarray, k: int) -> tuple[list[str], np.ndarray]:
    top = torch.from_numpy(predicted[..., : bert.tokenizer.size]).topk(min(k, bert.tokenizer.size))
    words = bert.tokenizer.words
    return [words[index] for index in top.indices.flatten().tolist()], top.values.flatten().numpy()


def rank(predicted: np.ndarray, words: Sequence[int]) -> np.ndarray:
    """The place of one word in each prediction, 0 is the most probable: (positions, vocabulary) -> (positions,)."""
    own = np.take_along_axis(predicted, np.asarray(words)[:, None], axis=1)
    return (predicted > own).sum(axis=1)


@dataclass(frozen=True)
class Standing:
    """How a word does in one place: its pieces, the probability of each, their product, and its rank.

    A word of several pieces has as many masks as pieces, and each piece is predicted with those before it filled in.
    It has no rank: the words it competes with need another number of masks.
    """

    word: str
    pieces: tuple[str, ...]
    each: tuple[float, ...]
    rank: int | None

    @property
    def probability(self) -> float:
        return float(np.prod(self.each))


def standing(bert: Bert, encoding: Encoding, start: int, stop: int, word: str) -> Standing:
    """How a word does in place of the positions from start up to stop, everything else as it stands."""
    bert.need_mlm()
    ids = spelled(bert, word)
    blank = [bert.tokenizer.mask]
    rows = [spliced(bert, encoding, start, stop, ids[:done] + blank * (len(ids) - done)) for done in range(len(ids))]
    with torch.inference_mode():
        states = bert.at(torch.arange(len(ids)), torch.arange(start, start + len(ids)), rows)
        predicted = bert.words(states).softmax(-1).numpy()
    each = tuple(float(predicted[place, piece]) for place, piece in enumerate(ids))
    place = int(rank(predicted, ids)[0]) if len(ids) == 1 else None
    return Standing(word.strip(), tuple(bert.tokenizer.words[piece] for piece in ids), each, place)


def spelled(bert: Bert, word: str) -> list[int]:
    """The pieces of a word; it must have some, and the vocabulary must know them."""
    ids = bert.tokenizer.pieces(word)
    if not ids or set(ids) & bert.tokenizer.special_ids:
        raise InputProblem(f"“{word.strip()}” cannot be spelled with this model's vocabulary: type another word.")
    return ids


def spliced(bert: Bert, encoding: Encoding, start: int, stop: int, ids: Sequence[int]) -> Encoding:
    """The same input with other pieces in place of those from start up to stop; later positions move along."""
    old = encoding.tokens
    new = [Token(bert.tokenizer.words[piece], piece, old[start].segment, start + place, old[start].word,
                 old[start].span) for place, piece in enumerate(ids)]
    moved = [Token(t.text, t.id, t.segment, start + len(ids) + place, t.word, t.span)
             for place, t in enumerate(old[stop:])]
    return Encoding((*old[:start], *new, *moved), encoding.texts, encoding.cut)


def each(bert: Bert, encodings: Sequence[Encoding], variant: str = "within_word_l2r",
         tokens_at_once: int = 1024) -> list[np.ndarray]:
    """log P of every wordpiece of each input, masked in turn with the others in sight: (pieces,) each.

    "original" hides the piece alone (Salazar et al., 2020): the rest of a split word then gives it away, and rare words
    seem likely. "within_word_l2r" hides the later pieces of its word with it (Kauf & Ivanova, 2023), as if the word were
    spelled from left to right; words of one piece score alike. [CLS], [SEP] and words that are masked already are not
    scored.
    """
    bert.need_mlm()
    if variant not in VARIANTS:
        raise InputProblem(f"A sentence is scored by one of {', '.join(VARIANTS)}, not by {variant!r}.")
    special = (bert.tokenizer.mask, bert.tokenizer.pad)
    places = [[t.position for t in encoding.tokens if not t.special and t.id not in special] for encoding in encodings]
    if not all(places):
        raise InputProblem("Every word is masked: a sentence is scored by its words.")
    logs = [np.zeros(len(row)) for row in places]
    for rows in _together([len(encoding) for encoding in encodings], places, tokens_at_once):
        batch = Batch.of([encodings[owner] for owner, _ in rows], bert.config.pad_token_id)
        at = torch.tensor([places[owner][nth] for owner, nth in rows])
        every = torch.arange(len(rows))
        true = batch.ids[every, at]
        for row, (owner, nth) in enumerate(rows):
            hidden = [places[owner][nth]]
            if variant == "within_word_l2r":
                hidden += _rest_of_word(encodings[owner], places[owner][nth])
            batch.ids[row, hidden] = bert.tokenizer.mask
        with torch.inference_mode():
            scores = bert.words(bert.at(every, at, batch))  # (rows, vocabulary)
            shares = (scores[every, true] - scores.logsumexp(-1)).numpy()
        for (owner, nth), share in zip(rows, shares, strict=True):
            logs[owner][nth] = share
    return logs


def _rest_of_word(encoding: Encoding, position: int) -> list[int]:
    """The pieces of the same word that come after a piece of it."""
    return [t.position for t in encoding.tokens[position + 1:] if t.word == encoding.tokens[position].word]


def _together(lengths: Sequence[int], places: Sequence[Sequence[int]],
              tokens_at_once: int) -> Iterator[list[tuple[int, int]]]:
    """(input, nth word) of every copy to run, in groups of similar length."""
    group: list[tuple[int, int]] = []
    for owner in sorted(range(len(lengths)), key=lengths.__getitem__):
        for nth in range(len(places[owner])):
            if group and (len(group) + 1) * lengths[owner] > tokens_at_once:
                yield group
                group = []
            group.append((owner, nth))
    if group:
        yield group
