"""`python3 run.py train`: pre-train a BERT on your own text, from scratch or from a checkpoint."""

import argparse
import shlex
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from .config import SIZES
from .errors import InputProblem, Problem
from .pretraining import distributed
from .pretraining.loop import Progress, pretrain
from .pretraining.masking import Mix
from .pretraining.objective import Scores
from .pretraining.sentence_pairs import NEGATIVES
from .pretraining.settings import PRECISIONS, SCHEDULES, Recipe

EXAMPLES = """examples:
  python3 run.py train --corpus my.txt --preset mini --minutes 30 --out checkpoints/my-bert
  python3 run.py train --corpus texts/ --init english --steps 2000 --out checkpoints/english-plus
  python3 run.py train --corpus books/ everyday.txt:5 --singles 50 --schedule constant --steps 9000 --out checkpoints/mine
  python3 run.py train --out checkpoints/mine --resume --steps 20000
  python3 run.py train --out checkpoints/my-bert --resume

A text file holds documents separated by blank lines; .txt, .jsonl (field "text"), each also .gz or .xz."""


def main(words: list[str] | None = None) -> int:
    distributed.join()
    try:
        return _train(_parser().parse_args(words))
    except Problem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 2
    finally:
        distributed.leave()


def _parser() -> argparse.ArgumentParser:
    default = Recipe(steps=1)
    parser = argparse.ArgumentParser(prog="python3 run.py train", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--corpus", nargs="+", metavar="PATH[:WEIGHT]",
        help="text files or folders to learn from; of several, one with weight 3 is read three times as often as its "
             "size says, and the held-out documents of each are reported apart")
    add("--singles", type=float, default=0, metavar="PERCENT",
        help="percent of the steps that read single inputs of one to three sentences (default %(default)s)")
    add("--keep-apart", nargs="*", type=Path, metavar="PATH",
        help="drop sentences that share eight words in a row with held-out documents, or with these texts")
    add("--out", required=True, type=Path, help="folder for the trained model; the app lists those in checkpoints/")
    add("--resume", action="store_true", help="go on with the run in --out")
    add("--minutes", type=float, help="train for this long, or")
    add("--steps", type=int, help="for so many steps")
    add("--preset", choices=SIZES, default=default.preset, help="size of a new model (default %(default)s)")
    add("--quick", action="store_true", help="begin a small new model so that it learns sooner (see "
                                             "model/pretraining/initialisation.py)")
    add("--init", metavar="CHECKPOINT", help="go on from this checkpoint instead; heads that it lacks are added")
    add("--vocabulary", type=int, default=default.vocabulary, help="wordpieces to learn (default %(default)s)")
    add("--tokenizer", metavar="CHECKPOINT", help="use the vocabulary of this checkpoint instead")
    add("--length", type=int, default=default.length, help="wordpieces of a pair at most (default %(default)s)")
    add("--batch", type=int, default=default.batch, help="pairs of a step, in all processes (default %(default)s)")
    add("--rate", type=float, default=default.rate, help="peak learning rate (default %(default)s)")
    add("--schedule", choices=SCHEDULES, default=default.schedule,
        help="linear: the rate falls all the way; constant: only at the end, and the run can be made longer when it is "
             "resumed (default %(default)s)")
    add("--decay-last", type=float, default=100 * default.decay_last, metavar="PERCENT",
        help="of a constant schedule: percent of the run in which the rate falls to zero (default %(default)g)")
    add("--dropout", type=float, default=default.dropout, help="(default %(default)s)")
    add("--mix", default="80/10/10", help="percent masked/random/kept of the chosen words (default %(default)s)")
    add("--chosen", type=float, default=15, help="percent of the wordpieces chosen (default %(default)s)")
    add("--whole-words", action="store_true", help="choose whole words, not single wordpieces")
    add("--negatives", choices=NEGATIVES, default=default.negatives,
        help="where NotNext spans come from: another document, or the same (default %(default)s)")
    add("--hold-out", type=int, default=default.hold_out, metavar="N",
        help="keep 1 document in N for evaluation (default %(default)s)")
    add("--evaluations", type=int, default=default.evaluations, metavar="N",
        help="ask the held-out documents so often (default %(default)s)")
    add("--held", type=int, default=default.held, metavar="N", help="pairs of them each time (default %(default)s)")
    add("--snapshots", type=int, default=0, metavar="N", help="keep N checkpoints while the steps grow tenfold")
    add("--seed", type=int, default=default.seed)
    add("--threads", type=int, help="processor threads (default: torch decides)")
    add("--precision", choices=PRECISIONS, default=default.precision,
        help="bfloat16 is about twice as fast where the processor multiplies it (default %(default)s)")
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


def _recipe(given: argparse.Namespace) -> Recipe | None:
    if given.resume and ((given.out / "recipe.json").is_file() or (given.steps is None and given.minutes is None)):
        return _longer(given)
    try:
        mask, random, keep = (float(part) / 100 for part in given.mix.split("/"))
    except ValueError:
        raise InputProblem("--mix is three percentages, masked/random/kept, such as 80/10/10.") from None
    names = ("preset", "vocabulary", "tokenizer", "quick", "init", "negatives", "length", "batch", "steps", "minutes",
             "rate", "schedule", "dropout", "seed", "threads", "precision", "snapshots", "hold_out", "evaluations", "held")
    weights = [_weighted(word)[1] for word in given.corpus or ()]
    return Recipe(mix=Mix(mask, random, keep, given.chosen / 100, given.whole_words), singles=given.singles / 100,
                  weights=tuple(weights) if len(weights) > 1 else (), keep_apart=given.keep_apart is not None,
                  decay_last=given.decay_last / 100, **{name: getattr(given, name) for name in names})


def _longer(given: argparse.Namespace) -> Recipe | None:
    """The settings of the run in the folder, for as long as is now said; None where nothing is."""
    if given.steps is None and given.minutes is None:
        return None
    return replace(Recipe.read(given.out / "recipe.json"), steps=given.steps, minutes=given.minutes,
                   decay_last=given.decay_last / 100)


def _train(given: argparse.Namespace) -> int:
    if not (given.corpus or given.resume):
        raise InputProblem("Say what to learn from: --corpus with one or more text files or folders.")
    corpora = [_weighted(word)[0] for word in given.corpus or ()]
    training = pretrain(corpora or None, given.out, _recipe(given), given.resume, apart=given.keep_apart or ())
    stop, screen = _Stop(), _Screen()
    for progress in training:
        screen.show(progress)
        # while texts are read only one process of a machine reports, so there is nobody to agree with
        if distributed.any_of(stop.asked) if progress.stage == "training" else stop.asked:
            training.close()
            screen.say(f"Stopped and saved after {progress.step:,} steps. To go on:\n  {_again(given)}")
            return 130
    screen.say(f"Done: the model, its card and the course of the run (history.html, history.csv) are in {given.out}.")
    return 0


def _again(given: argparse.Namespace) -> str:
    corpus = ["--corpus", *map(str, given.corpus)] if given.corpus else []
    return shlex.join(["python3", "run.py", "train", *corpus, "--out", str(given.out), "--resume"])


class _Stop:
    """The first Ctrl-C or request to end asks for a stop after this step; a second one ends at once."""

    def __init__(self):
        self.asked = False
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._ask)

    def _ask(self, number, frame) -> None:
        self.asked = True
        signal.signal(number, signal.SIG_DFL)
        if distributed.rank() == 0:
            print("\nFinishing this step, then saving …", file=sys.stderr, flush=True)


class _Screen:
    """A bar that redraws itself on a terminal, and now and then a line anywhere else; only the first process writes."""

    def __init__(self):
        self.live, self.drawn, self.shown, self.pair_loss = sys.stdout.isatty(), 0.0, "", 0.0

    def show(self, progress: Progress) -> None:
        now, what = time.monotonic(), progress.stage
        if progress.held and progress.stage == "training":
            self.say(f"step {progress.step:,}, held-out documents: {_scores(progress.held)}")
            for name, scores in progress.held_by_corpus.items() if len(progress.held_by_corpus) > 1 else ():
                self.say(f"  {name}: {_scores(scores)}")
        if (now - self.drawn < (0.3 if self.live else 30) and what == self.shown) or (
                what == "training" and progress.mlm_loss is None):
            return
        self.drawn, self.shown = now, what
        if progress.stage == "reading":
            self._put(f"Reading the texts: {progress.documents:,} documents")
        elif progress.stage == "vocabulary":
            self._put("Learning a vocabulary of wordpieces from them")
        elif progress.mlm_loss is not None:
            self.pair_loss = progress.nsp_loss if progress.nsp_loss is not None else self.pair_loss
            bar = "█" * round(20 * progress.fraction)
            self._put(f"{bar:░<20} {progress.fraction:4.0%}  step {progress.step:,}  word loss {progress.mlm_loss:.3f}  "
                      f"pair loss {self.pair_loss:.3f}  {progress.tokens_per_second:,.0f} tokens/s  "
                      f"{_duration(progress.eta or 0)} left")

    def say(self, line: str) -> None:
        if distributed.rank() == 0:
            print(f"\r\033[K{line}" if self.live else line, flush=True)

    def _put(self, line: str) -> None:
        if distributed.rank() == 0:
            print(f"\r\033[K{line}" if self.live else line, end="" if self.live else "\n", flush=True)


def _scores(scores: Scores) -> str:
    pairs = f", next sentence {scores.nsp_accuracy:.1%} right (loss {scores.nsp_loss:.3f})" if scores.pairs else ""
    return f"words {scores.mlm_accuracy:.1%} right (loss {scores.mlm_loss:.3f}){pairs}"


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


if __name__ == "__main__":
    distributed.end(main())
