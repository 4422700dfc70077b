"""BertViz's own views as a page without a network: its scripts from installed packages, its tokens escaped."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

FETCHED = re.compile(r'<script src="[^"]*"></script>')  # BertViz fetches require.js from the network
# BertViz asks require.js for jQuery and d3 by name; both stand in the page already
SHIM = "var requirejs = function (names, ready) { ready(jQuery, d3); }; var require = { config: function () {} };"
STAND_IN = "\ue000"  # a private character: json.dumps writes it as \ue000, which then becomes an escaped <
# the model view is 970 pixels wide whatever the frame, and names layers and heads in black in the dark, too
ZOOM = "addEventListener('load', () => { document.body.style.zoom = Math.max(0.6, Math.min(1, innerWidth / 1000)); });"
DARK = {
    "model_view": "body { background: #000; } body > div { color: #ddd; } text[fill=black] { fill: #ddd; }",
    "head_view": "body { background: #11181d; color: #e9eef0; color-scheme: dark; } svg text { fill: #e9eef0; }",
}
PACKAGES = ("bertviz", "mpld3", "xstatic")  # what the extra `bertviz` installs: the views, d3, jQuery
BYTES_A_WEIGHT = 44  # each stands in the page twice, as decimal text with all its digits: measured


def is_installed() -> bool:
    """Whether BertViz and the scripts it needs are here; the light install leaves them out."""
    return all(map(find_spec, PACKAGES))


def document(view: str, attention: np.ndarray, tokens: list[str], second: int | None, dark: bool) -> str:
    """`view` is "head_view" or "model_view"; attention (layers, heads, query, key); `second` is where B starts."""
    import bertviz  # drags in IPython: only for those who ask
    import torch

    weights = [torch.tensor(layer)[None] for layer in attention]
    escaped = [token.replace("<", STAND_IN) for token in tokens]
    settings = {"display_mode": "dark" if dark else "light"} if view == "model_view" else {}
    page = getattr(bertviz, view)(weights, escaped, second, html_action="return", **settings).data
    # in the head view's menu BertViz writes tokens nowhere; in its script they stand inside JSON strings
    page = FETCHED.sub("", page).replace("\\ue000", "\\u003c")
    style = DARK[view] if dark else "body { background: #fff; }"
    script = ZOOM if view == "model_view" else ""
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><style>{style}</style>'
        f"<script>{_library('xstatic.pkg.jquery', 'data/jquery.min.js')}</script>"
        f"<script>{_library('mpld3', 'js/d3.v5.min.js')}</script><script>{SHIM}{script}</script></head>"
        f"<body>{page}</body></html>"
    )


def expected_bytes(layers: int, heads: int, tokens: int, pair: bool) -> int:
    """How large the page will be: of a pair BertViz writes every weight once more, by direction."""
    return int(layers * heads * tokens**2 * BYTES_A_WEIGHT * (2 if pair else 1)) + 400_000


@cache
def _library(package: str, file: str) -> str:
    import importlib

    module = importlib.import_module(package)
    text = (Path(module.__path__[0]) / file).read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")
