"""The course of a run: a table that never grows beyond a few thousand rows, as CSV and as a drawing."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

AVERAGED = ("mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy")
HELD = tuple(f"held_{name}" for name in AVERAGED)
COLUMNS = ("step", "tokens", "seconds", "rate", *AVERAGED, *HELD)
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
            pairs = zip(self.rows[0:-1:2], self.rows[1::2], strict=False)
            self.rows = [_merged(a, b) for a, b in pairs] + self.rows[len(self.rows) // 2 * 2:]

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
            rows: list[Row] = [{k: float(v) if v else None for k, v in row.items()} for row in csv.DictReader(file)]
        return cls([row for row in rows if until is None or (row["step"] or 0) <= until])


def _merged(a: Row, b: Row) -> Row:
    merged = dict(b)
    for name in AVERAGED:
        known = [value for value in (a[name], b[name]) if value is not None]
        merged[name] = sum(known) / len(known) if known else None
    for name in HELD:
        merged[name] = a[name] if b[name] is None else b[name]
    return merged
