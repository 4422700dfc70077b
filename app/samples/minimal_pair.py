"""A minimal pair to any sentence: the same sentence with one word changed."""

from model import Bert, Encoding
from probes import cloze
from probes.cloze import query

FALLBACK = "it"  # of a model that cannot predict words


def of(bert: Bert, encoding: Encoding) -> str:
    """Sentence A with its longest word replaced by the other word that the model finds likeliest there."""
    word = query.longest_word(query.words(encoding))
    before, original, after = query.split_at(encoding, word)
    if bert.mlm is None:
        return f"{before}{FALLBACK}{after}"
    here = {original.lower(), cloze.vocabulary_word(bert, original)}
    guesses = query.predict_word(bert, encoding, word)["word"]
    return f"{before}{next((guess for guess in guesses if guess.isalpha() and guess not in here), FALLBACK)}{after}"
