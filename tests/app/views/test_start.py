"""The first page: the guesses are for the word that is hidden, read with everything the trace beside them read."""

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.figures import theme, word_bars
from model import Bert, BertConfig, InputError, tokenizer
from probes import cloze
from probes.cloze import query
from tests.conftest import ROOT

LAYOUT: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def bars(app: AppTest) -> tuple[list[str], list[str]]:
    """The words of the guesses as they are drawn, and their colours."""
    bar = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    return bar["y"], bar["marker"]["color"]


def inclined(pieces: tokenizer.WordPiece, word: str) -> Bert:
    """A random model that likes one word best everywhere."""
    bert = Bert.random_init(BertConfig(pieces.vocab_size, **LAYOUT), pieces, seed=3).requires_grad_(False)
    assert bert.mlm is not None
    bert.mlm.bias[pieces.token_to_id(word)] = 9.0
    return bert


@pytest.fixture(scope="module")
def cased() -> Bert:
    return inclined(
        tokenizer.from_vocabulary("We we saw Paris paris in May may . the The".split(), lowercase=False), "Paris"
    )


@pytest.fixture(scope="module")
def plain_letters() -> Bert:
    """Lower case, and without the marks on letters."""
    return inclined(tokenizer.from_vocabulary("the cafe is open now .".split()), "cafe")


class TestHidden:
    A, B = "[MASK] poured a cup of hot coffee and sat down.", "Then she opened the newspaper."

    def test_an_earlier_mask_stays_a_mask_and_the_guesses_are_for_the_hidden_word(self, english):
        guesses = bars(opened(a=self.A, b=""))[0]
        blank = english.tokenizer.encode(self.A.replace("coffee", "[MASK]"))
        first, hidden = cloze.mask_positions(english, blank)
        assert guesses == cloze.predict(english, blank, [hidden], 6)["word"].tolist()
        assert guesses != cloze.predict(english, blank, [first], 6)["word"].tolist()
        assert "coffee" in guesses

    def test_sentence_b_is_read_with_it(self, english):
        a, b = "She opened the door.", "The letter was on the table."
        blank = english.tokenizer.encode("She [MASK] the door.", b)
        table = query.predict_word(english, english.tokenizer.encode(a, b), 1)
        expected = cloze.predict(english, blank, cloze.mask_positions(english, blank), 6)
        assert table["word"].tolist() == expected["word"].tolist()
        np.testing.assert_allclose(table["probability"], expected["probability"], atol=1e-6)
        alone = cloze.fill(english, "She [MASK] the door.", k=6)
        assert not np.allclose(table["probability"], alone["probability"], atol=1e-3)
        assert "both sides of the blank and sentence B" in " ".join(caption.value for caption in opened(a=a, b=b).caption)

    def test_a_word_of_several_pieces_is_hidden_behind_one_mask(self, english):
        encoding = english.tokenizer.encode("The zookeeper slept.", "He was tired.")
        assert sum(token.word == 1 for token in encoding.tokens) > 1
        blank = english.tokenizer.encode("The [MASK] slept.", "He was tired.")
        expected = cloze.predict(english, blank, cloze.mask_positions(english, blank), 6)
        assert query.predict_word(english, encoding, 1)["word"].tolist() == expected["word"].tolist()

    def test_a_lone_word_cannot_be_guessed_from_nothing(self, english):
        with pytest.raises(InputError, match="nothing is left to predict from"):
            query.predict_word(english, english.tokenizer.encode("Hello"), 0)


class TestOriginal:
    @pytest.mark.parametrize(
        "model, text, word",
        [
            ("cased", "Paris", "Paris"),
            ("cased", "paris", "paris"),
            ("cased", "PARIS", None),
            ("cased", "May in", None),
            ("plain_letters", "Café", "cafe"),
            ("plain_letters", "CAFE", "cafe"),
            ("plain_letters", "日", None),
        ],
    )
    def test_a_text_is_the_word_that_the_models_own_rules_make_of_it(self, request, model, text, word):
        assert cloze.vocabulary_word(request.getfixturevalue(model), text) == word

    @pytest.mark.parametrize(
        "model, text, word", [("cased", "We saw Paris in May .", "Paris"), ("plain_letters", "The Café is now", "cafe")]
    )
    def test_the_word_that_stood_there_is_orange_under_any_rules_of_case_and_accents(
        self, request, model, text, word, tmp_path, monkeypatch
    ):
        request.getfixturevalue(model).save(tmp_path / "mine")
        monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
        words, colours = bars(opened(model="mine", a=text, b=""))
        assert [name for name, colour in zip(words, colours, strict=True) if colour == theme.HIGHLIGHT] == [word]

    def test_a_word_of_another_case_is_another_word_to_a_cased_model(self, cased):
        table = query.predict_word(cased, cased.tokenizer.encode("We saw paris in May ."), 2, k=12)
        figure = word_bars.bars(table, cloze.vocabulary_word(cased, "paris"))
        marked = [
            word
            for word, colour in zip(table["word"], figure["data"][0]["marker"]["color"], strict=True)
            if colour == theme.HIGHLIGHT
        ]
        assert marked == ["paris"]
