"""On which side of its point a label stands, so that labels of near points can both be read."""

from collections.abc import Sequence

import numpy as np

SIDES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
}
LETTER, LINE, GAP = 0.016, 0.05, 0.02  # a letter's width, a line's height and a point's size, as shares of the picture


def sides(points: np.ndarray, labels: Sequence[str], low: np.ndarray, high: np.ndarray) -> list[str]:
    """Plotly's name of a side for each of the points in the picture from `low` to `high`: the first that covers least."""
    relative = (points - low) / (high - low)
    dots = np.hstack([relative - GAP / 2, relative + GAP / 2])  # boxes (left, bottom, right, top) around the points
    occupied = np.empty((0, 4))
    names = []
    for point, label in zip(relative, labels, strict=True):
        half = np.array([max(len(label), 1) * LETTER, LINE]) / 2
        middles = point + np.array(list(SIDES.values())) * (half + GAP / 2)
        boxes = np.hstack([middles - half, middles + half])
        outside = np.maximum(-boxes[:, :2], 0).sum(1) + np.maximum(boxes[:, 2:] - 1, 0).sum(1)
        best = int(np.argmin(_shared(boxes, dots) + _shared(boxes, occupied) + outside))
        names.append(list(SIDES)[best])
        occupied = np.vstack([occupied, boxes[best]])
    return names


def _shared(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each box the area that it shares with the others, in all."""
    ends = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    begins = np.maximum(boxes[:, None, :2], others[None, :, :2])
    return np.clip(ends - begins, 0, None).prod(-1).sum(-1)
