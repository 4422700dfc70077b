"""Filling blanks, scoring words and sentences, and looking at how a prediction came about."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import model
from model import Bert, BertConfig, InputProblem, MissingHead, tokenizer
from probes import cloze
from probes.cloze import attention_shift, attribution, directions, logit_lens
from probes.cloze import joint as filling

CITIES = [("new", "york")] * 4 + [("los", "angeles")] * 3 + [("los", "alamos")] * 3


@pytest.fixture(scope="module")
def cities() -> Bert:
    """A model that learned ten trips by heart: "los" is the likelier first word, "new york" the likelier pair."""
    pieces = tokenizer.from_words(["we", "saw", "new", "york", "los", "angeles", "alamos", "."])
    bert = Bert.random(BertConfig(pieces.size, 32, 2, 2, 64, 16, initializer_range=0.1), pieces, seed=2)
    full = torch.tensor([pieces.encode(f"we saw {a} {b} .").ids for a, b in CITIES])
    seen = []
    for hidden in ([3, 4], [4], [3]):  # both masked, and each alone
        ids = full.clone()
        ids[:, hidden] = pieces.mask
        seen.append(ids)
    batch = model.Batch(torch.cat(seen), torch.zeros(30, 7, dtype=torch.long), torch.ones(30, 7, dtype=torch.bool))
    optimiser = torch.optim.Adam(bert.parameters(), 3e-3)
    for _ in range(150):
        scores = bert.words(bert(batch)[:, 3:5])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), full[:, 3:5].repeat(3, 1).flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return bert.requires_grad_(False)


def words(bert: Bert, found: filling.Filling) -> list[str]:
    return [bert.tokenizer.words[index] for index in found.ids]


class TestFilling:
    def test_a_common_blank_is_filled_sensibly(self, english):
        top = cloze.fill(english, "She poured a cup of hot [MASK] and sat down.", k=5)
        assert list(top.columns) == ["position", "word", "probability"]
        assert {"coffee", "tea"} <= set(top["word"])
        assert top["probability"].is_monotonic_decreasing

    def test_every_mask_gets_its_own_list(self, little):
        top = cloze.fill(little, "the [MASK] sat on the [MASK] .", k=4)
        assert top["position"].tolist() == [2] * 4 + [6] * 4

    def test_probabilities_are_those_of_transformers(self, english):
        theirs = BertForPreTraining.from_pretrained(model.checkpoint.SHIPPED / "english", dtype=torch.float32).eval()
        encoding = english.tokenizer.encode("The keys to the [MASK] are on the [MASK].", "He saw [MASK].")
        places = cloze.masks(english, encoding)
        with torch.inference_mode():
            expected = theirs(torch.tensor([encoding.ids]), token_type_ids=torch.tensor([encoding.segments]))
        np.testing.assert_allclose(cloze.probabilities(english, encoding, places),
                                   expected.prediction_logits[0, places].softmax(-1), atol=1e-5)

    def test_joint_filling_finds_the_higher_joint_probability(self, cities):
        encoding = cities.tokenizer.encode("we saw [MASK] [MASK] .")
        alone, greedy, _, joint = filling.fillings(cities, encoding, [3, 4])
        assert words(cities, alone) == ["los", "york"]  # likeliest each, impossible together
        assert words(cities, greedy)[0] == "los"
        assert words(cities, joint) == ["new", "york"]
        assert joint.log > greedy.log > alone.log
        assert np.exp(joint.log) == pytest.approx(0.4, abs=0.05)

    def test_best_first_is_never_worse_than_the_other_orders(self, little):
        encoding = little.tokenizer.encode("[MASK] cat [MASK] on [MASK] mat")
        found = {one.method: one for one in filling.fillings(little, encoding, [1, 3, 5])}
        exact = _exhaustive(little, encoding, [1, 3, 5])
        assert found["best first"].log == pytest.approx(exact, abs=1e-5)
        assert all(found["best first"].log >= other.log - 1e-6 for other in found.values())

    def test_confidence_first_decides_the_surest_mask_first(self, cities):
        encoding = cities.tokenizer.encode("we saw [MASK] [MASK] [MASK]")
        predicted = cloze.probabilities(cities, encoding, [3, 4, 5]).max(axis=1)
        assert filling.confident(cities, encoding, [3, 4, 5]).order[0] == 3 + int(predicted.argmax())

    def test_one_mask_is_filled_alike_by_every_method(self, little):
        encoding = little.tokenizer.encode("the cat [MASK] on the mat")
        assert len({one.ids for one in filling.fillings(little, encoding, [3])}) == 1


def _exhaustive(bert, encoding, positions) -> float:
    """The highest joint probability over the ten likeliest words at every step, by trying them all."""
    beginnings = [((), 0.0)]
    for place, position in enumerate(positions):
        longer = []
        for ids, log in beginnings:
            now = encoding.replaced({p: (i, "") for p, i in zip(positions, ids, strict=False)})
            row = np.log(cloze.probabilities(bert, now, [position])[0])
            longer += [((*ids, int(word)), log + row[word]) for word in np.argsort(row)[-10:]]
        beginnings = longer
        assert len(beginnings) == 10 ** (place + 1)
    return max(log for _, log in beginnings)


class TestWords:
    def test_the_best_word_has_rank_zero_and_its_listed_probability(self, english):
        encoding = english.tokenizer.encode("She poured a cup of hot [MASK].")
        top = cloze.best(english, encoding, [7], k=3)
        for place, row in enumerate(top.itertuples()):
            standing = cloze.standing(english, encoding, 7, 8, row.word)
            assert standing.rank == place
            assert standing.probability == pytest.approx(row.probability, rel=1e-4)

    def test_a_word_of_several_pieces_is_the_product_over_its_masks(self, english):
        encoding = english.tokenizer.encode("The [MASK] was cold.")
        standing = cloze.standing(english, encoding, 2, 3, "lemonade")
        assert len(standing.pieces) > 1 and standing.rank is None
        ids, expected = english.tokenizer.pieces("lemonade"), 1.0
        for done, piece in enumerate(ids):
            text = " ".join(["The", *("[MASK]" for _ in ids), "was cold."])
            blank = english.tokenizer.encode(text)
            filled = blank.replaced({2 + place: (ids[place], "") for place in range(done)})
            expected *= cloze.probabilities(english, filled, [2 + done])[0, piece]
        assert standing.probability == pytest.approx(expected, rel=1e-4)

    def test_a_typed_word_may_stand_in_the_second_segment(self, english):
        encoding = english.tokenizer.encode("My dog is cute.", "He likes [MASK] playing.")
        place = cloze.masks(english, encoding)[0]
        moved = cloze.spliced(english, encoding, place, place + 1, [1, 2, 3])
        assert [t.position for t in moved.tokens] == list(range(len(encoding) + 2))
        assert [t.segment for t in moved.tokens].count(1) == encoding.segments.count(1) + 2


class TestSentences:
    def test_the_grammatical_sentence_scores_higher(self, english):
        are, is_ = cloze.score(english, ["The keys to the cabinet are on the table.",
                                         "The keys to the cabinet is on the table."])
        assert are > is_

    TEXTS = ("the cat sat", "my dogs likes playing on the mat .", "he xyzzy ran , cats !", "zoo [MASK] abc")

    @pytest.mark.parametrize("variant", cloze.VARIANTS)
    def test_scoring_together_equals_masking_by_hand(self, little, variant):
        for text, total in zip(self.TEXTS, cloze.score(little, self.TEXTS, variant), strict=True):
            encoding, logs = little.tokenizer.encode(text), []
            for token in encoding.tokens[1:-1]:
                if token.text == "[MASK]":
                    continue
                later = [t.position for t in encoding.tokens if t.word == token.word and t.position > token.position]
                hidden = [token.position, *(later if variant == "within_word_l2r" else ())]
                blank = encoding.replaced(dict.fromkeys(hidden, (little.tokenizer.mask, "[MASK]")))
                states = little(blank)[0, token.position]
                logs.append(float(little.words(states).log_softmax(-1)[token.id]))
            assert total == pytest.approx(sum(logs), abs=1e-4)

    def test_only_split_words_score_otherwise_when_their_later_pieces_are_hidden_too(self, little):
        encodings = [little.tokenizer.encode(text, "he ran on") for text in self.TEXTS]
        for encoding, within, alone in zip(encodings, *(cloze.each(little, encodings, name) for name in cloze.VARIANTS),
                                           strict=True):
            scored = [t for t in encoding.tokens if not t.special and t.id != little.tokenizer.mask]
            last = np.array([sum(other.word == t.word and other.position > t.position for other in scored) == 0
                             for t in scored])
            np.testing.assert_allclose(within[last], alone[last], atol=1e-5)
            assert (np.abs(within - alone)[~last] > 1e-4).all()

    def test_a_rare_word_is_less_likely_when_its_pieces_do_not_give_each_other_away(self, english):
        within, alone = (cloze.score(english, ["The zookeeper bought souvenirs."], name)[0] for name in cloze.VARIANTS)
        assert within < alone - 1

    def test_an_unknown_variant_is_said(self, little):
        with pytest.raises(InputProblem, match="within_word_l2r, original"):
            cloze.score(little, ["the cat"], "global")

    def test_small_batches_give_the_same_scores(self, little):
        encodings = [little.tokenizer.encode(text) for text in ("the cat sat", "a dog ran on the mat .", "he is cute")]
        for one, other in zip(cloze.each(little, encodings, tokens_at_once=16), cloze.each(little, encodings), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


class TestLens:
    def test_the_last_layer_is_the_models_own_prediction(self, english):
        encoding = english.tokenizer.encode("The cat sat on the [MASK].")
        read = logit_lens.lens(english, encoding, encoding.ids)
        predicted = cloze.probabilities(english, encoding, range(len(encoding)))
        np.testing.assert_allclose(read.probability[-1], predicted.max(1), atol=1e-6)
        assert read.words[-1] == [english.tokenizer.words[index] for index in predicted.argmax(1)]
        np.testing.assert_array_equal(read.rank[-1], cloze.rank(predicted, encoding.ids))

    def test_there_is_a_reading_of_every_layer_and_position(self, little):
        encoding = little.tokenizer.encode("the cat sat")
        read = logit_lens.lens(little, encoding, encoding.ids)
        assert read.rank.shape == (little.config.num_hidden_layers + 1, len(encoding))


class TestSight:
    def test_left_sight_does_not_depend_on_the_right(self, little):
        one, other = (little.tokenizer.encode(f"the cat [MASK] {end}") for end in ("on the mat", "my new dog"))
        mine, theirs = (directions.predictions(little, encoding, 3) for encoding in (one, other))
        np.testing.assert_allclose(mine["left"], theirs["left"], atol=1e-6)
        assert np.abs(mine["right"] - theirs["right"]).max() > 1e-4

    def test_right_sight_does_not_depend_on_the_left(self, little):
        one, other = (little.tokenizer.encode(f"{start} [MASK] on the mat") for start in ("the cat", "my dog"))
        mine, theirs = (directions.predictions(little, encoding, 3) for encoding in (one, other))
        np.testing.assert_allclose(mine["right"], theirs["right"], atol=1e-6)

    def test_both_is_the_unchanged_model_and_averaged_lies_between(self, little):
        encoding = little.tokenizer.encode("the cat [MASK] on the mat")
        found = directions.predictions(little, encoding, 3)
        np.testing.assert_allclose(found["both"], cloze.probabilities(little, encoding, [3])[0], atol=1e-6)
        np.testing.assert_allclose(found["averaged"] * 2, found["left"] + found["right"], atol=1e-6)
        assert all(row.sum() == pytest.approx(1, abs=1e-4) for row in found.values())


class TestAttribution:
    def test_occlusion_is_the_fall_of_the_log_probability(self, little):
        encoding = little.tokenizer.encode("the cat [MASK] on the mat")
        found = attribution.attribution(little, encoding, 3, 8)
        blank = cloze.masked(little, encoding, [2])
        fall = np.log(cloze.probabilities(little, encoding, [3])[0, 8] / cloze.probabilities(little, blank, [3])[0, 8])
        assert found.occlusion[2] == pytest.approx(fall, abs=1e-4)
        assert found.occlusion[3] == found.gradient[3] == 0
        assert -1 <= found.correlation <= 1

    def test_the_gradient_is_the_slope_of_the_log_probability(self, little):
        encoding = little.tokenizer.encode("the cat [MASK] on the mat")
        state = model.trace.trace(little, encoding).hidden[0]
        step, logs = 1e-2, []
        for scale in (1 + step, 1 - step):
            edits = model.Edits(patches={(0, 2): state[2] * scale})
            logs.append(np.log(cloze.probabilities(little, encoding, [3], edits)[0, 8]))
        slope = attribution.gradient(little, encoding, 3, 8)[2]
        assert slope == pytest.approx((logs[0] - logs[1]) / (2 * step), rel=0.02, abs=1e-3)

    def test_nothing_is_left_on_the_shared_model(self, english):
        encoding = english.tokenizer.encode("The cat [MASK] on the mat.")
        attribution.attribution(english, encoding, 3, 2000)
        assert all(parameter.grad is None for parameter in english.parameters())


class TestRefocus:
    def test_what_one_edge_gains_another_loses(self, little):
        encoding = little.tokenizer.encode("the cat sat on the mat")
        found = attention_shift.refocus(little, encoding, cloze.masked(little, encoding, [2]))
        np.testing.assert_allclose(found.difference.sum(-1), 0, atol=1e-5)
        assert 0 < found.moved.max() <= 1

    def test_masking_nothing_moves_nothing(self, little):
        encoding = little.tokenizer.encode("the cat sat on the mat")
        assert attention_shift.refocus(little, encoding, encoding).moved.max() == 0


class TestBadInput:
    def test_no_mask_is_said(self, little):
        with pytest.raises(InputProblem, match="No word is masked"):
            cloze.fill(little, "the cat sat")

    def test_everything_masked_is_said(self, little):
        with pytest.raises(InputProblem, match="Every word is masked"):
            cloze.masked(little, little.tokenizer.encode("the cat"), [1, 2])
        with pytest.raises(InputProblem, match="Every word is masked"):
            cloze.fill(little, "[MASK] [MASK]")
        with pytest.raises(InputProblem, match="Every word is masked"):
            cloze.score(little, ["[MASK] [MASK]"])

    @pytest.mark.parametrize("word", ["日本", "", "  ", "[MASK]", "cat 日本"])
    def test_a_word_the_vocabulary_cannot_spell_is_said(self, little, word):
        with pytest.raises(InputProblem, match="cannot be spelled"):
            cloze.standing(little, little.tokenizer.encode("the [MASK] sat"), 2, 3, word)

    def test_a_model_without_the_head_is_said(self, little):
        headless = Bert.random(little.config, little.tokenizer, mlm=False)
        for question in (lambda: cloze.fill(headless, "the [MASK]"), lambda: cloze.score(headless, ["the cat"])):
            with pytest.raises(MissingHead, match="no masked-word head"):
                question()
