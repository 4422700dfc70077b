"""Held-out documents: the same pairs, the same masks and the same hidden words for every model and every step."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ..bert import Batch, Bert
from .masking import MaskingStrategy
from .objective import PretrainingLoss, pretraining_batch
from .sentence_pairs import PairSampler, SentencePair
from .single_inputs import SingleInput, SingleSampler, collate_singles
from .token_store import TokenStore

HELDOUT_SEED = 20181011  # of the pairs, the masks and the hidden words


@dataclass(frozen=True)
class PretrainingScores:
    """Mean losses in nats and accuracies over words and pairs; those of NSP are None where there are no pairs."""

    mlm_loss: float
    mlm_accuracy: float
    nsp_loss: float | None
    nsp_accuracy: float | None
    words: int
    pairs: int


def mean_scores(parts: Iterable[PretrainingScores]) -> PretrainingScores | None:
    """The scores over all pairs, or over all single inputs where there are no pairs; None of nothing."""
    scores = list(parts)
    scores = [part for part in scores if part.pairs] or scores
    if not scores:
        return None
    words, pairs = sum(part.words for part in scores), sum(part.pairs for part in scores)
    return PretrainingScores(
        mlm_loss=sum(part.mlm_loss * part.words for part in scores) / words,
        mlm_accuracy=sum(part.mlm_accuracy * part.words for part in scores) / words,
        nsp_loss=sum((part.nsp_loss or 0.0) * part.pairs for part in scores) / pairs if pairs else None,
        nsp_accuracy=sum((part.nsp_accuracy or 0.0) * part.pairs for part in scores) / pairs if pairs else None,
        words=words,
        pairs=pairs,
    )


def evaluate(
    bert: Bert,
    store: TokenStore,
    masking: MaskingStrategy,
    max_length: int = 128,
    negatives: str = "another",
    count: int = 512,
    batch_size: int = 32,
    direction: str = "both",
) -> PretrainingScores:
    """MLM and NSP on `count` held-out pairs. Devlin et al. (2019), 3.1."""
    pairs = PairSampler(store, max_length, negatives, HELDOUT_SEED).sample(0, count)
    return _evaluate(bert, pairs, masking, batch_size, direction)


def evaluate_singles(
    bert: Bert,
    stores: Sequence[TokenStore],
    masking: MaskingStrategy,
    count: int = 512,
    batch_size: int = 64,
    direction: str = "both",
) -> PretrainingScores:
    """MLM on `count` held-out single inputs, which have no NSP score."""
    singles = SingleSampler(stores, HELDOUT_SEED).sample(0, count)
    return _evaluate(bert, singles, masking, batch_size, direction)


def _evaluate(
    bert: Bert, inputs: list[SentencePair] | list[SingleInput], masking: MaskingStrategy, batch_size: int, direction: str
) -> PretrainingScores:
    by_length, device = sorted(inputs, key=len), bert.embeddings.token.weight.device
    rng, objective = np.random.default_rng(HELDOUT_SEED), PretrainingLoss(bert, direction)
    losses, correct, words = torch.zeros(2, dtype=torch.float64), torch.zeros(2), 0  # MLM, NSP
    was_training = bert.training
    bert.eval()
    with torch.no_grad():
        for start in range(0, len(inputs), batch_size):
            batch = pretraining_batch(by_length[start : start + batch_size], bert.tokenizer, masking, rng).to(device)
            batch_losses, batch_correct = objective(batch)
            losses, correct = losses + batch_losses.cpu(), correct + batch_correct.cpu()
            words += len(batch.mlm_labels)
    bert.train(was_training)
    pairs = 0 if isinstance(inputs[0], SingleInput) else len(inputs)
    return PretrainingScores(
        mlm_loss=float(losses[0]) / words,
        mlm_accuracy=float(correct[0]) / words,
        nsp_loss=float(losses[1]) / pairs if pairs else None,
        nsp_accuracy=float(correct[1]) / pairs if pairs else None,
        words=words,
        pairs=pairs,
    )


@dataclass(frozen=True)
class ClozeAccuracy:
    """How often the one masked word of a sentence is the first guess, and among the first five; and the same over the
    sentences in which it is made of letters, not a number or a mark of punctuation."""

    top1: float
    top5: float
    alphabetic_top1: float
    alphabetic_top5: float
    sentences: int


def cloze_accuracy(bert: Bert, stores: Sequence[TokenStore], count: int = 2048, batch_size: int = 64) -> ClozeAccuracy:
    """Mask one word of each of `count` held-out sentences, read alone: any word or mark that is one wordpiece.

    Sentences and words are the same ones for every model of this vocabulary.
    """
    tokenizer, device = bert.tokenizer, bert.embeddings.token.weight.device
    is_alphabetic = np.array([word.isalpha() for word in tokenizer.vocabulary])
    queries = sorted(_cloze_queries(bert, stores, count), key=lambda query: len(query[0]))
    if not queries:
        return ClozeAccuracy(*[math.nan] * 4, sentences=0)
    correct, alphabetic = [], []
    with torch.no_grad():
        for start in range(0, len(queries), batch_size):
            singles, positions = zip(*queries[start : start + batch_size], strict=True)
            rows, masked = collate_singles(singles, tokenizer), (np.arange(len(singles)), np.array(positions))
            gold = torch.from_numpy(rows.ids[masked]).to(device)
            rows.ids[masked] = tokenizer.mask_id
            arrays = (rows.ids, rows.segments, rows.attention_mask)
            batch = Batch(*(torch.from_numpy(array).to(device) for array in arrays))
            states = bert.states_at(torch.from_numpy(masked[0]), torch.from_numpy(masked[1]), batch)  # (sentences, hidden)
            guesses = bert.mlm_logits(states).topk(5).indices  # (sentences, 5)
            correct.append(torch.stack([guesses[:, 0] == gold, (guesses == gold[:, None]).any(-1)]).cpu().numpy())
            alphabetic.append(is_alphabetic[gold.cpu().numpy()])
    top, letters = np.concatenate(correct, axis=1), np.concatenate(alphabetic)  # (2, sentences), (sentences,)
    return ClozeAccuracy(*top.mean(1).tolist(), *top[:, letters].mean(1).tolist(), sentences=len(queries))


def _cloze_queries(bert: Bert, stores: Sequence[TokenStore], count: int) -> list[tuple[SingleInput, int]]:
    """Sentences, and the position in each of a random word of one wordpiece, [CLS] counted."""
    is_continuation = np.array([word.startswith("##") for word in bert.tokenizer.vocabulary])
    rng, queries = np.random.default_rng(HELDOUT_SEED), []
    for single in SingleSampler(stores, HELDOUT_SEED).sentences():
        ids = np.asarray(single.ids, dtype=np.int64)
        words = np.flatnonzero(~is_continuation[ids] & ~np.append(is_continuation[ids[1:]], False))
        if len(words):
            queries.append((single, 1 + int(rng.choice(words))))
        if len(queries) == count:
            break
    return queries
