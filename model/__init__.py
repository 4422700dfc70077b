"""BERT, its checkpoints and its trace; works without the app, in a notebook."""

from .bert import About, Batch, Bert, sinusoids
from .checkpoint import Found, available, load, save
from .config import SIZES, BertConfig, Part, ledger
from .errors import CheckpointProblem, InputProblem, MissingHead, Problem
from .interventions import Edits
from .tokenizer import Encoding, Token, WordPiece
from .trace import Trace, activations, alike, states

__all__ = ["SIZES", "About", "Batch", "Bert", "BertConfig", "CheckpointProblem", "Edits", "Encoding", "Found",
           "InputProblem", "MissingHead", "Part", "Problem", "Token", "Trace", "WordPiece", "activations", "alike",
           "available", "ledger", "load", "save", "sinusoids", "states"]
