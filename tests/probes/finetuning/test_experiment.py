"""A fine-tuning stands beside what it must beat, goes on where it broke off, and leaves a model that can be asked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import model
from model import InputProblem, smallworld
from model.finetuning import load
from probes.finetuning import experiment as tuning
from probes.probing import experiment, treebank

ROOT = Path(__file__).resolve().parents[3]
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


def command(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "probes.finetuning", *words], cwd=ROOT, capture_output=True, text=True)


def test_the_command_says_what_it_found_and_overwrites_nothing(tmp_path):
    ended = command("--out", str(tmp_path))
    assert ended.returncode == 2 and "there already" in ended.stderr and len(ended.stderr.splitlines()) == 1
    ended = command(*(str(word) for name, value in (FEW | {"out": tmp_path / "new", "epochs": 1}).items()
                      for word in (f"--{name}", value)))
    assert ended.returncode == 0, ended.stderr
    assert "most frequent label" in ended.stdout and (tmp_path / "new" / "CARD.md").is_file()


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> dict[str, Path]:
    """A table for each split, each with three sentences of the next one as well."""
    texts = list({sentence.text: None for story in smallworld.stories(5, 30) for sentence in story.sentences})
    folder, files = tmp_path_factory.mktemp("three"), {}
    for split, first, last in (("train", 0, 63), ("dev", 60, 83), ("test", 80, 120)):
        rows = [f'"{text}",{"long" if len(text.split()) > 8 else "short"}' for text in texts[first:last]]
        files[split] = folder / f"{split}.csv"
        files[split].write_text("\n".join(["text,label", *rows]))
    return files


def test_files_for_train_dev_and_test_are_kept_apart(tmp_path, three):
    files = {split: str(file) for split, file in three.items()}
    result = done(tmp_path, data="", task="label", epochs=1, limit=1000, **files)
    assert (result.sizes["train"], result.sizes["dev"], result.sizes["test"]) == (60, 20, 40)
    assert (result.sizes["left_out"], result.sizes["duplicates"]) == (6, 0)
    assert result.settings["data"] == "train.csv, dev.csv, test.csv"
    unseen = treebank.read(three["test"]).sentences
    assert {one["text"] for one in result.mistakes} <= {sentence.text for sentence in unseen}
    assert f"--train {files['train']} --dev {files['dev']} --test {files['test']} --task" in result.command


def test_the_commands_take_a_file_for_each_split(three):
    words = [word for split, file in three.items() for word in (f"--{split}", str(file))]
    ended = command("--model", "smallworld", "--epochs", "1", *words)
    assert ended.returncode == 0, ended.stderr
    assert "60 examples to learn from, 40 to test" in ended.stdout and "6 stand in two splits" in ended.stdout
    lonely = command("--test", str(three["test"]))
    assert (lonely.returncode, lonely.stderr) == (2, "There is a file for test but none for train, to learn from.\n")
    assert "not allowed with" in command("--data", "smallworld", *words).stderr
    probe = subprocess.run([sys.executable, "-m", "probes.probing", "--model", "smallworld", "--task", "label",
                            "--layers", "0",
                            *words], cwd=ROOT, capture_output=True, text=True)
    assert probe.returncode == 0, probe.stderr
    assert "60 examples to learn from, 20 to tune, 40 to test" in probe.stdout


@pytest.mark.parametrize("change", [
    lambda content: {}, lambda content: [], lambda content: content | {"format": "bertscope fine-tuning 1"},
    lambda content: content | {"sizes": {"train": 1}}, lambda content: content | {"scores": {"tuned": ["x", 0, 1]}},
    lambda content: content | {"scores": None}, lambda content: content | {"more": 1},
    lambda content: {name: value for name, value in content.items() if name != "settings"}])
def test_a_result_of_another_version_or_a_damaged_one_is_refused_in_a_sentence(told, tmp_path, change):
    content = json.loads((told[0] / tuning.RESULT).read_text())
    (tmp_path / tuning.RESULT).write_text(json.dumps(change(content)))
    with pytest.raises(InputProblem, match=r"tuning\.json is no fine-tuning result of this version, or it is damaged"):
        tuning.read(tmp_path / tuning.RESULT)


def test_a_run_in_a_folder_with_a_damaged_result_begins_anew(told, tmp_path):
    (tmp_path / tuning.RESULT).write_text((told[0] / tuning.RESULT).read_text()[:200])
    assert done(tmp_path).scores == told[1].scores


def test_random_weights_learn_beside_other_random_weights(tmp_path):
    result = done(tmp_path, model="smallworld:random")
    assert result.courses["tuned"] != result.courses["random"]
