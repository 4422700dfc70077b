"""The marked spans of the Mask page survive its address, and nonsense in it is no span."""

import pytest

from app.views.mask import address
from probes.cloze.query import MarkedSpan


def test_spans_survive_the_address():
    spans = [MarkedSpan(1, 2, "mask"), MarkedSpan(4, 6, "replace", "a.b-c/ü 3"), MarkedSpan(7, 8, "ask")]
    assert address.decode(address.encode(spans)) == spans


@pytest.mark.parametrize("text", ["", "x", "1-", "3-4z", "-1-2m", "²-3m", "1-²m", "....", "9" * 400])
def test_nonsense_in_the_address_is_no_span(text):
    assert address.decode(text) == []
