"""Hidden states in a real browser: the slider moves, play plays, every section answers, bad input gets a sentence."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import settled


def figure(page: Page, place: int = 0):
    return page.locator(".js-plotly-plot").nth(place)


def heights(page: Page) -> list[float]:
    """Where the tokens of sentence A stand now."""
    return page.evaluate("""() => {
        const trace = document.querySelector(".js-plotly-plot").data.find(one => one.name === "sentence A");
        return Array.from(trace.y._inputArray || trace.y); }""")


def test_the_slider_moves_every_token_and_play_walks_to_the_last_layer(open_page):
    page = open_page("/states?a=The+keys+are+on+the+table.&b=")
    expect(figure(page)).to_contain_text("% of layer 3")
    before = heights(page)
    page.locator(".slider-rail-touch-rect").click(position={"x": 2, "y": 4})
    expect(figure(page)).to_contain_text("% of layer 0")
    assert heights(page) != before
    page.locator(".updatemenu-button", has_text="Play").click()
    expect(figure(page)).to_contain_text("% of layer 6")


def test_three_dimensions_and_own_axes_are_in_the_address(open_page):
    page = open_page("/states?dimensions=3&axes=each")
    expect(page.locator(".gl-container canvas").first).to_be_visible()
    expect(page.get_by_text("a PCA of each layer alone")).to_be_visible()


def test_a_sentence_of_one_token_is_drawn(open_page):
    page = open_page("/states?a=Yes&b=")
    expect(figure(page)).to_contain_text("% of layer 3")
    page.get_by_role("radio", name="Similarity").click()
    page.get_by_role("radio", name="layers", exact=True).click()
    expect(page.get_by_text("CKA compares at least four tokens")).to_be_visible()


def test_layers_are_compared_against_noise(open_page):
    page = open_page("/states?section=similarity&compare=layers")
    expect(page.get_by_text("noise gives 0 on average")).to_be_visible()
    page.get_by_role("radio", name="plain CKA").click()
    expect(page.get_by_text("two clouds of pure noise would give")).to_be_visible()
    page.get_by_role("radio", name="the same word elsewhere").click()
    expect(figure(page)).to_contain_text("random pairs (anisotropy)")
    page.get_by_role("radio", name="what each sub-layer adds").click()
    expect(page.get_by_text("Attention adds most in layer")).to_be_visible()


def test_the_senses_of_a_word_lie_apart_and_another_word_can_be_typed(open_page):
    page = open_page("/states?section=senses")
    expect(figure(page)).to_contain_text("river")
    expect(figure(page, 1)).to_contain_text("labels assigned at random")
    page.get_by_role("combobox", name="Begin with").click()
    page.get_by_role("option", name="mouse", exact=True).click()
    expect(figure(page)).to_contain_text("computer")
    page.get_by_text("Its sentences").click()
    page.get_by_label("Sentences", exact=True).fill("the mouse is here\nthe mouse is here\n\nthe mouse is here")
    page.get_by_label("Sentences", exact=True).press("Control+Enter")
    expect(page.get_by_text("lie furthest apart at layer 0: silhouette 0.00")).to_be_visible()  # identical sentences overlap
    page.get_by_label("Word", exact=True).fill("zebra")
    page.get_by_label("Word", exact=True).press("Enter")
    expect(page.get_by_text("The word “zebra” is in none of these sentences.")).to_be_visible()


def moved(page: Page, slider: str, key: str) -> None:
    """One step of a slider, by the keyboard."""
    page.get_by_role("slider", name=slider).press(key)
    settled(page)


def again(page: Page, open_page) -> Page:
    """The same address in the browser of somebody else."""
    return open_page("/" + page.url.split("/", 3)[3])


def test_a_link_reopens_exactly_these_neurons_of_this_token(open_page):
    page = open_page("/states?section=neurons&a=The+bank+lent+her+money.&b=")
    moved(page, "Token", "ArrowRight")
    moved(page, "Layer", "ArrowLeft")
    page.get_by_label("Neuron", exact=True).fill("7")
    page.get_by_label("Neuron", exact=True).press("Enter")
    expect(page.get_by_text("excites neuron 7 of layer 3 most")).to_be_visible()
    there = again(page, open_page)
    expect(there.get_by_text("excites neuron 7 of layer 3 most")).to_be_visible()
    expect(there.get_by_text("fires most at lent")).to_be_visible()


def test_a_link_reopens_the_typed_word_in_the_pasted_sentences(open_page):
    page = open_page("/states?section=senses&preset=bat")
    page.get_by_text("Its sentences").click()
    page.get_by_label("Sentences", exact=True).fill("pets:\nthe dog is here\nmy dog ran\n\nwords:\na dog of a car\nyou dog")
    page.get_by_label("Sentences", exact=True).press("Control+Enter")
    expect(page.get_by_text("The word “bat” is in none of these sentences.")).to_be_visible()
    page.get_by_label("Word", exact=True).fill("dog")
    page.get_by_label("Word", exact=True).press("Enter")
    expect(figure(page)).to_contain_text("pets")
    there = again(page, open_page)
    expect(figure(there)).to_contain_text("pets")
    expect(there.get_by_text("points is “dog” in one sentence")).to_be_visible()
    there.get_by_role("combobox", name="Begin with").click()
    there.get_by_role("option", name="spring", exact=True).click()
    expect(figure(there)).to_contain_text("season")
    expect(there).not_to_have_url(re.compile("dog"))


def test_a_link_follows_the_chosen_tokens_and_another_sentence_begins_anew(open_page):
    page = open_page("/states?a=The+bank+lent+her+money.&b=&followed=3-5")
    expect(figure(page)).to_contain_text("path of lent")
    expect(figure(page)).to_contain_text("path of money")
    page.get_by_label("Sentence A").fill("Many dogs barked.")
    page.get_by_label("Sentence A").press("Control+Enter")
    expect(figure(page)).to_contain_text("path of dogs")
    expect(page).not_to_have_url(re.compile("followed"))


def test_a_long_text_is_read_without_being_put_into_the_address(open_page):
    page = open_page("/states?section=sentences")
    page.get_by_text("The sentences: up to 200").click()
    box = page.get_by_label("Sentences", exact=True)
    for count, linked in ((2, True), (160, False), (3, True)):
        box.fill("One more sentence is here.\n" * count)
        box.press("Control+Enter")
        expect(page.get_by_role("figure", name=f"cosines of {count} sentences")).to_be_visible()
        settled(page)
        address = expect(page)
        (address.to_have_url if linked else address.not_to_have_url)(re.compile("many="))


def test_neighbours_and_exciters_come_with_their_sentences(open_page):
    page = open_page("/states?section=neighbours&a=The+bank+lent+her+money.&b=")
    expect(page.locator(".concordance .text b").first).to_have_text("bank")
    page.get_by_role("radio", name="Neurons").click()
    page.get_by_label("Neuron", exact=True).fill("7")
    page.get_by_label("Neuron", exact=True).press("Enter")
    expect(page.get_by_text("excites neuron 7 of layer 4 most")).to_be_visible()
    expect(page.locator(".concordance .text b").first).to_be_visible()


def test_an_uploaded_corpus_is_indexed_with_a_progress_bar_and_searched(open_page):
    page = open_page("/states?section=neighbours&near=corpus&a=The+bank+lent+her+money.&b=")
    text = "\n".join(["The old bank refused the loan.", "Rain fell on the hills.", "They fished in the lake."] * 40)
    page.locator("input[type=file]").set_input_files(
        {"name": "corpus.txt", "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Index it").click()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    expect(page.locator(".concordance .text b").first).to_have_text("bank", timeout=90_000)
    expect(page.get_by_text("MB in memory)")).to_be_visible()


def test_sentences_are_compared_and_one_alone_is_refused(open_page):
    page = open_page("/states?section=sentences")
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    page.get_by_role("radio", name="[CLS]").click()
    settled(page)
    page.get_by_text("The sentences: up to 200").click()
    page.get_by_label("Sentences", exact=True).fill("Only this one.")
    page.get_by_label("Sentences", exact=True).press("Control+Enter")
    expect(page.get_by_text("Two sentences at least are needed")).to_be_visible()
