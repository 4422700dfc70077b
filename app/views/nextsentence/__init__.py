"""Next sentence: does B follow A, and how would the model know?"""

from app import layout, session
from app.views.nextsentence import benchmark, document, evidence, pair, perturbations
from app.widgets.choice import choice

SECTIONS = {
    "pair": ("One pair", pair.section),
    "perturbations": ("One change at a time (perturbations)", perturbations.section),
    "evidence": ("What it rests on (evidence)", evidence.section),
    "document": ("A document (sentence order)", document.section),
    "benchmark": ("Many pairs (benchmark)", benchmark.section),
}


def page() -> None:
    layout.title("Next sentence", "Does sentence B follow sentence A, and how would the model know?")
    bert = session.bert()
    bert.require_nsp()
    slug = choice("Show", {slug: title for slug, (title, _) in SECTIONS.items()}, "nsp")
    _, section = SECTIONS[slug]
    section(bert)
