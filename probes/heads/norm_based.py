"""Norm-based attention: weights times the length of the vectors they weigh. Kobayashi et al. (2020)."""

import numpy as np

from model import Bert, Trace, activations


def norms(bert: Bert, trace: Trace) -> np.ndarray:
    """‖α f(x)‖, attention times the norm of the value projected to the hidden size: (layers, heads, query, key).

    A head that is switched off has norms of 0. Kobayashi et al. (2020), 2.
    """
    ((_, arrays),) = activations(bert, [trace.encoding], ["value"], trace.edits)
    lengths = []
    for layer, value in zip(bert.layers, arrays["value"], strict=True):  # value is (heads, seq, head_size)
        weight = layer.attention.output.weight.detach().cpu().numpy()  # (hidden, heads × head_size)
        projection = weight.reshape(len(weight), *value.shape[::2]).transpose(1, 2, 0)  # (heads, head_size, hidden)
        lengths.append(np.linalg.norm(value @ projection, axis=-1))
    return trace.attention * (np.stack(lengths) * np.abs(trace.gates)[..., None])[:, :, None, :]
