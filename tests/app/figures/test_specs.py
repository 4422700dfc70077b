"""Every figure is a specification that Plotly's own checks accept as it stands: the app sends it past them."""

import base64
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from copy import deepcopy
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from app import figures
from app.figures import states, theme
from app.figures.theme import Figure
from app.plotly_figure import UncheckedFigure
from model import Bert
from tests.app.figures.answers import CASES, Answers
from tests.conftest import ROOT

MODULES = {info.name: importlib.import_module(f"app.figures.{info.name}") for info in pkgutil.iter_modules(figures.__path__)}
HELPERS = {"theme"}  # takes a figure and returns it with another look


@pytest.fixture(scope="module")
def answers(tiny_bert: Bert, english: Bert, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return Answers(tiny_bert, english, tmp_path_factory.mktemp("answers"))


def figure_functions() -> set[str]:
    """module.function of everything public that returns a figure."""
    return {
        f"{module}.{name}"
        for module, content in MODULES.items()
        if module not in HELPERS
        for name, function in inspect.getmembers(content, inspect.isfunction)
        if function.__module__ == content.__name__ and not name.startswith("_") and returns_figure(function)
    }


def returns_figure(function: Any) -> bool:
    return inspect.signature(function).return_annotation is Figure


def built(name: str, answers: Answers) -> list[Figure]:
    module, function = name.split(".")
    return [getattr(MODULES[module], function)(*arguments) for arguments in CASES[name](answers)]


def plain(value: Any) -> Any:
    """The same values in lists and dictionaries, typed arrays as plotly.js reads them, without the template."""
    if isinstance(value, dict) and "bdata" in value:
        numbers = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(f"<{value['dtype']}"))
        return plain(numbers.reshape([int(size) for size in value.get("shape", str(len(numbers))).split(",")]))
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if part is not None and name != "template"}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def assert_valid(spec: Figure) -> None:
    """Plotly accepts the specification and leaves it as it is; an empty list in a layout says as little as none."""
    checked = go.Figure(deepcopy(spec)).to_plotly_json()
    assert plain(spec["data"]) == plain(checked["data"])
    assert {name: part for name, part in plain(spec["layout"]).items() if part != []} == plain(checked["layout"])
    assert plain(spec.get("frames", [])) == plain(checked.get("frames", []))


def test_every_figure_has_a_case_and_every_case_a_figure():
    assert set(CASES) == figure_functions()


@pytest.mark.parametrize("name", sorted(CASES))
def test_plotly_accepts_the_figure_and_would_change_nothing(name: str, answers: Answers):
    for spec in built(name, answers):
        assert_valid(spec)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_browser_reads_the_numbers_of_the_figure(name: str, answers: Answers):
    for spec in built(name, answers):
        sent = json.loads(json.dumps(UncheckedFigure(spec).to_dict(), allow_nan=False))
        assert plain(sent["data"]) == plain(spec["data"])


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_dark_page_gets_a_valid_figure_of_its_own(name: str, answers: Answers):
    for spec in built(name, answers):
        before = json.dumps(plain(spec))
        dark = theme.with_ink(theme.to_dark(spec), theme.INK["dark"])
        assert json.dumps(plain(spec)) == before
        assert_valid(dark)
        scales = [trace["colorscale"] for trace in dark["data"] if trace["type"] == "heatmap"]
        assert theme.SEQUENTIAL not in scales
        assert theme.DIVERGING not in scales
        axes = [axis for name, axis in dark["layout"].items() if name.startswith(("xaxis", "yaxis"))]
        assert {axis["tickfont"]["color"] for axis in axes} == {theme.INK["dark"]}


def test_importing_the_figures_does_not_import_plotly():
    imports = "; ".join(f"import app.figures.{name}" for name in MODULES)
    loaded = f"{imports}; import sys; print([name for name in sys.modules if name.split('.')[0] == 'plotly'])"
    output = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


def test_what_a_figure_says_goes_before_the_look_of_the_house():
    spec = theme.apply({"data": [], "layout": {"margin": {"t": 90}, "xaxis2": {"showgrid": True}}}, height=200)
    assert spec["layout"]["margin"] == theme.LAYOUT["margin"] | {"t": 90}
    assert spec["layout"]["xaxis2"] == theme.AXIS | {"showgrid": True}
    assert spec["layout"]["yaxis"] == theme.AXIS
    assert theme.LAYOUT["margin"]["t"] == 24


def test_the_sent_figure_has_only_the_part_of_the_template_that_speaks_of_it(answers: Answers):
    spec = built("word_bars.bars", answers)[0]
    template = UncheckedFigure(spec).to_dict()["layout"]["template"]
    assert "colorway" in template["layout"]
    assert set(template["data"]) <= {"bar"}
    spec = states.similarity_map(np.eye(3), list("abc"))
    assert set(UncheckedFigure(spec).to_dict()["layout"]["template"]["data"]) == {"heatmap"}
    assert "template" not in spec["layout"]
