"""The frame of the experiment pages: jobs are found again, results listed, damaged ones named and passed over."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs, ownership
from app.jobs import registry
from app.widgets import experiment_page
from probes import bundled
from probes.results import RESULT

WORK = "app.work.probing:run"
MINE = "the mark of this browser"
OPEN = bundled.probing()
RESULTS = [OPEN[slug] for slug in ("english-upos", "english-random-upos", "smallworld-upos")]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def finished_job(runs: Path, number: int, content: str, state: str = "done") -> str:
    """A job that ended with this text as its result."""
    id = f"20260101-00000{number}-0123456789"
    (runs / id / "results").mkdir(parents=True)
    (runs / id / "results" / RESULT).write_text(content)
    with registry.transaction() as database:
        registry.insert(
            database,
            id=id,
            title=f"order {number}",
            function=WORK,
            fingerprint="",
            arguments="{}",
            arguments_digest="",
            state=state,
            queue_order=0,
            created=0.0,
            owner=MINE,
        )
    return id


def probes_page() -> None:
    from app import input_bar, navigation
    from app.views import probes

    input_bar.show(navigation.entry("attention"))
    probes.page()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(probes_page, default_timeout=120)
    app.session_state[ownership.OWNER] = MINE  # a test's browser has no cookies
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def test_bundled_results_come_first_in_the_list_and_ones_own_is_open(runs):
    id = finished_job(runs, 1, RESULTS[2].json())
    listed = opened().selectbox(key="result")
    assert [title.endswith("(shipped)") for title in listed.options] == [True] * len(OPEN) + [False]
    assert listed.value == id
    assert opened(result="english-random-upos").selectbox(key="result").value == "english-random-upos"


def test_without_a_job_the_first_bundled_result_is_open():
    app = opened()
    first = next(iter(OPEN))
    assert app.selectbox(key="result").value == first
    assert app.query_params["result"] == first


def test_a_result_that_cannot_be_read_is_named_and_the_others_are_there(runs):
    finished_job(runs, 1, RESULTS[0].json()[:500])
    whole = finished_job(runs, 2, RESULTS[0].json(), state="stopped")
    finished_job(runs, 3, json.dumps({"format": "bertscope probe 1"}))
    app = opened()
    (warning,) = [element.value.replace("\\", "") for element in app.warning]
    assert "order 1:" in warning and "order 3:" in warning and "order 2" not in warning
    assert app.selectbox(key="result").value == whole


def test_a_result_that_is_written_again_is_read_again(runs):
    id = finished_job(runs, 1, RESULTS[0].json())
    opened()
    (runs / id / "results" / RESULT).write_text(RESULTS[2].json())
    assert RESULTS[2].name in opened().selectbox(key="result").options[-1]


def job(id: str, state: str) -> jobs.Job:
    return jobs.Job(id, id, WORK, {}, state, 0, {}, "", False)


def test_the_job_at_work_comes_before_those_that_wait_and_those_before_the_rest():
    newest_first = [job("4", "done"), job("3", "waiting"), job("2", "running"), job("1", "waiting")]
    assert experiment_page.current_job(newest_first) == newest_first[2]
    assert experiment_page.current_job([newest_first[0], newest_first[1], newest_first[3]]) == newest_first[1]
    assert experiment_page.current_job([newest_first[0]]) == newest_first[0]
    assert experiment_page.current_job([]) is None
