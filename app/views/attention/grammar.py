"""Which head follows which grammatical relation, against the best fixed offset."""

import pandas as pd
import streamlit as st

from app import layout, limits, ownership, session
from app.components import board
from app.components.board import BoardData, BoardState
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.widgets import remembered_job
from app.work import heads
from model import Bert, Trace
from model.trace import trace as trace_encoding
from probes.heads import ablation, dependency_relations
from probes.heads.dependency_relations import RelationCounts, RelationExample
from probes.probing import experiment
from probes.probing.alignment import align

WORK = "app.work.heads:grammar"
JOB = "treebank_job"  # in the address
OPENING_SENTENCES = 150  # of the small world, scored without an order
ABOUT = (
    "For each word of a treebank, an attention head *guesses* the word it depends on (its governor): the other word it "
    "attends to most, or the other word that attends to it most (Clark et al., 2019). An attention head below its baseline "
    "has learned nothing that position does not tell. The best of many is picked on these same sentences, so small gains "
    "are luck. Relations are those of Universal Dependencies: nsubj subject, obj object, det article, amod adjective, "
    "nummod number, expl *there*, cop *be*, aux auxiliary, case preposition, advmod adverb, conj joined by *and*, cc *and*."
)
MIN_COUNT = 10  # a relation seen more rarely says nothing
SHARES = ("accuracy", "baseline", "gain")


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    answer = st.container()
    upload = st.file_uploader(
        "Another treebank in CoNLL-U, or nothing for all of Small world, the generated mini-language",
        type=["conllu"],
        key="treebank_file",
        max_upload_size=limits.UPLOAD_MEGABYTES,
        on_change=remembered_job.forget,
        args=(JOB,),
    )
    files = {} if upload is None else {heads.TREEBANK: upload.getvalue()}
    if upload is not None:
        treebank = session.dataset(upload.name, upload.getvalue())
        st.caption(
            f"{layout.escape(upload.name)}: {len(treebank):,} sentences; up to {limits.TREEBANK_SENTENCES:,} are read."
        )
    arguments = {
        "source": session.checkpoint_path(),
        "sentences": limits.TREEBANK_SENTENCES,
        "name": upload.name if upload else "",
    }
    if st.button("Score every head", type="primary"):
        remembered_job.remember(JOB, ownership.submit(WORK, arguments, "Which head follows which relation", files))
    current = remembered_job.current(JOB, WORK) or (remembered_job.latest(WORK, arguments) if upload is None else None)
    job = None if current is None else job_panel.show(current.id)
    with answer:
        if job is not None and (job.folder / heads.RESULT).is_file():
            _result(bert, heads.grammar_result(job.folder), job.arguments["name"])
        else:
            _result(bert, _first_counts(bert), "")


def _first_counts(bert: Bert) -> RelationCounts:
    """What nobody has to order: a few sentences of the small world."""

    def compute() -> RelationCounts:
        with st.spinner("Scoring every head …"):
            sentences = session.dataset(experiment.SMALL_WORLD, None).sentences[:OPENING_SENTENCES]
            *_, counts = dependency_relations.count(bert, align(bert, sentences).sentences)
            return counts

    return session.answer(bert, "relations", (OPENING_SENTENCES,), compute)


def _result(bert: Bert, counts: RelationCounts, name: str) -> None:
    table = counts.table(MIN_COUNT)
    if table.empty:
        st.info(f"No relation occurs {MIN_COUNT} times in these {counts.sentences:,} sentences: too few to say anything.")
        return
    best = table.iloc[0]
    st.caption(
        f"For *{layout.escape(best['relation'])}*, layer {best['layer'] + 1} head {best['head'] + 1} gains most over "
        f"position: it is right in {best['accuracy']:.0%}, the best fixed offset ({best['offset']:+d}) in "
        f"{best['baseline']:.0%}, over {counts.sentences:,} sentences of {layout.escape(name) or 'Small world'}. "
        "**Click any cell to see its relation in a sentence.**",
        help=ABOUT,
    )
    selected = st.dataframe(
        table.assign(layer=table["layer"] + 1, head=table["head"] + 1),
        hide_index=True,
        column_config={share: st.column_config.NumberColumn(format="percent") for share in SHARES},
        on_select="rerun",
        key="relations",
        selection_mode="single-cell",
        alt="Best head for each grammatical relation with its baseline",
    )
    cells = selected["selection"]["cells"]
    _relation(bert, counts, table.iloc[cells[0][0] if cells else 0])


def _relation(bert: Bert, counts: RelationCounts, row: pd.Series) -> None:
    """One relation in one direction: any head, a sentence in which it is right, and the accuracy of all."""
    relation, direction = str(row["relation"]), str(row["direction"])
    arc = dependency_relations.ARC_DIRECTIONS.index(direction)
    grid = counts.accuracy(relation)[arc]  # (layers, heads)
    accuracy = dict(ablation.strongest(grid, count=grid.size))
    st.header(f"{layout.escape(relation)}: {direction}", anchor=False)
    layer, head = st.selectbox(
        "Head, the best first",
        list(accuracy),
        key=f"head_for_{relation}_{arc}",
        format_func=lambda one: f"layer {one[0] + 1}, head {one[1] + 1}: right in {accuracy[one]:.0%}",
    )
    _sentence(bert, counts.example(relation, direction, layer, head), (layer, head), arc, relation)
    layout.chart(
        figures.grid(grid, "accuracy", (layer, head)),
        key="relation_grid",
        finding=f"Layer {layer + 1} head {head + 1} (framed) is right about {accuracy[layer, head]:.0%} of {row['count']:,} "
        f"words with *{layout.escape(relation)}* ({direction}); the best fixed offset ({row['offset']:+d}) is right in "
        f"{row['baseline']:.0%}.",
        alt=f"Grid of accuracies for the relation {relation}.",
    )


def _sentence(bert: Bert, example: RelationExample | None, chosen: tuple[int, int], arc: int, relation: str) -> None:
    layer, head = chosen
    name = f"head {head + 1} of layer {layer + 1}"
    if example is None:
        st.info(f"There is no sentence to show: {name} is never right about *{layout.escape(relation)}* here.")
        return
    trace = trace_encoding(bert, bert.tokenizer.encode_words(example.words))
    dependent, governor = (layout.escape(example.words[word]) for word in (example.dependent, example.head))
    position = next(token.position for token in trace.tokens if token.word == example.dependent)
    st.markdown(
        f"A sentence in which {name} is right about **{dependent}**, which depends on **{governor}**: "
        + (
            f"apart from itself, *{dependent}* attends most to *{governor}*."
            if arc == 0
            else f"no other word attends to *{dependent}* as much as *{governor}* does."
        )
    )
    data = BoardData(trace.attention, trace.wordpieces, words=[token.word for token in trace.tokens])
    pin = (position, None) if arc == 0 else (None, position)
    start = BoardState("head", layer, (head,), "words", ("special",), pin=pin)
    board.board(data, choice=start, turn=hash((relation, arc, chosen, example)) % 10**6, key="relation_board")
