"""Head ablation: what changes without a head, which heads matter, how many can be pruned. Michel et al. (2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from model import Bert, Edits, Encoding, InputError, as_texts

Head = tuple[int, int]  # layer, head
TOKENS_AT_ONCE = 6144


@dataclass(frozen=True)
class AblationTarget:
    """A prediction: the token id `answer` at `position` or, without a position, IsNext."""

    encoding: Encoding
    position: int | None = None
    answer: int | None = None


def target_word(bert: Bert, encoding: Encoding, position: int, answer: str | None = None) -> AblationTarget:
    """Mask a position; the answer is `answer`, the token that stood there or, where that is [MASK], the most probable."""
    token_id = encoding.tokens[position].id if answer is None else bert.tokenizer.token_to_id(answer)
    if token_id is None:
        raise InputError(f"“{answer}” is not one wordpiece of this model's vocabulary; an answer must be.")
    masked = encoding.replace_tokens({position: (bert.tokenizer.mask_id, "[MASK]")})
    if token_id == bert.tokenizer.mask_id:
        with torch.inference_mode():
            token_id = int(bert.mlm_logits(bert(masked)[0, position]).argmax())
    return AblationTarget(masked, position, token_id)


def log_probs(bert: Bert, targets: Sequence[AblationTarget], edits: Sequence[Edits]) -> Tensor:
    """Log-probability of each target's answer under its edits, in one batch: (targets,)."""
    states = bert([target.encoding for target in targets], list(edits))
    if targets[0].position is None:
        return bert.nsp_logits(states).log_softmax(-1)[:, 0]
    positions = torch.tensor([target.position for target in targets])
    answers = torch.tensor([target.answer for target in targets])
    rows = torch.arange(len(targets))
    return bert.mlm_logits(states[rows, positions]).log_softmax(-1)[rows, answers]


def all_heads(bert: Bert) -> list[Head]:
    """All (layer, head) of a model, layer by layer."""
    return [
        (layer, head) for layer in range(bert.config.num_hidden_layers) for head in range(bert.config.num_attention_heads)
    ]


def distribution(bert: Bert, target: AblationTarget, off: Sequence[Head], k: int = 8) -> pd.DataFrame:
    """The k most probable words with and without heads: word, before, after; the answer is always among them."""
    assert target.position is not None
    with torch.inference_mode():
        states = bert([target.encoding] * 2, [Edits(), Edits(heads_off=frozenset(off))])
        before, after = bert.mlm_logits(states[:, target.position]).softmax(-1)
    best = torch.maximum(before, after).topk(k).indices.tolist()
    if target.answer is not None and target.answer not in best:
        best.append(target.answer)
    return pd.DataFrame(
        {
            "word": [bert.tokenizer.vocabulary[i] for i in best],
            "before": before[best].cpu().numpy(),
            "after": after[best].cpu().numpy(),
        }
    )


def next_sentence(bert: Bert, encoding: Encoding, off: Sequence[Head]) -> tuple[float, float]:
    """P(IsNext) with and without heads."""
    with torch.inference_mode():
        before, after = log_probs(bert, [AblationTarget(encoding)] * 2, [Edits(), Edits(heads_off=frozenset(off))]).exp()
    return float(before), float(after)


def effects(bert: Bert, target: AblationTarget, already: Sequence[Head] = ()) -> np.ndarray:
    """Bits of log P(answer) lost without each head, beside those already off: (layers, heads).

    All heads in one batch: row i is the same input without head i.
    """
    heads = all_heads(bert)
    bits = losses(bert, [target], [list(already), *([*already, head] for head in heads)])
    return (bits[1:] - bits[0]).reshape(bert.config.num_hidden_layers, -1)


def losses(bert: Bert, targets: Sequence[AblationTarget], off: Sequence[Sequence[Head]]) -> np.ndarray:
    """Mean −log₂ P(answer) over the targets without each set of heads: (sets,); lower is better."""
    edits = [Edits(heads_off=frozenset(heads)) for heads in off]
    rows = [(target, edit) for edit in edits for target in targets]
    longest = max(len(target.encoding) for target in targets)
    step = max(1, TOKENS_AT_ONCE // longest)
    with torch.inference_mode():
        log_p = torch.cat(
            [log_probs(bert, *zip(*rows[start : start + step], strict=True)) for start in range(0, len(rows), step)]
        )
    return -(log_p.view(len(off), len(targets)).mean(1) / np.log(2)).cpu().numpy()


def importance(bert: Bert, targets: Sequence[AblationTarget]) -> np.ndarray:
    """Mean |∂ loss / ∂ gate| of each head, gates at one, in bits: (layers, heads). Michel et al. (2019), eq. 2.

    A head has one gate for the whole input, so the absolute value is of the sum over positions; the authors' code
    takes it at each position and sums after that. The equation allows both.
    """
    shape = (bert.config.num_hidden_layers, bert.config.num_attention_heads)
    step = max(1, TOKENS_AT_ONCE // 2 // max(len(target.encoding) for target in targets))
    total = np.zeros(shape)
    for start in range(0, len(targets), step):
        batch = targets[start : start + step]
        # of its own for each target: one backward pass for all
        gates = torch.ones(len(batch), *shape, device=bert.device, requires_grad=True)
        loss = -log_probs(bert, batch, [Edits(gates=gate) for gate in gates]).sum()
        total += torch.autograd.grad(loss, gates)[0].abs().sum(0).cpu().numpy()
    return total / len(targets) / np.log(2)


def normalised(importance: np.ndarray) -> np.ndarray:
    """Importance divided by its ℓ2 norm within each layer: (layers, heads). Michel et al. (2019), 4.

    Gradients differ in size from layer to layer; without this, pruning empties the layers of small gradients first.
    """
    norms = np.linalg.norm(importance, axis=1, keepdims=True)
    return importance / np.where(norms > 0, norms, 1)


def strongest(effects: np.ndarray, count: int = 5) -> list[tuple[Head, float]]:
    """The heads with the largest effects, and these effects; largest first."""
    order = np.argsort(-effects, axis=None, kind="stable")[:count]
    indices = zip(*np.unravel_index(order, effects.shape), strict=True)
    return [((int(layer), int(head)), float(effects[layer, head])) for layer, head in indices]


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation of two scores of the same heads."""
    ranks = pd.DataFrame({"first": first.ravel(), "second": second.ravel()}).rank()
    return float(ranks["first"].corr(ranks["second"]))


def size_agreement(effects: np.ndarray, importance: np.ndarray) -> float:
    """Spearman's rank correlation of the size of each effect with the importance, which has no sign."""
    return agreement(np.abs(effects), importance)


def sample_targets(bert: Bert, texts: str | Sequence[str], words: int = 3, seed: int = 0) -> list[AblationTarget]:
    """A random sample of the words of each text, masked one at a time; words of one piece and of letters only."""
    rng = np.random.default_rng(seed)
    targets = []
    for text in as_texts(texts):
        encoding = bert.tokenizer.encode(text)
        pieces = [token.word for token in encoding.tokens]
        candidates = [
            t.position for t in encoding.tokens if t.word is not None and t.text.isalpha() and pieces.count(t.word) == 1
        ]
        sample = rng.permutation(candidates)[:words]
        targets += [target_word(bert, encoding, int(position)) for position in sorted(sample)]
    if not targets:
        raise InputError("None of the texts has a word of letters that is one wordpiece; at least one is needed.")
    return targets


@dataclass(frozen=True)
class PruningPoint:
    """One point of the curves: heads removed, the loss in bits of each order of removal, and the greedy choice."""

    removed: int
    greedy: float
    gradient: float
    random: tuple[float, ...]  # one for each random order
    heads: tuple[Head, ...]  # removed by the greedy order, first one first


def prune(
    bert: Bert, targets: Sequence[AblationTarget], step: int, orders: int = 5, seed: int = 0
) -> Iterator[PruningPoint]:
    """Remove heads, `step` at a time, until none is left: greedily, those first without which the loss is lowest.

    Beside it: the order of gradient importance, normalised by layer (Michel et al., 2019), and random orders.
    """
    heads = all_heads(bert)
    by_gradient = [heads[i] for i in np.argsort(normalised(importance(bert, targets)).ravel(), kind="stable")]
    rng = np.random.default_rng(seed)
    at_random = [[heads[i] for i in rng.permutation(len(heads))] for _ in range(orders)]
    removed: list[Head] = []
    while True:
        count = len(removed)
        bits = losses(bert, targets, [removed, by_gradient[:count], *(order[:count] for order in at_random)]).tolist()
        yield PruningPoint(count, greedy=bits[0], gradient=bits[1], random=tuple(bits[2:]), heads=tuple(removed))
        remaining = [head for head in heads if head not in removed]
        if not remaining:
            return
        without = losses(bert, targets, [[*removed, head] for head in remaining])
        removed += [remaining[i] for i in np.argsort(without, kind="stable")[:step]]
