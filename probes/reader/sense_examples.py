"""Sentences of the reader in which one ambiguous word stands in its several senses."""

from collections import defaultdict
from collections.abc import Iterable

from ..probing.treebank import Sentence

MIN_SENTENCES = 4  # of each sense: fewer say nothing about how far two senses are apart


def sense_examples(sentences: Iterable[Sentence]) -> dict[str, dict[str, list[str]]]:
    """word -> sense -> texts in which the word stands once, uninflected; only words with two senses or more."""
    examples: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for sentence in sentences:
        forms = [word.lower() for word in sentence.words]
        for form, mark in zip(forms, sentence.senses, strict=False):
            word, _, sense = mark.partition(".")
            if mark and form == word and forms.count(form) == 1:
                examples[word][sense].append(sentence.annotations.get("text", sentence.text))
    enough = {
        word: {sense: texts for sense, texts in senses.items() if len(texts) >= MIN_SENTENCES}
        for word, senses in examples.items()
    }
    return {word: senses for word, senses in sorted(enough.items()) if len(senses) > 1}
