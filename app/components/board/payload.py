"""Numbers and tokens for the board as one run of bytes: a JSON header, then unsigned integers."""

import io
import json
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

EXACT_BYTES = 640_000  # up to here each value takes two bytes, beyond it one


def pack(values: np.ndarray, header: dict) -> bytes:
    """Values (layers, heads, query, key) and the words that describe them -> the bytes `payload.js` decodes.

    Codes are square roots, so that a weight of 0.001 keeps as many digits as one of 0.9.
    """
    bits = 16 if values.size * 2 <= EXACT_BYTES else 8
    signed = bool((values < 0).any())
    normalised = not signed and bool(np.allclose(values.sum(-1), 1, atol=1e-3))
    scale = 1.0 if normalised else float(np.abs(values).max(initial=0)) or 1.0
    last = 2**bits - 1
    zero = (last - 1) // 2 if signed else 0
    roots = np.sign(values) * np.sqrt(np.abs(values) / scale)
    codes = np.clip(np.rint(roots * (zero if signed else last)) + zero, 0, last)
    body = codes.astype("<u2" if bits == 16 else "u1").tobytes()
    header = header | {"shape": list(values.shape), "bits": bits, "signed": signed, "scale": scale, "normalised": normalised}
    stamp = blake2b(json.dumps(header).encode() + body, digest_size=8).hexdigest()
    head = json.dumps(header | {"stamp": stamp}).encode()
    head += b" " * (-len(head) % 4)
    return len(head).to_bytes(4, "little") + head + body


def describe_tokens(tokens: Sequence[str], segments: Sequence[int] | None, words: Sequence[int | None] | None) -> dict:
    """The header's fields about the tokens; by default each is a word of the first sentence."""
    return {
        "tokens": list(tokens),
        "segments": list(segments or [0] * len(tokens)),
        "words": list(words or range(len(tokens))),
    }


def npz(**arrays: np.ndarray | Sequence[str]) -> bytes:
    """Arrays by name as one compressed NumPy file, in full precision."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: np.asarray(values) for name, values in arrays.items()})  # pyright: ignore[reportArgumentType]  # no array is called allow_pickle
    return buffer.getvalue()
