"""`python3 run.py train`: pre-train a BERT on your own text, from scratch or from a checkpoint."""

import argparse
import signal
import sys
from dataclasses import replace
from pathlib import Path

from . import command
from .config import SIZES
from .errors import InputError
from .pretraining import distributed
from .pretraining.evaluation import PretrainingScores
from .pretraining.loop import PretrainingProgress, pretrain
from .pretraining.masking import MaskingStrategy
from .pretraining.run_folder import CONFIG
from .pretraining.sentence_pairs import NEGATIVES
from .pretraining.settings import PRECISIONS, SCHEDULES, TrainingConfig
from .progress import StatusLine, bar, format_duration

EXAMPLES = """examples:
  python3 run.py train --corpus my.txt --preset mini --minutes 30 --out checkpoints/my-bert
  python3 run.py train --corpus texts/ --init english --steps 2000 --out checkpoints/english-plus
  python3 run.py train --corpus books/ everyday.txt:5 --singles 50 --schedule constant --steps 9000 --out checkpoints/mine
  python3 run.py train --out checkpoints/mine --resume --steps 20000
  python3 run.py train --out checkpoints/my-bert --resume

A text file holds documents separated by blank lines; .txt, .jsonl (field "text"), each also .gz or .xz."""

# settings that an option names as they are
AS_TYPED = (
    "preset",
    "vocab_size",
    "tokenizer",
    "mimetic_init",
    "init",
    "negatives",
    "max_length",
    "batch_size",
    "steps",
    "minutes",
    "learning_rate",
    "schedule",
    "dropout",
    "seed",
    "threads",
    "precision",
    "snapshots",
    "heldout_every",
    "evaluations",
    "eval_pairs",
)


def main(argv: list[str] | None = None) -> int:
    distributed.init()
    try:
        return command.run(_train, _parser(), argv)
    finally:
        distributed.shutdown()


def _parser() -> argparse.ArgumentParser:
    default = TrainingConfig(steps=1)
    parser = command.parser("train", __doc__, EXAMPLES)
    add = parser.add_argument
    add(
        "--corpus",
        nargs="+",
        metavar="PATH[:WEIGHT]",
        help="text files or folders to learn from; of several, one with weight 3 is read three times as often as its "
        "size says, and the held-out documents of each are reported apart",
    )
    add(
        "--singles",
        type=float,
        default=0,
        metavar="PERCENT",
        help="percent of the steps that read single inputs of one to three sentences (default %(default)s)",
    )
    add(
        "--keep-apart",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="drop sentences that share eight words in a row with held-out documents, or with these texts",
    )
    add("--out", required=True, type=Path, help="folder for the trained model; the app lists those in checkpoints/")
    add("--resume", action="store_true", help="go on with the run in --out")
    add("--minutes", type=float, help="train for this long, or")
    add("--steps", type=int, help="for so many steps")
    add("--preset", choices=SIZES, default=default.preset, help="size of a new model (default %(default)s)")
    add(
        "--quick",
        dest="mimetic_init",
        action="store_true",
        help="begin a small new model so that it learns sooner (see model/pretraining/initialisation.py)",
    )
    add("--init", metavar="CHECKPOINT", help="go on from this checkpoint instead; heads that it lacks are added")
    add(
        "--vocabulary",
        dest="vocab_size",
        type=int,
        default=default.vocab_size,
        help="wordpieces to learn (default %(default)s)",
    )
    add("--tokenizer", metavar="CHECKPOINT", help="use the vocabulary of this checkpoint instead")
    add(
        "--length",
        dest="max_length",
        type=int,
        default=default.max_length,
        help="wordpieces of a pair at most (default %(default)s)",
    )
    add(
        "--batch",
        dest="batch_size",
        type=int,
        default=default.batch_size,
        help="pairs of a step, in all processes (default %(default)s)",
    )
    add(
        "--rate",
        dest="learning_rate",
        type=float,
        default=default.learning_rate,
        help="peak learning rate (default %(default)s)",
    )
    add(
        "--schedule",
        choices=SCHEDULES,
        default=default.schedule,
        help="linear: the rate falls all the way; constant: only at the end, and the run can be prolonged when it is "
        "resumed (default %(default)s)",
    )
    add(
        "--decay-last",
        type=float,
        default=100 * default.decay_last,
        metavar="PERCENT",
        help="of a constant schedule: percent of the run in which the rate falls to zero (default %(default)g)",
    )
    add("--dropout", type=float, default=default.dropout, help="(default %(default)s)")
    add("--mix", default="80/10/10", help="percent masked/random/unchanged of the selected words (default %(default)s)")
    add("--chosen", type=float, default=15, help="percent of the wordpieces selected (default %(default)s)")
    add("--whole-words", action="store_true", help="select whole words, not single wordpieces")
    add(
        "--negatives",
        choices=NEGATIVES,
        default=default.negatives,
        help="where NotNext spans come from: another document, or the same (default %(default)s)",
    )
    add(
        "--hold-out",
        dest="heldout_every",
        type=int,
        default=default.heldout_every,
        metavar="N",
        help="hold 1 document in N out for evaluation (default %(default)s)",
    )
    add(
        "--evaluations",
        type=int,
        default=default.evaluations,
        metavar="N",
        help="evaluate the held-out documents so often (default %(default)s)",
    )
    add(
        "--held",
        dest="eval_pairs",
        type=int,
        default=default.eval_pairs,
        metavar="N",
        help="pairs of them each time (default %(default)s)",
    )
    add("--snapshots", type=int, default=0, metavar="N", help="write N checkpoints while the steps grow tenfold")
    add("--seed", type=int, default=default.seed)
    add("--threads", type=int, help="processor threads (default: torch decides)")
    add(
        "--precision",
        choices=PRECISIONS,
        default=default.precision,
        help="bfloat16 is about twice as fast where the processor multiplies it (default %(default)s)",
    )
    return parser


def _weighted(word: str) -> tuple[Path, float]:
    """`texts/:3` -> the path and its weight, which is 1 where none is named."""
    path, _, weight = word.rpartition(":")
    if path and not Path(word).exists():
        try:
            return Path(path), float(weight)
        except ValueError:
            pass  # the colon belongs to the path
    return Path(word), 1.0


def _config(args: argparse.Namespace) -> TrainingConfig | None:
    if args.resume and ((args.out / CONFIG).is_file() or (args.steps is None and args.minutes is None)):
        return _prolonged_config(args)
    try:
        mask, random, keep = (float(percent) / 100 for percent in args.mix.split("/"))
    except ValueError:
        raise InputError("--mix is three percentages, masked/random/unchanged, such as 80/10/10.") from None
    weights = [_weighted(word)[1] for word in args.corpus or ()]
    return TrainingConfig(
        masking=MaskingStrategy(mask, random, keep, args.chosen / 100, args.whole_words),
        singles=args.singles / 100,
        weights=tuple(weights) if len(weights) > 1 else (),
        keep_apart=args.keep_apart is not None,
        decay_last=args.decay_last / 100,
        **{name: getattr(args, name) for name in AS_TYPED},
    )


def _prolonged_config(args: argparse.Namespace) -> TrainingConfig | None:
    """The settings of the run in the folder, for the steps or minutes named now; None where none are named."""
    if args.steps is None and args.minutes is None:
        return None
    config = TrainingConfig.read(args.out / CONFIG)
    return replace(config, steps=args.steps, minutes=args.minutes, decay_last=args.decay_last / 100)


def _train(args: argparse.Namespace) -> int:
    if not (args.corpus or args.resume):
        raise InputError("There is nothing to learn from: name one or more text files or folders with --corpus.")
    corpora = [_weighted(word)[0] for word in args.corpus or ()]
    training = pretrain(corpora or None, args.out, _config(args), args.resume, keep_apart=args.keep_apart or ())
    stop, screen = _StopSignal(), _Screen()
    for progress in training:
        screen.show(progress)
        # while texts are read only one process of a machine reports, so there is nobody to agree with
        if distributed.any_rank(stop.received) if progress.stage == "training" else stop.received:
            training.close()
            screen.line.print(f"Stopped and saved after {progress.step:,} steps. To go on:\n  {_resume_command(args)}")
            return command.INTERRUPTED
    screen.line.print(f"Done: the model, its card and history.csv (losses and accuracies over the steps) are in {args.out}.")
    return 0


def _resume_command(args: argparse.Namespace) -> str:
    corpus = ["--corpus", *args.corpus] if args.corpus else []
    return command.quote("train", *corpus, "--out", args.out, "--resume")


class _StopSignal:
    """The first Ctrl-C or SIGTERM stops the training after this step; a second one ends the process at once."""

    def __init__(self):
        self.received = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number, frame) -> None:
        self.received = True
        signal.signal(number, signal.SIG_DFL)
        if distributed.rank() == 0:
            print("\nFinishing this step, then saving …", file=sys.stderr, flush=True)


class _Screen:
    """Progress on the terminal; only the first process writes."""

    def __init__(self):
        self.line = StatusLine(enabled=distributed.rank() == 0)
        self.nsp_loss = 0.0  # of the last step that had pairs

    def show(self, progress: PretrainingProgress) -> None:
        if progress.heldout and progress.stage == "training":
            self.line.print(f"step {progress.step:,}, held-out documents: {_format_scores(progress.heldout)}")
            for name, scores in progress.heldout_by_corpus.items() if len(progress.heldout_by_corpus) > 1 else ():
                self.line.print(f"  {name}: {_format_scores(scores)}")
        if progress.stage == "reading":
            self.line.update(f"Reading the texts: {progress.documents:,} documents", progress.stage)
        elif progress.stage == "vocabulary":
            self.line.update("Learning a vocabulary of wordpieces from them", progress.stage)
        elif progress.mlm_loss is not None:
            self.nsp_loss = self.nsp_loss if progress.nsp_loss is None else progress.nsp_loss
            remaining = "" if progress.eta is None else f"  {format_duration(progress.eta)} left"
            text = (
                f"step {progress.step:,}  MLM loss {progress.mlm_loss:.3f}  NSP loss {self.nsp_loss:.3f}  "
                f"{progress.tokens_per_second:,.0f} tokens/s{remaining}"
            )
            self.line.update(bar(progress.fraction, text), progress.stage)


def _format_scores(scores: PretrainingScores) -> str:
    nsp = f", NSP accuracy {scores.nsp_accuracy:.1%} (loss {scores.nsp_loss:.3f})" if scores.pairs else ""
    return f"MLM accuracy {scores.mlm_accuracy:.1%} (loss {scores.mlm_loss:.3f}){nsp}"


if __name__ == "__main__":
    distributed.exit_process(main())
