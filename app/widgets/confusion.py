"""A confusion matrix and what stands out in it, for probes and fine-tuned models alike."""

from app import layout
from app.figures import probes as figures
from probes.probing import results


def chart(matrix: list[list[int]], classes: list[str], name: str, key: str) -> None:
    """A confusion matrix, with how much of it is right and its commonest mistake."""
    summary = results.summarise_confusion(matrix, classes)
    finding = f"{summary.n_correct:,} of {summary.n_total:,} test examples are right ({name})"
    if summary.count:
        finding += f"; most often *{layout.escape(summary.gold)}* is taken for *{layout.escape(summary.predicted)}* "
        finding += f"({summary.count:,} {'time' if summary.count == 1 else 'times'})"
    layout.chart(
        figures.confusion(matrix, classes),
        key=key,
        finding=f"{finding}. A row for each true label; a perfect one fills the diagonal only.",
        alt=f"Confusion matrix over {len(classes)} labels, {name}.",
    )
