"""Claims about a layer or a head, tested on held-out sentences, as work for the queue."""

from probes.claims import head_finds, layer_knows

__all__ = ["head_finds", "layer_knows"]
