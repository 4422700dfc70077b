"""Pseudo-log-likelihood: how probable a sentence is to a model that only fills blanks. Salazar et al. (2020)."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from model import Batch, Bert, Encoding, InputError, as_texts

# what is masked with a wordpiece when it is scored: the later pieces of its word too, or nothing else
VARIANTS = ("within_word_l2r", "original")


def score(bert: Bert, texts: str | Sequence[str], variant: str = "within_word_l2r") -> np.ndarray:
    """Pseudo-log-likelihood of each text, nats: (texts,). Salazar et al. (2020); Kauf & Ivanova (2023)."""
    encodings = [bert.tokenizer.encode(text) for text in as_texts(texts)]
    return np.array([log_probs.sum() for log_probs in token_log_probs(bert, encodings, variant)])


def token_log_probs(
    bert: Bert, encodings: Sequence[Encoding], variant: str = "within_word_l2r", tokens_at_once: int = 1024
) -> list[np.ndarray]:
    """log P of every wordpiece of each input, masked in turn with the others unmasked: (pieces,) each.

    "original" masks the piece alone (Salazar et al., 2020): the rest of a split word then gives it away, and rare words
    seem likely. "within_word_l2r" masks the later pieces of its word with it (Kauf & Ivanova, 2023), as if the word were
    spelled from left to right; words of one piece score alike. [CLS], [SEP] and words that are masked already are not
    scored.
    """
    bert.require_mlm()
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    skipped = (bert.tokenizer.mask_id, bert.tokenizer.pad_id)
    positions = [[t.position for t in encoding.tokens if not t.is_special and t.id not in skipped] for encoding in encodings]
    if not all(positions):
        raise InputError("Every word is masked; a sentence is scored by the words that are not.")
    log_probs = [np.zeros(len(row)) for row in positions]
    for copies in _batches([len(encoding) for encoding in encodings], positions, tokens_at_once):
        batch = Batch.collate([encodings[index] for index, _ in copies], bert.config.pad_token_id)
        rows = torch.arange(len(copies))
        columns = torch.tensor([positions[index][nth] for index, nth in copies])
        gold_ids = batch.ids[rows, columns]
        for row, (index, nth) in enumerate(copies):
            masked = [positions[index][nth]]
            if variant == "within_word_l2r":
                masked += _rest_of_word(encodings[index], positions[index][nth])
            batch.ids[row, masked] = bert.tokenizer.mask_id
        with torch.inference_mode():
            logits = bert.mlm_logits(bert.states_at(rows, columns, batch))  # (rows, vocabulary)
            gold_log_probs = (logits[rows, gold_ids] - logits.logsumexp(-1)).cpu().numpy()
        for (index, nth), log_prob in zip(copies, gold_log_probs, strict=True):
            log_probs[index][nth] = log_prob
    return log_probs


def _rest_of_word(encoding: Encoding, position: int) -> list[int]:
    """The positions of the same word's later pieces."""
    return [t.position for t in encoding.tokens[position + 1 :] if t.word == encoding.tokens[position].word]


def _batches(
    lengths: Sequence[int], positions: Sequence[Sequence[int]], tokens_at_once: int
) -> Iterator[list[tuple[int, int]]]:
    """(input, nth scored piece) of every copy to run, in batches of similar length."""
    batch: list[tuple[int, int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        for nth in range(len(positions[index])):
            if batch and (len(batch) + 1) * lengths[index] > tokens_at_once:
                yield batch
                batch = []
            batch.append((index, nth))
    if batch:
        yield batch
