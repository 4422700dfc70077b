"""Losses and accuracies over the steps of a run: a CSV table that never grows beyond MAX_ROWS."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

AVERAGED = ("mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy")
COUNTS = ("step", "tokens")
HELDOUT = tuple(f"heldout_{name}" for name in AVERAGED)
COLUMNS = (*COUNTS, "seconds", "learning_rate", *AVERAGED, *HELDOUT)
MAX_ROWS = 2000

Row = dict[str, float | None]


@dataclass
class TrainingHistory:
    """Rows of COLUMNS; each stands for the steps since the row before it, held-out figures where there are any."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Append a row; when there are too many, neighbours become one."""
        self.rows.append({name: row.get(name) for name in COLUMNS})
        if len(self.rows) > MAX_ROWS:
            self.rows = _thin(self.rows)

    def write(self, path: Path) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            [
                {k: "" if v is None else f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
                for row in self.rows
            ]
        )
        path.write_text(text.getvalue(), encoding="utf-8")

    @classmethod
    def read(cls, path: Path, until: int | None = None) -> "TrainingHistory":
        """The rows of a CSV file up to a step; empty where there is no file."""
        if not path.is_file():
            return cls()
        with path.open(encoding="utf-8") as file:
            rows: list[Row] = [
                {name: _number(name, value) if value else None for name, value in row.items()}
                for row in csv.DictReader(file)
            ]
        return cls([row for row in rows if until is None or (row["step"] or 0) <= until])


def _number(name: str, value: str) -> float:
    return int(float(value)) if name in COUNTS else float(value)


def _is_evaluated(row: Row) -> bool:
    return any(row[name] is not None for name in HELDOUT)


def _thin(rows: list[Row]) -> list[Row]:
    """Neighbours as one row; a row with held-out figures never goes into a later one, as they belong to its step."""
    evaluated = [row for row in rows if _is_evaluated(row)]
    if len(evaluated) > MAX_ROWS // 4:  # too many to leave each alone: every second one loses its figures, none is moved
        for row in evaluated[-2::-2]:
            row.update(dict.fromkeys(HELDOUT))
    thinned: list[Row] = []
    pending: Row | None = None
    for row in rows:
        if pending is None or _is_evaluated(pending):
            thinned += [] if pending is None else [pending]
            pending = row
        else:
            thinned.append(_merge(pending, row, (thinned[-1]["step"] or 0) if thinned else 0))
            pending = None
    return thinned if pending is None else [*thinned, pending]


def _merge(a: Row, b: Row, before: float) -> Row:
    """Two rows as one at the step of the second, each weighing as many steps as it stands for."""
    first = a["step"] or 0
    weights = (first - before, (b["step"] or 0) - first)
    merged = dict(b)
    for name in AVERAGED:
        known = [(value, weight) for value, weight in zip((a[name], b[name]), weights, strict=True) if value is not None]
        total = sum(weight for _, weight in known)
        merged[name] = sum(value * weight for value, weight in known) / total if total else None
    return merged
