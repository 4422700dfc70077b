"""What the best predictor of the small world reaches, as work for the queue."""

from model.smallworld.ceilings import measured

__all__ = ["measured"]
