"""Examples a probe got wrong, as a list of links; everything in it may be anybody's text."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote


def listed(mistakes: Sequence[dict[str, Any]], address: str) -> str:
    """Sentence, word, true and predicted label of each; the sentence leads to `address` with the sentence in it."""
    if not mistakes:
        return "<p>None: every test example is right.</p>"
    return (
        '<div class="mistakes">'
        + "".join(
            f'<p><a href="{escape(address)}&amp;{_texts(mistake)}" target="_self">{_marked(mistake)}</a><br>'
            f"<b>{escape(str(mistake['label']))}</b>, predicted <b>{escape(str(mistake['predicted']))}</b></p>"
            for mistake in mistakes
        )
        + "</div>"
    )


def _texts(mistake: dict[str, Any]) -> str:
    return "&amp;".join(f"{name}={quote(str(mistake.get(field, '')))}" for name, field in (("a", "text"), ("b", "second")))


def _marked(mistake: dict[str, Any]) -> str:
    text, word = str(mistake["text"]), str(mistake["word"])
    if mistake.get("second"):
        return f"{escape(text)} <mark>‖</mark> {escape(str(mistake['second']))}"
    before, match, after = f" {text} ".partition(f" {word} ") if word else (text, "", "")
    if not match:
        return escape(text) + (f" ({escape(word)})" if word else "")
    return f"{escape(before.strip())} <mark>{escape(word)}</mark> {escape(after.strip())}"
