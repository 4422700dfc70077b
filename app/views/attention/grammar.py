"""Which head follows which grammatical relation, against the best fixed offset."""

import streamlit as st

from app import frame, jobs, limits, state
from app import panel as job_panel
from app.components import board
from app.components.board import Choice, Picture
from app.figures import attention as figures
from model import Bert, Trace
from model.trace import trace as traced
from probes import headruns, relations

WORK = "probes.headruns:grammar"
LEAST = 10  # a relation seen more rarely says nothing


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    st.markdown("For each word of a treebank, a head *guesses* the word it looks at most (itself aside). How often is that "
                "the word's grammatical head, or its dependent? Clark et al. (2019) asked this of BERT.")
    given = st.file_uploader("A treebank in CoNLL-U, or nothing for the small world", type=["conllu"], key="treebank_file")
    arguments = {"source": state.source(), "sentences": limits.TREEBANK_SENTENCES, "least": LEAST}
    if st.button("Score every head", type="primary"):
        files = {"treebank.conllu": given.getvalue()} if given is not None else {}
        jobs.submit(WORK, arguments, "Which head follows which relation", files)
    latest = jobs.latest(WORK, arguments)
    if latest is None:
        return
    job = job_panel.job(latest.id)
    if (job.folder / headruns.RESULT).is_file():
        _found(bert, *headruns.grammar_found(job.folder))


def _found(bert: Bert, found: relations.Relations, examples: list[dict]) -> None:
    table = found.table(LEAST)
    st.caption(f"What you are looking at: the best head for each relation over {found.sentences:,} sentences, beside the "
               "best fixed offset (“always the next word”) on the same words. A head below its baseline has learned nothing "
               "that position does not tell. The best of many heads is picked on these same sentences, so small gains are "
               "luck. Click a row to see the relation in a sentence.")
    on_screen = table.assign(layer=table["layer"] + 1, head=table["head"] + 1)
    shares = {name: st.column_config.NumberColumn(format="percent") for name in ("accuracy", "baseline", "gain")}
    picked = st.dataframe(on_screen, hide_index=True, column_config=shares, on_select="rerun", key="relations",
                          selection_mode="single-row", alt="Best head for each grammatical relation with its baseline")
    rows = picked["selection"]["rows"]
    row = table.iloc[rows[0] if rows else 0]
    _relation(bert, found, row, next((e for e in examples if e["relation"] == row["relation"]
                                      and e["direction"] == row["direction"]), None))


def _relation(bert: Bert, found: relations.Relations, row, example: dict | None) -> None:
    direction = relations.DIRECTIONS.index(row["direction"])
    chosen = (int(row["layer"]), int(row["head"]))
    frame.chart(figures.grid(found.accuracy(row["relation"])[direction], "accuracy", chosen), key="relation_grid",
                looking=f"What you are looking at: accuracy of every head for *{frame.plain(row['relation'])}* "
                        f"({row['direction']}, {row['count']} words). Baseline: offset {row['offset']:+d} is right in "
                        f"{row['baseline']:.0%}.",
                alt=f"Grid of accuracies for the relation {row['relation']}.")
    if example is None:
        return
    one = traced(bert, bert.tokenizer.encode_words(example["words"]))
    ends = (example["dependent"], example["head"]) if direction == 0 else (example["head"], example["dependent"])
    pin = tuple(next(t.position for t in one.tokens if t.word == word) for word in ends)
    st.markdown(f"A sentence in which head {chosen[1] + 1} of layer {chosen[0] + 1} is right: "
                f"itself aside, *{frame.plain(example['words'][ends[0]])}* looks most at "
                f"*{frame.plain(example['words'][ends[1]])}*.")
    shown = Picture(one.attention, one.texts, words=[token.word for token in one.tokens])
    start = Choice("head", chosen[0], (chosen[1],), "words", ("special",), pin=(pin[0], None))
    board.board(shown, choice=start, turn=hash((row["relation"], row["direction"], tuple(example["words"]))) % 10**6,
                key="relation_board")
