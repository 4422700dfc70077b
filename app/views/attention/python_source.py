"""The few lines of Python that reproduce a view of the attention page."""

from collections.abc import Sequence

DRAWN = {
    "attention": "weights = trace.attention  # (layers, heads, query, key)",
    "norms": "weights = heads.norms(bert, trace)  # attention times the length of what it carries",
    "rollout": "weights = heads.rollout(trace)  # (layers, 1, query, key)",
    "sentence": "weights, here, there = heads.difference(trace, bert.trace({second!r}, {b!r}{edits}))",
    "off": "weights, here, there = heads.difference(bert.trace({a!r}, {b!r}), trace)",
}


def recipe(model: str, a: str, b: str | None, drawn: str, second: str, layer: int, chosen: Sequence[int], unit: str,
           hide: Sequence[str], off: Sequence[tuple[int, int]]) -> str:
    """Code that ends with `shown`, the weights of the chosen heads as on screen, and prints it with its tokens."""
    edits = f", edits=Edits(heads_off=frozenset({sorted(off)!r}))" if off else ""
    lines = ["import model", "from model import Edits" if off else "", "from probes import heads", "",
             f"bert = model.load({model!r})", f"trace = bert.trace({a!r}, {b!r}{edits})",
             DRAWN[drawn].format(second=second, a=a, b=b, edits=edits)]
    texts = "[trace.texts[i] for i in here]" if drawn == "sentence" else "trace.texts"
    if unit == "words" and drawn != "sentence":
        lines.append("weights, texts = heads.words(weights, trace.encoding)")
    else:
        lines.append(f"texts = {texts}")
    if hide and drawn in ("attention", "rollout"):
        kinds = {"special": "text not in ('[CLS]', '[SEP]')", "punctuation": "not heads.punctuation(text)"}
        lines += [f"left = [i for i, text in enumerate(texts) if {' and '.join(kinds[kind] for kind in hide)}]",
                  "weights, texts = heads.kept(weights, left), [texts[i] for i in left]"]
    heads = [0] if drawn == "rollout" else list(chosen)
    lines += [f"shown = weights[{layer}, {heads}]  # layer {layer + 1}, "
              f"head{'s' if len(heads) > 1 else ''} {', '.join(str(head + 1) for head in heads)} on screen",
              "for token, row in zip(texts, shown.mean(0), strict=True):",
              '    print(f"{token:>14} -> {texts[row.argmax()]:14} {row.max():.3f}")']
    return "\n".join(line for index, line in enumerate(lines) if line or index == 3) + "\n"
