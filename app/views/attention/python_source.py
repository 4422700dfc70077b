"""The few lines of Python that reproduce a view of the attention page."""

from collections.abc import Sequence

from model import __version__

WEIGHTS = {
    "attention": "weights = trace.attention  # (layers, heads, query, key)",
    "norms": "weights = heads.norms(bert, trace)  # attention times the length of the vector it carries",
    "rollout": "weights = heads.rollout(trace)  # (layers, 1, query, key)",
    "sentence": "weights, positions, _ = heads.attention_difference(trace, bert.trace({second!r}, {b!r}{edits}))",
    "off": "weights, _, _ = heads.attention_difference(bert.trace({a!r}, {b!r}), trace)",
}
VISIBLE = {"special": "text not in ('[CLS]', '[SEP]')", "punctuation": "not heads.is_punctuation(text)"}


def python_source(
    model: str,
    a: str,
    b: str | None,
    quantity: str,
    second: str,
    layer: int,
    heads: Sequence[int],
    unit: str,
    hide: Sequence[str],
    off: Sequence[tuple[int, int]],
) -> str:
    """Code that ends with `attention`, the weights of these heads as on the board, and prints each token's largest."""
    edits = f", edits=Edits(heads_off=frozenset({sorted(off)!r}))" if off else ""
    lines = [
        f"# Bertscope {__version__}",
        "import model",
        *(["from model import Edits"] if off else []),
        "from probes import heads",
        "",
        f"bert = model.load({model!r})",
        f"trace = bert.trace({a!r}, {b!r}{edits})",
        WEIGHTS[quantity].format(second=second, a=a, b=b, edits=edits),
    ]
    if quantity == "sentence":
        lines.append("texts = [trace.wordpieces[position] for position in positions]")
    elif unit == "words":
        lines.append("spans = heads.word_spans(trace.encoding)")
        lines.append("weights, texts = heads.merge_wordpieces(weights, spans), heads.word_texts(trace.encoding, spans)")
    else:
        lines.append("texts = trace.wordpieces")
    if hide and quantity in ("attention", "rollout"):
        visible = " and ".join(VISIBLE[kind] for kind in hide)
        lines += [
            f"visible = [index for index, text in enumerate(texts) if {visible}]",
            "weights, texts = heads.renormalise(weights, visible), [texts[index] for index in visible]",
        ]
    indices = [0] if quantity == "rollout" else list(heads)
    numbers = ", ".join(str(head + 1) for head in indices)
    lines += [
        f"attention = weights[{layer}, {indices}]  # layer {layer + 1}, head{'s' if len(indices) > 1 else ''} {numbers} "
        "on screen",
        "for token, row in zip(texts, attention.mean(0), strict=True):",
        '    print(f"{token:>14} -> {texts[row.argmax()]:14} {row.max():.3f}")',
    ]
    return "\n".join(lines) + "\n"
