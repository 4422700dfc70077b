"""A fine-tuning stands beside what it must beat, resumes where it was interrupted, and leaves a usable model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import model
from model import InputError, smallworld
from model.finetuning import load
from probes.finetuning import apply, experiment
from probes.finetuning.results import FinetuningResult, table
from probes.probing import experiment as probing
from probes.probing import treebank
from probes.results import FORMAT, RESULT

ROOT = Path(__file__).resolve().parents[3]
SMALL = {"model": "smallworld", "data": "smallworld", "task": "tense", "limit": 60, "epochs": 2, "learning_rate": 1e-3}


def run(folder: Path, **settings) -> FinetuningResult:
    fractions = [progress["fraction"] for progress in experiment.run(folder, **(SMALL | settings))]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    return FinetuningResult.read(folder / RESULT)


@pytest.fixture(scope="module")
def finetuned(tmp_path_factory) -> tuple[Path, FinetuningResult]:
    """The folder of a run, with its model in `model`, and its result."""
    folder = tmp_path_factory.mktemp("finetuning")
    return folder, run(folder, out=str(folder / "model"))


def test_no_score_stands_without_its_baselines(finetuned):
    result = finetuned[1]
    assert set(result.scores) == {"finetuned", "random_init", "frozen", "majority", "word_type"}
    assert table(result)["who"].iloc[0] == "fine-tuned"
    assert all(low <= accuracy <= high for accuracy, low, high in result.scores.values())
    assert result.scores["finetuned"][0] > result.scores["majority"][0]


def test_the_learning_curve_ends_with_the_score(finetuned):
    result = finetuned[1]
    for condition in ("finetuned", "random_init"):
        assert result.learning_curves[condition][0][0] == 0
        assert result.learning_curves[condition][-1][1] == pytest.approx(result.scores[condition][0])
    wrong = sum(map(sum, result.confusion)) - sum(row[label] for label, row in enumerate(result.confusion))
    assert wrong == len(result.mistakes) == round((1 - result.scores["finetuned"][0]) * result.sizes["test"])


def test_the_model_it_leaves_labels_any_text(finetuned):
    folder, result = finetuned
    tuned = load(folder / "model")
    assert tuned.classes == result.classes == ["Past", "Pres"]
    rows = apply.predict(tuned, "Anna likes the market.")
    assert list(rows["word"]) == ["anna", "likes", "the", "market", "."]
    assert rows["probability"].between(0.5, 1).all()
    info = model.load(folder / "model").info
    assert "fine-tuned to tell tense" in info.card
    assert "classifier.weight" in " ".join(info.notes)


def test_a_sentence_gets_one_label(tmp_path):
    run(tmp_path, task="subject", limit=40, epochs=1, out=str(tmp_path / "model"))
    rows = apply.predict(load(tmp_path / "model"), "Anna likes the market.")
    assert sorted(rows["label"]) == ["Plur", "Sing"]
    assert float(rows["probability"].sum()) == pytest.approx(1, abs=1e-5)


def test_a_run_goes_on_after_its_last_finished_part(tmp_path, finetuned):
    whole = finetuned[1]
    work = experiment.run(tmp_path, **SMALL)
    next(progress for progress in work if progress["stage"].startswith("Fine-tuned from random weights"))
    work.close()
    interrupted = FinetuningResult.read(tmp_path / RESULT)
    assert "finetuned" in interrupted.scores
    assert "random_init" not in interrupted.scores
    assert not interrupted.finished
    resumed = run(tmp_path)
    assert resumed.finished
    assert resumed.scores == whole.scores
    assert resumed.learning_curves == whole.learning_curves
    stages = {progress["stage"] for progress in experiment.run(tmp_path, **SMALL)}
    assert stages == {"Reading the data", "Done"}


def test_who_learns_from_fewer_examples_is_tested_on_no_fewer(finetuned, tmp_path):
    fewer = run(tmp_path, limit=20, epochs=1)
    assert (fewer.sizes["train"], finetuned[1].sizes["train"]) == (20, 60)
    assert fewer.sizes["test"] == finetuned[1].sizes["test"] > 100


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Two small-world sentences a line, labelled by whether they are the same."""
    texts = [sentence.text for story in smallworld.stories(5, 10) for sentence in story.sentences]
    rows = [(text, text if row % 2 else texts[row - 7], "same" if row % 2 else "other") for row, text in enumerate(texts)]
    file = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    file.write_text("text,second,label\n" + "".join(f'"{a}","{b}",{label}\n' for a, b, label in rows))
    return file


def test_a_pair_is_read_as_a_pair_and_stands_beside_what_sentence_b_alone_tells(tmp_path, pairs):
    result = run(tmp_path, data=str(pairs), task="label", epochs=1, out=str(tmp_path / "model"))
    assert result.pairs
    assert result.title == "other or same"
    assert set(result.scores) == {"finetuned", "random_init", "second_only", "frozen", "majority", "word_type"}
    assert list(table(result)["who"])[:2] == ["fine-tuned", "fine-tuned, sentence B alone"]
    assert all(mistake["second"] for mistake in result.mistakes)
    tuned = load(tmp_path / "model")
    pair = apply.predict(tuned, "Anna likes the market.", "Anna likes the market.")
    assert sorted(pair["label"]) == ["other", "same"]
    single = apply.predict(tuned, "Anna likes the market.")
    assert sorted(single["probability"]) != sorted(pair["probability"])


def test_a_probe_of_pairs_is_refused(tmp_path, pairs):
    with pytest.raises(InputError, match=r"pairs\.csv holds pairs of sentences"):
        list(probing.run(tmp_path, "smallworld", str(pairs), "label"))


def test_a_task_about_pairs_of_words_is_refused(tmp_path):
    with pytest.raises(InputError, match="asks about a pair"):
        list(experiment.run(tmp_path, "smallworld", "smallworld", "edge"))


def test_the_reviews_are_balanced_and_none_stands_twice():
    reviews = probing.reviews()
    assert len({sentence.text for sentence in reviews.sentences}) == len(reviews)
    for split in ("train", "dev", "test"):
        labels = [sentence.label for sentence in reviews.sentences if sentence.split == split]
        assert labels.count("good") == labels.count("bad") >= 10
    assert "label" in [task.name for task in experiment.available(reviews.sentences)]


def test_only_tasks_that_one_layer_can_learn_are_available():
    tokens = treebank.parse("token,label\nthe,D\ncat,N\n", "mine.csv").sentences
    assert {task.unit for task in experiment.available(tokens)} <= {"token", "sentence"}
    assert "tag" in {task.name for task in experiment.available(tokens)}


def command(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "probes.finetuning", *words], cwd=ROOT, capture_output=True, text=True)


def test_the_command_prints_its_scores_and_overwrites_nothing(tmp_path):
    ended = command("--out", str(tmp_path))
    assert ended.returncode == 2 and "there already" in ended.stderr and len(ended.stderr.splitlines()) == 1
    ended = command(
        *(
            str(word)
            for name, value in (SMALL | {"out": tmp_path / "new", "epochs": 1}).items()
            for word in (f"--{name.replace('_', '-')}", value)
        )
    )
    assert ended.returncode == 0, ended.stderr
    assert "most frequent label" in ended.stdout and (tmp_path / "new" / "CARD.md").is_file()


@pytest.fixture(scope="module")
def split_files(tmp_path_factory) -> dict[str, Path]:
    """A table for each split, each with split_files sentences of the next one as well."""
    texts = list({sentence.text: None for story in smallworld.stories(5, 30) for sentence in story.sentences})
    folder, files = tmp_path_factory.mktemp("splits"), {}
    for split, first, last in (("train", 0, 63), ("dev", 60, 83), ("test", 80, 120)):
        rows = [f'"{text}",{"long" if len(text.split()) > 8 else "short"}' for text in texts[first:last]]
        files[split] = folder / f"{split}.csv"
        files[split].write_text("\n".join(["text,label", *rows]))
    return files


def test_files_for_train_dev_and_test_are_kept_apart(tmp_path, split_files):
    files = {split: str(file) for split, file in split_files.items()}
    result = run(tmp_path, data="", task="label", epochs=1, limit=1000, **files)
    assert (result.sizes["train"], result.sizes["dev"], result.sizes["test"]) == (60, 20, 40)
    assert (result.sizes["left_out"], result.sizes["duplicates"]) == (6, 0)
    assert result.settings["data"] == "train.csv, dev.csv, test.csv"
    test_sentences = treebank.read(split_files["test"]).sentences
    assert {mistake["text"] for mistake in result.mistakes} <= {sentence.text for sentence in test_sentences}
    assert f"--train {files['train']} --dev {files['dev']} --test {files['test']} --task" in result.command


def test_the_commands_take_a_file_for_each_split(split_files):
    words = [word for split, file in split_files.items() for word in (f"--{split}", str(file))]
    ended = command("--model", "smallworld", "--epochs", "1", *words)
    assert ended.returncode == 0, ended.stderr
    assert "60 examples to learn from, 40 to test" in ended.stdout and "6 stand in two splits" in ended.stdout
    lonely = command("--test", str(split_files["test"]))
    assert (lonely.returncode, lonely.stderr) == (2, "There is a file for test but none for train, to learn from.\n")
    assert "not allowed with" in command("--data", "smallworld", *words).stderr
    probe = subprocess.run(
        [sys.executable, "-m", "probes.probing", "--model", "smallworld", "--task", "label", "--layers", "0", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert probe.returncode == 0, probe.stderr
    assert "60 examples to learn from, 20 to tune, 40 to test" in probe.stdout


@pytest.mark.parametrize(
    "change",
    [
        lambda content: {},
        lambda content: [],
        lambda content: content | {"format": "bertscope result 2"},
        lambda content: content | {"experiment": "probing"},
        lambda content: content | {"sizes": {"train": 1}},
        lambda content: content | {"scores": {"finetuned": ["x", 0, 1]}},
        lambda content: content | {"scores": None},
        lambda content: content | {"more": 1},
        lambda content: {name: value for name, value in content.items() if name != "settings"},
    ],
)
def test_a_result_of_another_version_or_a_damaged_one_is_refused_in_a_sentence(finetuned, tmp_path, change):
    content = json.loads((finetuned[0] / RESULT).read_text())
    assert content["format"] == FORMAT
    (tmp_path / RESULT).write_text(json.dumps(change(content)))
    with pytest.raises(InputError, match=r"^result\.json is (no|a damaged) fine-tuning result[^.]*\.$"):
        FinetuningResult.read(tmp_path / RESULT)


def test_a_run_in_a_folder_with_a_damaged_result_begins_anew(finetuned, tmp_path):
    (tmp_path / RESULT).write_text((finetuned[0] / RESULT).read_text()[:200])
    assert run(tmp_path).scores == finetuned[1].scores


def test_random_weights_learn_beside_other_random_weights(tmp_path):
    result = run(tmp_path, model="smallworld:random")
    assert result.learning_curves["finetuned"] != result.learning_curves["random_init"]
