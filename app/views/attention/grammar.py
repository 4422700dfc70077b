"""Which head follows which grammatical relation, against the best fixed offset."""

import streamlit as st

from app import jobs, layout, limits, session
from app.components import board
from app.components.board import Choice, Picture
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.widgets import remembered_job
from app.work import heads
from model import Bert, Trace
from model.trace import trace as traced
from probes.heads import dependency_relations

WORK = "app.work.heads:grammar"
ORDERED = "scored"
LEAST = 10  # a relation seen more rarely says nothing
SHARES = ("accuracy", "baseline", "gain")


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    st.markdown("For each word of a treebank, a head *guesses* the word it belongs to: the other word it looks at most, or "
                "the other word that looks at it most. How often is that its grammatical head? Clark et al. (2019) asked "
                "this of BERT.")
    given = st.file_uploader("A treebank in CoNLL-U, or nothing for the small world", type=["conllu"], key="treebank_file",
                             max_upload_size=limits.UPLOAD_MEGABYTES, on_change=remembered_job.forget, args=(ORDERED,))
    content = None if given is None else given.getvalue()
    if given is not None:
        bank = session.bank(given.name, content)
        st.caption(f"{layout.plain(given.name)}: {len(bank):,} sentences; up to {limits.TREEBANK_SENTENCES:,} are read.")
    arguments = {"source": session.source(), "sentences": limits.TREEBANK_SENTENCES, "name": given.name if given else ""}
    if st.button("Score every head", type="primary"):
        files = {} if content is None else {heads.TREEBANK: content}
        remembered_job.remember(ORDERED, jobs.submit(WORK, arguments, "Which head follows which relation", files))
    found = remembered_job.job(ORDERED, WORK) or (jobs.latest(WORK, arguments) if given is None else None)
    if found is None:
        return
    job = job_panel.job(found.id)
    if (job.folder / heads.RESULT).is_file():
        _found(bert, heads.grammar_found(job.folder), job.arguments["name"])


def _found(bert: Bert, found: dependency_relations.Relations, name: str) -> None:
    table = found.table(LEAST)
    if table.empty:
        st.info(f"No relation occurs {LEAST} times in these {found.sentences:,} sentences: too few to say anything.")
        return
    st.caption(f"What you are looking at: the best head for each relation over {found.sentences:,} sentences of "
               f"{layout.plain(name) or 'the small world'}, beside the best fixed offset (“always the next word”) on those "
               "words. A head below its baseline has learned nothing that position does not tell. The best of many heads is "
               "picked on these same sentences, so small gains are luck. **Click any cell to see its relation in a "
               "sentence.**")
    on_screen = table.assign(layer=table["layer"] + 1, head=table["head"] + 1)
    columns = {name: st.column_config.NumberColumn(format="percent") for name in SHARES}
    picked = st.dataframe(on_screen, hide_index=True, column_config=columns, on_select="rerun", key="relations",
                          selection_mode="single-cell", alt="Best head for each grammatical relation with its baseline")
    cells = picked["selection"]["cells"]
    _relation(bert, found, table.iloc[cells[0][0] if cells else 0])


def _relation(bert: Bert, found: dependency_relations.Relations, row) -> None:
    relation, direction = row["relation"], dependency_relations.DIRECTIONS.index(row["direction"])
    accuracy = found.accuracy(relation)[direction]
    best = divmod(int(accuracy.argmax()), found.heads)
    order = sorted(((layer, head) for layer in range(found.layers) for head in range(found.heads)),
                   key=lambda one: (one != best, -accuracy[one], one))
    st.subheader(f"{layout.plain(relation)}: {row['direction']}", anchor=False)
    chosen = st.selectbox("Head, the best first", order, key=f"head_for_{relation}_{direction}",
                          format_func=lambda one: f"layer {one[0] + 1}, head {one[1] + 1}: right in {accuracy[one]:.0%}")
    _sentence(bert, found.example(relation, row["direction"], *chosen), chosen, direction, relation)
    layout.chart(figures.grid(accuracy, "accuracy", chosen), key="relation_grid",
                looking=f"What you are looking at: accuracy of every head for *{layout.plain(relation)}* "
                        f"({row['direction']}, {row['count']:,} words); the chosen head is framed. Baseline: offset "
                        f"{row['offset']:+d} is right in {row['baseline']:.0%}.",
                alt=f"Grid of accuracies for the relation {relation}.")


def _sentence(bert: Bert, example: dependency_relations.Example | None, chosen: tuple[int, int], direction: int,
              relation: str) -> None:
    name = f"head {chosen[1] + 1} of layer {chosen[0] + 1}"
    if example is None:
        st.info(f"There is no sentence to show: {name} is never right about *{layout.plain(relation)}* here.")
        return
    one = traced(bert, bert.tokenizer.encode_words(example.words))
    dependent, above = (layout.plain(example.words[word]) for word in (example.dependent, example.head))
    place = next(token.position for token in one.tokens if token.word == example.dependent)
    st.markdown(f"A sentence in which {name} is right about **{dependent}**, whose head is **{above}**: " +
                (f"apart from itself, *{dependent}* looks most at *{above}*." if direction == 0 else
                 f"no other word looks at *{dependent}* as much as *{above}* does."))
    shown = Picture(one.attention, one.texts, words=[token.word for token in one.tokens])
    start = Choice("head", chosen[0], (chosen[1],), "words", ("special",),
                   pin=(place, None) if direction == 0 else (None, place))
    board.board(shown, choice=start, turn=hash((relation, direction, chosen, example)) % 10**6, key="relation_board")
