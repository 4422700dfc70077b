"""The Train page's job: its settings, its progress as plain numbers, and what it leaves for the replay."""

import json

import pytest
import torch

from app.work import training
from model.kernels import fastest_precision

MASKING = {"mask": 0.8, "random": 0.1, "keep": 0.1}


def test_the_train_page_takes_the_precision_its_processor_multiplies_fastest(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    for supported, expected in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda supported=supported: supported)
        settings = training.config(tmp_path, training.SMALL_WORLD, "tiny", 3, 128, MASKING)
        assert settings.precision == fastest_precision() == expected


@pytest.fixture
def order(tmp_path):
    """A folder with a text, and the arguments of a job of a second."""
    texts = ["Short. It was a wonderful morning for a walk. She slept on the mat in the sun."] * 60
    (tmp_path / training.TEXT).write_text("\n\n".join(texts), encoding="utf-8")
    return {
        "folder": tmp_path,
        "out": str(tmp_path / "run"),
        "source": "text",
        "preset": "tiny",
        "minutes": 1 / 60,
        "length": 32,
        "masking": MASKING,
    }


def test_progress_is_plain_json_and_held_out_scores_stay_until_the_next(order):
    reports = list(training.train(**order))
    assert [json.loads(json.dumps(report, allow_nan=False)) for report in reports] == reports
    assert all(0 <= report["fraction"] <= 1 and report["stage"] for report in reports)
    steps = [report for report in reports if report["phase"] == "training"]
    assert steps[0]["heldout_step"] == 0
    assert all("heldout_mlm_accuracy" in report and "heldout_nsp_accuracy" in report for report in steps)
    assert reports[-1]["phase"] == "done"


def test_the_replay_asks_about_a_sentence_of_the_text_itself(order, tmp_path):
    list(training.train(**order))
    question = (tmp_path / "run" / "question.txt").read_text(encoding="utf-8").strip()
    assert question == "It was a [MASK] morning for a walk."
    assert not (tmp_path / "run" / "bound.json").exists()
