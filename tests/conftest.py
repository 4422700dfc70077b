"""What every test may ask for."""

import os
from pathlib import Path

import pytest
import torch

import model
from model import Bert, BertConfig, tokenizer

ROOT = Path(__file__).resolve().parents[1]

# one thread: the tests are many small works, and two busy cores would only wait for each other
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def english() -> Bert:
    """The shipped English model: the real case."""
    return model.load("english")


@pytest.fixture(scope="session")
def little() -> Bert:
    """A random BERT of two layers over a vocabulary of a few dozen words: fast, and no two weights alike."""
    words = "the a cat dog sat ran on mat my is cute he likes play ##ing ##s new york . , ! ?".split()
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = tokenizer.from_words([*words, *letters, *(f"##{letter}" for letter in letters)])
    config = BertConfig(pieces.size, 32, 2, 4, 64, 64, initializer_range=0.2)
    return Bert.random(config, pieces, seed=1).requires_grad_(False)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Corpora and a treebank that do not come with the project: tests that need them skip where they are absent."""
    found = Path(os.environ.get("BERTSCOPE_DATA", ROOT.parent / "shared" / "data"))
    if not found.is_dir():
        pytest.skip(f"needs the corpora and the treebank at {found} (or named in BERTSCOPE_DATA)")
    return found
