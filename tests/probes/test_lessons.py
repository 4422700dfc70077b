"""Lessons: every question is answered by the model itself, and a file with a mistake is refused with its place."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.navigation import PAGES
from model import Bert, BertConfig, Edits, InputError, tokenizer
from probes import cloze, heads, lessons, nextsentence
from probes.cloze import directions
from probes.lessons import QuizItem
from tests.conftest import ROOT

FILES = sorted((ROOT / "app" / "lessons").glob("*.toml"))
BLANK = "She poured a cup of hot [MASK] and sat down."
WORDS = ("coffee", "water", "sand")
HEAD = 'title = "T"\nabout = "A"\n[[question]]\n'
GOOD = 'kind = "word"\nprompt = "?"\ntext = "a [MASK]"\noptions = ["b", "c"]\n'


def quiz(kind: str, options: Sequence[str], **fields) -> QuizItem:
    return QuizItem(kind, "?", tuple(options), **fields)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_shipped_model_answers_every_question_and_every_link_leads_to_a_page(file, english):
    lesson = lessons.load(file)
    assert len(lesson.questions) >= 4
    for question in lesson.questions:
        answer = lessons.answer(english, question)
        assert len(answer.values) == len(question.options)
        assert np.isfinite(answer.values).all()
        assert sorted(answer.values)[-1] > sorted(answer.values)[-2], f"two answers to: {question.prompt}"
        assert question.page in {entry.address for group in PAGES.values() for entry in group}


def test_a_word_is_answered_by_the_prediction_at_its_blank(english):
    answer = lessons.answer(english, quiz("word", WORDS, text=BLANK))
    table = cloze.fill(english, BLANK, k=english.tokenizer.vocab_size).set_index("word")["probability"]
    np.testing.assert_allclose(answer.values, table[list(WORDS)], rtol=1e-5)
    assert answer.own == table.index[0]


def test_one_sided_sight_and_heads_that_are_off_change_the_answer_as_they_change_the_model(english):
    encoding = english.tokenizer.encode(BLANK)
    (place,) = cloze.mask_positions(english, encoding)
    ids = [english.tokenizer.piece_ids(word)[0] for word in WORDS]
    left = lessons.answer(english, quiz("word", WORDS, text=BLANK, direction="left"))
    np.testing.assert_allclose(left.values, directions.predict(english, encoding, place)["left"][ids], rtol=1e-5)
    off = frozenset((1, head) for head in range(12))
    without = lessons.answer(english, quiz("word", WORDS, text=BLANK, heads_off=off))
    np.testing.assert_allclose(
        without.values, cloze.probabilities(english, encoding, [place], Edits(heads_off=off))[0][ids], rtol=1e-5
    )


def test_sentences_are_weighed_by_their_likelihood(english):
    options = ("The keys are here.", "The keys is here.")
    answer = lessons.answer(english, quiz("sentence", options))
    difference = np.subtract(*cloze.score(english, options))
    np.testing.assert_allclose(np.log(answer.values[0] / answer.values[1]), difference, rtol=1e-3)
    np.testing.assert_allclose(sum(answer.values), 1)


def test_what_follows_is_answered_by_the_next_sentence_head(english):
    a, b, c = "The dog barked.", "It was hungry.", "The treaty was signed."
    likely = [nextsentence.probability(english, a, option) for option in (b, c)]
    np.testing.assert_allclose(lessons.answer(english, quiz("follows", (b, c), text=a)).values, likely, rtol=1e-6)
    pair = lessons.answer(english, quiz("pair", ("yes", "no"), text=a, second=b))
    np.testing.assert_allclose(pair.values, (likely[0], 1 - likely[0]), rtol=1e-6)


def test_a_head_is_read_word_by_word_and_a_word_that_stands_twice_counts_twice(english):
    a, b = "Unbelievably hot.", "The cat sat."
    question = quiz("looks", ("unbelievably", "[SEP]"), text=a, second=b, word="cat", layer=2, head=3)
    answer = lessons.answer(english, question)
    trace = english.trace(a, b)
    spans = heads.word_spans(trace.encoding)
    weights, texts = heads.merge_wordpieces(trace.attention[2, 3], spans), heads.word_texts(trace.encoding, spans)
    row = weights[texts.index("cat")]
    ends = [place for place, text in enumerate(texts) if text == "[SEP]"]
    assert len(ends) == 2
    np.testing.assert_allclose(answer.values, (row[texts.index("unbelievably")], row[ends].sum()), rtol=1e-5)


@pytest.mark.parametrize(
    "lowercase, text, word, option",
    [
        (True, "the cafe is open", "Café", "OPEN"),
        (False, "the Cafe is open", "Cafe", "open"),
        (False, "the Cafe is open", "cafe", "the"),
    ],
)
def test_words_are_matched_by_the_models_own_spelling(lowercase, text, word, option):
    pieces = tokenizer.from_vocabulary("the The cafe Cafe is open".split(), lowercase)
    bert = Bert.random_init(BertConfig(pieces.vocab_size, 16, 1, 2, 32, 32), pieces, seed=4).requires_grad_(False)
    answer = lessons.answer(bert, quiz("looks", (option, "[SEP]"), text=text, word=word, layer=0, head=1))
    trace = bert.trace(text)
    keys = [position for position, piece in enumerate(trace.wordpieces) if piece == option.lower()]
    weights = trace.attention[0, 1, 2]  # from the word
    np.testing.assert_allclose(answer.values, (weights[keys].sum(), weights[-1]), rtol=1e-5)


def test_before_the_first_layer_only_the_position_tells_two_uses_of_a_word_apart(english):
    question = quiz("near", ("The bank is new.", "We swam to the bank."), text="The bank is closed.", word="bank", layer=0)
    same, other = lessons.answer(english, question).values
    assert same == pytest.approx(1, abs=1e-5)
    assert other < 0.99


def test_pieces_are_counted(english):
    assert lessons.answer(english, quiz("pieces", ("house", "embeddings"))).values == (1, 4)


@pytest.mark.parametrize(
    "question, message",
    [
        (quiz("looks", ("a", "b"), text="a b", word="a", layer=40, head=0), "the model has 6 layers of 12 heads"),
        (quiz("word", ("a", "b"), text=BLANK, heads_off=frozenset({(0, 90)})), "layer 1, head 91; the model has 6"),
        (quiz("near", ("a b", "a c"), text="a", word="a", layer=7), "about layer 7; the model has 6"),
        (quiz("looks", ("a", "x"), text="a b", word="a", layer=0, head=0), "“x” is not a word of the text"),
        (quiz("word", ("a", "embeddings"), text=BLANK), "“embeddings” is 4 wordpieces in this model's vocabulary"),
    ],
)
def test_a_question_that_this_model_cannot_answer_says_why(question, message, english):
    with pytest.raises(InputError, match=message):
        lessons.answer(english, question)


@pytest.mark.parametrize(
    "text, message",
    [
        ("title = ", "mine.toml is not TOML"),
        ('title = "T"\nabout = "A"\n', "has no \\[\\[question\\]\\]"),
        ("[[question]]\n" + GOOD, "mine.toml: title is missing"),
        (HEAD + 'prompt = "?"\noptions = ["b", "c"]\n', "Question 1 of mine.toml: kind is missing"),
        (HEAD + GOOD.replace('"word"', '"riddle"'), "kind is one of word, .*, not “riddle”"),
        (HEAD + GOOD + 'txet = "x"\n', "“txet” is not known"),
        (HEAD + GOOD + 'layer = "x"\n', "layer is not a number"),
        (HEAD + GOOD.replace(" [MASK]", ""), "needs \\[MASK\\] in one place"),
        (HEAD + GOOD.replace(', "c"', ""), "two to nine different texts"),
        (HEAD + GOOD.replace('"c"', '"b"'), "two to nine different texts"),
        (HEAD + GOOD.replace('"c"', "3"), "two to nine different texts"),
        (HEAD + GOOD + "heads_off = [[3]]\n", "heads_off is a list of heads such as"),
        (HEAD + GOOD + 'page = "javascript:alert(1)"\n', "page is a name as in an address"),
        (HEAD + 'kind = "known"\nprompt = "?"\noptions = ["b", "c"]\n', "needs answer"),
        (HEAD + 'kind = "known"\nprompt = "?"\noptions = ["b", "c"]\nanswer = "d"\n', "not among the options"),
        (
            HEAD + 'kind = "looks"\nprompt = "?"\noptions = ["b", "c"]\ntext = "b c"\nword = "b"\nlayer = 0\nhead = 1\n',
            "layer begins at 1",
        ),
        (HEAD + 'kind = "pair"\nprompt = "?"\noptions = ["b", "c", "d"]\ntext = "b"\nsecond = "c"\n', "two options"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_place(text, message):
    with pytest.raises(InputError, match=message):
        lessons.parse(text, "mine.toml")


def test_layers_and_heads_count_from_one_in_the_file_and_states_from_the_embeddings():
    text = HEAD + 'kind = "looks"\nprompt = "?"\noptions = ["b", "c"]\ntext = "b c"\nword = "b"\nlayer = 2\nhead = 10\n'
    (question,) = lessons.parse(text, "mine.toml").questions
    assert (question.layer, question.head) == (1, 9)
    text = HEAD + 'kind = "near"\nprompt = "?"\noptions = ["b c", "b d"]\ntext = "b"\nword = "b"\nlayer = 0\n'
    assert lessons.parse(text, "mine.toml").questions[0].layer == 0
    (question,) = lessons.parse(HEAD + GOOD + "heads_off = [[3, 1]]\n", "mine.toml").questions
    assert question.heads_off == {(2, 0)}
