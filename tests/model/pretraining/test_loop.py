"""A run learns, ends in a checkpoint, and can be broken off anywhere without a trace."""

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

import numpy as np
import pytest
import torch

import model
from app.work import training as lesson
from model import CheckpointProblem, InputProblem
from model.pretraining.history import COLUMNS, MOST, History
from model.pretraining.loop import pretrain
from model.pretraining.settings import PRECISIONS, WARM_STEPS, Recipe, quickest

posix = pytest.mark.skipif(os.name != "posix", reason="needs fork, kill -9 and file limits, which Windows has not")
ROOT = Path(__file__).parents[3]
SMALL = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}


def stories(count: int = 60) -> list[str]:
    """Little texts in which every animal has its place: there is something to learn."""
    generator = random.Random(0)
    homes = {"cat": "mat", "dog": "hill", "cow": "field", "fish": "pond"}
    return [" ".join(f"The {animal} {generator.choice(['sat', 'slept'])} on the {homes[animal]}."
                     for animal in generator.choices(list(homes), k=8)) for _ in range(count)]


def recipe(**changes) -> Recipe:
    return Recipe(**({"preset": "tiny", "config": SMALL, "vocabulary": 120, "steps": 12, "length": 32, "batch": 8,
                      "rate": 3e-3, "hold_out": 10, "evaluations": 2, "held": 16, "dropout": 0.1, "threads": 1}
                     | changes))


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return model.load(folder).state_dict()


def assert_identical(one: Path, other: Path) -> None:
    ours, theirs = weights(one), weights(other)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    list(pretrain(stories(), folder, recipe()))
    return folder


def test_a_run_learns_what_is_in_the_texts(tmp_path):
    told = list(pretrain(stories(), tmp_path / "run", recipe(steps=150, batch=16, dropout=0.0)))
    held = [progress.held for progress in told if progress.held]
    assert held[-1].mlm_loss < 0.4 * held[0].mlm_loss
    assert held[-1].mlm_accuracy > 0.6
    assert list(dict.fromkeys(progress.stage for progress in told)) == ["reading", "vocabulary", "training", "done"]
    assert [progress.step for progress in told if progress.mlm_loss is not None][:150] == list(range(1, 151))
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
        np.testing.assert_allclose(bert.words(states), expected.prediction_logits, atol=1e-4)
        np.testing.assert_allclose(bert.follows(states), expected.seq_relationship_logits, atol=1e-4)
    assert "trained from random weights" in bert.about.card
    assert unbroken.name in [found.name for found in model.available([unbroken.parent])]


def test_a_finished_run_leaves_its_course_and_no_scaffolding(unbroken):
    left = {path.name for path in unbroken.iterdir()}
    assert left == {"CARD.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                    "vocab.txt", "recipe.json", "history.csv", "history.html", "corpus"}
    rows = History.read(unbroken / "history.csv").rows
    assert [row["step"] for row in rows] == list(range(13))
    page = (unbroken / "history.html").read_text()
    assert "<svg" in page and "http" not in page


def test_the_same_recipe_gives_the_same_weights_and_another_seed_others(unbroken, tmp_path):
    list(pretrain(stories(), tmp_path / "again", recipe()))
    assert_identical(tmp_path / "again", unbroken)
    list(pretrain(stories(), tmp_path / "other", recipe(seed=1)))
    assert not torch.equal(weights(tmp_path / "other")["mlm.dense.weight"], weights(unbroken)["mlm.dense.weight"])


def test_products_in_bfloat16_learn_the_same_into_float32_weights(tmp_path):
    courses = {}
    for precision in PRECISIONS:
        made = recipe(steps=150, batch=16, dropout=0.0, precision=precision)
        courses[precision] = list(pretrain(stories(), tmp_path / precision, made))
    exact, rounded = ([told.mlm_loss for told in course if told.mlm_loss is not None] for course in courses.values())
    assert rounded[0] != exact[0] and rounded[:10] == pytest.approx(exact[:10], rel=0.01)
    assert courses["bfloat16"][-1].held.mlm_accuracy > 0.6
    assert all(value.dtype == torch.float32 for value in weights(tmp_path / "bfloat16").values())
    with pytest.raises(InputProblem, match="float32 or bfloat16, not 'float8'"):
        recipe(precision="float8")


def test_the_train_page_takes_the_precision_its_processor_multiplies_soonest(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    for has, expected in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda has=has: has)
        made = lesson.recipe(tmp_path, lesson.SMALL_WORLD, "tiny", 3, 128, {"mask": 0.8, "random": 0.1, "keep": 0.1})
        assert made.precision == quickest() == expected


def test_closing_saves_and_going_on_ends_the_same(unbroken, tmp_path):
    training = pretrain(stories(), tmp_path / "run", recipe())
    last = next(progress for progress in training if progress.step == 5)
    training.close()
    assert last.snapshot is None
    told = list(pretrain(None, tmp_path / "run", again=True))
    assert told[0].step == 6
    assert_identical(tmp_path / "run", unbroken)
    assert [row["step"] for row in History.read(tmp_path / "run" / "history.csv").rows] == list(range(13))
    assert [progress.stage for progress in pretrain(None, tmp_path / "run", again=True)] == ["done"]


def test_going_on_asks_for_texts_that_are_not_in_the_run(unbroken, tmp_path):
    begun = pretrain(unbroken / "corpus", tmp_path / "run", recipe(tokenizer=str(unbroken)))
    next(progress for progress in begun if progress.step == 5)
    begun.close()
    with pytest.raises(InputProblem, match="name them again"):
        next(pretrain(None, tmp_path / "run", again=True))
    assert next(pretrain(unbroken / "corpus", tmp_path / "run", again=True)).step == 6


def _run(folder: Path, reports) -> None:
    torch.set_num_threads(1)
    for progress in pretrain(stories(), folder, recipe(), again=True, save_seconds=0):
        reports.send(progress.step)


@posix
def test_killed_at_random_moments_a_run_ends_bit_identical(unbroken, tmp_path):
    """kill -9, each time a moment after a random report, until the run comes to its end."""
    chance, kills = random.Random(4), 0
    processes = multiprocessing.get_context("fork")
    while not (tmp_path / "run" / "config.json").is_file():
        reader, writer = processes.Pipe(duplex=False)
        child = processes.Process(target=_run, args=(tmp_path / "run", writer))
        child.start()
        writer.close()
        try:
            for _ in range(chance.randrange(1, 6)):
                reader.recv()
            time.sleep(chance.random() * 0.02)
        except EOFError:
            pass
        if child.is_alive():
            os.kill(child.pid or 0, signal.SIGKILL)
            kills += 1
        child.join()
        assert child.exitcode in (0, -signal.SIGKILL)
    assert kills >= 3
    list(pretrain(None, tmp_path / "run", again=True))
    assert_identical(tmp_path / "run", unbroken)


def _run_out_of_room(folder: Path, reports) -> None:
    import resource
    torch.set_num_threads(1)
    training = pretrain(stories(), folder, recipe(), again=True, save_seconds=0)
    try:
        for progress in training:
            if progress.step == 4:  # from now on no file may grow beyond a few bytes, as on a full disk
                resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        reports.send("ended")
    except CheckpointProblem as problem:
        reports.send(str(problem))


@posix
def test_a_full_disk_is_said_and_destroys_nothing(unbroken, tmp_path):
    processes = multiprocessing.get_context("fork")
    reader, writer = processes.Pipe(duplex=False)
    child = processes.Process(target=_run_out_of_room, args=(tmp_path / "run", writer))
    child.start()
    said = reader.recv()
    child.join()
    assert "no room left" in said
    assert not list((tmp_path / "run").glob(".*"))
    told = list(pretrain(None, tmp_path / "run", again=True))
    assert told[0].step == 5
    assert_identical(tmp_path / "run", unbroken)


QUICK = ["--preset", "tiny", "--batch", "8", "--vocabulary", "120", "--length", "32", "--threads", "1",
         "--hold-out", "10", "--evaluations", "1", "--held", "8"]


def command(*words: str, module: str = "model.train") -> list[str]:
    return [sys.executable, "-m", module, *words]


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "stories.txt"
    path.write_text("\n\n".join(stories()))
    return path


@posix
def test_control_c_finishes_the_step_saves_and_says_how_to_go_on(text, tmp_path):
    out = tmp_path / "my bert"
    words = ["--corpus", str(text), "--out", str(out), *QUICK, "--steps", "100000"]
    training = subprocess.Popen(command(*words), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert training.stdout is not None
    for line in training.stdout:
        if "tokens/s" in line:
            break
    training.send_signal(signal.SIGINT)
    said, errors = training.communicate()
    assert training.returncode == 130
    assert "Finishing this step" in errors and "Traceback" not in errors
    assert f"--out '{out}' --resume" in said
    going_on = pretrain(None, out, again=True)
    assert f"after {next(going_on).step - 1:,} steps" in said


def test_two_processes_learn_what_one_learns_with_the_whole_batch(text, tmp_path):
    """From the first step, and going on with a run that one process began."""
    words = ["--corpus", str(text), *QUICK, "--steps", "6", "--snapshots", "1"]
    alone = subprocess.Popen(command(*words, "--out", str(tmp_path / "alone")), cwd=ROOT)
    _by_two(*words, "--out", str(tmp_path / "shared"))
    assert alone.wait() == 0
    begun = pretrain(text, tmp_path / "begun", Recipe.read(tmp_path / "alone" / "recipe.json"))
    next(progress for progress in begun if progress.step == 3)
    begun.close()
    assert "step 4" in _by_two("--out", str(tmp_path / "begun"), "--resume")
    for folder, part in (("shared", "snapshots/0000001"), ("shared", "."), ("begun", ".")):
        one, two = weights(tmp_path / "alone" / part), weights(tmp_path / folder / part)
        for name in one:
            torch.testing.assert_close(one[name], two[name], rtol=1e-3, atol=2e-5)


def _by_two(*words: str) -> str:
    """What the command says when two processes run it together."""
    ours = ["--standalone", "--nproc-per-node", "2", "-m", "model.train"]
    ended = subprocess.run(command(*ours, *words, module="torch.distributed.run"), cwd=ROOT, capture_output=True, text=True,
                           timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_snapshots_stand_at_evenly_spaced_powers(tmp_path):
    told = list(pretrain(stories(), tmp_path / "run", recipe(snapshots=3)))
    kept = [progress.snapshot for progress in told[:-1] if progress.snapshot]
    assert kept == [f"snapshots/{step:07d}" for step in (0, 1, 2, 5, 10)]
    for name in kept:
        assert model.load(tmp_path / "run" / name).mlm is not None
    denser = [step for step in range(200) if recipe(snapshots=4).snapshot_due(step)]
    assert denser == [0, 1, 2, 3, 6, 10, 18, 32, 56, 100, 178]


def test_the_rate_rises_then_falls_to_nothing():
    rates = [recipe(steps=100, warmup=0.1).learning_rate(step, 0) for step in range(100)]
    assert rates[:10] == sorted(rates[:10]) and rates[10:] == sorted(rates[10:], reverse=True)
    assert 0 < rates[-1] < 0.01 * max(rates) and max(rates) <= 3e-3
    timed = recipe(steps=None, minutes=10, warmup=0.1)
    assert timed.learning_rate(500, 300) == pytest.approx(3e-3 * 0.5 / 0.9)
    assert timed.learning_rate(500, 600) == 0
    assert timed.learning_rate(0, 300) == pytest.approx(3e-3 * 0.5 / WARM_STEPS)


def test_minutes_end_a_run(tmp_path):
    told = list(pretrain(stories(), tmp_path / "run", recipe(steps=None, minutes=1 / 120)))
    assert told[-1].stage == "done" and told[-1].seconds >= 0.5
    assert told[-1].held is not None


def test_going_on_from_a_checkpoint_adds_missing_heads(little, tmp_path):
    bare = model.Bert(little.config, little.tokenizer, mlm=False, nsp=False)
    bare.load_state_dict({name: value for name, value in little.state_dict().items()
                          if not name.startswith(("mlm", "nsp"))})
    bare.save(tmp_path / "bare")
    training = pretrain(stories(), tmp_path / "run", recipe(init=str(tmp_path / "bare"), snapshots=1, rate=1e-3))
    list(training)
    begun, ended = model.load(tmp_path / "run" / "snapshots" / "0000000"), model.load(tmp_path / "run")
    assert begun.mlm is not None and ended.nsp is not None
    torch.testing.assert_close(begun.layers[0].up.weight, little.layers[0].up.weight, rtol=1e-3, atol=1e-3)
    assert not torch.equal(ended.layers[0].up.weight, little.layers[0].up.weight)


def test_sinusoidal_positions_stay_as_they_are(tmp_path):
    fixed = recipe(config=SMALL | {"position_embedding_type": "sinusoidal"}, steps=2)
    list(pretrain(stories(), tmp_path / "run", fixed))
    bert = model.load(tmp_path / "run")
    torch.testing.assert_close(bert.embeddings.position.weight, model.sinusoids(512, 32))


def test_a_folder_of_ids_is_read_again(unbroken, tmp_path):
    shutil.copytree(unbroken, tmp_path / "first")
    list(pretrain(tmp_path / "first" / "corpus", tmp_path / "second", recipe(tokenizer=str(unbroken))))
    assert_identical(tmp_path / "second", unbroken)
    with pytest.raises(InputProblem, match="another vocabulary"):
        list(pretrain(tmp_path / "first" / "corpus", tmp_path / "third", recipe(init="english")))


def test_what_cannot_be_is_said_at_the_door(unbroken, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    for wrong, said in [
        (lambda: pretrain(stories(), unbroken, recipe()), "holds a run already"),
        (lambda: pretrain(stories(), unbroken, recipe(seed=9), again=True), "other settings"),
        (lambda: pretrain(None, tmp_path / "none", again=True), "no run"),
        (lambda: pretrain(stories(), tmp_path / "full", recipe()), "holds other things"),
        (lambda: pretrain(stories(1), tmp_path / "one", recipe()), "two documents"),
        (lambda: pretrain(tmp_path / "nowhere.txt", tmp_path / "lost", recipe()), "no file or folder"),
        (lambda: pretrain(stories(), tmp_path / "long", recipe(length=600, init="english")), "at most 512"),
        (lambda: [recipe(steps=None)], "how long"),
        (lambda: [recipe(minutes=3)], "how long"),
        (lambda: [recipe(steps=0)], "more than 0"),
        (lambda: [recipe(negatives="elsewhere")], "another or same"),
    ]:
        with pytest.raises(model.Problem, match=said):
            list(islice(wrong(), 50))


def test_a_long_history_is_thinned_and_keeps_its_held_out_figures():
    history = History()
    for step in range(10_001):
        history.add({"step": step, "mlm_loss": float(step), "held_mlm_loss": 1.0 if step % 1000 == 0 else None})
    assert len(history.rows) <= MOST
    assert sum(row["held_mlm_loss"] is not None for row in history.rows) == 11
    assert history.rows[-1]["step"] == 10_000
    assert set(history.rows[0]) == set(COLUMNS)
