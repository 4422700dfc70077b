"""The floor under every Streamlit app: one text box and one bar chart, served with our settings."""

import tomllib
from pathlib import Path

import streamlit as st
from streamlit import runtime

from app.__main__ import arguments, options
from app.folders import SETTINGS


def page() -> None:
    text = st.text_area("Sentence A", "She poured a cup of hot coffee.", key="a")
    words = text.split()[:6]
    st.bar_chart({"letters": [len(word) for word in words]})


def main() -> None:
    settings = options(tomllib.loads(SETTINGS.read_text(encoding="utf-8")))
    st.App(Path(__file__)).run(config=settings | {"server.port": arguments().port, "server.address": "127.0.0.1"})


if __name__ == "__main__":
    page() if runtime.exists() else main()
