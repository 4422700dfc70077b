"""What every test may ask for."""

import pytest
import torch

import model
from model import Bert, BertConfig, tokenizer

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
