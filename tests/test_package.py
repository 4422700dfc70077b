"""The wheel and the sdist: what is in them, and that a stranger with nothing but the declared dependencies can start it."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import model
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ROOMS = ("bertscope", "model", "probes", "app")
LEFT_OUT = shutil.ignore_patterns(
    ".venv", ".git", "__pycache__", "*.pyc", "build", "dist", "*.egg-info", "checkpoints", "runs", ".*_cache"
)
BUILD = "import sys; out = sys.argv[1]; from setuptools.build_meta import *; build_wheel(out); build_sdist(out)"

# what a notebook in a folder of somebody's own does; a file there is called like a part of ours
NOTEBOOK = """
import bertscope
from bertscope import model, probes
bert = model.load("smallworld")
print(bertscope.__version__, bert.info.name, len(probes.cloze.fill(bert, "the [MASK] slept .", k=3)))
"""
LIGHT = """
from streamlit.testing.v1 import AppTest
def script():
    from app.views.attention import bertviz
    bertviz.panel(None, None, None, None)
panel = AppTest.from_function(script, default_timeout=60).run()
print([box.value for box in panel.info], [error.value for error in panel.exception])
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """The wheel and the sdist, built once from a copy: a build leaves folders behind."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=folder / "source", check=True, capture_output=True, timeout=180
    )
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


@pytest.fixture(scope="module")
def light(built, tmp_path_factory) -> Path:
    """The Python of an environment with the wheel, the dependencies it declares, and theirs: no extra, no test tool."""
    folder = tmp_path_factory.mktemp("light")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "environment"], check=True, timeout=60)
    python = folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = folder / "site-packages"  # Streamlit takes itself for a developer's copy anywhere else
    packages.mkdir()
    link_dependencies(packages)
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(built["wheel"])]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True, timeout=120)
    site = next((folder / "environment").rglob("site-packages"))
    (site / "dependencies.pth").write_text(f"{packages}\n", encoding="utf-8")
    return python


def link_dependencies(folder: Path) -> None:
    """The distributions that the project needs without extras, and what they need, as links in a folder."""
    waiting, seen = [Requirement(text) for text in PROJECT["dependencies"]], set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        distribution = metadata.distribution(name)
        site = Path(str(distribution.locate_file("")))
        for entry in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (folder / entry).exists():
                link(site / entry, folder / entry)
        waiting += [Requirement(text) for text in distribution.requires or ()]


def link(source: Path, target: Path) -> None:
    """A link that needs no rights: Windows gives those to folders as junctions only."""
    if sys.platform != "win32":
        target.symlink_to(source)
    elif source.is_dir():
        import _winapi

        _winapi.CreateJunction(str(source), str(target))
    else:
        shutil.copy(source, target)


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BERTSCOPE_"))}


def stranger(folder: Path, *words: object) -> subprocess.CompletedProcess:
    """A command, run in a folder of the stranger's own."""
    command = [str(word) for word in words]
    return subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=120)


@contextmanager
def app(python: Path, folder: Path) -> Iterator[str]:
    """The address of the installed app, started in a folder of the stranger's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with (folder / "log.txt").open("w+") as log:
        process = subprocess.Popen(
            [python.with_name("bertscope"), "--port", port, "--no-browser"],
            cwd=folder,
            env=clean_environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            for _ in range(1200):
                try:
                    urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
                    break
                except (URLError, OSError):
                    assert process.poll() is None, f"the app stopped:\n{Path(log.name).read_text()}"
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def test_the_wheel_holds_every_file_of_the_rooms(built):
    expected = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    (settings,) = (name for name in names if ".data/data/share/bertscope/" in name)
    assert settings.endswith("/streamlit_config.toml") and names - {settings} == expected


def test_the_sdist_holds_what_a_clone_has(built):
    with tarfile.open(built["sdist"]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {"run.py", "LICENSE", "NOTICE", "CHANGELOG.md", "requirements.txt", "requirements-dev.txt"}
    wanted |= {"tests/test_package.py", "docs/api.md", "bench/__main__.py", "model/weights/english/LICENSE"}
    assert wanted <= names


def test_the_version_stands_in_one_place(built):
    assert built["wheel"].name.startswith(f"bertscope-{model.__version__}-")
    assert f"## {model.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {model.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_what_is_locked_lies_in_the_declared_ranges():
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8") + (ROOT / "requirements-dev.txt").read_text(
        encoding="utf-8"
    )
    pins = {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE)}
    extras = [text for group in PROJECT["optional-dependencies"].values() for text in group]
    declared = [Requirement(text) for text in PROJECT["dependencies"] + extras if not text.startswith("bertscope")]
    assert [str(one) for one in declared if not one.specifier.contains(pins[canonicalize_name(one.name)])] == []


def test_a_stranger_has_the_command_and_a_notebook_the_rooms(light, tmp_path):
    (tmp_path / "model.py").write_text("raise SystemExit('this is not the project')\n", encoding="utf-8")
    (tmp_path / "notebook.py").write_text(NOTEBOOK, encoding="utf-8")
    command = light.with_name("bertscope")
    listed = stranger(tmp_path, command, "--help")
    assert "smallworld " in listed.stdout and "usage: bertscope" in listed.stdout
    assert stranger(tmp_path, command, "--version").stdout.split() == ["Bertscope", model.__version__]
    assert stranger(tmp_path, command, "evaluate", "--help").stdout.startswith("usage: bertscope evaluate")
    assert "python3 run.py test" in stranger(tmp_path, command, "test").stderr
    assert stranger(tmp_path, command, "dance").returncode == 2
    notebook = stranger(tmp_path, light, "notebook.py")
    assert notebook.stdout.split() == [model.__version__, "smallworld", "3"], notebook.stderr


def test_without_bertviz_its_panel_says_what_the_extra_brings(light, tmp_path):
    (tmp_path / "panel.py").write_text(LIGHT, encoding="utf-8")
    panel = stranger(tmp_path, light, "panel.py")
    assert "bertscope[bertviz]" in panel.stdout, panel.stderr
    assert panel.stdout.strip().endswith("[]")


def test_the_installed_app_serves_and_keeps_its_runs_where_the_stranger_stands(light, tmp_path):
    """The handout's address loads a model and reads lessons, scripts and styles: all of it from the wheel."""
    with app(light, tmp_path) as address:
        start = urlopen(address, timeout=30).read().decode()
        handout = urlopen(f"{address}/handout/smallworld.html", timeout=60).read().decode()
    assert "<title>" in start
    assert f'content="Bertscope {model.__version__}"' in handout
    assert {path.name for path in tmp_path.iterdir()} <= {"runs", "log.txt"}
