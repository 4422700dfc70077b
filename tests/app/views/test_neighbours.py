"""An index belongs to the model it was made with."""

import os
import time

from streamlit.testing.v1 import AppTest

from app import jobs
from app.views.states import neighbours


def _page():
    from app import input_bar, navigation
    from app.views.states import neighbours

    input_bar.show(navigation.entry("attention"))
    neighbours.section()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_an_index_of_a_model_that_was_written_since_is_not_searched(tiny_bert, monkeypatch, tmp_path):
    folder = tiny_bert.save(tmp_path / "models" / "mine")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    id = jobs.submit(
        neighbours.WORK,
        {"checkpoint": str(folder), "tokens": 100},
        "Index",
        {"corpus.txt": b"the cat sat on the mat . my dog ran ."},
    )
    while jobs.get(id).is_active:
        time.sleep(0.1)
    assert jobs.get(id).state == "done", jobs.get(id).problem
    query = {"model": "mine", "a": "the cat", "b": "", "near": "corpus", "corpus": id}
    assert not opened(**query).info
    later = time.time() + 60
    os.utime(folder / "config.json", (later, later))
    (info,) = opened(**query).info
    assert "before this one was last written" in info.value
