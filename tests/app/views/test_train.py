"""The Train page says what its snapshots and its history hold."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint
from probes import training_replay

RUN = checkpoint.BUNDLED / "smallworld"


def train_page() -> None:
    from app import input_bar, navigation
    from app.views import train

    input_bar.show(navigation.entry("train"))
    train.page()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(train_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path / "models"))


def test_the_replay_says_prediction_accuracy_and_loss_beside_their_baselines():
    shown = "\n".join(caption.value for caption in opened().caption)
    last = training_replay.snapshots(RUN)[-1]
    word, probability = next(iter(training_replay.predict(last.path, training_replay.question(RUN)).words.items()))
    assert f"After **{last.step:,}** steps the first choice behind [MASK] is *{word}* ({probability:.1%})" in shown
    history, ceiling = training_replay.history(RUN), training_replay.ceiling(RUN)
    accuracy = history["heldout_mlm_accuracy"].dropna().iloc[-1]
    assert f"MLM accuracy {accuracy:.1%} (best possible {ceiling['accuracy']:.1%})" in shown
    assert f"MLM loss {history['mlm_loss'].dropna().iloc[-1]:.2f} (least possible {ceiling['loss']:.2f})" in shown


def test_the_slug_of_the_address_chooses_the_half_of_the_page():
    assert [button.label for button in opened(show="own").button] == ["Train"]
    assert "Train" not in [button.label for button in opened(show="replay").button]


def test_too_little_text_is_refused_with_its_number():
    app = AppTest.from_function(refusing_page, default_timeout=60).run()
    app.radio(key="source").set_value("paste").run()
    app.text_area(key="pasted").set_value("Only four words here.").run()
    next(button for button in app.button if button.label == "Train").click().run()
    assert "4 words, at least" in app.error[0].value


def refusing_page() -> None:
    import streamlit as st

    from app import input_bar, navigation
    from app.views import train
    from model import InputError

    input_bar.show(navigation.entry("train"))
    st.session_state.setdefault("show", "own")
    try:
        train.page()
    except InputError as error:
        st.error(str(error))
