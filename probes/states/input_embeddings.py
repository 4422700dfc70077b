"""The input of the first layer: three embeddings, the similarity of positions, and the parameters behind them."""

import numpy as np

from model import Bert, BertConfig, Trace, sinusoids
from model.config import parameter_counts

from . import geometry

PARTS = ("token", "segment", "position", "sum, normalised")


def parts(trace: Trace) -> np.ndarray:
    """Token, segment and position embeddings and their normalised sum: (4, seq, hidden)."""
    return np.stack([trace.token_embedding, trace.segment_embedding, trace.position_embedding, trace.hidden[0]])


def position_similarity(bert: Bert, count: int) -> np.ndarray:
    """Cosine of every two of the first `count` position embeddings: (count, count)."""
    return geometry.cosine(bert.embeddings.position.weight[:count].detach().cpu().numpy())


def sinusoid_similarity(hidden: int, count: int) -> np.ndarray:
    """The same for the fixed sines and cosines of Vaswani et al. (2017): (count, count)."""
    return geometry.cosine(sinusoids(count, hidden).numpy())


def neighbour_similarity(similarity: np.ndarray) -> tuple[float, float]:
    """Mean cosine of adjacent positions, and of all pairs of different ones: (count, count) -> two numbers."""
    count = len(similarity)
    others = (similarity.sum() - np.trace(similarity)) / max(1, count * (count - 1))
    return float(np.diagonal(similarity, 1).mean()) if count > 1 else 1.0, float(others)


def lengths(parts: np.ndarray) -> np.ndarray:
    """Length of the token, segment and position embedding and of their sum: (4, seq, hidden) -> (4, seq)."""
    return np.linalg.norm(parts, axis=-1)


def parameter_tables(bert: Bert) -> dict[str, tuple[BertConfig, list]]:
    """The parameter counts of this model beside those of BERT-base and BERT-large as published."""
    own = parameter_counts(bert.config, bert.mlm is not None, bert.nsp is not None)
    published = {f"BERT-{size}": BertConfig.preset(size) for size in ("base", "large")}
    return {bert.info.name: (bert.config, own)} | {
        name: (config, parameter_counts(config)) for name, config in published.items()
    }
