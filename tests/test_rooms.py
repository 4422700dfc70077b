"""The doors of the house open one way: model, then probes, then app."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CLOSED = {
    "model": {"probes", "app", "streamlit", "plotly"},
    "probes": {"app", "streamlit", "plotly"},
    "app/figures": {"streamlit"},
    "app/components": {"model"},
}


def imported(path: Path) -> set[str]:
    """The top-level packages a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("room", CLOSED)
def test_no_door_opens_the_wrong_way(room):
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    wrong = {str(path.relative_to(ROOT)): sorted(found) for path in files if (found := imported(path) & CLOSED[room])}
    assert not wrong


def test_only_the_session_keeps_caches():
    keepers = [path.name for path in (ROOT / "app").rglob("*.py") if "@st.cache_" in path.read_text(encoding="utf-8")]
    assert sorted(keepers) == ["session.py"]


def test_nothing_is_loaded_from_the_network_by_a_page():
    files = [path for ending in ("*.py", "*.js", "*.css", "*.html", "*.svg") for path in (ROOT / "app").rglob(ending)]
    wanted = ("src=\"http", "src='http", "href=\"http", "url(http", "@import", "//cdn")
    assert not [path.name for path in files for mark in wanted if mark in path.read_text(encoding="utf-8")]


def test_everything_installed_is_pinned():
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line.split("#")[0].split(";")[0].strip() for line in (ROOT / name).read_text().splitlines()]
        assert [line for line in lines if line and line.count("==") != 1] == []
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text().split()


def test_run_needs_nothing_but_python():
    import sys
    assert imported(ROOT / "run.py") <= sys.stdlib_module_names
