"""The commands, for run.py and for the installed `bertscope` alike; nothing but Python is needed to read this file."""

from pathlib import Path
from typing import NamedTuple


class Command(NamedTuple):
    """A command: the module that runs it, what it does, and whether it needs the clone with its tests."""

    module: str
    summary: str
    needs_clone: bool = False


COMMANDS = {
    "app": Command("app", "the browser laboratory (the default)"),
    "strategies": Command("probes.masking_strategies", "train small models under each masking strategy, and compare them"),
    "test": Command("", "lint, format, types and all tests", needs_clone=True),
    "install": Command("", "make .venv and install what is needed, without starting anything", needs_clone=True),
    "train": Command("model.train", "pre-train a BERT on your own text"),
    "evaluate": Command("model.evaluate", "scores of a checkpoint on held-out documents"),
    "finetune": Command("probes.finetuning", "one added output layer: teach a checkpoint your own labels"),
    "probe": Command("probes.probing", "what each layer knows: probes with their baselines"),
    "smallworld": Command(
        "model.smallworld", "stories with planted truth, their trees, and the best that can be learned from them"
    ),
    "handout": Command("app.browser", "a model as one HTML file that needs no server"),
    "rehearse": Command("app.rehearsal", "simulated students on this machine: will it do for a class?"),
    "bench": Command("bench", "side by side with the tools people use today", needs_clone=True),
}


def help_text(program: str) -> str:
    """What `program --help` prints: every command with its sentence."""
    width = max(map(len, COMMANDS)) + 3
    rows = [f"{name:<{width}}{command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {program} [command] [options]",
            "",
            "A browser laboratory for BERT: look into it, ask it, change it, train it.",
            "",
            *rows,
            "",
            f"{program} COMMAND --help says more about each.",
        ]
    )


def version(folder: Path) -> str:
    """The version as model/version.py says it, read as text: importing model would need torch."""
    return (folder / "model" / "version.py").read_text(encoding="utf-8").split('"')[-2]
