"""Results as a figure: accuracy and AUC against epsilon, a row of panels for each data set."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from ..errors import BadInput
from ..files import new_file
from .runs import Row
from .summary import summary

FORMATS = ("png", "svg")
PANELS = {"accuracy": "accuracy", "auc": "AUC"}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")  # for all eyes
DASHES = ("--", ":", "-.")


def plot(results: pa.Table, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a PNG or SVG: private methods with their 95 % intervals, the others as horizontal lines."""
    kind = file_format(path)
    rows = summary(results).to_pylist()
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(10, 3.2 * len(names) + 0.8), layout="constrained")
    panels = figure.subplots(len(names), len(PANELS), squeeze=False, sharex=True)
    for name, pair in zip(names, panels, strict=True):
        for panel, measure in zip(pair, PANELS, strict=True):
            _draw(panel, [row for row in rows if row["data"] == name], measure)
            panel.set_title(name)
    lines = {line.get_label(): line for panel in panels.flat for line in panel.get_legend_handles_labels()[0]}
    figure.legend(handles=list(lines.values()), loc="outside lower center", ncols=4, frameon=False)
    with new_file(path, force=force) as draft:
        figure.savefig(draft, format=kind, dpi=150)


def file_format(path: str | os.PathLike[str]) -> str:
    """The format that the name of a figure asks for."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise BadInput(f"{path} cannot be drawn: a figure ends in .png or .svg")
    return kind


def _draw(panel: Any, rows: list[Row], measure: str) -> None:
    panel.set(xscale="log", xlabel="epsilon", ylabel=PANELS[measure])
    panel.grid(alpha=0.3)
    for number, name in enumerate(_names(rows, private=True)):
        found = [row for row in rows if row["method"] == name and row[measure] is not None]
        label = f"{name} (delta {found[0]['delta']:g})" if found and found[0]["delta"] else name
        budgets, heights = [row["epsilon"] for row in found], [row[measure] for row in found]
        margins = [row[f"{measure}_margin"] or 0 for row in found]
        style = {"color": COLOURS[number % len(COLOURS)], "marker": "o", "markersize": 4, "capsize": 3}
        panel.errorbar(budgets, heights, margins, label=label, **style)
    for number, name in enumerate(_names(rows, private=False)):
        for row in (row for row in rows if row["method"] == name and row[measure] is not None):
            panel.axhline(row[measure], color="#666666", linestyle=DASHES[number % len(DASHES)], label=name)


def _names(rows: list[Row], private: bool) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows if row["private"] == private))
