"""What a side of a comparison may be: any model on offer, a snapshot of its training, its random-init copy."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import limits, session
from model import Bert, CheckpointError, Trace, checkpoint

LISTED = 12  # models named in one sentence


@dataclass(frozen=True)
class ModelOption:
    """A model on offer: its label, a checkpoint folder, and whether its weights are drawn at random instead."""

    label: str
    path: Path
    random_init: bool = False

    def load(self) -> Bert:
        bert = session.load(self.path)
        return session.random_init_copy(bert) if self.random_init else bert


@dataclass(frozen=True)
class ComparedSide:
    """A model and a text on one side."""

    label: str
    bert: Bert
    a: str
    b: str | None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What an answer about this side depends on."""
        return self.bert.info.fingerprint, self.a, self.b

    @property
    def trace(self) -> Trace:
        return session.trace_of(self.bert, self.a, self.b)


def offered() -> dict[str, ModelOption]:
    """Everything a side may be, by its slug in the address; the snapshots of a training after the model they became."""
    options: dict[str, ModelOption] = {}
    for info in session.models():
        options[info.name] = ModelOption(info.name, info.path)
        options[f"{info.name}~random"] = ModelOption(f"{info.name}, random weights", info.path, random_init=True)
        for snapshot in checkpoint.inside(info.path / "snapshots"):
            if snapshot.name.isdigit():
                step = int(snapshot.name)
                options[f"{info.name}~{step}"] = ModelOption(f"{info.name}, step {step:,}", snapshot.path)
    return options


def side(name: str, default: str, options: dict[str, ModelOption]) -> ComparedSide:
    """The inputs of one side; its text is that above the page until one is typed here."""
    option = options[_slug(name, default, options)]
    text = st.text_area(
        f"{name} text",
        "",
        key=f"{name.lower()}_text",
        bind="query-params",
        height=80,
        placeholder="As above. Or one line; a second line makes it a pair.",
        max_chars=limits.TEXT_CHARACTERS,
    )
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    a, b = (lines[0], " ".join(lines[1:]) or None) if lines else session.texts()
    return ComparedSide(option.label, option.load(), a, b)


def _slug(name: str, default: str, options: dict[str, ModelOption]) -> str:
    """The model of a side by its slug; one that the address names and that is not here is an error, never replaced."""
    key, absent = name.lower(), f"{name.lower()} that is absent"
    wanted = st.session_state.get(key) or st.session_state.get(absent) or st.query_params.get(key) or default
    st.session_state[key] = wanted if wanted in options else None
    st.session_state[absent] = None if wanted in options else wanted
    slug = st.selectbox(
        f"{name} model",
        list(options),
        format_func=lambda slug: options[slug].label,
        key=key,
        required=True,
        placeholder="Choose one that is here",
        persist_state="session",
    )
    if slug is None:
        labels = [option.label for option in options.values()]
        more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
        raise CheckpointError(f"There is no model called {wanted} here. There are: {', '.join(labels[:LISTED])}{more}.")
    st.query_params[key] = slug
    return slug
