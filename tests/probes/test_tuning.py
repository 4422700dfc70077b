"""A fine-tuning stands beside what it must beat, goes on where it broke off, and leaves a model that can be asked."""

import subprocess
import sys
from pathlib import Path

import pytest

import model
from model import InputProblem, smallworld
from model.finetune import load
from probes import experiment, treebank, tuning

ROOT = Path(__file__).resolve().parents[2]
FEW = {"model": "smallworld", "data": "smallworld", "task": "tense", "limit": 60, "epochs": 2, "rate": 1e-3}


def done(folder: Path, **settings) -> tuning.Result:
    told = list(tuning.run(folder, **(FEW | settings)))
    assert told[-1]["fraction"] == 1 and sorted(said["fraction"] for said in told) == [said["fraction"] for said in told]
    return tuning.read(folder / tuning.RESULT)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    return folder, done(folder, out=str(folder / "tuned"))


def test_no_score_stands_without_its_baselines(told):
    result = told[1]
    assert set(result.scores) == {"tuned", "random", "frozen", "majority", "word_type"}
    assert tuning.table(result)["who"].iloc[0] == "fine-tuned"
    assert all(low <= accuracy <= high for accuracy, low, high in result.scores.values())
    assert result.scores["tuned"][0] > result.scores["majority"][0]


def test_the_course_ends_with_the_score(told):
    result = told[1]
    for arm in ("tuned", "random"):
        assert result.courses[arm][0][0] == 0
        assert result.courses[arm][-1][1] == pytest.approx(result.scores[arm][0])
    wrong = sum(map(sum, result.confusion)) - sum(row[place] for place, row in enumerate(result.confusion))
    assert wrong == len(result.mistakes) == round((1 - result.scores["tuned"][0]) * result.sizes["test"])


def test_the_model_it_leaves_labels_any_text(told):
    folder, result = told
    tuned = load(folder / "tuned")
    assert tuned.names == result.classes == ["Past", "Pres"]
    said = tuning.said(tuned, "Anna likes the market.")
    assert list(said["word"]) == ["anna", "likes", "the", "market", "."]
    assert said["probability"].between(0.5, 1).all()
    assert "fine-tuned to tell tense" in model.load(folder / "tuned").about.card
    assert "classifier.weight" in " ".join(model.load(folder / "tuned").about.notes)


def test_a_sentence_gets_one_label(told, tmp_path):
    done(tmp_path, task="subject", limit=40, epochs=1, out=str(tmp_path / "tuned"))
    said = tuning.said(load(tmp_path / "tuned"), "Anna likes the market.")
    assert sorted(said["label"]) == ["Plur", "Sing"]
    assert float(said["probability"].sum()) == pytest.approx(1, abs=1e-5)


def test_a_run_goes_on_after_its_last_finished_part(tmp_path, told):
    whole = told[1]
    work = tuning.run(tmp_path, **FEW)
    next(said for said in work if said["stage"].startswith("Fine-tuned from random weights"))
    work.close()
    broken = tuning.read(tmp_path / tuning.RESULT)
    assert "tuned" in broken.scores and "random" not in broken.scores and not broken.finished
    again = done(tmp_path)
    assert again.finished and again.scores == whole.scores and again.courses == whole.courses
    stages = {said["stage"] for said in tuning.run(tmp_path, **FEW)}
    assert stages == {"Reading the data", "Done"}


def test_who_learns_from_fewer_examples_is_asked_no_less(told, tmp_path):
    fewer = done(tmp_path, limit=20, epochs=1)
    assert (fewer.sizes["train"], told[1].sizes["train"]) == (20, 60)
    assert fewer.sizes["test"] == told[1].sizes["test"] > 100


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Two small-world sentences a line, told apart by whether they are the same."""
    texts = [sentence.text for story in smallworld.stories(5, 10) for sentence in story.sentences]
    rows = [(text, text if place % 2 else texts[place - 7], "same" if place % 2 else "other")
            for place, text in enumerate(texts)]
    file = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    file.write_text("text,second,label\n" + "".join(f'"{a}","{b}",{label}\n' for a, b, label in rows))
    return file


def test_a_pair_is_read_as_a_pair_and_stands_beside_what_sentence_b_alone_tells(tmp_path, pairs):
    result = done(tmp_path, data=str(pairs), task="label", epochs=1, out=str(tmp_path / "tuned"))
    assert result.pairs and result.title == "other or same"
    assert set(result.scores) == {"tuned", "random", "alone", "frozen", "majority", "word_type"}
    assert list(tuning.table(result)["who"])[:2] == ["fine-tuned", "fine-tuned, sentence B alone"]
    assert all(one["second"] for one in result.mistakes)
    said = tuning.said(load(tmp_path / "tuned"), "Anna likes the market.", "Anna likes the market.")
    assert sorted(said["label"]) == ["other", "same"]
    alone = tuning.said(load(tmp_path / "tuned"), "Anna likes the market.")
    assert sorted(alone["probability"]) != sorted(said["probability"])


def test_a_probe_of_pairs_is_refused(tmp_path, pairs):
    with pytest.raises(InputProblem, match=r"pairs\.csv holds pairs of sentences"):
        list(experiment.run(tmp_path, "smallworld", str(pairs), "label"))


def test_a_question_about_pairs_is_refused(tmp_path):
    with pytest.raises(InputProblem, match="asks about a pair"):
        list(tuning.run(tmp_path, "smallworld", "smallworld", "edge"))


def test_the_reviews_are_balanced_and_none_stands_twice():
    bank = experiment.reviews()
    assert len({sentence.text for sentence in bank.sentences}) == len(bank)
    for split in ("train", "dev", "test"):
        labels = [sentence.label for sentence in bank.sentences if sentence.split == split]
        assert labels.count("good") == labels.count("bad") >= 10
    assert "label" in [task.name for task in tuning.available(bank.sentences)]


def test_only_questions_one_layer_can_learn_are_offered():
    bank = treebank.parse("token,label\nthe,D\ncat,N\n", "mine.csv")
    assert {task.unit for task in tuning.available(bank.sentences)} <= {"token", "sentence"}
    assert "tag" in {task.name for task in tuning.available(bank.sentences)}


def test_the_command_says_what_it_found_and_overwrites_nothing(tmp_path):
    words = [sys.executable, "-m", "probes.tuning_cli", "--out", str(tmp_path)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 1 and "there already" in ended.stderr
    for name, value in (FEW | {"out": tmp_path / "new", "epochs": 1}).items():
        words += [f"--{name}", str(value)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "most frequent label" in ended.stdout and (tmp_path / "new" / "CARD.md").is_file()
