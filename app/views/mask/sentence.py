"""A whole sentence: each word masked in turn, and two sentences compared."""

import pandas as pd
import streamlit as st

from app import limits, session
from app.figures import mask as figures
from model import Bert, Encoding, InputProblem
from probes import cloze

VARIANTS = {"within_word_l2r": "with the rest of its word", "original": "alone"}
ABOUT = ("A word of several wordpieces gives its own pieces away: with *##gre* and *##ation* in sight *con* is easy, and a "
         "rare word looks likely. So by default the later pieces of a word are hidden together with the one asked for, as "
         "if the word were spelled from left to right (Kauf & Ivanova, 2023). *Alone* is the older way (Salazar et al., "
         "2020), to compare with published numbers. Words of one piece score alike in both.")
# agreement over a distance: which of the two is English is known, so the score can be checked
EXAMPLE = {"a": "The keys to the old cabinet are on the table.", "b": "",
           "rival": "The keys to the old cabinet is on the table."}


def section(bert: Bert, encoding: Encoding) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    rival = left.text_input("Compare with another sentence", key="rival", bind="query-params",
                            placeholder="a second version of sentence A", max_chars=limits.TEXT_CHARACTERS).strip()
    right.button("Try: the keys … are / is", on_click=st.session_state.update, args=(EXAMPLE,))
    listed = [encoding, *([bert.tokenizer.encode(rival, session.texts()[1])] if rival else [])]
    for one in listed:
        if len(one) > limits.SENTENCE_SCORED:
            raise InputProblem(f"Scoring masks every word in turn, so at most {limits.SENTENCE_SCORED} wordpieces can be "
                               f"scored here; this input has {len(one)}.")
    variant = st.segmented_control("A wordpiece is hidden", list(VARIANTS), default="within_word_l2r", required=True,
                                   key="variant", bind="query-params", format_func=lambda name: VARIANTS[name], help=ABOUT)
    scores = session.answer(bert, "scores", (tuple(listed), variant),
                          lambda: cloze.each(bert, listed, variant or "within_word_l2r"))
    st.caption(f"This input scores {float(scores[0].sum()):.2f} nats over {len(scores[0])} wordpieces: each is masked in "
               "turn, and the logarithms of the probability of the piece that stands there are added up "
               "(pseudo-log-likelihood; Salazar et al., 2020). Pale was foreseen, orange was a surprise.")
    for one, logs in zip(listed, scores, strict=True):
        texts = [t.text for t in one.tokens if not t.special and t.id != bert.tokenizer.mask]
        st.html(figures.coloured(texts, logs))
    table = pd.DataFrame({"sentence": [" ".join(one.texts) for one in listed],
                          "wordpieces": [len(logs) for logs in scores],
                          "score": [float(logs.sum()) for logs in scores],
                          "per piece": [float(logs.mean()) for logs in scores]})
    st.dataframe(table, hide_index=True, height="content", alt="Scores of the sentences",
                 column_config={"score": st.column_config.NumberColumn("sum of log P", format="%.2f"),
                                "per piece": st.column_config.NumberColumn("mean of log P", format="%.2f")})
    if rival:
        _verdict(scores)


def _verdict(scores) -> None:
    first, second = (float(logs.sum()) for logs in scores)
    better = "first" if first >= second else "second"
    st.markdown(f"The model finds the **{better}** sentence more natural, by {abs(first - second):.2f} nats"
                + ("." if len(scores[0]) == len(scores[1]) else
                   "; they differ in length, and every further piece lowers a sum: look at the mean as well."))
