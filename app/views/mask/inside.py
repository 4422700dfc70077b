"""How a prediction came about: layer by layer, where attention went, which words mattered."""

import streamlit as st

from app import layout, session
from app.figures import mask as figures
from app.widgets.choice import pills
from model import Bert
from probes import cloze
from probes.cloze import attribution, query
from probes.cloze.attention_shift import measure
from probes.cloze.logit_lens import read_layers
from probes.cloze.query import ClozeQuery
from probes.heads import extremes


def target_piece(bert: Bert, cloze_query: ClozeQuery) -> tuple[int, int, str]:
    """One position to predict, the id to follow there (of the original, else of the model's first choice), its text."""
    gold = _gold_ids(cloze_query)
    names = {
        position: f"{number}: {bert.tokenizer.vocabulary[gold[position]] if position in gold else '[MASK]'}"
        for number, target in enumerate(cloze_query.targets, start=1)
        for position in target.positions
    }
    position = next(iter(names))
    if len(names) > 1:
        options = {str(position): layout.escape(name) for position, name in names.items()}
        position = int(pills("Blank", options, "blank", str(position)))
    if position in gold:
        return position, gold[position], bert.tokenizer.vocabulary[gold[position]]
    word = str(cloze.predict(bert, cloze_query.encoding, [position], 1)["word"].iloc[0])
    return position, bert.tokenizer.vocabulary.index(word), word


def _gold_ids(cloze_query: ClozeQuery) -> dict[int, int]:
    """Position -> the id that stood there; positions that the text itself masks are left out."""
    return {
        position: gold_id
        for target in cloze_query.targets
        for position, gold_id in zip(target.positions, target.gold_ids, strict=False)
    }


def layers(bert: Bert, cloze_query: ClozeQuery) -> None:
    """The logit lens and the rank of the original word by layer."""
    encoding, gold = cloze_query.encoding, _gold_ids(cloze_query)
    lens = session.answer(
        bert,
        "lens",
        (encoding, tuple(cloze_query.unmasked.ids)),
        lambda: read_layers(bert, encoding, cloze_query.unmasked.ids),
    )
    first, last = cloze_query.positions[0], len(lens.words) - 1
    best, early = (
        f"*{layout.escape(lens.words[layer][first])}* ({lens.probability[layer, first]:.0%})" for layer in (last, 0)
    )
    st.caption(
        f"{best} is the best word of the last layer for the first blank; of layer 0, which has seen no context yet, {early}."
        " Every layer is read through the model's own masked-word head, as if it were the last: each cell is the best word "
        "there, stronger colour is surer; orange frames the blanks."
    )
    st.html(figures.logit_lens(lens, [token.text for token in encoding.tokens], cloze_query.positions))
    if gold:
        names = {position: query.join_pieces(bert, [gold_id]) for position, gold_id in gold.items()}
        position, name = next(iter(names.items()))
        early, late = (int(lens.gold_rank[layer, position]) + 1 for layer in (0, last))
        layout.chart(
            figures.ranks(lens, list(names), list(names.values())),
            key="ranks",
            finding=f"*{layout.escape(name)}*, which stood there, is the model's choice number {late:,} at layer {last} and "
            f"number {early:,} at layer 0; chance is {bert.tokenizer.vocab_size // 2:,}, the middle of the vocabulary.",
            alt="Lines of the original word's rank by layer: "
            + "; ".join(
                f"{name} {', '.join(str(rank + 1) for rank in lens.gold_rank[:, position])}"
                for position, name in names.items()
            ),
        )


def attention(bert: Bert, cloze_query: ClozeQuery) -> None:
    """Attention before and after masking."""
    before, after = cloze_query.unmasked, cloze_query.encoding
    shift = session.answer(bert, "refocus", (before, after), lambda: measure(bert, before, after))
    layers, heads = shift.before.shape[:2]
    (strongest_layer, strongest_head), share = shift.largest
    layout.chart(
        figures.attention_shift(shift),
        key="moved",
        finding=f"Masking moved {shift.mean:.0%} of the attention on average, at most {share:.0%} (layer "
        f"{strongest_layer + 1} head {strongest_head + 1}). With nothing masked it is 0 %.",
        alt=f"Heatmap of {layers} layers by {heads} heads; the most moved is {share:.0%}.",
    )
    left, right = st.columns(2)
    layer = int(left.number_input("Layer", 1, layers, strongest_layer + 1, key="moved_layer", bind="query-params"))
    head = int(right.number_input("Head", 1, heads, strongest_head + 1, key="moved_head", bind="query-params"))
    texts = [
        token.text if token.text == original.text else f"{original.text}→{token.text}"
        for token, original in zip(after.tokens, before.tokens, strict=True)
    ]
    origin, key, change = extremes.strongest_edge(shift.difference[layer - 1, head - 1])
    layout.chart(
        figures.difference(shift.difference[layer - 1, head - 1], texts),
        key="difference",
        finding=f"In layer {layer} head {head} the edge from *{layout.escape(texts[origin])}* to "
        f"*{layout.escape(texts[key])}* changed most: {change:+.2f}. Blue edges gained, orange ones lost; every row sums to "
        "zero.",
        alt=f"Difference of attention in layer {layer}, head {head}.",
    )


def words(bert: Bert, cloze_query: ClozeQuery) -> None:
    """Occlusion and gradient × input side by side."""
    encoding = cloze_query.encoding
    position, token_id, name = target_piece(bert, cloze_query)
    scores = session.answer(
        bert,
        "attribution",
        (encoding, position, token_id),
        lambda: attribution.compare(bert, encoding, position, token_id),
    )
    texts = [token.text for token in encoding.tokens]
    strongest, fall = scores.strongest_by_occlusion
    change = f"falls by {fall:.2f}" if fall >= 0 else f"rises by {-fall:.2f}"
    layout.chart(
        figures.attribution(scores, texts, position),
        key="used",
        finding=f"*{layout.escape(texts[strongest])}* mattered most for P({layout.escape(name)}) at the dotted line: with "
        f"it masked, log P {change} nats; a word that did nothing is at 0. Above, each word is masked in turn (blue: it "
        "helped). Below, the gradient at the embeddings times the embedding.",
        alt="Bars of occlusion and gradient times input for each token.",
    )
    st.markdown(
        f"The two ways order the words with a rank correlation of **{scores.correlation:.2f}** (Spearman, of the "
        "sizes; 1 is the same order, 0 is no agreement). Where they disagree, neither is the explanation: "
        "occlusion shows the model an input it may never see, the gradient knows only the smallest change."
    )
