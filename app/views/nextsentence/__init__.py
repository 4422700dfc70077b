"""Next sentence: does B follow A, and how would the model know?"""

from app import layout, session
from app.views.nextsentence import benchmark, document, evidence, pair, perturbations
from app.widgets.choice import SECTION, choice

SECTIONS = {
    "pair": ("One pair", pair.section),
    "perturbations": ("One change at a time", perturbations.section),
    "evidence": ("What it rests on", evidence.section),
    "document": ("A document", document.section),
    "benchmark": ("Many pairs", benchmark.section),
}


def page() -> None:
    layout.title("Next sentence", "Does sentence B follow sentence A, and how would the model know?")
    bert = session.bert()
    bert.require_nsp()
    slug = choice(SECTION, {slug: title for slug, (title, _) in SECTIONS.items()}, "nsp")
    _, section = SECTIONS[slug]
    section(bert)
