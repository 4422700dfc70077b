"""A cloze query: a text with spans masked, asked for while visible, or replaced by other words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from model import Bert, Encoding, InputError
from model.tokenizer import MASK

from .. import cloze

KINDS = ("mask", "ask", "replace")


@dataclass(frozen=True, order=True)
class MarkedSpan:
    """The tokens [start, stop) and what happens to them; `word` takes their place in "replace"."""

    start: int
    stop: int
    kind: str
    word: str = ""


@dataclass(frozen=True)
class TargetSpan:
    """Tokens [start, stop) to predict, in the input as the model reads it; no gold ids where the text itself has [MASK]."""

    start: int
    stop: int
    visible: bool
    gold_ids: tuple[int, ...]

    @property
    def positions(self) -> range:
        return range(self.start, self.stop)


@dataclass(frozen=True)
class ClozeQuery:
    """An input before and after masking, of one length, and its targets from left to right."""

    unmasked: Encoding
    encoding: Encoding
    targets: tuple[TargetSpan, ...]

    @property
    def positions(self) -> list[int]:
        return [position for target in self.targets for position in target.positions]

    @property
    def mask_positions(self) -> list[int]:
        """The positions where the model itself reads [MASK]."""
        return [position for target in self.targets if not target.visible for position in target.positions]

    @property
    def gold_ids(self) -> dict[int, int]:
        """position -> the token that stood there, for the targets whose token is known."""
        return {
            position: token_id
            for target in self.targets
            for position, token_id in zip(target.positions, target.gold_ids, strict=False)
        }


def build(bert: Bert, encoding: Encoding, spans: Sequence[MarkedSpan]) -> ClozeQuery:
    """Apply marked spans to an input; a replacement of another length shifts what follows."""
    spans = valid_spans(encoding, spans)
    unmasked, targets, shift = encoding, [], 0
    for span in sorted([*spans, *_masks_in_text(bert, encoding, spans)]):
        start, stop = span.start + shift, span.stop + shift
        if span.kind == "replace":
            piece_ids = cloze.to_piece_ids(bert, span.word)
            unmasked = cloze.replace_span(bert, unmasked, start, stop, piece_ids)
            shift += len(piece_ids) - (stop - start)
        else:
            gold_ids = tuple(encoding.ids[span.start : span.stop])
            known = bert.tokenizer.mask_id not in gold_ids
            targets.append(TargetSpan(start, stop, visible=span.kind == "ask", gold_ids=gold_ids if known else ()))
    if not targets:
        raise InputError(f"The query has no target: mark a span, or write {MASK} in the text.")
    query = ClozeQuery(unmasked, unmasked, tuple(targets))
    return replace(query, encoding=cloze.mask(bert, unmasked, query.mask_positions))


def _masks_in_text(bert: Bert, encoding: Encoding, spans: Sequence[MarkedSpan]) -> list[MarkedSpan]:
    """A span for every [MASK] that is written in the text and not marked otherwise."""
    return [
        MarkedSpan(t.position, t.position + 1, "mask")
        for t in encoding.tokens
        if t.id == bert.tokenizer.mask_id and not any(span.start <= t.position < span.stop for span in spans)
    ]


def valid_spans(encoding: Encoding, spans: Sequence[MarkedSpan]) -> list[MarkedSpan]:
    """The spans that lie on words of this input and not on one another; spans of another text may not."""
    valid: list[MarkedSpan] = []
    for span in sorted(spans):
        inside = 0 < span.start < span.stop < len(encoding) and span.kind in KINDS
        if (
            inside
            and not any(t.is_special for t in encoding.tokens[span.start : span.stop])
            and (not valid or valid[-1].stop <= span.start)
        ):
            valid.append(span)
    return valid


def default_span(encoding: Encoding) -> list[MarkedSpan]:
    """A word to begin with: the last of sentence A that is longer than a letter, masked."""
    candidates = [t for t in encoding.tokens if t.segment == 0 and not t.is_special and len(t.text) > 1 and t.text.isalpha()]
    if not candidates:
        return []
    positions = [t.position for t in encoding.tokens if t.word == candidates[-1].word]
    return [MarkedSpan(positions[0], positions[-1] + 1, "mask")]


def word_score(bert: Bert, query: ClozeQuery, target: TargetSpan, word: str) -> cloze.WordScore:
    """P(word) at a target: by its own number of masks, or, where the target is visible, in the input as it stands."""
    if not target.visible:
        return cloze.word_score(bert, query.encoding, target.start, target.stop, word)
    ids = cloze.to_piece_ids(bert, word)
    if len(ids) != len(target.positions):
        raise InputError(
            f"“{word}” is {len(ids)} wordpieces, the visible word {len(target.positions)}; "
            "words of different length are compared at a masked target only."
        )
    predicted = cloze.probabilities(bert, query.encoding, target.positions)
    return cloze.WordScore.from_prediction(bert, predicted, ids, word)


def join_pieces(bert: Bert, ids: Sequence[int]) -> str:
    """Wordpieces joined to the word they spell."""
    return "".join(
        bert.tokenizer.vocabulary[piece].removeprefix("##") if index else bert.tokenizer.vocabulary[piece]
        for index, piece in enumerate(ids)
    )


def words(encoding: Encoding) -> list[tuple[int, str]]:
    """The words of sentence A, (word index, text) each; punctuation is left out."""
    spans: dict[int, tuple[int, int]] = {}
    for token in encoding.tokens:
        if token.segment == 0 and token.word is not None and token.span is not None:
            start, _ = spans.get(token.word, token.span)
            spans[token.word] = (start, token.span[1])
    texts = [(word, encoding.texts[0][start:end]) for word, (start, end) in spans.items()]
    alphanumeric = [(word, text) for word, text in texts if any(letter.isalnum() for letter in text)]
    if not alphanumeric:
        raise InputError("Sentence A has no word, only punctuation; at least one is needed.")
    return alphanumeric


def longest_word(words: Sequence[tuple[int, str]]) -> int:
    """The index of the longest word, the last of them where several are: likely one with a meaning of its own."""
    return max(words, key=lambda word: (len(word[1]), word[0]))[0]


def split_at(encoding: Encoding, word: int) -> tuple[str, str, str]:
    """The text of sentence A before, in and after a word."""
    spans = [token.span for token in encoding.tokens if token.word == word and token.span is not None]
    text, start, end = encoding.texts[0], spans[0][0], spans[-1][1]
    return text[:start], text[start:end], text[end:]


def predict_word(bert: Bert, encoding: Encoding, word: int, k: int = 6) -> pd.DataFrame:
    """The k most probable wordpieces in place of a word: position, word, probability; one [MASK] for all its pieces."""
    positions = [token.position for token in encoding.tokens if token.word == word]
    masked = cloze.replace_span(bert, encoding, positions[0], positions[-1] + 1, [bert.tokenizer.mask_id])
    return cloze.predict(bert, cloze.mask(bert, masked, positions[:1]), positions[:1], k)
