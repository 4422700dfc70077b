"""Which labels a treebank gives: a task is a name, a unit (token, pair, piece, sentence) and labels."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, InputProblem

from . import sentence_tasks as whole
from .treebank import ROOT, Sentence, aligned

FEATURES = 50  # how many tokens the task "which token stood before?" knows by name
WORDS_TO_HEAD = ("1", "2", "3", "4", "5", "6 and more")
DEEPEST = 6
LEAST = 10  # different sentences, to learn from, tune and test on

Marks = Iterator[tuple[tuple[int, ...], str]]  # the words (or pieces) concerned, and their label


@dataclass(frozen=True)
class Task:
    """A question with one right answer for every token, pair of tokens, wordpiece or sentence."""

    name: str
    title: str
    unit: str  # token, pair, piece or sentence
    needs: str  # the field of Sentence it reads; "words" where text is enough
    mark: Callable


@dataclass(frozen=True)
class Examples:
    """Labelled places in inputs: example e asks about places[rows[e]] and the answer is labels[e].

    A place is (input, start, end): some pieces of one input. Keys are what the control task and the word-type
    baseline go by: the form of the word, of the pair's first word, of the piece, of the sentence's first word.
    """

    task: Task
    inputs: tuple[tuple[Sentence, Encoding], ...]
    places: np.ndarray  # (places, 3)
    rows: np.ndarray  # (examples, 1), or (examples, 2) for pairs
    words: np.ndarray  # (examples,) the word or piece an example is about, for showing it
    labels: np.ndarray  # (examples,) text
    keys: np.ndarray  # (examples,) text
    splits: np.ndarray  # (examples,) train, dev or test
    skipped: int  # sentences longer than the model, among those looked at
    duplicates: int  # of all sentences, those put together with an equal one
    left_out: int  # of all sentences, those that stand in a split that must not know them

    @property
    def inputs_of(self) -> np.ndarray:
        """The input each example stands in: (examples,)."""
        return self.places[self.rows[:, 0], 0]


def _upos(sentence: Sentence, draw: np.random.Generator) -> Marks:
    yield from (((word,), tag) for word, tag in enumerate(sentence.upos) if tag != "_")


def _relation(sentence: Sentence, draw: np.random.Generator) -> Marks:
    yield from (((word,), relation) for word, relation in enumerate(sentence.relations))


def _direction(sentence: Sentence, draw: np.random.Generator) -> Marks:
    for word, head in enumerate(sentence.heads):
        yield (word,), "root" if head == ROOT else "head before" if head < word else "head after"


def _distance(sentence: Sentence, draw: np.random.Generator) -> Marks:
    for word, head in enumerate(sentence.heads):
        if head != ROOT:
            yield (word,), WORDS_TO_HEAD[min(abs(head - word), len(WORDS_TO_HEAD)) - 1]


def _depth(sentence: Sentence, draw: np.random.Generator) -> Marks:
    for word, depth in enumerate(sentence.depths() if sentence.heads else ()):
        yield (word,), str(depth) if depth < DEEPEST else f"{DEEPEST} and more"


def _feature(name: str) -> Callable[[Sentence, np.random.Generator], Marks]:
    def marks(sentence: Sentence, draw: np.random.Generator) -> Marks:
        yield from (((word,), feats[name]) for word, feats in enumerate(sentence.feats) if name in feats)

    return marks


def _tag(sentence: Sentence, draw: np.random.Generator) -> Marks:
    yield from (((word,), tag) for word, tag in enumerate(sentence.tags))


def _edge(sentence: Sentence, draw: np.random.Generator) -> Marks:
    """Each word with its head, and with a word that is not: as far away as another word's head, so that
    distance and direction alone do not give the answer away."""
    offsets = [head - word for word, head in enumerate(sentence.heads) if head != ROOT]
    for word, head in enumerate(sentence.heads):
        if head == ROOT:
            continue
        wrong = [word + offset for offset in offsets if 0 <= word + offset < len(sentence)
                 and word + offset != head and sentence.heads[word + offset] != word]
        if wrong:
            yield (word, head), "edge"
            yield (word, int(draw.choice(wrong))), "no edge"


def _position(encoding: Encoding) -> Marks:
    for token in encoding.tokens:
        if not token.special:
            low = (token.position - 1) // 5 * 5
            yield (token.position,), f"{low + 1}–{low + 5}" if low < 40 else "41 and more"


def _segment(encoding: Encoding) -> Marks:
    yield from (((token.position,), "AB"[token.segment]) for token in encoding.tokens if not token.special)


def _continues(encoding: Encoding) -> Marks:
    for token in encoding.tokens:
        if not token.special:
            yield (token.position,), "continues a word" if token.continues else "begins a word"


def _previous(encoding: Encoding) -> Marks:
    for before, token in zip(encoding.tokens, encoding.tokens[1:], strict=False):
        if not token.special:
            yield (token.position,), before.text


TASKS = {task.name: task for task in (
    Task("upos", "part of speech", "token", "upos", _upos),
    Task("deprel", "relation to the head", "token", "relations", _relation),
    Task("direction", "where the head is", "token", "heads", _direction),
    Task("distance", "words to the head", "token", "heads", _distance),
    Task("depth", "depth in the tree", "token", "heads", _depth),
    Task("number", "number", "token", "feats", _feature("Number")),
    Task("tense", "tense", "token", "feats", _feature("Tense")),
    Task("edge", "is there an edge?", "pair", "heads", _edge),
    Task("tag", "the file's label of each word", "token", "tags", _tag),
    Task("label", "the file's label of each sentence or pair", "sentence", "label", whole.label),
    Task("length", "sentence length", "sentence", "words", whole.length),
    Task("treedepth", "depth of the tree", "sentence", "heads", whole.tree_depth),
    Task("top", "what hangs on the root", "sentence", "heads", whole.top),
    Task("maintense", "tense of the main verb", "sentence", "feats", whole.main_tense),
    Task("subject", "number of the subject", "sentence", "feats", whole.subject_number),
    Task("object", "number of the object", "sentence", "feats", whole.object_number),
    Task("content", "which word is in it", "sentence", "words", whole.content),
    Task("shift", "were two words swapped?", "sentence", "words", whole.bigram_shift),
    Task("odd", "was a word replaced?", "sentence", "feats", whole.odd_word),
    Task("inversion", "were two clauses swapped?", "sentence", "heads", whole.inversion),
    Task("position", "position of the token", "piece", "words", _position),
    Task("segment", "sentence A or B", "piece", "words", _segment),
    Task("continues", "continuation of a word", "piece", "words", _continues),
    Task("previous", "the token before", "piece", "words", _previous),
)}


def find(name: str) -> Task:
    """The task of this name."""
    if name not in TASKS:
        raise InputProblem(f"There is no task {name!r}; there are {', '.join(TASKS)}, and tree.")
    return TASKS[name]


def available(sentences: Sequence[Sentence]) -> list[Task]:
    """The tasks these sentences have labels for; pairs of sentences have one, their own label."""
    if any(sentence.second for sentence in sentences[:1000]):
        return [TASKS["label"]]
    present = {name for name in ("upos", "feats", "heads", "relations", "tags", "label", "words")
               if any(any(value) if name == "feats" else value
                      for value in (getattr(sentence, name) for sentence in sentences[:1000]))}
    return [task for task in TASKS.values() if task.needs in present]


@dataclass(frozen=True)
class Split:
    """Which split each sentence belongs to, and what was done so that no text is in two of them."""

    names: list[str]  # train, dev, test, or "" for a sentence that is left out
    duplicates: int  # sentences put together with an equal one
    left_out: int  # sentences of train that stand in dev or test too, and of dev that stand in test


def folded(sentence: Sentence) -> str:
    """What makes two sentences (or pairs) the same text: their letters and signs, whatever their case and spacing."""
    return "\n".join("".join("".join(words).split()).casefold() for words in (sentence.words, sentence.second))


def splits(sentences: Sequence[Sentence], seed: int) -> Split:
    """Train, dev or test for every sentence, no text in two of them: as the source says; what it lacks is drawn from train.

    A tenth of the words is drawn, document by document, or text by text where the source names no documents or so few
    that they cannot make a tenth. Equal texts stay together. Documents that share a sentence stay apart (shared
    sentences join nearly all stories of the small world, and a seventh of a treebank of e-mails): the copy in train, or
    the one in dev where the other is in test, is left out. The draw goes by seed and text, not by the order of the file.
    """
    texts = [folded(sentence) for sentence in sentences]
    if len(set(texts)) < LEAST:
        raise InputProblem(f"{len(set(texts))} different sentences are too few to learn from, tune and test on: "
                           f"it takes {LEAST}.")
    names = [sentence.split or "train" for sentence in sentences]
    named = {text for text, name in zip(texts, names, strict=True) if name != "train"}
    pool = [row for row, name in enumerate(names) if name == "train" and texts[row] not in named]
    tenth = sum(_words(sentences[row]) for row in pool) / 10
    for name in ("test", "dev"):
        if name not in names:
            for row in _drawn(sentences, texts, pool, tenth, seed):
                names[row] = name
            pool = [row for row in pool if names[row] == "train"]
    return _apart(names, texts)


def shared(sentences: Sequence[Sentence]) -> int:
    """How many sentences stand in two of the splits that the source names, and will be left out of the one that learns."""
    return _apart([sentence.split or "train" for sentence in sentences], [folded(one) for one in sentences]).left_out


def _drawn(sentences: Sequence[Sentence], texts: Sequence[str], pool: Sequence[int], tenth: float, seed: int) -> list[int]:
    """Rows of the pool with about `tenth` words: whole documents, or all rows of a text."""
    documents: dict[str, list[int]] = {}
    alike: dict[str, list[int]] = {}
    for row in pool:
        documents.setdefault(sentences[row].document or f"\n{texts[row]}", []).append(row)
        alike.setdefault(texts[row], []).append(row)
    for groups in (documents, alike):
        taken, words = [], 0
        for group in sorted(groups.values(), key=lambda group: _lot(seed, sorted(texts[row] for row in group))):
            size = sum(_words(sentences[row]) for row in group)
            if words < tenth and words + size <= 1.5 * tenth:
                taken += group
                words += size
        if words > tenth / 2:
            return taken
    return min(alike.values(), key=len) if len(alike) > 1 else []


def _words(sentence: Sentence) -> int:
    return len(sentence.words) + len(sentence.second)


def _lot(seed: int, texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\n".join([str(seed), *texts]).encode("utf-8", "surrogatepass")).digest()


def _apart(names: list[str], texts: Sequence[str]) -> Split:
    """Leave out what a later split of train, dev, test holds too."""
    within = {name: {text for text, one in zip(texts, names, strict=True) if one == name} for name in ("dev", "test")}
    later = {"train": within["dev"] | within["test"], "dev": within["test"], "test": set()}
    kept = ["" if text in later[name] else name for text, name in zip(texts, names, strict=True)]
    left_out = kept.count("")
    return Split(kept, len(kept) - left_out - len({text for text, name in zip(texts, kept, strict=True) if name}), left_out)


def examples(bert: Bert, sentences: Sequence[Sentence], task: Task, seed: int = 0, limit: int = 30_000) -> Examples:
    """The labelled places of a task, at most `limit` to learn from, a sixth as many to tune and a third to test on."""
    draw = np.random.default_rng(seed)
    room = {"train": limit, "dev": max(limit // 6, 1), "test": max(limit // 3, 1)}
    split_of = splits(sentences, seed)
    inputs, rows, words, labels, keys, kept, skipped = [], [], [], [], [], [], 0
    places: dict[tuple[int, int, int], int] = {}
    for split, sentence, encoding, marks in _marked(bert, sentences, split_of.names, task, draw):
        if max(room.values()) <= 0:
            break
        if encoding is None:
            skipped += 1
            continue
        if room[split] <= 0 or not marks:
            continue
        for spans, shown, key, label in marks:
            rows.append([places.setdefault((len(inputs), *span), len(places)) for span in spans])
            words.append(shown)
            labels.append(label)
            keys.append(key)
            kept.append(split)
        room[split] -= len(marks)
        inputs.append((sentence, encoding))
    for split in room:
        if split not in kept:
            raise InputProblem(f"The data give no {split} example of the task “{task.title}”." + (
                f" {split_of.left_out:,} sentences stand in two splits and were left out of the one that learns."
                if split_of.left_out else ""))
    return Examples(task, tuple(inputs), np.array(list(places)), np.array(rows), np.array(words), np.array(labels),
                    np.array(keys), np.array(kept), skipped, split_of.duplicates, split_of.left_out)


def _marked(bert: Bert, sentences: Sequence[Sentence], given: list[str], task: Task, draw: np.random.Generator
            ) -> Iterator[tuple]:
    """In an order drawn by lot: split, sentence, its encoding (None where it is too long) and its marks."""
    order = [int(row) for row in draw.permutation(len(sentences)) if given[row]]
    if task.unit == "sentence":
        marked = list(task.mark([sentences[row] for row in order], draw))
        for row, found in zip(order, marked, strict=True):
            if found is not None:
                for one in _read(bert, found[0]):
                    marks = [] if one is None else [([(0, len(one.encoding))], 0, found[0].words[0].lower(), found[1])]
                    yield given[row], found[0], None if one is None else one.encoding, marks
    elif task.unit == "piece":
        yield from _pieces(bert, sentences, given, task, order)
    else:
        for row in order:
            for one in _read(bert, sentences[row]):
                if one is None:
                    yield given[row], sentences[row], None, []
                    continue
                marks = [([tuple(int(end) for end in one.spans[word]) for word in concerned], concerned[0],
                          one.sentence.words[concerned[0]].lower(), label)
                         for concerned, label in task.mark(one.sentence, draw)
                         if all(one.spans[word, 0] < one.spans[word, 1] for word in concerned)]
                yield given[row], one.sentence, one.encoding, marks


def _read(bert: Bert, sentence: Sentence) -> Iterable:
    kept, _ = aligned(bert, [sentence])
    return kept or [None]


def _pieces(bert: Bert, sentences: Sequence[Sentence], given: list[str], task: Task, order: list[int]
            ) -> Iterator[tuple]:
    known = None
    if task.name == "previous":
        sample = [sentences[row] for row in order[:2000]]
        counts = Counter(label for one in aligned(bert, sample)[0] for _, label in _previous(one.encoding))
        known = {label for label, _ in counts.most_common(FEATURES)}
    for row in order:
        sentence = sentences[row]
        if task.name == "segment":
            if row + 1 >= len(sentences) or given[row + 1] != given[row]:
                continue
            encoding = bert.tokenizer.encode(sentence.text, sentences[row + 1].text)
            if any(encoding.cut) or len(encoding) > bert.config.max_position_embeddings:
                encoding = None
        else:
            encoding = next((one and one.encoding for one in _read(bert, sentence)), None)
        marks = [] if encoding is None else [
            ([(place, place + 1)], place, encoding.tokens[place].text, label)
            for (place,), label in task.mark(encoding) if known is None or label in known]
        yield given[row], sentence, encoding, marks
