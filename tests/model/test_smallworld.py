"""The small world: its truth is planted, so it can be checked, and its best possible predictor is exact."""

import itertools
import random
from collections import defaultdict

import pytest

import model
from model import checkpoint, smallworld
from model.pretraining import evaluation, token_store
from model.pretraining.masking import MaskingStrategy
from model.smallworld import ceilings, lexicon, optimal
from model.smallworld.generator import derivations

STORIES = list(smallworld.stories(seed=7, count=300))
SENTENCES = [sentence for story in STORIES for sentence in story.sentences]


def test_a_seed_gives_the_same_stories_again():
    again = list(smallworld.stories(seed=7, count=3))
    assert [story.text for story in again] == [story.text for story in STORIES[:3]]
    assert next(smallworld.stories(seed=8, count=1)).text != STORIES[0].text


def test_every_sentence_is_a_tree_with_one_root():
    for sentence in SENTENCES:
        heads = [word.head for word in sentence.words]
        assert heads.count(smallworld.ROOT) == 1
        assert [w.deprel for w in sentence.words if w.head == smallworld.ROOT] == ["root"]
        for start in range(len(heads)):
            visited, index = set(), start
            while index != smallworld.ROOT:
                assert index not in visited, f"{sentence.text}: a cycle"
                visited.add(index)
                index = heads[index]


def test_no_two_arcs_cross():
    for sentence in SENTENCES:
        arcs = [tuple(sorted((index, word.head))) for index, word in enumerate(sentence.words) if word.head >= 0]
        for (a, b), (c, d) in itertools.combinations(arcs, 2):
            assert not (a < c < b < d or c < a < d < b), sentence.text


def test_subjects_and_verbs_agree_however_far_apart():
    n_distant = 0
    for sentence in SENTENCES:
        words = sentence.words
        for index, word in enumerate(words):
            if word.deprel != "nsubj" or (word.upos == "PRON" and "PronType=Rel" in word.feats):
                continue
            joined = any(other.head == index and other.deprel == "conj" for other in words)
            number = "Plur" if joined or "Number=Plur" in word.feats else "Sing"
            head = words[word.head]
            finite = [head, *(other for other in words if other.head == word.head and other.deprel in ("aux", "cop"))]
            feats = [verb.feats for verb in finite if "VerbForm=Fin" in verb.feats]
            assert feats and all(f"Number={number}" in verb for verb in feats), sentence.text
            n_distant += abs(word.head - index) > 4
    assert n_distant > 50


def test_pronouns_have_the_gender_of_whom_they_name():
    for story in STORIES:
        for word in (word for sentence in story.sentences for word in sentence.words):
            if word.upos == "PRON" and word.referent in ("hero", "worker"):
                gender = story.plan["gender" if word.referent == "hero" else "worker"]
                assert f"Gender={gender}" in word.feats


def test_her_book_and_saw_are_truly_ambiguous():
    readings = defaultdict(set)
    for sentence in SENTENCES:
        for word in sentence.words:
            readings[word.form.lower()].add((word.upos, word.deprel if word.form.lower() == "her" else ""))
    assert {upos for upos, _ in readings["book"]} == {"NOUN", "VERB"}
    assert {upos for upos, _ in readings["saw"]} == {"NOUN", "VERB"}
    assert {("PRON", "nmod:poss"), ("PRON", "iobj")} <= readings["her"]
    assert sum(len({upos for upos, _ in pairs}) > 1 for pairs in readings.values()) >= 8


def test_conllu_has_the_same_tree_in_ten_columns():
    sentence = SENTENCES[0]
    lines = [line.split("\t") for line in sentence.conllu().splitlines() if line and line[0] != "#"]
    assert all(len(columns) == 10 for columns in lines)
    assert [columns[1] for columns in lines] == [word.form for word in sentence.words]
    assert [int(columns[6]) - 1 for columns in lines] == [word.head for word in sentence.words]
    assert f"# text = {sentence.text}" in sentence.conllu() and sentence.conllu().endswith("\n\n")


def test_every_word_is_one_wordpiece():
    tokenizer = smallworld.tokenizer()
    for sentence in SENTENCES[:300]:
        assert [tokenizer.vocabulary[piece] for piece in tokenizer.piece_ids(sentence.text)] == list(sentence.tokens)
    assert {token for sentence in SENTENCES for token in sentence.tokens} <= set(lexicon.forms())


def test_every_story_fits_as_a_pair():
    assert max(sum(len(s.words) for s in story.sentences) for story in STORIES) + 3 <= smallworld.LONGEST


def test_probabilities_of_all_derivations_add_up_to_one():
    for name, write in smallworld.KINDS.items():
        plan = {"place": "market", "gender": "Fem", "companion": ""}
        total = sum(derivation.probability for derivation in derivations(write, plan, smallworld.PRIORS, None))
        assert total == pytest.approx(1), name


def test_every_sentence_is_recognised_as_its_kind_and_no_other():
    for sentence in SENTENCES[:21]:
        kinds = [
            name
            for name, write in smallworld.KINDS.items()
            if next(derivations(write, {}, smallworld.PRIORS, sentence.tokens), None)
        ]
        assert kinds == [sentence.kind], sentence.text


def test_the_best_predictor_is_calibrated():
    rng, expected, variance, correct = random.Random(3), 0.0, 0.0, 0
    for story in STORIES[:16]:
        span = [token for sentence in story.sentences for token in sentence.tokens]
        hidden = [rng.random() < 0.15 for _ in span]
        for position, probabilities in optimal.predict(span, hidden).items():
            assert sum(probabilities.values()) == pytest.approx(1)
            assert span[position] in probabilities
            word, probability = max(probabilities.items(), key=lambda item: item[1])
            expected += probability
            variance += probability * (1 - probability)
            correct += word == span[position]
    assert abs(correct - expected) < 3 * variance**0.5


def test_what_cannot_be_otherwise_is_certain():
    span = (
        "every monday anna goes to the market with her brother . last monday they took their hats because it was "
        "sunny .".split()
    )
    for position, word in ((0, "every"), (8, "her"), (12, "monday"), (13, "they"), (15, "their")):
        probabilities = optimal.predict(span, [index == position for index in range(len(span))])
        assert probabilities[position][word] == pytest.approx(1)


def test_a_free_choice_has_its_prior_probabilities():
    span = "every monday anna goes to the market with her brother .".split()
    kin = optimal.predict(span, [index == 9 for index in range(len(span))])[9]
    assert kin == pytest.approx(dict.fromkeys(lexicon.KIN, 1 / 4))
    names = optimal.predict(span, [index == 2 for index in range(len(span))])[2]
    regulars = lexicon.regulars("market", "Fem")
    assert names == pytest.approx({name.lower(): probability for name, probability in regulars.items()})
    assert max(regulars.values()) > 2 * min(regulars.values()), "people have their habits"


def test_words_of_a_sentence_cut_apart_are_left_out():
    span = "brother . last monday they took their hats because it was sunny .".split()
    assert set(optimal.predict(span, [True] + [False] * 5 + [True] * (len(span) - 6))) == set(range(6, len(span)))


@pytest.fixture(scope="module")
def heldout(tmp_path_factory) -> token_store.TokenStore:
    """Stories that no shipped model was trained on."""
    folder = tmp_path_factory.mktemp("heldout") / "corpus"
    documents = ([sentence.text for sentence in story.sentences] for story in smallworld.stories(20260, 800))
    assert list(token_store.build(documents, smallworld.tokenizer(), folder, heldout_every=2))[-1] == 800
    return token_store.TokenStore(folder / "heldout")


def test_the_ceiling_masks_the_very_words_that_a_model_is_evaluated_on(heldout):
    *_, ceiling = optimal.ceiling(heldout, smallworld.tokenizer(), MaskingStrategy(), count=8)
    bert = smallworld.untrained_model()
    scores = evaluation.evaluate(bert, heldout, MaskingStrategy(), smallworld.LONGEST, count=8)
    assert (ceiling.words, ceiling.pairs) == (scores.words, scores.pairs)
    assert scores.mlm_accuracy < ceiling.accuracy <= 1
    assert scores.mlm_loss > ceiling.loss > 0


def test_the_shipped_model_comes_near_the_ceiling_and_never_above_it(heldout):
    bert = model.load("smallworld")
    scores = evaluation.evaluate(bert, heldout, MaskingStrategy(), smallworld.LONGEST, count=512)
    ceiling = ceilings.ceiling_of(MaskingStrategy())
    assert ceiling is not None
    assert -0.03 - ceiling["error"] < scores.mlm_accuracy - ceiling["accuracy"] < 3 * ceiling["error"]
    assert (scores.nsp_accuracy or 0) > 0.9


def test_a_kind_has_as_many_sentences_as_its_choices_multiply_to():
    assert ceilings.count_sentences("habit", "market") == 3 * 8 * 7 * 5


def test_the_card_states_how_many_different_sentences_there_are():
    card = (checkpoint.BUNDLED / "smallworld" / "CARD.md").read_text(encoding="utf-8")
    assert f"{ceilings.distinct()['together']:,} different sentences" in card
