"""How text becomes input: the three embeddings, and what a model knows about positions."""

import numpy as np

from model import Bert, BertConfig, Trace, ledger, sinusoids

PARTS = ("token", "segment", "position", "sum, normalised")


def parts(trace: Trace) -> np.ndarray:
    """Token, segment and position embeddings and their normalised sum: (4, seq, hidden)."""
    return np.stack([trace.token, trace.segment, trace.position, trace.hidden[0]])


def position_similarity(bert: Bert, count: int) -> np.ndarray:
    """Cosine of every two of the first `count` position embeddings: (count, count)."""
    return _cosine(bert.embeddings.position.weight[:count].numpy())


def sinusoid_similarity(hidden: int, count: int) -> np.ndarray:
    """The same for the fixed sines and cosines of Vaswani et al. (2017): (count, count)."""
    return _cosine(sinusoids(count, hidden).numpy())


def ledgers(bert: Bert) -> dict[str, tuple[BertConfig, list]]:
    """The parameter ledger of this model beside BERT-base and BERT-large as published."""
    own = ledger(bert.config, bert.mlm is not None, bert.nsp is not None)
    published = {f"BERT-{size}": BertConfig.preset(size) for size in ("base", "large")}
    return {bert.about.name: (bert.config, own)} | {
        name: (config, ledger(config)) for name, config in published.items()}


def _cosine(rows: np.ndarray) -> np.ndarray:
    unit = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return unit @ unit.T
