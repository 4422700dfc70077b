"""Examples a probe got wrong, as a list of links; everything in it may be anybody's text."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote


def listed(mistakes: Sequence[dict[str, Any]], address: str) -> str:
    """Sentence, word, true and said label of each; the sentence leads to `address` with the sentence in it."""
    if not mistakes:
        return "<p>None: every test example is right.</p>"
    return '<div class="mistakes">' + "".join(
        f'<p><a href="{escape(address)}&amp;a={quote(str(one["text"]))}" target="_self">{_marked(one)}</a><br>'
        f'<b>{escape(str(one["label"]))}</b>, said <b>{escape(str(one["said"]))}</b></p>' for one in mistakes) + "</div>"


def _marked(one: dict[str, Any]) -> str:
    text, word = str(one["text"]), str(one["word"])
    before, found, after = f" {text} ".partition(f" {word} ") if word else (text, "", "")
    if not found:
        return escape(text) + (f" ({escape(word)})" if word else "")
    return f"{escape(before.strip())} <mark>{escape(word)}</mark> {escape(after.strip())}"
