"""Questions to a BERT, one subpackage a subject; arrays and tables in, arrays and tables out."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from . import (
        bundled,
        claims,
        cloze,
        comparison,
        finetuning,
        heads,
        lessons,
        masking_strategies,
        nextsentence,
        papers,
        probing,
        states,
        statistics,
        training_replay,
    )

__all__ = [
    "bundled",
    "claims",
    "cloze",
    "comparison",
    "finetuning",
    "heads",
    "lessons",
    "masking_strategies",
    "nextsentence",
    "papers",
    "probing",
    "states",
    "statistics",
    "training_replay",
]


def __getattr__(name: str) -> "ModuleType":
    """A subject is imported when it is first named: `import probes` alone costs nothing."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
