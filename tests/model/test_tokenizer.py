"""Text becomes what Hugging Face's tokenizer makes of it, and every piece knows where it came from."""

import json

import pytest
from transformers import AutoTokenizer

from model import CheckpointError, InputError, tokenizer
from model.checkpoint import BUNDLED

TEXTS = [
    "My dog is cute.",
    "Unbelievably, the naïve café-goer paid 3.50 € — twice!",
    "don't   stop\n\tnow",
    "a [MASK] in the [MASK].",
    "東京 is Tokyo",
    "emoji 😀 and \u200bzero width",
    "x" * 300 + " is long",
]


@pytest.fixture(scope="module")
def theirs():
    return AutoTokenizer.from_pretrained(BUNDLED / "english")


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_transformers_ids(english, theirs, text):
    assert english.tokenizer.encode(text).ids == theirs(text)["input_ids"]


def test_a_pair_has_two_segments_and_two_separators(english, theirs):
    encoding, expected = english.tokenizer.encode(TEXTS[0], TEXTS[1]), theirs(TEXTS[0], TEXTS[1])
    assert encoding.ids == expected["input_ids"]
    assert encoding.segments == expected["token_type_ids"]
    assert [token.position for token in encoding.tokens] == list(range(len(encoding)))


@pytest.mark.parametrize("text", TEXTS[:5])
def test_a_span_points_at_the_characters_of_its_piece(english, text):
    for token in english.tokenizer.encode(text, TEXTS[0]).tokens:
        if token.segment == 0 and token.span and token.text.isascii() and token.text.isalpha():
            assert text[slice(*token.span)].lower().replace("ï", "i").replace("é", "e") == token.text


def test_pieces_of_one_word_share_its_number_and_words_go_on_counting_in_b(english):
    tokens = english.tokenizer.encode("unbelievably so", "so it goes").tokens
    assert [t.text for t in tokens if t.word == 0] == ["un", "##bel", "##ie", "##va", "##bly"]
    words = [t.word for t in tokens if t.word is not None]
    assert words == sorted(words)
    assert len(set(words)) == 5


def test_words_given_apart_keep_their_index(english):
    words = ["He", "'ll", "re-read", "unbelievably", "."]
    encoding = english.tokenizer.encode_words(words)
    assert sorted({t.word for t in encoding.tokens if t.word is not None}) == [0, 1, 2, 3, 4]
    joined = "".join(t.text.removeprefix("##") for t in encoding.tokens if t.word == 3)
    assert joined == "unbelievably"
    assert all(encoding.texts[0][slice(*t.span)].lower() == t.text.removeprefix("##") for t in encoding.tokens if t.span)


@pytest.mark.parametrize("text", ["", "   ", "\n\t "])
def test_empty_text_is_refused_in_words(english, text):
    with pytest.raises(InputError, match="Sentence A is empty"):
        english.tokenizer.encode(text)


def test_an_empty_second_sentence_is_no_second_sentence(english):
    assert set(english.tokenizer.encode("a dog", "  ").segments) == {0}


def test_an_unknown_script_is_refused_in_words(tiny_bert):
    with pytest.raises(InputError, match="knows none of these characters"):
        tiny_bert.tokenizer.encode("Привет мир")


def test_an_unknown_word_among_others_is_named(tiny_bert):
    assert "мир" in tiny_bert.tokenizer.encode("the cat мир").note


def test_too_long_is_cut_longest_first_and_said(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat " * 60, "a dog ran")
    assert len(encoding) == tiny_bert.config.max_position_embeddings
    assert sum(t.segment == 1 for t in encoding.tokens) == 4
    assert encoding.truncated == (120 - (64 - 3 - 3), 0)
    assert f"{encoding.truncated[0]} wordpieces were cut from the end of sentence A" in encoding.note


def test_cutting_agrees_with_transformers(english, theirs):
    a, b = "the quick brown fox " * 100, "jumps over the lazy dog " * 90
    assert english.tokenizer.encode(a, b).ids == theirs(a, b, truncation="longest_first", max_length=512)["input_ids"]


@pytest.mark.parametrize("text", ["\ud800 lone surrogate", "null \x00 byte", "right \u202eto left", "é" * 50, "<script>"])
def test_any_unicode_is_read_or_refused_never_crashes(english, text):
    assert len(english.tokenizer.encode(text)) > 2


def test_a_trained_vocabulary_reads_its_own_text_without_unknowns():
    words = tokenizer.train(["the cat sat on the mat", "the dog sat on the cat"] * 20, size=60)
    assert "[UNK]" not in [t.text for t in words.encode("the dog sat on the mat").tokens]
    assert words.vocabulary[:5] == list(tokenizer.SPECIAL)


@pytest.mark.parametrize("keep", [["tokenizer.json"], ["vocab.txt", "tokenizer_config.json"]])
def test_the_vocabulary_survives_either_file_alone(english, tmp_path, keep):
    english.tokenizer.save(tmp_path)
    for path in tmp_path.iterdir():
        if path.name not in keep:
            path.unlink()
    again = tokenizer.load(tmp_path)
    assert [again.encode(text).ids for text in TEXTS] == [english.tokenizer.encode(text).ids for text in TEXTS]


def test_two_sentences_given_as_words_are_packed_like_their_texts(english):
    a, b = "The unbelievably hot tea .".split(), "She drank it .".split()
    encoding = english.tokenizer.encode_words(a, b)
    written = english.tokenizer.encode(" ".join(a), " ".join(b))
    assert encoding.ids == written.ids
    assert [token.segment for token in encoding.tokens] == [token.segment for token in written.tokens]
    assert [token.span for token in encoding.tokens] == [token.span for token in written.tokens]
    words = [token.word for token in encoding.tokens if token.word is not None]
    assert sorted(set(words)) == list(range(len(a) + len(b)))


SEPARATORS = ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1e"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_vocabulary_is_cut_at_line_ends_only(tmp_path, end):
    words = [*tokenizer.SPECIAL, "cat", *SEPARATORS, "a\u2028b", "dog"]
    (tmp_path / "vocab.txt").write_bytes("".join(word + end for word in words).encode())
    assert tokenizer.load(tmp_path).vocabulary == words


def test_a_saved_vocabulary_with_any_sign_is_read_as_it_was(tmp_path):
    pieces = tokenizer.from_vocabulary(["cat", *SEPARATORS, "dog"])
    pieces.save(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    assert tokenizer.load(tmp_path).vocabulary == pieces.vocabulary


@pytest.mark.parametrize(
    ("normalizer", "lowercase", "pieces"),
    [
        (None, False, ["Dog", "dog"]),
        ({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}, True, ["dog", "dog"]),
        ({"type": "NFC"}, False, ["Dog", "dog"]),
    ],
)
def test_a_tokenizer_normalises_as_its_file_says_or_not_at_all(tmp_path, normalizer, lowercase, pieces):
    tokenizer.from_vocabulary(["Dog", "dog"]).save(tmp_path)
    described = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    (tmp_path / "tokenizer.json").write_text(json.dumps(described | {"normalizer": normalizer}), encoding="utf-8")
    read = tokenizer.load(tmp_path)
    assert [token.text for token in read.encode("Dog dog").tokens[1:-1]] == pieces
    assert read.lowercase is lowercase


def test_settings_that_are_no_object_are_refused_by_name(tmp_path):
    tokenizer.from_vocabulary(["dog"]).save(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[]")
    with pytest.raises(CheckpointError, match=r"tokenizer_config\.json"):
        tokenizer.load(tmp_path)
