"""Trained probes on a sentence that the reader types: a label for every word at every layer, or a tree."""

import streamlit as st

from app import layout, limits, session
from app.figures import probes as figures
from app.figures import trees
from model import Bert, CheckpointError
from probes.probing import apply, features, results
from probes.probing.results import ProbingResult
from probes.probing.structural import gold_edges
from probes.probing.treebank import Sentence

RANDOM = ", random weights"  # behind the name of a model in a result
OWN = "the sentence typed above"
LABELS_NAMED = 12  # of a sentence, in the caption


def show(by_title: dict[str, ProbingResult], title: str) -> None:
    """One sentence, and every probe that the reader wants to see on it."""
    text = st.text_input(
        "Type a sentence", session.texts()[0], key="typed", bind="query-params", max_chars=limits.TEXT_CHARACTERS
    )
    for number, chosen in enumerate(st.multiselect("Probes", list(by_title), default=[title])):
        result = by_title[chosen]
        try:
            bert = _model_of(result)
        except CheckpointError as error:  # the other probes, and the rest of the page, do not need this model
            st.error(layout.escape(str(error)))
            continue
        if result.kind == "tree":
            _trees(result, bert, text, number)
        else:
            _labels(result, bert, text, number)


def _labels(result: ProbingResult, bert: Bert, text: str, number: int) -> None:
    question = (result.weights_digest, text)
    predictions = session.answer(bert, "live probe", question, lambda: apply.predict(result, bert, text))
    best = results.best_row(result)
    # the result of a file may lack the probe of its best layer
    layer = int(best["layer"]) if int(best["layer"]) in predictions.layers else predictions.layers[-1]
    labels = predictions.labels[predictions.layers.index(layer)]
    named = [f"{unit}: {label}" for unit, label in zip(predictions.units, labels, strict=True)]
    more = ", …" if len(named) > LABELS_NAMED else ""
    layout.chart(
        figures.live(predictions),
        key=f"live-{number}",
        finding=f"{layout.escape(result.title)} at layer {layer}: {layout.escape(', '.join(named[:LABELS_NAMED]))}{more}. "
        f"On the test sentences the best layer is right {best['score']:.0%} of the time, random weights "
        f"{best['random_init']:.0%}. Stronger colour is surer.",
        alt=f"Labels at layer {layer}: {' and '.join(named)}.",
    )


def _trees(result: ProbingResult, bert: Bert, text: str, number: int) -> None:
    examples = {" ".join(example["words"]): example for example in result.examples}
    title = st.selectbox("Sentence", [OWN, *examples], index=1 if examples else 0, key=f"tree-sentence-{number}")
    if title == OWN:
        sentence, gold = apply.from_text(bert, text), None
    else:
        example = examples[title]
        sentence = Sentence(tuple(example["words"]), heads=tuple(example["heads"]), relations=tuple(example["relations"]))
        gold = gold_edges(sentence)
    chain = f"joining each word with its neighbour gets {result.baselines['chain']:.0%} of all test edges"
    question = (result.weights_digest, sentence.words)
    by_layer = session.answer(bert, "live tree", question, lambda: apply.predict_tree(result, bert, sentence))
    for layer, edges in by_layer.items():
        finding = f"Layer {layer} joins {len(edges)} pairs of words; {chain}."
        if gold is not None:
            finding = (
                f"Layer {layer} has {len(edges & gold)} of {len(gold)} edges right; {chain}. Its tree is below the words, "
                "the true one above them."
            )
        layout.chart(
            trees.against(list(sentence.words), edges, gold), key=f"tree-{number}-{layer}", finding=finding, alt=finding
        )


def _model_of(result: ProbingResult) -> Bert:
    """The model a result is about, if it is offered here: a file must not name a folder of this machine."""
    name = str(result.settings["model"])
    plain = name.removesuffix(RANDOM)
    if not session.offered(plain):
        raise CheckpointError(f"These probes belong to {name}, which is not among the models offered here.")
    bert = session.named(plain)
    if features.digest(bert) != result.settings.get("model_digest"):
        raise CheckpointError(f"These probes belong to other weights than those that {plain} has now.")
    seed = result.settings.get("weights_seed")
    return bert if seed is None else session.random_init_copy(bert, int(seed))
