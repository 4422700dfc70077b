"""Models trained under each masking strategy, as work for the queue."""

from probes.masking_strategies.training_runs import run

__all__ = ["run"]
