"""Several masks filled together: the same blanks decoded in four ways, compared by one joint probability."""

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import mask as figures
from model import Bert, InputError
from probes.cloze import joint
from probes.cloze.joint import Decoding
from probes.cloze.query import ClozeQuery

METHODS = {
    "independent": "each alone (what BERT gives)",
    "left to right": "left to right",
    "confidence first": "highest confidence first",
    "best first": "best-first search",
}


def section(bert: Bert, query: ClozeQuery) -> None:
    positions = tuple(query.mask_positions)
    if not 2 <= len(positions) <= limits.MASKS_FILLED:
        raise InputError(
            f"Mask between two and {limits.MASKS_FILLED} wordpieces to fill them together: {len(positions)} are masked now."
        )
    decodings = session.answer(
        bert, "fillings", (query.encoding, positions), lambda: joint.decode_all(bert, query.encoding, positions)
    )
    independent = next(decoding for decoding in decodings if decoding.method == "independent")
    best = max(decodings, key=lambda decoding: decoding.log_prob)
    st.caption(
        f"*{layout.escape(_words(bert, best))}* has the highest joint probability of four ways to fill the masks, "
        f"{figures.percent(best.probability)} ({METHODS[best.method]}); each mask filled alone gives "
        f"{figures.percent(independent.probability)}. BERT predicts each mask as if the others stayed masked, so its best "
        "words need not fit together. The joint probability is the chain rule from left to right, for every row alike."
    )
    st.dataframe(
        pd.DataFrame([_row(bert, decoding) for decoding in decodings]),
        hide_index=True,
        height="content",
        alt="Four fillings and their joint probability",
        column_config={"log": st.column_config.NumberColumn("log P", format="%.2f")},
    )


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
