"""The handout as a file: its size, what may run in it, what rounding costs, the command and the address."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import network, session
from app.browser import characters, handout, rounding, route, weights
from app.browser.__main__ import main
from app.byte_cache import ByteCache
from model import Bert, BertConfig, CheckpointError, tokenizer

HOSTILE_NAME = "my <b>bert & co #1"
LESSON = """title = "Mine"
about = "My own."

[[question]]
kind = "known"
prompt = "Is this my lesson?"
options = ["yes", "no"]
answer = "yes"
after = "It is."
"""
HOSTILE = '</script><img src=x onerror="alert(1)"> & "'


@pytest.fixture(scope="module")
def english_html(english: Bert) -> str:
    return handout.build(english, handout.lesson_books()).html


def test_the_english_handout_is_at_most_32_megabytes(english_html: str):
    assert len(english_html.encode()) <= 32e6


def test_a_tiny_model_with_the_same_vocabulary_is_at_most_6_megabytes(english: Bert):
    tiny = Bert.random_init(BertConfig.preset("tiny"), english.tokenizer)
    learned = english.state_dict()
    for name, tensor in tiny.state_dict().items():  # learned weights compress better than random ones
        tensor.copy_(learned[name][tuple(slice(0, size) for size in tensor.shape)])
    assert len(handout.build(tiny, handout.lesson_books()).html.encode()) <= 6e6


def test_one_script_runs_and_no_network_is_allowed(english_html: str):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', english_html)
    assert policy is not None
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", english_html, re.DOTALL)
    running = [body for attributes, body in scripts if "type=" not in attributes]
    assert len(running) == 1
    digest = base64.b64encode(hashlib.sha256(running[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1] and "http" not in policy[1] and "connect-src 'self';" in policy[1]
    script = policy[1].split("script-src")[1].split(";")[0]
    assert "'unsafe-inline'" not in script and "'unsafe-eval'" not in script
    assert "src=" not in "".join(attributes for attributes, _ in scripts)


def test_a_hostile_name_vocabulary_or_lesson_stays_text(tiny_bert: Bert):
    pieces = tokenizer.from_vocabulary([*tiny_bert.tokenizer.vocabulary, HOSTILE, "<!--", "<script>"])
    bert = Bert.random_init(BertConfig(pieces.vocab_size, 32, 1, 2, 64, 64), pieces)
    bert.info = type(bert.info)(name=HOSTILE, notes=(HOSTILE,))
    page = handout.build(bert, handout.lesson_books()).html
    assert HOSTILE not in page and "<img" not in page
    assert page.count("</script>") == page.count("<script ") + page.count("<script>")
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    header = json.loads(found[1])
    assert header["name"] == HOSTILE and HOSTILE in header["tokenizer"]["vocabulary"]


def test_codes_are_off_by_at_most_half_a_step():
    matrix = np.random.default_rng(0).normal(size=(5, 128)).astype(np.float32)
    matrix[2] = 0
    matrix[3, 7] = 100
    codes, scales = weights.quantise(matrix)
    assert codes.shape == (10, 64) and scales.shape == (10,)
    error = np.abs(weights.dequantise(codes, scales).reshape(matrix.shape) - matrix)
    assert (error <= np.repeat(scales, 64).reshape(matrix.shape) * 0.5001).all()
    assert error[3, 64:].max() < 0.03 < error[3, :64].max()  # one large weight makes its own stretch coarse, no other


def test_letters_are_five_for_four_bytes_and_none_means_anything_to_html():
    content = bytes(range(256)) + b"\xff" * 6
    letters = weights.to_text(content)
    digits = {sign: digit for digit, sign in enumerate(weights.ALPHABET.tobytes().decode())}
    assert len(digits) == 85 and not set(digits) & set("<>&\"'`\\")
    decoded = b""
    for start in range(0, len(letters), 5):
        number = 0
        for letter in letters[start : start + 5]:
            number = 85 * number + digits[letter]
        decoded += number.to_bytes(4, "little")
    assert decoded == content + b"\0" * 2


def test_the_shared_model_is_not_rounded(english: Bert):
    before = {name: tensor.clone() for name, tensor in english.state_dict().items()}
    rounded = weights.round_weights(english)
    changed = [name for name, tensor in rounded.state_dict().items() if not (tensor == before[name]).all()]
    assert all((tensor == before[name]).all() for name, tensor in english.state_dict().items())
    assert set(changed) == {name for name, tensor in before.items() if tensor.ndim == 2}


def test_rounding_keeps_97_of_100_first_guesses(english: Bert):
    cost = rounding.measure(english, weights.round_weights(english), masks=600)
    assert cost.masks == 600 and cost.agreement >= 0.97 and cost.largest_change < 0.1
    assert abs(cost.correct[0] - cost.correct[1]) <= 12
    same = rounding.measure(english, english, masks=40)
    assert same.agreement == 1 and same.largest_change == 0


def test_a_tokenizer_with_rules_of_its_own_is_refused(tiny_bert: Bert):
    from tokenizers import AddedToken, normalizers

    pieces = tokenizer.from_vocabulary(["dog"])
    pieces.backend.add_tokens([AddedToken("greedy", lstrip=True)])
    with pytest.raises(CheckpointError, match="greedy"):
        characters.describe(pieces)
    pieces = tokenizer.from_vocabulary(["dog"])
    pieces.backend.normalizer = normalizers.NFKC()
    with pytest.raises(CheckpointError, match="NFKC"):
        characters.describe(pieces)


def test_the_command_writes_the_file_and_says_its_sizes(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "app.browser", "--model", "smallworld", "--out", tmp_path / "world.html", "--masks", "50"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"first guesses behind 50 masks", done.stdout) and re.search(r"MB as int8", done.stdout)
    assert (tmp_path / "world.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "no-such-model"], "no-such-model"),
        (["--out", "no/such/folder/x.html"], "There is no folder"),
        (["--lessons", "no/such/folder"], "There is no folder"),
        (["--out", "."], "is a folder"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(words, sentence, monkeypatch, capsys, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    assert main(["--model", "smallworld", "--masks", "0", *words]) == 2
    told = capsys.readouterr().err
    assert sentence in told and told.count("\n") == 1


def test_a_model_without_heads_is_written_and_the_command_says_what_it_lacks(capsys, tmp_path: Path, tiny_bert: Bert):
    Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, mlm=False, nsp=False).save(tmp_path / "bare")
    assert main(["--model", str(tmp_path / "bare"), "--out", str(tmp_path / "bare.html")]) == 0
    told = capsys.readouterr().out
    assert "no masked-word head" in told and "no next-sentence head" in told and "not measured" in told
    assert (tmp_path / "bare.html").is_file()


def test_the_demo_is_made_by_the_same_command_and_not_committed(monkeypatch, tmp_path: Path):
    root = Path(__file__).parents[2]
    jobs = yaml.safe_load((root / ".github/workflows/demo.yml").read_text(encoding="utf-8"))["jobs"]
    steps = jobs["build"]["steps"]
    program, script, name, *words = next(step["run"] for step in steps if "run" in step).split()
    assert (program, script, name) == ("python3", "run.py", "handout")
    page = Path(words[words.index("--out") + 1])
    assert {"path": str(page.parent)} in [step.get("with") for step in steps]
    assert f"/{page.as_posix()}" in (root / ".gitignore").read_text(encoding="utf-8").split()
    (tmp_path / page.parent).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert main([*words, "--model", "smallworld", "--masks", "0"]) == 0 and page.stat().st_size > 1e5


def test_the_address_sends_the_file_compressed_and_only_once(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    monkeypatch.setattr(session, "HANDOUTS", ByteCache(50, 1))
    client = TestClient(Starlette(routes=route.routes()))
    first = client.get("/handout/smallworld.html", headers={"accept-encoding": "gzip"})
    assert first.status_code == 200 and first.headers["content-encoding"] == "gzip"
    assert first.text.startswith("<!doctype html>")
    plain = client.get("/handout/smallworld.html", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.text == first.text
    again = client.get("/handout/smallworld.html", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304 and not again.content
    assert len(session.HANDOUTS) == 1 and session.HANDOUTS.size < len(first.text)
    for name in ("no-such", "..%2Fenglish", "checkpoints%2F..%2F..%2Fetc"):
        assert client.get(f"/handout/{name}.html").status_code == 404


def test_a_model_of_ones_own_has_an_address_and_follows_its_files_and_lessons(monkeypatch, tmp_path: Path, tiny_bert: Bert):
    models, books = tmp_path / "models", tmp_path / "lessons"
    books.mkdir()
    tiny_bert.save(models / HOSTILE_NAME)
    monkeypatch.setenv("BERTSCOPE_MODELS", str(models))
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(books))
    monkeypatch.setattr(session, "HANDOUTS", ByteCache(50, 1))
    client = TestClient(Starlette(routes=route.routes()))
    first = client.get(route.path(HOSTILE_NAME))
    assert first.status_code == 200 and HOSTILE_NAME not in first.text
    (books / "mine.toml").write_text(LESSON, encoding="utf-8")
    second = client.get(route.path(HOSTILE_NAME))
    assert second.headers["etag"] != first.headers["etag"] and "Is this my lesson?" in second.text
    (books / "broken.toml").write_text("title = ", encoding="utf-8")
    assert client.get(route.path(HOSTILE_NAME)).headers["etag"] == second.headers["etag"]
    Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=9).save(models / HOSTILE_NAME)
    assert client.get(route.path(HOSTILE_NAME)).headers["etag"] != second.headers["etag"]


def test_a_vocabulary_that_knows_none_of_the_sentences_still_makes_a_file(tiny_bert: Bert):
    strange = tokenizer.from_vocabulary(["ᚠᚢ", "ᚦ"])
    bert = Bert.random_init(BertConfig(strange.vocab_size, 32, 1, 2, 64, 64), strange)
    assert rounding.cost(bert) is None and rounding.cost(tiny_bert, 20) is not None
    assert rounding.cost(Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, mlm=False)) is None
    assert handout.build(bert, {}).weight_bytes > 0


def test_a_room_is_told_an_address_only_where_it_can_reach_one():
    assert network.room_address("http://192.168.1.20:8501/start", "0.0.0.0") == "http://192.168.1.20:8501"
    assert network.room_address("http://localhost:8501/", "127.0.0.1") is None
    own = network.room_address("http://localhost:8501/", "0.0.0.0")
    assert own is None or (own.startswith("http://") and own.endswith(":8501") and "localhost" not in own)
