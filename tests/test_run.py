"""The one command a newcomer needs."""

import socket
import subprocess
import sys
import tomllib
from urllib.request import urlopen

import pytest

from app.__main__ import flags, free
from tests.conftest import ROOT


def said(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "run.py", *words], cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_help_lists_the_commands():
    shown = said("--help")
    assert shown.returncode == 0
    assert all(command in shown.stdout for command in ("app", "test", "bench"))


def test_an_unknown_command_is_refused_with_the_list():
    shown = said("dance")
    assert shown.returncode == 2
    assert "app" in shown.stdout


@pytest.mark.parametrize("command", ["app", "bench"])
def test_every_command_explains_itself_and_nothing_is_installed_twice(command):
    first, second = said(command, "--help"), said(command, "--help")
    assert first.returncode == second.returncode == 0
    assert f"run.py {command}" in second.stdout
    assert "Installing" not in second.stdout


def test_a_models_folder_that_is_not_there_is_named():
    shown = said("app", "--models", "no-such-folder")
    assert shown.returncode == 2
    assert "no-such-folder" in shown.stderr


def test_relative_paths_are_taken_from_where_the_user_stands(little, tmp_path):
    """And what lies there is not taken for a part of the project, whatever it is called."""
    little.save(tmp_path / "my-bert")
    (tmp_path / "my.txt").write_text("\n\n".join(["The cat sat on the mat.\nMy dog is cute.\nHe likes New York."] * 130))
    (tmp_path / "model.py").write_text("raise SystemExit('this is not the project')\n")
    shown = subprocess.run([sys.executable, str(ROOT / "run.py"), "evaluate", "my-bert", "--corpus", "my.txt", "--pairs",
                            "8", "--length", "24"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "my-bert: 8 pairs" in shown.stdout


def test_a_relative_models_folder_is_looked_for_where_the_user_stands(tmp_path):
    (tmp_path / "mine").mkdir()
    shown = subprocess.run([sys.executable, str(ROOT / "run.py"), "app", "--models", "mine", "--lessons", "no-such-folder"],
                           cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "--lessons no-such-folder: there is no such folder" in shown.stderr


def test_settings_become_flags_that_streamlit_knows():
    from streamlit import config
    settings = tomllib.loads((ROOT / "streamlit_config.toml").read_text(encoding="utf-8"))
    made = list(flags(settings))
    assert "--browser.gatherUsageStats=false" in made
    assert "--runner.postScriptGC=false" in made
    known = config.get_config_options()
    assert [flag for flag in made if flag[2:].split("=")[0] not in known] == []


def test_a_taken_port_gives_way_to_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free("127.0.0.1", port) <= port + 19


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without telling it")
def test_who_ends_the_command_ends_what_it_started():
    started = subprocess.Popen([sys.executable, "run.py", "--port", str(free("127.0.0.1", 8700)), "--no-browser"], cwd=ROOT,
                               text=True, stdout=subprocess.PIPE)
    assert started.stdout is not None
    address = next(line.split()[-1] for line in started.stdout if "Bertscope is at" in line)
    urlopen(address, timeout=20).close()
    started.terminate()
    started.wait(30)
    with pytest.raises(OSError):
        urlopen(address, timeout=20)
