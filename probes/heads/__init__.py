"""What attention heads do: their patterns, rollout, norms, similarity, and attention between whole words."""

from .attention_rollout import rollout
from .norm_based import norms
from .patterns import (
    BROAD,
    NUMBERS,
    OFF,
    POSITIONAL,
    SPECIAL,
    TARGETS,
    as_grid,
    entropy,
    is_punctuation,
    mean_distance,
    most_informative,
    pattern_names,
    summary,
    table,
    target_masks,
    target_shares,
    totals,
)
from .similarity import Divergence, attention_difference, classical_mds, js_divergence
from .words import merge_wordpieces, renormalise, word_spans, word_texts

__all__ = [
    "BROAD",
    "NUMBERS",
    "OFF",
    "POSITIONAL",
    "SPECIAL",
    "TARGETS",
    "Divergence",
    "as_grid",
    "attention_difference",
    "classical_mds",
    "entropy",
    "is_punctuation",
    "js_divergence",
    "mean_distance",
    "merge_wordpieces",
    "most_informative",
    "norms",
    "pattern_names",
    "renormalise",
    "rollout",
    "summary",
    "table",
    "target_masks",
    "target_shares",
    "totals",
    "word_spans",
    "word_texts",
]
