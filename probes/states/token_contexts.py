"""Every token of many sentences with its state at each layer: words met in context."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import model
from model import Bert, InputProblem
from model.pretraining import corpus

from . import geometry


@dataclass(frozen=True)
class Places:
    """Where tokens come from: for each its text, its sentence and its characters in it, side by side."""

    sentences: tuple[str, ...]
    texts: tuple[str, ...]  # wordpieces
    sentence: np.ndarray  # (tokens) index into sentences
    spans: np.ndarray  # (tokens, 2) characters of the sentence
    words: np.ndarray  # (tokens) number of the word within its sentence

    def __len__(self) -> int:
        return len(self.texts)

    def around(self, token: int) -> tuple[str, str, str]:
        """The sentence of a token in three parts: before it, the token, after it."""
        text, (start, end) = self.sentences[self.sentence[token]], self.spans[token]
        return text[:start], text[start:end], text[end:]


@dataclass(frozen=True)
class Contexts:
    """The tokens of many sentences, without [CLS] and [SEP], and their states at some layers."""

    places: Places
    vectors: np.ndarray  # (layers, tokens, hidden)


def split(text: str) -> list[str]:
    """Sentences of a text; a line ends one."""
    return [sentence for line in text.splitlines() for sentence in corpus.sentences(line)]


def places(encodings: Sequence[model.Encoding]) -> Places:
    """Where each token of the encodings comes from, in reading order."""
    kept = [(index, token) for index, encoding in enumerate(encodings) for token in encoding.tokens
            if not token.special]
    return Places(tuple(encoding.texts[0] for encoding in encodings), tuple(token.text for _, token in kept),
                  np.array([index for index, _ in kept], np.int32),
                  np.array([token.span for _, token in kept], np.int32).reshape(-1, 2),
                  np.array([token.word for _, token in kept], np.int32))


def stream(bert: Bert, encodings: Sequence[model.Encoding], layers: Sequence[int] | None = None
           ) -> Iterator[tuple[slice, np.ndarray]]:
    """The states of each encoding's own tokens, (layers, tokens, hidden), and their place among all tokens."""
    ends = np.cumsum([sum(not token.special for token in encoding.tokens) for encoding in encodings])
    for row, states in model.states(bert, encodings, layers):
        own = [token.position for token in encodings[row].tokens if not token.special]
        yield slice(ends[row] - len(own), ends[row]), states[:, own]


def gather(bert: Bert, sentences: Sequence[str], layers: Sequence[int] | None = None) -> Contexts:
    """Read sentences one by one and keep the states of all their tokens at the given layers, or at all of them."""
    if not sentences:
        raise InputProblem("There is no sentence to read: type one a line.")
    encodings = [bert.tokenizer.encode(sentence) for sentence in sentences]
    where = places(encodings)
    depth = bert.config.num_hidden_layers + 1 if layers is None else len(layers)
    vectors = np.empty((depth, len(where), bert.config.hidden_size), np.float32)
    for place, states in stream(bert, encodings, layers):
        vectors[:, place] = states
    return Contexts(where, vectors)


@dataclass(frozen=True)
class Steadiness:
    """How much a word keeps its direction from context to context, layer by layer. Ethayarajh (2019), 3.1 and 4.2."""

    words: pd.DataFrame  # word, uses, and one column per layer: mean cosine of its uses with each other
    same: np.ndarray  # (layers) mean over those words
    random: np.ndarray  # (layers) mean cosine of all pairs of tokens: the baseline


def steadiness(contexts: Contexts, least: int = 2) -> Steadiness:
    """Self-similarity of every wordpiece used at least `least` times, beside that of random pairs."""
    kinds, which, uses = np.unique(np.array(contexts.places.texts), return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(uses >= least)
    if len(repeated) == 0:
        raise InputProblem("No word comes twice in this text, so no word can be compared with itself: add sentences.")
    values = np.stack([geometry.anisotropy(contexts.vectors[:, which == kind]) for kind in repeated])  # (words, layers)
    table = pd.DataFrame(values, columns=range(values.shape[1]))
    table.insert(0, "word", kinds[repeated])
    table.insert(1, "uses", uses[repeated])
    return Steadiness(table.sort_values("uses", ascending=False, ignore_index=True, kind="stable"),
                      values.mean(axis=0), geometry.anisotropy(contexts.vectors))


@dataclass(frozen=True)
class SentenceSimilarity:
    """How much the tokens of a sentence point where the sentence points, layer by layer. Ethayarajh (2019), 3.3."""

    sentences: np.ndarray  # (sentences) which ones have two tokens or more
    each: np.ndarray  # (layers, sentences) of these
    shuffled: np.ndarray  # (layers) the mean for sentences of the same lengths with tokens of the whole text: the baseline

    @property
    def mean(self) -> np.ndarray:
        """(layers) over the sentences."""
        return self.each.mean(1)

    @property
    def middle_half(self) -> np.ndarray:
        """(2, layers) the first and the third quartile over the sentences."""
        return np.quantile(self.each, [0.25, 0.75], axis=1)


def intra_sentence(contexts: Contexts, shufflings: int = 5, seed: int = 0) -> SentenceSimilarity:
    """Intra-sentence similarity: the mean cosine of a sentence's tokens f(s, i) with their mean f(s).

    IntraSim(s) = 1/n Σᵢ cos(f(s), f(s, i)), f(s) = 1/n Σᵢ f(s, i). A short sentence is near its mean whatever is in it
    (n unrelated directions give about 1/√n), so the baseline is the same for sentences dealt anew from all tokens.
    """
    owners, counts = np.unique(contexts.places.sentence, return_counts=True)
    if (counts < 2).all():
        raise InputProblem("No sentence of this text has two words to compare: add longer ones.")
    several = np.isin(contexts.places.sentence, owners[counts > 1])
    vectors = contexts.vectors[:, several]
    own = np.unique(contexts.places.sentence[several], return_inverse=True)[1]  # (tokens) 0, 1, 2, … by sentence
    generator = np.random.default_rng(seed)
    dealt = [_intra(vectors[:, generator.permutation(len(own))], own).mean(1) for _ in range(shufflings)]
    return SentenceSimilarity(owners[counts > 1], _intra(vectors, own), np.mean(dealt, axis=0))


def _intra(vectors: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(layers, tokens, hidden) and the sentence of each token -> (layers, sentences)."""
    member = (own == np.arange(own.max() + 1)[:, None]).astype(vectors.dtype)  # (sentences, tokens)
    mean = (member / member.sum(1, keepdims=True)) @ vectors  # (layers, sentences, hidden)
    lengths = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(mean, axis=-1)[:, own]  # (layers, tokens)
    cosines = (vectors * mean[:, own]).sum(-1) / np.maximum(lengths, 1e-12)
    return cosines @ (member / member.sum(1, keepdims=True)).T
