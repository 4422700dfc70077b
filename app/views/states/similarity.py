"""Similarity: the section of Hidden states that compares tokens, layers, contexts and what sub-layers add."""

from app import layout, session
from app.figures import states as figures
from app.widgets import text_inputs
from app.widgets.choice import SECTION, choice, select
from model import Trace
from probes.states import geometry, residual_stream, token_contexts

# slug -> label, field of the answer, the name the figure has for it, and how its extremes are said
CONTRIBUTIONS = {
    "attention": (
        "what attention adds",
        "attention",
        "attention",
        "Attention adds most in layer {high}: {highest:.2f} times the length of a token's state on average, least in layer "
        "{low} ({lowest:.2f}). 0 leaves a state as it was, 1 adds as much as was there.",
    ),
    "feed-forward": (
        "what feed-forward adds",
        "feed_forward",
        "feed-forward",
        "The feed-forward network adds most in layer {high}: {highest:.2f} times the length of the state it is added to, "
        "least in layer {low} ({lowest:.2f}). 0 leaves a state as it was.",
    ),
    "length": (
        "length of the state",
        "length",
        "state",
        "States are longest at layer {high} ({highest:.1f} on average) and shortest at layer {low} ({lowest:.1f}). Each "
        "layer ends with a normalisation, so lengths hardly tell tokens apart.",
    ),
    "cosine": (
        "direction before and after",
        "cosine_to_input",
        "turn",
        "Layer {low} turns the tokens most: their cosine with the state before it is {lowest:.2f} on average; layer {high} "
        "turns them least ({highest:.2f}). 1 means no turn.",
    ),
}


def section() -> None:
    comparisons = {
        "tokens": ("tokens", _tokens),
        "layers": ("layers", _layers),
        "word": ("the same word elsewhere (self-similarity)", _self_similarity),
        "sentence": ("words of one sentence (intra-sentence similarity)", _intra_sentence),
        "residual": ("what each sub-layer adds (residual stream)", _contributions),
    }
    slug = choice("Compare", {slug: label for slug, (label, _) in comparisons.items()}, key="compare")
    comparisons[slug][1](session.trace())


def _tokens(trace: Trace) -> None:
    layer = text_inputs.layer(session.bert(), "token_layer")
    layout.chart(
        figures.similarity_map(geometry.cosine(trace.hidden)[layer], trace.wordpieces),
        key="cosines",
        finding=f"At layer {layer} two tokens have a cosine of {geometry.anisotropy(trace.hidden[layer]):.2f} on average "
        f"(layer 0: {geometry.anisotropy(trace.hidden[0]):.2f}): only pairs well above that are alike.",
        alt=f"Square map of the cosines of {len(trace.wordpieces)} tokens at layer {layer}.",
    )


def _layers(trace: Trace) -> None:
    debiased = choice("Measure", {"debiased": "debiased CKA", "plain": "plain CKA"}, key="cka") == "debiased"
    count, size = trace.hidden.shape[1:]
    values = (geometry.cka_matrix if debiased else geometry.biased_cka_matrix)(trace.hidden, trace.hidden)
    last = len(values) - 1
    baseline = (
        "noise gives 0 on average"
        if debiased
        else f"with {count} tokens and {size} dimensions two clouds of pure noise would give "
        f"{geometry.cka_of_noise(count, size, size):.2f}, so plain CKA says little about one sentence"
    )
    layout.chart(
        figures.similarity_map(values, [str(layer) for layer in range(last + 1)], what="CKA", titles=("layer", "layer")),
        key="layers",
        finding=f"Layers 0 and {last} have a CKA of {values[0, last]:z.2f}; {baseline}. 1 means that two layers arrange the "
        "tokens of this text alike, whatever the rotation.",
        alt=f"Square map of CKA between {last + 1} layers.",
    )


def _self_similarity(_: Trace) -> None:
    similarity = token_contexts.self_similarity(session.token_contexts(text_inputs.passage("drift_text")))
    words = similarity.words["word"].tolist()
    first = "bank" if "bank" in words else next((word for word in words if word.isalpha()), words[0])
    word = select("One word", {word: word for word in [first, *(word for word in words if word != first)]}, "drift_word")
    last = len(similarity.baseline) - 1
    layout.chart(
        figures.self_similarity(similarity, word),
        key="steadiness",
        finding=f"At layer {last} the uses of *{layout.escape(word)}* have a cosine of "
        f"{similarity.of_word(word)[last]:.2f}, those of all {len(words)} repeated wordpieces "
        f"{similarity.within_word[last]:.2f}, any two tokens {similarity.baseline[last]:.2f}. Where the lines are far apart "
        "a word keeps its identity; where they meet, context has taken over (Ethayarajh, 2019).",
        alt="Lines over layers: similarity of a word to itself in other contexts, and of random pairs.",
    )


def _intra_sentence(_: Trace) -> None:
    similarity = token_contexts.intra_sentence(session.token_contexts(text_inputs.passage("drift_text")))
    last = len(similarity.mean) - 1
    layout.chart(
        figures.intra_sentence(similarity),
        key="intra_sentence",
        finding=f"At layer {last} a token has a cosine of {similarity.mean[last]:.2f} with the mean of its sentence, "
        f"over {len(similarity.sentences)} sentences (intra-sentence similarity; Ethayarajh, 2019); in "
        f"random sentences of the same tokens it would be {similarity.shuffled[last]:.2f}. Where the "
        "lines part, the tokens of a sentence have come to share a direction. The paper subtracts the mean "
        "of all pairs instead; short sentences are near their own mean whatever is in them, so the baseline "
        "here has the same lengths.",
        alt="Lines over layers: similarity of tokens to the mean of their sentence, and the same at random.",
    )


def _contributions(trace: Trace) -> None:
    slug = choice(SECTION, {slug: label for slug, (label, *_) in CONTRIBUTIONS.items()}, key="writes")
    label, field, part, sentence = CONTRIBUTIONS[slug]
    contributions = residual_stream.contributions(session.bert(), trace.encoding)
    low, lowest, high, highest = contributions.extremes(field)
    first = 0 if field == "length" else 1  # lengths begin with the embeddings
    layout.chart(
        figures.residual_contributions(contributions, trace.wordpieces, part),
        key="written",
        finding=sentence.format(low=low + first, lowest=lowest, high=high + first, highest=highest),
        alt=f"Map of layers and tokens: {label}.",
    )
