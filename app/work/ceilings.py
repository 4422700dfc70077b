"""The accuracy of the best possible predictor of the small world, as work for the queue."""

from model.smallworld.ceilings import measure

__all__ = ["measure"]
