"""WordPiece: text or a pair of texts -> Encoding, remembering where every piece came from."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from .errors import CheckpointProblem, InputProblem

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True)
class Token:
    """One wordpiece of the input and where it comes from."""

    text: str
    id: int
    segment: int
    position: int
    word: int | None  # running number of its word over both segments; None for [CLS] and [SEP]
    span: tuple[int, int] | None  # characters of its segment's text

    @property
    def special(self) -> bool:
        """Whether BERT put it there: [CLS], [SEP] or padding, not a word of the text."""
        return self.word is None

    @property
    def continues(self) -> bool:
        """Whether it goes on with the word of the piece before it."""
        return self.text.startswith("##")


@dataclass(frozen=True)
class Encoding:
    """A packed input, [CLS] A [SEP] or [CLS] A [SEP] B [SEP], and how many pieces of A and B did not fit."""

    tokens: tuple[Token, ...]
    texts: tuple[str, ...]
    cut: tuple[int, ...] = (0, 0)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def ids(self) -> list[int]:
        return [token.id for token in self.tokens]

    @property
    def segments(self) -> list[int]:
        return [token.segment for token in self.tokens]

    @property
    def note(self) -> str:
        """What a reader must know about this input: what was cut, what is unknown. Empty when all is well."""
        said = [f"{count} wordpieces were cut from the end of sentence {name}: the model reads at most "
                f"{len(self)} at once." for name, count in zip("AB", self.cut, strict=False) if count]
        unknown = [self.texts[t.segment][slice(*t.span)] for t in self.tokens if t.text == UNKNOWN and t.span]
        if unknown:
            said.append(f"Not in the vocabulary, read as {UNKNOWN}: {', '.join(dict.fromkeys(unknown))}.")
        return " ".join(said)

    def replaced(self, changes: dict[int, tuple[int, str]]) -> "Encoding":
        """The same input with (id, text) put at some positions; words and spans stay."""
        tokens = tuple(
            Token(changes[t.position][1], changes[t.position][0], t.segment, t.position, t.word, t.span)
            if t.position in changes else t for t in self.tokens)
        return Encoding(tokens, self.texts, self.cut)


class WordPiece:
    """A vocabulary and the rules that cut text into its pieces; never changed once made, so threads may share it."""

    def __init__(self, fast: tokenizers.Tokenizer, lowercase: bool, limit: int = 512):
        fast.no_truncation()
        fast.no_padding()
        self.fast, self.lowercase, self.limit = fast, lowercase, limit
        missing = [name for name in SPECIAL if fast.token_to_id(name) is None]
        if missing:
            raise CheckpointProblem(f"The vocabulary has no {', '.join(missing)}; BERT needs them.")
        ids = fast.get_vocab()
        self.size = max(ids.values()) + 1
        self.words: list[str] = [UNKNOWN] * self.size  # id -> wordpiece
        for word, index in ids.items():
            self.words[index] = word
        self.pad, self.unknown, self.cls, self.sep, self.mask = (ids[name] for name in SPECIAL)
        self.special_ids = frozenset((self.pad, self.unknown, self.cls, self.sep, self.mask))

    def limited(self, limit: int) -> "WordPiece":
        """The same vocabulary for a model that reads at most `limit` pieces at once."""
        return self if limit == self.limit else WordPiece(self.fast, self.lowercase, limit)

    def id(self, word: str) -> int | None:
        """The id of exactly this wordpiece, or None."""
        return self.fast.token_to_id(word)

    def pieces(self, text: str) -> list[int]:
        """The ids of a text, without [CLS] and [SEP]."""
        return self.fast.encode(text, add_special_tokens=False).ids

    def encode(self, a: str, b: str | None = None) -> Encoding:
        """Pack one text, or two, cutting the longer one first where they do not fit."""
        texts = (_checked(a, "Sentence A"),) if not (b and b.strip()) else (
            _checked(a, "Sentence A"), _checked(b, "Sentence B"))
        return self._pack(texts, [self.fast.encode(text, add_special_tokens=False) for text in texts])

    def encode_words(self, words: Sequence[str], second: Sequence[str] = ()) -> Encoding:
        """Pack one sentence that is already split into words, or a pair; `Token.word` counts on from one to the other."""
        if not words:
            raise InputProblem("A sentence needs at least one word.")
        parts = [list(part) for part in (words, second) if part]
        coded = [self.fast.encode(part, is_pretokenized=True, add_special_tokens=False) for part in parts]
        spans = []
        for part, made in zip(parts, coded, strict=True):
            starts = [0]
            for word in part:
                starts.append(starts[-1] + len(word) + 1)
            places = zip(made.offsets, made.word_ids, strict=True)
            spans.append([(starts[word or 0] + start, starts[word or 0] + end) for (start, end), word in places])
        return self._pack(tuple(" ".join(part) for part in parts), coded, spans)

    def encode_ids(self, a: Sequence[int], b: Sequence[int] | None = None) -> Encoding:
        """Pack pieces given by id, without a text to point back to; either part may be empty."""
        tokens = [Token(CLS, self.cls, 0, 0, None, None)]
        for segment, ids in enumerate((a,) if b is None else (a, b)):
            for piece in ids:
                text, last = self.words[piece], tokens[-1].word
                word = last if text.startswith("##") and last is not None else len(tokens)
                tokens.append(Token(text, piece, segment, len(tokens), word, None))
            tokens.append(Token(SEP, self.sep, segment, len(tokens), None, None))
        return Encoding(tuple(tokens), ("",) * (1 if b is None else 2))

    def _pack(self, texts, coded, spans=None) -> Encoding:
        if all(piece == self.unknown for part in coded for piece in part.ids):
            raise InputProblem("The vocabulary of this model knows none of these characters: every word would be "
                               f"read as {UNKNOWN}. Choose a model for this script, or other words.")
        kept = [len(part.ids) for part in coded]
        room = self.limit - 1 - len(kept)
        while sum(kept) > room:
            kept[kept.index(max(kept))] -= 1
        tokens, words = [Token(CLS, self.cls, 0, 0, None, None)], 0
        for segment, (part, keep) in enumerate(zip(coded, kept, strict=True)):
            places = spans[segment] if spans else part.offsets
            for piece, text, word, span in zip(
                    part.ids[:keep], part.tokens, part.word_ids, places, strict=False):
                tokens.append(Token(text, piece, segment, len(tokens), words + (word or 0), tuple(span)))
            words += max((word or 0 for word in part.word_ids), default=-1) + 1
            tokens.append(Token(SEP, self.sep, segment, len(tokens), None, None))
        return Encoding(tuple(tokens), texts, tuple(len(c.ids) - k for c, k in zip(coded, kept, strict=True)))

    def save(self, folder: Path) -> None:
        """Write tokenizer.json, vocab.txt and tokenizer_config.json, as `transformers` reads them."""
        self.fast.save(str(folder / "tokenizer.json"))
        (folder / "vocab.txt").write_text("".join(word + "\n" for word in self.words), encoding="utf-8", newline="\n")
        described = {"tokenizer_class": "BertTokenizer", "do_lower_case": self.lowercase,
                     "model_max_length": self.limit, "cls_token": CLS, "sep_token": SEP, "mask_token": MASK,
                     "pad_token": PAD, "unk_token": UNKNOWN}
        (folder / "tokenizer_config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def _checked(text: str, name: str) -> str:
    if not text.strip():
        raise InputProblem(f"{name} is empty: type a few words.")
    if not text.isprintable():
        # lone surrogates cannot leave Python as UTF-8, and no vocabulary has them
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def read(folder: Path, limit: int = 512) -> WordPiece:
    """The tokenizer of a checkpoint folder: tokenizer.json, or vocab.txt with its lower-casing."""
    settings = {}
    if (folder / "tokenizer_config.json").is_file():
        try:
            settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise CheckpointProblem(f"{folder / 'tokenizer_config.json'} is not readable as JSON ({error}).") from None
        if not isinstance(settings, dict):
            raise CheckpointProblem(f"{folder / 'tokenizer_config.json'} holds no JSON object.")
    lowercase = bool(settings.get("do_lower_case", True))
    whole, plain = folder / "tokenizer.json", folder / "vocab.txt"
    try:
        if whole.is_file():
            fast = tokenizers.Tokenizer.from_file(str(whole))
            lowercase = fast.normalizer is not None and "A" not in fast.normalizer.normalize_str("A")
        elif plain.is_file():
            # at line ends only: other separators of Unicode, where splitlines() cuts too, are words of some vocabularies
            words = [line.removesuffix("\r") for line in plain.read_bytes().decode("utf-8").removesuffix("\n").split("\n")]
            fast = _wordpiece({word: index for index, word in enumerate(words)}, lowercase)
        else:
            raise CheckpointProblem(f"{folder} has neither tokenizer.json nor vocab.txt.")
    except CheckpointProblem:
        raise
    except Exception as error:  # the Rust side raises plain Exception for every kind of bad file
        raise CheckpointProblem(f"The tokenizer in {folder} cannot be read ({error}).") from None
    if not isinstance(fast.model, models.WordPiece):
        raise CheckpointProblem(f"{whole} holds a {type(fast.model).__name__} tokenizer; BERT uses WordPiece.")
    return WordPiece(fast, lowercase, limit)


def from_words(words: Iterable[str], lowercase: bool = True, limit: int = 512) -> WordPiece:
    """A tokenizer over a given list of wordpieces, the five special ones first."""
    ordered = list(dict.fromkeys([*SPECIAL, *words]))
    return WordPiece(_wordpiece({word: index for index, word in enumerate(ordered)}, lowercase), lowercase, limit)


def train(texts: Iterable[str], size: int = 8000, lowercase: bool = True, limit: int = 512,
          characters: Iterable[str] = ()) -> WordPiece:
    """Learn a vocabulary of at most `size` pieces from texts, read one after the other.

    The trainer numbers the continuing letters in no fixed order, and later ties hang on it: told all `characters`
    of the texts beforehand, the same texts always give the same vocabulary.
    """
    fast = _wordpiece({name: index for index, name in enumerate(SPECIAL)}, lowercase)
    rules = normalizers.BertNormalizer(lowercase=lowercase)
    letters = sorted({letter for character in characters for letter in rules.normalize_str(character).strip()})
    split = pre_tokenizers.BertPreTokenizer()  # a mark that it sets apart never continues a word
    first = [*SPECIAL, *(f"##{letter}" for letter in letters if len(split.pre_tokenize_str(f"a{letter}")) == 1)]
    trainer = trainers.WordPieceTrainer(vocab_size=max(size, len(first)), special_tokens=first, show_progress=False)
    fast.train_from_iterator(texts, trainer)
    learned = fast.get_vocab()
    return from_words(sorted(learned, key=lambda word: learned[word]), lowercase, limit)


def _wordpiece(vocabulary: dict[str, int], lowercase: bool) -> tokenizers.Tokenizer:
    fast = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    fast.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast.decoder = decoders.WordPiece()
    if SEP in vocabulary and CLS in vocabulary:
        fast.post_processor = processors.TemplateProcessing(
            single=f"{CLS}:0 $A:0 {SEP}:0", pair=f"{CLS}:0 $A:0 {SEP}:0 $B:1 {SEP}:1",
            special_tokens=[(CLS, vocabulary[CLS]), (SEP, vocabulary[SEP])])
    fast.add_special_tokens([name for name in SPECIAL if name in vocabulary])
    return fast
