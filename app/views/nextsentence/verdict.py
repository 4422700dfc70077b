"""What the perturbations of a pair come to, in a few sentences."""

from collections.abc import Sequence

from probes import nextsentence
from probes.nextsentence import perturbations
from probes.nextsentence.perturbations import PerturbationResult


def text(results: Sequence[PerturbationResult]) -> str:
    """Which cues the answer follows for this pair, and which it does not notice."""
    base = results[0].mean
    large, small = perturbations.large_changes(results), perturbations.small_changes(results)
    sentences = [f"The answer is {nextsentence.LABELS[base < 0.5]}: P(IsNext) is {base:.2f} (in brackets: after a change)."]
    if large:
        sentences.append(f"It follows {_cues(large)}.")
    else:
        sentences.append(
            f"No change moves it by {perturbations.LARGE} or more: the head would say about the same of almost any B "
            "here, so the number tells little about this B."
        )
    if small:
        sentences.append(f"It hardly notices {_cues(small)}.")
    return " ".join(sentences)


def _cues(changes: Sequence[tuple[PerturbationResult, float]]) -> str:
    cues = [f"{result.perturbation.cue} ({result.mean:.2f})" for result, _ in changes]
    return cues[0] if len(cues) == 1 else f"{', '.join(cues[:-1])} and {cues[-1]}"
