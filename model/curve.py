"""The course of a run as one HTML page: two drawings in plain SVG, no scripts, light and dark."""

import html
import math
from collections.abc import Sequence

import numpy as np

from .pretraining.history import History, Row
from .pretraining.token_store import Store

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 300, 64, 16, 16, 48
SMOOTHED = 120  # points that a line of training figures is averaged down to

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2024; background: #ffffff; --one: #0b6e99; --two: #b4530a; --axis: #8b9096; }
svg { width: 100%; height: auto } svg text { font: 14px system-ui, sans-serif; fill: currentColor }
.one { stroke: var(--one); fill: none } .two { stroke: var(--two); fill: none } path { stroke-width: 2 }
.faint { opacity: .45 } .base { stroke-dasharray: 5 5; opacity: .8 } .axis { stroke: var(--axis); fill: none }
circle { stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  body { color: #e6e8ea; background: #15181b; --one: #5cc0ea; --two: #f0a35e; --axis: #6b7177 } }
"""


def baseline(store: Store) -> tuple[float, float]:
    """What knowing only how often each wordpiece occurs is worth: loss in nats, and accuracy."""
    counts = np.bincount(store.ids[:2_000_000])
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum()), float(shares.max())


def page(name: str, history: History, words: tuple[float, float]) -> str:
    """Losses and accuracies over the steps, training data as lines, held-out documents as circles."""
    rows = history.rows
    last = next((row for row in reversed(rows) if row["held_mlm_loss"] is not None), None)
    said = "" if last is None else (
        f"On held-out documents at the end: masked words {last['held_mlm_accuracy']:.1%} right (loss "
        f"{last['held_mlm_loss']:.3f}), next sentence {last['held_nsp_accuracy']:.1%} right (loss "
        f"{last['held_nsp_loss']:.3f}).")
    title = html.escape(name)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{STYLE}</style>
<h1>How {title} learned</h1>
<p>{said} Lines: training data, smoothed. Circles: held-out documents. Dashed: knowing only how often each word
occurs, and for the next sentence a coin.</p>
<h2>Loss, in nats</h2>
{_drawing(rows, "loss", (words[0], math.log(2)), "Losses over the steps.")}
<h2>Accuracy</h2>
{_drawing(rows, "accuracy", (words[1], 0.5), "Accuracies over the steps.")}
<p>Every number is in history.csv beside this page.</p>
</html>
"""


def _drawing(rows: Sequence[Row], kind: str, bases: tuple[float, float], alt: str) -> str:
    columns = [(f"mlm_{kind}", "one", "masked word", bases[0]), (f"nsp_{kind}", "two", "next sentence", bases[1])]
    end = max([row["step"] or 0 for row in rows], default=0) or 1
    values = [row[name] for row in rows for column, *_ in columns for name in (column, f"held_{column}")]
    top = 1.0 if kind == "accuracy" else max([*bases, *(value for value in values if value is not None)]) * 1.05

    def at(step: float, value: float) -> tuple[float, float]:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / end, TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(alt)}">']
    for tick in np.linspace(0, top, 6):
        x, y = at(0, float(tick))
        shown = f"{tick:.0%}" if kind == "accuracy" else f"{tick:.1f}"
        parts.append(f'<path class="axis faint" style="stroke-width:1" d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}"/>'
                     f'<text x="{x - 8:.1f}" y="{y + 5:.1f}" text-anchor="end">{shown}</text>')
    for tick in np.linspace(0, end, 5):
        x, y = at(float(tick), 0)
        anchor = "end" if tick == end else "middle"
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="{anchor}">{tick:,.0f}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">steps</text>')
    for number, (column, look, name, base) in enumerate(columns):
        line = [at(step, value) for step, value in _smooth(rows, column)]
        parts.append(f'<path class="{look} base" d="M{LEFT} {at(0, base)[1]:.1f}H{WIDTH - RIGHT}"/>')
        if line:
            parts.append(f'<path class="{look} faint" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in line)}"/>')
        held = [at(row["step"] or 0, value) for row in rows if (value := row[f"held_{column}"]) is not None]
        parts += [f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in held]
        x, y = WIDTH - 170, TOP + 14 + 22 * number
        parts.append(f'<circle class="{look}" cx="{x}" cy="{y - 5}" r="4"/><text x="{x + 12}" y="{y}">{name}</text>')
    return "".join([*parts, "</svg>"])


def _smooth(rows: Sequence[Row], column: str) -> list[tuple[float, float]]:
    known = [(row["step"] or 0.0, value) for row in rows if (value := row[column]) is not None]
    width = max(1, math.ceil(len(known) / SMOOTHED))
    groups = [known[start: start + width] for start in range(0, len(known), width)]
    return [(sum(step for step, _ in group) / len(group), sum(value for _, value in group) / len(group))
            for group in groups]
