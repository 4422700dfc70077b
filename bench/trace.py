"""A trace for the attention page, and the way from nothing to the first one, against transformers."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining
from transformers.utils import logging

import model
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig, Encoding
from model.trace import trace

LENGTHS = (16, 32, 64, 128)


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    english = model.load("english")
    sizes = {"english": english} | {
        name: Bert.random(BertConfig.preset(name), english.tokenizer).requires_grad_(False) for name in ("tiny", "mini")}
    with tempfile.TemporaryDirectory() as folder:
        for name, ours in sizes.items():
            theirs = BertForPreTraining.from_pretrained(
                ours.save(Path(folder) / name), attn_implementation="eager").eval()
            for length in LENGTHS:
                yield from _traced(f"trace, {name} {ours.config.shape}, {length} tokens", ours, theirs, length,
                                   2.0 if name in ("english", "mini") else 1.0)
    yield _first()


def _traced(name: str, ours: Bert, theirs, length: int, aim: float) -> Iterator[Row]:
    encoding = _input(ours, length)
    asked = length // 2

    def mine():
        seen = trace(ours, encoding)
        return seen, ours.words(torch.tensor(seen.hidden[-1, asked]))

    def inputs() -> dict:
        return {"input_ids": torch.tensor([encoding.ids]), "token_type_ids": torch.tensor([encoding.segments]),
                "attention_mask": torch.ones(1, length, dtype=torch.long),
                "output_hidden_states": True, "output_attentions": True}

    def levelled():
        """Their encoder, then their two heads where ours are asked: at one token, and at [CLS]."""
        with torch.inference_mode():
            seen = theirs.bert(**inputs())
            return seen, theirs.cls.predictions(seen.last_hidden_state[:, asked]), theirs.cls.seq_relationship(
                seen.pooler_output)

    def as_used():
        with torch.inference_mode():
            return theirs(**inputs())

    (seen, words), expected, (_, scores, _) = mine(), as_used(), levelled()
    np.testing.assert_allclose(seen.attention, torch.stack(expected.attentions)[:, 0], atol=1e-5)
    np.testing.assert_allclose(seen.hidden, torch.stack(expected.hidden_states)[:, 0], atol=1e-4)
    np.testing.assert_allclose(words, expected.prediction_logits[0, asked], atol=1e-4)
    np.testing.assert_allclose(words, scores[0], atol=1e-4)
    yield compare(name, mine, levelled, "transformers eager", 1.0, repeats=25, work=SAME,
                  sides="both: all attentions, all states, next sentence, the scores of all words at one token; ours also "
                        "keeps queries, keys and values, as arrays")
    if length == LENGTHS[-1]:
        yield compare(name, mine, as_used, "transformers eager, one call", aim, repeats=25, work=AS_USED,
                      sides="ours scores all words at one token, their one call at every token")


def _input(bert: Bert, length: int) -> Encoding:
    generator = np.random.default_rng(length)
    half = (length - 3) // 2
    ids = generator.integers(1000, bert.config.vocab_size, length - 3).tolist()
    return bert.tokenizer.encode_ids(ids[:half], ids[half:])


def _first() -> Row:
    folder = str(model.checkpoint.SHIPPED / "english")
    mine = "import model; model.load('english').trace('My dog is cute.')"
    other = ("import torch; from transformers import BertForPreTraining, AutoTokenizer\n"
             f"b = BertForPreTraining.from_pretrained({folder!r}, attn_implementation='eager', dtype=torch.float32)\n"
             f"t = AutoTokenizer.from_pretrained({folder!r})\n"
             "with torch.inference_mode():\n"
             "    seen = b.bert(**t('My dog is cute.', return_tensors='pt'), output_attentions=True, "
             "output_hidden_states=True)\n"
             "    b.cls.seq_relationship(seen.pooler_output)")

    def process(code: str):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    return compare("import, load and first trace of the shipped model", process(mine), process(other),
                   "transformers", 1.3, repeats=5, work=SAME,
                   sides="both, in a new process each time: all attentions, all states and next sentence of one sentence")
