"""What a tokenizer does to every character of Unicode, as tables that a browser of any age reads alike.

A browser has its own edition of Unicode and `tokenizers` has another. So nothing is left to the browser's: the
tokenizer is asked once about each character, and the answers are written down.
"""

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator

import tokenizers

from model import CheckpointError, WordPiece

SEPARATOR, LETTER = "|", "a"  # two characters that every tokenizer here leaves as they are
BLOCK = 1 << 14
HANGUL = range(0xAC00, 0xD7A4)  # syllables: cut into letters by a rule that Unicode promises never to change
SURROGATES = range(0xD800, 0xE000)


def describe(tokenizer: WordPiece) -> dict:
    """Vocabulary, special words and tables of characters: what `wordpiece.js` needs to cut text as `tokenizers` does."""
    spec = json.loads(tokenizer.backend.to_str())
    _require_bert(spec)
    vocabulary: list[str | None] = [None] * tokenizer.vocab_size
    for word, index in spec["model"]["vocab"].items():
        vocabulary[index] = word
    changes = _changes(tokenizer.backend)
    whitespace, punctuation = _boundaries(tokenizer.backend)
    return {
        "vocabulary": vocabulary,
        "added": {token["content"]: token["id"] for token in spec["added_tokens"]},
        "special": {
            "pad": tokenizer.pad_id,
            "unknown": tokenizer.unknown_id,
            "cls": tokenizer.cls_id,
            "sep": tokenizer.sep_id,
            "mask": tokenizer.mask_id,
        },
        "maxLength": tokenizer.max_length,
        "maxWordLength": spec["model"]["max_input_chars_per_word"],
        "continuation": spec["model"]["continuing_subword_prefix"],
        "characters": {
            "removed": _runs(code for code, text in changes.items() if not text),
            "space": _runs(code for code, text in changes.items() if text == " "),
            "apart": _runs(code for code, text in changes.items() if text == f" {chr(code)} "),
            "replaced": {
                chr(code): text for code, text in changes.items() if text not in ("", " ", f" {chr(code)} ", _letters(code))
            },
            "hangul": any(text == _letters(code) for code, text in changes.items() if code in HANGUL),
            "whitespace": _runs(whitespace),
            "punctuation": _runs(punctuation),
        },
    }


def _require_bert(spec: dict) -> None:
    """Refuse a tokenizer with rules that `wordpiece.js` does not have."""
    kinds = [(spec.get(part) or {}).get("type") for part in ("normalizer", "pre_tokenizer")]
    if kinds != ["BertNormalizer", "BertPreTokenizer"]:
        raise CheckpointError(f"The tokenizer prepares text by {kinds[0]} and {kinds[1]}, not by BERT's own two rules.")
    for token in spec["added_tokens"]:
        if any(token[rule] for rule in ("normalized", "lstrip", "rstrip", "single_word")):
            raise CheckpointError(f"The tokenizer has a rule of its own for {token['content']}, which the browser lacks.")


def _changes(backend: tokenizers.Tokenizer) -> dict[int, str]:
    """What the normaliser makes of each character that it does not leave alone: {character: text}."""
    assert backend.normalizer is not None
    changes = {}
    for block in _blocks(SEPARATOR):
        texts = backend.normalizer.normalize_str(SEPARATOR.join(map(chr, block))).split(SEPARATOR)
        changes |= {code: text for code, text in zip(block, texts, strict=True) if text != chr(code)}
    return changes


def _boundaries(backend: tokenizers.Tokenizer) -> tuple[list[int], list[int]]:
    """The characters at which a text is cut: those that vanish, and those that become words of their own."""
    assert backend.pre_tokenizer is not None
    whitespace: list[int] = []
    punctuation: list[int] = []
    for block in _blocks(LETTER):
        text = LETTER + "".join(chr(code) + LETTER for code in block)  # characters at odd places
        pieces = backend.pre_tokenizer.pre_tokenize_str(text)
        alone = {start for piece, (start, stop) in pieces if stop - start == 1 and start % 2}
        inside = {place for piece, (start, stop) in pieces if stop - start > 1 for place in range(start | 1, stop, 2)}
        for place, code in enumerate(block):
            if 2 * place + 1 in alone:
                punctuation.append(code)
            elif 2 * place + 1 not in inside:
                whitespace.append(code)
    return whitespace, punctuation


def _blocks(apart: str) -> Iterator[list[int]]:
    """All characters, so many at a time, without the one that is put between them."""
    for start in range(0, sys.maxunicode + 1, BLOCK):
        codes = range(start, min(start + BLOCK, sys.maxunicode + 1))
        if block := [code for code in codes if code not in SURROGATES and code != ord(apart)]:
            yield block


def _letters(code: int) -> str | None:
    """The letters of a Hangul syllable; None for any other character."""
    return unicodedata.normalize("NFD", chr(code)) if code in HANGUL else None


def _runs(codes: Iterable[int]) -> list[int]:
    """Ascending numbers as runs: [first start, its length, gap to the next start, its length, …]."""
    runs: list[int] = []
    start = stop = end = 0  # the run being read, and the end of the one before it
    for code in [*codes, -1]:
        if code == stop and stop > start:
            stop += 1
            continue
        if stop > start:
            runs += [start - end, stop - start]
            end = stop
        start, stop = code, code + 1
    return runs
