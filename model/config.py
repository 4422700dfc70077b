"""The shape of a BERT: its configuration, the published sizes, and a ledger of every parameter."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from .errors import CheckpointProblem

POSITIONS = ("absolute", "sinusoidal")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")

# layers, hidden size, heads: Devlin et al. (2019) for base and large, Turc et al. (2019) for the smaller ones
SIZES = {
    "tiny": (2, 128, 2),
    "mini": (4, 256, 4),
    "small": (4, 512, 8),
    "medium": (8, 512, 8),
    "base": (12, 768, 12),
    "large": (24, 1024, 16),
}


@dataclass(frozen=True)
class BertConfig:
    """The fields of bert_config.json that decide what a BERT computes."""

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0
    position_embedding_type: str = "absolute"  # learned; "sinusoidal" is fixed, as in Vaswani et al. (2017)

    def __post_init__(self):
        sizes = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                 "max_position_embeddings", "type_vocab_size")
        for name in sizes:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise CheckpointProblem(f"{name} must be a positive whole number, not {value!r}.")
        if self.hidden_size % self.num_attention_heads:
            raise CheckpointProblem(
                f"hidden_size {self.hidden_size} cannot be shared out to {self.num_attention_heads} heads.")
        if self.hidden_act not in ACTIVATIONS:
            raise CheckpointProblem(f"hidden_act {self.hidden_act!r} is not one of {', '.join(ACTIVATIONS)}.")
        if self.position_embedding_type not in POSITIONS:
            raise CheckpointProblem(
                f"position_embedding_type {self.position_embedding_type!r} is not one of {', '.join(POSITIONS)}.")

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @property
    def shape(self) -> str:
        """L/H/A, as BERT's are named: 12/768/12."""
        return f"{self.num_hidden_layers}/{self.hidden_size}/{self.num_attention_heads}"

    @classmethod
    def preset(cls, name: str, **changes) -> "BertConfig":
        """One of the published sizes, with any field changed."""
        if name not in SIZES:
            raise CheckpointProblem(f"There is no size called {name!r}; choose one of {', '.join(SIZES)}.")
        layers, hidden, heads = SIZES[name]
        return cls(**({"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
                       "intermediate_size": 4 * hidden} | changes))

    @classmethod
    def read(cls, path: Path) -> "BertConfig":
        """Read config.json, ignoring the fields that do not change what is computed."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CheckpointProblem(f"{path} is not readable as JSON ({error}).") from None
        if not isinstance(found, dict):
            raise CheckpointProblem(f"{path} holds no JSON object.")
        kind = found.get("model_type", "bert")
        if kind != "bert":
            raise CheckpointProblem(f"{path} describes a {kind} model; only BERT can be loaded here.")
        if found.get("is_decoder"):
            raise CheckpointProblem(f"{path} describes a decoder; only BERT encoders can be loaded here.")
        known = {field.name for field in fields(cls)}
        try:
            return cls(**{name: value for name, value in found.items() if name in known})
        except CheckpointProblem as problem:
            raise CheckpointProblem(f"{path}: {problem}") from None

    def write(self, path: Path, **extra) -> None:
        """Write config.json as `transformers` reads it; a fixed table of positions is stored like a learned one."""
        described = {"architectures": ["BertForPreTraining"], "model_type": "bert"} | asdict(self) | extra
        path.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Part:
    """One line of the ledger: where a parameter lives, how its count comes about, and the count."""

    group: str
    name: str
    formula: str
    count: int


def ledger(config: BertConfig, mlm: bool = True, nsp: bool = True) -> list[Part]:
    """Every parameter of a BERT once; the tied decoder matrix is counted with the token embeddings."""
    v, h, p, s = config.vocab_size, config.hidden_size, config.max_position_embeddings, config.type_vocab_size
    f, layers = config.intermediate_size, config.num_hidden_layers
    linear = f"{h:,} × {h:,} + {h:,}"
    norm = f"2 × {h:,}"
    parts = [
        Part("embeddings", "tokens", f"{v:,} × {h:,}", v * h),
        Part("embeddings", "segments", f"{s:,} × {h:,}", s * h),
    ]
    if config.position_embedding_type == "absolute":
        parts.append(Part("embeddings", "positions", f"{p:,} × {h:,}", p * h))
    else:
        parts.append(Part("embeddings", "positions", "fixed sines, nothing to learn", 0))
    parts.append(Part("embeddings", "normalisation", norm, 2 * h))
    for layer in range(1, layers + 1):
        group = f"layer {layer}"
        parts += [Part(group, name, linear, h * h + h) for name in ("query", "key", "value", "heads joined")]
        parts += [
            Part(group, "attention normalisation", norm, 2 * h),
            Part(group, "feed-forward up", f"{h:,} × {f:,} + {f:,}", h * f + f),
            Part(group, "feed-forward down", f"{f:,} × {h:,} + {h:,}", f * h + h),
            Part(group, "feed-forward normalisation", norm, 2 * h),
        ]
    if nsp:
        parts += [Part("next-sentence head", "pooler", linear, h * h + h),
                  Part("next-sentence head", "IsNext or NotNext", f"{h:,} × 2 + 2", 2 * h + 2)]
    if mlm:
        parts += [Part("masked-word head", "transform", linear, h * h + h),
                  Part("masked-word head", "normalisation", norm, 2 * h),
                  Part("masked-word head", "bias of each word", f"{v:,}", v)]
    return parts
