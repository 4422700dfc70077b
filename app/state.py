"""The caches and the URL-bound inputs of the app; the only file with cache decorators."""

import gc
import os
from pathlib import Path

import streamlit as st

import model
from app import limits
from model import Bert, CheckpointProblem, Found, InputProblem, Trace, corpus, finetune
from probes import concordance, contexts, experiment, lessons, neighbours, replay, results, shipped, tasks, treebank, tuning

DEFAULT_MODEL = "english"
DEFAULT_A = "She poured a cup of hot coffee and sat down."
DEFAULT_B = "Then she opened the newspaper and began to read."


def models() -> list[Found]:
    """The shipped checkpoints and those in the models folder, each name once."""
    found: dict[str, Found] = {}
    for one in model.available([os.environ.get("BERTSCOPE_MODELS", "checkpoints")]):
        found.setdefault(one.name, one)
    return list(found.values())


def hub() -> bool:
    """Whether models may be loaded by their Hugging Face name."""
    return bool(os.environ.get("BERTSCOPE_HUB"))


@st.cache_resource(max_entries=limits.MODELS_LOADED, show_spinner="Loading the model …")
def _loaded(source: str, changed: float) -> Bert:
    return model.load(source, hub=hub())


def load(source: str) -> Bert:
    """A checkpoint by the name it is offered under, by folder or by Hub name; loaded once and shared by all readers."""
    path = next((found.path for found in models() if found.name == source), Path(source))
    changed = (path / "config.json").stat().st_mtime if (path / "config.json").is_file() else 0.0
    return _loaded(str(path) if changed else source, changed)


def warm() -> None:
    """Import what the first page needs before the first reader comes."""
    model.load(DEFAULT_MODEL).trace(DEFAULT_A, DEFAULT_B)


@st.cache_resource(max_entries=limits.TRACES_KEPT, show_spinner=False)
def _traced(_bert: Bert, key: str, a: str, b: str | None) -> Trace:
    return _bert.trace(a, b)


@st.cache_resource(max_entries=limits.REPLAY_ANSWERS, show_spinner="Asking the snapshots …")
def _answered(path: str, changed: float, text: str) -> replay.Answer:
    return replay.answer(Path(path), text)


def answered(path: Path, text: str) -> replay.Answer:
    """What a snapshot of a training says about a text; the snapshot itself is not kept in memory."""
    return _answered(str(path), (path / "config.json").stat().st_mtime, text)


@st.cache_resource(max_entries=limits.BANKS_KEPT, show_spinner="Reading the sentences …")
def bank(name: str, content: bytes | None) -> treebank.Treebank:
    """The sentences of an uploaded file, or those of this name that come with the project."""
    if content is None:
        return experiment.OWN[name]()
    return treebank.parse(corpus.decoded(content, name), name)


@st.cache_resource(max_entries=limits.BANKS_KEPT, show_spinner="Reading the sentences …")
def banks(files: tuple[tuple[str, str, bytes], ...]) -> tuple[treebank.Treebank, int]:
    """Uploaded files as one bank, (split, name, content) each; and how many sentences stand in two of them."""
    read = [(split, treebank.parse(corpus.decoded(content, name), name)) for split, name, content in files]
    joined = treebank.joined(", ".join(name for _, name, _ in files), read)
    return joined, tasks.shared(joined.sentences)


@st.cache_resource
def probed() -> list[results.Result]:
    """The probing experiments that come with the project: something true to show before anything was asked."""
    return shipped.probed()


@st.cache_resource
def tuned_example() -> tuning.Result:
    """The fine-tuning that comes with the project, for the same reason."""
    return shipped.tuned()


@st.cache_resource(max_entries=limits.TUNED_KEPT, show_spinner="Loading the fine-tuned model …")
def _tuned(path: str, changed: float) -> finetune.Tuned:
    return finetune.load(path)


def tuned(path: Path) -> finetune.Tuned:
    """A fine-tuned checkpoint with its output layer, loaded once and shared by all readers."""
    return _tuned(str(path), (path / "config.json").stat().st_mtime)


def _lesson_files() -> dict[str, Path]:
    """The lessons that come with the project and those of the teacher's folder, by their names."""
    folders = [Path(__file__).parent / "lessons", Path(os.environ.get("BERTSCOPE_LESSONS", "lessons"))]
    return {file.stem: file for folder in folders for file in sorted(folder.glob("*.toml"))}


def lesson_list() -> tuple[dict[str, lessons.Lesson], list[str]]:
    """Every lesson that can be read, and a sentence for each that cannot."""
    found: dict[str, lessons.Lesson] = {}
    trouble: list[str] = []
    for name, file in _lesson_files().items():
        try:
            found[name] = lessons.load(file)
        except InputProblem as problem:
            trouble.append(str(problem))
    return found, trouble


def lesson_file(name: str) -> str:
    """The text of a lesson, to write another by."""
    return _lesson_files()[name].read_text(encoding="utf-8")


@st.cache_resource(max_entries=limits.LESSON_ANSWERS, show_spinner=False)
def _lesson_answer(_bert: Bert, key: str, _question: lessons.Question) -> lessons.Answer:
    return lessons.answer(_bert, _question)


def lesson_answer(question: lessons.Question) -> lessons.Answer:
    """What the current model says to a question of a lesson."""
    chosen = bert()
    return _lesson_answer(chosen, f"{chosen.about.name} {id(chosen)} {question}", question)


@st.cache_resource
def votes() -> dict[tuple[str, int], dict[str, int]]:
    """What everyone predicted since the server started: (lesson, question) -> {reader: option}."""
    return {}


@st.cache_resource
def settle() -> None:
    """Take what is imported out of the garbage collector's rounds: it stays for good, and there is much of it."""
    gc.collect()
    gc.freeze()


def bert() -> Bert:
    """The model chosen in the sidebar: one that is offered, or a Hub name where those are allowed."""
    name = st.session_state.get("model") or DEFAULT_MODEL
    # the name may come from the address, that is from anybody: it must not reach into the folders of this machine
    if not any(found.name == name for found in models()) and (not hub() or Path(name).exists()):
        raise CheckpointProblem(f"{name} is not among the models offered here.")
    return load(name)


def source() -> str:
    """Where the model chosen in the sidebar is loaded from, for work in another process and for code to copy."""
    name, path = _chosen()
    return name if path is None or path.parent == model.checkpoint.SHIPPED else str(path)


def changed() -> float:
    """When the current model was last written: what was found out before that is about another model."""
    path = _chosen()[1]
    return (path / "config.json").stat().st_mtime if path else 0.0


def _chosen() -> tuple[str, Path | None]:
    name = st.session_state.get("model") or DEFAULT_MODEL
    return name, next((found.path for found in models() if found.name == name), None)


def texts() -> tuple[str, str | None]:
    """Sentence A and, where there is one, sentence B."""
    b = st.session_state.get("b", DEFAULT_B)
    return st.session_state.get("a", DEFAULT_A), b if b and b.strip() else None


def trace() -> Trace:
    """The current texts through the current model."""
    return traced(bert(), *texts())


def traced(chosen: Bert, a: str, b: str | None) -> Trace:
    """Any texts through any loaded model."""
    return _traced(chosen, f"{chosen.about.name} {id(chosen)}", a, b)


@st.cache_resource(max_entries=limits.TWINS_KEPT, show_spinner=False)
def _twin(_bert: Bert, key: str) -> Bert:
    return _bert.twin()


def twin(chosen: Bert) -> Bert:
    """The same architecture with random weights."""
    return _twin(chosen, f"{chosen.about.name} {id(chosen)}")


@st.cache_resource(max_entries=limits.CONTEXTS_KEPT, show_spinner="Reading the text …")
def _gathered(_bert: Bert, key: str, sentences: tuple[str, ...]) -> contexts.Contexts:
    return contexts.gather(_bert, sentences)


def gathered(sentences: tuple[str, ...]) -> contexts.Contexts:
    """Every token of some sentences at every layer of the current model."""
    chosen = bert()
    return _gathered(chosen, f"{chosen.about.name} {id(chosen)}", sentences)


@st.cache_resource(max_entries=limits.INDEXES_KEPT, show_spinner="Opening the index …")
def index(folder: Path, layer: int) -> neighbours.Index:
    """One layer of a corpus that was indexed."""
    return concordance.load(folder, layer)
