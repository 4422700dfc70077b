"""What all readers share, kept within bounds of bytes, and the inputs that stand in the address."""

import gc
import hashlib
import os
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st

import model
from app import limits
from app.byte_cache import ByteCache
from model import Bert, CheckpointProblem, Edits, Found, InputProblem, Trace, checkpoint, finetuning
from model.pretraining import corpus
from probes import bundled, heads, lessons, training_replay
from probes.finetuning import experiment as tuning
from probes.probing import experiment, results, tasks, treebank
from probes.states import corpus_index, neighbours, token_contexts

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
DEFAULT_MODEL = "english"
DEFAULT_A = "She poured a cup of hot coffee and sat down."
DEFAULT_B = "Then she opened the newspaper and began to read."
OFFERED = "models offered"  # in the session: what the folders held when this run of the page began

# every model goes by its fingerprint here: a name can mean other weights tomorrow
MODELS = ByteCache(limits.MODELS_MEGABYTES, limits.MODELS_LEAST)
TRACES = ByteCache(limits.TRACES_MEGABYTES)
STATES = ByteCache(limits.STATES_MEGABYTES, least=1)
BANKS = ByteCache(limits.BANKS_MEGABYTES, least=1)
ANSWERS = ByteCache(limits.ANSWERS_MEGABYTES)
_SNAPSHOTS: dict[str, Path] = {}  # Hub name -> its folder in the local cache, asked once


def models_folder() -> Path:
    """Where the checkpoints of the reader are: of the project, unless another folder was given."""
    return Path(os.environ.get("BERTSCOPE_MODELS") or ROOT / "checkpoints").absolute()


def find_models() -> None:
    """Look what the folders hold, once for a run of a page."""
    st.session_state[OFFERED] = model.available([models_folder()])


def models() -> list[Found]:
    """The shipped checkpoints and those in the models folder; one called like a shipped one has its folder behind it."""
    return st.session_state.get(OFFERED) or model.available([models_folder()])


def hub() -> bool:
    """Whether models may be loaded by their Hugging Face name."""
    return bool(os.environ.get("BERTSCOPE_HUB"))


def offered(name: str) -> bool:
    """Whether a model of this name can be chosen: one in the list, or a Hub name where those are allowed."""
    return any(found.name == name for found in models()) or (hub() and checkpoint.HUB_NAME.fullmatch(name) is not None)


def folder(name: str) -> Path:
    """Where a model that can be chosen is loaded from; of the Hub, its folder in the local cache."""
    path = next((found.path for found in models() if found.name == name), None)
    if path is not None:
        return path
    # the name may come from the address, that is from anybody: it must not reach into the folders of this machine
    if not offered(name):
        raise CheckpointProblem(f"There is no model called {name} here. There are: "
                                f"{', '.join(found.name for found in models())}.")
    if name not in _SNAPSHOTS or not _SNAPSHOTS[name].is_dir():
        _SNAPSHOTS[name] = _spinning(f"Looking for {name} on the Hub …", lambda: checkpoint.snapshot(name))()
    return _SNAPSHOTS[name]


def load(source: str | Path) -> Bert:
    """A model by the name it is offered under, or by its folder; loaded once and shared by all readers."""
    path = next((found.path for found in models() if found.name == source), Path(source))
    return MODELS.get(checkpoint.fingerprint(path), _spinning("Loading the model …", lambda: model.load(path)))


def named(name: str) -> Bert:
    """A model by a name that anybody may have written: only one that can be chosen."""
    return load(folder(name))


def twin(chosen: Bert, seed: int = 0) -> Bert:
    """The same architecture with random weights."""
    return MODELS.get((chosen.about.fingerprint, "random", seed), lambda: chosen.twin(seed))


def tuned(path: Path) -> finetuning.Tuned:
    """A fine-tuned checkpoint with its output layer, loaded once and shared by all readers."""
    return MODELS.get((checkpoint.fingerprint(path), "output layer"),
                      _spinning("Loading the fine-tuned model …", lambda: finetuning.load(path)))


def warm() -> None:
    """Load and read what the first page shows, before the first reader comes."""
    path = checkpoint.SHIPPED / DEFAULT_MODEL
    traced(MODELS.get(checkpoint.fingerprint(path), lambda: model.load(path)), DEFAULT_A, DEFAULT_B)


def answer(chosen: Bert, question: str, arguments: tuple[Hashable, ...], compute: Callable[[], T]) -> T:
    """What a model answers to a question about these arguments, computed once; all readers see the same one."""
    return ANSWERS.get((chosen.about.fingerprint, question, arguments), compute)


def _spinning(words: str, compute: Callable[[], T]) -> Callable[[], T]:
    """The same, with a sign on the page that something is being done."""
    def shown() -> T:
        with st.spinner(words):
            return compute()
    return shown


def answered(path: Path, text: str) -> training_replay.Answer:
    """What a snapshot of a training says about a text; the snapshot itself is not kept in memory."""
    return ANSWERS.get((checkpoint.fingerprint(path), "replay", text),
                       _spinning("Asking the snapshots …", lambda: training_replay.answer(path, text)))


def bank(name: str, content: bytes | None) -> treebank.Treebank:
    """The sentences of an uploaded file, or those of this name that come with the project."""
    if content is None:
        return BANKS.get(name, _spinning("Reading the sentences …", experiment.OWN[name]))
    return BANKS.get((name, hashlib.sha256(content).digest()), _spinning(
        "Reading the sentences …", lambda: treebank.parse(corpus.decoded(content, name), name)))


def banks(files: tuple[tuple[str, str, bytes], ...]) -> tuple[treebank.Treebank, int]:
    """Uploaded files as one bank, (split, name, content) each; and how many sentences stand in two of them."""
    def read() -> tuple[treebank.Treebank, int]:
        parts = [(split, treebank.parse(corpus.decoded(content, name), name)) for split, name, content in files]
        joined = treebank.joined(", ".join(name for _, name, _ in files), parts)
        return joined, tasks.shared(joined.sentences)

    key = tuple((split, name, hashlib.sha256(content).digest()) for split, name, content in files)
    return BANKS.get(key, _spinning("Reading the sentences …", read))


def probed() -> list[results.Result]:
    """The probing experiments that come with the project: something true to show before anything was asked."""
    return ANSWERS.get("probed", bundled.probed)


def tuned_example() -> tuning.Result:
    """The fine-tuning that comes with the project, for the same reason."""
    return ANSWERS.get("tuned", bundled.tuned)


def _lesson_files() -> dict[str, Path]:
    """The lessons that come with the project and those of the teacher's folder, by their names."""
    folders = [Path(__file__).parent / "lessons", Path(os.environ.get("BERTSCOPE_LESSONS") or ROOT / "lessons")]
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


def lesson_answer(question: lessons.Question) -> lessons.Answer:
    """What the current model says to a question of a lesson."""
    chosen = bert()
    return answer(chosen, "lesson", (repr(question),), lambda: lessons.answer(chosen, question))


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
    return named(_chosen())


def source() -> str:
    """What `model.load` takes in another process or in copied code: the name of a shipped model, the folder of another."""
    path = folder(_chosen())
    return path.name if path.parent == checkpoint.SHIPPED else str(path)


def changed() -> float:
    """When the current model was last written: what was found out before that is about another model."""
    return checkpoint.written(folder(_chosen()))


def _chosen() -> str:
    return st.session_state.get("model") or DEFAULT_MODEL


def texts() -> tuple[str, str | None]:
    """Sentence A and, where there is one, sentence B."""
    b = st.session_state.get("b", DEFAULT_B)
    return st.session_state.get("a", DEFAULT_A), b if b and b.strip() else None


def trace() -> Trace:
    """The current texts through the current model."""
    return traced(bert(), *texts())


def traced(chosen: Bert, a: str, b: str | None, heads_off: Iterable[tuple[int, int]] = ()) -> Trace:
    """Any texts through any loaded model, with all its heads or without some."""
    off = frozenset(heads_off)
    return TRACES.get((chosen.about.fingerprint, a, b, off),
                      lambda: chosen.trace(a, b, Edits(heads_off=off) if off else None))


def head_summary(chosen: Bert, trace: Trace) -> pd.DataFrame:
    """What every head does on an input, `heads.summary`, computed once."""
    return answer(chosen, "summary", (trace.encoding, trace.gates.tobytes()), lambda: heads.summary(trace))


def head_map(chosen: Bert, trace: Trace) -> tuple[heads.Divergence, np.ndarray]:
    """How far the heads lie apart on an input, and their places on a map: (layers × heads, 2)."""
    def compute() -> tuple[heads.Divergence, np.ndarray]:
        divergence = heads.similarity(trace.attention)
        return divergence, heads.plane(divergence.bits)

    return answer(chosen, "map", (trace.encoding, trace.gates.tobytes()), compute)


def gathered(sentences: tuple[str, ...]) -> token_contexts.Contexts:
    """Every token of some sentences at every layer of the current model."""
    chosen = bert()
    return STATES.get((chosen.about.fingerprint, "contexts", sentences),
                      _spinning("Reading the text …", lambda: token_contexts.gather(chosen, sentences)))


def index(folder: Path, layer: int) -> neighbours.Index:
    """One layer of a corpus that was indexed."""
    return STATES.get((str(folder), "index", layer),
                      _spinning("Opening the index …", lambda: corpus_index.load(folder, layer)))
