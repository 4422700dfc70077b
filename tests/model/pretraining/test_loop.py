"""A run learns, ends in a checkpoint, and can be broken off anywhere without a trace."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import CheckpointError, InputError
from model.pretraining.evaluation import PretrainingScores, mean_scores
from model.pretraining.history import COLUMNS, MAX_ROWS, TrainingHistory
from model.pretraining.loop import pretrain
from model.pretraining.settings import PRECISIONS, WARM_STEPS, RunConfig, TrainingConfig

posix = pytest.mark.skipif(os.name != "posix", reason="needs fork, kill -9 and file limits, which Windows has not")
ROOT = Path(__file__).parents[3]
SMALL = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}


def stories(count: int = 60) -> list[str]:
    """Little texts in which every animal has its place: there is something to learn."""
    rng = random.Random(0)
    homes = {"cat": "mat", "dog": "hill", "cow": "field", "fish": "pond"}
    return [
        " ".join(
            f"The {animal} {rng.choice(['sat', 'slept'])} on the {homes[animal]}."
            for animal in rng.choices(list(homes), k=8)
        )
        for _ in range(count)
    ]


def config(**changes: Any) -> TrainingConfig:
    return TrainingConfig(
        **(
            {
                "preset": "tiny",
                "config": SMALL,
                "vocab_size": 120,
                "steps": 12,
                "max_length": 32,
                "batch_size": 8,
                "learning_rate": 3e-3,
                "heldout_every": 10,
                "evaluations": 2,
                "eval_pairs": 16,
                "dropout": 0.1,
                "threads": 1,
            }
            | changes
        )
    )


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return model.load(folder).state_dict()


def assert_identical(one: Path, other: Path) -> None:
    ours, theirs = weights(one), weights(other)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    list(pretrain(stories(), folder, config()))
    return folder


def test_a_run_learns_what_is_in_the_texts(tmp_path):
    reports = list(pretrain(stories(), tmp_path / "run", config(steps=150, batch_size=16, dropout=0.0)))
    heldout = [progress.heldout for progress in reports if progress.heldout]
    assert heldout[-1].mlm_loss < 0.4 * heldout[0].mlm_loss
    assert heldout[-1].mlm_accuracy > 0.6
    assert list(dict.fromkeys(progress.stage for progress in reports)) == ["reading", "vocabulary", "training", "done"]
    assert [progress.step for progress in reports if progress.mlm_loss is not None][:150] == list(range(1, 151))
    from probes import cloze

    filled = cloze.fill(model.load(tmp_path / "run"), "The fish slept on the [MASK].", k=1)
    assert filled["word"].iloc[0] == "pond"


def test_the_folder_is_a_checkpoint_for_us_and_for_transformers(unbroken):
    from transformers import AutoTokenizer, BertForPreTraining

    bert = model.load(unbroken)
    theirs = BertForPreTraining.from_pretrained(unbroken, attn_implementation="eager").eval()
    pair = ("The cat sat on the mat.", "The dog slept.")
    encoded = AutoTokenizer.from_pretrained(unbroken)(*pair, return_tensors="pt")
    with torch.no_grad():
        expected = theirs(**encoded)
        states = bert(bert.tokenizer.encode(*pair))
        np.testing.assert_allclose(bert.mlm_logits(states), expected.prediction_logits, atol=1e-4)
        np.testing.assert_allclose(bert.nsp_logits(states), expected.seq_relationship_logits, atol=1e-4)
    assert "trained from random weights" in bert.info.card
    assert unbroken.name in [info.name for info in model.available([unbroken.parent])]


def test_a_finished_run_leaves_its_history_and_no_scaffolding(unbroken):
    assert {path.name for path in unbroken.iterdir()} == {
        "CARD.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        "training_config.json",
        "history.csv",
        "corpus",
    }
    rows = TrainingHistory.read(unbroken / "history.csv").rows
    assert [row["step"] for row in rows] == list(range(13))


def test_the_same_config_gives_the_same_weights_and_another_seed_others(unbroken, tmp_path):
    list(pretrain(stories(), tmp_path / "again", config()))
    assert_identical(tmp_path / "again", unbroken)
    list(pretrain(stories(), tmp_path / "other", config(seed=1)))
    assert not torch.equal(weights(tmp_path / "other")["mlm.dense.weight"], weights(unbroken)["mlm.dense.weight"])


def test_products_in_bfloat16_learn_the_same_into_float32_weights(tmp_path):
    reports, losses = {}, {}
    for precision in PRECISIONS:
        settings = config(steps=150, batch_size=16, dropout=0.0, precision=precision)
        reports[precision] = list(pretrain(stories(), tmp_path / precision, settings))
        losses[precision] = [progress.mlm_loss for progress in reports[precision] if progress.mlm_loss is not None]
    assert losses["bfloat16"][0] != losses["float32"][0]
    assert losses["bfloat16"][:10] == pytest.approx(losses["float32"][:10], rel=0.01)
    assert reports["bfloat16"][-1].heldout.mlm_accuracy > 0.6
    assert all(value.dtype == torch.float32 for value in weights(tmp_path / "bfloat16").values())
    with pytest.raises(InputError, match="float32 or bfloat16, not 'float8'"):
        config(precision="float8")


def test_closing_saves_and_going_on_ends_the_same(unbroken, tmp_path):
    training = pretrain(stories(), tmp_path / "run", config())
    last = next(progress for progress in training if progress.step == 5)
    training.close()
    assert last.snapshot is None
    reports = list(pretrain(None, tmp_path / "run", resume=True))
    assert reports[0].step == 6
    assert_identical(tmp_path / "run", unbroken)
    assert [row["step"] for row in TrainingHistory.read(tmp_path / "run" / "history.csv").rows] == list(range(13))
    assert [progress.stage for progress in pretrain(None, tmp_path / "run", resume=True)] == ["done"]


def test_resuming_needs_the_texts_that_are_not_in_the_run(unbroken, tmp_path):
    interrupted = pretrain(unbroken / "corpus", tmp_path / "run", config(tokenizer=str(unbroken)))
    next(progress for progress in interrupted if progress.step == 5)
    interrupted.close()
    with pytest.raises(InputError, match="name them again"):
        next(pretrain(None, tmp_path / "run", resume=True))
    assert next(pretrain(unbroken / "corpus", tmp_path / "run", resume=True)).step == 6


def _run(folder: Path, reports) -> None:
    torch.set_num_threads(1)
    for progress in pretrain(stories(), folder, config(), resume=True, save_seconds=0):
        reports.send(progress.step)


@posix
def test_killed_at_random_moments_a_run_ends_bit_identical(unbroken, tmp_path):
    """kill -9, each time a moment after a random report, until the run comes to its end."""
    rng, kills = random.Random(4), 0
    processes = multiprocessing.get_context("fork")
    while not (tmp_path / "run" / "config.json").is_file():
        reader, writer = processes.Pipe(duplex=False)
        child = processes.Process(target=_run, args=(tmp_path / "run", writer))
        child.start()
        writer.close()
        try:
            for _ in range(rng.randrange(1, 6)):
                reader.recv()
            time.sleep(rng.random() * 0.02)
        except EOFError:
            pass
        if child.is_alive():
            os.kill(child.pid or 0, signal.SIGKILL)
            kills += 1
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL)
    assert kills >= 3
    list(pretrain(None, tmp_path / "run", resume=True))
    assert_identical(tmp_path / "run", unbroken)


def _run_out_of_room(folder: Path, reports) -> None:
    import resource

    torch.set_num_threads(1)
    training = pretrain(stories(), folder, config(), resume=True, save_seconds=0)
    try:
        for progress in training:
            if progress.step == 4:  # from now on no file may grow beyond a few bytes, as on a full disk
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        reports.send("ended")
    except CheckpointError as error:
        reports.send(str(error))


@posix
def test_a_full_disk_is_named_and_destroys_nothing(unbroken, tmp_path):
    processes = multiprocessing.get_context("fork")
    reader, writer = processes.Pipe(duplex=False)
    child = processes.Process(target=_run_out_of_room, args=(tmp_path / "run", writer))
    child.start()
    message = reader.recv()
    child.join()
    assert "no space left" in message
    assert not list((tmp_path / "run").glob(".*"))
    reports = list(pretrain(None, tmp_path / "run", resume=True))
    assert reports[0].step == 5
    assert_identical(tmp_path / "run", unbroken)


OPTIONS = [
    "--preset",
    "tiny",
    "--batch",
    "8",
    "--vocabulary",
    "120",
    "--length",
    "32",
    "--threads",
    "1",
    "--hold-out",
    "10",
    "--evaluations",
    "1",
    "--held",
    "8",
]


def command(*words: str, module: str = "model.train") -> list[str]:
    return [sys.executable, "-m", module, *words]


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "stories.txt"
    path.write_text("\n\n".join(stories()))
    return path


@posix
def test_control_c_finishes_the_step_saves_and_quotes_the_command_to_go_on(text, tmp_path):
    out = tmp_path / "my bert"
    words = ["--corpus", str(text), "--out", str(out), *OPTIONS, "--steps", "100000"]
    training = subprocess.Popen(command(*words), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert training.stdout is not None
    for line in training.stdout:
        if "tokens/s" in line:
            break
    training.send_signal(signal.SIGINT)
    output, errors = training.communicate()
    assert training.returncode == 130
    assert "Finishing this step" in errors and "Traceback" not in errors
    assert f"--out '{out}' --resume" in output
    resumed = pretrain(None, out, resume=True)
    assert f"after {next(resumed).step - 1:,} steps" in output


def test_two_processes_learn_what_one_learns_with_the_whole_batch(text, tmp_path):
    """From the first step, and going on with a run that one process began."""
    words = ["--corpus", str(text), *OPTIONS, "--steps", "6", "--snapshots", "1"]
    alone = subprocess.Popen(command(*words, "--out", str(tmp_path / "alone")), cwd=ROOT)
    _by_two(*words, "--out", str(tmp_path / "shared"))
    assert alone.wait() == 0
    begun = pretrain(text, tmp_path / "begun", TrainingConfig.read(tmp_path / "alone" / "training_config.json"))
    next(progress for progress in begun if progress.step == 3)
    begun.close()
    assert "step 4" in _by_two("--out", str(tmp_path / "begun"), "--resume")
    for folder, part in (("shared", "snapshots/0000001"), ("shared", "."), ("begun", ".")):
        one, two = weights(tmp_path / "alone" / part), weights(tmp_path / folder / part)
        for name in one:
            torch.testing.assert_close(one[name], two[name], rtol=1e-3, atol=2e-5)


def _by_two(*words: str) -> str:
    """The output of the command when two processes run it together."""
    torchrun = ["--standalone", "--nproc-per-node", "2", "-m", "model.train"]
    process = subprocess.run(
        command(*torchrun, *words, module="torch.distributed.run"), cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_snapshots_stand_at_evenly_spaced_powers(tmp_path):
    reports = list(pretrain(stories(), tmp_path / "run", config(snapshots=3)))
    snapshots = [progress.snapshot for progress in reports[:-1] if progress.snapshot]
    assert snapshots == [f"snapshots/{step:07d}" for step in (0, 1, 2, 5, 10)]
    for name in snapshots:
        assert model.load(tmp_path / "run" / name).mlm is not None
    denser = [step for step in range(200) if config(snapshots=4).snapshot_due(step)]
    assert denser == [0, 1, 2, 3, 6, 10, 18, 32, 56, 100, 178]


def test_the_rate_rises_then_falls_to_nothing():
    rates = [config(steps=100, warmup=0.1).learning_rate_at(step, 0) for step in range(100)]
    assert rates[:10] == sorted(rates[:10]) and rates[10:] == sorted(rates[10:], reverse=True)
    assert 0 < rates[-1] < 0.01 * max(rates) and max(rates) <= 3e-3
    timed = config(steps=None, minutes=10, warmup=0.1)
    assert timed.learning_rate_at(500, 300) == pytest.approx(3e-3 * 0.5 / 0.9)
    assert timed.learning_rate_at(500, 600) == 0
    assert timed.learning_rate_at(0, 300) == pytest.approx(3e-3 * 0.5 / WARM_STEPS)


def test_minutes_end_a_run(tmp_path):
    reports = list(pretrain(stories(), tmp_path / "run", config(steps=None, minutes=1 / 120)))
    assert reports[-1].stage == "done" and reports[-1].seconds >= 0.5
    assert reports[-1].heldout is not None


def test_going_on_from_a_checkpoint_adds_missing_heads(tiny_bert, tmp_path):
    bare = model.Bert(tiny_bert.config, tiny_bert.tokenizer, mlm=False, nsp=False)
    bare.load_state_dict(
        {name: value for name, value in tiny_bert.state_dict().items() if not name.startswith(("mlm", "nsp"))}
    )
    bare.save(tmp_path / "bare")
    training = pretrain(stories(), tmp_path / "run", config(init=str(tmp_path / "bare"), snapshots=1, learning_rate=1e-3))
    list(training)
    begun, ended = model.load(tmp_path / "run" / "snapshots" / "0000000"), model.load(tmp_path / "run")
    assert begun.mlm is not None and ended.nsp is not None
    torch.testing.assert_close(begun.layers[0].up.weight, tiny_bert.layers[0].up.weight, rtol=1e-3, atol=1e-3)
    assert not torch.equal(ended.layers[0].up.weight, tiny_bert.layers[0].up.weight)


def test_sinusoidal_positions_stay_as_they_are(tmp_path):
    fixed = config(config=SMALL | {"position_embedding_type": "sinusoidal"}, steps=2)
    list(pretrain(stories(), tmp_path / "run", fixed))
    bert = model.load(tmp_path / "run")
    torch.testing.assert_close(bert.embeddings.position.weight, model.sinusoids(512, 32))


def test_a_folder_of_ids_is_read_again(unbroken, tmp_path):
    shutil.copytree(unbroken, tmp_path / "first")
    list(pretrain(tmp_path / "first" / "corpus", tmp_path / "second", config(tokenizer=str(unbroken))))
    assert_identical(tmp_path / "second", unbroken)
    with pytest.raises(InputError, match="another vocabulary"):
        list(pretrain(tmp_path / "first" / "corpus", tmp_path / "third", config(init="english")))


def test_what_cannot_be_trained_is_refused_in_one_sentence(unbroken, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    for refused, message in [
        (lambda: pretrain(stories(), unbroken, config()), "holds a run already"),
        (lambda: pretrain(stories(), unbroken, config(seed=9), resume=True), "other settings"),
        (lambda: pretrain(None, tmp_path / "none", resume=True), "no run"),
        (lambda: pretrain(stories(), tmp_path / "full", config()), "holds other things"),
        (lambda: pretrain(stories(1), tmp_path / "one", config()), "two documents"),
        (lambda: pretrain(tmp_path / "nowhere.txt", tmp_path / "lost", config()), "no file or folder"),
        (lambda: pretrain(stories(), tmp_path / "long", config(max_length=600, init="english")), "at most 512"),
        (lambda: [config(steps=None)], "how long"),
        (lambda: [config(minutes=3)], "how long"),
        (lambda: [config(steps=0)], "more than 0"),
        (lambda: [config(negatives="elsewhere")], "another or same"),
    ]:
        with pytest.raises(model.BertscopeError, match=message):
            list(islice(refused(), 50))


def test_a_long_history_is_thinned_and_keeps_its_held_out_figures():
    history = TrainingHistory()
    for step in range(10_001):
        history.add({"step": step, "mlm_loss": float(step), "heldout_mlm_loss": 1.0 if step % 1000 == 0 else None})
    assert len(history.rows) <= MAX_ROWS
    assert sum(row["heldout_mlm_loss"] is not None for row in history.rows) == 11
    assert history.rows[-1]["step"] == 10_000
    assert set(history.rows[0]) == set(COLUMNS)


def test_a_misspelt_key_in_a_config_is_named(tmp_path: Path):
    path = tmp_path / "training_config.json"
    RunConfig(config(), ("my.txt",), ("a", "b")).write(path)
    assert RunConfig.read(path) == RunConfig(config(), ("my.txt",), ("a", "b"))
    values = json.loads(path.read_text())
    for misspelt, correct in (("learning_rat", "learning_rate"), ("mix", None)):
        path.write_text(json.dumps(values | {misspelt: 1}))
        with pytest.raises(InputError, match=f"“{misspelt}”" + (f".*“{correct}”" if correct else r"\.$")):
            TrainingConfig.read(path)
    path.write_text(json.dumps(values | {"masking": values["masking"] | {"whole_words": True}}))
    with pytest.raises(InputError, match=r"“whole_words”.*“whole_word”"):
        TrainingConfig.read(path)


def test_a_run_of_another_format_is_refused_in_one_sentence(unbroken: Path, tmp_path: Path):
    shutil.copytree(unbroken, tmp_path / "run")
    path = tmp_path / "run" / "training_config.json"
    values = json.loads(path.read_text())
    for content in (json.dumps(values | {"format": 0}), json.dumps({"rate": 1e-3}), "[]"):
        path.write_text(content)
        with pytest.raises(InputError, match=r"training_config\.json is not of format 1"):
            next(pretrain(None, tmp_path / "run", resume=True))
    path.write_text('{"format": 1,')
    with pytest.raises(InputError, match="is not JSON"):
        next(pretrain(None, tmp_path / "run", resume=True))


def test_scores_of_several_corpora_weigh_words_and_pairs():
    pairs = PretrainingScores(mlm_loss=1.0, mlm_accuracy=0.5, nsp_loss=0.2, nsp_accuracy=1.0, words=30, pairs=10)
    more = PretrainingScores(mlm_loss=3.0, mlm_accuracy=0.1, nsp_loss=0.8, nsp_accuracy=0.5, words=10, pairs=30)
    singles = PretrainingScores(mlm_loss=9.0, mlm_accuracy=0.0, nsp_loss=None, nsp_accuracy=None, words=99, pairs=0)
    mean = mean_scores([pairs, more, singles])
    assert mean is not None
    assert (mean.mlm_loss, mean.words, mean.pairs) == (pytest.approx(1.5), 40, 40)
    assert (mean.nsp_loss, mean.nsp_accuracy) == (pytest.approx(0.65), pytest.approx(0.625))
    assert mean_scores([singles]) == singles
    assert mean_scores([]) is None
