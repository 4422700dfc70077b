"""The configuration of a BERT, the published sizes, and the count of every parameter."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .errors import CheckpointError

POSITIONS = ("absolute", "sinusoidal")
HIDDEN_ACTS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")

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
        sizes = (
            "vocab_size",
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
            "max_position_embeddings",
            "type_vocab_size",
        )
        for name in sizes:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise CheckpointError(f"{name} must be a positive whole number, not {value!r}.")
        if self.hidden_size % self.num_attention_heads:
            raise CheckpointError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads {self.num_attention_heads}."
            )
        if self.hidden_act not in HIDDEN_ACTS:
            raise CheckpointError(f"hidden_act {self.hidden_act!r} is not one of {', '.join(HIDDEN_ACTS)}.")
        if self.position_embedding_type not in POSITIONS:
            raise CheckpointError(
                f"position_embedding_type {self.position_embedding_type!r} is not one of {', '.join(POSITIONS)}."
            )

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
            raise CheckpointError(f"There is no size {name!r}; there are {', '.join(SIZES)}.")
        layers, hidden, heads = SIZES[name]
        sizes: dict[str, Any] = {
            "num_hidden_layers": layers,
            "hidden_size": hidden,
            "num_attention_heads": heads,
            "intermediate_size": 4 * hidden,
        }
        return cls(**sizes | changes)

    @classmethod
    def read(cls, path: Path) -> "BertConfig":
        """Read config.json; fields that do not change what is computed are ignored."""
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CheckpointError(f"{path} is not readable as JSON ({error}).") from None
        if not isinstance(config, dict):
            raise CheckpointError(f"{path} holds no JSON object.")
        model_type = config.get("model_type", "bert")
        if model_type != "bert":
            raise CheckpointError(f"{path} describes a {model_type} model; only BERT can be loaded.")
        if config.get("is_decoder"):
            raise CheckpointError(f"{path} describes a decoder; only BERT encoders can be loaded.")
        known = {field.name for field in fields(cls)}
        try:
            return cls(**{name: value for name, value in config.items() if name in known})
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None

    def write(self, path: Path, **extra) -> None:
        """Write config.json as `transformers` reads it; sinusoidal positions are stored like learned ones."""
        config = {"architectures": ["BertForPreTraining"], "model_type": "bert"} | asdict(self) | extra
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class ParameterCount:
    """A parameter or group of them: its module, how its count is computed, and the count."""

    group: str
    name: str
    formula: str
    count: int


def parameter_counts(config: BertConfig, mlm: bool = True, nsp: bool = True) -> list[ParameterCount]:
    """Every parameter of a BERT once; the tied decoder matrix counts as the token embeddings."""
    v, h, p, s = config.vocab_size, config.hidden_size, config.max_position_embeddings, config.type_vocab_size
    f, layers = config.intermediate_size, config.num_hidden_layers
    linear = f"{h:,} × {h:,} + {h:,}"
    norm = f"2 × {h:,}"
    parts = [
        ParameterCount("embeddings", "tokens", f"{v:,} × {h:,}", v * h),
        ParameterCount("embeddings", "segments", f"{s:,} × {h:,}", s * h),
    ]
    if config.position_embedding_type == "absolute":
        parts.append(ParameterCount("embeddings", "positions", f"{p:,} × {h:,}", p * h))
    else:
        parts.append(ParameterCount("embeddings", "positions", "fixed sines, nothing to learn", 0))
    parts.append(ParameterCount("embeddings", "normalisation", norm, 2 * h))
    for layer in range(1, layers + 1):
        group = f"layer {layer}"
        parts += [ParameterCount(group, name, linear, h * h + h) for name in ("query", "key", "value", "heads joined")]
        parts += [
            ParameterCount(group, "attention normalisation", norm, 2 * h),
            ParameterCount(group, "feed-forward up", f"{h:,} × {f:,} + {f:,}", h * f + f),
            ParameterCount(group, "feed-forward down", f"{f:,} × {h:,} + {h:,}", f * h + h),
            ParameterCount(group, "feed-forward normalisation", norm, 2 * h),
        ]
    if nsp:
        parts += [
            ParameterCount("next-sentence head", "pooler", linear, h * h + h),
            ParameterCount("next-sentence head", "IsNext or NotNext", f"{h:,} × 2 + 2", 2 * h + 2),
        ]
    if mlm:
        parts += [
            ParameterCount("masked-word head", "transform", linear, h * h + h),
            ParameterCount("masked-word head", "normalisation", norm, 2 * h),
            ParameterCount("masked-word head", "bias of each word", f"{v:,}", v),
        ]
    return parts
