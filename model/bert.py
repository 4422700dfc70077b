"""BERT, the whole of it: embeddings, attention, layer, encoder, masked-word head, next-sentence head.

Devlin et al. (2019); Vaswani et al. (2017) for the layer. Axes are always named, in this order:
batch, heads, query, key, hidden.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import kernels
from .config import BertConfig
from .errors import InputError, MissingHeadError
from .interventions import CompiledEdits, Edits, compile_edits
from .short_repr import ShortRepr
from .tokenizer import Encoding, WordPiece

if TYPE_CHECKING:
    from .trace import Trace

# The activations of a forward pass. `record(layer, **values)` is called with those of one module at a time:
#   token_embedding, segment_embedding, position_embedding                       (batch, seq, hidden), layer 0 only
#   hidden                 [0] is the normalised sum of the three, [l] the output of the l-th layer: (batch, seq, hidden)
#   query, key, value      of each head                                          (batch, heads, seq, head_size)
#   scores, attention      before and after the softmax                          (batch, heads, query, key)
#   context                attention-weighted values, gated, of each head        (batch, heads, query, head_size)
#   attention_output       what self-attention adds to the residual stream       (batch, seq, hidden)
#   neurons                feed-forward units after the activation function      (batch, seq, intermediate)
#   mlp_output             what the feed-forward network adds                    (batch, seq, hidden)
# Layers count from 0; `hidden` has one more.
ACTIVATIONS = (
    "token_embedding",
    "segment_embedding",
    "position_embedding",
    "hidden",
    "query",
    "key",
    "value",
    "scores",
    "attention",
    "context",
    "attention_output",
    "neurons",
    "mlp_output",
)
Record = Callable[..., None]

NONLINEARITIES = {
    "gelu": F.gelu,
    "relu": F.relu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


class Linear(nn.Linear):
    """`nn.Linear` without an initialisation of its own: weights come from a checkpoint or from `Bert.random_init`."""

    def reset_parameters(self):
        pass

    def forward(self, input: Tensor) -> Tensor:
        return kernels.linear(input, self.weight, self.bias)


class EmbeddingTable(nn.Embedding):
    """`nn.Embedding` without an initialisation of its own, as `Linear`."""

    def reset_parameters(self):
        pass


@dataclass(frozen=True, repr=False)
class Batch(ShortRepr):
    """Inputs padded to one length: ids, segments and an attention mask that is False on padding, each (batch, seq)."""

    ids: Tensor
    segments: Tensor
    attention_mask: Tensor

    @cached_property
    def padding_bias(self) -> Tensor | None:
        """Added to the scores, -inf on padding: (batch, 1, 1, key); None where no input is padded."""
        if self.attention_mask.all():
            return None
        bias = torch.zeros_like(self.attention_mask, dtype=torch.float32).masked_fill(~self.attention_mask, -torch.inf)
        return bias[:, None, None, :]

    @classmethod
    def collate(
        cls, inputs: "Encoding | Sequence[Encoding] | Batch", pad: int = 0, device: torch.device | None = None
    ) -> "Batch":
        """Pad encodings to one length, on a device; a batch that is already there is returned as it is."""
        if isinstance(inputs, Batch):
            if device is None or inputs.ids.device == device:
                return inputs
            return cls(inputs.ids.to(device), inputs.segments.to(device), inputs.attention_mask.to(device))
        encodings = [inputs] if isinstance(inputs, Encoding) else list(inputs)
        length = max(len(encoding) for encoding in encodings)
        padding = [length - len(encoding) for encoding in encodings]
        return cls(
            torch.tensor([e.ids + [pad] * n for e, n in zip(encodings, padding, strict=True)], device=device),
            torch.tensor([e.segments + [0] * n for e, n in zip(encodings, padding, strict=True)], device=device),
            torch.tensor([[True] * len(e) + [False] * n for e, n in zip(encodings, padding, strict=True)], device=device),
        )


class Embeddings(nn.Module):
    """The sum of token, segment and position embedding, normalised. Devlin et al. (2019), figure 2."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.token = EmbeddingTable(config.vocab_size, config.hidden_size)
        self.segment = EmbeddingTable(config.type_vocab_size, config.hidden_size)
        self.position = EmbeddingTable(config.max_position_embeddings, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, ids: Tensor, segments: Tensor, record: Record | None = None) -> Tensor:
        token, segment = self.token(ids), self.segment(segments)  # (batch, seq, hidden)
        position = self.position.weight[: ids.shape[1]].expand_as(token)
        if record is not None:
            record(token_embedding=token, segment_embedding=segment, position_embedding=position)
        return self.dropout(self.norm(token + segment + position))


class SelfAttention(nn.Module):
    """Scaled dot-product attention of several heads: (batch, seq, hidden) -> same. Vaswani et al. (2017), 3.2."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        self.query = Linear(config.hidden_size, config.hidden_size)
        self.key = Linear(config.hidden_size, config.hidden_size)
        self.value = Linear(config.hidden_size, config.hidden_size)
        self.output = Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def split_heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, self.head_size).transpose(1, 2)  # (batch, heads, seq, head_size)

    def project_qkv(self, x: Tensor) -> list[Tensor]:
        """Query, key and value of every head: (batch, heads, seq, head_size) each."""
        projections = (self.query, self.key, self.value)
        if not self.training:
            return [self.split_heads(projection(x)) for projection in projections]
        # one product for the three: in training, copying the weights costs less than two more products
        weight = torch.cat([projection.weight for projection in projections])
        bias = torch.cat([projection.bias for projection in projections])
        return [self.split_heads(part) for part in F.linear(x, weight, bias).chunk(3, dim=-1)]

    def forward(
        self, x: Tensor, bias: Tensor | None = None, gates: Tensor | None = None, record: Record | None = None
    ) -> Tensor:
        """What attention adds to the residual stream: (batch, seq, hidden) -> (batch, query, hidden)."""
        return self.output(self.context(x, bias, gates, record))

    def context(self, x: Tensor, bias: Tensor | None, gates: Tensor | None, record: Record | None) -> Tensor:
        """Attention-weighted values, the heads side by side: (batch, seq, hidden) -> (batch, query, hidden)."""
        query, key, value = self.project_qkv(x)
        if record is None and gates is None and not torch.is_autocast_enabled("cpu"):
            # the fused kernel, where nobody needs the tables; its bfloat16 backward pass is slower than the products below
            dropout = self.dropout.p if self.training else 0.0
            return F.scaled_dot_product_attention(query, key, value, bias, dropout).transpose(1, 2).flatten(2)
        scores = (query / math.sqrt(self.head_size)) @ key.transpose(-1, -2)  # (batch, heads, query, key)
        attention = torch.softmax(scores if bias is None else scores + bias, dim=-1)
        context = self.dropout(attention) @ value  # (batch, heads, query, head_size)
        if gates is not None:
            context = context * gates[:, :, None, None]  # (batch, heads); 0 switches a head off
        if record is not None:
            record(query=query, key=key, value=value, scores=scores, attention=attention, context=context)
        return context.transpose(1, 2).flatten(2)


class Layer(nn.Module):
    """Self-attention, then a feed-forward network, each added to its input and normalised after (post-norm)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.up = Linear(config.hidden_size, config.intermediate_size)
        self.down = Linear(config.intermediate_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.activation = NONLINEARITIES[config.hidden_act]
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, x: Tensor, bias: Tensor | None = None, gates: Tensor | None = None, record: Record | None = None
    ) -> Tensor:
        return self.after_attention(x, self.attention(x, bias, gates, record), record)

    def after_attention(self, x: Tensor, attention_output: Tensor, record: Record | None = None) -> Tensor:
        """Add & norm, feed-forward, add & norm; each position alone, so any selection of them: (..., hidden)."""
        x = self.attention_norm(x + self.dropout(attention_output))
        neurons = self.activation(self.up(x))  # (..., intermediate)
        mlp_output = self.down(neurons)
        if record is not None:
            record(attention_output=attention_output, neurons=neurons, mlp_output=mlp_output)
        return self.norm(x + self.dropout(mlp_output))


class MLMHead(nn.Module):
    """Logits over the vocabulary by the tied embedding matrix: (..., hidden) -> (..., vocabulary)."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.dense = Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.activation = NONLINEARITIES[config.hidden_act]

    def forward(self, states: Tensor, embeddings: Tensor) -> Tensor:
        return kernels.vocabulary_logits(self.norm(self.activation(self.dense(states))), embeddings, self.bias)


class NSPHead(nn.Module):
    """Logits of the pooled [CLS], (batch, hidden) -> (batch, 2): output 0 is IsNext, output 1 is NotNext."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.pooler = Linear(config.hidden_size, config.hidden_size)
        self.classifier = Linear(config.hidden_size, 2)

    def forward(self, cls_state: Tensor) -> Tensor:
        return self.classifier(torch.tanh(self.pooler(cls_state)))


class Bert(nn.Module):
    """The encoder with the masked-word and the next-sentence head, or those of them its checkpoint has."""

    def __init__(self, config: BertConfig, tokenizer: WordPiece, mlm: bool = True, nsp: bool = True):
        super().__init__()
        if tokenizer.vocab_size > config.vocab_size:
            raise InputError(f"The tokenizer has {tokenizer.vocab_size:,} wordpieces, the model only {config.vocab_size:,}.")
        self.config, self.tokenizer = config, tokenizer.with_max_length(config.max_position_embeddings)
        self.info = ModelInfo()
        self.embeddings = Embeddings(config)
        layers: Any = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.layers: Sequence[Layer] = layers  # a module list does not know the type of its members
        self.mlm = MLMHead(config) if mlm else None
        self.nsp = NSPHead(config) if nsp else None
        if config.position_embedding_type == "sinusoidal":
            self.embeddings.position.weight.data.copy_(sinusoids(config.max_position_embeddings, config.hidden_size))
            self.embeddings.position.weight.requires_grad_(False)

    @classmethod
    def random_init(
        cls, config: BertConfig, tokenizer: WordPiece, seed: int = 0, mlm: bool = True, nsp: bool = True
    ) -> "Bert":
        """An untrained BERT: normal weights truncated at two standard deviations, biases of zero."""
        bert = cls(config, tokenizer, mlm, nsp)
        bert.init_weights(torch.Generator().manual_seed(seed))
        return bert.eval()

    def init_weights(self, generator: torch.Generator) -> None:
        """Draw every weight from the generator; the fixed table of sinusoidal positions stays."""
        std = self.config.initializer_range
        for module in self.modules():
            if module is self.embeddings.position and self.config.position_embedding_type == "sinusoidal":
                continue
            if isinstance(module, (Linear, EmbeddingTable)):
                nn.init.trunc_normal_(module.weight, 0.0, std, -2 * std, 2 * std, generator=generator)
            if isinstance(module, Linear):
                nn.init.zeros_(module.bias)

    def random_init_copy(self, seed: int = 0) -> "Bert":
        """The same architecture and tokenizer with random weights: the baseline of every probe."""
        copy = Bert.random_init(self.config, self.tokenizer, seed, self.mlm is not None, self.nsp is not None)
        copy.info = ModelInfo(
            name=f"{self.info.name}, random weights",
            card="The same architecture before any training: every weight is random.",
            fingerprint=f"{self.info.fingerprint} random {seed}",
        )
        return copy.requires_grad_(False).to(self.device)

    @property
    def device(self) -> torch.device:
        """Where the weights are, and so where a batch is computed."""
        return self.embeddings.token.weight.device

    def forward(
        self,
        inputs: Encoding | Sequence[Encoding] | Batch,
        edits: Edits | Sequence[Edits] | None = None,
        record: Record | None = None,
    ) -> Tensor:
        """Hidden states after the last layer, (batch, seq, hidden); `record` gets all ACTIVATIONS on the way."""
        batch, compiled = self._prepare(inputs, edits)
        return self._encode(self.layers, batch, compiled, record)

    def states_at(
        self,
        rows: Tensor,
        positions: Tensor,
        inputs: Encoding | Sequence[Encoding] | Batch,
        edits: Edits | Sequence[Edits] | None = None,
    ) -> Tensor:
        """The states of `forward` at (row, position) pairs only: (places,), (places,) -> (places, hidden).

        Faster, because after its attention the last layer is computed at these places alone.
        """
        batch, compiled = self._prepare(inputs, edits)
        if len(self.layers) in compiled.patches:
            raise ValueError("the states after the last layer are patched in `forward` only")
        *earlier, last = self.layers
        x = self._encode(earlier, batch, compiled, None)
        context = last.attention.context(x, *self._bias_and_gates(batch, compiled, len(earlier)), None)
        return last.after_attention(x[rows, positions], last.attention.output(context[rows, positions]))

    def _prepare(
        self, inputs: Encoding | Sequence[Encoding] | Batch, edits: Edits | Sequence[Edits] | None
    ) -> tuple[Batch, CompiledEdits]:
        batch = Batch.collate(inputs, self.config.pad_token_id, self.device)
        length, limit = batch.ids.shape[1], self.config.max_position_embeddings
        if length > limit:
            raise InputError(f"The input has {length} wordpieces; this model reads at most {limit} at once.")
        return batch, compile_edits(edits, self.config, batch.attention_mask)

    def _encode(self, layers: Iterable[Layer], batch: Batch, compiled: CompiledEdits, record: Record | None) -> Tensor:
        def at(layer: int) -> Record | None:
            return None if record is None else partial(record, layer)

        x = _patch(self.embeddings(batch.ids, batch.segments, at(0)), compiled.patches.get(0), at(0))
        for index, layer in enumerate(layers):
            x = layer(x, *self._bias_and_gates(batch, compiled, index), at(index))
            x = _patch(x, compiled.patches.get(index + 1), at(index + 1))
        return x

    def _bias_and_gates(self, batch: Batch, compiled: CompiledEdits, layer: int) -> tuple[Tensor | None, Tensor | None]:
        """What a layer adds to its scores, -inf where an edge is closed, and the gates of its heads, (batch, heads)."""
        gates = None if compiled.gates is None else compiled.gates[:, layer]
        padding, edges = batch.padding_bias, compiled.bias.get(layer)
        return edges if padding is None else padding if edges is None else padding + edges, gates

    def mlm_logits(self, states: Tensor) -> Tensor:
        """Logits over the vocabulary: (..., hidden) -> (..., vocabulary)."""
        return self.require_mlm()(states, self.embeddings.token.weight)

    def nsp_logits(self, states: Tensor) -> Tensor:
        """Logits of IsNext and NotNext, from the state of [CLS]: (batch, seq, hidden) -> (batch, 2)."""
        return self.require_nsp()(states[:, 0])

    def require_mlm(self) -> MLMHead:
        if self.mlm is None:
            raise MissingHeadError(f"{self.info.name} has no masked-word head, so it cannot predict words.")
        return self.mlm

    def require_nsp(self) -> NSPHead:
        if self.nsp is None:
            raise MissingHeadError(f"{self.info.name} has no next-sentence head, so it cannot judge pairs.")
        return self.nsp

    def trace(self, a: str, b: str | None = None, edits: Edits | None = None) -> "Trace":
        """One forward pass of a text or a pair, as arrays."""
        from .trace import trace

        return trace(self, self.tokenizer.encode(a, b), edits)

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `model.load` and `transformers` read."""
        from .checkpoint import save

        return save(self, Path(folder))


@dataclass(frozen=True)
class ModelInfo:
    """Where a model comes from: its name, its card, and notes about its checkpoint."""

    name: str = "This model"
    card: str = ""
    notes: tuple[str, ...] = field(default=())
    fingerprint: str = field(default_factory=lambda: uuid4().hex)  # of its files; else unique


def _patch(x: Tensor, patches: list[tuple[int, int, Tensor]] | None, record: Record | None) -> Tensor:
    """Hidden states with vectors put in at (row, position)."""
    if patches:
        x = x.clone()
        for row, position, vector in patches:
            x[row, position] = vector
    if record is not None:
        record(hidden=x)
    return x


def sinusoids(positions: int, hidden: int) -> Tensor:
    """Sinusoidal position embeddings, (positions, hidden). Vaswani et al. (2017), 3.5."""
    position = torch.arange(positions)[:, None]
    frequency = torch.exp(torch.arange(0, hidden, 2) * (-math.log(10000.0) / hidden))
    table = torch.zeros(positions, hidden)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency[: hidden // 2])
    return table
