"""One probing result, looked at from every side: layers, mistakes, live on a typed sentence, beside others."""

import itertools
from urllib.parse import quote

import streamlit as st

from app import jobs, layout, limits, session
from app.figures import mistakes, trees
from app.figures import probes as figures
from model import Bert, CheckpointProblem, InputProblem
from probes.probing import apply, features, results
from probes.probing.results import Result
from probes.probing.structural import gold_edges
from probes.probing.treebank import Sentence

WORK = "app.work.probing:run"
SIDES = ("Layers", "Mistakes", "Live probe", "Compare")
RANDOM = ", random weights"
POOLED = {"mean": "a word is the mean of its pieces", "first": "a word is its first piece",
          "last": "a word is its last piece"}


def stored(ordered: list[jobs.Job]) -> tuple[dict[str, Result], list[str]]:
    """The results of some jobs by the id of each, and a sentence for every file that cannot be read."""
    found, trouble = {}, []
    for job in ordered:
        try:
            result = results.read(job.folder / results.RESULT)
            if result.rows:
                found[job.id] = result
        except FileNotFoundError:
            continue
        except (InputProblem, OSError) as problem:
            trouble.append(f"{job.title}: {problem}")
    return found, trouble


def passed_over(trouble: list[str]) -> None:
    """Name the results that cannot be read, so that nobody looks for them in vain."""
    if trouble:
        st.warning(layout.plain(f"Passed over: {' '.join(trouble)}"), icon=":material/warning:")


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
    seeds = f"seed {settings['seed']}" if settings["seeds"] == 1 else (
        f"means of {settings['seeds']} seeds from {settings['seed']} on")
    st.caption(layout.plain(
        f"{result.title} in {settings['model']}, from {settings['data']}: {sizes['train']:,} examples to learn from, "
        f"{sizes['dev']:,} to tune, {sizes['test']:,} to test; {POOLED.get(settings['pooling'], settings['pooling'])}; "
        f"{seeds}.{skipped}"))
    if result in session.probed():
        st.caption("It comes with the project to show how the page is read. It is kept small on purpose: with more of these "
                   "simple sentences random weights do nearly as well, so it says little about real English.")


def _layers(result: Result) -> None:
    rows = results.table(result)
    score = results.SCORE[result.kind]
    best = rows.loc[rows[score].idxmax()]
    left, right = st.columns([3, 2], gap="large")
    with left:
        layout.chart(figures.curve(result), key="curve", looking=_curve_said(result, best),
                    alt=f"Best at layer {int(best['layer'])} with {best[score]:.1%}; random weights {best['twin']:.1%}.")
    with right:
        if result.kind == "labels":
            layout.chart(
                figures.selectivity(result), key="selectivity",
                looking=f"{100 * best['selectivity']:+.1f} points at layer {int(best['layer'])} (random weights "
                        f"{100 * (best['twin'] - best['twin_control']):+.1f}): accuracy minus accuracy on the control task, "
                        "where every word drew its label by lot (selectivity). Near zero the probe only memorises.",
                alt="Selectivity by layer: " + ", ".join(f"{value:.2f}" for value in rows["selectivity"]))
        else:
            layout.chart(
                figures.correlations(result), key="correlations",
                looking="What you are looking at: how often the root is found, and how well distances and depths are "
                        "ordered; zero is chance for an order.",
                alt="Root accuracy and Spearman correlations by layer.")
        if "bits" in rows:
            shortest = rows.loc[rows["bits"].idxmin()]
            layout.chart(figures.code_lengths(result), key="bits",
                        looking=f"{shortest['bits']:,.0f} bits at layer {int(shortest['layer'])} for all labels, "
                                f"{shortest['control_bits']:,.0f} for those of the control task: what it takes to send them "
                                f"to someone who has the states (online code of the {result.settings['probe']} probe). "
                                "Short is easy to learn.",
                        alt="Online code length by layer, task and control, against a uniform code.")
        if result.mix:
            mix = results.mixture(result)
            layout.chart(figures.mixed(mix), key="mix", looking=_mix_said(mix),
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


def _curve_said(result: Result, best) -> str:
    score, seeds = best[results.SCORE[result.kind]], result.settings["seeds"]
    over = "One seed only, so the luck of the split is not shown."
    if seeds > 1:
        over = (f"Orange, smallest to largest of {seeds} seeds: {best['seed_low']:.1%} to {best['seed_high']:.1%}, with "
                "split, control task and random weights drawn anew for each.")
    return (f"{score:.1%} right at layer {int(best['layer'])}, with random weights {best['twin']:.1%}. Blue, 95 % interval "
            f"over test examples: {best['low']:.1%} to {best['high']:.1%}. {over}")


def _mix_said(mix: results.Mixture) -> str:
    said = (f"Layer {mix.centre:.1f} is the centre of gravity of a learned mix (orange; 95 % interval over seeds and "
            f"resampled sentences {mix.low:.1f} to {mix.high:.1f}). ")
    if mix.expected is None:
        said += "The expected layer is not defined: all layers together are no better than the first. "
    else:
        said += (f"The expected layer, by what each layer adds to those below it, is {mix.expected:.1f} "
                 f"({mix.expected_low:.1f} to {mix.expected_high:.1f} over seeds). ")
    if mix.undecided:
        said += "The interval covers more than half of the layers: these examples do not say where the task is written. "
    elif mix.one_layer is not None:
        said += (f"Nearly all weight is on layer {mix.one_layer}: with few examples the mix picks one layer and leaves its "
                 "neighbours out, however much they know. ")
    return said + "Dashed: equal shares."


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
        layout.chart(figures.confusion(result.confusion[str(layer)], result.classes), key="confusion",
                    looking="What you are looking at: a row for each true label, and what the probe took it for. "
                            "A perfect probe fills the diagonal only.",
                    alt=f"Confusion matrix of layer {layer} over {len(result.classes)} labels.")
    with right:
        st.caption("What you are looking at: test examples it got wrong. Click one to open it in Attention.")
        model = quote(result.settings["model"].removesuffix(RANDOM))
        st.html(mistakes.listed(result.mistakes[str(layer)], f"attention?model={model}"))
    labels = result.labels[str(layer)]
    worst = min(labels, key=lambda one: one["f1"])
    st.caption(layout.plain(f"F1 from {worst['f1']:.0%} ({worst['label']}, {worst['count']} test examples) to "
                           f"{max(one['f1'] for one in labels):.0%}: of what was given a label, how much was right "
                           "(precision); of what has it, how much was found (recall); their harmonic mean (F1). A label "
                           f"of few examples says little. Seed {result.settings['seed']}."))
    shares = {name: st.column_config.NumberColumn(format="percent") for name in ("precision", "recall", "f1")}
    st.dataframe(labels, hide_index=True, width="content", column_config=shares)


def _live_probe(found: dict[str, Result], name: str) -> None:
    text = st.text_input("Type a sentence", session.texts()[0], key="typed", bind="query-params",
                         max_chars=limits.TEXT_CHARACTERS)
    chosen = st.multiselect("Probes", list(found), default=[name])
    for number, one in enumerate(chosen):
        result = found[one]
        bert = _model_of(result)
        if result.kind == "tree":
            _trees(result, bert, text, number)
            continue
        said = apply.labelled(result, bert, text)
        best = " and ".join(f"{unit}: {label}" for unit, label in zip(said.units, said.labels[-1], strict=True))
        layout.chart(figures.live(said), key=f"live-{number}",
                    looking=f"What you are looking at: {layout.plain(result.title)}, as the probe of each layer reads it; "
                            "stronger colour is surer. On the test sentences the best layer is right "
                            f"{max(row['accuracy'] for row in result.rows):.0%} of the time.",
                    alt=f"Labels at the last layer: {best}.")


def _trees(result: Result, bert: Bert, text: str, number: int) -> None:
    gold = {" ".join(one["words"]): one for one in result.examples}
    own = "the sentence typed above"
    picked = st.selectbox("Sentence", [own, *gold], index=1 if gold else 0, key=f"tree-sentence-{number}")
    if picked == own:
        sentence, edges = apply.typed(bert, text), None
    else:
        one = gold[picked]
        sentence = Sentence(tuple(one["words"]), heads=tuple(one["heads"]), relations=tuple(one["relations"]))
        edges = gold_edges(sentence)
    for layer, found in apply.tree(result, bert, sentence).items():
        right = "" if edges is None else f": {len(found & edges)} of {len(edges)} edges are right"
        above = "" if edges is None else " below the words, the true tree above them"
        layout.chart(trees.against(list(sentence.words), found, edges), key=f"tree-{number}-{layer}",
                    looking=f"What you are looking at: the tree of layer {layer}{above}{right}. Each word with its "
                            f"neighbour would get {result.baselines['chain']:.0%} of all edges.",
                    alt=f"Tree of layer {layer}{right}.")


def _model_of(result: Result) -> Bert:
    """The model a result is about, if it is offered here: a file must not name a folder of this machine."""
    name = str(result.settings["model"])
    plain = name.removesuffix(RANDOM)
    if not session.offered(plain):
        raise CheckpointProblem(f"These probes belong to {name}, which is not among the models offered here.")
    bert = session.named(plain)
    if features.digest(bert) != result.settings.get("model_digest"):
        raise CheckpointProblem(f"These probes belong to other weights than those that {plain} has now.")
    seed = result.settings.get("weights_seed")
    return bert if seed is None else session.twin(bert, int(seed))


def _compare(found: dict[str, Result], name: str) -> None:
    chosen = st.multiselect("Results", list(found), default=list(dict.fromkeys([name, *found]))[:4])
    if not chosen:
        st.info("Choose one or more results; train probes on another task or model to have more.")
        return
    layout.chart(figures.compared([found[one] for one in chosen]), key="compared",
                looking="What you are looking at: several tasks or models in one picture, solid; dotted in the same "
                        "colour the random-init copy of each. Bars are 95 % intervals over test examples.",
                alt="Scores by layer of " + ", ".join(chosen))
    for one, other in itertools.combinations(chosen, 2):
        verdict(found[one], found[other])


def verdict(first: Result, second: Result) -> None:
    """One sentence on which of two results is better, where they were scored on the same test set."""
    apart = results.difference(first, second)
    if apart is None:
        return
    if apart.value < 0:
        first, second = second, first
        apart = results.Difference(apart.second_layer, apart.first_layer, -apart.value, -apart.high, -apart.low)
    names = [f"{one.name} (layer {layer})" for one, layer in ((first, apart.first_layer), (second, apart.second_layer))]
    interval = f"95 % interval {100 * apart.low:+.1f} to {100 * apart.high:+.1f}, paired over the same test sentences"
    said = f"{names[1]} beats {names[0]} by {100 * apart.value:.1f} points ({interval})."
    if apart.low <= 0:
        said = f"{names[1]} and {names[0]} cannot be told apart: {100 * apart.value:.1f} points ({interval})."
    st.caption(layout.plain(said))
