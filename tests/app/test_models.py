"""The model that is chosen: one folder for every kind of model, known by what is in it, never by its name alone."""

import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import model
from app import byte_cache, jobs, limits, session
from app.views.compare import models as sides
from app.work import heads
from model import Bert, CheckpointError, smallworld
from probes.probing.results import ProbingResult
from tests import hub_cache
from tests.conftest import ROOT

TEXT = "the cat sat on the mat."


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A models folder of its own."""
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    return tmp_path / "checkpoints"


@pytest.fixture
def choose(monkeypatch):
    """Choose a model as a reader does."""
    return lambda name: monkeypatch.setitem(st.session_state, "model", name)


def other(tiny_bert: Bert, seed: int) -> Bert:
    return Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=seed)


def opened(address: str = "start", **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def ended(id: str) -> jobs.Job:
    deadline = time.monotonic() + 300
    while (job := jobs.get(id)).is_active:
        assert time.monotonic() < deadline, job
        time.sleep(0.1)
    return job


def test_a_hub_model_is_its_folder_in_the_local_cache(tiny_bert, models, tmp_path, monkeypatch, choose):
    snapshot = hub_cache.fill(tmp_path, "someone/little-bert", tiny_bert, monkeypatch)
    choose("someone/little-bert")
    assert session.checkpoint_path() == str(snapshot)
    assert session.bert().info.name == model.load(session.checkpoint_path()).info.name == "someone/little-bert"


@pytest.fixture
def smallworld_hub(models, tmp_path, monkeypatch, choose):
    """A model from the Hub that reads the small world, chosen above the page."""
    hub_cache.fill(tmp_path, "someone/world-bert", smallworld.untrained_model(preset="tiny"), monkeypatch)
    choose("someone/world-bert")


STORY = "\n".join(sentence.text for story in smallworld.stories(3, 3) for sentence in story.sentences)


@pytest.mark.parametrize(
    ("work", "settings", "files"),
    [
        ("app.work.probing:run", {"model": "", "data": "smallworld", "task": "upos", "layers": "1", "limit": 200}, {}),
        ("app.work.corpus_index:build", {"checkpoint": "", "tokens": 200}, {"corpus.txt": STORY.encode()}),
        ("app.work.heads:corpus", {"source": "", "sentences": 10}, {heads.CORPUS: STORY.encode()}),
        ("app.work.nextsentence:order", {"checkpoint": "", "sentences": STORY.splitlines()[:4]}, {}),
        (
            "app.work.nextsentence:benchmark",
            {"checkpoint": "", "source": "upload.txt", "count": 5},
            {"upload.txt": STORY.encode()},
        ),
        ("app.work.finetuning:run", {"model": "", "data": "reviews", "task": "label", "epochs": 1, "limit": 20}, {}),
    ],
    ids=["probe", "index", "heads", "order", "exam", "fine-tuning"],
)
def test_work_on_a_hub_model_runs_to_its_end(smallworld_hub, monkeypatch, work, settings, files):
    first = next(iter(settings))
    arguments = settings | {first: session.checkpoint_path()}
    monkeypatch.setenv("HF_HOME", "/nowhere")  # the job needs no Hub any more
    job = ended(jobs.submit(work, arguments, work, files))
    assert (job.state, job.problem) == ("done", "")


def test_the_command_of_a_hub_models_probe_works_when_it_is_copied(smallworld_hub, tmp_path):
    arguments = {"model": session.checkpoint_path(), "data": "smallworld", "task": "upos", "layers": "1", "limit": 100}
    job = ended(jobs.submit("app.work.probing:run", arguments, "probe"))
    command = ProbingResult.read(job.folder / "result.json").command.split()
    assert command[:2] == ["python3", "run.py"]
    copied = subprocess.run([sys.executable, *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert copied.returncode == 0, copied.stderr
    assert "part of speech" in copied.stdout


def test_the_exported_python_of_a_hub_model_works_without_the_hub(smallworld_hub, monkeypatch):
    from app.views.attention.python_source import python_source

    code = python_source(
        session.checkpoint_path(), "Anna likes the market.", None, "attention", "", 0, [0], "pieces", [], []
    )
    monkeypatch.setenv("HF_HOME", "/nowhere")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "[CLS]" in done.stdout


def test_a_model_retrained_in_place_is_read_anew(tiny_bert, models, choose):
    tiny_bert.save(models / "mine")
    choose("mine")
    before = session.trace_of(session.bert(), TEXT, None)
    other(tiny_bert, 2).save(models / "mine")
    after = session.trace_of(session.bert(), TEXT, None)
    assert np.abs(after.hidden - before.hidden).max() > 0.1
    np.testing.assert_array_equal(after.hidden, model.load(models / "mine").trace(TEXT).hidden)


def test_weights_written_over_in_the_same_folder_are_read_anew(tiny_bert, models, choose, tmp_path):
    tiny_bert.save(models / "mine")
    choose("mine")
    before = session.trace_of(session.bert(), TEXT, None)
    other(tiny_bert, 2).save(tmp_path / "elsewhere")
    shutil.copyfile(tmp_path / "elsewhere" / "model.safetensors", models / "mine" / "model.safetensors")
    after = session.trace_of(session.bert(), TEXT, None)
    assert np.abs(after.hidden - before.hidden).max() > 0.1


def test_snapshots_of_one_name_and_different_runs_are_different_models(tiny_bert, models, monkeypatch):
    """Even when one is forgotten before the other is loaded, so that it may stand at the same place in memory."""
    monkeypatch.setattr(session, "MODELS", byte_cache.ByteCache(megabytes=0, min_entries=1))
    for run in range(6):
        other(tiny_bert, run).save(models / f"run{run}" / "snapshots" / "0000100")
    seen = [
        session.trace_of(session.load(str(models / f"run{run}" / "snapshots" / "0000100")), TEXT, None).hidden
        for run in range(6)
    ]
    for run, hidden in enumerate(seen):
        np.testing.assert_array_equal(hidden, other(tiny_bert, run).trace(TEXT).hidden)


def test_random_copies_of_different_seeds_are_different_models(tiny_bert, models):
    tiny_bert.save(models / "mine")
    mine = session.load(str(models / "mine"))
    keys = {mine.info.fingerprint, *(session.random_init_copy(mine, seed).info.fingerprint for seed in (0, 1))}
    assert len(keys) == 3
    assert session.random_init_copy(mine, 1) is session.random_init_copy(mine, 1)
    np.testing.assert_array_equal(
        session.random_init_copy(mine, 1).embeddings.token.weight, mine.random_init_copy(1).embeddings.token.weight
    )


def test_a_model_that_was_never_in_a_folder_has_a_fingerprint_of_its_own(tiny_bert):
    assert other(tiny_bert, 1).info.fingerprint != other(tiny_bert, 1).info.fingerprint


def test_four_models_in_turn_and_one_more_are_each_loaded_once(tiny_bert, models, monkeypatch):
    loaded = []
    monkeypatch.setattr(session, "MODELS", byte_cache.ByteCache(limits.MODELS_MEGABYTES, limits.MODELS_LEAST))
    monkeypatch.setattr(model, "load", lambda source, load=model.load: loaded.append(source) or load(source))
    for seed in range(5):
        other(tiny_bert, seed).save(models / str(seed))
    for _ in range(3):
        for seed in range(5):
            session.load(str(models / str(seed)))
    assert len(loaded) == 5


def test_the_models_are_looked_for_once_a_run_of_the_page(models, monkeypatch):
    calls = []
    monkeypatch.setattr(model, "available", lambda *folders, look=model.available: calls.append(1) or look(*folders))
    app = opened()
    assert not app.exception
    assert len(calls) == 1
    app.run()
    assert len(calls) == 2, "and anew in the next run: one may have been trained meanwhile"


def test_a_model_that_is_finished_meanwhile_is_offered_in_the_next_run(tiny_bert, models):
    app = opened()
    tiny_bert.save(models / "fresh")
    app.run()
    assert "fresh" in app.selectbox(key="model").options


def test_comparing_looks_for_the_models_once(tiny_bert, models, monkeypatch):
    tiny_bert.save(models / "mine" / "snapshots" / "0000100")
    tiny_bert.save(models / "mine2")
    calls = []
    monkeypatch.setattr(model, "available", lambda *folders, look=model.available: calls.append(1) or look(*folders))
    sides.offered()
    assert len(calls) == 1


def test_a_folder_called_like_a_shipped_model_is_offered_beside_it(tiny_bert, models, choose):
    tiny_bert.save(models / "english")
    offered = {info.name: info.path for info in session.models()}
    assert offered["english"] == model.checkpoint.BUNDLED / "english"
    assert offered["english (checkpoints)"] == models / "english"
    choose("english (checkpoints)")
    assert session.bert().config == tiny_bert.config
    assert session.bert().info.name == "english (checkpoints)"
    assert session.checkpoint_path() == str(models / "english")
    assert model.load(session.checkpoint_path()).info.name == "english (checkpoints)"
    choose("english")
    assert session.bert().config != tiny_bert.config and session.checkpoint_path() == "english"


def test_the_address_opens_a_folder_called_like_a_shipped_model(tiny_bert, models):
    tiny_bert.save(models / "english")
    app = opened(model="english (checkpoints)", a="the cat")
    assert app.selectbox(key="model").value == "english (checkpoints)"
    assert "2 layers" in app.caption[0].value


def test_an_address_with_an_unknown_model_says_so_and_shows_no_number(models):
    app = opened(model="no-such-model", a="My dog is cute.")
    (sentence,) = [error.value.replace("\\", "") for error in app.error]
    assert sentence == "There is no model called no-such-model here. There are: english, smallworld."
    assert not app.get("plotly_chart") and not app.caption and not app.metric
    assert app.text_area(key="a").value == "My dog is cute."


def test_after_an_unknown_model_another_can_be_chosen(models):
    app = opened(model="no-such-model")
    app.selectbox[0].select("smallworld").run()
    assert not app.error and not app.exception
    assert app.selectbox(key="model").value == "smallworld"
    assert len(app.get("plotly_chart")) == 2


def test_a_model_that_is_removed_while_it_is_looked_at_is_not_replaced_by_another(tiny_bert, models):
    tiny_bert.save(models / "mine")
    app = opened(model="mine", a="the cat sat")
    assert not app.error
    shutil.rmtree(models / "mine")
    app.run()
    assert "There is no model called mine here" in app.error[0].value.replace("\\", "")
    assert not app.get("plotly_chart")


def test_a_page_opens_with_a_hub_model_and_asks_the_hub_once(tiny_bert, models, tmp_path, monkeypatch):
    hub_cache.fill(tmp_path, "someone/page-bert", tiny_bert, monkeypatch)
    app = opened(model="someone/page-bert", a="the cat sat on the mat.", b="")
    assert not app.error and not app.exception
    assert app.selectbox(key="model").value == "someone/page-bert"
    assert "2 layers" in app.caption[0].value
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", "/nowhere")
    assert not app.run().error


def test_a_name_from_the_address_is_no_path_even_where_the_hub_is_allowed(tiny_bert, models, tmp_path, monkeypatch, choose):
    hub_cache.fill(tmp_path, "someone/little-bert", tiny_bert, monkeypatch)
    tiny_bert.save(tmp_path / "secret")
    monkeypatch.chdir(tmp_path)
    for name in ("secret", str(tmp_path / "secret"), "../secret"):
        choose(name)
        with pytest.raises(CheckpointError, match=r"no model called|could not be fetched"):
            session.bert()


def test_an_answer_is_computed_once_for_a_model_its_input_and_its_settings(tiny_bert, models):
    tiny_bert.save(models / "mine")
    mine, calls = session.load(str(models / "mine")), []

    def answer(bert: Bert, *arguments):
        return session.answer(bert, "test", arguments, lambda: calls.append(arguments) or len(calls))

    assert [answer(mine, "a", 1), answer(mine, "a", 1), answer(mine, "a", 2)] == [1, 1, 2]
    other(tiny_bert, 3).save(models / "mine")
    assert answer(session.load(str(models / "mine")), "a", 1) == 3


def test_the_first_reader_finds_what_was_prepared(monkeypatch):
    caches = {name: byte_cache.ByteCache(megabytes=500) for name in ("MODELS", "TRACES")}
    for name, cache in caches.items():
        monkeypatch.setattr(session, name, cache)
    session.warm_up()
    assert [len(cache) for cache in caches.values()] == [1, 1]
    monkeypatch.setattr(model, "load", pytest.fail)
    assert not opened().exception
