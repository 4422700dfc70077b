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
    probes,
    start,
    states,
    strategies,
    train,
)


@dataclass(frozen=True)
class Entry:
    title: str
    icon: str
    address: str
    question: str
    draw: Callable[[], None]

    def page(self):
        """As Streamlit's navigation and links take it."""
        return st.Page(self.draw, title=self.title, icon=self.icon, url_path=self.address, default=self.address == "start")


PAGES = {
    "": [Entry("Start", ":material/home:", "start", "What is this?", lambda: start.page(PAGES))],
    "Learn": [Entry("Lessons", ":material/quiz:", "lessons", "Predict first; then the model answers.", lessons.page)],
    "Look": [
        Entry("Input", ":material/input:", "input", "How does text become numbers?", input.page),
        Entry("Attention", ":material/hub:", "attention", "Which token looks at which, and does it matter?",
              attention.page),
        Entry("Hidden states", ":material/scatter_plot:", "states", "Where does meaning move, layer by layer?", states.page),
    ],
    "Ask": [
        Entry("Mask", ":material/visibility_off:", "mask", "Which word stood here, and how does the model tell?",
              mask.page),
        Entry("Masking strategies", ":material/shuffle:", "strategies", "Why 80/10/10, and not just masks?",
              strategies.page),
        Entry("Next sentence", ":material/low_priority:", "next-sentence", "Does B follow A?", nextsentence.page),
        Entry("Probes", ":material/troubleshoot:", "probes", "What is written in each layer?", probes.page),
    ],
    "Make": [
        Entry("Train", ":material/school:", "train", "How does BERT come to know anything?", train.page),
        Entry("Fine-tune", ":material/model_training:", "fine-tune", "What does one more layer teach it?", finetune.page),
        Entry("Compare", ":material/compare_arrows:", "compare", "What differs between two models?", compare.page),
    ],
}
