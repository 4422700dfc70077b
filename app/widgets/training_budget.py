"""What the models of a bundled comparison had alike, in a sentence."""

from probes import bundled


def sentence(name: str) -> str:
    """Size, steps, texts and seeds of each model."""
    settings = bundled.settings(name)
    budget = settings["budget"]
    return (
        f"Each: {budget['layers']} layers, hidden {budget['hidden']}, {budget['steps']:,} steps of {budget['batch_size']} "
        f"pairs from {budget['stories']:,} stories of the small world, {len(settings['seeds'])} seeds."
    )
