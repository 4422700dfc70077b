"""What changes a next-sentence prediction most, said by the evidence itself."""

import numpy as np
import pytest

from probes import nextsentence
from probes.nextsentence import evidence


@pytest.fixture(scope="module")
def pair_evidence(tiny_bert) -> evidence.NSPEvidence:
    return evidence.of(tiny_bert, nextsentence.encode_pair(tiny_bert, "the cat sat on the mat .", "he likes playing ."))


def test_no_token_and_no_head_changes_it_more(pair_evidence: evidence.NSPEvidence):
    token, fall = pair_evidence.strongest_token
    assert pair_evidence.occlusion[token.position] == fall
    assert abs(fall) == np.nanmax(np.abs(pair_evidence.occlusion))
    (layer, head), without = pair_evidence.strongest_head
    assert pair_evidence.ablated[layer, head] == without
    change = np.abs(pair_evidence.ablated - pair_evidence.by_layer[-1])
    assert abs(without - pair_evidence.by_layer[-1]) == change.max()
    assert f"P(IsNext) {pair_evidence.by_layer[-1]:.3f}" in repr(pair_evidence)
