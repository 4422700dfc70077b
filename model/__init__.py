"""BERT, its checkpoints and its trace; works without the app, in a notebook."""

from .bert import Batch, Bert, ModelInfo, sinusoids
from .checkpoint import CheckpointInfo, available, load, save
from .config import SIZES, BertConfig, ParameterCount, parameter_counts
from .errors import BertscopeError, CheckpointError, InputError, MissingHeadError
from .interventions import Edits
from .pretraining.loop import pretrain
from .pretraining.settings import TrainingConfig
from .tokenizer import Encoding, Token, WordPiece, as_texts
from .trace import Trace, activations, batches_by_length, hidden_states
from .version import __version__

__all__ = [
    "SIZES",
    "Batch",
    "Bert",
    "BertConfig",
    "BertscopeError",
    "CheckpointError",
    "CheckpointInfo",
    "Edits",
    "Encoding",
    "InputError",
    "MissingHeadError",
    "ModelInfo",
    "ParameterCount",
    "Token",
    "Trace",
    "TrainingConfig",
    "WordPiece",
    "__version__",
    "activations",
    "as_texts",
    "available",
    "batches_by_length",
    "hidden_states",
    "load",
    "parameter_counts",
    "pretrain",
    "save",
    "sinusoids",
]
