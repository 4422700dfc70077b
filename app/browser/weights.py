"""A model's weights for the browser: matrices as int8 with a scale for each stretch of a row, in one run of bytes."""

import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

import model
from model import Bert

ALIGNMENT = 16  # bytes: where a tensor begins, so that the browser can look at it as numbers of any kind
LARGEST = 127  # the code of the largest weight of a stretch
# With one scale for a whole row a single large weight makes all others coarse: in the English model 95.6 % of the first
# guesses then stay the same, with one for every 64 weights 98 %. It takes a sixteenth more room.
STRETCH = 64
# printable, and without a letter that means anything to HTML or JavaScript: < > & " ' ` \
ALPHABET = np.frombuffer(bytes(sign for sign in range(33, 127) if sign not in b"<>&\"'`\\")[:85], np.uint8)


@dataclass(frozen=True)
class PackedWeights:
    """One run of bytes, and where in it each tensor lies: {name: [byte offset, *shape]}, by Hugging Face's names.

    A matrix (rows, columns) is rows × columns int8 codes, then the float32 scales of its stretches; a vector is float32.
    """

    tensors: dict[str, list[int]]
    body: bytes


def pack(bert: Bert) -> PackedWeights:
    """All weights of a model, rounded as `quantise` rounds them."""
    tensors: dict[str, list[int]] = {}
    parts: list[bytes] = []
    size = 0
    for name, tensor in _tensors(bert).items():
        tensors[name] = [size, *tensor.shape]
        if tensor.ndim == 2:
            codes, scales = quantise(tensor)
            run = _aligned(codes.tobytes()) + _aligned(scales.astype("<f4").tobytes())
        else:
            run = _aligned(tensor.astype("<f4").tobytes())
        parts.append(run)
        size += len(run)
    return PackedWeights(tensors, b"".join(parts))


def stretch_length(columns: int) -> int:
    """How many weights of a row share a scale: 64, or all of them where 64 does not go into it."""
    return columns if columns % STRETCH else STRETCH


def quantise(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes from -127 to 127 and the scale of each stretch: (rows, columns) -> (stretches, length), (stretches,)."""
    stretches = matrix.reshape(-1, stretch_length(matrix.shape[1]))
    largest = np.abs(stretches).max(1)
    scales = _short(np.where(largest > 0, largest, 1).astype(np.float32) / np.float32(LARGEST))
    return np.rint(stretches / scales[:, None]).astype(np.int8), scales


def _short(scales: np.ndarray) -> np.ndarray:
    """The next float32 upwards with eight significant bits: two bytes of it are zero, and cost nothing once compressed."""
    return ((scales.view(np.uint32) + np.uint32(0xFFFF)) & np.uint32(0xFFFF0000)).view(np.float32)


def dequantise(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The weights that codes stand for: (stretches, length), (stretches,) -> (stretches, length)."""
    return codes.astype(np.float32) * scales[:, None]


def round_weights(bert: Bert) -> Bert:
    """A copy of the model with the weights the browser has: what Python computes with it, the browser must compute too."""
    with tempfile.TemporaryDirectory() as folder:
        path = bert.save(Path(folder) / "rounded") / "model.safetensors"
        rounded = {
            name: dequantise(*quantise(tensor)).reshape(tensor.shape) if tensor.ndim == 2 else tensor
            for name, tensor in load_file(path).items()
        }
        save_file(rounded, path, metadata={"format": "pt"})
        return model.load(path.parent)


def compress(body: bytes) -> bytes:
    """Deflate by Huffman codes alone: middling weights are the most frequent, and nothing ever repeats."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    return deflate.compress(body) + deflate.flush()


def to_text(content: bytes) -> str:
    """Bytes as printable text, five letters for four bytes; zeros fill the last four."""
    numbers = np.frombuffer(content + b"\0" * (-len(content) % 4), "<u4").astype(np.uint32)
    letters = np.empty((len(numbers), 5), np.uint8)
    for place in range(4, -1, -1):
        numbers, digit = np.divmod(numbers, np.uint32(85))
        letters[:, place] = ALPHABET[digit]
    return letters.tobytes().decode("ascii")


def _tensors(bert: Bert) -> dict[str, np.ndarray]:
    """The float32 weights by Hugging Face's names: a checkpoint folder is the one format that stays."""
    with tempfile.TemporaryDirectory() as folder:
        return load_file(bert.save(Path(folder) / "weights") / "model.safetensors")


def _aligned(run: bytes) -> bytes:
    return run + b"\0" * (-len(run) % ALIGNMENT)
