"""BertViz's page fetches nothing, runs no token, and is as large as foretold."""

import numpy as np
import pytest

from app.components import bertviz

A, B = "my dog is cute", "he likes playing."


@pytest.mark.parametrize("view", ["head_view", "model_view"])
def test_tokens_are_escaped_and_the_size_is_foretold(tiny_bert, view):
    trace = tiny_bert.trace(A, B)
    texts = ["</script><img src=x>" if text == "dog" else text for text in trace.wordpieces]
    page = bertviz.document(view, trace.attention, texts, None, dark=False)
    assert "<img" not in page
    assert "\\u003c/script>" in page
    assert 'src="http' not in page
    longer = bertviz.document(view, np.repeat(trace.attention, 4, 0), texts, None, dark=False)
    added = 3 * trace.attention.size
    assert (len(longer) - len(page)) / added == pytest.approx(bertviz.BYTES_A_WEIGHT, rel=0.15)
