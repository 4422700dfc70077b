"""The marked spans of the Mask page as a short text in its address."""

from collections.abc import Sequence
from urllib.parse import quote, unquote

from probes.cloze.query import KINDS, MarkedSpan


def encode(spans: Sequence[MarkedSpan]) -> str:
    """Marked spans as text: 3-4m.7-8rdog"""
    return ".".join(
        f"{span.start}-{span.stop}{span.kind[0]}{quote(span.word, safe='').replace('.', '%2E')}" for span in sorted(spans)
    )


def decode(text: str) -> list[MarkedSpan]:
    """The marked spans of an address; what is not one is left out."""
    spans = []
    for part in text.split("."):
        start, _, rest = part.partition("-")
        stop = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        kind = {name[0]: name for name in KINDS}.get(rest[len(stop) : len(stop) + 1])
        if start.isascii() and start.isdigit() and stop.isascii() and stop and kind:
            spans.append(MarkedSpan(int(start), int(stop), kind, unquote(rest[len(stop) + 1 :])))
    return spans
