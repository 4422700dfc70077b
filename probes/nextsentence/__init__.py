"""Next-sentence prediction: does B follow A, and what does the answer depend on?"""

from .prediction import (
    IS_NEXT,
    LABELS,
    NOT_NEXT,
    PairPrediction,
    encode_pair,
    iter_logit_differences,
    logit_differences,
    predict,
    probability,
    require_known_words,
    to_probability,
)

__all__ = [
    "IS_NEXT",
    "LABELS",
    "NOT_NEXT",
    "PairPrediction",
    "encode_pair",
    "iter_logit_differences",
    "logit_differences",
    "predict",
    "probability",
    "require_known_words",
    "to_probability",
]
