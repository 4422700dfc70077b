"""`import probes` shows every subject and imports none of them."""

import subprocess
import sys

import probes
from model import Batch
from probes import bundled
from probes.probing import apply, experiment
from probes.states import token_contexts
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


def test_an_answer_in_a_notebook_is_a_line_and_not_all_its_numbers(tiny_bert):
    texts = ["the cat sat on the mat .", "my dog sat on the cat ."]
    smallworld = bundled.probing()["smallworld-upos-smallworld"]
    contexts = token_contexts.collect(tiny_bert, texts)
    answers = [
        tiny_bert.trace(texts[0]),
        Batch.collate([tiny_bert.tokenizer.encode(text) for text in texts]),
        smallworld,
        bundled.finetuning()["topic"],
        experiment.reviews(),
        apply.predict(smallworld, experiment.load_model("smallworld"), "Anna likes the lake ."),
        contexts,
        token_contexts.self_similarity(contexts),
        token_contexts.intra_sentence(contexts),
    ]
    assert {type(answer).__name__: len(repr(answer)) for answer in answers if len(repr(answer)) > 700} == {}
