"""What heads are for: what changes when they are switched off, how much each matters, how many can go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from model import Bert, Edits, Encoding, InputProblem

Head = tuple[int, int]  # layer, head
TOKENS_AT_ONCE = 6144


@dataclass(frozen=True)
class Question:
    """A prediction to watch: the word with id `answer` at `position`, or, without a position, that B follows A."""

    encoding: Encoding
    position: int | None = None
    answer: int | None = None


def masked(bert: Bert, encoding: Encoding, position: int, answer: str | None = None) -> Question:
    """Which word stands at a position? The answer is the one given, the one that stood there, or the likeliest."""
    given = encoding.tokens[position].id if answer is None else bert.tokenizer.id(answer)
    if given is None:
        raise InputProblem(f"{answer} is not one wordpiece of this model's vocabulary.")
    hidden = encoding.replaced({position: (bert.tokenizer.mask, "[MASK]")})
    if given == bert.tokenizer.mask:
        with torch.inference_mode():
            given = int(bert.words(bert(hidden)[0, position]).argmax())
    return Question(hidden, position, given)


def answers(bert: Bert, questions: Sequence[Question], edits: Sequence[Edits]) -> Tensor:
    """Log-probability of each question's answer under each of its edits, one forward for a whole batch: (rows,)."""
    states = bert([question.encoding for question in questions], list(edits))
    if questions[0].position is None:
        return bert.follows(states).log_softmax(-1)[:, 0]
    at = torch.tensor([question.position for question in questions])
    wanted = torch.tensor([question.answer for question in questions])
    rows = torch.arange(len(questions))
    return bert.words(states[rows, at]).log_softmax(-1)[rows, wanted]


def every_head(bert: Bert) -> list[Head]:
    """All (layer, head) of a model, layer by layer."""
    return [(layer, head) for layer in range(bert.config.num_hidden_layers)
            for head in range(bert.config.num_attention_heads)]


def distribution(bert: Bert, question: Question, off: Sequence[Head], k: int = 8) -> pd.DataFrame:
    """The likeliest words before and after switching heads off: word, before, after; best before or after first."""
    assert question.position is not None
    with torch.inference_mode():
        states = bert([question.encoding] * 2, [Edits(), Edits(heads_off=frozenset(off))])
        before, after = bert.words(states[:, question.position]).softmax(-1)
    best = torch.maximum(before, after).topk(k).indices.tolist()
    if question.answer is not None and question.answer not in best:
        best.append(question.answer)
    return pd.DataFrame({"word": [bert.tokenizer.words[i] for i in best], "before": before[best].numpy(),
                         "after": after[best].numpy()})


def next_sentence(bert: Bert, encoding: Encoding, off: Sequence[Head]) -> tuple[float, float]:
    """P(IsNext) before and after switching heads off."""
    with torch.inference_mode():
        before, after = answers(bert, [Question(encoding)] * 2, [Edits(), Edits(heads_off=frozenset(off))]).exp()
    return float(before), float(after)


def effects(bert: Bert, question: Question, already: Sequence[Head] = ()) -> np.ndarray:
    """How much the answer's log-probability (bits) falls when each head alone is switched off: (layers, heads).

    All heads in one batch: row i of it is the same input with head i off.
    """
    heads = every_head(bert)
    scores = losses(bert, [question], [list(already), *([*already, head] for head in heads)])
    return (scores[1:] - scores[0]).reshape(bert.config.num_hidden_layers, -1)


def losses(bert: Bert, questions: Sequence[Question], off: Sequence[Sequence[Head]]) -> np.ndarray:
    """Mean −log₂ P(answer) over the questions with each set of heads off: (sets,); lower is better."""
    edits = [Edits(heads_off=frozenset(heads)) for heads in off]
    rows = [(question, edit) for edit in edits for question in questions]
    longest = max(len(question.encoding) for question in questions)
    step = max(1, TOKENS_AT_ONCE // longest)
    with torch.inference_mode():
        found = torch.cat([answers(bert, *zip(*rows[start:start + step], strict=True))
                           for start in range(0, len(rows), step)])
    return -(found.view(len(off), len(questions)).mean(1) / np.log(2)).numpy()


def importance(bert: Bert, questions: Sequence[Question]) -> np.ndarray:
    """Mean |∂ loss / ∂ gate| of each head, gates at one, in bits: (layers, heads). Michel et al. (2019), eq. 2.

    A head has one gate for the whole input, so the absolute value is of the sum over positions; the authors' program
    takes it at each position and sums after that. The equation allows both.
    """
    shape = (bert.config.num_hidden_layers, bert.config.num_attention_heads)
    step = max(1, TOKENS_AT_ONCE // 2 // max(len(question.encoding) for question in questions))
    total = np.zeros(shape)
    for start in range(0, len(questions), step):
        some = questions[start:start + step]
        gates = torch.ones(len(some), *shape, requires_grad=True)  # of its own for each question: one backward for all
        loss = -answers(bert, some, [Edits(gates=gate) for gate in gates]).sum()
        total += torch.autograd.grad(loss, gates)[0].abs().sum(0).numpy()
    return total / len(questions) / np.log(2)


def normalised(importance: np.ndarray) -> np.ndarray:
    """Importance divided by its length (ℓ2) within each layer: (layers, heads). Michel et al. (2019), 4.

    Gradients differ in size from layer to layer; without this, pruning empties the layers of small gradients first.
    """
    lengths = np.linalg.norm(importance, axis=1, keepdims=True)
    return importance / np.where(lengths > 0, lengths, 1)


def strongest(effects: np.ndarray, count: int = 5) -> list[tuple[Head, float]]:
    """The heads with the largest effects, the most needed first, and their effects."""
    order = np.argsort(-effects, axis=None, kind="stable")[:count]
    places = zip(*np.unravel_index(order, effects.shape), strict=True)
    return [((int(layer), int(head)), float(effects[layer, head])) for layer, head in places]


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation of two scores of the same heads."""
    ranks = pd.DataFrame({"first": first.ravel(), "second": second.ravel()}).rank()
    return float(ranks["first"].corr(ranks["second"]))


def exam(bert: Bert, texts: Sequence[str], words: int = 3, seed: int = 0) -> list[Question]:
    """Some words of each text, masked one at a time, to measure a model by; whole words of letters only."""
    draw = np.random.default_rng(seed)
    questions = []
    for text in texts:
        encoding = bert.tokenizer.encode(text)
        pieces = [token.word for token in encoding.tokens]
        fit = [t.position for t in encoding.tokens
               if t.word is not None and t.text.isalpha() and pieces.count(t.word) == 1]
        chosen = draw.permutation(fit)[:words]
        questions += [masked(bert, encoding, int(position)) for position in sorted(chosen)]
    if not questions:
        raise InputProblem("None of these sentences has a word to mask: give a few sentences of plain words.")
    return questions


@dataclass(frozen=True)
class Pruning:
    """One point of the curves: heads gone, the loss in bits of each way to choose them, and the greedy choice."""

    gone: int
    greedy: float
    gradient: float
    random: tuple[float, ...]  # one for each random order
    heads: tuple[Head, ...]  # what the greedy way has switched off, in order


def pruned(bert: Bert, questions: Sequence[Question], step: int, orders: int = 5, seed: int = 0) -> Iterator[Pruning]:
    """Switch heads off, `step` at a time, until none is left: first those whose loss alone hurts least now.

    Beside it: the order of gradient importance, normalised by layer (Michel et al., 2019), and random orders.
    """
    heads = every_head(bert)
    by_gradient = [heads[i] for i in np.argsort(normalised(importance(bert, questions)).ravel(), kind="stable")]
    draw = np.random.default_rng(seed)
    by_chance = [[heads[i] for i in draw.permutation(len(heads))] for _ in range(orders)]
    gone: list[Head] = []
    while True:
        found = losses(bert, questions, [gone, by_gradient[:len(gone)], *(order[:len(gone)] for order in by_chance)])
        yield Pruning(len(gone), float(found[0]), float(found[1]), tuple(map(float, found[2:])), tuple(gone))
        left = [head for head in heads if head not in gone]
        if not left:
            return
        cost = losses(bert, questions, [[*gone, head] for head in left])
        gone += [left[i] for i in np.argsort(cost, kind="stable")[:step]]
