"""One probing result, looked at from every side: layers, mistakes, live on a typed sentence, beside others."""

from urllib.parse import quote

import streamlit as st

from app import frame, limits, state
from app.figures import mistakes, trees
from app.figures import probes as figures
from model import Bert, CheckpointProblem
from probes import live, results
from probes.results import Result
from probes.structural import gold_edges
from probes.treebank import Sentence

SIDES = ("Layers", "Mistakes", "Live probe", "Compare")
RANDOM = ", random weights"


def want(name: str) -> None:
    """Let the next run of the page show this result: a choice on screen cannot be changed once it is drawn."""
    st.session_state["probe-wanted"] = name


def show(found: dict[str, Result]) -> None:
    """Choose one of the results and a side to look at it from."""
    wanted = st.session_state.pop("probe-wanted", None)
    if wanted in found:
        st.session_state["probe-result"] = wanted
    name = st.selectbox("Result", list(found), key="probe-result")
    result = found[name]
    _sizes(result)
    side = st.segmented_control("Show", SIDES, default=SIDES[0], required=True, key="side", bind="query-params",
                                label_visibility="collapsed")
    if side == "Layers":
        _layers(result)
    elif side == "Mistakes":
        _mistakes(result)
    elif side == "Live probe":
        _live_probe(found, name)
    else:
        _compare(found, name)


def _sizes(result: Result) -> None:
    sizes, settings = result.sizes, result.settings
    skipped = f" {sizes['skipped']} sentences are longer than the model and were left out." if sizes["skipped"] else ""
    st.caption(frame.plain(
        f"{result.title} in {settings['model']}, from {settings['data']}: {sizes['train']:,} examples to learn from, "
        f"{sizes['dev']:,} to tune, {sizes['test']:,} to test; seed {settings['seed']}.{skipped}"))
    if result in state.probed():
        st.caption("It comes with the project to show how the page is read. It is kept small on purpose: with more of these "
                   "simple sentences random weights do nearly as well, so it says little about real English.")


def _layers(result: Result) -> None:
    rows = results.table(result)
    score = figures.SCORE[result.kind]
    best = rows.loc[rows[score].idxmax()]
    left, right = st.columns([3, 2], gap="large")
    with left:
        frame.chart(
            figures.curve(result), key="curve",
            looking="What you are looking at: how often the probe is right on unseen sentences, layer by layer, with a "
                    "95 % interval, and what it must beat.",
            alt=f"Best at layer {int(best['layer'])} with {best[score]:.1%}; random weights {best['twin']:.1%} there.")
    with right:
        if result.kind == "labels":
            frame.chart(
                figures.selectivity(result), key="selectivity",
                looking="What you are looking at: accuracy minus accuracy on the control task, where every word drew "
                        "its label by lot. Near zero the probe only memorises.",
                alt="Selectivity by layer: " + ", ".join(f"{value:.2f}" for value in rows["selectivity"]))
        else:
            frame.chart(
                figures.correlations(result), key="correlations",
                looking="What you are looking at: how often the root is found, and how well distances and depths are "
                        "ordered; zero is chance for an order.",
                alt="Root accuracy and Spearman correlations by layer.")
        if "bits" in rows and "uniform_bits" in result.baselines:
            frame.chart(figures.code_lengths(result), key="bits",
                        looking="What you are looking at: bits it takes to send one label to someone who has the "
                                "states; short is easy to learn.",
                        alt="Online code length by layer, task and control, against a uniform code.")
        if result.mix:
            frame.chart(figures.mixed(result), key="mix",
                        looking=f"What you are looking at: the weight of each layer in a learned mix; its centre of "
                                f"gravity is layer {result.mix['centre']:.1f}. Dashed: equal shares.",
                        alt="Weights of the layers in the scalar mix.")
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(rows.round(4), hide_index=True)
        st.code(result.command, language="bash", wrap_lines=True)
    csv, whole = st.columns(2)
    stem = "".join(sign if sign.isalnum() else "-" for sign in result.name)
    csv.download_button("Table as CSV", rows.to_csv(index=False, float_format="%.5f"), f"{stem}.csv", "text/csv",
                        icon=":material/download:", width="stretch")
    whole.download_button("Everything as JSON", result.json(), f"{stem}.json", "application/json",
                          icon=":material/download:", width="stretch")


def _mistakes(result: Result) -> None:
    if not result.confusion:
        st.info("The structural probe draws trees, it gives no labels to confuse: see the live probe.")
        return
    rows = results.table(result)
    layers = rows["layer"].tolist()
    layer = st.selectbox("Layer", layers, index=int(rows["accuracy"].argmax()),
                         format_func=lambda one: "0, the embeddings" if one == 0 else str(one))
    left, right = st.columns(2, gap="large")
    with left:
        frame.chart(figures.confusion(result.confusion[str(layer)], result.classes), key="confusion",
                    looking="What you are looking at: a row for each true label, and what the probe took it for. "
                            "A perfect probe fills the diagonal only.",
                    alt=f"Confusion matrix of layer {layer} over {len(result.classes)} labels.")
    with right:
        st.caption("What you are looking at: test examples it got wrong. Click one to open it in Attention.")
        model = quote(result.settings["model"].removesuffix(RANDOM))
        st.html(mistakes.listed(result.mistakes[str(layer)], f"attention?model={model}"))


def _live_probe(found: dict[str, Result], name: str) -> None:
    text = st.text_input("Type a sentence", state.texts()[0], key="typed", bind="query-params",
                         max_chars=limits.TEXT_CHARACTERS)
    chosen = st.multiselect("Probes", list(found), default=[name])
    for number, one in enumerate(chosen):
        result = found[one]
        bert = _model_of(result)
        if result.kind == "tree":
            _trees(result, bert, text, number)
            continue
        said = live.labelled(result, bert, text)
        best = " and ".join(f"{unit}: {label}" for unit, label in zip(said.units, said.labels[-1], strict=True))
        frame.chart(figures.live(said), key=f"live-{number}",
                    looking=f"What you are looking at: {frame.plain(result.title)}, as the probe of each layer reads it; "
                            "stronger colour is surer. On the test sentences the best layer is right "
                            f"{max(row['accuracy'] for row in result.rows):.0%} of the time.",
                    alt=f"Labels at the last layer: {best}.")


def _trees(result: Result, bert: Bert, text: str, number: int) -> None:
    gold = {" ".join(one["words"]): one for one in result.examples}
    own = "the sentence typed above"
    picked = st.selectbox("Sentence", [own, *gold], index=1 if gold else 0, key=f"tree-sentence-{number}")
    if picked == own:
        sentence, edges = live.typed(bert, text), None
    else:
        one = gold[picked]
        sentence = Sentence(tuple(one["words"]), heads=tuple(one["heads"]), relations=tuple(one["relations"]))
        edges = gold_edges(sentence)
    for layer, found in live.tree(result, bert, sentence).items():
        right = "" if edges is None else f": {len(found & edges)} of {len(edges)} edges are right"
        above = "" if edges is None else " below the words, the true tree above them"
        frame.chart(trees.against(list(sentence.words), found, edges), key=f"tree-{number}-{layer}",
                    looking=f"What you are looking at: the tree of layer {layer}{above}{right}. Each word with its "
                            f"neighbour would get {result.baselines['chain']:.0%} of all edges.",
                    alt=f"Tree of layer {layer}{right}.")


def _model_of(result: Result) -> Bert:
    """The model a result is about, if it is offered here: a file must not name a folder of this machine."""
    name = str(result.settings["model"])
    plain = name.removesuffix(RANDOM)
    if not any(one.name == plain for one in state.models()):
        raise CheckpointProblem(f"These probes belong to {name}, which is not among the models offered here.")
    bert = state.load(plain)
    return bert.twin(int(result.settings["seed"])) if name != plain else bert


def _compare(found: dict[str, Result], name: str) -> None:
    chosen = st.multiselect("Results", list(found), default=list(dict.fromkeys([name, *found]))[:4])
    if not chosen:
        st.info("Choose one or more results; train probes on another task or model to have more.")
        return
    frame.chart(figures.compared([found[one] for one in chosen]), key="compared",
                looking="What you are looking at: several tasks or models in one picture, solid; dotted in the same "
                        "colour the random twin of each. Bars are 95 % intervals.",
                alt="Scores by layer of " + ", ".join(chosen))
