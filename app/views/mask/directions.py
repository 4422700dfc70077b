"""Why both directions: one blank seen from the left, the right, both apart, both at once; and models trained so."""

import streamlit as st

from app import layout, session
from app.figures import mask as figures
from app.figures import strategies, word_bars
from app.views.mask import inside
from model import Bert
from probes import bundled, cloze
from probes.cloze import directions
from probes.cloze.query import Question

NAMES = {"left": "left only (as GPT reads)", "right": "right only", "averaged": "apart, then averaged (as ELMo)",
         "both": "both at once (BERT)"}
EXAMPLE = "The seller [MASK] them and sold them the apples."


def section(bert: Bert, asked: Question) -> None:
    position, word, name = inside.chosen(bert, asked)
    found = session.answer(bert, "sights", (asked.encoding, position),
                         lambda: directions.predictions(bert, asked.encoding, position))
    rows = [(NAMES[key], float(row[word])) for key, row in found.items()]
    layout.chart(figures.sights(rows), key="sights",
                looking=f"What you are looking at: P({layout.plain(name)}) in the same blank when attention is blocked on "
                        "one side in every layer. This model learned with both sides in sight, so one-sided numbers show "
                        "what it misses, not what a one-sided model could learn; that comes below.",
                alt="; ".join(f"{key} {share:.2%}" for key, share in rows))
    cells = [*st.columns(2), *st.columns(2)]
    for cell, (key, row) in zip(cells, found.items(), strict=True):
        with cell:
            _best(bert, row, NAMES[key], f"sight-{key}", name)
    _trained()
    _asked()


def _trained() -> None:
    st.subheader("Trained from scratch with each sight", anchor=False)
    results = bundled.results("sight")
    lines = [("commonest word", float(results["masked_common"].max())), ("best possible", bundled.ceiling("sight"))]
    layout.chart(strategies.seeds(results, "masked", [(key, NAMES[key]) for key in directions.SIGHTS], lines),
                key="trained-sights",
                looking="What you are looking at: held-out masked words named correctly by small models that learned with "
                        f"each sight, all else equal. {bundled.said('sight')} Dots are seeds, bars their mean.",
                alt="; ".join(f"{key} {share:.1%}" for key, share in results.groupby("trial")["masked"].mean().items()))
    lead = directions.lead(results)
    if lead > 0:
        st.markdown(f"Both directions at once are ahead of the better single one by **{100 * lead:.1f} points**.")
    else:
        st.markdown(f"After so few steps both directions at once are still **{-100 * lead:.1f} points behind** the better "
                    "single one: with two sides to weigh, a model learns more slowly at first (the paper's Appendix C.1 "
                    "finds this too), and the dashed line shows how much is left to learn.")
    st.caption("The paper's nearest row (Devlin et al., 2019, Table 5): left to right and without next-sentence "
               "prediction, MNLI falls from 84.4 to 82.1 and SQuAD from 88.5 to 77.8. There whole tasks are judged after "
               "fine-tuning; here a word is guessed, in a small world where much is told on one side only.")
    with st.expander("The command that made this"):
        st.code(bundled.command("sight"), language="sh")


def _asked() -> None:
    """A sentence of the small world, filled by the three shipped models."""
    text = st.text_input("Ask these models: a sentence of the small world with one [MASK]", EXAMPLE, key="small",
                         bind="query-params", max_chars=400)
    trained = {name: session.load(str(folder)) for name, folder in bundled.sights().items()}
    encoding = trained["both"].tokenizer.encode(text)
    place = cloze.masks(trained["both"], encoding)[0]
    found = directions.trained(trained, encoding, place)
    cells = [*st.columns(2), *st.columns(2)]
    for cell, (key, row) in zip(cells, found.items(), strict=True):
        with cell:
            _best(trained["both"], row, NAMES[key], f"small-{key}", None)


def _best(bert: Bert, row, name: str, key: str, original: str | None) -> None:
    st.markdown(f"**{name}**")
    listed = cloze.listed(bert, row, 5)
    layout.chart(word_bars.bars(listed, original), key=key, looking="What you are looking at: its five best words.",
                alt=", ".join(f"{one.word} {one.probability:.1%}" for one in listed.itertuples()))
