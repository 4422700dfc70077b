"""What the board sends to the browser and takes back from it."""

import io
import json

import numpy as np

from app.components.board import BoardData, BoardState, _pack, document
from app.components.board.payload import npz, pack

A, B = "my dog is cute", "he likes playing."


def unpack(data: bytes) -> tuple[dict, np.ndarray]:
    """What the browser reads, by the rule of payload.js."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    codes = np.frombuffer(data[4 + length :], "<u2" if header["bits"] == 16 else "u1").astype(float)
    last = 2 ** header["bits"] - 1
    zero = (last - 1) / 2 if header["signed"] else 0
    roots = (codes - zero) / (zero or last)
    return header, (np.sign(roots) * roots**2 * header["scale"]).reshape(*header["shape"][:3], -1)


def test_weights_arrive_as_they_were_sent(tiny_bert):
    trace = tiny_bert.trace(A, B)
    header, values = unpack(pack(trace.attention, {}))
    assert header["normalised"]
    np.testing.assert_allclose(values, trace.attention, atol=2e-5)


def test_differences_and_large_values_arrive_too():
    values = np.random.default_rng(0).normal(0, 3, (2, 3, 5, 5))
    values[0, 0, 0, 0] = 0
    header, received = unpack(pack(values, {}))
    assert header["signed"]
    assert not header["normalised"]
    np.testing.assert_allclose(received, values, atol=1e-3)
    assert received[0, 0, 0, 0] == 0


def test_many_weights_take_one_byte_each_and_stay_within_half_a_percent():
    weights = np.random.default_rng(0).dirichlet(np.full(64, 0.1), (12, 12, 64))
    data = pack(weights, {})
    header, values = unpack(data)
    assert header["bits"] == 8
    assert len(data) < weights.size + 1000
    assert np.abs(values - weights).max() < 0.005


def test_the_choice_comes_back_from_the_browser_as_it_went():
    choice = BoardState("head", 3, (1, 4), "words", ("special",), ("AB",), 0.25, (2, None), ((0, 1), (5, 3)))
    assert BoardState.from_message(json.loads(json.dumps(choice.to_message()))) == choice


def test_the_document_fetches_nothing_and_holds_no_foreign_markup(tiny_bert):
    trace = tiny_bert.trace(A, B)
    page = document(BoardData(trace.attention, ["</script><b>"] * len(trace.tokens)), "</title><script>alert(1)</script>")
    assert page.count("<script") == 1
    assert "</script><b>" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_a_picture_of_one_layer_says_which_layer_it_is(tiny_bert):
    trace = tiny_bert.trace(A, B)
    header, _ = unpack(
        _pack(BoardData(trace.attention[1:], trace.wordpieces, layers=[1], every_layer=2), BoardState(), 0, False)
    )
    assert (header["layers"], header["everyLayer"]) == ([1], 2)


def test_the_numpy_file_holds_every_number_in_full_precision_and_the_tokens(tiny_bert):
    trace = tiny_bert.trace(A, B)
    with np.load(io.BytesIO(npz(values=trace.attention, tokens=trace.wordpieces))) as arrays:
        np.testing.assert_array_equal(arrays["values"], trace.attention)
        assert arrays["tokens"].tolist() == trace.wordpieces
