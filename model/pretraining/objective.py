"""What BERT is trained to do: name the chosen words and tell a true next span from another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..bert import Batch, Bert
from ..interventions import Edits
from ..tokenizer import WordPiece
from .masking import Mix, masked
from .sentence_pairs import Pair, Pairs, packed
from .single_inputs import Single, Singles, rows_of
from .token_store import Store

# nearly every batch chooses another number of words, and torch compiles a product in bfloat16 for its very shape: a few
# spare ones, which the loss leaves out, make the numbers even
EVEN, MANY, SPARE = 32, 128, -100  # multiples: of a few words, of 512 or more; the label of a spare one
HELD_SEED = 20181011  # the held-out questions are the same ones in every run


@dataclass(frozen=True)
class Task:
    """A batch to learn from: corrupted inputs, the chosen places with their true words, and the NSP labels."""

    batch: Batch
    places: Tensor  # (chosen,) into batch × seq
    words: Tensor  # (chosen,)
    labels: Tensor  # (batch,): 0 is IsNext, 1 is NotNext; empty where the inputs are single

    def to(self, device: torch.device) -> "Task":
        read = self.batch
        return Task(Batch(read.ids.to(device), read.segments.to(device), read.mask.to(device)),
                    self.places.to(device), self.words.to(device), self.labels.to(device))


@dataclass(frozen=True)
class Scores:
    """Mean losses in nats and accuracies over words and pairs; those of pairs are nan where the inputs were single."""

    mlm_loss: float
    mlm_accuracy: float
    nsp_loss: float
    nsp_accuracy: float
    words: int
    pairs: int


def task(inputs: Sequence[Pair] | Sequence[Single], tokenizer: WordPiece, mix: Mix, generator: np.random.Generator,
         share: slice = slice(None), lengths: Sequence[int] = ()) -> Task:
    """Pack and mask pairs or single inputs, then keep a share of the rows: the same masks, however many processes share
    them, and whether or not rows are padded to the next of some rising `lengths`."""
    singles = [one for one in inputs if isinstance(one, Single)]
    rows = rows_of(singles, tokenizer) if singles else packed([one for one in inputs if isinstance(one, Pair)], tokenizer)
    hidden = masked(rows.ids, tokenizer, mix, generator)
    longest = rows.ids.shape[1]
    more = next((length for length in lengths if length >= longest), longest) - longest

    def padded(part: np.ndarray, value: int = 0) -> np.ndarray:
        return np.pad(part[share], ((0, 0), (0, more)), constant_values=value)

    places, true = np.flatnonzero(padded(hidden.chosen)), padded(rows.ids, tokenizer.pad)
    read = (padded(hidden.ids, tokenizer.pad), padded(rows.segments), padded(rows.mask))
    return Task(Batch(*map(torch.from_numpy, read)), torch.from_numpy(places), torch.from_numpy(true.ravel()[places]),
                torch.from_numpy(np.ascontiguousarray(rows.labels[share])))


class Objective(nn.Module):
    """The two losses of a task, summed over its words and its pairs: (2,), and how many were right: (2,).

    Last states and logits are computed at the chosen places and [CLS] only; no other place has a part in the loss.
    """

    def __init__(self, bert: Bert, sight: str = "both"):
        super().__init__()
        self.bert, self.edits = bert, Edits(sight=sight)

    def forward(self, given: Task) -> tuple[Tensor, Tensor]:
        length, pairs = given.batch.ids.shape[1], len(given.labels)
        firsts = torch.arange(0, pairs * length, length, device=given.places.device)
        even = EVEN if len(given.places) < 4 * MANY else MANY
        spare = -len(given.places) % even if torch.is_autocast_enabled(firsts.device.type) else 0
        places = torch.cat([given.places, firsts.new_zeros(spare), firsts])
        true = F.pad(given.words, (0, spare), value=SPARE)
        states = self.bert.at(places // length, places % length, given.batch, self.edits)
        words = self.bert.words(states[: len(true)]).float()  # (chosen + spare, vocabulary)
        follows = self.bert.need_nsp()(states[len(true):]).float()  # (batch, 2)
        losses = torch.stack([F.cross_entropy(words, true, reduction="sum", ignore_index=SPARE),
                              F.cross_entropy(follows, given.labels, reduction="sum")])
        with torch.no_grad():
            right = torch.stack([(words.argmax(-1) == true).sum(), (follows.argmax(-1) == given.labels).sum()])
        return losses, right


def evaluate(bert: Bert, store: Store, mix: Mix, length: int = 128, negatives: str = "another", count: int = 512,
             batch: int = 32, sight: str = "both") -> Scores:
    """Ask the same held-out questions every time: `count` pairs, masked by the mix."""
    return _scores(bert, Pairs(store, length, negatives, HELD_SEED).stretch(0, count), mix, batch, sight)


def evaluate_singles(bert: Bert, stores: Sequence[Store], mix: Mix, count: int = 512, batch: int = 64,
                     sight: str = "both") -> Scores:
    """The same of `count` held-out single inputs, which have no NSP score."""
    return _scores(bert, Singles(stores, HELD_SEED).stretch(0, count), mix, batch, sight)


def _scores(bert: Bert, inputs: list[Pair] | list[Single], mix: Mix, batch: int, sight: str) -> Scores:
    questions, count = sorted(inputs, key=len), len(inputs)
    generator, objective = np.random.default_rng(HELD_SEED), Objective(bert, sight)
    sums, hits, words, training = torch.zeros(2, dtype=torch.float64), torch.zeros(2), 0, bert.training
    bert.eval()
    with torch.no_grad():
        for start in range(0, count, batch):
            given = task(questions[start: start + batch], bert.tokenizer, mix, generator)
            given = given.to(bert.embeddings.token.weight.device)
            losses, right = objective(given)
            sums, hits, words = sums + losses.cpu(), hits + right.cpu(), words + len(given.words)
    bert.train(training)
    pairs = 0 if isinstance(inputs[0], Single) else count
    loss, accuracy = (float(sums[1]) / pairs, float(hits[1]) / pairs) if pairs else (math.nan, math.nan)
    return Scores(float(sums[0]) / words, float(hits[0]) / words, loss, accuracy, words, pairs)


@dataclass(frozen=True)
class HiddenWords:
    """How often the one word hidden in a sentence is the first guess, and among the first five; and the same of the
    sentences in which it is a word of letters, not a number or a mark of punctuation."""

    first: float
    among_five: float
    letters_first: float
    letters_among_five: float
    sentences: int


def hidden_words(bert: Bert, stores: Sequence[Store], count: int = 2048, batch: int = 64) -> HiddenWords:
    """Hide one word of each of `count` held-out sentences, read alone: any word or mark that is one wordpiece.

    The sentences and the words are the same ones for every model of this vocabulary.
    """
    tokenizer = bert.tokenizer
    letters = np.array([word.isalpha() for word in tokenizer.words])
    continues = np.array([word.startswith("##") for word in tokenizer.words])
    generator, inputs = np.random.default_rng(HELD_SEED), []
    for single in Singles(stores, HELD_SEED).sentences():
        ids = np.asarray(single.ids, dtype=np.int64)
        words = np.flatnonzero(~continues[ids] & ~np.append(continues[ids[1:]], False))
        if len(words):
            inputs.append((single, 1 + int(generator.choice(words))))
        if len(inputs) == count:
            break
    if not inputs:
        return HiddenWords(*[math.nan] * 4, sentences=0)
    inputs.sort(key=lambda one: len(one[0]))
    hits, lettered, device = [], [], bert.embeddings.token.weight.device
    with torch.no_grad():
        for start in range(0, len(inputs), batch):
            part = inputs[start: start + batch]
            rows, places = rows_of([single for single, _ in part], tokenizer), np.array([place for _, place in part])
            true = torch.from_numpy(rows.ids[np.arange(len(part)), places]).to(device)
            rows.ids[np.arange(len(part)), places] = tokenizer.mask
            read = Batch(*(torch.from_numpy(array).to(device) for array in (rows.ids, rows.segments, rows.mask)))
            best = bert.words(bert.at(torch.arange(len(part)), torch.from_numpy(places), read)).topk(5).indices
            hits.append(torch.stack([best[:, 0] == true, (best == true[:, None]).any(-1)]).cpu().numpy())
            lettered.append(letters[true.cpu().numpy()])
    right, word = np.concatenate(hits, axis=1), np.concatenate(lettered)  # (2, sentences), (sentences,)
    return HiddenWords(*right.mean(1).tolist(), *right[:, word].mean(1).tolist(), sentences=len(inputs))
