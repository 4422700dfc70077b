"""A sentence scores the sum of what its wordpieces get when each is masked in turn."""

import numpy as np
import pytest

from model import InputError
from probes import cloze

TEXTS = ("the cat sat", "my dogs likes playing on the mat .", "he xyzzy ran , cats !", "zoo [MASK] abc")


def test_the_grammatical_sentence_scores_higher(english):
    good, bad = cloze.score(
        english, ["The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."]
    )
    assert good > bad


@pytest.mark.parametrize("variant", cloze.VARIANTS)
def test_scoring_in_batches_equals_masking_one_by_one(tiny_bert, variant):
    for text, score in zip(TEXTS, cloze.score(tiny_bert, TEXTS, variant), strict=True):
        encoding, log_probs = tiny_bert.tokenizer.encode(text), []
        for token in encoding.tokens[1:-1]:
            if token.text == "[MASK]":
                continue
            later = [t.position for t in encoding.tokens if t.word == token.word and t.position > token.position]
            masked = encoding.replace_tokens(
                dict.fromkeys(
                    [token.position, *(later if variant == "within_word_l2r" else ())],
                    (tiny_bert.tokenizer.mask_id, "[MASK]"),
                )
            )
            state = tiny_bert(masked)[0, token.position]
            log_probs.append(float(tiny_bert.mlm_logits(state).log_softmax(-1)[token.id]))
        assert score == pytest.approx(sum(log_probs), abs=1e-4)


def test_a_single_text_is_one_text_and_not_its_letters(tiny_bert):
    assert cloze.score(tiny_bert, TEXTS[0]).tolist() == cloze.score(tiny_bert, [TEXTS[0]]).tolist()


def test_only_split_words_score_otherwise_when_their_later_pieces_are_masked_too(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text, "he ran on") for text in TEXTS]
    for encoding, within, alone in zip(
        encodings, *(cloze.token_log_probs(tiny_bert, encodings, variant) for variant in cloze.VARIANTS), strict=True
    ):
        tokens = [t for t in encoding.tokens if not t.is_special and t.id != tiny_bert.tokenizer.mask_id]
        is_last = np.array([not any(u.word == t.word and u.position > t.position for u in tokens) for t in tokens])
        np.testing.assert_allclose(within[is_last], alone[is_last], atol=1e-5)
        assert (np.abs(within - alone)[~is_last] > 1e-4).all()


def test_a_rare_word_is_less_likely_when_its_pieces_do_not_give_each_other_away(english):
    within, alone = (cloze.score(english, ["The zookeeper bought souvenirs."], variant)[0] for variant in cloze.VARIANTS)
    assert within < alone - 1


def test_an_unknown_variant_is_refused(tiny_bert):
    with pytest.raises(InputError, match="within_word_l2r, original, not 'global'"):
        cloze.score(tiny_bert, ["the cat"], "global")


def test_small_batches_give_the_same_scores(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in ("the cat sat", "a dog ran on the mat .", "he is cute")]
    small = cloze.token_log_probs(tiny_bert, encodings, tokens_at_once=16)
    for few, many in zip(small, cloze.token_log_probs(tiny_bert, encodings), strict=True):
        np.testing.assert_allclose(few, many, atol=1e-5)
