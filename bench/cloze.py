"""Filling a blank and scoring sentences, against the fill-mask pipeline of transformers on the same checkpoint."""

from collections.abc import Iterator

import numpy as np
import torch
from transformers import AutoTokenizer, BertForMaskedLM, pipeline
from transformers.utils import logging

import model
from bench import limit
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert
from probes import cloze

BLANK = (
    "the old man walked slowly down the long road to the [MASK] and then he saw the black dog again , "
    "so he sat down under a tall tree near the river and waited for his brother , who came home late in the evening "
    "with a basket of bread and fish for the whole family and two old friends from the north of the country ."
)
STARTS = ("the keys to the old house", "a young woman with a red hat", "the children of the king", "our teacher")
ENDS = (
    "are on the table near the door .",
    "was late again because of the rain .",
    "saw a ship on the river .",
    "went home in the evening .",
    "wanted to buy a new book .",
    "sat down by the fire .",
    "did not know the answer .",
    "came from the north of the country .",
)


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    ours = model.load("english")
    folder = str(model.checkpoint.BUNDLED / "english")
    theirs = pipeline(
        "fill-mask",
        model=BertForMaskedLM.from_pretrained(folder, dtype=torch.float32),
        tokenizer=AutoTokenizer.from_pretrained(folder),
    )
    yield from _filling(ours, theirs)
    yield from _scoring(ours, theirs)


def _filling(ours: Bert, theirs) -> Iterator[Row]:
    length = len(ours.tokenizer.encode(BLANK))
    expected = theirs(BLANK, top_k=5)
    filled = cloze.fill(ours, BLANK, k=5)
    assert filled["word"].tolist() == [guess["token_str"] for guess in expected]
    np.testing.assert_allclose(filled["probability"], [guess["score"] for guess in expected], atol=1e-5)

    def levelled() -> list[str]:
        """Their encoder, and their head at the blank only."""
        with torch.inference_mode():
            inputs = theirs.tokenizer(BLANK, return_tensors="pt")
            position = inputs.input_ids[0].tolist().index(theirs.tokenizer.mask_token_id)
            states = theirs.model.bert(**inputs).last_hidden_state[:, position]
            return theirs.tokenizer.convert_ids_to_tokens(theirs.model.cls(states).softmax(-1).topk(5).indices[0].tolist())

    assert levelled() == filled["word"].tolist()
    name = f"fill one mask in {length} tokens"
    products = limit.forward(ours.config, [length], scored=1)
    yield compare(
        name,
        lambda: cloze.fill(ours, BLANK, k=5),
        levelled,
        "transformers, head at the mask",
        1.0,
        repeats=15,
        work=SAME,
        sides="both: text to the five best words, scores of all words at the mask only",
        limit=products,
    )
    yield compare(
        name,
        lambda: cloze.fill(ours, BLANK, k=5),
        lambda: theirs(BLANK, top_k=5),
        "fill-mask pipeline",
        2.0,
        repeats=15,
        work=AS_USED,
        sides="both: text to the five best words; the pipeline scores all words at every token",
        limit=products,
    )


def _scoring(ours: Bert, theirs) -> Iterator[Row]:
    sentences = [f"{start} {end}" for start in STARTS for end in ENDS]
    blanks = [
        (" ".join([*words[:index], "[MASK]", *words[index + 1 :]]), words[index])
        for words in map(str.split, sentences)
        for index in range(len(words))
    ]

    def one_by_one() -> list[float]:
        return [theirs(text, targets=[word])[0]["score"] for text, word in blanks]

    def in_batches() -> list:
        return theirs([text for text, _ in blanks], top_k=1, batch_size=32)

    def all_at_once() -> np.ndarray:
        return np.concatenate(cloze.token_log_probs(ours, [ours.tokenizer.encode(text) for text in sentences]))

    def in_double() -> Iterator[float]:
        """Their logits with an exact softmax: theirs, in single precision, errs by 4e-5 where one word has nearly all."""
        with torch.inference_mode():
            for text, word in blanks:
                inputs = theirs.tokenizer(text, return_tensors="pt")
                position = inputs.input_ids[0].tolist().index(theirs.tokenizer.mask_token_id)
                probabilities = theirs.model(**inputs).logits[0, position].double().softmax(-1)
                yield float(probabilities[theirs.tokenizer.convert_tokens_to_ids(word)])

    encodings = sorted((theirs.tokenizer(text).input_ids for text, _ in blanks), key=len)

    def levelled() -> None:
        """Their model in batches of similar length, their head at the blanks only."""
        with torch.inference_mode():
            for start in range(0, len(encodings), 32):
                padded = theirs.tokenizer.pad({"input_ids": encodings[start : start + 32]}, return_tensors="pt")
                states = theirs.model.bert(**padded).last_hidden_state[padded.input_ids == theirs.tokenizer.mask_token_id]
                theirs.model.cls(states).log_softmax(-1)

    np.testing.assert_allclose(np.exp(all_at_once()), list(in_double()), atol=1e-5)
    np.testing.assert_allclose(np.exp(all_at_once()), one_by_one(), atol=1e-4)
    name = f"score all {len(blanks)} positions of {len(sentences)} sentences"
    yield compare(
        name,
        all_at_once,
        levelled,
        "transformers, batches of 32",
        1.0,
        repeats=3,
        work=SAME,
        sides="both: batches of similar length, scores of all words at the mask only; theirs has its tokens ready",
    )
    yield compare(
        name,
        all_at_once,
        one_by_one,
        "fill-mask pipeline",
        5.0,
        repeats=3,
        work=AS_USED,
        sides="both: the probability of the word that stands there; the pipeline one text after the other",
    )
    yield compare(
        name,
        all_at_once,
        in_batches,
        "fill-mask in batches",
        5.0,
        repeats=3,
        work=AS_USED,
        sides="the pipeline gives the best word only, not the probability of the word that stands there",
    )
