"""Everything that decides what a pre-training run ends with, in one value, and the file that holds it."""

import difflib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from ..config import BertConfig
from ..errors import InputError
from ..interventions import Edits
from .masking import MaskingStrategy
from .sentence_pairs import NEGATIVES

FORMAT = 1  # of training_config.json and of the run folder around it
WARM_STEPS = 50  # of the warm-up at least
PRECISIONS = "float32", "bfloat16"
SCHEDULES = "linear", "constant"


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a run; on one machine, the same config with `steps` and the same texts give the same weights.

    preset, config   size of a new model: a published size, and any fields of BertConfig changed
    vocab_size       wordpieces to learn from the texts; or `tokenizer`: the checkpoint whose vocabulary to use
    mimetic_init     initialise a new model as `model.pretraining.initialisation` does, so that a small one learns sooner
    init             a checkpoint to go on from instead of a new model; heads that it lacks are added
    masking          how words are masked; `negatives`: where B of a NotNext pair comes from, another document or the same
    direction        both, left or right: what each position may attend to in every layer, while learning
    max_length       wordpieces of a pair at most; `batch_size`: pairs of a step, over all processes together
    singles          fraction of the steps that read single inputs of one to three sentences instead, without NSP
    weights          of several corpora: how often each wordpiece of them is read beside the others'; empty for one corpus
    keep_apart       leave out of training what shares eight words in a row with the documents held out
    steps, minutes   how long; one of the two. The learning rate falls with the fraction of it that is used up
    schedule         after the warm-up: linear, to zero at the end; or constant, and linear to zero in the last
                     `decay_last` of the run only. A constant run can be prolonged or shortened when it is resumed
    snapshots        how many checkpoints to write while the steps grow tenfold, for a replay; 0 for none
    precision        of the products while learning: float32, or bfloat16, about twice as fast where the processor
                     multiplies it; weights, sums, normalisations and losses stay float32
    heldout_every    1 document in so many is held out; evaluated `evaluations` times, on `eval_pairs` pairs each time
    """

    preset: str = "mini"
    config: dict = field(default_factory=dict)
    vocab_size: int = 8000
    tokenizer: str | None = None
    mimetic_init: bool = False
    init: str | None = None
    masking: MaskingStrategy = field(default_factory=MaskingStrategy)
    negatives: str = "another"
    direction: str = "both"
    max_length: int = 128
    batch_size: int = 32
    singles: float = 0.0
    weights: tuple[float, ...] = ()
    keep_apart: bool = False
    steps: int | None = None
    minutes: float | None = None
    learning_rate: float = 5e-4
    warmup: float = 0.03
    schedule: str = "linear"
    decay_last: float = 0.2
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    dropout: float = 0.0
    seed: int = 0
    threads: int | None = None
    precision: str = "float32"
    snapshots: int = 0
    heldout_every: int = 60
    evaluations: int = 20
    eval_pairs: int = 512

    def __post_init__(self):
        if isinstance(self.masking, dict):
            object.__setattr__(self, "masking", MaskingStrategy(**self.masking))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if (self.steps is None) == (self.minutes is None):
            raise InputError(
                f"A run needs to know how long: either steps or minutes, not steps {self.steps} and minutes {self.minutes}."
            )
        if (self.steps or self.minutes or 0) <= 0 or self.batch_size < 1 or self.heldout_every < 2:
            raise InputError(
                f"steps {self.steps}, minutes {self.minutes} and batch_size {self.batch_size} must be more than 0, and "
                f"heldout_every {self.heldout_every} at least 2."
            )
        if self.negatives not in NEGATIVES:
            raise InputError(f"Negatives come from {' or '.join(NEGATIVES)}, not {self.negatives!r}.")
        if self.precision not in PRECISIONS:
            raise InputError(f"The precision is {' or '.join(PRECISIONS)}, not {self.precision!r}.")
        if not (0 < self.learning_rate < 1 and 0 <= self.warmup < 1 and 0 <= self.dropout < 1):
            raise InputError(
                f"learning_rate {self.learning_rate:g}, warmup {self.warmup:g} and dropout {self.dropout:g} must be between "
                "0 and 1."
            )
        if not (0 <= self.singles <= 1 and 0 <= self.decay_last <= 1):
            raise InputError(
                f"singles {self.singles:.0%} and decay_last {self.decay_last:.0%} are fractions of the steps, 0 to 100 %."
            )
        if any(not 0 < weight < 1e6 for weight in self.weights):
            raise InputError("The weight of a corpus is a number above 0, such as 3 in texts/:3.")
        if self.schedule not in SCHEDULES:
            raise InputError(f"The schedule is {' or '.join(SCHEDULES)}, not {self.schedule!r}.")
        Edits(direction=self.direction)  # raises where there is no such direction
        if not self.init:
            self.bert_config(max(self.vocab_size, 8))

    def bert_config(self, vocab_size: int) -> BertConfig:
        """The configuration of a new model over a vocabulary."""
        fixed = {
            "vocab_size": vocab_size,
            "hidden_dropout_prob": self.dropout,
            "attention_probs_dropout_prob": self.dropout,
            "max_position_embeddings": max(512, self.max_length),
        }
        return BertConfig.preset(self.preset, **(fixed | self.config))

    def fraction_done(self, step: float, seconds: float) -> float:
        """The fraction of the run that is over, 0 to 1."""
        return min(1.0, step / self.steps if self.steps else seconds / (60 * (self.minutes or 1)))

    def learning_rate_at(self, step: int, seconds: float) -> float:
        """Linear warm-up, then as the schedule says; taken in the middle of the step, so that no step has a rate of 0."""
        fraction = self.fraction_done(step + 0.5, seconds)
        if self.schedule == "constant":  # the warm-up is counted in steps, so that a longer run begins alike
            decay = (1 - fraction) / self.decay_last if self.decay_last else 1.0
            return self.learning_rate * min(1.0, (step + 0.5) / WARM_STEPS, decay)
        warmup = fraction / self.warmup if self.warmup else 1.0
        if self.minutes:  # a slow machine takes few steps in the time, and needs them
            warmup = min(warmup, (step + 0.5) / WARM_STEPS)
        return self.learning_rate * min(1.0, warmup, (1 - fraction) / (1 - self.warmup))

    def decays(self, step: int, seconds: float) -> bool:
        """Whether a run of constant rate has come to its decay."""
        return self.schedule == "constant" and self.fraction_done(step + 0.5, seconds) > 1 - self.decay_last

    def prolonged(self, other: "TrainingConfig") -> "TrainingConfig | None":
        """This config for as long as the other says, where they differ in nothing else and the rate is constant."""
        longer = replace(self, steps=other.steps, minutes=other.minutes, decay_last=other.decay_last)
        return longer if self.schedule == "constant" and longer == other else None

    def snapshot_due(self, step: int) -> bool:
        """Whether a snapshot belongs to this step: 0, then evenly spaced on a logarithmic scale."""
        if not self.snapshots:
            return False
        return step == 0 or step in {round(10 ** (n / self.snapshots)) for n in range(10 * self.snapshots)}

    @classmethod
    def read(cls, path: Path) -> "TrainingConfig":
        """The settings in the training_config.json of a run."""
        return RunConfig.read(path).training


@dataclass(frozen=True)
class RunConfig:
    """What training_config.json holds: the settings of a run, and what it learns from."""

    training: TrainingConfig
    learned_from: tuple[str, ...] = ()  # names and sizes, for the card
    corpora: tuple[str, ...] = ()  # names of several corpora; empty for one

    def write(self, path: Path) -> None:
        values = {"format": FORMAT, **asdict(self.training), "learned_from": self.learned_from, "corpora": self.corpora}
        path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "RunConfig":
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path} is not JSON ({error}).") from None
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise InputError(f"{path} is not of format {FORMAT}: this run cannot go on here; train into another folder.")
        learned_from, corpora = (tuple(values.pop(name, ())) for name in ("learned_from", "corpora"))
        _refuse_unknown(values, TrainingConfig, path)
        _refuse_unknown(values.get("masking", {}), MaskingStrategy, path)
        return cls(TrainingConfig(**values), learned_from, corpora)


def _refuse_unknown(values: dict[str, object], settings: type, path: Path) -> None:
    """A misspelt key would silently leave its setting at the default."""
    known = [setting.name for setting in fields(settings)]
    unknown = [name for name in values if name not in known]
    if unknown:
        nearest = difflib.get_close_matches(unknown[0], known, 1)
        meant = f"; did you mean “{nearest[0]}”?" if nearest else "."
        raise InputError(f"{path} has a key that is no setting, “{unknown[0]}”{meant}")
