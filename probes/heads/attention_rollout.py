"""Attention rollout: what reaches a position through all layers below it. Abnar & Zuidema (2020)."""

import numpy as np

from model import Trace


def rollout(trace: Trace) -> np.ndarray:
    """Attention from each position to the input tokens, through layers 0 to l: (layers, 1, query, key).

    A step is half the residual connection, half the mean of the heads that are switched on; a layer without any such
    head is the identity. Abnar & Zuidema (2020), 3.
    """
    identity = np.eye(trace.attention.shape[-1], dtype=trace.attention.dtype)
    flow = [identity]
    for attention, gates in zip(trace.attention, np.abs(trace.gates), strict=True):  # (heads, query, key), (heads,)
        mean = np.average(attention, axis=0, weights=gates) if gates.any() else identity
        flow.append((mean / 2 + identity / 2) @ flow[-1])
    return np.stack(flow[1:])[:, None]
