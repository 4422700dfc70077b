"""The model card of a finished run: what it is, what it learned from and how, and its held-out scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..config import BertConfig
from ..version import __version__
from .evaluation import PretrainingScores
from .mixture import Corpus
from .resume import TrainingState
from .settings import RunConfig


def card(
    name: str,
    run_config: RunConfig,
    state: TrainingState,
    bert_config: BertConfig,
    corpora: Sequence[Corpus],
    heldout: Mapping[str, PretrainingScores],
) -> str:
    """The card as Markdown."""
    config, masking = run_config.training, run_config.training.masking
    documents = sum(len(corpus.train) + len(corpus.train_single) for corpus in corpora)
    tokens = sum(corpus.train.tokens + corpus.train_single.tokens for corpus in corpora)
    origin = f"trained on from {Path(config.init).name}" if config.init else "trained from random weights"
    lines = [
        f"# {name}",
        "",
        f"A BERT of shape {bert_config.shape} over {bert_config.vocab_size:,} wordpieces, {origin}: {state.step:,} steps, "
        f"{state.tokens:,} wordpieces read in {state.seconds / 60:.0f} minutes.",
        "",
        f"* learned from: {', '.join(run_config.learned_from)}; {documents:,} documents, {tokens:,} wordpieces",
        f"* masking: {masking.mlm_probability:.0%} selected, then {masking.mask:.0%} masked, {masking.random:.0%} random, "
        f"{masking.keep:.0%} unchanged{', whole words' if masking.whole_word else ''}; "
        f"NotNext spans from {'the same' if config.negatives == 'same' else 'another'} document",
        f"* AdamW, peak learning rate {config.learning_rate:g}, batch {config.batch_size}, pairs up to {config.max_length} "
        f"wordpieces, dropout {config.dropout:g}, seed {config.seed}, products in {config.precision}",
    ]
    if config.singles:
        lines.append(f"* {config.singles:.0%} of the steps read single inputs of one to three sentences, without NSP")
    if config.weights:
        lines.append("* weights: " + ", ".join(f"{corpus.name} × {corpus.weight:g}" for corpus in corpora))
    for corpus, scores in heldout.items():
        nsp = f", NSP accuracy {scores.nsp_accuracy:.1%}" if scores.pairs else ""
        lines.append(f"* held out of {corpus}: MLM accuracy {scores.mlm_accuracy:.1%} (loss {scores.mlm_loss:.3f}){nsp}")
    lines.append(f"* trained with Bertscope {__version__}")
    return "\n".join(lines) + "\n"
