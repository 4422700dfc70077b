"""The doors of the house open one way: model, then probes, then app."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from model import BertscopeError

ROOT = Path(__file__).resolve().parents[1]
CLOSED = {
    "model": {"probes", "app", "streamlit", "plotly"},
    "probes": {"app", "streamlit", "plotly"},
    "app/figures": {"streamlit", "plotly"},
    "app/components": {"model"},
    "app/work": {"streamlit", "plotly"},
}
PARTICIPLES = ("asked", "found", "said", "told", "given", "made", "kept")

SCREEN = re.compile(r"\b(click|sidebar|upload|button)(ed|s)?\b|\bpage\b(?! is a name)", re.IGNORECASE)


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
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "app").rglob("*.py"))}
    assert [name for name, text in texts.items() if "= ByteCache(" in text] == ["session.py"]
    assert [name for name, text in texts.items() if "@st.cache_" in text] == []  # those are not bounded in bytes


def test_nothing_is_loaded_from_the_network_by_a_page():
    files = [path for ending in ("*.py", "*.js", "*.css", "*.html", "*.svg") for path in (ROOT / "app").rglob(ending)]
    wanted = ('src="http', "src='http", 'href="http', "url(http", "@import", "//cdn")
    assert not [path.name for path in files for mark in wanted if mark in path.read_text(encoding="utf-8")]


def test_everything_installed_is_pinned():
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line.split("#")[0].split(";")[0].strip() for line in (ROOT / name).read_text().splitlines()]
        assert [line for line in lines if line and line.count("==") != 1] == []
    assert "torch==2.13.0" in (ROOT / "requirements.txt").read_text().split()


def test_run_needs_nothing_but_python():
    import sys

    launcher = [ROOT / "run.py", *(ROOT / "bertscope").glob("*.py")]
    wanted = {path.name: imported(path) - {"bertscope", *sys.stdlib_module_names} for path in launcher}
    # the rooms by name, for those who read types; imported when somebody asks for them
    assert wanted.pop("__init__.py") == {"model", "probes"}
    assert not set().union(*wanted.values())


def test_no_page_does_arithmetic_on_arrays():
    files = sorted((ROOT / "app" / "views").rglob("*.py"))
    assert files
    wrong = [
        str(path.relative_to(ROOT))
        for path in files
        if "numpy" in imported(path)
        or any(
            isinstance(node, ast.Attribute) and node.attr in ("groupby", "argmax")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    ]
    assert wrong == []


def test_no_two_public_classes_share_a_name():
    paths = [path for room in ("model", "probes", "app") for path in (ROOT / room).rglob("*.py")]
    names = Counter(
        node.name
        for path in paths
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_errors_of_model_and_probes_name_no_part_of_the_screen():
    wrong = []
    for path in (path for room in ("model", "probes") for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                text = " ".join(
                    part.value
                    for part in ast.walk(node.exc)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                if SCREEN.search(text):
                    wrong.append((str(path.relative_to(ROOT)), text))
    assert wrong == []


def test_a_file_of_views_or_figures_has_the_name_of_a_page_or_a_chart():
    from app.navigation import PAGES

    pages = {"".join(entry.address.split("-")) for entries in PAGES.values() for entry in entries}
    views = {path.stem for path in (ROOT / "app" / "views").iterdir() if not path.name.startswith("_")}
    assert views == pages
    vague = {"drawn", "familiar", "without", "sharing", "ordered", "sides", "answers", "lines", "words", "utils"}
    vague |= {"helpers", "common", "base", "misc", "tools"}
    files = [path for folder in ("views", "figures") for path in (ROOT / "app" / folder).rglob("*.py")]
    assert [str(path.relative_to(ROOT)) for path in files if path.stem in vague] == []


def names(tree: ast.AST) -> set[str]:
    """Everything a file defines, assigns to or takes as an argument."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return found | {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_no_name_is_a_participle():
    texts = {
        path: path.read_text(encoding="utf-8") for room in ("model", "probes", "app") for path in (ROOT / room).rglob("*.py")
    }
    wrong = {str(path.relative_to(ROOT)): names(ast.parse(text)) & set(PARTICIPLES) for path, text in texts.items()}
    assert {path: participles for path, participles in wrong.items() if participles} == {}
    assert sum(len(re.findall(rf"\b({'|'.join(PARTICIPLES)})\b", text)) for text in texts.values()) < 150


def test_a_file_is_replaced_in_one_place_only():
    homes = {
        "model/files.py",  # the one atomic write
        "app/jobs/registry.py",  # before torch is imported, which comes with model.files
    }
    replacing = re.compile(
        r"os\.replace|os\.rename|NamedTemporaryFile|mkstemp|\b(temporary|partial|new)\w*\.(replace|rename)\("
    )
    wrong = [
        str(path.relative_to(ROOT))
        for room in ("model", "probes", "app")
        for path in (ROOT / room).rglob("*.py")
        if replacing.search(path.read_text(encoding="utf-8"))
    ]
    folders = ["model/pretraining/keep_apart.py", "model/pretraining/token_store.py"]  # a folder takes the place of another
    assert sorted(wrong) == sorted([*homes, *folders])


def test_every_command_parses_and_fails_in_one_way():
    apart = {"app/__main__.py"}  # its settings must stand before torch is imported, which comes with model.command
    mains = [path for room in ("model", "probes", "app", "bench") for path in (ROOT / room).rglob("*.py")]
    wrong = [
        str(path.relative_to(ROOT))
        for path in mains
        if re.search(r"\.parse_args\(|shlex\.(join|quote)", path.read_text(encoding="utf-8"))
        and path != ROOT / "model" / "command.py"
    ]
    assert set(wrong) == apart


def test_the_time_left_is_told_by_one_clock():
    reckoning = re.compile(r"eta\W{1,4}=?\s*\(?.*(monotonic|elapsed|seconds \*|/ rate)")
    paths = [path for room in ("model", "probes", "app") for path in (ROOT / room).rglob("*.py")]
    assert [path.name for path in paths if reckoning.search(path.read_text(encoding="utf-8"))] == []


def test_the_queue_runs_what_stands_in_app_work_and_nothing_else():
    from app.jobs import queue

    with pytest.raises(BertscopeError):
        queue.function("probes.probing.experiment:run")
    assert callable(queue.function("app.work.probing:run"))


def test_a_key_of_the_address_or_the_session_belongs_to_one_page():
    pages: dict[str, set[str]] = {}
    for path in (ROOT / "app" / "views").rglob("*.py"):
        page = path.relative_to(ROOT / "app" / "views").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "key" and isinstance(node.value, ast.Constant):
                pages.setdefault(str(node.value.value), set()).add(page)
    assert "typed" in pages
    assert {key: owners for key, owners in pages.items() if len(owners) > 1} == {}


def test_sample_texts_stand_in_one_place():
    sentence = re.compile(r"[A-Z][a-z]+( [a-z’']+,?){4,}[.!?]$")
    samples = {
        (path.name, target.id)
        for path in (ROOT / "app").rglob("*.py")
        if "samples" not in path.parts and path.name not in ("queue.py", "registry.py")  # whose sentences are errors
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and sentence.match(str(node.value.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert samples == set()
