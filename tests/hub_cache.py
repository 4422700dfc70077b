"""A folder that looks like Hugging Face's local cache after a download: it stands for the network."""

from pathlib import Path

import pytest

from model import Bert

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def fill(home: Path, name: str, bert: Bert, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a model under this name into a cache of its own, and make that the only one; the folder of its snapshot."""
    place = home / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = bert.save(place / "snapshots" / COMMIT)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT)
    for constant, value in (("HF_HUB_CACHE", str(home / "hub")), ("HF_HUB_OFFLINE", True)):
        monkeypatch.setattr(f"huggingface_hub.constants.{constant}", value)
    monkeypatch.setenv("HF_HOME", str(home))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("BERTSCOPE_HUB", "1")
    return snapshot
