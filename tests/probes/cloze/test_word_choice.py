"""The words of an input that can be hidden, and the text around one."""

import pytest

from model import InputError
from probes.cloze import query


def test_the_text_is_split_around_all_pieces_of_a_word(english):
    encoding = english.tokenizer.encode("It was unbelievably hot.", "So hot.")
    words = query.words(encoding)
    assert [text for _, text in words] == ["It", "was", "unbelievably", "hot"]
    word = next(index for index, text in words if text == "unbelievably")
    assert query.split_at(encoding, word) == ("It was ", "unbelievably", " hot.")
    assert query.longest_word(words) == word


def test_a_sentence_of_punctuation_only_is_refused_in_words(english):
    with pytest.raises(InputError, match="no word"):
        query.words(english.tokenizer.encode("?! ..."))
