"""The one command a newcomer needs."""

import errno
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.request import urlopen

import pytest

import model
from app.__main__ import free, options
from bertscope import launcher
from bertscope.commands import COMMANDS
from model import smallworld
from probes.probing import treebank
from tests.conftest import ROOT


def command(*argv: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "run.py", *argv], cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_help_lists_every_command_with_a_sentence():
    process = command("--help")
    assert process.returncode == 0
    listed = dict(re.findall(r"^(\w+) {2,}(\S.{15,})$", process.stdout, re.MULTILINE))
    assert set(listed) == set(COMMANDS)
    assert len(set(listed.values())) == len(listed)


def test_an_unknown_command_is_refused_with_the_list():
    process = command("dance")
    assert process.returncode == 2
    assert all(re.search(rf"^{name} ", process.stdout, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_installs_nothing(name: str):
    process = command(name, "--help")
    assert process.returncode == 0, process.stderr
    assert f"run.py {name}" in process.stdout
    assert "Installing" not in process.stdout


def test_the_small_world_writes_its_stories(tmp_path):
    process = command("smallworld", "stories", "--seed", "3", "--count", "4")
    texts = process.stdout.strip().split("\n\n")
    assert process.returncode == 0, process.stderr
    assert texts == [text.strip() for text in smallworld.documents(3, 4)]
    assert command("smallworld", "conllu", "--count", "2", "--out", str(tmp_path / "trees.conllu")).returncode == 0
    stories = list(smallworld.stories(1, 2))
    assert (tmp_path / "trees.conllu").read_text(encoding="utf-8") == "".join(story.conllu() for story in stories)
    assert len(treebank.read(tmp_path / "trees.conllu").sentences) == sum(len(story.sentences) for story in stories)


def test_the_small_world_saves_an_untrained_model_and_computes_its_bound(tmp_path):
    assert command("smallworld", "untrained", "--out", str(tmp_path / "untrained"), "--seed", "2").returncode == 0
    assert model.load(tmp_path / "untrained").config.shape == model.load("smallworld").config.shape
    bound = command("smallworld", "bound", "--pairs", "4")
    assert bound.returncode == 0, bound.stderr
    assert 0.5 < json.loads(bound.stdout)["accuracy"] <= 1


def test_a_checkpoint_is_evaluated_on_what_was_held_out(tmp_path):
    (tmp_path / "stories.txt").write_text("\n\n".join(smallworld.documents(7, 40)), encoding="utf-8")
    process = command(
        "evaluate",
        "smallworld",
        "--corpus",
        str(tmp_path / "stories.txt"),
        "--hold-out",
        "4",
        "--pairs",
        "24",
        "--length",
        "80",
    )
    assert process.returncode == 0, process.stderr
    row = r"^0-stories +(another|same) document +[\d.]+ +([\d.]+)% +[\d.]+ +([\d.]+)%$"
    rows = re.findall(row, process.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == ["another", "same"]
    assert all(float(mlm_accuracy) > 70 for _, mlm_accuracy, _ in rows)  # it learned such stories
    assert float(rows[0][2]) > 80


def test_a_checkpoint_that_is_not_there_is_named_in_one_sentence():
    process = command("evaluate", "no-such-model", "--corpus", "README.md")
    assert process.returncode == 2
    assert "no-such-model" in process.stderr and "Traceback" not in process.stderr


def test_a_models_folder_that_is_not_there_is_named():
    process = command("app", "--models", "no-such-folder")
    assert process.returncode == 2
    assert "no-such-folder" in process.stderr


def test_relative_paths_are_taken_from_where_the_user_stands(tiny_bert, tmp_path):
    """And what lies there is not taken for a part of the project, whatever it is called."""
    tiny_bert.save(tmp_path / "my-bert")
    (tmp_path / "my.txt").write_text("\n\n".join(["The cat sat on the mat.\nMy dog is cute.\nHe likes New York."] * 130))
    (tmp_path / "model.py").write_text("raise SystemExit('this is not the project')\n")
    process = subprocess.run(
        [
            sys.executable,
            str(ROOT / "run.py"),
            "evaluate",
            "my-bert",
            "--corpus",
            "my.txt",
            "--pairs",
            "8",
            "--length",
            "24",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "my-bert: 8 pairs" in process.stdout


def test_a_relative_models_folder_is_looked_for_where_the_user_stands(tmp_path):
    (tmp_path / "mine").mkdir()
    process = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), "app", "--models", "mine", "--lessons", "no-such-folder"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "--lessons no-such-folder: there is no such folder" in process.stderr


PIP_SAYS = {
    "the disk": "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    "cannot be written": "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/opt/x'",
    "The proxy": "WARNING: Retrying (Retry(total=4)) after connection broken by 'ProxyError('Cannot connect to proxy.', "
    "NewConnectionError('<HTTPSConnection>: Failed to establish a new connection'))': /simple/torch/",
    "certificate": "'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))'",
    "no network": "NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary failure in name "
    "resolution')': /simple/torch/\nERROR: No matching distribution found for torch==2.13.0",
    "There is no torch==2.13.0 for this Python": "ERROR: No matching distribution found for torch==2.13.0",
    "pip's own words": "something nobody has seen before",
}


@pytest.mark.parametrize("cause", PIP_SAYS)
def test_what_pip_says_becomes_one_sentence(cause: str):
    sentence = launcher.explain(PIP_SAYS[cause])
    assert cause.lower() in sentence.lower()
    assert "\n" not in sentence and sentence.endswith(".")


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "is full"), (errno.EROFS, "cannot be written"), (errno.EBUSY, "did not finish")]
)
def test_what_the_system_refuses_becomes_one_sentence(number: int, words: str):
    assert words in launcher.sentence(OSError(number, "…"))


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """The launcher in a folder with spaces and umlauts; its requirements name one package that is not there."""
    folder = tmp_path_factory.mktemp("Übung") / "ein Ordner für alle"
    shutil.copytree(ROOT / "bertscope", folder / "bertscope", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "run.py", folder)
    (folder / "requirements.txt").write_text("torch==2.13.0\n", encoding="utf-8")
    return folder


def launch(clone: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """run.py there, with pip looking for packages in an empty folder, unless the environment says otherwise."""
    settings = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone), "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "1"}
    return subprocess.run(
        [sys.executable, str(clone / "run.py"), *words],
        env=os.environ | settings | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_a_first_start_that_fails_ends_with_one_sentence_and_can_be_repeated(clone):
    """No package anywhere, then an index that nobody answers for, then a proxy that is none, then an old terminal."""
    first = launch(clone, "install", BERTSCOPE_TORCH="default")
    assert first.returncode == 1
    assert "Creating .venv" in first.stdout
    assert first.stderr.splitlines()[-1].startswith("There is no torch==2.13.0 for this Python")
    nobody = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "BERTSCOPE_TORCH": "default"}
    offline = launch(clone, "install", **nobody, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert "Creating" not in offline.stdout
    assert offline.stderr.splitlines()[-1].startswith("There is no network to the package index")
    proxy = launch(clone, "install", **nobody, PIP_INDEX_URL="https://index.invalid/simple", PIP_PROXY="http://127.0.0.1:9")
    assert proxy.stderr.splitlines()[-1].startswith("The proxy")
    # cp932 has no middle dot and no curly quotes
    page = launch(clone, "install", BERTSCOPE_TORCH="default", PYTHONIOENCODING="cp932", PYTHONUTF8="0")
    assert page.stderr.splitlines()[-1].startswith("There is no torch==2.13.0 for this Python")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere torch has one build")
def test_torchs_small_build_is_looked_for_where_there_is_no_card(clone):
    automatic = launch(clone, "install", BERTSCOPE_TORCH="auto", PATH=os.environ["PATH"])
    cpu = launch(clone, "install", "--torch", "cpu")
    assert ("looking for torch's CPU build" in automatic.stdout) != launcher.has_nvidia()
    assert cpu.stderr.startswith("No package index that pip knows has torch==2.13.0+cpu.")


def test_an_environment_is_made_with_whatever_the_path_is_called(clone):
    """With nothing to install, the command goes on to its module: here one of three lines."""
    (clone / "requirements.txt").write_text("# nothing\ntorch==0  ; python_version < '3'\n", encoding="utf-8")
    (clone / "model").mkdir(exist_ok=True)
    (clone / "model" / "evaluate.py").write_text("import sys\nprint(sys.argv[1:], sys.flags.safe_path)\n", encoding="utf-8")
    process = launch(clone, "evaluate", "größer", "a b", BERTSCOPE_TORCH="default", PYTHONUTF8="1")
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1] == "['größer', 'a b'] True"
    assert "Installing" not in launch(clone, "evaluate", BERTSCOPE_TORCH="default").stdout


def test_settings_are_options_that_streamlit_knows():
    from streamlit import config

    settings = tomllib.loads((ROOT / "streamlit_config.toml").read_text(encoding="utf-8"))
    named = options(settings)
    assert named["browser.gatherUsageStats"] is False
    assert named["runner.postScriptGC"] is False
    known = config.get_config_options()
    assert [name for name in named if name not in known] == []


def test_a_taken_port_gives_way_to_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free("127.0.0.1", port) <= port + 19


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without telling it")
def test_who_ends_the_command_ends_what_it_started():
    words = [sys.executable, "run.py", "--port", str(free("127.0.0.1", 8700)), "--no-browser"]
    with subprocess.Popen(words, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = next(line.split()[-1] for line in process.stdout if "Bertscope is at" in line)
        urlopen(address, timeout=20).close()
        process.terminate()
        process.wait(30)
    with pytest.raises(OSError):
        urlopen(address, timeout=20)
