"""Results that come with the project, each beside the command and the settings that made it."""

from .stored import (
    DIRECTIONS,
    PROBING_COMMAND,
    STRATEGIES,
    add,
    ceiling,
    command,
    direction_models,
    finetuning,
    measurements,
    probing,
    results,
    settings,
)

__all__ = [
    "DIRECTIONS",
    "PROBING_COMMAND",
    "STRATEGIES",
    "add",
    "ceiling",
    "command",
    "direction_models",
    "finetuning",
    "measurements",
    "probing",
    "results",
    "settings",
]
