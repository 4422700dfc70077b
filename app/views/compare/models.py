"""What a side of a comparison may be: any model on offer, a snapshot of its training, its random twin."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import layout, limits, session
from model import Bert, Trace, checkpoint


@dataclass(frozen=True)
class Offer:
    """A model by its label: a checkpoint folder, or the random twin of one."""

    label: str
    path: Path
    random: bool = False

    def load(self) -> Bert:
        bert = session.load(self.path)
        return session.twin(bert) if self.random else bert


@dataclass(frozen=True)
class Side:
    """A model and a text on one side."""

    label: str
    bert: Bert
    a: str
    b: str | None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What an answer about this side depends on."""
        return self.bert.about.fingerprint, self.a, self.b

    @property
    def trace(self) -> Trace:
        return session.traced(self.bert, self.a, self.b)


def offered() -> dict[str, Offer]:
    """Everything a side may be, by label; the snapshots of a training after the model they became."""
    offers: list[Offer] = []
    for found in session.models():
        offers += [Offer(found.name, found.path), Offer(f"{found.name}, random weights", found.path, random=True)]
        offers += [Offer(f"{found.name}, step {int(snapshot.name):,}", snapshot.path)
                   for snapshot in checkpoint.inside(found.path / "snapshots") if snapshot.name.isdigit()]
    return {offer.label: offer for offer in offers}


def chosen(name: str, default: str, offers: dict[str, Offer]) -> Side:
    """The inputs of one side; its text is the sidebar's until one is typed here."""
    label = layout.choice(f"{name} model", list(offers), name.lower(), default)
    typed = st.text_area(f"{name} text", "", key=f"{name.lower()}_text", bind="query-params", height=80,
                         placeholder="As in the sidebar. Or one line; a second line makes it a pair.",
                         max_chars=limits.TEXT_CHARACTERS)
    lines = [line.strip() for line in (typed or "").splitlines() if line.strip()]
    a, b = (lines[0], " ".join(lines[1:]) or None) if lines else session.texts()
    return Side(label, offers[label].load(), a, b)
