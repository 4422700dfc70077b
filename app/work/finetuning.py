"""A fine-tuning with its baselines, as work for the queue."""

from probes.finetuning.experiment import run

__all__ = ["run"]
