"""The pages, in their groups: title, icon, address, the question a page answers, and the function that draws it."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from app.views import (
    attention,
    compare,
    finetune,
    input,
    lessons,
    mask,
    nextsentence,
    papers,
    probes,
    start,
    states,
    strategies,
    train,
)

TEXTS = ("model", "a", "b")


@dataclass(frozen=True)
class PageEntry:
    title: str
    icon: str
    address: str
    question: str
    draw: Callable[[], None]
    reads: tuple[str, ...] = TEXTS  # the inputs of the bar above the page

    def page(self):
        """As Streamlit's navigation and links take it."""
        return st.Page(self.draw, title=self.title, icon=self.icon, url_path=self.address, default=self.address == "start")


PAGES = {
    "": [PageEntry("Start", ":material/home:", "start", "What is this?", lambda: start.page(PAGES))],
    "Learn": [
        PageEntry(
            "Lessons", ":material/quiz:", "lessons", "Predict first; then the model answers.", lessons.page, ("model",)
        ),
        PageEntry(
            "Papers",
            ":material/article:",
            "papers",
            "What did they find, and does this model?",
            papers.page,
            ("model",),
        ),
    ],
    "Look": [
        PageEntry("Input", ":material/input:", "input", "How does text become numbers?", input.page),
        PageEntry(
            "Attention", ":material/hub:", "attention", "Which token looks at which, and does it matter?", attention.page
        ),
        PageEntry(
            "Hidden states", ":material/scatter_plot:", "states", "Where does meaning move, layer by layer?", states.page
        ),
    ],
    "Ask": [
        PageEntry(
            "Mask", ":material/visibility_off:", "mask", "Which word stood here, and how does the model tell?", mask.page
        ),
        PageEntry(
            "Masking strategies", ":material/shuffle:", "strategies", "Why 80/10/10, and not just masks?", strategies.page
        ),
        PageEntry("Next sentence", ":material/low_priority:", "next-sentence", "Does B follow A?", nextsentence.page),
        PageEntry("Probes", ":material/troubleshoot:", "probes", "What is written in each layer?", probes.page, ("model",)),
    ],
    "Make": [
        PageEntry("Train", ":material/school:", "train", "How does BERT come to know anything?", train.page, ()),
        PageEntry(
            "Fine-tune",
            ":material/model_training:",
            "fine-tune",
            "What does one more layer teach it?",
            finetune.page,
            ("model",),
        ),
        PageEntry(
            "Compare", ":material/compare_arrows:", "compare", "What differs between two models?", compare.page, ("a", "b")
        ),
    ],
}


def entry(address: str) -> PageEntry:
    """The page at this address."""
    return next(entry for group in PAGES.values() for entry in group if entry.address == address)
