"""BERT's two objectives: the true words at the selected positions (MLM), and whether B follows A (NSP)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..bert import Batch, Bert
from ..interventions import Edits
from ..tokenizer import WordPiece
from .masking import MaskingStrategy, corrupt
from .sentence_pairs import SentencePair, collate_pairs
from .single_inputs import SingleInput, collate_singles

# nearly every batch selects another number of words, and torch compiles a product in bfloat16 for its very shape: a few
# fillers, which the loss ignores, round the number up to a multiple of FEW, or of MANY where 4 × MANY or more are selected
FEW, MANY = 32, 128
IGNORED = -100  # the label of a filler


@dataclass(frozen=True)
class PretrainingBatch:
    """A batch to learn from: corrupted inputs, the selected positions with their true words, and the NSP labels."""

    batch: Batch
    selected_positions: Tensor  # (selected,) into batch × seq
    mlm_labels: Tensor  # (selected,)
    nsp_labels: Tensor  # (batch,): 0 is IsNext, 1 is NotNext; empty where the inputs are single

    def to(self, device: torch.device) -> "PretrainingBatch":
        inputs = (self.batch.ids, self.batch.segments, self.batch.attention_mask)
        return PretrainingBatch(
            Batch(*(tensor.to(device) for tensor in inputs)),
            self.selected_positions.to(device),
            self.mlm_labels.to(device),
            self.nsp_labels.to(device),
        )


def pretraining_batch(
    inputs: Sequence[SentencePair | SingleInput],
    tokenizer: WordPiece,
    masking: MaskingStrategy,
    rng: np.random.Generator,
    rank_rows: slice = slice(None),
    lengths: Sequence[int] = (),
) -> PretrainingBatch:
    """Collate and corrupt pairs or single inputs, then take the rows of one process, padded to the next of some rising
    `lengths`. The masks are the same however many processes divide the rows, and whatever the padding."""
    singles = [single for single in inputs if isinstance(single, SingleInput)]
    pairs = [pair for pair in inputs if isinstance(pair, SentencePair)]
    rows = collate_singles(singles, tokenizer) if singles else collate_pairs(pairs, tokenizer)
    corruption = corrupt(rows.ids, tokenizer, masking, rng)
    length = rows.ids.shape[1]
    padding = next((rounded for rounded in lengths if rounded >= length), length) - length

    def padded(array: np.ndarray, value: int = 0) -> np.ndarray:
        return np.pad(array[rank_rows], ((0, 0), (0, padding)), constant_values=value)

    positions, original_ids = np.flatnonzero(padded(corruption.selected)), padded(rows.ids, tokenizer.pad_id)
    corrupted = (padded(corruption.ids, tokenizer.pad_id), padded(rows.segments), padded(rows.attention_mask))
    return PretrainingBatch(
        batch=Batch(*map(torch.from_numpy, corrupted)),
        selected_positions=torch.from_numpy(positions),
        mlm_labels=torch.from_numpy(original_ids.ravel()[positions]),
        nsp_labels=torch.from_numpy(np.ascontiguousarray(rows.nsp_labels[rank_rows])),
    )


class PretrainingLoss(nn.Module):
    """MLM and NSP loss of a batch, summed over its words and its pairs: (2,), and how many were right: (2,).

    Last states and logits are computed at the selected positions and [CLS] only; no other position has a part in the
    loss. Devlin et al. (2019), 3.1.
    """

    def __init__(self, bert: Bert, direction: str = "both"):
        super().__init__()
        self.bert, self.edits = bert, Edits(direction=direction)

    def forward(self, batch: PretrainingBatch) -> tuple[Tensor, Tensor]:
        length, pairs = batch.batch.ids.shape[1], len(batch.nsp_labels)
        cls_positions = torch.arange(0, pairs * length, length, device=batch.selected_positions.device)
        multiple = FEW if len(batch.selected_positions) < 4 * MANY else MANY
        autocast = torch.is_autocast_enabled(cls_positions.device.type)
        fillers = -len(batch.selected_positions) % multiple if autocast else 0
        positions = torch.cat([batch.selected_positions, cls_positions.new_zeros(fillers), cls_positions])
        mlm_labels = F.pad(batch.mlm_labels, (0, fillers), value=IGNORED)
        states = self.bert.states_at(positions // length, positions % length, batch.batch, self.edits)
        mlm_logits = self.bert.mlm_logits(states[: len(mlm_labels)]).float()  # (selected + fillers, vocabulary)
        nsp_logits = self.bert.require_nsp()(states[len(mlm_labels) :]).float()  # (batch, 2)
        mlm_loss = F.cross_entropy(mlm_logits, mlm_labels, reduction="sum", ignore_index=IGNORED)
        nsp_loss = F.cross_entropy(nsp_logits, batch.nsp_labels, reduction="sum")
        with torch.no_grad():
            mlm_correct = (mlm_logits.argmax(-1) == mlm_labels).sum()
            nsp_correct = (nsp_logits.argmax(-1) == batch.nsp_labels).sum()
        return torch.stack([mlm_loss, nsp_loss]), torch.stack([mlm_correct, nsp_correct])
