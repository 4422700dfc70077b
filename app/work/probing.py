"""A probing experiment, as work for the queue."""

from probes.probing.experiment import run

__all__ = ["run"]
