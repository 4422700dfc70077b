"""Other places than a developer's: a folder with spaces and umlauts, and a system whose texts are not UTF-8 by default."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

# what reads and writes files, and needs no browser
PURE = (
    "tests/model/test_tokenizer.py",
    "tests/model/test_config.py",
    "tests/model/test_files.py",
    "tests/model/test_command.py",
    "tests/model/pretraining/test_corpus.py",
    "tests/model/pretraining/test_history.py",
    "tests/probes/test_lessons.py",
    "tests/probes/probing/test_treebank.py",
)
# Python then takes ASCII for the encoding of files, as Windows takes cp1252: a file opened without one fails on both
PLAIN = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "utf-8"}


# loads a checkpoint, a lesson and a result
LOADS = """
import model
from probes import bundled, lessons
from pathlib import Path
bert = model.load("english").save("größer")
assert model.load(bert).tokenizer.vocab_size == 30522
assert bundled.probing() and lessons.load(sorted(Path("app/lessons").glob("*.toml"))[0]).questions
print(Path(model.__file__).resolve().parents[1].name)
"""


def copy_to(folder: Path) -> Path:
    """The project in a folder of another name."""
    for name in ("model", "probes", "app", "bertscope", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "run.py", "requirements.txt", "requirements-dev.txt", "README.md"):
        shutil.copy(ROOT / name, folder)
    return folder


def python(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_the_parts_that_read_files_work_where_texts_are_not_utf_8_by_default(tmp_path):
    folder = copy_to(tmp_path / "my own project")
    process = python(folder, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *PURE, **PLAIN)
    assert process.returncode == 0, process.stdout[-4000:]


def test_a_folder_may_have_spaces_and_umlauts(tmp_path):
    folder = copy_to(tmp_path / "Übungen für alle")
    process = python(folder, "-c", LOADS, PYTHONUTF8="1")
    assert process.stdout.strip() == "Übungen für alle", process.stderr


def test_every_file_is_opened_with_an_encoding():
    """Ruff's rule for it, on everything that ships: the default differs between systems."""
    rooms = ["model", "probes", "app", "bertscope", "run.py"]
    process = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--preview", "--select", "PLW1514", "--no-cache", *rooms],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 0, process.stdout
