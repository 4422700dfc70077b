"""Everything that decides what a pre-training run ends with, in one value that can be written down."""

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import torch

from ..config import BertConfig
from ..errors import InputProblem
from ..interventions import Edits
from .masking import Mix
from .sentence_pairs import NEGATIVES

WARM_STEPS = 50
PRECISIONS = "float32", "bfloat16"
SCHEDULES = "linear", "constant"


def quickest() -> str:
    """The precision in which this machine multiplies soonest; always the same answer on the same machine."""
    if torch.cuda.is_available():
        has = torch.cuda.is_bf16_supported()
    else:
        has = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return "bfloat16" if has else "float32"


@dataclass(frozen=True)
class Recipe:
    """The settings of a run; on one machine, the same recipe with `steps` and the same texts give the same weights.

    preset, config   size of a new model: a published size, and any fields of BertConfig changed
    vocabulary       wordpieces to learn from the texts; or `tokenizer`: the checkpoint whose vocabulary to use
    quick            begin a new model as `model.pretraining.initialisation` does, so that a small one learns sooner
    init             a checkpoint to go on from instead of a new model; heads that it lacks are added
    mix, negatives   how words are masked, and where the second half of a NotNext pair comes from: another, same
    sight            both, or left or right: what each position may look at in every layer, while learning
    length, batch    wordpieces of a pair at most; pairs of a step, over all processes together
    singles          share of the steps that read single inputs of one to three sentences instead, without NSP
    weights          of several corpora: how often each wordpiece of them is read beside the others'; empty for one corpus
    keep_apart       leave out of training what shares eight words in a row with the documents held out
    steps, minutes   how long; one of the two. The learning rate falls with the share of it that is used up
    schedule         after the warm-up: linear, to zero at the end; or constant, and linear to zero in the last
                     `decay_last` of the run only. A constant run can be made longer or shorter when it is resumed
    snapshots        how many checkpoints to keep while the steps grow tenfold, for a replay; 0 for none
    precision        of the products while learning: float32, or bfloat16, about twice as fast where the processor
                     multiplies it; weights, sums, normalisations and losses stay float32
    evaluations      how often the held-out documents are asked, and `held` pairs of them each time
    """

    preset: str = "mini"
    config: dict = field(default_factory=dict)
    vocabulary: int = 8000
    tokenizer: str | None = None
    quick: bool = False
    init: str | None = None
    mix: Mix = field(default_factory=Mix)
    negatives: str = "another"
    sight: str = "both"
    length: int = 128
    batch: int = 32
    singles: float = 0.0
    weights: tuple[float, ...] = ()
    keep_apart: bool = False
    steps: int | None = None
    minutes: float | None = None
    rate: float = 5e-4
    warmup: float = 0.03
    schedule: str = "linear"
    decay_last: float = 0.2
    decay: float = 0.01
    clip: float = 1.0
    dropout: float = 0.0
    seed: int = 0
    threads: int | None = None
    precision: str = "float32"
    snapshots: int = 0
    hold_out: int = 60
    evaluations: int = 20
    held: int = 512

    def __post_init__(self):
        if isinstance(self.mix, dict):
            object.__setattr__(self, "mix", Mix(**self.mix))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if (self.steps is None) == (self.minutes is None):
            raise InputProblem("Say how long to train: either a number of steps or a number of minutes.")
        if (self.steps or self.minutes or 0) <= 0 or self.batch < 1 or self.hold_out < 2:
            raise InputProblem("Steps, minutes and the batch must be more than 0, and 1 document in 2 is held out at "
                               "most.")
        if self.negatives not in NEGATIVES:
            raise InputProblem(f"Negatives come from {' or '.join(NEGATIVES)}, not {self.negatives!r}.")
        if self.precision not in PRECISIONS:
            raise InputProblem(f"The precision is {' or '.join(PRECISIONS)}, not {self.precision!r}.")
        if not (0 < self.rate < 1 and 0 <= self.warmup < 1 and 0 <= self.dropout < 1):
            raise InputProblem("The learning rate, warm-up and dropout are shares between 0 and 1.")
        if not (0 <= self.singles <= 1 and 0 <= self.decay_last <= 1):
            raise InputProblem("The shares of single inputs and of the decay at the end are 0 to 100 %.")
        if any(not 0 < weight < 1e6 for weight in self.weights):
            raise InputProblem("The weight of a corpus is a number above 0, such as 3 in texts/:3.")
        if self.schedule not in SCHEDULES:
            raise InputProblem(f"The schedule is {' or '.join(SCHEDULES)}, not {self.schedule!r}.")
        Edits(sight=self.sight)  # which says so when there is no such sight
        if not self.init:
            self.shape(max(self.vocabulary, 8))

    def shape(self, vocabulary: int) -> BertConfig:
        """The configuration of a new model over a vocabulary."""
        fixed = {"vocab_size": vocabulary, "hidden_dropout_prob": self.dropout,
                 "attention_probs_dropout_prob": self.dropout, "max_position_embeddings": max(512, self.length)}
        return BertConfig.preset(self.preset, **(fixed | self.config))

    def done(self, step: float, elapsed: float) -> float:
        """The share of the run that is over, 0 to 1, after `step` steps and `elapsed` seconds."""
        share = step / self.steps if self.steps else elapsed / (60 * (self.minutes or 1))
        return min(1.0, share)

    def learning_rate(self, step: int, elapsed: float) -> float:
        """Linear warm-up, then as the schedule says; in the middle of the step, so that none is for nothing."""
        done = self.done(step + 0.5, elapsed)
        if self.schedule == "constant":  # the warm-up is counted in steps, so that a longer run begins alike
            falling = (1 - done) / self.decay_last if self.decay_last else 1.0
            return self.rate * min(1.0, (step + 0.5) / WARM_STEPS, falling)
        rising = done / self.warmup if self.warmup else 1.0
        if self.minutes:  # a slow machine takes few steps in the time, and needs them
            rising = min(rising, (step + 0.5) / WARM_STEPS)
        return self.rate * min(1.0, rising, (1 - done) / (1 - self.warmup))

    def decays(self, step: int, elapsed: float) -> bool:
        """Whether a run of constant rate has come to its decay."""
        return self.schedule == "constant" and self.done(step + 0.5, elapsed) > 1 - self.decay_last

    def prolonged(self, other: "Recipe") -> "Recipe | None":
        """This recipe for as long as the other says, where they differ in nothing else and the rate is constant."""
        longer = replace(self, steps=other.steps, minutes=other.minutes, decay_last=other.decay_last)
        return longer if self.schedule == "constant" and longer == other else None

    def snapshot_due(self, step: int) -> bool:
        """Whether a snapshot belongs to this step: 0, then evenly spaced on a logarithmic scale."""
        if not self.snapshots:
            return False
        return step == 0 or step in {round(10 ** (n / self.snapshots)) for n in range(10 * self.snapshots)}

    def write(self, path: Path, **extra) -> None:
        path.write_text(json.dumps(asdict(self) | extra, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{name: found[name] for name in (field.name for field in fields(cls)) if name in found})
