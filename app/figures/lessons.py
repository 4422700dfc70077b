"""The options of a quiz item with the model's value for each, the reader's prediction and the votes of the room."""

from collections.abc import Sequence
from html import escape

from probes.lessons import QuizAnswer

NUMBER = {"share": "{:.1%}", "number": "{:.0f}", "cosine": "{:.3f}"}


def rows(options: Sequence[str], answer: QuizAnswer, predicted: int, votes: Sequence[int] = ()) -> str:
    """One row an option, as HTML: a bar for its value, and marks on the predicted and on the model's own."""
    # shares and cosines are drawn of 1, so that 8 % looks like 8 %; only counts have no end but the largest of them
    whole = max(1.0, *answer.values) if answer.unit in ("share", "cosine") else max(1e-9, *answer.values)
    html = []
    for index, (option, value) in enumerate(zip(options, answer.values, strict=True)):
        kinds = [name for name, holds in (("best", index == answer.best), ("predicted", index == predicted)) if holds]
        marks = [
            mark
            for mark, holds in (
                ("right" if not answer.unit else "the model", index == answer.best),
                ("your prediction", index == predicted),
            )
            if holds
        ]
        if votes:
            marks.append(f"{votes[index]} of {sum(votes)} here")
        number = NUMBER[answer.unit].format(value) if answer.unit else ""
        width = 100 * max(0.0, value) / whole
        html.append(
            f'<div role="listitem" class="{" ".join(kinds)}"><i style="width:{width:.1f}%"></i><span>'
            f"{escape(option)}</span><em>{' · '.join(marks)}</em><b>{number}</b></div>"
        )
    return f'<div role="list" class="answers">{"".join(html)}</div>'


def text(first: str, second: str = "") -> str:
    """The sentences that a question is about, large, with the hidden word as a blank."""
    sentences = [
        escape(sentence).replace("[MASK]", '<span class="blank">?</span>') for sentence in (first, second) if sentence
    ]
    names = ("A", "B") if len(sentences) == 2 else ("",)
    return "".join(
        f'<p class="sentence">{f"<small>{name}</small> " if name else ""}{sentence}</p>'
        for name, sentence in zip(names, sentences, strict=True)
    )
