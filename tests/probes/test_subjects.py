"""`import probes` shows every subject and imports none of them."""

import subprocess
import sys

import probes
from tests.conftest import ROOT


def test_every_subject_is_listed_and_can_be_named():
    folder = ROOT / "probes"
    subjects = {path.parent.name for path in folder.glob("*/__init__.py")} | {path.stem for path in folder.glob("[a-z]*.py")}
    tools = {"reader", "results", "progress", "command"}  # what experiments share; they ask nothing of a model
    assert set(probes.__all__) == subjects - tools
    assert set(probes.__all__) <= set(dir(probes))
    for name in probes.__all__:
        assert getattr(probes, name).__name__ == f"probes.{name}"


def test_importing_probes_alone_is_cheap():
    code = "import sys, probes; print([name for name in sys.modules if name == 'torch' or name.startswith('probes.')])"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
