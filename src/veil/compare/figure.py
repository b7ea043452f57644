"""Results as a figure: accuracy and AUC against epsilon, a row of panels for each data set."""

import os
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
from matplotlib import rc_context
from matplotlib.figure import Figure

from ..errors import BadInput
from ..files.tables import new_file
from ..results import Row
from .summary import summary

FORMATS = ("png", "svg")
PANELS = {"accuracy": "accuracy", "auc": "AUC"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")  # for all eyes
MARKERS = ("o", "^", "s")
DASHES = ("--", ":", "-.")


def plot(results: pa.Table, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a PNG or SVG: private methods with their 95 % intervals, the others as horizontal lines."""
    kind = file_format(path)
    rows = summary(results).to_pylist()
    names = list(dict.fromkeys(row["data"] for row in rows))
    styles = _styles(rows)
    figure = Figure(figsize=(10, 3.2 * len(names) + 0.8), layout="constrained")
    panels = figure.subplots(len(names), len(PANELS), squeeze=False)
    for name, pair in zip(names, panels, strict=True):
        for panel, measure in zip(pair, PANELS, strict=True):
            _draw(panel, [row for row in rows if row["data"] == name], measure, styles)
    lines = {line.get_label(): line for panel in panels.flat for line in panel.get_legend_handles_labels()[0]}
    figure.legend(handles=list(lines.values()), loc="outside lower center", ncols=3, frameon=False)
    with new_file(path, force=force) as draft:
        undated = {"Date": None} if kind == "svg" else None  # the same results are the same file
        with rc_context({"svg.hashsalt": "veil", "svg.fonttype": "none"}):
            figure.savefig(draft, format=kind, dpi=150, metadata=undated)


def file_format(path: str | os.PathLike[str]) -> str:
    """The format that the name of a figure asks for."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise BadInput(f"{path} cannot be drawn: a figure ends in .png or .svg")
    return kind


def _styles(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The matplotlib style of each method, the same in every panel."""
    private, others = (dict.fromkeys(row["method"] for row in rows if row["private"] == kind) for kind in (True, False))
    looks = [{"color": colour, "marker": marker} for marker in MARKERS for colour in COLOURS]
    lines = [{"color": "#666666", "linestyle": dash} for dash in DASHES]
    return {**dict(zip(private, cycle(looks), strict=False)), **dict(zip(others, cycle(lines), strict=False))}


def _draw(panel: Any, rows: list[Row], measure: str, styles: dict[str, dict[str, Any]]) -> None:
    panel.set(xscale="log", xlabel="epsilon", ylabel=PANELS[measure], title=rows[0]["data"])
    for name, style in styles.items():
        found = [row for row in rows if row["method"] == name and row[measure] is not None]
        if found and found[0]["private"]:
            _curve(panel, found, measure, style)
        elif found:
            panel.axhline(found[0][measure], label=name, **style)
    budgets = sorted({row["epsilon"] for row in rows if row["private"]})
    panel.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    low, high = panel.get_ylim()
    panel.set_ylim(max(low, 0), min(high, 1))  # an interval of few seeds may go beyond 0 and 1


def _curve(panel: Any, rows: list[Row], measure: str, style: dict[str, Any]) -> None:
    """Draw one private method: its means and their intervals."""
    delta = f" (delta {rows[0]['delta']:g})" if rows[0]["delta"] else ""
    budgets, heights = [row["epsilon"] for row in rows], [row[measure] for row in rows]
    margins = [row[f"{measure}_margin"] or 0 for row in rows]
    panel.errorbar(budgets, heights, margins, label=rows[0]["method"] + delta, markersize=4, capsize=3, **style)
