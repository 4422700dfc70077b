"""The options of a question with what the model says to each, what was predicted, and what the room predicted."""

from collections.abc import Sequence
from html import escape

from probes.lessons import Answer

SAID = {"share": "{:.1%}", "number": "{:.0f}", "cosine": "{:.3f}"}


def rows(options: Sequence[str], answer: Answer, predicted: int, votes: Sequence[int] = ()) -> str:
    """One row an option, as HTML: a bar for its value, and marks on the predicted and on the model's own."""
    most = max(1e-9, *answer.values)  # cosines may all be negative
    drawn = []
    for place, (option, value) in enumerate(zip(options, answer.values, strict=True)):
        kinds = [name for name, is_it in (("best", place == answer.best), ("predicted", place == predicted)) if is_it]
        marks = [mark for mark, is_it in (("right" if not answer.unit else "the model", place == answer.best),
                                          ("your prediction", place == predicted)) if is_it]
        if votes:
            marks.append(f"{votes[place]} of {sum(votes)} here")
        said = SAID[answer.unit].format(value) if answer.unit else ""
        width = 100 * max(0.0, value) / most
        drawn.append(f'<div role="listitem" class="{" ".join(kinds)}"><i style="width:{width:.1f}%"></i><span>'
                     f'{escape(option)}</span><em>{" · ".join(marks)}</em><b>{said}</b></div>')
    return f'<div role="list" class="answers">{"".join(drawn)}</div>'


def text(first: str, second: str = "") -> str:
    """The sentences that a question is about, large, with the hidden word as a blank."""
    shown = [escape(each).replace("[MASK]", '<span class="blank">?</span>') for each in (first, second) if each]
    names = ("A", "B") if len(shown) == 2 else ("",)
    return "".join(f'<p class="sentence">{f"<small>{name}</small> " if name else ""}{each}</p>'
                   for name, each in zip(names, shown, strict=True))
