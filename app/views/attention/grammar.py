"""Which head follows which grammatical relation, against the best fixed offset."""

import pandas as pd
import streamlit as st

from app import layout, limits, ownership, session
from app.components import board
from app.components.board import BoardData, BoardState
from app.figures import attention as figures
from app.figures import trees
from app.jobs import panel as job_panel
from app.views.probes import result as probe_result
from app.widgets import claim, remembered_job
from app.widgets.dropdown import dropdown
from app.work import heads
from model import Bert, InputError, Trace
from model.trace import trace as trace_encoding
from probes.heads import ablation, dependency_relations
from probes.heads.dependency_relations import RelationCounts, RelationExample
from probes.probing import apply, experiment, features, results
from probes.probing.alignment import align
from probes.probing.results import ProbingResult

WORK = "app.work.heads:grammar"
JOB = "treebank_job"  # in the address
OPENING_SENTENCES = 150  # scored without an order
ABOUT = (
    "For each word of a treebank, an attention head *guesses* the word it depends on (its governor): the other word it "
    "attends to most, or the other word that attends to it most (Clark et al., 2019). An attention head below its baseline "
    "has learned nothing that position does not tell. The best of many is picked on these same sentences, so small gains "
    "are luck. Relations are those of Universal Dependencies: nsubj subject, obj object, det article, amod adjective, "
    "nummod number, expl *there*, cop *be*, aux auxiliary, case preposition, advmod adverb, conj joined by *and*, cc *and*."
)
MIN_COUNT = 10  # a relation seen more rarely says nothing
UPLOAD = "upload"
SOURCES = {
    experiment.READER: "The reader: everyday English, annotated by hand",
    experiment.SMALL_WORLD: "The small world",
    UPLOAD: "A treebank I upload",
}
# Universal Dependencies' own names, with plain words before them
RELATIONS = {
    "nsubj": "subjects (nsubj)",
    "obj": "objects (obj)",
    "det": "articles (det)",
    "amod": "adjectives (amod)",
    "case": "prepositions (case)",
    "aux": "auxiliaries (aux)",
    "advmod": "adverbs (advmod)",
    "nmod": "nouns at nouns (nmod)",
    "obl": "obliques (obl)",
    "mark": "conjunctions of clauses (mark)",
    "cop": "copulas (cop)",
    "compound": "compounds (compound)",
    "conj": "conjuncts (conj)",
    "cc": "coordinators (cc)",
    "xcomp": "open clauses (xcomp)",
    "ccomp": "complement clauses (ccomp)",
    "advcl": "adverbial clauses (advcl)",
    "acl": "clauses at nouns (acl)",
}
SHARES = ("accuracy", "baseline", "gain")


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    answer = st.container()
    source = dropdown("Sentences with trees", SOURCES, "trees", help="A treebank in CoNLL-U can be uploaded.")
    upload = None
    if source == UPLOAD:
        upload = st.file_uploader(
            "A treebank in CoNLL-U",
            type=["conllu"],
            key="treebank_file",
            max_upload_size=limits.UPLOAD_MEGABYTES,
            on_change=remembered_job.forget,
            args=(JOB,),
        )
        if upload is None:
            st.info("Choose a file: .conllu.")
            return
        treebank = session.dataset(upload.name, upload.getvalue())
        st.caption(
            f"{layout.escape(upload.name)}: {len(treebank):,} sentences; up to {limits.TREEBANK_SENTENCES:,} are read."
        )
    files = {} if upload is None else {heads.TREEBANK: upload.getvalue()}
    arguments = {
        "source": session.checkpoint_path(),
        "sentences": limits.TREEBANK_SENTENCES,
        "data": upload.name if upload else source,
    }
    if st.button("Score every head", type="primary"):
        remembered_job.remember(JOB, ownership.submit(WORK, arguments, "Which head follows which relation", files))
    wanted = {"source": arguments["source"], "data": arguments["data"]}
    latest = remembered_job.latest(WORK, arguments) if upload is None else None
    current = remembered_job.current(JOB, WORK, wanted) or latest
    job = None if current is None else job_panel.show(current.id)
    with answer:
        if job is not None and (job.folder / heads.RESULT).is_file():
            _result(bert, heads.grammar_result(job.folder), job.arguments["data"])
        elif upload is None:
            _result(bert, _first_counts(bert, source), source)
    _own_sentence(bert, trace)
    _claim(bert)


def _first_counts(bert: Bert, source: str) -> RelationCounts:
    """What nobody has to order: the first sentences."""

    def compute() -> RelationCounts:
        with st.spinner("Scoring every head …"):
            sentences = session.dataset(source, None).sentences[:OPENING_SENTENCES]
            *_, counts = dependency_relations.count(bert, align(bert, sentences).sentences)
            return counts

    return session.answer(bert, "relations", (source, OPENING_SENTENCES), compute)


def _own_sentence(bert: Bert, trace: Trace) -> None:
    """Arcs over the sentence above the page: nobody annotated it, so a structural probe predicts them."""
    st.header("Your sentence: a predicted tree", anchor=False)
    probe = _tree_probe(bert)
    if probe is None:
        st.info("No structural probe was trained on these weights: on Probes, train one for the whole tree.")
        return
    text = session.texts()[0]
    try:
        sentence = apply.from_text(bert, text)
        edges = apply.predict_tree(probe, bert, sentence)
    except InputError as error:
        st.info(layout.escape(str(error)))
        return
    best = results.best_row(probe)
    layer = int(best["layer"])
    layout.chart(
        trees.against(list(sentence.words), edges[layer], None),
        key="own_tree",
        finding=f"Predicted, not annotated: {len(edges[layer])} arcs by the structural probe of layer {layer} (Hewitt & "
        f"Manning, 2019). On the test sentences of {layout.escape(probe.settings['data'])} it finds {best['uuas']:.0%} of "
        f"the edges, random weights {best['random_init']:.0%}, joining each word with the next {best['chain']:.0%}.",
        alt="Predicted arcs: "
        + ", ".join(f"{sentence.words[first]} with {sentence.words[second]}" for first, second in sorted(edges[layer])),
    )


def _tree_probe(bert: Bert) -> ProbingResult | None:
    """The newest structural probe on these weights that has the map of its best layer, or the shipped one."""
    own, _ = probe_result.stored(
        [job for job in ownership.own_jobs() if job.work == probe_result.WORK and job.state == "done"]
    )
    for result in [*own.values(), *session.probing_results().values()]:
        settings = result.settings
        same_weights = settings["model_digest"] == features.digest(bert) and settings["weights_seed"] is None
        if result.kind == "tree" and same_weights and str(int(results.best_row(result)["layer"])) in result.weights:
            return result
    return None


def _claim(bert: Bert) -> None:
    """“Head i-j finds r”, stated before looking."""
    st.header("Is it real?", anchor=False)
    st.markdown(claim.RULE)
    first, second, third = st.columns(3)
    layer = first.selectbox("Layer", list(range(1, bert.config.num_hidden_layers + 1)), key="claim-head-layer")
    head = second.selectbox("Head", list(range(1, bert.config.num_attention_heads + 1)), key="claim-head")
    relation = third.selectbox("finds", RELATIONS, key="claim-relation", format_func=RELATIONS.__getitem__)
    claim.ask(
        "app.work.claims:head_finds",
        "head_claim",
        f"Is it real? Head {layer}-{head} finds {relation}",
        {"relation": relation, "layer": layer - 1, "head": head - 1},
    )


def _result(bert: Bert, counts: RelationCounts, name: str) -> None:
    table = counts.table(MIN_COUNT)
    if table.empty:
        st.info(f"No relation occurs {MIN_COUNT} times in these {counts.sentences:,} sentences: too few to say anything.")
        return
    best = table.iloc[0]
    st.caption(
        f"For *{layout.escape(best['relation'])}*, layer {best['layer'] + 1} head {best['head'] + 1} gains most over "
        f"position: it is right in {best['accuracy']:.0%}, the best fixed offset ({best['offset']:+d}) in "
        f"{best['baseline']:.0%}, over {counts.sentences:,} sentences of {layout.escape(SOURCES.get(name, name))}. "
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
    if example.heads:
        layout.chart(
            trees.gold(example.words, example.heads, example.relations, example.dependent),
            key="gold_tree",
            finding=f"The tree as it was annotated: *{dependent}* hangs on *{governor}* as {layout.escape(relation)}.",
            alt=f"Arcs of the gold tree; {example.words[example.dependent]} hangs on {example.words[example.head]}.",
        )
    data = BoardData(trace.attention, trace.wordpieces, words=[token.word for token in trace.tokens])
    pin = (position, None) if arc == 0 else (None, position)
    start = BoardState("head", layer, (head,), "words", ("special",), pin=pin)
    board.board(data, choice=start, turn=hash((relation, arc, chosen, example)) % 10**6, key="relation_board")
