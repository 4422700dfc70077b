"""The packed input as a row of chips: escaped HTML, one chip a wordpiece."""

from html import escape

from model import Token

EXPLAINED = {
    "[CLS]": "Always first. Its last state stands for the whole input: the next-sentence head and sentence classifiers "
    "read it.",
    "[SEP]": "Ends a sentence. A pair has two: one between A and B, one at the end.",
    "[MASK]": "A blank: the model is asked which word stood here.",
    "[UNK]": "No pieces of the vocabulary spell this word.",
}


def row(tokens: tuple[Token, ...], chosen: int | None = None) -> str:
    """Tokens -> HTML; segment by colour, pieces of one word joined, an explanation on hover or focus."""
    return f'<div class="chips">{"".join(_chip(token, token.position == chosen) for token in tokens)}</div>'


def _chip(token: Token, chosen: bool) -> str:
    kinds = ["chip", "b" if token.segment else "a"]
    kinds += [
        name for name, on in (("special", token.is_special), ("continues", token.is_continuation), ("chosen", chosen)) if on
    ]
    if token.text in EXPLAINED:
        tip = EXPLAINED[token.text]
    elif token.is_continuation:
        tip = f"Goes on with the word before it: ## means no space. Entry {token.id:,} of the vocabulary."
    else:
        tip = f"Entry {token.id:,} of the vocabulary; a word, or the beginning of one."
    place = f"segment {'AB'[token.segment]}, position {token.position}"
    return (
        f'<span class="{" ".join(kinds)}" tabindex="0"><b>{escape(token.text)}</b>'
        f"<small>{token.id}</small><small>{'AB'[token.segment]} · {token.position}</small>"
        f'<span class="tip">{escape(tip)} <i>{place}</i></span></span>'
    )
