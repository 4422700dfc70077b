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
from bench import limit
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig, Encoding
from model.trace import trace

LENGTHS = (16, 32, 64, 128)


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    english = model.load("english")
    sizes = {"english": english} | {
        name: Bert.random_init(BertConfig.preset(name), english.tokenizer).requires_grad_(False) for name in ("tiny", "mini")
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, ours in sizes.items():
            theirs = BertForPreTraining.from_pretrained(ours.save(Path(folder) / name), attn_implementation="eager").eval()
            for length in LENGTHS:
                yield from _trace_rows(
                    f"trace, {name} {ours.config.shape}, {length} tokens",
                    ours,
                    theirs,
                    length,
                    2.0 if name in ("english", "mini") else 1.0,
                )
    yield _first_trace()


def _trace_rows(name: str, ours: Bert, theirs, length: int, aim: float) -> Iterator[Row]:
    encoding = _input(ours, length)
    position = length // 2

    def mine():
        forward_pass = trace(ours, encoding)
        return forward_pass, ours.mlm_logits(torch.tensor(forward_pass.hidden[-1, position]))

    def inputs() -> dict:
        return {
            "input_ids": torch.tensor([encoding.ids]),
            "token_type_ids": torch.tensor([encoding.segments]),
            "attention_mask": torch.ones(1, length, dtype=torch.long),
            "output_hidden_states": True,
            "output_attentions": True,
        }

    def levelled():
        """Their encoder, then their two heads at the positions of ours: one token, and [CLS]."""
        with torch.inference_mode():
            output = theirs.bert(**inputs())
            return (
                output,
                theirs.cls.predictions(output.last_hidden_state[:, position]),
                theirs.cls.seq_relationship(output.pooler_output),
            )

    def as_used():
        with torch.inference_mode():
            return theirs(**inputs())

    (ours_traced, logits), expected, (_, levelled_logits, _) = mine(), as_used(), levelled()
    np.testing.assert_allclose(ours_traced.attention, torch.stack(expected.attentions)[:, 0], atol=1e-5)
    np.testing.assert_allclose(ours_traced.hidden, torch.stack(expected.hidden_states)[:, 0], atol=1e-4)
    np.testing.assert_allclose(logits, expected.prediction_logits[0, position], atol=1e-4)
    np.testing.assert_allclose(logits, levelled_logits[0], atol=1e-4)
    products = limit.forward(ours.config, [length], scored=1)
    yield compare(
        name,
        mine,
        levelled,
        "transformers eager",
        1.0,
        repeats=25,
        work=SAME,
        sides="both: all attentions, all states, next sentence, the logits over the vocabulary at one token",
        limit=products,
    )
    if length == LENGTHS[-1]:
        yield compare(
            name,
            mine,
            as_used,
            "transformers eager, one call",
            aim,
            repeats=25,
            work=AS_USED,
            sides="ours scores all words at one token, their one call at every token",
            limit=products,
        )


def _input(bert: Bert, length: int) -> Encoding:
    rng = np.random.default_rng(length)
    half = (length - 3) // 2
    ids = rng.integers(1000, bert.config.vocab_size, length - 3).tolist()
    return bert.tokenizer.encode_ids(ids[:half], ids[half:])


def _first_trace() -> Row:
    folder = str(model.checkpoint.BUNDLED / "english")
    mine = "import model; model.load('english').trace('My dog is cute.')"
    other = (
        "import torch; from transformers import BertForPreTraining, AutoTokenizer\n"
        f"b = BertForPreTraining.from_pretrained({folder!r}, attn_implementation='eager', dtype=torch.float32)\n"
        f"t = AutoTokenizer.from_pretrained({folder!r})\n"
        "with torch.inference_mode():\n"
        "    seen = b.bert(**t('My dog is cute.', return_tensors='pt'), output_attentions=True, "
        "output_hidden_states=True)\n"
        "    b.cls.seq_relationship(seen.pooler_output)"
    )

    def process(code: str):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    return compare(
        "import, load and first trace of the shipped model",
        process(mine),
        process(other),
        "transformers",
        1.3,
        repeats=5,
        work=SAME,
        sides="both, in a new process each time: all attentions, all states and next sentence of one sentence",
    )
