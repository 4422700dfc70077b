"""WordPiece: a text or a pair -> an Encoding whose tokens know their word, segment and characters."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from .errors import CheckpointError, InputError

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True)
class Token:
    """One wordpiece of the input, its word, segment and characters."""

    text: str
    id: int
    segment: int
    position: int
    word: int | None  # running number of its word over both segments; None for [CLS] and [SEP]
    span: tuple[int, int] | None  # characters of its segment's text

    @property
    def is_special(self) -> bool:
        """Whether it is [CLS], [SEP] or padding, not of the text."""
        return self.word is None

    @property
    def is_continuation(self) -> bool:
        """Whether it continues the word of the piece before it."""
        return self.text.startswith("##")


@dataclass(frozen=True, repr=False)
class Encoding:
    """A packed input, [CLS] A [SEP] or [CLS] A [SEP] B [SEP], and how many wordpieces of A and B were truncated."""

    tokens: tuple[Token, ...]
    texts: tuple[str, ...]
    truncated: tuple[int, ...] = (0, 0)

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"Encoding({len(self)} tokens: {' '.join(token.text for token in self.tokens)})"

    @property
    def ids(self) -> list[int]:
        return [token.id for token in self.tokens]

    @property
    def segments(self) -> list[int]:
        return [token.segment for token in self.tokens]

    @property
    def note(self) -> str:
        """What was truncated or unknown, in words; empty when all is well."""
        notes = [
            f"{count} wordpieces were cut from the end of sentence {name}: the model reads at most {len(self)} at once."
            for name, count in zip("AB", self.truncated, strict=False)
            if count
        ]
        unknown = [self.texts[t.segment][slice(*t.span)] for t in self.tokens if t.text == UNKNOWN and t.span]
        if unknown:
            notes.append(f"Not in the vocabulary, read as {UNKNOWN}: {', '.join(dict.fromkeys(unknown))}.")
        return " ".join(notes)

    def replace_tokens(self, changes: dict[int, tuple[int, str]]) -> "Encoding":
        """The same input with other tokens, {position: (id, text)}; words and spans stay."""
        tokens = tuple(
            Token(changes[t.position][1], changes[t.position][0], t.segment, t.position, t.word, t.span)
            if t.position in changes
            else t
            for t in self.tokens
        )
        return Encoding(tokens, self.texts, self.truncated)


class WordPiece:
    """A vocabulary and the rules that split text into its wordpieces; immutable, so threads may share it."""

    def __init__(self, fast: tokenizers.Tokenizer, lowercase: bool, limit: int = 512):
        fast.no_truncation()
        fast.no_padding()
        self.backend, self.lowercase, self.max_length = fast, lowercase, limit
        missing = [name for name in SPECIAL if fast.token_to_id(name) is None]
        if missing:
            raise CheckpointError(f"The vocabulary has no {', '.join(missing)}; BERT needs them.")
        ids = fast.get_vocab()
        self.vocab_size = max(ids.values()) + 1
        self.vocabulary: list[str] = [UNKNOWN] * self.vocab_size  # id -> wordpiece
        for piece, index in ids.items():
            self.vocabulary[index] = piece
        self.pad_id, self.unknown_id, self.cls_id, self.sep_id, self.mask_id = (ids[name] for name in SPECIAL)
        self.special_ids = frozenset((self.pad_id, self.unknown_id, self.cls_id, self.sep_id, self.mask_id))

    def with_max_length(self, limit: int) -> "WordPiece":
        """The same vocabulary for a model that reads at most `limit` wordpieces at once."""
        return self if limit == self.max_length else WordPiece(self.backend, self.lowercase, limit)

    def token_to_id(self, word: str) -> int | None:
        """The id of exactly this wordpiece, or None."""
        return self.backend.token_to_id(word)

    def piece_ids(self, text: str) -> list[int]:
        """The ids of a text, without [CLS] and [SEP]."""
        return self.backend.encode(text, add_special_tokens=False).ids

    def encode(self, a: str, b: str | None = None) -> Encoding:
        """Pack one text, or two, truncating the longer one first where they do not fit."""
        texts = (_valid_text(a, "Sentence A"),)
        if b and b.strip():
            texts += (_valid_text(b, "Sentence B"),)
        return self._pack(texts, [self.backend.encode(text, add_special_tokens=False) for text in texts])

    def encode_words(self, words: Sequence[str], second: Sequence[str] = ()) -> Encoding:
        """Pack a sentence split into words, or a pair; `Token.word` counts on from one to the other."""
        if not words:
            raise InputError("A sentence needs at least one word.")
        parts = [list(part) for part in (words, second) if part]
        encoded = [self.backend.encode(part, is_pretokenized=True, add_special_tokens=False) for part in parts]
        spans = []
        for part, pieces in zip(parts, encoded, strict=True):
            starts = [0]
            for word in part:
                starts.append(starts[-1] + len(word) + 1)
            offsets = zip(pieces.offsets, pieces.word_ids, strict=True)
            spans.append([(starts[word or 0] + start, starts[word or 0] + end) for (start, end), word in offsets])
        return self._pack(tuple(" ".join(part) for part in parts), encoded, spans)

    def encode_ids(self, a: Sequence[int], b: Sequence[int] | None = None) -> Encoding:
        """Pack wordpiece ids, without a text behind them; either part may be empty."""
        tokens = [Token(CLS, self.cls_id, 0, 0, None, None)]
        for segment, ids in enumerate((a,) if b is None else (a, b)):
            for piece in ids:
                text, last = self.vocabulary[piece], tokens[-1].word
                word = last if text.startswith("##") and last is not None else len(tokens)
                tokens.append(Token(text, piece, segment, len(tokens), word, None))
            tokens.append(Token(SEP, self.sep_id, segment, len(tokens), None, None))
        return Encoding(tuple(tokens), ("",) * (1 if b is None else 2))

    def _pack(
        self,
        texts: tuple[str, ...],
        encoded: list[tokenizers.Encoding],
        spans: list[list[tuple[int, int]]] | None = None,
    ) -> Encoding:
        if all(piece == self.unknown_id for part in encoded for piece in part.ids):
            raise InputError(
                "The vocabulary of this model knows none of these characters: every word would be "
                f"read as {UNKNOWN}; a model for this script is needed."
            )
        lengths = [len(part.ids) for part in encoded]
        max_pieces = self.max_length - 1 - len(lengths)  # beside [CLS] and a [SEP] for each text
        while sum(lengths) > max_pieces:
            lengths[lengths.index(max(lengths))] -= 1
        tokens, words = [Token(CLS, self.cls_id, 0, 0, None, None)], 0
        for segment, (part, length) in enumerate(zip(encoded, lengths, strict=True)):
            offsets = spans[segment] if spans else part.offsets
            for piece, text, word, (start, end) in zip(part.ids[:length], part.tokens, part.word_ids, offsets, strict=False):
                tokens.append(Token(text, piece, segment, len(tokens), words + (word or 0), (start, end)))
            words += max((word or 0 for word in part.word_ids), default=-1) + 1
            tokens.append(Token(SEP, self.sep_id, segment, len(tokens), None, None))
        truncated = tuple(len(part.ids) - length for part, length in zip(encoded, lengths, strict=True))
        return Encoding(tuple(tokens), texts, truncated)

    def save(self, folder: Path) -> None:
        """Write tokenizer.json, vocab.txt and tokenizer_config.json, as `transformers` reads them."""
        self.backend.save(str(folder / "tokenizer.json"))
        (folder / "vocab.txt").write_text("".join(word + "\n" for word in self.vocabulary), encoding="utf-8", newline="\n")
        config = {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": self.lowercase,
            "model_max_length": self.max_length,
            "cls_token": CLS,
            "sep_token": SEP,
            "mask_token": MASK,
            "pad_token": PAD,
            "unk_token": UNKNOWN,
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def as_texts(texts: str | Iterable[str]) -> list[str]:
    """Texts as a list; a single `str` is one text, not a sequence of letters."""
    return [texts] if isinstance(texts, str) else list(texts)


def _valid_text(text: str, name: str) -> str:
    if not text.strip():
        raise InputError(f"{name} is empty; at least one word is needed.")
    if not text.isprintable():
        # lone surrogates cannot leave Python as UTF-8, and no vocabulary has them
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def load(folder: Path, limit: int = 512) -> WordPiece:
    """The tokenizer of a checkpoint folder: tokenizer.json, or vocab.txt with its lower-casing."""
    settings = {}
    if (folder / "tokenizer_config.json").is_file():
        try:
            settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise CheckpointError(f"{folder / 'tokenizer_config.json'} is not readable as JSON ({error}).") from None
        if not isinstance(settings, dict):
            raise CheckpointError(f"{folder / 'tokenizer_config.json'} holds no JSON object.")
    lowercase = bool(settings.get("do_lower_case", True))
    tokenizer_json, vocab_txt = folder / "tokenizer.json", folder / "vocab.txt"
    try:
        if tokenizer_json.is_file():
            fast = tokenizers.Tokenizer.from_file(str(tokenizer_json))
            lowercase = fast.normalizer is not None and "A" not in fast.normalizer.normalize_str("A")
        elif vocab_txt.is_file():
            # at line ends only: other separators of Unicode, where splitlines() splits too, are words of some vocabularies
            words = [
                line.removesuffix("\r") for line in vocab_txt.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
            ]
            fast = _wordpiece({word: index for index, word in enumerate(words)}, lowercase)
        else:
            raise CheckpointError(f"{folder} has neither tokenizer.json nor vocab.txt.")
    except CheckpointError:
        raise
    except Exception as error:  # the Rust side raises plain Exception for every kind of bad file
        raise CheckpointError(f"The tokenizer in {folder} cannot be read ({error}).") from None
    if not isinstance(fast.model, models.WordPiece):
        raise CheckpointError(f"{tokenizer_json} holds a {type(fast.model).__name__} tokenizer; BERT uses WordPiece.")
    return WordPiece(fast, lowercase, limit)


def from_vocabulary(words: Iterable[str], lowercase: bool = True, limit: int = 512) -> WordPiece:
    """A tokenizer over a list of wordpieces, the five special ones first."""
    vocabulary = list(dict.fromkeys([*SPECIAL, *words]))
    return WordPiece(_wordpiece({word: index for index, word in enumerate(vocabulary)}, lowercase), lowercase, limit)


def train(
    texts: Iterable[str], size: int = 8000, lowercase: bool = True, limit: int = 512, characters: Iterable[str] = ()
) -> WordPiece:
    """Learn a vocabulary of at most `size` wordpieces from texts, one after the other. Schuster & Nakajima (2012).

    The trainer numbers the continuing letters in no fixed order, and later ties depend on it: with all `characters`
    of the texts known beforehand, the same texts always give the same vocabulary.
    """
    fast = _wordpiece({name: index for index, name in enumerate(SPECIAL)}, lowercase)
    rules = normalizers.BertNormalizer(lowercase=lowercase)
    letters = sorted({letter for character in characters for letter in rules.normalize_str(character).strip()})
    split = pre_tokenizers.BertPreTokenizer()  # punctuation, which it splits off, never continues a word
    first = [*SPECIAL, *(f"##{letter}" for letter in letters if len(split.pre_tokenize_str(f"a{letter}")) == 1)]
    trainer = trainers.WordPieceTrainer(vocab_size=max(size, len(first)), special_tokens=first, show_progress=False)
    fast.train_from_iterator([texts] if isinstance(texts, str) else texts, trainer)
    learned = fast.get_vocab()
    return from_vocabulary(sorted(learned, key=lambda word: learned[word]), lowercase, limit)


def _wordpiece(vocabulary: dict[str, int], lowercase: bool) -> tokenizers.Tokenizer:
    fast = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    fast.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast.decoder = decoders.WordPiece()
    if SEP in vocabulary and CLS in vocabulary:
        fast.post_processor = processors.TemplateProcessing(
            single=f"{CLS}:0 $A:0 {SEP}:0",
            pair=f"{CLS}:0 $A:0 {SEP}:0 $B:1 {SEP}:1",
            special_tokens=[(CLS, vocabulary[CLS]), (SEP, vocabulary[SEP])],
        )
    fast.add_special_tokens([name for name in SPECIAL if name in vocabulary])
    return fast
