"""How much of everything the reader holds, and what each range of fifteen texts still owes."""

from collections import Counter
from collections.abc import Iterable, Mapping

from . import compact_form
from .texts import Reader, ReaderSentence, ReaderText

# per range of 15 texts: a construction and how often it must occur
QUOTAS: Mapping[str, int] = {
    "questions": 10,
    "aux:pass": 9,
    "acl:relcl": 12,
    "negation": 14,
    "conj": 35,
    "nummod": 12,
    "direct speech": 8,
    "imperatives": 6,
    "advcl": 18,
    "ccomp": 14,
    "xcomp": 16,
    "acl": 5,
    "there is": 4,
    "csubj": 3,
    "appos": 4,
    "vocative": 3,
    "discourse": 4,
    "comparatives": 6,
    "superlatives": 3,
    "compound:prt": 10,
    "iobj": 4,
    "nmod:poss": 30,
    "compound": 15,
    "parataxis": 4,
    "future": 8,
    "present": 30,
    "garden": 2,
    "plural subjects": 28,
    "positive": 18,
    "negative": 18,
    "LOC": 6,
    "ORG": 4,
    "DATE": 6,
    "OTHER": 4,
}


def word_count(sentence: ReaderSentence) -> int:
    """Words as a reader counts them: punctuation left out, clitics with their word."""
    return sum(token.upos != "PUNCT" and not token.form.startswith("'") and token.form != "n't" for token in sentence.tokens)


def rare_share(texts: Iterable[ReaderText]) -> float:
    """The share of running words (no punctuation, no numerals in digits) outside the commonest thousand."""
    common = compact_form.common_words()
    running = [
        token.form.lower()
        for text in texts
        for sentence in text.sentences
        for token in sentence.tokens
        if token.upos not in ("PUNCT", "SYM") and not token.form[0].isdigit()
    ]
    return sum(form not in common and form not in ("ca", "wo", "'") for form in running) / max(1, len(running))


def constructions(texts: Iterable[ReaderText]) -> Counter:
    """How often each construction of the quotas, and each relation, occurs."""
    total: Counter = Counter()
    for text in texts:
        for sentence in text.sentences:
            words, feats = sentence.words, sentence.feats
            total.update(token.relation for token in sentence.tokens)
            total["csubj"] += sum(token.relation == "csubj:pass" for token in sentence.tokens)
            total["questions"] += "?" in sentence.forms
            total["negation"] += sum(
                form in ("not", "n't", "never", "no", "nobody", "nothing", "none", "nor", "neither") and tag != "INTJ"
                for form, tag in zip(words.forms, words.upos, strict=True)
            )
            total["direct speech"] += '"' in sentence.forms
            total["imperatives"] += sum(feat.get("Mood") == "Imp" for feat in feats)
            total["there is"] += sum(
                form == "there" and name == "expl" for form, name in zip(words.forms, words.relations, strict=True)
            )
            total["comparatives"] += sum(feat.get("Degree") == "Cmp" for feat in feats)
            total["superlatives"] += sum(feat.get("Degree") == "Sup" for feat in feats)
            total["future"] += sentence.tense == "fut"
            total["present"] += sentence.tense == "pres"
            total["plural subjects"] += sentence.number == "plur"
            total[sentence.sentiment] += 1
            total.update(kind for _, _, kind in sentence.entities())
            total["garden"] += "garden" in sentence.flags
    return total


def counts(whole: Reader) -> str:
    """All counts of the card, and what each range of fifteen texts still owes."""
    lines: list[str] = []

    def table(title: str, counter: Mapping) -> None:
        lines.append(f"\n{title}: " + ", ".join(f"{name} {number}" for name, number in counter.items()))

    texts = whole.texts
    sentences = [sentence for text in texts for sentence in text.sentences]
    tokens = [token for sentence in sentences for token in sentence.tokens]
    counted = sum(word_count(sentence) for sentence in sentences)
    lines.append(
        f"{len(texts)} texts, {len(sentences)} sentences, {len(tokens)} tokens, {counted} words, "
        f"{counted / max(1, len(sentences)):.1f} words a sentence, {rare_share(texts):.1%} outside the commonest thousand, "
        f"{len({token.form.lower() for token in tokens})} different forms"
    )
    for name in ("train", "dev", "test"):
        part = [text for text in texts if text.split == name]
        lines.append(
            f"{name}: {len(part)} texts, {sum(len(text.sentences) for text in part)} sentences, "
            f"{sum(word_count(sentence) for text in part for sentence in text.sentences)} words"
        )
    table("Topics", Counter(text.topic for text in texts))
    table("Sentiment", Counter(sentence.sentiment for sentence in sentences))
    table("Tense", Counter(sentence.tense for sentence in sentences))
    table("Subject number", Counter(sentence.number for sentence in sentences))
    table("Parts of speech", dict(Counter(token.upos for token in tokens).most_common()))
    table("Relations", dict(Counter(token.relation for token in tokens).most_common()))
    table(
        "Features",
        dict(
            Counter(
                f"{name}={value}" for sentence in sentences for feats in sentence.feats for name, value in feats.items()
            ).most_common()
        ),
    )
    table("Entities", dict(Counter(kind for sentence in sentences for _, _, kind in sentence.entities()).most_common()))
    chains = Counter(
        (text.number, number)
        for text in texts
        for sentence in text.sentences
        for token in sentence.tokens
        for number in (token.coref, token.group)
        if number
    )
    lines.append(f"\nCoreference: {len(chains)} chains, {sum(chains.values())} mentions")
    lines.append(
        f"Garden paths: {sum('garden' in sentence.flags for sentence in sentences)}, "
        f"non-projective sentences: {sum('nonprojective' in sentence.flags for sentence in sentences)}"
    )
    plan = compact_form.plan()
    uses = Counter(
        (token.sense, text.split)
        for text in texts
        for sentence in text.sentences
        for token in sentence.tokens
        if token.sense
    )
    lines.append(
        "\nSenses (train/dev/test): "
        + ", ".join(
            f"{word}.{sense} {'/'.join(str(uses[f'{word}.{sense}', part]) for part in ('train', 'dev', 'test'))}"
            for word, senses in plan["senses"].items()
            for sense in senses
        )
    )
    for start, wanted in plan["words"].items():
        part = [text for text in texts if int(start) <= text.number < int(start) + 15]
        if part:
            here = Counter(
                token.sense for text in part for sentence in text.sentences for token in sentence.tokens if token.sense
            )
            missing = [f"{word}.{sense}" for word in wanted for sense in plan["senses"][word] if not here[f"{word}.{sense}"]]
            had = constructions(part)
            owed = [f"{name} {had[name]} of {quota}" for name, quota in QUOTAS.items() if had[name] < quota]
            lines.append(
                f"\nRange {start} ({len(part)} of 15 texts) owes senses: {', '.join(missing) or 'none'}; "
                f"constructions: {', '.join(owed) or 'none'}"
            )
    return "\n".join(lines)
