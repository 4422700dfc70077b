"""Predictions behind a mask are the model's own, for one text or a pair, whole or with something switched off."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import model
from model import Bert, Edits, InputError, MissingHeadError
from probes import cloze


def test_a_common_blank_is_filled_sensibly(english):
    top = cloze.fill(english, "She poured a cup of hot [MASK] and sat down.", k=5)
    assert list(top.columns) == ["position", "word", "probability"]
    assert {"coffee", "tea"} <= set(top["word"])
    assert top["probability"].is_monotonic_decreasing


def test_every_mask_gets_its_own_list(tiny_bert):
    top = cloze.fill(tiny_bert, "the [MASK] sat on the [MASK] .", k=4)
    assert top["position"].tolist() == [2] * 4 + [6] * 4


def test_a_pair_is_filled_in_both_sentences_as_it_is_packed(tiny_bert):
    a, b = "the [MASK] sat", "he [MASK] playing"
    encoding = tiny_bert.tokenizer.encode(a, b)
    top = cloze.fill(tiny_bert, a, b, k=3)
    positions = cloze.mask_positions(tiny_bert, encoding)
    assert top["position"].unique().tolist() == positions == [2, 6]
    expected = np.sort(cloze.probabilities(tiny_bert, encoding, positions), axis=1)[:, :-4:-1]
    np.testing.assert_allclose(top["probability"].to_numpy().reshape(2, 3), expected, rtol=1e-5)


def test_a_second_sentence_changes_what_is_filled_into_the_first(english):
    alone = cloze.fill(english, "She opened the [MASK].")
    pair = cloze.fill(english, "She opened the [MASK].", "Then she began to read the first chapter.")
    assert alone["probability"].tolist() != pair["probability"].tolist()


def test_filling_with_heads_off_is_the_prediction_with_these_heads_off(tiny_bert):
    text, edits = "the cat [MASK] on the mat", Edits(heads_off=frozenset({(0, 1), (1, 2)}))
    row = cloze.probabilities(tiny_bert, tiny_bert.tokenizer.encode(text), [3], edits)[0]
    (ablated,) = cloze.fill(tiny_bert, text, k=1, edits=edits)["probability"].tolist()
    (whole,) = cloze.fill(tiny_bert, text, k=1)["probability"].tolist()
    assert ablated == pytest.approx(row.max())
    assert ablated != pytest.approx(whole, rel=1e-4)


def test_filling_in_one_direction_does_not_see_the_other_side(tiny_bert):
    fillings = [
        cloze.fill(tiny_bert, f"the cat [MASK] {end}", k=3, edits=Edits(direction="left"))["probability"].to_numpy()
        for end in ("on the mat", "my new dog")
    ]
    np.testing.assert_allclose(*fillings, atol=1e-6)


def test_probabilities_are_those_of_transformers(english):
    reference = BertForPreTraining.from_pretrained(model.checkpoint.BUNDLED / "english", dtype=torch.float32).eval()
    encoding = english.tokenizer.encode("The keys to the [MASK] are on the [MASK].", "He saw [MASK].")
    positions = cloze.mask_positions(english, encoding)
    with torch.inference_mode():
        expected = reference(torch.tensor([encoding.ids]), token_type_ids=torch.tensor([encoding.segments]))
    np.testing.assert_allclose(
        cloze.probabilities(english, encoding, positions), expected.prediction_logits[0, positions].softmax(-1), atol=1e-5
    )


def test_the_most_probable_token_has_rank_zero_and_equal_ones_share_the_better_rank():
    predicted = np.array([[0.5, 0.2, 0.2, 0.1]] * 4)
    assert cloze.rank(predicted, [0, 1, 2, 3]).tolist() == [0, 1, 1, 3]


class TestBadInput:
    def test_a_text_without_a_mask_is_refused(self, tiny_bert):
        with pytest.raises(InputError, match=r"has no \[MASK\]; a cloze query needs at least one"):
            cloze.fill(tiny_bert, "the cat sat")

    def test_an_input_of_masks_alone_is_refused(self, tiny_bert):
        with pytest.raises(InputError, match="Every word is masked"):
            cloze.mask(tiny_bert, tiny_bert.tokenizer.encode("the cat"), [1, 2])
        with pytest.raises(InputError, match="Every word is masked"):
            cloze.fill(tiny_bert, "[MASK] [MASK]")
        with pytest.raises(InputError, match="Every word is masked"):
            cloze.score(tiny_bert, ["[MASK] [MASK]"])

    def test_a_model_without_the_head_is_refused(self, tiny_bert):
        headless = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, mlm=False)
        with pytest.raises(MissingHeadError, match="no masked-word head"):
            cloze.fill(headless, "the [MASK]")
        with pytest.raises(MissingHeadError, match="no masked-word head"):
            cloze.score(headless, ["the cat"])
