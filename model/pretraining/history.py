"""The course of a run: a table that never grows beyond a few thousand rows, as CSV and as a drawing."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

AVERAGED = ("mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy")
COUNTS = ("step", "tokens")
HELD = tuple(f"held_{name}" for name in AVERAGED)
COLUMNS = (*COUNTS, "seconds", "rate", *AVERAGED, *HELD)
MOST = 2000

Row = dict[str, float | None]


@dataclass
class History:
    """Rows of COLUMNS; each stands for the steps since the row before it, held-out figures where there are any."""

    rows: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Append a row; when there are too many, neighbours become one."""
        self.rows.append({name: row.get(name) for name in COLUMNS})
        if len(self.rows) > MOST:
            self.rows = _thinned(self.rows)

    def write(self, path: Path) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{k: "" if v is None else f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
                          for row in self.rows])
        path.write_text(text.getvalue(), encoding="utf-8")

    @classmethod
    def read(cls, path: Path, until: int | None = None) -> "History":
        """The rows of a CSV file up to a step; empty where there is no file."""
        if not path.is_file():
            return cls()
        with path.open(encoding="utf-8") as file:
            rows: list[Row] = [{name: _number(name, value) if value else None for name, value in row.items()}
                               for row in csv.DictReader(file)]
        return cls([row for row in rows if until is None or (row["step"] or 0) <= until])


def _number(name: str, value: str) -> float:
    return int(float(value)) if name in COUNTS else float(value)


def _measured(row: Row) -> bool:
    return any(row[name] is not None for name in HELD)


def _thinned(rows: list[Row]) -> list[Row]:
    """Neighbours as one row; a row with held-out figures never goes into a later one, as they belong to its step."""
    measured = [row for row in rows if _measured(row)]
    if len(measured) > MOST // 4:  # too many to let each stand alone: every second one is forgotten, none is moved
        for row in measured[-2::-2]:
            row.update(dict.fromkeys(HELD))
    thinned: list[Row] = []
    waiting: Row | None = None
    for row in rows:
        if waiting is None or _measured(waiting):
            thinned += [] if waiting is None else [waiting]
            waiting = row
        else:
            thinned.append(_merged(waiting, row, (thinned[-1]["step"] or 0) if thinned else 0))
            waiting = None
    return thinned if waiting is None else [*thinned, waiting]


def _merged(a: Row, b: Row, before: float) -> Row:
    """Two rows as one at the step of the second, each weighing as many steps as it stands for."""
    first = a["step"] or 0
    weights = (first - before, (b["step"] or 0) - first)
    merged = dict(b)
    for name in AVERAGED:
        known = [(value, weight) for value, weight in zip((a[name], b[name]), weights, strict=True) if value is not None]
        total = sum(weight for _, weight in known)
        merged[name] = sum(value * weight for value, weight in known) / total if total else None
    return merged
