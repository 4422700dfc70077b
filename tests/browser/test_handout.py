"""The handout in a real Chromium, from disk and offline: Python's numbers, every feature, nothing that runs unasked."""

import base64
import csv
import io
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from app.browser import characters, handout, weights
from model import Bert, BertConfig, Edits, InputError, tokenizer
from model.trace import trace
from probes import cloze, heads, lessons, nextsentence, reader
from probes.cloze import directions, query
from probes.cloze.logit_lens import read_layers
from probes.cloze.query import MarkedSpan
from probes.heads import ablation
from tests.app.test_pages import INPUTS

HOSTILE = "</script><img src=x onerror=\"document.title='ran'\">"
TOLERANCE = 1e-4
A = "She poured a cup of hot coffee and sat down."
B = "Then she opened the newspaper and began to read."
ODD = [
    ("Café naïve façade, Ångström; straße & Œuvre.", ""),
    ("e\u0301le\u0300ve de l'e\u0301cole", "Cre\u0300me bru\u0302le\u0301e."),
    ("ΣΟΦΟΣ Ωμέγα ΑΎΡΙΟ", "İstanbul ILIK ılık"),
    ("日本語のテキストと中文字符。", "the sign says 出口"),
    ("한국어 문장입니다 the Korean", ""),
    ("नमस्ते दुनिया hello", "שלום עולם hello"),
    ("I love 😀👍🏽👨‍👩‍👧 and 🇫🇷!", "So do I 🎉🎉."),
    ("tabs\tand\nlines\r\nand\u00a0spaces\u3000wide\u2028line", "zero\u200bwidth\u00adhyphen\ufeffmark"),
    ("control \x00\x01\x7f\x85 characters \ufffd here", ""),
    ("[CLS] [SEP] [MASK] [PAD] [UNK] inside a text", "[mask] [cls] [MASK][MASK]x[MASK]"),
    ("The [MASK] barked at the postman.", ""),
    (HOSTILE, "<b>bold</b> ${alert(1)} {{x}} &amp; \\u003c"),
    ("\u202eright to left\u202c and \u0301 alone", "a\u0300\u0301\u0323b"),
    ("１２３ ＡＢＣ ﬁne ﬂow Ⅷ ½ ²", "x² + y² ≠ 4πr² ∑∞"),
    ("don't won't it's O'Neill’s “quoted” – dashed — more…", "e.g. U.S.A. 3.14 1,000,000 50% $5 #tag @me a_b c/d"),
    ("a" * 100 + " " + "b" * 101, "supercalifragilisticexpialidocious electroencephalography"),
    ("word " * 700, ""),
    ("word " * 700, "other " * 300),
    ("short", "other " * 700),
    ("x" * 20000, "a dog"),
    ("\U00020000\U0002a6d6 rare ideographs \U000e0001\U0010ffff", ""),
    ("half \ud83d a pair", "and \udc00 the other"),
    ("1", ""),
    (".", "?"),
    ("constructor __proto__ toString hasOwnProperty", "valueOf null undefined NaN"),
]
REFUSED = [("", "x"), ("   \u00a0", ""), ("\u200b", ""), ("ᚠᚢᚦ", ""), ("\x00", "")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("handout")


@pytest.fixture(scope="module")
def english_file(english: Bert, folder: Path) -> Path:
    path = folder / "english.html"
    path.write_text(handout.build(english, handout.lesson_books()).html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def rounded(english: Bert) -> Bert:
    return weights.round_weights(english)


@pytest.fixture(scope="module")
def open_file(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Open a file from disk without any network; an error of the page or in its console, or a request, fails the test."""
    trouble: list[str] = []
    contexts = []

    def opened(path: Path, fragment: str = "", width: int = 1366, height: int = 768, dark: bool = False) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            accept_downloads=True,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(f"page error: {error}"))
        page.on("console", lambda message: trouble.extend([f"console: {message.text}"] * (message.type == "error")))
        page.on("request", lambda request: trouble.extend([f"request: {request.url}"] * request.url.startswith("http")))
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not trouble, trouble


@pytest.fixture(scope="module")
def computing(open_file, english_file: Path) -> Page:
    """The English handout, for questions asked of its worker."""
    return open_file(english_file)


# the attention, states and P(IsNext) of inputs as base64; of long ones every so many-th number
TRACED = """async ([inputs, edits, most]) => {
  const text = (values) => {
    const step = Math.ceil(values.length / most);
    const some = Float32Array.from({ length: Math.ceil(values.length / step) }, (_, i) => values[i * step]);
    let letters = "";
    const bytes = new Uint8Array(some.buffer);
    for (let i = 0; i < bytes.length; i += 4096) letters += String.fromCharCode(...bytes.subarray(i, i + 4096));
    return btoa(letters);
  };
  const all = [];
  for (const [a, b] of inputs) {
    try {
      const seen = await page.client.ask("trace", { a, b, ...edits });
      const hidden = await page.client.ask("hidden", { a, b, ...edits });
      const of = (name) => seen.tokens.map((token) => token[name]);
      all.push({ ids: of("id"), segments: of("segment"), words: of("word"), spans: of("span"), note: seen.note,
        attention: text(seen.attention), hidden: text(hidden), isNext: seen.isNext });
    } catch (problem) {
      all.push({ problem: problem.message });
    }
  }
  return all;
}"""
MOST = 60_000


def numbers(letters: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(letters), "<f4")


def some(values: np.ndarray) -> np.ndarray:
    flat = values.reshape(-1)
    return flat[:: -(-len(flat) // MOST)]


def sendable(text: str) -> str:
    """As it arrives in the browser: half a character cannot be sent, so Python reads what a sender makes of it."""
    return text.encode("utf-8", "replace").decode("utf-8")


def inputs() -> list[tuple[str, str]]:
    """300 texts and pairs: sentences of the reader, pairs of them, and everything odd."""
    sentences = [sentence.text for text in reader.read().texts for sentence in text.sentences]
    rng = random.Random(0)
    single = [(sentence, "") for sentence in rng.sample(sentences, 175)]
    pairs = [(rng.choice(sentences), rng.choice(sentences)) for _ in range(95)]
    return [*((sendable(a), sendable(b)) for a, b in [*ODD, *REFUSED]), *single, *pairs]


def test_300_inputs_become_what_they_become_in_python(computing: Page, rounded: Bert):
    compared = 0
    worst = {"attention": 0.0, "hidden": 0.0, "isNext": 0.0}
    texts = inputs()
    assert len(texts) == 300
    for start in range(0, len(texts), 20):
        batch = texts[start : start + 20]
        for (a, b), found in zip(batch, computing.evaluate(TRACED, [batch, {}, MOST]), strict=True):
            try:
                expected = rounded.trace(a, b)
            except InputError:
                assert list(found) == ["problem"], (a, b)
                continue
            tokens = expected.tokens
            assert found["ids"] == [token.id for token in tokens], (a, b)
            assert found["segments"] == [token.segment for token in tokens]
            assert found["words"] == [token.word for token in tokens], (a, b)
            assert [span and tuple(span) for span in found["spans"]] == [token.span for token in tokens], (a, b)
            assert found["note"] == expected.note
            for name, value in (("attention", expected.attention), ("hidden", expected.hidden)):
                worst[name] = max(worst[name], float(np.abs(numbers(found[name]) - some(value)).max()))
            assert expected.nsp is not None
            worst["isNext"] = max(worst["isNext"], abs(found["isNext"] - expected.nsp))
            compared += 1
    assert compared == len(texts) - len(REFUSED)
    assert max(worst.values()) < TOLERANCE, worst


def test_300_guesses_are_pythons(computing: Page, rounded: Bert):
    worst, compared = 0.0, 0
    for a, b in inputs():
        try:
            encoding = rounded.tokenizer.encode(a, b)
        except InputError:
            continue
        words = [token.position for token in encoding.tokens if not token.is_special and token.text.isalpha()]
        if len(words) < 3:
            continue
        position = words[len(words) // 2]
        mark = {"start": position, "stop": position + 1, "kind": "mask", "word": ""}
        blanks = ask(computing, "fill", {"a": a, "b": b, "marks": [mark], "k": 5})["blanks"]
        guesses = next(p["guesses"] for blank in blanks for p in blank["pieces"] if p["position"] == position)
        predicted = cloze.probabilities(rounded, cloze.mask(rounded, encoding, [position]), [position])[0]
        worst = max(worst, *(abs(predicted[guess["id"]] - guess["probability"]) for guess in guesses))
        first, second = np.sort(predicted)[[-1, -2]]
        if first - second > TOLERANCE:
            assert guesses[0]["id"] == int(predicted.argmax()), (a, b)
        compared += 1
    assert compared > 280 and worst < TOLERANCE


def test_edits_change_what_they_change_in_python(computing: Page, rounded: Bert):
    batch = [(A, B), ("My dog is cute.", "He likes playing.")]
    for edits in (
        Edits(heads_off=frozenset({(1, 7), (4, 0), (4, 11)})),
        Edits(direction="left"),
        Edits(direction="right", heads_off=frozenset((0, head) for head in range(12))),
    ):
        asked = {"off": sorted(edits.heads_off), "direction": edits.direction}
        for (a, b), found in zip(batch, computing.evaluate(TRACED, [batch, asked, MOST]), strict=True):
            expected = trace(rounded, rounded.tokenizer.encode(a, b), edits)
            assert np.abs(numbers(found["hidden"]) - some(expected.hidden)).max() < TOLERANCE
            plain = rounded.trace(a, b)
            assert np.abs(some(plain.hidden) - some(expected.hidden)).max() > 0.1


def ask(page: Page, name: str, request: dict) -> dict:
    return page.evaluate("([name, request]) => page.client.ask(name, request)", [name, request])


def test_guesses_ranks_and_words_of_ones_own_are_pythons(computing: Page, rounded: Bert):
    marks = [MarkedSpan(7, 8, "mask"), MarkedSpan(10, 11, "ask"), MarkedSpan(3, 4, "replace", "photogenic mug")]
    sent = [{"start": m.start, "stop": m.stop, "kind": m.kind, "word": m.word} for m in marks]
    answer = ask(computing, "fill", {"a": A, "b": B, "marks": sent, "k": 8})
    expected = query.build(rounded, rounded.tokenizer.encode(A, B), marks)
    assert [token["id"] for token in answer["tokens"]] == expected.encoding.ids
    assert [(t["start"], t["stop"]) for t in answer["blanks"]] == [(t.start, t.stop) for t in expected.targets]
    for blank, target in zip(answer["blanks"], expected.targets, strict=True):
        for piece in blank["pieces"]:
            guesses = cloze.predict(rounded, expected.encoding, [piece["position"]], 8)
            assert [guess["word"] for guess in piece["guesses"]] == list(guesses["word"])
            got = [guess["probability"] for guess in piece["guesses"]]
            assert got == pytest.approx(list(guesses["probability"]), abs=TOLERANCE)
        original = query.word_score(rounded, expected, target, blank["original"])
        assert blank["scores"][0]["probability"] == pytest.approx(original.probability, abs=TOLERANCE)
        assert blank["scores"][0]["rank"] == original.rank
    yours = ask(computing, "fill", {"a": A, "b": B, "marks": sent[:1], "word": "electroencephalography"})["blanks"][0][
        "scores"
    ][1]
    alone = query.build(rounded, rounded.tokenizer.encode(A, B), marks[:1])
    own = query.word_score(rounded, alone, alone.targets[0], "electroencephalography")
    assert yours["pieces"] == list(own.pieces)
    assert yours["each"] == pytest.approx(own.each, rel=1e-2, abs=1e-9)


def test_the_logit_lens_is_pythons(computing: Page, rounded: Bert):
    mark = {"start": 7, "stop": 8, "kind": "mask", "word": ""}
    layers = ask(computing, "lens", {"a": A, "b": B, "marks": [mark]})["layers"]
    asked = query.build(rounded, rounded.tokenizer.encode(A, B), [MarkedSpan(7, 8, "mask")])
    expected = read_layers(rounded, asked.encoding, asked.unmasked.ids)
    assert [[cell["word"] for cell in layer] for layer in layers] == expected.words
    for name, values in (("probability", expected.probability), ("goldProbability", expected.gold_probability)):
        assert np.abs(np.array([[cell[name] for cell in layer] for layer in layers]) - values).max() < TOLERANCE
    ranks = np.array([[cell["goldRank"] for cell in layer] for layer in layers])
    assert (np.abs(ranks - expected.gold_rank) <= 2).all() and (ranks == expected.gold_rank).mean() > 0.95


def test_one_sided_sight_gives_pythons_guesses(computing: Page, rounded: Bert):
    mark = {"start": 7, "stop": 8, "kind": "mask", "word": ""}
    answer = ask(computing, "directions", {"a": A, "b": B, "marks": [mark], "k": 5})
    asked = query.build(rounded, rounded.tokenizer.encode(A, B), [MarkedSpan(7, 8, "mask")])
    expected = directions.predict(rounded, asked.encoding, 7)
    assert answer["word"] == "coffee" and [row["name"] for row in answer["rows"]] == list(expected)
    for row, predicted in zip(answer["rows"], expected.values(), strict=True):
        best = cloze.top_k(rounded, predicted, 5)
        assert [guess["word"] for guess in row["guesses"]] == list(best["word"])
        assert [guess["probability"] for guess in row["guesses"]] == pytest.approx(list(best["probability"]), abs=TOLERANCE)


def test_without_heads_words_and_pairs_change_as_in_python(computing: Page, rounded: Bert):
    off = [(0, head) for head in range(12)] + [(1, 7)]
    answer = ask(computing, "ablation", {"a": A, "b": B, "off": off, "position": 7, "k": 7})
    encoding = rounded.tokenizer.encode(A, B)
    expected = ablation.distribution(rounded, ablation.target_word(rounded, encoding, 7), off, k=7)
    assert [row["word"] for row in answer["words"]] == list(expected["word"])
    for when in ("before", "after"):
        assert [row[when] for row in answer["words"]] == pytest.approx(list(expected[when]), abs=TOLERANCE)
    assert answer["isNext"] == pytest.approx(ablation.next_sentence(rounded, encoding, off), abs=TOLERANCE)


def test_the_next_sentence_head_names_its_outputs_as_python_does(computing: Page, rounded: Bert):
    for a, b in ((A, B), ("The baker gets up at three.", "The treaty was signed in spring.")):
        answer = ask(computing, "pair", {"a": a, "b": b})
        assert answer["isNext"] == pytest.approx(nextsentence.probability(rounded, a, b), abs=TOLERANCE)
        assert answer["isNext"] + answer["notNext"] == pytest.approx(1)


def test_heads_are_called_what_python_calls_them(computing: Page, rounded: Bert):
    for a, b in ((A, B), ("The unbelievably photogenic hippopotamus yawned.", ""), ("Hm.", "")):
        expected = rounded.trace(a, b)
        found = ask(computing, "trace", {"a": a, "b": b})
        assert found["patterns"] == heads.as_grid(heads.summary(expected), "label").tolist()
        if not any(token.is_continuation for token in expected.tokens):
            assert tuple(found["informative"]) == heads.most_informative(expected.attention, expected.encoding)


def test_every_question_of_every_lesson_is_answered_as_in_python(computing: Page, rounded: Bert):
    sent = computing.evaluate("page.header.lessons")
    asked = 0
    for name, book in handout.lesson_books().items():
        for question, fields in zip(book.questions, sent[name]["questions"], strict=True):
            expected = lessons.answer(rounded, question)
            answer = ask(computing, "lesson", fields)
            assert answer["values"] == pytest.approx(expected.values, abs=2e-4), question.prompt
            assert (answer["unit"], answer["own"]) == (expected.unit, expected.own)
            asked += 1
    assert asked > 25


@pytest.fixture
def engine(chromium: Browser) -> Iterator[Page]:
    """An empty page with the worker's source in it, for its parts by themselves."""
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.add_script_tag(content=handout.worker_source())
    yield page
    context.close()


@pytest.mark.parametrize("lowercase", [True, False])
def test_any_text_is_cut_as_tokenizers_cuts_it(engine: Page, english: Bert, lowercase: bool):
    pieces = tokenizer.from_vocabulary([*english.tokenizer.vocabulary, "Éa", "##É", "Dog", "ﬁ", "##Σ"], lowercase=lowercase)
    engine.evaluate("spec => { window.pieces = new WordPiece(spec) }", characters.describe(pieces))
    rng = random.Random(1)
    letters = [*"abcdefgh  ..,'ABCÉéñßİıΣσς [MASK]\u0301\u0323\u200b\u00a0日本가각#", "##", "[SEP]", "[UNK]"]
    anything = [code for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(rng.choice(letters) for _ in range(rng.randint(1, 30))) for _ in range(2000)]
    texts += [
        " ".join(f"a{chr(code)}b {chr(code)}" for code in anything[start : start + 64])
        for start in range(0, len(anything), 64)
    ]
    found = engine.evaluate("texts => texts.map((text) => pieces.pieces(text).map((p) => [p.id, p.word, ...p.span]))", texts)
    for text, got in zip(texts, found, strict=True):
        coded = pieces.backend.encode(text, add_special_tokens=False)
        expected = [[i, w, *s] for i, w, s in zip(coded.ids, coded.word_ids, coded.offsets, strict=True)]
        assert got == expected, ascii(text)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_kernels_of_either_kind_compute_a_model_of_any_shape(engine: Page, tiny_bert: Bert, plain: bool, activation: str):
    for hidden, count, inner in ((32, 4, 64), (48, 3, 80), (20, 5, 36), (128, 2, 256)):
        config = BertConfig(
            tiny_bert.tokenizer.vocab_size + 3, hidden, 2, count, inner, 64, hidden_act=activation, initializer_range=0.2
        )
        bert = Bert.random_init(config, tiny_bert.tokenizer, seed=2)
        packed = weights.pack(bert)
        expected = weights.round_weights(bert).trace("the cat sat on my mat", "he likes playing")
        ids, segments = expected.encoding.ids, expected.encoding.segments
        found = engine.evaluate(
            """([config, tensors, body, ids, segments, plain]) => {
            const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
            const kernels = chooseKernels(bytes.length, plain);
            kernels.bytes().set(bytes);
            const bert = new Bert(config, tensors, kernels), hidden = [], attention = [];
            const record = (name, _, value) => (name === "hidden" ? hidden : attention).push(...value);
            const states = bert.forward({ ids, segments }, new Edits(), record);
            return { name: kernels.name, hidden, attention, isNext: bert.isNext(states) };
        }""",
            [
                {**vars(config)},
                packed.tensors,
                base64.b64encode(packed.body).decode(),
                ids,
                segments,
                plain,
            ],
        )
        assert ("plain" in found["name"]) == plain
        assert np.abs(np.array(found["hidden"]) - expected.hidden.reshape(-1)).max() < TOLERANCE
        assert np.abs(np.array(found["attention"]) - expected.attention.reshape(-1)).max() < TOLERANCE
        assert found["isNext"] == pytest.approx(expected.nsp, abs=TOLERANCE)


def shown(page: Page, tab: str) -> None:
    page.locator(f"#tab-{tab}").click()
    settled(page)


def settled(page: Page) -> None:
    """Nothing is being typed, asked or drawn any more."""
    page.wait_for_function("() => page.client.sent === null && !page.client.waiting.size && !page.pending")
    page.wait_for_selector(".tab[aria-busy=false]", state="attached")


def rewrite(page: Page, sentence: str, text: str) -> None:
    page.get_by_label(f"Sentence {sentence}").fill(text)
    settled(page)


def saved(page: Page, button: Locator, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        button.click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_words_show_pieces_and_ids_and_what_was_cut(open_file, english_file: Path, english: Bert, tmp_path: Path):
    page = open_file(english_file)
    rewrite(page, "A", "The unbelievably photogenic hippopotamus yawned ᚠ.")
    expected = english.tokenizer.encode("The unbelievably photogenic hippopotamus yawned ᚠ.", B)
    chips = page.locator(".tab .chip")
    assert chips.locator("b").all_text_contents() == [token.text for token in expected.tokens]
    assert [int(text) for text in chips.locator("small:nth-of-type(1)").all_text_contents()] == expected.ids
    expect(page.locator(".input-note")).to_have_text(expected.note)
    rows = table(saved(page, page.get_by_role("button", name="CSV"), tmp_path))
    assert [int(row["id"]) for row in rows] == expected.ids
    rewrite(page, "B", "He ran.")
    shown_segments = page.locator(".tab .chip.b b").all_text_contents()
    assert shown_segments == ["he", "ran", ".", "[SEP]"]


def drawn_colours(picture: Path) -> int:
    """How many colours a picture has: a blank one has one."""
    with Image.open(picture) as image:
        image.load()
        return len(image.convert("RGB").getcolors(1 << 24) or [])


def test_the_board_shows_every_view_and_saves_what_it_shows(open_file, english_file: Path, rounded: Bert, tmp_path: Path):
    page = open_file(english_file, "#tab=attention")
    settled(page)
    expect(page.locator("canvas")).to_be_visible()
    expected = rounded.trace(A, B)
    page.locator("[data-act=more]").click()
    for name, view in (("Lines", "head"), ("Heatmap", "heatmap"), ("All heads", "model")):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".board")).to_have_attribute("data-view", view)
        picture, drawing, values = (
            saved(page, page.get_by_role("button", name=ending, exact=True).first, tmp_path)
            for ending in ("PNG", "SVG", "CSV")
        )
        assert picture.suffix == ".png" and drawn_colours(picture) > 20
        shapes = [shape.tag.split("}")[1] for shape in ElementTree.parse(drawing).iter()]
        assert drawing.suffix == ".svg" and len(shapes) > 50 and "script" not in shapes
        rows = table(values)
        assert len(rows) == len(expected.tokens) ** 2 * (72 if view == "model" else 1)
        for row in rows[:: len(rows) // 40]:
            layer, head, query, key = (int(row[name]) for name in ("layer", "head", "query_position", "key_position"))
            at = layer - 1, head - 1, query, key
            assert float(row["value"]) == pytest.approx(expected.attention[at], abs=1e-4)
    page.get_by_role("button", name="hide [CLS] [SEP]").click()
    page.get_by_role("button", name="Words", exact=True).click()
    page.wait_for_function("() => location.hash.includes('unit=words') && location.hash.includes('hide=special')")
    rewrite(page, "A", "The unbelievably photogenic hippopotamus yawned.")
    rows = table(saved(page, page.get_by_role("button", name="CSV", exact=True).first, tmp_path))
    assert {"unbelievably", "hippopotamus"} <= {row["query"] for row in rows} and "[CLS]" not in {row["key"] for row in rows}


def test_heads_are_switched_off_by_mouse_and_keyboard_and_on_again(
    open_file, english_file: Path, rounded: Bert, tmp_path: Path
):
    page = open_file(english_file, "#tab=attention")
    settled(page)
    without = page.locator(".without")
    page.locator("[data-act=more]").click()
    page.get_by_role("button", name="a click switches heads off", exact=True).click()
    expect(without).to_contain_text("No head is switched off")
    x, y = page.evaluate("page.tabs.attention.place.board.pointOf({ layer: 1, head: 7 })")
    page.mouse.click(x, y)
    expect(without).to_contain_text("Without head 2.8")
    expect(without).to_contain_text("P(IsNext)")
    page.wait_for_function("() => location.hash.includes('off=2.8')")
    page.get_by_label("Word to hide and predict").select_option(label="7 · coffee")
    expect(without).to_contain_text("the first guess for “coffee”")
    target = ablation.target_word(rounded, rounded.tokenizer.encode(A, B), 7)
    rows = table(saved(page, without.get_by_role("button", name="CSV"), tmp_path))
    expected = ablation.distribution(rounded, target, [(1, 7)], k=7)
    assert [row["word"] for row in rows] == list(expected["word"])
    assert [float(row["without 2.8"]) for row in rows] == pytest.approx(list(expected["after"]), abs=TOLERANCE)
    page.locator(".stage").press("ArrowDown")
    page.locator(".stage").press("o")
    expect(without).to_contain_text("Without heads")
    page.get_by_role("button", name="all on").click()
    expect(without).to_contain_text("No head is switched off")


def test_words_are_masked_by_mouse_and_by_keyboard_and_guessed(open_file, english_file: Path, rounded: Bert, tmp_path: Path):
    page = open_file(english_file, "#tab=mask")
    settled(page)
    page.get_by_role("button", name="coffee", exact=True).click()
    settled(page)
    expect(page.locator(".blanks > div")).to_have_count(2)
    asked = query.build(rounded, rounded.tokenizer.encode(A, B), [MarkedSpan(7, 8, "mask"), MarkedSpan(10, 11, "mask")])
    for nth, position in enumerate((7, 10)):
        best = list(cloze.predict(rounded, asked.encoding, [position], 6)["word"])
        assert page.locator(".blanks > div").nth(nth).locator(".bars span").all_text_contents() == best
    page.get_by_role("button", name="down, [MASK]").press("Enter")
    settled(page)
    expect(page.locator(".blanks > div")).to_have_count(1)
    rows = table(saved(page, page.get_by_role("button", name="CSV"), tmp_path))
    alone = query.build(rounded, rounded.tokenizer.encode(A, B), [MarkedSpan(7, 8, "mask")])
    best = cloze.predict(rounded, alone.encoding, [7], 6)
    assert [row["word"] for row in rows] == list(best["word"])
    assert [float(row["probability"]) for row in rows] == pytest.approx(list(best["probability"]), abs=TOLERANCE)
    page.get_by_label("How likely is a word of your own?").fill("tea")
    score = query.word_score(rounded, alone, alone.targets[0], "tea")
    expect(page.locator(".scores tr", has_text="yours")).to_contain_text(f"{score.probability:.0%}".replace("%", " %"))
    page.get_by_label("How likely is a word of your own?").fill("hippopotamus")
    expect(page.locator(".scores")).to_contain_text("hippo")
    page.get_by_label("How likely is a word of your own?").fill("ᚠ")
    expect(page.locator(".problem:visible")).to_contain_text("cannot be spelled")
    expect(page.locator(".blanks > div")).to_have_count(1)
    page.get_by_role("button", name="coffee, [MASK]").click()
    expect(page.locator(".problem:visible")).to_contain_text("No word is chosen")


def test_layers_directions_and_the_next_sentence_are_shown(open_file, english_file: Path, rounded: Bert, tmp_path: Path):
    page = open_file(english_file)
    shown(page, "layers")
    expect(page.locator(".lens tbody tr")).to_have_count(24)
    expect(page.locator(".lens tbody tr.asked")).to_have_count(1)
    expect(page.locator(".lens thead th")).to_have_count(8)
    expect(page.locator(".tab")).to_contain_text(re.compile("“down”, which stood there, has rank ([0-9,]+, ){6}1\\."))
    rows = table(saved(page, page.get_by_role("button", name="CSV"), tmp_path))
    assert len(rows) == 24 * 7 and {row["layer"] for row in rows} == set("0123456")
    page.get_by_role("button", name="coffee", exact=True).click()
    expect(page.locator(".lens tbody tr.asked")).to_have_count(2)
    shown(page, "directions")
    page.get_by_role("button", name="1: coffee").click()
    settled(page)
    expect(page.locator(".tab")).to_contain_text("“coffee”, the true word, gets")
    headings = page.locator(".tab h2").all_text_contents()
    assert headings == ["Left only", "Right only", "Both, apart", "Both at once"]
    rows = table(saved(page, page.get_by_role("button", name="CSV"), tmp_path))
    asked = query.build(rounded, rounded.tokenizer.encode(A, B), [MarkedSpan(7, 8, "mask"), MarkedSpan(10, 11, "mask")])
    left = cloze.top_k(rounded, directions.predict(rounded, asked.encoding, 7)["left"], 6)
    assert [row["word"] for row in rows if row["sight"] == "left"] == list(left["word"])
    shown(page, "next")
    expect(page.locator(".tab h2")).to_contain_text("IsNext: the model says that B follows A")
    expect(page.locator(".bars")).to_contain_text("IsNext (output 0)")
    expect(page.locator(".bars")).to_contain_text("NotNext (output 1)")
    outputs = {
        row["meaning"]: float(row["probability"])
        for row in table(saved(page, page.get_by_role("button", name="CSV"), tmp_path))
    }
    assert outputs["IsNext"] == pytest.approx(nextsentence.probability(rounded, A, B), abs=TOLERANCE)
    assert outputs["IsNext"] + outputs["NotNext"] == pytest.approx(1)
    before = page.locator(".bars b").first.text_content()
    page.get_by_role("button", name="Swap A and B").click()
    settled(page)
    assert page.locator(".bars b").first.text_content() != before
    rewrite(page, "B", "")
    expect(page.locator("[role=alert]")).to_contain_text("needs two sentences")
    page.locator("#tab-next").press("ArrowLeft")
    expect(page.locator("#tab-mask")).to_be_focused()
    expect(page.locator("[role=alert]")).to_be_hidden()


def test_a_lesson_is_predicted_and_answered_on_the_spot(open_file, english_file: Path):
    page = open_file(english_file, "#tab=lessons")
    page.get_by_role("button", name="Where heads look").click()
    settled(page)
    expect(page.get_by_role("button", name="Ask the model")).to_be_disabled()
    page.get_by_label("slept", exact=True).check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator(".answers .best")).to_have_count(1)
    expect(page.locator(".answers .predicted")).to_contain_text("your prediction")
    page.get_by_role("button", name="Next question").click()
    page.get_by_label("dog", exact=True).check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator(".tab")).to_contain_text("of 2 answers of this lesson")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator(".tab")).to_contain_text("of 2 answers of this lesson")
    page.get_by_role("button", name="Look for yourself").click()
    settled(page)
    expect(page.locator("#tab-attention")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".board > .head-line .caption")).to_contain_text("Layer 2, head 9")
    page.go_back()
    expect(page.locator("#tab-lessons")).to_have_attribute("aria-selected", "true")


def test_a_link_opens_the_same_view(open_file, english_file: Path):
    page = open_file(english_file, "#tab=attention")
    rewrite(page, "A", "The keys to the old cabinet are on the table.")
    page.get_by_role("button", name="Heatmap").click()
    page.locator(".stage").press("ArrowRight")
    page.wait_for_function("() => location.hash.includes('view=heatmap') && location.hash.includes('heads=')")
    expect(page.locator(".board > .head-line .caption")).not_to_be_empty()
    page.wait_for_function("() => page.state.heads?.[0] === page.tabs.attention.place.board.choice.heads[0]")
    told = page.locator(".board > .head-line .caption").text_content()
    other = open_file(english_file, page.evaluate("location.hash"))
    settled(other)
    expect(other.get_by_label("Sentence A")).to_have_value("The keys to the old cabinet are on the table.")
    expect(other.locator(".board")).to_have_attribute("data-view", "heatmap")
    expect(other.locator(".board > .head-line .caption")).to_have_text(told or "")


# elements that a text must never become, in the page and in the shadows of its components
FOREIGN = """() => {
  const below = (one) => one.shadowRoot ? [one, ...all(one.shadowRoot)] : [one];
  const all = (root) => [...root.querySelectorAll("*")].flatMap(below);
  const foreign = all(document.body).filter((one) => one.matches("img, svg, iframe, object, embed, a, link"));
  return foreign.map((one) => one.outerHTML);
}"""
SMALL = {"with both heads": True, "without heads": False}


@pytest.mark.parametrize("kind", SMALL)
def test_the_inputs_of_the_apps_own_tests_are_shown_or_refused_in_words_and_never_run(
    open_file, english: Bert, folder: Path, kind: str
):
    config = BertConfig(english.config.vocab_size, 24, 2, 3, 48)
    small = Bert.random_init(config, english.tokenizer, mlm=SMALL[kind], nsp=SMALL[kind])
    (folder / f"{kind}.html").write_text(handout.build(small, handout.lesson_books()).html, encoding="utf-8")
    page = open_file(folder / f"{kind}.html")
    title = page.title()
    hostile = [HOSTILE, "<svg/onload=alert(1)> the dog", "{{7*7}} `${1}` %00 &lt;b&gt;", "javascript:alert(1)", "=1+1 @x"]
    for texts in [*INPUTS.values(), *({"a": text, "b": f"{text} {text}"} for text in hostile)]:
        page.evaluate("texts => page.jump({ ...page.defaults, ...texts, marks: null })", texts)
        for tab in ("words", "attention", "mask", "next", "layers", "directions"):
            shown(page, tab)
            assert page.evaluate(FOREIGN) == [], (texts, tab)
            assert page.locator(".tab").inner_text().strip() or page.locator("[role=alert]").inner_text(), (texts, tab)
    assert page.title() == title


def test_a_hostile_link_is_text(open_file, english_file: Path):
    page = open_file(
        english_file,
        "#tab=mask&a=the+dog&b=&marks=1-2r%3Cimg%20src%3Dx%3E.2-3m&lesson=__proto__&candidate=%3Cb%3E&off=9.99-1.2&heads=77&pin=9~x",
    )
    settled(page)
    for tab in ("attention", "lessons", "mask"):
        shown(page, tab)
        assert page.evaluate(FOREIGN) == []
    expect(page.locator(".scores tr", has_text="yours")).to_contain_text("<b>")
    page.evaluate("location.hash = '#tab=constructor&predicted=__proto__~1.constructor~2&lesson=constructor'")
    expect(page.locator("#tab-words")).to_have_attribute("aria-selected", "true")
    settled(page)
    shown(page, "lessons")
    expect(page.get_by_role("button", name="Ask the model")).to_be_visible()


def test_nothing_can_reach_the_network(chromium: Browser, english_file: Path):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(english_file.as_uri())
    page.wait_for_selector("body[data-ready]")
    refused = page.evaluate(
        """async () => {
        const blocked = [];
        document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
        await fetch("http://127.0.0.1:9/x").catch(() => blocked.push("fetch refused"));
        const image = new Image();
        await new Promise((done) => { image.onerror = done; image.src = "http://127.0.0.1:9/x.png"; });
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        await new Promise((done) => setTimeout(done, 0));
        return [blocked, window.ran ?? false];
    }"""
    )
    assert {"connect-src", "img-src", "script-src-elem"} <= set(refused[0]) and refused[1] is False
    context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_everything_in_its_width_in_light_and_dark(open_file, english_file: Path, dark: bool):
    page = open_file(english_file, width=390, height=844, dark=dark)
    for tab in ("words", "attention", "mask", "next", "layers", "directions", "lessons"):
        shown(page, tab)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab
        expect(page.locator(f"#tab-{tab}")).to_be_in_viewport()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(17, 24, 29)") == dark
    page.locator(".theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    page.get_by_text("About", exact=True).click()
    expect(page.locator(".card > div")).to_be_in_viewport()
    expect(page.locator(".card")).to_contain_text("rounded to 8 bits")
    page.get_by_text("Examples", exact=True).click()
    expect(page.locator(".card > div")).to_be_hidden()
    expect(page.get_by_role("button", name="Two banks")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Two banks")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_bar_moves_on_while_the_weights_are_read(chromium: Browser, english_file: Path):
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.add_init_script(
        """window.shares = [];
        new MutationObserver(() => {
          const bar = document.querySelector(".loading progress");
          if (bar) shares.push([bar.value, document.querySelector(".loading p").textContent]);
        }).observe(document, { subtree: true, childList: true, attributes: true });"""
    )
    page.goto(english_file.as_uri())
    page.wait_for_selector("body[data-ready]")
    shares = page.evaluate("shares")
    values = [share for share, _ in shares]
    assert values == sorted(values) and values[0] < 0.5 and values[-1] == 1
    assert shares[0][1].startswith("Reading the weights") and shares[-1][1].startswith("Unpacking")
    expect(page.locator("progress")).to_have_count(0)
    context.close()


def test_a_file_that_was_cut_short_says_so(chromium: Browser, english_file: Path, folder: Path):
    content = english_file.read_bytes()
    (folder / "cut.html").write_bytes(content[: len(content) // 2])
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto((folder / "cut.html").as_uri())
    expect(page.locator(".loading .problem")).to_contain_text("its end is missing")
    context.close()


def test_a_model_without_heads_says_what_it_cannot_do(open_file, tiny_bert: Bert, folder: Path):
    bare = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, mlm=False, nsp=False)
    (folder / "bare.html").write_text(handout.build(bare, handout.lesson_books()).html, encoding="utf-8")
    page = open_file(folder / "bare.html", "#a=the+cat+sat&b=he+ran")
    shown(page, "attention")
    expect(page.locator("canvas")).to_be_visible()
    page.locator(".stage").press("o")
    expect(page.locator(".without")).to_contain_text("has no masked-word head")
    shown(page, "mask")
    expect(page.locator(".problem:visible")).to_contain_text("no masked-word head")
    for tab in ("layers", "directions"):
        shown(page, tab)
        expect(page.locator("[role=alert]")).to_contain_text("no masked-word head")
    shown(page, "next")
    expect(page.locator("[role=alert]")).to_contain_text("no next-sentence head")


def test_512_wordpieces_are_read_and_drawn(open_file, english_file: Path):
    page = open_file(english_file, "#tab=attention")
    rewrite(page, "A", "The old dog slept in the warm sun. " * 80)
    expect(page.locator(".input-note")).to_contain_text("were cut from the end of sentence A")
    assert page.evaluate("page.tabs.attention.place.board.data.size") == 512
    shown(page, "mask")
    expect(page.locator(".bars span").first).not_to_be_empty()
    shown(page, "layers")
    expect(page.locator(".lens tbody tr.asked")).to_have_count(1)
    expect(page.locator(".tab")).to_contain_text("The input is long")


@pytest.mark.parametrize("dark", [False, True])
def test_every_tab_can_be_read_by_everybody(open_file, english_file: Path, dark: bool):
    page = open_file(english_file, "#off=2.8", dark=dark)
    for tab in ("words", "attention", "mask", "next", "layers", "directions", "lessons"):
        shown(page, tab)
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
        assert not found, [(v["id"], [node["target"] for node in v["nodes"]][:4]) for v in found]


def test_the_app_serves_it_at_an_address_of_its_own(chromium: Browser, server: str):
    context = chromium.new_context()
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    answer = page.goto(f"{server}/handout/smallworld.html#tab=attention")
    assert answer is not None and answer.status == 200 and answer.headers["content-encoding"] == "gzip"
    page.wait_for_selector("body[data-ready]")
    settled(page)
    expect(page.locator("canvas")).to_be_visible()
    assert [url for url in requests if url.startswith("http")] == [f"{server}/handout/smallworld.html"]
    context.close()
