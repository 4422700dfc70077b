"""Every token of many sentences with its state at each layer, and how much these depend on the context."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import model
from model import Bert, InputError, as_texts
from model.pretraining import corpus
from model.short_repr import ShortRepr

from . import geometry


@dataclass(frozen=True, repr=False)
class TokenLocations:
    """Where tokens stand: the text of each, its sentence, and its characters in it."""

    sentences: tuple[str, ...]
    texts: tuple[str, ...]  # wordpieces
    sentence: np.ndarray  # (tokens) index into sentences
    spans: np.ndarray  # (tokens, 2) characters of the sentence
    words: np.ndarray  # (tokens) number of the word within its sentence

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"TokenLocations({len(self)} tokens of {len(self.sentences)} sentences)"

    def around(self, token: int) -> tuple[str, str, str]:
        """The sentence of a token in three parts: before it, the token, after it."""
        text, (start, end) = self.sentences[self.sentence[token]], self.spans[token]
        return text[:start], text[start:end], text[end:]


@dataclass(frozen=True, repr=False)
class TokenContexts:
    """The tokens of many sentences, without [CLS] and [SEP], and their states at some layers."""

    locations: TokenLocations
    vectors: np.ndarray  # (layers, tokens, hidden)

    def __repr__(self) -> str:
        layers, tokens, hidden = self.vectors.shape
        return f"TokenContexts({tokens} tokens of {len(self.locations.sentences)} sentences, {layers} × {hidden})"


def split(text: str) -> list[str]:
    """Sentences of a text; a line ends one."""
    return [sentence for line in text.splitlines() for sentence in corpus.split_sentences(line)]


def locate(encodings: Sequence[model.Encoding]) -> TokenLocations:
    """Where each token of the encodings stands, in reading order; [CLS] and [SEP] are left out."""
    tokens = [
        (index, token) for index, encoding in enumerate(encodings) for token in encoding.tokens if not token.is_special
    ]
    return TokenLocations(
        tuple(encoding.texts[0] for encoding in encodings),
        tuple(token.text for _, token in tokens),
        np.array([index for index, _ in tokens], np.int32),
        np.array([token.span for _, token in tokens], np.int32).reshape(-1, 2),
        np.array([token.word for _, token in tokens], np.int32),
    )


def stream(
    bert: Bert, encodings: Sequence[model.Encoding], layers: Sequence[int] | None = None
) -> Iterator[tuple[slice, np.ndarray]]:
    """The states of each input's words, (layers, tokens, hidden), and their slice among all tokens; shortest first."""
    ends = np.cumsum([sum(not token.is_special for token in encoding.tokens) for encoding in encodings])
    for row, states in model.hidden_states(bert, encodings, layers):
        words = [token.position for token in encodings[row].tokens if not token.is_special]
        yield slice(ends[row] - len(words), ends[row]), states[:, words]


def collect(bert: Bert, sentences: str | Sequence[str], layers: Sequence[int] | None = None) -> TokenContexts:
    """The states of all tokens of some sentences at some layers, or at all of them."""
    encodings = [bert.tokenizer.encode(sentence) for sentence in as_texts(sentences)]
    if not encodings:
        raise InputError("At least one sentence is needed.")
    locations = locate(encodings)
    depth = bert.config.num_hidden_layers + 1 if layers is None else len(layers)
    vectors = np.empty((depth, len(locations), bert.config.hidden_size), np.float32)
    for tokens, states in stream(bert, encodings, layers):
        vectors[:, tokens] = states
    return TokenContexts(locations, vectors)


@dataclass(frozen=True, repr=False)
class SelfSimilarity(ShortRepr):
    """How alike the uses of a word are in different contexts, layer by layer. Ethayarajh (2019), 3.1 and 4.2."""

    words: pd.DataFrame  # word, uses, and one column per layer: mean cosine of its uses with each other
    within_word: np.ndarray  # (layers) mean over those words
    baseline: np.ndarray  # (layers) mean cosine of all pairs of tokens: the baseline

    def of_word(self, word: str) -> np.ndarray:
        """Mean cosine between the uses of one of these words: (layers,)."""
        row = self.words[self.words["word"] == word].iloc[0]
        return row[list(range(len(self.within_word)))].to_numpy(float)


def self_similarity(contexts: TokenContexts, min_count: int = 2) -> SelfSimilarity:
    """Self-similarity of every wordpiece that occurs at least `min_count` times, beside that of all pairs of tokens."""
    types, type_of, uses = np.unique(np.array(contexts.locations.texts), return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(uses >= min_count)
    if len(repeated) == 0:
        raise InputError(f"No word comes {min_count} times in this text; self-similarity compares the uses of one word.")
    values = np.stack([geometry.anisotropy(contexts.vectors[:, type_of == word]) for word in repeated])  # (words, layers)
    table = pd.DataFrame(values, columns=range(values.shape[1]))
    table.insert(0, "word", types[repeated])
    table.insert(1, "uses", uses[repeated])
    return SelfSimilarity(
        table.sort_values("uses", ascending=False, ignore_index=True, kind="stable"),
        values.mean(axis=0),
        geometry.anisotropy(contexts.vectors),
    )


@dataclass(frozen=True, repr=False)
class SentenceSimilarity(ShortRepr):
    """How near the tokens of a sentence are to their mean, layer by layer. Ethayarajh (2019), 3.3."""

    sentences: np.ndarray  # (sentences) which ones have two tokens or more
    each: np.ndarray  # (layers, sentences) of these
    shuffled: np.ndarray  # (layers) mean for sentences of the same lengths with tokens of the whole text: the baseline

    @property
    def mean(self) -> np.ndarray:
        """(layers) over the sentences."""
        return self.each.mean(1)

    @property
    def middle_half(self) -> np.ndarray:
        """(2, layers) the first and the third quartile over the sentences."""
        return np.quantile(self.each, [0.25, 0.75], axis=1)


def intra_sentence(contexts: TokenContexts, permutations: int = 5, seed: int = 0) -> SentenceSimilarity:
    """Intra-sentence similarity: the mean cosine of a sentence's tokens f(s, i) with their mean f(s).

    IntraSim(s) = 1/n Σᵢ cos(f(s), f(s, i)), f(s) = 1/n Σᵢ f(s, i). A short sentence is near its mean whatever is in it
    (n unrelated directions give about 1/√n), so the baseline is the same for tokens permuted over all sentences.
    """
    owners, counts = np.unique(contexts.locations.sentence, return_counts=True)
    if (counts < 2).all():
        raise InputError("No sentence has two words; intra-sentence similarity needs at least one that has.")
    several = np.isin(contexts.locations.sentence, owners[counts > 1])
    vectors = contexts.vectors[:, several]
    sentence = np.unique(contexts.locations.sentence[several], return_inverse=True)[1]  # (tokens) 0, 1, 2, …
    rng = np.random.default_rng(seed)
    null = [_intra(vectors[:, rng.permutation(len(sentence))], sentence).mean(1) for _ in range(permutations)]
    return SentenceSimilarity(owners[counts > 1], _intra(vectors, sentence), np.mean(null, axis=0))


def _intra(vectors: np.ndarray, sentence: np.ndarray) -> np.ndarray:
    """(layers, tokens, hidden) and the sentence of each token -> (layers, sentences)."""
    member = (sentence == np.arange(sentence.max() + 1)[:, None]).astype(vectors.dtype)  # (sentences, tokens)
    mean = (member / member.sum(1, keepdims=True)) @ vectors  # (layers, sentences, hidden)
    lengths = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(mean, axis=-1)[:, sentence]  # (layers, tokens)
    cosines = (vectors * mean[:, sentence]).sum(-1) / np.maximum(lengths, 1e-12)
    return cosines @ (member / member.sum(1, keepdims=True)).T
