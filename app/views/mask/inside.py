"""How a prediction came about: layer by layer, where attention went, which words were used."""

import streamlit as st

from app import layout, session
from app.figures import mask as figures
from model import Bert
from probes import cloze
from probes.cloze import attribution, query
from probes.cloze.attention_shift import refocus
from probes.cloze.logit_lens import lens
from probes.cloze.query import Question


def chosen(bert: Bert, asked: Question) -> tuple[int, int, str]:
    """One asked position, the word to follow there (the true one, else the model's best), and what it is called."""
    names = {}
    for nth, blank in enumerate(asked.blanks):
        for place, position in enumerate(blank.positions):
            word = bert.tokenizer.words[blank.true[place]] if blank.true else "[MASK]"
            names[position] = f"{nth + 1}: {word}"
    position = next(iter(names))
    if len(names) > 1:
        position = st.pills("Blank", list(names), default=position, required=True, key="blank",
                            format_func=lambda place: layout.plain(names[place])) or position
    true = {place: piece for blank in asked.blanks for place, piece in zip(blank.positions, blank.true, strict=False)}
    word = true.get(position)
    if word is None:
        word = int(cloze.probabilities(bert, asked.encoding, [position])[0, :bert.tokenizer.size].argmax())
    return position, word, bert.tokenizer.words[word]


def layers(bert: Bert, asked: Question) -> None:
    """The logit lens and the rank of the true word by layer."""
    texts = [token.text for token in asked.encoding.tokens]
    read = session.answer(bert, "lens", (asked.encoding, tuple(asked.open.ids)),
                        lambda: lens(bert, asked.encoding, asked.open.ids))
    st.caption("What you are looking at: every layer read through the model's own masked-word head, as if it were the last. "
               "Each cell is the best word there, stronger colour is surer; orange frames the asked positions. The right "
               "column is what the model says; the left one has seen no context yet.")
    st.html(figures.lens(read, texts, asked.positions))
    known = [(place, query.spelling(bert, [piece])) for blank in asked.blanks
             for place, piece in zip(blank.positions, blank.true, strict=False)]
    if known:
        places, names = zip(*known, strict=True)
        layout.chart(figures.ranks(read, places, names), key="ranks",
                    looking="What you are looking at: the rank of the true word after each layer; 1 is the first guess. "
                            f"Chance is rank {bert.tokenizer.size // 2:,}, the middle of the vocabulary.",
                    alt="Lines of the true word's rank by layer: " + "; ".join(
                        f"{name} {', '.join(str(rank + 1) for rank in read.rank[:, place])}"
                        for place, name in known))


def attention(bert: Bert, asked: Question) -> None:
    """Attention before and after masking."""
    found = session.answer(bert, "refocus", (asked.open, asked.encoding),
                         lambda: refocus(bert, asked.open, asked.encoding))
    count, heads = found.before.shape[:2]
    layout.chart(figures.moved(found), key="moved",
                looking="What you are looking at: the share of each head's attention that went elsewhere because the words "
                        "were masked. Nothing masked is 0 %.",
                alt=f"Heatmap of {count} layers by {heads} heads; the most moved is {found.moved.max():.0%}.")
    busiest = int(found.moved.argmax())
    left, right = st.columns(2)
    layer = left.number_input("Layer", 1, count, busiest // heads + 1, key="moved_layer")
    head = right.number_input("Head", 1, heads, busiest % heads + 1, key="moved_head")
    texts = [token.text if token.text == other.text else f"{other.text}→{token.text}"
             for token, other in zip(asked.encoding.tokens, asked.open.tokens, strict=True)]
    layout.chart(figures.difference(found.difference[layer - 1, head - 1], texts), key="difference",
                looking=f"What you are looking at: layer {layer}, head {head}, attention after masking minus before. Blue "
                        "edges gained, orange ones lost; every row sums to zero.",
                alt=f"Difference of attention in layer {layer}, head {head}.")


def used(bert: Bert, asked: Question) -> None:
    """Occlusion and gradient × input side by side."""
    position, word, name = chosen(bert, asked)
    found = session.answer(bert, "attribution", (asked.encoding, position, word),
                         lambda: attribution.attribution(bert, asked.encoding, position, word))
    texts = [token.text for token in asked.encoding.tokens]
    layout.chart(figures.attribution(found, texts, position), key="used",
                looking=f"What you are looking at: what each word did for P({layout.plain(name)}) at the dotted line, "
                        "measured in two ways. Above, each word is masked in turn and log P falls (blue: it helped). "
                        "Below, the gradient at the embeddings times the embedding. Zero is a word that did nothing.",
                alt="Bars of occlusion and gradient times input for each token.")
    st.markdown(f"The two ways order the words with a rank correlation of **{found.correlation:.2f}** (Spearman, of the "
                "sizes; 1 is the same order, 0 is no agreement). Where they disagree, neither is the explanation: "
                "occlusion shows the model an input it may never see, the gradient looks only at the smallest change.")
