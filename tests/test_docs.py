"""What the documents say: examples run, links lead somewhere, shipped files have the form that is described."""

import doctest
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

import model
import probes
from bertscope.commands import COMMANDS
from model import smallworld
from probes import reader
from tests.conftest import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / ".github").rglob("*.md")])
EXAMPLES = [path for path in DOCUMENTS if ">>> " in path.read_text(encoding="utf-8")]
SCHEMAS = ROOT / "docs" / "schemas"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# files of probes whose names come from their package, or from one beside it
INSIDE = {"prediction", "pseudo_likelihood", "words", "stored", "attention_rollout", "norm_based", "patterns", "similarity"}
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs_and_gives_what_it_says(path: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    test = doctest.DocTestParser().get_doctest(path.read_text(encoding="utf-8"), {}, path.name, str(path), 0)
    runner.run(test, out=report.append)
    assert not report, "".join(report)


def test_every_public_name_has_an_example():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^ {4}(?:>>>|\.\.\.) (.*)$", page, re.MULTILINE))
    packages = {"model": model, "smallworld": smallworld, "reader": reader}
    packages |= {name: package for name in probes.__all__ if hasattr(package := getattr(probes, name), "__all__")}
    names = [f"{prefix}.{name}" for prefix, package in packages.items() for name in package.__all__]
    imported = set(re.findall(r"\w+", " ".join(re.findall(r"import (.*)", code))))
    missing = [name for name in names if name not in page and name.split(".")[1] not in imported]
    modules = [path.stem for path in (ROOT / "probes").glob("*/*.py") if path.parent.name in probes.__all__]
    unnamed = {stem for stem in modules if not stem.startswith("_")} - imported - INSIDE
    assert not missing
    assert not unnamed


def anchors(path: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path):
    wrong = []
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_every_page_of_the_documents_is_reached_from_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = {Path(link).name for link in LINK.findall(readme) if link.startswith("docs/")}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= linked


def test_paths_in_the_documents_exist():
    """`model/bert.py`, `tests/test_run.py`, …: a file that is named is there."""
    wrong = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"`((?:model|probes|app|tests|bench|docs|bertscope)/[\w/.-]*\w)/?`", text):
            if not (ROOT / name).exists():
                wrong.append(f"{path.name}: {name}")
    assert wrong == []


def schema(name: str) -> jsonschema.Draft202012Validator:
    content = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


def shipped(pattern: str) -> list[Path]:
    files = sorted(ROOT.glob(pattern))
    assert files
    return files


def test_the_shipped_lessons_have_the_form_that_is_described():
    for path in shipped("app/lessons/*.toml"):
        schema("lesson").validate(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("result", "probes/bundled/results/probes/*.json"),
        ("result", "probes/bundled/results/finetuning/*.json"),
        ("comparison", "probes/bundled/results/*/run.json"),
    ],
)
def test_the_shipped_results_have_the_form_that_is_described(name: str, pattern: str):
    for path in shipped(pattern):
        schema(name).validate(json.loads(path.read_text(encoding="utf-8")))


def test_a_result_written_now_has_the_form_that_is_described():
    for result in (*probes.bundled.finetuning().values(), *probes.bundled.probing().values()):
        content = json.loads(result.json())
        schema("result").validate(content)
        assert content["version"] == model.__version__


@pytest.mark.parametrize(
    "content",
    [
        {"title": "No questions", "about": "."},
        {"title": "T", "about": ".", "question": [{"kind": "guess", "prompt": "?", "options": ["a", "b"]}]},
        {
            "title": "T",
            "about": ".",
            "question": [{"kind": "word", "prompt": "?", "options": ["only one"], "text": "[MASK]"}],
        },
    ],
)
def test_a_lesson_of_another_form_is_refused(content):
    assert list(schema("lesson").iter_errors(content))


def test_every_command_in_the_documents_is_one():
    commands = [
        (path.name, word)
        for path in DOCUMENTS
        for word in re.findall(r"python3 run\.py ([a-z]+)", path.read_text(encoding="utf-8"))
    ]
    assert commands
    assert [(name, word) for name, word in commands if word not in COMMANDS] == []
