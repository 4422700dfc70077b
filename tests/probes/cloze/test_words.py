"""A word in one place: its probability over its wordpieces, its rank, and the input with it put there."""

import pytest

from model import InputError
from probes import cloze


def test_the_best_words_have_their_ranks_and_their_listed_probabilities(english):
    encoding = english.tokenizer.encode("She poured a cup of hot [MASK].")
    top = cloze.predict(english, encoding, [7], k=3)
    for rank, row in enumerate(top.itertuples()):
        score = cloze.word_score(english, encoding, 7, 8, str(row.word))
        assert score.rank == rank
        assert score.probability == pytest.approx(row.probability, rel=1e-4)


def test_a_word_of_several_pieces_is_the_product_over_its_masks(english):
    encoding = english.tokenizer.encode("The [MASK] was cold.")
    score = cloze.word_score(english, encoding, 2, 3, "lemonade")
    assert len(score.pieces) > 1
    assert score.rank is None
    ids, expected = english.tokenizer.piece_ids("lemonade"), 1.0
    masked = english.tokenizer.encode(" ".join(["The", *("[MASK]" for _ in ids), "was cold."]))
    for done, piece in enumerate(ids):
        filled = masked.replace_tokens({2 + index: (ids[index], "") for index in range(done)})
        expected *= cloze.probabilities(english, filled, [2 + done])[0, piece]
    assert score.probability == pytest.approx(expected, rel=1e-4)


def test_a_longer_span_shifts_the_positions_of_its_own_segment(english):
    encoding = english.tokenizer.encode("My dog is cute.", "He likes [MASK] playing.")
    position = cloze.mask_positions(english, encoding)[0]
    longer = cloze.replace_span(english, encoding, position, position + 1, [1, 2, 3])
    assert [t.position for t in longer.tokens] == list(range(len(encoding) + 2))
    assert [t.segment for t in longer.tokens].count(1) == encoding.segments.count(1) + 2


@pytest.mark.parametrize("word", ["日本", "", "  ", "[MASK]", "cat 日本"])
def test_a_word_the_vocabulary_cannot_spell_is_refused(tiny_bert, word):
    with pytest.raises(InputError, match="cannot be spelled"):
        cloze.word_score(tiny_bert, tiny_bert.tokenizer.encode("the [MASK] sat"), 2, 3, word)
