"""BERT, the whole of it: embeddings, attention, layer, encoder, masked-word head, next-sentence head.

Devlin et al. (2019); Vaswani et al. (2017) for the layer. Axes are always named, in this order:
batch, heads, query, key, hidden.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import kernels
from .config import BertConfig
from .errors import InputProblem, MissingHead
from .interventions import Compiled, Edits, compiled
from .tokenizer import Encoding, WordPiece

if TYPE_CHECKING:
    from .trace import Trace

# Called with the name of an activation, its layer and its value. The names:
#   token, segment, position      the three embeddings                       (batch, seq, hidden)
#   hidden                        hidden[0] is the normalised sum of the three, hidden[l] the output of layer l
#   query, key, value             of each head                               (batch, heads, seq, head_size)
#   scores, attention             before and after the softmax               (batch, heads, query, key)
#   mixed                         values mixed by attention, each head       (batch, heads, query, head_size)
#   attended, neurons, written    what attention adds to the state; feed-forward activations; what they add
# Every layer counts from 0, except in hidden.
Watch = Callable[[str, int, Tensor], None]


def _unwatched(name: str, layer: int, value: Tensor) -> None:
    pass


ACTIVATION = {"gelu": F.gelu, "relu": F.relu,
              "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
              "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate="tanh")}


class Linear(nn.Linear):
    """A linear map whose numbers come from a checkpoint or from `Bert.random`, never from a default."""

    def reset_parameters(self):
        pass

    def forward(self, x: Tensor) -> Tensor:
        return kernels.linear(x, self.weight, self.bias)


class Table(nn.Embedding):
    """A row of numbers for each index; where the numbers come from is said as for `Linear`."""

    def reset_parameters(self):
        pass


@dataclass(frozen=True)
class Batch:
    """Inputs padded to one length: ids, segments and a mask that is False on padding, each (batch, seq)."""

    ids: Tensor
    segments: Tensor
    mask: Tensor

    @cached_property
    def bias(self) -> Tensor | None:
        """What is added to scores so that nobody looks at padding, (batch, 1, 1, key); None where there is none."""
        if self.mask.all():
            return None
        return torch.zeros_like(self.mask, dtype=torch.float32).masked_fill(~self.mask, -torch.inf)[:, None, None, :]

    @classmethod
    def of(cls, inputs: "Encoding | Sequence[Encoding] | Batch", pad: int = 0,
           device: torch.device | None = None) -> "Batch":
        """Encodings as tensors on a device; a batch that is there already stays as it is."""
        if isinstance(inputs, Batch):
            if device is None or inputs.ids.device == device:
                return inputs
            return cls(inputs.ids.to(device), inputs.segments.to(device), inputs.mask.to(device))
        encodings = [inputs] if isinstance(inputs, Encoding) else list(inputs)
        length = max(len(encoding) for encoding in encodings)
        fill = [length - len(encoding) for encoding in encodings]
        return cls(
            torch.tensor([e.ids + [pad] * n for e, n in zip(encodings, fill, strict=True)], device=device),
            torch.tensor([e.segments + [0] * n for e, n in zip(encodings, fill, strict=True)], device=device),
            torch.tensor([[True] * len(e) + [False] * n for e, n in zip(encodings, fill, strict=True)], device=device))


class Embeddings(nn.Module):
    """The input of BERT: the sum of what a token is, which segment it is in and where it stands."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.token = Table(config.vocab_size, config.hidden_size)
        self.segment = Table(config.type_vocab_size, config.hidden_size)
        self.position = Table(config.max_position_embeddings, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, ids: Tensor, segments: Tensor, watch: Watch) -> Tensor:
        token, segment = self.token(ids), self.segment(segments)  # (batch, seq, hidden)
        position = self.position.weight[: ids.shape[1]].expand_as(token)
        for name, part in (("token", token), ("segment", segment), ("position", position)):
            watch(name, 0, part)
        return self.dropout(self.norm(token + segment + position))


class Attention(nn.Module):
    """Every position asks, with a query, all positions, by their keys, for a mix of their values."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        self.query = Linear(config.hidden_size, config.hidden_size)
        self.key = Linear(config.hidden_size, config.hidden_size)
        self.value = Linear(config.hidden_size, config.hidden_size)
        self.join = Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, self.head_size).transpose(1, 2)  # (batch, heads, seq, head_size)

    def asked(self, x: Tensor) -> list[Tensor]:
        """Query, key and value of every head; one product for the three in training, where copying weights costs little."""
        maps = (self.query, self.key, self.value)
        if not self.training:
            return [self.split(each(x)) for each in maps]
        together = F.linear(x, torch.cat([each.weight for each in maps]), torch.cat([each.bias for each in maps]))
        return [self.split(part) for part in together.chunk(3, dim=-1)]

    def forward(self, x: Tensor, bias: Tensor | None, gates: Tensor | None, layer: int, watch: Watch) -> Tensor:
        """What attention adds to every state, (batch, query, hidden)."""
        return self.join(self.mixed(x, bias, gates, layer, watch))

    def mixed(self, x: Tensor, bias: Tensor | None, gates: Tensor | None, layer: int, watch: Watch) -> Tensor:
        """The values mixed by attention, the heads side by side, (batch, query, hidden)."""
        query, key, value = self.asked(x)
        if watch is _unwatched and gates is None and not torch.is_autocast_enabled("cpu"):
            # the same mix by torch's kernel, faster in training; nobody asked for the tables in between.
            # Its backward pass in bfloat16 is slow on a processor: there the products below take half its time
            dropped = self.dropout.p if self.training else 0.0
            return F.scaled_dot_product_attention(query, key, value, bias, dropped).transpose(1, 2).flatten(2)
        scores = (query / math.sqrt(self.head_size)) @ key.transpose(-1, -2)  # (batch, heads, query, key)
        attention = torch.softmax(scores if bias is None else scores + bias, dim=-1)
        mixed = self.dropout(attention) @ value  # (batch, heads, query, head_size)
        if gates is not None:
            mixed = mixed * gates[:, :, None, None]
        for name, part in (("query", query), ("key", key), ("value", value),
                           ("scores", scores), ("attention", attention), ("mixed", mixed)):
            watch(name, layer, part)
        return mixed.transpose(1, 2).flatten(2)


class Layer(nn.Module):
    """Attention, then a feed-forward network at each position; each added to its input and normalised after."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.attention = Attention(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.up = Linear(config.hidden_size, config.intermediate_size)
        self.down = Linear(config.intermediate_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.activation = ACTIVATION[config.hidden_act]
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, bias: Tensor | None, gates: Tensor | None, layer: int, watch: Watch) -> Tensor:
        return self.finished(x, self.attention(x, bias, gates, layer, watch), layer, watch)

    def finished(self, x: Tensor, attended: Tensor, layer: int, watch: Watch) -> Tensor:
        """The rest of the layer, which looks at each state alone: any selection of states, (..., hidden)."""
        x = self.attention_norm(x + self.dropout(attended))
        neurons = self.activation(self.up(x))  # (batch, seq, intermediate)
        written = self.down(neurons)
        for name, part in (("attended", attended), ("neurons", neurons), ("written", written)):
            watch(name, layer, part)
        return self.norm(x + self.dropout(written))


class MaskedWordHead(nn.Module):
    """A state -> a score for every word of the vocabulary, by the tied embedding matrix."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.dense = Linear(config.hidden_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.activation = ACTIVATION[config.hidden_act]

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        return kernels.vocabulary_logits(self.norm(self.activation(self.dense(states))), words, self.bias)


class NextSentenceHead(nn.Module):
    """The state of [CLS] -> two scores: output 0 is IsNext, output 1 is NotNext."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.pooler = Linear(config.hidden_size, config.hidden_size)
        self.classifier = Linear(config.hidden_size, 2)

    def forward(self, first: Tensor) -> Tensor:
        return self.classifier(torch.tanh(self.pooler(first)))


class Bert(nn.Module):
    """A bidirectional encoder with the two heads it was pre-trained with, or those of them it has."""

    def __init__(self, config: BertConfig, tokenizer: WordPiece, mlm: bool = True, nsp: bool = True):
        super().__init__()
        if tokenizer.size > config.vocab_size:
            raise InputProblem(f"The tokenizer has {tokenizer.size:,} pieces, the model only {config.vocab_size:,}.")
        self.config, self.tokenizer = config, tokenizer.limited(config.max_position_embeddings)
        self.about = About()
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.mlm = MaskedWordHead(config) if mlm else None
        self.nsp = NextSentenceHead(config) if nsp else None
        if config.position_embedding_type == "sinusoidal":
            self.embeddings.position.weight.data.copy_(sinusoids(config.max_position_embeddings, config.hidden_size))
            self.embeddings.position.weight.requires_grad_(False)

    @classmethod
    def random(cls, config: BertConfig, tokenizer: WordPiece, seed: int = 0, mlm: bool = True,
               nsp: bool = True) -> "Bert":
        """A BERT before it learned anything: normal weights cut at two deviations, zero biases."""
        bert = cls(config, tokenizer, mlm, nsp)
        bert.initialise(torch.Generator().manual_seed(seed))
        return bert.eval()

    def initialise(self, generator: torch.Generator) -> None:
        """Draw every weight anew; the fixed table of sinusoidal positions stays."""
        spread = self.config.initializer_range
        for module in self.modules():
            if module is self.embeddings.position and self.config.position_embedding_type == "sinusoidal":
                continue
            if isinstance(module, (Linear, Table)):
                nn.init.trunc_normal_(module.weight, 0.0, spread, -2 * spread, 2 * spread, generator=generator)
            if isinstance(module, Linear):
                nn.init.zeros_(module.bias)

    def twin(self, seed: int = 0) -> "Bert":
        """The same architecture and tokenizer with random weights: the baseline of every probe."""
        twin = Bert.random(self.config, self.tokenizer, seed, self.mlm is not None, self.nsp is not None)
        twin.about = About(name=f"{self.about.name}, random weights",
                           card="The same architecture before any training: every weight is random.",
                           fingerprint=f"{self.about.fingerprint} random {seed}")
        return twin.requires_grad_(False)

    def forward(self, inputs: Encoding | Sequence[Encoding] | Batch, edits: Edits | Sequence[Edits] | None = None,
                watch: Watch = _unwatched) -> Tensor:
        """The state of every token after the last layer, (batch, seq, hidden); `watch` is shown the rest."""
        batch, change = self._asked(inputs, edits)
        return self._through(self.layers, batch, change, watch)

    def at(self, rows: Tensor, positions: Tensor, inputs: Encoding | Sequence[Encoding] | Batch,
           edits: Edits | Sequence[Edits] | None = None) -> Tensor:
        """The states after the last layer at some places only, by row and position: (places,) -> (places, hidden).

        The same states as `forward` gives, sooner: the last layer finishes these places and no others.
        """
        batch, change = self._asked(inputs, edits)
        if len(self.layers) in change.patches:
            raise ValueError("the states after the last layer are patched in `forward` only")
        *before, last = self.layers
        x = self._through(before, batch, change, _unwatched)
        mixed = last.attention.mixed(x, *self._seen(batch, change, len(before)), len(before), _unwatched)
        attended = last.attention.join(mixed[rows, positions])
        return last.finished(x[rows, positions], attended, len(before), _unwatched)

    def _asked(self, inputs: Encoding | Sequence[Encoding] | Batch, edits: Edits | Sequence[Edits] | None
               ) -> tuple[Batch, Compiled]:
        batch = Batch.of(inputs, self.config.pad_token_id, self.embeddings.token.weight.device)
        if batch.ids.shape[1] > self.config.max_position_embeddings:
            raise InputProblem(f"This model reads at most {self.config.max_position_embeddings} wordpieces at once.")
        return batch, compiled(edits, self.config, batch.mask)

    def _through(self, layers: Iterable[nn.Module], batch: Batch, change: Compiled, watch: Watch) -> Tensor:
        x = _patched(self.embeddings(batch.ids, batch.segments, watch), 0, change, watch)
        for index, layer in enumerate(layers):
            x = _patched(layer(x, *self._seen(batch, change, index), index, watch), index + 1, change, watch)
        return x

    def _seen(self, batch: Batch, change: Compiled, layer: int) -> tuple[Tensor | None, Tensor | None]:
        """What is added to the scores of a layer, -inf where nobody may look, and the gates of its heads."""
        gates = None if change.gates is None else change.gates[:, layer]
        padding, closed = batch.bias, change.bias.get(layer)
        return closed if padding is None else padding if closed is None else padding + closed, gates

    def words(self, states: Tensor) -> Tensor:
        """Scores of every word at the given states: (..., hidden) -> (..., vocabulary)."""
        return self.need_mlm()(states, self.embeddings.token.weight)

    def follows(self, states: Tensor) -> Tensor:
        """Scores of IsNext and NotNext from the states of a sequence: (batch, seq, hidden) -> (batch, 2)."""
        return self.need_nsp()(states[:, 0])

    def need_mlm(self) -> MaskedWordHead:
        if self.mlm is None:
            raise MissingHead(f"{self.about.name} has no masked-word head, so it cannot predict words.")
        return self.mlm

    def need_nsp(self) -> NextSentenceHead:
        if self.nsp is None:
            raise MissingHead(f"{self.about.name} has no next-sentence head, so it cannot judge pairs.")
        return self.nsp

    def trace(self, a: str, b: str | None = None, edits: Edits | None = None) -> "Trace":
        """One text or pair through the model: everything it computed, as arrays."""
        from .trace import trace
        return trace(self, self.tokenizer.encode(a, b), edits)

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint folder that `model.load` and `transformers` read."""
        from .checkpoint import save
        return save(self, Path(folder))


@dataclass(frozen=True)
class About:
    """Where a model comes from: its name, its card, and what was noticed while loading it."""

    name: str = "This model"
    card: str = ""
    notes: tuple[str, ...] = field(default=())
    fingerprint: str = field(default_factory=lambda: uuid4().hex)  # of its weights: equal for equal files, else its own


def _patched(x: Tensor, layer: int, change: Compiled, watch: Watch) -> Tensor:
    if layer in change.patches:
        x = x.clone()
        for row, position, vector in change.patches[layer]:
            x[row, position] = vector
    watch("hidden", layer, x)
    return x


def sinusoids(positions: int, hidden: int) -> Tensor:
    """Sines and cosines of falling frequency, (positions, hidden). Vaswani et al. (2017), 3.5."""
    place = torch.arange(positions)[:, None]
    rate = torch.exp(torch.arange(0, hidden, 2) * (-math.log(10000.0) / hidden))
    table = torch.zeros(positions, hidden)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate[: hidden // 2])
    return table
