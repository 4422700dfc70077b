"""The grammar check: minimal pairs that are fair, and a score that finds who prefers the good ones."""

import re
from collections import Counter

import pandas as pd
import pytest
import torch

from model import Bert, BertConfig, tokenizer
from probes.cloze import grammar

NUMBER = ("is are", "was were", "has have", "does do", "this these", "that those")
AGREEMENT = ("subject-verb agreement", "agreement across a distractor", "agreement in relative clauses")


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return grammar.pairs()


@pytest.fixture(scope="module")
def reader(pairs) -> Bert:
    """A random BERT whose vocabulary is the words of the pairs: every word is one piece."""
    words = {word for text in [*pairs["good"], *pairs["bad"]] for word in split(text)}
    pieces = tokenizer.from_vocabulary(sorted(words))
    return Bert.random_init(
        BertConfig(pieces.vocab_size, 32, 2, 4, 64, 32, initializer_range=0.2), pieces, 3
    ).requires_grad_(False)


def split(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def changed(row) -> tuple[list[str], list[str]]:
    """The words that stand at other places in the good and in the bad sentence."""
    good, bad = split(row.good), split(row.bad)
    return ([a for a, b in zip(good, bad, strict=True) if a != b], [b for a, b in zip(good, bad, strict=True) if a != b])


def planted(reader: Bert, word: str) -> Bert:
    """A BERT that expects one word everywhere, whatever stands around."""
    bert = Bert.random_init(reader.config, reader.tokenizer, 0).requires_grad_(False)
    assert bert.mlm is not None
    with torch.no_grad():
        for parameter in bert.parameters():
            parameter.zero_()
        bert.mlm.bias[bert.tokenizer.piece_ids(word)] = 5.0
    return bert


class TestPairs:
    def test_there_are_ten_phenomena_of_twenty_pairs(self, pairs):
        assert list(pairs.columns) == ["phenomenon", "good", "bad"]
        assert Counter(Counter(pairs["phenomenon"]).values()) == {20: 10}

    def test_no_sentence_occurs_twice(self, pairs):
        texts = [" ".join(split(text)) for text in [*pairs["good"], *pairs["bad"]]]
        assert [text for text, count in Counter(texts).items() if count > 1] == []

    def test_no_two_good_sentences_are_nearly_alike(self, pairs):
        bags = [set(split(text)) - {"."} for text in pairs["good"]]
        alike = [(a, b) for a in range(len(bags)) for b in range(a) if len(bags[a] & bags[b]) / len(bags[a] | bags[b]) > 0.5]
        assert [(pairs["good"][a], pairs["good"][b]) for a, b in alike] == []

    def test_a_pair_has_equally_many_words_and_differs_in_few(self, pairs):
        for row in pairs.itertuples():
            good, bad = split(row.good), split(row.bad)
            assert len(good) == len(bad), row.good
            one_word = len(changed(row)[0]) == 1
            assert one_word or (sorted(good) == sorted(bad) and len(changed(row)[0]) <= 5), row.good

    def test_a_pair_has_equally_many_pieces_in_the_shipped_vocabulary(self, pairs, english):
        pieces = english.tokenizer.piece_ids
        assert sum(len(pieces(row.good)) == len(pieces(row.bad)) for row in pairs.itertuples()) >= 170

    def test_the_shipped_vocabulary_knows_every_word(self, pairs, english):
        ids = {piece for text in [*pairs["good"], *pairs["bad"]] for piece in english.tokenizer.piece_ids(text)}
        assert not ids & english.tokenizer.special_ids

    @pytest.mark.parametrize("phenomenon", AGREEMENT)
    def test_singular_and_plural_verbs_are_good_equally_often(self, pairs, phenomenon):
        rows = pairs[pairs["phenomenon"] == phenomenon]
        singular = sum(changed(row)[0][0].endswith("s") for row in rows.itertuples())  # is, was, has, lives
        assert singular == 10

    @pytest.mark.parametrize("forms", NUMBER)
    def test_each_of_two_forms_is_good_about_as_often_as_it_is_bad(self, pairs, forms):
        singular, plural = forms.split()
        good = Counter(
            word
            for row in pairs.itertuples()
            if {word for side in changed(row) for word in side} == {singular, plural}
            for word in changed(row)[0]
        )
        assert min(good[singular], good[plural]) >= 1 and abs(good[singular] - good[plural]) <= 2

    def test_himself_and_herself_are_good_equally_often(self, pairs):
        good = Counter(changed(row)[0][0] for row in pairs[pairs["phenomenon"] == "reflexives"].itertuples())
        assert good["himself"] == good["herself"] == good["themselves"] == 5

    def test_past_and_participle_are_good_equally_often(self, pairs):
        rows = pairs[pairs["phenomenon"] == "irregular verbs"]
        assert sum(bool({"has", "have", "had", "was"} & set(split(row.good))) for row in rows.itertuples()) == 10

    def test_singular_and_plural_nouns_are_good_equally_often(self, pairs):
        plural = {"these", "those", "several", "both", "many", "few"}
        rows = pairs[pairs["phenomenon"] == "determiner-noun agreement"]
        assert sum(bool(plural & set(split(row.good))) for row in rows.itertuples()) == 10


class TestCheck:
    def test_a_model_with_a_planted_preference_gets_every_pair_right(self, reader):
        minimal_pairs = pd.DataFrame(
            {
                "phenomenon": ["verb", "verb", "noun"],
                "good": ["The windows are open.", "My parents are late.", "These are apples."],
                "bad": ["The windows is open.", "My parents is late.", "These is apples."],
            }
        )
        prefers_good = grammar.check(planted(reader, "are"), minimal_pairs).table()
        prefers_bad = grammar.check(planted(reader, "is"), minimal_pairs).table()
        assert prefers_good["phenomenon"].tolist() == ["verb", "noun", grammar.OVERALL]
        assert prefers_good["accuracy"].tolist() == [1, 1, 1]
        assert prefers_bad["accuracy"].tolist() == [0, 0, 0]
        assert prefers_good["pairs"].tolist() == [2, 1, 3]

    def test_no_preference_is_not_right(self, reader):
        minimal_pair = pd.DataFrame({"phenomenon": ["verb"], "good": ["We were late."], "bad": ["We was late."]})
        assert grammar.check(planted(reader, "tea"), minimal_pair).table()["accuracy"].tolist() == [0, 0]

    def test_who_always_prefers_is_gets_half_of_what_it_decides(self, pairs, reader):
        rows = pairs[[{word for side in changed(row) for word in side} == {"is", "are"} for row in pairs.itertuples()]]
        assert grammar.check(planted(reader, "is"), rows).correct.mean() == pytest.approx(0.5, abs=0.15)

    @pytest.mark.parametrize("seed", range(3))
    def test_the_interval_of_random_weights_covers_chance(self, pairs, reader, seed):
        overall = grammar.check(reader.random_init_copy(seed)).table().iloc[-1]
        assert overall["pairs"] == 200 and overall["low"] < grammar.CHANCE < overall["high"]

    def test_the_check_so_far_ends_as_the_whole(self, pairs, reader):
        parts = list(grammar.progress(reader, pairs))
        assert [len(part.pairs) for part in parts] == list(range(20, 201, 20))
        assert parts[-1].table().equals(grammar.check(reader).table())
        assert parts[-1].pairs.equals(pairs)

    def test_english_knows_more_grammar_than_chance(self, pairs, english):
        easy = pairs[pairs["phenomenon"].isin(["determiner-noun agreement", "irregular verbs"])]
        assert grammar.check(english, easy).table().iloc[-1]["low"] > grammar.CHANCE
