"""What is wrong, or worth a second look, in the reader's texts: trees, tags, relations, entities, chains, senses."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model import InputError

from . import compact_form, features
from .counts import rare_share, word_count
from .relation_checks import check_relation
from .texts import ReaderSentence, ReaderText
from .word_checks import check_entities, check_senses, check_typography


@dataclass(frozen=True)
class Finding:
    """A mistake, or a doubt that the mark `ok` on the word puts to rest."""

    where: str
    words: str
    is_mistake: bool

    def __str__(self) -> str:
        return f"{self.where}: {'' if self.is_mistake else 'doubt: '}{self.words}"


def check(texts: Iterable[ReaderText], whole: bool = False) -> list[Finding]:
    """Every mistake and every doubt, in the order of the texts."""
    texts = list(texts)
    plan = compact_form.plan()
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    numbers: dict[int, str] = {}
    for text in texts:
        findings += _text(text, plan)
        if text.number in numbers:
            findings.append(
                Finding(f"{text.name}.txt", f"the number {text.number:03} is taken by {numbers[text.number]}.txt", True)
            )
        numbers[text.number] = text.name
        for sentence in text.sentences:
            where, folded = f"{text.name}.txt line {sentence.line}", sentence.text.casefold()
            if folded in seen:
                findings.append(Finding(where, f"the same sentence stands at {seen[folded]}", True))
            seen[folded] = where
    if whole and len(texts) != 150:
        findings.append(Finding("texts", f"there are {len(texts)} of 150 texts", False))
    return findings


def _text(text: ReaderText, plan: Mapping) -> list[Finding]:
    where = f"{text.name}.txt"
    findings: list[Finding] = []
    planned = plan["topics"].get(f"{text.number:03}")
    if planned is None:
        findings.append(Finding(where, f"the number {text.number:03} is not one of 001 to 150", True))
    elif planned != text.topic:
        findings.append(Finding(where, f"the topic is {text.topic}, but the plan says {planned}", True))
    if not 7 <= len(text.sentences) <= 9:
        findings.append(Finding(where, f"has {len(text.sentences)} sentences; 8 are wanted, 7 to 9 allowed", True))
    elif len(text.sentences) != 8:
        findings.append(Finding(where, f"has {len(text.sentences)} sentences instead of 8", False))
    lengths = [word_count(sentence) for sentence in text.sentences]
    mean = sum(lengths) / len(lengths)
    if not 9 <= mean <= 14:
        findings.append(Finding(where, f"sentences have {mean:.1f} words on average; 11 are wanted, 9 to 14 allowed", True))
    share = rare_share([text])
    if not 0.24 <= share <= 0.46:
        findings.append(
            Finding(
                where,
                f"{share:.0%} of the running words are outside the commonest thousand; "
                "about a third is wanted, 24 to 46 % allowed",
                True,
            )
        )
    chains = Counter(
        number for sentence in text.sentences for token in sentence.tokens for number in (token.coref, token.group) if number
    )
    for number, mentions in sorted(chains.items()):
        if mentions < 2:
            findings.append(Finding(where, f"chain {number} has one mention only; singletons are not marked", True))
    if chains and max(chains) != len(chains):
        findings.append(Finding(where, f"chains are numbered up to {max(chains)}, but there are {len(chains)}", True))
    if len(chains) < 2:
        findings.append(Finding(where, "has fewer than two coreference chains", False))
    for sentence in text.sentences:
        findings += _sentence(sentence, where, plan["senses"])
    return findings


def _sentence(sentence: ReaderSentence, file: str, senses: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    findings: list[Finding] = []

    def mistake(word: int | None, words: str) -> None:
        findings.append(Finding(f"{file} line {sentence.line if word is None else sentence.tokens[word].line}", words, True))

    def doubt(word: int | None, words: str) -> None:
        if word is None or not sentence.tokens[word].reviewed:
            findings.append(
                Finding(f"{file} line {sentence.line if word is None else sentence.tokens[word].line}", words, False)
            )

    heads = [token.head for token in sentence.tokens]
    if heads.count(-1) != 1:
        mistake(None, f"the sentence has {heads.count(-1)} roots instead of one")
        return findings
    for word in range(len(heads)):
        if _has_cycle(heads, word):
            mistake(word, f"{sentence.tokens[word].form!r} leads in a circle instead of to the root")
            return findings
    crossing = next((word for word in range(len(heads)) if _crosses(heads, word)), None)
    if crossing is not None and "nonprojective" not in sentence.flags:
        token = sentence.tokens[crossing]
        mistake(
            crossing,
            f"the arc from {_form(sentence, token.head)!r} to {token.form!r} crosses another; "
            "correct it, or write nonprojective in the header",
        )
    if crossing is None and "nonprojective" in sentence.flags:
        mistake(None, "the header says nonprojective, but no arcs cross")
    for word in range(len(heads)):
        check_relation(sentence, word, mistake, doubt)
    check_entities(sentence, mistake, doubt)
    check_senses(sentence, senses, mistake, doubt)
    check_typography(sentence, mistake, doubt)
    try:
        feats = sentence.feats
    except InputError as problem:
        mistake(None, str(problem))
        return findings
    for word, token in enumerate(sentence.tokens):
        if token.upos in ("VERB", "AUX") and token.relation not in ("fixed", "case") and "VerbForm" not in feats[word]:
            mistake(word, f"no rule gives the verb form of {token.form!r}; write feat=VerbForm=…")
        if token.relation == "amod" and token.upos == "VERB" and feats[word].get("VerbForm") not in ("Part", "Ger"):
            mistake(word, f"{token.form!r} is amod and VERB, but no participle")
    tense, number = features.main_tense(sentence.words, feats), features.main_number(sentence.words, feats)
    if tense != sentence.tense:
        mistake(None, f"the header says the main verb is {sentence.tense}, the tree says {tense}")
    if number is not None and number != sentence.number:
        mistake(None, f"the header says the subject is {sentence.number}, the tree says {number}")
    return findings


def _form(sentence: ReaderSentence, word: int) -> str:
    return "ROOT" if word < 0 else sentence.tokens[word].form


def _has_cycle(heads: Sequence[int], word: int) -> bool:
    for _ in heads:
        word = heads[word]
        if word < 0:
            return False
    return True


def _crosses(heads: Sequence[int], word: int) -> bool:
    """Whether a word between this one and its head hangs outside what the head dominates."""
    head = heads[word]
    if head < 0:
        return False
    for between in range(min(word, head) + 1, max(word, head)):
        above = between
        while above >= 0 and above != head:
            above = heads[above]
        if above != head:
            return True
    return False


def rare_pairs(texts: Iterable[ReaderText]) -> list[str]:
    """Words whose tag and relation are seldom in the reader, to be looked at again."""
    tokens = [(text.name, sentence, token) for text in texts for sentence in text.sentences for token in sentence.tokens]
    if len(tokens) < 6000:  # too few to know what is seldom
        return []
    pairs = Counter((token.upos, token.relation) for _, _, token in tokens)
    tags = {}
    for _, _, token in tokens:
        tags.setdefault(token.form.lower(), Counter())[token.upos, token.relation] += 1
    lines = []
    for name, sentence, token in tokens:
        seldom = pairs[token.upos, token.relation] <= 2
        own = tags[token.form.lower()]
        odd = own[token.upos, token.relation] == 1 and sum(own.values()) >= 8
        if (seldom or odd) and not token.reviewed:
            lines.append(f"{name}.txt line {token.line}: {token.form} {token.upos} {token.relation} in {sentence.text!r}")
    return lines


def report(paths: Sequence[Path], whole: bool) -> int:
    """Print all findings of the files and a line for each text; 1 when there is a mistake."""
    texts, broken = [], 0
    for path in paths:
        try:
            texts.append(compact_form.parse(path.read_text("utf-8"), path.name))
        except InputError as problem:
            print(problem)
            broken += 1
    findings = check(texts, whole=whole)
    others: list[ReaderText] = []
    if not whole:  # alike sentences may stand in texts that were not named
        named = {text.number for text in texts}
        for path in compact_form.files():
            if path.name not in {named_path.name for named_path in paths}:
                try:
                    others.append(compact_form.parse(path.read_text("utf-8"), path.name))
                except InputError:
                    continue
        seen = {sentence.text.casefold(): other.name for other in others for sentence in other.sentences}
        findings += [
            Finding(
                f"{text.name}.txt line {sentence.line}",
                f"the same sentence stands in {seen[sentence.text.casefold()]}.txt",
                True,
            )
            for text in texts
            for sentence in text.sentences
            if sentence.text.casefold() in seen
        ]
        findings += [
            Finding(f"{other.name}.txt", f"the number {other.number:03} is used twice", True)
            for other in others
            if other.number in named
        ]
    for finding in findings:
        print(finding)
    names = tuple(f"{text.name}.txt" for text in texts)
    for line in rare_pairs([*texts, *others]):
        if line.startswith(names):
            print(f"rare: {line}")
    for text in texts:
        lengths = [word_count(sentence) for sentence in text.sentences]
        senses = sum(bool(token.sense) for sentence in text.sentences for token in sentence.tokens)
        print(
            f"{text.name}: {len(lengths)} sentences, {sum(lengths) / len(lengths):.1f} words on average "
            f"({min(lengths)} to {max(lengths)}), {rare_share([text]):.0%} outside the commonest thousand, {senses} senses"
        )
    mistakes = broken + sum(finding.is_mistake for finding in findings)
    print(f"{len(texts)} texts, {mistakes} mistakes, {len(findings) - mistakes + broken} doubts")
    return int(mistakes > 0)
