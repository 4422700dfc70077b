"""What BERT is trained to do: name the chosen words and tell a true next span from another."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .bert import Batch, Bert
from .edits import Edits
from .masking import Mix, masked
from .pairs import Pair, Pairs, packed
from .store import Store
from .tokenizer import WordPiece

# nearly every batch chooses another number of words, and torch compiles a product in bfloat16 for its very shape: a few
# spare ones, which the loss leaves out, make the numbers even
EVEN, SPARE = 32, -100
HELD_SEED = 20181011  # the held-out questions are the same ones in every run


@dataclass(frozen=True)
class Task:
    """A batch to learn from: corrupted inputs, the chosen places with their true words, and the NSP labels."""

    batch: Batch
    places: Tensor  # (chosen,) into batch × seq
    words: Tensor  # (chosen,)
    labels: Tensor  # (batch,): 0 is IsNext, 1 is NotNext

    def to(self, device: torch.device) -> "Task":
        read = self.batch
        return Task(Batch(read.ids.to(device), read.segments.to(device), read.mask.to(device)),
                    self.places.to(device), self.words.to(device), self.labels.to(device))


@dataclass(frozen=True)
class Scores:
    """Mean losses in nats and accuracies over words and pairs."""

    mlm_loss: float
    mlm_accuracy: float
    nsp_loss: float
    nsp_accuracy: float
    words: int
    pairs: int


def task(pairs: list[Pair], tokenizer: WordPiece, mix: Mix, generator: np.random.Generator,
         share: slice = slice(None)) -> Task:
    """Pack and mask pairs, then keep a share of the rows: the same masks, however many processes share them."""
    rows = packed(pairs, tokenizer)
    hidden = masked(rows.ids, tokenizer, mix, generator)
    places = np.flatnonzero(hidden.chosen[share])
    read = (hidden.ids, rows.segments, rows.mask, rows.labels)
    ids, segments, mask, labels = (torch.from_numpy(np.ascontiguousarray(part[share])) for part in read)
    return Task(Batch(ids, segments, mask), torch.from_numpy(places),
                torch.from_numpy(rows.ids[share].ravel()[places]), labels)


class Objective(nn.Module):
    """The two losses of a task, summed over its words and its pairs: (2,), and how many were right: (2,).

    Last states and logits are computed at the chosen places and [CLS] only; no other place has a part in the loss.
    """

    def __init__(self, bert: Bert, sight: str = "both"):
        super().__init__()
        self.bert, self.edits = bert, Edits(sight=sight)

    def forward(self, given: Task) -> tuple[Tensor, Tensor]:
        pairs, length = given.batch.ids.shape
        firsts = torch.arange(0, pairs * length, length, device=given.places.device)
        spare = -len(given.places) % EVEN if torch.is_autocast_enabled(firsts.device.type) else 0
        places = torch.cat([given.places, firsts.new_zeros(spare), firsts])
        true = F.pad(given.words, (0, spare), value=SPARE)
        states = self.bert.at(places // length, places % length, given.batch, self.edits)
        words = self.bert.words(states[:-pairs]).float()  # (chosen + spare, vocabulary)
        follows = self.bert.need_nsp()(states[-pairs:]).float()  # (batch, 2)
        losses = torch.stack([F.cross_entropy(words, true, reduction="sum", ignore_index=SPARE),
                              F.cross_entropy(follows, given.labels, reduction="sum")])
        with torch.no_grad():
            right = torch.stack([(words.argmax(-1) == true).sum(), (follows.argmax(-1) == given.labels).sum()])
        return losses, right


def evaluate(bert: Bert, store: Store, mix: Mix, length: int = 128, negatives: str = "another", count: int = 512,
             batch: int = 32, sight: str = "both") -> Scores:
    """Ask the same held-out questions every time: `count` pairs, masked by the mix."""
    questions = sorted(Pairs(store, length, negatives, HELD_SEED).stretch(0, count), key=len)
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
    return Scores(float(sums[0]) / words, float(hits[0]) / words, float(sums[1]) / count, float(hits[1]) / count,
                  words, count)
