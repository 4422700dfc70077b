"""Every page runs, with any input, and says what is wrong in one sentence."""

import re
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import PAGES
from model import Bert, BertConfig, tokenizer
from tests.browser.conftest import settled
from tests.conftest import ROOT, serving

ENTRIES = [entry for listed in PAGES.values() for entry in listed]
HEADINGS = {"Start": "Bertscope"}
# addresses of all pages that are about two sentences; the others read A and B only to hand them on
TOLD_WHEN_EMPTY = {"start", "input", "attention", "mask", "next-sentence"}

INPUTS = {
    "as it comes": {},
    "nothing": {"a": "", "b": ""},
    "only B": {"a": "", "b": "He likes playing."},
    "one word": {"a": "dog", "b": ""},
    "a mask first": {"a": "[MASK] poured a cup of coffee.", "b": "Then [MASK] sat down."},
    "only masks": {"a": "[MASK] [MASK] [MASK]", "b": ""},
    "600 words": {"a": "The old dog sat down . " * 100, "b": ""},
    "many signs": {"a": "Café \U0001f600 東京 e\u0301te\u0301 ﬁne", "b": "👩‍👩‍👧 ok"},
    "markup": {"a": "<img src=x onerror=\"document.title='hit'\"> the dog", "b": "</script><b>cat</b>"},
    "markdown": {"a": "a $x^2$ **bold** dog :red[sat] [link](http://example.com)", "b": "# cat\n- `dog`"},
    "right to left": {"a": "שלום the dog \u202esat\u202c", "b": "مرحبا a cat"},
    "control signs": {"a": "the\x01 dog\x07 sat\x1b[0m\x7f \u200b\ufeff on", "b": "a\u2028cat\u0085sat"},
}
# layers, cased, masked-word head, next-sentence head
MODELS = {
    "two": (2, False, True, True),
    "six-cased-no-mlm": (6, True, False, True),
    "twelve-no-nsp": (12, False, True, False),
    "two-cased-bare": (2, True, False, False),
    "twelve-cased": (12, True, True, True),
    "six": (6, False, True, True),
}


def cased(uncased: tokenizer.WordPiece) -> tokenizer.WordPiece:
    words = [word for word in uncased.vocabulary if word.isascii() and word not in tokenizer.SPECIAL][:6000]
    return tokenizer.from_vocabulary([*words, *(word.capitalize() for word in words if word.isalpha())], lowercase=False)


@pytest.fixture(scope="module")
def address(english, tmp_path_factory):
    """An app that offers narrow random models of every kind: shallow and deep, cased and uncased, with heads and without."""
    folder = tmp_path_factory.mktemp("models")
    for seed, (name, (layers, upper, mlm, nsp)) in enumerate(MODELS.items()):
        pieces = cased(english.tokenizer) if upper else english.tokenizer
        config = BertConfig(pieces.vocab_size, 24, layers, 3, 48, initializer_range=0.2)
        Bert.random_init(config, pieces, seed, mlm, nsp).save(folder / name)
    with serving(folder, tmp_path_factory.mktemp("server")) as there:
        yield there


def visits(number: int):
    """Every kind of input, and every model, for the page of this number; over the pages the pairs of both go round."""
    names = list(MODELS)
    return [(name, texts, names[(number + turn) % len(names)]) for turn, (name, texts) in enumerate(INPUTS.items())]


@pytest.mark.browser
@pytest.mark.parametrize("number", range(len(ENTRIES)), ids=[entry.address for entry in ENTRIES])
def test_every_page_takes_every_kind_of_input_and_of_model(number, address, chromium):
    entry, trouble = ENTRIES[number], []
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(120_000)
    here = [""]
    page.on("pageerror", lambda error: trouble.append(f"{here[0]}: page error: {error}"))
    # Streamlit asks for its own address below the page's first, and takes the answer 404 as a hint
    page.on(
        "console",
        lambda said: (
            said.type == "error"
            and "/_stcore/" not in said.location.get("url", "")
            and trouble.append(f"{here[0]}: console: {said.text}")
        ),
    )
    context.route(
        re.compile(rf"^(?!{re.escape(address)}/|data:|blob:)"),
        lambda route: (trouble.append(f"{here[0]}: asked the network for {route.request.url}"), route.abort()),
    )
    for name, texts, model in visits(number):
        here[0] = f"{name}, {model}"
        path = "" if entry is ENTRIES[0] else entry.address  # the first page is where one arrives without a path
        page.goto(f"{address}/{path}?{urlencode({'model': model} | texts)}")
        settled(page)
        trouble += [f"{here[0]}: {problem}" for problem in shown(page, entry, name, model)]
    context.close()
    assert not trouble, "\n".join(trouble)


def shown(page, entry, name: str, model: str) -> list[str]:
    """What is wrong with the page as it stands."""
    problems = [f"exception: {box.inner_text()[:400]}" for box in page.get_by_test_id("stException").all()]
    page.locator("h1").first.wait_for()
    headings = page.locator("h1").all_inner_texts()
    if headings != [HEADINGS.get(entry.title, entry.title)]:
        problems.append(f"the heading is {headings}")
    if "model" in entry.reads and page.locator(".st-key-bar-model input").input_value() != model:
        problems.append("the model of the address is not the one that is shown")
    if page.locator("img[src=x], main script").count() or page.title() == "hit":
        problems.append("the text of the user became markup")
    if (
        name == "markdown"
        and page.get_by_test_id("stMain").locator(".katex, strong:text-is('bold'), a[href*='example.com']").count()
    ):
        problems.append("the text of the user became Markdown")
    if (
        name == "nothing"
        and entry.address in TOLD_WHEN_EMPTY
        and not re.search(
            r"Sentence A is empty|has no (next-sentence|masked-word) head", page.get_by_test_id("stMain").inner_text()
        )
    ):
        problems.append("nobody says that the sentence is empty")
    return problems


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize(
    "query",
    [
        {"a": ""},
        {"a": "   ", "b": "x"},
        {"a": "?!"},
        {"a": "<script>alert(1)</script>"},
        {"a": "word " * 900},
        {"model": "no-such-model"},
        {"a": "\U0001f600"},
    ],
    ids=["empty", "spaces", "signs", "markup", "long", "model", "emoji"],
)
def test_the_start_page_takes_any_input(query):
    app = opened(**query)
    assert not app.exception
    assert len(app.error) <= 1


def test_the_start_page_predicts_and_shows_a_head_without_a_click():
    app = opened()
    assert len(app.get("plotly_chart")) == 2
    assert "coffee" in app.get("plotly_chart")[0].proto.spec


def test_an_empty_sentence_is_said_in_one_sentence():
    assert [error.value for error in opened(a="").error] == ["Sentence A is empty; at least one word is needed\\."]


def test_what_was_cut_is_said():
    assert "were cut from the end of sentence A" in opened(a="word " * 700).warning[0].value.replace("\\", "")


def test_the_address_names_model_and_sentences():
    app = opened(a="My dog is cute.", b="He likes playing.")
    assert app.text_area(key="a").value == "My dog is cute."
    assert app.text_area(key="b").value == "He likes playing."


def test_the_address_cannot_reach_a_folder_of_this_machine(tiny_bert, tmp_path):
    tiny_bert.save(tmp_path / "secret")
    app = opened(model=str(tmp_path / "secret"))
    assert "There is no model called" in app.error[0].value
    assert not app.caption
