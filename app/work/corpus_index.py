"""An index of a corpus, as work for the queue."""

from probes.states.corpus_index import build

__all__ = ["build"]
