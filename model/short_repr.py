"""The `repr` of an answer in one line, whatever it holds: arrays by their shape, long or nested lists by their length."""

from collections.abc import Mapping, Set
from dataclasses import fields
from typing import Any

FEW, LONG = 4, 40  # items and characters that are shown as they are


class ShortRepr:
    """For dataclasses with `repr=False`: a notebook shows what an answer is, not all of its numbers."""

    def __repr__(self) -> str:
        shown: Any = self
        parts = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(shown) if field.repr)
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any, inside: bool = False) -> str:
    if hasattr(value, "shape"):
        return f"<{' × '.join(map(str, value.shape))}>"
    if isinstance(value, list | tuple | Set | Mapping):
        if len(value) > FEW or (inside and value):
            return f"<{len(value):,} items>"
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{_brief(name)}: {_brief(item, True)}' for name, item in value.items())}}}"
        return f"[{', '.join(_brief(item, True) for item in value)}]"
    text = repr(value)
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"
