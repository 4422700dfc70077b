"""The result of a probing experiment as one file: what was asked, of what, how, and everything that came out."""

import base64
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from model import InputProblem

FORMAT = "bertscope probe 1"
RESULT = "result.json"  # in the folder of a run
COLUMNS = {"labels": ("accuracy", "low", "high", "control", "selectivity", "twin", "majority", "word_type"),
           "tree": ("uuas", "low", "high", "root", "distance", "depth", "twin", "chain")}
BASELINES = {"labels": {"majority", "word_type"}, "tree": {"chain"}}
NEEDED = {"model", "data", "task", "pooling", "seed", "probe"}
SIZES = {"train", "dev", "test", "skipped"}


@dataclass
class Result:
    """What one run of `probes.experiment` found; rows hold one finished layer each."""

    settings: dict[str, Any]  # model, data, digest, task, layers, pooling, seed, limit, probe, width …
    kind: str = "labels"  # labels, or tree for structural probes
    title: str = ""  # the task in words
    unit: str = "token"
    command: str = ""  # what to type to get the same numbers
    sizes: dict[str, int] = field(default_factory=dict)  # train, dev, test, skipped
    classes: list[str] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)  # majority, word_type, uniform bits, chain
    rows: list[dict[str, float]] = field(default_factory=list)
    confusion: dict[str, list[list[int]]] = field(default_factory=dict)  # layer -> (gold, said)
    mistakes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> text, word, label, said
    maps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> packed arrays, first map first
    mix: dict[str, Any] = field(default_factory=dict)  # weights of the layers and their centre
    examples: list[dict[str, Any]] = field(default_factory=list)  # test sentences with their gold trees
    finished: bool = False
    format: str = FORMAT

    @property
    def name(self) -> str:
        """How a chart calls it."""
        return f"{self.title} · {self.settings['model']}"

    def json(self) -> str:
        """Everything, as `parse` reads it."""
        return json.dumps(asdict(self))

    def write(self, path: Path) -> None:
        """Whole or not at all: a page may read while a run writes."""
        made = path.with_name(f".{path.name}.{os.getpid()}")
        made.write_text(self.json(), encoding="utf-8")
        made.replace(path)


def read(path: Path) -> Result:
    """The result in a file."""
    return parse(path.read_text(encoding="utf-8"), path.name)


def parse(text: str, name: str) -> Result:
    """The result in the text of a file, which may be anybody's."""
    try:
        content = json.loads(text)
    except ValueError:
        raise InputProblem(f"{name} is not JSON, so it is no saved probe result.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputProblem(f"{name} is no probe result saved by Bertscope.")
    known = {one.name for one in fields(Result)}
    try:
        result = Result(**{key: value for key, value in content.items() if key in known})
        table(result)
        if not (result.kind in COLUMNS and result.rows and set(result.settings) >= NEEDED and set(result.sizes) >= SIZES
                and BASELINES[result.kind] <= set(result.baselines) and isinstance(result.settings["model"], str)):
            raise ValueError
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InputProblem(f"{name} is a damaged probe result.") from None
    return result


def table(result: Result) -> pd.DataFrame:
    """One row a layer: the score, its interval, and every baseline beside it."""
    wanted = ["layer", *COLUMNS[result.kind]]
    wanted += [name for name in ("bits", "control_bits") if result.rows and name in result.rows[0]]
    return pd.DataFrame([{name: float(row[name]) for name in wanted} for row in result.rows], columns=wanted
                        ).astype({"layer": int})


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON holds it, in half precision."""
    half = np.ascontiguousarray(array, dtype=np.float16)
    return {"shape": list(half.shape), "half": base64.b64encode(half.tobytes()).decode("ascii")}


def unpacked(stored: dict[str, Any]) -> np.ndarray:
    """The array that was packed."""
    try:
        flat = np.frombuffer(base64.b64decode(stored["half"]), dtype=np.float16)
        return flat.reshape(stored["shape"]).astype(np.float32)
    except (KeyError, TypeError, ValueError):
        raise InputProblem("The probes in this result file are damaged; its table can still be read.") from None
