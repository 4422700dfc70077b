"""Hidden states: where meaning moves, layer by layer."""

from app import layout, session
from app.views.states import neighbours, neurons, paths, senses, sentences, similarity
from app.widgets.choice import SECTION, choice

SECTIONS = {
    "paths": ("Paths", paths.section),
    "similarity": ("Similarity", similarity.section),
    "senses": ("Word senses", senses.section),
    "neighbours": ("Neighbours", neighbours.section),
    "neurons": ("Neurons", neurons.section),
    "sentences": ("Sentences", sentences.section),
}


def page() -> None:
    layout.title("Hidden states", "Where does meaning move, layer by layer?")
    section = choice(SECTION, {slug: label for slug, (label, _) in SECTIONS.items()}, key="section")
    layout.input_note(session.trace().note)
    SECTIONS[section][1]()
