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
        f'<p><a href="{escape(address)}&amp;{_texts(one)}" target="_self">{_marked(one)}</a><br>'
        f'<b>{escape(str(one["label"]))}</b>, said <b>{escape(str(one["said"]))}</b></p>' for one in mistakes) + "</div>"


def _texts(one: dict[str, Any]) -> str:
    return "&amp;".join(f"{name}={quote(str(one.get(field, '')))}" for name, field in (("a", "text"), ("b", "second")))


def _marked(one: dict[str, Any]) -> str:
    text, word = str(one["text"]), str(one["word"])
    if one.get("second"):
        return f"{escape(text)} <mark>‖</mark> {escape(str(one['second']))}"
    before, found, after = f" {text} ".partition(f" {word} ") if word else (text, "", "")
    if not found:
        return escape(text) + (f" ({escape(word)})" if word else "")
    return f"{escape(before.strip())} <mark>{escape(word)}</mark> {escape(after.strip())}"
