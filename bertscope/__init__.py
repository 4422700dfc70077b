"""Bertscope for notebooks: `from bertscope import model, probes`, whatever else is called `model` in the folder.

The rooms themselves are the top-level packages `model`, `probes` and `app`; this one names them and nothing more.
"""

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    import model
    import probes

__all__ = ["model", "probes"]
HERE = Path(__file__).resolve().parents[1]


def __getattr__(name: str) -> "ModuleType":
    """A room is imported when it is first named: the commands start without torch."""
    if name == "__version__":
        return room("model").__version__
    if name in __all__:
        return room(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def room(name: str) -> "ModuleType":
    """Our package of this name, not a file of the reader's that is called the same and comes first in the path."""
    sys.path.insert(0, str(HERE))
    try:
        package = importlib.import_module(name)
    finally:
        sys.path.remove(str(HERE))
    if Path(package.__file__ or "").resolve().parent != HERE / name:
        raise ImportError(
            f"{package.__file__} is called {name}, as a part of Bertscope is, and was imported first. "
            "Import bertscope before it, or give it another name."
        )
    return package
