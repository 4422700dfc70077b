"""Several masks filled together: the same blanks decoded in four ways, compared by one joint probability."""

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import mask as figures
from model import Bert, Encoding
from probes import cloze
from probes.cloze import joint, query
from probes.cloze.joint import Decoding
from probes.cloze.query import ClozeQuery

WORDS_TRIED = 12  # words of a sentence among which two that clash are looked for
METHODS = {
    "independent": "each alone (what BERT gives)",
    "left to right": "left to right",
    "confidence first": "highest confidence first",
    "best first": "best-first search",
}


def section(bert: Bert, cloze_query: ClozeQuery) -> None:
    positions = tuple(cloze_query.mask_positions)
    if not 2 <= len(positions) <= limits.MASKS_FILLED:
        st.info(
            f"{len(positions)} wordpiece{' is' if len(positions) == 1 else 's are'} masked now: click words until between "
            f"two and {limits.MASKS_FILLED} are, and they are filled together.",
            icon=":material/visibility_off:",
        )
        return
    decodings = session.answer(
        bert, "fillings", (cloze_query.encoding, positions), lambda: joint.decode_all(bert, cloze_query.encoding, positions)
    )
    independent = next(decoding for decoding in decodings if decoding.method == "independent")
    best = max(decodings, key=lambda decoding: decoding.log_prob)
    alone = f"*{layout.escape(_words(bert, independent))}* ({figures.percent(independent.probability)})"
    st.caption(
        f"*{layout.escape(_words(bert, best))}* has the highest joint probability of four ways to fill the masks, "
        f"{figures.percent(best.probability)} ({METHODS[best.method]}); each mask filled alone gives "
        + ("the same words." if independent.ids == best.ids else f"{alone}."),
        help="BERT predicts each mask as if the others stayed masked, so its best words need not fit together (joint "
        "decoding). The joint probability is the chain rule from left to right, for every row alike.",
    )
    st.dataframe(
        pd.DataFrame([_row(bert, decoding) for decoding in decodings]),
        hide_index=True,
        height="content",
        alt="Four fillings and their joint probability",
        column_config={"log": st.column_config.NumberColumn("log P", format="%.2f")},
    )


def clashing_words(bert: Bert, encoding: Encoding) -> list[int]:
    """Two near words of sentence A, by their indices, whose best words alone fit together worst."""
    words = [word for word, _ in query.words(encoding)][:WORDS_TRIED]

    def clash(pair: tuple[int, int]) -> float:
        positions = tuple(token.position for token in encoding.tokens if token.segment == 0 and token.word in pair)
        masked = cloze.mask(bert, encoding, positions)
        one_by_one = joint.left_to_right(bert, masked, positions)
        return one_by_one.log_prob - joint.independent(bert, masked, positions).log_prob

    def compute() -> list[int]:
        with st.spinner("Looking for two words whose best fillings clash …"):
            return list(max(pairs, key=clash))

    pairs = [(word, other) for word, *after in (words[at : at + 3] for at in range(len(words))) for other in after]
    return session.answer(bert, "clash", (encoding,), compute) if pairs else words


def _words(bert: Bert, decoding: Decoding) -> str:
    return " · ".join(bert.tokenizer.vocabulary[piece] for piece in decoding.ids)


def _row(bert: Bert, decoding: Decoding) -> dict[str, str | float]:
    return {
        "method": METHODS[decoding.method],
        "filled with": _words(bert, decoding),
        "joint probability": figures.percent(decoding.probability),
        "log": decoding.log_prob,
        "decided in the order": " → ".join(str(decoding.positions.index(position) + 1) for position in decoding.order),
    }
